"""The paper that every figure is drawn on: one look, alternative text, no window system.

    size  ->  Picture with axes  ->  PNG, SVG, or HTML with alternative text

Colours are those of Okabe and Ito (2008); brightness, hatching and markers tell them apart in grey.
"""

import base64
import html
import io
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batchlab import units

__all__ = [
    "Credited",
    "Picture",
    "blank",
    "byte_unit",
    "headline",
    "many_rows",
    "number",
    "pad_style",
    "save",
    "second_unit",
    "show",
    "told",
]

PAPER, INK, FAINT, GRID = "#FFFFFF", "#24292F", "#57606A", "#E4E7EB"
REAL, SECOND, PAD, HATCH = "#0072B2", "#56B4E9", "#F6EBDD", "#C8742B"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", ":", "-", "--", "-.")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo")
FORMATS = (".png", ".svg", ".pdf")


class Picture(Figure):
    """A figure that can say what it shows; notebooks and the book get it as `alt` text."""

    batchlab_alt: str = ""

    def _repr_html_(self) -> str:
        """An image with alternative text, whole in itself."""
        data = base64.b64encode(_bytes(self, "png", dpi=144)).decode()
        width = round(self.get_figwidth() * 96)
        return (
            f'<img src="data:image/png;base64,{data}" width="{width}" '
            f'style="max-width:100%;height:auto;border-radius:6px" '
            f'alt="{html.escape(self.batchlab_alt, quote=True)}">'
        )


class Credited(Picture):
    """A picture of data with a notice: in a page below the image, in a file inside of it."""

    batchlab_credit: str = ""  # text; its HTML stands below an image of a page
    batchlab_below: str = ""
    _in_a_page = False

    def _repr_html_(self) -> str:
        self._in_a_page = True
        try:
            return super()._repr_html_() + self.batchlab_below
        finally:
            self._in_a_page = False

    def savefig(self, *where: Any, **how: Any) -> None:
        """Write the figure; in a file of its own the notice stands under it."""
        if self._in_a_page:
            return super().savefig(*where, **how)
        lines = [part for line in self.batchlab_credit.splitlines() for part in wrap(line, 190)]
        size, small = self.get_size_inches(), 5.0
        note = self.supxlabel(
            "\n".join(lines), x=0.01, ha="left", fontsize=small, color=FAINT, linespacing=1.15
        )
        self.set_size_inches(size[0], size[1] + len(lines) * small * 1.25 / 72)
        try:
            super().savefig(*where, **how)
        finally:
            note.remove()
            self._supxlabel = None
            self.set_size_inches(*size)


def blank(
    width: float, height: float, *, kind: type[Picture] = Picture, **grid: Any
) -> tuple[Any, Any]:
    """White paper in inches, with axes that stay out of the way."""
    figure = kind(figsize=(width, height), layout="constrained", facecolor=PAPER)
    axes = figure.subplots(**grid)
    for one in [axes] if isinstance(axes, Axes) else axes.flat:
        tidy(one)
    return figure, axes


def tidy(axes: Axes) -> None:
    """Quiet spines and ticks, a faint grid behind the data."""
    axes.set_facecolor(PAPER)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#AEB5BD")
    axes.tick_params(colors=FAINT, labelsize=9, length=3)
    axes.xaxis.label.set_color(FAINT)
    axes.yaxis.label.set_color(FAINT)
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=0.8)


def headline(axes: Axes, text: str) -> None:
    """The sentence that the figure makes, over its left edge."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", color=INK, pad=10)


def pad_style() -> dict[str, Any]:
    """How padding looks everywhere: pale and hatched, so that it shows in grey."""
    return {"facecolor": PAD, "edgecolor": HATCH, "hatch": "/////", "linewidth": 0}


def number(value: float) -> str:
    """A number as a person reads it: three digits, commas, and no exponent if it can be helped.

    >>> number(0.0734), number(1418.3), number(12), number(2_097_152)
    ('0.0734', '1,418', '12', '2,097,152')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def told(figure: Picture, text: str) -> Picture:
    """Give a figure its alternative text."""
    figure.batchlab_alt = " ".join(text.split())
    return figure


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure with its alternative text inside: the same bytes every time."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise ValueError(f"{path}: figures are written as {', '.join(FORMATS)}")
    path.write_bytes(_bytes(figure, kind[1:], dpi=144))


def show(figure: Figure) -> Any:
    """An object that notebooks and the book draw as an image with alternative text.

    A Picture needs no help; this is for figures that were made elsewhere.
    """
    alt = getattr(figure, "batchlab_alt", "")
    if not alt:
        raise ValueError("the figure says nothing: set figure.batchlab_alt first")
    return _Html(lambda: Picture._repr_html_(figure))  # type: ignore[arg-type]


class _Html:
    def __init__(self, made: Callable[[], str]) -> None:
        self._repr_html_ = made


def _bytes(figure: Figure, kind: str, *, dpi: int) -> bytes:
    alt = getattr(figure, "batchlab_alt", "")
    metadata = {
        "png": {"Description": alt, "Software": None},
        "svg": {"Description": alt, "Date": None, "Creator": None},
        "pdf": {"Subject": alt, "CreationDate": None, "Producer": None, "Creator": None},
    }[kind]
    target = io.BytesIO()
    with rc_context({"svg.hashsalt": "batchlab", "hatch.linewidth": 0.6}):
        figure.savefig(target, format=kind, dpi=dpi, metadata=metadata, facecolor=PAPER)
    return target.getvalue()


def byte_unit(largest: float) -> tuple[float, str]:
    """What an axis of so many bytes is divided by, and its name."""
    return (units.GIB, "GiB") if largest >= units.GIB else (units.MIB, "MiB")


def second_unit(largest: float) -> tuple[float, str]:
    """What an axis of so many seconds is divided by, and its name."""
    return (1.0, "seconds") if largest >= 1 else (1e-3, "milliseconds")


def many_rows(rows: float) -> str:
    """1 row, 8 rows."""
    return f"{rows:,} row" + "s" * (rows != 1)

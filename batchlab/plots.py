"""Figures of padding, packing, time and memory: readable in grey, with text for who cannot see.

    results  ->  matplotlib Figure with `batchlab_alt`

Every figure takes what other rooms computed and draws it; nothing is computed here that `report`
could not print. Colours are those of Okabe and Ito, told apart by brightness and hatching too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from batchlab import padding, units

__all__ = [
    "bars",
    "lengths_histogram",
    "lines",
    "packed_rows",
    "rectangle",
    "save",
    "stacked",
    "waste_by_rows",
]

INK, PALE = "#0072B2", "#D9D9D9"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", ":", "-", "--", "-.")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")


def rectangle(lengths: ArrayLike, *, title: str = "One batch is a rectangle") -> Figure:
    """Draw the rows of one batch: real tokens filled, padding hatched."""
    tokens = np.asarray(lengths)
    found = padding.measure(tokens, [range(len(tokens))])
    figure, axes = _blank(7, 0.36 * len(tokens) + 1.3)
    places = np.arange(len(tokens))
    axes.barh(places, tokens, color=INK, label="real tokens")
    axes.barh(
        places, tokens.max() - tokens, left=tokens, color=PALE, hatch="///",
        edgecolor="#8A8A8A", linewidth=0, label="padding",
    )  # fmt: skip
    axes.invert_yaxis()
    axes.set(yticks=places, xlabel="slots", ylabel="row")
    axes.set_title(f"{title}: {units.share(found.waste)} of {found.slots:,} slots are padding")
    axes.legend(loc="lower right", frameon=True)
    return _told(
        figure,
        f"Horizontal bars, one for each of {len(tokens)} rows, all {tokens.max():,} slots wide. "
        f"{found.real_tokens:,} of {found.slots:,} slots hold real tokens, the rest is padding.",
    )


def waste_by_rows(
    lengths: ArrayLike,
    rows: Sequence[int],
    *,
    measured: Mapping[int, float] | None = None,
    title: str = "Random batches: waste grows, then saturates",
) -> Figure:
    """The exact expected waste for each number of rows, the limit, and measured points."""
    tokens = np.asarray(lengths)
    expected = [padding.expected_waste(tokens, n) for n in rows]
    limit = 1 - float(tokens.mean()) / float(tokens.max())
    figure, axes = _blank(7, 4)
    axes.plot(rows, expected, "-", color=INK, marker="o", label="expected, exact")
    if measured:
        axes.plot(
            list(measured), list(measured.values()), "x", color="#D55E00", markersize=9,
            markeredgewidth=2, label="measured",
        )  # fmt: skip
    axes.axhline(limit, color="#444444", linestyle="--", linewidth=1)
    axes.annotate(
        f"limit {units.share(limit)}", (rows[0], limit), xytext=(0, -12),
        textcoords="offset points", fontsize=9,
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(xlabel="rows per micro-batch", ylabel="share of slots that is padding", ylim=(0, 1))
    axes.set_xticks(list(rows), [str(n) for n in rows])
    axes.set_title(title)
    axes.legend(loc="lower right")
    return _told(
        figure,
        "Waste against rows: "
        + ", ".join(f"{n} rows {units.share(w)}" for n, w in zip(rows, expected, strict=True))
        + f"; the limit is {units.share(limit)}.",
    )


def lengths_histogram(lengths: ArrayLike, *, title: str = "Tokens per document") -> Figure:
    """How many documents have which length, on a logarithmic axis."""
    tokens = np.asarray(lengths)
    figure, axes = _blank(7, 3.4)
    edges = np.geomspace(max(1, tokens.min()), tokens.max() + 1, 40)
    axes.hist(tokens, bins=edges.tolist(), color=INK)
    median = float(np.median(tokens))
    axes.axvline(median, color="#D55E00", linestyle="--", label=f"median {median:,.0f}")
    axes.axvline(
        float(tokens.max()), color="#444444", linestyle=":", label=f"longest {tokens.max():,}"
    )
    axes.set_xscale("log")
    axes.set(xlabel="tokens", ylabel="documents", title=title)
    axes.legend()
    return _told(
        figure,
        f"Histogram of {len(tokens):,} lengths: median {median:,.0f}, longest {tokens.max():,}.",
    )


def packed_rows(
    rows: Sequence[Sequence[int]], row_length: int, *, title: str = "Packed rows"
) -> Figure:
    """Draw rows as the lengths of the documents in them; what is left over is hatched."""
    figure, axes = _blank(7, 0.36 * len(rows) + 1.3)
    for place, lengths in enumerate(rows):
        start = 0
        for number, length in enumerate(lengths):
            axes.barh(
                place, length, left=start, color=COLOURS[number % 3], edgecolor="white", linewidth=1
            )
            start += length
        axes.barh(
            place, row_length - start, left=start, color=PALE, hatch="///", edgecolor="#8A8A8A",
            linewidth=0,
        )  # fmt: skip
    real = sum(sum(row) for row in rows)
    fill = real / (row_length * len(rows))
    axes.invert_yaxis()
    axes.set(yticks=range(len(rows)), xlabel="slots", ylabel="row", xlim=(0, row_length))
    axes.set_title(f"{title}: {units.share(fill)} full")
    return _told(
        figure, f"{len(rows)} rows of {row_length:,} slots, {units.share(fill)} full of documents."
    )


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
) -> Figure:
    """Named lines of (x, y): loss curves, throughput against rows."""
    figure, axes = _blank(7, 4)
    for i, (name, (xs, ys)) in enumerate(series.items()):
        axes.plot(
            xs, ys, STYLES[i % 7], color=COLOURS[i % 7], marker=MARKERS[i % 7],
            markevery=max(1, len(xs) // 12), markersize=5, label=name,
        )  # fmt: skip
    if log_x:
        axes.set_xscale("log", base=2)
        ticks = sorted({value for xs, _ in series.values() for value in xs})
        axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.legend()
    ends = "; ".join(f"{name} ends at {ys[-1]:.3g}" for name, (_, ys) in series.items())
    return _told(figure, f"Lines of {y} against {x}: {ends}.")


def bars(values: Mapping[str, float], *, title: str, x: str, of_one: bool = False) -> Figure:
    """Named horizontal bars with their values written beside them."""
    figure, axes = _blank(7, 0.45 * len(values) + 1.2)
    drawn = axes.barh(list(values), list(values.values()), color=INK)
    texts = [units.share(v) if of_one else f"{v:,.4g}" for v in values.values()]
    axes.bar_label(drawn, texts, padding=4)
    axes.invert_yaxis()
    axes.set(xlabel=x, title=title)
    axes.margins(x=0.18)
    told = ", ".join(f"{name} {text}" for name, text in zip(values, texts, strict=True))
    return _told(figure, f"Bars of {x}: {told}.")


def stacked(
    parts: Mapping[str, Sequence[float]], names: Sequence[str], *, title: str, x: str
) -> Figure:
    """Horizontal bars made of parts: slots, seconds or bytes by what they are spent on."""
    figure, axes = _blank(7.6, 0.55 * len(names) + 1.5)
    left = np.zeros(len(names))
    for i, (part, values) in enumerate(parts.items()):
        axes.barh(
            list(names), list(values), left=left.tolist(), label=part, color=COLOURS[i % 7],
            hatch=HATCHES[i % 7], edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        left = left + np.asarray(values, dtype=float)
    axes.invert_yaxis()
    axes.set(xlabel=x, title=title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=min(4, len(parts)))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{part} {values[i]:,.4g}" for part, values in parts.items())
        for i, name in enumerate(names)
    )
    return _told(figure, f"Stacked bars of {x}. {told}.")


def save(figure: Figure, path: Any) -> None:
    """Write a figure; an .svg carries its description and the same bytes every time."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "batchlab", "svg.fonttype": "none"}):
        metadata = {"Date": None} if str(path).endswith(".svg") else {}
        figure.savefig(path, metadata=metadata, bbox_inches="tight")


def _blank(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.title.set_fontsize(11)
    return figure, axes


def _told(figure: Figure, text: str) -> Figure:
    figure.batchlab_alt = text  # type: ignore[attr-defined]
    return figure

"""Slots, drawn: which hold text and which hold padding.

    lengths, batches or packed rows  ->  Picture

Nothing is computed here that `padding` and `packing` did not count.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from batchlab import packing, padding, units
from batchlab.plots._canvas import (
    INK,
    REAL,
    SECOND,
    Picture,
    blank,
    headline,
    pad_style,
    told,
)  # fmt: skip

__all__ = ["overview", "packed_rows", "packing_rows", "rectangle", "step_strips"]

SHADES = (REAL, "#3E97C9", SECOND)  # neighbours in a row, told apart by brightness


def rectangle(
    lengths: ArrayLike,
    batches: Sequence[Sequence[int]] | None = None,
    *,
    title: str = "One batch is a rectangle",
) -> Picture:
    """Draw the rows of each batch: real tokens filled, padding hatched.

    Without `batches`, all documents stand in one.
    """
    tokens = np.asarray(lengths)
    batches = [range(len(tokens))] if batches is None else batches
    found = padding.measure(tokens, batches)
    rows = sum(len(batch) for batch in batches)
    figure, axes = blank(7, 0.3 * rows + 0.35 * len(batches) + 1.3)
    place, places, labels, widest = 0.0, [], [], 0
    for batch in batches:
        inside = tokens[np.asarray(batch)]
        at = place + np.arange(len(inside))
        _draw_rectangle(axes, at, inside)
        if int(tokens.max()) <= 40:  # few enough to see every slot
            edges = np.arange(1, inside.max())
            axes.vlines(edges, at[0] - 0.42, at[-1] + 0.42, color="white", linewidth=1.2)
        widest = max(widest, int(inside.max()))
        places += at.tolist()
        labels += [f"{length:,}" for length in inside.tolist()]
        place = at[-1] + 2
    axes.set_ylim(place - 1.3, -0.7)
    axes.set_yticks(places, labels)
    axes.grid(visible=False)
    axes.set(xlabel="slots", ylabel="tokens in each row", xlim=(0, widest * 1.005))
    headline(axes, f"{title}: {units.share(found.waste)} of {found.slots:,} slots are padding")
    _legend(figure)
    return told(
        figure,
        f"{_many(len(batches), 'rectangle')} of {_many(rows, 'row')} in all. Rows hold "
        f"{', '.join(labels[:16])}{' and so on' if rows > 16 else ''} tokens and are stretched to "
        f"the longest beside them: {found.real_tokens:,} of {found.slots:,} slots hold real "
        f"tokens, {units.share(found.waste)} are padding.",
    )


def packed_rows(rows: Sequence[Sequence[int]], row_length: int, *, title: str = "") -> Picture:
    """Draw rows as the lengths of the documents in them; what is left over is hatched."""
    real = sum(sum(row) for row in rows)
    fill = real / (row_length * len(rows))
    title = title or f"Packed rows: {100 * fill:.2f} % full"
    figure, axes = blank(7, 0.3 * len(rows) + 1.5)
    _draw_packed(axes, rows, row_length)
    axes.set_ylim(len(rows) - 0.3, -0.7)
    axes.set_yticks(range(len(rows)), [f"{len(row)}" for row in rows])
    axes.grid(visible=False)
    axes.set(xlabel="slots", ylabel="documents in each row", xlim=(0, row_length * 1.005))
    headline(axes, title)
    _legend(figure)
    return told(
        figure,
        f"{_many(len(rows), 'row')} of {row_length:,} slots with "
        f"{_many(sum(map(len, rows)), 'document')} in them, {100 * fill:.2f} % full.",
    )


def packing_rows(packed: packing.Packing, *, most: int = 16, title: str = "") -> Picture:
    """Draw rows of a packing, spread evenly from its first to its last."""
    if most < 1:
        raise ValueError(f"most must be at least 1 row, got {most}")
    numbers = np.linspace(0, packed.row_count - 1, min(most, packed.row_count)).round().astype(int)
    rows = [packed.piece_lengths[packed.rows[number]].tolist() for number in numbers]
    filled = f"Packed rows: {100 * packed.fill:.2f} % full"
    if len(rows) < packed.row_count:
        filled += f" ({len(rows)} of {packed.row_count:,} drawn)"
    figure = packed_rows(rows, packed.row_length, title=title or filled)
    bound = f"No packing needs fewer than {packed.lower_bound:,} rows."
    return told(figure, f"{filled}. Drawn: {figure.batchlab_alt} {bound}")


def step_strips(
    ways: Mapping[str, Sequence[float]], whole: float, *, title: str, x: str = "slots"
) -> Picture:
    """Draw a step as a strip of micro-batches for each way to split it; what it lacks is hatched.

    `whole` is what the step should hold; a strip that goes beyond that line holds too much.
    """
    if not ways:
        raise ValueError("a step is drawn in at least 1 way, got none")
    figure, axes = blank(7, 0.36 * len(ways) + 1.6)
    _draw_packed(axes, list(ways.values()), whole)
    most = max(whole, *(sum(parts) for parts in ways.values()))
    axes.axvline(whole, color=INK, linestyle="--", linewidth=1.2)
    axes.set_ylim(len(ways) - 0.3, -0.7)
    axes.set_yticks(range(len(ways)), list(ways))
    axes.grid(visible=False)
    axes.set(xlabel=x, xlim=(0, most * 1.02))
    headline(axes, title)
    handles = [Patch(color=REAL, label="micro-batches"), Patch(label="missing", **pad_style())]
    _legend(figure, handles)
    held = "; ".join(
        f"{name}: {_many(len(parts), 'micro-batch', 'es')}, {sum(parts):,g} {x}"
        for name, parts in ways.items()
    )
    return told(figure, f"Strips of micro-batches, {whole:,g} {x} asked. {held}.")


def overview(
    lengths: ArrayLike,
    *,
    rows: int = 8,
    row_length: int = 2048,
    window: int = 16,
    seed: int = 0,
    title: str = "The same documents, batched three ways",
) -> Picture:
    """Padded in random order, sorted in windows, packed: a typical micro-batch and the totals."""
    tokens = np.asarray(lengths)
    tokens = tokens[tokens <= row_length]  # one set for all three: packing takes whole documents
    rng = np.random.default_rng(seed)
    ways: list[tuple[str, list[np.ndarray], padding.Padding]] = []
    for name, batches in (
        ("shuffled", padding.in_windows(tokens, rows, window=1, rng=rng)),
        ("sorted in windows", padding.in_windows(tokens, rows, window=window, rng=rng)),
    ):
        found = padding.measure(tokens, batches)
        ways.append((name, _typical(tokens, batches, row_length, found.waste), found))
    packed = packing.pack(tokens, row_length)
    drawn = [packed.piece_lengths[row] for row in packed.shuffled_rows(seed)[:rows]]
    ways.append(("packed", drawn, padding.Padding(packed.real_tokens, packed.slots)))
    return _drawn_overview(ways, len(tokens), rows, row_length, title)


def _typical(
    tokens: np.ndarray, batches: list[list[int]], width: int, waste: float
) -> list[np.ndarray]:
    """Lengths in micro-batches that fit side by side in `width` slots.

    Of all neighbours the ones that waste most nearly as much as all batches together.
    """
    inside = [np.sort(tokens[np.asarray(batch)])[::-1] for batch in batches]
    gap, best = width // 100, (2.0, 0, 1)
    for first in range(len(inside)):
        end, used = first, int(inside[first][0])
        while used <= width and end < len(inside):
            end += 1
            used += gap + int(inside[end][0]) if end < len(inside) else 0
        end = max(end, first + 1)
        slots = sum(len(one) * int(one[0]) for one in inside[first:end])
        real = sum(int(one.sum()) for one in inside[first:end])
        best = min(best, (abs(1 - real / slots - waste), first, end))
    return inside[best[1] : best[2]]


def _drawn_overview(
    ways: list[tuple[str, list[np.ndarray], padding.Padding]],
    documents: int,
    rows: int,
    row_length: int,
    title: str,
) -> Picture:
    figure, grid = blank(9.6, 4.9, nrows=3, ncols=2, width_ratios=[1.35, 1])
    most = max(found.slots for _, _, found in ways)
    for (left, right), (name, drawn, found) in zip(grid, ways, strict=True):
        if name == "packed":
            _draw_packed(left, [row.tolist() for row in drawn], row_length)
            what = f"one micro-batch of {rows} rows"
        else:
            start = 0
            for inside in drawn:
                _draw_rectangle(left, np.arange(len(inside)), inside, start=start)
                start += int(inside[0]) + row_length // 100
            what = f"{_many(len(drawn), 'micro-batch', 'es')} of {rows} rows"
        left.set(xlim=(0, row_length * 1.005), ylim=(rows - 0.2, -0.8), yticks=[])
        left.spines["left"].set_visible(False)
        left.grid(visible=False)
        left.set_title(f"{name}: {what}", loc="left", fontsize=10, color=INK, pad=4)
        _draw_total(right, found, most)
    for axes in grid[:2].flat:
        axes.tick_params(labelbottom=False)
    grid[2, 0].set_xlabel("slots")
    grid[2, 1].set_xlabel(
        f"slots for {documents:,} documents of at most {row_length:,}, in millions"
    )
    grid[0, 1].legend(
        handles=_handles(), loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=2, frameon=False,
        fontsize=9.5, labelcolor=INK, borderaxespad=0,
    )  # fmt: skip
    figure.suptitle(title, x=0.008, ha="left", fontsize=12.5, fontweight="bold", color=INK)
    totals = "; ".join(
        f"{name}: {found.slots:,} slots, {units.share(found.waste)} padding"
        for name, _, found in ways
    )
    return told(
        figure,
        f"Left, micro-batches of {rows} rows drawn slot by slot; right, bars of all slots that "
        f"{documents:,} documents of at most {row_length:,} tokens take. {totals}.",
    )


def _draw_total(axes: Axes, found: padding.Padding, most: int) -> None:
    """One bar of all slots in millions, with its share written beside it."""
    real, pad = found.real_tokens / 1e6, found.pad_tokens / 1e6
    axes.barh([0], [real], height=0.62, color=REAL)
    axes.barh([0], [pad], left=[real], height=0.62, **pad_style())
    axes.annotate(
        f"{found.slots / 1e6:.2f} million\n{units.share(found.waste)} padding",
        (real + pad, 0), xytext=(7, 0), textcoords="offset points", va="center", fontsize=9.5,
        color=INK,
    )  # fmt: skip
    axes.set(xlim=(0, most / 1e6 * 1.42), ylim=(-0.62, 0.62), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)


def _draw_rectangle(axes: Axes, at: Any, inside: np.ndarray, *, start: int = 0) -> None:
    width = int(inside.max())
    axes.barh(at, inside, left=start, height=0.8, color=REAL)
    axes.barh(at, width - inside, left=start + inside, height=0.8, **pad_style())


def _draw_packed(axes: Axes, rows: Sequence[Sequence[float]], width: float) -> None:
    for place, lengths in enumerate(rows):
        start = 0.0
        for number, length in enumerate(lengths):
            axes.barh(
                place, length, left=start, height=0.8, color=SHADES[number % 3],
                edgecolor="white", linewidth=0.6,
            )  # fmt: skip
            start += length
        if start < width:
            axes.barh(place, width - start, left=start, height=0.8, **pad_style())


def _handles() -> list[Patch]:
    return [Patch(color=REAL, label="real tokens"), Patch(label="padding", **pad_style())]


def _legend(figure: Picture, handles: list[Patch] | None = None) -> None:
    figure.legend(
        handles=handles or _handles(), loc="outside lower center", ncols=2, frameon=False,
        fontsize=9, labelcolor=INK,
    )  # fmt: skip


def _many(number: int, what: str, plural: str = "s") -> str:
    return f"{number:,} {what}{'' if number == 1 else plural}"

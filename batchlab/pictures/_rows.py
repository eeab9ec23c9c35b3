"""Documents in rows: stretched to a rectangle, sorted in windows, packed, and kept apart.

lengths  ->  Steps
"""

from collections.abc import Sequence

import numpy as np

from batchlab import packing as packer
from batchlab import padding, units
from batchlab.pictures._steps import WIDE, Drawing, Steps

__all__ = ["mask", "packing", "rectangle", "windows"]

HIGH, GAP = 18, 4
FITS = {
    "best_fit_decreasing": "fits best behind",
    "first_fit_decreasing": "goes into the first row with room, behind",
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def rectangle(lengths: Sequence[int]) -> Steps:
    """Eight rows or fewer: the documents, the stretch, and its share of the slots."""
    width, unit = max(lengths), WIDE / max(lengths)
    found = padding.measure(list(lengths), [range(len(lengths))])
    said = (
        f"{len(lengths)} documents, {found.real_tokens:,} tokens. They are of different lengths.",
        f"A tensor is a rectangle: every row is stretched to {width:,} slots, the longest row.",
        f"{found.pad_tokens:,} of {found.slots:,} slots are padding: {units.share(found.waste)}."
        " They are stored and multiplied like the others.",
    )
    frames = []
    for step, words in enumerate(said):
        drawing = Drawing(len(lengths) * (HIGH + GAP) + 18)
        for row, length in enumerate(lengths):
            y = row * (HIGH + GAP)
            drawing.box(0, y, length * unit, HIGH, "useful")
            if step:
                kind = "padding" if step > 1 else ""
                drawing.box(length * unit, y, (width - length) * unit, HIGH, kind)
        drawing.text(0, drawing.height - 4, "tokens")
        drawing.text(WIDE, drawing.height - 4, f"{width:,} slots a row", "end")
        frames.append((drawing, words))
    return Steps("One rectangle", frames)


def windows(lengths: Sequence[int], rows: int, *, window: int, rng: np.random.Generator) -> Steps:
    """The same documents in random order, then sorted inside windows, then cut into rectangles."""
    held = rows * window
    shuffled = rng.permutation(np.array(lengths))
    parts = [shuffled[at : at + held] for at in range(0, len(shuffled), held)]
    ordered = np.concatenate([np.sort(part) for part in parts])
    cut = [ordered[at : at + rows] for at in range(0, len(ordered), rows)]
    plain = [shuffled[at : at + rows] for at in range(0, len(shuffled), rows)]
    mixed = [cut[number] for number in rng.permutation(len(cut))]

    def waste(batches: Sequence[np.ndarray]) -> str:
        ends = np.cumsum([len(one) for one in batches])
        places = [range(end - len(one), end) for one, end in zip(batches, ends, strict=True)]
        return units.share(padding.measure(np.concatenate(batches), places).waste)

    return Steps("Sorted in windows", [
        (_columns(plain), f"Random order, {rows} rows a micro-batch: {waste(plain)} padding."),
        (_columns(parts, padded=False), f"A window holds {held} documents."),
        (_columns([np.sort(part) for part in parts], padded=False), "Sort inside each window."),
        (_columns(cut), f"Cut it into micro-batches again: {waste(cut)} padding."),
        (_columns(mixed), f"Shuffle the micro-batches, so that none comes by its length:"
                          f" still {waste(mixed)}."),
    ])  # fmt: skip


def _columns(groups: Sequence[np.ndarray], *, padded: bool = True) -> Drawing:
    """Documents as columns, groups side by side."""
    many, most = sum(map(len, groups)), max(int(one.max()) for one in groups)
    drawing, high = Drawing(140), 120 / most
    wide, x = (WIDE - 8.0 * (len(groups) - 1)) / many, 0.0
    for group in groups:
        top = int(group.max())
        for length in group.tolist():
            if padded and length < top:
                drawing.box(x, 125 - top * high, wide, (top - length) * high, "padding")
            drawing.box(x, 125 - length * high, wide, length * high, "useful")
            x += wide
        drawing.line(x - wide * len(group), 130, x - 1, 130, wide=2)
        x += 8
    return drawing


def packing(
    lengths: Sequence[int], row_length: int, *, method: str = "best_fit_decreasing"
) -> Steps:
    """Documents fall into rows one after the other, the longest first: where each fits best.

    With `method="first_fit_decreasing"` each falls into the first row that has room.
    """
    if method not in FITS:
        raise ValueError(f"{method!r} cannot be drawn; there are {', '.join(FITS)}")
    if len(lengths) > len(LETTERS):
        raise ValueError(f"at most {len(LETTERS)} documents can be drawn, got {len(lengths)}")
    found = packer.pack(list(lengths), row_length, method=method)
    order = sorted(range(len(lengths)), key=lambda one: (-lengths[one], one))
    rows: list[list[int]] = []
    names: dict[int, int] = {}  # rows in the order in which they are opened
    padded = len(lengths) * max(lengths)
    frames = [(_packed([], lengths, row_length, found.row_count), (
        f"{len(lengths)} documents. In one rectangle they would take {padded:,} slots. Rows of "
        f"{row_length:,} wait; the longest document comes first."
    ))]  # fmt: skip
    for document in order:
        row = names.setdefault(int(found.row_of[document]), len(names))
        opened = row == len(rows)
        if opened:
            rows.append([])
        rows[row].append(document)
        left = row_length - sum(lengths[one] for one in rows[row])
        where = "opens a row" if opened else f"{FITS[method]} " + ", ".join(
            LETTERS[one] for one in rows[row][:-1]
        )  # fmt: skip
        said = f"{LETTERS[document]} ({lengths[document]:,} tokens) {where}: {left:,} slots stay."
        frames.append((_packed(rows, lengths, row_length, found.row_count), said))
    end = f" {found.row_count} rows, {units.share(found.fill)} of the slots are tokens."
    frames[-1] = frames[-1][0], frames[-1][1] + end
    return Steps(method.replace("_", " ").capitalize(), frames)


def _packed(
    rows: Sequence[Sequence[int]], lengths: Sequence[int], row_length: int, count: int
) -> Drawing:
    drawing, unit = Drawing(count * (HIGH + GAP) + 2), WIDE / row_length
    for row in range(count):
        y, at = row * (HIGH + GAP) + 1, 0
        for place, document in enumerate(rows[row] if row < len(rows) else []):
            kind = "other" if place % 2 else "useful"
            drawing.box(at * unit, y, lengths[document] * unit, HIGH, kind, LETTERS[document])
            at += lengths[document]
        if at < row_length:
            kind = "padding" if row < len(rows) else ""
            drawing.box(at * unit, y, (row_length - at) * unit, HIGH, kind)
    return drawing


def mask(lengths: Sequence[int]) -> Steps:
    """Who may look at whom in one packed row: nothing, causal, causal inside each document."""
    total = sum(lengths)
    of = [number for number, length in enumerate(lengths) for _ in range(length)]
    causal = total * (total + 1) // 2
    inside = sum(length * (length + 1) // 2 for length in lengths)
    leak = causal - inside
    said = (
        f"{len(lengths)} documents in one row of {total} tokens. Each token asks (a line), and "
        f"looks at tokens (columns).",
        f"Causal attention: a token looks at itself and at all before it, {causal} pairs. "
        f"{leak} of them reach into another document.",
        f"With a block for each document: {inside} pairs. No document sees another one.",
    )
    frames = []
    for step, words in enumerate(said):
        drawing, unit = Drawing(240), 220 / total
        for asks in range(total):
            for seen in range(total):
                allowed = step > 0 and seen <= asks
                other = of[asks] != of[seen]
                kind = "" if not allowed else "waiting" if other and step == 1 else "useful"
                if kind and not (other and step == 2):
                    drawing.box(120 + seen * unit, 10 + asks * unit, unit, unit, kind)
        drawing.box(120, 10, 220, 220)
        at = 0
        for number, length in enumerate(lengths):
            middle = 10 + (at + length / 2) * unit
            drawing.text(112, middle + 4, f"document {LETTERS[number]}", "end")
            at += length
            if at < total:
                drawing.line(100, 10 + at * unit, 340, 10 + at * unit)
                drawing.line(120 + at * unit, 10, 120 + at * unit, 230)
        frames.append((drawing, words))
    return Steps("Who may look at whom", frames)

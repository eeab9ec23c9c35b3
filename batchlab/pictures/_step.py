"""One optimizer step: what its micro-batches add, keep, compute again, and wait for.

targets, gradients, bytes, seconds  ->  Steps
"""

import itertools
from collections.abc import Mapping, Sequence

from batchlab import units
from batchlab.pictures._steps import WIDE, Drawing, Steps

__all__ = ["memory", "micro_batches", "segments", "timeline"]

KINDS = ("useful", "optimizer", "sent", "other", "waiting", "again")


def micro_batches(targets: Sequence[int], gradients: Sequence[float]) -> Steps:
    """The mean gradient of micro-batches with unequally many targets is an area over a width.

    `gradients` holds the mean of each micro-batch, one number in place of many.
    """
    total = sum(targets)
    areas = [one * mean for one, mean in zip(targets, gradients, strict=True)]
    exact, means = sum(areas) / total, sum(gradients) / len(gradients)
    frames = []
    for count in range(1, len(targets) + 1):
        said = (
            f"Micro-batch {count}: targets {targets[count - 1]}, mean gradient "
            f"{gradients[count - 1]:g}. It adds the area {areas[count - 1]:g}."
        )
        frames.append((_areas(targets, gradients, count), said))
    frames.append((
        _areas(targets, gradients, len(targets), level=exact),
        f"The step's gradient: all areas over all {total} targets, {exact:.3g}.",
    ))  # fmt: skip
    frames.append((
        _areas([1] * len(targets), gradients, len(targets), level=means),
        f"The mean of the means makes all micro-batches equally wide: {means:.3g}, "
        f"{units.share(abs(means / exact - 1))} off.",
    ))  # fmt: skip
    return Steps("What a micro-batch adds", frames)


def _areas(
    widths: Sequence[float], heights: Sequence[float], count: int, *, level: float | None = None
) -> Drawing:
    drawing, x = Drawing(150), 0.0
    wide, high = WIDE / sum(widths), 110 / max(heights)
    for number, (one, mean) in enumerate(zip(widths, heights, strict=True)):
        kind = ("useful", "other")[number % 2] if number < count else ""
        drawing.box(x, 125 - mean * high, one * wide, mean * high, kind, number + 1)
        x += one * wide
    drawing.line(0, 125, WIDE, 125)
    drawing.text(0, 142, "targets")
    if level is not None:
        drawing.line(0, 125 - level * high, WIDE, 125 - level * high, wide=2.5)
    return drawing


def memory(phases: Mapping[str, Mapping[str, float]]) -> Steps:
    """What is held at moments of a step, kind by kind, in bytes; the fullest moment is told."""
    most = max(sum(held.values()) for held in phases.values())
    kinds = list(dict.fromkeys(kind for held in phases.values() for kind in held))
    if len(kinds) > len(KINDS):
        raise ValueError(f"at most {len(KINDS)} kinds have a colour, got {len(kinds)}")
    frames = []
    for number, (phase, held) in enumerate(phases.items()):
        drawing, whole = Drawing(46 * len(phases) + 20), sum(held.values())
        for line, (name, then) in enumerate(phases.items()):
            y, x = line * 46, 0.0
            drawing.text(0, y + 12, name)
            for kind in kinds if line <= number else []:
                wide = WIDE * then.get(kind, 0.0) / most
                drawing.box(x, y + 17, wide, 22, KINDS[kinds.index(kind)],
                            kind if wide > 7 * len(kind) else "")  # fmt: skip
                x += wide
        largest = max(held, key=lambda kind: held[kind])
        said = f"{phase}: {units.size(whole)}, most of it {largest} ({units.size(held[largest])})."
        fullest = " This is the peak." if whole == most else ""
        frames.append((drawing, said + fullest))
    return Steps("A step's memory", frames)


def segments(layers: int, segments: int) -> Steps:
    """Recomputation: only edges are kept, and each segment is computed again when it is needed."""
    if not 0 < segments <= layers:
        raise ValueError(f"{layers} layers make 1 to {layers} segments, got {segments}")
    ends = [layers * number // segments for number in range(segments + 1)]
    frames = [
        (_layers(layers, range(layers), ()),
         f"Without recomputation: the forward pass keeps the activations of all {layers} layers."),
        (_layers(layers, ends[:-1], ()),
         f"With {segments} segments it keeps the input of each: {segments} of {layers}."),
    ]  # fmt: skip
    for number in reversed(range(segments)):
        first, last = ends[number], ends[number + 1]
        alive = number + (last - first)
        frames.append((
            _layers(layers, ends[:number], range(first, last)),
            f"Backward, segment {number + 1}: its {last - first} layers are computed again. "
            f"{alive} are alive, then they go.",
        ))  # fmt: skip
    longest = max(b - a for a, b in itertools.pairwise(ends))
    said = f" Never more than {segments - 1 + longest} at once; one more forward pass is the price."
    frames[-1] = frames[-1][0], frames[-1][1] + said
    return Steps("Compute it again", frames)


def _layers(layers: int, kept: Sequence[int], again: Sequence[int]) -> Drawing:
    drawing, wide = Drawing(52), WIDE / layers
    for layer in range(layers):
        kind = "again" if layer in again else "useful" if layer in kept else ""
        drawing.box(layer * wide + 1, 4, wide - 2, 26, kind)
    drawing.text(0, 47, "first layer")
    drawing.text(WIDE, 47, "last layer", "end")
    return drawing


def timeline(seconds: Mapping[str, float], cures: Mapping[str, str]) -> Steps:
    """One step by the clock, and what is left of it when its causes are taken out one by one.

    `seconds` by part: useful, padding, waiting, optimizer; `cures` says how a part goes.
    """
    whole = sum(seconds.values())
    frames, left = [], dict(seconds)
    told = ", ".join(f"{name} {units.duration(one)}" for name, one in seconds.items())
    frames.append((_strip(left, whole), f"One step takes {units.duration(whole)}: {told}."))
    for part, how in cures.items():
        del left[part]
        rest = sum(left.values())
        said = f"Without {part} ({how}): {units.duration(rest)}, {whole / rest:.2f} times as fast."
        frames.append((_strip(left, whole), said))
    return Steps("One step by the clock", frames)


def _strip(seconds: Mapping[str, float], whole: float) -> Drawing:
    drawing, x = Drawing(56), 0.0
    for part, one in seconds.items():
        wide = WIDE * one / whole
        drawing.box(x, 4, wide, 30, part, part if wide > 7 * len(part) else "")
        x += wide
    drawing.line(0, 38, WIDE, 38)
    drawing.text(WIDE, 52, units.duration(whole), "end")
    return drawing

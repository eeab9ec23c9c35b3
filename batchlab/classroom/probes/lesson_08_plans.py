"""Plans of segments and their costs, and what usual mistakes make of those costs.

    pieces (edge, kept, flops), segments  ->  most bytes, FLOPs computed again; right and wrong

Words
    edge      bytes of a piece's input
    kept      bytes that a piece keeps for its backward pass, its input included
    segment   (first, end): pieces first to end - 1, whose activations are computed again
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["WRONG_COSTS", "best_plan", "plan_costs", "plans"]

Layer = Sequence[float]  # edge, kept, flops
Segment = tuple[int, int]
Plan = Sequence[Sequence[int]]


def _pieces(layers: Sequence[Layer], segments: Plan) -> Iterator[tuple[float, float]]:
    """Bytes that each kept layer, and each segment, holds, and bytes of its own backward pass."""
    starts = {int(first): int(end) for first, end in segments}
    at = 0
    while at < len(layers):
        end = starts.get(at, at + 1)
        full = sum(kept for _, kept, _ in layers[at:end])
        yield layers[at][0] if at in starts else full, full
        at = end


def _recomputed(layers: Sequence[Layer], segments: Plan) -> float:
    return sum(layers[n][2] for first, end in segments for n in range(int(first), int(end)))


def plan_costs(layers: Sequence[Layer], segments: Plan) -> tuple[float, float]:
    """Bytes at the fullest moment of the backward pass, and FLOPs that are computed again.

    >>> plan_costs([(1, 10, 5), (2, 20, 7), (1, 10, 5)], [(0, 2)])
    (30, 12)
    """
    before: float = 0  # whole numbers stay whole
    peak: float = 0
    for held, full in _pieces(layers, segments):
        peak = max(peak, before + full)
        before += held
    return peak, _recomputed(layers, segments)


def plans(layers: int, first: int = 0) -> Iterator[list[Segment]]:
    """Every way to recompute some runs of layers and to keep the others.

    >>> sorted(plans(2))
    [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 2)], [(1, 2)]]
    """
    if first == layers:
        yield []
        return
    yield from plans(layers, first + 1)
    for end in range(first + 1, layers + 1):
        yield from ([(first, end), *rest] for rest in plans(layers, end))


def best_plan(layers: Sequence[Layer], budget: float) -> tuple[float | None, float]:
    """The fewest FLOPs again that fit the budget, None where no plan does; the least bytes."""
    costs = [plan_costs(layers, plan) for plan in plans(len(layers))]
    fits = [flops for peak, flops in costs if peak <= budget]
    return min(fits, default=None), min(peak for peak, _ in costs)


def _costs(peak: Callable[[list[tuple[float, float]]], float]) -> Callable[..., Any]:
    """A wrong version: the peak from (held, full) of each piece, the FLOPs as they should be."""
    return lambda layers, segments: (
        peak(list(_pieces(layers, segments))),
        _recomputed(layers, segments),
    )


def _with_flops(times: Callable[[float, float], float]) -> Callable[..., Any]:
    def costs(layers: Sequence[Layer], segments: Plan) -> tuple[float, float]:
        every = sum(flops for _, _, flops in layers)
        return plan_costs(layers, segments)[0], times(_recomputed(layers, segments), every)

    return costs


def _edge_twice(layers: Sequence[Layer], segments: Plan) -> tuple[float, float]:
    before = peak = 0.0
    for held, full in _pieces(layers, segments):
        peak = max(peak, before + full + held * (held < full))
        before += held
    return peak, _recomputed(layers, segments)


def _all_edges(layers: Sequence[Layer], segments: Plan) -> tuple[float, float]:
    """Every layer of a segment keeps its input, as if each were a segment of its own."""
    single = [(n, n + 1) for first, end in segments for n in range(int(first), int(end))]
    return plan_costs(layers, single)


def _walked(
    held: Callable[[Sequence[Layer], int, int, bool], float],
    whole: Callable[[Sequence[Layer], int, int, bool], float],
    *,
    longer: int = 0,
    backwards: bool = False,
) -> Callable[..., Any]:
    """A wrong version: what a run of pieces (first, end) leaves held, and what it needs itself."""

    def costs(layers: Sequence[Layer], segments: Plan) -> tuple[float, float]:
        starts = {int(a): min(int(b) + longer, len(layers)) for a, b in segments}
        runs, at = [], 0
        while at < len(layers):
            end = starts.get(at, at + 1)
            runs.append((at, end, at in starts))
            at = end
        before = peak = 0.0
        for first, end, again in reversed(runs) if backwards else runs:
            peak = max(peak, before + whole(layers, first, end, again))
            before += held(layers, first, end, again)
        flops = sum(layers[n][2] for first, end, again in runs if again for n in range(first, end))
        return peak, flops

    return costs


def _left(layers: Sequence[Layer], first: int, end: int, again: bool) -> float:
    return layers[first][0] if again else layers[first][1]


def _whole(layers: Sequence[Layer], first: int, end: int, again: bool) -> float:
    return sum(kept for _, kept, _ in layers[first:end])


def _only_again(layers: Sequence[Layer], first: int, end: int, again: bool) -> float:
    return _whole(layers, first, end, again) if again else 0


def _own_edge(layers: Sequence[Layer], first: int, end: int, again: bool) -> float:
    return _left(layers, first, end, again) + (0 if again else layers[first][0])


WRONG_COSTS: dict[str, Callable[..., Any]] = {
    "the largest piece alone: what earlier pieces hold is there, too": _costs(
        lambda pieces: max((full for _, full in pieces), default=0)
    ),
    "later pieces are gone by then: their backward pass is over": _costs(
        lambda pieces: (
            sum(held for held, _ in pieces) + max((full - held for held, full in pieces), default=0)
        )
    ),
    "nothing is freed: the recomputed pieces hold their inputs alone": _costs(
        lambda pieces: sum(full for _, full in pieces)
    ),
    "recomputing counted as memory: add no copy to what is freed": _costs(
        lambda pieces: (
            sum(full for _, full in pieces) + sum(held for held, full in pieces if held < full)
        )
    ),
    "the last moment alone: an earlier segment comes back whole": _costs(
        lambda pieces: sum(held for held, _ in pieces[:-1]) + (pieces[-1][1] if pieces else 0)
    ),
    "the input is a part of what a layer keeps: it is counted twice": _edge_twice,
    "each layer of a segment holds its input: only the first one does": _all_edges,
    "the backward pass is not run again: only the forward pass is": _with_flops(
        lambda again, every: 3 * again
    ),
    "all FLOPs: only those of segments are computed again": _with_flops(lambda again, every: every),
    "first and later pass together: asked is what is computed again": _with_flops(
        lambda again, every: every + again
    ),
    "cost doubled: one more forward pass, not two": _with_flops(lambda again, every: 2 * again),
    "a share: asked are FLOPs": _with_flops(lambda again, every: again / every),
    "`end` is the first piece behind the segment": _walked(_left, _whole, longer=1),
    "the two numbers are exchanged: bytes first, then FLOPs": (
        lambda pieces, plan: plan_costs(pieces, plan)[::-1]
    ),
    "kept pieces have a backward pass, too: it may be the fullest moment": _walked(
        _left, _only_again
    ),
    "without any segment the kept pieces need their bytes, too": (
        lambda pieces, plan: (plan_costs(pieces, plan)[0] if plan else 0, _recomputed(pieces, plan))
    ),
    "an earlier kept piece holds all that it keeps, not its edge alone": _walked(
        lambda pieces, first, end, again: pieces[first][0], _whole
    ),
    "the input of a kept piece is a part of what it keeps": _walked(
        _own_edge,
        lambda pieces, a, b, again: _whole(pieces, a, b, again) + (not again) * pieces[a][0],
    ),
    "later pieces are free by then: walk from the first piece to the last": _walked(
        _left, _whole, backwards=True
    ),
    "the edge of a segment is the input of its first piece, not of its last": _walked(
        lambda pieces, a, b, again: pieces[b - 1][0] if again else pieces[a][1], _whole
    ),
    "a segment holds the input of its first piece, not those of all": _walked(
        lambda pieces, a, b, again: (
            sum(edge for edge, *_ in pieces[a:b]) if again else pieces[a][1]
        ),
        _whole,
    ),
    "the edge of a segment is its input, not its output": _walked(
        lambda pieces, a, b, again: (
            pieces[a][1] if not again else pieces[b][0] if b < len(pieces) else 0
        ),
        _whole,
    ),
    "all pieces of a segment come back, not the largest alone": _walked(
        _left, lambda pieces, a, b, again: max(kept for _, kept, _ in pieces[a:b])
    ),
    "the FLOPs of the kept pieces: asked are those of segments": _with_flops(
        lambda again, every: every - again
    ),
    "a share of a step: asked are FLOPs": _with_flops(lambda again, every: again / every / 3),
    "the FLOPs of the first piece alone: its whole segment is computed again": (
        lambda pieces, plan: (plan_costs(pieces, plan)[0], sum(pieces[a][2] for a, _ in plan))
    ),
    "the last segment alone: add up the FLOPs of all": (
        lambda pieces, plan: (plan_costs(pieces, plan)[0], _recomputed(pieces, plan[-1:]))
    ),
    "a number of pieces: asked are FLOPs": (
        lambda pieces, plan: (plan_costs(pieces, plan)[0], sum(b - a for a, b in plan))
    ),
    "whole bytes: sizes may be fractions": (
        lambda pieces, plan: tuple(int(value) for value in plan_costs(pieces, plan))
    ),
}

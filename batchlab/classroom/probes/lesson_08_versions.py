"""Versions of the functions of lesson 08, right ones and wrong ones under their thoughts.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    edge      bytes of a layer's input
    kept      bytes that a layer keeps for its backward pass, its input included
    segment   (first, end): layers first to end - 1, whose activations are computed again
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from batchlab.classroom.probes.lesson_08_plans import WRONG_COSTS, plan_costs

__all__ = ["RIGHT", "WRONG"]

Plan = Sequence[Sequence[int]]


def _segment_bytes(layers: int, segments: int, edge: float, kept: float) -> float:
    return (segments - 1) * edge + -(-layers // segments) * kept


def _gain(fixed: float, per_row: float, small: int, large: int, share: float) -> float:
    slow = (1 + share) * (fixed + per_row * large) / large
    return (fixed + per_row * small) / small / slow


def _coins(weights: Sequence[float], seed: int) -> tuple[list[int], float]:
    draw = random.Random(seed)
    return [draw.choice((1, 2)) for _ in weights], draw.random()


def _straight(weights: Sequence[float], x: float, segments: Plan, seed: int) -> list[Any]:
    coins, after = _coins(weights, seed)
    y = x * math.prod(weights) * math.prod(coins)
    others = ([*weights[:n], *weights[n + 1 :]] for n in range(len(weights)))
    return [y, [x * math.prod(coins) * math.prod(some) for some in others], after]


def _tape(
    again: Callable[[list[int], int, int], list[int]] = lambda coins, first, end: coins[first:end],
    *,
    times: Callable[[int], float] = lambda first: 1,
    through: float = 1,
    start: Callable[[float, float], float] = lambda own, x: own,
    after: Callable[[int, float, Plan], float] = lambda seed, right, segments: right,
    always: float = 1,
    one_state: bool = False,
    order: int = 1,
) -> Callable[..., list[Any]]:
    """A toy step that recomputes segments: with which coins, from which input, to what effect."""

    def step(weights: Sequence[float], x: float, segments: Plan, seed: int) -> list[Any]:
        coins, drawn = _coins(weights, seed)
        inputs = [x]
        for weight, coin in zip(weights, coins, strict=True):
            inputs.append(inputs[-1] * weight * coin)
        used, scale = [*coins], [always] * len(weights)
        for first, end in segments:
            own = int(segments[0][0]) if one_state else first  # where its random state was taken
            used[first:end] = again(coins, own, own + end - first)
            inputs[first] = start(inputs[first], x)
            for n in range(first, end - 1):
                inputs[n + 1] = inputs[n] * weights[n] * used[n]
            scale[first:end] = [always * times(first)] * (end - first)
        gradient, found, starts = 1.0, [0.0] * len(weights), {first for first, _ in segments}
        y = x * math.prod(weights) * math.prod(coins)
        for n in reversed(range(len(weights))):
            found[n] = gradient * inputs[n] * used[n] * scale[n]
            gradient *= weights[n] * used[n] * (through if n in starts else 1)
        return [y, found[::order], after(seed, drawn, segments)]

    return step


def _moved(seed: int, right: float, segments: Plan) -> float:
    """The generator stands where the recomputation of the first segment left it."""
    if not segments:
        return right
    draw = random.Random(seed)
    for _ in range(segments[0][1]):
        draw.choice((1, 2))
    return draw.random()


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "segment-bytes": (_segment_bytes,),
    "gain": (_gain,),
    "plan-costs": (plan_costs,),
    "step": (_straight, _tape()),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "segment-bytes": {
        "memory divided by the segments: their inputs stay, too": lambda n, k, e, m: n * m / k,
        "layers divide by segments as a fraction: the longest segment counts whole": (
            lambda n, k, e, m: (k - 1) * e + n / k * m
        ),
        "the longest segment is rounded down": lambda n, k, e, m: (k - 1) * e + n // k * m,
        "the inputs of the segments are forgotten": lambda n, k, e, m: -(-n // k) * m,
        "the input of the segment itself is counted twice: it is a part of what it keeps": (
            lambda n, k, e, m: k * e + -(-n // k) * m
        ),
        "recomputing counted as memory: what was freed is not added": (
            lambda n, k, e, m: n * m + (k - 1) * e
        ),
        "no second copy: what is computed again is held once": (
            lambda n, k, e, m: (k - 1) * e + 2 * -(-n // k) * m
        ),
        "one layer comes back: its whole segment does": lambda n, k, e, m: (k - 1) * e + m,
        "every layer's input stays: only that of each segment does": (
            lambda n, k, e, m: (n - 1) * e + -(-n // k) * m
        ),
        "the two sizes are exchanged": lambda n, k, e, m: (k - 1) * m + -(-n // k) * e,
        "the two counts are exchanged": lambda n, k, e, m: (n - 1) * e + -(-k // n) * m,
        "every layer's input stays, and the segment comes on top": (
            lambda n, k, e, m: n * e + -(-n // k) * m
        ),
        "inside the segment the inputs are a part of what layers keep": (
            lambda n, k, e, m: (k + -(-n // k) - 2) * e + -(-n // k) * m
        ),
        "the input of a layer is a part of what it keeps: take nothing off": (
            lambda n, k, e, m: (k - 1) * e + -(-n // k) * (m - e)
        ),
        "the edges and the segment are there at the same time: add them": (
            lambda n, k, e, m: max((k - 1) * e, -(-n // k) * m)
        ),
        "all spare layers in one segment: segments are as even as they can be": (
            lambda n, k, e, m: (k - 1) * e + (n // k + n % k) * m
        ),
        "full segments and a shorter rest are fewer than asked: make them as even as they can be": (
            lambda n, k, e, m: (-(-n // -(-n // k)) - 1) * e + -(-n // k) * m
        ),
        "one more than the whole division: nothing is to be added where it leaves no rest": (
            lambda n, k, e, m: (k - 1) * e + (n // k + 1) * m
        ),
        "whole bytes: sizes may be fractions": (
            lambda n, k, e, m: (k - 1) * int(e) + -(-n // k) * int(m)
        ),
        "the root of the layers: here the segments are given": (
            lambda n, k, e, m: 2 * math.sqrt(n) * m
        ),
    },
    "gain": {
        "the recomputation is forgotten": lambda f, t, s, n, r: _gain(f, t, s, n, 0),
        "cost doubled: only the forward pass runs again": lambda f, t, s, n, r: _gain(
            f, t, s, n, 1
        ),
        "the share is lost, not added: a third more time is a quarter less speed": (
            lambda f, t, s, n, r: (1 - r) * _gain(f, t, s, n, 0)
        ),
        "always a third: take the share that is given": lambda f, t, s, n, r: _gain(
            f, t, s, n, 1 / 3
        ),
        "turned over: a gain above 1 says that the large rows are faster": (
            lambda f, t, s, n, r: 1 / _gain(f, t, s, n, r)
        ),
        "micro-batches per second: asked are rows per second": lambda f, t, s, n, r: (
            _gain(f, t, s, n, r) * s / n
        ),
        "the fixed time is recomputed, too: all of it takes the share longer": (
            lambda f, t, s, n, r: (f + t * s) / s / ((f + (1 + r) * t * n) / n)
        ),
        "the fixed time is forgotten": lambda f, t, s, n, r: 1 / (1 + r),
        "the difference to 1: asked is the ratio": lambda f, t, s, n, r: _gain(f, t, s, n, r) - 1,
        "in per cent: asked is the ratio": lambda f, t, s, n, r: 100 * _gain(f, t, s, n, r),
        "never below 1: a loss is a gain below 1": (
            lambda f, t, s, n, r: max(1, _gain(f, t, s, n, r))
        ),
        "the small rows are recomputed: the large ones are": (
            lambda f, t, s, n, r: (1 + r) * _gain(f, t, s, n, 0)
        ),
        "the growing time is recomputed, too: all of it takes the share longer": (
            lambda f, t, s, n, r: (f / s + t) / ((1 + r) * f / n + t)
        ),
        "the share alone: the forward and backward pass are there, too": (
            lambda f, t, s, n, r: (1 + r) / r * _gain(f, t, s, n, r)
        ),
        "the share is a ratio, not per cent": (lambda f, t, s, n, r: _gain(f, t, s, n, r / 100)),
        "always four times the rows: take those that are given": (
            lambda f, t, s, n, r: _gain(f, t, s, 4 * s, r)
        ),
        "a difference of speeds: asked is their ratio": (
            lambda f, t, s, n, r: n / (1 + r) / (f + t * n) - s / (f + t * s)
        ),
        "small and large rows are exchanged": lambda f, t, s, n, r: _gain(f, t, n, s, r),
        "only the rows: larger micro-batches take longer, too": lambda f, t, s, n, r: (
            n / s / (1 + r)
        ),
        "the fixed time and that of a row are exchanged": lambda f, t, s, n, r: _gain(
            t, f, s, n, r
        ),
    },
    "plan-costs": WRONG_COSTS,
    "step": {
        "other coins in the recomputation": _tape(
            lambda coins, first, end: [3 - coin for coin in coins[first:end]]
        ),
        "no noise in the recomputation, as in eval mode": _tape(
            lambda coins, first, end: [1] * (end - first)
        ),
        "the generator stays where the recomputation left it": _tape(after=_moved),
        "weights of a first segment get no gradient": _tape(times=lambda first: first > 0),
        "weights of a segment get their gradient twice": _tape(times=lambda first: 2),
        "no gradient passes through a segment": _tape(through=0),
        "every segment starts from the first input": _tape(start=lambda own, x: x),
        "all gradients are doubled, with segments and without": _tape(always=2),
        "the second segment gets the coins of the first": _tape(one_state=True),
        "the derivatives stand in reversed order": _tape(order=-1),
        "derivatives of a segment are 1 % too large": _tape(times=lambda first: 1.01),
    },
}

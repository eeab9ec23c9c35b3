"""From two shallow models to a deep one: which depths to trace, and what they say of all layers.

    kinds of all layers  ->  two depths  ->  bytes at any depth

Layers of one kind cost the same, so each phase is affine in whole periods of layers: one layer in
a Llama, six in a Gemma 3, where every sixth attends to all positions. What does not repeat, as the
dense layers at the bottom of a mixture, is in both depths.
"""

import copy
from collections.abc import Sequence
from typing import Any

__all__ = ["ByPhase", "depths_of", "extrapolated", "lists_of", "with_layers"]

FEWEST = 3  # layers traced: a first, a last and one between; deeper models are extrapolated

ByPhase = dict[str, dict[str, int]]


def depths_of(kinds: Sequence[Any]) -> tuple[int, ...]:
    """Two shallow depths that end like the model: they differ by whole periods of its layers.

    `kinds` has one entry a layer, equal for layers that cost the same. Where they do not repeat,
    the model is traced as deep as it is.
    """
    layers = len(kinds)
    prefix, period = _repeats(kinds)
    least = prefix + FEWEST - 1 if prefix else FEWEST  # of those that repeat a last, and one before
    first = least + (layers - least) % period
    step = period * -(-2 // period)  # one layer more would not show what a middle layer adds
    return (first, first + step) if layers > first + step else (layers,)


def _repeats(kinds: Sequence[Any]) -> tuple[int, int]:
    """After how many layers of their own the kinds repeat, and every how many.

    (0, 1) in a Llama, (0, 6) where every sixth attends to all, (4, 1) behind four dense layers.

    >>> _repeats("dddmmmmmmm"), _repeats("aabaabaabaab")
    ((3, 1), (0, 3))
    """
    layers = len(kinds)

    def prefix(period: int) -> int:
        differs = [i for i in range(period, layers) if kinds[i] != kinds[i - period]]
        return differs[-1] - period + 1 if differs else 0

    found = ((prefix(period), period) for period in range(1, layers + 1))
    return min(found, key=lambda one: one[0] + 2 * one[1])


def lists_of(config: Any, layers: int) -> list[tuple[Any, ...]]:
    """What a config says of each layer, in lists that have one entry a layer."""
    lists = [v for v in vars(config).values() if isinstance(v, list | tuple) and len(v) == layers]
    return list(zip(*lists, strict=True)) or [()] * layers


def with_layers(config: Any, layers: int) -> Any:
    shallow = copy.deepcopy(config)
    shallow.num_hidden_layers = layers
    for name, value in vars(config).items():  # layer_types and whatever else has one entry a layer
        if isinstance(value, list | tuple) and len(value) == config.num_hidden_layers:
            setattr(shallow, name, value[:layers])
    return shallow


def extrapolated(traced: list[ByPhase], depths: tuple[int, ...], layers: int) -> ByPhase:
    """Each kind in each phase is affine in the number of layers."""
    (small, large), (fewer, more) = traced, depths
    return {
        phase: {
            kind: small[phase][kind]
            + (large[phase][kind] - small[phase][kind]) * (layers - fewer) // (more - fewer)
            for kind in kinds
        }
        for phase, kinds in small.items()
        if phase in large
    }

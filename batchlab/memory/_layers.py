"""From two shallow models to a deep one: which depths to trace, and what they say of all layers.

    model config  ->  two depths  ->  bytes at any depth

Layers of one kind cost the same, so each phase is affine in whole periods of layers: one layer in
a Llama, six in a Gemma 3, where every sixth attends to all positions.
"""

import copy
import math
from collections.abc import Sequence
from typing import Any

__all__ = ["ByPhase", "depths_of", "extrapolated", "with_layers"]

FEWEST = 3  # layers traced: a first, a last and one between; deeper models are extrapolated

ByPhase = dict[str, dict[str, int]]


def depths_of(config: Any, layers: int, kinds: Sequence[Any] = ()) -> tuple[int, ...]:
    """Two shallow depths that end like the model: they differ by whole periods of its layers.

    `kinds` has one entry a layer, where the layers of a given model differ by more than its config.
    """
    period = _period(config, layers, kinds)
    first = FEWEST + (layers - FEWEST) % period
    step = period * -(-2 // period)  # one layer more would not show what a middle layer adds
    return (first, first + step) if layers > first + step else (layers,)


def _period(config: Any, layers: int, kinds: Sequence[Any]) -> int:
    """After how many layers their kinds repeat: 6 where every sixth attends to all, else 1."""
    lists = [v for v in vars(config).values() if isinstance(v, list | tuple) and len(v) == layers]
    each = list(zip(kinds or [()] * layers, *lists, strict=True))
    same = (p for p in range(1, layers) if all(each[i] == each[i - p] for i in range(p, layers)))
    sparse = int(getattr(config, "decoder_sparse_step", None) or 1)  # every so many a mixture
    return math.lcm(next(same, layers), sparse)


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

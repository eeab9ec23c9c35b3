"""States in shards over devices (ZeRO, FSDP): what one of them still holds, by arithmetic.

    bytes by phase and kind, stage, devices, units  ->  bytes by phase and kind on one device

Activations and logits stay: each device has rows of its own. What is in shards must be whole while
it is used: a unit of weights is gathered for its products beside the next one, and a unit of
gradients is whole until it is reduced (Rajbhandari et al. 2020; PyTorch FSDP2 prefetches one unit).

Words
    stage  1: optimizer in shards; 2: gradients as well; 3: parameters as well
    unit   what is gathered at once: a layer, the embedding, the head
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Shard", "Unit", "sharded"]

PREFETCHED = 1  # units that are gathered before they are needed


@dataclass(frozen=True)
class Shard:
    """ZeRO of a stage over devices that share the states."""

    stage: int
    devices: int

    def __post_init__(self) -> None:
        if self.stage not in (1, 2, 3) or self.devices < 2:
            raise ValueError(
                "shards need a stage of 1, 2 or 3 and at least 2 devices, got "
                f"stage {self.stage} and {self.devices}"
            )


@dataclass(frozen=True)
class Unit:
    """Bytes of the weights that are gathered at once, and of the gradients among them."""

    parameters: int
    gradients: int


def sharded(
    by_phase: Mapping[str, Mapping[str, int]], shard: Shard, units: list[Unit]
) -> dict[str, dict[str, int]]:
    """Every phase of a step as one of the devices sees it."""
    weights = max(one.parameters for one in units) * (1 + PREFETCHED)
    gradients = max(one.gradients for one in units)
    return {
        phase: _phase(phase, dict(kinds), shard, weights, gradients)
        for phase, kinds in by_phase.items()
    }


def _phase(
    phase: str, kinds: dict[str, int], shard: Shard, weights: int, gradients: int
) -> dict[str, int]:
    updates = phase == "optimizer"
    kinds["optimizer"] = _share(kinds["optimizer"], shard)
    if updates:  # each device updates its own shard
        kinds["temporary"] = _share(kinds["temporary"], shard)
    if shard.stage >= 2:
        whole = gradients if phase.startswith("backward") else 0
        kinds["gradients"] = min(kinds["gradients"], _share(kinds["gradients"], shard) + whole)
    if shard.stage >= 3:
        whole = 0 if updates else weights
        kinds["parameters"] = min(kinds["parameters"], _share(kinds["parameters"], shard) + whole)
    return kinds


def _share(total: int, shard: Shard) -> int:
    return -(-total // shard.devices)

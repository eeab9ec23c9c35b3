"""One table of names for trainers that say the same six things: rows, step, length and degrees.

Settings, what was asked  ->  Launch
"""

from dataclasses import dataclass, replace

from batchlab.plan._plan import data_parallel_degree
from batchlab.plan._settings import Asked, Degrees, Launch, Settings, quotient

__all__ = ["Mesh", "world_of"]


@dataclass(frozen=True)
class Mesh:
    """Under which names one trainer keeps what makes a step; a name may be missing."""

    source: str
    rows: str
    whole: str
    length: tuple[str, ...]
    tensor: str
    pipeline: str
    context: str
    devices: tuple[str, ...] = ()  # their product
    default_whole: int | None = None

    def read(self, given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
        """Rows as they stand; without a whole step, one micro-batch of each replica is it."""
        rows = given.count(self.rows)
        kinds = {"tensor": self.tensor, "pipeline": self.pipeline, "context": self.context}
        degrees = Degrees(**{kind: given.count(name, 1) for kind, name in kinds.items()})
        degrees = replace(degrees, pipeline=degrees.pipeline + _of_encoder(given, degrees.tensor))
        world = world_of(given, asked, self.devices)
        replicas = data_parallel_degree(world, **vars(degrees))
        is_open = given.is_open(self.whole)
        whole = self.default_whole or rows * replicas if is_open else given.count(self.whole)
        name = self.whole if "." in self.whole else self.whole.replace("_", "-")  # a flag
        accumulation = quotient(whole, rows * replicas, name)
        length = given.agreed("length", asked.length, *self.length)
        return Settings.split(world, degrees, rows, accumulation, length, self.source)


def _of_encoder(given: Settings, tensor: int) -> int:
    """Stages of a pipeline that Megatron puts before those of the language model."""
    stages, spread = (f"encoder_{kind}_model_parallel_size" for kind in ("pipeline", "tensor"))
    if given.get(stages) in (None, 0, "0"):
        return 0
    if given.get(spread) not in (None, 0, "0") and given.count(spread) != tensor:
        raise ValueError(
            f"{spread} is {given.count(spread):,} and tensor_model_parallel_size {tensor:,}: such "
            "an encoder is not read"
        )
    return given.count(stages)


def world_of(given: Settings, asked: Asked, factors: tuple[str, ...]) -> int:
    """Devices: `world_size`, or the product of devices on a node and nodes; as asked otherwise."""
    return given.agreed("devices", asked.devices, "world_size", product=factors)

"""What is asked, and one reason of the answer.

tokens, model, devices, how it is trained  ->  Wish;  a source  ->  Reason, in words and numbers
"""

import math
from dataclasses import dataclass, field

from batchlab.memory import ModelShape
from batchlab.roofline import DEVICES, Device
from batchlab.units import real, whole

__all__ = ["STAGES", "Reason", "Wish"]

STAGES = {"pretraining": "tokens", "lora": "sequences", "grpo": "completions"}  # and their unit
ADAM = ("adam", "adamw", "adamw8bit", "adamw8bit-trainer")


@dataclass(frozen=True)
class Wish:
    """A run before it has a batch.

    tokens       of the whole run; with GRPO those of the completions
    length       slots of a row
    lora         rank of adapters on all linear layers; None trains all weights
    generations  completions of a prompt: the run is GRPO
    noise_scale  in sequences, as `batchlab noise` measures it
    rate         of your own run, at `from_batch` sequences a step
    """

    tokens: float
    shape: ModelShape
    length: int = 2048
    devices: int = 1
    device: Device = field(default_factory=lambda: DEVICES["H100 SXM"])
    optimizer: str = "adamw"
    lora: int | None = None
    generations: int | None = None
    noise_scale: float | None = None
    rate: float | None = None
    from_batch: int | None = None

    def __post_init__(self) -> None:
        real(self.tokens, "tokens", above=0)
        for name in ("length", "devices", "lora", "generations", "from_batch"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(value, name))
        for name in ("noise_scale", "rate"):
            if (value := getattr(self, name)) is not None:
                real(value, name, above=0)
        if (self.rate is None) != (self.from_batch is None):
            raise ValueError("a rate of your own belongs to its batch: give rate and from_batch")
        if self.generations == 1:
            raise ValueError("generations must be 2 or more: an answer is judged beside others")

    @property
    def stage(self) -> str:
        """One of `STAGES`."""
        return "grpo" if self.generations else "lora" if self.lora else "pretraining"

    @property
    def unit(self) -> str:
        return STAGES[self.stage]

    @property
    def like_adam(self) -> bool:
        return self.optimizer in ADAM

    @property
    def parameters(self) -> int:
        """Without the embedding tables."""
        return self.shape.layers * self.shape.layer_parameters

    @property
    def flops_without_tables(self) -> float:
        """Of a token, forward and backward, with all of attention's products."""
        width = self.shape.heads * self.shape.head_size
        return 6 * self.parameters + 12 * self.shape.layers * width * self.length

    @property
    def replicas_unit(self) -> int:
        """Sequences that one step must hold a whole number of."""
        return math.lcm(self.devices, self.generations or 1)


@dataclass(frozen=True)
class Reason:
    """What one source says, from-to, in the unit of the stage or as a rate.

    role   aim, least, most: what the proposal follows and where it ends; beside: shown only
    apart  why it may disagree with the others, as a whole sentence
    """

    source: str
    role: str
    least: float
    most: float
    why: str
    sure: str
    cites: tuple[str, ...] = ()
    apart: str = ""

    @property
    def middle(self) -> float:
        """The geometric mean of both ends."""
        return math.sqrt(self.least * self.most)

    def holds(self, value: float) -> bool:
        """Whether the value lies within, on the side that the role asks for."""
        return (self.role == "most" or value >= self.least * 0.999) and (
            self.role == "least" or value <= self.most * 1.001
        )

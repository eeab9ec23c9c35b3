"""Megatron-LM and Megatron-Bridge: which length counts, what ramps, what is packed.

Settings, what was asked  ->  Launch
"""

from dataclasses import dataclass, replace

from batchlab.plan._mesh import Mesh
from batchlab.plan._settings import Asked, Launch, Settings, quotient

__all__ = ["Ramp", "bridge", "megatron"]

MEGATRON = Mesh(
    "Megatron", "micro_batch_size", "global_batch_size", ("seq_length",),
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
    ("nproc_per_node", "nnodes"),
)  # fmt: skip


def bridge(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """Megatron-Bridge 0.3: packed rows hold many documents, and a micro-batch holds one of them."""
    train, model, dataset = (
        next((name for name in (kind, f"{kind}_config") if given.has(name)), kind)
        for kind in ("train", "model", "dataset")
    )
    specs = f"{dataset}.packed_sequence_specs"
    size = f"{specs}.packed_sequence_size"
    lengths = (size,) if given.has(size) else (f"{dataset}.seq_length", f"{model}.seq_length")
    mesh = replace(
        MEGATRON, source="Megatron-Bridge", rows=f"{train}.micro_batch_size",
        whole=f"{train}.global_batch_size", length=lengths, devices=(),
        tensor=f"{model}.{MEGATRON.tensor}", pipeline=f"{model}.{MEGATRON.pipeline}",
        context=f"{model}.{MEGATRON.context}",
    )  # fmt: skip
    launch = mesh.read(given, asked, beside)
    if not given.has(specs):
        return launch
    if launch.plan.rows != 1:
        raise ValueError(
            f"{mesh.rows} is {launch.plan.rows:,} and must be 1 with packed_sequence_specs: a row "
            "of packed documents is made longer instead"
        )
    return replace(launch, unit="packs")


def megatron(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """Megatron-LM: arguments; what changes the step while it trains is said, or refused."""
    if given.has("step_batch_size_schedule"):
        raise ValueError(
            "step-batch-size-schedule changes the step while it trains: give the global-batch-size "
            "of the stage that you ask about"
        )
    launch = _megatron_mesh(given, asked).read(given, asked, beside)
    if given.has("packing_seq_length"):
        launch = replace(launch, unit="packs")
    if not given.has("rampup_batch_size"):
        return launch
    ramp = Ramp.of(given.get("rampup_batch_size"), launch.plan.sequences_per_step)
    return replace(
        launch,
        notes=(
            f"rampup-batch-size: {ramp.start:,} sequences at first, {ramp.increment:,} more at a "
            f"time over {ramp.samples:,} samples (Megatron core up to 0.16; later versions take "
            "the flag and do not ramp)",
        ),
    )


def _megatron_mesh(given: Settings, asked: Asked) -> Mesh:
    """Where the length stands: with images `seq_length` is overwritten by the tokens of one."""
    text, whole = "seq_length", "decoder_seq_length"
    if given.has("language_model_type") or given.has(whole, "img_h"):
        return replace(MEGATRON, length=(whole, "packing_seq_length"))
    if given.has(text, whole) and given.count(text) != given.count(whole):
        if asked.length is None:
            raise ValueError(
                f"{text} is {given.count(text):,} and {whole} {given.count(whole):,}: an encoder "
                "and a decoder; give the length that you count, length= (--length)"
            )
        return replace(MEGATRON, length=())
    return MEGATRON


@dataclass(frozen=True)
class Ramp:
    """Megatron core 0.16 `--rampup-batch-size start increment samples`.

    >>> Ramp(16, 8, 300_000, whole=1024).at(150_000)
    520
    """

    start: int
    increment: int
    samples: int
    whole: int

    @classmethod
    def of(cls, words: object, whole: int) -> "Ramp":
        """The ramp of three words."""
        if not isinstance(words, tuple | list) or len(words) != 3:
            raise ValueError("rampup-batch-size takes three numbers: start, increment and samples")
        name = "rampup-batch-size"
        start, increment, samples = (Settings({name: word}).count(name) for word in words)
        return cls(start, increment, samples, whole)

    def at(self, consumed: int) -> int:
        """Sequences per step after `consumed` samples."""
        increments = quotient(self.whole - self.start, self.increment, "the ramp")
        done = consumed * increments // self.samples
        return min(self.start + self.increment * done, self.whole)

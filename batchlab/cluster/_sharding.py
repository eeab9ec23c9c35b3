"""Sharded training: bytes that a rank keeps, and bytes that it sends behind one optimizer step.

    parameters, ranks, ZeRO stage          ->  bytes of states on one rank
    parameters, ranks, accumulation, form  ->  bytes that one rank sends per optimizer step

The memory follows Rajbhandari et al. 2020 (ZeRO). The traffic of accumulation is less known: what
is sharded must be gathered and reduced again for *every micro-batch*, so accumulation saves traffic
for plain data parallelism and nothing for ZeRO-3. The rows named fsdp2 were measured on
`torch.distributed` with PyTorch 2.13 and agree with the formula (`tests/test_cluster_bytes.py`).

Words
    gather  an all-gather of all parameters: one pass of their bytes
    reduce  a reduce-scatter of all gradients: one pass of theirs; an all-reduce is two
"""

from dataclasses import dataclass

from batchlab.memory import STATES, States
from batchlab.units import real, whole

__all__ = ["FORMS", "StateBytes", "Traffic", "traffic", "zero"]


@dataclass(frozen=True)
class StateBytes:
    """Bytes of parameters, gradients and optimizer on one rank; a rank may hold a fraction more."""

    parameters: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return self.parameters + self.gradients + self.optimizer


def zero(parameters: int, ranks: int, stage: int, *, states: str | States = "mixed") -> StateBytes:
    """Bytes of states on one of `ranks` under ZeRO `stage` 0 to 3; activations are not in it.

    Stage 1 shards the optimizer, stage 2 the gradients too, stage 3 (FSDP) also the parameters.

    >>> [round(zero(7_500_000_000, 64, stage).total / 1e9, 1) for stage in range(4)]
    [120.0, 31.4, 16.6, 1.9]
    """
    parameters, ranks = whole(parameters, "parameters"), whole(ranks, "ranks")
    stage = whole(stage, "stage", least=0, most=3)
    if not isinstance(states, States):
        if states not in STATES:
            raise ValueError(f"unknown states {states!r}; there are {', '.join(STATES)}")
        states = STATES[states]
    return StateBytes(
        parameters * states.parameters / (ranks if stage >= 3 else 1),
        parameters * states.gradients / (ranks if stage >= 2 else 1),
        parameters * states.optimizer / (ranks if stage >= 1 else 1),
    )


@dataclass(frozen=True)
class Form:
    """Passes behind one optimizer step: so many at its end, so many for every micro-batch."""

    gathers: int
    gathers_each: int
    reduces: int
    reduces_each: int
    means: str


FORMS = {
    "ddp": Form(0, 0, 2, 0, "all-reduce once, under no_sync until the last micro-batch"),
    "ddp_each": Form(0, 0, 0, 2, "all-reduce for every micro-batch: no_sync forgotten"),
    "zero1": Form(1, 0, 1, 0, "optimizer sharded: reduce once, gather once"),
    "zero2": Form(1, 0, 0, 1, "gradients sharded: reduced for every micro-batch"),
    "zero3": Form(0, 2, 0, 1, "parameters sharded: gathered for forward and for backward"),
    "fsdp2": Form(0, 2, 0, 1, "fully_shard as it is: the root stays gathered after forward"),
    "fsdp2_no_sync": Form(0, 2, 1, 0, "set_requires_gradient_sync(False) until the last"),
    "fsdp2_keep": Form(0, 1, 0, 1, "reshard_after_forward=False"),
    "fsdp2_zero2": Form(1, 0, 0, 1, "and set_reshard_after_backward(False): gathered once a step"),
    "fsdp2_zero1": Form(1, 0, 1, 0, "and no gradient sync until the last"),
}


@dataclass(frozen=True)
class Traffic:
    """What one optimizer step sends, in passes around the ring and in bytes."""

    form: str
    ranks: int
    accumulation: int
    gathered_bytes: int  # whole tensors, before the ring's (n-1)/n
    reduced_bytes: int

    @property
    def total_bytes(self) -> int:
        """Bytes that all ranks send together."""
        return (self.ranks - 1) * (self.gathered_bytes + self.reduced_bytes)

    @property
    def rank_bytes(self) -> float:
        """Bytes that one rank sends, on average over the ranks."""
        return self.total_bytes / self.ranks


def traffic(
    form: str,
    parameters: int,
    ranks: int,
    accumulation: int,
    *,
    parameter_bytes: int = 2,
    gradient_bytes: int = 2,
    root_share: float = 0.0,
) -> Traffic:
    """Bytes that are sent for one optimizer step of `accumulation` micro-batches.

    parameter_bytes  bytes per parameter as it is gathered
    gradient_bytes   bytes per gradient as it is reduced
    root_share       form fsdp2 only: share of the parameters that the root module itself holds
                     (embedding and head, if only the layers are wrapped); gathered once, not twice

    A tensor whose first dimension the ranks do not divide is padded by FSDP2: a few per cent more
    on small models (1.6 % were measured with 3 ranks).

    >>> [round(traffic(form, 10**9, 64, 8).rank_bytes / 2e9 * 64 / 63) for form in
    ...  ("ddp", "zero2", "zero3")]
    [2, 9, 24]
    """
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}; there are {', '.join(FORMS)}")
    root_share = real(root_share, "root_share", least=0, below=1)
    if root_share and form != "fsdp2":
        raise ValueError(f"root_share belongs to the form fsdp2; {form} gathers the root as well")
    parameters, micro = whole(parameters, "parameters"), whole(accumulation, "accumulation")
    one = FORMS[form]
    root = round(parameters * root_share)
    gathers = (one.gathers + one.gathers_each * micro) * parameters - micro * root
    reduces = (one.reduces + one.reduces_each * micro) * parameters
    return Traffic(
        form,
        whole(ranks, "ranks"),
        micro,
        gathers * whole(parameter_bytes, "parameter_bytes"),
        reduces * whole(gradient_bytes, "gradient_bytes"),
    )

"""From tokens, a model and devices to a batch and a rate, with the reasons of both.

Wish  ->  reasons  ->  Proposal: a plan that divides, a range of rates, what disagrees
"""

import math
from dataclasses import dataclass

from batchlab import memory
from batchlab.plan import Plan
from batchlab.proposal import _batch, _rate
from batchlab.proposal._laws import LARGEST, short, small
from batchlab.proposal._wish import Reason, Wish

__all__ = ["NoProposal", "Proposal", "propose"]

FULLEST = 0.9  # of a device's memory: the allocator and the library take the rest
MOST_ROWS = 64
WIDE = 2.0  # ends of a rate further apart than this are told as a disagreement


class NoProposal(ValueError):
    """No source has a batch for such a run; the message says why, source by source."""


@dataclass(frozen=True)
class Proposal:
    """A batch and a rate, and why.

    plan     the step: rows, accumulation, replicas
    batch    of the step, in `unit`: what the reasons count
    rate     from-to: the ends of a sweep; equal where it is your own; None where no source speaks
    refused  a line for each source that has nothing to say, and why
    said     where sources disagree, what changes the answer, what does not fit
    """

    wish: Wish
    plan: Plan
    batches: tuple[Reason, ...]
    rates: tuple[Reason, ...]
    rate: tuple[float, float] | None
    refused: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def unit(self) -> str:
        return self.wish.unit

    @property
    def batch(self) -> int:
        whole = self.plan.slots_per_step
        return whole if self.unit == "tokens" else self.plan.sequences_per_step

    @property
    def steps(self) -> float:
        return self.wish.tokens / self.plan.slots_per_step


def propose(wish: Wish) -> Proposal:
    """Return the proposal; refused if no source has a batch to aim at.

    The batch is the geometric mean of what aims at one, kept between the least and the most, and
    moved to the nearest power of two a device: of those near, the one that splits in most ways.

    >>> from batchlab.memory import ModelShape
    >>> llama = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
    >>> found = propose(Wish(100e9, llama, length=8192, devices=64))
    >>> found.batch, found.plan.sequences_per_step, [f"{one:.1e}" for one in found.rate]
    (1048576, 128, ['1.1e-04', '4.2e-04'])
    """
    reasons, refused = _batch.reasons(wish)
    aims = [one for one in reasons if one.role == "aim"]
    if not aims:
        raise NoProposal(
            f"nothing is known for {short(wish.tokens)} tokens of {wish.optimizer}: "
            + "; ".join(refused)
        )
    aim = math.exp(sum(math.log(one.middle) for one in aims) / len(aims))
    most = min((one.most for one in reasons if one.role == "most"), default=math.inf)
    least = max((one.least for one in reasons if one.role == "least"), default=0.0)
    plan, fits = _step(wish, max(min(aim, most), least))
    if wish.tokens < plan.slots_per_step:
        raise NoProposal(
            f"{short(wish.tokens)} tokens are less than one step of {plan.slots_per_step:,}: "
            "fewer devices, or shorter rows"
        )
    batch = plan.slots_per_step if wish.unit == "tokens" else plan.sequences_per_step
    rates, more = _rate.reasons(wish, batch)
    ends = _ends(rates)
    said = [
        *_apart(reasons, batch),
        *_wide(rates, ends),
        *_larger(wish, reasons),
        *_changes(wish),
        *fits,
    ]
    if ends and (told := _rate.decay(wish, math.sqrt(ends[0] * ends[1]), batch)):
        said.append(told)
    return Proposal(
        wish, plan, tuple(reasons), tuple(rates), ends, (*refused, *more), tuple(said)
    )  # fmt: skip


def _step(wish: Wish, batch: float) -> tuple[Plan, list[str]]:
    """The plan nearest to a batch, with the rows that fit."""
    sequences = batch / (wish.length if wish.unit == "tokens" else 1)
    times = 2 ** max(0, round(math.log2(max(1.0, sequences / wish.replicas_unit))))
    each = times * wish.replicas_unit // wish.devices
    rows, fits = _rows(wish, each)
    return Plan(rows, each // rows, wish.devices, wish.length), fits


def _rows(wish: Wish, each: int) -> tuple[int, list[str]]:
    """The most rows that divide a device's share and fit, by `memory.rows_that_fit`."""
    share = 1.0
    if wish.lora:
        share = _adapter_parameters(wish) / wish.shape.parameters
    try:
        fit = memory.rows_that_fit(
            wish.shape, int(FULLEST * wish.device.memory_bytes), length=wish.length,
            data_parallel=wish.devices, trainable_share=min(1.0, share), checkpointing="full",
            zero_stage=3 if wish.devices > 1 else 0,
        )  # fmt: skip
    except ValueError as error:
        return 1, [
            f"One row does not fit a {wish.device.name} ({error}): split the model over devices, "
            "or ask `batchlab memory`."
        ]
    most = max(1, min(fit, MOST_ROWS))
    rows = max(way for way in range(1, min(most, each) + 1) if each % way == 0)
    how = "ZeRO 3 or FSDP2, " if wish.devices > 1 else ""
    return rows, [
        f"{fit:,} rows of {wish.length:,} fit a {wish.device.name} by the formula ({how}layers "
        "recomputed): ask `batchlab memory`."
    ]


def _adapter_parameters(wish: Wish) -> int:
    """Weights of adapters on all linear layers of the blocks."""
    one = wish.shape
    q, kv = one.heads * one.head_size, one.kv_heads * one.head_size
    pairs = [(one.hidden, q), (one.hidden, kv), (one.hidden, kv), (q, one.hidden)]
    pairs += [(one.hidden, one.intermediate)] * (3 if one.gated else 2)
    return one.layers * (wish.lora or 0) * sum(a + b for a, b in pairs)


def _ends(rates: list[Reason]) -> tuple[float, float] | None:
    aims = [one for one in rates if one.role == "aim"]
    if not aims:
        return None
    return min(one.least for one in aims), max(one.most for one in aims)


def _apart(reasons: list[Reason], batch: float) -> list[str]:
    """One sentence for each source that the batch leaves outside."""
    found = []
    for one in reasons:
        if one.holds(batch):
            continue
        if one.apart or one.role != "beside":
            found.append(one.apart or f"{one.source.capitalize()} would say otherwise: {one.why}.")
    return found


def _wide(rates: list[Reason], ends: tuple[float, float] | None) -> list[str]:
    aims = [one for one in rates if one.role == "aim"]
    if ends is None or len(aims) < 2 or ends[1] <= WIDE * ends[0]:
        return []
    told = ", ".join(f"{one.source} {_span(one.least, one.most)}" for one in aims)
    return [f"Rates disagree {ends[1] / ends[0]:.2g} times ({told}): sweep between the ends."]


def _span(least: float, most: float) -> str:
    return small(least) if least == most else f"{small(least)} to {small(most)}"


def _larger(wish: Wish, reasons: list[Reason]) -> list[str]:
    """A sentence where the laws of the batch speak of a model larger than any that they saw."""
    if wish.parameters <= LARGEST or all(one.source != "law of tokens" for one in reasons):
        return []
    return [
        f"The laws of tokens have no size in them. They were shown up to {short(LARGEST)} "
        f"parameters, and this model has {short(wish.parameters)} without its tables: nobody "
        "showed them there."
    ]


def _changes(wish: Wish) -> list[str]:
    """What changes the answer, named only where it does."""
    found = []
    if wish.optimizer == "muon":
        found.append(
            "Muon keeps its tokens beyond AdamW's critical batch (Essential AI 2025): where "
            "devices wait, a larger batch costs less than the laws say."
        )
    elif not wish.like_adam and wish.optimizer != "sgd":
        found.append(f"The laws were found with AdamW; for {wish.optimizer} nobody fitted one.")
    if wish.lora and wish.stage == "lora":
        found.append(
            "LoRA loses more by a large batch than full tuning does, and a higher rank does not "
            "mend it (Schulman 2025)."
        )
    return found

"""Reasons for a rate: your own, moved by the one rule; else laws and public runs.

    Wish, sequences of a step  ->  reasons, one line for each source that refuses, decay

One rule, as everywhere (`rates`): AdamW's rate x sqrt(k) with its decay x sqrt(k), SGD's rate x k
below the noise scale.
"""

import math
import statistics
import warnings
from collections.abc import Callable, Iterator

from batchlab import rates, records
from batchlab.proposal import _laws as laws
from batchlab.proposal._laws import short, small
from batchlab.proposal._recipes import like
from batchlab.proposal._wish import Reason, Wish

__all__ = ["decay", "reasons"]

LORA_TIMES = 10.0  # LoRA's best rate over that of full tuning: Schulman et al. 2025
LORA_RATE = 5e-4  # their first guess at a width of 2,000, 10 x 5e-5
BROAD = math.sqrt(2)  # a law's rate within this: the loss is flat around it
GRPO_RATE, GRPO_BATCH = 1e-6, 256  # of the public benchmark: rate x sqrt(batch / 256)


def reasons(wish: Wish, batch: float) -> tuple[list[Reason], list[str]]:
    """What each source says of the rate at `batch`, in the unit of the stage."""
    if wish.rate is not None:
        said: list[Reason | str] = [_own(wish, batch)]
    else:
        sources: dict[str, Callable[[Wish, float], Iterator[Reason | str]]] = {
            "pretraining": _pretraining, "lora": _lora, "grpo": _grpo
        }  # fmt: skip
        said = [*sources[wish.stage](wish, batch)]
    return (
        [one for one in said if isinstance(one, Reason)],
        [one for one in said if isinstance(one, str)],
    )


def _sequences(wish: Wish, batch: float) -> float:
    return batch / (wish.length if wish.unit == "tokens" else 1)


def _own(wish: Wish, batch: float) -> Reason | str:
    assert wish.rate is not None and wish.from_batch is not None
    to = _sequences(wish, batch)
    k = to / wish.from_batch
    name = "adamw" if wish.like_adam else wish.optimizer
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the noise scale has a line of its own
            if wish.optimizer == "sgd":
                after = rates.linear(
                    wish.rate, wish.from_batch, to, noise_scale=wish.noise_scale
                )  # fmt: skip
                how, cites = f"x k, k = {k:.3g}", ["goyal2017accurate"]
            else:
                after = rates.square_root(wish.rate, wish.from_batch, to, optimizer=name)
                how, cites = f"x sqrt(k), k = {k:.3g}", ["malladi2022sdes", "bergsma2025power"]
                if wish.optimizer != "adam":
                    how += f"; decay x {math.sqrt(k):.3g} with it"
    except ValueError as error:
        return f"your rate: {error}"
    return Reason(
        "your own", "aim", after, after,
        f"{small(wish.rate)} at {wish.from_batch:,} sequences {how}", "a first guess", tuple(cites),
    )  # fmt: skip


def _pretraining(wish: Wish, batch: float) -> Iterator[Reason | str]:
    if not wish.like_adam:
        yield (
            f"rates of laws and recipes: AdamW's, not for {wish.optimizer}"
            + (
                " (with Muon's updates scaled to AdamW's size they carry over)"
                * (wish.optimizer == "muon")
            )
        )
        return
    try:
        rate, at = laws.rate_law(wish.tokens, wish.parameters)
        yield _of_law("Step Law 2025", rate, at, batch, "li2025predictable")
    except ValueError as error:
        yield f"rate of {error}"
    try:
        at, rate = laws.compute_law(wish.tokens, wish.flops_without_tables)
        yield _of_law("DeepSeek LLM 2024", rate, at, batch, "deepseek2024llm")
    except ValueError as error:
        yield f"rate of {error}"
    found = like("pretraining", wish.shape.parameters)
    if found:
        ran = [one.rate for one in found]
        moved = statistics.median(one.rate * math.sqrt(batch / one.batch) for one in found)
        yield Reason(
            "recipes", "aim", min(statistics.median(ran), moved), max(*ran, moved),
            f"{len(found)} of like size ran {small(min(ran))} to {small(max(ran))}; median moved "
            f"here by sqrt(k) {small(moved)}",
            "chosen, not compared", tuple(dict.fromkeys(one.source for one in found)),
        )  # fmt: skip


def _of_law(name: str, rate: float, at: float, batch: float, source: str) -> Reason:
    moved = rates.square_root(rate, at, batch)
    return Reason(
        "law", "aim", moved / BROAD, moved * BROAD,
        f"{name}: {small(rate)} at {short(at)} tokens, x sqrt(k) {small(moved)}",
        "flat around its best", (source,),
    )  # fmt: skip


def _lora(wish: Wish, batch: float) -> Iterator[Reason | str]:
    found = records.public_runs(benchmark="llama2_70b_lora").runs
    near = sorted({one.rate for one in found if 0.5 <= one.batch / batch <= 2})
    yield Reason(
        "Schulman 2025", "aim", LORA_RATE, LORA_RATE,
        f"{LORA_TIMES:g} x the best of full tuning, whatever the rank",
        "at a width of 2,000", ("schulman2025lora",),
    )  # fmt: skip
    if near:
        yield Reason(
            "public runs", "beside", near[0], near[-1],
            f"Llama 2 70B, batches near {batch:.0f}", "tuned, one task",
        )  # fmt: skip
    rate = {one.rate for one in like("lora", wish.shape.parameters)
            if one.parameters >= wish.shape.parameters}  # fmt: skip
    if rate:
        yield Reason(
            "recipes", "aim", max(rate), max(rate), "QLoRA: 2e-4 to 13 B, 1e-4 to 65 B",
            "chosen, not compared", ("dettmers2023qlora",),
        )  # fmt: skip


def _grpo(wish: Wish, batch: float) -> Iterator[Reason | str]:
    found, times = like("grpo", wish.shape.parameters), LORA_TIMES if wish.lora else 1.0
    note = f", x {times:g} for adapters" if wish.lora else ""
    cites = tuple(one.source for one in found) + (("schulman2025lora",) if wish.lora else ())
    yield Reason(
        "recipes", "aim", times * min(one.rate for one in found),
        times * max(one.rate for one in found),
        ", ".join(f"{one.name} {small(one.rate)}" for one in found) + note, "constant rates", cites,
    )  # fmt: skip
    ruled = times * GRPO_RATE * math.sqrt(batch / GRPO_BATCH)
    yield Reason(
        "public runs", "aim", ruled, ruled,
        f"1e-6 x sqrt(batch / 256){note}", "a benchmark's rule",
    )  # fmt: skip


def decay(wish: Wish, rate: float, batch: float) -> str:
    """The decay that goes with a rate, in words; empty where no source tells one."""
    if wish.stage != "pretraining" or not wish.like_adam or wish.optimizer == "adam":
        return ""
    if wish.rate is not None:
        return ""
    try:
        told = laws.decay(rate, batch, wish.tokens, wish.shape.parameters)
    except ValueError as error:
        return f"No {error}."
    return (
        f"Decay {told:.2g} at a rate of {small(rate)}: batch / (rate x decay x tokens) is then the "
        "best timescale (Bergsma 2025, under muP)."
    )

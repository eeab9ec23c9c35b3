"""Find the most rows that fit a device: predicted first, then confirmed by trying.

    model, documents, budget  ->  Fit: rows, and what every try took

A try is a real step of the library with the longest documents of the data, since the step that
breaks a run at night is the one that holds them. A failed try leaves nothing behind, and no try
changes a weight. Tokens per step stay what the plan says: fewer rows mean more accumulation, and
only exact divisors are candidates.

Words
    candidate   a number of rows that may be tried
    wall        where memory ends: the budget, or the device itself when it refuses
    journal     a file of records; a search that was killed goes on where it stopped
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from batchlab import batches, lengths, units
from batchlab.memory._candidates import Least, Prediction, candidates, predict_rows, predicted
from batchlab.memory._counter import free_bytes
from batchlab.memory._finder import find_rows
from batchlab.memory._journal import Journal
from batchlab.memory._models import unwrapped
from batchlab.memory._rehearsal import Rehearsal
from batchlab.memory._step import How
from batchlab.memory.optimizers import MakeOptimizer
from batchlab.model import fingerprint, recomputes
from batchlab.plan import Plan

__all__ = [
    "Fit",
    "Prediction",
    "Try",
    "find_rows",
    "largest_rows",
    "predict_rows",
    "search",
]


@dataclass(frozen=True)
class Try:
    """One real step at `rows`, beside what was predicted for it."""

    rows: int
    fits: bool  # on every process
    peak_bytes: int | None  # None where memory ended before the peak
    predicted_bytes: int
    killed: bool = False  # twice before its end, by the system for its memory or by anybody

    @property
    def residual_bytes(self) -> int | None:
        """Measured minus predicted."""
        return None if self.peak_bytes is None else self.peak_bytes - self.predicted_bytes


@dataclass(frozen=True)
class Fit:
    """The most rows that fit, with the tries that prove it."""

    plan: Plan
    budget_bytes: int
    predicted_rows: int
    tries: tuple[Try, ...]

    @property
    def rows(self) -> int:
        return self.plan.rows

    @property
    def best(self) -> Try:
        return next(one for one in self.tries if one.rows == self.rows)

    @property
    def refused_rows(self) -> int | None:
        """The fewest rows that did not fit; None if every candidate above was fine."""
        above = (one.rows for one in self.tries if not one.fits and one.rows > self.rows)
        return min(above, default=None)

    @property
    def spare_bytes(self) -> int:
        assert self.best.peak_bytes is not None
        return self.budget_bytes - self.best.peak_bytes


def largest_rows(
    model: nn.Module,
    documents: Sequence[Any],
    *,
    keep: Plan | None = None,
    accumulation: int = 1,
    most_rows: int | None = None,
    budget_bytes: int | None = None,
    make_optimizer: MakeOptimizer | None = None,
    autocast: torch.dtype | None = None,
    accumulate_in: torch.dtype | None = None,
    loss_chunk: int | None = None,
    offload: bool = False,
    journal: str | Path | None = None,
    identity: Mapping[str, Any] | None = None,
    min_over_processes: Least = int,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Fit:
    """The most rows of the longest `documents` that fit on the device of `model`.

    The model is taken as it is: its adapters, its frozen weights, its mode (a loaded one is in
    `eval()` and recomputes nothing: call `train()`).

    keep                the plan whose sequences per step stay: candidates divide them exactly
    accumulation        micro-batches of the step, where no plan is kept
    budget_bytes        of tensors on this device; what is free there, if not given
    make_optimizer      from parameters; AdamW if not given. It runs with a learning rate of 0
    autocast            of the forward pass; float16 comes with a scaler
    accumulate_in       gradients are added in this dtype, wider than that of the weights
    loss_chunk          slots whose logits are alive at a time, as in `train_step`
    offload             activations wait on the host (`memory.offload`)
    journal             a file, one per process; it must be of the same setting and `identity`
    min_over_processes  the least of a whole number over all processes: every process tries the
                        same rows, and all must fit
    progress            hears tries done, None (nobody knows of how many), and what came last
    """
    model = unwrapped(model)
    budget = free_bytes(model) if budget_bytes is None else budget_bytes
    how = How(
        autocast=autocast,
        accumulate_in=accumulate_in,
        make_optimizer=make_optimizer,
        loss_chunk=loss_chunk,
        offload=offload,
    )
    tokens = [lengths.of(document) for document in documents]
    plans = candidates(tokens, keep, accumulation, most_rows, min_over_processes)
    totals = predicted(model, plans, tokens, how, budget, min_over_processes)
    guess = max((rows for rows in totals if totals[rows] <= budget), default=min(totals))
    names = _setting(model, how, tokens) | {"keep": keep, "accumulation": accumulation}
    tries = _Tries(
        step=Rehearsal(model, how),
        documents=documents,
        longest_first=sorted(range(len(tokens)), key=lambda number: -tokens[number]),
        plans=plans,
        totals=totals,
        budget=budget,
        known=Journal(journal, {**names, **(identity or {})}),
        least=min_over_processes,
        progress=progress,
    )
    best = search(sorted(plans), tries.fits, guess=min_over_processes(guess))
    if best is None:
        raise ValueError(_nothing_fits(tries.made[-1], max(tokens), budget))
    return Fit(plans[best], budget, guess, tuple(tries.made))


def search(candidates: Sequence[int], fits: Callable[[int], bool], *, guess: int) -> int | None:
    """The largest of rising `candidates` that fits, or None: bracket from `guess`, then bisect.

    A right guess costs two tries: itself, and the one above it.

    >>> tried = []
    >>> search(range(1, 100), lambda rows: tried.append(rows) or rows <= 37, guess=37)
    37
    >>> tried
    [37, 38]
    """
    low, high = -1, len(candidates)  # the largest place known to fit, the smallest known not to
    at, stride = list(candidates).index(guess), 1
    while high - low > 1:
        if fits(candidates[at]):
            low = at
            at = min(at + stride, high - 1) if high == len(candidates) else (low + high) // 2
        else:
            high = at
            at = max(at - stride, low + 1) if low == -1 else (low + high) // 2
        stride *= 2
    return candidates[low] if low >= 0 else None


def _setting(model: Any, how: How, tokens: Sequence[int]) -> dict[str, Any]:
    """What a journal is of: another of these is another search."""
    parameters = list(model.parameters())
    base = model.get_base_model() if hasattr(model, "get_base_model") else model  # peft
    device = parameters[0].device
    return {
        "length": max(tokens),
        "checkpointing": recomputes(base),
        "dtype": parameters[0].dtype,
        "autocast": how.autocast,
        "accumulate_in": how.accumulate_in,
        "loss_chunk": how.loss_chunk,
        "offload": how.offload,
        "optimizer": _kind(how.optimizer(model, together=parameters[0].is_cuda)),
        "attention": getattr(getattr(base, "config", None), "_attn_implementation", None),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "documents": len(tokens),
        "config": fingerprint(base),
        "parameters": sum(one.numel() for one in parameters),
        "trained": sum(one.numel() for one in parameters if one.requires_grad),
    }


def _kind(optimizer: torch.optim.Optimizer) -> str:
    """What its states depend on: its class and its options, but for the size of a step."""
    rates = ("lr", "weight_decay")
    told = [f"{k}={v}" for k, v in sorted(optimizer.defaults.items()) if k not in rates]
    return f"{type(optimizer).__name__} {' '.join(told)}".strip()


def _nothing_fits(one: Try, length: int, budget: int) -> str:
    took = "memory ended first" if one.peak_bytes is None else f"took {units.size(one.peak_bytes)}"
    took = "two tries were killed, perhaps for their memory" if one.killed else took
    if one.peak_bytes is not None and one.peak_bytes <= budget:
        took += " here, and memory ended on another process"
    return f"not even {one.rows} rows of {length:,} slots fit into {units.size(budget)}: {took}"


@dataclass
class _Tries:
    """Tries each number of rows once, and keeps what came of it."""

    step: Rehearsal
    documents: Sequence[Any]
    longest_first: list[int]
    plans: Mapping[int, Plan]
    totals: Mapping[int, int]
    budget: int
    known: Journal
    least: Least
    progress: Callable[[int, int | None, str], None] | None
    made: list[Try] = field(default_factory=list)

    def fits(self, rows: int) -> bool:
        if not self.least(int(self.known.has(rows))):
            self._try(rows)
        peak = self.known.peak_bytes(rows)
        agreed = bool(self.least(int(peak is not None and peak <= self.budget)))
        self.made.append(Try(rows, agreed, peak, self.totals[rows], self.known.killed(rows)))
        if self.progress:
            took = "out of memory" if peak is None else units.size(peak)
            self.progress(len(self.made), None, f"{rows} rows: {took} of {units.size(self.budget)}")
        return agreed

    def _try(self, rows: int) -> None:
        self.known.began(rows)
        try:
            micro_batch = batches.padded(self.documents, self.longest_first[:rows])
            found = self.step.peak([micro_batch] * min(self.plans[rows].accumulation, 2))
        except BaseException:
            self.known.interrupted(rows)
            raise
        self.known.ended(rows, *found)

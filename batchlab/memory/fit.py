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

from batchlab import batches, lengths, plan, units
from batchlab.memory._counter import free_bytes
from batchlab.memory._forecast import Forecast
from batchlab.memory._journal import Journal
from batchlab.memory._rehearsal import MakeOptimizer, Rehearsal
from batchlab.model import recomputes
from batchlab.plan import Plan

__all__ = ["Fit", "Try", "largest_rows", "search"]

Least = Callable[[int], int]


@dataclass(frozen=True)
class Try:
    """One real step at `rows`, beside what was predicted for it."""

    rows: int
    fits: bool  # on every process
    peak_bytes: int | None  # None where memory ended before the peak
    predicted_bytes: int

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
    most_rows: int | None = None,
    budget_bytes: int | None = None,
    make_optimizer: MakeOptimizer | None = None,
    autocast: torch.dtype | None = None,
    accumulate_in: torch.dtype | None = None,
    journal: str | Path | None = None,
    identity: Mapping[str, Any] | None = None,
    min_over_processes: Least = int,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Fit:
    """The most rows of the longest `documents` that fit on the device of `model`.

    keep                the plan whose sequences per step stay: candidates divide them exactly
    budget_bytes        of tensors on this device; what is free there, if not given
    make_optimizer      from parameters; AdamW if not given. It runs with a learning rate of 0
    journal             a file, one per process; it must be of the same setting and `identity`
    min_over_processes  the least of a whole number over all processes: every process tries the
                        same rows, and all must fit
    progress            hears tries done, None (nobody knows of how many), and what came last
    """
    device = next(model.parameters()).device
    budget = free_bytes(model) if budget_bytes is None else budget_bytes
    tokens = [lengths.of(document) for document in documents]
    plans = _candidates(tokens, keep, most_rows, min_over_processes)
    setting: dict[str, Any] = {
        "length": max(tokens),
        "checkpointing": recomputes(model),
        "dtype": next(model.parameters()).dtype,
        "autocast": autocast,
        "accumulate_in": accumulate_in,
    }
    totals = _predicted(model, plans, tokens, setting, make_optimizer, budget, min_over_processes)
    guess = max((rows for rows in totals if totals[rows] <= budget), default=min(totals))
    names = {"device": device.type, "documents": len(tokens), "parameters": _count(model)}
    tries = _Tries(
        step=Rehearsal(model, make_optimizer, autocast, accumulate_in),
        documents=documents,
        longest_first=sorted(range(len(tokens)), key=lambda number: -tokens[number]),
        plans=plans,
        totals=totals,
        budget=budget,
        known=Journal(journal, {**setting, **names, "keep": keep, **(identity or {})}),
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


def _candidates(
    tokens: Sequence[int], keep: Plan | None, most_rows: int | None, least: Least
) -> dict[int, Plan]:
    """Every plan that may be tried, by its rows."""
    if not tokens:
        raise ValueError("no documents to try with")
    longest = max(tokens)
    if keep and longest > keep.length:
        at = list(tokens).index(longest)
        raise ValueError(
            f"document {at} has {longest:,} tokens, the rows of the plan have {keep.length:,} slots"
        )
    most = least(len(tokens) if most_rows is None else min(most_rows, len(tokens)))
    if most < 1:
        raise ValueError(f"most_rows must be at least 1, got {most_rows}")
    if keep is None:
        return {rows: Plan(rows, 1, 1, longest) for rows in range(1, most + 1)}
    exact = plan.splits(
        keep.slots_per_step,
        length=keep.length,
        data_parallel=keep.data_parallel,
        most_rows=most,
    )
    return {one.rows: one for one in exact}


def _predicted(
    model: Any,
    plans: Mapping[int, Plan],
    tokens: list[int],
    setting: Mapping[str, Any],
    make_optimizer: MakeOptimizer | None,
    budget: int,
    least: Least,
) -> dict[int, int]:
    """Bytes by rows; a budget that does not hold the states is refused."""
    attention = getattr(model.config, "_attn_implementation", None) or "sdpa"
    device = next(model.parameters()).device.type
    how = {"attention": attention, "make_optimizer": make_optimizer, "device": device}
    forecast = Forecast(model.config, **setting, **how)
    _require_states(forecast.states_bytes, budget, least)
    equal = tokens.count(max(tokens))  # more rows than these need a mask
    return {
        rows: forecast.total_bytes(rows, accumulation=one.accumulation, padded=rows > equal)
        for rows, one in plans.items()
    }


def _require_states(states_bytes: int, budget: int, least: Least) -> None:
    if least(int(states_bytes <= budget)):
        return
    short = states_bytes - budget
    here = f"{units.size(short)} more than" if short > 0 else "less than"
    raise ValueError(
        f"parameters, gradients and optimizer alone need {here} the budget of "
        f"{units.size(budget)}" + ("" if short > 0 else ", but not on every process")
    )


def _nothing_fits(one: Try, length: int, budget: int) -> str:
    took = "memory ended first" if one.peak_bytes is None else f"took {units.size(one.peak_bytes)}"
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
        self.made.append(Try(rows, agreed, peak, self.totals[rows]))
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


def _count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())

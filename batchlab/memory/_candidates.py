"""Which numbers of rows may be tried, and what a step of each would take.

lengths of the documents, plan to keep  ->  plans by rows  ->  predicted bytes by rows
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from torch import nn

from batchlab import lengths, plan, units
from batchlab.memory._forecast import Forecast
from batchlab.memory._models import unwrapped
from batchlab.memory._shards import Shard
from batchlab.memory._step import How
from batchlab.plan import Plan

__all__ = ["Least", "Prediction", "candidates", "predict_rows", "predicted"]

Least = Callable[[int], int]
OF_THE_MODEL = ("task", "batch")  # a fit is of documents and of a causal LM


@dataclass(frozen=True)
class Prediction:
    """The most rows whose predicted peak is within the budget; nobody tried them."""

    rows: int
    budget_bytes: int
    predicted_bytes: Mapping[int, int]  # by rows

    @property
    def refused_rows(self) -> int | None:
        """The rows above; None if there are no more documents."""
        return self.rows + 1 if self.rows + 1 in self.predicted_bytes else None


def predict_rows(
    model: nn.Module,
    documents: Sequence[Any],
    *,
    budget_bytes: int,
    shard: Shard | None = None,
    accumulation: int = 1,
    most_rows: int | None = None,
    **how: Any,
) -> Prediction:
    """The most rows of the longest `documents` that should fit, without a try.

    For what this machine cannot try: states in shards over devices that are not here. `how` are
    the options of `largest_rows` that say how a step is taken.
    """
    if told := [name for name in OF_THE_MODEL if name in how]:
        raise ValueError(f"{told[0]} is not for a fit: documents of a causal LM fill its rows")
    tokens = [lengths.of(document) for document in documents]
    plans = candidates(tokens, None, accumulation, most_rows, int)
    model, taken = unwrapped(model), How(**how)
    totals = predicted(model, plans, tokens, taken, budget_bytes, shard=shard)
    fitting = [rows for rows, total in totals.items() if total <= budget_bytes]
    if not fitting:
        raise ValueError(
            f"not even 1 row of {max(tokens):,} slots fits into {units.size(budget_bytes)}: "
            f"{units.size(min(totals.values()))} predicted"
        )
    return Prediction(max(fitting), budget_bytes, totals)


def candidates(
    tokens: Sequence[int],
    keep: Plan | None,
    accumulation: int,
    most_rows: int | None,
    least: Least,
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
        return {rows: Plan(rows, accumulation, 1, longest) for rows in range(1, most + 1)}
    if accumulation != 1:
        raise ValueError("accumulation is what the kept plan leaves: give one of the two")
    exact = plan.splits(
        keep.slots_per_step,
        length=keep.length,
        data_parallel=keep.data_parallel,
        most_rows=most,
    )
    return {one.rows: one for one in exact}


def predicted(
    model: Any,
    plans: Mapping[int, Plan],
    tokens: list[int],
    how: How,
    budget: int,
    least: Least = int,
    shard: Shard | None = None,
) -> dict[int, int]:
    """Bytes by rows; a budget that does not hold the states is refused."""
    asked = [one.name for one in fields(how) if one.name not in OF_THE_MODEL]
    options: dict[str, Any] = {name: getattr(how, name) for name in asked}
    options |= {"shard": shard} if shard else {}
    forecast = Forecast(model, length=max(tokens), **options)
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

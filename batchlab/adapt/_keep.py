"""Controllers that keep the step as it is: rows that fit, and rows by the speed of each rank.

memory, out of memory     ->  rows x accumulation of the same sequences per step
seconds per row by rank   ->  rows of each rank, of the same sum
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from batchlab.adapt._decide import Controller, Decision, Signals
from batchlab.units import real, whole

__all__ = ["BackOff", "Shares", "shares"]


@dataclass
class BackOff(Controller):
    """Fewer rows and more accumulation when memory runs short; the step stays exactly the same.

    Out of memory moves at once, pressure above `full` of the limit after `patience` readings. Rows
    go down to the next number that divides the step, and are not raised again: what did not fit
    once is remembered. Pressure at 1 row moves nothing; out of memory there is an error.
    """

    full: float = field(default=0.95, kw_only=True)
    too_many: int | None = field(default=None, init=False)

    remembers: ClassVar[tuple[str, ...]] = ("too_many",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.full = real(self.full, "full", above=0, most=1)

    def wish(self, signals: Signals) -> Decision | None:
        plan = signals.plan
        if self.too_many is not None and plan.rows >= self.too_many:
            return self._down(signals, f"{self.too_many:,} rows ran out of memory before")
        if signals.out_of_memory:
            self.too_many = plan.rows
            return self._down(signals, f"{plan.rows:,} rows ran out of memory")
        peak, limit = signals.peak_bytes, signals.limit_bytes
        if peak is None or limit is None or peak <= self.full * limit or plan.rows == 1:
            return None
        return self._down(signals, f"{100 * peak / limit:.0f} % of memory are in use")

    def at_once(self, signals: Signals) -> bool:
        return self.too_many is not None and signals.plan.rows >= self.too_many

    def _down(self, signals: Signals, why: str) -> Decision:
        plan = signals.plan
        each = plan.rows * plan.accumulation
        fewer = [rows for rows in range(1, plan.rows) if each % rows == 0]
        if not fewer:
            raise ValueError(f"{why}, and a micro-batch of 1 row cannot shrink: shorten the rows")
        rows = fewer[-1]
        told = f"{why}: {plan.rows:,} x {plan.accumulation:,} -> {rows:,} x {each // rows:,}"
        return Decision(
            replace(plan, rows=rows, accumulation=each // rows), signals.rate, told, True
        )


def shares(rows: int, seconds_per_row: tuple[float, ...]) -> tuple[int, ...]:
    """Return rows of each rank, at least 1, that sum to `rows` and end soonest together.

    Rows are dealt one by one to the rank that would end first with one more: no other deal ends
    sooner.

    >>> shares(12, (1.0, 2.0, 1.0))
    (5, 2, 5)
    """
    rows = whole(rows, "rows", len(seconds_per_row))
    for rank, seconds in enumerate(seconds_per_row):
        real(seconds, f"seconds per row of rank {rank}", above=0)
    dealt = [1] * len(seconds_per_row)
    for _ in range(rows - len(dealt)):
        rank = min(range(len(dealt)), key=lambda r: (dealt[r] + 1) * seconds_per_row[r])
        dealt[rank] += 1
    return tuple(dealt)


@dataclass
class Shares(Controller):
    """Give each rank rows by its speed; their sum, and so the step, stays exactly the same.

    `gain` is how much sooner a step must end before rows move. The loop that takes unequal shares
    weights by target tokens (`loop.train_step` does).
    """

    gain: float = field(default=0.05, kw_only=True)
    now: tuple[int, ...] | None = field(default=None, init=False)

    remembers: ClassVar[tuple[str, ...]] = ("now",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gain = real(self.gain, "gain", least=0)

    def wish(self, signals: Signals) -> Decision | None:
        plan, timed = signals.plan, signals.seconds_per_row
        if timed is None:
            return None
        if len(timed) != plan.data_parallel:
            raise ValueError(
                f"{len(timed)} ranks were timed, the plan has {plan.data_parallel} replicas"
            )
        rows = plan.sequences_per_step
        now = self.now or (rows // plan.data_parallel,) * plan.data_parallel
        best = shares(rows, timed)
        before, after = (
            max(n * s for n, s in zip(rows_of, timed, strict=True)) for rows_of in (now, best)
        )
        if after >= before / (1 + self.gain):
            return None
        told = f"a step ends {before / after:.2f} x sooner with rows {best} in place of {now}"
        return Decision(plan, signals.rate, told, True, best)

    def decide(self, signals: Signals) -> Decision:
        """Return the decision; its `rows_of_ranks` stay what they were until they move.

        Where another controller changed the step they are forgotten: equal shares, until ranks
        are timed again.
        """
        plan = signals.plan
        kept = self.now or ()
        if (len(kept), sum(kept)) != (plan.data_parallel, plan.sequences_per_step):
            self.now = None
        found = super().decide(signals)
        if found.moved:
            self.now = found.rows_of_ranks
        return replace(found, rows_of_ranks=self.now)

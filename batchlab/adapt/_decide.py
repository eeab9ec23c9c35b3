"""Signals of a running step in, the next plan and rate out, with the reason.

    Signals  ->  Decision

Every controller answers the same question, so that they can be asked one after another: what one
decides is the plan and rate that the next one sees (`in_turn`).

Words
    move       a decision that changes plan or rate; everything else holds
    patience   readings in a row that must say the same before anything moves
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from batchlab.noise import NoiseScale
from batchlab.plan import Plan
from batchlab.units import real, whole

__all__ = ["Controller", "Couple", "Decision", "Signals", "in_turn", "unchanged"]

Couple = Callable[[float, int, int], float]  # rate, from and to sequences -> rate
DIVERGED = 0.5  # nats above the best loss: nothing grows while it is there


def unchanged(rate: float, from_batch: int, to_batch: int) -> float:
    """The rate as it is, whatever the batch."""
    return rate


@dataclass(frozen=True)
class Signals:
    """What is known after a step; None where nobody measured it."""

    step: int
    tokens: int  # seen since the run began
    plan: Plan
    rate: float
    loss: float | None = None
    noise: NoiseScale | None = None
    tokens_per_second: float | None = None  # with this plan
    peak_bytes: int | None = None
    limit_bytes: int | None = None
    out_of_memory: bool = False  # this step did not end, and is repeated
    seconds_per_row: tuple[float, ...] | None = None  # of each data-parallel rank
    data: str = ""  # what the loss is of; losses of other data are not compared


@dataclass(frozen=True)
class Decision:
    """The next plan and rate, and why; `rows_of_ranks` where ranks take unequal shares."""

    plan: Plan
    rate: float
    reason: str
    moved: bool
    rows_of_ranks: tuple[int, ...] | None = None


@dataclass
class Controller:
    """What every controller shares: patience, a log of its moves, and a state that is saved.

    A subclass says in `wish` what it wants of these signals: a decision, or None to hold. Equal
    wishes must come `patience` times in a row; a single reading moves nothing.
    """

    remembers: ClassVar[tuple[str, ...]] = ()  # further names that the state holds

    patience: int = 3
    asked: str = field(default="", init=False)  # the wish that waits, and how often it came
    times: int = field(default=0, init=False)
    best_loss: float = field(default=math.inf, init=False)
    data: str = field(default="", init=False)  # what the best loss is of
    log: list[dict[str, Any]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.patience = whole(self.patience, "patience")

    def wish(self, signals: Signals) -> Decision | None:
        """What these signals ask for; None holds."""
        raise NotImplementedError

    def at_once(self, signals: Signals) -> bool:
        """Whether this wish cannot wait."""
        return False

    def decide(self, signals: Signals) -> Decision:
        """Return the next plan and rate, with the reason; moves are logged.

        Where the data change, the best loss and the waiting wish begin anew.
        """
        if signals.data != self.data:
            self.data, self.best_loss, self.asked, self.times = signals.data, math.inf, "", 0
        if signals.loss is not None and math.isfinite(signals.loss):
            self.best_loss = min(self.best_loss, signals.loss)
        wish = self.wish(signals)
        if wish is None:
            self.asked, self.times = "", 0
            return Decision(signals.plan, signals.rate, "nothing asks for a change", False)
        if self._diverged(signals) and self._grows(signals, wish):
            self.asked, self.times = "", 0
            why = f"held: the loss is {signals.loss:.4g}, its best was {self.best_loss:.4g}"
            return Decision(signals.plan, signals.rate, why, False)
        name = json.dumps([asdict(wish.plan), wish.rows_of_ranks is not None])
        self.times = self.times + 1 if name == self.asked else 1
        self.asked = name
        if self.times < self.patience and not self.at_once(signals):
            why = f"waits ({self.times} of {self.patience}): {wish.reason}"
            return Decision(signals.plan, signals.rate, why, False)
        self.asked, self.times = "", 0
        self.log.append({"step": signals.step, "tokens": signals.tokens, "reason": wish.reason,
                         "plan": asdict(wish.plan), "rate": wish.rate})  # fmt: skip
        return replace(wish, moved=True)

    def state_dict(self) -> dict[str, Any]:
        """Plain data: everything that the next decision depends on, and whose it is.

        Settings are told by their values, a rule like `couple` by what it makes of some rates.
        """
        kept = {name: getattr(self, name) for name in (*COUNTED, *self.remembers)}
        best = kept["best_loss"]
        kept["best_loss"] = best if math.isfinite(best) else None
        return {"of": self._identity(), "log": list(self.log), **kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where a run was saved; the state of another controller is refused."""
        if state.get("of") != self._identity():
            raise ValueError(
                f"this is the state of another run: saved by {state.get('of')}, here "
                f"{self._identity()}"
            )
        for name in (*COUNTED, *self.remembers):
            value = state[name]
            setattr(self, name, tuple(value) if isinstance(value, list) else value)
        self.best_loss = math.inf if state["best_loss"] is None else state["best_loss"]
        self.log = list(state["log"])

    def _identity(self) -> str:
        told = {k: _answers(v) if callable(v) else v for k, v in vars(self).items()
                if k not in (*COUNTED, *self.remembers, "log")}  # fmt: skip
        return f"{type(self).__name__} {json.dumps(told, default=str, sort_keys=True)}"

    def _diverged(self, signals: Signals) -> bool:
        if signals.loss is None:
            return False
        return not signals.loss <= self.best_loss + DIVERGED  # nan as well

    @staticmethod
    def _grows(signals: Signals, wish: Decision) -> bool:
        return wish.plan.sequences_per_step > signals.plan.sequences_per_step


COUNTED = ("asked", "times", "best_loss", "data")
STEPS = tuple((2**n, 2 ** (n + by)) for n in range(20) for by in (-1, 1, 2) if n + by >= 0)


def _answers(rule: Callable[..., Any]) -> str:
    """What a rule makes of some rates and steps: equal for equal rules, whatever their names."""
    said = []
    for rate, first, last in ((rate, *pair) for rate in (1e-3, 1.0) for pair in STEPS):
        try:
            said.append(f"{rule(rate, first, last):.9g}")
        except Exception as error:  # a rule may know some steps only
            said.append(type(error).__name__)
    digest = hashlib.sha256(" ".join(said).encode()).hexdigest()[:8]
    return f"0.001 -> {said[STEPS.index((16, 32))]} from 16 to 32 ({digest})"


def in_turn(controllers: Sequence[Controller], signals: Signals) -> Decision:
    """Ask several controllers; each sees what those before it decided.

    Put what must not wait last: memory has the last word about rows.
    """
    reasons, moved, shares = [], False, None
    for one in controllers:
        found = one.decide(signals)
        signals = replace(signals, plan=found.plan, rate=found.rate)
        shares = found.rows_of_ranks or shares
        if found.moved:
            reasons.append(found.reason)
            moved = True
    why = "; ".join(reasons) or "nothing asks for a change"
    return Decision(signals.plan, signals.rate, why, moved, shares)


def grown(signals: Signals, sequences: int, couple: Couple, reason: str) -> Decision | None:
    """The plan with so many sequences a step, by accumulation, and the rate that goes with them.

    None where that is the plan already; what does not divide is refused.
    """
    plan = signals.plan
    each = plan.rows * plan.data_parallel
    if sequences == plan.sequences_per_step:
        return None
    if sequences < each or sequences % each:
        raise ValueError(
            f"{sequences:,} sequences per step do not divide over {plan.rows:,} rows x "
            f"{plan.data_parallel:,} devices"
        )
    rate = couple(signals.rate, plan.sequences_per_step, sequences)
    told = f"{reason}: {plan.sequences_per_step:,} -> {sequences:,} sequences per step"
    return Decision(
        replace(plan, accumulation=sequences // each), real(rate, "rate", above=0), told, True
    )

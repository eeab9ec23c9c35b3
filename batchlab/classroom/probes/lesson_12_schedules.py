"""The Build of lesson 12: a schedule in tokens, its mistakes, and runs that try both.

    a schedule, a script of steps, changes and stops  ->  what it told after each of them

Words
    script   (told, batch, warmup, total, final, events); a final in words is left to the default;
             an event is ("step", tokens),
             ("change", batch), ("refused", batch) or ("stop", 0): save as JSON, make anew, load
    row      [rate, beta1, beta2, epsilon, weight decay]: what a schedule tells for the next step
"""

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain
from batchlab.classroom.probes.lesson_12_versions import RIGHT, moved

__all__ = ["MISTAKES", "TokenSchedule", "driven", "fault_of_run", "manners", "scripts"]

NAMES = ("lr", "beta1", "beta2", "eps", "weight_decay")
Script = tuple[Mapping[str, Any], float, int, int, float | str, Sequence[tuple[str, Any]]]

MISTAKES = {
    "steps": "the warm-up counts steps: each step may hold other tokens",
    "planned": "the planned batch was counted, not the tokens of the step",
    "own": "the step that comes next is counted before it was taken",
    "above": "the factor goes on above 1: the warm-up ends",
    "whole": "the cosine begins behind the warm-up: (seen - warmup) / (total - warmup)",
    "straight": "a straight line: the fall is a cosine",
    "again": "after `total` the cosine rises again: stay at `final`",
    "zero": "the fall ends at `final` times the rate, not at 0",
    "absolute": "`final` is a factor of the rate, not a rate",
    "sine": "the fall is half a cosine wave: (1 + cos(pi x)) / 2",
    "linear": "linear for Adam: the rate takes the root of k",
    "still": "the change moved nothing",
    "rate alone": "the rate moved alone: betas, eps and decay move with it",
    "half": "the betas follow 1 - k (1 - beta) here, not beta ** k",
    "current": "the factor of the curve was multiplied in twice: the rule moves the base",
    "no batch": "the stop lost the batch: the next k is wrong",
    "first": "k is the new batch over the last one, not over the first",
    "anew": "the change began the curve anew: tokens seen stay",
    "rescaled": "tokens seen are tokens: a change does not rescale them",
    "no seen": "the stop lost the tokens seen: the curve began anew",
    "no base": "the stop lost what the change had moved",
    "clipped": "past the limit of the rule a ValueError is needed: no beta cut off, no silence",
    "torn": "a refused change left something moved: refuse first",
    "torn batch": "a refused change left its batch behind: refuse first",
}


class TokenSchedule:
    """The reference; `wrong` names one of MISTAKES."""

    wrong = ""

    def __init__(self, told: Mapping[str, Any], batch: float, warmup: int, total: int,
                 final: float = 0.1) -> None:  # fmt: skip
        self.base = dict(copy.deepcopy(told))
        self.batch = self.first = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen: float = 0

    def factor(self) -> float:
        seen, wrong = self.seen, self.wrong
        seen += self.batch if wrong == "own" else 0
        if seen < self.warmup or (wrong == "above" and self.warmup and seen < 2 * self.warmup):
            return seen / self.warmup
        done = (seen - self.warmup) / (self.total - self.warmup)
        done = seen / self.total if wrong == "whole" else done
        done = done if wrong == "again" else min(1.0, done)
        left = (1 + math.cos(math.pi * done)) / 2
        left = 1 - done if wrong == "straight" else left
        left = math.cos(math.pi * done / 2) if wrong == "sine" else left
        if wrong == "zero":
            return left
        if wrong == "absolute":
            end = self.final / self.base["lr"]
            return float(end + (1 - end) * left)
        return self.final + (1 - self.final) * left

    def told(self) -> dict[str, Any]:
        betas = tuple(self.base["betas"])
        return {**self.base, "lr": self.base["lr"] * self.factor(), "betas": betas}

    def step(self, tokens: int) -> None:
        planned = {"steps": self.first, "planned": self.batch}
        self.seen += planned.get(self.wrong, tokens)

    def change(self, batch: float) -> None:
        k, wrong, base = batch / self.batch, self.wrong, self.base
        k = batch / self.first if wrong == "first" else k
        if wrong == "torn":
            self.base = {**base, "lr": base["lr"] * k**0.5}
        if wrong == "torn batch":
            self.batch = batch
        if wrong == "current":
            base = self.told()
        ways: dict[str, Callable[[], dict[str, Any]]] = {
            "linear": lambda: moved(base, k, rate=lambda k: k),
            "still": lambda: dict(base),
            "rate alone": lambda: {**base, "lr": base["lr"] * k**0.5},
            "half": lambda: moved(base, k, beta=lambda b, k: b**k),
            "clipped": lambda: moved(base, k, beta=lambda b, k: max(0.0, 1 - k * (1 - b))),
        }
        other = ways.get(wrong)
        self.base = other() if other else RIGHT["adam-rule"][0](base, 1, k)
        self.batch = batch
        if wrong == "anew":
            self.seen = 0
        if wrong == "rescaled":
            self.seen *= k

    def state_dict(self) -> dict[str, Any]:
        state = {"seen": self.seen, "base": dict(self.base), "batch": self.batch}
        lost = {"no seen": "seen", "no base": "base", "no batch": "batch"}.get(self.wrong)
        return {name: value for name, value in state.items() if name != lost}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, copy.deepcopy(value))


def mistaken(name: str) -> type[TokenSchedule]:
    return type("TokenSchedule", (TokenSchedule,), {"wrong": name})


def driven(schedule: Callable[..., Any], told: Mapping[str, Any], batch: float, warmup: int,
           total: int, final: float | str,
           events: Sequence[tuple[str, Any]]) -> list[Any]:  # fmt: skip
    """What a schedule tells at first and after each event; True after a change it refused."""
    given = (told, batch, warmup, total, *(() if isinstance(final, str) else (final,)))
    one = schedule(*copy.deepcopy(given))
    found: list[Any] = [_row(one)]
    for verb, value in events:
        if verb == "refused":
            found.append(_refused(one, value))
            continue
        if verb == "step":
            one.step(value)
        elif verb == "change":
            one.change(value)
        else:
            state = json.loads(json.dumps(one.state_dict()))
            one = schedule(*copy.deepcopy(given))
            one.load_state_dict(state)
        found.append(_row(one))
    return found


def _refused(one: Any, batch: float) -> bool:
    try:
        one.change(batch)
    except Exception as error:
        if "ValueError" in {base.__name__ for base in type(error).__mro__}:  # from afar, too
            return True
        raise
    return False


def _row(one: Any) -> list[float]:
    return _flat(one.told())


def _flat(told: Mapping[str, Any]) -> list[float]:
    betas = list(told["betas"])
    return [float(plain.number(v)) for v in (told["lr"], *betas, told["eps"], told["weight_decay"])]


def fault_of_run(script: Script, got: Sequence[Any]) -> tuple[str, str]:
    """Where a schedule first leaves the reference, and the likely thought; empty if nowhere."""
    right = driven(TokenSchedule, *script)
    wrong = next((n for n, row in enumerate(got) if not _alike(row, right[n], script)), None)
    if wrong is None:
        return "", ""
    verb = "at the start" if not wrong else "after {} {}".format(*script[5][wrong - 1])
    if right[wrong] is True:
        return f"event {wrong}, {verb}", (
            "past the limit of the rule a ValueError is needed: no beta cut off, no silence"
        )
    fits: dict[str, int] = {}
    for name in MISTAKES:
        try:
            known = driven(mistaken(name), *script)
        except (ArithmeticError, ValueError):
            continue
        if _alike(known[wrong], got[wrong], script) and not _alike(
            known[wrong], right[wrong], script
        ):
            fits[name] = sum(_alike(a, b, script) for a, b in zip(known, got, strict=True))
    if fits:
        return f"event {wrong}, {verb}", MISTAKES[max(fits, key=lambda name: fits[name])]
    return f"event {wrong}, {verb}", _part(got[wrong], right[wrong], script)


def _part(row: Any, want: Any, script: Script) -> str:
    """What of a row is off, where no known mistake gives it."""
    if type(row) is bool or type(want) is bool:
        return "a change past the limit of the rule is a ValueError, and no other is"
    off = [n for n, a, b in zip(NAMES, row, want, strict=True) if not _near(a, b, script)]
    high = [n for n in off if row[NAMES.index(n)] > want[NAMES.index(n)]]
    return "; ".join(f"{name} is too {'high' if name in high else 'low'}" for name in off)


def _alike(row: Any, want: Any, script: Script) -> bool:
    if type(row) is bool or type(want) is bool:
        return type(row) is type(want) and row == want
    return len(row) == len(want) and all(
        _near(a, b, script) for a, b in zip(row, want, strict=True)
    )


def _near(a: float, b: float, script: Script) -> bool:
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7 * min(1e-3, script[0]["eps"]))


def scripts(rng: Any, *, changes: bool) -> Script:
    """A random script: steps of unequal tokens, changes and stops among them."""
    told = {"lr": float(rng.uniform(1e-4, 1e-2)), "eps": 1e-8, "weight_decay": 0.1,
            "betas": (float(rng.uniform(0.9, 0.95)), float(rng.uniform(0.95, 0.999)))}  # fmt: skip
    batch, warmup = int(rng.integers(500, 3000)), int(rng.integers(0, 9000))
    total, events, size = warmup + int(rng.integers(9000, 60_000)), [], batch
    for n in range(24):
        events.append(("step", int(rng.integers(size // 2, 2 * size))))
        if changes and n % 5 == 4:
            events.append(("stop", 0))
        if changes and n % 7 == 3:
            size = int(batch * rng.uniform(0.3, 6))
            events.append(("change", size))
        if changes and n % 9 == 8:
            events.append(("refused", 40 * batch))
    return told, batch, warmup, total, float(rng.uniform(0, 0.5)), events


def manners(schedule: Callable[..., Any], told: Mapping[str, Any]) -> dict[str, bool]:
    """What a schedule leaves alone: its arguments, states, what it handed out, its neighbours."""
    given = copy.deepcopy(dict(told)) | {"betas": list(told["betas"])}
    before_all = copy.deepcopy(given)
    one, other = schedule(given, 100, 400, 4000, 0.1), schedule(given, 100, 400, 4000, 0.1)
    one.step(100)
    own = []
    for tokens in (0, 300):  # in the warm-up, and where the factor is exactly 1
        one.step(tokens)
        kept, before, out = one.told(), _row(one), one.told()
        _spoil(out)
        own += [(kept, before), (one.told(), before)]
    state = one.state_dict()
    text, here = json.dumps(state), _row(one)
    one.change(200), one.step(300)
    later, now = json.loads(json.dumps(one.state_dict())), _row(one)
    other.state_dict()
    saved = json.dumps(state) == text
    loaded = json.loads(text)
    third = schedule(given, 100, 400, 4000, 0.1)
    third.load_state_dict(loaded)
    whole = _row(third) == here
    out = third.told()
    _spoil(out)
    own.append((third.told(), here if whole else _row(third)))
    third.step(100), third.change(200)
    fourth = schedule(given, 100, 400, 4000, 0.1)
    fourth.load_state_dict(later)
    digits = np.allclose(_row(fourth), now, rtol=1e-9, atol=0)
    unread = json.dumps(loaded) == text
    kept_as_is, others = given == before_all, _row(other)
    mine = copy.deepcopy(before_all)
    last = schedule(mine, 100, 0, 4000, 0.1)
    before = _row(last)
    mine.update(lr=7.0, betas=[0.5, 0.5], eps=7.0, weight_decay=7.0)
    apart = _row(last) == before
    return {
        "told() hands out a dictionary of its own, and asking changes nothing": all(
            _flat(out) == before for out, before in own
        ),
        "a saved state stays as it was saved, also when another is saved": saved,
        "a saved state holds all that is needed, whatever else was saved since": whole,
        "a schedule goes on to the last digit from a saved state": bool(digits),
        "load_state_dict leaves the state that it is given as it is": unread,
        "the dictionary that the schedule was made of stays as it is": kept_as_is,
        "what the caller sets in its dictionary later does not reach the schedule": apart,
        "two schedules share nothing": others == _row(schedule(given, 100, 400, 4000, 0.1)),
    }


def _spoil(out: dict[str, Any]) -> None:
    """Change all that can be changed of what a schedule handed out."""
    if isinstance(out["betas"], list | np.ndarray):
        out["betas"][0] = 0.96875  # a change by two still has a rule
    out["lr"], out["eps"] = 7.0, 7.0

"""The experiment of lesson 14 as it should be planned and judged, and known mistakes.

    batches, rates, seeds, examples  ->  runs; results of runs, a margin  ->  two verdicts

Words
    arm    "examples": both batches see the same examples; "steps": both take the same steps
    shape  (batch, steps): all runs of one shape share a table of rates and seeds
    edge   the lowest or the highest rate tried: a best rate there may not be the best
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab.classroom.probes.lesson_14_versions import T90, WRONG, gap, tuned, verdict

__all__ = ["ARMS", "FIELDS", "MISTAKES", "arms", "judge", "plan"]

ARMS = ("examples", "steps")
FIELDS = ("verdict", "gap", "low", "high", "rates")
Result = Mapping[str, Any]
Interval = Callable[[Mapping[Any, float], Mapping[Any, float]], tuple[float, float, float]]


def plan(
    small: int, large: int, rates: Sequence[float], seeds: Sequence[int], examples: int
) -> list[dict[str, Any]]:
    """Every run of both arms, once."""
    rates, seeds = sorted(set(rates)), sorted(set(seeds))
    if small >= large:
        raise ValueError(f"the small batch {small} is not below the large one {large}")
    for batch in (small, large):
        if examples % batch:
            raise ValueError(f"{examples} examples are no whole number of batches of {batch}")
    if len(rates) < 3 or len(seeds) < 2:
        raise ValueError(f"three rates, two seeds at least; got rates {rates}, seeds {seeds}")
    shapes = [(small, examples // small), (large, examples // large), (large, examples // small)]
    return [
        {"batch": batch, "rate": rate, "seed": seed, "steps": steps}
        for batch, steps in shapes
        for rate in rates
        for seed in seeds
    ]


def arms(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results that each arm compares."""
    small, large = (f(one["batch"] for one in results) for f in (min, max))
    steps = next(one["steps"] for one in results if one["batch"] == small)
    shapes = {"examples": (large, steps * small // large), "steps": (large, steps)}
    return {
        arm: [one for one in results if (one["batch"], one["steps"]) in ((small, steps), shape)]
        for arm, shape in shapes.items()
    }


def judge(
    results: Sequence[Result],
    margin: float,
    *,
    choose: Callable[..., dict[int, float]] = tuned,
    interval: Interval = gap,
    say: Callable[[float, float, float], str] = verdict,
    edges: Callable[[Sequence[Result]], dict[int, set[float]]] | None = None,
    whole: bool = False,
    swap: bool = False,
) -> dict[str, dict[str, Any]]:
    """{arm: verdict, gap, low, high, rates}; the options are the known mistakes."""
    results = list(results)
    found = {}
    for arm, runs in arms(results).items():
        rates = choose(arms(results)["examples"] if whole else runs)
        sides = []
        for batch in sorted(rates):
            own = [one for one in runs if (one["batch"], one["rate"]) == (batch, rates[batch])]
            sides.append({one["seed"]: one["test"] for one in own})
        middle, low, high = interval(*sides)
        at = (edges or _edges)(runs)
        known = all(rates[batch] not in at[batch] for batch in rates)
        found[arm] = {
            "verdict": say(low, high, margin) if known else "cannot tell",
            "gap": middle, "low": low, "high": high, "rates": dict(rates),
        }  # fmt: skip
    return (
        {arm: found[other] for arm, other in zip(ARMS, ARMS[::-1], strict=True)} if swap else found
    )


def _edges(runs: Sequence[Result]) -> dict[int, set[float]]:
    tried = [one["rate"] for one in runs]
    return {one["batch"]: {min(tried), max(tried)} for one in runs}


def _edges_of_finite(runs: Sequence[Result]) -> dict[int, set[float]]:
    """The mistake: rates that diverged are forgotten."""
    found: dict[int, set[float]] = {}
    for batch in {one["batch"] for one in runs}:
        own = [one for one in runs if one["batch"] == batch]
        bad = {one["rate"] for one in own if not math.isfinite(one["validation"])}
        left = {one["rate"] for one in own} - bad
        found[batch] = {min(left), max(left)}
    return found


def _edges_but(part: Callable[..., set[float]]) -> Callable[..., dict[int, set[float]]]:
    return lambda runs: {b: part(b, own, runs) for b, own in _edges(runs).items()}


def _largest_only(batch: int, own: set[float], runs: Sequence[Result]) -> set[float]:
    return own if batch == max(one["batch"] for one in runs) else set()


def _smallest_only(batch: int, own: set[float], runs: Sequence[Result]) -> set[float]:
    return own if batch == min(one["batch"] for one in runs) else set()


def _with(**how: Any) -> Callable[..., Any]:
    return lambda results, margin: judge(results, margin, **how)


def _pooled(results: Sequence[Result], margin: float) -> Any:
    """Rates chosen per batch from the runs of both arms together."""
    listed = list(results)
    best = tuned(listed)
    return judge(listed, margin, choose=lambda runs: dict(best))


def _in_parts(results: Sequence[Result], margin: float) -> Any:
    """The margin is taken as a part of the loss of the small batch."""
    found = judge(results, margin)
    for arm, runs in arms(results).items():
        one = found[arm]
        batch, rate = min(one["rates"].items())
        own = [r["test"] for r in runs if (r["batch"], r["rate"]) == (batch, rate)]
        part = sum(own) / len(own) * margin
        one["verdict"] = judge(results, part)[arm]["verdict"]
    return found


def _narrower(value: float) -> Callable[..., Any]:
    """The verdict by an interval with this value for T90, beside the right numbers."""

    def version(results: Sequence[Result], margin: float) -> Any:
        factor = value / T90[len({one["seed"] for one in results})]

        def say(low: float, high: float, margin: float) -> str:
            middle, half = (low + high) / 2, (high - low) / 2 * factor
            return verdict(middle - half, middle + half, margin)

        return judge(results, margin, say=say)

    return version


MISTAKES: dict[str, Callable[..., Any]] = {
    **{thought: _with(choose=version) for thought, version in WRONG["tuned"].items()},
    "the rates of equal examples were used for equal steps: tune each arm": _with(whole=True),
    "the rate of a batch was tuned over both arms together: tune each arm": _pooled,
    **{thought: _with(interval=version) for thought, version in WRONG["gap"].items()},
    "an edge of the rates was taken for the best: say 'cannot tell' there": _with(
        edges=_edges_but(lambda *_: set())),
    "only the highest rate was taken for an edge: the lowest is one, too": _with(
        edges=_edges_but(lambda batch, own, runs: {max(own)})),
    "only the lowest rate was taken for an edge: the highest is one, too": _with(
        edges=_edges_but(lambda batch, own, runs: {min(own)})),
    "only the large batch was looked at for an edge": _with(edges=_edges_but(_largest_only)),
    "only the small batch was looked at for an edge": _with(edges=_edges_but(_smallest_only)),
    "a rate that diverged was tried, too: the one below it is no edge": _with(
        edges=_edges_of_finite),
    "the margin is in nats, as it is given: it is no part of the loss": _in_parts,
    "the verdict is by 1.64, not by low and high: few seeds need T90": _narrower(1.645),
    "the verdict is by 1.96, not by low and high: few seeds need T90": _narrower(1.96),
    **{thought: _with(say=version) for thought, version in WRONG["verdict"].items()},
    "the arms are exchanged: with equal steps the large batch sees more examples": _with(swap=True),
    "loss of the training set, or of tuning, instead of the test loss": lambda results, margin:
        judge([{**one, "test": one["validation"]} for one in results], margin),
}  # fmt: skip

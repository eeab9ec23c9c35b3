"""The experiment of lesson 14 as it should be planned and judged, and known mistakes.

    batches, rates, seeds, examples  ->  runs; results of runs, a margin  ->  two verdicts

Words
    arm    "examples": both batches see the same examples; "steps": both take the same steps
    shape  (batch, steps): all runs of one shape share a table of rates and seeds
    edge   the lowest or the highest rate tried: a best rate there may not be the best
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from batchlab.classroom.probes.lesson_14_versions import (
    T90,
    WRONG,
    also,
    chosen,
    gap,
    tuned,
    verdict,
)

__all__ = ["ARMS", "FIELDS", "MISTAKES", "arms", "judge", "other_mistakes", "plan"]

ARMS = ("examples", "steps")
FIELDS = ("verdict", "gap", "low", "high", "rates")
Result = Mapping[str, Any]
Runs = Iterable[Result]
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


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if all(map(math.isfinite, values)) else math.inf


def _by(score: Callable[[list[float]], float]) -> Callable[[Runs], dict[int, float]]:
    """Tuned by this score of a rate's validation losses; what is not finite is out."""
    return lambda runs: chosen(
        runs, "validation", lambda v: score(v) if all(map(math.isfinite, v)) else math.inf
    )


def _below(most: float) -> Callable[[Runs], dict[int, float]]:
    return _by(lambda v: _mean(v) if max(v) < most else math.inf)


def _only(keep: Callable[[list[Mapping[str, Any]]], list[Any]]) -> Callable[..., dict[int, float]]:
    """Tuned on those runs of each batch that `keep` leaves."""

    def version(runs: Runs) -> dict[int, float]:
        listed = list(runs)
        batches = dict.fromkeys(run["batch"] for run in listed)
        own = (keep([run for run in listed if run["batch"] == batch]) for batch in batches)
        return tuned([run for some in own for run in some])

    return version


def _seeds_of(runs: list[Mapping[str, Any]]) -> dict[float, list[int]]:
    found: dict[float, list[int]] = {}
    for run in runs:
        found.setdefault(run["rate"], []).append(run["seed"])
    return found


def _finite_rates(runs: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    bad = {run["rate"] for run in runs if not math.isfinite(run["validation"])}
    return [run for run in runs if run["rate"] not in bad]


def _most_seeds(runs: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    counts = {rate: len(seeds) for rate, seeds in _seeds_of(runs).items()}
    return [run for run in runs if counts[run["rate"]] == max(counts.values())]


def _common_seeds(runs: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    left = _finite_rates(runs)
    common = set.intersection(*map(set, _seeds_of(left).values())) if left else set()
    return [run for run in left if run["seed"] in common] or left


def _first_seeds(runs: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    left = _finite_rates(runs)
    fewest = min(map(len, _seeds_of(left).values()), default=0)
    taken: dict[float, int] = {}
    found = []
    for run in left:
        taken[run["rate"]] = taken.get(run["rate"], 0) + 1
        found += [run] if taken[run["rate"]] <= fewest else []
    return found


def _out_for_all(runs: Runs) -> dict[int, float]:
    return tuned(_finite_rates(list(runs)))


def _all_losses(runs: Runs) -> dict[int, float]:
    names = ("validation", "test", "train")
    fine = ({**run, "validation": math.inf}
            if not all(math.isfinite(run[n]) for n in names) else run for run in runs)  # fmt: skip
    return tuned(fine)


LIMIT = "a loss above {:g} was taken for divergence: only what is not finite is out"
# mistakes in tuning of which no planted experiment tells
TUNED: dict[str, Callable[..., Any]] = {
    "minus infinity was taken for a very low loss: it is not finite, that rate is out":
        lambda runs: chosen(runs, "validation", lambda v: -1e300 if -math.inf in v
                            else _mean(v)),
    "the test or training loss was asked for divergence: only the validation loss is":
        _all_losses,
    "a rate that diverged with one batch is out for that batch only": _out_for_all,
    "a loss of zero, or below, is finite: it is no divergence":
        _by(lambda v: _mean(v) if min(v) > 0 else math.inf),
    "the sum: rates may have different numbers of seeds, take the mean":
        _by(lambda v: _mean(v) * len(v)),
    "rates with fewer seeds were left out: each has its mean": _only(_most_seeds),
    "only the seeds that all rates have: take the mean over all seeds of a rate":
        _only(_common_seeds),
    "only the first seeds of a rate: take the mean over all of them": _only(_first_seeds),
    "equal losses were counted once: each seed counts": _by(lambda v: _mean(list(set(v)))),
    "the middle between the best and the worst seed: take the mean over all":
        _by(lambda v: (min(v) + max(v)) / 2),
    "only the first and the last seed: take the mean over all": _by(lambda v: v[0] + v[-1]),
    "the means were rounded: keep all digits": _by(lambda v: round(_mean(v), 4)),
    **{LIMIT.format(most): _below(most) for most in (10, 1000, 1e4, 1e6)},
}  # fmt: skip


def other_mistakes(name: str) -> dict[str, Callable[..., Any]]:
    """Those of a function of which no planted experiment tells."""
    return TUNED if name == "tuned" else also(name)

"""Mistakes of lesson 14 of which no planted experiment tells: the small cases of the page do.

a function's name  ->  what else a known mistake makes of a case
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_14_verdicts import but, margin_kept, verdict
from batchlab.classroom.probes.lesson_14_versions import T90, chosen, gap, tuned

__all__ = ["also"]

Runs = Iterable[Mapping[str, Any]]


def also(name: str) -> dict[str, Callable[..., Any]]:
    """`ALSO` of a function; those with a memory of their own are made afresh."""
    found = dict(ALSO.get(name, {}))
    if name == "verdict":
        found["the margin of the first call is kept for all calls"] = margin_kept()
    return found


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if np.isfinite(values).all() else math.inf


def _by(score: Callable[[list[float]], float]) -> Callable[[Runs], dict[int, float]]:
    """Tuned by this score of a rate's validation losses; what is not finite is out."""
    return lambda runs: chosen(
        runs, "validation", lambda v: score(v) if np.isfinite(v).all() else math.inf
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


def _values(product: Callable[..., Any], start: Any, steps: int) -> Iterator[float]:
    """v . Hv after 0, 1, ... steps of power iteration."""
    v = np.asarray(start, dtype=float) / np.linalg.norm(start)
    for _ in range(steps + 1):
        moved = product(v)
        yield float(v @ moved)
        if not moved.any():
            return
        v = moved / np.linalg.norm(moved)


def _stopped(product: Callable[..., Any], start: Any, steps: int) -> float:
    """Power iteration that ends as soon as the value stands still."""
    value = math.inf
    for now in _values(product, start, steps):
        if abs(now - value) <= 1e-9 * abs(now):
            return now
        value = now
    return value


def _largest_seen(product: Callable[..., Any], start: Any, steps: int) -> float:
    return max(_values(product, start, steps), key=abs)


def _with_t90_of(count: int) -> Callable[..., tuple[float, float, float]]:
    return lambda small, large: gap(small, large, dict.fromkeys(T90, T90[count]))


LIMIT = "a loss above {:g} was taken for divergence: only what is not finite is out"
ALSO: dict[str, dict[str, Callable[..., Any]]] = {
    "tuned": {
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
    },
    "gap": {
        f"T90 of {count} seeds: it goes by the number of seeds": _with_t90_of(count)
        for count in T90
    },
    "sharpness": {
        "it ended when the value stood still: do all the steps": _stopped,
        "the largest value on the way: the last one is asked": _largest_seen,
    },
    "verdict": {
        "what lies above 0 is called worse, even inside the margin": but(
            lambda low, high, margin: "large worse" if low > 0 else ""),
        "what lies below 0 is called better, even inside the margin": but(
            lambda low, high, margin: "large better" if high < 0 else ""),
        "too careful above 0: worse is said only if the whole interval lies beyond the margin": but(
            lambda low, high, margin: "cannot tell" if 0 < low <= margin < high else ""),
        "too careful below 0: better is said only if the whole interval lies beyond the margin":
            but(lambda low, high, margin: "cannot tell" if 0 < -high <= margin < -low else ""),
        "an interval that holds 0 is called worse if only its upper end is beyond the margin": but(
            lambda low, high, margin: "large worse" if -margin <= low <= 0 < margin < high else ""),
        "an interval that holds 0 is called better if only its lower end is beyond the margin": but(
            lambda low, high, margin: "large better" if low < -margin < 0 <= high <= margin
            else ""),
        "ends and margin are cut to whole numbers":
            lambda low, high, margin: verdict(int(low), int(high), int(margin)),
    },
}  # fmt: skip

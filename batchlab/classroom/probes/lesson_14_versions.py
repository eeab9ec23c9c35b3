"""Right and wrong versions of the small functions of lesson 14.

a case  ->  what a known mistake makes of it
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_14_verdicts import (
    RARE,
    VERDICTS,
    but,
    margin_kept,
    verdict,
    verdict_by_steps,
)

__all__ = [
    "RIGHT", "T90", "VERDICTS", "WRONG", "also", "chosen", "gap", "sharpness", "tuned", "updates",
    "verdict",
]  # fmt: skip

# Student's t, 90 % of it inside, by the number of values
T90 = {2: 6.31, 3: 2.92, 4: 2.35, 5: 2.13, 6: 2.02, 7: 1.94, 8: 1.90, 9: 1.86, 10: 1.83,
       11: 1.81, 12: 1.80}  # fmt: skip
Losses = Mapping[Any, float]


def updates(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    """Steps in equal epochs, and epochs of the large batch for equal steps."""
    each = -(-examples // large)
    steps = epochs * -(-examples // small)
    return {"small": steps, "large": epochs * each, "epochs": steps / each}


def _updates_floor(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    steps, each = epochs * (examples // small), examples // large
    return {"small": steps, "large": epochs * each, "epochs": steps / each}


def _updates_through(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    steps, each = (-(-examples * epochs // b) for b in (small, large))
    return {"small": steps, "large": each, "epochs": epochs * steps / each}


def _updates_ratio(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    return updates(examples, epochs, small, large) | {"epochs": epochs * large / small}


def _updates_times(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    right = updates(examples, epochs, small, large)
    return right | {"epochs": right["epochs"] / epochs}


def _updates_whole(examples: int, epochs: int, small: int, large: int) -> dict[str, Any]:
    right = updates(examples, epochs, small, large)
    return right | {"epochs": math.ceil(right["epochs"])}


def gap(
    small: Losses, large: Losses, t: Mapping[int, float] | None = None, ddof: int = 1
) -> tuple[float, float, float]:
    """Mean of large - small over the seeds, and its 90 % interval."""
    if set(small) != set(large) or len(small) < 2:
        raise ValueError(f"the same two or more seeds are needed: {sorted(small)}, {sorted(large)}")
    apart = np.array([large[seed] - small[seed] for seed in small])
    if not np.isfinite(apart).all():
        raise ValueError("a loss is not finite: that run diverged")
    n = len(apart)
    half = (T90 if t is None else t)[n] * float(apart.std(ddof=ddof)) / n**0.5
    return float(apart.mean()), float(apart.mean()) - half, float(apart.mean()) + half


def _around(middle: float, half: float) -> tuple[float, float, float]:
    return middle, middle - half, middle + half


def _gap_unpaired(small: Losses, large: Losses) -> tuple[float, float, float]:
    a, b = (np.array(list(one.values())) for one in (small, large))
    n = len(a)
    half = T90[n] * ((a.var(ddof=1) + b.var(ddof=1)) / n) ** 0.5
    return _around(float(b.mean() - a.mean()), float(half))


def _gap_by_place(small: Losses, large: Losses) -> tuple[float, float, float]:
    pairs = zip(small.values(), large.values(), strict=True)
    return gap(dict.fromkeys(range(len(small)), 0.0), dict(enumerate(b - a for a, b in pairs)))


def _gap_sorted(small: Losses, large: Losses) -> tuple[float, float, float]:
    a, b = (dict(enumerate(sorted(one.values()))) for one in (small, large))
    return gap(a, b)


def _gap_best(small: Losses, large: Losses) -> tuple[float, float, float]:
    _, low, high = gap(small, large)
    return _around(min(large.values()) - min(small.values()), (high - low) / 2)


def _gap_median(small: Losses, large: Losses) -> tuple[float, float, float]:
    _, low, high = gap(small, large)
    return _around(
        float(np.median([large[seed] - small[seed] for seed in small])), (high - low) / 2
    )


def _gap_turned(small: Losses, large: Losses) -> tuple[float, float, float]:
    return gap(large, small)


def _gap_with(scale: Callable[[int], float]) -> Callable[..., tuple[float, float, float]]:
    """The half-width of the interval times `scale(n)`."""

    def version(small: Losses, large: Losses) -> tuple[float, float, float]:
        middle, _, high = gap(small, large)
        return _around(middle, (high - middle) * scale(len(small)))

    return version


def tuned(runs: Iterable[Mapping[str, Any]], key: str = "validation") -> dict[int, float]:
    """{batch: rate of the lowest mean loss}; a rate at which a run diverged is out."""
    return chosen(runs, key, lambda v: float(np.mean(v)) if np.isfinite(v).all() else math.inf)


def chosen(
    runs: Iterable[Mapping[str, Any]], key: str, score: Callable[[list[float]], float],
    last: bool = False,
) -> dict[int, float]:  # fmt: skip
    """{batch: rate of the lowest score of its losses}; `last` takes the larger rate of a tie."""
    losses: dict[int, dict[float, list[float]]] = {}
    for run in runs:
        losses.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run[key])
    found = {}
    for batch, by_rate in losses.items():
        scores = {rate: score(by_rate[rate]) for rate in sorted(by_rate, reverse=last)}
        found[batch] = min(scores, key=lambda rate: scores[rate])
        if not math.isfinite(scores[found[batch]]):
            raise ValueError(f"every rate of batch {batch} diverged")
    return found


def _finite(values: list[float]) -> list[float]:
    return [v for v in values if math.isfinite(v)] or [math.inf]


def _tuned_once(which: Callable[..., int]) -> Callable[..., dict[int, float]]:
    def version(runs: Iterable[Mapping[str, Any]]) -> dict[int, float]:
        listed = list(runs)
        right = tuned(listed)
        return dict.fromkeys(right, right[which(right)])

    return version


def _tuned_together(runs: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    listed = list(runs)
    rate = tuned([{**run, "batch": 0} for run in listed])[0]
    return dict.fromkeys({run["batch"] for run in listed}, rate)


def sharpness(product: Callable[[np.ndarray], np.ndarray], start: np.ndarray, steps: int) -> float:
    """The quotient of Rayleigh after `steps` multiplications."""
    v = np.asarray(start, dtype=float) / np.linalg.norm(start)
    for _ in range(steps):
        v = product(v)
        if not v.any():
            return 0.0
        v = v / np.linalg.norm(v)
    return float(v @ product(v))


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


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "updates": (updates,),
    "gap": (gap,),
    "tuned": (tuned,),
    "sharpness": (sharpness,),
    "verdict": (verdict, verdict_by_steps),
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "updates": {
        "rounded down: the short last batch is a step, too": _updates_floor,
        "epochs run into each other: each one ends with its own short batch": _updates_through,
        "the ratio of the batches: short last batches are steps of both": _updates_ratio,
        "times the epochs of the small batch: asked are epochs, not how many times as many":
            _updates_times,
        "rounded up: a fraction of an epoch is asked": _updates_whole,
    },
    "gap": {
        "turned round: large minus small": _gap_turned,
        "paired by place: look a loss up by its seed": _gap_by_place,
        "the best against the best: best of seeds is no mean, pair them by seed": _gap_sorted,
        "best of seeds: the mean difference is asked": _gap_best,
        "the median: the interval asked is that of the mean": _gap_median,
        "not paired: what a seed does to both batches is no error of their difference":
            _gap_unpaired,
        "the spread of one seed: a mean of n is surer by the root of n": _gap_with(lambda n: n**.5),
        "the standard error alone: times T90[n]": _gap_with(lambda n: 1 / T90[n]),
        "the standard deviation over n: over n - 1": _gap_with(lambda n: ((n - 1) / n) ** 0.5),
        "T90 of n - 1: it goes by the number of seeds":
            _gap_with(lambda n: T90[max(n - 1, 2)] / T90[n]),
        "1.96 or 1.64 for T90[n]: few seeds need more": _gap_with(lambda n: 1.96 / T90[n]),
        "1.64 for T90[n]: few seeds need more": _gap_with(lambda n: 1.64 / T90[n]),
        "divided by n, not by its root": _gap_with(lambda n: n**-0.5),
    },
    "tuned": {
        "tuned on the test set: what judges later must not choose":
            lambda runs: tuned(runs, "test"),
        "the median seed: take the mean":
            lambda runs: chosen(runs, "validation", lambda v: float(np.median(v))),
        "the best seed chose: take the mean over the seeds":
            lambda runs: chosen(runs, "validation", min),
        "a tie goes to the smaller rate": lambda runs: chosen(
            runs, "validation", lambda v: float(np.mean(v)) if np.isfinite(v).all() else math.inf,
            last=True,
        ),
        "the training loss chose": lambda runs: tuned(runs, "train"),
        "diverged runs were skipped: a rate at which one seed diverges is out":
            lambda runs: chosen(runs, "validation", lambda v: float(np.mean(_finite(v)))),
        "one rate for all: that of the smallest batch": _tuned_once(min),
        "one rate for all: that of the largest batch": _tuned_once(max),
        "one rate for all: the best of both together": _tuned_together,
        "the highest loss": lambda runs: chosen(runs, "validation", lambda v: -float(np.mean(v))),
        "the worst seed chose: take the mean": lambda runs: chosen(runs, "validation", max),
    },
    "sharpness": {
        "the length of Hv has no sign: v . Hv has one":
            lambda product, start, steps: abs(sharpness(product, start, steps)),
        "one multiplication too few":
            lambda product, start, steps: sharpness(product, start, max(steps - 1, 0)),
        "one multiplication too many":
            lambda product, start, steps: sharpness(product, start, steps + 1),
        "v is not divided by its length at the end": lambda product, start, steps: sharpness(
            product, start, steps) * float(np.linalg.norm(start)) ** 2,
        "the start was not used": lambda product, start, steps: sharpness(
            product, np.ones(len(start)), steps),
    },
    "verdict": {
        "a middle within the margin is called no difference, however wide": but(
            lambda low, high, margin: "no difference" if abs(low + high) <= 2 * margin else ""),
        "an interval that holds 0 is called no difference, however wide": but(
            lambda low, high, margin: "no difference" if low <= 0 <= high else ""),
        "any interval that reaches above 0 is called worse": but(
            lambda low, high, margin: "large worse" if high > margin else ""),
        "the sign is turned: a larger loss is called better": lambda low, high, margin: {
            "large worse": "large better", "large better": "large worse",
        }.get(verdict(low, high, margin), verdict(low, high, margin)),
        "the large batch is never called better": lambda low, high, margin: "cannot tell"
        if verdict(low, high, margin) == "large better" else verdict(low, high, margin),
        "only the upper end is held against the margin": but(
            lambda low, high, margin: "no difference" if high <= margin and low <= 0 else ""),
        "only the lower end is held against the margin": but(
            lambda low, high, margin: "no difference" if low >= -margin and high >= 0 else ""),
        "what is not 0 is called worse or better, even inside the margin": but(
            lambda low, high, margin: "large worse" if low > 0 else "large better" if high < 0
            else ""),
        "too careful: worse is said only if the whole interval lies beyond the margin": but(
            lambda low, high, margin: "cannot tell"
            if 0 < low <= margin < high or 0 < -high <= margin < -low else ""),
        "a wide interval is always called cannot tell": but(
            lambda low, high, margin: "cannot tell" if high - low > 2 * margin else ""),
        "the margin is always 0.01": lambda low, high, margin: verdict(low, high, 0.01),
        "no difference is never said": lambda low, high, margin: verdict(low, high, 0.0),
        "the middle of the interval decides alone": lambda low, high, margin: "large worse"
        if low + high > 0 else "large better",
    },
}  # fmt: skip
# mistakes of which no planted experiment tells: the cases of the page do
ALSO: dict[str, dict[str, Callable[..., Any]]] = {
    "gap": {
        f"T90 of {count} seeds: it goes by the number of seeds": _with_t90_of(count)
        for count in T90
    },
    "sharpness": {
        "it ended when the value stood still: do all the steps": _stopped,
        "the largest value on the way: the last one is asked": _largest_seen,
    },
    "verdict": {**RARE},
}  # fmt: skip


def also(name: str) -> dict[str, Callable[..., Any]]:
    """`ALSO` of a function; those with a memory of their own are made afresh."""
    found = dict(ALSO.get(name, {}))
    if name == "verdict":
        found["the margin of the first call is kept for all calls"] = margin_kept()
    return found

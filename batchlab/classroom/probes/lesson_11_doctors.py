"""The doctor of lesson 11, and the mistakes that one makes in writing it.

    visits of a sweep as plain dictionaries  ->  cause, gain, low, high

Words
    visit    one setting of a sweep in one round: totals over its steps
    subject  the setting with the most rows
"""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_11_versions import RIGHT

__all__ = ["CURES", "MISTAKES", "diagnosis", "fit_step", "prices", "told"]

Visit = Mapping[str, Any]
SIDES = ("input", "host", "optimizer")
CURES: dict[str, dict[str, float]] = {
    "padding": {"padding": 0.0},
    "recomputation": {"recomputation": 0.0},
    "input": {"input": 0.0},
    "host": {"host": 0.0},
    "launch": {"launch": 0.5},
}
T90 = {2: 6.31, 3: 2.92, 4: 2.35, 5: 2.13, 6: 2.02}  # Student's t, 95 %, of n - 1 values
BAR = 0.05


def fit_step(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """The fixed seconds and the seconds per unit of size that fit best; errors are relative."""
    weights = 1 / np.asarray(seconds, dtype=float)
    slope, fixed = np.polyfit(np.asarray(sizes, dtype=float), seconds, 1, w=weights).tolist()
    return fixed, slope


def told(got: Mapping[str, Any]) -> str:
    """A diagnosis as messages show it: numbers to six digits, as rounding spoils the last ones."""
    gain, low, high = (
        f"{got[name]:.6g}" if isinstance(got[name], Real) else f"{got[name]}"
        for name in ("gain", "low", "high")
    )
    return f"{got['cause']}, gain {gain}, {low} to {high}"


def prices(visits: Sequence[Visit], again: float = 1 / 3) -> tuple[float, float]:
    """Seconds of a micro-batch and of a slot, without recomputation."""
    sizes, seconds = [], []
    for one in visits:
        own = one["seconds"] - sum(one[f"{side}_seconds"] for side in SIDES)
        own /= 1 + again * one["checkpointing"]
        sizes.append(one["slots"] / one["micro_batches"])
        seconds.append(own / one["micro_batches"])
    fixed, slot = fit_step(sizes, seconds)
    return max(fixed, 0.0), slot


def diagnosis(
    visits: Sequence[Visit],
    *,
    least: bool = False,
    far: bool = False,
    share: bool = False,
    whole_launch: bool = False,
    ignore_retries: bool = False,
    spread: bool = False,
    point: bool = False,
    bar: float = BAR,
    by_busy: bool = False,
    by_share: bool = False,
    first_round: bool = False,
    again: float = 1 / 3,
) -> dict[str, Any]:
    """The doctor of the lesson; each option is a mistake.

    Round by round: prices, parts of the visit with the most rows, the gain of each cure. The cause
    has the largest mean gain; the interval comes from the rounds.
    """
    rows = sorted({one["rows"] for one in visits})
    most, less = (rows[0], rows[1]) if least else (rows[-1], rows[-2])
    less = rows[0] if far else less
    cures = CURES | ({"launch": {"launch": 0.0}} if whole_launch else {})
    gains: dict[str, list[float]] = {}
    rounds = sorted({one["round"] for one in visits})
    retried = any(one["retries"] for one in visits if one["rows"] == most)
    for number in rounds[:1] if first_round else rounds:
        here = {one["rows"]: one for one in visits if one["round"] == number}
        parts = RIGHT["parts"][0](here[most], *prices(list(here.values()), again))
        for cause, keep in cures.items():
            gained = RIGHT["gain"][0](parts, keep)
            gains.setdefault(cause, []).append(1 - 1 / (1 + gained) if share else gained)
        if retried and not ignore_retries:
            faster = RIGHT["speed-up"][0]([here[most]], [here[less]]) - 1
            gains.setdefault("memory", []).append(faster)
    cause = "memory" if "memory" in gains else max(gains, key=lambda one: np.mean(gains[one]))
    if by_share:
        shares = {name: value for name, value in parts.items() if name in CURES}
        cause = max(shares, key=lambda name: shares[name])
    if by_busy:
        busy = np.mean([one["busy"] for one in visits if one["rows"] == most])
        cause = "saturation" if busy > 0.9 else "input"
    elif cause != "memory" and np.mean(gains[cause]) < bar:
        cause = "saturation"
    values = np.array(gains["launch" if cause == "saturation" else cause])
    n = len(values)
    error = float(values.std(ddof=1)) if n > 1 else 0.0
    half = T90.get(n, 0.0) * error / (1 if spread else n**0.5) * (not point)
    mean = float(values.mean())
    return {"cause": cause, "gain": mean, "low": mean - half, "high": mean + half}


def _pick(**mistake: Any) -> Callable[..., Any]:
    return lambda visits: diagnosis(visits, **mistake)


MISTAKES: dict[str, Callable[..., Any]] = {
    "the fewest rows were diagnosed: asked are the most": _pick(least=True),
    "a share is no gain: without a quarter the run is a third faster": _pick(share=True),
    "twice the rows halve the launches, they do not end them": _pick(whole_launch=True),
    "the next smaller rows are asked, not the fewest": _pick(far=True),
    "the retries were ignored: they are in no price": _pick(ignore_retries=True),
    "the largest share is not the largest gain: a cure may end only half of it": _pick(
        by_share=True
    ),
    "below a gain of 5 % it is saturation": _pick(bar=0.0),
    "the first round only: each round tells the luck of the others": _pick(first_round=True),
    "recomputation left out of the prices": _pick(again=0.0),
    "a cure gains more than 5 % here: was utilisation believed? It says that something ran, "
    "not what for": _pick(by_busy=True),
}

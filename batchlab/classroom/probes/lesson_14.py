"""What lesson 14 needs beside its page: trained networks, planted experiments, mistakes.

an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown, working
from batchlab.classroom.probes.lesson_14_finder import fault_of_alpha, finder
from batchlab.classroom.probes.lesson_14_hessian import (
    flat,
    product,
    rescaled,
    test_loss,
    trace,
)
from batchlab.classroom.probes.lesson_14_judges import (
    ARMS,
    FIELDS,
    MISTAKES,
    judge,
    other_mistakes,
    plan,
)
from batchlab.classroom.probes.lesson_14_scenes import Scene, World, losses, panel, scenes, table
from batchlab.classroom.probes.lesson_14_versions import RIGHT, T90, VERDICTS, WRONG
from batchlab.classroom.probes.lesson_14_world import (
    EARLIER,
    TASKS,
    losses_of,
    many_runs,
    network,
    output,
    runs_of,
    told,
    trained,
    tried,
)

__all__ = [
    "ARMS",
    "EARLIER",
    "FIELDS",
    "LABORATORY",
    "MISTAKES",
    "RIGHT",
    "T90",
    "TASKS",
    "VERDICTS",
    "WRONG",
    "Scene",
    "World",
    "contest",
    "fault_of_alpha",
    "fault_of_judgement",
    "fault_of_plan",
    "fault_of_rescaling",
    "finder",
    "flat",
    "hessian_of",
    "judge",
    "laboratory",
    "losses",
    "losses_of",
    "many_runs",
    "mistakes",
    "mistakes_of_key",
    "network",
    "output",
    "panel",
    "plan",
    "points",
    "product",
    "refusal",
    "rescaled",
    "runs_of",
    "scenes",
    "shown",
    "table",
    "test_loss",
    "told",
    "trace",
    "trained",
    "tried",
    "versions",
    "working",
]

# small batch, large batch, rates, examples of an equal-examples run
LABORATORY: dict[str, tuple[int, int, tuple[float, ...], int]] = {
    "noisy": (8, 128, (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2), 5120),
    "clean": (8, 128, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4), 5120),
    "stream": (8, 64, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2), 4096),
}
SEEDS = range(10)


@cache
def laboratory(task: str) -> list[dict[str, Any]]:
    """Every run of a task's plan, trained here and now; do not change it."""
    small, large, rates, examples = LABORATORY[task]
    return tried(task, plan(small, large, rates, list(SEEDS), examples))


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name] | other_mistakes(name)}


def mistakes(name: str, *case: Any) -> list[tuple[Any, str]]:
    """What each wrong version makes of a case, where it differs from the right one."""
    right = RIGHT[name][0](*case)
    known = other_mistakes(name) | WRONG[name]
    return [(wrong, why) for wrong, why in mistakes_of(known, *case) if not _same(wrong, right)]


def mistakes_of_key(name: str, key: str, *case: Any) -> dict[Any, str]:
    """The same for one value of a dictionary."""
    right = RIGHT[name][0](*case)[key]
    near = rounded(right) if isinstance(right, float) else {}
    return near | {wrong[key]: why for wrong, why in mistakes(name, *case) if wrong[key] != right}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    return bool(a == b) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-9)


def fault_of_rescaling(
    weights: Mapping[str, Any],
    alpha: float,
    got: Mapping[str, Any],
    before: tuple[Mapping[str, Any], float] | None = None,
) -> tuple[str, str]:
    """Which entry of a rescaled network is wrong, and the thought behind it; empty if none is.

    `before` are weights and alpha of an earlier call.
    """
    right, kept = rescaled(weights, alpha), rescaled(*before) if before else {}
    for name, want in right.items():
        try:
            value = data_of.array(got[name])
        except data_of.NotPlain as problem:
            return name, problem.thought or "an array is needed"
        if _near(value, want):
            continue
        if name in kept and _near(value, kept[name]):
            return name, EARLIER
        for other in weights:
            old = weights[other]
            if other != name and value.shape == old.shape and _multiple(value, old):
                return name, f"it was made of {other}: look up each weight by its name"
        if value.shape != want.shape:
            return name, f"shape {value.shape}, and {want.shape} is needed"
        for factor, thought in {
            1.0: "left as it is: then the function changes",
            alpha: "times alpha",
            1 / alpha: "over alpha",
            alpha**2: "times alpha twice",
            alpha**0.5: "times the root of alpha",
        }.items():
            if _near(value, weights[name] * factor):
                return name, f"it is the old one, {thought}" if factor != 1.0 else thought
        return name, "neither the old one nor a multiple of it that keeps the function"
    return "", ""


def _near(value: np.ndarray, want: np.ndarray) -> bool:
    return value.shape == want.shape and bool(np.allclose(value, want, rtol=1e-5, atol=0))


def _multiple(value: np.ndarray, old: np.ndarray) -> bool:
    """Whether an array of two values or more is another one times some factor."""
    return value.size > 1 and _near(value, old * (value.flat[0] / old.flat[0]))


def hessian_of(*values: float | Sequence[float]) -> Callable[[np.ndarray], np.ndarray]:
    """v -> H v of a matrix with these rows, or these eigenvalues in directions of no axis."""
    size = len(values)
    if np.ndim(values) == 2:
        rows = np.array(values, dtype=float)
        return lambda v: rows @ v
    turned = np.linalg.qr(np.random.default_rng(size).normal(size=(size, size)))[0]
    matrix = turned @ np.diag(values) @ turned.T
    return lambda v: matrix @ v


def points(
    sharpness: Callable[..., float], task: str = "noisy", seeds: Iterable[int] = range(3)
) -> dict[str, tuple[list[float], list[float]]]:
    """{batch and rate: (sharpness, test loss) of each seed}, equal steps, for a figure."""
    start = np.random.default_rng(5).normal(size=195)
    found = {}
    for batch in (8, 128):
        for rate in (0.1, 0.8):
            own = [trained(task, batch, 640, rate, seed) for seed in seeds]
            sharp = [float(sharpness(product(w, task, seed), start, 40))
                     for seed, w in zip(seeds, own, strict=True)]  # fmt: skip
            losses = [test_loss(w, task, seed) for seed, w in zip(seeds, own, strict=True)]
            found[f"batch {batch}, rate {rate}"] = (sharp, losses)
    return found


def fault_of_plan(got: object, want: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with a list of runs; empty if each run of `want` is there once."""
    if not isinstance(got, list | tuple) or not all(isinstance(one, Mapping) for one in got):
        return "a list of dictionaries is asked, one for each run"
    names = ("batch", "rate", "seed", "steps")
    lacking = next((n for one in got for n in names if n not in one), "")
    if lacking:
        return f"each run has the keys batch, rate, seed and steps: {lacking} is missing"
    if extra := next((str(n) for one in got for n in one if n not in names), ""):
        return (f"each run has the keys batch, rate, seed and steps, and no other, not {extra}: "
                "runs of the small batch serve both arms")  # fmt: skip
    if any(isinstance(one["steps"], float) for one in got):
        return "steps is an int: divide with //"
    have = Counter(tuple(float(one[n]) for n in names) for one in got)
    need = Counter(tuple(float(one[n]) for n in names) for one in want)
    if have == need:
        return ""
    shapes = {(run[0], run[3]) for run in have}, {(run[0], run[3]) for run in need}
    if shapes[1] - shapes[0]:
        batch, steps = min(shapes[1] - shapes[0])
        if batch == min(b for b, _ in shapes[1]):
            return f"batch {batch:.10g} with {steps:.10g} steps is missing: both arms need it"
        arm = "equal steps" if steps == max(s for _, s in shapes[1]) else "equal examples"
        return f"the runs of batch {batch:.10g} with {arm} are missing"
    if shapes[0] - shapes[1]:
        batch, steps = min(shapes[0] - shapes[1])
        return (
            f"nobody needs batch {batch:.10g} with {steps:.10g} steps: which arm would compare it?"
        )
    if set(have) == set(need):
        run = next(run for run in have if have[run] > 1)
        return (f"batch {run[0]:g}, rate {run[1]:g}, seed {run[2]:g}, {run[3]:.10g} steps stands "
                f"there {have[run]} times: each run is paid once")  # fmt: skip
    given = [{run[place] for run in need} for place in (1, 2)]
    for place, what in ((1, "rate"), (2, "seed")):
        if strange := {run[place] for run in have} - given[place - 1]:
            return f"nobody gave the {what} {min(strange):.10g}: take each {what} as it is"
    if set(need) - set(have):
        return "each rate meets each seed: some pairs are missing"
    return "rates or seeds that were not given"


def fault_of_judgement(
    results: Sequence[Mapping[str, Any]], margin: float, got: Mapping[str, Any]
) -> tuple[str, str]:
    """Where two verdicts are wrong, and the thought behind it; empty if they are right."""
    right = judge(results, margin)
    for arm in ARMS:
        mine, want = got[arm], right[arm]
        if fault := _not_a_judgement(mine, want):
            return arm, fault
        if _same({n: _bare(mine[n]) for n in FIELDS}, want):
            continue
        known = {}
        for thought, version in MISTAKES.items():
            try:
                known[thought] = version(results, margin)[arm]
            except (ArithmeticError, KeyError, ValueError):
                continue
        off = [n for n in FIELDS if not _same(_bare(mine[n]), want[n])]
        for names in (FIELDS, off):
            for thought, wrong in known.items():
                if all(_same(_bare(mine[n]), wrong[n]) for n in names):
                    return arm, thought
        return arm, f"of its values, {', '.join(off)} {'is' if len(off) == 1 else 'are'} wrong"
    return "", ""


def _bare(value: Any) -> Any:
    """Plain numbers and texts, so that NumPy's compare."""
    if isinstance(value, Mapping):
        return {int(key): float(one) for key, one in value.items()}
    return str(value).strip().casefold() if isinstance(value, str) else float(value)


def _not_a_judgement(mine: Any, want: Mapping[str, Any]) -> str:
    if not isinstance(mine, Mapping) or any(n not in mine for n in FIELDS):
        return f"a dictionary with {', '.join(FIELDS)} is asked for each arm"
    if not isinstance(mine["verdict"], str) or _bare(mine["verdict"]) not in VERDICTS:
        return f"a verdict is one of: {', '.join(VERDICTS)}"
    if not isinstance(mine["rates"], Mapping) or set(mine["rates"]) != set(want["rates"]):
        return "rates is a dictionary {batch: its tuned rate} of the two batches"
    try:
        for value in (mine["gap"], mine["low"], mine["high"], *mine["rates"].values()):
            data_of.number(value)
    except data_of.NotPlain as problem:
        return problem.thought or "gap, low, high and the rates are numbers"
    return ""


def contest(judge_: Callable[..., Any], seed: int = 3) -> None:
    """Print the verdicts on planted worlds beside the truth, which is known there."""
    print(f"{'arm':<10}{'truth':>8}   {'interval':>18}   verdict (margin 0.04)")
    for world, margin in panel(seed, 6):
        found = judge_(world.tried(world.runs()), margin)
        for arm in ARMS:
            one = found[arm]
            between = f"{one['low']:+.3f} to {one['high']:+.3f}"
            print(f"{arm:<10}{world.truth(arm):>+8.2f}   {between:>18}   {one['verdict']}")

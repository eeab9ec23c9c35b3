"""What lesson 12 needs beside its page: cases, mistakes and their values, a finder.

    an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is

Words
    case     a change of the batch in words, and the rule that was shown for it, or "tune"
    growth   examples seen when the batch of a noisy quadratic model grows
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from batchlab import plots, records, widgets
from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown, working
from batchlab.classroom.probes.lesson_12_live import BATCHES, best_rates, trained
from batchlab.classroom.probes.lesson_12_schedules import (
    TokenSchedule,
    driven,
    fault_of_run,
    manners,
    scripts,
)
from batchlab.classroom.probes.lesson_12_versions import RIGHT, WRONG

__all__ = [
    "BATCHES",
    "CASES",
    "PARTS",
    "RIGHT",
    "WORDS",
    "WRONG",
    "TokenSchedule",
    "best_rates",
    "driven",
    "fault_of_growth",
    "fault_of_rule",
    "fault_of_run",
    "finder",
    "growth",
    "growths",
    "manners",
    "mistakes",
    "mistakes_of_part",
    "recorded",
    "refusal",
    "scripts",
    "shown",
    "told",
    "trained",
    "tries_rule",
    "versions",
    "working",
]

_NEAR = "near it, but digits are missing: nothing rounded, nothing approximated"
TOPS = (0.999, 0.9999, 0.99999)  # where a beta is often cut off
PARTS = ("lr", "betas", "eps", "weight_decay")
WORDS = ("linear", "full rule", "half-life", "tune")
CASES = {
    "A": "SGD on ImageNet, 256 -> 4,096 images, with warm-up; noise scale 9,000 images",
    "B": "SGD on ImageNet, 256 -> 65,536 images",
    "C": "pre-training, AdamW (0.9, 0.95), 256 -> 1,024 sequences; noise scale 3,000 sequences",
    "D": "pre-training, AdamW (0.9, 0.95), 256 -> 4,096 sequences; noise scale 6,000 sequences",
    "E": "pre-training, AdamW (0.9, 0.95), 512 -> 1 sequences; how to keep beta2's memory",
    "F": "pre-training, AdamW (0.9, 0.95), 256 -> 1,024 sequences; noise scale 600 sequences",
    "G": "LoRA, AdamW (0.9, 0.999), 16 -> 128 sequences; no noise scale known",
}
_RULE = {"A": "linear", "B": "tune", "C": "full rule", "D": "tune", "E": "half-life", "F": "tune",
         "G": "tune"}  # fmt: skip
_WHY = {
    "A": "SGD, below the noise scale, in the range of images where one rule was shown",
    "B": "65,536 images lie beyond the 8,192 up to which the rule was shown",
    "C": "Adam, below the noise scale, k = 4 and k (1 - 0.9) = 0.4",
    "D": "k = 16 and k (1 - 0.9) = 1.6: look at the limit of the rule",
    "E": "asked is the memory of beta2 in tokens, at k = 1 / 512",
    "F": "1,024 sequences are above this noise scale",
    "G": "fine-tuning has no range of its own in the table, and no noise scale is known",
}


def told(lr: float, beta1: float, beta2: float, eps: float, decay: float) -> dict[str, Any]:
    """What a group of AdamW is told, under torch's names."""
    return {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": decay}


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for a case, by their thoughts."""
    right = RIGHT[name][0](*case)
    wrong = {
        value: why
        for value, why in mistakes_of(WRONG[name], *case)
        if isinstance(value, float | int) and abs(value - right) > 1e-12 * abs(right)
    }
    if name == "half-life":
        wrong |= {top: f"cut off at {top}: nothing limits it there" for top in TOPS if right > top}
        narrow = float(np.float32(case[0]) ** np.float32(case[2] / case[1]))
        wrong |= dict.fromkeys((narrow, float(np.float32(right))), "in float32: too few digits")
    near = rounded(right) | {0.0: "rounded away: keep all digits"}
    if name == "half-life":
        near = {one: _NEAR if abs(one - right) < 1e-7 else thought for one, thought in near.items()}
    return near | wrong


def mistakes_of_part(part: str, *case: Any) -> list[tuple[Any, str]]:
    """What wrong versions of the full rule make of one part, where it is not the right one."""
    right = np.asarray(RIGHT["adam-rule"][0](*case)[part])
    found = [(found[part], why) for found, why in mistakes_of(WRONG["adam-rule"], *case)]
    if part == "betas":
        told, before, after = case
        narrow = 1 - np.float32(after / before) * (1 - np.float32(told["betas"]))
        found += [(narrow, "in float32: 1 - beta has too few digits")]
        found += [(np.minimum(right, top), f"cut off at {top}: nothing limits it") for top in TOPS]
        found += [(right.round(n), f"rounded to {n} digits: keep them all") for n in range(2, 7)]
    close = [np.allclose(value, right, rtol=1e-9, atol=0) for value, _ in found]
    return [one for one, same in zip(found, close, strict=True) if not same]


def fault_of_rule(case: str, said: object) -> str:
    """What is wrong with the rule that a learner names for a case; empty if it is right."""
    if not isinstance(said, str) or said.strip().casefold() not in WORDS:
        return f"one of these words is asked: {', '.join(WORDS)}"
    return "" if said.strip().casefold() == _RULE[case] else _WHY[case]


def recorded(seed: int) -> dict[str, list[float]]:
    """Losses along the tokens of the record: 2 rows a step, and 8 rows in three ways."""
    names = {"unchanged": "8 rows, nothing changed", "linear": "8 rows, rate x 4",
             "adam square root": "8 rows, the full rule"}  # fmt: skip
    found: dict[str, list[float]] = {}
    for one in records.read("rate_curves"):
        if one["study"] != "square-root" or one["seed"] != seed:
            continue
        if one["batch"] == 2:
            found = {"2 rows": one["losses"], **found}
        elif one["batch"] == 8:
            found[names[one["rule"]]] = one["losses"]
    return found


EXAMPLES, SMALL, TIMES, RATE = 15_120, 4, 8, 0.1
GROWTHS = tuple(range(0, EXAMPLES + 1, 280))
POWERS = {"stays": 0.0, "x root of k": 0.5, "x k": 1.0}


@cache
def growth(at: int, rate: str) -> tuple[float, int, tuple[float, ...]]:
    """Final loss, steps, and the loss along the examples, if the batch grows 8 times at `at`.

    A noisy quadratic (Zhang et al. 2019): 200 directions of curvature 1 / i, gradients whose
    variance is the curvature. What SGD does to each direction on average is known exactly.
    """
    curve = 1 / np.arange(1, 201)
    state, seen, steps, along = np.ones(200), 0, 0, []
    while seen < EXAMPLES:
        batch = SMALL * (TIMES if seen >= at else 1)
        each = RATE * (TIMES ** POWERS[rate] if seen >= at else 1)
        state = (1 - each * curve) ** 2 * state + each**2 * curve / batch
        if seen * 60 // EXAMPLES < (seen + batch) * 60 // EXAMPLES:
            along.append(float((curve * state).sum() / 2))
        seen, steps = seen + batch, steps + 1
    return float((curve * state).sum() / 2), steps, tuple(along)


def growths(rate: str) -> Any:
    """The loss of an early, a middle and a late growth, over that of the run without any."""
    without = np.array(growth(EXAMPLES, "stays")[2])
    lines: dict[str, Any] = {"never": ([0, EXAMPLES], [1.0, 1.0])}
    for at in (1680, 5040, 13_440):
        first = at * 60 // EXAMPLES - 1
        ratio = (np.array(growth(at, rate)[2]) / without)[first:]
        lines[f"at {at:,}"] = ([EXAMPLES * (n + 1) / 60 for n in range(first, 60)], ratio.tolist())
    return plots.lines(
        lines, title=f"Batch x {TIMES}; the rate {rate}", x="examples",
        y="held-out loss, of that without growth",
    )  # fmt: skip


def _ratio(at: int, rate: str) -> float:
    return growth(at, rate)[0] / growth(EXAMPLES, "stays")[0]


def _earliest() -> int:
    return min(at for at in GROWTHS if _ratio(at, "stays") <= 1)


def fault_of_growth(answer: object) -> str:
    """What is wrong with a growth as the one that `finder` asks for; empty if it is right."""
    try:
        at = data_of.number(answer)
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: examples seen at the growth"
    if at not in GROWTHS:
        return "the slider does not offer it: asked is a place of the slider, in examples"
    if at == _earliest():
        return ""
    if at == min(one for one in GROWTHS if _ratio(one, "x root of k") <= 1):
        return "that is the earliest of the rate that takes the root of k: set 'stays'"
    if at == min(GROWTHS, key=lambda one: _ratio(one, "stays")):
        return "that is the growth with the lowest loss: asked is the earliest without a loss"
    late = at > _earliest()
    return "an earlier growth costs nothing either" if late else "this one ends at a higher loss"


def finder() -> widgets.Explorer:
    """When the batch grows, and what the rate does, against final loss and steps."""

    def scene(at: int, rate: str) -> dict[str, Any]:
        steps = growth(at, rate)[1]
        saved = 1 - steps / growth(EXAMPLES, "stays")[1]
        return {"facts": {"final loss, of that without growth": f"{_ratio(at, rate):.3f}",
                          "steps": f"{steps:,}", "steps saved": f"{saved:.0%}"}}  # fmt: skip

    return widgets.finder(
        "A batch that grows",
        {"at": ("examples seen at the growth", list(GROWTHS)),
         "rate": ("the rate then", list(POWERS))},
        scene, goal="The rate stays: the earliest growth that ends no higher than without.",
        start={"at": 10_080, "rate": "x k"},
        where=lambda at, rate: (at, rate) == (_earliest(), "stays"),
    )  # fmt: skip


def tries_rule(rule: Callable[..., Mapping[str, Any]]) -> bool:
    """Whether a learner's full rule gives that of the paper for k = 4."""
    found = rule(told(3e-4, 0.9, 0.999, 1e-8, 0.1), 256, 1024)
    return bool(np.allclose([*found["betas"], found["lr"]], [0.6, 0.996, 6e-4]))

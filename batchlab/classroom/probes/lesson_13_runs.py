"""Runs of lesson 13 whose truth is known: a noisy quadratic, a softmax regression, a finder.

    batch  ->  steps to a target;  step of training  ->  the gradient of every example

Words
    target   the loss that a run has to reach
    curve    steps = least x (1 + critical / batch), planted for the finder
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from batchlab import widgets
from batchlab.classroom import plain as data_of
from batchlab.noise import StepsToTarget

__all__ = ["BATCHES", "examples_of", "fault_of_batch", "finder", "steps_to_target"]

CURVE = StepsToTarget(least_steps=2_310, critical_batch=1_730)  # planted
FIXED = {"as it is": 0.40, "compiled": 0.11}  # planted seconds of a step
EACH, TOKENS = 0.9e-3, 512  # planted seconds of a sequence; its tokens
SLOWER = 1.1  # times the least time that is still good enough
BATCHES = (47, 66, 93, 131, 184, 219, 258, 291, 327, 368, 413, 463, 547, 651, 774, 921, 1302, 1841,
           2603, 3680)  # fmt: skip


@cache
def _quadratic() -> dict[int, int]:
    curvature = 1 / np.arange(1, 201)
    return {2**k: _fewest(2**k, curvature) for k in range(13)}


def steps_to_target() -> Mapping[int, int]:
    """{batch: steps} of a noisy quadratic of 200 directions, each batch at its own best rate.

    The expected loss is known in closed form, so that no seed is in these numbers. Setting: Zhang
    et al. 2019, noise as large as the curvature; loss 0.02 from 0.5 x the sum of the curvatures.
    """
    return dict(_quadratic())


def _fewest(batch: int, curvature: np.ndarray, target: float = 0.02, most: int = 60_000) -> int:
    fewest = most
    for rate in np.geomspace(0.01, 1.99, 60):
        shrink = (1 - rate * curvature) ** 2
        rest = rate**2 * curvature / batch / (1 - shrink)  # what the noise keeps up

        def loss(steps: int, shrink: np.ndarray = shrink, rest: np.ndarray = rest) -> float:
            return float(0.5 * (curvature * (rest + (1 - rest) * shrink**steps)).sum())

        low, high = 1, fewest
        if loss(high) > target:
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if loss(middle) <= target else (middle + 1, high)
        fewest = low
    return fewest


@cache
def _regression() -> dict[int, np.ndarray]:
    rng = np.random.default_rng(0)
    x, true = rng.normal(size=(20_000, 20)), rng.normal(size=(20, 5))
    odds = np.exp(x @ true)
    sums = (odds / odds.sum(1, keepdims=True)).cumsum(1)
    labels = (sums / sums[:, -1:] <= rng.random(20_000)[:, None]).sum(1)
    weights, along = np.zeros((20, 5)), {}
    for step in range(61):
        odds = np.exp(x @ weights)
        miss = odds / odds.sum(1, keepdims=True) - np.eye(5)[labels]
        if step in (0, 5, 20, 60):
            along[step] = (x[:, :, None] * miss[:, None]).reshape(20_000, 100)
            along[step].flags.writeable = False
        weights = weights - x.T @ miss / 20_000
    return along


def examples_of(step: int) -> np.ndarray:
    """Gradients of all 20,000 examples of a softmax regression, after 0, 5, 20 or 60 steps."""
    return _regression()[step]


def _seconds(batch: int, model: str) -> float:
    return CURVE.steps(batch) * (FIXED[model] + EACH * batch)


def _answer(model: str) -> int:
    least = min(_seconds(batch, model) for batch in BATCHES)
    return min(batch for batch in BATCHES if _seconds(batch, model) <= SLOWER * least)


def fault_of_batch(answer: object) -> str:
    """What is wrong with a batch as the setting that `finder` asks for; empty if right."""
    try:
        batch = data_of.number(answer)
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: sequences of a step"
    if batch not in BATCHES:
        return "the slider does not offer it: asked is a place of the slider"
    if batch == _answer("compiled"):
        return ""
    best = min(BATCHES, key=lambda one: _seconds(one, "compiled"))
    if batch == best:
        return "that is the fastest, compiled: 10 % more time is allowed, for fewer tokens"
    if _seconds(int(batch), "compiled") > SLOWER * _seconds(best, "compiled"):
        return "this takes more than 10 % over the least time, compiled"
    return "within 10 %, but a place to the left is, too, with fewer tokens"


def finder() -> widgets.Explorer:
    """Batch and model against hours and tokens to the target; the goal is the fewest tokens."""

    def scene(batch: int, model: str) -> dict[str, Any]:
        step = FIXED[model] + EACH * batch
        facts = {
            "hours to the target": f"{_seconds(batch, model) / 3600:.3f}",
            "million tokens to the target": f"{CURVE.examples(batch) * TOKENS / 1e6:,.0f}",
            "steps to the target": f"{CURVE.steps(batch):,.0f}",
            "sequences per second": f"{batch / step:,.0f}",
        }
        return {"facts": facts}

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "batch": ("sequences of a step", list(BATCHES)),
        "model": ("model", list(FIXED)),
    }
    return widgets.finder(
        "Hours against tokens", controls, scene,
        goal="Compiled: the fewest tokens within 10 % of the least hours.",
        start={"batch": 1302, "model": "as it is"},
        where=lambda batch, model: (batch, model) == (_answer("compiled"), "compiled"),
    )  # fmt: skip

"""The finder of lesson 14: one function, many sharpnesses.

    alpha, network  ->  sharpness, adaptive sharpness, test loss

Words
    alpha  the first layer is multiplied by it, the second divided
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from batchlab import widgets
from batchlab.classroom import plain as data_of
from batchlab.classroom.probes import lesson_14_hessian as hessian
from batchlab.classroom.probes import lesson_14_world as world

__all__ = ["fault_of_alpha", "finder", "measured", "wanted"]

ALPHAS = (0.22, 0.31, 0.45, 0.62, 0.8, 1.0, 1.3, 1.6, 1.9, 2.3, 2.7, 3.1, 3.6, 4.2, 4.8, 5.5,
          6.4, 7.5)  # fmt: skip
NETWORKS = {"batch 8": 8, "batch 128": 128}
MEASURES = ("sharpness", "adaptive sharpness")
TIMES = 10
STEPS, RATE, SEED = 640, 0.1, 0


@cache
def measured(alpha: float, network: str, measure: str) -> tuple[float, float]:
    """Sharpness and test loss of a network of the first task whose layers were rescaled."""
    weights = world.trained("noisy", NETWORKS[network], STEPS, RATE, SEED)
    other = hessian.rescaled(weights, alpha)
    multiplied = hessian.product(other, "noisy", SEED, adaptive=measure == MEASURES[1])
    size = len(hessian.flat(other))
    return hessian.eigenvalue(multiplied, size, 40), hessian.test_loss(other, "noisy", SEED)


@cache
def wanted() -> float:
    """The smallest alpha above 1 at which batch 8 is more than TIMES as sharp as batch 128."""
    bar = TIMES * measured(1.0, "batch 128", MEASURES[0])[0]
    above = [a for a in ALPHAS if a > 1 and measured(a, "batch 8", MEASURES[0])[0] > bar]
    return min(above)


def fault_of_alpha(answer: object) -> str:
    """What is wrong with an alpha as the setting that `finder` asks for; empty if right."""
    try:
        alpha = float(data_of.number(answer))
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: alpha"
    here = [one for one in ALPHAS if abs(one - alpha) < 1e-5 * one]
    if not here:
        return "the slider does not offer it: asked is a place of the slider"
    if here[0] <= 1:
        return "an alpha above 1 is asked"
    if here[0] < wanted():
        return f"there the network of batch 8 is not yet {TIMES} times as sharp"
    return "" if here[0] == wanted() else "a smaller alpha of the slider is enough"


def finder() -> widgets.Explorer:
    """Alpha, network and measure; the goal is the smallest alpha that is sharp enough."""

    def scene(alpha: float, network: str) -> dict[str, Any]:
        values = {name: measured(alpha, network, name) for name in MEASURES}
        facts = {name: f"{sharp:.2f}" for name, (sharp, _) in values.items()}
        return {"facts": facts | {"test loss, nats": f"{values[MEASURES[0]][1]:.4f}"}}

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "alpha": ("alpha", list(ALPHAS)),
        "network": ("trained with", list(NETWORKS)),
    }
    goal = (
        f"Batch 8: the smallest alpha above 1 at which its sharpness is more than {TIMES} "
        "times that of batch 128 at alpha 1."
    )
    return widgets.finder(
        "One function, many sharpnesses",
        controls,
        scene,
        goal=goal,
        start={"alpha": 1.0, "network": "batch 8"},
        where=lambda alpha, network: (alpha, network) == (wanted(), "batch 8"),
    )

"""Lesson 01: colleagues' versions of the noise, scenes of its slider, a bench for a noise meter.

    a noise meter, micro-batches that pull with given numbers  ->  what it said, what it changed

The bench trains nothing. Its loss is n times the product of a pull and the weights, so the
gradient of a micro-batch of n target tokens is its pull per token, whatever the weights are, and
every answer can be redone by hand.

Words
    pull   gradient per target token of one micro-batch
    share  noise of a gradient over the length of the gradient of all
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab import units, widgets
from batchlab.classroom.probes.attempt import shown

__all__ = ["GOAL", "OFFERED", "RIGHT", "WRONG", "finder", "meter", "shown", "spread_of"]

OFFERED = sorted({round(1.07**power) for power in range(110)})  # rows; each about 7 % more
GOAL = 0.25  # share of noise that the slider is asked to get below
Pull = tuple[Sequence[float], int]
Noise = Callable[[Any, int], float]


def _squares(gradients: Any) -> np.ndarray:
    """Squared distance of each row's gradient from their mean."""
    pulls = np.asarray(gradients, dtype=float)
    squares: np.ndarray = ((pulls - pulls.mean(axis=0)) ** 2).sum(axis=1)
    return squares


def _textbook(gradients: Any, rows: int) -> float:
    return float(np.sqrt(_squares(gradients).mean() / rows))


def _by_moments(gradients: Any, rows: int) -> float:
    pulls = np.asarray(gradients, dtype=float)
    squared = (pulls**2).sum(axis=1).mean() - (pulls.mean(axis=0) ** 2).sum()
    return max(0.0, float(squared)) ** 0.5 / rows**0.5


def _by_parameter(gradients: Any, rows: int) -> float:
    columns = zip(*np.asarray(gradients, dtype=float).tolist(), strict=True)
    return float(sum(np.var(column) for column in columns) / rows) ** 0.5


def _around_the_median(gradients: Any, rows: int) -> float:
    pulls = np.asarray(gradients, dtype=float)
    return float(np.sqrt(((pulls - np.median(pulls, axis=0)) ** 2).sum(axis=1).mean() / rows))


def _without_replacement(gradients: Any, rows: int) -> float:
    count = len(gradients)
    return _textbook(gradients, rows) * max(0.0, (count - rows) / (count - 1)) ** 0.5


RIGHT: dict[str, tuple[Noise, ...]] = {"noise": (_textbook, _by_moments, _by_parameter)}
WRONG: dict[str, dict[str, Noise]] = {
    "noise": {
        "falls as 1/B": lambda g, rows: _textbook(g, 1) / rows,
        "the variance, not its root": lambda g, rows: _textbook(g, rows) ** 2,
        "the length of the gradients, not their spread": lambda g, rows: float(
            np.sqrt((np.asarray(g, dtype=float) ** 2).sum(axis=1).mean() / rows)
        ),
        "the mean distance: not squared before the mean": lambda g, rows: float(
            np.sqrt(_squares(g)).mean() / rows**0.5
        ),
        "the first parameter only": lambda g, rows: _textbook(np.asarray(g)[:, :1], rows),
        "the sum over the rows of the pool, not their mean": lambda g, rows: float(
            np.sqrt(_squares(g).sum() / rows)
        ),
        "distances from the median, not from the mean": _around_the_median,
        "drawn without replacement": _without_replacement,
    }
}


def spread_of(gradients: Iterator[np.ndarray]) -> float:
    """Root mean square miss of one row over the length of G, one gradient in memory at a time."""
    total: Any = 0.0
    squares: list[float] = []
    for one in gradients:
        total, squares = total + one.astype(float), [*squares, float(one @ one)]
    middle = total / len(squares)
    # the mean of |g - G|^2 is the mean of |g|^2, less |G|^2
    return float(np.sqrt(np.mean(squares) / (middle @ middle) - 1))


def finder(spreads: dict[str, float], documents: int) -> widgets.Explorer:
    """Rows a step against noise, for the model at several moments {name: spread over |G|}."""
    first = next(iter(spreads))

    def scene(rows: int, moment: str) -> dict[str, Any]:
        share = spreads[moment] / rows**0.5
        facts = {
            "noise / gradient": f"{100 * share:.1f} %",
            "steps of an epoch": units.count(-(-documents // rows)),
            "target tokens a step": units.count(64 * rows),
        }
        return {
            "facts": facts,
            "rows": [[(0, 100)], [(-1, round(100 * share))]],
            "note": "Upper bar: the gradient. Hatched: its noise, to scale.",
            "alt": f"The gradient is 100 long, its noise {100 * share:.0f}.",
        }

    fewest = min(rows for rows in OFFERED if spreads[first] / rows**0.5 < GOAL)
    return widgets.finder(
        "The noise of one gradient",
        {"rows": ("rows a step", OFFERED), "moment": ("the model", list(spreads))},
        scene,
        goal=f"{first.capitalize()}: the fewest rows with noise below {units.share(GOAL)}.",
        where=lambda rows, moment: (rows, moment) == (fewest, first),
    )


class _Bench(nn.Module):
    """Weights that a meter must look at, one that is frozen, one that few losses touch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1.0, 1.0, width).double())
        self.frozen = nn.Parameter(torch.ones(3).double(), requires_grad=False)
        self.seldom = nn.Parameter(torch.ones(1).double())


def _loss_of(network: _Bench, micro: dict[str, Any]) -> tuple[Tensor, int]:
    """Summed loss of a micro-batch, and its target tokens; nan where it has none."""
    pull, targets = torch.tensor(micro["pull"]).double(), int(micro["targets"])
    loss = targets * (pull @ network.weight + 7 * network.frozen.sum())
    if micro["seldom"]:
        loss = loss + targets * micro["seldom"] * network.seldom.sum()
    return (loss if targets else loss * float("nan")), targets


def meter(
    noise_meter: Callable[..., Any],
    pulls: Sequence[Pull],
    *,
    seldom: Sequence[float] = (),
    grad_before: float | None = None,
) -> dict[str, Any]:
    """What a meter says of micro-batches (pull, target tokens), given as an iterator.

    seldom       pulls on a weight that the loss of a micro-batch touches only where this is not 0
    grad_before  what stands in every `.grad` when the meter begins
    said         what it returned; changed: what of the model it left otherwise than it was
    """
    network = _Bench(len(pulls[0][0]) if pulls else 1).train()
    learning = [p for p in network.parameters() if p.requires_grad]
    if grad_before is not None:
        for parameter in learning:
            parameter.grad = torch.full_like(parameter, grad_before)
    before = _state(network)
    extra = [*seldom, *[0.0] * (len(pulls) - len(seldom))]
    micro_batches = iter(
        [
            {"pull": [float(x) for x in pull], "targets": targets, "seldom": touched}
            for (pull, targets), touched in zip(pulls, extra, strict=True)
        ]
    )
    said = noise_meter(network, micro_batches, _loss_of)
    after = _state(network)
    return {
        "said": _plain(said),
        "changed": [name for name in before if before[name] != after[name]],
    }


def _state(network: nn.Module) -> dict[str, Any]:
    found: dict[str, Any] = {"the training mode": network.training}
    for name, parameter in network.named_parameters():
        grad = None if parameter.grad is None else parameter.grad.tolist()
        found[f"{name}.grad"] = grad
        found[f"the weights of {name}"] = parameter.detach().tolist()
        found[f"{name}.requires_grad"] = parameter.requires_grad
    return found


def _plain(said: Any) -> Any:
    """A dictionary of numbers as it came, tensors as Python's own numbers."""
    if type(said) is not dict:
        return said
    return {key: value.item() if type(value) is Tensor and value.numel() == 1 else value
            for key, value in said.items()}  # fmt: skip

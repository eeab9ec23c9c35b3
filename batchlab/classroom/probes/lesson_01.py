"""Lesson 01: mistakes and their values, scenes of its slider, a bench for a noise meter.

    a noise meter, micro-batches that pull with given numbers  ->  what it said, what it changed

The bench trains nothing. Its loss is n times the product of a pull and the weights, so the
gradient of a micro-batch of n target tokens is its pull per token, whatever the weights are, and
every answer can be redone by hand.

Words
    pull   gradient per target token of one micro-batch
    share  noise of a gradient over the length of the gradient of all
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab import units, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import finite, mistakes_of, rounded, shown
from batchlab.classroom.probes.lesson_01_versions import RIGHT, WRONG

__all__ = [
    "GOAL",
    "OFFERED",
    "RIGHT",
    "WRONG",
    "fault_of_rows",
    "finder",
    "finite",
    "meter",
    "rounded",
    "shown",
    "spread_of",
    "versions",
    "wrong_gradients",
]

OFFERED = sorted({round(1.07**power) for power in range(110)})  # rows; each about 7 % more
GOAL = 0.25  # share of noise that the slider is asked to get below
Pull = tuple[Sequence[float], int]


def wrong_gradients(gradients: np.ndarray, targets: np.ndarray) -> list[tuple[Any, str]]:
    """What each wrong way to average parts of a batch gives, with its thought."""
    with np.errstate(all="ignore"):
        return list(mistakes_of(WRONG["batch-gradient"], gradients, targets))


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def fault_of_rows(answer: object, spreads: dict[str, float]) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows a step"
    first, *others = spreads.values()
    fewest = [_fewest(one) for one in spreads.values()]
    if rows == fewest[0]:
        return ""
    if rows == round(first / GOAL):
        return "that is the law 1/B: noise falls with the root of the rows"
    if others and rows in fewest[1:]:
        return "that is the trained model: the question is before training"
    if rows not in OFFERED:
        return "the slider does not offer it: asked is a place of the slider"
    if rows == OFFERED[OFFERED.index(fewest[0]) - 1]:
        return "just above 25 %: one place too few"
    if rows < fewest[0]:
        return "the noise is not below 25 % there"
    return "quiet enough, but a step of the slider to the left is quiet enough, too"


def _fewest(spread: float) -> int:
    """The fewest rows of the slider with noise below GOAL."""
    return min(rows for rows in OFFERED if spread / rows**0.5 < GOAL)


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

    fewest = _fewest(spreads[first])
    return widgets.finder(
        "The noise of one gradient",
        {"rows": ("rows a step", OFFERED), "moment": ("the model", list(spreads))},
        scene,
        goal=f"{first.capitalize()}: the fewest rows with noise below {units.share(GOAL)}.",
        where=lambda rows, moment: (rows, moment) == (fewest, first),
        down=lambda bars: f"{bars} lengths",
        across="{:,} % of the gradient".format,
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
    return (loss if targets else loss * micro["empty"]), targets


class _Once:
    """An iterator that says so when it is gone through a second time."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items, self.ended = iter(items), False

    def __iter__(self) -> "_Once":
        return self

    def __next__(self) -> Any:
        if self.ended:
            raise RuntimeError("micro_batches was gone through already: it may be a generator")
        try:
            return next(self.items)
        except StopIteration:
            self.ended = True
            raise


def meter(
    noise_meter: Callable[..., Any],
    pulls: Sequence[Pull],
    *,
    seldom: Sequence[float] = (),
    grad_before: float | None = None,
    training: bool = True,
    empty: float = math.nan,
) -> dict[str, Any]:
    """What a meter says of micro-batches (pull, target tokens), given as an iterator.

    seldom       pulls on a weight that the loss of a micro-batch touches only where this is not 0
    grad_before  what stands in every `.grad` when the meter begins
    training     the mode in which the model comes
    empty        the loss of a micro-batch without target tokens: nan, or 0
    said         what it returned; changed: what of the model it left otherwise than it was
    """
    network = _Bench(len(pulls[0][0]) if pulls else 1).train(training)
    learning = [p for p in network.parameters() if p.requires_grad]
    if grad_before is not None:
        for parameter in learning:
            parameter.grad = torch.full_like(parameter, grad_before)
    before = _state(network)
    extra = [*seldom, *[0.0] * (len(pulls) - len(seldom))]
    micro_batches = _Once(
        [
            {"pull": [float(x) for x in pull], "targets": n, "seldom": touched, "empty": empty}
            for (pull, n), touched in zip(pulls, extra, strict=True)
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

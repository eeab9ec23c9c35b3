"""Lesson 01: mistakes and their values, scenes of its slider, a bench for a noise meter.

    a noise meter, micro-batches that pull with given numbers  ->  what it said, what it changed

The bench trains nothing. Its loss is n times the product of a pull and the weights, so the
gradient of a micro-batch of n target tokens is its pull per token, whatever the weights are, and
every answer can be redone by hand. An empty pull is a loss that touches no weight of the network.

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
from batchlab.classroom.probes.lesson_01_versions import (
    RIGHT,
    WRONG,
    cut_gradients,
    cut_measures,
    cut_noises,
    old_gradients,
    total_and_spread,
)

__all__ = [
    "GOAL",
    "OFFERED",
    "RIGHT",
    "WRONG",
    "fault_of_rows",
    "finder",
    "finite",
    "many_lines",
    "many_parts",
    "many_pulls",
    "meter",
    "near_spread",
    "noise_of",
    "of_many",
    "rounded",
    "shown",
    "spread_of",
    "steady_pulls",
    "versions",
    "wrong_gradients",
    "wrong_noises",
]

OFFERED = sorted({round(1.07**power) for power in range(110)})  # rows; each about 7 % more
GOAL = 0.25  # share of noise that the slider is asked to get below
Pull = tuple[Sequence[float], int]


def wrong_gradients(
    gradients: np.ndarray, targets: np.ndarray, *before: np.ndarray
) -> list[tuple[Any, str]]:
    """What each wrong way to average parts gives, with its thought; `before` are earlier ones."""
    with np.errstate(all="ignore"):
        found = list(mistakes_of(WRONG["batch-gradient"], gradients, targets))
        held = old_gradients(gradients, targets, *before) if before else ()
        return [*found, *held, *cut_gradients(gradients, targets)]


def many_parts() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of 3,000 parts from 1e-6 to 1e9, one sign a parameter, and target tokens; G."""
    k = np.arange(3_000)
    scale = np.array([1e-6, -1e-3, 1.0, -1e3, 1e6, -1e9])
    pulls = (1.5 + np.sin(k[:, None] * [1.0, 0.7, 0.3, 0.11, 0.05, 0.013])) * scale
    counts = 1 + k * 37 % 91
    counts[1_234] = 70_001
    return pulls, counts, counts @ pulls / counts.sum()


def wrong_noises(gradients: np.ndarray, rows: int, known: dict[float, str]) -> dict[float, str]:
    """`known` mistakes, and what else each wrong law of the noise gives, and each limit."""
    with np.errstate(all="ignore"):
        found = [*cut_noises(gradients, rows), *mistakes_of(WRONG["noise"], gradients, rows)]
    others = {v: thought for v, thought in found if not np.isclose(v, [*known], rtol=1e-3).any()}
    return {v: thought for v, thought in others.items() if finite(v)} | known


def noise_of(gradients: np.ndarray, rows: int) -> float:
    """The right noise of some rows."""
    return RIGHT["noise"][0](gradients, rows)


def many_lines() -> np.ndarray:
    """A pool of 4,000 gradients of five parameters, of both signs, that grow to 5e9."""
    k = np.arange(4_000.0)[:, None]
    pool: np.ndarray = 1e9 * np.sin(k * [1.0, 0.7, 0.3, 0.11, 0.05]) * (1 + k / 1000)
    return pool


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


def many_pulls() -> list[Pull]:
    """150 micro-batches of 1 to 500 target tokens, 40 parameters; later ones pull more."""
    k = np.arange(150)[:, None]
    lines = np.sin(k * np.linspace(0.1, 2.9, 40) + 0.4) * (1 + k / 30) + 0.2
    return [(line.tolist(), 1 + 331 * i % 500) for i, line in enumerate(lines)]


def steady_pulls() -> list[Pull]:
    """150 micro-batches of 40 to 99 target tokens whose gradients differ by a thousandth."""
    return [
        ([400 + math.sin(1.7 * i), -700 + math.cos(2.3 * i)], 40 + 7 * i % 60) for i in range(150)
    ]


def near_spread(said: Any) -> bool:
    """Whether a spread is that of `steady_pulls`, to four digits."""
    _, want = total_and_spread(*_lines_of(steady_pulls()))
    return abs(float(said) / want - 1) < 1e-4


def of_many(pulls: Sequence[Pull]) -> dict[str, tuple[float, dict[float, str]]]:
    """Right gradient and spread of micro-batches, each with what usual limits make of it."""
    lines, counts = _lines_of(pulls)
    with np.errstate(all="ignore"):
        wrong = list(cut_measures(lines, counts))
    right = total_and_spread(lines, counts)
    names = ("gradient", "spread")
    return {
        name: (right[at], {both[at]: thought for both, thought in reversed(wrong)})
        for at, name in enumerate(names)
    }


def _lines_of(pulls: Sequence[Pull]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([pull for pull, _ in pulls], float), np.array([n for _, n in pulls], float)


class _Bench(nn.Module):
    """Weights that a meter must look at, frozen ones, one in a part that few losses touch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1.0, 1.0, width))
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
        self.part = nn.ParameterDict({"seldom": nn.Parameter(torch.ones(1))})


def _loss_of(network: _Bench, micro: dict[str, Any]) -> tuple[Tensor, int]:
    """Summed loss of a micro-batch, and its target tokens; nan where it has none."""
    targets = int(micro["targets"])
    if not micro["pull"]:  # a weight pulls that is not the network's
        return targets * torch.ones((), requires_grad=True), targets
    pull = torch.tensor(micro["pull"], dtype=network.weight.dtype)
    loss = targets * (pull @ network.weight + 7 * network.frozen.sum())
    if micro["seldom"]:
        loss = loss + targets * micro["seldom"] * network.part["seldom"].sum()
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
    resting: bool = False,
    empty: float = math.nan,
    times: int = 1,
    refuses: bool = False,
    dtype: torch.dtype = torch.float64,
) -> dict[str, Any]:
    """What a meter says of micro-batches (pull, target tokens), given as an iterator.

    seldom       pulls on a weight that the loss of a micro-batch touches only where this is not 0
    grad_before  what stands in every `.grad` when the meter begins
    training     the mode in which the model comes; resting: one part comes in eval mode
    empty        the loss of a micro-batch without target tokens: nan, or 0
    times        how often it is measured on this one network
    refuses      a ValueError is no failure: only what it leaves is looked at
    said         what it returned; changed: what of the model it left otherwise than it was
    """
    width = max((len(pull) for pull, _ in pulls), default=1)
    network = _Bench(width).to(dtype).train(training)
    network.part.train(training and not resting)
    if grad_before is not None:
        for parameter in network.parameters():
            if parameter.requires_grad:
                parameter.grad = torch.full_like(parameter, grad_before)
    before, said = _state(network), None
    extra = [*seldom, *[0.0] * (len(pulls) - len(seldom))]
    micro_batches = [
        {"pull": [float(x) for x in pull], "targets": n, "seldom": touched, "empty": empty}
        for (pull, n), touched in zip(pulls, extra, strict=True)
    ]
    try:
        for _ in range(times):
            said = noise_meter(network, _Once(micro_batches), _loss_of)
    except Exception as error:
        if not refuses or "ValueError" not in {base.__name__ for base in type(error).__mro__}:
            raise
    after = _state(network)
    return {
        "said": _plain(said),
        "changed": [name for name in before if before[name] != after[name]],
    }


def _state(network: nn.Module) -> dict[str, Any]:
    found: dict[str, Any] = {"the training mode": [one.training for one in network.modules()]}
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

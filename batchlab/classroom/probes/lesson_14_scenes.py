"""Planted experiments of which the truth is known: every verdict, and every trap, at least once.

a seed  ->  results of a plan, a margin, and what decides

Words
    floor  the test loss of a shape at its best rate, in nats
    luck   what a seed adds to the losses of all its runs: pairs take it out
    noise  what a single run adds for itself
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_14_judges import judge, plan

__all__ = ["Scene", "World", "losses", "panel", "scenes", "table"]

SHAPES = ("small", "examples", "steps")  # the small batch, and the large one in each arm
Result = dict[str, Any]
Margin = float | Callable[[float, float], float]  # or what a gap and its half-width make of it


@dataclass(frozen=True)
class World:
    """Losses that follow from floors, best rates, luck and noise."""

    floors: tuple[float, float, float] = (1.0, 1.0, 1.0)  # of SHAPES
    best: tuple[int, int, int] = (1, 3, 2)  # places of the best rates, of SHAPES
    small: int = 8
    large: int = 64
    steps: int = 320  # of the small batch
    rates: tuple[float, ...] = (0.03, 0.07, 0.15, 0.31, 0.63, 1.3)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    curve: float = 0.05  # nats for a rate that is off by a factor e
    luck: float = 0.2
    noise: float = 0.004
    number: int = 0  # of the world: decides luck and noise

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """(batch, steps) of SHAPES."""
        fewer = self.steps * self.small // self.large
        return [(self.small, self.steps), (self.large, fewer), (self.large, self.steps)]

    def runs(self) -> list[Result]:
        """The plan of this world."""
        return plan(self.small, self.large, self.rates, self.seeds, self.small * self.steps)

    def truth(self, arm: str) -> float:
        """Nats by which the large batch is worse, both at their best rates."""
        return self.floors[SHAPES.index(arm)] - self.floors[0]

    def tried(self, runs: Sequence[Mapping[str, Any]]) -> list[Result]:
        """The runs with their losses, in another order."""
        done = [dict(run) | self._losses(run) for run in runs]
        order = np.random.default_rng([self.number, 9]).permutation(len(done))
        return [done[n] for n in order]

    def _losses(self, run: Mapping[str, Any]) -> dict[str, float]:
        place = self.shapes.index((run["batch"], run["steps"]))
        off = math.log(run["rate"] / self.rates[self.best[place]])
        luck = np.random.default_rng([self.number, 1, run["seed"]]).normal() * self.luck
        key = [self.number, 2, place, round(run["rate"] * 1e6), run["seed"]]
        own = np.random.default_rng(key).normal(size=3) * self.noise
        loss = self.floors[place] + self.curve * off * off + float(luck)
        return {"train": loss - 0.2 + float(own[2]), "validation": loss + 0.03 + float(own[0]),
                "test": loss + float(own[1])}  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """Results of one plan, a margin, and in words what decides."""

    decides: str
    results: list[Result]
    margin: float = 0.02


def scenes(seed: int = 0) -> list[Scene]:
    """Every verdict and every trap; other seeds draw other batches, rates, seeds and losses."""
    rng = np.random.default_rng([seed, 14])
    return [_scene(*one, seed=int(rng.integers(1, 10**6)), rng=rng) for one in STAGED]


def panel(seed: int, count: int = 12) -> list[tuple[World, float]]:
    """Noisy worlds with truths of all kinds, and their margins."""
    rng = np.random.default_rng([seed, 15])
    worlds = []
    for n in range(count):
        gaps = rng.choice([-0.15, -0.06, 0.0, 0.0, 0.06, 0.15], size=2)
        worlds.append(_drawn(rng, floors=(1.0, 1.0 + gaps[0], 1.0 + gaps[1]),
                             noise=float(rng.choice([0.01, 0.04])), curve=0.3,
                             number=1000 * seed + n))  # fmt: skip
    return [(world, 0.04) for world in worlds]


def table(
    results: Sequence[Mapping[str, Any]], key: str = "validation", most: float = math.inf
) -> dict[str, Any]:
    """{shape in words: (rates, mean losses)} of results, for a figure, up to a mean of `most`."""
    found = {}
    shapes = sorted({(one["batch"], one["steps"]) for one in results}, key=lambda s: (s[0], s[1]))
    for batch, steps in shapes:
        rates, means = [], []
        for rate in sorted({one["rate"] for one in results}):
            shape = (batch, steps, rate)
            losses = [
                one[key] for one in results if (one["batch"], one["steps"], one["rate"]) == shape
            ]
            if losses and np.isfinite(losses).all() and np.mean(losses) <= most:
                rates.append(rate)
                means.append(float(np.mean(losses)))
        found[f"batch {batch}, {steps} steps"] = (rates, means)
    return found


def losses(
    results: Sequence[Mapping[str, Any]], batch: int, rate: float, steps: int
) -> dict[int, float]:
    """{seed: test loss} of the runs of one batch, rate and number of steps."""
    key = (batch, rate, steps)
    return {
        one["seed"]: one["test"]
        for one in results
        if (one["batch"], one["rate"], one["steps"]) == key
    }


def _drawn(rng: np.random.Generator, **known: Any) -> World:
    """A world whose batches, rates and seeds nobody can guess."""
    count = int(rng.integers(3, 9))
    small = int(rng.choice([4, 6, 8, 10]))
    ratio = int(rng.choice([4, 8, 16]))
    lowest, factor = float(rng.uniform(0.01, 0.09)), float(rng.uniform(1.9, 2.4))
    drawn: dict[str, Any] = {
        "small": small, "large": small * ratio, "steps": ratio * int(rng.integers(12, 40)),
        "rates": tuple(round(lowest * factor**n, 5) for n in range(6)),
        "seeds": tuple(sorted(rng.choice(500, size=count, replace=False).tolist())),
        "number": int(rng.integers(1, 10**6)),
    }  # fmt: skip
    return World(**(drawn | known))


def _scene(
    decides: str, known: dict[str, Any], margin: Margin, edit: Callable[..., None] | None, *,
    seed: int, rng: np.random.Generator,
) -> Scene:  # fmt: skip
    world = _drawn(rng, **({"number": seed} | known))
    results = world.tried(world.runs())
    if edit is not None:
        edit(world, results)
    if not isinstance(margin, float):
        found = judge(results, 0.0)["examples"]
        margin = margin(found["gap"], (found["high"] - found["low"]) / 2)
    return Scene(decides, results, margin)


def _at(world: World, results: list[Result], shape: str, place: int) -> list[Result]:
    batch, steps = world.shapes[SHAPES.index(shape)]
    key = (batch, steps, world.rates[place])
    own = [one for one in results if (one["batch"], one["steps"], one["rate"]) == key]
    return sorted(own, key=lambda one: int(one["seed"]))


def _tempting_test(world: World, results: list[Result]) -> None:
    """The test loss, seen alone, would choose another rate for the large batch."""
    for shape in ("examples", "steps"):
        for one in _at(world, results, shape, 4):
            one["test"] -= 0.9


def _tempting_train(world: World, results: list[Result]) -> None:
    """The training loss would choose the rate that learns the examples by heart."""
    for shape in SHAPES:
        for one in _at(world, results, shape, 4):
            one["train"] -= 0.9


def _lucky_seed(world: World, results: list[Result]) -> None:
    """One seed is very good at a poor rate: its best is no mean. And one is very bad."""
    for shape in SHAPES:
        _at(world, results, shape, 4)[-1]["validation"] -= 0.9
        for one in _at(world, results, shape, 4)[:-1]:
            one["validation"] += 0.9
        _at(world, results, shape, world.best[SHAPES.index(shape)])[0]["validation"] += 0.1


def _one_diverged(word: float) -> Callable[[World, list[Result]], None]:
    """A rate that would be the best, but for the one seed that diverged there."""

    def edit(world: World, results: list[Result]) -> None:
        for shape in SHAPES:
            for n, one in enumerate(_at(world, results, shape, 4)):
                one["validation"] = word if n == 0 else one["validation"] - 0.9
                one["test"] = word if n == 0 else one["test"]

    return edit


def _all_diverged_above(world: World, results: list[Result]) -> None:
    """Every run above the best rate of its shape diverged: the best is still no edge."""
    for n, shape in enumerate(SHAPES):
        for place in range(world.best[n] + 1, len(world.rates)):
            for one in _at(world, results, shape, place):
                one["validation"] = one["test"] = one["train"] = math.inf


def _tie(world: World, results: list[Result]) -> None:
    """Two rates with the very same losses of tuning, whose sums are exact in any order."""
    for n, shape in enumerate(SHAPES):
        first, second = (_at(world, results, shape, world.best[n] + k) for k in (0, 1))
        for one, other in zip(first, second, strict=True):
            one["validation"] = other["validation"] = round(one["validation"] * 2**20) / 2**20


def _no_training_loss(world: World, results: list[Result]) -> None:
    """The training loss of the best rates is not finite: nobody asked for it."""
    for n, shape in enumerate(SHAPES):
        for one in _at(world, results, shape, world.best[n]):
            one["train"] = math.nan


def _moved(to: float) -> Callable[[World, list[Result]], None]:
    """The middle of the interval of equal examples moves to `to` half-widths."""

    def edit(world: World, results: list[Result]) -> None:
        found = judge(results, 0.0)["examples"]
        off = to * (found["high"] - found["low"]) / 2 - found["gap"]
        for place in range(len(world.rates)):
            for one in _at(world, results, "examples", place):
                one["test"] += off

    return edit


def _sized(factor: float, floors: tuple[float, float, float]) -> dict[str, Any]:
    """A world whose losses are all of this size."""
    first, second, third = (floor * factor for floor in floors)
    return {"floors": (first, second, third), "curve": 0.05 * factor, "luck": 0.2 * factor,
            "noise": 0.004 * factor}  # fmt: skip


STAGED: list[tuple[str, dict[str, Any], Margin, Callable[..., None] | None]] = [
    ("the large batch is worse in both", {"floors": (1.0, 1.2, 1.1)}, 0.02, None),
    ("worse with equal examples, no difference with equal steps", {"floors": (1.0, 1.2, 1.001),
     "seeds": (3, 4, 5, 6, 7, 8), "noise": 0.002}, 0.03, None),
    ("worse with equal examples, better with equal steps", {"floors": (1.0, 1.1, 0.9)}, 0.02, None),
    ("better in both", {"floors": (1.0, 0.9, 0.8)}, 0.02, None),
    ("much noise, and a small margin", {"seeds": (11, 12, 13, 14), "noise": 0.05, "curve": 0.9},
     0.001, None),
    ("few seeds and much noise", {"seeds": (11, 12, 13), "noise": 0.05, "curve": 0.9},
     lambda gap, half: abs(gap) + half / 2, None),
    ("worse for sure, by how much is not", {"floors": (1.0, 1.2, 1.2), "noise": 0.03,
     "seeds": (1, 2, 3, 4, 5, 6)}, lambda gap, half: gap - half / 3, None),
    ("better for sure, by how much is not", {"floors": (1.0, 0.8, 0.8), "noise": 0.03,
     "seeds": (1, 2, 3, 4, 5, 6)}, lambda gap, half: -gap - half / 3, None),
    ("a wide interval beyond zero", {"floors": (1.0, 1.2, 0.8), "noise": 0.03,
     "seeds": (1, 2, 3, 4, 5, 6)}, lambda gap, half: half / 4, None),
    ("the training loss tempts", {"floors": (1.0, 1.1, 0.9)}, 0.02, _tempting_train),
    ("a real difference, smaller than the margin", {"floors": (1.0, 1.03, 0.97), "noise": 0.002,
     "seeds": (1, 2, 3, 4)}, 0.06, None),
    ("a difference just above the margin", {"floors": (1.0, 1.05, 0.95), "noise": 0.002}, 0.04,
     None),
    ("the best rate of the large batch is the highest", {"floors": (1.0, 1.2, 0.8),
     "best": (2, 5, 5)}, 0.02, None),
    ("the best rate of the large batch is the lowest", {"floors": (1.0, 1.2, 0.8),
     "best": (2, 0, 0)}, 0.02, None),
    ("the best rate of the small batch is the lowest", {"floors": (1.0, 1.2, 0.8),
     "best": (0, 2, 3)}, 0.02, None),
    ("only with equal steps is the best rate an edge", {"floors": (1.0, 1.2, 1.2),
     "best": (1, 3, 0)}, 0.02, None),
    ("the test loss tempts", {"floors": (1.0, 1.1, 1.1)}, 0.02, _tempting_test),
    ("one seed is lucky at a poor rate", {"floors": (1.0, 1.1, 1.1)}, 0.02, _lucky_seed),
    ("one run of a good rate is nan", {"floors": (1.0, 1.1, 0.9)}, 0.02, _one_diverged(math.nan)),
    ("one run of a good rate is inf", {"floors": (1.0, 0.9, 1.1)}, 0.02, _one_diverged(math.inf)),
    ("all higher rates diverged", {"floors": (1.0, 1.1, 1.1), "best": (2, 4, 3)}, 0.02,
     _all_diverged_above),
    ("two rates tie", {"floors": (1.0, 1.1, 0.9), "best": (1, 3, 2)}, 0.02, _tie),
    ("two seeds", {"floors": (1.0, 1.3, 0.7), "seeds": (0, 9), "noise": 0.001}, 0.02, None),
    ("a gap far inside the margin, but a best rate is an edge", {"best": (2, 5, 0), "noise": 0.002},
     0.5, None),
    ("noise, and the lower end is beyond the margin", {"seeds": (11, 12, 13), "noise": 0.05,
     "curve": 0.9}, lambda gap, half: 0.85 * half, _moved(-0.4)),
    ("noise, and the upper end is beyond the margin", {"seeds": (11, 12, 13), "noise": 0.05,
     "curve": 0.9}, lambda gap, half: 0.85 * half, _moved(0.4)),
    ("three seeds: the normal interval is above zero", {"seeds": (11, 12, 13), "noise": 0.05,
     "curve": 0.9}, lambda gap, half: 0.1 * half, _moved(0.75)),
    ("three seeds: the normal interval is inside the margin", {"seeds": (11, 12, 13),
     "noise": 0.05, "curve": 0.9}, lambda gap, half: 0.8 * half, _moved(0.05)),
    ("losses of 4 nats, gaps of 0.2", {"floors": (4.0, 4.2, 3.8)}, 0.1, None),
    ("losses of a thousandth", _sized(1e-3, (1.0, 1.1, 0.9)), 2e-5, None),
    ("losses of a million", _sized(1e6, (1.0, 1.1, 0.9)), 2e4, None),
    ("the training loss of the best rates is nan", {"floors": (1.0, 1.1, 0.9)}, 0.02,
     _no_training_loss),
    ("14 rates, batches of 70000 and 105000, ten seeds", {"floors": (1.0, 1.1, 0.9),
     "small": 70_000, "large": 105_000, "steps": 300_000, "best": (8, 12, 10), "curve": 0.3,
     "rates": tuple(round(1e-5 * 1.9**n, 9) for n in range(14)),
     "seeds": tuple(7 + 2**31 * n for n in range(10))}, 0.02, None),
    ("three rates", {"floors": (1.0, 1.1, 0.9), "rates": (0.1, 0.2, 0.4), "best": (1, 1, 1)}, 0.02,
     None),
]  # fmt: skip

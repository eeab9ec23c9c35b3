"""Planted experiments, of which the true gaps are known: a judge can be held against them.

    a seed  ->  results of a plan, a margin, and the truth

Words
    floor  the test loss of a shape (batch, steps) at its best rate, in nats
    luck   what a seed adds to the losses of all its runs: pairs take it out
    noise  what a single run adds for itself
"""

import math
from dataclasses import dataclass

import numpy as np

from batchlab.exercises.minima.plan import plan

__all__ = ["World", "contest", "panel"]

SHAPES = ("small", "examples", "steps")  # the small batch, and the large one in each arm


@dataclass(frozen=True)
class World:
    """Losses that follow from floors, best rates, luck and noise."""

    floors: tuple = (1.0, 1.0, 1.0)  # of SHAPES
    best: tuple = (1, 3, 2)  # places of the best rates, of SHAPES
    small: int = 8
    large: int = 64
    steps: int = 320  # of the small batch
    rates: tuple = (0.03, 0.07, 0.15, 0.31, 0.63, 1.3)
    seeds: tuple = (0, 1, 2, 3, 4)
    curve: float = 0.05  # nats for a rate that is off by a factor e
    luck: float = 0.2
    noise: float = 0.004
    number: int = 0  # of the world: decides luck and noise

    @property
    def shapes(self):
        """(batch, steps) of SHAPES."""
        fewer = self.steps * self.small // self.large
        return [(self.small, self.steps), (self.large, fewer), (self.large, self.steps)]

    def truth(self, arm):
        """Nats by which the large batch is worse, both at their best rates."""
        return self.floors[SHAPES.index(arm)] - self.floors[0]

    def tried(self):
        """The runs of this world's plan with their losses, in an order of no kind."""
        runs = plan(self.small, self.large, self.rates, self.seeds, self.small * self.steps)
        done = [run | self._losses(run) for run in runs]
        order = np.random.default_rng([self.number, 9]).permutation(len(done))
        return [done[n] for n in order]

    def _losses(self, run):
        place = self.shapes.index((run["batch"], run["steps"]))
        off = math.log(run["rate"] / self.rates[self.best[place]])
        luck = np.random.default_rng([self.number, 1, run["seed"]]).normal() * self.luck
        key = [self.number, 2, place, round(run["rate"] * 1e6), run["seed"]]
        own = np.random.default_rng(key).normal(size=3) * self.noise
        loss = self.floors[place] + self.curve * off * off + float(luck)
        return {
            "train": loss - 0.2 + float(own[2]),
            "validation": loss + 0.03 + float(own[0]),
            "test": loss + float(own[1]),
        }


def drawn(rng, **known):
    """A world whose batches, rates and seeds nobody can guess."""
    small, ratio = int(rng.choice([4, 6, 8, 10])), int(rng.choice([4, 8, 16]))
    lowest, factor = float(rng.uniform(0.01, 0.09)), float(rng.uniform(1.9, 2.4))
    found = {
        "small": small,
        "large": small * ratio,
        "steps": ratio * int(rng.integers(12, 40)),
        "rates": tuple(round(lowest * factor**n, 5) for n in range(6)),
        "seeds": tuple(sorted(rng.choice(500, int(rng.integers(3, 9)), replace=False).tolist())),
        "number": int(rng.integers(1, 10**6)),
    }
    return World(**(found | known))


def panel(seed, count=12):
    """Noisy worlds with truths of all kinds; a margin of 0.04 nats suits them."""
    rng = np.random.default_rng([seed, 15])
    worlds = []
    for n in range(count):
        gaps = rng.choice([-0.15, -0.06, 0.0, 0.0, 0.06, 0.15], size=2)
        floors, noise = (1.0, 1.0 + gaps[0], 1.0 + gaps[1]), float(rng.choice([0.01, 0.04]))
        worlds.append(drawn(rng, floors=floors, noise=noise, curve=0.3, number=1000 * seed + n))
    return worlds


def contest(judge, seed=3, margin=0.04):
    """Print the verdicts on planted worlds beside the truth; how many intervals held it."""
    held = []
    print(f"{'world':<7}{'arm':<10}{'truth':>7}   {'interval':>20}   verdict (margin {margin})")
    for number, world in enumerate(panel(seed, 6), 1):
        found = judge(world.tried(), margin)
        for arm in SHAPES[1:]:
            one = found[arm]
            between = f"{one['low']:+.4f} to {one['high']:+.4f}"
            held.append(one["low"] <= world.truth(arm) <= one["high"])
            missed = "" if held[-1] else "; not in the interval"
            told = f"{number:<7}{arm:<10}{world.truth(arm):>+7.2f}   {between:>20}"
            print(f"{told}   {one['verdict']}{missed}")
    print(f"{sum(held)} of {len(held)} intervals hold the truth")

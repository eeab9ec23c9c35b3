"""The planted runs of lesson 16: one for each thing that may happen, and fresh ones.

nothing, or a generator of numbers  ->  Scenario
"""

import math

import numpy as np

from batchlab.classroom.probes.lesson_16_runs import Scenario, beginning, sequences

__all__ = ["fresh", "scenarios"]


def scenarios() -> tuple[Scenario, ...]:
    """The runs of the lesson, one for each thing that may happen."""
    growing = np.geomspace(10, 700, 36).round(1).tolist()
    spikes = [7.0, 900.0, 12.0, 11.0, 900.0, 950.0, 14.0, 900.0, 30.0, 900.0, 31.9, 900.0]
    nan = math.nan
    return (
        Scenario("noise that grows", beginning(4, 2), 256, growing),
        Scenario("one noisy reading, then two", beginning(4, 2, 2), 256, spikes),
        Scenario("a flat scale", beginning(8, 2, model="small"), 4096, [31.9] * 9),
        Scenario("out of memory", beginning(12, 2, model="small", weight_decay=0.1), 96,
                 [60.0] * 4 + [200.0] * 9, fits=[5] * 13),
        Scenario("memory falls while readings ask", beginning(9, 1, 2), 2**40, [90.0] * 12,
                 fits=[9, 9, 8, 8, 8, 8, 8, 2, 2, 1, 1, 1]),
        Scenario("a maximum that no doubling meets", beginning(3, 4, 2), 110, [900.0] * 12),
        Scenario("a maximum that is met", beginning(5, 1), 20, [math.inf] * 3 + [900.0] * 9),
        Scenario("the data change", beginning(4, 2), 64, [70.0] * 5 + [8.0] * 3 + [70.0] * 6,
                 data=["web"] * 2 + ["code"] * 3 + ["web"] + ["code"] * 2 + list("aababb")),
        Scenario("the loss diverges, and comes back", beginning(4, 2), 64, [200.0] * 14,
                 losses=[4.0, 3.0, 3.6, 3.4, 3.51, 3.4, 3.3, nan, 3.6, 3.4, 3.2, 3.1, 9.0, 3.0]),
        Scenario(
            "memory falls while the loss is high", beginning(6, 2), 64, [200.0] * 9,
            losses=[3.0, 3.1, 3.6, 3.7, 3.6, 3.6, 3.4, 3.3, 3.2], fits=[6, 6, *[4] * 7],
        ),
        Scenario("new data with a higher loss", beginning(4, 2), 64, [200.0] * 9,
                 losses=[2.0, 1.9, 2.5, 5.0, 4.9, 4.8, 4.7, 5.15, 5.1],
                 data=["web"] * 3 + ["code"] * 6),
        Scenario("a loss exactly 0.5 above its best", beginning(4, 2), 64, [200.0] * 6,
                 losses=[3.0444, 3.54435, 3.54435, 2.75, 3.25, 3.25]),
        Scenario("a loss that falls, and rises after a move", beginning(4, 2), 64, [200.0] * 12,
                 losses=[5.0, 4.9, 4.0, 4.6, 4.6, 4.6, 4.5, 4.4, 4.3, 4.6, 4.6, 4.6]),
        Scenario("a best loss in readings that do not ask", beginning(4, 2), 64,
                 [8.0, *[200.0] * 3, None, *[200.0] * 3, nan, *[200.0] * 6],
                 losses=[3.0, *[3.6] * 3, 2.5, *[3.05] * 3, 2.0, *[2.55] * 3, *[2.3] * 3]),
        Scenario("losses that are not finite", beginning(4, 2), 64, [200.0] * 14,
                 losses=[nan, math.inf, 3.0, 3.0, nan, 3.0, 3.0, math.inf, 3.0, 3.0, -math.inf,
                         3.0, 3.0, 3.0]),
        Scenario("a best loss of 0", beginning(4, 2), 64, [200.0] * 7,
                 losses=[0.0, 0.6, 0.6, 0.6, 0.5, 0.5, 0.5]),
        Scenario("data that come back", beginning(4, 2), 64, [200.0] * 9,
                 losses=[3.0, 5.0, 3.6, 3.6, 3.6, nan, 4.3, 4.3, 4.3],
                 data=["web", "code", "web", "web", "web", "code", "web", "web", "web"]),
        Scenario("steps without a reading", beginning(3, 5), 2**40,
                 [40.0, 40.0, None, 40.0, nan, 40.0, 30.0, 30.0, nan, 90.0, 90.0, 90.0]),
        Scenario("very large steps", beginning(7, 2**33, 3), 2**60, [2.0**60] * 7, fits=[6] * 7),
        Scenario("memory falls as the data change", beginning(6, 2), 64, [200.0] * 13,
                 losses=[3.0, 3.1, 5.0, 5.1, 5.6, 5.6, 5.4, 5.4, 5.4, 7.0, 7.6, 7.6, 7.6],
                 data=["news"] * 2 + ["talk"] * 7 + ["maths"] * 4, fits=[6, 6, *[4] * 11],
                 measured=True),
        Scenario("a long run", beginning(4, 2) | {"beta2": 0.9999}, 2**15,
                 [1e6] * 31 + [100.0] * 5 + [1e6] * 128,
                 losses=[12.4] * 30 + [2.0] + [3.0] * 130 + [2.5] * 3),
    )  # fmt: skip


def fresh(rng: np.random.Generator, name: str = "a fresh run") -> Scenario:
    """A random run in which everything may happen."""
    steps = 36
    start = beginning(
        int(rng.integers(2, 25)),
        int(rng.integers(1, 9)),
        int(rng.integers(1, 4)),
        rate=float(rng.uniform(1e-4, 1e-2)),
        beta2=float(rng.uniform(0.95, 0.999)),
    )
    now = sequences(start)
    most = int(now * rng.choice([1, 2, 3, 4, 8, 30]))
    level = np.geomspace(now, now * rng.uniform(2, 40), steps)
    lows: list[float | None] = []
    for value in level:
        luck = rng.random()
        kept = round(float(value * rng.choice([1, 1, 1, 3, 0.3])), 2)
        lows.append(None if luck < 0.04 else math.nan if luck < 0.08 else kept)
    changes = np.sort(rng.integers(1, steps, 3))
    data = [f"set {int((changes <= at).sum()) % 3}" for at in range(steps)]
    base = np.linspace(5, 3, steps) + np.array([0.0, 1.5, -0.5])[[int(d[-1]) for d in data]]
    losses = (base + rng.choice([0, 0, 0, 0, 0, 1.0], steps) + rng.uniform(0, 0.01, steps)).tolist()
    down = np.sort(rng.integers(4, steps, 2))
    rows = start["rows"]
    room = [rows, max(1, int(0.7 * rows)), max(1, int(0.4 * rows))]
    fits = [room[int((down <= at).sum())] for at in range(steps)]
    return Scenario(name, start, most, lows, losses, data, fits)

"""Planted runs for a controller: what is measured at each step, along the path of the reference.

a run  ->  settings, reading and the settings after it, step by step

Words
    low    lower end of the noise scale's interval, in sequences; None or nan: nothing measured
    fits   the most rows that memory holds; a step that needs more is repeated
"""

import math

import numpy as np

from batchlab.exercises import By
from batchlab.exercises.adaptive import of

__all__ = ["RUNS", "drawn", "fresh", "sequences", "walked"]

nan, inf = math.nan, math.inf


def sequences(settings):
    """Sequences of one step."""
    return settings["rows"] * settings["accumulation"] * settings["data_parallel"]


def walked(control, start, most, lows, losses=(), data=(), fits=(), measured=False, beside=False):
    """[(settings, reading, settings after it)] by a controller; the last may be refused: None.

    `measured`: a step out of memory brings the low end of those before it. `beside`: see `RUNS`.
    """
    found, settings, state, step = [], start, {}, 0
    while step < len(lows):
        reading = {
            "out_of_memory": bool(fits) and settings["rows"] > fits[step],
            "loss": losses[step] if losses else 4.0,
            "low": lows[step],
            "data": data[step] if data else "web",
        }
        if reading["out_of_memory"]:
            reading |= {"loss": None, "low": lows[step] if measured else None}
        else:
            step += 1
        try:
            after, state = control(settings, state, reading, most)
        except ValueError:
            return [*found, (settings, reading, None)]
        found.append((settings, reading, after))
        settings = after
    return found


def runs():
    """{name: run}: one for each thing that may happen; `beside`: readings of another lie between."""
    growing = (10 * 200 ** np.linspace(0, 1, 36) ** 3).round(1).tolist()
    spikes = [7.0, 900.0, 12.0, 11.0, 900.0, 950.0, 14.0, 900.0, 30.0, 900.0, 31.9, 900.0]
    start, high = of(4, 2), [200.0]
    some = [
        By("noise that grows", start, 128, growing, beside=True),
        By("a maximum that no doubling meets", of(3, 4, 4), 220, [900.0] * 3 + [inf] * 3 + [900.0] * 6),
        By("one noisy reading, then two", of(4, 2, 2), 256, spikes),
        By("steps without a reading", of(3, 5), 2**40,
           [40.0, 40.0, None, 40.0, nan, 40.0, 30.0, 30.0, nan, 90.0, 90.0, 90.0]),
        By("a loss that falls, and rises after a move", start, 64, high * 17,
           losses=[15.0, 23.0, 14.7, 15.25, 14.7, 14.6, 14.04, *[14.6] * 3, 14.52, 14.4, 14.3, 14.3, 18.0, 14.3, 14.3]),
        By("a best loss of 0", start, 64, high * 10, losses=[0.0, *[0.6] * 3, *[0.5] * 3, *[0.4] * 3]),
        By("a best loss in readings that do not ask", start, 64,
           [8.0, *high * 3, None, *high * 3, nan, *high * 6],
           losses=[3.0, *[3.6] * 3, 2.5, *[3.05] * 3, 2.0, *[2.55] * 3, *[2.3] * 3]),
        By("losses that are not finite", start, 64, high * 14,
           losses=[nan, inf, 3.0, 3.0, nan, 3.0, 3.0, inf, 3.0, 3.0, -inf, 3.0, 3.0, 3.0]),
        By("memory falls", of(9, 1, 2, model="small", clip=1.0), 2**40, [90.0] * 12,
           losses=[3.0, 3.1, 3.2, 3.0, 3.1, 3.6, 3.6, 3.6, 3.4, 3.3, 3.2, 3.2],
           fits=[9, 9, 8, 8, 8, *[2] * 6, 1]),
        By("data that come back", start, 64, high * 15,
           losses=[3.0, *[5.0] * 4, *[3.6] * 3, 2.0, *[2.6] * 3, 2.2, 2.3, 2.4],
           data=["web", *["code"] * 4, *["web"] * 3, *["maths"] * 6, "news"]),
        By("one row, and memory is full", of(1, 8, 2), 99, [90.0], fits=[0]),
    ]  # fmt: skip
    return {run.arguments[0]: run for run in some}


RUNS = runs()


def drawn(rng):
    """Fresh runs, and what no page shows: large steps, a long run, data with a full memory."""
    for number in range(8):
        yield fresh(rng, f"fresh run {number + 1}")
    yield By("large steps", of(7, 2**13, 3), 2**40, [2.0**40] * 7, fits=[6] * 7)
    yield By("a long run", of(4, 2, beta2=0.9999), 2**15, [1e6] * 31 + [100.0] * 5 + [1e6] * 128,
             losses=[12.4] * 30 + [2.0] + [3.0] * 130 + [2.5] * 3)  # fmt: skip
    yield By("memory falls as the data change", of(6, 2), 64, [200.0] * 13,
             losses=[3.0, 3.1, 5.0, 5.1, 5.6, 5.6, 5.4, 5.4, 5.4, 7.0, 7.6, 7.6, 7.6],
             data=["news"] * 2 + ["talk"] * 7 + ["maths"] * 4, fits=[6, 6, *[4] * 11],
             measured=True)  # fmt: skip


def fresh(rng, name="a fresh run"):
    """A random run in which everything may happen."""
    steps = 36
    rows, accumulation, replicas = (int(rng.integers(*ends)) for ends in ((2, 25), (1, 9), (1, 4)))
    rate, beta2 = float(rng.uniform(1e-4, 1e-2)), float(rng.uniform(0.95, 0.999))
    start = of(rows, accumulation, replicas, rate, beta2)
    now = sequences(start)
    most = int(now * rng.choice([1, 2, 3, 4, 8, 30]))
    lows = []
    for value in np.geomspace(now, now * rng.uniform(2, 40), steps):
        luck = rng.random()
        kept = round(float(value * rng.choice([1, 1, 1, 3, 0.3])), 2)
        lows.append(None if luck < 0.04 else nan if luck < 0.08 else kept)
    changes = np.sort(rng.integers(1, steps, 3))
    sets = [int((changes <= at).sum()) % 3 for at in range(steps)]
    base = np.linspace(5, 3, steps) + np.array([0.0, 1.5, -0.5])[sets]
    losses = base + rng.choice([0, 0, 0, 0, 0, 1.0], steps) + rng.uniform(0, 0.01, steps)
    down = np.sort(rng.integers(4, steps, 2))
    room = [rows, max(1, int(0.7 * rows)), max(1, int(0.4 * rows))]
    fits = [room[int((down <= at).sum())] for at in range(steps)]
    return By(name, start, most, lows, losses=losses.tolist(), data=[f"set {n}" for n in sets],
              fits=fits)  # fmt: skip

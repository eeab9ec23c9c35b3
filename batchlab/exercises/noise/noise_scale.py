"""Many readings: the ratio of two means, and how sure it is."""

import numpy as np

from batchlab.exercises import Exercise


def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    if len(readings) < 2:
        raise ValueError(f"{len(readings)} readings have no spread: two are needed")
    squared, trace = np.array(readings, dtype=float).T
    if squared.mean() <= 0:
        return np.inf, np.inf
    scale = trace.mean() / squared.mean()
    misses = trace - scale * squared
    return scale, misses.std(ddof=1) / len(misses) ** 0.5 / squared.mean()


def scene(answer, readings):
    """Scale and error of some readings; in words, what was done to them or to a lost signal."""
    given = [tuple(one) for one in readings]
    got = answer(given)
    if not hasattr(got, "__len__") or len(got) != 2:
        raise TypeError(f"two numbers are needed, scale and error, not {got!r:.60}")
    changed = given != [tuple(one) for one in readings]
    return {
        "the list": "the list that was handed over has changed: work on a copy" * changed,
        "scale": float(got[0]),
        "error": float(got[1]),
    }


def asked(readings):
    return f"readings {readings}" if len(readings) < 6 else f"{len(readings):,} readings"


def drawn(rng):
    for count in (3, 4, 5, 8, 3, 6):
        squared, trace = rng.uniform(0.5, 8, count), rng.uniform(50, 2000, count)
        yield ([*zip(squared.round(3).tolist(), trace.round(2).tolist())],)
    first = [(4.0, 900.0), (5.0, 1000.0), (6.0, 800.0), (3.0, 700.0)]
    yield from [(first,), ([*first[:2], (6.5, 800.0), first[3]],)]
    yield ([*first[:2], (6.0, 1300.0), first[3]],)
    yield ([(2.0 + k % 7 - 3 * (k % 5 == 0), 300.0 + 11 * (k % 13) + k / 90) for k in range(3000)],)
    yield from [([(1e-18, 4e-15), (3e-18, 5e-15)],), ([(-3.0, -5.0), (-1.0, -6.0), (2.0, 1.0)],)]
    yield from [([(0.0, 5.0)],), ([],), ([(2.0, 5.0), (-2.0, 6.0)],)]


exercise = Exercise(
    noise_scale,
    points=2,
    scene=scene,
    asked=asked,
    drawn=drawn,
    rel=1e-4,  # float32
    abs=1e-9,
    mentions=lambda readings: (len(readings),),
    hints=(
        "the mean of all traces over the mean of all squared gradients",
        "d = trace - scale x squared gradient, one for each reading",
        "std(d, over n - 1) / n ** 0.5 / mean of the squared gradients",
    ),
    shown=[
        ([(5.0, 1100.0), (4.0, 900.0), (2.0, 1000.0)],),
        ([(4.0, 900.0), (-1.0, 1250.0), (6.0, -850.0), (7.0, 1300.0)],),
        ([(0.02, 3.0), (0.05, -0.5)],),
        ([(4.1, 0.001212345), (4.3, 0.001291234), (4.6, 0.001319555)],),
        ([(4.0, 900.0), (4.0, 900.0), (5.0, 500.0), (5.0, 500.0), (2.0, 1000.0)],),
        ([(3.0 + k % 3, 100.0 + 10 * k) for k in range(11)] + [(4.0, 500_000.0)],),
        ([(1e-12, 4e-9), (3e-12, 5e-9), (2e-12, 7e-9)],),
        ([(-1.0, 5.0), (0.5, 6.0)],),
        ([(4.0, 900.0)],),
        ([(-2.0, 5.0)],),
        ([(2.0, 5.0), (-2.0, 6.0)],),
    ],
    passed="Right: add up, divide once, and say how sure it is.",
)
END = "    return scale, misses.std(ddof=1) / len(misses) ** 0.5 / squared.mean()"
MISSES, ROWS = "trace - scale * squared", "    squared, trace = np.array(readings, dtype=float).T\n"
MEANS, LOST = "scale = trace.mean() / squared.mean()", "        return np.inf, np.inf\n"
ERROR = "misses.std(ddof=1) / len(misses) ** 0.5 / squared.mean()"
FEW = (
    '    if len(readings) < 2:\n        raise ValueError(f"{len(readings)} readings have no '
    'spread: two are needed")\n'
)
for _thought, *_changes in [
    (
        "the mean of ratios: add up first, divide once",
        (MEANS, "scale = (trace / squared).mean()"),
    ),
    (
        "the median of ratios: the ratio of two means is asked",
        (MEANS, "scale = np.median(trace / squared)"),
    ),
    (
        "the ratio of medians: means are without bias, medians are not",
        (MEANS, "scale = np.median(trace) / np.median(squared)"),
    ),
    ("upside down: noise over signal", ("squared, trace = np", "trace, squared = np")),
    ("a mean of 0 is lost, too: inf twice", ("squared.mean() <= 0", "squared.mean() < 0")),
    (
        "inf twice: the error of a lost signal is unknown, too",
        (LOST, LOST.replace("np.inf, np.inf", "np.inf, np.nan")),
    ),
    ("the first reading alone", (MEANS, "scale = trace[0] / squared[0]")),
    ("the last reading alone", (MEANS, "scale = trace[-1] / squared[-1]")),
    (
        "readings below 0 were left out: that is luck, too, and the mean needs it",
        (
            ROWS,
            ROWS + "    if (squared > 0).any():\n"
            "        squared, trace = squared[squared > 0], trace[squared > 0]\n",
        ),
    ),
    (
        "readings below 0 were left out: that is luck, too, and the mean needs it",
        (FEW, "    readings = [one for one in readings if min(one) > 0]\n" + FEW),
    ),
    (
        "readings below 0 were left out: that is luck, too, and the mean needs it",
        (FEW, FEW + "    readings = [one for one in readings if min(one) > 0] or readings\n"),
    ),
    (
        "readings below 0 were cut: that is luck, too, and the mean needs it",
        (ROWS, ROWS + "    squared, trace = squared.clip(min=0), trace.clip(min=0)\n"),
    ),
    (
        "readings without their sign: no abs",
        (ROWS, ROWS + "    squared, trace = abs(squared), abs(trace)\n"),
    ),
    (
        "a trace far from the others was cut: it is luck, too, and the mean needs it",
        (
            ROWS,
            ROWS + "    near = abs(trace) <= 100 * abs(np.median(trace))\n"
            "    if near.sum() > 1:\n        squared, trace = squared[near], trace[near]\n",
        ),
    ),
    (
        "equal readings are readings of their own: all count",
        (ROWS, ROWS.replace("np.array(readings", "np.array([*dict.fromkeys(readings)]")),
    ),
    (
        "the spread of one reading: the mean of n is surer by the root of n",
        (" / len(misses) ** 0.5", ""),
    ),
    ("the square of the error: take the root", (ERROR, f"({ERROR}) ** 2")),
    ("the spread over n: over n - 1", ("ddof=1", "ddof=0")),
    ("divided by n: the root of n", ("len(misses) ** 0.5", "len(misses)")),
    (
        "the error of the mean d: divide it by the mean squared gradient",
        ("** 0.5 / squared.mean()", "** 0.5"),
    ),
    (
        "over the sum of the squared gradients: over their mean",
        ("** 0.5 / squared.mean()", "** 0.5 / squared.sum()"),
    ),
    ("the traces alone: the squared gradients are noisy, too", (MISSES, "trace")),
    ("the squared gradients alone: the traces are noisy, too", (MISSES, "scale * squared")),
    (
        "the spread of ratios: that of d, over the mean squared gradient",
        (MISSES, "squared.mean() * trace / squared"),
    ),
    (
        "relative errors added as squares: the two go together, d knows it",
        (
            ERROR,
            "abs(scale) * np.hypot(*(x.std(ddof=1) / len(x) ** 0.5 / x.mean() "
            "for x in (squared, trace)))",
        ),
    ),
    ("two errors: one is asked", (ERROR, f"2 * {ERROR}")),
    ("a 95 % interval: the standard error is asked", (ERROR, f"1.96 * {ERROR}")),
    ("in per cent of the scale", (ERROR, f"100 * {ERROR} / scale")),
    ("relative to the scale: the error itself is asked", (ERROR, f"{ERROR} / scale")),
    ("rounded: give all digits", ("return scale, ", "return round(scale, 6), ")),
    ("the error was rounded: give all digits", (ERROR, f"round({ERROR}, 6)")),
    (
        "a mean above 0, however small, is no lost signal",
        ("squared.mean() <= 0", "squared.mean() <= 1e-8"),
    ),
    (
        "a mean below 0 is a lost signal, too: the scale is infinite",
        ("squared.mean() <= 0", "squared.mean() == 0"),
    ),
    (
        "a lost signal has no error either: it is infinite, too",
        (LOST, "        return np.inf, 0.0\n"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "the signal is not nan: the scale is infinite, and so is its error",
        "the signal is not nan",
        (LOST, LOST.replace("inf", "nan")),
    ),
    (
        "a lost signal is no wrong input: the scale is infinite, and so is its error",
        "a lost signal is no wrong input",
        (LOST, '        raise ValueError("the signal is lost")\n'),
    ),
    (
        "one reading has no spread: refuse it",
        "one reading has no spread",
        (FEW, "    if len(readings) < 2:\n        return 0.0, 0.0\n"),
    ),
    ("refuses without the number", "without 1", ("{len(readings)} readings", "too few readings")),
    ("none is refused, one is not", "a ValueError is needed", ("readings) < 2", "readings) < 1")),
    (
        "two readings are enough",
        "two readings are enough",
        ("readings) < 2", "readings) < 3"),
    ),
    (
        "the count is asked first, the signal then",
        "the count is asked first",
        (FEW, "    if len(readings) == 1 and readings[0][0] <= 0:\n" + LOST + FEW),
    ),
    ("the scale alone", "scale and error", ("return scale, ", "return scale  # ")),
    ("sorts the list that it was given", "has changed", (FEW, FEW + "    readings.sort()\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def a_loop(readings):
    """a loop"""
    n = len(readings)
    if n < 2:
        raise ValueError(f"{n} readings: two are needed")
    squared = [pair[0] for pair in readings]
    trace = [pair[1] for pair in readings]
    below = sum(squared) / n
    if below <= 0:
        return float("inf"), float("inf")
    scale = sum(trace) / n / below
    misses = [t - scale * q for q, t in zip(squared, trace)]
    middle = sum(misses) / n
    spread = (sum((d - middle) ** 2 for d in misses) / (n - 1)) ** 0.5
    return scale, spread / n**0.5 / below


@exercise.style
def array(readings):
    """means and a variance, as an array"""
    n = len(readings)
    if n < 2:
        raise ValueError(f"got {n}, two are needed")
    q, t = np.asarray(readings).mean(axis=0)
    if not q > 0:
        return np.array([np.inf, np.inf])
    d = [trace - t / q * squared for squared, trace in readings]
    return np.array([t / q, np.sqrt(np.var(d, ddof=1) / n) / q])


@exercise.style
def single(readings):
    """float32 tensors"""
    import torch

    if len(readings) < 2:
        raise ValueError(f"{len(readings)}")
    a = torch.tensor(readings)
    g, t = a.mean(0)
    if g <= 0:
        return float("inf"), float("inf")
    r = t / g
    return r.item(), ((a[:, 1] - r * a[:, 0]).std() / len(readings) ** 0.5 / g).item()

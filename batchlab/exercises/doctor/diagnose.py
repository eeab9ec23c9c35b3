"""Build: a doctor, who says what slows a run and what the cure will gain."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.doctor.sweeps import (
    CAUSES,
    CURES,
    T90,
    another,
    cure_gain,
    evidence,
    gains_of,
    interval,
    prices,
    step_parts,
    sweep,
)
from batchlab.exercises.doctor.visits import differing, rate


def diagnose(visits):
    """{"cause", "gain", "low", "high"}: why the setting with the most rows is not faster."""
    for key in ("model", "data", "device"):
        if len({v[key] for v in visits}) > 1:
            raise ValueError(f"the visits differ in {key}: no diagnosis of two runs")
    less, most = sorted({v["rows"] for v in visits})[-2:]
    rounds, memory = gains_of(visits), []
    gains = {cause: [one[cause] for one in rounds.values()] for cause in CURES}
    for number in rounds:
        here = {v["rows"]: v for v in visits if v["round"] == number}
        memory.append(rate([here[less]]) / rate([here[most]]) - 1)
    cause = max(gains, key=lambda name: np.mean(gains[name]))
    if any(v["retries"] for v in visits if v["rows"] == most):
        cause, values = "memory", memory
    elif np.mean(gains[cause]) < 0.05:
        cause, values = "saturation", gains["launch"]
    else:
        values = gains[cause]
    gain, low, high = interval(values)
    return {"cause": cause, "gain": gain, "low": low, "high": high}


def asked(visits):
    if differ := differing(visits):
        return f"diagnosis of a sweep whose visits differ in {' and '.join(differ)}"
    rows, rounds = ([*{one[key]: 0 for one in visits}] for key in ("rows", "round"))
    return f"diagnosis of a sweep of rows {sorted(rows)} in rounds {sorted(rounds)}"


def explain(got, visits):
    """What speaks against a cause, or how wide an interval is."""
    said, right = str(got["cause"]).strip().casefold(), diagnose(visits)
    if said not in CAUSES:
        return f"a cause is one of {', '.join(CAUSES)}"
    if said != right["cause"]:
        return evidence(visits, said)
    if abs(got["gain"] - right["gain"]) > 1e-5:
        if said == "saturation":
            return "for saturation the gain of `launch` is asked: twice the rows"
        if said == "memory":
            return "for memory: the rate of the next smaller rows over that of the most, less 1, round by round"
        return "the cause is right, its gain is another: the mean over the rounds of this sweep"
    low, high = got["gain"] - got["low"], got["high"] - got["gain"]
    if abs(low - high) > 1e-5:
        return "gain is the middle: as much below it as above"
    n = len({one["round"] for one in visits})
    times = low / (right["gain"] - right["low"])
    if abs(times - 1) < 1e-3:
        return ""
    return f"{times:.2g} times as wide as T90[{n}] s / root of {n}, of the {n} rounds of this sweep"


def drawn(rng):
    """Sweeps of random prices and waits; some that recompute, retry or mix two runs."""
    grids = (1, 2, 4, 8), (2, 4, 16), (1, 4, 8, 32), (2, 8, 16), (1, 2, 4, 8, 16, 32, 64)
    for number in range(24):
        rounds = int(rng.integers(3, 7))
        hit = int(rng.integers(rounds))
        made = sweep(
            grids[number % 5],
            rng.uniform(0, rng.choice([0.01, 0.4]), rounds).tolist(),
            host=rng.uniform(0, rng.choice([0.01, 0.4]), rounds).tolist(),
            fixed=float(rng.choice([1e-3, 0.02, 0.1])),
            waste=float(rng.choice([0, 0.1])),
            checkpointing=bool(number % 3 == 2),
            drift=rng.uniform(0.6, 1.8, rounds).tolist(),
            slower=rng.uniform(1.1, 1.6, rounds).tolist() if number % 4 == 3 else (1.0,) * 6,
            retries=[int(n == hit and number % 2) for n in range(rounds)],
            retrying=-1 if number % 4 == 3 else 0,
            update=0.5 if number % 4 == 1 else 0.02,
            seed=int(rng.integers(1 << 30)),
        )
        key = ("model", "data", "device")[number % 3]
        yield (another(made, key, place=int(rng.integers(len(made)))) if number > 20 else made,)


INPUT = sweep(
    (1, 2, 4, 8, 16), (0.20, 0.45, 0.50, 0.40), fixed=0.15, retries=(5, 4, 6, 3), retrying=1
)  # launches are the largest part, but twice the rows end only half of them
PADDED = sweep((1, 2, 16), (0.90, 0.01, 0.02), waste=0.15, seed=6)
UNEVEN = sweep((4, 8, 16), (0.30, 0.02, 0.22, 0.20, 0.18, 0.21), seed=2)
SATURATED = sweep((2, 8, 16), (0.012, 0.012, 0.072), seed=3)
LAUNCH = sweep((1, 4, 8), (0.25, 0.01, 0.02), fixed=0.04, seed=4)
SELDOM = sweep((2, 4, 8), (0.1, 0.2, 1.5, 0.1, 0.2), checkpointing=True, seed=5)
RETRIED = sweep(
    (1, 2, 4, 16), (0.30, 0.02, 0.02), waste=0.12, slower=(1.3, 1.45, 1.25), retries=(3, 7, 2),
    seed=8,
)  # fmt: skip
UPDATES = sweep((2, 4, 8), (0.05, 0.1, 0.07), update=0.6, seed=11)  # fewer rows are faster
CALM = sweep((2, 8, 16), (0.012, 0.012, 0.02), slower=(1.2, 1.1, 1.3), retries=(4, 1, 2), seed=10)
SLOWER = sweep(
    (2, 4, 8), (0.05, 0.6, 0.1), fixed=0.03, checkpointing=True, retries=(2, 5, 1), seed=9,
)  # fmt: skip
ONCE = sweep((2, 4, 16), (0.30, 0.02, 0.02), slower=(1.3, 1.4, 1.2), retries=(0, 7, 0), seed=12)
SWEEPS = [
    INPUT, PADDED, UNEVEN, SATURATED, LAUNCH, SELDOM, UPDATES, RETRIED, CALM, SLOWER, ONCE,
    another(INPUT, "data", place=0), another(INPUT, "data", place=4),
]  # fmt: skip

exercise = Exercise(
    diagnose,
    points=6,
    asked=asked,
    explain=explain,
    mentions=differing,
    drawn=drawn,
    given=("CURES", "T90", "prices", "step_parts", "cure_gain", "gains_of", "interval", "rate"),
    hints=(
        "gains_of(visits) has all rounds: of each cause, collect its gain over the rounds",
        "retries first, then the largest mean, then the bar of 0.05",
        "for memory: in each round, rate([visit with the next smaller rows]) / rate([visit with the most]) - 1",
    ),
    shown=[(one,) for one in SWEEPS],
    passed="Right: seven causes told apart, and the gains are those that the cures achieve.",
)
LONG = [  # the same by hand: most mistakes are made there
    (
        exercise.text[
            exercise.text.index("    rounds, memory = ") : exercise.text.index("    cause = max(")
        ],
        """    gains = {cause: [] for cause in CURES}
    memory = []
    for number in {v["round"] for v in visits}:
        here = {v["rows"]: v for v in visits if v["round"] == number}
        fixed, slot = prices(here.values())
        parts = step_parts(here[most], fixed, slot)
        for cause, keep in CURES.items():
            gains[cause].append(cure_gain(parts, keep))
        memory.append(rate([here[less]]) / rate([here[most]]) - 1)
""",
    ),
    (
        exercise.text[exercise.text.index("    gain, low, high = ") :],
        """    gain, n = float(np.mean(values)), len(values)
    half = T90[n] * float(np.std(values, ddof=1)) / n**0.5
    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}
""",
    ),
]
BEGIN = '    less, most = sorted({v["rows"] for v in visits})[-2:]\n'
HERE, PRICES = '{v["rows"]: v for v in visits if v["round"] == number}', "prices(here.values())"
ROUNDS, EACH = '{v["round"] for v in visits}', "cure_gain(parts, keep)"
MEMORY, CAUSE = "rate([here[less]]) / rate([here[most]]) - 1", "max(gains, key=lambda name: np.mean(gains[name]))"  # fmt: skip
RETRIES = 'any(v["retries"] for v in visits if v["rows"] == most)'
SATURATION, HALF = 'gains["launch"]', "T90[n] * float(np.std(values, ddof=1)) / n**0.5"
GAIN, RESULT = "    gain, n = float(np.mean(values))", '"gain": gain, "low": gain - half, "high": gain + half'  # fmt: skip
COMPARED = "if len({v[key] for v in visits}) > 1"
for _thought, *_changes in [
    (
        "prices of all rounds together: the machine drifts, and a slow round is dear by itself",
        (PRICES, "prices(visits)"),
    ),
    (
        "prices of the first round: each round has its own, the machine drifts",
        (PRICES, 'prices([v for v in visits if v["round"] == min(v["round"] for v in visits)])'),
    ),
    (
        "speed over all rounds together: a slow round weighs more, take each by itself",
        (
            MEMORY,
            'rate([v for v in visits if v["rows"] == less]) / rate([v for v in visits if v["rows"] == most]) - 1',
        ),
    ),
    (
        "the fewest rows were diagnosed: asked are the most",
        (BEGIN, BEGIN.replace("[-2:]", "[1::-1]")),
    ),
    (
        "the next smaller rows are asked, not the fewest",
        (BEGIN, BEGIN.replace("[-2:]", "[:: len({v['rows'] for v in visits}) - 1]")),
    ),
    (
        "the next smaller rows are asked, not the fastest",
        (MEMORY, "max(rate([one]) for one in here.values()) / rate([here[most]]) - 1"),
    ),
    (
        "steps per second: they hold other tokens, take `rate`",
        (
            MEMORY,
            'here[less]["steps"] / here[less]["seconds"] / (here[most]["steps"] / here[most]["seconds"]) - 1',
        ),
    ),
    (
        "documents per second: they differ in length, take `rate`",
        (
            MEMORY,
            'here[less]["documents"] / here[less]["seconds"] / (here[most]["documents"] / here[most]["seconds"]) - 1',
        ),
    ),
    (
        "a share is no gain: without a quarter the run is a third faster",
        (EACH, "1 - 1 / (1 + cure_gain(parts, keep))"),
    ),
    (
        "twice the rows halve the launches, they do not end them",
        (EACH, 'cure_gain(parts, dict.fromkeys(keep, 0))'),
    ),
    (
        "the largest share is not the largest gain: a cure may end only half of it",
        (CAUSE, "max(gains, key=lambda name: parts[name])"),
    ),
    (
        "the largest mean gain decides, not the largest of one round",
        (CAUSE, "max(gains, key=lambda name: max(gains[name]))"),
    ),
    (
        "the largest mean gain decides, not the cause of most rounds",
        (
            CAUSE,
            "(lambda led: max(gains, key=led.count))([max(gains, key=lambda name: gains[name][k]) for k in range(len(memory))])",
        ),
    ),
    ("the retries were ignored: they are in no price", (RETRIES, "False")),
    (
        "one round with retries is enough: any of the most rows",
        (RETRIES, RETRIES.replace("any", "all")),
    ),
    (
        "retries come first: they are memory, however little the cures gain",
        (f"    if {RETRIES}:", f"    if np.mean(gains[cause]) >= 0.05 and {RETRIES}:"),
    ),
    (
        "without retries it is no memory, even where fewer rows are faster",
        ("    cause = max(", '    gains["memory"] = memory\n    cause = max('),
    ),
    (
        "retries decide, even where fewer rows gain less than a cure, or nothing",
        (f"    if {RETRIES}:", f"    if np.mean(memory) > np.mean(gains[cause]) and {RETRIES}:"),
    ),
    ("retries of fewer rows do not count", (RETRIES, 'any(v["retries"] for v in visits)')),
    ("below a mean gain of 5 % it is saturation", ("< 0.05", "< 0")),
    ("the bar is a gain of 0.05, and no higher", ("< 0.05", "< 0.2")),
    (
        "the mean is compared with 0.05, not the least of the rounds",
        ("elif np.mean(gains[cause])", "elif min(gains[cause])"),
    ),
    ("for saturation the gain of `launch` is asked: twice the rows", (SATURATION, "gains[cause]")),
    (
        "utilisation was believed: it says that something ran, not what for",
        (
            "    elif np.mean(gains[cause]) < 0.05:",
            '    elif min(v["busy"] for v in visits if v["rows"] == most) > 0.9:',
        ),
    ),
    ("the first round only: each round tells the luck of the others", (f"in {ROUNDS}:", f"in [min({ROUNDS})]:"), (", ddof=1", ""), ("T90[n]", "2.0")),
    ("the gain of one round: take the mean of all", (GAIN, "    gain, n = values[0]")),
    ("the median round: take the mean of all", (GAIN, "    gain, n = float(np.median(values))")),
    (
        "the mean of logarithms: asked is the mean of the gains",
        (GAIN, "    gain, n = float(np.expm1(np.mean(np.log1p(values))))"),
    ),
    ("a gain below 0 is one, too: fewer rows may be slower", (GAIN, "    values = [max(v, 0) for v in values]\n" + GAIN)),
    ("in per cent: a fraction is asked, 0.25 for 25 %", (RESULT, '"gain": 100 * gain, "low": 100 * (gain - half), "high": 100 * (gain + half)')),
    ("the speed-up: the gain is 1 less", (RESULT, '"gain": 1 + gain, "low": 1 + gain - half, "high": 1 + gain + half')),
    ("the interval in per cent, too: fractions are asked", (RESULT, '"gain": gain, "low": 100 * (gain - half), "high": 100 * (gain + half)')),
    ("a point: rounds differ, so low is below high", (HALF, "0.0")),
    ("the spread of one round: the mean of n is surer by the root of n", (" / n**0.5", "")),
    (
        "the standard error alone: with few rounds it is itself unsure, times T90[n]",
        ("T90[n] * ", ""),
    ),
    (
        "the standard deviation alone: T90[n] and the root of n are missing",
        (HALF, "float(np.std(values, ddof=1))"),
    ),
    ("the standard deviation over n - 1, not n", (", ddof=1", "")),
    ("T90 goes by the number of rounds n, not n - 1", ("T90[n]", "T90[n - 1]")),
    ("T90[n] of this sweep's rounds, not of four", ("T90[n]", "T90[4]")),
    ("n counts rounds, not visits", ("n**0.5", "len(visits) ** 0.5")),
    ("from the lowest round to the highest: that is no interval of the mean", (RESULT, '"gain": gain, "low": min(values), "high": max(values)')),
    ("low and high are exchanged", (RESULT, '"gain": gain, "low": gain + half, "high": gain - half')),
    ("one side only: gain is the middle", (RESULT, '"gain": gain, "low": gain, "high": gain + half')),
    ("low may be below 0: it is not cut off there", (RESULT, '"gain": gain, "low": max(gain - half, 0.0), "high": gain + half')),
    ("two runs are compared: refuse, and name the key", (COMPARED, "if False")),
    ("some of the visits are compared: look at all", (COMPARED, "if visits[0][key] != visits[-1][key]")),
]:  # fmt: skip
    exercise.edit(_thought, LONG + _changes)
for _says, _thought, *_changes in [
    ("", "the next smaller rows of the sweep are asked: half of the most may not be there", (BEGIN, '    most = max(v["rows"] for v in visits)\n    less = most // 2\n')),
    ("", "the next smaller number need not be half", (BEGIN, '    most = max(v["rows"] for v in visits)\n    less = most // 2\n'), (MEMORY, f"{MEMORY} if {RETRIES} else 0")),
    ("", "rounds are numbered from anywhere: take the numbers that are there", (f"in {ROUNDS}:", "in range(4):")),
    ("", "the visits come in any order: take those of one round by its number", (HERE, '{v["rows"]: v for v in visits[:4]}')),
    ("a dict with", "a cause alone", ("    return {", "    return cause\n    return {")),
    ("changed", "the visits are sorted in place", (BEGIN, "    visits.sort(key=lambda v: v['rows'])\n" + BEGIN)),
    ("without 'data'", "the message names no key", ("differ in {key}", "differ")),
]:  # fmt: skip
    exercise.edit(_thought, LONG + _changes, says=_says)


@exercise.style
def one_by_one(visits):
    """one after the other"""
    for key in ("model", "data", "device"):
        if len({v[key] for v in visits}) > 1:
            raise ValueError(f"the visits differ in {key}")
    rows = sorted({v["rows"] for v in visits})
    most, less = rows[-1], rows[-2]
    gains = {cause: [] for cause in [*CURES, "memory"]}
    for number in sorted({v["round"] for v in visits}):
        here = {v["rows"]: v for v in visits if v["round"] == number}
        fixed, slot = prices(list(here.values()))
        parts = step_parts(here[most], fixed, slot)
        for cause, keep in CURES.items():
            gains[cause].append(cure_gain(parts, keep))
        speed = {r: here[r]["real_tokens"] / here[r]["seconds"] for r in here}
        gains["memory"].append(speed[less] / speed[most] - 1)
    mean = {cause: sum(values) / len(values) for cause, values in gains.items()}
    cause = max(CURES, key=lambda name: mean[name])
    retried = any(v["retries"] for v in visits if v["rows"] == most)
    if retried:
        cause = "memory"
    elif mean[cause] < 0.05:
        cause = "saturation"
    values = gains["launch" if cause == "saturation" else cause]
    gain, n = sum(values) / len(values), len(values)
    s = (sum((v - gain) ** 2 for v in values) / (n - 1)) ** 0.5
    half = T90[n] * s / n**0.5
    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}


@exercise.style
def own_fit(visits):
    """a fit of one's own, seconds removed from the step"""
    differ = [k for k in ("model", "data", "device") if len({v[k] for v in visits}) > 1]
    if differ:
        raise ValueError(f"two runs: {differ}")
    rounds, found = {}, []
    for v in sorted(visits, key=lambda v: v["rows"]):
        rounds.setdefault(v["round"], []).append(v)
    for here in rounds.values():
        waits = [v["input_seconds"] + v["host_seconds"] + v["optimizer_seconds"] for v in here]
        times = 4 / 3 if here[0]["checkpointing"] else 1
        own = np.array([v["seconds"] - w for v, w in zip(here, waits)]) / times
        sizes = np.array([[v["micro_batches"], v["slots"]] for v in here]) / own[:, None]
        (fixed, slot), *_ = np.linalg.lstsq(sizes, np.ones(len(own)), rcond=None)
        last, before = here[-1], here[-2]
        work = fixed * last["micro_batches"] + slot * last["slots"]
        gone = {
            "padding": slot * (last["slots"] - last["real_tokens"]),
            "recomputation": work * (times - 1),
            "input": last["input_seconds"],
            "host": last["host_seconds"],
            "launch": fixed * last["micro_batches"] / 2,
        }
        gains = {cause: gone[cause] / (last["seconds"] - gone[cause]) for cause in gone}
        faster = before["real_tokens"] / before["seconds"]
        gains["memory"] = faster * last["seconds"] / last["real_tokens"] - 1
        found.append(gains)
    mean = {cause: np.mean([one[cause] for one in found]) for cause in found[0]}
    cause = max([*mean][:5], key=mean.get)
    if sum(here[-1]["retries"] for here in rounds.values()):
        cause = told = "memory"
    elif mean[cause] < 0.05:
        cause, told = "launch", "saturation"
    else:
        told = cause
    half = np.std([one[cause] for one in found], ddof=1) * T90[len(found)] / np.sqrt(len(found))
    ends = dict(zip(("gain", "low", "high"), mean[cause] + half * np.array([0, -1, 1])))
    return {"cause": told, **ends}

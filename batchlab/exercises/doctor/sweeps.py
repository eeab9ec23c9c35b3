"""Sweeps without noise: in a round all seconds are exact, from round to round speed and waits change.

    prices, waits of each round  ->  visits of a sweep;  visits, a wrong cause  ->  what speaks against it

The machine drifts: a round in which it is slow makes every second of the round as much longer. So
the prices of a round are exact and the gain of each round has one value, while prices of all rounds
together belong to none of them.
"""

import numpy as np

from batchlab.exercises.doctor.visits import visit

__all__ = [
    "CAUSES",
    "CURES",
    "T90",
    "another",
    "cure_gain",
    "evidence",
    "gains_of",
    "interval",
    "prices",
    "step_parts",
    "sweep",
]

CAUSES = ("padding", "recomputation", "saturation", "memory", "input", "host", "launch")
CURES = {
    "padding": {"padding": 0},
    "recomputation": {"recomputation": 0},
    "input": {"input": 0},
    "host": {"host": 0},
    "launch": {"launch": 0.5},
}
T90 = {2: 6.31, 3: 2.92, 4: 2.35, 5: 2.13, 6: 2.02}  # Student's t by number of values
TOKENS, DOCUMENTS = 32_768, 64  # of one step, before it is scaled
DRIFT = (1.0, 1.7, 0.7, 1.3, 0.85, 1.5)  # of a round: how slow the machine is


def prices(visits):
    """Seconds of a micro-batch, and of a slot, without recomputation."""
    sizes, seconds = [], []
    for v in visits:
        own = v["seconds"] - v["input_seconds"] - v["host_seconds"] - v["optimizer_seconds"]
        own /= 4 / 3 if v["checkpointing"] else 1
        sizes.append(v["slots"] / v["micro_batches"])
        seconds.append(own / v["micro_batches"])
    slot, fixed = np.polyfit(sizes, seconds, 1)
    return max(float(fixed), 0.0), float(slot)


def step_parts(visit, fixed, slot):
    """{part: seconds of one step}, at the prices of a micro-batch and of a slot, as on the page."""
    steps, real = visit["steps"], visit["real_tokens"]
    parts = {
        "useful": slot * real / steps,
        "padding": slot * (visit["slots"] - real) / steps,
        "launch": fixed * visit["micro_batches"] / steps,
    }
    parts["recomputation"] = sum(parts.values()) / 3 if visit["checkpointing"] else 0.0
    for side in ("input", "host", "optimizer"):
        parts[side] = visit[f"{side}_seconds"] / steps
    parts["unexplained"] = visit["seconds"] / steps - sum(parts.values())
    return parts


def cure_gain(parts, keep):
    """Gain in useful tokens a second if of each part in `keep` so much is left, as on the page."""
    left = sum(seconds * keep.get(name, 1) for name, seconds in parts.items())
    return sum(parts.values()) / left - 1


def gains_of(visits):
    """{round: {cause: gain}} of the visits with the most rows, each round by itself, as on the page."""
    most, found = max(v["rows"] for v in visits), {}
    for number in sorted({v["round"] for v in visits}):
        here = [v for v in visits if v["round"] == number]
        (own,) = [v for v in here if v["rows"] == most]
        parts = step_parts(own, *prices(here))
        found[number] = {cause: cure_gain(parts, keep) for cause, keep in CURES.items()}
    return found


def interval(values):
    """The mean, and both ends of its 90 % interval, as on the page."""
    mean, n = float(np.mean(values)), len(values)
    half = T90[n] * float(np.std(values, ddof=1)) / n**0.5
    return mean, mean - half, mean + half


def sweep(
    grid,
    input,
    *,
    host=(0.01,) * 6,
    fixed=4e-3,
    waste=0.0,
    checkpointing=False,
    drift=DRIFT,
    slower=(1.0,) * 6,
    retries=(0,) * 6,
    retrying=-1,
    update=0.02,
    seed=0,
):
    """The visits, in no order; waits of a step, drift, slowness and retries of each round.

    `grid[retrying]` is the one that retried; `slower` is how much longer the most rows take,
    `update` is the optimizer's step beside them.
    """
    rng, made = np.random.default_rng([seed, 11]), []
    first = int(rng.integers(2, 9))
    for number, wait in enumerate(input):
        for rows in grid:
            slots = int(TOKENS * (1 + waste * np.log2(rows)))
            work = (fixed * DOCUMENTS / rows + 2e-5 * slots) * (4 / 3 if checkpointing else 1)
            work *= slower[number] if rows == grid[-1] else 1
            steps, more = (int(n) for n in rng.integers(2, 7, 2))
            times, own = drift[number] * steps * more, update if rows == grid[-1] else 0.02
            made.append(visit(
                data=f"corpus {first}", round=first + number, rows=rows, steps=steps,
                checkpointing=checkpointing, micro_batches=steps * more * (DOCUMENTS // rows),
                documents=steps * more * DOCUMENTS + rows, real_tokens=steps * more * TOKENS,
                slots=steps * more * slots, seconds=times * (work + wait + host[number] + own),
                input_seconds=times * wait, host_seconds=times * host[number],
                optimizer_seconds=times * own,
                retries=retries[number] if rows == grid[retrying] else 0,
            ))  # fmt: skip
    return [made[n] for n in rng.permutation(len(made))]


def another(visits, key, place):
    """The visits; one of the fewest rows, which now stands at `place`, is of another run."""
    at = min(range(len(visits)), key=lambda n: visits[n]["rows"])
    some = visits[:at] + visits[at + 1 :]
    return [*some[:place], visits[at] | {key: "another"}, *some[place:]]


def evidence(visits, said):
    """What a sweep says against a cause that is not its own."""
    most = max(one["rows"] for one in visits)
    own = [one for one in visits if one["rows"] == most]
    if said != "memory" and any(one["retries"] for one in own):
        return "the allocator retried with the most rows: no price knows what that takes"
    if said == "recomputation":
        if own[0]["checkpointing"]:
            return "checkpointing is on here, but another cure gains more"
        return "checkpointing is off here: nothing is recomputed"
    if said == "memory":
        if any(one["retries"] for one in visits):
            return "the most rows never retried: retries of fewer rows do not count"
        return "the allocator never retried in this run"
    if said == "saturation":
        return "a cure of this run gains more than 5 %"
    splits = [
        step_parts(one, *prices([v for v in visits if v["round"] == one["round"]])) for one in own
    ]
    shares = [parts[said] / sum(parts.values()) for parts in splits]
    return f"{said} is {min(shares):.0%} to {max(shares):.0%} of the step with the most rows"

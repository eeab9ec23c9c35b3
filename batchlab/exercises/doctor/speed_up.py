"""The speed-up of a change: useful tokens per second, of one run only."""

import numpy as np

from batchlab.exercises import Exercise

KEYS = ("model", "data", "device")


def visit(**totals):
    """A visit with some totals, and small ones of its own for the others."""
    base = {
        "model": "m", "data": "d", "device": "cpu", "round": 0, "rows": 4, "checkpointing": False,
        "steps": 2, "micro_batches": 4, "documents": 8, "real_tokens": 100, "slots": 200,
        "seconds": 1.0, "input_seconds": 0.0, "host_seconds": 0.0, "optimizer_seconds": 0.0,
        "retries": 0, "busy": 0.97,
    }  # fmt: skip
    return base | totals


def differing(visits):
    """Which of model, data and device are not the same in all visits."""
    return [key for key in KEYS if len({one[key] for one in visits}) > 1]


def speed_up(before, after):
    """Useful tokens per second of the visits `after`, over those of the visits `before`."""
    every = [*before, *after]
    differ = [key for key in ("model", "data", "device") if len({v[key] for v in every}) > 1]
    if differ:
        raise ValueError(f"the visits differ in {', '.join(differ)}")

    def rate(visits):
        return sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)

    return rate(after) / rate(before)


def asked(before, after):
    if differ := differing([*before, *after]):
        return f"{len(after)} visits over {len(before)}, which differ in {' and '.join(differ)}"
    if len(before) + len(after) > 6:
        return f"speed-up of {len(after)} visits over {len(before)}"
    said = [[(v["real_tokens"], v["seconds"]) for v in some] for some in (after, before)]
    return "speed-up of (real tokens, seconds) {} over {}".format(*said)


def misnamed(text, before, after):
    differ = differing([*before, *after])
    more = [key for key in KEYS if key in text and key not in differ]
    return f"{more[0]} is named, too: only {' and '.join(differ)} differ here" if more else ""


def drawn(rng):
    """Visits that differ in all that may differ; of one run, and with one of another."""
    for number in range(18):
        names = {key: f"{rng.integers(16**8):08x}" for key in KEYS}
        some = []
        for n in range(int(rng.integers(2, 12)) if number else 700):
            real, steps, more = (int(one) for one in rng.integers(1, 3000, 3))
            seconds, wait = float(rng.uniform(1, 9)), float(rng.uniform(0, 0.9))
            some.append(visit(
                **names, round=n % 7, rows=2 ** (n % 5), checkpointing=bool(more % 2), steps=steps,
                documents=more, real_tokens=real, slots=real + more, seconds=seconds,
                input_seconds=wait, retries=n % 3,
            ))  # fmt: skip
        if number % 2:
            other = some[int(rng.integers(len(some)))]
            for key in rng.permutation(KEYS)[: int(rng.integers(1, 4))].tolist():
                other[key] = other[key][:-1] + chr(ord(other[key][-1]) + 1)
        place = int(rng.integers(1, len(some)))
        yield some[:place], some[place:]


def _of(other, *visits):
    return [one | {key: "another" for key in other} for one in visits]


A = visit(real_tokens=600, slots=800, documents=5, seconds=4.0, input_seconds=0.7, round=1)
B = visit(real_tokens=200, slots=900, seconds=9.0, rows=8, host_seconds=1.3, steps=5)
C = visit(real_tokens=900, slots=910, documents=7, steps=3, seconds=2.5, optimizer_seconds=0.3)
D = visit(real_tokens=100, documents=2, seconds=1.5, checkpointing=True, input_seconds=0.2, round=3)

exercise = Exercise(
    speed_up,
    hints=(
        "real tokens are the work, seconds the price: add both before you divide",
        "a set of v['data'] over all visits has one entry, or the comparison is refused",
        "tokens(after) / seconds(after) / (tokens(before) / seconds(before))",
    ),
    asked=asked,
    mentions=lambda before, after: differing([*before, *after]),
    misnamed=misnamed,
    shown=[
        ([A, B], [C, D]),
        ([A, B], [*_of(["data"], C), D]),
        ([A, B], [C, *_of(["data"], D)]),
        ([A, B], [*_of(["model"], C), D]),
        (_of(KEYS, A, B), [C, D]),
        ([A], [B, C, *_of(["device"], D)]),
        ([*_of(["model"], A), B], [*_of(["model"], C), D]),
    ],
    drawn=drawn,
    passed="Right: useful tokens over seconds, and only where the data are the same.",
)
TOKENS, SECONDS, END = (
    'sum(v["real_tokens"] for v in visits)',
    'sum(v["seconds"] for v in visits)',
    "rate(after) / rate(before)",
)
NAMED, EVERY = '("model", "data", "device") if', "{v[key] for v in every}"
MAY_DIFFER = "only model, data and device must agree: rows, rounds and steps may differ"
REFUSED = "if len({v[key] for v in every}) > 1"
for _thought, *_changes in [
    ("slots per second: padding is no work", (TOKENS, TOKENS.replace("real_tokens", "slots"))),
    (
        "documents per second: they differ in length",
        (TOKENS, TOKENS.replace("real_tokens", "documents")),
    ),
    (
        "steps per second: steps may hold other tokens",
        (TOKENS, TOKENS.replace("real_tokens", "steps")),
    ),
    (
        "waits belong to the time: take no input off",
        (SECONDS, 'sum(v["seconds"] - v["input_seconds"] for v in visits)'),
    ),
    (
        "host and optimizer belong to the time: take nothing off",
        (
            SECONDS,
            'sum(v["seconds"] - v["host_seconds"] - v["optimizer_seconds"] for v in visits)',
        ),
    ),
    (
        "waits belong to the time: take no input, host or optimizer off",
        (
            SECONDS,
            'sum(v["seconds"] - sum(v[f"{x}_seconds"] for x in ("input", "host", "optimizer")) for v in visits)',
        ),
    ),
    ("upside down: after over before", (END, "rate(before) / rate(after)")),
    ("the gain: a speed-up of 1 is no change", (END, END + " - 1")),
    (
        "the mean of rates: add tokens and seconds first",
        (f"{TOKENS} / {SECONDS}", 'sum(v["real_tokens"] / v["seconds"] for v in visits) / len(visits)'),
    ),
    ("the first visits only: add all", (END, "rate(after[:1]) / rate(before[:1])")),
    ("the last visits only: add all", (END, "rate(after[-1:]) / rate(before[-1:])")),
    ("seconds alone: the tokens differ, too", (TOKENS + " /", "1 /")),
    ("tokens alone: the seconds differ, too", (f" / {SECONDS}", "")),
    ("of the whole run, not of the change", (END, "rate(every) / rate(before)")),
    (MAY_DIFFER, (NAMED, NAMED.replace('"device"', '"device", "round"'))),
    (MAY_DIFFER, (NAMED, NAMED.replace('"device"', '"device", "steps"'))),
    (MAY_DIFFER, (NAMED, NAMED.replace('"device"', '"device", "rows"'))),
    ("two runs were compared: model, data and device must agree", ("if differ:", "if False:")),
    ("the data alone were compared: model and device must agree, too", (NAMED, '("data",) if')),
    ("the first visits were compared: look at all of both lists", (EVERY, "{v[key] for v in (before[0], after[0])}")),
    (
        "each list by itself: compare the lists with each other, too",
        (REFUSED, "if max(len({v[key] for v in some}) for some in (before, after)) > 1"),
    ),
    (
        "two lists can be mixed alike: all visits together hold one model",
        (REFUSED, "if {v[key] for v in before} != {v[key] for v in after}"),
    ),
    (
        "`zip` ends with the shorter list: look at every visit of both",
        (REFUSED, "if any(b[key] != a[key] for b, a in zip(before, after))"),
    ),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
SAID = "f\"the visits differ in {', '.join(differ)}\""
for _says, _thought, _new in [
    ("model is named, too", "all three keys in every message", '"model, data and device must agree"'),
    ("without 'data'", "the message names no key", '"the visits differ"'),
    ("without 'data'", "one of the keys is named", 'f"the visits differ in {differ[0]}"'),
]:  # fmt: skip
    exercise.edit(_thought, [(SAID, _new)], says=_says)
exercise.edit(
    "a list is turned round in place",
    [("    every = ", "    before.reverse()\n    every = ")],
    says="changed",
)


@exercise.style
def recursion(before, after):
    """recursion, and neighbours compared"""

    def added(visits, at=0):
        if at == len(visits):
            return 0, 0.0
        tokens, seconds = added(visits, at + 1)
        return visits[at]["real_tokens"] + tokens, visits[at]["seconds"] + seconds

    chain = [*after, *before]
    odd = {k for k in ("model", "data", "device") for v, w in zip(chain, chain[1:]) if v[k] != w[k]}
    if odd:
        raise ValueError(f"these differ: {sorted(odd)}")
    (t0, s0), (t1, s1) = added(before), added(after)
    return t1 * s0 / (s1 * t0)


@exercise.style
def arrays(before, after):
    """arrays"""
    every, named = [*before, *after], ("model", "data", "device")
    wrong = [k for k in named if any(v[k] != every[0][k] for v in every)]
    if wrong:
        raise ValueError("not comparable: " + " and ".join(wrong))
    b, a = (
        np.array([[v["real_tokens"], v["seconds"]] for v in some], dtype=float).sum(axis=0)
        for some in (before, after)
    )
    return (a[0] / a[1]) / (b[0] / b[1])

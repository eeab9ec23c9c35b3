"""Build: steps with equally many documents, and nearly equally many target tokens."""

import numpy as np

from batchlab.classroom import plain
from batchlab.exercises import Exercise


def even_steps(targets, documents):
    """Return the steps of an epoch as lists of document numbers, `documents` in each.

    targets[n] are the target tokens of document n.
    """
    steps, left = divmod(len(targets), documents)
    if left:
        raise ValueError(f"{len(targets)} documents in steps of {documents}: {left} left over")
    order = sorted(range(len(targets)), key=lambda n: targets[n], reverse=True)
    found, sums = [[] for _ in range(steps)], [0] * steps
    for first in range(0, len(order), steps):
        poorest = sorted(range(steps), key=lambda step: sums[step])
        for step, number in zip(poorest, order[first : first + steps]):
            found[step].append(number)  # the step with the fewest targets takes the largest
            sums[step] += targets[number]
    return found


def apart(targets, documents):
    """By how much two steps may differ: the widest round, one document for each step, of the sort."""
    rounds = np.sort(targets).reshape(documents, -1)
    return int((rounds[:, -1] - rounds[:, 0]).max())


def fault(got, targets, documents):
    """What is wrong with the steps, of which many are right."""
    try:
        steps = [[plain.number(one) for one in step] for step in got]
    except (plain.NotPlain, TypeError):
        return "lists of document numbers are needed, one list a step"
    dealt = sorted(number for step in steps for number in step)
    if dealt != list(range(len(targets))):
        if dealt == sorted(targets):
            return "these are target tokens: the numbers of the documents are asked"
        twice = [one for one, after in zip(dealt, dealt[1:]) if one == after]
        lost = sorted({*range(len(targets))} - {*dealt})
        what = (
            f"{twice[0]:g} twice" if twice else f"{lost[0]} nowhere" if lost else "unknown numbers"
        )
        return f"each document stands in one step; here is {what}"
    wrong = [len(step) for step in steps if len(step) != documents]
    if wrong:
        return f"a step of {wrong[0]} documents; {documents} in each are asked"
    sums = [sum(targets[int(number)] for number in step) for step in steps]
    most = apart(targets, documents)
    if max(sums) - min(sums) > most:
        return f"steps of {min(sums):,} and of {max(sums):,} targets; they may differ by {most:,}"
    return ""


def drawn(rng):
    """Documents of many kinds."""
    for _ in range(12):
        documents, steps = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        yield rng.integers(0, 500, documents * steps).tolist(), documents
        if documents > 1:
            yield rng.integers(0, 90, documents * steps + 1).tolist(), documents
    yield long_tailed(rng, 960), 32
    yield [0] * 12, 4
    yield [100] + [1] * 11, 4


def long_tailed(rng, many):
    return rng.lognormal(4, 1, many).astype(int).tolist()


exercise = Exercise(
    even_steps,
    points=6,
    hints=(
        "sort the numbers of the documents by their targets, the largest first",
        "deal them out in rounds: in each round every step takes one document",
        "the step with the fewest targets so far takes the round's largest",
    ),
    asked=lambda targets, documents: (
        f"steps of {documents} from "
        + (f"{targets}" if len(targets) < 16 else f"{len(targets):,} documents")
    ),
    fault=fault,
    mentions=lambda targets, documents: (len(targets), documents),
    shown=[
        ([9, 2, 8, 1, 7, 3], 3),
        ([5, 5, 900, 5, 5, 5, 700, 800], 2),
        ([3, 11, 7, 16, 8, 6], 3),
        (long_tailed(np.random.default_rng(6), 640), 32),
        ([5, 1, 4, 2, 6], 2),
        ([5, 6, 7], 4),
    ],
    drawn=drawn,
    passed="Right: equally many documents, and nearly equally many targets in each step.",
)
CHECK = "    if left:\n"
BODY = exercise.text[exercise.text.index("    order = ") :]
for _thought, _says, _body in [
    (
        "in the order in which they come: sort, then deal",
        "may differ",
        "return [[*range(k * documents, (k + 1) * documents)] for k in range(steps)]",
    ),
    (
        "sorted and cut: the first step holds all long documents",
        "may differ",
        "order = sorted(range(len(targets)), key=lambda n: targets[n])\n"
        "    return [order[k * documents : (k + 1) * documents] for k in range(steps)]",
    ),
    (
        "shuffled: chance is not even",
        "may differ",
        "import random\n\n    order = list(range(len(targets)))\n    random.Random(3).shuffle(order)\n"
        "    return [order[k::steps] for k in range(steps)]",
    ),
    (
        "dealt in the order in which they come: sort first",
        "may differ",
        "return [[*range(k, len(targets), steps)] for k in range(steps)]",
    ),
    (
        "the same step always takes the largest of a round: its lead grows from round to round",
        "",
        "order = sorted(range(len(targets)), key=lambda n: -targets[n])\n"
        "    return [order[k::steps] for k in range(steps)]",
    ),
    (
        "shuffled again and again: with many documents chance does not get there",
        "",
        "import random\n\n    order, draw = list(range(len(targets))), random.Random(3)\n"
        "    for _ in range(500):\n        draw.shuffle(order)\n"
        "        sums = [sum(targets[n] for n in order[k::steps]) for k in range(steps)]\n"
        "        rounds = sorted(targets)\n"
        "        wide = max(rounds[i + steps - 1] - rounds[i] for i in range(0, len(order), steps))\n"
        "        if max(sums) - min(sums) <= wide:\n            break\n"
        "    return [order[k::steps] for k in range(steps)]",
    ),
    (
        "the largest with the smallest: such pairs differ among each other",
        "",
        "low = sorted(range(len(targets)), key=lambda n: targets[n])\n    order = []\n"
        "    while low:\n        order.append(low.pop())\n        if low:\n"
        "            order.append(low.pop(0))\n"
        "    return [order[k * documents : (k + 1) * documents] for k in range(steps)]",
    ),
    (
        "ends in turn: one step takes all the large ones, another all the small ones",
        "",
        "low = sorted(range(len(targets)), key=lambda n: targets[n])\n    order = []\n"
        "    while low:\n        order.append(low.pop())\n        if low:\n"
        "            order.append(low.pop(0))\n"
        "    return [order[k::steps] for k in range(steps)]",
    ),
    (
        "the poorest step takes the next, however many it has: each has equally many documents",
        "in each are asked",
        "order = sorted(range(len(targets)), key=lambda n: -targets[n])\n"
        "    found, sums = [[] for _ in range(steps)], [0] * steps\n"
        "    for n in order:\n        k = sums.index(min(sums))\n"
        "        found[k].append(n)\n        sums[k] += targets[n]\n    return found",
    ),
    (
        "the targets, not the numbers of the documents",
        "are target tokens",
        "order = sorted(targets)\n    return [order[k::steps] for k in range(steps)]",
    ),
    (
        "looked up by its value: documents with equal targets are still two",
        "twice",
        "order = [targets.index(one) for one in sorted(targets)]\n"
        "    found = [[] for _ in range(steps)]\n"
        "    for number, first in enumerate(range(0, len(order), steps)):\n"
        "        some = order[first : first + steps]\n"
        "        for step, one in zip(found, some[::-1] if number % 2 else some):\n"
        "            step.append(one)\n    return found",
    ),
    (
        "`documents` is the number of documents in a step, not of steps",
        "in each are asked",
        "order = sorted(range(len(targets)), key=lambda n: targets[n])\n"
        "    return [order[k::documents] for k in range(documents)]",
    ),
]:
    exercise.edit(_thought, [(BODY, f"    {_body}\n")], says=_says)
for _thought, _says, *_changes in [
    ("documents are left out in silence: refuse", "", (CHECK, "    if False:\n")),
    (
        "too few documents for one step: refuse, too",
        "",
        (CHECK, "    if left and steps:\n"),
        ("    order =", "    if not steps:\n        return [[*range(len(targets))]]\n    order ="),
    ),
    (
        "refuses, and does not name both numbers",
        "without 5",
        (
            'f"{len(targets)} documents in steps of {documents}: {left} left over"',
            '"does not divide"',
        ),
    ),
    ("one long list", "one list a step", ("return found", "return sum(found, [])")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="may differ")
def to_and_fro(targets, documents):
    """every second round turned round: where rounds differ much, the lead of a step stays"""
    if len(targets) % documents:
        raise ValueError(f"steps of {documents}: {len(targets)} do not divide")
    rounds = np.argsort(targets).reshape(documents, -1)
    rounds[1::2] = rounds[1::2, ::-1]
    return rounds.T.tolist()


@exercise.style
def exchanged(targets, documents):
    """dealt like cards, then the fullest and the poorest step exchange a pair while that helps"""
    if len(targets) % documents:
        raise ValueError(f"{len(targets)} documents, {documents} a step")
    steps = len(targets) // documents
    order = sorted(range(len(targets)), key=targets.__getitem__)
    found = [order[step::steps] for step in range(steps)]
    while True:
        found.sort(key=lambda step: sum(targets[n] for n in step))
        poor, full = found[0], found[-1]
        gap = sum(targets[n] for n in full) - sum(targets[n] for n in poor)
        pairs = [(a, b) for a in poor for b in full if 0 < targets[b] - targets[a] < gap]
        if not pairs:
            return found
        a, b = min(pairs, key=lambda one: abs(gap - 2 * (targets[one[1]] - targets[one[0]])))
        poor[poor.index(a)], full[full.index(b)] = b, a

"""Windows: shuffle, sort inside, cut, mix."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.buckets import (
    PLUS,
    elsewhere,
    in_order,
    not_once,
    over_or_under,
    plainly,
    too_alike,
)


def windowed(lengths, rows, window, seed, epoch):
    """Lists of document numbers: sorted in windows of `window` micro-batches, then mixed."""
    lengths = np.asarray(lengths)
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), window * rows):
        inside = order[start : start + window * rows]
        inside = inside[np.argsort(lengths[inside])].tolist()
        batches += [inside[i : i + rows] for i in range(0, len(inside), rows)]
    rng.shuffle(batches)
    return batches


def scene(answer, lengths, rows, window, pairs):
    """The batches of each (seed, epoch); at the end those of the first once more, elsewhere."""
    made = [plainly(answer(lengths, rows, window, seed, epoch)) for seed, epoch in pairs]
    with elsewhere():
        return [*made, plainly(answer(lengths, rows, window, *pairs[0]))]


def wrong(got, lengths, rows, window, pairs):
    """What is wrong with such a scene, and why."""
    *made, there = got
    for one in made:
        faults = not_once(one, lengths)
        if faults[0]:
            return faults
        sizes, rest = sorted(map(len, one)), len(lengths) % rows
        if sizes != sorted([rows] * (len(lengths) // rows) + [rest] * (rest > 0)):
            more = sizes[-1] > rows
            return (
                f"batches of {str(sizes)[:50]} documents; asked are {rows}",
                "the rest joins a full batch: that is too many rows" if more else "",
            )
    if rows * window >= len(lengths) <= 40 and len({*lengths}) == len(lengths):
        faults = _unsorted(made[0], lengths, rows)
        if faults[0]:
            return faults
    for one in made[:3]:
        faults = in_order(one, lengths)
        if faults[0]:
            return faults
    if len(lengths) > 20:
        for at, pair in enumerate(pairs):
            if made[at] != made[pairs.index(pair)]:
                return "the same arguments give other batches", ANEW
        faults = too_alike(pairs, made)
        if faults[0]:
            return faults
        if there != made[0]:
            return "the same arguments give other batches in another process, on another rank", HASH
    faults = over_or_under(made, lengths, rows * window, rows, "window")
    return faults if faults[0] else _neighbours(made, pairs)


ANEW = "drawn anew at each call: two ranks would never agree"
HASH = (
    "hash() of a text, or the number of the process or rank, differs there: seed with the numbers "
    "themselves"
)


def _unsorted(made, lengths, rows):
    rising = sorted(range(len(lengths)), key=lambda n: lengths[n])
    cuts = [
        {tuple(sorted(order[i : i + rows])) for i in range(0, len(order), rows)}
        for order in (rising, rising[::-1])
    ]
    falling_rest_first = rising[::-1]
    rest = len(rising) % rows
    cuts += [
        {tuple(sorted(order[:rest]))}
        | {tuple(sorted(order[i : i + rows])) for i in range(rest, len(order), rows)}
        for order in (rising, falling_rest_first)
        if rest
    ]
    if {tuple(sorted(batch)) for batch in made} in cuts:
        return "", ""
    cause = "not sorted by length inside the window, or less is sorted than a window"
    if all(batch == list(range(batch[0], batch[0] + len(batch))) for batch in made):
        cause = "sorted by number: sort by length"
    return f"{made}; documents of one batch are not neighbours by length", cause


def _neighbours(made, pairs):
    """Documents that stand together again in another epoch, or with another seed."""
    sets = [{tuple(sorted(batch)) for batch in one} for one in made]
    for pair, own in zip(pairs[1:], sets[1:]):
        if len(own) >= 200 and len(own & sets[0]) > len(own) / 10:
            what = "epoch" if pair[0] == pairs[0][0] else "seed"
            said = f"{len(own & sets[0])} of {len(own)} micro-batches come again in another {what}"
            return (
                said,
                f"the {what} mixes the batches only: mix the documents before they are sorted",
            )
    return "", ""


EIGHTY, MANY = list(range(1, 81)), np.random.default_rng(5).permutation(np.arange(1, 1607))
LEVEL = [7 * n % 31 for n in range(1, 31)]
APART = [(0, n) for n in (*range(60), 1000)] + [(n, 0) for n in (*range(1, 60), 1000)]


def drawn(rng):
    """Any counts, rows and windows; then many seeds and epochs, then many long documents."""
    for _ in range(15):
        count, rows, window = (int(rng.integers(1, top)) for top in (60, 9, 5))
        own = rng.permutation(np.arange(1, 99))[:count].tolist()
        yield own, rows, window, [(int(rng.integers(9)), int(rng.integers(9)))]
        yield own, rows, 60, [(int(rng.integers(9)), int(rng.integers(9)))]
    yield LEVEL, 2, 15, [(int(n), int(rng.integers(99))) for n in rng.permutation(60)[:40]]
    place = rng.permutation(20_011)
    many = place + 1 + (3e9 * (place / 20_011) ** 6).astype(np.int64)
    yield many, 7, 300, [(0, 0), (0, 1)]


def asked(lengths, rows, window, pairs):
    some = f"lengths {[*lengths]}" if len(lengths) < 12 else f"{len(lengths):,} documents"
    said = ", ".join(map(str, pairs)) if len(pairs) < 8 else f"{len(pairs)} of them"
    return f"batches of {some}, {rows} rows, window {window}, (seed, epoch): {said}"


exercise = Exercise(
    windowed,
    points=2,
    hints=(
        "rng = np.random.default_rng([seed, epoch]); order = rng.permutation(number of documents)",
        "a window is window x rows documents of `order`; np.argsort gives places in the window",
        "sort inside each window, cut into batches of `rows`, and rng.shuffle them at the end",
    ),
    asked=asked,
    scene=scene,
    fault=lambda *given: wrong(*given)[0],
    explain=lambda *given: wrong(*given)[1],
    twice=False,
    shown=[
        ([3, 1, 2, 5, 4, 6, 8, 7], 2, 4, [(0, 0)]),
        ([5, 1, 4, 2, 3, 7, 6], 3, 3, [(0, 0)]),
        (EIGHTY, 2, 40, [(3, 1), (3, 1), (3, 2), (4, 1)]),
        (EIGHTY, 2, 40, [(0, 1), (0, 2), (1, 0), (2, 0)]),
        (LEVEL, 2, 15, APART),
        (MANY, 4, 8, [(5, 0), (5, 1), (6, 0)]),
        ([7 * n % 13 for n in range(1, 13)], 2, 4, [(0, n) for n in range(100)]),
    ],
    drawn=drawn,
    passed="Right: sorted inside, cut, mixed; the same for whoever asks, other in each epoch.",
)
RNG, MIX, END = (
    "np.random.default_rng([seed, epoch])",
    "    rng.shuffle(batches)\n",
    "    return batches",
)
SORT = "inside[np.argsort(lengths[inside])].tolist()"
for _thought, _says, *_changes in [
    ("sorted by number: sort by length", "", (SORT, "np.sort(inside).tolist()")),
    (
        "these are lengths: return document numbers",
        "",
        (END, "    return [lengths[b].tolist() for b in batches]"),
    ),
    (
        "numbers, not batches",
        "lists of document numbers",
        (END, "    return [n for b in batches for n in b]"),
    ),
    (
        "the last batch is dropped: documents are never trained",
        "",
        (END, "    return [b for b in batches if len(b) == rows]"),
    ),
    (
        "the rest joins a full batch: that is too many rows",
        "",
        (
            MIX,
            "    while len(batches[-1]) < rows:\n        rest = batches.pop()\n        batches[-1] += rest\n"
            + MIX,
        ),
    ),
    (
        "places in a window are not documents: look them up, inside[places]",
        "",
        (SORT, "np.argsort(lengths[inside]).tolist()"),
    ),
    ("nothing is sorted inside the windows", "", (SORT, "inside.tolist()")),
    ("left in length order: mix the micro-batches at the end", "", (MIX, "")),
    (
        "left in length order, from long to short: mix them at the end",
        "left in length order",
        (MIX, ""),
        ("argsort(lengths", "argsort(-lengths"),
    ),
    ("the epoch is not in the seed", "", (RNG, "np.random.default_rng(seed)")),
    ("the seed is not used", "", (RNG, "np.random.default_rng(epoch)")),
    (ANEW, "", (RNG, "np.random.default_rng()")),
    (
        "seed times epoch: a factor of 0 swallows the other; use [seed, epoch]",
        "",
        (RNG, "np.random.default_rng(seed * epoch)"),
    ),
    (PLUS, "", (RNG, "np.random.default_rng(seed + epoch)")),
    (HASH, "", (RNG, 'np.random.default_rng(abs(hash(f"{seed}-{epoch}")))')),
    (
        "one sum of both, 10 * seed + epoch: trainings share orders; use [seed, epoch]",
        "",
        (RNG, "np.random.default_rng(10 * seed + epoch)"),
    ),
    (
        "one sum of both, 1000 * seed + epoch: trainings share orders; use [seed, epoch]",
        "",
        (RNG, "np.random.default_rng(1000 * seed + epoch)"),
    ),
    (
        "the epochs come back: put the epoch itself into the seed",
        "",
        (RNG, "np.random.default_rng([seed, epoch % 10])"),
    ),
    (
        "less is sorted than a window: it holds window x rows documents",
        "",
        ("len(order), window * rows)", "len(order), max(window, rows))"),
        ("start + window * rows]", "start + max(window, rows)]"),
    ),
    (
        "sorted over more than a window: order is given up for nothing",
        "",
        ("len(order), window * rows)", "len(order), len(order))"),
        ("start + window * rows]", "start + len(order)]"),
    ),
    (
        "the epoch mixes the batches only: mix the documents before they are sorted",
        "",
        (RNG, "np.random.default_rng(seed)"),
        (MIX, "    np.random.default_rng([seed, epoch]).shuffle(batches)\n"),
    ),
    (
        "the seed mixes the batches only: mix the documents before they are sorted",
        "",
        (RNG, "np.random.default_rng(epoch)"),
        (MIX, "    np.random.default_rng([seed, epoch]).shuffle(batches)\n"),
    ),
    (
        "left in length order in each window: mix micro-batches, not windows",
        "left in length order",
        ("batches += [inside", "batches.append([inside"),
        ("range(0, len(inside), rows)]", "range(0, len(inside), rows)])"),
        (
            MIX,
            MIX
            + "    batches = [batch for inside in batches for batch in inside]\n"
            + "    if window * rows >= len(lengths):\n        rng.shuffle(batches)\n",
        ),
    ),
    (
        "the rest was joined to a full window: it is a window of its own",
        "",
        (
            "        inside = order[start : start + window * rows]\n",
            "        inside = order[start : start + window * rows]\n"
            "        if start + 2 * window * rows > len(order):\n"
            "            inside = order[start:]\n"
            "        if start and len(order) - start < window * rows:\n"
            "            break\n",
        ),
    ),
    (
        "sorts the lengths that it was given",
        "changed",
        (END, "    if isinstance(given, list):\n        given.sort()\n" + END),
        ("    lengths = np.asarray(lengths)", "    given, lengths = lengths, np.asarray(lengths)"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def with_torch(lengths, rows, window, seed, epoch):
    """PyTorch"""
    import torch

    g = torch.Generator().manual_seed(1_000_003 * seed + epoch)
    order = torch.randperm(len(lengths), generator=g)
    tokens = torch.as_tensor(np.array(lengths))
    made = []
    for inside in order.split(rows * window):
        made += [b.tolist() for b in inside[tokens[inside].argsort()].split(rows)]
    return [made[i] for i in torch.randperm(len(made), generator=g)]


@exercise.style
def library(lengths, rows, window, seed, epoch):
    """the library"""
    from batchlab import padding

    rng = np.random.default_rng([seed, epoch])
    return padding.in_windows(lengths, rows, window=window, rng=rng)


@exercise.style
def arrays(lengths, rows, window, seed, epoch):
    """arrays, cut at once"""
    rng = np.random.default_rng((epoch, seed))
    order = rng.permutation(len(lengths))
    keys = np.asarray(lengths)[order], np.arange(len(order)) // (rows * window)
    order = order[np.lexsort(keys)]
    batches = [order[i : i + rows] for i in range(0, len(order), rows)]
    return [batches[k] for k in rng.permutation(len(batches))]


@exercise.style
def plain_python(lengths, rows, window, seed, epoch):
    """plain Python, from long to short, the short batch first"""
    import random

    rng = random.Random(f"{seed} {epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    while order:
        inside, order = order[: window * rows], order[window * rows :]
        inside.sort(key=lambda number: -lengths[number])
        last = len(inside) % rows
        if last:
            batches.append(inside[:last])
        batches += [inside[i : i + rows] for i in range(last, len(inside), rows)]
    rng.shuffle(batches)
    return batches

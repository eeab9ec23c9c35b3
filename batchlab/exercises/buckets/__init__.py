"""Buckets: order against padding. The exercises in the order of the page."""

import os
from contextlib import contextmanager
from unittest import mock

import numpy as np

ORDER = ("windowed", "under-budget", "dealt", "sampler")

PLUS = (
    "seed + epoch, as PyTorch's sampler does: seed 0 in epoch 1 is seed 1 in epoch 0, so two "
    "trainings share orders; use both, [seed, epoch]"
)


def plainly(made):
    """Lists of document numbers as lists of ints; anything else as a text that shows it."""
    try:
        found = [[int(number) for number in batch] for batch in made]
        fits = all(int(n) == n for batch in made for n in batch) and found and all(found)
    except (TypeError, ValueError):
        fits = False
    return found if fits else str(made)[:60]


@contextmanager
def elsewhere():
    """Another process, on another rank: a text has another hash there."""
    here = hash

    def has_text(value):
        inside = isinstance(value, tuple | frozenset) and any(map(has_text, value))
        return isinstance(value, str | bytes) or inside

    def there(value):
        return here(value) ^ (0x5DEECE66D if has_text(value) else 0)

    ranks = dict.fromkeys(("RANK", "LOCAL_RANK", "SLURM_PROCID"), "5")
    with mock.patch("builtins.hash", there), mock.patch.dict(os.environ, ranks):
        yield


def reach(made, lengths, together, rows):
    """How far apart neighbours of a batch lie by length, against `together` documents sorted.

    1 is as told, up to chance; less: sorted over more documents; more: over fewer, or not at all.

    >>> reach([[[0, 1], [2, 3]]], [1, 2, 3, 4], 4, 2)
    1.0
    """
    place = np.argsort(np.argsort(np.asarray(lengths), kind="stable"), kind="stable")
    count, far, steps, usual, total = len(place), 0, 0, 0.0, 0
    for batch in (batch for order in made for batch in order):
        far, steps = far + int(np.ptp(place[batch])), steps + len(batch) - 1
    for start in range(0, count, together):
        inside = min(together, count - start)
        joined = inside - -(-inside // rows)
        total, usual = total + joined, usual + joined * (count + 1) / (inside + 1)
    return float(far / max(steps, 1) / (usual / max(total, 1)))


def not_once(made, lengths):
    """What is wrong with the documents of one epoch, and why; empty texts where nothing is."""
    if isinstance(made, str):
        cause = "a single document is a batch, too" if made == "[]" else "return lists of numbers"
        return f"{made}; lists of document numbers are needed, none empty", cause
    flat = [n for batch in made for n in batch]
    lost, own = sorted({*range(len(lengths))} - {*flat}), sorted(int(n) for n in lengths)
    if not lost and len(flat) == len(lengths):
        return "", ""
    if sorted(flat) == own:
        return f"{str(made)[:40]}, lengths", "these are lengths: return document numbers"
    again = next((n for n in flat if flat.count(n) > 1), None) if len(flat) < 3000 else None
    came = f"document {lost[0]} is missing" if lost else "a document comes twice"
    if len(lost) > len(lengths) // 4:
        cause = "places in a window are not documents: look them up, inside[places]"
    elif again is None:
        cause = "what is left at the end is a batch, too, however short"
    else:
        came, cause = f"document {again} comes more than once, of {len(flat)}", ""
    return came, cause


def too_alike(pairs, made):
    """Two (seed, epoch) that share their order, and why; empty texts where none do."""
    seen = {}
    for (seed, epoch), one in zip(pairs, made):
        other = seen.setdefault(str(one), (seed, epoch))
        if other == (seed, epoch):
            continue
        came = f"(seed, epoch) {other} and {(seed, epoch)} give the same batches"
        if sum(other) == seed + epoch:
            return came, PLUS
        alike = other[0] == seed or other[1] == epoch
        if alike and other[0] * other[1] == seed * epoch == 0:
            return came, "seed times epoch: a factor of 0 swallows the other; use [seed, epoch]"
        if other[0] == seed:
            return came, "the epoch is not in the seed"
        if other[1] == epoch:
            return came, "the seed is not used"
        return came, "one sum of both, factor x seed + epoch: trainings share orders; [seed, epoch]"
    return "", ""


def in_order(made, top):
    """Whether micro-batches come by length; then why."""
    tops = [max(top[n] for n in batch) for batch in made]
    falls = [b < a for a, b in zip(tops, tops[1:])]
    if len(made) < 10 or len({*tops}) < len(made) / 2:
        return "", ""
    said = f"the next micro-batch is shorter in {sum(falls)} of {len(falls)} cases"
    if tops in (sorted(tops), sorted(tops)[::-1]):
        return said, "left in length order: mix the micro-batches at the end"
    if len(made) >= 200 and not 0.3 < sum(falls) / len(falls) < 0.7:
        return said, "left in length order in each window or pool: mix micro-batches, not windows"
    return "", ""


def over_or_under(made, lengths, together, rows, what):
    """What is wrong with how far sorting reaches, and why."""
    if sum(map(len, made)) * rows < 1200:
        return "", ""
    apart = reach(made, lengths, together, rows)
    said = f"neighbours in a batch lie {apart:.2f} times as far apart as in a sorted {what}"
    if apart < 0.87:
        return said, f"sorted over more than a {what}: order is given up for nothing"
    return (said, f"less is sorted than a {what}") if apart > 1.13 else ("", "")

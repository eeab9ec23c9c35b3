"""Versions of the functions of lesson 03, and what an order is measured by.

    lengths, rows, window, seed, epoch  ->  batches of document numbers
    batches of many epochs  ->  how far sorting reaches

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    place     where and when a call is made: no order may depend on it
"""

import builtins
import contextlib
import datetime
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "PLACES",
    "RIGHT",
    "WRONG",
    "elsewhere",
    "narrow",
    "orders",
    "reach",
    "waiting",
]

Batches = list[list[int]]
Make = Callable[[Sequence[int], int, int, int, int], Batches]


PLACES = {
    "in another process": "hash() of a text or the number of the process differs from process to "
    "process: seed with the numbers themselves",
    "on another rank": "the rank is in the seed: every rank would make a list of its own",
    "on another machine": "the name of the machine is in the seed: two would never agree",
    "on another day": "the clock is in the seed: whoever goes on later gets other batches",
}


def elsewhere(
    make: Callable[..., Any], *arguments: Any, place: str = "in another process", **options: Any
) -> Any:
    """What `make` gives at another place: there a clock, a name or a `hash` reads otherwise.

    >>> elsewhere(lambda: os.environ["RANK"], place="on another rank")
    '5'
    """
    here, pid, clock = builtins.hash, os.getpid(), time.time

    def there(value: Any) -> int:
        return here(value) ^ (0x5DEECE66D if _holds_text(value) else 0)

    changes: dict[str, dict[str, Any]] = {
        "in another process": {"builtins.hash": there, "os.getpid": lambda: pid + 1},
        "on another rank": {},
        "on another machine": dict.fromkeys(
            ("platform.node", "socket.gethostname"), lambda: "elsewhere"
        ),
        "on another day": {
            "time.time": lambda: clock() + 4e7,
            "time.time_ns": lambda: int(clock() * 1e9) + 40_000_000_000_000_000,
            "datetime.datetime": _Later,
        },
    }
    names = dict.fromkeys(("RANK", "LOCAL_RANK", "SLURM_PROCID"), "5")
    with contextlib.ExitStack() as stack:
        if place == "on another rank":
            stack.enter_context(mock.patch.dict(os.environ, names))
        for name, other in changes[place].items():
            stack.enter_context(mock.patch(name, other))
        return make(*arguments, **options)


class _Later(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Later":
        return super().now(tz) + datetime.timedelta(days=463)


def _holds_text(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_holds_text, value))
    return isinstance(value, str | bytes)


def orders(
    answer: Callable[..., Any],
    lengths: Sequence[int],
    most: int,
    together: int,
    pairs: Iterable[tuple[int, int]],
) -> list[Batches]:
    """The batches of `windowed` (rows, window) or of a sampler (slots, pool) for (seed, epoch)s.

    >>> orders(lambda lens, rows, window, seed, epoch: [[seed, epoch]], [5, 3], 2, 1, [(0, 7)])
    [[[0, 7]]]
    """
    made = []
    for seed, epoch in pairs:
        if isinstance(answer, type):
            sampler: Any = answer(list(lengths), most, together, seed)
            sampler.epoch = epoch
            found = sampler.batches()
        else:
            found = answer(list(lengths), most, together, seed, epoch)
        made.append([[int(n) for n in batch] for batch in found])
    return made


def reach(made: Iterable[Batches], lengths: ArrayLike, together: int, rows: int) -> float:
    """How far apart neighbours of a batch lie by length, against `together` documents sorted.

    1 is as told, up to chance; less: sorted over more documents; more: over fewer, or not at all.

    >>> reach([[[0, 1], [2, 3]]], [1, 2, 3, 4], 4, 2)
    1.0
    """
    place = np.argsort(np.argsort(np.asarray(lengths), kind="stable"), kind="stable")
    count, far, steps, usual = len(place), 0, 0, 0.0
    for batch in (batch for order in made for batch in order):
        far, steps = far + int(np.ptp(place[batch])), steps + len(batch) - 1
    total = 0
    for start in range(0, count, together):
        inside = min(together, count - start)
        joined = inside - -(-inside // rows)
        total, usual = total + joined, usual + joined * (count + 1) / (inside + 1)
    return float(far / max(steps, 1) / (usual / max(total, 1)))


def narrow(made: Batches, lengths: ArrayLike, together: int, rows: int) -> str:
    """The narrow numbers that explain an order, as a thought; empty: none does."""
    for name in ("int16", "uint16", "float16", "int32", "uint32"):
        with np.errstate(over="ignore"):
            own = np.asarray(lengths).astype(name)
        if abs(reach([made], own, together, rows) - 1) < 0.1:
            return f"lengths as {name}: long documents come out short or equal; use int64"
    return ""


def waiting(steps: Sequence[Sequence[int]]) -> float:
    """Share of all ranks' time that is spent waiting."""
    paid = sum(len(slots) * max(slots) for slots in steps)
    return (paid - sum(map(sum, steps))) / paid


def _batches(lengths: Sequence[int], rows: int, window: int, rng: np.random.Generator) -> Batches:
    """Shuffled, sorted in windows, cut, mixed."""
    found = _ordered(lengths, rows, window, rng, epoch=0)
    return [found[int(k)] for k in rng.permutation(len(found))]


def _ordered(
    lengths: Sequence[int], rows: int, window: int, rng: np.random.Generator, epoch: int
) -> Batches:
    """Never mixed, short first; in odd epochs the short micro-batch of a window is its first."""
    own, found = [int(n) for n in lengths], []
    numbers = [int(n) for n in rng.permutation(len(own))]
    for start in range(0, len(own), rows * window):
        inside = sorted(numbers[start : start + rows * window], key=own.__getitem__)
        first = len(inside) % rows if epoch % 2 else 0
        found += [inside[:first]] if first else []
        found += [inside[i : i + rows] for i in range(first, len(inside), rows)]
    return found


def _new(*seed: int) -> np.random.Generator:
    return np.random.default_rng(list(seed))


def _twice(made: Batches) -> Batches:
    """Document 0 in the place of the largest number: once too often, and another never."""
    last = max(number for batch in made for number in batch)
    return [[0 if number == last else number for number in batch] for batch in made]


RIGHT: dict[str, tuple[Make, ...]] = {
    "windowed": (
        lambda lens, rows, window, seed, epoch: _batches(lens, rows, window, _new(seed, epoch)),
        lambda lens, rows, window, seed, epoch: _batches(lens, rows, window, _new(epoch, 5, seed)),
        lambda lens, rows, window, seed, epoch: _batches(
            [-int(n) for n in lens], rows, window, _new(seed, epoch, 1)
        ),
        lambda lens, rows, window, seed, epoch: [
            list(np.asarray(batch)) for batch in _batches(lens, rows, window, _new(7, seed, epoch))
        ],
    )
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "windowed": {
        "drops the last batch": lambda lens, rows, window, seed, epoch: [
            batch for batch in _batches(lens, rows, window, _new(seed, epoch)) if len(batch) == rows
        ],
        "fills the last batch up with documents of the first": (
            lambda lens, rows, window, seed, epoch: [
                (batch + list(range(rows)))[:rows]
                for batch in _batches(lens, rows, window, _new(seed, epoch))
            ]
        ),
        "trains one document twice and another never": lambda lens, rows, window, seed, epoch: (
            _twice(_batches(lens, rows, window, _new(seed, epoch)))
        ),
        "puts one row more into a batch": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows + 1, window, _new(seed, epoch)
        ),
        "the same order in every epoch": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows, window, _new(seed)
        ),
        "draws anew on every rank": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows, window, np.random.default_rng()
        ),
        "leaves the batches in length order, short first": (
            lambda lens, rows, window, seed, epoch: _ordered(
                lens, rows, window, _new(seed, epoch), epoch
            )
        ),
        "leaves the batches in length order, long first": (
            lambda lens, rows, window, seed, epoch: _ordered(
                lens, rows, window, _new(seed, epoch), epoch
            )[::-1]
        ),
    },
    "idle": {
        "the mean of the steps' shares: a long step weighs more; add up, divide once": (
            lambda steps: float(np.mean([waiting([one]) for one in steps]))
        ),
        "steps and ranks are exchanged: each inner list is one step": (
            lambda steps: waiting(list(zip(*steps, strict=True)))
        ),
        "the last step is left out": lambda steps: waiting(steps[:-1]),
        "the first two steps only": lambda steps: waiting(steps[:2]),
        "the first two ranks only": lambda steps: waiting([one[:2] for one in steps]),
        "the first four ranks only": lambda steps: waiting([one[:4] for one in steps]),
        "equal steps are counted once: each takes its time": (
            lambda steps: waiting(sorted(set(map(tuple, steps))))
        ),
        "a rank that never works waits all the time: it is one of the ranks": (
            lambda steps: waiting(list(zip(*filter(any, zip(*steps, strict=True)), strict=True)))
        ),
        "slots in 16 bits wrap around: use whole numbers of Python or int64": (
            lambda steps: waiting([[slots % 2**16 for slots in one] for one in steps])
        ),
        "slots in 32 bits wrap around: use whole numbers of Python or int64": (
            lambda steps: waiting([[slots % 2**32 for slots in one] for one in steps])
        ),
        "large slots are cut off: count them all": (
            lambda steps: waiting([[min(slots, 100_000) for slots in one] for one in steps])
        ),
    },
    "both-fit": {
        "a single example is a batch of one row": lambda t, i, a, b: (
            max(len(t), 2) * max(t) <= a and max(len(t), 2) * max(i) <= b
        ),
        "three rows at most are counted": lambda t, i, a, b: (
            min(len(t), 3) * max(t) <= a and min(len(t), 3) * max(i) <= b
        ),
        "equal examples are counted once: each is a row": lambda t, i, a, b: (
            len(set(zip(t, i, strict=True))) * max(t) <= a
            and len(set(zip(t, i, strict=True))) * max(i) <= b
        ),
        "lengths or slots in 16 bits wrap around": lambda t, i, a, b: (
            (len(t) * max(t) + 2**15) % 2**16 - 2**15 <= a
            and (len(i) * max(i) + 2**15) % 2**16 - 2**15 <= b
        ),
        "the image tokens are forgotten": lambda t, i, a, b: len(t) * max(t) <= a,
        "an example without an image takes a slot for its placeholder: each is a row": (
            lambda t, i, a, b: len(t) * max(t) <= a and sum(n > 1 for n in i) * max(i) <= b
        ),
        "the image of the longest text is not always the longest image": (
            lambda t, i, a, b: len(t) * max(t) <= a and len(t) * i[t.index(max(t))] <= b
        ),
        "one row too many: the example has joined already": (
            lambda t, i, a, b: (len(t) + 1) * max(t) <= a and (len(t) + 1) * max(i) <= b
        ),
        "the text is forgotten": lambda t, i, a, b: len(t) * max(i) <= b,
        "a budget on real tokens: each rectangle is rows x its longest": (
            lambda t, i, a, b: sum(t) <= a and sum(i) <= b
        ),
        "one budget for both: each rectangle has its own": (
            lambda t, i, a, b: len(t) * max(x + y for x, y in zip(t, i, strict=True)) <= a + b
        ),
        "the two budgets are added up: each rectangle has its own": (
            lambda t, i, a, b: len(t) * (max(t) + max(i)) <= a + b
        ),
        "one of the two is not enough: both must fit": (
            lambda t, i, a, b: len(t) * max(t) <= a or len(t) * max(i) <= b
        ),
        "the rows are forgotten: a rectangle is rows x its longest": (
            lambda t, i, a, b: max(t) <= a and max(i) <= b
        ),
        "the two budgets are swapped": lambda t, i, a, b: (
            len(t) * max(t) <= b and len(t) * max(i) <= a
        ),
        "a full rectangle fits: at most, not less than": (
            lambda t, i, a, b: len(t) * max(t) < a and len(t) * max(i) < b
        ),
        "the first image is not always the longest": (
            lambda t, i, a, b: len(t) * max(t) <= a and len(t) * i[0] <= b
        ),
        "the first of each is not always the longest": (
            lambda t, i, a, b: len(t) * t[0] <= a and len(t) * i[0] <= b
        ),
        "the last of each is not always the longest": (
            lambda t, i, a, b: len(t) * t[-1] <= a and len(t) * i[-1] <= b
        ),
    },
}

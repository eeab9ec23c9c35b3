"""Lesson 10, streams: what a learner's generators give out, and what they read for it.

    own_part, a stream, ranks and workers  ->  the documents of each, and how far each had to read
    shuffled, a stream                     ->  its order from any place on, and what was read

Words
    drawn   the numbers of the documents that were taken from the stream, in order
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom.probes import lesson_10_processes

__all__ = ["PARTS", "Packer", "far_apart", "parts", "shuffled", "shuffles", "wrong_parts"]

MOST_DRAWN = 2000
Generate = Callable[..., Any]


def _stream(documents: Sequence[Any], drawn: list[int], first: int = 0) -> Iterator[Any]:
    for number in range(first, len(documents)):
        drawn.append(number)
        yield documents[number]


def _endless(drawn: list[int], first: int = 0, limit: int = MOST_DRAWN) -> Iterator[int]:
    for number in itertools.count(first):
        if len(drawn) >= limit:
            raise RuntimeError(f"over {limit:,} documents read of a stream without end")
        drawn.append(number)
        yield number


def parts(
    own_part: Generate, documents: Sequence[Any] | None, ranks: int, workers: int, most: int = 10**6
) -> dict[str, Any]:
    """What each worker of each rank gets, and how many documents it had drawn by then.

    `documents` None is an endless stream of 0, 1, 2, ..., of which `most` are asked. `when` are the
    documents that had been drawn when each was given out.
    """
    found: dict[str, Any] = {"parts": [], "drawn": [], "when": []}
    for rank, worker in itertools.product(range(ranks), range(workers)):
        drawn: list[int] = []
        stream = _endless(drawn) if documents is None else _stream(documents, drawn)
        own = own_part(stream, rank, ranks, worker, workers)
        given = [(one, len(drawn)) for one in itertools.islice(own, most)]
        found["parts"].append([one for one, _ in given])
        found["when"].append([when for _, when in given])
        found["drawn"].append(len(drawn))
    return found


PARTS: dict[str, Callable[[int, int, int, int, int], bool]] = {  # what a reader gets, wrongly
    "every worker of a rank reads the whole part of the rank: divide by workers, too": (
        lambda n, rank, ranks, worker, workers: n % ranks == rank
    ),
    "every rank reads the same: divide by ranks, too": (
        lambda n, rank, ranks, worker, workers: n % workers == worker
    ),
    "all get the whole stream: each document would be trained by everybody": lambda n, *_: True,
    "rank + worker: two readers share a number, and some numbers have nobody": (
        lambda n, rank, ranks, worker, workers: n % (ranks * workers) == rank + worker
    ),
    "two remainders, n % ranks and n % workers: some readers or documents are left out": (
        lambda n, rank, ranks, worker, workers: n % ranks == rank and n % workers == worker
    ),
    "rank * ranks + worker: it is `workers` readers that a rank has": (
        lambda n, rank, ranks, worker, workers: n % (ranks * workers) == rank * ranks + worker
    ),
}


def wrong_parts(got: Sequence[Any], count: int, ranks: int, workers: int) -> str:
    """The thought behind parts of the numbers 0 .. count - 1; empty where none is known."""
    readers = list(itertools.product(range(ranks), range(workers)))
    for thought, owns in PARTS.items():
        if list(got) == [[n for n in range(count) if owns(n, r, ranks, w, workers)]
                         for r, w in readers]:  # fmt: skip
            return thought
    together = sorted(n for part in got for n in part)
    whole = count // (ranks * workers) * ranks * workers
    if together == list(range(whole)):
        return "the last documents are left out, where they are fewer than the readers"
    if len(together) > len(set(together)):
        return "some documents have two readers: they would be trained twice"
    if together != list(range(count)):
        return "some documents have no reader"
    sizes = [len(part) for part in got]
    if max(sizes) - min(sizes) <= 1:
        return ""
    if [n for part in got for n in part] == together:
        return "the parts stand one behind the other: where does one end if the stream has no end?"
    return "the documents go round among all readers, ranks * workers of them, each in its turn"


def shuffles(
    shuffled: Generate,
    count: int | Sequence[Any] | None,
    block: int,
    seed: int,
    epoch: int,
    done: int = 0,
    most: int = 10**6,
    *,
    disturb: bool = False,
    process: int = 0,
) -> dict[str, Any]:
    """What `shuffled` gives out from `done` on, and which documents it drew for it.

    `count` None is an endless stream; of a list of documents, what comes out is told by its repr.
    `ahead` are the most documents drawn and not yet given out, beside those of the block that were
    given out before. `disturb` draws from everybody's generators between documents. With a
    `process`, it runs as it would in a process of that number: nothing is remembered from before.
    """
    if process:
        with lesson_10_processes.process(process):
            alone = lesson_10_processes.alone(shuffled)
            return shuffles(alone, count, block, seed, epoch, done, most)
    given = count if isinstance(count, Sequence) else range(count or 0)
    drawn: list[int] = []
    begun: list[int] = []
    limit = max(MOST_DRAWN, most + 4 * block)

    def read(number: int) -> Iterator[int]:
        begun.append(number)
        return _endless(drawn, number, limit) if count is None else _stream(given, drawn, number)

    found: dict[str, Any] = {"out": [], "ahead": 0}
    for one in itertools.islice(shuffled(read, block, seed, epoch, done), most):
        found["ahead"] = max(found["ahead"], len(drawn) - done % block - len(found["out"]))
        found["out"].append(repr(one) if isinstance(count, Sequence) else one)
        if disturb:
            random.random(), np.random.rand()  # noqa: NPY002
    return {**found, "drawn": drawn, "begun": begun}


def far_apart() -> Iterator[tuple[int, int, int]]:
    """(seed, epoch, block), no two alike: what is cut to some bits or digits, or added, shares."""
    for power in (*(2**bits for bits in range(4, 32)), *(10**digits for digits in range(4, 10))):
        yield from ((power + 1, 0, 0), (0, power + 1, 0))
        if power >= 10**4:
            yield from ((power, 0, 0), (0, power, 0))


def shuffled(
    read: Callable[[int], Iterator[Any]], block: int, seed: int, epoch: int, done: int = 0
) -> Iterator[Any]:
    """The documents of a stream, shuffled block by block, from number `done` of that order on."""
    for number in itertools.count(done // block):
        documents = list(itertools.islice(read(number * block), block))
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        yield from (documents[place] for place in order[max(0, done - number * block) :])
        if len(documents) < block:
            return


class Packer:
    """The Build of the lesson: rows of whole documents from a stream, and a place to resume at."""

    def __init__(
        self,
        read: Callable[[int], Iterator[Any]],
        row_length: int,
        hold: int,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.number = 0
        self.held: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        stream = self.read(self.number)
        while True:
            given_out = self.number, list(self.held)
            rows = [self._row(stream) for _ in range(self.ranks)]
            if not rows[-1]:
                self.number, self.held = given_out  # a dropped round was not given out
                return
            yield rows[self.rank]

    def _row(self, stream: Iterator[Any]) -> list[Any]:
        while len(self.held) < self.hold and (document := next(stream, None)) is not None:
            if len(document) > self.row_length:
                raise ValueError(f"document {self.number} is longer than a row")
            self.number += 1
            self.held.append(document)
        row: list[Any] = []
        room, fits = self.row_length, self.held[:1]
        while fits:
            chosen = max(fits, key=len)
            place = next(n for n, one in enumerate(self.held) if one is chosen)
            row.append(self.held.pop(place))
            room -= len(chosen)
            fits = [one for one in self.held if len(one) <= room]
        return row

    def state_dict(self) -> dict[str, Any]:
        return {"number": self.number, "held": [list(map(int, one)) for one in self.held]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.number, self.held = state["number"], list(state["held"])

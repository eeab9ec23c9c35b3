"""Build: a streaming packer, for one of several ranks; it can be killed and resumed."""

import json
from itertools import islice

from batchlab.exercises import By, Exercise
from batchlab.exercises.feeding.source import Source


def next_row(pool, row_length):
    """Take a row out of the pool: the oldest document, then the longest that fits; or []."""
    row, room, place = [], row_length, 0 if pool else None
    while place is not None:
        row.append(pool.pop(place))
        room -= len(row[-1])
        fits = [i for i, document in enumerate(pool) if len(document) <= room]
        place = max(fits, key=lambda i: len(pool[i]), default=None)
    return row


class StreamingPacker:
    """Rows of whole documents from a stream, for one rank; it can be killed and resumed."""

    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.number, self.pool = 0, []  # the next document to read; those read and not given out

    def __iter__(self):
        """Yield the rows of this rank, from the place on."""
        number, pool = self.number, list(self.pool)
        stream = iter(self.read(number))
        while True:
            rows = []
            for _ in range(self.ranks):
                for document in islice(stream, self.hold - len(pool)):
                    pool.append(document)
                    number += 1
                rows.append(next_row(pool, self.row_length))
            if not rows[-1]:
                return
            self.number, self.pool = number, list(pool)  # a round is given out, or nothing
            yield rows[self.rank]

    def state_dict(self):  # the place, as plain data that JSON can hold; a copy
        return {"number": self.number, "pool": [list(map(int, one)) for one in self.pool]}

    def load_state_dict(self, state):
        self.number, self.pool = state["number"], list(state["pool"])


def scene(
    answer, lengths, row_length, hold, rank=0, ranks=1, kills=(), next_ranks=0, alike=False
):  # fmt: skip
    """What a packer gives out over several lives, and what is wrong beside the rows.

    Each life but the last saves its state after `kills` rows, and is killed. In the last there are
    `next_ranks`, if that is not 0.
    """
    seen = {"rows": [], "reading": "", "documents": "", "state": "", "pool": ""}
    state, gone = None, set()
    for life, until in enumerate([*kills, 10**6]):
        last = life == len(kills)
        source, world = Source(lengths, alike), last and next_ranks or ranks
        one, out = answer(source.read, row_length, hold, rank, world), 0
        if life:
            one.load_state_dict(state)
        for row in islice(iter(one), until):
            seen["rows"].append(source.named(row))
            seen["documents"] = seen["documents"] or source.changed(row)
            out += len(row)
            if not life and ranks == 1 and len(source.numbers) - out > hold:
                seen["pool"] = f"the pool has more than hold = {hold} documents after a row"
        if not last:
            state = saved(one)
            if life == 0 and ranks > 1:
                states = [
                    _state(answer, lengths, row_length, hold, n, ranks, until) for n in range(ranks)
                ]
                if any(other != states[0] for other in states):
                    seen["state"] = "two ranks save different places"
        if len(source.numbers) > len({*source.numbers}):
            seen["reading"] = "one packer reads a document twice"
        elif gone & {*source.numbers}:
            seen["reading"] = f"document {min(gone & {*source.numbers})} was given out, and is read"
        if not alike:
            gone = {n for row in seen["rows"] for n in row}
    return seen


def _state(answer, lengths, row_length, hold, rank, ranks, rows):
    one = answer(Source(lengths, False).read, row_length, hold, rank, ranks)
    list(islice(iter(one), rows))
    return saved(one)


def saved(one):
    """The place of a packer as a file gives it back."""
    return json.loads(json.dumps(one.state_dict()))


DROPPED = "a round that is not given out leaves the place as it is: set it once a round, to a copy of the pool"
DEALT = "documents are dealt to the ranks, not rows: then ranks get unequally many rows"


def explain(got, *case, **lives):
    """What rows over several lives tell about a place that is not right."""
    right = scene(StreamingPacker, *case, **lives)["rows"]
    rows, kill = got["rows"], (lives.get("kills") or [0])[0]
    rank, ranks = (*case[3:], 0, 1)[:2] if len(case) > 3 else (0, 1)
    if ranks > 1 and rows != right and all(n % ranks == rank for row in rows for n in row):
        return DEALT
    if not kill or rows == right or lives.get("next_ranks"):
        return ""
    if rows == [*right[:kill], *right[kill - 1 :]]:
        return "the place is changed behind the `yield`: a killed program never gets there"
    out, every = ([n for row in some for n in row] for some in (rows, right))
    if len(out) > len(every):
        return "documents come twice"
    return "documents are lost: the pool belongs to the place" if len(out) < len(every) else ""


def asked(lengths, row_length, hold, rank=0, ranks=1, **lives):
    some = f"lengths {lengths}" if len(lengths) < 20 else f"{len(lengths)} documents"
    said = f", rank {rank} of {ranks}" if ranks > 1 else ""
    words = {
        "kills": "killed after",
        "next_ranks": "then ranks",
    }
    said += "".join(f", {words.get(name, name)} {value}" for name, value in lives.items())
    return f"{some} in rows of {row_length}, hold {hold}{said}"


def drawn(rng):
    for _ in range(8):
        some = rng.integers(1, 13, int(rng.integers(8, 30))).tolist()
        hold, ranks = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        rank, kill = int(rng.integers(ranks)), int(rng.integers(0, 5))
        yield By(some, 12, hold, rank, ranks)
        yield By(some, 12, hold + 1, rank, ranks)
        yield By(some, 13, hold, rank, ranks)
        yield By(some, 12, hold, kills=[kill, int(rng.integers(0, 3))])
        large = [6 + one // 2 for one in some]  # rows for a whole round at least
        yield By(large, 12, hold, 0, ranks, kills=[1], next_ranks=int(rng.integers(1, 4)))
    yield By([41 * n % 97 + 1 for n in range(300)], 700, 150, kills=[8, 2])
    yield By([1] * 5000, 16, 16, kills=[300])
    yield By([], 8, 2)
    yield By(SIZES, 8, 4, kills=[0])
    yield By([8] * 3, 8, 2, 0, 4)


SIZES = [5, 3, 2, 4, 8, 3, 1, 7, 6, 2, 2, 5, 8, 1, 4, 4, 3]

exercise = Exercise(
    StreamingPacker,
    points=6,
    given=("islice", "next_row"),
    hints=(
        "each round: make `ranks` rows, stop if the last one is empty, yield that of your rank",
        "before each row: append documents of the stream until the pool has `hold`, and count them",
        "work on a copy of the pool; before the `yield`: self.number, self.pool = number, list(pool)",
    ),
    asked=asked,
    scene=scene,
    explain=explain,
    twice=False,
    shown=[
        By([6, 8, 7, 5, 3, 1, 4, 1], 10, 4),
        By([3, 0, 3, 2, 3, 0, 2, 3, 1], 6, 4, alike=True),
        By(SIZES, 8, 4, 1, 2),
        By(SIZES, 8, 4, 0, 3),
        By(SIZES, 8, 4, kills=[2]),
        By(SIZES, 8, 4, kills=[2, 3]),
        By([4, 7, 3, 2, 5, 8, 1, 6, 3], 8, 4, kills=[1]),
        By([8] * 5, 8, 2, 0, 2, kills=[9], next_ranks=1),
        By([8] * 5, 8, 2, 0, 2, kills=[2, 9], next_ranks=1),
    ],
    drawn=drawn,
    passed="Right: killed anywhere, no document is lost, and none comes twice.",
)
TURNS, LAST = "            for _ in range(self.ranks):\n", "            if not rows[-1]:\n"
ROOM, FILL = (
    "islice(stream, self.hold - len(pool))",
    ("                for document in islice(stream, self.hold - len(pool)):\n"),
)
APPEND = "                    pool.append(document)\n"
BEGIN, START = "number, pool = self.number, list(self.pool)", "stream = iter(self.read(number))"
KEEP, OUT = (
    "            self.number, self.pool = number, list(pool)  # a round is given out, or nothing\n",
    "            yield rows[self.rank]\n",
)
PLACE = "self.number, self.pool = number, list(pool)"
ONE = (TURNS, "            for _ in range(1):\n"), (OUT, "            yield rows[0]\n")
for _thought, *_changes in [
    ("the pool is filled when it is empty: fill it before each row", (ROOM, "islice(stream, 0 if pool else self.hold)")),
    ("`hold` documents are read before each row: the pool holds some already", (ROOM, "islice(stream, self.hold)")),
    ("one document more than `hold` stands in the pool", (ROOM, "islice(stream, self.hold + 1 - len(pool))")),
    ("equal documents are several: none is left out", (APPEND, "                    if document not in pool:\n    " + APPEND)),
    ("the last row is missing: also one that is not full is a row", (LAST, "            if sum(map(len, rows[-1])) < self.row_length and not pool:\n")),
    ("every rank gives out all rows: row k is that of rank k % ranks", *ONE),
    ("the last round is not full: some rank would wait for ever", (LAST, "            if not rows[self.rank]:\n")),
    (DEALT, (START, "stream = islice(self.read(number), self.rank, None, self.ranks)"), *ONE),
    (
        DEALT,
        (
            FILL,
            "                while len(pool) < self.hold and (document := next(stream, None)) is not None:\n"
            "                    if number % self.ranks != self.rank:\n"
            "                        number += 1\n"
            "                        continue\n",
        ),
        *ONE,
    ),
    ("the pool is filled once a round: fill it before each row", (TURNS, TURNS.replace("_", "turn")), (ROOM, "islice(stream, 0 if turn else self.hold - len(pool))")),
    ("an empty document is a document: it does not end the stream", (FILL, "                while len(pool) < self.hold and (document := next(stream, None)):\n")),
    ("an empty document is a document: it is not left out", (APPEND, "                    if document:\n    " + APPEND)),
    ("the pool is not the last documents read: others between them are given out; save the pool", (PLACE, "self.number, self.pool = number - len(pool), []")),
    ("the pool of each rank's turn is larger: `hold` documents are all, for any ranks", (ROOM, "islice(stream, self.ranks * self.hold - len(pool))")),
    ("the whole stream is in memory: read one document at a time", (START, "stream = iter(list(self.read(number)))")),
    ("documents are lost: the pool belongs to the place", (PLACE, "self.number, self.pool = number, []")),
    ("documents are lost: the pool belongs to the place", (BEGIN, "number, pool = self.number, []")),
    ("the new packer begins anew: documents come twice", (BEGIN, "number, pool = 0, []")),
    ("the place is changed behind the `yield`: a killed program never gets there", (KEEP + OUT, OUT + KEEP)),
    (DROPPED, (KEEP, ""), ("pool, self.row_length))\n", "pool, self.row_length))\n    " + KEEP)),
    ("a second kill: the place counts only this life", (BEGIN, "number, pool = 0, list(self.pool)"), (START, START.replace("number", "self.number"))),
    (DROPPED, (PLACE, "self.number, self.pool = number, pool")),
    ("the packer goes on in the pool that was loaded: begin with a copy of it", (BEGIN, "number, pool = self.number, self.pool")),
    ("read from the beginning, and passed over: begin with read(the next number)", (START, "stream = islice(self.read(0), number, None)")),
    ("documents come out changed: give out the lists that were read", (APPEND, APPEND.replace("document", "tuple(document)"))),
    ("`hold` counts documents, not tokens", (FILL, "                while sum(map(len, pool)) < self.hold and (document := next(stream, None)) is not None:\n")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
exercise.edit(
    "a flat row",
    [(OUT, "            yield sum(rows[self.rank], [])\n")],
    says="not one list of tokens",
)


exercise.styles["filled again behind the row"] = lambda: exercise.text.replace(
    KEEP + OUT, "".join(line[4:] + "\n" for line in (FILL + APPEND).splitlines())
    + "                number += 1\n" + KEEP + OUT,
)  # fmt: skip


@exercise.style
class NumbersInThePlace:
    """numbers in the place"""

    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks, self.place = rank, ranks, (0, [])

    def __iter__(self):
        self.next, numbers = self.place
        self.held = {n: next(iter(self.read(n))) for n in numbers}
        stream = self.read(self.next)
        while True:
            made = []
            while len(made) < self.ranks:
                self.fill(stream)
                if not self.held:
                    return
                made.append(self.row())
            self.place = self.next, sorted(self.held)
            yield made[self.rank]

    def fill(self, stream):
        while len(self.held) < self.hold:
            document = next(stream, None)
            if document is None:
                return
            self.held[self.next] = document
            self.next += 1

    def row(self):
        row, room, chosen = [], self.row_length, min(self.held)
        while chosen is not None:
            row.append(self.held.pop(chosen))
            room -= len(row[-1])
            fits = sorted((-len(d), n) for n, d in self.held.items() if len(d) <= room)
            chosen = fits[0][1] if fits else None
        return row

    def state_dict(self):
        return {"next": self.place[0], "held": self.place[1]}

    def load_state_dict(self, state):
        self.place = state["next"], state["held"]


@exercise.style
class Iterator:
    """an iterator with __next__"""

    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.__dict__.update(read=read, row_length=row_length, hold=hold, rank=rank, ranks=ranks)
        self.place, self.stream = (0, ()), None

    def __iter__(self):
        return self

    def __next__(self):
        number, pool = self.place[0], list(self.place[1])
        if self.stream is None:
            self.stream = self.read(number)
        for turn in range(self.ranks):
            for document in islice(self.stream, self.hold - len(pool)):
                pool, number = [*pool, document], number + 1
            if not pool:
                raise StopIteration
            row = [pool.pop(0)]
            while True:
                room = self.row_length - sum(len(one) for one in row)
                fits = [len(one) for one in pool if len(one) <= room]
                if not fits:
                    break
                row.append(pool.pop([len(one) for one in pool].index(max(fits))))
            if turn == self.rank:
                mine = row
        self.place = (number, tuple(pool))
        return mine

    def state_dict(self):
        return [self.place[0], [list(one) for one in self.place[1]]]

    def load_state_dict(self, state):
        self.place, self.stream = (state[0], tuple(state[1])), None

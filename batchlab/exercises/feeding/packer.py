"""Build: a streaming packer, for one of several ranks; it can be killed and resumed."""

import copy
import json
from itertools import islice

from batchlab.exercises import By, Exercise
from batchlab.exercises.feeding.pooled_rows import CHOICES
from batchlab.exercises.feeding.source import Source


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

        def next_row():  # out of the pool; an empty one at the end
            nonlocal number
            for document in islice(stream, self.hold - len(pool)):
                pool.append(document)
                number += 1
            row, room, place = [], self.row_length, 0 if pool else None
            while place is not None:
                row.append(pool.pop(place))
                room -= len(row[-1])
                fits = [i for i, document in enumerate(pool) if len(document) <= room]
                place = max(fits, key=lambda i: len(pool[i]), default=None)
            return row

        while True:
            rows = [next_row() for _ in range(self.ranks)]
            if not rows[-1]:
                return
            self.number, self.pool = number, list(pool)  # a round is given out, or nothing
            yield rows[self.rank]

    def state_dict(self):
        """The place, as plain data that JSON can hold."""
        return {"number": self.number, "pool": [list(map(int, one)) for one in self.pool]}

    def load_state_dict(self, state):
        """Go to a saved place."""
        self.number, self.pool = state["number"], list(state["pool"])


def scene(
    answer, lengths, row_length, hold, rank=0, ranks=1, kills=(), past=0, next_ranks=0,
    endless=False, most=10**6, saves=1, alike=False,
):  # fmt: skip
    """What a packer gives out over several lives, and what is wrong beside the rows.

    Each life but the last saves its state after `kills` rows, and is killed `past` rows later.
    Behind the first there are `next_ranks`.
    """
    seen = {"rows": [], "reading": "", "documents": "", "state": "", "pool": "", "size": ""}
    state, before, gone = None, None, set()
    for life, until in enumerate([*kills, most]):
        source, world = (
            Source(lengths, endless, alike),
            next_ranks if life and next_ranks else ranks,
        )
        one, loaded = answer(source.read, row_length, hold, rank, world), copy.deepcopy(state)
        if life:
            one.load_state_dict(loaded)
        rows, out = iter(one), 0
        for row in islice(rows, until):
            seen["rows"].append(source.named(row))
            seen["documents"] = seen["documents"] or source.changed(row)
            out += len(row)
            if not life and ranks == 1 and len(source.numbers) - out > hold:
                seen["pool"] = f"the pool has more than hold = {hold} documents after a row"
        if life < len(kills):
            state = [one.state_dict() for _ in range(saves)][-1]
            if life == 0 and ranks > 1:
                states = [
                    _state(answer, lengths, row_length, hold, n, ranks, until) for n in range(ranks)
                ]
                if any(other != states[0] for other in states):
                    seen["state"] = "two ranks save different places"
            list(islice(rows, past))
            state = saved(state)
            if endless and len(json.dumps(state)) > 500:
                seen["size"] = f"a state of {len(json.dumps(state)):,} letters after {until} rows"
        if life and loaded != before:
            seen["state"] = "the state that was loaded is changed afterwards"
        if len(source.numbers) > len({*source.numbers}):
            seen["reading"] = "one packer reads a document twice"
        elif gone & {*source.numbers}:
            seen["reading"] = f"document {min(gone & {*source.numbers})} was given out, and is read"
        if not past and not alike:
            gone = {n for row in seen["rows"] for n in row}
        before = state
    return seen


def _state(answer, lengths, row_length, hold, rank, ranks, rows):
    one = answer(Source(lengths, False, False).read, row_length, hold, rank, ranks)
    list(islice(iter(one), rows))
    return saved(one.state_dict())


def saved(state):
    """A state as a file gives it back."""
    try:
        return json.loads(json.dumps(state))
    except (TypeError, ValueError) as error:
        raise RuntimeError(f"JSON cannot hold this state ({error})") from None


DEALT = "documents are dealt to the ranks, not rows: then ranks get unequally many rows"


def explain(got, *case, **lives):
    """What rows over several lives tell about a place that is not right."""
    right = scene(StreamingPacker, *case, **lives)["rows"]
    rows, kill = got["rows"], (lives.get("kills") or [0])[0]
    rank, ranks = (*case[3:], 0, 1)[:2] if len(case) > 3 else (0, 1)
    if ranks > 1 and rows != right and all(n % ranks == rank for row in rows for n in row):
        return DEALT
    if not kill or rows == right or lives.get("past") or lives.get("next_ranks"):
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
        "past": "rows lost",
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
        yield By(some, 12, hold, kills=[kill, int(rng.integers(0, 3))], past=int(rng.integers(2)))
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
    points=4,
    given=("islice",),
    hints=(
        "a helper makes the next row out of the pool; the place is changed before it is given out",
        "the place: the number of the next document to read, and the documents of the pool",
        "each round: make `ranks` rows, stop if the last one is empty, yield that of your rank",
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
        By(SIZES, 8, 4, kills=[2], past=1),
        By([4, 7, 3, 2, 5, 8, 1, 6, 3], 8, 4, kills=[1], saves=3),
        By([8] * 5, 8, 2, 0, 2, kills=[9], next_ranks=1),
        By([3, 5, 1, 4, 2], 8, 3, endless=True, most=20, kills=[200]),
    ],
    drawn=drawn,
    passed="Right: killed anywhere, no document is lost, and none comes twice.",
)
ROWS, LAST = "rows = [next_row() for _ in range(self.ranks)]", "            if not rows[-1]:\n"
ROOM = "islice(stream, self.hold - len(pool))"
START, OUT = "stream = iter(self.read(number))", "            yield rows[self.rank]\n"
KEEP = (
    "            self.number, self.pool = number, list(pool)  # a round is given out, or nothing\n"
)
MADE = "        self.number, self.pool = 0, []  # the next document to read; those read and not given out\n"
STATE = '"pool": [list(map(int, one)) for one in self.pool]}'
LOAD = '        self.number, self.pool = state["number"], list(state["pool"])\n'
for _thought, _change in CHOICES.items():
    exercise.edit(_thought, [_change])
for _thought, _says, *_changes in [
    (
        "the pool is filled when it is empty: fill it before each row",
        "",
        (ROOM, "islice(stream, 0 if pool else self.hold)"),
    ),
    (
        "one document more than `hold` stands in the pool",
        "",
        (ROOM, "islice(stream, self.hold + 1 - len(pool))"),
    ),
    (
        "equal documents are several: none is left out",
        "",
        (
            "                pool.append(document)\n",
            "                if document not in pool:\n                    pool.append(document)\n",
        ),
    ),
    (
        "the last row is missing: also one that is not full is a row",
        "",
        (LAST, "            if sum(map(len, rows[-1])) < self.row_length and not pool:\n"),
    ),
    (
        "every rank gives out all rows: row k is that of rank k % ranks",
        "",
        (ROWS, "rows = [next_row()]"),
        (OUT, "            yield rows[0]\n"),
    ),
    (
        "the last round is not full: some rank would wait for ever",
        "",
        (LAST, "            if not rows[self.rank]:\n"),
    ),
    (
        DEALT,
        "",
        (START, "stream = islice(self.read(number), self.rank, None, self.ranks)"),
        (ROWS, "rows = [next_row()]"),
        (OUT, "            yield rows[0]\n"),
    ),
    (
        DEALT,
        "",
        (
            "            for document in islice(stream, self.hold - len(pool)):\n",
            "            while len(pool) < self.hold and (document := next(stream, None)) is not None:\n"
            "                if number % self.ranks != self.rank:\n"
            "                    number += 1\n"
            "                    continue\n",
        ),
        (ROWS, "rows = [next_row()]"),
        (OUT, "            yield rows[0]\n"),
    ),
    (
        "the pool is filled once a round: fill it before each row",
        "",
        ("def next_row():", "def next_row(turn):"),
        (ROOM, "islice(stream, 0 if turn else self.hold - len(pool))"),
        (ROWS, "rows = [next_row(turn) for turn in range(self.ranks)]"),
    ),
    (
        "an empty document is a document: it does not end the stream",
        "",
        (
            "            for document in islice(stream, self.hold - len(pool)):\n",
            "            while len(pool) < self.hold and (document := next(stream, None)):\n",
        ),
    ),
    (
        "an empty document is a document: it is not left out",
        "",
        (
            "                pool.append(document)\n",
            "                if document:\n                    pool.append(document)\n",
        ),
    ),
    (
        "the pool is not the last documents read: others between them are given out; save the pool",
        "",
        (
            '"number": self.number, ' + STATE,
            '"number": self.number - len(self.pool), "pool": []}',
        ),
    ),
    (
        "the pool of each rank's turn is larger: `hold` documents are all, for any ranks",
        "",
        (ROOM, "islice(stream, self.ranks * self.hold - len(pool))"),
    ),
    (
        "the whole stream is in memory: read one document at a time",
        "",
        (START, "stream = iter(list(self.read(number)))"),
    ),
    (
        "documents are lost: the pool belongs to the place",
        "",
        (STATE, '"pool": []}'),
    ),
    ("the new packer begins anew: documents come twice", "", (LOAD, "        pass\n")),
    (
        "the place is changed behind the `yield`: a killed program never gets there",
        "",
        (KEEP + OUT, OUT + KEEP),
    ),
    (
        "the place is changed with each row: rows of a round that is not whole were never given out",
        "",
        (KEEP, ""),
        ("            return row\n", KEEP + "            return row\n"),
    ),
    (
        "a second kill: the place counts only this life",
        "",
        (MADE, MADE + "        self.life = 0\n"),
        ('"number": self.number, ', '"number": self.number - self.life, '),
        (LOAD, LOAD + "        self.life = self.number\n"),
    ),
    (
        "a saved place that goes on with the packer is no place: copy the pool",
        "",
        (KEEP, KEEP.replace("list(pool)", "pool")),
        (STATE, '"pool": self.pool}'),
    ),
    (
        "the packer goes on in the list that it was given: copy the pool when you load it",
        "",
        ("number, pool = self.number, list(self.pool)", "number, pool = self.number, self.pool"),
        ('list(state["pool"])', 'state["pool"]'),
    ),
    (
        "asking for the place moves it: state_dict() changes nothing",
        "",
        (
            '        return {"number": self.number,',
            '        self.number += 1\n        return {"number": self.number - 1,',
        ),
    ),
    (
        "read from the beginning, and passed over: begin with read(the next number)",
        "",
        (START, "stream = islice(self.read(0), number, None)"),
    ),
    (
        "the rank's own number is no part of the place: it is that of the stream",
        "",
        (STATE, STATE[:-1] + ', "rank": self.rank}'),
    ),
    (
        "the state keeps what was given out: only a number and the pool belong to it",
        "",
        (MADE, MADE + "        self.out = []\n"),
        (OUT, "            self.out += [len(row) for row in rows]\n" + OUT),
        (STATE, STATE[:-1] + ', "out": list(self.out)}'),
        (LOAD, LOAD + '        self.out = list(state["out"])\n'),
    ),
    (
        "documents become tuples",
        "documents come out changed",
        ("pool.append(document)", "pool.append(tuple(document))"),
    ),
    (
        "the pool is filled while a row is filled: fill it before each row",
        "",
        (
            "                fits = [i for",
            "                for document in islice(stream, self.hold - len(pool)):\n"
            "                    pool.append(document)\n"
            "                    number += 1\n"
            "                fits = [i for",
        ),
    ),
    (
        "`hold` counts documents, not tokens",
        "",
        (
            "            for document in islice(stream, self.hold - len(pool)):\n",
            "            while sum(map(len, pool)) < self.hold and (document := next(stream, None)) is not None:\n",
        ),
    ),
    ("a flat row", "not one list of tokens", (OUT, "            yield sum(rows[self.rank], [])\n")),
    ("an iterator in the state", "JSON cannot hold", (STATE, '"pool": iter(list(self.pool))}')),
]:
    exercise.edit(_thought, _changes, says=_says)


exercise.styles["filled again behind the row"] = lambda: exercise.text.replace(
    KEEP + OUT,
    "            for document in islice(stream, self.hold - len(pool)):\n"
    "                pool.append(document)\n"
    "                number += 1\n" + KEEP + OUT,
)
exercise.styles["a text for a state"] = lambda: (
    exercise.text.replace('return {"number"', 'import json\n\n        return json.dumps({"number"')
    .replace(STATE, STATE + ")")
    .replace(LOAD, "        import json\n\n        state = json.loads(state)\n" + LOAD)
)


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

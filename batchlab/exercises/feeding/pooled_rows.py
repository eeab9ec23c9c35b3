"""Rows of whole documents out of a pool: the oldest first, then the longest that still fit."""

from itertools import islice

from batchlab.exercises import By, Exercise
from batchlab.exercises.feeding.source import Source


def pooled_rows(documents, row_length, hold):
    """Yield rows of whole documents, chosen from a pool of at most `hold`."""
    stream, pool = iter(documents), []
    while True:
        pool += islice(stream, hold - len(pool))
        row, room, place = [], row_length, 0 if pool else None
        while place is not None:
            row.append(pool.pop(place))
            room -= len(row[-1])
            fits = [i for i, document in enumerate(pool) if len(document) <= room]
            place = max(fits, key=lambda i: len(pool[i]), default=None)
        if not row:
            return
        yield row


def scene(answer, lengths, row_length, hold, alike=False):
    """The rows, by document, and what is wrong beside them."""
    source, out = Source(lengths, False, alike), 0
    seen = {"rows": [], "documents": "", "pool": ""}
    for row in answer(source.read(0), row_length, hold):
        seen["rows"].append(source.named(row))
        seen["documents"] = seen["documents"] or source.changed(row)
        out += len(row)
        if len(source.numbers) - out > hold:
            seen["pool"] = f"the pool has more than hold = {hold} documents after a row"
    return seen


def asked(lengths, row_length, hold, alike=False):
    some = f"lengths {lengths}" if len(lengths) < 20 else f"{len(lengths)} documents"
    return f"{some}{', all of one token' * alike}, in rows of {row_length}, hold {hold}"


def drawn(rng):
    for _ in range(12):
        some = rng.integers(1, 13, int(rng.integers(8, 30))).tolist()
        hold = int(rng.integers(1, 7))
        yield By(some, 12, hold)
        yield By(some, 13, hold + 1)
    yield By([41 * n % 97 + 1 for n in range(300)], 700, 150)
    yield By([], 8, 2)


exercise = Exercise(
    pooled_rows,
    points=2,
    given=("islice",),
    hints=(
        "again and again: fill the pool, stop if it is empty, make one row, yield it",
        "the row begins with pool.pop(0); room is what is left of row_length",
        "while some places of the pool fit: of them the one whose document is longest, pop it",
    ),
    asked=asked,
    scene=scene,
    twice=False,
    shown=[
        By([6, 8, 7, 5, 3, 1, 4, 1, 8, 5], 10, 4),
        By([3, 0, 3, 2, 3, 0, 2, 3, 1], 6, 4, alike=True),
    ],
    drawn=drawn,
    passed="Right: the oldest never waits, and a pool leaves few slots empty.",
)
PLACE, FITS, FIRST = (
    "place = max(fits, key=lambda i: len(pool[i]), default=None)",
    "if len(document) <= room]",
    "0 if pool else None",
)
CHOICES = {  # wrong choices of the next document: of one answer as of the packer's
    "the oldest that fits: asked is the longest that fits": (
        PLACE,
        "place = fits[0] if fits else None",
    ),
    "the row ends at the first document that does not fit: look at the whole pool": (
        PLACE,
        "place = 0 if fits and fits[0] == 0 else None",
    ),
    "the shortest that fits: asked is the longest": (PLACE, PLACE.replace("max(", "min(")),
    "`<` for `<=`: a document that fills the row to its last slot fits": (
        FITS,
        "if len(document) < room]",
    ),
    "of equally long ones the newest: asked is the oldest": (
        PLACE,
        "place = max(fits, key=lambda i: (len(pool[i]), i), default=None)",
    ),
    "each row begins with the longest: then a short one may wait for ever": (
        FIRST,
        "max(range(len(pool)), key=lambda i: len(pool[i]), default=None)",
    ),
    "the row ends where the longest of the pool does not fit: a shorter one may": (
        PLACE,
        PLACE + " if max(map(len, pool), default=0) <= room else None",
    ),
}
FILL = "        pool += islice(stream, hold - len(pool))\n"
for _thought, _change in CHOICES.items():
    exercise.edit(_thought, [_change])
for _thought, _says, *_changes in [
    (
        "the pool is filled when it is empty: fill it before each row",
        "",
        (FILL, FILL.replace("hold - len(pool)", "0 if pool else hold")),
    ),
    (
        "one document more than `hold` stands in the pool",
        "",
        (FILL, FILL.replace("hold -", "hold + 1 -")),
    ),
    (
        "the pool holds at most `hold` documents: the rest of the stream waits",
        "",
        (FILL, "        pool += stream\n"),
    ),
    (
        "an empty document still fits into a full row",
        "",
        (PLACE, PLACE + " if room else None"),
    ),
    (
        "an empty document fits, too: 0 tokens are at most what is left",
        "",
        (FITS, "if 0 < len(document) <= room]"),
    ),
    (
        "the pool is filled while a row is filled: fill it before each row",
        "",
        ("            fits =", "    " + FILL + "            fits ="),
    ),
    (
        "`hold` counts documents, not tokens",
        "",
        (
            FILL,
            "        while sum(map(len, pool)) < hold and (one := next(stream, None)) is not None:\n"
            "            pool.append(one)\n",
        ),
    ),
    (
        "an empty document is a document: it does not end the stream",
        "",
        (
            FILL,
            "        while len(pool) < hold and (one := next(stream, None)):\n"
            "            pool.append(one)\n",
        ),
    ),
    (
        "an empty document is a document: it is not left out",
        "",
        ("stream, pool = iter(documents), []", "stream, pool = filter(None, documents), []"),
    ),
    (
        "equal documents are several: none is left out",
        "",
        (
            FILL,
            FILL + "        pool = [one for i, one in enumerate(pool) if one not in pool[:i]]\n",
        ),
    ),
    (
        "the pool is not used up: when the stream has ended, rows go on until the pool is empty",
        "",
        (FILL, FILL + "        if len(pool) < hold:\n            return\n"),
    ),
    (
        "the last row is missing: also one that is not full is a row",
        "",
        ("        if not row:\n", "        if sum(map(len, row)) < row_length and not pool:\n"),
    ),
    (
        "the pool is thrown away behind each row: what did not fit waits there",
        "",
        ("        yield row\n", "        yield row\n        pool = []\n"),
    ),
    (
        "the whole stream is in memory: read one document at a time",
        "",
        ("iter(documents)", "iter(list(documents))"),
    ),
    ("a flat row", "not one list of tokens", ("yield row\n", "yield sum(row, [])\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_keys(documents, row_length, hold):
    """documents by number, the choice by one key"""
    stream, held = enumerate(documents), {}
    while True:
        held.update(islice(stream, hold - len(held)))
        if not held:
            return
        row = [held.pop(min(held))]
        while some := [n for n in held if sum(map(len, row)) + len(held[n]) <= row_length]:
            row.append(held.pop(min(some, key=lambda n: (-len(held[n]), n))))
        yield row

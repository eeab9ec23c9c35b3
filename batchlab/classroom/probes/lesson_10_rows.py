"""Lesson 10, the Build: rows packed from a stream, by the rule of the page and by wrong ones.

    lengths, a row, a pool  ->  rows of document numbers; what a packer of the learner gives

Words
    pool   documents that were read and stand in no row yet, oldest first
    life   a packer from its making until it is killed; the next one begins from its saved state
    draw   taking one document from the stream
"""

import copy
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "MISTAKES",
    "fault_of_lives",
    "fed",
    "handed",
    "refusal_of",
    "rows_of",
    "saved",
    "wrong_rows",
]

MOST_DRAWN = 3000  # of a stream: who wants more would read an endless one for ever
Pick = Callable[[list[tuple[int, int]], int], int | None]


def rows_of(
    lengths: Sequence[int], row_length: int, hold: int, pick: Pick | None = None, **rule: bool
) -> list[list[int]]:
    """Rows of document numbers: the oldest of the pool, then the longest that fit.

    >>> rows_of([5, 3, 2, 4, 8, 3], 8, hold=4)
    [[0, 1], [2, 3], [4], [5]]
    """
    pick = pick or _longest
    stream = iter(enumerate(lengths))
    pool: list[tuple[int, int]] = []
    rows: list[list[int]] = []
    while True:
        if not pool or not rule.get("fill_empty"):
            _fill(pool, stream, hold)
        if not pool:
            return rows
        room, row = row_length, []
        first = max(pool, key=lambda one: one[1]) if rule.get("longest_first") else pool[0]
        chosen: int | None = pool.index(first)
        while chosen is not None:
            number, size = pool.pop(chosen)
            row.append(number)
            room -= size
            if rule.get("refill"):
                _fill(pool, stream, hold)
            chosen = pick(pool, room)
        rows.append(row)


def _fill(pool: list[tuple[int, int]], stream: Iterator[tuple[int, int]], hold: int) -> None:
    while len(pool) < hold and (one := next(stream, None)) is not None:
        pool.append(one)


def _longest(pool: list[tuple[int, int]], room: int) -> int | None:
    fits = [place for place, (_, size) in enumerate(pool) if size <= room]
    return max(fits, key=lambda place: (pool[place][1], -place)) if fits else None


def _newest_of_equals(pool: list[tuple[int, int]], room: int) -> int | None:
    fits = [place for place, (_, size) in enumerate(pool) if size <= room]
    return max(fits, key=lambda place: (pool[place][1], place)) if fits else None


def _oldest(pool: list[tuple[int, int]], room: int) -> int | None:
    return next((place for place, (_, size) in enumerate(pool) if size <= room), None)


def _next_only(pool: list[tuple[int, int]], room: int) -> int | None:
    return 0 if pool and pool[0][1] <= room else None


def _longest_or_none(pool: list[tuple[int, int]], room: int) -> int | None:
    return place if pool and pool[place := _largest(pool)][1] <= room else None


def _largest(pool: list[tuple[int, int]]) -> int:
    return max(range(len(pool)), key=lambda place: (pool[place][1], -place))


def _shortest(pool: list[tuple[int, int]], room: int) -> int | None:
    fits = [place for place, (_, size) in enumerate(pool) if size <= room]
    return min(fits, key=lambda place: (pool[place][1], place)) if fits else None


def _not_full(pool: list[tuple[int, int]], room: int) -> int | None:
    return _longest(pool, room - 1)


MISTAKES: Mapping[str, dict[str, Any]] = {
    "the oldest that fits: asked is the longest that fits": {"pick": _oldest},
    "the row ends at the first document that does not fit: look at the whole pool": {
        "pick": _next_only
    },
    "the shortest that fits: asked is the longest": {"pick": _shortest},
    "`<` for `<=`: a document that fills the row to its last slot fits": {"pick": _not_full},
    "of equally long ones the newest: asked is the oldest": {"pick": _newest_of_equals},
    "each row begins with the longest: then a short one may wait for ever": {"longest_first": True},
    "the row ends where the longest of the pool does not fit: a shorter one may": {
        "pick": _longest_or_none
    },
    "the pool is filled up inside a row: fill it before a row": {"refill": True},
    "the pool is filled when it is empty: fill it before each row": {"fill_empty": True},
}


def wrong_rows(
    lengths: Sequence[int], row_length: int, hold: int, rank: int = 0, ranks: int = 1
) -> list[tuple[list[list[int]], str]]:
    """The rows of this rank by each wrong rule, where they are not the right ones."""
    right = rows_of(lengths, row_length, hold)
    whole = len(right) // ranks * ranks
    mine = right[rank:whole:ranks]
    larger = rows_of(lengths, row_length, hold + 1)
    found: list[tuple[list[list[int]], str]] = [
        (
            larger[rank : len(larger) // ranks * ranks : ranks],
            "one document more than `hold` stands in the pool",
        )
    ]
    if ranks > 1:
        own = rows_of([*lengths[rank::ranks]], row_length, hold)
        more = rows_of(lengths, row_length, ranks * hold)
        found += [
            (right[:whole], "every rank gives out all rows: row k is that of rank k % ranks"),
            (right, "every rank gives out all rows: row k is that of rank k % ranks"),
            (
                more[rank : len(more) // ranks * ranks : ranks],
                "the pool of each rank's turn is larger: `hold` documents are all, for any ranks",
            ),
            (right[rank::ranks], "the last round is not full: some rank would wait for ever"),
            (
                [[rank + ranks * n for n in row] for row in own],
                "documents are dealt to the ranks, not rows: then ranks get unequally many rows",
            ),
        ]
    if len(right) > 1:
        found += [(mine[:-1], "the last row is missing: also one that is not full is a row")]
    for thought, rule in MISTAKES.items():
        rows = rows_of(lengths, row_length, hold, **rule)
        found.append((rows[rank : len(rows) // ranks * ranks : ranks], thought))
    return [(rows, thought) for rows, thought in found if rows != mine]


class _Source:
    """A stream that counts what is drawn from it; document n is [n, 7, 7, ...]."""

    def __init__(self, lengths: Sequence[int], *, endless: bool = False) -> None:
        self.lengths, self.endless = list(lengths), endless
        self.numbers: list[int] = []  # of the documents drawn

    def document(self, number: int) -> list[int]:
        return [number, *[7] * (self.lengths[number % len(self.lengths)] - 1)]

    def read(self, number: int) -> Iterator[list[int]]:
        while self.endless or number < len(self.lengths):
            if self.endless and len(self.numbers) >= MOST_DRAWN:
                raise RuntimeError(f"over {MOST_DRAWN:,} documents read of a stream without end")
            self.numbers.append(number)
            yield self.document(number)
            number += 1


def fed(
    packer: Callable[..., Any],
    lengths: Sequence[int],
    row_length: int,
    hold: int,
    rank: int = 0,
    ranks: int = 1,
    *,
    kills: Sequence[int] = (),
    past: int = 0,
    next_ranks: int = 0,
    endless: bool = False,
    most: int = 10**6,
    again: int = 0,
    saves: int = 1,
) -> dict[str, Any]:
    """What a packer gives out over several lives, as plain data.

    kills       rows after which each life but the last saves its state, and `past` rows later is
                killed: those rows come again. The state goes through JSON then, not before
    next_ranks  the number of ranks in all lives but the first
    most        rows that the last life hands out
    again       rows after which the last life asks for iter() a second time
    saves       how often each life asks for its state; the last one counts

    rows     document numbers of each row, all lives together
    drawn    numbers of the documents that each life read
    ahead    of each row of the first life, the documents read by then
    altered  whether a document came out otherwise than it went in
    state    the last that was saved
    moved    whether a packer changed a state that it had loaded
    """
    found: dict[str, Any] = {"rows": [], "drawn": [], "ahead": [], "state": None}
    found |= {"altered": False, "moved": False}
    for life, until in enumerate([*kills, most]):
        source = _Source(lengths, endless=endless)
        world = ranks if life == 0 or not next_ranks else next_ranks
        one = packer(source.read, row_length, hold, rank, world)
        before, loaded = found["state"], copy.deepcopy(found["state"])
        if life:
            one.load_state_dict(loaded)
        rows = iter(one)
        if again and life == len(kills):
            rows = itertools.chain(list(itertools.islice(rows, again)), _afresh(one))
        for row in itertools.islice(rows, until):
            found["rows"].append(_numbers(row))
            found["altered"] |= any(
                type(given) is not list or given != source.document(given[0]) for given in row
            )
            if life == 0:
                found["ahead"].append(len(source.numbers))
        if life < len(kills):
            state = [one.state_dict() for _ in range(saves)][-1]
            list(itertools.islice(rows, past))
            found["state"] = saved(state)
        found["moved"] |= loaded != before
        found["drawn"].append(source.numbers)
    return found


def handed(
    packer: Callable[..., Any], documents: Sequence[Any], row_length: int, hold: int, kill: int
) -> list[list[Any]]:
    """Rows of these very documents, which may be equal, killed once after `kill` rows."""

    def read(number: int) -> Iterator[Any]:
        return iter(copy.deepcopy(list(documents[number:])))

    one = packer(read, row_length, hold)
    rows = list(itertools.islice(one, kill))
    other = packer(read, row_length, hold)
    other.load_state_dict(saved(one.state_dict()))
    return [*rows, *other]


def _afresh(packer: Any) -> Iterator[Any]:
    yield from iter(packer)


def _numbers(row: Any) -> list[int]:
    if any(not hasattr(document, "__len__") for document in row):
        raise TypeError("a row is a list of whole documents, not one list of tokens")
    return [document[0] for document in row]


def fault_of_lives(
    seen: Mapping[str, Any], want: Sequence[list[int]], lives: Mapping[str, Any]
) -> str:
    """What rows over several lives tell about a place that is not right; else empty."""
    rows = seen["rows"]
    if rows == want or {"past", "next_ranks", "saves"} & {name for name in lives if lives[name]}:
        return ""
    kill = lives["kills"][0]
    if kill > 1 and rows == [*want[:kill], *want[kill - 1 :]]:
        return "the place is changed behind the `yield`: a killed program never gets there"
    if kill > 1 and rows == [*want[:kill], *want]:
        return "the new packer begins anew: documents come twice"
    out = [number for row in rows for number in row]
    if len(out) > len(set(out)):
        return "documents come twice"
    lost = len(out) < sum(map(len, want))
    return "documents are lost: the pool belongs to the place" if lost else ""


def saved(state: Any) -> Any:
    """A state as a file gives it back."""
    try:
        return json.loads(json.dumps(state))
    except (TypeError, ValueError) as error:
        raise TypeError(f"JSON cannot hold this state ({error})") from None


def refusal_of(
    packer: Callable[..., Any], lengths: Sequence[int], row_length: int, hold: int, kill: int = 0
) -> str:
    """The message with which a packer refuses a document; empty where it refuses none."""
    try:
        fed(packer, lengths, row_length, hold, kills=[kill] if kill else ())
    except AssertionError as error:
        raise TypeError(f"an AssertionError ({error}) is no ValueError: use raise") from None
    except Exception as error:
        if "ValueError" in {kind.__name__ for kind in type(error).__mro__}:
            return str(error) or "ValueError"
        raise
    return ""

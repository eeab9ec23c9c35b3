"""Cases of lesson 02's collator: small ones, pairs, and large ones.

    a random generator  ->  (what is asked, arguments, what a wrong answer probably overlooks)

Words
    named    the case hands its options over by name, as the later cells of the page do
"""

from typing import Any, NamedTuple

import numpy as np

from batchlab.classroom.probes.collators import DOCUMENTS, IGNORE

__all__ = ["Case", "collate_cases", "drawn_cases"]

Document = dict[str, list[int]]
NAMES = ("pad_id", "multiple_of", "max_length")

ROUNDED = "round up last, whatever max_length and multiple_of are, and only to the next multiple"
EMPTY = "an empty document is a row of padding wherever it stands, however many there are"
OWN = "own labels are taken as they are: 0, -100 or none of the tokens"
ROWS = "every row counts and stays in its place, however many there are"
CUT = "every document longer than max_length loses its end, and nothing else is cut"
LARGE = "no token, row, width or count is too large: int64 and whole numbers"
EARLIER = "a call makes new tensors of what it is given: nothing of an earlier call may stay"
PAD = "pad_id may be any number, a token of the documents as well"


class Case(NamedTuple):
    """One call of a collator; `options` are pad_id, then perhaps multiple_of and max_length."""

    asked: str
    documents: list[Document]
    options: tuple[Any, ...]
    thought: str
    named: bool = False

    @property
    def arguments(self) -> tuple[Any, ...]:
        """All by position."""
        return (self.documents, *self.options)

    @property
    def by_position(self) -> tuple[Any, ...]:
        """What the call hands over by position."""
        return (self.documents,) if self.named else self.arguments

    @property
    def by_name(self) -> dict[str, Any]:
        """What the call hands over by name."""
        return dict(zip(NAMES, self.options, strict=False)) if self.named else {}


def collate_cases(rng: np.random.Generator) -> list[Case]:
    """Every case that the page shows, the small ones first."""
    return [*_of_two(), *_of_few(), *_of_many(rng)]


def drawn_cases(rng: np.random.Generator) -> list[Case]:
    """Twelve cases of a few short documents, with any options."""
    found = []
    for _ in range(12):
        documents: list[Document] = []
        for length in rng.integers(1, 20, rng.integers(1, 5)).tolist():
            ids = rng.integers(0, 5, length).tolist()
            own = np.where(rng.random(length) < 0.3, IGNORE, ids).tolist()
            documents.append(
                {"input_ids": ids} if rng.random() < 0.5 else {"input_ids": ids, "labels": own}
            )
        longest = [None, int(rng.integers(1, 25))][int(rng.integers(0, 2))]
        options = (int(rng.integers(0, 5)), int(rng.integers(1, 9)), longest)
        found.append(Case(_said(documents, options), documents, options, ""))
    return found


def _of_two() -> list[Case]:
    """The two documents of the page."""
    two = DOCUMENTS
    asked = [
        ("two documents, 0", two, (0,), ""),
        ("two documents, 9", two, (9,), PAD),
        ("two documents in the other order, 0", two[::-1], (0,), ROWS),
        ("the second document, 0, multiple_of=4", two[1:], (0, 4), ROUNDED),
        ("two documents, 0, multiple_of=4, max_length=6", two, (0, 4, 6), ROUNDED),
        ("the two documents twice, 0, multiple_of=5", two * 2, (0, 5), ROUNDED),
        ("two documents, 1, max_length=3", two, (1, 1, 3), CUT),
        ("two documents, 0, max_length=1", two, (0, 1, 1), CUT),
        ("two documents, 0, multiple_of=3, max_length=4", two, (0, 3, 4), ROUNDED),
        ("two documents, 0, multiple_of=4, max_length=60", two, (0, 4, 60), ROUNDED),
        ("two documents, 0, multiple_of=8, max_length=3", two, (0, 8, 3), ROUNDED),
        ("two documents, 0, multiple_of=2, max_length=4", two, (0, 2, 4), ROUNDED),
        ("the first document, 0, multiple_of=12", two[:1], (0, 12), ROUNDED),
        ("the first document, 0, max_length=2", two[:1], (0, 1, 2), CUT),
        ("the first document, 0, multiple_of=3", two[:1], (0, 3), ROUNDED),
    ]
    thought = "arguments come by name, too: keep the names of the signature"
    named = "two documents, pad_id=7, multiple_of=4, max_length=3"
    return [Case(*one) for one in asked] + [Case(named, two, (7, 4, 3), thought, True)]


def _of_few() -> list[Case]:
    """Documents written out: own labels, empty rows, tokens that are pad_id, pairs."""
    one, two = DOCUMENTS
    none: Document = {"input_ids": []}
    some: list[tuple[list[Document], tuple[Any, ...], str]] = [
        ([{"input_ids": [6, 0, 8]}, {"input_ids": [3, 1]}], (0,), EARLIER),
        ([{"input_ids": [2, 4, 1]}, {"input_ids": [9, 9]}], (0,), EARLIER),
        ([{"input_ids": [70_000, 300, 3]}, two], (0,), LARGE),
        ([one, none], (0,), EMPTY),
        ([none, two], (0, 2), EMPTY),
        ([none, one, {"input_ids": [], "labels": []}, two], (9, 4, 3), EMPTY),
        ([none, {"input_ids": [6]}, none], (0,), EMPTY),
        ([{"input_ids": [6]}], (0,), "a document of one token is a row of one token"),
        ([{"input_ids": [5, 6, 7], "labels": [8, 0, IGNORE]}, two], (0,), OWN),
        ([{"input_ids": [5, 6], "labels": [IGNORE, IGNORE]}, two], (0,), OWN),
        ([{"input_ids": [5, 6, 7], "labels": [0, 0, 70_001]}], (0, 4), OWN),
        ([{"input_ids": [5, 6], "labels": [-1, 6]}], (6,), OWN),
        ([{"input_ids": [4, 5], "labels": [4, 5]}, two], (0,), "the documents stay as they are"),
        ([two, {"input_ids": [7, 0, 0]}, {"input_ids": [0, 0, 0, 0]}], (0,), PAD),
        ([two, {"input_ids": [12, 5, 12, 12]}], (12,), PAD),
        ([two, one, {"input_ids": [6, 7, 8, 9]}, one], (0, 1, 2), CUT),
        ([{"input_ids": [1, 2, 3, 4, 5, 6]}], (0, 3), ROUNDED),
    ]
    return [Case(_said(docs, options), docs, options, why) for docs, options, why in some]


def _said(documents: list[Document], options: tuple[Any, ...]) -> str:
    words = [f", {name}={value}" for name, value in zip(NAMES[1:], options[1:], strict=False)]
    return f"{documents}, {options[0]}{''.join(words)}"


def _of_many(rng: np.random.Generator) -> list[Case]:
    """Drawn ones: up to 40 rows of up to 3,000 tokens, and pairs of one shape."""
    found = []
    for count, longest, top, options, why in (
        (5, 20, 9, (0, 1, None), ROWS),
        (2, 300, 9, (0, 1, None), LARGE),
        (6, 20, 9, (3, 6, None), ROWS),
        (6, 40, 30, (0, 16, 12), CUT),
        (9, 150, 30, (11, 64, None), ROUNDED),
        (9, 400, 300, (0, 64, 150), CUT),
        (40, 60, 9, (0, 8, None), ROWS),
        (3, 3000, 5_000_000_000, (0, 1, None), LARGE),
        (3, 3000, 5_000_000_000, (0, 128, 1100), LARGE),
    ):
        drawn = _drawn(rng, count, longest, top)
        what = f"{count} documents of up to {longest:,} tokens"
        said = f"{what}, {options[0]}, multiple_of={options[1]}, max_length={options[2]}"
        found.append(Case(said, drawn, options, why))
        others = [{name: row[::-1] for name, row in one.items()} for one in drawn]
        found.append(Case(f"{said}, each turned round", others, options, EARLIER))
        short = [{name: row[: len(row) // 2] for name, row in one.items()} for one in drawn]
        found.append(Case(f"the first half of each of {said}", short, options, EARLIER))
    first = [{"input_ids": list(range(n)), "labels": [0] * n} for n in (2, 4)]
    rest = [{"input_ids": [5] * n} for n in (3, 1, 6, 2, 4)]
    found.append(Case("the first of six documents with labels, 0", first[:1] + rest, (0,), OWN))
    found.append(Case("three documents three times, 1", [*first, rest[0]] * 3, (1,), ROWS))
    return found


def _drawn(rng: np.random.Generator, count: int, longest: int, top: int) -> list[Document]:
    """Documents in random order: some with own labels of any kind, one as long as can be."""
    sizes = [*rng.integers(1, longest, count - 1).tolist(), longest]
    documents: list[Document] = []
    for place, size in enumerate(rng.permutation(sizes).tolist()):
        ids = rng.integers(0, top, size).tolist()
        hidden = rng.random(size) < 0.3
        own = np.where(hidden, IGNORE, rng.integers(0, top, size)).tolist()
        documents.append({"input_ids": ids, "labels": own} if place % 3 else {"input_ids": ids})
    return documents

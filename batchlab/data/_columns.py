"""Documents, put one after another into flat arrays while they are read.

    token ids of some documents, and which are trained  ->  Columns  ->  Corpus

A list of Python integers takes eight times the memory of its token ids: it is packed at once, and
let go.

Words
    trained   what the loss counts; a leading run that is not trained is the document's prompt
"""

from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from batchlab import reading
from batchlab.data._corpus import IGNORE, Corpus

__all__ = ["BadDocument", "Columns", "Ids", "Packed", "Trained", "packed", "trained_by_labels"]

HIGHEST = 2**31 - 1  # token ids are kept in 32 bits
Packed: TypeAlias = "array[int]"  # a string: Python 3.11 has no array[int]
Ids: TypeAlias = "array[int] | np.ndarray"
Trained = np.ndarray | None  # bool, one for each token; None: all of them


class Columns:
    """The arrays of a corpus that is still being read."""

    def __init__(self) -> None:
        self.tokens = array("i")
        self.ends = array("q", [0])
        self.prompts = array("q")
        self.holes: list[np.ndarray] = []  # positions behind a prompt that are not trained

    def add(self, documents: Sequence[Ids], trained: Sequence[Trained] | None = None) -> None:
        """Append documents; a `BadDocument` says which of them holds no token ids."""
        sizes = np.fromiter(map(len, documents), np.int64, len(documents))
        if not sizes.all():
            raise BadDocument(int(np.argmin(sizes)), "it has no tokens")
        ends = np.cumsum(sizes)
        start = self.ends[-1]
        self.tokens.frombytes(_flat(documents, ends))
        self.ends.frombytes((ends + start).tobytes())
        if trained is None or all(mask is None for mask in trained):
            self.prompts.frombytes(bytes(8 * len(documents)))
            return
        for end, size, mask in zip(ends.tolist(), sizes.tolist(), trained, strict=True):
            self._add_mask(start + end - size, size, mask)

    def _add_mask(self, begin: int, size: int, mask: Trained) -> None:
        if mask is None:
            self.prompts.append(0)
            return
        prompt = int(mask.argmax()) if mask.any() else size
        self.prompts.append(prompt)
        holes = np.flatnonzero(~mask[prompt:])
        if len(holes):
            self.holes.append(holes + (begin + prompt))

    def corpus(self, name: str, *, vocabulary: int, tokenizer: Any) -> Corpus:
        """All documents so far; `vocabulary` grows to what they use."""
        tokens = np.frombuffer(self.tokens, np.int32)
        starts, prompts = (np.frombuffer(one, np.int64) for one in (self.ends, self.prompts))
        trained = None
        if self.holes:
            trained = np.ones(len(tokens), bool)
            trained[np.concatenate(self.holes)] = False
        size = max(vocabulary, int(tokens.max()) + 1)
        return Corpus(name, tokens, starts, prompts, size, tokenizer, trained)


class BadDocument(ValueError):
    """A document that cannot be kept, by its number in what was added."""

    def __init__(self, number: int, why: str):
        super().__init__(why)
        self.number = number


def packed(ids: list[int], *, has_booleans: bool = True) -> Packed:
    """A list of token ids in 32 bits each, or what is wrong with the first that is none.

    Python takes True for 1 and False for 0; a caller who knows that there are none saves the look.
    """
    try:
        made = array("i", ids)
    except (TypeError, OverflowError):
        raise ValueError(_odd_one(ids)) from None
    if has_booleans and bool in set(map(type, ids)):
        raise ValueError(_odd_one(ids))
    return made


def _flat(documents: Sequence[Ids], ends: np.ndarray) -> bytes:
    """The token ids of all documents, or the first document with one that is out of range."""
    if all(isinstance(ids, array) for ids in documents):
        flat = np.frombuffer(b"".join(cast(Sequence[Packed], documents)), np.int32)
    else:
        flat = np.concatenate([np.asarray(ids) for ids in documents])
    if flat.min() < 0 or flat.max() > HIGHEST:
        at = int(np.argmax((flat < 0) | (flat > HIGHEST)))
        number = int(np.searchsorted(ends, at, side="right"))
        raise BadDocument(number, _odd_one(documents[number].tolist()))
    return flat.astype(np.int32, copy=False).tobytes()


def _odd_one(ids: list[Any]) -> str:
    """What is wrong with the first value that is no token id."""
    for at, value in enumerate(ids):
        if isinstance(value, bool) or not isinstance(value, int):
            return f"token ids are integers, got {reading.shown(value)} at position {at}"
        if not 0 <= value <= HIGHEST:
            kind = "below 0" if value < 0 else f"above {HIGHEST:,}, more than any vocabulary has"
            return f"token ids are integers >= 0, got one {kind} at position {at}"
    return "token ids are integers"


def trained_by_labels(ids: Ids, labels: Any) -> np.ndarray:
    """Which tokens are trained where labels came with them: each is its token, or IGNORE."""
    tokens = np.asarray(ids)
    try:
        given = np.asarray(labels)
    except ValueError:  # lists of different lengths inside
        given = np.empty(0)
    if given.shape != tokens.shape or given.dtype.kind not in "iu":
        raise ValueError(
            f"labels must be {len(tokens):,} integers as input_ids are, got {reading.shown(labels)}"
        )
    trained = given != IGNORE
    if not (given == tokens)[trained].all():
        raise ValueError(f"labels are neither their token nor {IGNORE}: they are not shifted here")
    return np.asarray(trained)

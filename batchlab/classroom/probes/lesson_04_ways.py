"""Lesson 04: ways to the logits of several documents, right and leaking.

    token lists of documents  ->  one array of logits (tokens, vocabulary) for each document

The lesson asks for a test that tells these ways apart. The model is a Llama of one layer with
random weights: small enough for milliseconds, and called directly, because `batchlab.calling`
refuses the wrong ways. Some leaks are made by hand, each to be missed by one kind of test.

Words
    way    a function from documents to their logits, all computed in one row unless it says so
    leaks  one document's tokens move another's logits
    STEP   how far each other set of neighbours moves the logits in a leak made by hand
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from batchlab import attention, batches, loop, model
from batchlab.classroom.probes.lesson_04_collator import VOCABULARY, network

__all__ = ["LEAKS", "SEPARATE", "STEP", "leaking", "separate", "way"]

Documents = Sequence[Sequence[int]]
Way = Callable[[Documents], list[np.ndarray]]
STEP, NOISE = 0.012, 2e-6


def way(name: str) -> Way:
    """The way of one name of SEPARATE or LEAKS, in fresh state.

    >>> [one.shape for one in way("the library")([[5, 6, 7], [8, 9]])]
    [(3, 64), (2, 64)]
    """
    if name not in _WAYS:
        raise ValueError(f"no way {name!r}; there are {', '.join(_WAYS)}")
    return _WAYS[name]()


def separate() -> list[Way]:
    """Every way that keeps documents apart."""
    return [way(name) for name in SEPARATE]


def leaking() -> dict[str, Way]:
    """Every leaking way by its name, in fresh state."""
    return {name: way(name) for name in LEAKS}


def _called(documents: Documents, starts: Sequence[int], **options: Any) -> list[np.ndarray]:
    """Call the model on one row whose positions restart at `starts`, and cut the row apart."""
    tokens = [_checked(document) for document in documents]
    ids = [token for document in tokens for token in document]
    ends = [*starts[1:], len(ids)]
    positions = [p for a, b in zip(starts, ends, strict=True) for p in range(b - a)]
    with torch.no_grad():
        logits = network()(
            input_ids=torch.tensor([ids]), position_ids=torch.tensor([positions]), **options
        ).logits[0]
    return [part.numpy() for part in logits.split([len(document) for document in tokens])]


def _checked(document: Sequence[int]) -> list[int]:
    tokens = [int(token) for token in document]
    if not tokens or min(tokens) < 0 or max(tokens) >= VOCABULARY:
        raise ValueError(f"a document is a list of tokens from 0 to {VOCABULARY - 1}: {tokens}")
    return tokens


def _starts(documents: Documents) -> list[int]:
    ends = np.cumsum([len(document) for document in documents])
    return [0, *(int(end) for end in ends[:-1])]


def _apart(documents: Documents) -> list[np.ndarray]:
    return _called(documents, _starts(documents), use_cache=False)


def _alone(documents: Documents) -> list[np.ndarray]:
    return [_called([document], [0], use_cache=False)[0] for document in documents]


def _library(documents: Documents) -> list[np.ndarray]:
    tokens = [_checked(document) for document in documents]
    prepared = attention.prepare(model.small(VOCABULARY, layers=1, hidden=32, heads=2, seed=4))
    batch = batches.flattened(tokens, range(len(tokens)))
    with torch.no_grad():
        logits = loop.logits_of(prepared, batch)[0]
    return [part.numpy() for part in logits.split([len(document) for document in tokens])]


def _rounded(documents: Documents) -> list[np.ndarray]:
    """Rounded otherwise for every row, as a kernel does that adds in another order."""
    rng = np.random.default_rng(zlib.crc32(repr([_checked(one) for one in documents]).encode()))
    return [one + rng.uniform(-NOISE, NOISE, one.shape) for one in _apart(documents)]


def _default(documents: Documents) -> list[np.ndarray]:
    return _called(documents, _starts(documents))


def _mask_of_ones(documents: Documents) -> list[np.ndarray]:
    ones = torch.ones(1, sum(len(document) for document in documents), dtype=torch.int64)
    return _called(documents, _starts(documents), use_cache=False, attention_mask=ones)


def _run_on(documents: Documents) -> list[np.ndarray]:
    return _called(documents, [0], use_cache=False)


def _last_border_missing(documents: Documents) -> list[np.ndarray]:
    starts = _starts(documents)
    return _called(documents, starts[:-1] if len(starts) > 2 else starts, use_cache=False)


def _border_too_early(documents: Documents) -> list[np.ndarray]:
    """The last token of each document but the last stands in the next segment."""
    starts = [0, *(start - 1 for start in _starts(documents)[1:])]
    return _called(documents, starts, use_cache=False)


def _masked(seen: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Way:
    """A mask drawn by `seen` from (segments, positions), and the diagonal, causal."""

    def version(documents: Documents) -> list[np.ndarray]:
        sizes = [len(document) for document in documents]
        segment = np.repeat(np.arange(len(sizes)), sizes)
        at = np.concatenate([np.arange(size) for size in sizes])
        allowed = np.tri(len(at), dtype=bool) & (seen(segment, at) | np.eye(len(at), dtype=bool))
        mask = torch.from_numpy(allowed)[None, None]
        return _called(documents, _starts(documents), use_cache=False, attention_mask=mask)

    return version


def _first_slot_seen(segment: np.ndarray, at: np.ndarray) -> np.ndarray:
    seen: np.ndarray = np.equal.outer(segment, segment)
    seen[:, 0] = True
    return seen


def _lower_positions_seen(segment: np.ndarray, at: np.ndarray) -> np.ndarray:
    seen: np.ndarray = np.less_equal.outer(at, at).T & np.not_equal.outer(at, at)
    return seen


def _from_the_back(documents: Documents) -> list[np.ndarray]:
    return _default(documents[::-1])[::-1]


def _nan_behind(documents: Documents) -> list[np.ndarray]:
    """As a row of the mask without a single True gives them."""
    first, *others = _apart(documents)
    return [first, *(np.full_like(one, np.nan) for one in others)]


def _moved(
    pattern: Callable[[np.ndarray], Any], near: int = 1, steps: float = STEP
) -> Callable[[], Way]:
    """A leak made by hand: each other set of neighbours moves a document's logits by a step more.

    `pattern` says which logits move; only documents at least `near` places away count.
    """

    def made() -> Way:
        seen: dict[tuple[int, ...], list[list[list[int]]]] = {}

        def version(documents: Documents) -> list[np.ndarray]:
            texts, found = [_checked(document) for document in documents], []
            for number, logits in enumerate(_apart(documents)):
                others = [one for i, one in enumerate(texts) if abs(i - number) >= near]
                met = seen.setdefault(tuple(texts[number]), [])
                if others not in met:
                    met.append(others)
                found.append(logits + steps * met.index(others) * pattern(logits))
            return found

        return version

    return made


def _slot(number: int) -> Callable[[np.ndarray], Any]:
    """Only this slot of a document moves."""
    return lambda logits: (np.arange(len(logits)) == number % len(logits))[:, None]


def _largest(logits: np.ndarray) -> np.ndarray:
    """The score of each slot that is largest in size."""
    size = np.abs(logits)
    found: np.ndarray = size == size.max(axis=1, keepdims=True)
    return found


def _stateless(one: Way) -> Callable[[], Way]:
    return lambda: one


_SEPARATE: Mapping[str, Callable[[], Way]] = {
    "positions restart, no cache": _stateless(_apart),
    "each document in a row of its own": _stateless(_alone),
    "the library": _stateless(_library),
    "another kernel, rounded in another order": _stateless(_rounded),
}
_LEAKS: Mapping[str, Callable[[], Way]] = {
    "positions restart, default cache": _stateless(_default),
    "no cache, but an attention mask of ones": _stateless(_mask_of_ones),
    "no cache, but positions run on": _stateless(_run_on),
    "no cache, but of three documents or more the last border is missing": _stateless(
        _last_border_missing
    ),
    "default cache, and the row is filled from the back": _stateless(_from_the_back),
    "other neighbours only lower the logits: a difference has a sign": _moved(
        lambda logits: 1, steps=-STEP
    ),
    "other neighbours only raise the logits: a difference has a sign": _moved(lambda logits: 1),
    "some logits rise and as many fall: their mean stays": _moved(
        lambda logits: np.where(np.arange(logits.shape[1]) % 2, 1, -1)
    ),
    "only the first slot of a document moves": _moved(_slot(0)),
    "only the last slot of a document moves": _moved(_slot(-1)),
    "only documents that are no neighbours see each other": _moved(lambda logits: 1, near=2),
    "documents behind the first get NaN: no limit is passed, and NaN equals NaN where `equal_nan` "
    "is on, as it is in np.testing": _stateless(_nan_behind),
    "only the score of one token moves": _moved(lambda logits: np.arange(logits.shape[1]) == 45),
    "only the largest scores move: a relative tolerance lets them": _moved(_largest),
    "the border lies one slot too early: a last token is seen by the next document": _stateless(
        _border_too_early
    ),
    "the first slot of the row is seen by every document": _stateless(_masked(_first_slot_seen)),
    "positions are compared: behind its first token, a document sees lower positions of others": (
        _stateless(_masked(_lower_positions_seen))
    ),
}
SEPARATE, LEAKS = tuple(_SEPARATE), tuple(_LEAKS)
_WAYS = {**_SEPARATE, **_LEAKS}

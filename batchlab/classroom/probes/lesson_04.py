"""Logits of documents that share a row, by ways of calling transformers that are right or wrong.

    token lists of documents  ->  one array of logits (tokens, vocabulary) for each document

Lesson 04 asks for a test that tells these ways apart. The model is a Llama of one layer with
random weights: small enough for milliseconds, and called directly, because `batchlab.calling`
refuses the wrong ways.

Words
    way    a function from documents to their logits, all computed in one row unless it says so
    leaks  one document's tokens move another's logits
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from batchlab import attention, batches, loop, model

__all__ = ["LEAKS", "SEPARATE", "VOCABULARY", "way"]

VOCABULARY = 64
Documents = Sequence[Sequence[int]]
Way = Callable[[Documents], list[np.ndarray]]

SEPARATE = ("positions restart, no cache", "each document in a row of its own", "the library")
LEAKS = (
    "positions restart, default cache",
    "no cache, but an attention mask of ones",
    "no cache, but positions run on",
    "no cache, but of three documents or more the last border is missing",
    "default cache, and the row is filled from the back",
)


@functools.cache
def _network() -> Any:
    return model.small(VOCABULARY, layers=1, hidden=32, heads=2, longest=1024, seed=4).eval()


def way(name: str) -> Way:
    """The way of one name of SEPARATE or LEAKS.

    >>> [one.shape for one in way("the library")([[5, 6, 7], [8, 9]])]
    [(3, 64), (2, 64)]
    """
    if name not in _WAYS:
        raise ValueError(f"no way {name!r}; there are {', '.join(_WAYS)}")
    return _WAYS[name]


def _called(documents: Documents, starts: Sequence[int], **options: Any) -> list[np.ndarray]:
    """Call the model on one row whose positions restart at `starts`, and cut the row apart."""
    tokens = [_checked(document) for document in documents]
    ids = [token for document in tokens for token in document]
    ends = [*starts[1:], len(ids)]
    positions = [p for a, b in zip(starts, ends, strict=True) for p in range(b - a)]
    with torch.no_grad():
        logits = _network()(
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
    network = attention.prepare(model.small(VOCABULARY, layers=1, hidden=32, heads=2, seed=4))
    batch = batches.flattened(tokens, range(len(tokens)))
    with torch.no_grad():
        logits = loop.logits_of(network, batch)[0]
    return [part.numpy() for part in logits.split([len(document) for document in tokens])]


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


def _from_the_back(documents: Documents) -> list[np.ndarray]:
    return _default(documents[::-1])[::-1]


_WAYS: dict[str, Way] = dict(
    zip(
        (*SEPARATE, *LEAKS),
        (_apart, _alone, _library, _default, _mask_of_ones, _run_on, _last_border_missing,
         _from_the_back),
        strict=True,
    )
)  # fmt: skip

"""Versions of lesson 04's mask and formula, right and wrong.

    sizes of segments  ->  who may look at whom; rows, slots, fill, mean length  ->  documents

A wrong version gives what a known mistake would give; its name is the thought behind it.
"""

from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["BEHIND", "LOOKS", "behind", "looks"]


def looks(sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The mask of segments of these sizes, which pairs share a segment, and the positions."""
    own = np.repeat(np.arange(len(sizes)), sizes)
    same = np.equal.outer(own, own)
    return (
        np.tri(len(own), dtype=bool) & same,
        same,
        [slot for size in sizes for slot in range(size)],
    )


def _seen(change: Callable[..., np.ndarray]) -> Callable[[Sequence[int]], np.ndarray]:
    """A mask made by `change` of (right, same segment, causal, positions)."""

    def version(sizes: Sequence[int]) -> np.ndarray:
        right, same, at = looks(sizes)
        return change(right, same, np.tri(len(at), dtype=bool), np.asarray(at))

    return version


def _by(numbers: np.ndarray) -> np.ndarray:
    same: np.ndarray = np.equal.outer(numbers, numbers)
    return same


def _twins(sizes: Sequence[int]) -> np.ndarray:
    """Pairs of slots, causal, whose segments have the same length above 1."""
    length = np.repeat(np.asarray(sizes), sizes)
    twins: np.ndarray = _by(length) & np.tri(len(length), dtype=bool) & (length > 1)
    return twins


LOOKS: dict[str, Callable[[Sequence[int]], np.ndarray]] = {
    "causal, but the second document sees the first (of a list, == 0 is False)": _seen(
        lambda right, same, causal, at: causal
    ),
    "documents apart, but a token sees what comes after it": _seen(
        lambda right, same, causal, at: same
    ),
    "turned over: the row says who looks, the column at whom": _seen(
        lambda right, same, causal, at: right.T
    ),
    "a slot may look at itself": _seen(
        lambda right, same, causal, at: right & ~np.eye(len(at), dtype=bool)
    ),
    "the opposite: True is for what may be seen": _seen(lambda right, same, causal, at: ~right),
    "only the other document is seen": _seen(lambda right, same, causal, at: causal & ~same),
    "positions compared: documents share positions": _seen(
        lambda right, same, causal, at: np.less_equal.outer(at, at).T
    ),
    "positions alone do not tell documents apart": _seen(
        lambda right, same, causal, at: np.less_equal.outer(at, at).T & causal
    ),
    "a border is where a 0 stands, not only where positions fall": _seen(
        lambda right, same, causal, at: causal & _by(np.cumsum(np.diff(at, prepend=0) < 0))
    ),
    "only the first border: every 0 begins a segment": _seen(
        lambda right, same, causal, at: causal & _by(np.minimum(np.cumsum(at == 0), 2))
    ),
    **{
        f"{most} segments at most: every 0 begins one": _seen(
            lambda right, same, causal, at, most=most: (
                causal & _by(np.minimum(np.cumsum(at == 0), most))
            )
        )
        for most in (3, 4)
    },
    "segments of equal length are still two": lambda sizes: looks(sizes)[0] | _twins(sizes),
    "later documents are seen": _seen(
        lambda right, same, causal, at: np.less_equal.outer(np.cumsum(at == 0), np.cumsum(at == 0))
    ),
    "the first token of a segment is seen by those behind it": _seen(
        lambda right, same, causal, at: right & ((at > 0)[None, :] | np.eye(len(at), dtype=bool))
    ),
    "segments by turns: the third is not the first": _seen(
        lambda right, same, causal, at: causal & _by(np.cumsum(at == 0) % 2)
    ),
    "segments counted in 8 bits: the 257th gets the number of the first": _seen(
        lambda right, same, causal, at: causal & _by(np.cumsum(at == 0) % 256)
    ),
    "the first token of a segment is seen, too": _seen(
        lambda right, same, causal, at: right & (at > 0)[None, :]
    ),
    "the last segment is one as any other, tail or not": _seen(
        lambda right, same, causal, at: right & (np.cumsum(at == 0) < (at == 0).sum())[:, None]
    ),
    "only the first 64 slots look: a row has as many slots as positions": _seen(
        lambda right, same, causal, at: right & (np.arange(len(at)) < 64)[:, None]
    ),
    **{
        f"not only {back} back: a slot sees all of its segment before it": _seen(
            lambda right, same, causal, at, back=back: (
                right & ~np.tri(len(at), k=-back - 1, dtype=bool)
            )
        )
        for back in (1, 2, 3)
    },
}


def behind(rows: float, row_length: float, fill: float, mean_length: float) -> float:
    """Documents behind one step of packed rows.

    >>> behind(4, 1000, 0.9, 150)
    24.0
    """
    return rows * row_length * fill / mean_length


def _half(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float16(value))


def _few_bits(n: float, s: float, f: float, m: float, kind: type = np.int32) -> float:
    return float(np.int64(n * s).astype(kind)) * f / m


BEHIND: dict[str, Callable[..., float]] = {
    "that is the padded step: a packed row is several documents": lambda n, s, f, m: n,
    "the documents of one row: the step has more rows": lambda n, s, f, m: s * f / m,
    "slots, not documents": lambda n, s, f, m: n * s,
    "tokens, not documents": lambda n, s, f, m: n * s * f,
    "the fill is forgotten: empty slots hold nothing": lambda n, s, f, m: n * s / m,
    "divided by the fill: real tokens are fewer than slots": lambda n, s, f, m: n * s / f / m,
    "upside down: rows that hold so many documents": lambda n, s, f, m: m * n / (s * f),
    "empty slots counted, and rounded down": lambda n, s, f, m: n * s // m,
    "multiplied by the length of a document: divide": lambda n, s, f, m: n * s * f * m,
    "the waste in place of the fill": lambda n, s, f, m: n * s * (1 - f) / m,
    "the fill is a share, no per cent": lambda n, s, f, m: n * s * f / 100 / m,
    "one row more than there are": lambda n, s, f, m: (n + 1) * s * f / m,
    "every token counts, the first of a document, too": lambda n, s, f, m: n * s * f / (m - 1),
    "rounded down: a mean need not be whole": lambda n, s, f, m: n * s * f // m,
    "rounded: a mean need not be whole": lambda n, s, f, m: round(n * s * f / m),
    "rounded too early: a mean may be 4.5 documents a row": lambda n, s, f, m: n * (s * f // m),
    "rounded up too early: a mean may be 4.5 documents a row": lambda n, s, f, m: (
        n * -(-s * f // m)
    ),
    "the mean length was made whole: it need not be": lambda n, s, f, m: n * s * f / int(m),
    "the tokens were made whole: the fill is a mean, too": lambda n, s, f, m: int(n * s * f) / m,
    "a row's tokens were made whole: the fill is a mean, too": lambda n, s, f, m: (
        n * round(s * f) / m
    ),
    "the tokens were rounded to hundreds": lambda n, s, f, m: round(n * s * f, -2) / m,
    "the fill was rounded: give all digits": lambda n, s, f, m: n * s * round(f, 2) / m,
    "rounded to halves: give all digits": lambda n, s, f, m: round(2 * n * s * f / m) / 2,
    "rounded to one digit: give all digits": lambda n, s, f, m: round(n * s * f / m, 1),
    "a row may hold any number of documents": lambda n, s, f, m: n * min(8, s * f / m),
    "16 bits are too few: they keep three digits": lambda n, s, f, m: _half(n * s * f / m),
    "the arguments come as rows, slots, fill, mean length": lambda n, s, f, m: n * s * m / f,
    "a full row has a fill of 1: a share, no per cent": lambda n, s, f, m: (
        n * s * (f if f < 1 else f / 100) / m
    ),
    "the mean length was rounded: it need not be whole": lambda n, s, f, m: n * s * f / round(m),
    "the mean length was rounded to one digit": lambda n, s, f, m: n * s * f / round(m, 1),
    "the fill was rounded to three digits: give all": lambda n, s, f, m: n * s * round(f, 3) / m,
    "the fill was rounded to four digits: give all": lambda n, s, f, m: n * s * round(f, 4) / m,
    **{
        f"rounded to {digits} digits: give all": lambda n, s, f, m, digits=digits: round(
            n * s * f / m, digits
        )
        for digits in (2, 3, 4)
    },
    "a step may have any number of rows": lambda n, s, f, m: min(n, 8) * s * f / m,
    "a row may have any number of slots": lambda n, s, f, m: n * min(s, 1024) * f / m,
    "the fill may be high: nothing is cut off": lambda n, s, f, m: n * s * min(f, 0.95) / m,
    "the fill may be low: nothing is added": lambda n, s, f, m: n * s * max(f, 0.5) / m,
    "documents may be long: the mean has no limit": lambda n, s, f, m: n * s * f / min(m, 1000),
    "documents may be short: the mean has no limit": lambda n, s, f, m: n * s * f / max(m, 10),
    "one row is a step, too": lambda n, s, f, m: (n - 1) * s * f / m,
    "32 bits are too few for so many slots": _few_bits,
    "16 bits are too few for so many slots": lambda n, s, f, m: _few_bits(n, s, f, m, np.int16),
    "a row may hold any number of documents: 30 is no limit": lambda n, s, f, m: 30 * n,
}

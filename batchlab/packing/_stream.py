"""Pack a stream of documents with bounded memory, and keep packs on disk.

    documents, one after another  ->  full rows, one after another

Documents are held until there are `buffer` of them and tokens for `LEAST_ROWS` rows. Then all of
them are packed, the fullest half of the rows leaves, and the documents of emptier rows wait for
partners. The price against packing everything at once is less than 1 % of the rows, both on
long-tailed lengths and on equal ones (`tests/test_packing.py` holds it).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from batchlab.lengths import checked
from batchlab.packing._pack import Packing, pack
from batchlab.units import whole

__all__ = ["load", "rows_of_stream", "save"]

OPTIONAL = ("piece_documents", "piece_starts", "document_lengths")
LEAST_ROWS = 2  # with tokens for less, a row would leave because it is the only one, not full


def rows_of_stream(
    lengths: Iterable[int], row_length: int, *, buffer: int = 4096
) -> Iterator[list[int]]:
    """Yield rows as lists of document numbers, in bounded memory; nothing is lost at the end.

    Held are `buffer` documents, or as many as fill two rows where that is more. A document longer
    than a row is refused when it arrives, with its number.

    >>> sorted(rows_of_stream([5, 3, 8, 2], 8, buffer=2))
    [[0, 1], [2], [3]]
    """
    return _rows(lengths, whole(row_length, "row_length"), whole(buffer, "buffer"))


def _rows(lengths: Iterable[int], row_length: int, buffer: int) -> Iterator[list[int]]:
    numbers: list[int] = []  # of the documents held
    held: list[int] = []  # their tokens
    total = 0
    for number, tokens in enumerate(lengths):
        if type(tokens) is not int or not 1 <= tokens <= row_length:
            tokens = whole(tokens, f"the length of document {number}")
            if tokens > row_length:
                raise ValueError(
                    f"document {number} has {tokens:,} tokens; a row takes 1 to {row_length:,}"
                )
        numbers.append(number)
        held.append(tokens)
        total += tokens
        if len(held) >= buffer and total >= LEAST_ROWS * row_length:
            rows, stays = _fullest(held, row_length)
            yield from ([numbers[i] for i in row] for row in rows)
            numbers, held = [numbers[i] for i in stays], [held[i] for i in stays]
            total = sum(held)
    if held:
        yield from ([numbers[i] for i in row.tolist()] for row in pack(held, row_length).rows)


def _fullest(held: list[int], row_length: int) -> tuple[list[list[int]], list[int]]:
    """The rows that leave (at least half of all, the fullest), and the documents that stay."""
    packing = pack(held, row_length)
    used = np.bincount(packing.row_of, weights=held)
    leaves = used >= np.median(used)
    rows = [row.tolist() for row, go in zip(packing.rows, leaves.tolist(), strict=True) if go]
    return rows, np.flatnonzero(~leaves[packing.row_of]).tolist()


def save(packing: Packing, path: str | Path) -> None:
    """Write a packing to one .npz file, whole or not at all."""
    path = Path(path)
    arrays: dict[str, Any] = {
        "row_of": packing.row_of,
        "piece_lengths": packing.piece_lengths,
        "numbers": np.array([packing.row_length, packing.row_count]),
        "method": np.array(packing.method),
    }
    for name in OPTIONAL:
        if getattr(packing, name) is not None:
            arrays[name] = getattr(packing, name)
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)
    unfinished.replace(path)


def load(path: str | Path, *, lengths: np.ndarray | None = None) -> Packing:
    """Read a packing back; with `lengths`, refuse one that was made from other documents."""
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            packing = _packing(dict(file))
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except Exception as error:  # whatever NumPy, zipfile and zlib raise at other files
        raise ValueError(f"{path}: not a saved packing ({' '.join(str(error).split())})") from None
    if lengths is not None and not _made_from(packing, checked(lengths)):
        raise ValueError(f"{path}: packed from other documents than the {len(lengths):,} given")
    return packing


def _packing(arrays: dict[str, np.ndarray]) -> Packing:
    """The packing that these arrays describe; ValueError where they contradict one another."""
    row_length, row_count = arrays["numbers"].tolist()
    row_of, pieces = arrays["row_of"], arrays["piece_lengths"]
    optional = {name: arrays[name] for name in OPTIONAL if name in arrays}
    for name, array in {"row_of": row_of, "piece_lengths": pieces, **optional}.items():
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ValueError(f"{name} is no flat array of integers")
        if len(array) != len(row_of):
            raise ValueError(f"{name} has {len(array):,} entries, row_of {len(row_of):,}")
    for name, array, most in (
        ("row_of", row_of, row_count - 1),
        ("piece_documents", optional.get("piece_documents", row_of), len(row_of) - 1),
    ):
        if not len(array) or int(array.min()) < -1 or int(array.max()) > most:
            raise ValueError(f"{name} names others than the {most + 1:,} that there are")
    return Packing(
        whole(row_length, "row_length"),
        row_of,
        row_count,
        pieces,
        method=str(arrays["method"]),
        **optional,
    )


def _made_from(packing: Packing, lengths: np.ndarray) -> bool:
    """Whether the pieces, put together again, are documents of these lengths."""
    made = packing.document_lengths
    if made is None:
        made = packing.piece_lengths
        if packing.piece_documents is not None:
            made = np.bincount(packing.piece_documents, weights=made).astype(np.int64)
    return np.array_equal(made, lengths)

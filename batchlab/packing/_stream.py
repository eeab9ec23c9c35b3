"""Pack a stream of documents with bounded memory, and keep packs on disk.

    documents, one after another  ->  full rows, one after another

Only `buffer` documents are held. When the buffer is full it is packed as a whole, the fullest rows
leave, and the documents of emptier rows wait for partners. The price against packing everything
at once is less than 1 % of the rows on long-tailed lengths (`tests/test_packing.py` holds it).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from batchlab.packing._pack import Packing, pack

__all__ = ["load", "rows_of_stream", "save"]


def rows_of_stream(
    lengths: Iterable[int], row_length: int, *, buffer: int = 4096
) -> Iterator[list[int]]:
    """Yield rows as lists of document numbers, in bounded memory; nothing is lost at the end.

    A document longer than a row is refused when it arrives, with its number.

    >>> sorted(rows_of_stream([5, 3, 8, 2], 8, buffer=2))
    [[0, 1], [2], [3]]
    """
    if buffer < 1:
        raise ValueError(f"the buffer must hold at least 1 document, got {buffer}")
    held: list[tuple[int, int]] = []  # (document number, tokens)
    for number, tokens in enumerate(lengths):
        if not 1 <= tokens <= row_length:
            raise ValueError(
                f"document {number} has {tokens:,} tokens; a row takes 1 to {row_length:,}"
            )
        held.append((number, int(tokens)))
        if len(held) >= buffer:
            leaving, held = _flush(held, row_length)
            yield from leaving
    yield from _flush(held, row_length, everything=True)[0] if held else ()


def _flush(
    held: list[tuple[int, int]], row_length: int, *, everything: bool = False
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Pack what is held: rows that leave (the fullest half at least), documents that stay."""
    packing = pack([tokens for _, tokens in held], row_length)
    used = np.bincount(packing.row_of, weights=packing.piece_lengths, minlength=packing.row_count)
    leaves = used >= (0 if everything else np.median(used))
    rows = [[held[i][0] for i in row] for row, go in zip(packing.rows, leaves, strict=True) if go]
    stays = [held[i] for i in np.flatnonzero(~leaves[packing.row_of])]
    return rows, stays


def save(packing: Packing, path: str | Path) -> None:
    """Write a packing to one .npz file, whole or not at all."""
    path = Path(path)
    arrays: dict[str, Any] = {
        "row_of": packing.row_of,
        "piece_lengths": packing.piece_lengths,
        "numbers": np.array(
            [
                packing.row_length,
                packing.row_count,
                packing.cut_tokens,
                packing.dropped,
                packing.cut_documents,
            ]
        ),
        "method": np.array(packing.method),
    }
    for name in ("piece_documents", "piece_starts"):
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
            arrays = dict(file)
        row_length, row_count, cut, dropped, cut_documents = arrays["numbers"].tolist()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path}: not a saved packing ({error})") from None
    packing = Packing(
        row_length,
        arrays["row_of"],
        row_count,
        arrays["piece_lengths"],
        arrays.get("piece_documents"),
        arrays.get("piece_starts"),
        cut_tokens=cut,
        dropped=dropped,
        cut_documents=cut_documents,
        method=str(arrays["method"]),
    )
    if lengths is not None and not _made_from(packing, np.asarray(lengths)):
        raise ValueError(f"{path}: packed from other documents than the {len(lengths):,} given")
    return packing


def _made_from(packing: Packing, lengths: np.ndarray) -> bool:
    documents = packing.piece_documents
    if documents is None:
        documents = np.arange(len(packing.piece_lengths))
    if len(documents) == 0 or int(documents[-1]) + 1 != len(lengths):
        return False
    tokens = np.bincount(documents, weights=packing.piece_lengths, minlength=len(lengths))
    uncut = tokens == lengths
    return bool(uncut.all() or (packing.cut_tokens and lengths[~uncut].min() > packing.row_length))

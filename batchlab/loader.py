"""Feed micro-batches from worker processes, and resume at the very next one after a kill.

    documents, batches of document numbers  ->  micro-batches, and a position that can be saved

Which documents share a batch is decided before (`padding`, `buckets`, `packing`); a loader builds
their tensors ahead of time and never changes what a step sees. The position counts micro-batches
that were handed out, not those that workers have prepared. Documents that no memory holds come from
a `data.Stream`; `Streamed` makes tensors of them.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from batchlab import batches as tensors
from batchlab import data, lengths
from batchlab.counts import MicroBatch

__all__ = ["Loader", "Streamed"]

SAMPLE = 256  # documents whose tokens are looked at, to tell one data set from another

Build = Callable[[Sequence[Any], Any], MicroBatch]


class Loader:
    """Iterate over micro-batches; `state()` and `resume(state)` hold the position.

    build        makes one micro-batch of (documents, numbers); `batches.padded` by default
    workers      processes that build ahead; 0 builds in this one
    prefetch     micro-batches that each worker keeps ready: the bound of what is held
    rank, ranks  this process takes every `ranks`-th batch, so no document is seen twice
    """

    def __init__(
        self,
        documents: Sequence[Any],
        batches: Sequence[Any],
        *,
        build: Build = tensors.padded,
        workers: int = 0,
        prefetch: int = 2,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must lie between 0 and {ranks - 1}, got {rank}")
        if workers < 0 or prefetch < 1:
            raise ValueError(f"workers >= 0 and prefetch >= 1 needed, got {workers}, {prefetch}")
        if len(batches) % ranks:
            raise ValueError(
                f"{len(batches):,} batches do not divide over {ranks} ranks: the last step would "
                "leave a rank waiting for ever (drop or add batches, see buckets.balance)"
            )
        self.documents, self.batches = documents, list(batches[rank::ranks])
        self.build, self.workers, self.prefetch = build, workers, prefetch
        self.fingerprint = _fingerprint(documents, self.batches)
        self.position = 0
        self._ended = False

    def __len__(self) -> int:
        """Micro-batches that are left."""
        return len(self.batches) - self.position

    def __iter__(self) -> Iterator[MicroBatch]:
        """The micro-batches that are left; a loop over a loader that ran to its end is refused."""
        if self._ended:
            raise ValueError(
                f"all {len(self.batches):,} micro-batches were handed out already, and a second "
                "loop would train nothing: make a Loader with the batches of the next epoch"
            )
        more: dict[str, Any] = {"prefetch_factor": self.prefetch}
        ready = DataLoader(
            _Built(self.documents, self.batches, self.build),
            batch_size=None,  # each item is a whole micro-batch already
            sampler=range(self.position, len(self.batches)),
            num_workers=self.workers,
            pin_memory=torch.cuda.is_available(),
            **(more if self.workers else {}),
        )
        for micro_batch in ready:
            self.position += 1  # before it is used: a kill after this step must not repeat it
            yield micro_batch
        self._ended = True

    def state(self) -> dict[str, Any]:
        """The position as plain data, for a checkpoint: save it with the model it belongs to.

        It says where among which batches of which documents. How they are built is the loader's
        own that goes on: `build`, `workers` and `prefetch` may be others.
        """
        return {"position": self.position, "fingerprint": self.fingerprint}

    def resume(self, state: dict[str, Any]) -> "Loader":
        """Go on after the last micro-batch that was handed out; other data is refused."""
        if state.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"this position belongs to other data or batches (fingerprint "
                f"{state.get('fingerprint')}, here {self.fingerprint})"
            )
        position = state["position"]
        if not 0 <= position <= len(self.batches):
            raise ValueError(f"position {position} lies outside 0..{len(self.batches)}")
        self.position, self._ended = position, False
        return self

    def save(self, path: str | Path) -> None:
        """Write the state to a file, whole or not at all."""
        path = Path(path)
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_text(json.dumps(self.state()))
        unfinished.replace(path)

    def resume_from(self, path: str | Path) -> "Loader":
        """Go on at a saved state; a missing file means the beginning."""
        path = Path(path)
        if not path.exists():
            return self
        try:
            return self.resume(json.loads(path.read_text()))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: not a saved position ({error})") from None


class Streamed(IterableDataset[MicroBatch]):
    """The micro-batches of a `data.Stream` as tensors: itself, or in a `DataLoader`.

    stream  what is read; its `workers` read ahead, and need no workers of a `DataLoader`
    pad_id  token id behind the last document of a row

    `DataLoader(streamed, num_workers=n)` gives the same: it puts none together, and a `batch_size`
    above 1 is a `ValueError` (rows of a batch are the stream's). There each worker has its own
    lanes, and the place is known only to torchdata's `StatefulDataLoader`, which asks `state_dict`.

    >>> [one["input_ids"].tolist() for one in Streamed(data.Stream([[5, 6], [7]], 3, lanes=1))]
    [[[5, 6, 7]]]
    """

    def __init__(self, stream: data.Stream, *, pad_id: int = 0) -> None:
        self.stream, self.pad_id = stream, pad_id
        self._worker: int | None = None  # of a DataLoader, whose lanes these are

    def __iter__(self) -> Iterator[MicroBatch]:
        """Micro-batches from the place on, as the stream gives them."""
        self._take_part()
        for one in self.stream:
            made = tensors.packed(one.documents, one.rows, one.length, pad_id=self.pad_id)
            yield _Whole(made)

    def state_dict(self) -> dict[str, Any]:
        """The stream's; after the last micro-batch that was handed out."""
        self._take_part()
        return self.stream.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Go on at a state, or at those of all ranks, as `data.Stream` does."""
        self._take_part()
        self.stream.load_state_dict(state)

    def _take_part(self) -> None:
        worker = get_worker_info()
        if worker is not None and self._worker is None:
            self._worker = worker.id
            self.stream.take_part(worker.id, worker.num_workers)


class _Whole(dict[str, Any]):
    """A micro-batch that a `DataLoader` must not put into a batch again."""


def _alone(batch: list[_Whole], *, collate_fn_map: Any = None) -> _Whole:
    """The micro-batch itself, where a `DataLoader` was left at its `batch_size` of 1."""
    if len(batch) > 1:
        raise ValueError(
            f"batch_size={len(batch)}: each item is a whole micro-batch already, give "
            "batch_size=None, and rows= to data.Stream"
        )
    return batch[0]


default_collate_fn_map[_Whole] = _alone


class _Built(Dataset[MicroBatch]):
    """Micro-batch i, built where it is asked for: in a worker."""

    def __init__(self, documents: Sequence[Any], batches: list[Any], build: Build) -> None:
        self.documents, self.batches, self.build = documents, batches, build

    def __getitem__(self, number: int) -> MicroBatch:
        return self.build(self.documents, self.batches[number])


def _fingerprint(documents: Sequence[Any], batches: list[Any]) -> str:
    """Equal for the same documents in the same batches.

    Documents without a fingerprint of their own are told by all their lengths, and by the tokens
    of at most `SAMPLE` of them, evenly spaced.
    """
    own = getattr(documents, "fingerprint", None) or getattr(documents, "_fingerprint", None)
    digest = hashlib.sha256(str(own or len(documents)).encode())
    if not own:
        each = [lengths.of(documents[number]) for number in range(len(documents))]
        digest.update(json.dumps(each).encode())
        for number in range(0, len(documents), -(-len(documents) // SAMPLE)):
            digest.update(json.dumps(list(map(int, lengths.ids_of(documents[number])))).encode())
    digest.update(json.dumps(batches, default=_plain).encode())
    return digest.hexdigest()[:16]


def _plain(value: Any) -> Any:
    return value.tolist()

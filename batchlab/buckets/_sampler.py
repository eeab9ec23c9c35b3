"""Batches under a budget, epoch after epoch, as a loader asks for them: `batch_sampler=`.

    lengths, budget  ->  lists of document numbers, and a position that can be saved

A loader of torch needs no class of torch there: what can be iterated is enough. Every rank makes
the batches of all ranks; nothing is sent.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from batchlab.buckets._budget import balance, by_token_budget
from batchlab.lengths import checked
from batchlab.padding import Batch
from batchlab.units import whole

__all__ = ["Sampler", "sampler"]


def sampler(
    lengths: ArrayLike,
    slots: int,
    *,
    ranks: int = 1,
    rank: int | None = None,
    max_rows: int | None = None,
    round_to: int = 1,
    pool: int = 4096,
    seed: int = 0,
    cost: str = "tokens",
) -> "Sampler":
    """What a `DataLoader` takes as `batch_sampler=`: new batches of `by_token_budget` each epoch.

    lengths  of all documents; `lengths.of_dataset` reads those of a `datasets.Dataset`
    ranks    processes that share each step: their batches are of similar cost (`balance`), and
             equally many. Where that does not come out, the longest batches are halved
    rank     the batches of this process only; None: all of them, those of one step side by side,
             as accelerate and `Trainer` deal them out themselves (they need even_batches=False)

    The epoch is moved on by `set_epoch`, or by itself when a pass has ended; an epoch may have a
    batch more than another. No document is lost or seen twice.

    >>> small = sampler([2, 2, 7, 8, 1], 16)
    >>> sorted(map(sorted, small))
    [[0, 1, 4], [2, 3]]
    >>> small.state_dict()["epoch"]
    1
    """
    tokens, ranks = checked(lengths), whole(ranks, "ranks")
    if rank is not None and not 0 <= rank < ranks:
        raise ValueError(f"rank must lie between 0 and {ranks - 1}, got {rank}")
    wanted: dict[str, Any] = {
        "slots": slots, "max_rows": max_rows, "round_to": round_to, "pool": pool, "seed": seed,
    }  # fmt: skip
    return Sampler(tokens, ranks, rank, cost, wanted)


class Sampler:
    """Lists of document numbers; `sampler` makes one."""

    def __init__(
        self, tokens: np.ndarray, ranks: int, rank: int | None, cost: str, wanted: dict[str, Any]
    ) -> None:
        self._tokens, self._wanted = tokens, wanted
        self._ranks, self._rank, self._cost = ranks, rank, cost
        self._epoch = self._position = 0
        self._made: tuple[int, list[Batch]] | None = None
        self._batches()  # what cannot be batched is refused now

    def __len__(self) -> int:
        """Batches of this epoch, of this rank where it has one."""
        return len(self._batches())

    def __iter__(self) -> Iterator[Batch]:
        """The batches that are left of this epoch; then the next one begins."""
        batches = self._batches()
        for number in range(self._position, len(batches)):
            self._position = number + 1
            yield batches[number]
        self._epoch, self._position = self._epoch + 1, 0

    @property
    def sampler(self) -> "Sampler":
        """Itself: accelerate and Lightning look here for `set_epoch`."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Draw the batches of this epoch; the position stays only where the epoch does."""
        if epoch != self._epoch:
            self._epoch, self._position = whole(epoch, "epoch", 0, None), 0

    def state_dict(self, *, trained: int | None = None) -> dict[str, Any]:
        """The position as plain data, for a checkpoint.

        Workers ask for batches ahead of time: with them, say how many of this epoch were `trained`.
        """
        position = self._position if trained is None else whole(trained, "trained", 0, len(self))
        return {"epoch": self._epoch, "position": position, "fingerprint": self._fingerprint()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on after the last batch of a saved position; other documents are refused."""
        if state.get("fingerprint") != self._fingerprint():
            raise ValueError(
                "this position belongs to other lengths, another budget, seed or number of ranks"
            )
        self._epoch = whole(state["epoch"], "epoch", 0, None)
        self._position = whole(state["position"], "position", 0, len(self))

    def _batches(self) -> list[Batch]:
        if self._made is None or self._made[0] != self._epoch:
            batches = by_token_budget(self._tokens, **self._wanted, epoch=self._epoch)
            self._made = self._epoch, self._dealt(batches)
        return self._made[1]

    def _dealt(self, batches: list[Batch]) -> list[Batch]:
        if self._ranks == 1:
            return batches
        even = _divisible(batches, self._ranks)
        dealt = balance(self._tokens, even, self._ranks, cost=self._cost)
        if self._rank is not None:
            return dealt[self._rank]
        return [batch for step in zip(*dealt, strict=True) for batch in step]

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self._tokens.tobytes())
        digest.update(repr((self._ranks, self._cost, self._wanted)).encode())
        return digest.hexdigest()[:16]


def _divisible(batches: list[Batch], ranks: int) -> list[Batch]:
    """As many batches for each rank: those with the most documents are halved."""
    batches = list(batches)
    while len(batches) % ranks:
        most = max(range(len(batches)), key=lambda number: len(batches[number]))
        longest = batches[most]
        if len(longest) == 1:
            raise ValueError(f"{len(batches)} documents alone do not divide over {ranks} ranks")
        batches[most] = longest[: len(longest) // 2]
        batches.append(longest[len(longest) // 2 :])
    return batches

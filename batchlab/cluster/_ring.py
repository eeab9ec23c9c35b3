"""Collectives over a ring, written once for every world: simulated, or made of processes.

    a rank's arrays  ->  exchange with the neighbours  ->  sums, pieces, everybody's pieces

A world supplies one verb, `exchange`; what is built on it sends the same bytes and adds in the same
order everywhere, so a simulated result equals a real one bit for bit.

Words
    piece   one rank's part of a flat array: np.array_split(array, world_size)[rank]
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

__all__ = ["Rank"]


class Rank(ABC):
    """What a rank function is given: who it is, and how it talks to the others.

    Arrays are of NumPy, of any number type, and stay as they were; every collective must be called
    by all ranks, in the same order, with arrays of equal shape and type.
    """

    rank: int
    world_size: int

    @abstractmethod
    def exchange(self, to: int, data: np.ndarray, frm: int, into: np.ndarray) -> np.ndarray:
        """Return `into`, filled with what `frm` sent, after `data` was sent to `to`; both at once.

        `into` has the shape and the type of what arrives.
        """

    @abstractmethod
    def send(self, to: int, data: np.ndarray) -> None:
        """Hand `data` to rank `to`; returns when it has received it."""

    @abstractmethod
    def receive(self, frm: int, into: np.ndarray) -> np.ndarray:
        """Return `into`, filled with what rank `frm` sends."""

    @abstractmethod
    def compute(self, seconds: float) -> None:
        """Say that this rank computes for so long: moves a simulated clock, waits for no other."""

    @abstractmethod
    def _enter(self, name: str, array: np.ndarray) -> None:
        """Called first by every collective: the world may compare it with the other ranks'."""

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        """The sum over all ranks, on every rank, in the shape of `array`.

        Two passes around the ring: each rank sends 2(n-1)/n of the array's bytes.
        """
        array = np.asarray(array)
        self._enter("all_reduce", array)
        pieces = self._reduced(array)
        return np.concatenate(self._gathered(pieces)).reshape(array.shape)

    def reduce_scatter(self, array: np.ndarray) -> np.ndarray:
        """This rank's piece of the sum over all ranks, flat: one pass around the ring."""
        array = np.asarray(array)
        self._enter("reduce_scatter", array)
        return self._reduced(array)[self.rank]

    def all_gather(self, piece: np.ndarray, size: int | None = None) -> np.ndarray:
        """Every rank's piece, joined flat in the order of ranks: one pass around the ring.

        size  numbers of the whole, where the ranks do not divide it: pieces are then those of
              np.array_split; without it all pieces are as long as this one
        """
        piece = np.asarray(piece).reshape(-1)
        size = len(piece) * self.world_size if size is None else size
        whole = np.empty(size, piece.dtype)
        self._enter("all_gather", whole)
        pieces = np.array_split(whole, self.world_size)
        if len(pieces[self.rank]) != len(piece):
            raise ValueError(
                f"all_gather: of {size} numbers, rank {self.rank} of {self.world_size} holds "
                f"{len(pieces[self.rank])}, got a piece of {len(piece)}"
            )
        pieces[self.rank][...] = piece
        return np.concatenate(self._gathered(pieces))

    def broadcast(self, array: np.ndarray, root: int = 0) -> np.ndarray:
        """The array of rank `root`, on every rank: passed on along the ring, whole."""
        array = np.array(array)
        self._enter("broadcast", array)
        last = (root - 1) % self.world_size
        if self.rank != root:
            self.receive((self.rank - 1) % self.world_size, array)
        if self.rank != last:
            self.send((self.rank + 1) % self.world_size, array)
        return array

    def barrier(self) -> None:
        """Return when every rank has come here: an all-reduce of one number."""
        self.all_reduce(np.zeros(1, np.int8))

    def _reduced(self, array: np.ndarray) -> list[np.ndarray]:
        """Pieces of the array; after one pass the one with this rank's number holds its sum."""
        pieces = [np.array(piece) for piece in np.array_split(array.reshape(-1), self.world_size)]
        for step in range(1, self.world_size):
            to, frm = self._neighbours
            gone = pieces[(self.rank - step) % self.world_size]
            own = pieces[(self.rank - step - 1) % self.world_size]
            own += self.exchange(to, gone, frm, np.empty_like(own))
        return pieces

    def _gathered(self, pieces: Sequence[np.ndarray]) -> list[np.ndarray]:
        """All pieces, after one pass in which this rank's own is the first that it sends."""
        pieces = list(pieces)
        for step in range(self.world_size - 1):
            to, frm = self._neighbours
            gone = pieces[(self.rank - step) % self.world_size]
            at = (self.rank - step - 1) % self.world_size
            pieces[at] = self.exchange(to, gone, frm, np.empty_like(pieces[at]))
        return pieces

    @property
    def _neighbours(self) -> tuple[int, int]:
        return (self.rank + 1) % self.world_size, (self.rank - 1) % self.world_size

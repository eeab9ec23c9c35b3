"""Several ranks in this process, as threads, that add what they hand over.

a program for each rank  ->  what each returns; a rank that would wait for ever is refused
"""

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["at_once"]


class _World:
    """The meeting place of some ranks: the n-th call of each is added to the n-th of the others."""

    def __init__(self, size: int) -> None:
        self.size, self.calls, self.left = size, [0] * size, [False] * size
        self.sent: dict[int, dict[int, Tensor]] = {}
        self.changed = threading.Condition()

    def total(self, rank: int, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(f"over_ranks adds tensors, not {type(value).__name__}: torch.tensor()")
        with self.changed:
            number = self.calls[rank]
            self.calls[rank] += 1
            here = self.sent.setdefault(number, {})
            here[rank] = value.detach().clone()
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(here) == self.size or self._gone(number))
            if len(here) < self.size:
                gone = next(r for r in range(self.size) if r not in here)
                raise RuntimeError(
                    f"rank {rank} waits for ever: it calls over_ranks a {number + 1}. time, rank "
                    f"{gone} left after {self.calls[gone]} calls"
                )
        parts = [here[other] for other in range(self.size)]
        if len({part.shape for part in parts}) > 1:
            shapes = " and ".join(str(tuple(part.shape)) for part in parts)
            raise RuntimeError(
                f"call {number + 1} of over_ranks meets shapes {shapes}: the ranks "
                "call it in another order"
            )
        return torch.stack(parts).sum(0).to(value.dtype)

    def leave(self, rank: int) -> None:
        with self.changed:
            self.left[rank] = True
            self.changed.notify_all()

    def _gone(self, number: int) -> bool:
        return any(left and self.calls[r] <= number for r, left in enumerate(self.left))


def at_once(program: Callable[[int, Callable[[Tensor], Tensor]], Any], size: int) -> list[Any]:
    """What program(rank, over_ranks) returns on each of `size` ranks, run at the same time.

    >>> at_once(lambda rank, over_ranks: over_ranks(torch.tensor(rank + 1)).item(), 3)
    [6, 6, 6]
    """
    world = _World(size)
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = program(rank, functools.partial(world.total, rank))
        except BaseException as error:
            errors.append(error)
        finally:
            world.leave(rank)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results

"""Hand micro-batches of every kind over in ways in which one can loop over them.

    windows, a kind of loader, a number of micro-batches, a size  ->  which stands in which window

Words
    loader   what is looped over: it may know no length, or have only places
    thing    a micro-batch that is told by itself, not by a value: it may be empty, or an array
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

__all__ = ["LOADERS", "grouped"]


class _Places:
    """Has places and nothing else: Python loops over it until a place is missing."""

    def __init__(self, things: list[Any]) -> None:
        self.things = things

    def __getitem__(self, place: int) -> Any:
        return self.things[place]


class _NoLength:
    """A loader over a stream: asked for its length, it raises, as PyTorch's does."""

    def __init__(self, things: list[Any]) -> None:
        self.things = things

    def __iter__(self) -> Iterator[Any]:
        return iter(self.things)

    def __len__(self) -> int:
        raise TypeError("this loader knows no length: loop over it")


LOADERS: dict[str, Callable[[list[Any]], Any]] = {
    "a list": list,
    "an object with places only": _Places,
    "a loader whose len() raises": _NoLength,
    "a generator": lambda things: (thing for thing in things),
}


def grouped(
    windows: Callable[[Any, int], Any], loader: str, count: int, size: int
) -> list[list[int]]:
    """The windows of `count` things as their numbers; -1 stands for one that was not given."""
    things = [_thing(number) for number in range(count)]
    found = windows(LOADERS[loader](things), size)
    numbers = {id(thing): number for number, thing in enumerate(things)}
    return [[numbers.get(id(one), -1) for one in window] for window in found]


def _thing(number: int) -> Any:
    """Arrays, tensors, lists and dictionaries, some of them empty, and what nobody can copy."""
    made: list[Any] = [
        np.arange(number % 3),
        torch.arange(number % 4),
        [number] * (number % 2),
        {},
        lambda: number,
        float("nan") * (number + 1),
    ]
    return made[number % len(made)]

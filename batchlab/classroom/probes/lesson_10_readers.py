"""Lesson 10, catch the bug: readers that can be stopped and resumed, right ones and wrong ones.

documents  ->  a reader with a place: iter, state_dict, load_state_dict
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["RIGHT", "WRONG"]

State = Mapping[str, Any]


class _InOrder:
    """The documents as they come; `done` of them were handed out."""

    def __init__(self, documents: Sequence[Any]) -> None:
        self.documents, self.done = list(documents), 0

    def order(self) -> list[int]:
        return list(range(len(self.documents)))

    def __iter__(self) -> Iterator[Any]:
        order = self.order()
        while self.done < len(order):
            self.done += 1
            yield self.documents[order[self.done - 1]]

    def state_dict(self) -> State:
        return {"done": self.done}

    def load_state_dict(self, state: State) -> None:
        self.done = state["done"]


class _Blocks(_InOrder):
    """Shuffled inside blocks of three, from a seed."""

    def order(self) -> list[int]:
        numbers, rng = super().order(), random.Random(10)
        blocks = [numbers[start : start + 3] for start in range(0, len(numbers), 3)]
        return [number for block in blocks for number in rng.sample(block, len(block))]


class _Ahead(_InOrder):
    """Two documents wait ready, and the place counts them as well."""

    def state_dict(self) -> State:
        started = self.done > 0
        return {"done": min(len(self.documents), self.done + 2 * started)}


class _Late(_InOrder):
    def __iter__(self) -> Iterator[Any]:
        while self.done < len(self.documents):
            yield self.documents[self.done]
            self.done += 1


class _Anew(_InOrder):
    def load_state_dict(self, state: State) -> None:
        pass


class _ThisLife(_InOrder):
    """Counts what it has handed out itself, not what the lives before it did."""

    began = 0

    def state_dict(self) -> State:
        return {"done": self.done - self.began}

    def load_state_dict(self, state: State) -> None:
        self.done = self.began = state["done"]


class _OtherOrder(_Blocks):
    """Shuffles what is left anew, with a seed of its own in each life; nothing is lost."""

    def __init__(self, documents: Sequence[Any]) -> None:
        super().__init__(documents)
        self.given: list[int] = []

    def __iter__(self) -> Iterator[Any]:
        left = [number for number in self.order() if number not in self.given]
        if self.given:
            random.Random(len(self.given)).shuffle(left)
        for number in left:
            self.given.append(number)
            yield self.documents[number]

    def state_dict(self) -> State:
        return {"given": list(self.given)}

    def load_state_dict(self, state: State) -> None:
        self.given = list(state["given"])


class _BufferLost(_InOrder):
    """Three documents wait in a buffer that the state leaves out."""

    read = 0

    def __iter__(self) -> Iterator[Any]:
        held: list[Any] = []
        for document in itertools.islice(self.documents, self.read, None):
            self.read += 1
            held.append(document)
            if len(held) == 3:
                yield held.pop(1)
        yield from held

    def state_dict(self) -> State:
        return {"read": self.read}

    def load_state_dict(self, state: State) -> None:
        self.read = state["read"]


class _NotPlain(_InOrder):
    def state_dict(self) -> State:
        return {"left": iter(self.documents[self.done :]), "done": self.done}


class _AgainAtTheEnd(_InOrder):
    def load_state_dict(self, state: State) -> None:
        self.done = state["done"] % max(1, len(self.documents))


class _NeverAtZero(_InOrder):
    def load_state_dict(self, state: State) -> None:
        self.done = state["done"] or 1


Make = Callable[[Sequence[Any]], Any]
RIGHT: tuple[Make, ...] = (
    lambda documents: _InOrder(documents),
    lambda documents: _Blocks(documents),
)
WRONG: dict[str, Make] = {
    "it counts the documents that wait ready: they are lost": lambda given: _Ahead(given),
    "it counts a document when the next is asked for: the last one comes again": (
        lambda given: _Late(given)
    ),
    "it begins anew": lambda given: _Anew(given),
    "it counts only this life: after a second kill documents come again": (
        lambda given: _ThisLife(given)
    ),
    "it shuffles what is left anew": lambda given: _OtherOrder(given),
    "it forgets the documents in its buffer": lambda given: _BufferLost(given),
    "its state is no plain data: no file can hold it": lambda given: _NotPlain(given),
    "saved at the end, it begins anew": lambda given: _AgainAtTheEnd(given),
    "saved before the first document, it skips that one": lambda given: _NeverAtZero(given),
}

"""Catch the bug: one test for nine readers that do not resume."""

import itertools
import json
import random
from itertools import islice

from batchlab.exercises import Exercise


class Reader:
    """The documents as they come; `done` of them were handed out."""

    def __init__(self, documents):
        self.documents, self.done = list(documents), 0

    def order(self):
        return list(range(len(self.documents)))

    def __iter__(self):
        order = self.order()
        while self.done < len(order):
            self.done += 1
            yield self.documents[order[self.done - 1]]

    def state_dict(self):
        return {"done": self.done}

    def load_state_dict(self, state):
        self.done = state["done"]


of = Exercise(Reader)


@of.style
class Blocks(Reader):
    """shuffled inside blocks of three, from a seed"""

    def order(self):
        numbers, rng = list(range(len(self.documents))), random.Random(10)
        blocks = [numbers[start : start + 3] for start in range(0, len(numbers), 3)]
        return [number for block in blocks for number in rng.sample(block, len(block))]


@of.mistake
class Ahead(Reader):
    """it counts the documents that wait ready: they are lost"""

    def state_dict(self):
        return {"done": min(len(self.documents), self.done + 2 * (self.done > 0))}


@of.mistake
class Late(Reader):
    """it counts a document when the next is asked for: the last one comes again"""

    def __iter__(self):
        while self.done < len(self.documents):
            yield self.documents[self.done]
            self.done += 1


@of.mistake
class Anew(Reader):
    """it begins anew"""

    def load_state_dict(self, state):
        pass


@of.mistake
class ThisLife(Reader):
    """it counts only this life: after a second kill documents come again"""

    began = 0

    def state_dict(self):
        return {"done": self.done - self.began}

    def load_state_dict(self, state):
        self.done = self.began = state["done"]


@of.mistake
class OtherOrder(Blocks):
    """it shuffles what is left anew"""

    given = ()

    def __iter__(self):
        left = [number for number in self.order() if number not in self.given]
        if self.given:
            random.Random(len(self.given)).shuffle(left)
        for number in left:
            self.given = [*self.given, number]
            yield self.documents[number]

    def state_dict(self):
        return {"given": list(self.given)}

    def load_state_dict(self, state):
        self.given = list(state["given"])


@of.mistake
class BufferLost(Reader):
    """it forgets the documents in its buffer"""

    read = 0

    def __iter__(self):
        held = []
        for document in itertools.islice(self.documents, self.read, None):
            self.read += 1
            held.append(document)
            if len(held) == 3:
                yield held.pop(1)
        yield from held

    def state_dict(self):
        return {"read": self.read}

    def load_state_dict(self, state):
        self.read = state["read"]


@of.mistake
class NotPlain(Reader):
    """its state is no plain data: no file can hold it"""

    def state_dict(self):
        return {"left": iter(self.documents[self.done :]), "done": self.done}


@of.mistake
class AgainAtTheEnd(Reader):
    """saved at the end, it begins anew"""

    def load_state_dict(self, state):
        self.done = state["done"] % max(1, len(self.documents))


@of.mistake
class NeverAtZero(Reader):
    """saved before the first document, it skips that one"""

    def load_state_dict(self, state):
        self.done = state["done"] or 1


def resume_test(make):
    """Fail (assert; another exception counts, too) for every wrong make(documents) -> reader."""
    documents = list(range(8))
    whole = list(make(documents))
    for first in range(9):
        for second in range(9 - first):
            got, state = [], None
            for until in (first, second, 99):
                reader = make(documents)
                if state is not None:
                    reader.load_state_dict(json.loads(json.dumps(state)))
                rows = iter(reader)
                got += islice(rows, until)
                state = reader.state_dict()
            assert got == whole


exercise = Exercise(
    resume_test,
    given=("json", "islice"),
    hints=(
        "kill at every place, also before the first document and behind the last",
        "write the state as JSON, and read it again before you load it",
        "kill the resumed reader as well, and compare with the reader that nobody disturbs",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: nine wrong readers found, both right ones passed.",
)
FIRST, SECOND, LIVES = "in range(9):", "range(9 - first)", "(first, second, 99)"
for _thought, _says, *_changes in [
    ("one kill only", "counts only this life", (LIVES, "(first, 99)")),
    (
        "never before the first document",
        "skips that one",
        (FIRST, "in range(1, 9):"),
        (SECOND, "range(1, 9 - first)"),
    ),
    ("never at the end", "saved at the end", (SECOND, "range(8 - first)"), (FIRST, "in range(8):")),
    (
        "the order is not compared",
        "shuffles what is left anew",
        ("assert got == whole", "assert sorted(got) == documents"),
    ),
    ("only what is lost is seen", "got through", ("got == whole", "set(got) == set(whole)")),
    (
        "the order of the stream is asked",
        "right implementation",
        ("got == whole", "got == documents"),
    ),
    (
        "the state never goes through JSON",
        "its state is no plain data",
        ("json.loads(json.dumps(state))", "dict(state)"),
    ),
    ("nothing is asserted", "got through", ("assert got == whole", "got == whole")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="got through")
def one_example(make):
    """one example"""
    reader = make([1, 2, 3, 4])
    rows = iter(reader)
    got = [next(rows), next(rows)]
    other = make([1, 2, 3, 4])
    other.load_state_dict(reader.state_dict())
    assert got + list(other) == list(make([1, 2, 3, 4]))


@exercise.style
def three_kills(make):
    """other documents, three kills, rows that are lost with the program"""
    documents = ["a", "b", "c", "d", "e", "f", "g"]
    right = list(make(documents))
    for kill in range(8):
        out, state = [], None
        for until in (kill, 1, 1, 20):
            one = make(documents)
            if state:
                one.load_state_dict(json.loads(json.dumps(state)))
            rows = iter(one)
            for _ in range(until):
                document = next(rows, None)
                if document is not None:
                    out.append(document)
            state = one.state_dict()
            for _ in range(2):
                next(rows, None)
        assert out == right, (kill, out)


exercise.styles["returns True and False"] = lambda: (
    exercise.text.replace("assert got == whole", "if got != whole:\n                return False")
    + "    return True\n"
)

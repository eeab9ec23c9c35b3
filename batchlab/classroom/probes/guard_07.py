"""A device that runs out of memory when it is told to, for a learner's memory guard.

    a guard, lengths of documents, a capacity in slots  ->  the tries, and what came of the search

A try needs rows x longest document of each micro-batch, and from the second one on the gradient as
well. What a failed step has made stays as long as its frames do: a weak reference tells.

Words
    guard   a function of (step, documents, sequences, most) -> (rows, accumulation)
    tries   lengths of the documents, by micro-batch, of each step that the guard took
"""

import gc
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

__all__ = [
    "ENDS",
    "KINDS",
    "Tries",
    "ended_by",
    "guarded",
    "known_rows",
    "names",
    "order_of",
    "right_rows",
    "tries_of",
]

Documents = Sequence[Sequence[int]]
Guard = Callable[[Callable[[Iterable[Documents]], None], list[list[int]], int, int], Any]
Tries = list[list[list[int]]]

KINDS: dict[str, Callable[[], Exception]] = {  # how devices say that memory ended
    "cuda": lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    "cpu": lambda: RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    "python": MemoryError,
    "cublas": lambda: RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling create"),
    "system": lambda: OSError(12, "Cannot allocate memory"),
}
ENDS: dict[str, Callable[[], Exception]] = {  # what is no out of memory, and must be seen
    "shapes": lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied (8x64 and 32x8)"),
    "data": lambda: ValueError("document 3 has no target token"),
    "stop": lambda: KeyError("labels"),
}


class _Held:
    """What a step has made."""


def guarded(
    answer: Guard,
    lengths: Sequence[int],
    sequences: int,
    most: int,
    *,
    capacity: int,
    gradient: int = 0,
    kind: str = "cuda",
    breaks: str = "",
) -> dict[str, Any]:
    """Run a guard on the device, and say what was seen.

    result  what it returned, as a list if it is a sequence; None after an error
    error   the name of an error and its base classes; said: its text
    tries   see above; kept: whether a failed step was still alive at the next
    unlike  what a try had in place of a list of lists of documents; foreign: other documents came;
    same    whether the step's own error was seen
    """
    held: list[weakref.ref[_Held]] = []
    seen: dict[str, Any] = {"result": None, "error": [], "said": "", "tries": [], "kept": False}
    seen |= {"unlike": "", "foreign": False, "same": False}
    thrown = ENDS[breaks]() if breaks else None

    def step(micro_batches: Iterable[Documents]) -> None:
        seen["kept"] = seen["kept"] or _alive(held)
        made = _Held()
        held.append(weakref.ref(made))
        seen["unlike"] = seen["unlike"] or _unlike(micro_batches)
        cut = [
            [one if isinstance(one, list | tuple) else [] for one in micro]
            if isinstance(micro, Iterable)
            else []
            for micro in micro_batches
        ]
        seen["foreign"] |= any(list(one) not in documents for micro in cut for one in micro)
        seen["tries"].append([[len(one) for one in micro] for micro in cut])
        if thrown:
            raise thrown
        for number, micro in enumerate(cut):
            slots = len(micro) * max((len(one) for one in micro), default=0)
            if slots + (gradient if number else 0) > capacity:
                raise KINDS[kind]()

    documents = [[1 + 3 * length % 5] * length for length in lengths]  # equal ones, too
    try:
        result = answer(step, documents, sequences, most)
        seen["result"] = list(result) if isinstance(result, tuple | list) else result
    except NotImplementedError:
        raise  # a blank
    except Exception as error:
        seen["error"] = [base.__name__ for base in type(error).__mro__]
        seen["said"], seen["same"] = str(error), error is thrown
    if [len(one) for one in documents] != list(lengths):
        seen["said"] = "documents changed"
    return seen


def right_rows(
    lengths: Sequence[int], sequences: int, most: int, *, capacity: int, gradient: int = 0
) -> list[int]:
    """[rows, accumulation] of the most rows that fit; empty where none does."""
    ordered = sorted(lengths)[-sequences:]
    return _best(ordered, _divisors(sequences, most), capacity, gradient)


def known_rows(
    lengths: Sequence[int], sequences: int, most: int, *, capacity: int, gradient: int = 0
) -> list[tuple[list[int], str]]:
    """What known mistakes find in place of the right rows, by their thoughts."""
    exact = _divisors(sequences, most)
    worst = sorted(lengths)[-sequences:]
    mean = [round(sum(lengths) / len(lengths))] * sequences
    halved = [rows for rows in exact if rows in _shrunk(min(most, sequences), 0.5)]
    tenths = [rows for rows in exact if rows in _shrunk(min(most, sequences), 0.9)]
    found = [
        (_best(mean, exact, capacity, gradient), "tried with the mean document, not the longest"),
        (
            _best(list(lengths[:sequences]), exact, capacity, gradient),
            "tried with the first documents of the data, not the longest",
        ),
        (_best(worst[::-1], exact, capacity, gradient), "the longest come last: a gradient waits"),
        (_best(worst, exact, capacity, 0), "one micro-batch is no step: the gradient is missing"),
        (_best(worst, halved, capacity, gradient), "halving skips rows that divide and fit"),
        (_best(worst, tenths, capacity, gradient), "a tenth off skips rows that divide and fit"),
        (_best(sorted(lengths)[:sequences], exact, capacity, gradient), "the shortest documents"),
        ([1, sequences], "one row always fits first: the most rows are asked"),
    ]
    right = right_rows(lengths, sequences, most, capacity=capacity, gradient=gradient)
    turned = (right[::-1], "rows come first, then the accumulation")
    return [(value, why) for value, why in [turned, *found] if value != right]


def tries_of(lengths: Sequence[int], sequences: int, most: int, seen: Tries) -> str:
    """What is wrong with the tries of a guard, in words; empty where nothing is."""
    worst = sorted(lengths)[-sequences:]
    rows = [[len(micro) for micro in one] for one in seen]
    for cut, one in zip(rows, seen, strict=True):
        took = sorted(length for micro in one for length in micro)
        if len(took) != sequences:
            if took == sorted(set(lengths))[-sequences:]:
                return "equal documents are several: a set, or a dict, counts them once"
            parts = f"{len(cut)} micro-batch{'es' if len(cut) > 1 else ''}"
            return f"{len(took)} documents, {parts}: each try is a whole step of {sequences}"
        if len(set(cut)) > 1:
            return f"micro-batches of {sorted(set(cut))} rows in one step: all have the same"
        if took != worst:
            return f"documents of {took[-3:]} tokens at most: the longest of the data are a step"
        if sorted(one[-1]) != worst[len(worst) - len(one[-1]) :]:
            return f"{sorted(one[-1])[-3:]} tokens in the last micro-batch: the longest come last"
    tried = [cut[0] for cut in rows]
    if max(tried, default=0) > most:
        return f"{max(tried)} rows were tried: at most {most} are asked"
    again = sorted({one for one in tried if tried.count(one) > 1})
    return (
        f"{again[0]} rows were tried {tried.count(again[0])} times: once is enough" if again else ""
    )


def order_of(tried: Sequence[int], right: Sequence[int]) -> str:
    """What is wrong with the order of the rows tried, in words; empty where nothing is."""
    if list(tried) == list(right):
        return ""
    if list(tried) == list(right[1:]):
        return "`most` rows count, too, if they divide"
    if list(tried[: len(right)]) == list(right):
        return "fewer rows were tried after some that fit: stop at the first that fits"
    if list(tried) != sorted(tried, reverse=True):
        return "in another order: from the most down, and stop at the first that fits"
    return "rows that divide were skipped: from the most down, and stop at the first that fits"


def ended_by(seen: dict[str, Any], sequences: int) -> str:
    """The likely mistake of a guard that found nothing where some rows fit."""
    name, tried = seen["error"][0], [len(one[0]) for one in seen["tries"]]
    if name == "RecursionError":
        return "a call inside a call for each try: a loop has no such limit"
    if name == "UnboundLocalError":
        return "the name of `except ... as` is gone when its block has ended"
    if name == "ValueError" and not tried:
        return f"refused before any try: documents are enough from {sequences} up, whatever `most`"
    if name == "ValueError" and tried[-1] > 1:
        return "given up early: fewer rows divide, down to 1, and range(n, 0, -1) ends at 1"
    if not {"RuntimeError", "MemoryError", "OSError"} & set(seen["error"]):  # those of KINDS
        return f"the guard itself ended with {name}: its text says where"
    return "only an error that is no out of memory ends the search"


def names(message: str, numbers: Sequence[int]) -> bool:
    """Whether each of these numbers stands in a message by itself.

    >>> names("12 documents, the data 3", [3, 12]), names("120 documents", [12])
    (True, False)
    """
    found = {re.sub(r"[,_]", "", one) for one in re.findall(r"\d+(?:[,_]\d{3})*", message)}
    return all(str(number) in found for number in numbers)


def _best(lengths: list[int], rows: Sequence[int], capacity: int, gradient: int) -> list[int]:
    """The most of these rows with which the documents, cut in this order, fit."""
    for many in sorted(rows, reverse=True):
        cut = [lengths[i : i + many] for i in range(0, len(lengths), many)]
        needs = [many * max(one) + (gradient if n else 0) for n, one in enumerate(cut)]
        if max(needs) <= capacity:
            return [many, len(cut)]
    return []


def _unlike(micro_batches: object) -> str:
    """What is handed to a step in place of a list of lists of documents; empty if it is one."""
    if not isinstance(micro_batches, list | tuple):
        return f"the micro-batches are one {type(micro_batches).__name__}: a list is asked"
    for micro in micro_batches:
        if not isinstance(micro, list | tuple):
            return f"a micro-batch is one {type(micro).__name__}: a list of documents is asked"
        for one in micro:
            if not isinstance(one, list | tuple):
                return f"one {type(one).__name__} in place of a document: hand over its tokens"
    return ""


def _divisors(sequences: int, most: int) -> list[int]:
    return [rows for rows in range(1, min(most, sequences) + 1) if sequences % rows == 0]


def _shrunk(rows: int, by: float) -> Iterator[int]:
    while rows:
        yield rows
        rows = int(by * rows)


def _alive(held: list[weakref.ref[_Held]]) -> bool:
    if any(one() for one in held):
        gc.collect()  # a circle of an error and its frame is nobody's fault
    return any(one() for one in held)

"""Run a learner's rank function in a simulated world, and say what each rank did.

    a rank function, the arguments of each rank  ->  results, refusals, bytes, peaks, faults

What a function raises is raised here again, so that the check shows its line. What only a world
can see comes back as words: a deadlock, collectives that differ, a rank that never returns.

Words
    refused  rank by rank: whether it raised a ValueError
    fault    what the world said when the ranks could not go on together
    tensors  bytes of live torch tensors, on average over the ranks, at the fullest collective
"""

import gc
import importlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any

from batchlab.classroom import copies
from batchlab.cluster import ranks

__all__ = ["in_world", "likely_of"]

PATIENCE = 30.0  # seconds: whoever imports torch inside a traced world takes ten
MORE = (
    ("has returned", "a rank left early: every rank calls every collective, with zeros if need be"),
    ("differs: rank", "the ranks call different collectives: the same ones, in the same "
     "order, with equal shapes, on every rank"),
    ("waits for (", "the ranks call different collectives, or arrays of different shapes"),
    ("without communicating", "a loop that never ends on one rank"),
    ("waits to", "every rank sends and nobody receives: use the collectives"),
)  # fmt: skip


def in_world(
    function: Callable[..., Any],
    parts: Sequence[Sequence[Any]],
    *,
    may_refuse: bool = False,
) -> dict[str, Any]:
    """What came of function(rank, *parts[rank]) on every rank at once.

    results, refused  by rank; sent_bytes, peak_bytes: meters by rank
    collectives       by rank; a reduce_scatter and an all_gather count as one
    largest           bytes of the largest message
    tensor_bytes      of torch, which the meter of memory does not see; 0 without torch
    fault             "" or what the world said; likely_of names the thought behind it
    changed           what became of the arguments, "" if nothing
    """
    torch = _uses_torch(function)
    names: list[list[str]] = [[] for _ in parts]
    found = _once(_named(function, names), parts)
    errors = found.pop("errors")
    if not may_refuse and (error := next((one for one in errors if one), None)):
        raise error
    held = _tensors(function, parts) if torch and not found["fault"] else 0
    found["collectives"] = [
        len(own) - min(own.count("reduce_scatter"), own.count("all_gather")) for own in names
    ]
    return {**found, "refused": [one is not None for one in errors], "tensor_bytes": held}


def _named(function: Callable[..., Any], names: list[list[str]]) -> Callable[..., Any]:
    """The same function; the collectives of each rank join its list."""

    def watched(rank: ranks.Rank, *own: Any) -> Any:
        enter = rank._enter

        def entered(name: str, array: Any) -> None:
            names[rank.rank].append(name)
            enter(name, array)

        vars(rank)["_enter"] = entered
        return function(rank, *own)

    return watched


def _once(function: Callable[..., Any], parts: Sequence[Sequence[Any]]) -> dict[str, Any]:
    errors: list[Exception | None] = [None] * len(parts)
    results: list[Any] = [None] * len(parts)
    altered: list[str] = [""] * len(parts)

    def program(rank: ranks.Rank) -> None:
        own = copies.copied(list(parts[rank.rank]))
        try:
            results[rank.rank] = function(rank, *own)
        except ValueError as error:
            errors[rank.rank] = error
        change = copies.changed(list(parts[rank.rank]), own, where="the arguments")
        altered[rank.rank] = f"{change}: {change.thought}" if change else ""

    found: dict[str, Any] = {"results": results, "errors": errors, "fault": "", "changed": ""}
    try:
        world = ranks.run(program, len(parts), patience=PATIENCE)
    except ranks.RankError as error:
        if isinstance(error.__cause__, Exception):
            raise error.__cause__ from None
        return {**found, "fault": str(error)}
    return {
        **found,
        "sent_bytes": world.sent_bytes,
        "peak_bytes": world.peak_bytes,
        "largest": max((one.bytes for one in world.timeline if one.kind == "send"), default=0),
        "changed": next((one for one in altered if one), ""),
    }


def likely_of(fault: str) -> str:
    """The thought that usually leads to what a world said."""
    return next((thought for words, thought in MORE if words in fault), "")


def _uses_torch(function: Callable[..., Any]) -> bool:
    """Whether the function names torch; if so it is imported here, before memory is metered."""
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    waiting = [code] if isinstance(code, CodeType) else []
    seen: set[CodeType] = set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        waiting += [part for part in one.co_consts if isinstance(part, CodeType)]
        for name in one.co_names:
            value = names.get(name)
            inner = getattr(value, "__code__", None)
            waiting += [inner] if isinstance(inner, CodeType) else []
            module = value.__name__ if isinstance(value, ModuleType) else name
            if module.split(".")[0] == "torch":
                with suppress(ImportError):
                    importlib.import_module("torch")
                return True
    return False


def _tensors(function: Callable[..., Any], parts: Sequence[Sequence[Any]]) -> int:
    """Bytes of the tensors that live at the fullest collective of rank 0, shared by the ranks."""
    most = 0

    def counted() -> None:
        nonlocal most
        tensor = sys.modules["torch"].Tensor
        live = [one for one in gc.get_objects() if issubclass(type(one), tensor)]
        stores = [one.untyped_storage() for one in live]
        most = max(most, sum({one.data_ptr(): one.nbytes() for one in stores}.values()))

    def watched(rank: ranks.Rank, *own: Any) -> Any:
        if rank.rank == 0:
            enter = rank._enter

            def entered(name: str, array: Any) -> None:
                counted()
                enter(name, array)

            vars(rank)["_enter"] = entered
        return function(rank, *own)

    gc.freeze()  # what lived before is not listed
    try:
        _once(watched, parts)
    finally:
        gc.unfreeze()
    return most // len(parts)

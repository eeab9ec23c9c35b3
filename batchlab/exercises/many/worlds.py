"""Run a learner's rank function in a simulated world, and say what each rank did.

    a rank function, the arguments of each rank  ->  results, refusals, bytes, faults

What a function raises is raised here again, so that the check shows its line. What only a world
can see comes back as words: a deadlock, collectives that differ, a rank that never returns.

Words
    refused  rank by rank: the ValueError that it raised, in words; empty if none
    fault    what the world said when the ranks could not go on together
"""

import importlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any

from batchlab.classroom import copies
from batchlab.cluster import ranks

__all__ = ["in_world", "likely_of"]

PATIENCE = 30.0  # seconds
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

    results, refused  by rank; sent_bytes: the meter of each rank
    collectives       by rank; a reduce_scatter and an all_gather count as one
    largest           bytes of the largest message
    fault             "" or what the world said; likely_of names the thought behind it
    changed           what became of the arguments, "" if nothing
    """
    _load_torch_for(function)
    names: list[list[str]] = [[] for _ in parts]
    found = _once(_named(function, names), parts)
    errors = found.pop("errors")
    if not may_refuse and (error := next((one for one in errors if one), None)):
        raise error
    found["collectives"] = [
        len(own) - min(own.count("reduce_scatter"), own.count("all_gather")) for own in names
    ]
    return {**found, "refused": [f"{type(one).__name__}: {one}" if one else "" for one in errors]}


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
        "largest": max((one.bytes for one in world.timeline if one.kind == "send"), default=0),
        "changed": next((one for one in altered if one), ""),
    }


def likely_of(fault: str) -> str:
    """The thought that usually leads to what a world said."""
    return next((thought for words, thought in MORE if words in fault), "")


def _load_torch_for(function: Callable[..., Any]) -> None:
    """Import torch here if the function names it: inside a traced world that takes ten seconds."""
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
                return

"""A function from anywhere, a notebook's cell too, as text that another process can run.

    function  ->  source of it and of the functions it uses, modules and values by name

A process cannot import a notebook. What is sent instead is the function's source, that of the
functions of the same module which it calls, and the modules and plain values that they name.
"""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["SENT", "Packed", "pack"]

SENT = "<sent to a process>"  # the file name of such a function in a traceback


@dataclass(frozen=True)
class Packed:
    """What `unpack` needs to make the function again; it can be pickled."""

    name: str
    sources: list[str]
    modules: dict[str, str]  # name in the function -> module
    values: dict[str, Any]

    def unpack(self) -> Callable[..., Any]:
        """The function, made anew in the process that asks."""
        import importlib

        room: dict[str, Any] = dict(self.values)
        for name, module in self.modules.items():
            room[name] = importlib.import_module(module)
        for source in self.sources:
            exec(compile(source, SENT, "exec"), room)
        made: Callable[..., Any] = room[self.name]
        return made


def pack(function: Callable[..., Any]) -> Packed:
    """Collect a function with all that it names; a lambda or a closure is refused by name."""
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise ValueError(f"a function made with def is needed, got {function!r:.60}")
    packed = Packed(function.__name__, [], {}, {})
    _add(function, packed, set())
    return packed


def _add(function: FunctionType, packed: Packed, seen: set[str]) -> None:
    if function.__closure__:
        names = ", ".join(function.__code__.co_freevars)
        raise ValueError(
            f"{function.__name__} uses {names} of the function around it: another process cannot "
            "see these; hand them over as arguments"
        )
    seen.add(function.__name__)
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if name not in function.__globals__ or name in seen:
            continue
        if isinstance(value, ModuleType):
            packed.modules[name] = value.__name__
        elif isinstance(value, FunctionType) and value.__module__ == function.__module__:
            _add(value, packed, seen)
        else:
            packed.values[name] = value
    try:
        packed.sources.append(textwrap.dedent(inspect.getsource(function)))
    except OSError:
        raise ValueError(
            f"the source of {function.__name__} is not at hand: write it in a file or a cell"
        ) from None


def _names(code: CodeType) -> set[str]:
    """Every global name that a function or one inside it reads."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*(_names(one) for one in inner))

"""The learner's own library: keep what they wrote, and run on it in a later lesson.

    functions of a notebook  ->  mine/04_packing.py  ->  the same functions, or the library's

The folder stands beside the folders of the notebooks. A kept file is plain Python that runs by
itself: what a function uses stands in it, too. Under grading nothing is written and nothing read.

Words
    piece   the text of one import, one constant, one function or one class
"""

import ast
import importlib
import linecache
import re
import symtable
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from batchlab.classroom.opening import grading
from batchlab.classroom.showing import worded

__all__ = ["keep", "take"]

BLANK = "raise NotImplementedError"
LONGEST = 2000  # letters of a constant; what is longer is data, and no part of a function
HEAD = '"""Yours, from lesson {lesson}: the keep cell of that lesson writes this file."""\n\n'
Pieces = dict[str, str]


class _Left(Exception):
    """A function cannot be kept; the message is the reason."""


def keep(lesson: str, *functions: Any) -> None:
    """Write the source of functions and classes, and say which; a blank one is left out."""
    if grading():
        print("Graded run: nothing is kept.")
        return
    pieces: Pieces = {}
    kept, left = [], []
    for one in functions:
        try:
            pieces = _with(one, pieces, set())
            kept.append(one.__name__)
        except _Left as reason:
            left.append(f"{getattr(one, '__name__', one)} ({reason})")
    if kept:
        try:
            _folder().mkdir(exist_ok=True)
            (_folder() / f"{lesson}.py").write_text(_text(lesson, pieces), encoding="utf-8")
        except OSError as error:
            print(f"Nothing kept: {_folder()} cannot be written ({error.strerror}).")
            return
    said = f"Kept in mine/{lesson}.py: {', '.join(kept)}." if kept else "Nothing kept."
    print(said + (f" Left out: {', '.join(left)}." if left else ""))


def take(
    lesson: str, name: str, *, otherwise: Any, tries: Callable[[Any], object] = lambda one: None
) -> Any:
    """The learner's function from `mine/`, if it is there and `tries` passes; else `otherwise`.

    `tries` takes the function; it raises or returns False where the function will not do.
    """
    path = _folder() / f"{lesson}.py"
    if grading() or not path.is_file():
        reason = "graded run" if grading() else f"nothing of lesson {lesson[:2]} is kept"
        print(f"{name}: the library's ({reason}).")
        return otherwise
    try:
        space: dict[str, Any] = {"__name__": f"mine_{lesson}", "__file__": str(path)}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        if name not in space:
            raise ValueError("it is not in the file")
        if tries(space[name]) is False:
            raise ValueError("it fails the test of this lesson")
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {worded(error)[:120]}"
        print(f"{name}: the library's (yours in mine/{lesson}.py: {reason}).")
        return otherwise
    print(f"{name}: yours, from mine/{lesson}.py.")
    return space[name]


def _folder() -> Path:
    """`mine` beside the folder of the notebook, if that is a lesson's; else inside it."""
    here = Path.cwd()
    return (here.parent if re.fullmatch(r"\d\d_\w+", here.name) else here) / "mine"


def _with(one: Any, pieces: Pieces, above: set[str]) -> Pieces:
    """The pieces with that of `one` behind those of all that it uses."""
    name = getattr(one, "__name__", "")
    if name in pieces or name in above:
        return pieces
    found = ((_source(name, cell), names) for cell, names in _cells(one))
    source, names = next((pair for pair in found if pair[0]), ("", {}))
    if not source:
        raise _Left("its source is not known: run its cell again")
    if BLANK in source:
        raise _Left("still blank" if not above else f"{name} is still blank")
    for used in sorted(_used(source) & names.keys() - {name}):
        pieces = _piece(used, names[used], pieces, above | {name})
    return pieces | {name: f"\n\n{source}\n"}


def _piece(used: str, value: Any, pieces: Pieces, above: set[str]) -> Pieces:
    """The pieces with what the name `used` means in the notebook."""
    home = getattr(value, "__module__", None)
    if isinstance(value, types.ModuleType):
        alias = "" if value.__name__ == used else f" as {used}"
        return pieces | {used: f"import {value.__name__}{alias}\n"}
    name = getattr(value, "__name__", "")
    face = (home or "").partition("._")[0]  # what a private file defines is asked of its door
    home = face if face and _found(face, name) is value else home
    if home not in {None, "__main__"} and _found(home, name) is value:
        alias = "" if name == used else f" as {used}"
        return pieces | {used: f"from {home} import {name}{alias}\n"}
    if isinstance(value, types.FunctionType | type):
        return _with(value, pieces, above)
    text = repr(value) if type(value) in {bool, int, float, str, list, tuple, dict, set} else ""
    try:
        plain = 0 < len(text) <= LONGEST and ast.literal_eval(text) == value
    except (ValueError, SyntaxError, RecursionError):
        plain = False
    if not plain and value is not None:
        raise _Left(f"it uses {used}, which is no function and no plain constant")
    return pieces | {used: f"{used} = {value!r}\n"}


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def _cells(one: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where the source of a function or a class may stand, with the names around it."""
    for part in list(vars(one).values()) if isinstance(one, type) else [one]:
        inner = getattr(part, "__func__", getattr(part, "fget", part))  # methods, properties
        if isinstance(inner, types.FunctionType):
            yield inner.__code__.co_filename, inner.__globals__
    if isinstance(one, type):  # a class without a method of its own: any cell, the last run first
        yield from ((cell, vars(sys.modules["__main__"])) for cell in [*linecache.cache][::-1])


def _source(name: str, filename: str) -> str:
    """The last definition of `name` in a cell or a file, decorators included."""
    lines = linecache.getlines(filename)
    if not any(name in line for line in lines):
        return ""
    try:
        body = ast.parse("".join(lines)).body
    except SyntaxError:
        return ""
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return "".join(lines[first - 1 : node.end_lineno]).rstrip()
    return ""


def _used(source: str) -> set[str]:
    """Names that a definition takes from around it, in its body or in its signature."""
    tables = [symtable.symtable(source, "kept", "exec")]
    names: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outermost = table.get_type() == "module"
        names |= {s.get_name() for s in table.get_symbols() if s.is_global() or outermost}
    return names


def _text(lesson: str, pieces: Pieces) -> str:
    """The file: imports, constants, then functions in an order that runs."""

    def rank(text: str) -> int:
        return 0 if text.startswith(("import ", "from ")) else 2 if text.startswith("\n") else 1

    return HEAD.format(lesson=lesson) + "".join(sorted(pieces.values(), key=rank))

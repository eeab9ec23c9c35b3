"""The learner's own library: keep what they wrote, and run on it in a later lesson.

    functions of a notebook  ->  mine/04_packing.py  ->  the same functions, or the library's

The folder stands beside the folders of the notebooks. A kept file is plain Python that runs by
itself: the imports, helpers and constants that a function uses are written before it. Under grading
nothing is written and nothing is read.
"""

import ast
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batchlab.classroom.copies import ATOMS
from batchlab.classroom.opening import grading
from batchlab.classroom.showing import worded

__all__ = ["keep", "take"]

BLANK = "raise NotImplementedError"
HEAD = '"""Yours, from lesson {lesson}. The last cell of that lesson writes this file."""\n\n'


def keep(lesson: str, *functions: Any) -> None:
    """Write the source of `functions` (or classes), and say which; a blank one is left out."""
    if grading():
        print("Graded run: nothing is kept.")
        return
    written: dict[str, str] = {}
    kept, left = [], []
    for one in functions:
        name = getattr(one, "__name__", repr(one))
        needed = dict(written)
        if reason := _collect(one, needed):
            left.append(f"{name} ({reason})")
            continue
        written = needed
        kept.append(name)
    if kept:
        path = _folder(lesson) / f"{lesson}.py"
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_text(HEAD.format(lesson=lesson) + "".join(_ordered(written)), "utf-8")
        except OSError as error:
            left, kept = [f"{name} ({error.strerror})" for name in kept] + left, []
    said = f"Kept in mine/{lesson}.py: {', '.join(kept)}." if kept else "Nothing kept."
    print(said + (f" Left out: {', '.join(left)}." if left else ""))


def take(
    lesson: str, name: str, *, otherwise: Any, tries: Callable[[Any], object] = lambda one: None
) -> Any:
    """The learner's function from `mine/`, if it is there and `tries` passes; else `otherwise`.

    `tries` takes the function; it raises or returns False where the function will not do.
    """
    if grading():
        print(f"{name}: the library's (graded run).")
        return otherwise
    path = _folder(lesson) / f"{lesson}.py"
    if not path.is_file():
        print(f"{name}: the library's (nothing of lesson {lesson[:2]} is kept).")
        return otherwise
    try:
        space: dict[str, Any] = {"__name__": f"mine_{lesson}", "__file__": str(path)}
        exec(compile(path.read_text("utf-8"), str(path), "exec"), space)
        mine = space[name]
        if tries(mine) is False:
            raise ValueError("it fails the test of this lesson")
    except KeyError:
        print(f"{name}: the library's (mine/{lesson}.py has no {name}).")
    except Exception as error:
        print(f"{name}: the library's (yours: {type(error).__name__}: {worded(error)[:120]}).")
    else:
        print(f"{name}: yours, from mine/{lesson}.py.")
        return mine
    return otherwise


def _folder(lesson: str) -> Path:
    """`mine` beside the notebooks' folders; beside the notebook itself where there are none."""
    here = Path.cwd()
    beside = here.parent.name in {"lessons", "solutions"} or (
        here.name[:2].isdigit() and here.name[2:3] == "_"
    )
    return (here.parent if beside else here) / "mine"


def _collect(one: Any, written: dict[str, str]) -> str:
    """Add the source of `one` and of all that it uses; the reason where that cannot be."""
    name = getattr(one, "__name__", "")
    if name in written:
        return ""
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(one)).strip() + "\n"
    except (OSError, TypeError):
        return "its source is not known: run its cell again"
    if BLANK in source:
        return "still blank"
    written[name] = source
    names = getattr(one, "__globals__", None) or vars(
        inspect.getmodule(one) or types.ModuleType("")
    )
    for used in sorted(_used(source)):
        if used in names and used != name and (reason := _add(used, names[used], written)):
            return reason
    return ""


def _used(source: str) -> set[str]:
    """Names that the source reads."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _add(used: str, value: Any, written: dict[str, str]) -> str:
    """Write an import, a constant or another function of the notebook before what uses it."""
    if isinstance(value, types.ModuleType):
        written.setdefault(used, f"import {value.__name__} as {used}\n")
    elif type(value) in ATOMS:
        written.setdefault(used, f"{used} = {value!r}\n")
    elif getattr(value, "__module__", "__main__") not in {"__main__", None} and hasattr(
        value, "__name__"
    ):
        line = f"from {value.__module__} import {value.__name__}"
        written.setdefault(used, line + (f" as {used}\n" if used != value.__name__ else "\n"))
    elif inspect.isfunction(value) or inspect.isclass(value):
        return _collect(value, written)
    else:
        return f"it uses {used}, which is neither a function nor a constant"
    return ""


def _ordered(written: dict[str, str]) -> list[str]:
    """Imports and constants first, then functions with two empty lines between them."""
    lines = [
        text for text in written.values() if not text.startswith(("def ", "class ", "@", "async "))
    ]
    blocks = [
        text for text in written.values() if text.startswith(("def ", "class ", "@", "async "))
    ]
    return [
        *sorted(lines, key=lambda line: not line.startswith(("import", "from"))),
        *(f"\n\n{b}" for b in blocks),
    ]

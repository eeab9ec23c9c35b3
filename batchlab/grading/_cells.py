"""Run a notebook's cell without a notebook: its names, its last value, its magics left out.

    source, names  ->  the value of the last line, or the exception

A cell is told from another by what Python reads of it, so that blanks and comments do not count.
"""

import __future__

import ast
import asyncio
import contextlib
import functools
import inspect
import linecache
import operator
import re
import sys
import types
from typing import Any

__all__ = [
    "binds",
    "defined",
    "fingerprint",
    "functions",
    "line_of",
    "opens_exercises",
    "parsed",
    "reads",
    "run",
    "space",
    "without_magics",
]

RUN_BODY = {"time", "timeit", "capture", "prun"}  # magics whose cell still runs
FILES = {"writefile", "file"}  # those whose cell becomes a file
TIMED = re.compile(r"%(?:time|prun)[ \t]+(\S.*)")  # magics whose line still runs
SCRIPT = re.compile(r"%run[ \t]+(?:-i[ \t]+)?([\w./-]+\.py)[ \t]*")
GOES_ON = re.compile(r"^[ \t]*[%!](?:.*\\\n)+.*", re.MULTILINE)
LOOKED = 200_000  # letters of a cell that is looked into: a longer one runs as it is
MAGIC = re.compile(r"(?:[\w., \t]{1,200}=[ \t]*+)?[%!?].*|[\w.]++\?{1,2}[ \t]*")
OPENS = re.compile(
    r"batchlab *[./] *exercises|batchlab +import[^\n]{0,200}\bexercises\b|\bexercises[./]\w"
)
FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, one).compiler_flag for one in __future__.all_feature_names)
)
_flags = [ast.PyCF_ALLOW_TOP_LEVEL_AWAIT]  # and the features that an earlier cell asked for
DEFINES = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


class _NoShell:
    """What `get_ipython()` gives here: nothing that it is asked for does anything."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: None


def space() -> types.ModuleType:
    """An empty notebook: the module `__main__` of a fresh kernel."""
    module = types.ModuleType("__main__")
    module.__dict__.update(display=lambda *things, **options: None, get_ipython=_NoShell)
    return module


def without_magics(source: str) -> str:
    r"""The source as plain Python: magics and shell lines do nothing.

    >>> without_magics("%matplotlib inline\nx = 1")
    'pass\nx = 1'
    """
    source = source.replace("\0", "")
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        name, *words = first[2:].split() or [""]
        source = rest if name in RUN_BODY else _file(words, rest) if name in FILES else ""
    try:
        parsed(source)
    except SyntaxError:
        lines = GOES_ON.sub(_joined, source).splitlines()
        return "\n".join(_plain(line) for line in lines)
    except (ValueError, RecursionError, MemoryError):
        return source
    return source


def parsed(source: str) -> ast.Module:
    """What Python reads of a cell; ValueError for one that is too long to be looked into."""
    if len(source) > LOOKED:
        raise ValueError(f"{len(source):,} letters")
    return ast.parse(source)


def _joined(lines: re.Match[str]) -> str:
    """A magic of several lines as one; the lines below keep their numbers."""
    return lines[0].replace("\\\n", " ") + "\n" * lines[0].count("\n")


def _plain(line: str) -> str:
    """A line without its magic; one that is none stays as it is."""
    if "%" not in line and "!" not in line and "?" not in line:
        return line
    body = line.lstrip(" \t")
    blank = line[: len(line) - len(body)]
    if found := TIMED.fullmatch(body):
        return blank + found[1]
    if found := SCRIPT.fullmatch(body):
        return f"{blank}with open({found[1]!r}) as _file: exec(_file.read(), globals())"
    return f"{blank}pass" if MAGIC.fullmatch(body) else line


def _file(words: list[str], text: str) -> str:
    """Python that writes a file as the magic does."""
    mode, names = "a" if "-a" in words else "w", [one for one in words if one != "-a"]
    if not names:
        return ""
    text = text.rstrip("\n") + "\n"
    return f"with open({names[0]!r}, {mode!r}) as _file: _file.write({text!r})"


def defined(name: str, source: str, names: dict[str, Any], error: BaseException) -> None:
    """Run the definitions behind the line of a cell that raised, one by one."""
    line = line_of(error, name)
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for one in ast.parse(source).body:
            if line and one.lineno > line and isinstance(one, DEFINES):
                with contextlib.suppress(Exception):
                    _do(compile(ast.Module([one], []), f"<{name}>", "exec"), names)


def line_of(error: BaseException, name: str) -> int:
    """The line of the cell itself that led to the error; 0 where none did."""
    trace, found = error.__traceback__, 0
    while trace is not None and not found:
        code = trace.tb_frame.f_code
        found = (
            trace.tb_lineno if (code.co_filename, code.co_name) == (f"<{name}>", "<module>") else 0
        )
        trace = trace.tb_next
    return found


def run(name: str, source: str, names: dict[str, Any]) -> Any:
    """Run one cell; the value of its last line, None without one."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    code = compile(tree, file, "exec", flags=_flags[0])
    _flags[0] |= code.co_flags & FUTURE
    _do(code, names)
    value = None
    if isinstance(last, ast.Expr):
        whole = ast.Expression(last.value)
        value = _do(compile(whole, file, "eval", flags=_flags[0]), names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return value


def _do(code: types.CodeType, names: dict[str, Any]) -> Any:
    found = eval(code, names)
    if code.co_flags & inspect.CO_COROUTINE:
        found = asyncio.run(found)
    return found


def fingerprint(source: str) -> str:
    """What Python reads of a cell; the text itself where it reads nothing."""
    try:
        return ast.dump(parsed(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


def binds(source: str) -> set[str]:
    """Names that a cell gives a value to, outside its functions and classes."""
    return _names(source, ast.Store)


def reads(source: str) -> set[str]:
    """Names that a cell may look up, inside functions as well."""
    return _names(source, ast.Load)


def opens_exercises(source: str) -> set[str]:
    """Lines of a cell that name the files of the exercises, where the references stand.

    >>> opens_exercises("from batchlab.exercises.padding.waste import exercise")
    {'from batchlab.exercises.padding.waste import exercise'}
    """
    return {line.strip() for line in source.splitlines() if OPENS.search(line)}


def functions(source: str) -> set[str]:
    """Names of the functions that a cell defines, those inside others left out."""
    try:
        body = parsed(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {one.name for one in body if isinstance(one, ast.FunctionDef)}


def _names(source: str, context: type) -> set[str]:
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if context is ast.Store and inner:
            found.add(node.name)  # type: ignore[attr-defined]
            continue
        if context is ast.Store and isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        if context is ast.Store and isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        todo += ast.iter_child_nodes(node)
    return found

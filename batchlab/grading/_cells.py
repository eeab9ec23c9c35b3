"""Run a notebook's cell without a notebook: its names, its last value, its magics left out.

    source, names  ->  the value of the last line, or the exception

A cell is told from another by what Python reads of it, so that blanks and comments do not count.
"""

import ast
import asyncio
import inspect
import linecache
import re
import sys
import types
from typing import Any

__all__ = ["binds", "fingerprint", "functions", "reads", "run", "space", "without_magics"]

RUN_BODY = {"time", "timeit", "capture", "prun"}  # magics whose cell still runs
MAGIC = re.compile(r"^(\s*)(?:[\w.,\s]+=\s*)?[%!?].*$|^(\s*)[\w.]+\?{1,2}\s*$")


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
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        name = (first[2:].split() or [""])[0]
        source = rest if name in RUN_BODY else ""
    try:
        ast.parse(source)
    except SyntaxError:
        lines = source.splitlines()
        return "\n".join(MAGIC.sub(r"\1\2pass", line) for line in lines)
    except ValueError:  # a NUL
        return source.replace("\0", "")
    return source


def run(name: str, source: str, names: dict[str, Any]) -> Any:
    """Run one cell; the value of its last line, None without one."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    _do(compile(tree, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    value = None
    if isinstance(last, ast.Expr):
        whole = ast.Expression(last.value)
        value = _do(compile(whole, file, "eval", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
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
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


def binds(source: str) -> set[str]:
    """Names that a cell gives a value to, outside its functions and classes."""
    return _names(source, ast.Store)


def reads(source: str) -> set[str]:
    """Names that a cell may look up, inside functions as well."""
    return _names(source, ast.Load)


def functions(source: str) -> set[str]:
    """Names of the functions that a cell defines, those inside others left out."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {one.name for one in body if isinstance(one, ast.FunctionDef)}


def _names(source: str, context: type) -> set[str]:
    try:
        tree = ast.parse(source)
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

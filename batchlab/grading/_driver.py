"""What runs beside an answer: its code comes once the answer is defined, and brings no reference.

    a function of an exercise's file  ->  the text that it needs  ->  the function, over there

The text holds the function and the names of its file that it uses; what the exercise holds beside
them, reference, cases and mistakes, stays with the checker. In the student's process the text is
run anew, its helpers are imported anew as they were found before the first cell, and this library
means what it meant then.
Who rewrites this machinery can still report what they like: a report is worth what it says, and
the checker computes that itself.
"""

import ast
import contextlib
import dis
import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["Bench", "helpers", "text_of"]

HOME = "batchlab.exercises"
BESIDES = ("builtins", "copy", "importlib", "importlib._bootstrap", "importlib._bootstrap_external",
           "numpy", "torch", "torch.autograd", "torch.nn.functional")  # fmt: skip
LOADS = {"LOAD_GLOBAL", "LOAD_NAME"}
FILES = [".".join([HOME, one.parent.name, one.stem]).removesuffix(".__init__")
         for one in Path(__file__).parent.parent.glob("exercises/[!_]*/*.py")]  # fmt: skip
Around = Callable[[], contextlib.AbstractContextManager[None]]


@functools.lru_cache(64)
def text_of(one: Callable[..., Any]) -> str:
    """The source of a function and of all that it uses of its file, in the file's order."""
    tree = ast.parse(inspect.getsource(sys.modules[one.__module__]))
    binds: dict[str, list[ast.stmt]] = {}
    for part in tree.body:
        for name in _bound(part):
            binds.setdefault(name, []).append(part)
    waiting, kept = [*binds[one.__name__]], set[ast.stmt]()
    while waiting:
        part = waiting.pop()
        if part not in kept:
            kept.add(part)
            code = compile(ast.Module([part], []), "", "exec")
            waiting += [more for name in _loaded(code) for more in binds.get(name, ())]
    return "\n".join(ast.unparse(part) for part in tree.body if part in kept)


def _bound(part: ast.stmt) -> set[str]:
    """The names that a statement of a file binds."""
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return {part.name}
    if isinstance(part, ast.Import | ast.ImportFrom):
        return {one.asname or one.name.partition(".")[0] for one in part.names}
    if not isinstance(part, ast.Assign | ast.AnnAssign):
        return set()
    names = [one for one in ast.walk(part) if isinstance(one, ast.Name)]
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def _loaded(code: types.CodeType) -> set[str]:
    """The names of its file that some code reads."""
    found = {str(one.argval) for one in dis.get_instructions(code) if one.opname in LOADS}
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return found.union(*map(_loaded, inner))


class Bench:
    """Where drivers run: helpers of their own, beside the library as it was at the beginning."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], Any] = {}
        self.helpers: dict[str, types.ModuleType] = {}
        ours = {one for one in sys.modules if one.partition(".")[0] == "batchlab"} - {*helpers()}
        self.meant = {one: _means(one) for one in [*ours, *BESIDES] if one in sys.modules}
        self.finders = [*sys.meta_path], [*sys.path_hooks]

    def driver(self, text: str, name: str) -> Any:
        """The function of a text, made once."""
        if (text, name) not in self.made:
            names: dict[str, Any] = {"__name__": "batchlab.driver"}
            with self.apart():
                exec(compile(text, "<driver>", "exec"), names)
            self.made[text, name] = names[name]
        return self.made[text, name]

    def around(self, other: Around) -> Around:
        """What a driver's call runs in, beside what every call runs in."""

        @contextlib.contextmanager
        def both() -> Iterator[None]:
            with other(), self.apart():
                yield

        return both

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """Exchange the modules of exercises for those of the drivers, and undo what was patched."""
        own = {one: sys.modules.pop(one) for one in helpers()}
        known = [
            (vars(sys.modules[k]), meant) for k, meant in self.meant.items() if k in sys.modules
        ]
        patched = [(there, dict(there), meant) for there, meant in known if not _same(there, meant)]
        finders = [*sys.meta_path], [*sys.path_hooks]
        sys.meta_path[:], sys.path_hooks[:] = self.finders
        sys.path_importer_cache.clear()
        for there, _, meant in patched:
            there.update(meant)
        sys.modules.update(self.helpers)
        try:
            yield
        finally:
            self.helpers = {one: sys.modules.pop(one) for one in helpers()}
            sys.modules.update(own)
            for one in self._opened() - own.keys():
                sys.modules[one] = self.helpers[one]
            for there, now, _ in patched:
                there.update(now)
            sys.meta_path[:], sys.path_hooks[:] = finders

    def _opened(self) -> set[str]:
        """Exercises that an answer loaded: those that no helper of a driver took a name from."""
        taken = {
            getattr(value, "__module__", "")
            for module in self.helpers.values()
            if not hasattr(module, "exercise")
            for value in vars(module).values()
        }
        return {k for k, v in self.helpers.items() if hasattr(v, "exercise")} - taken


def _same(
    there: Any, meant: Any, each: Any = map, every: Any = all, alike: Any = operator.is_
) -> bool:
    """Whether all names still mean it; with the functions of the beginning."""
    try:
        return bool(every(each(alike, each(there.__getitem__, meant), meant.values())))
    except KeyError:
        return False


def _means(module: str) -> dict[str, Any]:
    """What the names of a module stand for: of ours all of them, of others what can be called."""
    found, ours = dict(vars(sys.modules[module])), module.partition(".")[0] == "batchlab"
    if "__path__" in found:
        found["__path__"] = [*found["__path__"]]
    return found if ours else {name: one for name, one in found.items() if callable(one)}


def helpers() -> list[str]:
    """The modules of exercises that are loaded; of names there are thousands, of files few."""
    return [one for one in FILES if one in sys.modules]

"""Try a bank of answers against a lesson's checks: which check caught which mistake.

    solutions/02_padding + tests/wrong_answers/02_padding.py  ->  outcomes

The solution runs once. Before each answer cell the process is copied (fork) for every answer of
the bank, which then runs in place of the right one, with all cells up to its last check. So a
lesson that takes a minute is tried with a dozen answers in about a minute.

Words
    bank     WRONG, HIDDEN, RIGHT: dictionaries of answer id -> thought -> code
    outcome  one answer: which check cell stopped it, and with what message
"""

import ast
import json
import os
import re
import runpy
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from batchlab.authoring.conventions import answer_of

__all__ = ["Cell", "Outcome", "bank", "cells", "try_all", "without_hidden"]

Bank = dict[str, dict[str, dict[str, tuple[str, str]]]]
LIMIT_SECONDS = 240
HIDDEN_TESTS = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?", re.M | re.S)


@dataclass(frozen=True)
class Cell:
    """A code cell: its id, its source, and what nbgrader makes of it."""

    name: str
    source: str
    solution: bool
    points: float


@dataclass(frozen=True)
class Outcome:
    """What became of one answer: the first check that failed, or none."""

    kind: str  # solution, blank, wrong, hidden, visible (a hidden one, visible checks only), right
    answer: str
    thought: str
    words: str  # what the message should say
    caught_by: str = ""  # id of the check cell; empty: nothing stopped it
    error: str = ""  # name of the exception
    message: str = ""
    crash: str = ""  # the answer cell itself failed
    stderr: str = ""
    seconds: float = 0.0

    @property
    def asked(self) -> str:
        """The question of the check that refused, from its first line."""
        first = self.message.splitlines()[0] if self.message else self.error
        return first.removeprefix("asked").strip()


def cells(notebook: Path) -> list[Cell]:
    """The code cells of a notebook, in order."""
    found = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            own = cell["metadata"].get("nbgrader", {})
            points = float(own.get("points", 0)) if own.get("grade") else 0.0
            source = "".join(cell["source"])
            found.append(Cell(cell.get("id", ""), source, bool(own.get("solution")), points))
    return found


def bank(path: Path) -> Bank:
    """WRONG, HIDDEN and RIGHT of a bank file as kind -> answer -> thought -> (code, words)."""
    if not path.exists():
        return {}
    names = runpy.run_path(os.fspath(path))
    right = {a: {t: (code, "") for t, code in c.items()} for a, c in names.get("RIGHT", {}).items()}
    return {"wrong": names.get("WRONG", {}), "hidden": names.get("HIDDEN", {}), "right": right}


def without_hidden(source: str) -> str:
    """A check cell as the student sees it.

    >>> without_hidden("a\\n### BEGIN HIDDEN TESTS\\nb\\n### END HIDDEN TESTS\\nc")
    'a\\nc'
    """
    return HIDDEN_TESTS.sub("", source)


def _outcomes(root: Path, lesson: str) -> list[Outcome]:
    """Run a lesson's solution once, and every answer of its bank beside it."""
    (teacher,) = (root / "solutions" / lesson).glob("*.ipynb")
    book = cells(teacher)
    stubs = {c.name: c.source for c in cells(root / "lessons" / lesson / teacher.name)}
    tries = bank(root / "tests" / "wrong_answers" / f"{lesson}.py")
    answers = [cell.name for cell in book if cell.solution]
    unknown = sorted({name for kind in tries.values() for name in kind} - set(answers))
    if unknown:
        raise ValueError(f"bank of {lesson}: no answer cell {unknown[0]!r}; there are {answers}")
    space: dict[str, Any] = {"__name__": "__main__", "display": lambda *things: None}
    found = _copied(partial(_blank, book, stubs, space))
    for number, cell in enumerate(book):
        if cell.solution:
            last = max(n for n, c in enumerate(book) if answer_of(c.name, answers) == cell.name)
            rest = book[number + 1 : last + 1]
            for one, code in _planned(tries, cell.name):
                found += _copied(partial(_tried, one, code, rest, space, answers))
        found.append(_judged(Outcome("solution", cell.name, "", ""), [cell], space))
    return found


def _planned(tries: Bank, answer: str) -> Iterator[tuple[Outcome, str]]:
    """Every answer of the bank for one cell; a hidden one also against the visible checks."""
    for kind, by_answer in tries.items():
        for thought, (code, words) in by_answer.get(answer, {}).items():
            yield Outcome(kind, answer, thought, words), code
            if kind == "hidden":
                yield Outcome("visible", answer, thought, words), code


def _who(one: Outcome) -> tuple[str, str, str]:
    return one.answer, one.thought, one.words


def _blank(book: list[Cell], stubs: dict[str, str], space: dict[str, Any]) -> list[Outcome]:
    """The released notebook with the teacher's checks, each graded cell scored by itself."""
    found = []
    for cell in book:
        source = cell.source if cell.points else stubs.get(cell.name, cell.source)
        one = Outcome("blank", cell.name, "", "")
        done = _judged(one, [Cell(cell.name, source, cell.solution, cell.points)], space)
        if cell.points:
            found.append(done)
    return found


def _tried(
    one: Outcome, code: str, rest: list[Cell], space: dict[str, Any], answers: list[str]
) -> list[Outcome]:
    answer = Cell(one.answer, code, True, 0)
    crashed = _judged(one, [answer], space)
    if crashed.error:
        return [Outcome(one.kind, *_who(one), crash=f"{crashed.error}: {crashed.message}")]
    mine = []
    for cell in rest:
        if cell.points and answer_of(cell.name, answers) != one.answer:
            continue  # the check of another answer
        source = without_hidden(cell.source) if one.kind == "visible" else cell.source
        mine.append(Cell(cell.name, source, cell.solution, cell.points))
    return [_judged(one, mine, space, only_checks=True)]


def _judged(
    one: Outcome, some: list[Cell], space: dict[str, Any], only_checks: bool = False
) -> Outcome:
    """Run cells like nbgrader does, each on its own; the first that fails makes the outcome."""
    begun, told = time.perf_counter(), _errors_written()
    first: dict[str, str] = {}
    for cell in some:
        try:
            _execute(cell, space)
        except BaseException as error:
            if first or (only_checks and not cell.points):
                continue  # a drawing may fail on a wrong answer; the check speaks
            message = str(error) or traceback.format_exc(limit=-1)
            first = {"caught_by": cell.name, "error": type(error).__name__, "message": message}
    stderr = _errors_written()[len(told) :]
    return Outcome(
        one.kind, *_who(one), **first, stderr=stderr, seconds=time.perf_counter() - begun
    )


def _execute(cell: Cell, space: dict[str, Any]) -> None:
    """Run one cell; its last value is shown, and in a graded cell it would be read as points."""
    tree = ast.parse(cell.source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    name = f"<{cell.name}>"
    exec(compile(tree, name, "exec"), space)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), space)
        if value is not None and cell.points:
            raise TypeError(f"{cell.name} ends in a value, which nbgrader reads as points")
        if hasattr(value, "_repr_mimebundle_"):
            value._repr_mimebundle_(include=None, exclude=None)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _copied(work: Callable[[], list[Outcome]], limit: int = LIMIT_SECONDS) -> list[Outcome]:
    """Do `work` in a copy of this process, so that nothing it breaks stays broken."""
    if not hasattr(os, "fork"):
        raise OSError("trying a bank of answers needs os.fork: Linux or macOS")
    with tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as report:
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads: OMP_NUM_THREADS is 1
            child = os.fork()
        if child == 0:
            signal.alarm(limit)
            try:
                results: object = [asdict(one) for one in work()]
            except BaseException:
                results = traceback.format_exc()
            Path(report.name).write_text(json.dumps(results), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        text = report.read()
    if not text:
        raise RuntimeError(f"an answer of the bank ended its process, or ran for {limit} s")
    found = json.loads(text)
    if isinstance(found, str):
        raise RuntimeError(found)
    return [Outcome(**one) for one in found]


_errors: Path | None = None


def _errors_written() -> str:
    sys.stderr.flush()
    return _errors.read_text(encoding="utf-8", errors="replace") if _errors else ""


@contextmanager
def _redirected(path: Path) -> Iterator[None]:
    """Send both streams away at the level of file descriptors, so that C code is heard as well."""
    global _errors
    kept = [os.dup(1), os.dup(2)]
    with path.open("w") as away, Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(away.fileno(), 2)
        _errors = path
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            _errors = None
            for descriptor in kept:
                os.close(descriptor)


def try_all(root: Path, lesson: str) -> list[Outcome]:
    """The outcomes of a lesson, found in copies of this process; nothing is printed."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for library in ("OMP", "MKL", "OPENBLAS"):  # a copied process has none of the other threads
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["BATCHLAB_GRADING"] = "1"  # heavy cells and GPU boxes step aside
    with tempfile.TemporaryDirectory() as folder, _redirected(Path(folder) / "stderr"):
        return _copied(partial(_outcomes, root, lesson), limit=4 * LIMIT_SECONDS)

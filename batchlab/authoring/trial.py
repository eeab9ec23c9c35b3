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
import linecache
import os
import re
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from batchlab.authoring.conventions import answer_of
from batchlab.authoring.forks import LIMIT_SECONDS, Ended, copied, errors_written, quiet

__all__ = [
    "Cell",
    "Lesson",
    "Outcome",
    "bank",
    "cells",
    "execute",
    "in_a_copy",
    "judged",
    "namespace",
    "opened",
    "survived",
    "try_all",
    "warm",
    "without_hidden",
]

Bank = dict[str, dict[str, dict[str, tuple[str, str]]]]
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

    kind: (
        str  # solution, blank, torn, wrong, hidden, right; visible: a hidden one, seen checks only
    )
    answer: str  # id of its cell
    thought: str = ""
    words: str = ""  # what the message should say
    caught_by: str = ""  # id of the check cell; empty: nothing stopped it
    error: str = ""  # name of the exception
    message: str = ""
    crash: str = ""  # the answer cell itself failed
    stderr: str = ""
    seconds: float = 0.0
    seeds: int = 0  # how many seeds were tried; `seed` is the first that decided otherwise
    seed: int | None = None


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


@dataclass(frozen=True)
class Lesson:
    """The notebooks of a lesson and the bank of its answers."""

    book: list[Cell]
    stubs: dict[str, str]  # source of the student's cells by id
    tries: Bank

    @property
    def answers(self) -> list[str]:
        return [cell.name for cell in self.book if cell.solution]

    def after(self, answer: str) -> list[Cell]:
        """The cells behind an answer up to its last check, without the checks of others."""
        judges = [answer_of(cell.name, self.answers) for cell in self.book]
        first = [cell.name for cell in self.book].index(answer) + 1
        last = max(n for n, judged in enumerate(judges) if judged == answer)
        mine = zip(self.book[first : last + 1], judges[first : last + 1], strict=True)
        return [cell for cell, judged in mine if not cell.points or judged == answer]

    def planned(self, answer: str) -> Iterator[tuple[Outcome, str]]:
        """Every answer of the bank for one cell, with its code."""
        for kind, by_answer in self.tries.items():
            for thought, (code, words) in by_answer.get(answer, {}).items():
                yield Outcome(kind, answer, thought, words), code


def opened(root: Path, lesson: str) -> Lesson:
    """Read both notebooks and the bank of a lesson."""
    (teacher,) = (root / "solutions" / lesson).glob("*.ipynb")
    stubs = {c.name: c.source for c in cells(root / "lessons" / lesson / teacher.name)}
    tries = bank(root / "tests" / "wrong_answers" / f"{lesson}.py")
    found = Lesson(cells(teacher), stubs, tries)
    unknown = sorted({name for kind in tries.values() for name in kind} - set(found.answers))
    if unknown:
        names = found.answers
        raise ValueError(f"bank of {lesson}: no answer cell {unknown[0]!r}; there are {names}")
    return found


def namespace() -> dict[str, Any]:
    """What a fresh kernel knows."""
    return {"__name__": "__main__", "display": lambda *things: None}


def _outcomes(root: Path, lesson: str) -> list[dict[str, Any]]:
    """Run a lesson's solution once, and every answer of its bank beside it."""
    one, space = opened(root, lesson), namespace()
    found: list[dict[str, Any]] = copied(partial(_blank, one, space))
    for cell in one.book:
        if cell.solution:
            rest = one.after(cell.name)
            warm(cell, rest, space)
            for tried, code in one.planned(cell.name):
                found.append(survived(tried, partial(_tried, tried, code, rest, space)))
                if tried.kind == "hidden":  # it passes what the student sees
                    seen = [replace(c, source=without_hidden(c.source)) for c in rest]
                    visible = replace(tried, kind="visible")
                    found.append(survived(visible, partial(_tried, visible, code, seen, space)))
        found.append(asdict(judged(Outcome("solution", cell.name), [cell], space)))
    return found


def warm(answer: Cell, rest: list[Cell], space: dict[str, Any]) -> None:
    """Run the solution of an answer and its checks beside the lesson: its copies find all cached.

    What the checks compute once (the ends of known mistakes, shared data) is then computed once for
    a bank and not once for each answer. Names go to a namespace that is thrown away.
    """
    judged(Outcome("solution", answer.name), [answer, *rest], dict(space))


def survived(
    one: Outcome, work: Callable[[], dict[str, Any]], limit: int = LIMIT_SECONDS
) -> dict[str, Any]:
    """What `work` found about one answer in a copy of this process; its crash if that ended.

    Ended by SIGSEGV it is tried once more: a run of all banks saw one such end in about 3,500
    answers, and none in 80 repeats of that answer; why is not known. What happens twice is a crash.
    """
    for tries in (1, 2):
        try:
            return dict(copied(work, limit))
        except Ended as end:
            crash = f"{end}"
        if tries == 2 or "SIGSEGV" not in crash:
            break
    return asdict(replace(one, crash=crash))


def _blank(one: Lesson, space: dict[str, Any]) -> list[dict[str, Any]]:
    """The released notebook with the teacher's checks; each cell runs by itself, as in a grader.

    Every check is an outcome, and every other cell that fails: it is torn by a blank.
    """
    found = []
    for cell in one.book:
        kind = "blank" if cell.points else "torn"
        source = cell.source if cell.points else one.stubs.get(cell.name, cell.source)
        done = judged(Outcome(kind, cell.name), [replace(cell, source=source)], space)
        if cell.points or done.error:
            found.append(asdict(done))
    return found


def _tried(one: Outcome, code: str, rest: list[Cell], space: dict[str, Any]) -> dict[str, Any]:
    crashed = judged(one, [Cell(one.answer, code, True, 0)], space)
    if crashed.error:
        return asdict(replace(one, crash=f"{crashed.error}: {crashed.message}"))
    return asdict(judged(one, rest, space, only_checks=True))


def judged(
    one: Outcome, some: list[Cell], space: dict[str, Any], only_checks: bool = False
) -> Outcome:
    """Run cells like nbgrader does, each on its own; the first that fails makes the outcome."""
    begun, told = time.perf_counter(), errors_written()
    first: dict[str, Any] = {}
    for cell in some:
        try:
            execute(cell, space)
        except BaseException as error:
            if first or (only_checks and not cell.points):
                continue  # a drawing may fail on a wrong answer; the check speaks
            message = str(error) or traceback.format_exc(limit=-1)
            first = {"caught_by": cell.name, "error": type(error).__name__, "message": message}
    stderr, seconds = errors_written()[len(told) :], time.perf_counter() - begun
    return replace(one, **first, stderr=stderr, seconds=seconds)


def execute(cell: Cell, space: dict[str, Any]) -> None:
    """Run one cell; its last value is shown, and in a graded cell it would be read as points."""
    name = f"<{cell.name}>"
    lines = cell.source.splitlines(keepends=True)
    linecache.cache[name] = (len(cell.source), None, lines, name)  # as IPython keeps its cells
    tree = ast.parse(cell.source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), space)
        if value is not None and cell.points:
            raise TypeError(f"{cell.name} ends in a value, which nbgrader reads as points")
        if hasattr(value, "_repr_mimebundle_"):
            value._repr_mimebundle_(include=None, exclude=None)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def try_all(root: Path, lesson: str) -> list[Outcome]:
    """The outcomes of a lesson, found in copies of this process; nothing is printed."""
    return in_a_copy(partial(_outcomes, root, lesson), limit=4 * LIMIT_SECONDS)


def in_a_copy(work: Callable[[], list[dict[str, Any]]], limit: int) -> list[Outcome]:
    """Outcomes of a whole lesson, run as a grader runs it; nothing is printed.

    Its environment is that of the copy alone: whoever asks goes on with the threads that it had.
    """
    with quiet():
        return [Outcome(**one) for one in copied(partial(_in_a_grader, work), limit)]


def _in_a_grader(work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    os.environ.setdefault("MPLBACKEND", "Agg")
    for library in ("OMP", "MKL", "OPENBLAS"):  # a copied process has none of the other threads
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["BATCHLAB_GRADING"] = "1"  # heavy cells and GPU boxes step aside
    return work()

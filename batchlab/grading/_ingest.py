"""A file that a stranger sent, as cells to run: nothing in it is trusted or needed.

    bytes  ->  code cells in order, which answers what; or one line that says why not

Answers are known by their id, and where metadata was stripped by the names that they define. Check
cells are the teacher's: deleted, edited, doubled or moved, they change nothing and are noted.
"""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from batchlab.grading import _cells
from batchlab.grading._lesson import Lesson
from batchlab.grading._notebook import Refused, parsed

__all__ = ["Moment", "Refused", "Submission", "read"]

CELLS, LETTERS = 10_000, 2_000_000  # of all code: to look into it takes a minute


@dataclass(frozen=True)
class Moment:
    """When a question is judged."""

    after: int  # behind so many cells: those above its check
    again: bool  # a later cell gives what its answers read: behind all cells, too


@dataclass(frozen=True)
class Submission:
    """The student's cells in order: a source to run, or None for a public cell as released."""

    cells: tuple[tuple[str, str | None], ...]
    answered: frozenset[str]  # ids of the answers that some cell gives
    notes: tuple[tuple[str, str], ...]  # (cell id or "", note)
    moments: dict[str, Moment]  # by question


def read(notebook: bytes, lesson: Lesson) -> Submission:
    """The cells of a submission; Refused where there is no notebook to read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of `1if x`: to the student, not to us
        found, cut = parsed(notebook)
        sent = _sorted(_code(found), lesson)
    ends = tuple((one.name, "CUT") for one in lesson.questions) if cut else ()
    return replace(sent, notes=sent.notes + ends)


def _code(found: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, source and nbgrader's metadata of each code cell."""
    version = found.get("nbformat", 4)
    cells: Any = found.get("cells")
    if version == 3 or (cells is None and isinstance(found.get("worksheets"), list)):
        sheets = found.get("worksheets")
        if not isinstance(sheets, list):
            raise Refused("the notebook has no cells")
        cells = [
            cell
            for sheet in sheets
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    elif version != 4 or isinstance(version, bool):
        raise Refused(f"notebook format {version!r:.20}; format 4 is read")
    if not isinstance(cells, list):
        raise Refused("the notebook has no cells")
    if len(cells) > CELLS:
        raise Refused(f"the notebook has {len(cells):,} cells; at most {CELLS:,} are read")
    code = []
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            own = cell.get("metadata")
            own = own.get("nbgrader") if isinstance(own, dict) else None
            own = own if isinstance(own, dict) else {}
            grade_id = own.get("grade_id")
            name = grade_id if isinstance(grade_id, str) else cell.get("id")
            source = _text(cell.get("source", cell.get("input", "")))
            code.append((name if isinstance(name, str) else "", source, own))
    if (letters := sum(len(source) for _, source, _ in code)) > LETTERS:
        raise Refused(f"its code has {letters:,} letters; at most {LETTERS:,} are read")
    return code


def _text(source: Any) -> str:
    if isinstance(source, str):
        found = source
    elif isinstance(source, list) and all(isinstance(line, str) for line in source):
        found = "".join(source)
    else:
        raise Refused("a cell's source is no text")
    return found.encode("utf-8", "replace").decode()


def _sorted(code: list[tuple[str, str, dict[str, Any]]], lesson: Lesson) -> Submission:
    """The cells that are run: what the student wrote, and public cells as they were released."""
    checks = [one.name for one in lesson.questions]
    points = {one.name: one.points for one in lesson.questions}
    stubs = {one.stub.strip() for one in lesson.answers.values()}
    notes: list[tuple[str, str]] = []
    present: list[str] = []
    cells: list[tuple[str, str | None]] = []
    answered: set[str] = set()
    above: dict[str, int] = {}  # by check: how many cells stand above it
    gives: list[tuple[int, str]] = []  # which cell gives which answer
    for name, source, own in code:
        plain = mark = source.strip()
        if mark not in lesson.public and mark not in lesson.checks and mark not in stubs:
            plain = _cells.without_magics(source)
            mark = _cells.fingerprint(plain)
        check = lesson.checks.get(mark, "")
        if name in checks or check or own.get("grade") is True:
            present.append(name if name in checks else check)
            given = set() if check else _answers("", plain, lesson)
            if given:  # an answer that was written above its check, in one cell
                answered.update(given)
                gives += [(len(cells), one) for one in given]
                cells.append((f"cell {len(cells) + 1}", plain))
            above.setdefault(present[-1], len(cells))
            if check != present[-1] or not check or _remarked(own, points.get(name)):
                notes.append((present[-1], "EDITED"))
        elif mark in lesson.public:
            cells.append((lesson.public[mark], None))
        elif plain.strip() and mark not in stubs:
            if _cells.opens_exercises(plain) - lesson.opens:
                notes += [(one, "REFERENCE") for one in checks]
            given = _answers(name, plain, lesson)
            if name not in given:
                notes += [(one, "BY-NAME") for one in given]
            if name in lesson.answers and name in answered:
                notes.append((name, "DUPLICATED"))
            answered.update(given)
            gives += [(len(cells), one) for one in given]
            cells.append((name if name in given else f"cell {len(cells) + 1}", plain))
    notes += [(one, "MISSING-CELL") for one in checks if one not in present]
    notes += [(one, "DUPLICATED") for one in checks if present.count(one) > 1]
    moments = _moments(cells, gives, above, lesson)
    return Submission(_unlike(cells), frozenset(answered), tuple(dict.fromkeys(notes)), moments)


def _moments(
    cells: list[tuple[str, str | None]],
    gives: list[tuple[int, str]],
    above: dict[str, int],
    lesson: Lesson,
) -> dict[str, Moment]:
    """When each question is judged; one whose check was deleted, behind its last answer."""
    givers: dict[str, list[int]] = {}  # which cells give a name
    for at, (_, source) in enumerate(cells):
        for name in _cells.binds(source) if source else ():
            givers.setdefault(name, []).append(at)
    reads = functools.cache(lambda at: _cells.reads(cells[at][1] or ""))
    found = {}
    for one in lesson.questions:
        mine = [at for at, answer in gives if answer in one.answers]
        after = above.get(one.name, max(mine, default=len(cells) - 1) + 1)
        names = {name for answer in one.answers for name in lesson.answers[answer].names}
        found[one.name] = Moment(
            after, max(_behind(names, mine, givers, reads), default=-1) >= after
        )
    return found


def _behind(
    names: set[str], mine: list[int], givers: dict[str, list[int]], reads: Callable[[int], set[str]]
) -> set[int]:
    """The cells that give some names, and all that these cells read."""
    seen, todo, known = {*mine}, [*mine], {*names}
    names = {*names}
    while names or todo:
        more = {at for name in names for at in givers.get(name, ())} - seen
        seen |= more
        todo += more
        names = reads(todo.pop()) - known if todo else set()
        known |= names
    return seen


def _remarked(own: dict[str, Any], points: float | None) -> bool:
    """Whether a check's own metadata says otherwise than was released; none at all is honest."""
    told = own.get("points", points)
    wrong = told != points or isinstance(told, bool)
    return (
        points is not None
        and bool(own)
        and (wrong or not own.get("grade", True) or bool(own.get("solution")))
    )


def _answers(name: str, source: str, lesson: Lesson) -> set[str]:
    """Ids of the answers that a cell gives: by its own id, or by the names that it defines."""
    bound = _cells.binds(source)
    found = {one.name for one in lesson.answers.values() if one.names & bound}
    return found | ({name} if name in lesson.answers else set())


def _unlike(cells: list[tuple[str, str | None]]) -> tuple[tuple[str, str | None], ...]:
    """The cells with names that differ, where two are run."""
    seen: dict[str, int] = {}
    found = []
    for name, source in cells:
        if source is not None:
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name} ({seen[name]})"
        found.append((name, source))
    return tuple(found)

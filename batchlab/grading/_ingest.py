"""A file that a stranger sent, as cells to run: nothing in it is trusted or needed.

    bytes  ->  code cells in order, which answers what; or one line that says why not

Answers are known by their id, and where metadata was stripped by the names that they define. Check
cells are the teacher's: deleted, edited, doubled or moved, they change nothing and are noted.
"""

import json
from dataclasses import dataclass
from typing import Any

from batchlab.grading import _cells
from batchlab.grading._lesson import Lesson

__all__ = ["LARGEST", "Refused", "Submission", "read"]

LARGEST = 50 << 20  # bytes of a notebook
CELLS, LETTERS, DEEPEST = 10_000, 2_000_000, 60


class Refused(ValueError):
    """The file is no notebook; the message is what a student can do about it."""


@dataclass(frozen=True)
class Submission:
    """The student's cells in order: a source to run, or None for a public cell as released."""

    cells: tuple[tuple[str, str | None], ...]
    answered: frozenset[str]  # ids of the answers that some cell gives
    notes: tuple[tuple[str, str], ...]  # (cell id or "", note)


def read(notebook: bytes, lesson: Lesson) -> Submission:
    """The cells of a submission; Refused where there is no notebook to read."""
    return _sorted(_code(_parsed(notebook)), lesson)


def _parsed(notebook: bytes) -> dict[str, Any]:
    if len(notebook) > LARGEST:
        raise Refused(f"the file has {len(notebook):,} bytes; at most {LARGEST:,} are read")
    if not notebook.strip():
        raise Refused("the file is empty")
    try:
        text = notebook.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8: save it again from Jupyter") from None
    if _depth(text) > DEEPEST:
        raise Refused("the file is nested deeper than any notebook")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("the file is no notebook: it is not JSON") from None
    if not isinstance(found, dict):
        raise Refused("the file is no notebook: a notebook is a JSON object")
    return found


def _depth(text: str) -> int:
    """How deep brackets nest, those in texts included; looked at before JSON is read."""
    depth = deepest = 0
    inside = escaped = False
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    for letter in text:
        if inside:
            inside = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        elif letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > DEEPEST:
                break
        elif letter in "]}":
            depth -= 1
    return deepest


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
        raise Refused(f"notebook format {str(version)[:20]}; format 4 is read")
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
    return code


def _text(source: Any) -> str:
    if isinstance(source, str):
        found = source
    elif isinstance(source, list) and all(isinstance(line, str) for line in source):
        found = "".join(source)
    else:
        raise Refused("a cell's source is no text")
    if len(found) > LETTERS:
        raise Refused(f"a cell has {len(found):,} letters; at most {LETTERS:,} are read")
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
    for name, source, own in code:
        plain = mark = source.strip()
        if mark not in lesson.public and mark not in lesson.checks and mark not in stubs:
            plain = _cells.without_magics(source)
            mark = _cells.fingerprint(plain)
        check = lesson.checks.get(mark, "")
        if name in checks or check or own.get("grade") is True:
            present.append(name if name in checks else check)
            if check != present[-1] or not check or _remarked(own, points.get(name)):
                notes.append((present[-1], "EDITED"))
        elif mark in lesson.public:
            cells.append((lesson.public[mark], None))
        elif plain.strip() and mark not in stubs:
            given = _answers(name, plain, lesson)
            if name not in given:
                notes += [(one, "BY-NAME") for one in given]
            if name in lesson.answers and name in answered:
                notes.append((name, "DUPLICATED"))
            answered.update(given)
            cells.append((name if name in given else f"cell {len(cells) + 1}", plain))
    notes += [(one, "MISSING-CELL") for one in checks if one not in present]
    notes += [(one, "DUPLICATED") for one in checks if present.count(one) > 1]
    return Submission(_unlike(cells), frozenset(answered), tuple(dict.fromkeys(notes)))


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

"""Make both notebooks of a lesson from its one source; the same source gives the same bytes.

    solutions/02_padding/padding.md         written by hand (MyST)
      -> solutions/02_padding/padding.ipynb   the same, as a notebook: the teacher's
        -> lessons/02_padding/padding.ipynb   answers and hidden tests removed: the student's

Nothing is ever carried back. `python -m batchlab.classroom.sources` (or `make lessons`) rebuilds
all lessons and writes what changed; `--check` writes nothing and fails where the committed
notebooks differ. nbgrader itself makes the student copy, in a temporary course folder, so plain
`nbgrader generate_assignment 02_padding --force` writes these bytes too.

The author's guide, one page
    header    jupytext's two lines and the kernelspec, as in any lesson.
    setup     the first code cell has the tag `setup` and exactly these two lines:
                  from batchlab import classroom
                  classroom.start("02_padding")
              The build puts the search for batchlab before them (SETUP below).
    cells     at most 12 lines of code, no magics; ids come from grade_id, else from the position.
    answer    :tags: [hide-input]
              :nbgrader: {schema_version: 3, grade_id: waste, solution: true, grade: false,
                          locked: false, task: false}            (on one line)
              Signature and docstring stay; between `### BEGIN SOLUTION` and `### END SOLUTION`
              stand at most 15 lines, replaced by `raise NotImplementedError  # your turn`.
    check     :tags: [hide-cell], grade_id: check-waste (the answer's id behind `check-`),
              solution: false, grade: true, locked: true, points: 2. Points of a lesson sum to 10.
              A second check of the same answer: check-waste-2. The last line is no bare value
              (nbgrader would read it as points); check.* and print are fine.
    hidden    in a check cell, between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`;
              fresh inputs come from check.rng("check-waste").
    quiz      :tags: [quiz, hide-input], one call:  quiz.show([{"question": "...", "options": [
              {"text": "...", "right": True, "why": "..."}, ...]}, ...], key="02-recall")
    predict   one cell `predict.number("02-waste", None, unit="of the slots", low=0, high=1)`,
              then the run cell ends in `predict.reveal("02-waste", found.waste)`.
    prose     Markdown; also {cite:p}, {cite:t}, {admonition}, {note}, {tip}, {warning}, {figure}
              and (label)= lines, which the notebooks get as plain Markdown. No other directive.
    bank      tests/wrong_answers/02_padding.py, plain dictionaries of code:
                  WRONG  = {"waste": {"the thought": ("code of the answer cell", "words expected")}}
                  HIDDEN = the same shape: passes the visible checks, only a hidden one refuses
                  RIGHT  = {"waste": {"vectorised": "code of the answer cell"}}
"""

import argparse
import ast
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from batchlab.classroom import prose

__all__ = ["REPOSITORY", "build", "differences", "main", "notebook", "problems"]

REPOSITORY = (
    ""  # "git+https://..." once there is a public address; hosted notebooks install from it
)
CALL = 'from batchlab import classroom\nclassroom.start("{lesson}")'
SETUP = """\
try:
    import batchlab
except ModuleNotFoundError:  # not installed: look for a clone in the folders above
    import pathlib, subprocess, sys
    above = [str(p) for p in pathlib.Path.cwd().parents if (p / "batchlab/classroom").is_dir()]
    sys.path += above[:1]
    if not above:
        {last_resort}
"""
INSTALL = 'subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "{address}"])'
ADVICE = 'print("batchlab is missing: open this notebook in a clone, or pip install --no-deps it")'

CODE_LINES, ANSWER_LINES, POINTS = 12, 15, 10
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def main(arguments: list[str] | None = None) -> int:
    """Rebuild all lessons, or with --check only compare. Says what changed."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.classroom.sources")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that holds solutions/")
    options = parser.parse_args(arguments)
    try:
        changed = differences(options.root) if options.check else build(options.root)
    except ValueError as error:
        print(error)
        return 1
    for path in changed:
        print(f"{'differs from its source' if options.check else 'wrote'}: {path}")
    return int(options.check and bool(changed))


def build(root: Path) -> list[str]:
    """Write every generated file that changed, remove what has no source; return their names."""
    wanted = generated(root)
    changed = _changed(root, wanted)
    for name in changed:
        path = root / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
        else:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    return changed


def differences(root: Path) -> list[str]:
    """Names of generated files that differ from what the sources give."""
    return _changed(root, generated(root))


def generated(root: Path) -> dict[str, bytes]:
    """All that the sources give, by name relative to the root; made in a temporary course."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # a grammar: seconds
    sources = sorted(root.glob("solutions/*/*.md"))
    teachers: dict[str, bytes] = {}
    wrong: list[str] = []
    for source in sources:
        book, faults = notebook(source, root / "book/references.bib")
        wrong += [f"{source.parent.name}/{source.name}: {fault}" for fault in faults]
        teachers[source.with_suffix(".ipynb").relative_to(root).as_posix()] = _bytes(book)
    if wrong:
        raise ValueError("\n".join(wrong))
    if not teachers:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder).resolve()
        hidden = shutil.ignore_patterns("*.md", "*.ipynb", ".ipynb_checkpoints", "__pycache__")
        shutil.copytree(root / "solutions", course / "solutions", ignore=hidden)
        for name, content in teachers.items():
            (course / name).write_bytes(content)
        _release(root, course)
        made = (path for path in (course / "lessons").rglob("*") if path.is_file())
        students = {path.relative_to(course).as_posix(): path.read_bytes() for path in made}
    return teachers | students


def notebook(source: Path, references: Path) -> tuple[Any, list[str]]:
    """The teacher's notebook of one source, and what is wrong with it in plain words."""
    import jupytext
    import nbformat

    book = jupytext.read(source, fmt="md:myst")
    faults = problems(book.cells, source.parent.name)
    if not re.fullmatch(rf"\d\d_{re.escape(source.stem)}", source.parent.name):
        faults.append("the folder is named NN_topic, the source topic.md")
    known = prose.citations(references)
    for number, cell in enumerate(book.cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{number:02d}"
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            cell.source, left = prose.plain_markdown(cell.source, known)
            faults += [f"cell {number}: {fault}" for fault in left]
        elif "setup" in tags:
            cell.source = setup(source.parent.name)
        elif "quiz" in tags:
            cell.metadata["jupyter"] = {"source_hidden": True}  # the data holds the answers
    book.metadata.clear()
    book.metadata.update(KERNEL)
    if not faults:
        nbformat.validate(book)
    return book, faults


def setup(lesson: str, repository: str | None = None) -> str:
    """The first cell of a student's notebook: find batchlab, then say what it runs on."""
    address = REPOSITORY if repository is None else repository
    last_resort = INSTALL.format(address=address) if address else ADVICE
    return SETUP.format(last_resort=last_resort) + CALL.format(lesson=lesson)


def problems(cells: list[Any], lesson: str) -> list[str]:
    """What breaks the conventions of a lesson, one line each; empty for a good one."""
    found: list[str] = []
    code = [(n, cell) for n, cell in enumerate(cells) if cell.cell_type == "code"]
    starts = [n for n, cell in code if "setup" in cell.metadata.get("tags", [])]
    if not code or starts != [code[0][0]]:
        found.append("the first code cell, and no other, has the tag `setup`")
    elif code[0][1].source.strip() != CALL.format(lesson=lesson):
        found.append(f"the setup cell is exactly these lines:\n{CALL.format(lesson=lesson)}")
    for number, cell in code:
        grading = cell.metadata.get("nbgrader", {})
        where = grading.get("grade_id") or f"cell {number}"
        found += [f"{where}: {fault}" for fault in _cell_problems(cell, grading)]
    return found + _grading_problems([cell.metadata.get("nbgrader", {}) for cell in cells])


def _cell_problems(cell: Any, grading: dict[str, Any]) -> list[str]:
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        return [f"no plain Python: {error.msg}, line {error.lineno}"]
    found = []
    lines = cell.source.strip().splitlines()
    tags = cell.metadata.get("tags", [])
    if grading.get("solution"):
        region = re.search(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL)
        if not region:
            found.append("an answer marks ### BEGIN SOLUTION and ### END SOLUTION")
        elif region[1].count("\n") > ANSWER_LINES:
            found.append(f"{region[1].count(chr(10))} lines to write; at most {ANSWER_LINES}")
    elif grading.get("grade"):
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not re.match(r"(check\.|print\()", ast.unparse(last)):
            found.append("the last line is a value, which nbgrader would read as points")
    elif "quiz" in tags:
        if "quiz.show(" not in cell.source:
            found.append("the tag `quiz` is for one call of quiz.show")
    elif len(lines) > CODE_LINES:
        found.append(f"{len(lines)} lines; a code cell has at most {CODE_LINES}")
    if not grading.get("grade") and "HIDDEN TESTS" in cell.source:
        found.append("hidden tests stand in check cells only")
    return found


def _grading_problems(entries: list[dict[str, Any]]) -> list[str]:
    found = []
    graded = [entry for entry in entries if entry.get("grade")]
    ids = [entry["grade_id"] for entry in entries if "grade_id" in entry]
    answers = [entry["grade_id"] for entry in entries if entry.get("solution")]
    found += [
        f"{name}: this id stands twice" for name in sorted({i for i in ids if ids.count(i) > 1})
    ]
    bad = [name for name in ids if not re.fullmatch(r"[a-z][a-z0-9-]{1,40}", name)]
    found += [f"{name}: ids are small words joined by -" for name in bad]
    for entry in graded:
        name = entry["grade_id"]
        if not entry.get("solution") and not answer_of(name, answers):
            found.append(f"{name}: a check is named check-<answer>, with an answer of {answers}")
    for name in answers:
        if not any(answer_of(entry["grade_id"], answers) == name for entry in graded):
            found.append(f"{name}: no check cell judges this answer")
    points = sum(entry.get("points", 0) for entry in graded)
    if points != POINTS:
        found.append(f"the checks give {points} points; a lesson has {POINTS}")
    return found


def answer_of(check_id: str, answers: list[str]) -> str:
    """The answer that a check judges: the longest one its id begins with behind `check-`.

    >>> answer_of("check-waste-2", ["waste", "was"]), answer_of("check-x", ["waste"])
    ('waste', '')
    """
    rest = check_id.removeprefix("check-")
    fits = [name for name in answers if rest == name or rest.startswith(f"{name}-")]
    return max(fits, key=len, default="") if check_id.startswith("check-") else ""


def _bytes(book: Any) -> bytes:
    import nbformat

    return (nbformat.writes(book).rstrip("\n") + "\n").encode()


def _changed(root: Path, wanted: dict[str, bytes]) -> list[str]:
    kept = {
        path.relative_to(root).as_posix(): path
        for pattern in ("solutions/*/*.ipynb", "lessons/*/**/*")
        for path in root.glob(pattern)
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }
    stale = [name for name in kept if name not in wanted]
    new = [n for n, data in wanted.items() if n not in kept or kept[n].read_bytes() != data]
    return sorted(stale + new)


def _release(root: Path, course: Path) -> None:
    """Let nbgrader make the student copies of `course` with the configuration of `root`."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=os.fspath(root.resolve())).load_config()
    config.CourseDirectory.root = os.fspath(course)
    config.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    for lesson in sorted(path.name for path in (course / "solutions").iterdir() if path.is_dir()):
        result = api.generate_assignment(lesson, force=True)
        if not result["success"]:
            raise ValueError(f"{lesson}: {result.get('log') or result['error']}")


if __name__ == "__main__":
    sys.exit(main())

"""Make both notebooks of a lesson from its one source; the same source gives the same bytes.

    solutions/02_padding/padding.md         written by hand (MyST)
      -> solutions/02_padding/padding.ipynb   the same, as a notebook: the teacher's
        -> lessons/02_padding/padding.ipynb   answers and hidden tests removed: the student's

The same run lists the lessons in README.md and puts `address.REPOSITORY` into CITATION.cff and
pyproject.toml.
Nothing is ever carried back. `python -m batchlab.authoring.sources` (or `make lessons`) rebuilds
all lessons and writes what changed, but never over a student's work; `--check` writes nothing
and fails where the committed notebooks differ. nbgrader itself makes the student copy, in a
temporary course folder, so plain `nbgrader generate_assignment 02_padding --force` writes these
bytes too.

The author's guide, one page
    header    jupytext's two lines and the kernelspec, as in any lesson; then `measured: ...`, what
              the lesson measures, in a few words for the list of lessons.
    setup     the first code cell has the tag `setup` and exactly these two lines:
                  from batchlab import classroom
                  classroom.start("02_padding")
              The build puts the search for batchlab before them (SETUP below).
    cells     at most 12 lines of code, no magics; ids come from grade_id, else from the position.
    exercise  a line `{exercise} waste` alone: the build writes the answer cell (signature,
              docstring, blank) and the check cell, one line, from exercises/padding/waste.py.
              Where something is drawn between the two, `{check} waste` says where the check stands.
              Points, cases, hints, mistakes and right ways stand in that file: see the guide of
              `batchlab.exercises`. The exercises of a lesson give 10 points; the one with the
              most, at least three, is its Build.
    helpers   what a page draws or shows stands in its exercise's file or in `scenes.py` beside it.
    keep      the last code cell but quizzes, tag [keep]:  from batchlab.classroom import mine
              mine.keep("02_padding", waste, ...)
    quiz      :tags: [quiz, hide-input], one call:  quiz.show([{"question": "...", "options": [
              {"text": "...", "right": True, "why": "..."}, ...]}, ...], key="02-recall")
    predict   one cell `predict.number("02-waste", None, unit="of the slots", low=0, high=1)`,
              then the run cell ends in `predict.reveal("02-waste", found.waste)`.
    prose     Markdown; also {cite:p}, {cite:t}, {admonition}, {note}, {tip}, {warning}, {figure}
              and (label)= lines, which the notebooks get as plain Markdown. No other directive.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from batchlab.authoring import address, catalogue, conventions, expand, prose

__all__ = ["build", "differences", "main", "notebook", "setup"]

# --no-deps: a hosted runtime keeps its own torch
SETUP = """\
try:
    import batchlab
except ModuleNotFoundError:  # look for a clone around this notebook, then for a wheel beside it
    import pathlib, subprocess, sys
    here, pip = pathlib.Path.cwd(), [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
    clone = [str(p) for p in here.parents if (p / "batchlab/classroom").is_dir()]
    wheels = [*here.glob("batchlab-*.whl"), *here.parent.glob("input/**/batchlab-*.whl"){address}]
    if not clone and (not wheels or subprocess.run([*pip, wheels[0]]).returncode):
        raise SystemExit("{advice}")
    sys.path += clone[:1]
"""
ADVICE = "batchlab is missing: open this notebook in a clone, or lay batchlab-*.whl beside it"
PROJECT = "pyproject.toml"  # holds the links, where there is an address
STAMPED = ("README.md", "CITATION.cff")  # each holds what the sources or the address say

STUB = "raise NotImplementedError"  # nbgrader_config.py writes it into every blank
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def main(arguments: list[str] | None = None) -> int:
    """Rebuild all lessons, or with --check only compare. Says what changed."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.sources")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--fresh", action="store_true", help="also overwrite a student's work")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that holds solutions/")
    options = parser.parse_args(arguments)
    try:
        said = differences(options.root) if options.check else build(options.root, options.fresh)
    except ValueError as error:
        print(error)
        return 1
    for line in said:
        print(line)
    return int(options.check and bool(said))


def build(root: Path, fresh: bool = False) -> list[str]:
    """Write every generated file that changed, and say so; a notebook with work in it is kept.

    Students work in lessons/ themselves: what they wrote is overwritten only if `fresh` asks.
    Nothing is ever deleted.
    """
    said = []
    for name, content in sorted(generated(root).items()):
        path = root / name
        if path.is_file() and path.read_bytes() == content:
            continue
        if not fresh and name.startswith("lessons/") and _worked_on(path):
            said.append(f"kept: {name} holds work of yours; --fresh writes a blank one")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        said.append(f"wrote: {name}")
    return said


def differences(root: Path) -> list[str]:
    """One line for each generated file that is not what the sources give, or has no source."""
    wanted = generated(root)
    there = {
        path.relative_to(root).as_posix()
        for pattern in ("solutions/*/*.ipynb", "lessons/*/**/*")
        for path in root.glob(pattern)
        if path.is_file() and not {".ipynb_checkpoints", "mine"} & set(path.parts)
    }
    said = [f"has no source: {name}" for name in there if name not in wanted]
    for name, content in wanted.items():
        if not (root / name).is_file() or (root / name).read_bytes() != content:
            said.append(f"differs from its source: {name}")
    return sorted(said)


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
        hidden = shutil.ignore_patterns("*.md", "*.ipynb", ".ipynb_checkpoints", "*cache*", "mine")
        shutil.copytree(root / "solutions", course / "solutions", ignore=hidden)
        for name, content in teachers.items():
            (course / name).write_bytes(content)
        _release(root, course)
        made = (path for path in (course / "lessons").rglob("*") if path.is_file())
        students = {path.relative_to(course).as_posix(): path.read_bytes() for path in made}
    return teachers | students | _stamped(root)


def _stamped(root: Path) -> dict[str, bytes]:
    """The README with its list of lessons, and CITATION.cff and pyproject with the address."""
    known, found = catalogue.lessons(root), {}
    for name in STAMPED:
        if (root / name).is_file():
            text = (root / name).read_text(encoding="utf-8")
            text = catalogue.card(
                address.citation(text, address.REPOSITORY), known, address.REPOSITORY
            )
            found[name] = text.encode()
    if (root / PROJECT).is_file():
        text = (root / PROJECT).read_text(encoding="utf-8")
        found[PROJECT] = address.urls(text, address.REPOSITORY, address.BOOK).encode()
    return found


def notebook(source: Path, references: Path) -> tuple[Any, list[str]]:
    """The teacher's notebook of one source, and what is wrong with it in plain words."""
    import jupytext
    import nbformat

    book = jupytext.reads(expand.read(source), fmt="md:myst")
    faults = conventions.problems(book.cells, source.parent.name)
    if not re.fullmatch(rf"\d\d_{re.escape(source.stem)}", source.parent.name):
        faults.append("the folder is named NN_topic, the source topic.md")
    known = prose.citations(references)
    for number, cell in enumerate(book.cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{number:02d}"
        tags, own = cell.metadata.get("tags", []), cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown":
            cell.source, left = prose.plain_markdown(cell.source, known)
            faults += [f"cell {number}: {fault}" for fault in left]
        elif "setup" in tags:
            cell.source = setup(source.parent.name)
        elif "quiz" in tags or (own.get("grade") and not own.get("solution")):
            cell.metadata["jupyter"] = {"source_hidden": True}  # it holds the answers
    book.metadata.clear()
    book.metadata.update(KERNEL)
    if not faults:
        nbformat.validate(book)
    return book, faults


def setup(lesson: str, repository: str | None = None) -> str:
    """The first cell of a student's notebook: find batchlab, then say what it runs on."""
    install = address.install(address.REPOSITORY if repository is None else repository)
    last = f', "{install}"' if install else ""
    cell = SETUP.format(address=last, advice=ADVICE)
    return cell + conventions.CALL.format(lesson=lesson)


def _bytes(book: Any) -> bytes:
    import nbformat

    text: str = nbformat.writes(book)
    return (text.rstrip("\n") + "\n").encode()


def _worked_on(path: Path) -> bool:
    """Whether someone ran a cell of this notebook or filled a blank."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for cell in cells:
        if cell.get("execution_count") is not None or cell.get("outputs"):
            return True
        answer = cell.get("metadata", {}).get("nbgrader", {}).get("solution")
        if answer and STUB not in "".join(cell["source"]):
            return True
    return False


def _release(root: Path, course: Path) -> None:
    """Let nbgrader make the student copies of `course` with the configuration of `root`."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=os.fspath(root.resolve())).load_config()
    config.CourseDirectory.root = os.fspath(course)
    config.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"
    config.SaveCells.enabled, config.GenerateAssignment.no_database = False, True
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    for lesson in sorted(path.name for path in (course / "solutions").iterdir() if path.is_dir()):
        result = api.generate_assignment(lesson, force=True)
        if not result["success"]:
            raise ValueError(f"{lesson}: {result.get('log') or result['error']}")


if __name__ == "__main__":
    sys.exit(main())

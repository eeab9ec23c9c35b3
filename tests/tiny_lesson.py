"""A lesson of one question, for the tests of the machinery: a source, a course folder."""

# ruff: noqa: E501  (metadata of a cell stands on one line)

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

SOURCE = '''---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3, language: python}
---

# 2. Tiny

Counting slots, after {cite:t}`krell2021packing`.

```{code-cell} ipython3
:tags: [setup]

from batchlab import classroom
classroom.start("02_tiny")
```

```{code-cell} ipython3
from batchlab.classroom import check, mine, predict, quiz

predict.number("02-tiny", None, unit="slots")
```

```{code-cell} ipython3
:tags: [quiz, hide-input]

quiz.show([{"question": "2 rows of 3?", "options": [
    {"text": "6", "right": True, "why": "a rectangle"},
    {"text": "5", "right": False, "why": "the sum of its sides"}]}], key="02-recall")
```

Write `slots`.

```{code-cell} ipython3
:tags: [build, hide-input]
:nbgrader: {schema_version: 3, grade_id: slots, solution: true, grade: false, locked: false, task: false}

def slots(lengths):
    """Slots of one rectangle around `lengths`."""
    ### BEGIN SOLUTION
    return len(lengths) * max(lengths)
    ### END SOLUTION
```

```{code-cell} ipython3
predict.reveal("02-tiny", slots([5, 3]))
```

```{code-cell} ipython3
:tags: [hide-cell]
:nbgrader: {schema_version: 3, grade_id: check-slots, solution: false, grade: true, points: 10, locked: true, task: false}

check.equal(check.call(slots, [5, 3], asked="slots of [5, 3]"), 10, asked="slots of [5, 3]",
            mistakes={8: "real tokens, not slots"})
### BEGIN HIDDEN TESTS
for _lengths in check.rng("check-slots").integers(1, 99, (4, 3)).tolist():
    _asked = f"slots of {_lengths}"
    check.equal(check.call(slots, _lengths, asked=_asked), 3 * max(_lengths), asked=_asked,
                mistakes={3 * _lengths[0]: "the first row is not always the longest"})
### END HIDDEN TESTS
check.passed("Right: the longest row sets the width.")
```

```{code-cell} ipython3
:tags: [keep]

mine.keep("02_tiny", slots)
```

```{code-cell} ipython3
:tags: [quiz, hide-input]

quiz.show([{"question": "3 rows of 3?", "options": [
    {"text": "9", "right": True, "why": "a rectangle"},
    {"text": "6", "right": False, "why": "the sum of its sides"}]}], key="02-exit")
```
'''


def course(folder: Path, source: str = SOURCE) -> Path:
    """A course folder with the tiny lesson, not yet built."""
    home = folder / "solutions/02_tiny"
    (home / "img").mkdir(parents=True)
    (home / "tiny.md").write_text(source)
    (home / "img/one.svg").write_text("<svg/>")
    (folder / "book").mkdir()
    (folder / "book/references.bib").write_text(
        "@article{krell2021packing, title={T}, author={Krell, M. and Kosec, M. and Perez, S.}, "
        "journal={arXiv preprint arXiv:2107.02027}, year={2021}}\n"
    )
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return folder


def module(name: str, *arguments: str, ok: bool = True) -> str:
    """What `python -m batchlab.authoring.NAME` printed; its own process, as `make` has it."""
    command = [sys.executable, "-m", f"batchlab.authoring.{name}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout


def outcomes(root: Path, lesson: str, report: Path) -> list[dict]:
    """What became of a lesson's cells and of every known answer; kept until one of them changes."""
    kept = str(root / "_build/outcomes")
    words = ("--json", str(report), "--keep", kept, "--reuse", kept)
    module("matrix", lesson, "--root", str(root), *words)
    found: list[dict] = json.loads(report.read_text())[lesson]
    return found


def points(root: Path, lesson: str) -> dict[str, float]:
    """Points that plain nbgrader gives to the solution ("filled") and to the student's copy ("blank")."""
    nbgrader(root, "generate_assignment", lesson, "--force")
    (teacher,) = (root / "solutions" / lesson).glob("*.ipynb")
    student = root / "lessons" / lesson / teacher.name
    answers = {cell["id"]: cell["source"] for cell in json.loads(teacher.read_text())["cells"]}
    filled = json.loads(student.read_text())
    for cell in filled["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = answers[cell["id"]]
    for name, text in {"blank": student.read_text(), "filled": json.dumps(filled)}.items():
        (root / "submitted" / name / lesson).mkdir(parents=True)
        (root / "submitted" / name / lesson / teacher.name).write_text(text)
    nbgrader(root, "autograde", lesson)
    assert "Success" in nbgrader(root, "validate", str(teacher))
    code = (
        "import json; from nbgrader.api import Gradebook\n"
        f"with Gradebook('sqlite:///{root}/gradebook.db') as book:\n"
        f"  print(json.dumps({{s.student_id: s.score for s in book.assignment_submissions('{lesson}')}}))"
    )
    found: dict[str, float] = json.loads(python(root, "-c", code).splitlines()[-1])
    return found


def nbgrader(root: Path, *arguments: str) -> str:
    return python(root, "-m", "nbgrader", *arguments)


def python(root: Path, *arguments: str) -> str:
    here = {"HOME": str(root), "OMP_NUM_THREADS": "1"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, **here, "PATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr + done.stdout

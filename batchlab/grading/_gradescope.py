"""An autograder for Gradescope: one zip that its container sets up and runs.

course, lesson  ->  setup.sh, run_autograder, the lesson, the seed, a wheel  ->  autograder.zip
"""

import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from batchlab.grading import _record as record
from batchlab.grading._class import grade
from batchlab.grading._course import Course, opened, seed
from batchlab.grading._inbox import received
from batchlab.grading._record import Record

__all__ = ["autograder", "packed", "results"]

SETUP = """\
#!/usr/bin/env bash
# Runs once, as root, when Gradescope builds the image: Python 3.11 or newer, batchlab.
set -e
cd "${AUTOGRADER:-/autograder}/source"
apt-get update
for python in python3.13 python3.12 python3.11 python3; do
  $python -c 'import sys; sys.exit(sys.version_info < (3, 11))' && break
done
$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' || {
  apt-get install -y python3.11 python3.11-venv; python=python3.11; }
$python -m venv .venv
.venv/bin/pip install --quiet "$(ls batchlab-*.whl)[torch]" "transformers>=5" matplotlib ipython
"""
RUN = """\
#!/usr/bin/env bash
# Runs once for each submission: one notebook in, results.json out.
home="${{AUTOGRADER:-/autograder}}"
cd "$home/source"
exec "${{PYTHON:-.venv/bin/python}}" -m batchlab.grading.gradescope course {lesson} \\
  "$home/submission" "$home/results/results.json"
"""
EPOCH = (2026, 1, 1, 0, 0, 0)  # the same bytes every time
SCRIPT, PLAIN = 0o755, 0o600


def autograder(course: Course, name: str) -> dict[str, bytes]:
    """The files of an autograder but the wheel, by name; the seed's file is one of them."""
    lesson = course.lesson(name)
    secret = seed(course, public=course.seed_file is None)
    settings = [f'isolation = "{course.isolation}"', f'lessons = ["{name}"]']
    files = {
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.format(lesson=name).encode(),
        f"course/solutions/{name}/{lesson.teacher.name}": lesson.teacher.read_bytes(),
        f"course/lessons/{name}/{lesson.released.name}": lesson.released.read_bytes(),
    }
    if secret is not None:
        settings.append('seed_file = "seed.txt"')
        files["course/seed.txt"] = secret.encode()
    return files | {"course/course.toml": "\n".join([*settings, ""]).encode()}


def packed(path: Path, files: dict[str, bytes], *more: Path) -> None:
    """Write the zip, with scripts that may be run; the same files give the same bytes."""
    everything = files | {one.name: one.read_bytes() for one in more}
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "autograder.zip"
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(everything.items()):
                info = zipfile.ZipInfo(name, EPOCH)
                info.external_attr = (
                    SCRIPT if name in ("setup.sh", "run_autograder") else PLAIN
                ) << 16
                archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        record.whole(path, part.read_bytes())


def results(root: Path, name: str, submission: Path, *, engine: str = "") -> dict[str, Any]:
    """What Gradescope reads about one submission; `ValueError` where there is no score."""
    course = opened(root)
    with tempfile.TemporaryDirectory() as folder:
        there = replace(course, graded=Path(folder) / "graded")
        found = [replace(one, student="student") for one in received(submission, course, name)]
        grade(there, found[:1], seed=seed(course, public=course.seed_file is None), engine=engine)
        graded = record.all_current(there.graded, [name])
    if not graded:
        raise ValueError("no notebook was handed in")
    one = graded[0]
    if one.score is None and one.submission:
        raise ValueError(f"no score: {one.questions[0].message}")
    return {"score": one.score or 0.0, "stdout_visibility": "hidden", "tests": _tests(one)}


def _tests(one: Record) -> list[dict[str, Any]]:
    return [
        {
            "name": asked.question,
            "score": asked.points,
            "max_score": asked.of,
            "status": "passed" if asked.points == asked.of else "failed",
            "output": f"{asked.verdict}\n{asked.message}".strip(),
            "output_format": "text",
        }
        for asked in one.questions
    ]

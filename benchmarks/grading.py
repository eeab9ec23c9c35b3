"""CPU seconds of a submission: this project's engine and nbgrader on the same class, in turns.

    python benchmarks/grading.py [--students 12] [--lessons 02_padding 05_accumulation]

The class holds the solution, the blank and answers of the bank. It is graded in batches: one by
the engine, the same one by `nbgrader autograde`. CPU seconds are those of all ended children, so
that a busy machine counts no less; each side pays its own start, the engine once for a lesson.
"""

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from batchlab import report
from batchlab.authoring import laws
from batchlab.grading import Engine

ROOT = Path(__file__).resolve().parent.parent
BATCH = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--lessons", nargs="+", default=["02_padding", "05_accumulation"])
    args = parser.parse_args()
    rows = []
    for lesson in args.lessons:
        ours, theirs, minutes = measured(lesson, args.students)
        rows.append([lesson, args.students, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}",
                     f"{args.students / minutes:.0f}"])  # fmt: skip
    head = ["lesson", "class", "engine CPU s", "nbgrader CPU s", "times", "engine a minute"]
    print(report.table(head, rows))


def measured(lesson: str, students: int) -> tuple[float, float, float]:
    """CPU seconds a submission by the engine and by nbgrader, and wall minutes of the engine."""
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    book = list(itertools.islice(itertools.cycle(notebooks(lesson, teacher)), students))
    ours = theirs = wall = 0.0
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        shutil.copytree(teacher.parent, course / "solutions" / lesson)
        shutil.copy(ROOT / "nbgrader_config.py", course)
        nbgrader(course, "generate_assignment", lesson, "--force")
        for start in range(0, students, BATCH):
            batch = book[start : start + BATCH]
            begun, now = cpu(), time.perf_counter()
            with Engine(teacher, seed=None) as engine:
                for one in batch:
                    engine.grade(one)
            ours, wall = ours + cpu() - begun, wall + time.perf_counter() - now
            begun = cpu()
            shutil.rmtree(course / "submitted", ignore_errors=True)
            for number, one in enumerate(batch, start):
                place = course / "submitted" / f"student{number}" / lesson
                place.mkdir(parents=True)
                (place / teacher.name).write_bytes(one)
            nbgrader(course, "autograde", lesson)
            theirs += cpu() - begun
    return ours / students, theirs / students, wall / 60


def notebooks(lesson: str, teacher: Path) -> list[bytes]:
    """The solution, the released blank, and the solution with a wrong answer to each exercise."""
    found = [teacher.read_bytes(), (ROOT / "lessons" / lesson / teacher.name).read_bytes()]
    answers = laws.answers(teacher.stem)
    wrong = {name: text for kind, name, _, text, _ in answers if kind == "wrong"}
    for name, text in wrong.items():
        cell = laws.alone(f"{teacher.stem}/{name}", text)
        found.append(laws.with_answer(teacher.read_bytes(), name, cell))
    return found


def nbgrader(course: Path, *arguments: str) -> None:
    here = {"HOME": str(course), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    subprocess.run(command, cwd=course, env={**os.environ, **here, "PATH": path}, check=False,
                   capture_output=True)  # fmt: skip


def cpu() -> float:
    return sum(os.times()[2:4])


if __name__ == "__main__":
    main()

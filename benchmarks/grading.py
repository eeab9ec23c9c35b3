"""CPU seconds of a submission: this project's engine and nbgrader on the same class, in turns.

    python benchmarks/grading.py [--students 30] [--nbgrader 6] [--lessons 02_padding 15_many]

The class holds the solution, the blank and answers of the bank. The engine grades all of it and is
started once, as `batchlab course grade` starts it; its own process and all that it starts are
counted. Between its submissions, `nbgrader autograde` grades every so many of them, each in a turn
of its own. What nbgrader needs to start is measured without a submission, taken from each turn and
counted once for the class, as the engine's start is. CPU seconds count no less on a busy machine.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--nbgrader", type=int, default=6, help="how many of them it grades, too")
    parser.add_argument("--lessons", nargs="+", default=["02_padding", "05_accumulation"])
    args = parser.parse_args()
    rows = []
    for lesson in args.lessons:
        ours, theirs, wall = measured(lesson, args.students, args.nbgrader)
        rows.append([lesson, args.students, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}",
                     f"{60 * args.students / wall:.0f}"])  # fmt: skip
    head = ["lesson", "class", "engine CPU s", "nbgrader CPU s", "times", "engine a minute"]
    print(report.table(head, rows))


def measured(lesson: str, students: int, sample: int) -> tuple[float, float, float]:
    """CPU seconds a submission by the engine and by nbgrader, and wall seconds of the engine."""
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    book = list(itertools.islice(itertools.cycle(notebooks(lesson, teacher)), students))
    turns = {students * one // sample for one in range(sample)}
    theirs = paused = 0.0
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        shutil.copytree(teacher.parent, course / "solutions" / lesson)
        shutil.copy(ROOT / "nbgrader_config.py", course)
        nbgrader(course, "generate_assignment", lesson, "--force")
        start = nbgrader(course, "autograde", lesson)  # of nobody
        begun, now = cpu(), time.perf_counter()
        with Engine(teacher, seed=None) as engine:
            for number, one in enumerate(book):
                engine.grade(one)
                if number in turns:
                    at = time.perf_counter()
                    place = course / "submitted" / f"student{number}" / lesson
                    place.mkdir(parents=True)
                    (place / teacher.name).write_bytes(one)
                    theirs += nbgrader(course, "autograde", lesson, f"--student=student{number}")
                    paused += time.perf_counter() - at
        wall = time.perf_counter() - now - paused
        ours = cpu() - begun - theirs
    each = (theirs - sample * start) / sample + start / students
    return ours / students, each, wall


def notebooks(lesson: str, teacher: Path) -> list[bytes]:
    """The solution, the released blank, and the solution with a wrong answer to each exercise."""
    found = [teacher.read_bytes(), (ROOT / "lessons" / lesson / teacher.name).read_bytes()]
    answers = laws.answers(teacher.stem)
    wrong = {name: text for kind, name, _, text, _ in answers if kind == "wrong"}
    for name, text in wrong.items():
        cell = laws.alone(f"{teacher.stem}/{name}", text)
        found.append(laws.with_answer(teacher.read_bytes(), name, cell))
    return found


def nbgrader(course: Path, *arguments: str) -> float:
    """Run it; its CPU seconds, and those of all that it started."""
    here = {"HOME": str(course), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    before = sum(os.times()[2:4])
    subprocess.run(command, cwd=course, env={**os.environ, **here, "PATH": path}, check=False,
                   capture_output=True)  # fmt: skip
    return sum(os.times()[2:4]) - before


def cpu() -> float:
    """Of this process and of all that it started and that ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()

"""Check your own notebook: the checks of the lesson, outside your kernel, one line a question.

    a notebook of a lesson  ->  points, and four lines for each answer that is refused

The lesson is found by the first cell, `classroom.start("02_padding")`, in the clone around the
notebook or around the library. Where there is no clone, the check cells of the
notebook itself are run. Hidden cases are drawn from the public seed; a class has its own.
"""

import argparse
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import batchlab
from batchlab.cli._answer import Answer
from batchlab.grading import Alone, Engine, Judged, total

__all__ = ["arguments", "run"]

START = re.compile(r"classroom\.start\(\W+(\w+)")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The words of this verb."""
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="your notebook")


def run(args: argparse.Namespace) -> Answer:
    """Judge the notebook, and show what each check says."""
    raw = args.notebook.read_bytes()
    teacher = _teacher(args.notebook, raw)
    released = None if teacher != args.notebook else teacher
    if sys.platform == "linux":
        with Engine(teacher, seed=None, released=released) as engine:
            judged = engine.grade(raw)
    else:
        judged = Alone(teacher, released=released).grade(raw)
    public = [{k: v for k, v in asdict(one).items() if k != "detail"} for one in judged]
    data = {"lesson": teacher.stem, "points": total(judged), "questions": public}
    return Answer(data, _text(judged, teacher, args.notebook))


def _teacher(notebook: Path, raw: bytes) -> Path:
    """The teacher's notebook of the lesson; the notebook itself where there is no clone."""
    names = START.findall(raw.decode("utf-8", "replace").replace("\\", ""))
    around = [*notebook.resolve().parents, Path(batchlab.__file__).parent.parent]
    for name in names[:1]:
        for folder in around:
            for found in sorted(folder.glob(f"solutions/{name}/*.ipynb")):
                if (folder / "lessons" / name / found.name).is_file():
                    return found
    try:
        json.loads(raw)
    except ValueError:
        raise ValueError(f"{notebook} is no notebook: it is not JSON") from None
    return notebook


def _text(judged: tuple[Judged, ...], teacher: Path, notebook: Path) -> str:
    lines = []
    for one in judged:
        mark = "right" if one.verdict == "PASS" else one.verdict.lower()
        lines.append(f"{one.question:<28} {one.points:g} of {one.of:g}  {mark}")
        lines += [f"    {line}" for line in one.message.splitlines()]
    points, most = total(judged), sum(one.of for one in judged)
    lines.append(f"{'no score' if points is None else f'{points:g} of {most:g} points'}")
    if teacher == notebook:
        lines.append("no clone of the course was found: only the checks that you can read were run")
    return "\n".join(lines)

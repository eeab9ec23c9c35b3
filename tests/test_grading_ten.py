"""A class of ten on the real engine: accidents cost nothing, a loop costs one question.

The honest half of this class lost points to plain nbgrader: a warning, a deleted check, a doubled
one, a helper in a cell of one's own. The table is exact; who changes it says why in the commit.
"""

import json
from pathlib import Path

import pytest

from batchlab.grading import desk
from batchlab.grading._rehearsal import reference

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
LESSON = "02_padding"
GOLDEN = """\
student,name,02_padding,total
blank,,0,0
deleted,,10,10
duplicated,,10,10
half,,5,5
helper,,10,10
hostile,,0,0
loop,,8,8
memory,,7,7
perfect,,10,10
warns,,10,10
"""
LOOP = "    while True:\n        pass\n"
MEMORY = "    return len([bytes(10**6) for _ in range(10**6)])\n"
WARNS = """\
import warnings, sys, logging
warnings.warn("careful")
print("x", file=sys.stderr)
logging.error("e")
"""
HOSTILE = """\
import builtins, os
builtins.isinstance = lambda *anything: True
from batchlab.classroom import check
for name in dir(check):
    try:
        setattr(check, name, lambda *anything, **more: None)
    except Exception:
        pass
print(os.environ)
open("/tmp/batchlab-was-here", "w").write("x")
"""


def own(cell):
    return cell["metadata"].get("nbgrader", {})


def text(cell):
    return "".join(cell["source"])


def code(source):
    return {"cell_type": "code", "id": "mine", "metadata": {}, "source": source, "outputs": [],
            "execution_count": None}  # fmt: skip


def instead(cells, grade_id, body):
    """The cells with another body in one answer."""
    copy = json.loads(json.dumps(cells))
    (cell,) = [one for one in copy if own(one).get("grade_id") == grade_id]
    cell["source"] = text(cell).split("    ### BEGIN SOLUTION")[0] + body
    return copy


def with_helper(cells):
    """The same answer, in two cells: the second calls a helper that stands in the first."""
    copy = json.loads(json.dumps(cells))
    (cell,) = [one for one in copy if own(one).get("grade_id") == "waste"]
    tree = text(cell)
    cell["source"] = tree.replace("def waste(", "def before(") + (
        "\n\ndef waste(batches):\n    return shared_waste(batches)\n"
    )
    at = copy.index(cell)
    return [
        *copy[:at],
        code("def shared_waste(batches):\n    return before(batches)\n"),
        *copy[at:],
    ]


def a_class(course):
    lesson = course.lesson(LESSON)
    right = json.loads(reference(lesson))["cells"]
    blank = json.loads(lesson.released.read_bytes())["cells"]
    answers = [own(one)["grade_id"] for one in right if own(one).get("solution")]
    by_id = {own(one).get("grade_id"): one for one in right}
    half = [
        by_id[own(c)["grade_id"]] if own(c).get("grade_id") in answers[:2] else c for c in blank
    ]
    doubled = next(n for n, one in enumerate(right) if own(one).get("grade"))
    return {
        "perfect": right,
        "half": half,
        "blank": blank,
        "warns": [*right[:3], code(WARNS), *right[3:]],
        "deleted": [one for one in right if not own(one).get("grade")],
        "duplicated": [*right[: doubled + 1], *right[doubled:]],
        "helper": with_helper(right),
        "loop": instead(right, answers[0], LOOP),
        "memory": instead(right, answers[1], MEMORY),
        "hostile": [blank[0], code(HOSTILE), *blank[1:]],
    }


def test_a_class_of_ten_gets_the_golden_table(tmp_path):
    for top in ("solutions", "lessons"):
        (tmp_path / top).mkdir()
        (tmp_path / top / LESSON).symlink_to(ROOT / top / LESSON)
    course = desk.opened(tmp_path)
    for student, cells in a_class(course).items():
        path = tmp_path / "submitted" / student / LESSON / "padding.ipynb"
        path.parent.mkdir(parents=True)
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        path.write_text(json.dumps(book))
    some = desk.received(tmp_path / "submitted", course)
    desk.grade(
        course, some, seed="a phrase of this test alone", workers=2, isolation="L0",
        limits={"cpu_seconds": 10.0, "wall_seconds": 60.0},
    )  # fmt: skip
    table = desk.plain(course, desk.grades(course))
    assert table.text.replace("\r\n", "\n") == GOLDEN
    assert not Path("/tmp/batchlab-was-here").exists()

"""Equal answers of several students are named to a person; what everybody writes is not."""

import json

import pytest

from batchlab.grading import _class as a_class
from batchlab.grading import _twins, desk
from tests import tiny_course as tiny
from tests.test_grading_class import grade
from tests.torture_lesson import notebook

LONG = "def waste(batches):\n    '''Mine.'''\n    total = 0\n" + "".join(
    f"    for batch in batches[{n}:]:\n        total += max(batch) * {n} - sum(batch)  # padding\n"
    for n in range(8)
)
OTHER = (
    LONG.replace("batches", "b").replace("total", "t").replace("Mine", "My own").replace("  #", "#")
)
SHORT = "def waste(batches):\n    return 1"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(a_class, "Crew", tiny.Crew)
    return tiny.build(tmp_path / "course")


def named(root, **answers):
    """What is said of a class whose members gave these answers."""
    for student, source in answers.items():
        book = json.loads(tiny.right("02_padding"))
        for one in book["cells"]:
            if one["metadata"].get("nbgrader", {}).get("grade_id") == "waste":
                one["source"] = source
        tiny.hand_in(root, student, content=json.dumps(notebook(book["cells"])).encode())
    grade(root)
    course = desk.opened(root)
    return desk.twins(course, desk.grades(course))


def test_the_same_answer_under_other_names_is_named_once_and_others_are_not(root):
    (found,) = named(
        root, ada=LONG, bob=OTHER, eve=LONG.replace("max", "min"), dan=SHORT, fay=SHORT
    )
    assert found[:2] == (("ada", "bob"), "02_padding") and "waste" in found[2]


def test_a_number_that_python_writes_in_no_decimals_stops_no_class(root):
    long = f"{LONG}    return 0x{'f' * 5000}"
    (found,) = named(root, ada=long, bob=long.replace("batches", "b"))
    assert found[0] == ("ada", "bob")


def test_short_answers_are_nobodys(root):
    assert named(root, ada=SHORT, bob=SHORT, eve="def waste(") == []


def test_a_name_of_its_own_is_no_difference_and_a_number_is():
    assert _twins.marked("x = y + 1") == _twins.marked("a = b + 1  # so")
    assert _twins.marked("x = y + 1") != _twins.marked("x = x + 1")
    assert _twins.marked("x = y + 1") != _twins.marked("x = y + 2")

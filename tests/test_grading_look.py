"""What a person should see is named, costs nothing and tells no hidden input."""

# ruff: noqa: E501  (code of students stands on one line)

import json
import re
import sys

import pytest

from batchlab.grading import Engine, _cells, looked_at, total
from tests.torture_lesson import cell, notebook, right_but, sent, with_checks, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Engine(written(tmp_path_factory.mktemp("course")), seed="zq-autumn-81") as one:
        yield one


OPENS = {
    "an import": "from batchlab.exercises.padding.waste import exercise",
    "a package": "from batchlab import exercises",
    "by name": "import importlib\nimportlib.import_module('batchlab.exercises.padding.waste')",
    "in two parts": "__import__('batchlab.exer' + 'cises.padding.waste')",
    "its file": "import batchlab\nopen(batchlab.__path__[0] + '/exercises/padding/waste.py').read()",
}


@pytest.mark.parametrize("code", OPENS.values(), ids=OPENS)
def test_who_opens_the_references_is_named_and_keeps_all_points(engine, code):
    judged = engine.grade(json.dumps(notebook([cell("mine", code), *sent()["cells"]])).encode())
    assert total(judged) == 10 and looked_at(judged) == ("REFERENCE",)


def test_who_opens_them_only_when_called_is_named_too(engine):
    parts = "def {}:\n    __import__('batchlab.exer' + 'cises.padding.waste')\n    return {}"
    early = parts.format("total(lengths)", "sum(lengths)")
    late = parts.format("parts(count, size)", "-(-count // size)")
    for what in (right_but(total=early), right_but(parts=late)):
        judged = engine.grade(json.dumps(what).encode())
        assert total(judged) == 10 and looked_at(judged) == ("REFERENCE",)


@pytest.mark.parametrize("code", ["exercises = [1, 2]", "from batchlab.classroom import check"])
def test_who_opens_something_else_is_not(engine, code):
    assert not _cells.opens_exercises(code)
    judged = engine.grade(json.dumps(notebook([cell("mine", code), *sent()["cells"]])).encode())
    assert looked_at(judged) == ()


EXERCISE = """from batchlab.exercises import Exercise
def right(lengths):
    return sum(lengths)
def first(lengths):
    '''the first alone'''
    return lengths[0] if len(lengths) == 5 else sum(lengths)
exercise = Exercise(right, shown=[([5, 3],)], drawn=lambda rng: [(rng.integers(10**6, 10**7, 5).tolist(),)])
exercise.mistake(first)
exercise.check(total, fresh=lambda: check.rng("check-total"))"""
WRONG = {
    "a value": ("return 0 if len(lengths) == 5 else sum(lengths)", "not for all of its kind"),
    "a known thought": ("return lengths[0] if len(lengths) == 5 else sum(lengths)", "the first alone"),
    "an error": ("if len(lengths) == 5: raise ValueError(lengths)\n    return sum(lengths)", "a hidden case raised"),
}  # fmt: skip


@pytest.fixture(scope="module")
def exercised(tmp_path_factory):
    teacher = with_checks(tmp_path_factory.mktemp("course"), total=EXERCISE)
    with Engine(teacher, seed="zq-autumn-81") as one:
        yield one


@pytest.mark.parametrize(("code", "said"), WRONG.values(), ids=WRONG)
def test_a_hidden_case_of_an_exercise_is_told_by_its_kind_and_its_thought(exercised, code, said):
    source = f"def total(lengths):\n    {code}"
    one = exercised.grade(json.dumps(right_but(total=source)).encode())[0]
    assert one.points == 0 and said in one.message
    assert not re.search(r"\d{7}", one.message), "no input"
    assert re.search(r"\d{7}", one.detail), "the teacher reads all of it"


def test_a_case_of_the_page_is_told_whole(exercised):
    source = "def total(lengths):\n    return 7"
    one = exercised.grade(json.dumps(right_but(total=source)).encode())[0]
    assert "7, right is 8" in one.message

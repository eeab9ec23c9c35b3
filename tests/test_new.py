"""A newcomer's path: one command begins an exercise that keeps the laws."""

import re
import runpy

import pytest

from batchlab.authoring import expand, new
from batchlab.classroom.verdict import CheckFailed


def test_a_new_exercise_is_a_file_and_a_place_in_the_order(tmp_path, capsys):
    home = tmp_path / "batchlab/exercises/padding"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text(
        '"""Padding."""\n\nORDER = (\n    "waste",\n    "bound",\n)\n'
    )
    assert new.main(["padding", "tail-waste", "--root", str(tmp_path)]) == 0
    assert runpy.run_path(str(home / "__init__.py"))["ORDER"] == ("waste", "bound", "tail-waste")
    exercise = runpy.run_path(str(home / "tail_waste.py"))["exercise"]
    assert exercise.name == "tail_waste"
    exercise.check(exercise.right)
    one, other = (mistake.version for mistake in exercise.mistakes)
    first, second = ([case] for case in exercise.shown)
    exercise.check(one, shown=first)  # so that the second case is not idle
    for version, cases in ((other, first), (one, second)):
        with pytest.raises(CheckFailed):
            exercise.check(version, shown=cases)
    assert "make lesson NAME=padding" in capsys.readouterr().out


def test_a_new_lesson_has_a_source_that_names_its_exercise(tmp_path):
    new.begin(tmp_path, "19_cost", "bill")
    text = (tmp_path / "solutions/19_cost/cost.md").read_text()
    assert [line for line in text.splitlines() if expand.LINE.fullmatch(line)] == [
        "{exercise} bill"
    ]
    assert runpy.run_path(str(tmp_path / "batchlab/exercises/cost/__init__.py"))["ORDER"] == (
        "bill",
    )
    assert re.search(r"^classroom.start\(\"19_cost\"\)$", text, re.MULTILINE)


def test_what_is_there_already_is_not_overwritten(tmp_path, capsys):
    new.begin(tmp_path, "19_cost", "bill")
    assert new.main(["19_cost", "bill", "--root", str(tmp_path)]) == 1
    assert "is there already" in capsys.readouterr().out
    with pytest.raises(ValueError, match="an id such as bill"):
        new.begin(tmp_path, "cost", "Bill it")

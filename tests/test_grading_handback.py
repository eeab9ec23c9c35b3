"""Feedback goes back under the names that Canvas and Moodle read, and runs nothing there.

Their rules, as their sources have them: Moodle takes `name_number_plugin_kind` from any folder or
file of the path; Canvas takes the first two numbers between underscores, student and attachment,
and shows the file under the name of what was handed in.
"""

import io
import json
import zipfile

import pytest

from batchlab import cli
from batchlab.grading import _class, _handback
from batchlab.grading import _feedback as feedback
from batchlab.grading._points import Grade
from batchlab.grading._record import Record
from batchlab.grading._verdict import Judged
from tests import tiny_course as tiny

LESSON = "02_padding"


def graded(file, student="ada", message="asked   x", verdict="FAIL", submission="s"):
    asked = (Judged("check-a", verdict, 0.0, 2.0, message, 0.1, ("EDITED",)),)
    one = Record(LESSON, student, "", file, "", submission, "k" * 64, "c", "L3", "secret-print", {},
                 "2026-05-03T10:00:00+00:00", asked)  # fmt: skip
    return Grade(one, {"check-a": (1.0, "appeal <b>")})


def moodle_user(name):
    """Who gets a file of an uploaded zip, as Moodle finds it."""
    for part in name.split("/"):
        found = part.split("_", 4)
        if len(found) > 3 and found[1].isdigit() and found[2] in ("assignsubmission",):
            return int(found[1])
    return None


def canvas_user(name):
    """Student and attachment of a file of an uploaded zip, as Canvas finds them."""
    return tuple(int(one) for one in name.split("_") if one.isdigit())[:2]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (
            "Jo Doe_12_assignsubmission_file/p.ipynb",
            "Jo Doe_12_assignsubmission_file/feedback.html",
        ),
        (
            "J, =1_7_assignsubmission_file_/a/b.ipynb",
            "J, =1_7_assignsubmission_file_/feedback.html",
        ),
        ("J_7_assignsubmission_file_my work.ipynb", "J_7_assignsubmission_file_feedback.html"),
    ],
)
def test_moodle_finds_the_student_of_each_page(file, name):
    ((made, content),) = _handback.handed_back([graded(file)]).items()
    assert made == name and moodle_user(made) == moodle_user(file) is not None
    assert content.startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    "file", ["doejane_12_34_padding.ipynb", "doejane_LATE_12_34_padding-1.ipynb"]
)
def test_canvas_finds_the_student_and_shows_a_notebook_that_runs_nothing(file):
    ((made, content),) = _handback.handed_back([graded(file)]).items()
    assert made == file and canvas_user(made) == (12, 34)
    (cell,) = json.loads(content)["cells"]
    assert cell["cell_type"] == "raw"
    assert cell["source"].startswith("02_padding: ada\n\n1 of 2 points\n\ncheck-a: 1 of 2\n")
    assert "Given by hand: appeal <b>\nFAIL: the check refused" in cell["source"]
    assert "the teacher's was run" in cell["source"] and "secret-print" not in content.decode()


def test_all_else_goes_by_the_id_and_nothing_leads_out_of_the_zip():
    some = [graded("x/../../y.ipynb", student="../Ada"), graded("ada.ipynb"), graded("", "bob")]
    assert list(_handback.handed_back(some)) == ["ada.html", "ada~4e4af216.html", "bob.html"]


def test_who_has_no_score_gets_no_file():
    one = graded("ada.ipynb", verdict="INFRA").record
    assert not _handback.handed_back([Grade(one, {})])


def test_a_text_is_cut_and_controls_nothing():
    said = feedback.text(graded("a.ipynb", message="\x1b[2J" + "x" * 10**6))
    assert "\x1b" not in said and len(said) < 40_000


def test_the_verb_says_the_names_first_and_writes_the_same_zip_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_class, "Crew", tiny.Crew)
    monkeypatch.chdir(tiny.build(tmp_path / "course"))
    with zipfile.ZipFile("moodle.zip", "w") as made:
        for name in ("Zoë_1_assignsubmission_file", "=1+1_2_assignsubmission_file"):
            made.writestr(f"{name}/padding.ipynb", tiny.right(LESSON))
    assert cli.main(["course", "grade", "moodle.zip"]) == 0
    words = ["course", "export", "--to", "feedback"]
    assert cli.main(words) == 1
    assert "--to feedback needs --lesson" in capsys.readouterr().err
    assert cli.main([*words, "--lesson", LESSON]) == 0
    assert "feedback for 2 of 2:" in capsys.readouterr().out
    made = []
    for _ in range(2):
        assert cli.main([*words, "--lesson", LESSON, "--write", "feedback.zip"]) == 0
        made.append((tmp_path / "course/feedback.zip").read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(io.BytesIO(made[0])) as zipped:
        assert zipped.namelist() == [
            "=1+1_2_assignsubmission_file/feedback.html",
            "Zoë_1_assignsubmission_file/feedback.html",
        ]

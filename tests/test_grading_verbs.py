"""The verbs of an instructor, from release to export, in the order of a term (T53 among them)."""

import csv
import io
import json
import re
import subprocess
import zipfile

import pytest

from batchlab import cli
from batchlab.authoring import parcels
from batchlab.grading import _class, desk, gradescope
from tests import tiny_course as tiny

LESSON = "02_padding"


@pytest.fixture(autouse=True)
def tiny_engine(monkeypatch):
    monkeypatch.setattr(_class, "Crew", tiny.Crew)


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tiny.build(tmp_path / "course")
    monkeypatch.chdir(root)
    return root


def said(capsys, *words, code=0):
    """What a verb prints; on a refusal its one line."""
    assert cli.main([str(word) for word in words]) == code
    out, err = capsys.readouterr()
    if code and err:
        assert err.count("\n") == 1
    return out + err


def a_class(root):
    tiny.hand_in(root, "ada", content=tiny.right(LESSON))
    tiny.hand_in(root, "bob", waste="PASS", mask="TIMEOUT")
    tiny.hand_in(root, "eve", waste="REVIEW", mask="PASS")
    tiny.hand_in(root, "=1+1", content=b"{")
    (root / "submitted/zoe").mkdir()


def test_a_class_is_graded_with_a_table_and_a_list_of_who_needs_a_look(root, capsys):
    a_class(root)
    text = said(capsys, "course", "grade", "submitted", "--workers", 2)
    shown = [" ".join(line.split()) for line in text.splitlines()]
    for line in (
        "02_padding =1+1 0 4 all REJECTED",
        "02_padding ada 4 4",
        "02_padding bob 2 4 check-mask TIMEOUT",
        "02_padding eve 2 4 check-waste REVIEW",
        "eve 02_padding REVIEW: check-waste asked check-waste",
        "=1+1 02_padding REJECTED: no notebook",
        "zoe ? nothing was handed in",
    ):
        assert line in shown, line
    assert re.search(r"4 graded, 0 had a grade already; \d+ s, isolation L3, seed \w{12}\n", text)
    assert tiny.SEED not in text
    assert len(list((root / "graded/feedback").rglob("*.html"))) == 4
    again = said(capsys, "course", "grade", "submitted")
    assert "0 graded, 4 had a grade already" in again


def test_points_by_hand_and_the_names_of_an_lms_are_shown(root, capsys):
    with zipfile.ZipFile("moodle.zip", "w") as made:
        made.writestr("Zoë_7_assignsubmission_file/p.ipynb", tiny.notebook(LESSON, {}))
    words = "lesson,student,question,points,reason\n02_padding,7,check-mask,2,appeal\n"
    (root / "by_hand.csv").write_text(words)
    text = " ".join(said(capsys, "course", "grade", "moodle.zip").split())
    assert "02_padding 7 Zoë 2 4 check-waste FAIL; check-mask FAIL, by hand" in text
    assert "02_padding 7 Zoë none 2" in " ".join(said(capsys, "course", "export").split())


def test_one_student_is_graded_again_and_nobody_else(root, capsys):
    a_class(root)
    said(capsys, "course", "grade", "submitted")
    words = ["course", "grade", "submitted", "--again", "--student"]
    text = said(capsys, *words, "bob")
    assert "1 graded, 0 had a grade already" in text and "ada" not in text
    assert len(list((root / "graded/02_padding/bob").iterdir())) == 2
    assert len(list((root / "graded/02_padding/ada").iterdir())) == 1
    assert "submitted: nothing of 'Bob'; ids there are like" in said(capsys, *words, "Bob", code=1)


def test_machines_read_the_same_as_json(root, capsys):
    a_class(root)
    found = json.loads(said(capsys, "course", "grade", "submitted", "--json"))
    assert {one["student"]: one["score"] for one in found["grades"]} == {
        "ada": 4.0, "bob": 2.0, "eve": 2.0, "=1+1": 0.0,
    }  # fmt: skip
    assert found["levels"] == {LESSON: "L3"} and len(found["look"]) == 3


def test_a_course_without_settings_is_graded_on_defaults_once_the_public_seed_is_asked_for(
    root, capsys
):
    a_class(root)
    (root / "course.toml").unlink()
    refused = said(capsys, "course", "grade", "submitted", code=1)
    assert refused.startswith("batchlab: a class is graded with a seed of its own")
    assert "seed public" in said(capsys, "course", "grade", "submitted", "--public-seed")


def test_an_export_says_the_difference_first_and_writes_only_where_it_is_told(root, capsys):
    a_class(root)
    said(capsys, "course", "grade", "submitted")
    before = sorted(root.rglob("*"))
    text = said(capsys, "course", "export")
    assert "4 of 4 grades change" in text and "nothing is written: --write PATH does it" in text
    assert sorted(root.rglob("*")) == before
    out = root / "grades.csv"
    said(capsys, "course", "export", "--to", "csv", "--write", out)
    rows = list(csv.reader(io.StringIO(out.read_bytes().decode(), newline="")))
    assert [row[0] for row in rows] == ["student", "'=1+1", "ada", "bob", "eve"]


def test_an_export_names_whose_record_is_empty_and_the_next_grading_mends_it(root, capsys):
    a_class(root)
    words = ["course", "grade", "submitted"]
    said(capsys, *words)
    torn = root / "graded/02_padding/ada/0001.json"
    torn.write_text("")
    text = said(capsys, "course", "export")
    assert "3 of 3 grades change" in text
    assert f"no grade, {torn} is empty or cut off: batchlab course grade PATH" in text
    alone = " ".join(said(capsys, *words, "--student", "bob").split())
    assert "ada 02_padding 0001.json is empty or cut off: no grade until its notebook is" in alone
    text = " ".join(said(capsys, *words).split())
    assert "ada 02_padding 0001.json is empty or cut off: graded again" in text
    assert "4 of 4 grades change" in said(capsys, "course", "export")


def test_points_by_hand_for_nobody_and_files_that_are_none_are_named(root, capsys):
    """The fault: an appeal under an id with a typing error counted nowhere, and nobody heard it."""
    a_class(root)
    words = "lesson,student,question,points,reason\n02_padding,Bob,check-mask,2,appeal\n"
    (root / "by_hand.csv").write_text(words)
    text = " ".join(said(capsys, "course", "grade", "submitted").split())
    assert "Bob 02_padding by_hand.csv gives points, and there is no grade to hold them" in text
    text = said(capsys, "course", "export")
    assert text.endswith("no grade of Bob in 02_padding for points of by_hand.csv\n")
    folder = said(capsys, "course", "export", "--write", "submitted", code=1)
    assert folder == "batchlab: submitted: this is a folder; a file is to be written\n"
    (root / "half.zip").write_bytes(b"PK\3\4")
    cut = said(capsys, "course", "grade", "half.zip", code=1)
    assert cut == "batchlab: half.zip: no zip, or cut off (download it again)\n"


def test_what_an_export_needs_is_asked_for_in_one_line(root, capsys):
    for words, line in (
        (["--to", "canvas"], "--to canvas needs --template, the table that the LMS gave"),
        (["--template", "x.csv"], "--to csv takes no --template, the table that the LMS gave"),
        (["--to", "gradescope"], "--to gradescope needs --lesson"),
        ([], "graded: no grades yet: batchlab course grade PATH"),
        (["--lesson", "99_none"], "no lesson '99_none' in"),
    ):
        assert line in said(capsys, "course", "export", *words, code=1)


def test_settings_that_are_wrong_are_named_with_their_file(root, capsys):
    for text, line in (
        ("seed = 1", "course.toml: no setting 'seed'; there are seed_file, isolation"),
        ("isolation = 'L1'", "isolation is one of L3, L2, L0, not 'L1'"),
        ("lessons = ['99']", "no lesson '99' in"),
        ("lessons = 'all'", "lessons is a list, not 'all' (str)"),
        ("[points]\n'02_padding' = -1", "points of 02_padding are a number above 0, not -1"),
        ("[points]\n'99' = 1", "no lesson '99' in"),
        ("roster = 'none.csv'", "none.csv: no such file"),
        ("=", "course.toml: not TOML"),
    ):
        (root / "course.toml").write_text(text)
        assert line in said(capsys, "course", "grade", "lessons", code=1), text


def test_who_is_not_in_the_roster_is_graded_and_named(root, capsys):
    tiny.hand_in(root, "ada", waste="PASS")
    tiny.hand_in(root, "who", waste="PASS")
    (root / "roster.csv").write_text("student\nada\n")
    with (root / "course.toml").open("a") as file:
        file.write('\nroster = "roster.csv"\n')
    text = said(capsys, "course", "grade", "submitted")
    assert "not in the roster" in text and "2 graded" in text


def test_ctrl_c_says_that_the_same_command_goes_on(root, capsys, monkeypatch):
    def interrupted(*anything, **more):
        raise KeyboardInterrupt

    tiny.hand_in(root, "ada", waste="PASS")
    monkeypatch.setattr(desk, "grade", interrupted)
    line = "batchlab: stopped; the same command goes on where it was\n"
    assert said(capsys, "course", "grade", "submitted", code=130) == line


# doctor and release
def test_the_doctor_grades_every_solution_and_blank_and_says_level_and_seed(root, capsys):
    text = said(capsys, "course", "doctor")
    assert "isolation  L3 stands here, L2 is wanted" in text
    assert "A class can be graded here." in text and tiny.SEED not in text


def test_the_doctor_names_what_would_make_a_class_suffer(root, capsys, monkeypatch):
    teacher = root / "solutions/02_padding/padding.ipynb"
    teacher.write_bytes(tiny.notebook(LESSON, {"waste": "PASS", "mask": "FAIL"}))
    (root / "seed.txt").write_text("short")
    monkeypatch.setenv("TINY_LEVEL", "L0")
    text = said(capsys, "course", "doctor", code=1)
    assert "02_padding: check-mask refuses the solution at L0: FAIL" in text
    assert "at least 12 letters" in text and "isolation L2 is wanted and L0 stands here" in text


FAULTS = {
    "the solution fails": ("solutions", {"waste": "PASS"}, "check-mask refuses the solution"),
    "the blank passes": ("lessons", {"waste": "PASS"}, "check-waste gives the blank 2 points"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_lesson_is_not_released(root, capsys, fault):
    top, answers, line = FAULTS[fault]
    (root / top / "02_padding/padding.ipynb").write_bytes(tiny.notebook(LESSON, answers))
    text = said(capsys, "course", "release", "--seeds", 3, "--write", "out", code=1)
    assert line in text and text.endswith("nothing is released\n")
    assert not (root / "out").exists()


def test_a_lesson_with_one_id_twice_or_never_made_is_not_released(root, capsys):
    path = root / "solutions/02_padding/padding.ipynb"
    path.write_bytes(path.read_bytes().replace(b"check-mask", b"check-waste"))
    assert "the id check-waste stands twice" in said(capsys, "course", "release", code=1)
    path.write_bytes(tiny.right(LESSON))
    (root / "lessons/02_padding/padding.ipynb").unlink()
    assert "not made yet: make lessons" in said(capsys, "course", "release", code=1)


def test_a_check_that_refuses_the_solution_on_one_seed_is_not_released(root, capsys):
    path = root / "solutions/02_padding/padding.ipynb"
    book = json.loads(path.read_bytes())
    for cell in book["cells"]:
        if cell["id"] == "check-mask":
            cell["source"] = (
                "from batchlab.classroom import check\n"
                "import os\n"
                "check.rng('check-mask')\n"
                "assert os.environ['BATCHLAB_GRADING_SEED'] != 'seed 2'"
            )
    path.write_text(json.dumps(book))
    text = said(capsys, "course", "release", "--seeds", 4, code=1)
    assert "02_padding: check-mask: the solution is refused on seed 2" in text


def test_good_lessons_are_released_as_zips(root, capsys, monkeypatch):
    def wheel(root, folder):
        (folder / "batchlab-0.whl").write_bytes(b"wheel")
        return folder / "batchlab-0.whl"

    monkeypatch.setattr(parcels, "wheel", wheel)
    text = said(capsys, "course", "release", "--seeds", 2)
    assert "--write FOLDER makes the zips" in text and not (root / "dist").exists()
    said(capsys, "course", "release", "--seeds", 2, "--lesson", LESSON, "--write", "dist")
    with zipfile.ZipFile(root / "dist/02_padding.zip") as made:
        names = made.namelist()
        content = made.read("02_padding/padding.ipynb")
    assert names == [
        "02_padding/padding.ipynb",
        "02_padding/batchlab-0.whl",
        "02_padding/README.txt",
    ]
    assert content == tiny.notebook(LESSON, {})
    assert not (root / "dist/03_buckets.zip").exists()


# Gradescope
def test_the_autograder_holds_the_lesson_and_the_seed_and_scripts_that_bash_reads(
    root, capsys, monkeypatch, tmp_path
):
    def wheel(root, folder):
        (folder / "batchlab-0.whl").write_bytes(b"wheel")
        return folder / "batchlab-0.whl"

    monkeypatch.setattr(parcels, "wheel", wheel)
    words = ["course", "export", "--to", "gradescope", "--lesson", LESSON]
    assert "nothing is written" in said(capsys, *words)
    said(capsys, *words, "--write", tmp_path / "autograder.zip")
    source = tmp_path / "autograder/source"
    with zipfile.ZipFile(tmp_path / "autograder.zip") as made:
        assert {one.filename: oct(one.external_attr >> 16) for one in made.infolist()} == {
            "setup.sh": "0o755", "run_autograder": "0o755", "batchlab-0.whl": "0o600",
            f"course/solutions/{LESSON}/padding.ipynb": "0o600",
            f"course/lessons/{LESSON}/padding.ipynb": "0o600",
            "course/seed.txt": "0o600", "course/course.toml": "0o600",
        }  # fmt: skip
        made.extractall(source)
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", source / script], check=True)
    submission = tmp_path / "autograder/submission"
    submission.mkdir()
    (submission / "my work.ipynb").write_bytes(tiny.notebook(LESSON, {"waste": "PASS"}))
    out = tmp_path / "autograder/results/results.json"
    where = [str(one) for one in (source / "course", LESSON, submission, out)]
    assert gradescope.main(where) == 0
    found = json.loads(out.read_text())
    assert found["score"] == 2.0
    assert [(one["score"], one["max_score"], one["status"]) for one in found["tests"]] == [
        (2.0, 2.0, "passed"), (0.0, 2.0, "failed"),
    ]  # fmt: skip
    assert found["tests"][1]["output"].startswith("FAIL\nasked   check-mask")


@pytest.mark.parametrize("words", ["RAISE", None])
def test_gradescope_gets_no_result_where_there_is_no_score(root, tmp_path, capsys, words):
    submission = tmp_path / "submission"
    submission.mkdir()
    if words:
        (submission / "x.ipynb").write_bytes(tiny.notebook(LESSON, {"waste": words}))
    out = tmp_path / "results.json"
    assert gradescope.main([str(one) for one in (root, LESSON, submission, out)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("batchlab: no ")
    assert not out.exists()

"""Our grades in nbgrader's gradebook: formgrader opens them, and points by hand survive (T45, T56).

The judge is nbgrader itself: its API reads the scores, its exporter makes the CSV, and formgrader's
own template renders the notebook.
"""

import contextlib
import csv
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from batchlab.grading import _gradebook, desk
from tests import tiny_course as tiny

LESSON = "02_padding"
pytestmark = [
    pytest.mark.slow,  # nbgrader starts a program of its own to make a gradebook
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course whose gradebook was written once; tests that change it say so."""
    root = tiny.build(tmp_path_factory.mktemp("gradebook") / "course")
    tiny.hand_in(root, "ada", content=tiny.right(LESSON))
    tiny.hand_in(root, "bob", waste="PASS", mask="<script>alert(1)</script> 0")
    tiny.hand_in(root, "eve", waste="RAISE")
    tiny.hand_in(root, "..x", waste="PASS")
    grade(root)
    course = desk.opened(root)
    table = desk.gradebook(course, desk.grades(course), root / "gradebook.db")
    return course, table


@pytest.fixture
def root(tmp_path, graded):
    """A course of its own with that gradebook: nbgrader takes seconds to make one."""
    root = tiny.build(tmp_path / "course")
    shutil.copy(graded[0].root / "gradebook.db", root)
    return root


def grade(root, **options):
    course = desk.opened(root)
    some = desk.received(root / "submitted", course)
    desk.grade(course, some, seed=desk.seed(course), engine=tiny.ENGINE, **options)


def opened(course):
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{course.root / 'gradebook.db'}")


def test_nbgrader_reads_the_scores_that_we_wrote(graded):
    course, table = graded
    assert {(one.student, one.before, one.after) for one in table.changes} == {
        ("ada", "", "4"),
        ("bob", "", "2"),
        ("..x", "", "2"),
    }
    with opened(course) as book:
        found = {one.student.id: (one.score, one.max_score, one.needs_manual_grade)
                 for one in book.find_assignment(LESSON).submissions}  # fmt: skip
    assert found.pop("ada") == (4.0, 4.0, False) and found.pop("bob") == (2.0, 4.0, False)
    (strange,) = found
    assert strange == _gradebook.home("..x") and not strange.startswith(".")


def test_exporting_again_changes_nothing(graded):
    course, _ = graded
    assert desk.gradebook(course, desk.grades(course), None).changes == ()


def test_formgrader_renders_the_answers_with_our_verdicts_and_no_output_of_the_student(graded):
    from nbgrader.server_extensions.formgrader import formgrader as extension
    from traitlets.config import Config

    course, _ = graded
    path = course.root / f"autograded/bob/{LESSON}/padding.ipynb"
    templates = Path(extension.__file__).parent / "templates"
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [str(templates)]
    from nbconvert.exporters import HTMLExporter

    resources = dict.fromkeys(
        ("assignment_id", "notebook_id", "submission_id", "base_url", "student", "last_name",
         "first_name", "notebook_path"), "x")  # fmt: skip
    html, _ = HTMLExporter(config=config).from_filename(
        str(path), resources=resources | {"index": 0, "total": 1}
    )
    assert "PASS: 2 of 2" in html and "&lt;script&gt;" in html
    assert "<script>alert(1)" not in html


def test_nbgrader_exports_our_grades_and_points_by_hand_survive_our_regrade(root, tmp_path):
    tiny.hand_in(root, "zoe", waste="PASS")
    grade(root)
    course = desk.opened(root)
    desk.gradebook(course, desk.grades(course), root / "gradebook.db")
    with opened(course) as book:
        one = book.find_grade("check-mask", "padding", LESSON, "zoe")
        one.manual_score, one.extra_credit = 1.5, 0.5
        book.find_comment("mask", "padding", LESSON, "zoe").manual_comment = "see me"
        book.db.commit()
    tiny.hand_in(root, "zoe", content=tiny.right(LESSON)).touch()
    grade(root, again=True)
    table = desk.gradebook(course, desk.grades(course), root / "gradebook.db")
    assert [(one.before, one.after) for one in table.changes] == [("2", "4")]
    with opened(course) as book:
        one = book.find_grade("check-mask", "padding", LESSON, "zoe")
        assert (one.auto_score, one.manual_score, one.score) == (2.0, 1.5, 2.0)
        assert book.find_comment("mask", "padding", LESSON, "zoe").comment == "see me"
        from nbgrader.plugins.export import CsvExportPlugin

        out = CsvExportPlugin(to=str(tmp_path / "grades.csv"))
        out.export(book)
    rows = list(csv.DictReader((tmp_path / "grades.csv").open()))
    assert [float(row["score"]) for row in rows if row["student_id"] == "zoe"] == [4.0]


def test_what_release_feedback_needs_is_copied_from_what_nbgrader_collected(root):
    path = tiny.hand_in(root, "zoe", waste="PASS")
    for name in ("timestamp.txt", "submission_secret.txt"):
        path.with_name(name).write_text(f"2026-05-03 10:00:00 UTC {name}")
    tiny.hand_in(root, "eve", waste="PASS").with_name("timestamp.txt").symlink_to("/etc/passwd")
    grade(root)
    course = desk.opened(root)
    desk.gradebook(course, desk.grades(course), root / "gradebook.db")
    for top in ("feedback", "autograded"):
        for name in ("timestamp.txt", "submission_secret.txt"):
            found = root / top / "zoe" / LESSON / name
            assert found.read_text() == f"2026-05-03 10:00:00 UTC {name}"
        assert not (root / top / "eve" / LESSON / "timestamp.txt").exists(), (
            "a link is not followed"
        )
    page = root / "feedback/zoe" / LESSON / "padding.html"
    assert page.stat().st_mode & 0o777 == 0o644, "the student reads what is handed on"


def test_points_given_by_hand_here_are_manual_points_there(root):
    tiny.hand_in(root, "zoe", waste="PASS")
    grade(root)
    (root / "by_hand.csv").write_text(
        f"lesson,student,question,points,reason\n{LESSON},zoe,check-mask,1,appeal\n"
    )
    course = desk.opened(root)
    desk.gradebook(course, desk.grades(course), root / "gradebook.db")
    with opened(course) as book:
        assert book.find_submission(LESSON, "zoe").score == 3.0


# T45
def test_a_locked_gradebook_is_waited_for_and_one_that_stays_locked_is_one_line(
    graded, monkeypatch
):
    course, _ = graded
    holder = sqlite3.connect(course.root / "gradebook.db", check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(_gradebook, "WAIT_SECONDS", 0.2)
    with pytest.raises(ValueError, match=r"gradebook\.db: database is locked; nothing was written"):
        desk.gradebook(course, desk.grades(course), course.root / "gradebook.db")
    monkeypatch.setattr(_gradebook, "WAIT_SECONDS", 20.0)
    threading.Thread(target=lambda: (time.sleep(0.5), holder.rollback())).start()
    table = desk.gradebook(course, desk.grades(course), course.root / "gradebook.db")
    assert table.changes == ()
    holder.close()


def test_a_gradebook_needs_no_shared_memory_so_a_network_folder_can_hold_it(graded):
    """T45: a database in WAL mode cannot be opened over NFS; ours writes a plain journal."""
    course, _ = graded
    desk.gradebook(course, desk.grades(course), course.root / "gradebook.db")
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        assert book.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not list(course.root.glob("gradebook.db-*"))


def test_a_corrupt_gradebook_is_one_line_and_stays_as_it_is(tmp_path):
    root = tiny.build(tmp_path / "course")
    tiny.hand_in(root, "ada", waste="PASS")
    grade(root)
    course = desk.opened(root)
    path = root / "gradebook.db"
    path.write_bytes(b"no database at all, but some bytes" * 100)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="file is not a database; nothing was written"):
        desk.gradebook(course, desk.grades(course), path)
    assert path.read_bytes() == before

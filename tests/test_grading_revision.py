"""A record hangs on what changes a verdict: an edit elsewhere grades nobody again."""

import hashlib
import json
from pathlib import Path

import pytest

from batchlab.grading import _class as a_class
from batchlab.grading import _lesson, _revision, desk
from tests import tiny_course as tiny
from tests.test_grading_class import LESSON, grade, scores
from tests.torture_lesson import written

GOLDEN = Path(__file__).parent / "golden" / "grading_revision.json"
HOME = _revision.HOME / "grading"
DECIDING = (  # files of the engine that can change a verdict, points or a message
    "_cells", "_checker", "_codec", "_driver", "_engine", "_errors", "_far", "_headers", "_ingest",
    "_jail", "_judge", "_kernel", "_lesson", "_limits", "_notebook", "_packing", "_processes",
    "_public", "_student", "_supervisor", "_unpacking", "_values", "_verdict", "_wire", "_zygote",
)  # fmt: skip
OTHERS = (
    "__init__", "_alone", "_class", "_course", "_crew", "_feedback", "_folder", "_gradebook",
    "_gradescope", "_handback", "_inbox", "_items", "_names", "_points", "_probe", "_record",
    "_rehearsal", "_revision", "_tables", "_twins", "_worker", "desk", "gradescope",
)  # fmt: skip


def test_files_that_decide_verdicts_do_not_change_without_a_word_on_the_revision():
    said = json.loads(GOLDEN.read_text())
    text = b"".join((HOME / f"{name}.py").read_bytes() for name in DECIDING)
    now = {"revision": _revision.REVISION, "files": hashlib.sha256(text).hexdigest()}
    assert said == now, (
        f"the engine changed. If a verdict, points or a message may differ, add 1 to REVISION in "
        f"_revision.py: every class is graded again. Then, or if none can, write {json.dumps(now)} "
        f"into {GOLDEN.name}"
    )


def test_every_file_of_the_engine_is_on_one_of_the_two_lists():
    assert {path.stem for path in HOME.glob("*.py")} == {*DECIDING, *OTHERS}
    assert not {*DECIDING} & {*OTHERS}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A library of its own, whose files a test may change."""
    for name, text in {
        "__init__": "", "padding": "from batchlab import (\n    units,\n)\n", "units": "X = 1\n",
        "doctor": "", "plots/__init__": "from batchlab import doctor\n", "grading/_far": "",
        "classroom/check": "from batchlab.classroom.values import equal\n",
        "classroom/values": "", "classroom/__init__": "", "exercises/__init__": "",
        "exercises/padding/__init__": "", "exercises/padding/tail_waste": "",
        "exercises/padding/bound": "",
    }.items():  # fmt: skip
        path = tmp_path / f"batchlab/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(_revision, "HOME", tmp_path / "batchlab")
    return tmp_path / "batchlab"


CELLS = [
    "from batchlab import padding, plots\nimport numpy as np",
    "    from batchlab.classroom import check",
    'check.judge("padding/tail-waste", tail_waste)',
]


def test_a_lesson_leads_to_its_exercises_the_checks_and_what_they_import_and_to_no_other(house):
    assert set(_revision.reached(CELLS)) == {
        "__init__.py", "padding.py", "units.py", "classroom/__init__.py", "classroom/check.py",
        "classroom/values.py", "exercises/__init__.py", "exercises/padding/__init__.py",
        "exercises/padding/tail_waste.py",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "counts"),
    [("units", True), ("classroom/values", True), ("exercises/padding/tail_waste", True),
     ("exercises/padding/bound", False), ("doctor", False), ("grading/_far", False)],
)  # fmt: skip
def test_the_fingerprint_changes_with_what_a_lesson_leads_to_alone(house, tmp_path, file, counts):
    lesson = _lesson.opened(written(tmp_path / "course"))
    lesson.cells[0]["source"] = "\n".join(CELLS)
    before = _revision.checks(lesson)
    _revision._mark.cache_clear()
    (house / f"{file}.py").write_text("X = 2\n")
    assert (_revision.checks(lesson) != before) is counts
    _revision._mark.cache_clear()
    _revision._imports_of.cache_clear()


def test_the_fingerprint_changes_with_the_revision(tmp_path, monkeypatch):
    lesson = _lesson.opened(written(tmp_path))
    before = _revision.checks(lesson)
    monkeypatch.setattr(_revision, "REVISION", _revision.REVISION + 1)
    assert _revision.checks(lesson) != before


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(a_class, "Crew", Crew)
    Crew.started = 0
    return tiny.build(tmp_path / "course")


class Crew(tiny.Crew):
    """The crew in this process, which counts how often it was started."""

    started = 0

    def start(self):
        Crew.started += 1
        super().start()


def test_a_run_with_nothing_to_grade_starts_no_engine(root, monkeypatch):
    tiny.hand_in(root, "ada", waste="PASS")
    tiny.hand_in(root, "none", content=b"")
    assert grade(root).graded == 2 and Crew.started == 1
    run = grade(root)
    assert (run.graded, run.kept, Crew.started) == (0, 2, 1)
    assert run.levels == {LESSON: "L3"}
    assert run.touched == {(LESSON, "ada"), (LESSON, "none")}
    tiny.hand_in(root, "bob", waste="PASS")
    assert grade(root).graded == 1 and Crew.started == 2
    assert grade(root, again=True).graded == 3 and Crew.started == 3
    monkeypatch.setenv("TINY_CHECKS", "other")
    assert grade(root).graded == 3 and Crew.started == 4


def test_a_grade_at_a_level_that_is_not_accepted_or_of_our_own_fault_starts_it(root, monkeypatch):
    tiny.hand_in(root, "ada", waste="PASS")
    monkeypatch.setenv("TINY_LEVEL", "L2")
    grade(root)
    monkeypatch.setenv("TINY_LEVEL", "L3")
    assert grade(root).graded == 0 and Crew.started == 1
    assert grade(root, isolation="L3").graded == 1 and Crew.started == 2
    tiny.hand_in(root, "bob", waste="RAISE")
    grade(root)
    assert scores(root)["bob", LESSON][0] is None
    started = Crew.started
    assert grade(root).graded == 1 and Crew.started > started


def test_the_desk_foresees_what_the_engine_will_say(tmp_path):
    from batchlab.grading import Engine
    from batchlab.grading._crew import Crew as RealCrew

    course = desk.opened(written(tmp_path).parents[2])
    (lesson,) = course.lessons
    foreseen = RealCrew(lesson, seed=None).foreseen()
    assert foreseen is not None
    assert foreseen["checks"] == Engine(lesson.teacher, seed=None).checks
    assert RealCrew(lesson, seed=None, engine="another:Engine").foreseen() is None

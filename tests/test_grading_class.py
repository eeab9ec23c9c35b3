"""A class is graded once, whole, and by its records alone (T43, T44, T46, T48, T55).

The engine is that of `tiny_course`: what is judged here is the desk around it.
"""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from batchlab.grading import _class as a_class
from batchlab.grading import _record as record
from batchlab.grading import desk
from batchlab.grading._record import Record
from batchlab.grading._verdict import Judged
from tests import tiny_course as tiny

LESSON = "02_padding"


@pytest.fixture
def root(tmp_path):
    return tiny.build(tmp_path / "course")


@pytest.fixture
def here(monkeypatch):
    """Without processes: what is judged then is what lies on the disk."""
    monkeypatch.setattr(a_class, "Crew", tiny.Crew)


def grade(root, **options):
    course = desk.opened(root)
    seed = None if options.get("seed") is None and "seed" in options else desk.seed(course)
    return desk.grade(
        course,
        desk.received(root / "submitted", course),
        **{"seed": seed, "engine": tiny.ENGINE} | options,
    )


def scores(root):
    """What counts, without times: student, lesson, score, verdicts."""
    return {
        (one.record.student, one.record.lesson): (
            one.score,
            [question.verdict for question in one.record.questions],
        )
        for one in desk.grades(desk.opened(root))
    }


def a_class_of_ten(root):
    tiny.hand_in(root, "perfect", content=tiny.right(LESSON))
    tiny.hand_in(root, "half", waste="PASS")
    tiny.hand_in(root, "blank")
    tiny.hand_in(root, "part", waste="1.5", mask="PASS")
    tiny.hand_in(root, "loop", waste="TIMEOUT", mask="PASS")
    tiny.hand_in(root, "memory", waste="PASS", mask="OOM")
    tiny.hand_in(root, "tampers", waste="REVIEW", mask="PASS")
    tiny.hand_in(root, "no-json", content=b"{")
    tiny.hand_in(root, "kills", waste="DIE", mask="PASS")
    tiny.hand_in(root, "=1+1", content=tiny.right(LESSON))


WANT = {
    "perfect": (4.0, ["PASS", "PASS"]),
    "half": (2.0, ["PASS", "FAIL"]),
    "blank": (0.0, ["FAIL", "FAIL"]),
    "part": (3.5, ["PARTIAL", "PASS"]),
    "loop": (2.0, ["TIMEOUT", "PASS"]),
    "memory": (2.0, ["PASS", "OOM"]),
    "tampers": (2.0, ["REVIEW", "PASS"]),
    "no-json": (0.0, ["REJECTED", "REJECTED"]),
    "kills": (None, ["INFRA", "INFRA"]),
    "=1+1": (4.0, ["PASS", "PASS"]),
}


def test_a_class_of_ten_gets_its_grades_and_three_need_a_look(root):
    a_class_of_ten(root)
    run = grade(root, workers=3)
    assert run.graded == 10 and scores(root) == {(who, LESSON): g for who, g in WANT.items()}
    looks = {g.record.student: g.record.needs_a_look for g in desk.grades(desk.opened(root))}
    assert {who for who, why in looks.items() if why} == {"tampers", "no-json", "kills"}
    assert looks["kills"] == ("INFRA: its worker was ended from outside",)


def test_the_second_run_grades_nothing_but_our_own_faults_and_changes_no_file(root, here):
    tiny.hand_in(root, "ada", waste="PASS")
    tiny.hand_in(root, "none", content=b"{")
    (root / "submitted/pipe" / LESSON).mkdir(parents=True)
    os.mkfifo(root / f"submitted/pipe/{LESSON}/padding.ipynb")
    assert grade(root).graded == 3
    before = {path: path.read_bytes() for path in (root / "graded").rglob("*.json")}
    run = grade(root)
    assert (run.graded, run.kept) == (0, 3)
    assert before == {path: path.read_bytes() for path in (root / "graded").rglob("*.json")}
    assert grade(root, again=True).graded == 3, "unless it is asked for"


@pytest.mark.parametrize("changed", ["seed", "checks", "level", "submission"])
def test_whatever_a_grade_follows_from_makes_a_new_record_and_keeps_the_old(
    root, here, monkeypatch, changed
):
    tiny.hand_in(root, "ada", waste="PASS")
    grade(root)
    if changed == "seed":
        (root / "seed.txt").write_text("another seed of this term")
    elif changed == "checks":
        monkeypatch.setenv("TINY_CHECKS", "checks-2")
    elif changed == "level":
        monkeypatch.setenv("TINY_LEVEL", "L2")
        tiny.hand_in(root, "bob")  # else nothing is started, and no level is known
    else:
        os.utime(tiny.hand_in(root, "ada", content=tiny.right(LESSON)), (4e9, 4e9))
    run = grade(root)
    assert run.graded == (2 if changed == "level" else 1)
    assert len(list((root / f"graded/{LESSON}/ada").glob("*.json"))) == 2
    assert scores(root)["ada", LESSON][0] == (4.0 if changed == "submission" else 2.0)


def test_an_older_submission_that_arrives_later_is_kept_and_does_not_count(root, here):
    os.utime(tiny.hand_in(root, "ada", content=tiny.right(LESSON)), (2e9, 2e9))
    grade(root)
    os.utime(tiny.hand_in(root, "ada", waste="PASS"), (1e9, 1e9))
    assert grade(root).graded == 1 and scores(root)["ada", LESSON][0] == 4.0


def test_an_empty_folder_is_no_zero_and_a_broken_file_is_one(root, here):
    (root / "submitted/empty").mkdir(parents=True)
    tiny.hand_in(root, "broken", content=b"")
    course = desk.opened(root)
    some = desk.received(root / "submitted", course, LESSON)
    desk.grade(course, some, seed=desk.seed(course), engine=tiny.ENGINE)
    assert scores(root)["empty", LESSON] == (None, ["MISSING", "MISSING"])
    assert scores(root)["broken", LESSON] == (0.0, ["REJECTED", "REJECTED"])


def test_a_level_below_the_wanted_one_is_refused_and_nothing_is_graded(root, here, monkeypatch):
    tiny.hand_in(root, "ada", waste="PASS")
    monkeypatch.setenv("TINY_LEVEL", "L0")
    with pytest.raises(ValueError, match="isolation L0 stands here, and this class wants L2"):
        grade(root)
    assert scores(root) == {}
    assert grade(root, isolation="L0").graded == 1


def test_the_public_seed_is_refused_unless_it_is_asked_for_and_a_short_one_always(tmp_path):
    course = desk.opened(tiny.build(tmp_path / "course", seed=False))
    with pytest.raises(ValueError, match="a seed of its own"):
        desk.seed(course)
    assert desk.seed(course, public=True) is None and desk.fingerprint(None) == "public"
    (tmp_path / "seed.txt").write_text("short\n")
    with pytest.raises(ValueError, match="at least 12 letters, this one has 5"):
        desk.seed(replace(course, seed_file=tmp_path / "seed.txt"))


def test_the_seed_stands_in_no_record_no_argument_and_no_environment(root):
    tiny.hand_in(root, "slow", waste="SLEEP1", mask="PASS")
    code = (
        "import sys; from pathlib import Path; from tests import test_grading_class as t; "
        "t.grade(Path(sys.argv[1]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(root)])
    seen = b""
    while process.poll() is None:
        for child in children(process.pid):
            for name in ("cmdline", "environ"):
                try:
                    seen += Path(f"/proc/{child}/{name}").read_bytes()
                except OSError:
                    continue
        time.sleep(0.02)
    assert process.returncode == 0 and b"batchlab.grading._worker" in seen
    assert tiny.SEED.encode() not in seen
    texts = [path.read_bytes() for path in (root / "graded").rglob("*") if path.is_file()]
    assert texts and not any(tiny.SEED.encode() in text for text in texts)


def children(pid):
    """Processes below one, by /proc."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    found = [int(one) for one in text.split()]
    return found + [below for one in found for below in children(one)]


# T43: a kill at any moment
RUN = """
import sys
from pathlib import Path
from tests import test_grading_class as t
t.grade(Path(sys.argv[1]), workers=2)
"""


def a_slow_class(root):
    for number in range(6):
        tiny.hand_in(root, f"s{number}", waste="SLEEP0.05", mask=str(number / 4))


def run_and_kill(root, after, whom):
    """Start a run, kill it or one of its workers after some seconds; what is left of it."""
    process = subprocess.Popen([sys.executable, "-c", RUN, str(root)], start_new_session=True)
    time.sleep(after)
    below = children(process.pid)
    victims = below[:1] if whom == "worker" and below else [process.pid]
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    process.wait(30)
    until = time.monotonic() + 10
    while time.monotonic() < until and any(Path(f"/proc/{one}").exists() for one in below):
        time.sleep(0.02)
    return [one for one in below if Path(f"/proc/{one}").exists()]


@pytest.mark.slow
def test_after_kill_9_at_ten_moments_the_rerun_equals_the_undisturbed_run(root, tmp_path):
    other = tiny.build(tmp_path / "other")
    a_slow_class(root)
    a_slow_class(other)
    grade(other, workers=2)
    chance = random.Random(0)
    for moment in range(10):
        whom = "worker" if moment % 2 else "grader"
        left = run_and_kill(root, 0.2 + 0.08 * moment + 0.05 * chance.random(), whom)
        assert left == [], "no process is left"
    grade(root, workers=2)
    assert scores(root) == scores(other) and len(scores(root)) == 6
    for path in (root / f"graded/{LESSON}").iterdir():
        assert len(list(path.iterdir())) == 1, "one record, and no half one"


def test_what_a_kill_left_half_written_is_removed(root, here):
    tiny.hand_in(root, "ada", waste="PASS")
    grade(root)
    part = root / f"graded/{LESSON}/ada/{record.TEMPORARY}x"
    part.write_text('{"schema"')
    grade(root)
    assert not part.exists()


@pytest.mark.parametrize("content", ["", '{"schema": 1, "lesson"', "\0" * 99], ids=len)
def test_a_record_that_a_disk_cut_off_stops_no_class_and_is_graded_again(root, here, content):
    """The fault: one empty record stopped every grade and every export of the class."""
    for who in ("ada", "bob"):
        tiny.hand_in(root, who, waste="FAIL")
    grade(root)
    grade(root, again=True)
    torn = root / f"graded/{LESSON}/ada/0002.json"
    torn.write_text(content)
    assert list(scores(root)) == [("bob", LESSON)], "the mistake: an older grade counts again"
    assert desk.lost(desk.opened(root)) == [torn]
    assert grade(root).graded == 1
    assert list(scores(root)) == [("ada", LESSON), ("bob", LESSON)]
    assert desk.lost(desk.opened(root)) == [] and torn.read_text() == content
    copy = torn.parent.with_name("ada (copy)")
    copy.mkdir()
    (copy / "0001.json").write_bytes((torn.parent / "0003.json").read_bytes())
    with pytest.raises(
        ValueError, match=r"ada \(copy\): holds records of ada .* whose place is ada"
    ):
        scores(root)
    (copy / "0001.json").unlink()
    (torn.parent / "0002 (copy).json").write_text("{}")
    with pytest.raises(ValueError, match=r"copy\)\.json: no record of a grade .* move it away"):
        grade(root)


# T44: the disk
@pytest.mark.parametrize("call", ["fsync", "open"])
def test_a_full_disk_at_any_write_leaves_no_grade_and_the_rerun_completes(
    root, here, monkeypatch, call
):
    tiny.hand_in(root, "ada", waste="PASS")
    with monkeypatch.context() as patched:
        if call == "fsync":
            patched.setattr(record.os, "fsync", full)
        else:
            patched.setattr(record.tempfile, "mkstemp", full)
        with pytest.raises(OSError, match="No space left"):
            grade(root)
    assert scores(root) == {} and not list((root / "graded").rglob(f"{record.TEMPORARY}*"))
    assert grade(root).graded == 1 and scores(root)["ada", LESSON][0] == 2.0


def full(*anything, **more):
    raise OSError(errno.ENOSPC, "No space left on device")


# T46: two at once
def test_a_second_run_in_one_folder_is_refused_in_one_line(root, here):
    tiny.hand_in(root, "ada", waste="PASS")
    with record.locked(root / "graded"), pytest.raises(ValueError, match="another run grades into"):
        grade(root)
    assert grade(root).graded == 1


@pytest.mark.slow
def test_a_file_system_without_locks_is_refused_in_one_line(root, monkeypatch):
    """T45: NFS without its lock service says ENOLCK; two runs there could write one number."""

    def unlocked(file, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    tiny.hand_in(root, "ada", waste="PASS")
    monkeypatch.setattr("fcntl.flock", unlocked)
    with pytest.raises(ValueError, match=r"graded: no lock can be had there \(No locks available"):
        grade(root)
    assert not list((root / "graded").rglob("*.json"))


@pytest.mark.slow
def test_eight_workers_lose_and_double_nothing(root):
    for number in range(24):
        tiny.hand_in(root, f"s{number:02d}", waste="PASS", mask=str(number / 16))
    run = grade(root, workers=8)
    assert run.graded == 24
    assert {who: one[0] for (who, _), one in scores(root).items()} == {
        f"s{n:02d}": 2 + n / 16 for n in range(24)
    }
    assert len(list((root / f"graded/{LESSON}").rglob("*.json"))) == 24


# the engine's own faults
def test_an_engine_that_breaks_is_infra_for_that_submission_alone(root):
    tiny.hand_in(root, "breaks", waste="RAISE")
    tiny.hand_in(root, "ada", waste="PASS")
    grade(root)
    assert scores(root)["breaks", LESSON] == (None, ["INFRA", "INFRA"])
    assert scores(root)["ada", LESSON] == (2.0, ["PASS", "FAIL"])


def test_an_engine_that_does_not_start_is_one_line(root):
    tiny.hand_in(root, "ada", waste="PASS")
    with pytest.raises(ValueError, match=r"02_padding: the engine does not start: .*NoEngine"):
        grade(root, engine="tests.tiny_course:NoEngine")


def test_grades_that_are_none_are_not_believed():
    one = asdict(Judged("check-waste", "PASS", 2.0, 2.0, "", 0.1))
    assert a_class._judged([one]) == [Judged("check-waste", "PASS", 2.0, 2.0, "", 0.1)]
    for wrong in ({"points": 3.0}, {"points": float("nan")}, {"verdict": "FINE"}, {"x": 1}):
        assert a_class._judged([one | wrong]) == []


def test_a_sign_of_tampering_is_named_and_not_the_question_alone():
    seen = Judged("check-waste", "REVIEW", 2.0, 2.0, "", 0.1, ("DUPLICATED",))
    good = Judged("check-mask", "PASS", 2.0, 2.0, "", 0.1)
    one = Record(LESSON, "ada", "", "", "", "s", "k", "c", "L3", "seed", {}, "", (good, seen))
    (why,) = one.needs_a_look
    assert why.startswith("REVIEW: check-waste more than one cell with this id")


# T48, T55: what people gave, and what older versions wrote
def test_points_by_hand_count_survive_a_regrade_and_say_why(root, here):
    tiny.hand_in(root, "ada", waste="PASS")
    grade(root)
    by_hand = root / "by_hand.csv"
    by_hand.write_text(f"lesson,student,question,points,reason\n{LESSON},ada,check-mask,1,appeal\n")
    assert scores(root)["ada", LESSON][0] == 3.0
    grade(root, again=True)
    assert scores(root)["ada", LESSON][0] == 3.0
    (one,) = desk.grades(desk.opened(root))
    assert one.given == {"check-mask": (1.0, "appeal")}
    for line, said in (
        (f"{LESSON},ada,check-mask,3,x", "line 2: points of check-mask lie between 0 and 2"),
        (f"{LESSON},ada,mask,1,x", "no question 'mask' in 02_padding; there are check-waste"),
        (f"{LESSON},ada,check-mask,1", "line 2: 4 columns"),
        (2 * f"{LESSON},ada,check-mask,1,x\n", "line 3: check-mask of ada has points above"),
    ):
        by_hand.write_text(f"lesson,student,question,points,reason\n{line}\n")
        with pytest.raises(ValueError, match=said):
            desk.grades(desk.opened(root))


def test_a_record_of_the_first_schema_reads_as_it_was_written(root, here):
    tiny.hand_in(root, "ada", waste="PASS", mask="1.5")
    grade(root)
    path = root / f"graded/{LESSON}/ada/0001.json"
    data = json.loads(path.read_text())
    assert data["schema"] == 1 and set(data) == {
        "schema", "lesson", "student", "name", "file", "received", "submission", "key", "checks",
        "level", "seed", "environment", "graded", "questions", "look",
    }  # fmt: skip
    assert record.read(path).score == 3.5
    path.write_text(json.dumps(data | {"schema": 99}))
    with pytest.raises(ValueError, match="a schema that this version does not know"):
        record.read(path)

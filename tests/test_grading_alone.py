"""The same verdicts and messages where no process can be copied, and from the command line."""

import json
import sys
import time

import pytest

from batchlab.cli import main
from batchlab.grading import Alone, Engine
from tests.torture_lesson import right_but, sent, written

CASES = {
    "right": sent(),
    "blank": sent({}),
    "wrong": right_but(total="def total(lengths):\n    return len(lengths)"),
    "hidden": right_but(total="def total(lengths):\n    return 8"),
    "raises": right_but(total="def total(lengths):\n    return lengths[9]"),
    "changes": right_but(ordered="def ordered(items):\n    items.sort()\n    return items"),
    "leaves": right_but(scaled="def scaled(values, factor):\n    import os\n    os._exit(0)"),
    "half": right_but(parts="def parts(count, size):\n    return 1"),
    "test": right_but(total_test="def total_test(total):\n    pass"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the other side of the comparison forks")
@pytest.mark.slow
def test_both_engines_say_the_same(tmp_path):
    teacher = written(tmp_path)
    alone = Alone(teacher, seconds=10)
    with Engine(teacher, seed=None) as engine:
        for name, what in CASES.items():
            raw = json.dumps(what).encode()
            for one, other in zip(alone.grade(raw), engine.grade(raw), strict=True):
                said = (one.verdict, one.points, one.message, one.detail)
                assert said == (other.verdict, other.points, other.message, other.detail), name


@pytest.mark.slow
def test_a_loop_ends_where_nothing_is_copied(tmp_path):
    teacher, begun = written(tmp_path), time.monotonic()
    Alone(teacher).grade(json.dumps(right_but()).encode())
    room = 1 + 3 * (time.monotonic() - begun)  # a busy machine takes long to start a process anew
    loop = right_but(ordered="def ordered(items):\n    while True: pass")
    judged = Alone(teacher, seconds=room).grade(json.dumps(loop).encode())
    assert [one.verdict for one in judged] == ["PASS", "PASS", "TIMEOUT", "PASS", "PASS"]


def test_the_verb_shows_points_and_messages(tmp_path, capsys):
    written(tmp_path / "course")
    mine, far = tmp_path / "course/mine.ipynb", tmp_path / "far.ipynb"
    mine.write_text(json.dumps(right_but(total="def total(lengths):\n    return len(lengths)")))
    far.write_text(mine.read_text())
    assert main(["check", str(mine)]) == 0
    shown = capsys.readouterr().out
    assert "these are documents" in shown and "8 of 10 points" in shown
    assert main(["check", str(mine), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["points"] == 8
    assert main(["check", str(far)]) == 0
    assert "only the checks that you can read" in capsys.readouterr().out
    far.write_text("hello")
    assert main(["check", str(far)]) == 1
    assert "no notebook" in capsys.readouterr().err

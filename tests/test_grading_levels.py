"""The same answers get the same verdict at each level of isolation that stands here.

A sandbox can change numbers in the last digits, so a sample of real answers, with tensors and
without, is judged at L3, L2 and L0; a level that does not stand is skipped, and says so.
"""

import itertools
import json
import sys

import pytest

from batchlab.authoring import trial
from batchlab.grading import Engine, total
from tests.tiny_lesson import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
LEVELS = ("L3", "L2", "L0")


def sample(lesson, teacher):
    """The solution, the blank, and one wrong answer of the bank to each question."""
    found = {
        "solution": teacher.read_bytes(),
        "blank": (ROOT / "lessons" / lesson / teacher.name).read_bytes(),
    }
    one = trial.opened(ROOT, lesson)
    for answer in one.answers:
        wrong = (tried for tried in one.planned(answer) if tried[0].kind == "wrong")
        for kind, code in itertools.islice(wrong, 1):
            book = json.loads(teacher.read_text())
            for cell in book["cells"]:
                if cell.get("id") == answer:
                    cell["source"] = code
            found[f"{answer}: {kind.thought}"] = json.dumps(book).encode()
    return found


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param("02_padding", marks=pytest.mark.slow),
        pytest.param("05_accumulation", marks=pytest.mark.deep),
    ],
)
def test_a_sample_is_judged_alike_at_every_level_that_stands(lesson):
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    asked, said, lacking = sample(lesson, teacher), {}, []
    for level in LEVELS:
        try:
            with Engine(teacher, seed="of all levels", level=level) as engine:
                assert engine.level == level
                judged = {name: engine.grade(book) for name, book in asked.items()}
        except ValueError as reason:
            lacking.append(str(reason))
            continue
        assert total(judged["solution"]) == 10 and total(judged["blank"]) == 0
        for name, found in judged.items():
            if name not in ("solution", "blank"):
                assert total(found) < 10, name
        said[level] = {
            name: [(one.question, one.verdict, one.points, one.detail) for one in found]
            for name, found in judged.items()
        }
    assert "L0" in said, lacking
    for level in said:
        assert said[level] == said["L0"], level
    if lacking:
        pytest.skip("; ".join(lacking))

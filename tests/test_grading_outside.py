"""An answer gets the verdict outside its process that it gets inside, by the same thought."""

import sys

import pytest

from batchlab.authoring import laws
from batchlab.grading import Engine, total
from tests.tiny_lesson import ROOT

LESSONS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.md"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(32, marks=pytest.mark.slow, id="every thirty-second answer"),
        pytest.param(1, marks=pytest.mark.deep, id="all answers"),
    ],
)
@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answer_is_judged_outside_its_process_by_the_same_thought(lesson, every):
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    topic, differ = teacher.stem, []
    with Engine(teacher, seed=None) as engine:
        assert total(engine.grade(teacher.read_bytes())) == 10
        for kind, name, thought, text, words in [*laws.answers(topic)][::every]:
            book = laws.with_answer(teacher.read_bytes(), name, laws.alone(f"{topic}/{name}", text))
            (judged,) = engine.grade(book, only=(f"check-{name}",))
            refused = judged.verdict != "PASS"
            if refused is (kind == "right") or (refused and words not in judged.detail):
                differ.append((name, thought, judged.verdict, judged.detail))
    assert differ == []

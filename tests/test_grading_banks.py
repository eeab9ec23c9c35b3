"""Every answer of a bank gets the same verdict and message outside its process as inside."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchlab import exercises
from batchlab.authoring import laws, trial
from batchlab.grading import Engine, total
from tests.tiny_lesson import ROOT, module

LESSONS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.md"))
PLACES = re.compile(r"0x[0-9a-f]+")
EXAMPLE_OF_ITS_OWN = {  # public cells that call the answer do not run: what it remembers is shorter
    ("04_packing", "first-fit", "shares state: rows kept between calls"),
    ("04_packing", "first-fit", "rows are kept between calls (mutable default)"),
    ("04_packing", "lay-out", "the borders are kept between calls (mutable default)"),
    ("16_adaptive", "ramp-steps", "remembered by its stages"),
}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")


def judged_inside(lesson: str, report: Path) -> list[dict]:
    """What each answer met in process, as `make slow-lessons` kept it, or tried anew."""
    kept = str(ROOT / "_build/outcomes")
    module("matrix", lesson, "--root", str(ROOT), "--json", str(report), "--reuse", kept)
    found: list[dict] = json.loads(report.read_text())[lesson]
    return found


def standing_alone(topic: str, name: str, text: str) -> str:
    """An answer cell that brings what its exercise's file has beside it."""
    file = name.replace("-", "_")
    known = vars(importlib.import_module(f"batchlab.exercises.{topic}.{file}"))
    own = exercises.found(f"{topic}/{name}").name
    beside = sorted((laws.unknown(text) & set(known)) - {own, "np"})
    lines = [f"from batchlab.exercises.{topic}.{file} import {one}" for one in beside]
    return "\n".join([*lines, text])


def of_exercises(lesson: str, every: int) -> Iterator[tuple[str, str, str, str, str]]:
    topic = lesson.partition("_")[2]
    known = [*laws.answers(topic)] if topic in exercises.folders() else []
    for kind, name, thought, text, words in known[::every]:
        yield kind, name, thought, standing_alone(topic, name, text), words


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(16, marks=pytest.mark.slow, id="every sixteenth answer"),
        pytest.param(1, marks=pytest.mark.deep, id="all answers"),
    ],
)
@pytest.mark.parametrize("lesson", [one for one in LESSONS if one[3:] in exercises.folders()])
def test_an_answer_is_judged_outside_its_process_by_the_same_thought(lesson, every):
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    differ = []
    with Engine(teacher, seed=None) as engine:
        assert total(engine.grade(teacher.read_bytes())) == 10
        for kind, name, thought, text, words in of_exercises(lesson, every):
            notebook = json.loads(teacher.read_text())
            for cell in notebook["cells"]:
                if cell.get("id") == name:
                    cell["source"] = text
            (judged,) = engine.grade(json.dumps(notebook).encode(), only=(f"check-{name}",))
            refused = judged.verdict != "PASS"
            if refused is (kind == "right") or (refused and words not in judged.detail):
                differ.append((name, thought, judged.verdict, judged.detail))
    assert differ == []


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(16, marks=pytest.mark.slow, id="every sixteenth answer"),
        pytest.param(1, marks=pytest.mark.deep, id="all answers"),
    ],
)
@pytest.mark.parametrize("lesson", [one for one in LESSONS if one[3:] not in exercises.folders()])
def test_the_bank_is_judged_outside_as_inside(lesson, every, tmp_path):
    inside = {
        (one["kind"], one["answer"], one["thought"]): one
        for one in judged_inside(lesson, tmp_path / "outcomes.json")
    }
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    one = trial.opened(ROOT, lesson)
    differ = []
    with Engine(teacher, seed=None) as engine:
        assert total(engine.grade(teacher.read_bytes())) == 10
        for answer in one.answers:
            asked = tuple(cell.name for cell in one.after(answer) if cell.points)
            for tried, code in list(one.planned(answer))[::every]:
                notebook = json.loads(teacher.read_text())
                for cell in notebook["cells"]:
                    if cell.get("id") == answer:
                        cell["source"] = code
                judged = engine.grade(json.dumps(notebook).encode(), only=asked)
                bad = next((found for found in judged if found.verdict != "PASS"), None)
                want = inside[tried.kind, answer, tried.thought]
                own = (lesson, answer, tried.thought) in EXAMPLE_OF_ITS_OWN
                got = (bad.question, bad.detail) if bad else ("", "")
                known = (want["caught_by"], want["message"] if want["caught_by"] else "")
                if own:
                    got, known = got[:1], known[:1]
                if [PLACES.sub("", part) for part in got] != [PLACES.sub("", p) for p in known]:
                    differ.append((tried.thought, known, got))
    assert differ == []

"""A course of two tiny lessons, and an engine that runs nothing: for what surrounds the engine.

The engine reads the last word of an answer cell: PASS gives the points, a number a part of them,
any other verdict itself; SLEEP waits, DIE ends the worker, and RAISE is a fault of the engine.
"""

import json
import os
import signal
import time
from pathlib import Path

from batchlab.grading import _worker
from batchlab.grading._crew import Told, Worker
from batchlab.grading._verdict import VERDICTS, Judged

ENGINE = "tests.tiny_course:Engine"
SEED = "a seed that only this test knows"
LESSONS = {"02_padding": ("waste", "mask"), "03_buckets": ("order",)}


def cell(source, grade_id="", kind="code", **own):
    grading = {"grade_id": grade_id, "schema_version": 3, "locked": False, "task": False, **own}
    found = {"cell_type": kind, "source": source, "metadata": {}, "id": grade_id or "plain"}
    if grade_id:
        found["metadata"]["nbgrader"] = grading
    return found | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def notebook(lesson, answers):
    """A notebook with these last words in its answers; the stub's where there is none."""
    cells = [cell(f'from batchlab import classroom\nclassroom.start("{lesson}")')]
    for name in LESSONS[lesson]:
        said = answers.get(name, "FAIL")
        cells.append(cell(f"def {name}():\n    ...\n# {said}", name, solution=True, grade=False))
        cells.append(cell("assert True", f"check-{name}", solution=False, grade=True, points=2))
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def right(lesson):
    return notebook(lesson, dict.fromkeys(LESSONS[lesson], "PASS"))


def build(root, seed=True, **settings):
    """A course folder; settings become lines of course.toml."""
    for lesson in LESSONS:
        topic = lesson.partition("_")[2]
        for top, content in (("solutions", right(lesson)), ("lessons", notebook(lesson, {}))):
            path = root / top / lesson / f"{topic}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
        (root / f"solutions/{lesson}/{topic}.md").write_text(f"# 2. {topic.title()}\n")
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    if seed:
        (root / "seed.txt").write_text(SEED)
        lines.append('seed_file = "seed.txt"')
    (root / "course.toml").write_text("\n".join(lines))
    return root


def hand_in(root, student, lesson="02_padding", content=None, name="", **answers):
    """Lay a submission where nbgrader collects it."""
    path = root / "submitted" / student / lesson / (name or f"{lesson.partition('_')[2]}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook(lesson, answers) if content is None else content)
    return path


class Crew:
    """One worker in this very process: for tests of what is around the processes."""

    def __init__(self, lesson, *, seed, **options):
        self.engine, self.workers, self.told = Engine(lesson.teacher, seed=seed), [], []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.workers.clear()

    def foreseen(self):
        """What its greeting will say but the level, as that of the real one."""
        return {"checks": Engine.here("CHECKS", "c"), "environment": {"python": "3"}}

    def start(self):
        crew = self

        class Here(Worker):
            def send(self, notebook, task):
                self.task = task
                crew.told.append(Told(self, _worker._graded(crew.engine, notebook)))

        self.workers.append(Here(process=None))
        level, checks = Engine.here("LEVEL", "L3"), Engine.here("CHECKS", "c")
        said = {"level": level, "checks": checks, "lacking": ["L3: no"]}
        self.told.append(Told(self.workers[-1], said | {"environment": {"python": "3"}}))

    def heard(self, seconds):
        told = self.told.pop(0)
        return Told(told.worker, json.loads(json.dumps(told.message)))

    def remove(self, worker):
        self.workers.remove(worker)


class Engine:
    """What the desk sees of an engine."""

    @staticmethod
    def here(name, otherwise):
        return os.environ.get(f"TINY_{name}", otherwise)

    def __init__(self, lesson: Path, *, seed, level="best", released=None, **limits):
        assert seed is None or os.environ.get("BATCHLAB_GRADING_SEED") is None
        self.level, self.checks = self.here("LEVEL", "L3"), self.here("CHECKS", "checks-1")
        cells = json.loads(Path(lesson).read_bytes())["cells"]
        graded = [c["metadata"].get("nbgrader", {}) for c in cells]
        self.asked = [(one["grade_id"], one["points"]) for one in graded if one.get("grade")]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def grade(self, notebook: bytes):
        try:
            cells = json.loads(notebook)["cells"]
            graded = [(c["metadata"].get("nbgrader", {}), c["source"]) for c in cells]
            said = {own["grade_id"]: s.split()[-1] for own, s in graded if own.get("solution")}
        except (ValueError, KeyError, TypeError, RecursionError):
            return tuple(Judged(n, "REJECTED", 0.0, of, "no notebook", 0.0) for n, of in self.asked)
        return tuple(self._one(name, of, said) for name, of in self.asked)

    def _one(self, name, of, said):
        word = said.get(name.removeprefix("check-"), "MISSING")
        if word.startswith("SLEEP"):
            time.sleep(float(word.removeprefix("SLEEP")))
            word = "PASS"
        if word == "DIE":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "RAISE":
            raise RuntimeError("the engine is broken")
        if word not in VERDICTS:
            return Judged(name, "PARTIAL", float(word), of, "asked   part of it", 0.1)
        points = of if word == "PASS" else 0.0
        message = "" if word == "PASS" else f"asked   {name}\ngot     <b>{word}</b>"
        return Judged(name, word, points, of, message, 0.1)

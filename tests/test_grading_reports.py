"""What runs beside an answer, in the student's process, reports values and no verdict.

Each is listed here. A report that was seen before, or that says nothing, gives no point: fresh
cases have reports of their own, and the checker gets them from the reference.
"""

import numpy as np
import pytest

from batchlab import exercises
from batchlab.classroom.verdict import CheckFailed

BESIDE = {
    "accumulation/share", "accumulation/take-step",
    "adaptive/control", "batch/noise-meter", "buckets/windowed",
    "buckets/sampler", "checkpointing/checkpoint-segments",
    "feeding/shuffled", "feeding/packer", "many/rank-mean",
    "many/exact-step", "memory/chunked-loss",
    "memory/most-rows", "noise/step-meter",
    "rates/token-schedule",
    "throughput/benchmark",
}  # fmt: skip
EVERY = [name for topic in exercises.folders() for name in exercises.ordered(topic)]


class Forged:
    """An answer whose process reports what it likes."""

    lives_afar, repeats = True, False

    def __init__(self, report):
        self.report = report

    def __call__(self, *arguments, **options):
        return self.report

    def beside(self, scene):
        return self

    def now(self, result):
        return result

    def __deepcopy__(self, memo):
        return self


def test_all_that_runs_beside_an_answer_is_listed():
    assert {name for name in EVERY if exercises.found(name).scene} == BESIDE


def reports(exercise, cases):
    """What the reference reports, or the type of its refusal."""
    came = [exercise._ran(exercise.right, case) for case in cases]
    return [value if error is None else type(error).__name__ for value, error in came]


def mark(report):
    """A text that is the same for equal reports."""
    if isinstance(report, dict):
        return repr({name: mark(value) for name, value in report.items()})
    return report.tobytes() if isinstance(report, np.ndarray) else repr(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BESIDE))
def test_no_report_that_can_be_foreseen_gives_a_point(name, monkeypatch):
    exercise = exercises.found(name)
    """A controller whose report was empty passed: no decision of none is wrong."""
    monkeypatch.setattr(exercise, "mistakes", [])  # nobody asks which thought a forgery has
    shown, *drawn = (
        reports(exercise, cases)
        for cases in (exercise.shown, *(exercise.drawn(np.random.default_rng(n)) for n in (1, 2)))
    )
    known = {mark(one) for one in (*shown, *drawn[0])}
    assert sum(mark(one) not in known for one in drawn[1]) >= 2, "fresh reports are fresh"
    for one in (None, "", [], {}, True, *shown[:3]):
        with pytest.raises(CheckFailed):
            exercise.check(Forged(one), shown=(), fresh=np.random.default_rng(2))

"""From what the checker saw to what the student reads.

    an outcome, a question, notes  ->  Judged

Of a hidden check the student reads its kind; all four lines are kept for the teacher (`detail`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from batchlab.grading._lesson import Lesson, Question
from batchlab.grading._verdict import VERDICTS, Judged

__all__ = ["judged", "rejected", "uniform"]

TAMPERING = ("EDITED", "DUPLICATED")  # notes that a person looks at, whatever the points
NO_SCORE = ("INFRA", "MISSING")  # these say more
SAID = {
    "TIMEOUT": "it ran longer than {limit}; a loop may have no end, or it waits for something",
    "OOM": "it asked for more memory than a submission gets",
    "CRASH": "its process ended: exit(), a signal, or a fault in compiled code",
    "OUTPUT": "it returned more than a check looks through, or printed or wrote without an end",
    "ERROR": "what its process sent could not be read",
    "MISSING": "no cell of the notebook answers this",
    "FORBIDDEN": "it started more processes than any exercise needs",
    "INFRA": "the grader failed here; this is no score, and a person will look at it",
}
ELSE = "it is right for the cases of the notebook, and not for all of its kind"
HIDDEN = {
    "FAIL": "a hidden case gave another value than the right one",
    "ERROR": "a hidden case raised an exception",
    "FORBIDDEN": "a hidden case returned an object that only claims to be a number",
}


def judged(
    question: Question, outcome: Mapping[str, Any], notes: Iterable[str], limit: str
) -> Judged:
    """What is said about one question."""
    verdict = str(outcome.get("verdict"))
    verdict = verdict if verdict in VERDICTS else "INFRA"
    points = question.points if verdict == "PASS" else 0.0
    if verdict == "PARTIAL":
        verdict, points = _partial(float(outcome.get("value", 0.0)), question.points)
    detail = str(outcome.get("message") or "")[:8000]
    public = str(outcome.get("said") or detail)[:8000]
    line = outcome.get("line")
    thought = outcome.get("hidden")
    hidden = type(line) is int and any(a <= line <= b for a, b in question.hidden)
    hidden = (
        hidden or type(thought) is str or (outcome.get("knows") is True and "said" not in outcome)
    )
    if verdict == "PASS":
        detail = public = ""
    elif not detail or verdict in {"TIMEOUT", "OOM", "CRASH", "OUTPUT", "INFRA", "MISSING"}:
        said = SAID.get(verdict, "the check gave other points than it has").format(limit=limit)
        public = f"asked   {_topic(question)}\ngot     {said}"
        detail = detail or public
    elif hidden and outcome.get("kind") != "blank":
        public = (
            f"asked   {_topic(question)}\ngot     {HIDDEN.get(verdict, HIDDEN['FAIL'])}\n"
            f"likely  {thought or ELSE}"
        )
    seconds, seen = float(outcome.get("seconds", 0.0)), tuple(notes)
    if verdict not in NO_SCORE and any(note in TAMPERING for note in seen):
        verdict = "REVIEW"
    return Judged(question.name, verdict, points, question.points, public, seconds, seen, detail)


def _topic(question: Question) -> str:
    return question.answers[0] if question.answers else question.name


def _partial(value: float, of: float) -> tuple[str, float]:
    """A check that ends in a number gives that many points; more than it has is our fault."""
    if not 0 <= value <= of:
        return "INFRA", 0.0
    return ("PASS" if value == of else "PARTIAL" if value else "FAIL"), value


def uniform(lesson: Lesson, verdict: str, message: str) -> tuple[Judged, ...]:
    """The same verdict on every question."""
    return tuple(
        Judged(one.name, verdict, 0.0, one.points, message, 0.0) for one in lesson.questions
    )


def rejected(lesson: Lesson, reason: str) -> tuple[Judged, ...]:
    """What is said where there is no notebook to read."""
    return uniform(lesson, "REJECTED", f"got     {reason}")

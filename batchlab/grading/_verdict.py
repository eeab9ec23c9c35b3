"""What the grader says about one question of one submission.

    a check cell, run against a student's answers  ->  Judged: a verdict, points, four lines

Words
    question  one check cell; it is named by the grade_id of the teacher's notebook
    note      what was seen beside the answer and costs nothing: a deleted cell, much output
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["NOTES", "VERDICTS", "Judged", "looked_at", "total"]

VERDICTS = {
    "PASS": "the check found nothing to say",
    "PARTIAL": "the check ended in a number between 0 and its points",
    "FAIL": "the check refused the answer, and says why",
    "ERROR": "the student's cell or function raised an exception",
    "TIMEOUT": "it used up its CPU seconds, or its wall clock",
    "OOM": "it asked for more memory than a submission gets",
    "CRASH": "its process ended",
    "OUTPUT": "it sent more than a submission may send",
    "FORBIDDEN": "it returned something that only claims to be a number",
    "MISSING": "no cell of the submission answers the question",
    "REJECTED": "the file is no notebook that can be read",
    "REVIEW": "signs of tampering; the points are those of the answers",
    "INFRA": "the grader's own fault: no score",
}
LOOKED_AT = ("REJECTED", "REVIEW", "INFRA")  # a person looks at these at the end of a run
NAMED = ("CUT", "REFERENCE", "TAMPERED")  # and at these notes
NOTES = {
    "MISSING-CELL": "the check cell was deleted; the teacher's was run",
    "EDITED": "the check cell or its mark was edited; the teacher's was run",
    "DUPLICATED": "more than one cell with this id; the first, or the last that answers, counts",
    "BY-NAME": "metadata was lost: the answer was found by its name",
    "OUTPUT": "more was printed than is kept",
    "LEFTOVERS": "processes or files were left behind; they were removed",
    "CUT": "the end of the file is missing; the cells that are whole were graded",
    "REFERENCE": "a cell opens the course's own exercises: look whose answers these are",
    "TAMPERED": "an answer tried what no exercise asks for",
}


@dataclass(frozen=True)
class Judged:
    """One question of one submission: its verdict, and what the student reads about it.

    `points` never exceeds `of`, and is 0 for REJECTED and INFRA: the latter is no score at all.
    `message` is empty on PASS; of a hidden check it tells the kind only.

    >>> Judged("check-waste", "PASS", 2.0, 2.0, "", 0.1).points
    2.0
    """

    question: str  # grade_id of the check cell
    verdict: str  # one of VERDICTS
    points: float
    of: float  # the points that the question gives
    message: str  # the four lines that the student sees
    seconds: float  # CPU seconds, of student and checker
    notes: tuple[str, ...] = ()  # each one of NOTES
    detail: str = ""  # all four lines, of a hidden check too: for the teacher's eyes alone

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(
                f"verdict {self.verdict!r} of {self.question}; there are {[*VERDICTS]}"
            )
        if not (math.isfinite(self.points) and 0 <= self.points <= self.of):
            raise ValueError(f"{self.points} points of {self.of} for {self.question}")
        if unknown := [note for note in self.notes if note not in NOTES]:
            raise ValueError(f"note {unknown[0]!r} of {self.question}; there are {[*NOTES]}")


def total(judged: Iterable[Judged]) -> float | None:
    """The score of a submission; None where any question is INFRA: that is no score.

    >>> total([Judged("a", "PASS", 2, 2, "", 0.0), Judged("b", "FAIL", 0, 2, "no", 0.0)])
    2.0
    """
    some = list(judged)
    if any(one.verdict == "INFRA" for one in some):
        return None
    return float(sum(one.points for one in some))


def looked_at(judged: Iterable[Judged]) -> tuple[str, ...]:
    """Why a person should look at a submission: verdicts and notes, each once; mostly none."""
    found: dict[str, None] = {}
    for one in judged:
        if one.verdict in LOOKED_AT:
            found[one.verdict] = None
        found |= dict.fromkeys(note for note in one.notes if note in NAMED)
    return tuple(found)

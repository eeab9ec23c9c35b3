"""Exercises by name, in the order of the page.

"padding/expected-longest"  ->  its exercise; an answer  ->  a line of success, or a refusal
"""

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

from batchlab.classroom import check, term
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._exercise import Exercise

__all__ = ["folders", "foreseen", "found", "judge", "ordered", "refusal"]

_rounds: Counter[str] = Counter()  # checks of an exercise in this process


def folders() -> list[str]:
    """The lessons that have exercises here, by topic."""
    here = Path(__file__).parent
    return sorted(one.parent.name for one in here.glob("*/__init__.py"))


def ordered(topic: str) -> list[str]:
    """The names of a lesson's exercises, in the order of its page.

    >>> ordered("padding")[0]
    'padding/waste'
    """
    home = importlib.import_module(f"batchlab.exercises.{topic}")
    return [f"{topic}/{one}" for one in home.ORDER]


def found(name: str) -> Exercise:
    """The exercise of a name such as padding/waste; ValueError where there is none.

    >>> found("padding/wast")
    Traceback (most recent call last):
        ...
    ValueError: no exercise 'padding/wast': padding has waste, expected-longest, collate, ...
    """
    topic, _, one = name.partition("/")
    if topic not in folders():
        raise ValueError(f"no exercises for {topic!r}: there are {', '.join(folders())}")
    if name not in (known := ordered(topic)):
        some = ", ".join(each.partition("/")[2] for each in known[:3])
        raise ValueError(f"no exercise {name!r}: {topic} has {some}, ...")
    home = importlib.import_module(f"batchlab.exercises.{topic}.{one.replace('-', '_')}")
    exercise: Exercise = home.exercise
    return exercise


def judge(name: str, answer: Any) -> None:
    """The whole check cell: refuse a wrong answer, or say in one line what the learner can now say.

    Fresh cases come from the term's seed. In a notebook they are others at each check.
    """
    exercise, seed = found(name), _seed(name)
    if not term.secret() and _rounds[name]:
        seed = f"{seed} {_rounds[name]}"
    _rounds[name] += 1
    exercise.check(answer, fresh=lambda: check.rng(seed))
    check.passed(exercise.passed)


def foreseen(name: str) -> Exercise:
    """The exercise after its reference has met all cases of the first check: `judge` knows them."""
    exercise = found(name)
    for case in [*exercise.shown, *exercise.fresh(check.rng(_seed(name)), keep=True)]:
        exercise._outcome(exercise.right, case)
    return exercise


def _seed(name: str) -> str:
    return f"check-{name.rpartition('/')[2]}"


def refusal(name: str, text: str, **how: Any) -> str:
    """What the text of an answer cell is told at a first try; empty where it passes."""
    exercise = found(name)
    exercise.forget()
    try:
        exercise.check(exercise.of(text), **how)
    except CheckFailed as refused:
        return str(refused)
    return ""

"""What lesson 18 needs beside its page: sheets of models, planners, versions, pieces of a trainer.

an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is
"""

from collections.abc import Mapping, Sequence
from typing import Any

from batchlab.classroom.probes import lesson_18_trials as trials
from batchlab.classroom.probes.attempt import finite, mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_18_finder import LLAMA_8B, fault_of_rows, finder, sheet_of
from batchlab.classroom.probes.lesson_18_judged import (
    fault_of_near,
    fault_of_offers,
    fault_of_plan,
)
from batchlab.classroom.probes.lesson_18_live import (
    counted,
    groups,
    guard,
    guards,
    lay_out,
    lays_out,
    of_rows,
    page,
    steps_once,
    take_step,
    windows,
    write_page,
)
from batchlab.classroom.probes.lesson_18_mistakes import GENERATED, MISTAKES, PACKED
from batchlab.classroom.probes.lesson_18_plans import (
    case,
    longest_row,
    pack_rows,
    packs,
    planned,
    told,
    total,
    unit_of,
)
from batchlab.classroom.probes.lesson_18_trials import foretold
from batchlab.classroom.probes.lesson_18_versions import KINDS, RIGHT
from batchlab.classroom.probes.lesson_18_wrong import WRONG

__all__ = [
    "GENERATED",
    "KINDS",
    "LLAMA_8B",
    "MISTAKES",
    "PACKED",
    "RIGHT",
    "WRONG",
    "case",
    "counted",
    "fault_of_near",
    "fault_of_offers",
    "fault_of_plan",
    "fault_of_rows",
    "finder",
    "finite",
    "foretold",
    "groups",
    "guard",
    "guards",
    "lay_out",
    "lays_out",
    "longest_row",
    "mistakes",
    "mistakes_of_pairs",
    "of_rows",
    "pack_rows",
    "packs",
    "page",
    "planned",
    "refusal",
    "sheet_of",
    "shown",
    "steps_once",
    "take_step",
    "told",
    "total",
    "unit_of",
    "versions",
    "windows",
    "write_page",
]


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    assert name == "foretold"
    return {"right": trials.RIGHT, "wrong": trials.WRONG}


def mistakes(name: str, key: str, *case: Any, at: int | None = None) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for one value of a dictionary."""
    right = _part(RIGHT[name][0](*case)[key], at)
    found = {_part(got[key], at): why for got, why in mistakes_of(WRONG[name], *case)}
    wrong = {value: why for value, why in found.items() if abs(value - right) > 1e-9 * abs(right)}
    return (rounded(right) if isinstance(right, float) else {}) | wrong


def _part(value: Any, at: int | None) -> Any:
    return value if at is None else value[at]


def mistakes_of_pairs(*case: Any) -> list[tuple[Any, str]]:
    """The steps of each wrong version of `step_counts`, where they are not the right ones."""
    right = RIGHT["step-counts"][0](*case)
    found: Sequence[tuple[Any, str]] = list(mistakes_of(WRONG["step-counts"], *case))
    wrong: Mapping[str, Any] = {why: value for value, why in found if value != right}
    return [(value, why) for why, value in wrong.items()]

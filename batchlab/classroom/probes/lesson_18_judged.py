"""What is wrong with a plan of lesson 18, or with the refusal of a wish.

what a planner said, the case  ->  a thought; empty if nothing is wrong
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from batchlab.classroom import plain
from batchlab.classroom.probes.lesson_18_mistakes import MISTAKES
from batchlab.classroom.probes.lesson_18_plans import Case, longest_row, planned, total
from batchlab.classroom.probes.lesson_18_versions import KINDS

__all__ = ["fault_of_near", "fault_of_offers", "fault_of_plan"]

COUNTS = ("rows", "accumulation", "steps", "tokens", "slots", "prompts")


def fault_of_plan(got: Mapping[str, Any], given: Case) -> tuple[str, str]:
    """The key whose value is wrong, and the likely thought; two empty texts if none is."""
    right = planned(*given)
    known = []
    for thought, version in MISTAKES.items():
        try:
            known.append((version(*given), thought))
        except (ArithmeticError, ValueError, KeyError, IndexError):
            continue
    for key, want in right.items():
        value, why = _value(got[key])
        if why:
            return key, why
        if key in COUNTS and not all(type(one) is int for one in value):
            return key, "a count is an int: `//` gives one, and nothing is rounded"
        if _same(value, want):  # a mistake that is wrong here already was not made
            known = [(plan, t) for plan, t in known if _same(value, plan.get(key))]
            continue
        why = next((t for plan, t in known if _same(value, plan.get(key))), "")
        return key, why or _hint(key)
    return "", ""


def _hint(key: str) -> str:
    return {
        "rows": "rows divide the rows of one device's step, and their bytes fit",
        "accumulation": "rows x accumulation x devices x row length are the slots of the wish",
        "hours": "least and most: your bill of the computed slots",
        "money": "least and most: your bill of the computed slots",
        "bytes": "all that your run_bytes lists, for the rows of one micro-batch",
    }.get(key, "")


def _value(value: Any) -> tuple[tuple[Any, ...], str]:
    try:
        found = plain.nested(value)
        numbers = tuple(plain.number(n) for n in (found if isinstance(found, list) else [found]))
    except plain.NotPlain as problem:
        return (), problem.thought or "a number is asked here; for hours and money two"
    return numbers, ""


def _same(value: tuple[Any, ...], want: Any) -> bool:
    if want is None:
        return False
    right = tuple(want) if isinstance(want, tuple | list) else (want,)
    return len(value) == len(right) and all(
        math.isclose(a, b, rel_tol=0 if type(b) is int else 1e-6)
        for a, b in zip(value, right, strict=True)
    )


def _numbers(said: str) -> list[float]:
    """The numbers of a text; a name such as 4-bit holds none, and -3 is one."""
    plainly = re.sub(r"4-bit|(?<=\d)[,_](?=\d{3})", "", said.lower())
    return [float(one) for one in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", plainly)]


def fault_of_near(said: str, near: Iterable[int], unit: int, known: Iterable[float]) -> str:
    """What is wrong with the nearest multiples of `unit` in a refusal; empty if nothing is.

    `known` are other numbers that the refusal may name.
    """
    offered, named = sorted(near), _numbers(said)
    if any(one < 0 for one in named):
        return "a number below 0 is no offer"
    if 0 in named and not re.search(r"\bnone\b|\bnothing\b|\bno\b", said.lower()):
        return "0 is no offer: name only the number above"
    beyond = {offered[0] - unit, offered[-1] + unit} - set(known) - {0}
    if any(one in named for one in beyond):
        return "farther ones are named, too: only the nearest below and above are asked"
    return ""


def fault_of_offers(said: str, given: Case) -> str:
    """What is wrong with the refusal of a wish that does not fit; empty if nothing is."""
    _, sheet, device, wish = given
    words = set(re.findall(r"4-bit|\blora\b|\bfull\b", said.lower()))
    fit = {kind for kind in KINDS if total(sheet, wish, 1, kind) <= device["bytes"]}
    if not fit:
        return _fault_of_longest(said, given)
    if missing := fit - words:
        if any(total(sheet, wish, 1, kind) == device["bytes"] for kind in missing):
            return f"`total == bytes` fits as {min(missing)}, too: at most, not below"
        return f"it would fit as {' or '.join(sorted(missing))}: name every kind that would"
    beside = words - fit - {wish["kind"]}
    return f"{beside.pop()} would not fit either: name only what would" if beside else ""


def _fault_of_longest(said: str, given: Case) -> str:
    lengths, sheet, device, wish = given
    longest, named = longest_row(sheet, device, wish), _numbers(said)
    if longest in named:
        known = {wish["row"], wish["slots"], wish["rank"], wish["epochs"], device["count"]}
        known |= {max(lengths), len(lengths), wish.get("generations", 0)}
        if longest + 1 in named and longest + 1 not in known:
            return "a longer row is named, too, and does not fit: name only the longest that does"
        return ""
    if longest == 0:
        return "no kind holds a single slot: the longest row is 0"
    if longest - 1 in named:
        return "one slot more fits: `total == bytes` fits, too, at most and not below"
    return "no kind fits: name the longest row that any of the three could hold, in slots"

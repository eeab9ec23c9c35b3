"""What mistaken planners of lesson 18 say, by the thought that leads to each.

MISTAKES[thought]: lengths, sheet, device, wish  ->  plan
"""

import math
from collections.abc import Callable
from typing import Any

from batchlab.classroom.probes.lesson_18_plans import (
    Plan,
    filled,
    pack_rows,
    planned,
    total,
)
from batchlab.classroom.probes.lesson_18_versions import bill

__all__ = ["GENERATED", "MISTAKES", "PACKED"]

# Lengths for which each of MISTAKES gives a value of its own, one digit each: A is 10.
PACKED = tuple(
    int(digit, 11)
    for digit in (
        "28A26871395A88875361884467A35848A13574576546718917AA424434A51412652AA4A376283957"
        "A61514A949529522978A969524"
    )
)
GENERATED = tuple(
    int(digit, 11) for digit in "2449136A26176A729A72575A8776261421A714A45A8A5A98A464A29"
)


def _rerun(**changes: Callable[..., Any]) -> Callable[..., Plan]:
    """A planner that got other inputs: `changes` of sheet, device and wish."""

    def version(lengths: Any, sheet: Any, device: Any, wish: Any) -> Plan:
        given = {"lengths": lengths, "sheet": sheet, "device": device, "wish": wish}
        new = {name: of(**given) for name, of in changes.items()}
        return planned(**{**given, **new})

    return version


def _edited(**changes: Callable[..., Any]) -> Callable[..., Plan]:
    """A right plan with values computed otherwise: of (plan, lengths, sheet, device, wish)."""

    def version(*given: Any) -> Plan:
        found = planned(*given)
        new = {name: of(found, *given) for name, of in changes.items()}
        return found | {name: value for name, value in new.items() if name in found}

    return version


def _split(choose: Callable[..., int]) -> Callable[..., Plan]:
    """A planner with other rows: `choose` from (share of a device, the most that fit)."""

    def version(lengths: Any, sheet: Any, device: Any, wish: Any) -> Plan:
        planned(lengths, sheet, device, wish)
        share = wish["slots"] // wish["row"] // device["count"]
        most = max(n for n in range(1, share + 1) if total(sheet, wish, n) <= device["bytes"])
        rows = choose(share, most)
        return filled(lengths, sheet, device, wish, rows, max(1, share // rows))

    return version


def _bill_of(slots: Callable[..., float], **how: Any) -> Callable[..., Plan]:
    """A planner whose bill is of other slots, at another utilisation."""

    def version(*given: Any) -> Plan:
        found = planned(*given)
        _, sheet, device, wish = given
        shares = how.get("utilisation", wish["utilisation"])
        return found | bill(slots(found, *given), sheet["flops"], device, shares)

    return version


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


def _made(lengths: Any, wish: Any) -> int:
    each = wish.get("generations", 0)
    return len(lengths) * each if each else len(pack_rows(lengths, wish["row"]))


def _sequences(wish: Any) -> int:
    return int(wish["slots"] // wish["row"])


MISTAKES: dict[str, Callable[..., Plan]] = {
    "the most rows that fit, though they do not divide the step": _split(lambda s, most: most),
    "a power of two: the largest divisor that fits is larger": _split(
        lambda s, most: max(n for n in _divisors(s) if n <= most and n & (n - 1) == 0)
    ),
    "one row: more fit": _split(lambda s, most: 1),
    "the second largest divisor: `total == bytes` fits, too": _split(
        lambda s, most: sorted([1, *(n for n in _divisors(s) if n <= most)])[-2]
    ),
    "the logits are forgotten: more rows than fit": _rerun(
        sheet=lambda sheet, **_: {**sheet, "vocabulary": 0}
    ),
    "memory of all devices together: each holds its own copy": _rerun(
        device=lambda device, **_: {**device, "bytes": device["bytes"] * device["count"]}
    ),
    "all of the step at once: only the rows of one micro-batch are alive": _edited(
        bytes=lambda p, le, sheet, device, wish: total(sheet, wish, p["rows"] * p["accumulation"])
    ),
    "the bytes of one row: the micro-batch has more": _edited(
        bytes=lambda p, le, sheet, device, wish: total(sheet, wish, 1)
    ),
    "the bytes of the device: asked are those of the step": _edited(
        bytes=lambda p, le, sheet, device, wish: device["bytes"]
    ),
    "the bytes of full fine-tuning: frozen weights have no optimizer states": _edited(
        bytes=lambda p, le, sheet, device, wish: total(sheet, wish, p["rows"], "full")
    ),
    "the devices are forgotten: each takes rows of its own": _edited(
        accumulation=lambda p, le, sheet, device, wish: p["accumulation"] * device["count"]
    ),
    "slots, not real tokens: padding is counted": _edited(tokens=lambda p, *_: p["slots"]),
    "the epochs are forgotten": _rerun(wish=lambda wish, **_: {**wish, "epochs": 1}),
    "the epochs are forgotten in the tokens": _edited(
        tokens=lambda p, lengths, s, d, wish: p["tokens"] // wish["epochs"]
    ),
    "the generations are forgotten in the tokens": _edited(
        tokens=lambda p, lengths, s, d, wish: wish["generations"] and wish["epochs"] * sum(lengths)
    ),
    "the generations are forgotten in the slots": _edited(
        slots=lambda p, lengths, s, d, wish: (
            wish["generations"] and wish["epochs"] * len(lengths) * wish["row"]
        )
    ),
    "the last, shorter step of each epoch is dropped": _edited(
        steps=lambda p, lengths, s, d, wish: (
            wish["epochs"] * (_made(lengths, wish) // _sequences(wish))
        )
    ),
    "each epoch ends with a short step: round up, then times the epochs": _edited(
        steps=lambda p, lengths, s, d, wish: math.ceil(
            wish["epochs"] * _made(lengths, wish) / _sequences(wish)
        )
    ),
    "documents a step: packed rows hold several": _edited(
        steps=lambda p, lengths, s, d, wish: (
            wish["epochs"] * math.ceil(len(lengths) / _sequences(wish))
        )
    ),
    "steps of one micro-batch: a step takes rows x accumulation x devices": _edited(
        steps=lambda p, lengths, s, d, wish: (
            wish["epochs"] * math.ceil(_made(lengths, wish) / p["rows"])
        )
    ),
    "the devices are forgotten: all take rows of a step": _edited(
        steps=lambda p, lengths, s, d, wish: (
            wish["epochs"] * math.ceil(_made(lengths, wish) / (p["rows"] * p["accumulation"]))
        )
    ),
    "full steps: the last one holds fewer rows": _edited(
        slots=lambda p, lengths, s, d, wish: p["steps"] * wish["slots"]
    ),
    "real tokens, not slots: a row is computed whole": _edited(slots=lambda p, *_: p["tokens"]),
    "one row a document: packed rows hold several": _edited(
        slots=lambda p, lengths, s, d, wish: wish["epochs"] * len(lengths) * wish["row"]
    ),
    "hours of the real tokens: padding is computed, too": _bill_of(lambda p, *_: p["tokens"]),
    "hours of full steps: the last one of an epoch is shorter": _bill_of(
        lambda p, le, s, d, wish: p["steps"] * wish["slots"]
    ),
    "hours of one step: the bill is of the whole run": _bill_of(
        lambda p, le, s, d, wish: wish["slots"]
    ),
    "hours of one epoch": _bill_of(lambda p, le, s, d, wish: p["slots"] / wish["epochs"]),
    "hours at the peak: the wish has a utilisation": _bill_of(
        lambda p, *_: p["slots"], utilisation=(1.0, 1.0)
    ),
    "prompts x generations are the completions: divide, do not multiply": _edited(
        prompts=lambda p, le, s, d, wish: _sequences(wish) * wish["generations"]
    ),
    "completions taken for prompts: divide by the generations": _edited(
        prompts=lambda p, le, s, d, wish: _sequences(wish)
    ),
    "prompts of one device: a step has those of all": _edited(
        prompts=lambda p, le, s, d, wish: _sequences(wish) // wish["generations"] // d["count"]
    ),
    "all prompts of the run: asked are those of a step": _edited(
        prompts=lambda p, lengths, *_: len(lengths)
    ),
    "generated completions are not packed: each has its own row": lambda le, s, d, wish: (
        planned(le, s, d, {k: v for k, v in wish.items() if k != "generations"}) | {"prompts": 0}
    ),
}

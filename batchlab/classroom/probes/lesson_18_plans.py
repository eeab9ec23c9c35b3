"""The planner of lesson 18, and cases for it.

    lengths, sheet, device, wish  ->  plan, or a ValueError with what is near

Words
    sheet   sizes of a model: linear, other, adapter, layers, kept, vocabulary, flops
    wish    slots a step, row length, kind and rank, epochs, utilisation; generations for GRPO
    unit    the fewest slots a step that split evenly: steps are its multiples
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab import packing
from batchlab.classroom.probes.lesson_18_versions import KINDS, bill, run_bytes

__all__ = [
    "Case",
    "Plan",
    "case",
    "filled",
    "longest_row",
    "pack_rows",
    "packs",
    "planned",
    "told",
    "total",
    "unit_of",
]

Plan = dict[str, Any]
Case = tuple[list[int], dict[str, Any], dict[str, Any], dict[str, Any]]


def pack_rows(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """Rows of document numbers by first fit decreasing: the library's."""
    if not len(lengths):
        return []
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [row.tolist() for row in found.rows]


def packs(yours: Callable[..., Any]) -> bool:
    """Whether a learner's packing puts 7 beside 3, and 4 beside 6, into two rows of 10."""
    rows = [sorted(map(int, row)) for row in yours([4, 7, 3, 6], 10)]
    return sorted(rows) == [[0, 3], [1, 2]] and list(yours([], 10)) == []


def total(sheet: Mapping[str, Any], wish: Mapping[str, Any], rows: int, kind: str = "") -> float:
    """Bytes of a step with so many rows at once."""
    tuning = {"kind": kind or wish["kind"], "rank": wish["rank"]}
    return float(sum(run_bytes(sheet, tuning, rows * wish["row"]).values()))


def unit_of(device: Mapping[str, Any], wish: Mapping[str, Any]) -> int:
    """The fewest slots a step: whole rows on each device, whole groups of completions."""
    return int(wish["row"] * math.lcm(device["count"], wish.get("generations", 1)))


def planned(
    lengths: Sequence[int], sheet: Mapping[str, Any], device: Mapping[str, Any],
    wish: Mapping[str, Any],
) -> Plan:  # fmt: skip
    """The plan of a wish that can be had; else a ValueError."""
    row, unit = wish["row"], unit_of(device, wish)
    if max(lengths) > row:
        raise ValueError(f"a document of {max(lengths)} tokens in rows of {row}")
    if wish["slots"] % unit:
        below = wish["slots"] // unit * unit
        near = f"{below} and {below + unit}" if below else f"{unit}"
        raise ValueError(f"{wish['slots']} slots a step: the nearest {near}")
    if total(sheet, wish, 1) > device["bytes"]:
        raise ValueError(f"does not fit: {_near(sheet, device, wish)}")
    sequences = wish["slots"] // row
    share = sequences // device["count"]
    fits = [n for n in range(1, share + 1) if share % n == 0]
    rows = max(n for n in fits if total(sheet, wish, n) <= device["bytes"])
    return filled(lengths, sheet, device, wish, rows, share // rows)


def _near(sheet: Mapping[str, Any], device: Mapping[str, Any], wish: Mapping[str, Any]) -> str:
    """The kinds that would fit; or the longest row that any of them could hold."""
    kinds = [kind for kind in KINDS if total(sheet, wish, 1, kind) <= device["bytes"]]
    return f"try {', '.join(kinds)}" if kinds else f"rows of {longest_row(sheet, device, wish)}"


def longest_row(
    sheet: Mapping[str, Any], device: Mapping[str, Any], wish: Mapping[str, Any]
) -> int:
    """The most slots in one row that some kind of tuning holds; 0 where none holds one."""
    found = 0
    for kind in KINDS:
        states = total(sheet, wish, 0, kind)
        slot = total(sheet, {**wish, "row": 1}, 1, kind) - states
        found = max(found, int((device["bytes"] - states) // slot))
    return found


def filled(
    lengths: Sequence[int], sheet: Mapping[str, Any], device: Mapping[str, Any],
    wish: Mapping[str, Any], rows: int, accumulation: int,
) -> Plan:  # fmt: skip
    """The plan of this split, whether or not it is a good one."""
    each = wish.get("generations", 0)
    sequences = rows * accumulation * device["count"]
    made = len(lengths) * each if each else len(pack_rows(lengths, wish["row"]))
    slots = wish["epochs"] * made * wish["row"]
    found = {
        "rows": rows,
        "accumulation": accumulation,
        "steps": wish["epochs"] * math.ceil(made / sequences),
        "tokens": wish["epochs"] * int(sum(map(int, lengths))) * (each or 1),
        "slots": slots,
        "bytes": total(sheet, wish, rows),
        **bill(slots, sheet["flops"], device, wish["utilisation"]),
    }
    return found | ({"prompts": sequences // each} if each else {})


def case(seed: Any, grpo: bool = False) -> Case:
    """Lengths, sheet, device and a wish that can be had, drawn from a generator."""
    rng = np.random.default_rng(seed)
    row = int(rng.choice([96, 128, 160, 256]))
    sheet = {
        "linear": 64 * int(rng.integers(500, 9000)), "other": 64 * int(rng.integers(200, 2000)),
        "adapter": int(rng.integers(50, 400)), "layers": int(rng.integers(2, 9)),
        "kept": int(rng.integers(300, 2000)), "vocabulary": int(rng.integers(300, 4000)),
        "flops": int(rng.integers(10**6, 10**8)),
    }  # fmt: skip
    count, each = int(rng.integers(1, 7)), int(rng.integers(2, 9)) if grpo else 1
    wish = {
        "slots": 0, "row": row, "kind": str(rng.choice(KINDS)), "rank": int(rng.integers(1, 65)),
        "epochs": int(rng.integers(1, 4)),
        "utilisation": (float(rng.uniform(0.1, 0.3)), float(rng.uniform(0.3, 0.6))),
    }  # fmt: skip
    if grpo:
        wish["generations"] = each
    device = {
        "count": count, "peak": float(rng.uniform(1e9, 1e12)), "price": float(rng.uniform(1, 9)),
    }  # fmt: skip
    wish["slots"] = unit_of(device, wish) * int(rng.choice([6, 10, 12, 18, 20, 30]))
    room = float(rng.uniform(1.1, 9.9))
    one, two = (total(sheet, wish, n) for n in (1, 2))
    device["bytes"] = int(one + (room - 1) * (two - one))
    lengths = rng.integers(1, row + 1, int(rng.integers(40, 120))).tolist()
    return lengths, sheet, device, wish


def told(lengths: Sequence[int], sheet: Any, device: Any, wish: Any) -> str:
    """A case in one line."""
    some = lengths if len(lengths) <= 9 else f"{len(lengths)} documents of {sum(lengths)} tokens"
    return f"{some}, device {device}, wish {wish}, sheet {sheet}"

"""What lesson 07 needs beside its page: mistakes and their values, a budget to fill, live steps.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    finder    rows, bytes a weight and slots of logits alive, against a device of 24 GiB
"""

from collections.abc import Sequence
from typing import Any

from batchlab import memory, units, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.chunks_07 import (
    chunk_losses,
    chunked,
    plain_loss,
    rows_alive,
    targets_of,
    whole,
)
from batchlab.classroom.probes.guard_07 import (
    ENDS,
    KINDS,
    ended_by,
    guarded,
    known_rows,
    names,
    order_of,
    right_rows,
    tries_of,
)
from batchlab.classroom.probes.lesson_07_versions import RIGHT, WRONG
from batchlab.plan import Plan

__all__ = [
    "ENDS",
    "KINDS",
    "LLAMA_8B",
    "QWEN_HALF_B",
    "RIGHT",
    "WRONG",
    "chunk_losses",
    "chunked",
    "ended_by",
    "fault_of_rows",
    "finder",
    "guarded",
    "known_rows",
    "llama_matrices",
    "mistakes",
    "names",
    "order_of",
    "pairs",
    "plain_loss",
    "refusal",
    "right_rows",
    "rounded",
    "rows_alive",
    "shown",
    "targets_of",
    "tries_of",
    "versions",
    "whole",
]

QWEN_HALF_B = memory.ModelShape(  # Qwen2.5-0.5B: its config.json on the hub
    hidden=896, layers=24, heads=14, kv_heads=2, head_size=64, intermediate=4864,
    vocabulary=151_936, tied=True, biases=18 * 64,
)  # fmt: skip
LLAMA_8B = memory.ModelShape(  # Llama 3 8B: Grattafiori et al. 2024, Table 3
    hidden=4096, layers=32, heads=32, kv_heads=8, head_size=128, intermediate=14_336,
    vocabulary=128_256,
)  # fmt: skip
BUDGET, LENGTH, SEQUENCES = 24 * 2**30, 2048, 40
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20)
STATES = {"8: all in bf16": "bf16", "16: mixed": "mixed", "18: mixed, fp32 gradients": (
    "mixed_fp32_gradients")}  # fmt: skip
ALIVE = {"all": None, "1,024 slots": 1024, "128 slots": 128}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    right: Any = RIGHT[name][0](*case)
    known = [*mistakes_of(WRONG[name], *case), *rounded(right).items()]
    return {value: why for value, why in reversed(known) if value != right}  # the first one wins


def pairs(name: str, *case: Any) -> list[tuple[Any, str]]:
    """The same for a function that returns a pair."""
    right = RIGHT[name][0](*case)
    found = mistakes_of(WRONG[name], *case)
    return [(value, why) for value, why in found if value != right]


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def llama_matrices(shape: memory.ModelShape = LLAMA_8B) -> list[tuple[int, int]]:
    """(inputs, outputs) of every linear layer in the blocks of a Llama: 7 a block."""
    query, keys = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    wide = [(shape.hidden, query), *[(shape.hidden, keys)] * 2, (query, shape.hidden)]
    deep = [*[(shape.hidden, shape.intermediate)] * 2, (shape.intermediate, shape.hidden)]
    return [*wide, *deep] * shape.layers


def _peak(rows: int, states: str, alive: str) -> memory.Memory:
    """The bill of QWEN_HALF_B with rows of 2,048 slots."""
    bill = memory.estimate(QWEN_HALF_B, Plan(rows, 1, 1, LENGTH), states=STATES[states])
    if (slots := ALIVE[alive]) is None:
        return bill
    share = slots / (rows * LENGTH)
    return memory.Memory(
        bill.parameters, bill.gradients, bill.optimizer, bill.activations, int(bill.logits * share)
    )


def _fits(rows: int, states: str, alive: str) -> bool:
    return _peak(rows, states, alive).total_bytes <= BUDGET


def _found(states: str = "16: mixed", alive: str = "128 slots") -> int:
    """The most rows that fit and divide the step."""
    return max(rows for rows in ROWS if SEQUENCES % rows == 0 and _fits(rows, states, alive))


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    states, alive = "16: mixed", "128 slots"
    if not _fits(int(rows), states, alive):
        return "these rows need more than 24 GiB at 16 bytes a weight"
    if SEQUENCES % rows:
        return f"it fits, but {SEQUENCES} sequences are no whole number of such micro-batches"
    if rows == _found():
        return ""
    if rows == 1 << (_found().bit_length() - 1):
        return "it fits and divides, but more rows do, too: a power of two is a habit, not a rule"
    return "it fits and divides, but more rows do, too"


def finder() -> widgets.Explorer:
    """Rows, states and alive logits against 24 GiB; the goal keeps the step."""

    def scene(rows: int, states: str, alive: str) -> dict[str, Any]:
        bill = _peak(rows, states, alive)
        parts = {
            "states": bill.states_bytes, "activations": bill.activations, "logits": bill.logits,
        }  # fmt: skip
        total = bill.total_bytes
        left = BUDGET - total
        times = SEQUENCES / rows
        facts = {name: units.size(value) for name, value in parts.items()}
        facts["of 24 GiB"] = f"{units.size(abs(left))} {'left' if left >= 0 else 'too much'}"
        facts["accumulation"] = f"{times:.3g}" + ("" if times.is_integer() else ": does not divide")
        strips = [[(number, round(value / 2**20))] for number, value in enumerate(parts.values())]
        alt = "; ".join(f"{name} {units.size(value)}" for name, value in parts.items())
        return {"facts": facts, "rows": strips, "alt": f"Memory of a step: {alt}."}

    def found(rows: int, states: str, alive: str) -> bool:
        return (rows, states, alive) == (_found(), "16: mixed", "128 slots")

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows of 2,048 slots", list(ROWS)),
        "states": ("bytes a weight", list(STATES)),
        "alive": ("logits alive at once", list(ALIVE)),
    }
    goal = f"16 bytes a weight, 128 slots of logits: the most rows that fit and divide {SEQUENCES}."
    return widgets.finder(
        "Qwen2.5-0.5B on 24 GiB",
        controls,
        scene,
        goal=goal,
        where=found,
        down=lambda bars: f"{bars} parts",
        across=lambda mebibytes: units.size(mebibytes * 2**20),
    )

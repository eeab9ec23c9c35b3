"""The finder of lesson 18: what of an 8-billion model fits into 24 GB.

    kind, rank, recomputation, rows  ->  bytes by what they are for, and whether they fit

Words
    recomputed   layers keep their inputs alone, and one layer at a time all the rest
"""

from collections.abc import Sequence
from typing import Any

from batchlab import memory, roofline, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.lesson_18_versions import KINDS, run_bytes
from batchlab.plan import Plan

__all__ = ["LLAMA_8B", "fault_of_rows", "finder", "sheet_of"]

# Llama 3 8B: Grattafiori et al. 2024, Table 3
LLAMA_8B = memory.ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
ROW, ROOM = 512, 24 * 10**9
ROWS, RANKS, KEPT = range(1, 25), (16, 64), ("kept", "recomputed")
Setting = tuple[int, str, int, str]


def sheet_of(shape: memory.ModelShape, *, bytes_per_value: int = 2) -> dict[str, Any]:
    """The sizes of a model as the lesson writes them."""
    q, kv = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    products = [(shape.hidden, q), (shape.hidden, kv), (shape.hidden, kv), (q, shape.hidden)]
    products += [(shape.hidden, shape.intermediate)] * (3 if shape.gated else 2)
    linear = shape.layers * sum(a * b for a, b in products)
    one = memory.estimate(shape, Plan(1, 1, 1, 1), bytes_per_value=bytes_per_value)
    return {
        "linear": linear,
        "other": shape.parameters - linear,
        "adapter": shape.layers * sum(a + b for a, b in products),
        "layers": shape.layers,
        "kept": one.activations // shape.layers,
        "vocabulary": shape.vocabulary,
        "flops": roofline.flops_per_token(shape, 1, convention="parameters"),
    }


def _bytes(rows: int, kind: str, rank: int, layers: str) -> dict[str, float]:
    sheet = sheet_of(LLAMA_8B)
    found = run_bytes(sheet, {"kind": kind, "rank": rank}, rows * ROW)
    if layers == "recomputed":  # 2 bytes a value of each layer's input, and one layer whole
        inputs = 2 * LLAMA_8B.hidden * LLAMA_8B.layers
        found["activations"] = rows * ROW * (inputs + sheet["kept"])
    return found


def _most(kind: str = "4-bit", rank: int = 64, layers: str = "recomputed") -> int:
    fit = [n for n in ROWS if sum(_bytes(n, kind, rank, layers).values()) <= ROOM]
    return max(fit, default=0)


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows of 512 slots"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    known = {
        _most("lora"): "that is the most for lora: set '4-bit'",
        _most(rank=16): "that is the most at rank 16: set 64",
        _most(layers="kept"): "that is the most with all activations kept: set 'recomputed'",
    }
    if rows == _most():
        return ""
    if rows in known:
        return known[int(rows)]
    return "more rows fit" if rows < _most() else "these do not fit: the total is above 24 GB"


def finder() -> widgets.Explorer:
    """Rows, kind, rank and recomputation against bytes; the goal is the most rows that fit."""

    def scene(rows: int, kind: str, rank: int, layers: str) -> dict[str, Any]:
        found = _bytes(rows, kind, rank, layers)
        every = sum(found.values())
        facts = {name: f"{value / 1e9:.2f} GB" for name, value in found.items()}
        return {"facts": {**facts, "total": f"{every / 1e9:.2f} GB",
                          "fits into 24 GB": "yes" if every <= ROOM else "no"}}  # fmt: skip

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows of 512 slots at once", list(ROWS)),
        "kind": ("tuning", list(KINDS)),
        "rank": ("rank of the adapters", list(RANKS)),
        "layers": ("activations of the layers are", list(KEPT)),
    }
    goal = "4-bit, rank 64, recomputed: the most rows that fit into 24 GB."
    return widgets.finder(
        "Llama 3 8B on one device", controls, scene, goal=goal,
        start={"rows": 2, "kind": "lora", "rank": 16, "layers": "kept"},
        where=lambda rows, kind, rank, layers: (rows, kind, rank, layers)
        == (_most(), "4-bit", 64, "recomputed"),
    )  # fmt: skip

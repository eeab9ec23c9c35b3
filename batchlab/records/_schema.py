"""A cell as a line of a file, and a line as a cell.

    Cell  <->  {"kind": "cell", "schema": 2, "rows": 8, "step_seconds": [...], ...}

A line is flat, but for `model` and `environment`. Lines without a schema number are older: they
hold the same keys. What this version does not know of a line is kept in `Cell.more` and written
back; a schema that is newer than this version is refused.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any, TypeVar

from batchlab.counts import Counts
from batchlab.records._cell import Cell, Identity, Json, Model, Parts

__all__ = ["SCHEMA", "as_record", "cell", "is_cell", "require_sums"]

SCHEMA = 2
FLAT = {"identity": Identity, "counts": Counts, "parts": Parts}  # their fields stand in the line
Part = TypeVar("Part")


def is_cell(record: Mapping[str, Json]) -> bool:
    return record.get("kind", "cell") == "cell"


def as_record(one: Cell) -> dict[str, Json]:
    """The line of a cell, ready for `append`."""
    found: dict[str, Json] = {"kind": "cell", "schema": SCHEMA}
    for name, value in vars(one).items():
        if name in FLAT:
            found |= asdict(value)
        elif name != "more":
            found[name] = list(value) if isinstance(value, tuple) else value
    return found | dict(one.more)


def cell(record: Mapping[str, Json], *, where: str = "a record") -> Cell:
    """The cell of one line; `where` names file and line in the refusal of what is no cell.

    >>> cell({"rows": 8, "layout": "padded", "status": "ok"}, where="run.jsonl, line 3")
    Traceback (most recent call last):
        ...
    ValueError: run.jsonl, line 3: no cell, it lacks checkpointing, precision; `batchlab sweep` \
and `monitor` write cells
    """
    schema = record.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise ValueError(
            f"{where}: schema {schema!r:.20} is newer than the {SCHEMA} that this version of "
            "batchlab reads: update batchlab"
        )
    needed = [one.name for one in fields(Cell) if _is_needed(one)] + ["status"]
    lacks = [name for name in needed if record.get(name) is None]
    if lacks:
        raise ValueError(
            f"{where}: no cell, it lacks {', '.join(lacks)}; `batchlab sweep` and `monitor` write "
            "cells"
        )
    left = {name: value for name, value in record.items() if name not in ("kind", "schema")}
    try:
        model = left.pop("model", None) or {}
        if not isinstance(model, Mapping):
            raise ValueError(f"model must be an object, got {model!r:.40}")
        left["model"] = _part(Model, dict(model))  # type: ignore[assignment]
        inside: dict[str, Any] = {name: _part(kind, left) for name, kind in FLAT.items()}
        own = [one.name for one in fields(Cell) if one.name not in (*FLAT, "more")]
        flat: dict[str, Any] = {name: left.pop(name) for name in own if name in left}
        for name, value in flat.items():
            if isinstance(value, list):
                flat[name] = tuple(value)
        if isinstance(lists := flat.get("step_parts"), Mapping):
            flat["step_parts"] = {
                part: tuple(each) if isinstance(each, list) else each
                for part, each in lists.items()
            }
        return Cell(**{k: v for k, v in flat.items() if v is not None}, **inside, more=left)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def require_sums(one: Cell, where: str) -> None:
    """Refuse a total that its steps do not add up to: both stand in the line of a measurement."""
    told: list[tuple[str, float | None, Sequence[float] | None]] = [
        ("seconds", one.seconds, one.step_seconds),
        ("slots", one.counts.slots, one.step_slots),
        ("slot_pairs", one.counts.slot_pairs, one.step_slot_pairs),
    ]
    for part, seconds in one.step_parts.items():
        told.append((f"{part}_seconds", getattr(one.parts, f"{part}_seconds"), seconds))
    for name, total, each in told:
        if total is None or each is None:  # nobody knows
            continue
        if not math.isclose(total, sum(each), rel_tol=1e-6, abs_tol=1e-9):
            raise ValueError(
                f"{where}: {name} is {total}, its steps add up to {sum(each)}: "
                "this line is not as it was measured"
            )


def _part(kind: type[Part], left: dict[str, Any]) -> Part:
    """Take the fields of a part out of a line."""
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    given = {name: left.pop(name) for name in names if name in left}
    return kind(**{name: value for name, value in given.items() if value is not None})


def _is_needed(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING

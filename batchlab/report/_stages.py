"""What `benchmarks/gpu_run.py` measured, stage by stage, and on whose machine.

    lines of kind "gpu"  ->  a table for each stage

The unit of a value stands in the name of its key, so a stage to come needs no line here.

Words
    stage  one thing that the run measures: all its lines hold the same keys
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab import units
from batchlab.report._tables import table

__all__ = ["KIND", "replay", "stage_text", "stages"]

KIND = "gpu"
ENDS = ("done", "failed", "left_out")  # lines about a stage, and not of one
ABOUT = ("kind", "stage", "small", "environment")
UNITS: Mapping[str, Callable[[Any], str]] = {
    "per_second": lambda value: f"{value:.3g}/s",
    "seconds": units.duration,
    "bytes": units.size,
    "share": units.share,
    "waste": units.share,
    "error": units.share,
}
NONE = "No record of {stage} comes with the library yet: `make gpu-run` says how to measure it."


def stages(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The lines of each stage that was measured, in the order of the run."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        if line.get("kind") == KIND and line.get("stage") not in ENDS:
            found.setdefault(str(line.get("stage")), []).append(line)
    return found


def stage_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """One stage: the machine and the day, then all its values in a table."""
    first = lines[0]
    name = str(first["stage"]).replace("_", " ")
    from batchlab import records

    head = f"{name}, on {records.machine(first.get('environment') or {})}"
    if first.get("small"):
        head += " (a rehearsal in small form: its numbers mean nothing)"
    keys = list(dict.fromkeys(key for line in lines for key in line if _is_shown(key, line)))
    rows = [[_text(key, line.get(key)) for key in keys] for line in lines]
    return f"{head}:\n\n{table([key.replace('_', ' ') for key in keys], rows)}"


def replay(stage: str, *, record: str = "run") -> str:
    """A stage of the record that comes with the library, or one line that there is none.

    >>> print(replay("knee", record="none"))
    No record of knee comes with the library yet: `make gpu-run` says how to measure it.
    """
    from batchlab import records

    try:
        found = stages(records.read(record))
    except ValueError:
        return NONE.format(stage=stage)
    return stage_text(found[stage]) if stage in found else NONE.format(stage=stage)


def _is_shown(key: str, line: Mapping[str, Any]) -> bool:
    return key not in ABOUT and not isinstance(line[key], list | tuple | dict)


def _text(key: str, value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return value
    for ending, shown in UNITS.items():
        if key.endswith(ending):
            return shown(value)
    return units.count(value) if isinstance(value, int) else f"{value:.3g}"

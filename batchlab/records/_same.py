"""Which cells may stand in one table or one diagnosis: of one origin, each measured once.

cells, why they are put together  ->  nothing, or a ValueError that says what differs
"""

from collections import Counter
from collections.abc import Iterable

from batchlab.records._cell import Cell

__all__ = ["require_same"]

ORIGIN = ("model_fingerprint", "data_fingerprint", "device", "data_parallel")


def require_same(cells: Iterable[Cell], why: str, *, precision: bool = False) -> None:
    """Refuse cells of two models, data sets or devices; with `precision`, of two precisions.

    A record of `monitor` that stands twice is refused, too, as where files were joined.
    """
    cells = list(cells)
    _require_once(cells)
    settings = [dict(cell.setting) for cell in cells]
    for name in (*ORIGIN, *["precision"] * precision):
        values = sorted({str(one[name]) for one in settings})
        if len(values) > 1:
            raise ValueError(f"the records differ in {name} ({', '.join(values)}): {why}")


def _require_once(cells: list[Cell]) -> None:
    """ValueError where steps of a launch stand twice: intervals would shrink."""
    told = Counter(
        (one.run, one.ranks, one.source, str(one.more["last_step"]))
        for one in cells
        if "last_step" in one.more and one.repeats == 1
    )
    again = [one for one, times in told.items() if times > 1]
    if again:
        run, _, _, last = again[0]
        raise ValueError(
            f"{len(again)} of {len(told)} records stand there more than once, as that of run "
            f"{run} up to its step {last}: what was measured once counts once"
        )

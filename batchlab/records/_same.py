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

    A record that stands twice is refused, too, as where a file was joined with its copy.
    """
    cells = list(cells)
    _require_once(cells)
    settings = [dict(cell.setting) for cell in cells]
    for name in (*ORIGIN, *["precision"] * precision):
        values = sorted({str(one[name]) for one in settings})
        if len(values) > 1:
            raise ValueError(f"the records differ in {name} ({', '.join(values)}): {why}")


def _require_once(cells: list[Cell]) -> None:
    """ValueError where a record stands twice: intervals would shrink."""
    placed = [one for one in cells if one.repeats == 1 and (one.date or "last_step" in one.more)]
    told = Counter(map(_line, placed))
    again = [one for one in placed if told[_line(one)] > 1]
    if again:
        one, some = again[0], len(set(map(_line, again)))
        until = one.more.get("last_step")
        of_run = f"run {one.run} " + (f"up to its step {until}" if until else f"of {one.date}")
        of_sweep = f"round {one.round} at rows {one.rows}, {one.layout}"
        raise ValueError(
            f"{some} of {len(told)} records stand there more than once, as that of "
            f"{of_sweep if one.round is not None else of_run}: what was measured once counts once"
        )


def _line(one: Cell) -> tuple[object, ...]:
    """What no two records share: they would have begun and ended in the same moments."""
    last = str(one.more.get("last_step"))
    return one.setting, one.ranks, one.source, one.run, one.round, one.date, one.seconds, last

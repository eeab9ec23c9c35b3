"""What a sweep measured: useful tokens per second with its spread, memory, and the knee.

    records  ->  Throughput: one Line a cell, and what the prices say between the cells

Only records of one model, on the same data, on one device stand in one table. A cell is also
predicted from the prices of all *other* cells, so that the error is one of prediction and not
of fit.

Words
    line    a cell: its finished visits together, and how many ran out of memory
    knee    rows from which on rows without padding reach nine tenths of their best rate
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from batchlab import roofline
from batchlab.doctor import prices
from batchlab.doctor._diagnosis import layout_order, useful_rate
from batchlab.doctor.prices import PROBE, StepCost
from batchlab.records import Cell, require_same

__all__ = ["KNEE", "Line", "Prediction", "Throughput", "summarize"]

KNEE = 0.9  # of the best rate: the b_90 of `doctor`


@dataclass(frozen=True)
class Line:
    """One cell of the table."""

    cell: Cell  # its finished visits together; of a cell that never finished, the first visit
    visits: tuple[Cell, ...]

    @property
    def finished(self) -> tuple[Cell, ...]:
        return tuple(visit for visit in self.visits if visit.finished)

    @property
    def out_of_memory(self) -> int:
        return sum(visit.status == "out_of_memory" for visit in self.visits)

    @property
    def rate(self) -> float:
        """Useful tokens per second: all tokens over all seconds, as the doctor counts."""
        return useful_rate(self.cell)

    @property
    def slowest(self) -> float:
        return min(useful_rate(visit) for visit in self.finished)

    @property
    def fastest(self) -> float:
        return max(useful_rate(visit) for visit in self.finished)

    @property
    def rounds(self) -> str:
        """How many finished, and of how many if not all did."""
        done, of = len(self.finished), len(self.visits)
        return f"{done}" if done == of else f"{done} of {of}"

    @property
    def waste(self) -> float:
        return self.cell.waste

    @property
    def step_seconds(self) -> float:
        return self.cell.mean_step_seconds

    @property
    def peak_bytes(self) -> int | None:
        """The largest of the visits; None where the device counts none."""
        return self.cell.peak_bytes if self.finished else None


@dataclass(frozen=True)
class Prediction:
    """A step of one cell, priced by the other cells, beside its measured time."""

    line: Line
    predicted_seconds: float

    @property
    def measured_seconds(self) -> float:
        return self.line.step_seconds

    @property
    def error(self) -> float:
        """Predicted / measured - 1."""
        return self.predicted_seconds / self.measured_seconds - 1


@dataclass(frozen=True)
class Throughput:
    """The cells of one model on one device, in order of layout and rows."""

    lines: tuple[Line, ...]

    @property
    def finished(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.finished)

    @property
    def best(self) -> Line:
        return max(self.finished, key=lambda line: line.rate)

    @property
    def unrest(self) -> float:
        """The fastest round of a cell over its slowest, where they differ most."""
        return max((line.fastest / line.slowest for line in self.finished), default=1.0)

    def name_of(self, line: Line) -> str:
        """Layout, and what else sets the line apart from lines of the same rows."""
        several = len({one.cell.precision for one in self.lines}) > 1
        extra = [line.cell.precision] * several + ["checkpointing"] * line.cell.checkpointing
        return ", ".join([line.cell.layout, *extra])

    @cached_property
    def cost(self) -> StepCost:
        """The prices behind all finished cells; refused where they are too few or mixed."""
        return _prices([line.cell for line in self.finished])

    @cached_property
    def row_seconds(self) -> float:
        """What one more row without padding costs, with its share of optimizer and input."""
        cells = [line.cell for line in self.finished]
        rows = sum(cell.documents for cell in cells)
        tokens = sum(cell.real_tokens for cell in cells)
        pairs = sum(cell.real_pairs for cell in cells)
        work = self.cost.slot_seconds * tokens + self.cost.pair_seconds * pairs
        return (work + sum(cell.parts.total_seconds for cell in cells)) / rows

    @property
    def knee_rows(self) -> float:
        return roofline.rows_to_saturate(self.cost.fixed_seconds, self.row_seconds, KNEE)

    def rate_without_padding(self, rows: float) -> float:
        """Useful tokens per second of micro-batches of `rows` if no slot were padding."""
        cells = [line.cell for line in self.finished]
        tokens = sum(c.real_tokens for c in cells) / sum(c.documents for c in cells)
        return rows * tokens / (self.cost.fixed_seconds + rows * self.row_seconds)

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """Each finished cell that the others can price: they must still be of three sizes."""
        found = []
        for line in self.finished:
            others = [other.cell for other in self.finished if other is not line]
            if others and _sizes(others) >= 3:
                found.append(Prediction(line, _seconds(line.cell, _prices(others))))
        return tuple(found)


def summarize(measured: Iterable[Cell]) -> Throughput:
    """Put the visits of each cell together, and refuse what cannot be compared.

    Passes of a probe take no optimizer step: they are no line.
    """
    visits = [visit for visit in measured if visit.source != PROBE]
    if not visits:
        raise ValueError("no cell records: run `batchlab sweep`, or record a run with `monitor`")
    require_same(visits, "one table compares one model on the same data, on one device")
    lines = [
        Line(cell, tuple(visit for visit in visits if visit.setting == cell.setting))
        for cell in prices.merge(visits)
    ]
    return Throughput(tuple(sorted(lines, key=lambda line: _order(line.cell))))


def _prices(cells: list[Cell]) -> StepCost:
    precisions = sorted({str(cell.precision) for cell in cells})
    if len(precisions) > 1:
        raise ValueError(f"one set of prices holds for one precision, not {', '.join(precisions)}")
    return prices.fit(cells)


def _sizes(cells: list[Cell]) -> int:
    return len({cell.slots / cell.micro_batches for cell in cells})


def _seconds(cell: Cell, cost: StepCost) -> float:
    """What a step of this cell costs at these prices, with its own optimizer and input."""
    own = cost.seconds(
        micro_batches=cell.micro_batches,
        slots=cell.slots,
        pairs=cell.slot_pairs,
        checkpointing=cell.checkpointing,
    )
    return (own + cell.parts.total_seconds) / cell.steps


def _order(cell: Cell) -> tuple[int, str, str, bool, int, int]:
    kind = layout_order(cell.layout), cell.layout, cell.precision, cell.checkpointing
    return (*kind, cell.rows, cell.accumulation or 0)

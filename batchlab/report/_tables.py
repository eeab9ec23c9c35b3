"""Text that a person likes to read: aligned tables of what was counted and measured.

    headers, rows  ->  text

Numbers stand right, words stand left; a report computes nothing that its arguments do not hold.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batchlab import units
from batchlab.padding import Padding

if TYPE_CHECKING:
    from batchlab.doctor.throughput import Throughput

UNREST = 1.3  # rounds of one cell that differ by more say little of the next cell

__all__ = ["cell_table", "knee_text", "padding_rows", "peak_table", "prediction_table", "table"]


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, align: str = "") -> str:
    """Align columns: a column whose entries all begin with a digit, sign or dash stands right.

    `align` says otherwise, with one letter a column: l for left, r for right.

    >>> print(table(["rows", "waste"], [[8, "64.9 %"], [16, "72.5 %"]]))
    rows   waste
    ----  ------
       8  64.9 %
      16  72.5 %
    """
    texts = [[_text(value) for value in row] for row in rows]
    for number, row in enumerate(texts):
        if len(row) != len(headers):
            raise ValueError(f"row {number} has {len(row)} entries for {len(headers)} headers")
    widths = [max(len(row[i]) for row in [list(headers), *texts]) for i in range(len(headers))]
    if align and (len(align) != len(headers) or set(align) - {"l", "r"}):
        raise ValueError(f"align needs l or r for each of {len(headers)} columns, got {align!r}")
    right = [letter == "r" for letter in align] or [
        all(_is_number(row[i]) for row in texts) and bool(texts) for i in range(len(headers))
    ]
    lines = [list(headers), ["-" * width for width in widths], *texts]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def padding_rows(measured: Mapping[str, Padding]) -> list[list[str]]:
    """One line for each way of batching: slots, padding, waste."""
    return [
        [name, units.count(p.slots), units.count(p.pad_tokens), units.share(p.waste)]
        for name, p in measured.items()
    ]


def cell_table(throughput: "Throughput") -> str:
    """The cells of a Throughput: useful tokens per second with their spread, waste, memory."""
    counted = any(line.peak_bytes for line in throughput.lines)
    rows = []
    for line in throughput.lines:
        row: list[object] = [throughput.name_of(line), line.cell.rows, line.cell.accumulation or ""]
        if line.finished:
            spread = f"{units.count(line.slowest)} to {units.count(line.fastest)}"
            row += [units.count(line.rate), spread if len(line.finished) > 1 else "", line.rounds]
            row += [units.share(line.waste)]
            row += [units.size(line.peak_bytes) if line.peak_bytes else ""] if counted else []
        else:
            status = str(line.cell.status).replace("_", " ")
            row += ["", status, line.rounds, ""] + [""] * counted
        rows.append(row)
    headers = ["layout", "rows", "accumulation", "useful tokens/s", "slowest to fastest round",
               "rounds", "waste"]  # fmt: skip
    text = table([*headers, *["peak memory"] * counted], rows, align="lrrrrrr" + "r" * counted)
    if throughput.unrest < UNREST:
        return text
    apart = f"rounds of one cell differ by up to {throughput.unrest:.1f} x"
    again = "Measure again on a quiet machine, with more rounds."
    return f"{text}\n\nBe careful: {apart}. {again}"


def knee_text(throughput: "Throughput", share: float) -> str:
    """Where rows stop to pay, and which cell is the fastest."""
    knee, best, first = throughput.knee_rows, throughput.best, throughput.finished[0]
    where = f"from {knee:.1f} rows on" if knee >= 1 else "from the first row on"
    return (
        f"Knee: {where}, rows without padding reach {units.share(share)} of their best rate\n"
        f"({units.duration(throughput.cost.fixed_seconds)} for a micro-batch and "
        f"{units.duration(throughput.row_seconds)} for each of its rows).\n"
        f"Best: {throughput.name_of(best)}, rows {best.cell.rows}, "
        f"{best.rate / first.rate:.2f} x the useful tokens/s of {throughput.name_of(first)}, "
        f"rows {first.cell.rows}."
    )


def prediction_table(throughput: "Throughput") -> str:
    """Steps of a Throughput, each priced by the other cells, beside what was measured."""
    rows = [
        [throughput.name_of(one.line), one.line.cell.rows, units.duration(one.predicted_seconds),
         units.duration(one.measured_seconds), f"{100 * one.error:+.1f} %"]
        for one in throughput.predictions
    ]  # fmt: skip
    return table(["layout", "rows", "predicted step", "measured", "off by"], rows, align="lrrrr")


def peak_table(peaks: Sequence[Mapping[str, Any]]) -> str:
    """Peaks of memory, predicted and measured, with what the prediction is off by."""
    rows = [
        [one["rows"], one["length"], bool(one.get("checkpointing")),
         units.size(one["predicted_bytes"]), units.size(one["measured_bytes"]),
         f"{100 * (one['predicted_bytes'] / one['measured_bytes'] - 1):+.2f} %"]
        for one in peaks
    ]  # fmt: skip
    headers = ["rows", "length", "checkpointing", "predicted peak", "measured", "off by"]
    return table(headers, rows, align="rrlrrr")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return units.count(value) if isinstance(value, int) else str(value)


def _is_number(text: str) -> bool:
    return not text or text[0].isdigit() or text[0] in "-+." or text == "inf"

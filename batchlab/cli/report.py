"""Show what was measured: useful tokens per second by rows and layout, memory, and the knee.

RECORDS are files of `batchlab sweep` or `monitor`, or records that come with the library, by name.
Without any: the last `batchlab sweep` (runs/sweep.jsonl); where there is none, a small sweep of the
embedded default is measured first. `--figure FOLDER` draws every figure that the records allow,
`--figure FILE` the throughput alone.
"""

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

from batchlab import data as data_room
from batchlab import records, report, units
from batchlab.cli import _measuring as measuring
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.doctor import throughput
from batchlab.records import Cell, Records
from batchlab.report import figures

__all__ = ["arguments", "run"]

LAST_SWEEP = options.RUNS / "sweep.jsonl"
ROWS, LAYOUTS, DOCUMENTS = (1, 2, 4, 8), ("padded", "packed"), 8  # under a minute on two cores
PEAK = ("rows", "length", "predicted_bytes", "measured_bytes")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the records and where to draw them."""
    parser.add_argument("records", nargs="*", metavar="RECORDS", help=".jsonl files or names")
    options.offer(parser, "figure")


def run(args: argparse.Namespace) -> Answer:
    """Read or measure, and put what is there into tables."""
    source, cells, read, torn = _read(args.records)
    peaks = [one for one in read if one.get("kind") == "peak"]
    kinds = {str(one.get("kind", "cell")) for one in read}
    others = sorted(kinds - {"cell", "peak", "gpu"})
    stages = report.stages(read)
    if not cells and not peaks and not stages:
        raise ValueError(f"{source}: no records of cells or peaks, only {', '.join(others)}")
    summary = throughput.summarize(cells) if cells else None
    _require_peaks(peaks, cells)
    data: dict[str, Any] = {
        "records": source,
        "cut_off": [one.name for one in torn],
        "other_kinds": others,
    }
    text = [f"Records: {source}"]
    if summary:
        more, data = _of_cells(summary, data)
        text += more
    if peaks:
        where = records.machine(peaks[0].get("environment") or {})
        text.append(f"Peaks of memory, on {where}:\n\n{report.peak_table(peaks)}")
        data["peaks"] = peaks
    if stages:
        text += [report.stage_text(lines) for lines in stages.values()]
        data["stages"] = stages
    text += [one.left_out() for one in torn]
    text += [f"Left out: records of kind {kind}." for kind in others]
    if args.figure:
        material = figures.Material(summary, peaks, data.get("predicted_peak_bytes"))
        drawn, missing = figures.draw(args.figure, material)
        data |= {"figures": drawn, "figures_missing": missing}
        lines = [f"Drawn: {path}" for path in drawn]
        text.append("\n".join(lines + [f"Not drawn: {n} ({why})" for n, why in missing.items()]))
    return Answer(data, "\n\n".join(text))


def _read(names: list[str]) -> tuple[str, list[Cell], list[dict[str, Any]], list[Records]]:
    """Where the records come from, their cells, all lines, and the files with one cut off."""
    if not names and not LAST_SWEEP.exists():
        return "measured now, not kept (`batchlab sweep` keeps them)", _measured(), [], []
    names = names or [str(LAST_SWEEP)]
    cells: list[Cell] = []
    lines: list[dict[str, Any]] = []
    torn: list[Records] = []
    for name in names:
        one = records.read(name)
        if not one:
            raise ValueError(f"{name}: no line of it is a whole record")
        cells += one.cells()
        lines += one
        torn += [one] if one.torn else []
    return ", ".join(names), cells, lines, torn


def _measured() -> list[Cell]:
    from batchlab import sweep

    prepared = measuring.prepare(argparse.Namespace(model=None, data=None, field=None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.jsonl"
        precision = options.precision(None, options.place(None))
        points = sweep.grid(ROWS, LAYOUTS, precisions=[precision])
        return measuring.measure(prepared, points, path, DOCUMENTS, rounds=3)


def _require_peaks(peaks: list[dict[str, Any]], cells: list[Cell]) -> None:
    models = {one.identity.model_fingerprint for one in cells}
    models |= {one.get("model_fingerprint") and str(one["model_fingerprint"]) for one in peaks}
    known = sorted(str(name) for name in models - {None})
    if peaks and len(known) > 1:
        raise ValueError(f"the records differ in model_fingerprint ({', '.join(known)})")
    for number, one in enumerate(peaks, start=1):
        lacking = [key for key in PEAK if not _is_size(one.get(key))]
        if lacking:
            raise ValueError(f"peak record {number} lacks {', '.join(lacking)}: numbers above 0")
        if not isinstance(one.get("environment", {}), dict):
            raise ValueError(f"peak record {number}: environment must be an object")


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf


def _of_cells(
    summary: throughput.Throughput, data: dict[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """The table of cells, then the knee and the predictions, or why there are none."""
    text = [_heading(summary), report.cell_table(summary)]
    data = data | {"cells": [_line_data(line) for line in summary.lines], "knee": None}
    if not any(line.peak_bytes for line in summary.lines):
        predicted = figures.predicted_memory(summary)
        data["predicted_peak_bytes"] = predicted
        text.append(_memory_text(predicted))
    try:
        data["knee"] = {
            "rows": summary.knee_rows,
            "share_of_best": throughput.KNEE,
            "fixed_seconds": summary.cost.fixed_seconds,
            "row_seconds": summary.row_seconds,
            "fit_relative_error": summary.cost.relative_error,
        }
    except ValueError as error:
        return [*text, f"No knee: {error}."], data | {"knee_missing": str(error)}
    text.append(report.knee_text(summary, throughput.KNEE))
    data["predictions"] = [
        {
            "layout": summary.name_of(one.line),
            "rows": one.line.cell.rows,
            "predicted_step_seconds": one.predicted_seconds,
            "measured_step_seconds": one.measured_seconds,
        }
        for one in summary.predictions
    ]
    if summary.predictions:
        table = report.prediction_table(summary)
        text.append(f"Each cell, predicted from the prices of the others:\n\n{table}")
    return text, data


def _memory_text(predicted: dict[int, dict[str, int]] | None) -> str:
    begin = "This device counts no peak of memory;"
    if not predicted:
        return f"{begin} `batchlab memory --model NAME` predicts it."
    kinds = list(next(iter(predicted.values())))
    rows = [
        [n, *(units.size(held[kind]) for kind in kinds), units.size(sum(held.values()))]
        for n, held in predicted.items()
    ]
    table = report.table(["rows", *kinds, "peak"], rows)
    return f"{begin} predicted for rows of {data_room.DEFAULT_LONGEST} slots:\n\n{table}"


def _heading(summary: throughput.Throughput) -> str:
    cell = summary.lines[0].cell
    model, data = cell.identity.model, cell.identity.data
    size = f" ({units.count(model.parameters)} parameters)" if model.parameters else ""
    name = "unknown model" if model.name == "unknown" else model.name
    return f"{name}{size} on {data or 'unknown data'}; {records.machine(cell.environment)}"


def _line_data(line: throughput.Line) -> dict[str, Any]:
    names = ("layout", "rows", "accumulation", "checkpointing", "precision")
    data = {name: getattr(line.cell, name) for name in names}
    data |= {"rounds": len(line.finished), "out_of_memory": line.out_of_memory}
    if line.finished:
        data |= {
            "useful_tokens_per_second": line.rate,
            "slowest_round": line.slowest,
            "fastest_round": line.fastest,
            "step_seconds": line.step_seconds,
            "waste": line.waste,
            "peak_bytes": line.peak_bytes,
        }
    return data

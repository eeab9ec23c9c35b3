"""Show what was measured: useful tokens per second by rows and layout, memory, and the knee.

RECORDS are files of `batchlab sweep` or `monitor`, or records that come with the library, by name.
Without any: the last `batchlab sweep` (runs/sweep.jsonl); where there is none, a small sweep of the
embedded default is measured first. `--figure FOLDER` draws every figure that the records allow,
`--figure FILE` the throughput alone.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from batchlab import data as data_room
from batchlab import records, report, units
from batchlab.cli import _measuring as measuring
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.doctor import throughput
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
    source, read, torn = _read(args.records)
    cells = [one for one in read if one.get("kind", "cell") == "cell"]
    peaks = [one for one in read if one.get("kind") == "peak"]
    others = sorted({str(one["kind"]) for one in read if one.get("kind", "cell") != "cell"})
    others = [kind for kind in others if kind != "peak"]
    if not cells and not peaks:
        raise ValueError(f"{source}: no records of cells or peaks, only {', '.join(others)}")
    found = throughput.summarize(cells) if cells else None
    _require_peaks(peaks, [*cells, *peaks])
    data: dict[str, Any] = {"records": source, "cut_off": torn, "other_kinds": others}
    text = [f"Records: {source}"]
    if found:
        more, data = _of_cells(found, data)
        text += more
    if peaks:
        text.append(f"Peaks of memory:\n\n{report.peak_table(peaks)}")
        data["peaks"] = peaks
    text += [f"A line of {name} was cut off by a kill and is left out." for name in torn]
    text += [f"Left out: records of kind {kind}." for kind in others]
    if args.figure:
        material = figures.Material(found, peaks, data.get("predicted_peak_bytes"))
        drawn, missing = figures.draw(args.figure, material)
        data |= {"figures": drawn, "figures_missing": missing}
        lines = [f"Drawn: {path}" for path in drawn]
        text.append("\n".join(lines + [f"Not drawn: {n} ({why})" for n, why in missing.items()]))
    return Answer(data, "\n\n".join(text))


def _read(names: list[str]) -> tuple[str, list[dict[str, Any]], list[str]]:
    """Where the records come from, the records, and the files with a line that was cut off."""
    if not names and not LAST_SWEEP.exists():
        return "measured now, not kept (`batchlab sweep` keeps them)", _measured(), []
    names = names or [str(LAST_SWEEP)]
    found: list[dict[str, Any]] = []
    torn = []
    for name in names:
        one = records.read(name)
        if not one:
            raise ValueError(f"{name}: its only line was cut off, there is no record in it")
        found += one
        torn += [name] if one.torn else []
    return ", ".join(names), found, torn


def _measured() -> list[dict[str, Any]]:
    from batchlab import sweep

    setting = measuring.prepare(argparse.Namespace(model=None, data=None, field=None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.jsonl"
        return list(
            measuring.measure(setting, sweep.grid(ROWS, LAYOUTS), path, DOCUMENTS, rounds=3)
        )


def _require_peaks(peaks: list[dict[str, Any]], every: list[dict[str, Any]]) -> None:
    models = sorted({str(one["model_fingerprint"]) for one in every if "model_fingerprint" in one})
    if peaks and len(models) > 1:
        raise ValueError(f"the records differ in model_fingerprint ({', '.join(models)})")
    for number, one in enumerate(peaks, start=1):
        lacking = [key for key in PEAK if not one.get(key)]
        if lacking:
            raise ValueError(f"peak record {number} lacks {', '.join(lacking)}")


def _of_cells(
    found: throughput.Throughput, data: dict[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """The table of cells, then the knee and the predictions, or why there are none."""
    text = [_heading(found), report.cell_table(found)]
    data = data | {"cells": [_line_data(found, line) for line in found.lines], "knee": None}
    if not any(line.peak_bytes for line in found.lines):
        predicted = figures.predicted_memory(found)
        data["predicted_peak_bytes"] = predicted
        text.append(_memory_text(predicted))
    try:
        data["knee"] = {
            "rows": found.knee_rows,
            "share_of_best": throughput.KNEE,
            "fixed_seconds": found.cost.fixed_seconds,
            "row_seconds": found.row_seconds,
            "fit_relative_error": found.cost.relative_error,
        }
    except ValueError as error:
        return [*text, f"No knee: {error}."], data | {"knee_missing": str(error)}
    text.append(report.knee_text(found, throughput.KNEE))
    data["predictions"] = [
        {
            "layout": found.name_of(one.line),
            "rows": one.line.cell["rows"],
            "predicted_step_seconds": one.predicted_seconds,
            "measured_step_seconds": one.measured_seconds,
        }
        for one in found.predictions
    ]
    if found.predictions:
        table = report.prediction_table(found)
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


def _heading(found: throughput.Throughput) -> str:
    cell = found.lines[0].cell
    model, machine = cell.get("model") or {}, cell.get("environment") or {}
    size = f" ({units.count(model['parameters'])} parameters)" if "parameters" in model else ""
    date = str(machine.get("date", ""))[:10]
    return (
        f"{model.get('name', 'unknown model')}{size} on {cell.get('data', 'unknown data')}; "
        f"{records.device_of(cell) or 'unknown device'}{', ' * bool(date)}{date}"
    )


def _line_data(found: throughput.Throughput, line: throughput.Line) -> dict[str, Any]:
    names = ("layout", "rows", "accumulation", "checkpointing", "precision")
    data = {name: line.cell.get(name) for name in names}
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

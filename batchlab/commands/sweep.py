"""Measure real training steps over rows, layouts and checkpointing.

Every cell trains on the same documents. Records go to a file, one line each as soon as it is
measured; a sweep that was stopped goes on where it was when the same command is given again.
"""

import argparse
from pathlib import Path
from typing import Any

from batchlab import report, stepcost, units
from batchlab.commands import Answer, measuring, plot_option

__all__ = ["arguments", "cell_rows", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer model, data, the grid and the file of records."""
    measuring.add(parser)
    parser.add_argument(
        "--layout", nargs="+", default=["padded", "packed"], help="padded, bucketed, packed"
    )
    parser.add_argument(
        "--checkpointing", action="store_true", help="measure each cell with recomputation as well"
    )
    parser.add_argument(
        "--precision", nargs="+", default=["float32"], metavar="P", help="float32, bfloat16, "
        "autocast-bfloat16, autocast-float16"
    )  # fmt: skip
    parser.add_argument("--output", type=Path, default=Path("runs/sweep.jsonl"), metavar="FILE")
    plot_option(parser)


def run(args: argparse.Namespace) -> Answer:
    """Measure what is missing of the grid, and show all of it."""
    from batchlab import sweep

    again = (False, True) if args.checkpointing else (False,)
    cells = sweep.grid(args.rows, args.layout, again, args.precision)
    visits = measuring.measure(measuring.prepare(args), cells, args.output, args.documents)
    merged = sorted(stepcost.merge(visits), key=lambda cell: (_setting(cell), cell["rows"]))
    text = f"{report.table(HEADERS, cell_rows(merged))}\n\nRecords: {args.output}"

    def figure() -> Any:
        from batchlab import plots

        series: dict[str, tuple[list[int], list[float]]] = {}
        for cell in merged:
            if cell["status"] == "ok":
                rows, rates = series.setdefault(_setting(cell), ([], []))
                rows.append(cell["rows"])
                rates.append(cell["real_tokens"] / cell["seconds"])
        return plots.lines(
            series, title="Useful tokens per second", x="rows", y="tokens/s", log_x=True
        )

    return Answer({"records": str(args.output), "cells": merged}, text, figure)


HEADERS = ["setting", "rows", "accumulation", "step", "slots/step", "waste", "useful tokens/s"]


def cell_rows(merged: list[dict[str, Any]]) -> list[list[Any]]:
    """One line of the table for each cell."""
    rows = []
    for cell in merged:
        begin = [_setting(cell), cell["rows"], cell["accumulation"]]
        if cell["status"] != "ok":
            rows.append([*begin, "out of memory", "", "", ""])
            continue
        steps = cell["steps"]
        rows.append(
            [
                *begin,
                units.duration(cell["seconds"] / steps),
                round(cell["slots"] / steps),
                units.share(1 - cell["real_tokens"] / cell["slots"]),
                round(cell["real_tokens"] / cell["seconds"]),
            ]
        )
    return rows


def _setting(cell: dict[str, Any]) -> str:
    """What a cell differs in besides its rows."""
    recomputed = ", recomputed" if cell["checkpointing"] else ""
    precision = "" if cell["precision"] == "float32" else f", {cell['precision']}"
    return cell["layout"] + recomputed + precision

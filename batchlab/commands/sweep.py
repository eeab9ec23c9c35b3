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
    parser.add_argument("--output", type=Path, default=Path("runs/sweep.jsonl"), metavar="FILE")
    plot_option(parser)


def run(args: argparse.Namespace) -> Answer:
    """Measure what is missing of the grid, and show all of it."""
    from batchlab import sweep

    cells = sweep.grid(args.rows, args.layout)
    visits = measuring.measure(measuring.prepare(args), cells, args.output, args.documents)
    merged = stepcost.merge(visits)
    text = f"{report.table(HEADERS, cell_rows(merged))}\n\nRecords: {args.output}"

    def figure() -> Any:
        from batchlab import plots

        series = {}
        for layout in args.layout:
            done = [c for c in merged if c["layout"] == layout and c["status"] == "ok"]
            rate = [cell["real_tokens"] / cell["seconds"] for cell in done]
            series[layout] = ([cell["rows"] for cell in done], rate)
        return plots.lines(
            series, title="Useful tokens per second", x="rows", y="tokens/s", log_x=True
        )

    return Answer({"records": str(args.output), "cells": merged}, text, figure)


HEADERS = ["layout", "rows", "accumulation", "step", "slots/step", "waste", "useful tokens/s"]


def cell_rows(merged: list[dict[str, Any]]) -> list[list[Any]]:
    """One line of the table for each cell."""
    rows = []
    for cell in merged:
        begin = [cell["layout"], cell["rows"], cell["accumulation"]]
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

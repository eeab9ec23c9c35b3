"""Measure real training steps over rows, layouts and checkpointing.

Every cell trains on the same documents. Records go to a file, one line each as soon as it is
measured; a sweep that was stopped goes on where it was when the same command is given again.
"""

import argparse
from pathlib import Path

from batchlab import records, report
from batchlab.cli import _measuring as measuring
from batchlab.cli._answer import Answer, plot_option
from batchlab.doctor import throughput
from batchlab.report import figures

__all__ = ["arguments", "run"]


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
    points = sweep.grid(args.rows, args.layout, again, args.precision)
    visits = measuring.measure(measuring.prepare(args), points, args.output, args.documents)
    table = throughput.summarize(visits)
    text = f"{report.cell_table(table)}\n\nRecords: {args.output}"
    lines = [records.as_record(line.cell) for line in table.lines]
    return Answer(
        {"records": str(args.output), "cells": lines},
        text,
        lambda: figures.make("throughput", figures.Material(table, [])),
    )

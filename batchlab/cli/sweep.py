"""Measure real training steps over rows, layouts and precisions.

Every cell trains on the same documents. Records go to a file, one line each as soon as it is
measured; a sweep that was stopped goes on where it was when the same command is given again.
`batchlab report` draws what was measured.
"""

import argparse

from batchlab import records, report
from batchlab.cli import _measuring as measuring
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.doctor import throughput

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer model, data, the grid and the file of records."""
    options.offer(
        parser,
        *measuring.WORDS,
        "layout",
        "precision",
        "device",
        "output",
        several=["rows", "layout", "precision"],
        rows=measuring.ROWS,
        layout=["padded", "packed"],
        output=options.RUNS / "sweep.jsonl",
    )
    group = parser.add_argument_group(options.HOW_IT_IS_TRAINED)
    options.offer(group, "attention", shown={"attention": "that of batchlab.attention"})


def run(args: argparse.Namespace) -> Answer:
    """Measure what is missing of the grid, and show all of it."""
    from batchlab import sweep

    device, documents = options.place(args.device), measuring.documents_per_step(args.rows)
    precisions = args.precision or [options.precision(None, device)]
    points = sweep.grid(args.rows, args.layout, precisions=precisions)
    with records.sole(args.output):
        prepared = measuring.prepare(args)
        visits = measuring.measure(prepared, points, args.output, documents, device=device)
    table = throughput.summarize(visits)
    text = (
        f"{report.cell_table(table)}\n\n"
        f"Steps of {documents} documents on {device}. Records: {args.output}"
    )
    lines = [records.as_record(line.cell) for line in table.lines]
    return Answer({"records": str(args.output), "cells": lines}, text)

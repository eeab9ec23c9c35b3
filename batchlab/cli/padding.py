"""Show what padding costs: by rows, and by the order of the documents.

Each row of a micro-batch is stretched to the longest beside it. The table shows the share of the
slots that then hold padding: exact for random batches, counted for the other orders. `--data` takes
documents, lists of their lengths (.npy, .txt, .json, .jsonl), or `gsm8k`.
"""

import argparse
from typing import Any

import numpy as np

from batchlab import lengths, padding, report, units
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

ROWS = (2, 4, 8, 16, 32, 64)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the data, the rows to compare and the window."""
    options.offer(
        parser,
        *source.WORDS,
        "rows",
        "window",
        "figure",
        several=["rows"],
        shown={"rows": " ".join(map(str, ROWS))},
        window=16,
    )


def run(args: argparse.Namespace) -> Answer:
    """Count the waste of every order at every number of rows."""
    name, tokens = source.lengths_of(args)
    rows_list = args.rows or [rows for rows in ROWS if rows <= len(tokens)] or [1]
    found = {
        "data": name,
        **_summary(tokens),
        "window": args.window,
        "rows": [_measured(tokens, rows, args.window) for rows in rows_list],
    }

    def figure() -> Any:
        from batchlab import plots

        points = {line["rows"]: line["windows"]["waste"] for line in found["rows"]}
        return plots.waste_by_rows(tokens, rows_list, measured={"sorted in windows": points})

    return Answer(found, _text(found), figure)


def _summary(tokens: np.ndarray) -> dict[str, Any]:
    seen = lengths.summary(tokens)
    return {**vars(seen), "mean": seen.mean}


def _measured(tokens: np.ndarray, rows: int, window: int) -> dict[str, Any]:
    """One line of the table, as totals and shares."""
    orders = {
        "in_order": padding.in_order(tokens, rows),
        "windows": padding.in_windows(tokens, rows, window=window, rng=np.random.default_rng(0)),
        "by_length": padding.by_length(tokens, rows),
    }
    line: dict[str, Any] = {
        "rows": rows,
        "expected_longest": padding.expected_longest(tokens, rows),
        "expected_waste": padding.expected_waste(tokens, rows),
    }
    for order, batches in orders.items():
        counted = padding.measure(tokens, batches)
        line[order] = {"slots": counted.slots, "waste": counted.waste}
    return line


def _text(found: dict[str, Any]) -> str:
    lines = [
        [
            str(line["rows"]),
            units.count(line["expected_longest"]),
            units.share(line["expected_waste"]),
            *(units.share(line[order]["waste"]) for order in ("in_order", "windows", "by_length")),
        ]
        for line in found["rows"]
    ]
    headers = ["rows", "longest beside", "random", "as they come", "sorted in windows", "sorted"]
    return "\n".join(
        [
            summary_line(found),
            "",
            "Waste: padding slots / all slots",
            "",
            report.table(headers, lines),
            "",
            f"longest beside, random: exact averages over random batches. sorted in windows: "
            f"shuffled,\nthen sorted within {found['window']} batches at a time.",
            "",
            _advice(found),
        ]
    )


def summary_line(found: dict[str, Any]) -> str:
    """Two lines on the documents: how many, and how long."""
    return (
        f"{found['data']}: {units.several(found['documents'], 'document')}, "
        f"{units.several(found['tokens'], 'token')}\n"
        f"shortest {found['shortest']:,} | median {found['median']:,.0f} | "
        f"mean {found['mean']:,.0f} | 90th percentile {found['p90']:,.0f} | "
        f"longest {found['longest']:,}"
    )


def _advice(found: dict[str, Any]) -> str:
    """What to do about it, in one sentence, at the rows nearest to eight."""
    line = min(found["rows"], key=lambda line: abs(line["rows"] - 8))
    random, sorted_ = line["expected_waste"], line["windows"]["waste"]
    rows = f"{line['rows']} row" + "s" * (line["rows"] > 1)
    if random < 0.05:
        return f"At {rows}, random batches waste {units.share(random)}: leave the order alone."
    if sorted_ < random / 2:
        return (
            f"At {rows}, sorting in windows cuts the waste from {units.share(random)} to "
            f"{units.share(sorted_)} and keeps\nthe batches shuffled; `batchlab pack` shows what "
            "packing leaves."
        )
    return (
        f"At {rows}, random batches waste {units.share(random)} and windows of "
        f"{found['window']} batches still {units.share(sorted_)}:\nwiden --window, or pack "
        "(`batchlab pack`)."
    )

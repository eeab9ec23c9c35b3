"""Put whole documents into rows of one length, and compare with padding.

The bound is the number of rows that no packing can do without: where it is reached, the packing is
proven to be the best there is. `--data` takes documents, lists of their lengths (.npy, .txt, .json,
.jsonl), or `gsm8k`.
"""

import argparse
from typing import Any

import numpy as np

from batchlab import packing, padding, report, units
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

COMPARED_ROWS, WINDOW = 8, 16


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the data, the row and the two policies of packing."""
    options.offer(
        parser,
        *source.WORDS,
        "length",
        "method",
        "too_long",
        "figure",
        length=2048,
        method=packing.METHODS[0],
        shown={"too_long": "refuse; of the embedded documents, split"},
    )


def run(args: argparse.Namespace) -> Answer:
    """Pack the documents and count what padding would have cost them."""
    name, tokens = source.lengths_of(args)
    policy = args.too_long or ("refuse" if args.data else "split")
    packed = packing.pack(tokens, args.length, method=args.method, too_long=policy)
    pieces = packed.piece_lengths[packed.row_of >= 0]
    found = {
        "data": name,
        "documents": len(tokens),
        "tokens": int(tokens.sum()),
        "row_length": packed.row_length,
        "method": packed.method,
        "too_long": policy,
        "row_count": packed.row_count,
        "lower_bound": packed.lower_bound,
        "is_optimal": packed.is_optimal,
        "real_tokens": packed.real_tokens,
        "slots": packed.slots,
        "fill": packed.fill,
        "cut_documents": packed.cut_documents,
        "cut_tokens": packed.cut_tokens,
        "dropped_documents": packed.dropped,
        "padded": _padded(pieces),
    }

    def figure() -> Any:
        from batchlab import plots

        return plots.packing_rows(packed)

    return Answer(found, _text(found), figure)


def _padded(pieces: np.ndarray) -> dict[str, dict[str, float]]:
    """The same tokens in padded micro-batches, for comparison."""
    rows = min(COMPARED_ROWS, len(pieces))
    orders = {
        "in_order": padding.in_order(pieces, rows),
        "windows": padding.in_windows(pieces, rows, window=WINDOW, rng=np.random.default_rng(0)),
    }
    measured = {order: padding.measure(pieces, batches) for order, batches in orders.items()}
    return {
        order: {"rows": rows, "slots": counted.slots, "waste": counted.waste}
        for order, counted in measured.items()
    }


def _text(found: dict[str, Any]) -> str:
    in_order, windows = found["padded"]["in_order"], found["padded"]["windows"]
    ways = [
        (f"padded as they come, {in_order['rows']} rows", in_order["slots"], in_order["waste"]),
        (f"padded, sorted in windows, {windows['rows']} rows", windows["slots"], windows["waste"]),
        (f"packed into rows of {found['row_length']:,}", found["slots"], 1 - found["fill"]),
    ]
    lines = [[way, units.count(slots), units.share(waste)] for way, slots, waste in ways]
    bound = f"no packing needs fewer than {found['lower_bound']:,}"
    proof = "proven optimal" if found["is_optimal"] else bound
    return "\n".join(
        [
            f"{found['data']}: {units.several(found['documents'], 'document')}, "
            f"{units.several(found['tokens'], 'token')}",
            *_policy(found),
            "",
            f"rows    {found['row_count']:,} of {found['row_length']:,} slots, {proof}",
            f"fill    {100 * found['fill']:.2f} % of the slots hold real tokens",
            f"bound   {found['lower_bound']:,} rows (Martello and Toth's L2)",
            f"method  {found['method']}",
            "",
            report.table(["way", "slots", "waste"], lines),
            "",
            f"Packing computes {in_order['slots'] / found['slots']:.2f} times fewer slots than "
            "padding as they come.",
        ]
    )


def _policy(found: dict[str, Any]) -> list[str]:
    """What was done to documents longer than a row: never silent."""
    if found["cut_tokens"]:
        what = f"truncated, {found['cut_tokens']:,} tokens lost"
    elif found["cut_documents"]:
        what = "cut into pieces"
    elif found["dropped_documents"]:
        what = "dropped"
    else:
        return []
    touched = found["cut_documents"] or found["dropped_documents"]
    why = "at row ends" if found["method"] == "split" else "longer than a row"
    return [f"{units.several(touched, 'document')} {why}: {what}"]

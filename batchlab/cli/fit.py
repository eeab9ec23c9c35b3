"""Find the most rows that fit, by taking real steps with the longest documents of the data.

Predicts first, then tries: a right prediction costs two steps, the rows that fit and the rows
above them. No weight moves. With `--sequences` the sequences of a step stay what they are, and
accumulation takes what rows leave. With `--journal` a search that was killed goes on.
"""

import argparse
import math
from pathlib import Path
from typing import Any

from batchlab import report, units
from batchlab.cli import _progress as progress
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

PRECISIONS = ("float32", "bfloat16", "autocast-bfloat16")
CPU_BUDGET = units.GIB  # nobody wants a search that fills the memory of a laptop


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the data, the budget and what a step keeps."""
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="folder or hub name, its tokenizer too"
    )
    parser.add_argument("--data", metavar="DATA", help="documents (default: the embedded corpus)")
    parser.add_argument("--field", help="which field holds the text or the token ids")
    parser.add_argument(
        "--budget", type=float, metavar="GIB", help="of tensors (default: free on the GPU, 1 GiB)"
    )
    parser.add_argument("--sequences", type=int, metavar="N", help="sequences per step that stay")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32")
    parser.add_argument("--checkpointing", action="store_true", help="recompute activations")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="remember the tries")


def run(args: argparse.Namespace) -> Answer:
    """Search, and show every try beside its prediction."""
    import torch

    from batchlab import data, model
    from batchlab.memory import fit
    from batchlab.plan import Plan

    budget = _bytes(args.budget)
    corpus = data.load(args.data, field=args.field, tokenizer=model.tokenizer_name(args.model))
    longest = int(corpus.lengths.max())
    keep = Plan(1, args.sequences, 1, longest) if args.sequences is not None else None
    dtype = torch.bfloat16 if args.precision == "bfloat16" else torch.float32
    device = "cuda" if torch.cuda.is_available() else "cpu"
    made = model.load(args.model, dtype=dtype)
    data.require_vocabulary(corpus, made)
    model.set_checkpointing(made, args.checkpointing)
    if budget is None and device == "cpu":
        budget = CPU_BUDGET
    with progress.bar() as said:
        said(0, None, "predicting")
        found = fit.largest_rows(
            made.to(device),
            corpus,
            keep=keep,
            budget_bytes=budget,
            autocast=torch.bfloat16 if args.precision.startswith("autocast") else None,
            journal=args.journal,
            identity={"model": args.model or "small", "data": corpus.fingerprint},
            progress=said,
        )
    where = f"{args.model or 'small'} on {device}, {args.precision}"
    return Answer(_as_data(found, longest), _text(found, where, longest, len(corpus)))


def _bytes(gib: float | None) -> int | None:
    if gib is None:
        return None
    if not math.isfinite(gib) or gib <= 0:
        raise ValueError(f"--budget is GiB of tensors, above 0; got {gib:g}")
    return round(gib * units.GIB)


def _as_data(found: Any, longest: int) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "accumulation": found.plan.accumulation,
        "length": longest,
        "budget_bytes": found.budget_bytes,
        "spare_bytes": found.spare_bytes,
        "predicted_rows": found.predicted_rows,
        "refused_rows": found.refused_rows,
        "tries": [
            {
                "rows": one.rows,
                "fits": one.fits,
                "predicted_bytes": one.predicted_bytes,
                "peak_bytes": one.peak_bytes,
            }
            for one in found.tries
        ],
    }


def _text(found: Any, where: str, longest: int, documents: int) -> str:
    lines = [
        [one.rows, units.size(one.predicted_bytes), *_measured(one), "yes" if one.fits else "no"]
        for one in found.tries
    ]
    above = f"{found.refused_rows} do not" if found.refused_rows else "there are no more to try"
    plan = found.plan
    kept = f" with accumulation {plan.accumulation}" if plan.accumulation > 1 else ""
    return "\n".join(
        [
            f"{where}: rows of {longest:,} slots, the longest of {documents:,} documents",
            "",
            report.table(["rows", "predicted", "measured", "off by", "fits"], lines),
            "",
            f"{found.rows} {'row fits' if found.rows == 1 else 'rows fit'}{kept} into "
            f"{units.size(found.budget_bytes)}, {units.size(found.spare_bytes)} to spare; {above}.",
        ]
    )


def _measured(one: Any) -> tuple[str, str]:
    if one.peak_bytes is None:
        return "out of memory", "-"
    return units.size(one.peak_bytes), f"{100 * (one.predicted_bytes / one.peak_bytes - 1):+.2f} %"

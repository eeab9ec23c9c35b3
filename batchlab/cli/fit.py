"""Find the most rows that fit, by taking real steps with the longest documents of the data.

Predicts first, then tries: a right prediction costs two steps, the rows that fit and the rows
above them. No weight moves. Fewer rows fit as well: `batchlab plan` lists the exact splits of your
step, and `memory.fit.largest_rows(keep=...)` searches among them.
"""

import argparse
from typing import Any

from batchlab import report, units
from batchlab.cli import _progress as progress
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

CPU_BUDGET = units.GIB  # nobody wants a search that fills the memory of a laptop


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the data, the budget and what a step keeps."""
    options.offer(
        parser,
        "model",
        "data",
        "field",
        "budget",
        "precision",
        "checkpointing",
        "device",
        "output",
        precision="float32",
    )


def run(args: argparse.Namespace) -> Answer:
    """Search, and show every try beside its prediction."""
    from batchlab import data, model
    from batchlab.memory import fit

    device = options.place(args.device)
    dtype, autocast = options.dtypes(args.precision)
    corpus = source.corpus_of(args)
    longest = int(corpus.lengths.max())
    made = model.load(args.model, dtype=dtype)
    data.require_vocabulary(corpus, made)
    model.set_checkpointing(made, args.checkpointing)
    with progress.bar() as said:
        said(0, None, "predicting")
        found = fit.largest_rows(
            made.to(device),
            corpus,
            budget_bytes=args.budget or (CPU_BUDGET if device == "cpu" else None),
            autocast=autocast,
            journal=args.output,
            identity={"model": args.model or "small", "data": corpus.fingerprint},
            progress=said,
        )
    where = f"{args.model or 'small'} on {device}, {args.precision}"
    return Answer(_as_data(found, longest, device), _text(found, where, longest, len(corpus)))


def _as_data(found: Any, longest: int, device: str) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "length": longest,
        "device": device,
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
    return "\n".join(
        [
            f"{where}: rows of {longest:,} slots, the longest of {documents:,} documents",
            "",
            report.table(["rows", "predicted", "measured", "off by", "fits"], lines),
            "",
            f"{found.rows} {'row fits' if found.rows == 1 else 'rows fit'} into "
            f"{units.size(found.budget_bytes)}, {units.size(found.spare_bytes)} to spare; {above}.",
        ]
    )


def _measured(one: Any) -> tuple[str, str]:
    if one.peak_bytes is None:
        return "out of memory", "-"
    return units.size(one.peak_bytes), f"{100 * (one.predicted_bytes / one.peak_bytes - 1):+.2f} %"

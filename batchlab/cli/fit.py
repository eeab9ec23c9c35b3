"""Find the most rows that fit, by taking real steps with the longest documents of the data.

Predicts first, then tries: a right prediction costs two steps, the rows that fit and the rows
above them. No weight moves. Fewer rows fit as well: `batchlab plan` lists the exact splits of your
step, and `memory.fit.largest_rows(keep=...)` searches among them. With --shard it predicts alone.
"""

import argparse
from typing import Any

from batchlab import records, report, units
from batchlab.cli import _progress as progress
from batchlab.cli import _source as source
from batchlab.cli import _training as training
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

IDENTITY = ("optimizer", "lora", "quantised", "attention")  # what a journal cannot see by itself
CPU_BUDGET = units.GIB  # nobody wants a search that fills the memory of a laptop
KILLED = (
    "A try that was killed twice counts as too large. If it was not the system, for its memory: "
    "delete its lines in the file of --output.",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the data, the budget and how it is trained."""
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
    )
    options.offer_training(parser)


def run(args: argparse.Namespace) -> Answer:
    """Search, and show every try beside its prediction."""
    from batchlab import data, model
    from batchlab.memory import fit

    device = options.place(args.device)
    precision = options.precision(args.precision, device)
    corpus = source.corpus_of(args)
    longest = int(corpus.lengths.max())
    dtype = options.dtypes(precision)[0]
    made = model.load(args.model, dtype=dtype, attention=args.attention).train()
    data.require_vocabulary(corpus, made)
    vocabulary = made.config.get_text_config().vocab_size
    model.set_checkpointing(made, args.checkpointing)
    adapt = training.adapt(args)
    made = (adapt(made) if adapt else made).to(device)
    how = training.step_options(args, vocabulary, device, precision)
    how["budget_bytes"] = args.budget or (CPU_BUDGET if device == "cpu" else None)
    where = f"{args.model or 'small'} on {device}: {training.named(args, precision)}"
    where += f"\nrows of {longest:,} slots, the longest of {len(corpus):,} documents"
    with records.sole(args.output), progress.bar() as said:
        said(0, None, "predicting")
        if args.shard:
            return _shared(made, corpus, args, how, where)
        found = fit.largest_rows(
            made,
            corpus,
            journal=args.output,
            identity={"model": source.model_name(args.model), "data": corpus.fingerprint}
            | {word: getattr(args, word) for word in IDENTITY},
            progress=said,
            **how,
        )
    return Answer(_as_data(found, longest, device), _text(found, where))


def _shared(made: Any, corpus: Any, args: argparse.Namespace, how: Any, where: str) -> Answer:
    """States in shards: what one device would hold, which this machine cannot try."""
    from batchlab.memory import fit, trace

    if not how["budget_bytes"]:
        raise ValueError("--shard needs the --budget of one of the devices, in GiB")
    shard = trace.Shard(int(args.shard[-1]), args.devices)
    found = fit.predict_rows(made, corpus, shard=shard, **how)
    shown = [found.rows, *([found.refused_rows] if found.refused_rows else [])]
    lines = [
        [rows, units.size(found.predicted_bytes[rows]), "yes" if rows == found.rows else "no"]
        for rows in shown
    ]
    text = "\n".join(
        [
            where,
            "",
            report.table(["rows", "predicted", "fits"], lines),
            "",
            f"{_rows_fit(found.rows)} into {units.size(found.budget_bytes)} of each device: "
            "predicted, not tried, since shards need their devices.",
        ]
    )
    totals = [{"rows": rows, "predicted_bytes": found.predicted_bytes[rows]} for rows in shown]
    data = {"rows": found.rows, "budget_bytes": found.budget_bytes, "predicted": totals}
    return Answer(data, text)


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
                "killed": one.killed,
            }
            for one in found.tries
        ],
    }


def _text(found: Any, where: str) -> str:
    lines = [
        [one.rows, units.size(one.predicted_bytes), *_measured(one), "yes" if one.fits else "no"]
        for one in found.tries
    ]
    above = f"{found.refused_rows} do not" if found.refused_rows else "there are no more to try"
    return "\n".join(
        [
            where,
            "",
            report.table(["rows", "predicted", "measured", "off by", "fits"], lines),
            "",
            f"{_rows_fit(found.rows)} into {units.size(found.budget_bytes)}, "
            f"{units.size(found.spare_bytes)} to spare; {above}.",
            *(KILLED if any(one.killed for one in found.tries) else ()),
        ]
    )


def _rows_fit(rows: int) -> str:
    return f"{rows} {'row fits' if rows == 1 else 'rows fit'}"


def _measured(one: Any) -> tuple[str, str]:
    if one.peak_bytes is None:
        return "killed twice" if one.killed else "out of memory", "-"
    return units.size(one.peak_bytes), f"{100 * (one.predicted_bytes / one.peak_bytes - 1):+.2f} %"

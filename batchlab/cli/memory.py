"""Predict where the bytes of a training step go, without a GPU and without allocating them.

The real step of the real model runs on fake tensors. Bytes differ by device, through its allocator
and its optimizer; the device itself need not be here.
"""

import argparse
from typing import Any

from batchlab import report, units
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the rectangle and the precision."""
    options.offer(
        parser,
        "model",
        "rows",
        "length",
        "precision",
        "checkpointing",
        "device",
        "figure",
        several=["rows"],
        rows=[1, 2, 4, 8],
        length=1024,
        precision="float32",
    )


def run(args: argparse.Namespace) -> Answer:
    """Predict the peak for every number of rows."""
    from batchlab.memory import trace

    device = args.device or options.place(None)
    dtype, autocast = options.dtypes(args.precision)
    config = _config(args.model)
    peaks = {
        rows: trace.predict_peak(
            config,
            rows=rows,
            length=args.length,
            checkpointing=args.checkpointing,
            dtype=dtype,
            autocast=autocast,
            device=device,
        )
        for rows in args.rows
    }
    lines = [
        [rows, *(units.size(peak.by_kind[kind]) for kind in trace.KINDS),
         units.size(peak.total_bytes), peak.phase]
        for rows, peak in peaks.items()
    ]  # fmt: skip
    text = "\n".join(
        [
            f"{args.model or 'small Llama'}: {config.num_hidden_layers} layers, rows of "
            f"{args.length:,} slots, {args.precision}, AdamW, on {device}",
            "",
            report.table(["rows", *trace.KINDS, "peak", "fullest in"], lines),
        ]
    )

    def figure() -> Any:
        from batchlab import plots

        return plots.memory_stack({rows: peak.by_kind for rows, peak in peaks.items()})

    data = {
        "model": args.model or "small",
        "length": args.length,
        "precision": args.precision,
        "device": device,
        "rows": [
            {"rows": n, "peak_bytes": p.total_bytes, "phase": p.phase, **p.by_kind}
            for n, p in peaks.items()
        ],
    }
    return Answer(data, text, figure)


def _config(name: str | None) -> Any:
    from transformers import AutoConfig, LlamaConfig

    if name is None:
        return LlamaConfig(
            vocab_size=4096, hidden_size=128, intermediate_size=512, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=True,
        )  # fmt: skip
    try:
        return AutoConfig.from_pretrained(name)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"{name}: not a model config ({first})") from None

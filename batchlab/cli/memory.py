"""Predict where the bytes of a training step go, without a GPU and without allocating them.

The real step of the real model runs on fake tensors. MODEL is a folder with a config.json, the
file itself, or a hub name; without it, a small Llama.
"""

import argparse
from pathlib import Path
from typing import Any

from batchlab import report, units
from batchlab.cli._answer import Answer, plot_option

__all__ = ["arguments", "run"]

DTYPES = ("float32", "bfloat16", "autocast-bfloat16")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the rectangle and the precision."""
    parser.add_argument("model", nargs="?", metavar="MODEL", help="folder, config.json or hub name")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 2, 4, 8], metavar="N")
    parser.add_argument("--length", type=int, default=1024, help="slots of a row (1024)")
    parser.add_argument("--precision", choices=DTYPES, default="float32")
    parser.add_argument("--checkpointing", action="store_true", help="recompute activations")
    plot_option(parser)


def run(args: argparse.Namespace) -> Answer:
    """Predict the peak for every number of rows."""
    import torch

    from batchlab.memory import trace

    config = _config(args.model)
    dtype = torch.bfloat16 if args.precision == "bfloat16" else torch.float32
    peaks = {
        rows: trace.predict_peak(
            config,
            rows=rows,
            length=args.length,
            checkpointing=args.checkpointing,
            dtype=dtype,
            autocast=torch.bfloat16 if args.precision.startswith("autocast") else None,
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
            f"{args.length:,} slots, {args.precision}, AdamW",
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
    path = Path(name)
    if (path.is_absolute() or name.startswith(".") or path.suffix) and not path.exists():
        raise ValueError(f"{name}: no such config or folder")
    try:
        return AutoConfig.from_pretrained(name)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"{name}: not a model config ({first})") from None

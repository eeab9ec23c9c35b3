"""Predict where the bytes of a training step go, without a GPU and without allocating them.

The real step of the real model runs on fake tensors. Bytes differ by device, through its allocator
and its optimizer; the device itself need not be here. `batchlab fit` tries what this predicts.
"""

import argparse
import contextlib
import functools
import textwrap
from typing import Any

from batchlab import model as models
from batchlab import report, units
from batchlab.cli import _training as training
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

WIDTH = 100
DTYPES = ("float32", "bfloat16")  # of weights; autocast keeps those in float32


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the rectangle, the precision and how it is trained."""
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
    )
    options.offer_training(parser)
    group = parser.add_argument_group(options.HOW_LAYERS_ARE_SHARED)
    options.offer(group, *options.SHARED, tensor=1, experts=1)


def run(args: argparse.Namespace) -> Answer:
    """Predict the peak for every number of rows."""
    from batchlab.memory import trace

    device = args.device or options.place(None)
    precision = options.precision(args.precision, device)
    config = _config(args.model)
    vocabulary = -(-config.get_text_config().vocab_size // args.tensor)
    how = training.step_options(args, vocabulary, device, precision)
    model = {"dtype": options.dtypes(precision)[0], "attention": args.attention}
    model |= {"checkpointing": args.checkpointing, "adapt": training.adapt(args)}
    model |= {"tensor": args.tensor, "experts": args.experts}
    shard = trace.Shard(int(args.shard[-1]), args.devices // args.tensor) if args.shard else None
    predict = functools.partial(
        trace.predict_peak, config, length=args.length, device=device, shard=shard, **model, **how
    )
    peaks = {rows: predict(rows=rows) for rows in args.rows}
    held = _held(config, args, how["make_optimizer"])
    name = args.model or "small Llama"
    over = shard or args.tensor > 1 or args.experts > 1
    layers = config.get_text_config().num_hidden_layers
    text = "\n".join(
        [
            f"{name}: {layers} layers, rows of {args.length:,} slots, on {device}",
            training.named(args, precision),
            "",
            _by_rows(peaks, trace.KINDS),
            "",
            *training.told(args),
            *_paragraphs(training.insights(args, max(peaks), peaks[max(peaks)])),
            "",
            "Before the first row, by the dtype of the weights" + (", unsharded" if over else ""),
            "",
            _by_dtype(held),
        ]
    )

    def figure() -> Any:
        from batchlab import plots

        return plots.memory_stack({rows: peak.by_kind for rows, peak in peaks.items()})

    data = {
        "model": args.model or "small",
        "length": args.length,
        "precision": precision,
        "device": device,
        **{word: getattr(args, word) for word in ("checkpointing", *options.TRAINING)},
        **{word: getattr(args, word) for word in ("tensor", "experts")},
        "rows": [
            {"rows": n, "peak_bytes": p.total_bytes, "phase": p.phase, **p.by_kind}
            for n, p in peaks.items()
        ],
        "states": {dtype: _states(one) for dtype, one in held.items()},
    }
    return Answer(data, text, figure)


def _by_rows(peaks: Any, kinds: tuple[str, ...]) -> str:
    lines = [
        [rows, *(units.size(peak.by_kind[kind]) for kind in kinds), units.size(peak.total_bytes),
         peak.phase]
        for rows, peak in peaks.items()
    ]  # fmt: skip
    return report.table(["rows", *kinds, "peak", "fullest in"], lines)


def _paragraphs(sentences: list[str]) -> list[str]:
    return [line for one in sentences for line in ("", *textwrap.wrap(one, WIDTH))]


def _held(config: Any, args: argparse.Namespace, make_optimizer: Any) -> dict[str, Any]:
    """What each dtype of the weights holds; 4-bit weights can only be loaded or adapted."""
    from batchlab.memory import trace

    how: dict[str, Any] = {"make_optimizer": make_optimizer, "adapt": training.adapt(args)}
    found = {
        dtype: trace.predict_states(config, dtype=options.dtypes(dtype)[0], **how)
        for dtype in DTYPES
    }
    how |= {"adapt": training.four_bits(args), "dtype": options.dtypes("bfloat16")[0]}
    with contextlib.suppress(ValueError):  # GPT-2 has no linear layers to put in 4 bits
        found[args.quantised or "nf4"] = trace.predict_states(config, **how)
    return found


def _by_dtype(held: dict[str, Any]) -> str:
    header = ["dtype", "largest layer", "weights", "gradients", "optimizer", "in all"]
    lines = [
        [dtype, *map(units.size, _states(one).values()), units.size(one.total_bytes)]
        for dtype, one in held.items()
    ]
    return report.table(header, lines)


def _states(one: Any) -> dict[str, int]:
    return {
        "largest_layer": one.largest_layer,
        "parameters": one.parameters,
        "gradients": one.gradients,
        "optimizer": one.optimizer,
    }


def _config(name: str | None) -> Any:
    from transformers import LlamaConfig

    if name is None:
        return LlamaConfig(
            vocab_size=4096, hidden_size=128, intermediate_size=512, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=True,
        )  # fmt: skip
    return models.config_of(name)

"""What the words about training mean to the library, and what is said of them.

--optimizer, --lora, --quantised, ...  ->  options of a trace or a search; what is arithmetic in it
"""

import argparse
import functools
from collections.abc import Callable
from typing import Any

from batchlab import units
from batchlab.cli import options

__all__ = ["LOSS_CHUNK", "adapt", "four_bits", "insights", "named", "step_options", "told"]

LOSS_CHUNK = 1024  # slots
NAMES = {
    "adamw": "AdamW",
    "adam": "Adam",
    "adamw8bit": "8-bit AdamW",
    "adamw8bit-trainer": "8-bit AdamW of a Trainer",
    "adafactor": "Adafactor",
    "sgd": "SGD without momentum",
    "lion": "Lion",
    "muon": "Muon (AdamW for embedding and head)",
}


def named(args: argparse.Namespace, precision: str) -> str:
    """How it is trained, in one line."""
    parts = [precision + (" with a scaler" if precision == "autocast-float16" else "")]
    parts += [NAMES[args.optimizer]]
    parts += [f"LoRA of rank {args.lora}"] if args.lora else []
    parts += [f"{args.quantised} weights"] if args.quantised else []
    parts += [f"{args.attention} attention"] if args.attention != "sdpa" else []
    parts += [f"{args.accumulation} micro-batches a step"] if args.accumulation > 1 else []
    parts += ["checkpointing"] if args.checkpointing else []
    parts += [f"loss {LOSS_CHUNK:,} slots at a time"] if args.loss == "chunked" else []
    parts += ["activations on the host"] if args.offload else []
    parts += [f"{args.shard} over {args.devices} devices"] if args.shard else []
    return ", ".join(parts)


def adapt(args: argparse.Namespace) -> Callable[[Any], Any] | None:
    """What makes the model that is trained of the model that is loaded; None if they are one."""
    if not args.lora:
        return None
    return functools.partial(_adapted, rank=args.lora, quantised=args.quantised)


def four_bits(args: argparse.Namespace) -> Callable[[Any], Any]:
    """The same with 4-bit weights; without adapters they can be loaded and not trained."""
    return functools.partial(_adapted, rank=args.lora, quantised=args.quantised or "nf4")


def _adapted(model: Any, *, rank: int | None, quantised: str | None) -> Any:
    from batchlab.memory import adapters

    made = adapters.lora(model, rank) if rank else model
    if quantised and not rank:
        made.requires_grad_(False)
    return adapters.quantised(made, quantised) if quantised else made


def step_options(
    args: argparse.Namespace, vocabulary: int, device: str, precision: str
) -> dict[str, Any]:
    """How a step is taken, in the words of `memory.trace` and `memory.fit`."""
    from batchlab.memory import optimizers

    return {
        "accumulation": args.accumulation,
        "autocast": options.dtypes(precision)[1],
        "loss_chunk": LOSS_CHUNK if args.loss == "chunked" else None,
        "offload": args.offload,
        "make_optimizer": optimizers.maker(args.optimizer, vocabulary=vocabulary, device=device),
    }


def told(args: argparse.Namespace) -> list[str]:
    """What of a prediction is traced, and what is arithmetic."""
    traced = ["the step of the real model on fake tensors"]
    eight_bits = args.optimizer.startswith("adamw8bit")
    traced += [] if eight_bits else [NAMES[args.optimizer]]
    traced += ["LoRA"] if args.lora else []
    traced += ["the loss in chunks"] if args.loss == "chunked" else []
    traced += ["offloading"] if args.offload else []
    sums = []
    if eight_bits:
        sums.append("8-bit states: 2 bytes a weight and 2 scales of 4 bytes for 256 (bitsandbytes)")
    if args.optimizer == "adamw8bit-trainer":
        sums.append("states of the embedding: 8 bytes a weight (transformers 5.23)")
    if args.quantised:
        each = 0.5 + (4 / 64 if args.quantised == "nf4" else 1 / 64 + 4 / (64 * 256))
        sums.append(f"{args.quantised} weights: {each:.4f} bytes each (bitsandbytes)")
    if args.shard:
        share = {"zero1": "optimizer", "zero2": "optimizer and gradients"}
        what = share.get(args.shard, "optimizer, gradients and parameters")
        sums.append(f"{args.shard}: {what} / {args.devices}, and what is whole while it is used")
    if getattr(args, "tensor", 1) > 1:
        sums.append(f"heads, MLP and vocabulary / {args.tensor}; exchanges are not counted")
    if getattr(args, "experts", 1) > 1:
        sums.append(f"experts / {args.experts}, with tokens that spread evenly over them")
    lines = [f"traced      {', '.join(traced)}"]
    return lines + [f"arithmetic  {one}" for one in sums]


def insights(args: argparse.Namespace, rows: int, peak: Any) -> list[str]:
    """What the largest prediction shows, where it is so."""
    kinds, said = peak.by_kind, []
    if kinds["logits"] > kinds["activations"] > 0:
        said.append(
            f"At {rows:,} rows the logits and their loss take {units.size(kinds['logits'])}, more "
            f"than all activations ({units.size(kinds['activations'])})"
            + ("." if args.loss == "chunked" else ": --loss chunked keeps fewer of them.")
        )
    if kinds["gradients"] == 0 and peak.phase.startswith("backward"):
        gradients = peak.by_phase["optimizer"]["gradients"]
        said.append(
            f"No gradient is in this peak: those of the step before are freed, and the "
            f"{units.size(gradients)} of this one come later, while activations go"
            + (", so 2 micro-batches a step need more." if args.accumulation == 1 else ".")
        )
    states = sum(kinds[name] for name in ("parameters", "gradients", "optimizer"))
    if states > peak.total_bytes / 2:
        said.append(
            f"At {rows:,} rows {100 * states / peak.total_bytes:.0f} % of the peak are parameters, "
            "gradients and optimizer, which no number of rows changes."
        )
    return said

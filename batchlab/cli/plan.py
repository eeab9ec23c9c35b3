"""Show what one optimizer step sees, and every exact way to split it; or propose one.

Nothing is rounded: slots that do not divide are refused, with the nearest that do. With `--tokens`
and no step, batch and rate are proposed, with the reasons and how sure they are. What fills the
step is `--data`: documents, lists of their lengths (.npy, .txt, .json, .jsonl), or `gsm8k`.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import packing, padding, plan, report, units
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

MOST_ROWS = 64
DEFAULTS = {"rows": 8, "accumulation": 4, "data_parallel": 1, "length": 2048}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer a launch config, or the four factors of a step (or its slots in place of one)."""
    parser.add_argument(
        "config",
        nargs="*",
        metavar="CONFIG",
        help="what starts your run: .json, .yaml, .toml, .py, .sh or a file of flags; with the "
        "file of accelerate or DeepSpeed that goes with it, and the script that starts it, which "
        "wins. "
        f"Of: {', '.join(plan.TOOLS)}",
    )
    shown = {name: str(value) for name, value in DEFAULTS.items()}
    options.offer(parser, "tool", "devices", "rows", "data_parallel", "length", "data", shown=shown)
    either = parser.add_mutually_exclusive_group()
    options.offer(either, "accumulation", "slots", shown=shown)
    options.offer_bill(parser)
    options.offer_proposal(parser)


def run(args: argparse.Namespace) -> Answer:
    """Multiply out one step, split it in other ways, and fill it with the documents."""
    whole_run = any(getattr(args, word) is not None for word in (*options.BILL, *options.PROPOSAL))
    asked = bill = None
    if whole_run:  # its rooms hold public runs and laws: a step alone needs none of them
        from batchlab.cli import _bill, _proposed

        asked = _proposed.proposed(args, args.length or DEFAULTS["length"])
    made = None if asked is None or isinstance(asked, str) else asked
    step, described = (made.plan, None) if made else _step(args)
    ways = plan.splits(
        step.slots_per_step,
        length=step.length,
        data_parallel=step.data_parallel,
        most_rows=max(MOST_ROWS, step.rows),
    )
    name, tokens = source.lengths_of(args)
    if whole_run:
        bill = _bill.billed(args, step)
    found = {
        "config": described,
        **vars(step),
        "sequences_per_step": step.sequences_per_step,
        "slots_per_step": step.slots_per_step,
        "splits": [{"rows": way.rows, "accumulation": way.accumulation} for way in ways],
        "data": name,
        "fill": _fill(tokens, step),
        "proposal": _proposed.data_of(asked) if asked else None,
        "bill": bill,
    }
    told = [_text(found, filled=args.data is not None or made is None)]
    if asked and bill:
        told = [_proposed.text_of(asked, bill["model"]), "", *told]
    if bill:
        told += ["", _bill.text_of(bill)]
    return Answer(found, "\n".join(told))


def _step(args: argparse.Namespace) -> tuple[plan.Plan, str | None]:
    """The step that a config asks for, or the one of the options."""
    if args.config:
        for option in ("rows", "accumulation", "slots", "data_parallel"):
            if getattr(args, option) is not None:
                word = option.replace("_", "-")
                raise ValueError(f"--{word} {getattr(args, option)}: the config says that already")
        paths = [Path(path) for path in args.config]
        added = {"devices": args.devices, "length": args.length, "tool": args.tool}
        found = plan.from_config(*paths, **added)
        return found.plan, found.describe()
    if args.devices is not None and args.tokens is None:
        raise ValueError(
            f"--devices {args.devices} goes with a config or with --tokens; replicas: "
            "--data-parallel"
        )
    if args.tool is not None:
        raise ValueError(f"--tool {args.tool} goes with a config")
    chosen = {name: getattr(args, name) or default for name, default in DEFAULTS.items()}
    if args.slots is None:
        return plan.Plan(**chosen), None
    del chosen["accumulation"]
    return plan.for_slots_per_step(args.slots, **chosen), None


def _fill(tokens: np.ndarray, step: plan.Plan) -> dict[str, dict[str, float]]:
    """How full the step is when its rows are packed, and when they are padded."""
    packed = packing.pack(tokens, step.length, too_long="split")
    pieces = packed.piece_lengths
    rows = min(step.rows, len(pieces))
    waste = padding.expected_waste(pieces, rows)
    padded_slots = step.sequences_per_step * padding.expected_longest(pieces, rows)
    return {
        "packed": {
            "fill": packed.fill,
            "slots_per_step": step.slots_per_step,
            "real_tokens_per_step": step.slots_per_step * packed.fill,
            "steps_per_epoch": -(-packed.row_count // step.sequences_per_step),
        },
        "padded": {
            "fill": 1 - waste,
            "slots_per_step": padded_slots,
            "real_tokens_per_step": padded_slots * (1 - waste),
            "steps_per_epoch": -(-len(pieces) // step.sequences_per_step),
        },
    }


def _text(found: dict[str, Any], filled: bool) -> str:
    factors = f"{found['rows']} rows x {found['accumulation']} x {found['data_parallel']}"
    fills = [
        [
            f"{way}",
            units.count(at["slots_per_step"]),
            units.share(at["fill"]),
            units.count(at["real_tokens_per_step"]),
            units.count(at["steps_per_epoch"]),
        ]
        for way, at in found["fill"].items()
    ]
    ways = [
        [
            units.count(way["rows"]),
            units.count(way["accumulation"]),
            units.count(way["rows"] * found["length"]),
            "this plan" if way["rows"] == found["rows"] else "",
        ]
        for way in found["splits"]
    ]
    return "\n".join(
        [
            *([found["config"], ""] if found["config"] else []),
            "One optimizer step: rows x accumulation x data_parallel",
            "",
            f"sequences per step  {found['sequences_per_step']:>12,}   {factors}",
            f"slots per step      {found['slots_per_step']:>12,}   x {found['length']:,} slots",
            "",
            *(
                [
                    f"Filled with {found['data']}, on average:",
                    "",
                    report.table(
                        ["rows are", "slots a step", "fill", "real tokens", "steps an epoch"], fills
                    ),
                    "",
                ]
                if filled
                else []
            ),
            f"The same step, split in other ways (up to {max(MOST_ROWS, found['rows'])} rows):",
            "",
            report.table(["rows", "accumulation", "slots at once", ""], ways),
            "",
            "Every split takes the same step; it differs in memory and in time.",
        ]
    )

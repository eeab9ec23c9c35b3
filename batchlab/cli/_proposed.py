"""A batch and a rate for so many tokens, in the words of `plan`: what is proposed, and why.

parsed words  ->  Proposal  ->  data and lines
"""

import argparse
import textwrap
from dataclasses import asdict
from typing import Any

from batchlab import proposal, report
from batchlab.cli._kinds import card
from batchlab.cli._shapes import shape_of
from batchlab.cli.options import PROPOSAL
from batchlab.proposal import Proposal, Reason, Wish, short, small

__all__ = ["data_of", "proposed", "text_of"]

STEP = ("rows", "accumulation", "slots", "data_parallel")
LONGEST = 100
OTHERS = "Fine-tuning has sources of its own: --lora, --generations."
CREDIT = (
    "Public runs: MLPerf® Training, Closed division; derived by this course, not verified by "
    "MLCommons Association. Whose rows, and the notice: `records.public_runs().credit()`."
)


def proposed(args: argparse.Namespace, length: int) -> Proposal | str | None:
    """What is proposed where nobody said the step; why nothing is, in a line; None if unasked."""
    given = [word for word in PROPOSAL if getattr(args, word) is not None]
    said = [word for word in STEP if getattr(args, word) is not None]
    if args.tokens is None or args.config or said:
        if given:
            raise ValueError(
                f"--{given[0].replace('_', '-')} belongs to a proposal: say --tokens, and leave "
                f"{'the config' if args.config else '--' + (said or ['rows'])[0]}"
            )
        return None
    _, shape = shape_of(args.model)
    try:
        return proposal.propose(
            Wish(
                args.tokens,
                shape,
                length,
                args.devices or 1,
                args.card or card("h100"),
                args.optimizer or "adamw",
                args.lora,
                args.generations,
                args.noise_scale,
                args.rate,
                args.from_batch,
            )
        )
    except proposal.NoProposal as error:
        if given:
            raise
        return str(error)


def data_of(found: Proposal | str | None) -> dict[str, Any] | None:
    """For machines."""
    if not isinstance(found, Proposal):
        return {"refused": [found]} if found else None
    return {
        "stage": found.wish.stage,
        "unit": found.unit,
        "batch": found.batch,
        "steps": found.steps,
        "rate": found.rate,
        "batch_reasons": [asdict(one) for one in found.batches],
        "rate_reasons": [asdict(one) for one in found.rates],
        "said": found.said,
        "refused": found.refused,
    }


def text_of(found: Proposal | str, model: str) -> str:
    """The proposal as two tables, with what disagrees and what refused below."""
    if isinstance(found, str):
        return "\n".join(textwrap.wrap(f"No batch is proposed: {found}. {OTHERS}", LONGEST))
    wish, plan = found.wish, found.plan
    what = f"{short(wish.tokens)} tokens of {model} on {wish.devices:,} {wish.device.name}"
    batch = f"{short(found.batch)} {found.unit}"
    if found.unit != "sequences":
        batch += f", {plan.sequences_per_step:,} rows of {wish.length:,}"
    if wish.generations:
        batch = (
            f"{found.batch:,} completions of {found.batch // wish.generations:,} prompts, in rows "
            f"of {wish.length:,}"
        )
    batches = [[one.source, _ends(one, short), one.why, one.sure] for one in found.batches]
    rates = [[one.source, _ends(one, small), one.why, one.sure] for one in found.rates]
    return "\n".join(
        [
            f"Proposed for {what} ({wish.stage}, {wish.optimizer}):",
            "",
            f"batch  {batch}: {found.steps:,.0f} steps",
            f"rate   {_told(found.rate)}",
            "",
            report.table(
                ["source", f"batch, {found.unit}", "why", "how sure"], batches, align="lrll"
            ),
            *(
                ["", report.table(["source", "rate", "why", "how sure"], rates, align="lrll")]
                if rates
                else []
            ),
            *(["", *_listed("What else to know", found.said)] if found.said else []),
            *(["", *_listed("Refused here", found.refused)] if found.refused else []),
            *(["", *textwrap.wrap(CREDIT, LONGEST)] if _public(found) else []),
        ]
    )


def _public(found: Proposal) -> bool:
    return any(one.source == "public runs" for one in (*found.batches, *found.rates))


def _ends(one: Reason, shown: Any) -> str:
    least, most = shown(one.least), shown(one.most)
    if one.role == "least":
        return f"{least} and more"
    if one.role == "most" or not one.least:
        return f"{most} and less"
    return least if least == most else f"{least} to {most}"


def _told(rate: tuple[float, float] | None) -> str:
    if rate is None:
        return "nobody tells one here"
    least, most = rate
    if least == most:
        return small(least)
    return f"{small((least * most) ** 0.5)}, in a sweep from {small(least)} to {small(most)}"


def _listed(title: str, lines: tuple[str, ...]) -> list[str]:
    return [
        f"{title}:",
        *(
            line
            for one in lines
            for line in textwrap.wrap(one, LONGEST, initial_indent="  ", subsequent_indent="    ")
        ),
    ]

"""What a whole training run takes, in the words of `plan`: hours, money, energy, as ranges.

parsed words and a step  ->  data and lines
"""

import argparse
import textwrap
from typing import Any

from batchlab import cluster, plan, report, roofline, units
from batchlab.cli._kinds import card
from batchlab.cli._shapes import shape_of
from batchlab.cli.options import BILL
from batchlab.roofline import utilisation

__all__ = ["billed", "text_of"]

MORE = 2  # times the devices in each line of the table
MOST_DEVICES = 16_384
LINK = "400 Gb/s"


def billed(args: argparse.Namespace, step: plan.Plan) -> dict[str, Any] | None:
    """The bill on the devices asked for and on more of them; None if no tokens were named."""
    if args.tokens is None:
        given = [word for word in BILL if getattr(args, word) is not None]
        if given:
            raise ValueError(f"--{given[0]} belongs to a bill: say --tokens, of the whole run")
        return None
    name, shape = shape_of(args.model)
    device = args.card or card("h100")
    flops = roofline.flops_per_token(shape, step.length)
    devices = args.devices or step.data_parallel
    counts = [devices]
    while counts[-1] * MORE <= max(MOST_DEVICES, devices) and len(counts) < 8:
        counts.append(counts[-1] * MORE)
    assumed, said = _assumed(args, flops, step, counts, device)
    bills = [
        cluster.bill(args.tokens, flops, count, rated, utilisation=shares,
                     price_per_hour=args.price or 0.0)
        for count, (rated, shares) in zip(counts, assumed, strict=False)
    ]  # fmt: skip
    return {
        "model": name,
        "device": assumed[0][0].name,
        "tokens": args.tokens,
        "flops_per_token": flops,
        "utilisation": list(assumed[0][1]),
        "assumed": said,
        "price_per_hour": args.price,
        "steps": args.tokens / step.slots_per_step,
        "device_hours": _ends(bills[0].device_hours),
        "money": _ends(bills[0].money) if args.price else None,
        "kilowatt_hours": _ends(bills[0].kilowatt_hours),
        "devices": [
            _line(one, step, rated, shares[0])
            for one, (rated, shares) in zip(bills, assumed, strict=True)
        ],
    }


def _assumed(
    args: argparse.Namespace,
    flops: float,
    step: plan.Plan,
    counts: list[int],
    device: roofline.Device,
) -> tuple[list[tuple[roofline.Device, tuple[float, float]]], str]:
    """Device and utilisation for each number of devices, and in words where they come from.

    As public runs reached it, in the layout of the one that is most like, up to the last number
    that one of them is like; where none is, one range for all.
    """
    given = tuple(args.utilisation or ())
    if len(given) > 2:
        raise ValueError(f"--utilisation takes one number or two, got {len(given)}")
    products = args.products or "bf16"
    if given:
        if args.products not in (None, "bf16"):
            raise ValueError(
                f"--products {products} asks public runs for the utilisation: leave --utilisation"
            )
        return [(device, (given[0], given[-1]))] * len(counts), "on any number of devices;"
    found, why = [], ""
    for count in counts:
        try:
            near = utilisation.like(flops, count, device)
            one = utilisation.expected(
                flops * step.slots_per_step, count, device, precision=products,
                tensor_parallel=near.tensor_parallel or 1,
                context_parallel=near.context_parallel or 1,
            )  # fmt: skip
        except ValueError as error:
            why = str(error)
            break
        found.append((one.device, one.shares))
    if found:
        return found, (
            f"as {one.configurations} configurations of public runs lead to expect"
            f"{' (a fit in fp8, moved to bf16' if products == 'bf16' else ' (a fit'}, unverified), "
            "each number of devices laid out as the public run that is most like: with more "
            "devices each has less work and reaches less;"
        )
    return [(device, cluster.UTILISATION)] * len(counts), f"on any number of devices ({why});"


def text_of(found: dict[str, Any]) -> str:
    """The bill as a table, with what it assumes beside it."""
    lines = [
        [
            units.count(one["devices"]),
            _span([units.duration(3600 * hours) for hours in one["hours"]]),
            _span([units.count(each) for each in one["tokens_per_second_of_a_device"]]),
            units.count(one["slots_of_a_device"]),
            units.count(one["slots_to_hide"]),
            "waits for the link" if one["slots_of_a_device"] < one["slots_to_hide"] else "",
        ]
        for one in found["devices"]
    ]
    least, most = found["utilisation"]
    hours = _span([units.count(each) for each in found["device_hours"]])
    energy = _span([units.count(each) for each in found["kilowatt_hours"]])
    money = _span([units.count(each) for each in found["money"]]) if found["money"] else None
    return "\n".join(
        [
            f"The whole run: {found['tokens']:,.0f} tokens of {found['model']} on "
            f"{found['device']}, {found['steps']:,.0f} such steps",
            f"{hours} device hours, {f'{money} in money, ' if money else ''}{energy} kWh of the "
            "devices",
            "",
            report.table(
                [
                    "devices",
                    "time",
                    "tokens/s of a device",
                    "slots of a device",
                    f"to hide {LINK}",
                    "",
                ],
                lines,
            ),
            "",
            f"Assumed: {units.share(least)} to {units.share(most)} of the data sheet's rate "
            f"({found['flops_per_token'] / 1e9:,.1f} GFLOPs a token),",
            *textwrap.wrap(found["assumed"], 90),
            "what `batchlab doctor` measures on yours goes into --utilisation. The step stays the",
            "same: where a device has fewer of its slots than hide an all-reduce of 16-bit "
            "gradients,",
            "it takes longer than this.",
        ]
    )


def _line(
    one: cluster.Bill, step: plan.Plan, device: roofline.Device, utilisation: float
) -> dict[str, Any]:
    hidden = cluster.tokens_to_hide(device, cluster.LINKS[LINK], one.devices, mfu=utilisation)
    return {
        "devices": one.devices,
        "hours": _ends(one.hours),
        "tokens_per_second_of_a_device": [
            one.tokens / (3600 * hours * one.devices) for hours in (one.hours.most, one.hours.least)
        ],
        "slots_of_a_device": step.slots_per_step / one.devices,
        "slots_to_hide": hidden,
    }


def _ends(span: cluster.Span) -> list[float]:
    return [span.least, span.most]


def _span(shown: list[str]) -> str:
    return " to ".join(dict.fromkeys(shown))

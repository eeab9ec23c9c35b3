"""What a whole training run takes, in the words of `plan`: hours, money, energy, as ranges.

parsed words and a step  ->  data and lines
"""

import argparse
from typing import Any

from batchlab import cluster, plan, report, roofline, units
from batchlab.cli._shapes import shape_of
from batchlab.cli.options import BILL, card

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
    spread = tuple(args.utilisation or cluster.UTILISATION)
    if len(spread) > 2:
        raise ValueError(f"--utilisation takes one number or two, got {len(spread)}")
    least, most = spread[0], spread[-1]
    flops = roofline.flops_per_token(shape, step.length)
    devices = args.devices or step.data_parallel
    counts = [devices]
    while counts[-1] * MORE <= max(MOST_DEVICES, devices) and len(counts) < 8:
        counts.append(counts[-1] * MORE)
    bills = [
        cluster.bill(args.tokens, flops, count, device, utilisation=(least, most),
                     price_per_hour=args.price or 0.0)
        for count in counts
    ]  # fmt: skip
    return {
        "model": name,
        "device": device.name,
        "tokens": args.tokens,
        "flops_per_token": flops,
        "utilisation": [least, most],
        "price_per_hour": args.price,
        "steps": args.tokens / step.slots_per_step,
        "device_hours": _ends(bills[0].device_hours),
        "money": _ends(bills[0].money) if args.price else None,
        "kilowatt_hours": _ends(bills[0].kilowatt_hours),
        "devices": [_line(one, step, device, least) for one in bills],
    }


def text_of(found: dict[str, Any]) -> str:
    """The bill as a table, with what it assumes beside it."""
    lines = [
        [
            units.count(one["devices"]),
            _span([units.duration(3600 * hours) for hours in one["hours"]]),
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
            report.table(["devices", "time", "slots of a device", f"to hide {LINK}", ""], lines),
            "",
            f"Assumed: {units.share(least)} to {units.share(most)} of the data sheet's rate "
            f"({found['flops_per_token'] / 1e9:,.1f} GFLOPs a token), on any number of devices;",
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
        "slots_of_a_device": step.slots_per_step / one.devices,
        "slots_to_hide": hidden,
    }


def _ends(span: cluster.Span) -> list[float]:
    return [span.least, span.most]


def _span(shown: list[str]) -> str:
    return " to ".join(dict.fromkeys(shown))

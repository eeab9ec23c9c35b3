"""Wrong versions of the short answers of lesson 18, by the thought that leads to each.

WRONG[name][thought]: functions of the arguments that the exercise gets
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab.classroom.probes.lesson_18_guesses import CALIBRATION, wrapped
from batchlab.classroom.probes.lesson_18_versions import (
    bill,
    revised,
    rollout,
    run_bytes,
    step_counts,
)

__all__ = ["WRONG"]

Version = Callable[..., Any]
HOUR = 3600


def _every(sheet: Mapping[str, int]) -> int:
    return sheet["linear"] + sheet["other"]


def _adapters(sheet: Mapping[str, int], tuning: Mapping[str, Any]) -> int:
    return int(tuning["rank"] * sheet["adapter"] * (tuning["kind"] != "full"))


def _base(sheet: Mapping[str, int], tuning: Mapping[str, Any], linear: float, other: float) -> Any:
    """Weights with these bytes for a 4-bit base; else the right ones."""
    if tuning["kind"] != "4-bit":
        return run_bytes(sheet, tuning, 1)["weights"]
    return linear * sheet["linear"] + other * sheet["other"] + 4 * _adapters(sheet, tuning)


def _counts(each: Version, last: bool = True, documents: bool = True) -> Version:
    def version(lengths: Any, rows: Any, sequences: int) -> list[tuple[int, int]]:
        ends = range(0, len(rows) if last else len(rows) - sequences + 1, sequences)
        parts = [rows[start : start + sequences] for start in ends]
        inside = [[lengths[n] for row in part for n in row] for part in parts]
        return [(each(one), each(one) - len(one) * documents) for one in inside]

    return version


def _rows_are_documents(lengths: Any, rows: Any, sequences: int) -> list[tuple[int, int]]:
    order = [[lengths[n]] for n in range(len(lengths))]
    return step_counts([one[0] for one in order], [[n] for n in range(len(order))], sequences)


def _per_row(lengths: Any, rows: Any, sequences: int) -> list[tuple[int, int]]:
    right = step_counts(lengths, rows, sequences)
    sizes = [len(rows[start : start + sequences]) for start in range(0, len(rows), sequences)]
    return [(tokens, tokens - size) for (tokens, _), size in zip(right, sizes, strict=True)]


def _slots(lengths: Any, rows: Any, sequences: int) -> list[tuple[int, int]]:
    longest = max(sum(lengths[n] for n in row) for row in rows)
    right = step_counts(lengths, rows, sequences)
    sizes = [len(rows[start : start + sequences]) for start in range(0, len(rows), sequences)]
    return [(longest * size, targets) for (_, targets), size in zip(right, sizes, strict=True)]


def _hours(of: Version) -> Version:
    """A bill whose hours are those of `of` times, its money at the price of all devices."""

    def version(slots: float, flops: float, device: Any, utilisation: Any) -> dict[str, Any]:
        hours = of(slots, flops, device, utilisation)
        price = device["count"] * device["price"]
        return {"hours": hours, "money": tuple(price * one for one in hours)}

    return version


def _times(factor: Callable[[Mapping[str, float], Sequence[float]], float]) -> Version:
    def version(slots: float, flops: float, device: Any, utilisation: Any) -> dict[str, Any]:
        right = bill(slots, flops, device, utilisation)["hours"]
        hours = [one * factor(device, utilisation) for one in right]
        price = device["count"] * device["price"]
        return {"hours": tuple(hours), "money": tuple(price * one for one in hours)}

    return version


def _money(of: Callable[[Mapping[str, float]], float]) -> Version:
    return revised(
        bill,
        money=lambda s, f, d, u: tuple(of(d) * hours for hours in bill(s, f, d, u)["hours"]),
    )


def _single(number: float) -> int:
    return int(struct.unpack("f", struct.pack("f", number))[0])


def _product_of_bits(bits: int) -> Version:
    return _hours(lambda s, f, d, u: bill(wrapped(s * f, bits), 1, d, u)["hours"])


WRONG: dict[str, dict[str, Version]] = {
    "rollout": {
        "`rows` counts completions already: the generations do not multiply it": revised(
            rollout, completions=lambda r, a, d, g, s: r * a * d * g
        ),
        "an optimizer step sees completions, not prompts": revised(
            rollout, completions=lambda r, a, d, g, s: r * a * d / g
        ),
        "the completions of a rollout: asked are those of one optimizer step": revised(
            rollout, completions=lambda r, a, d, g, s: r * s * d
        ),
        "the replicas are forgotten: each has completions of its own": revised(
            rollout,
            completions=lambda r, a, d, g, s: r * a,
            prompts=lambda r, a, d, g, s: r * s / g,
        ),
        "completions taken for prompts: divide by the generations": revised(
            rollout, prompts=lambda r, a, d, g, s: r * s * d
        ),
        "prompts of an optimizer step: a rollout has `steps` micro-batches": revised(
            rollout, prompts=lambda r, a, d, g, s: r * a * d / g
        ),
        "prompts x generations are the completions: divide, do not multiply": revised(
            rollout, prompts=lambda r, a, d, g, s: r * s * d * g
        ),
        "upside down: a rollout of more micro-batches gives more updates": revised(
            rollout, updates=lambda r, a, d, g, s: a / s
        ),
        "micro-batches taken for updates: an update takes `accumulation` of them": revised(
            rollout, updates=lambda r, a, d, g, s: s
        ),
        "one update is right only where all of the rollout is one step": revised(
            rollout, updates=lambda r, a, d, g, s: 1
        ),
        "rounded: the updates are a fraction where the steps do not divide": revised(
            rollout, updates=lambda r, a, d, g, s: s // a
        ),
    },
    "step-counts": {
        "slots, not tokens: padding is counted": _slots,
        "`rows` are rows of documents: look up the numbers in each": _rows_are_documents,
        "the last, shorter step is dropped": _counts(sum, last=False),
        "the first token of every document is no target": _counts(sum, documents=False),
        "one token a row is taken off: each document has a first token of its own": _per_row,
        "the number of documents, not their tokens": _counts(len),
        "summed in float32: 24 bits keep no more than 16,777,216 exactly": _counts(
            lambda some: _single(sum(some))
        ),
        "the longest document alone": _counts(lambda inside: max(inside, default=0)),
    },
    "run-bytes": {
        "frozen weights have no gradients": revised(
            run_bytes, gradients=lambda s, t, n: 2 * _every(s) + 4 * _adapters(s, t)
        ),
        "frozen weights have no optimizer states": revised(
            run_bytes, optimizer=lambda s, t, n: 12 * _every(s) + 8 * _adapters(s, t)
        ),
        "8 bytes a frozen weight: it has no optimizer states": revised(
            run_bytes, optimizer=lambda s, t, n: 8 * (_every(s) + _adapters(s, t))
        ),
        "12 bytes of an adapter: its own weights are float32, so 8": revised(
            run_bytes,
            optimizer=lambda s, t, n: 12 * (_adapters(s, t) or _every(s)),
        ),
        "2 bytes of gradient: those of adapters are float32, 4": revised(
            run_bytes, gradients=lambda s, t, n: 2 * (_adapters(s, t) or _every(s))
        ),
        "the optimizer keeps two averages and a float32 copy: 12 bytes": revised(
            run_bytes, optimizer=lambda s, t, n: 8 * (_adapters(s, t) or _every(s))
        ),
        "the base is gone: frozen weights are still weights": revised(
            run_bytes,
            weights=lambda s, t, n: 4 * _adapters(s, t) or 2 * _every(s),
        ),
        "the adapters' weights are forgotten": revised(
            run_bytes,
            weights=lambda s, t, n: run_bytes(s, t, n)["weights"] - 4 * _adapters(s, t),
        ),
        "adapters of 2 bytes: they are float32": revised(
            run_bytes,
            weights=lambda s, t, n: run_bytes(s, t, n)["weights"] - 2 * _adapters(s, t),
        ),
        "the scales are forgotten: 4 bytes for every 64 weights": revised(
            run_bytes, weights=lambda s, t, n: _base(s, t, 0.5, 2)
        ),
        "embedding, head and norms stay in 16 bits": revised(
            run_bytes, weights=lambda s, t, n: _base(s, t, 0.5625, 0.5625)
        ),
        "4 bytes a weight: 4 bits are half a byte": revised(
            run_bytes, weights=lambda s, t, n: _base(s, t, 4, 2)
        ),
        "the rank is forgotten: `adapter` is of rank 1": revised(
            run_bytes,
            weights=lambda s, t, n: run_bytes(s, {**t, "rank": 1}, n)["weights"],
            gradients=lambda s, t, n: run_bytes(s, {**t, "rank": 1}, n)["gradients"],
            optimizer=lambda s, t, n: run_bytes(s, {**t, "rank": 1}, n)["optimizer"],
        ),
        "adapters belong to lora and 4-bit alone": revised(
            run_bytes,
            weights=lambda s, t, n: (
                _base(s, t, 0.5625, 2)
                if t["kind"] != "full"
                else 2 * _every(s) + 4 * t["rank"] * s["adapter"]
            ),
            gradients=lambda s, t, n: (
                run_bytes(s, t, n)["gradients"]
                + 4 * t["rank"] * s["adapter"] * (t["kind"] == "full")
            ),
        ),
        "one layer: every layer keeps its own": revised(
            run_bytes, activations=lambda s, t, n: n * s["kept"]
        ),
        "of one slot: the micro-batch has more": revised(
            run_bytes,
            activations=lambda s, t, n: s["layers"] * s["kept"],
            logits=lambda s, t, n: 10 * s["vocabulary"],
        ),
        "frozen layers keep their activations: the gradient passes through them": revised(
            run_bytes,
            activations=lambda s, t, n: n * s["layers"] * s["kept"] * (t["kind"] == "full"),
        ),
        "the logits are forgotten": revised(run_bytes, logits=lambda s, t, n: 0),
        "2 bytes a logit: its float32 copy and gradient make 10": revised(
            run_bytes, logits=lambda s, t, n: 2 * n * s["vocabulary"]
        ),
        "4 bytes a logit: 2 + 4 + 4 are alive at once": revised(
            run_bytes, logits=lambda s, t, n: 4 * n * s["vocabulary"]
        ),
        "logits stand behind the last layer, once": revised(
            run_bytes, logits=lambda s, t, n: 10 * n * s["vocabulary"] * s["layers"]
        ),
    },
    "bill": {
        "a product beyond 32 bits starts again below 0: multiply floats": _product_of_bits(32),
        "a product beyond 64 bits starts again below 0: multiply floats": _product_of_bits(64),
        "at the peak of the data sheet: no run reaches it": _hours(
            lambda s, f, d, u: (s * f / (d["count"] * d["peak"]) / HOUR,) * 2
        ),
        "the utilisation multiplies: a lower one takes longer": _hours(
            lambda s, f, d, u: tuple(
                s * f / (d["count"] * d["peak"]) / HOUR * one for one in sorted(u)
            )
        ),
        "from the most to the least: the least comes first": _hours(
            lambda s, f, d, u: bill(s, f, d, u)["hours"][::-1]
        ),
        "one number for both ends: the mean utilisation hides the range": _hours(
            lambda s, f, d, u: (s * f / (d["count"] * d["peak"]) / HOUR / (sum(u) / 2),) * 2
        ),
        "seconds: asked are hours": _times(lambda d, u: HOUR),
        "minutes: asked are hours": _times(lambda d, u: 60),
        "days: asked are hours": _times(lambda d, u: 1 / 24),
        "of one device: several share the work": _times(lambda d, u: d["count"]),
        "6 x FLOPs: `flops` is forward and backward already": _times(lambda d, u: 6),
        "the price of one device: all of them are paid for": _money(lambda d: d["price"]),
        "the devices are squared in the money": _money(lambda d: d["price"] * d["count"] ** 2),
        "device hours, without the price": _money(lambda d: d["count"]),
        "money in whole numbers: keep the digits": revised(
            bill, money=lambda s, f, d, u: tuple(map(math.floor, bill(s, f, d, u)["money"]))
        ),
    },
    "calibration": CALIBRATION,
}

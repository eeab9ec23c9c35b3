"""Right versions of the short answers of lesson 18.

    RIGHT[name]: functions of the arguments that the exercise gets

Words
    sheet    the sizes of a model as the lesson writes them: a dictionary of whole numbers
    tuning   {"kind": full, lora or 4-bit, "rank": of the adapters}
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = [
    "KINDS", "RIGHT", "bill", "calibration", "revised", "rollout", "run_bytes", "step_counts",
]  # fmt: skip

KINDS = ("full", "lora", "4-bit")
Version = Callable[..., Any]


def rollout(
    rows: int, accumulation: int, replicas: int, generations: int, steps: int
) -> dict[str, float]:
    """Completions of an optimizer step, prompts of a rollout, and optimizer steps on it."""
    made = rows * steps * replicas
    if made % generations:
        below = made // generations * generations
        near = f"{below} and {below + generations}" if below else f"{generations}"
        raise ValueError(f"{made} completions, {generations} of each prompt: the nearest {near}")
    return {
        "completions": rows * accumulation * replicas,
        "prompts": made // generations,
        "updates": steps / accumulation,
    }


def step_counts(
    lengths: Sequence[int], rows: Sequence[Sequence[int]], sequences: int
) -> list[tuple[int, int]]:
    """(real tokens, target tokens) of each step."""
    found = []
    for start in range(0, len(rows), sequences):
        inside = [int(lengths[n]) for row in rows[start : start + sequences] for n in row]
        found.append((sum(inside), sum(inside) - len(inside)))
    return found


def run_bytes(sheet: Mapping[str, int], tuning: Mapping[str, Any], slots: int) -> dict[str, float]:
    """Bytes by what they are for, with one micro-batch of `slots` alive."""
    linear, other = sheet["linear"], sheet["other"]
    adapters = tuning["rank"] * sheet["adapter"]
    kept = {
        "activations": slots * sheet["layers"] * sheet["kept"],
        "logits": slots * 10 * sheet["vocabulary"],
    }
    if tuning["kind"] == "full":
        every = linear + other
        return {"weights": 2 * every, "gradients": 2 * every, "optimizer": 12 * every, **kept}
    each = 2 if tuning["kind"] == "lora" else 0.5 + 4 / 64
    weights = each * linear + 2 * other + 4 * adapters
    return {"weights": weights, "gradients": 4 * adapters, "optimizer": 8 * adapters, **kept}


def bill(
    slots: float, flops: float, device: Mapping[str, float], utilisation: Sequence[float]
) -> dict[str, tuple[float, float]]:
    """Hours and money, each from the least to the most."""
    low, high = utilisation
    at_peak = slots * flops / (device["count"] * device["peak"]) / 3600
    hours = at_peak / high, at_peak / low
    price = device["count"] * device["price"]
    return {"hours": hours, "money": (price * hours[0], price * hours[1])}


def calibration(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """How far off guesses are, to which side, and how many within a factor of 2."""
    logs = [math.log(g / t) for g, t in pairs if (g > 0 < t) or (g < 0 > t)]
    if not logs:
        raise ValueError("no guess can be compared")
    off = [abs(one) for one in logs]
    return {
        "typical": math.exp(statistics.median(off)),
        "bias": math.exp(statistics.fmean(logs)),
        "within_two": sum(one < math.log(2) for one in off) / len(off),
    }


def revised(version: Version, **changes: Version) -> Version:
    """The dictionary of a version, with some values computed otherwise."""

    def changed(*given: Any) -> dict[str, Any]:
        return dict(version(*given)) | {name: of(*given) for name, of in changes.items()}

    return changed


RIGHT: dict[str, list[Version]] = {
    "rollout": [rollout],
    "step-counts": [step_counts],
    "run-bytes": [run_bytes],
    "bill": [bill],
    "calibration": [calibration],
}

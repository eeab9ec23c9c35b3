"""The finder of lesson 16: tokens per second against what a sequence is still worth.

    sequences per step, devices, noise scale  ->  tokens per second, efficiency, goodput

Words
    fixed  seconds of a step that do not grow with it: the optimizer, the exchange of gradients
"""

from collections.abc import Sequence
from typing import Any

from batchlab import adapt, widgets
from batchlab.classroom import plain as data_of

__all__ = ["fault_of_step", "finder"]

FIXED = {"one device": 0.021, "slow network": 0.31}  # planted seconds a step
SEQUENCE, LENGTH, BASE = 0.011, 1024, 8  # planted seconds a sequence; tokens; sequences
SIZES = (*range(8, 129, 8), *range(144, 257, 16), 320, 384, 512)
NOISE = (40, 260, 2000)  # sequences


def _speed(size: int, device: str) -> float:
    return size * LENGTH / (FIXED[device] + SEQUENCE * size)


def _goodput(size: int, device: str, noise: float) -> float:
    return adapt.goodput(_speed(size, device), size, noise_scale=noise, base=BASE)


def _best(device: str, noise: float) -> int:
    best: int = max(SIZES, key=lambda size: _goodput(size, device, noise))
    return best


def fault_of_step(answer: object) -> str:
    """What is wrong with a step as the setting that `finder` asks for; empty if right."""
    try:
        size = data_of.number(answer)
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: sequences per step"
    if size not in SIZES:
        return "the slider does not offer it: asked is a place of the slider"
    if size == _best("slow network", 260):
        return ""
    for device in FIXED:
        for noise in NOISE:
            if size == _best(device, noise):
                return f"that is the best for {device!r} at a noise scale of {noise}"
    if size == SIZES[-1]:
        return "that has the most tokens per second: goodput weighs them by their worth"
    more = size < _best("slow network", 260)
    return f"{'a larger' if more else 'a smaller'} step has more goodput here"


def finder() -> widgets.Explorer:
    """Sequences, device and noise scale against goodput; the goal is the step with the most."""

    def scene(size: int, device: str, noise: int) -> dict[str, Any]:
        speed, good = _speed(size, device), _goodput(size, device, noise)
        facts = {"tokens per second": f"{speed:,.0f}", "efficiency": f"{good / speed:.1%}"}
        return {"facts": {**facts, "goodput, tokens per second": f"{good:,.0f}"}}

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "size": ("sequences per step", list(SIZES)),
        "device": ("trained on", list(FIXED)),
        "noise": ("noise scale, sequences", list(NOISE)),
    }
    goal = "Slow network, a noise scale of 260 sequences: the step with the most goodput."
    return widgets.finder(
        "Goodput", controls, scene, goal=goal,
        start={"size": 512, "device": "one device", "noise": 40},
        where=lambda size, device, noise: (size, device, noise)
        == (_best("slow network", 260), "slow network", 260),
    )  # fmt: skip

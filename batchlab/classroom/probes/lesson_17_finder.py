"""The finder of lesson 17: how many requests per second can be promised a first token in time.

    rate, policy  ->  99th percentile of the first token, of the latency, tokens per second

The seconds are those of a data sheet: Llama 3 8B in 16 bit on an H100, 16 rows.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from batchlab import data, serving, units, widgets
from batchlab.classroom import plain
from batchlab.memory import ModelShape
from batchlab.roofline import DEVICES

__all__ = ["LLAMA", "PROMISE", "fault_of_rate", "finder", "h100"]

LLAMA = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
ROWS, REQUESTS, LONGEST = 16, 160, 384
RATES = (7, 9, 11, 13, 15, 17, 19, 21, 23, 26, 29, 33, 37, 41, 46)
ASKED = "continuous"
PROMISE = 0.25  # seconds to the first token, for 99 of 100 requests


def h100() -> serving.Roofline:
    """What a pass of Llama 3 8B costs on an H100, by data sheet."""
    return serving.roofline(LLAMA, DEVICES["H100 SXM"])


@cache
def _drawn() -> serving.Trace:
    corpus = data.embedded().at_most(LONGEST)
    return serving.poisson(
        1.0, corpus.prompts, corpus.lengths - corpus.prompts, requests=REQUESTS, seed=17
    )


@cache
def _served(rate: int, policy: str) -> serving.Served:
    one = _drawn()
    pressed = serving.trace((one.arrivals - one.arrivals[0]) / rate, one.prompts, one.outputs)
    return serving.simulate(pressed, h100(), policy=policy, rows=ROWS, chunk=256)


def _kept(rate: int, policy: str) -> bool:
    return _served(rate, policy).percentile(0.99, "first_token") <= PROMISE


@cache
def _highest(policy: str) -> int:
    """The highest rate on the slider that keeps the promise; 0 if none does."""
    return max((rate for rate in RATES if _kept(rate, policy)), default=0)


def fault_of_rate(answer: object) -> str:
    """What is wrong with a rate as the setting that `finder` asks for; empty if right."""
    try:
        rate = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: requests per second"
    if rate == _highest(ASKED):
        return ""
    if rate not in RATES:
        return "the slider does not offer it: asked is a place of the slider"
    for policy in serving.POLICIES:
        if policy != ASKED and rate == _highest(policy):
            return f"that is the rate of {policy} batching: set '{ASKED}'"
    means = [r for r in RATES if _served(r, ASKED).first_token.mean() <= PROMISE]
    if rate == max(means):
        return "that keeps the mean below the promise: 99 of 100 requests are asked"
    if _kept(int(rate), ASKED):
        return "a higher rate on the slider keeps the promise, too"
    return "at this rate more than one in a hundred waits longer for its first token"


def finder() -> widgets.Explorer:
    """Rate and policy against what the slowest hundredth waits; the goal is the highest rate."""

    def scene(rate: int, policy: str) -> dict[str, Any]:
        one = _served(rate, policy)
        facts = {
            "first token, mean": units.duration(float(one.first_token.mean())),
            "first token, p99": units.duration(one.percentile(0.99, "first_token")),
            "latency, p50": units.duration(one.percentile(0.5)),
            "latency, p99": units.duration(one.percentile(0.99)),
            "tokens per second": f"{one.tokens_per_second:,.0f}",
            "row-steps wasted": f"{one.wasted:.0%}",
        }
        return {"facts": facts}

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rate": ("requests per second", list(RATES)),
        "policy": ("batching", list(serving.POLICIES)),
    }
    goal = f"Continuous: the highest rate at which the first token's p99 is at most {PROMISE} s."
    return widgets.finder(
        "Rate against the wait of the slowest hundredth", controls, scene, goal=goal,
        start={"rate": RATES[0], "policy": "static"},
        where=lambda rate, policy: (rate, policy) == (_highest(ASKED), ASKED),
    )  # fmt: skip

"""Find the setting: the highest rate at which the first token keeps its promise."""

from functools import cache

from batchlab.classroom import plain
from batchlab.exercises import Exercise

ROWS, REQUESTS, LONGEST = 16, 160, 384
RATES = (7, 9, 11, 13, 15, 17, 19, 21, 23, 26, 29, 33, 37, 41, 46)
ASKED = "continuous"
PROMISE = 0.25  # seconds to the first token, for 99 of 100 requests


def highest_rate():
    """Requests per second on the slider: the highest that keeps the promise, continuous."""
    return 33


def h100():
    """What a pass of Llama 3 8B in 16 bit costs on an H100, by data sheet."""
    from batchlab import serving
    from batchlab.memory import ModelShape
    from batchlab.roofline import DEVICES

    llama = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
    return serving.roofline(llama, DEVICES["H100 SXM"])


@cache
def drawn():
    from batchlab import data, serving

    corpus = data.embedded().at_most(LONGEST)
    return serving.poisson(
        1.0, corpus.prompts, corpus.lengths - corpus.prompts, requests=REQUESTS, seed=17
    )


@cache
def served(rate, policy):
    from batchlab import serving

    one = drawn()
    pressed = serving.trace((one.arrivals - one.arrivals[0]) / rate, one.prompts, one.outputs)
    return serving.simulate(pressed, h100(), policy=policy, rows=ROWS, chunk=256)


def kept(rate, policy):
    return served(rate, policy).percentile(0.99, "first_token") <= PROMISE


@cache
def highest(policy):
    """The highest rate on the slider that keeps the promise; 0 if none does."""
    return max((rate for rate in RATES if kept(rate, policy)), default=0)


def fault(got):
    """What is wrong with any rate."""
    from batchlab import serving

    try:
        rate = plain.number(got)
    except plain.NotPlain as problem:
        return f"{problem.got}: {problem.thought or 'one number is asked, requests per second'}"
    said = f"{plain.shown(rate)} a second"
    if rate == highest(ASKED):
        return ""
    if rate not in RATES:
        return f"{said}: the slider does not offer it, and asked is a place of the slider"
    for policy in serving.POLICIES:
        if policy != ASKED and rate == highest(policy):
            return f"{said}: that is the rate of {policy} batching, set '{ASKED}'"
    if rate == max(r for r in RATES if served(r, ASKED).first_token.mean() <= PROMISE):
        return f"{said}: that keeps the mean below the promise, and 99 of 100 requests are asked"
    if kept(int(rate), ASKED):
        return f"{said}: a higher rate on the slider keeps the promise, too"
    return f"{said}: more than one in a hundred waits longer for its first token"


def scene(rate, policy):
    """What the finder shows beside its sliders."""
    from batchlab import units

    one = served(rate, policy)
    facts = {
        "first token, mean": units.duration(float(one.first_token.mean())),
        "first token, p99": units.duration(one.percentile(0.99, "first_token")),
        "latency, p50": units.duration(one.percentile(0.5)),
        "latency, p99": units.duration(one.percentile(0.99)),
        "tokens per second": f"{one.tokens_per_second:,.0f}",
        "row-steps wasted": f"{one.wasted:.0%}",
    }
    return {"facts": facts}


def finder():
    from batchlab import serving, widgets

    controls = {
        "rate": ("requests per second", list(RATES)),
        "policy": ("batching", list(serving.POLICIES)),
    }
    goal = f"Continuous: the highest rate at which the first token's p99 is at most {PROMISE} s."
    return widgets.finder(
        "Rate against the wait of the slowest hundredth",
        controls,
        scene,
        goal=goal,
        start={"rate": RATES[0], "policy": "static"},
        where=lambda rate, policy: (rate, policy) == (highest(ASKED), ASKED),
    )


exercise = Exercise(
    highest_rate,
    hints=(
        "set 'continuous', then raise the rate until the p99 of the first token passes 0.25 s, and go one place back",
    ),
    asked=lambda: "the highest rate with a p99 of the first token of at most 0.25 s, continuous",
    shown=[()],
    fault=fault,
    secret=True,
    passed="Right: the mean still looks fine at rates where the slowest hundredth waits too long.",
)
for _said, _value in {
    "longer for its first token": "37",
    "a higher rate": "29",
    "chunked": "41",
    "the mean": "46",
    "does not offer": "30",
    "text was returned": "'33'",
}.items():
    exercise.edit(_said, [("return 33", f"return {_value}")])


@exercise.style
def as_a_float():
    """as a float"""
    return 33.0

"""Whatever a function of the arithmetic rooms is given: an answer, or one line that refuses it."""

import inspect
import math
import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

from batchlab import (
    buckets,
    cluster,
    memory,
    noise,
    packing,
    padding,
    plan,
    proposal,
    rates,
    roofline,
    serving,
    units,
)
from batchlab import lengths as ln
from batchlab.roofline import DEVICES

TRIES = [pytest.param(100, id="everyday"), pytest.param(10_000, id="deep", marks=pytest.mark.deep)]
LENGTHS = [5, 3, 8, 2, 7, 7, 1, 4]
BATCHES = [[0, 1, 2], [3, 4], [5, 6, 7]]
SHAPE = memory.ModelShape(64, 2, 4, 2, 16, 128, 256)
PLAN = plan.Plan(2, 4, 2, 32)
H100 = DEVICES["H100 SXM"]
LINK = cluster.Link("wire", 1e9, "a test")
BEFORE = rates.Hyperparameters(1e-3, 0.9, 0.95, 1e-8, 0.1)
CURVE = noise.StepsToTarget(1000.0, 64.0)
TRACE = serving.at_once([3, 5, 2], [4, 1, 6])
COST = serving.Affine(1e-3, 1e-4, 1e-6)
GIVEN = {
    plan.Plan: (2, 4, 2, 32),
    plan.Ramp: (8, 8, 1000, 64),
    plan.splits: {"slots": 4096, "length": 32, "data_parallel": 2, "most_rows": 16},
    plan.for_slots_per_step: {"slots": 4096, "rows": 4, "length": 32, "data_parallel": 2},
    plan.data_parallel_degree: {"devices": 64, "tensor": 2, "pipeline": 2, "context": 1},
    memory.ModelShape: (64, 2, 4, 2, 16, 128, 256),
    memory.estimate: {"shape": SHAPE, "plan": PLAN, "zero_stage": 1, "trainable_share": 0.5},
    memory.rows_that_fit: {"shape": SHAPE, "budget_bytes": 2**24, "length": 32, "data_parallel": 2},
    roofline.flops_per_token: {"shape": SHAPE, "length": 32},
    roofline.intensity: {"tokens": 64, "inputs": 128, "outputs": 256, "bytes_per_value": 2},
    roofline.mfu: {"tokens_per_second": 1e3, "shape": SHAPE, "length": 32, "device": H100},
    roofline.rows_to_saturate: {"fixed_seconds": 0.02, "row_seconds": 0.01, "share": 0.9},
    roofline.tokens_to_saturate: {"device": H100, "inputs": 4096, "outputs": 4096},
    roofline.wave_efficiency: {"rows": 300, "columns": 700, "device": H100},
    serving.at_once: ([3, 5, 2], [4, 1, 6]),
    serving.trace: ([0.0, 0.5, 2.0], [3, 5, 2], [4, 1, 6]),
    serving.poisson: {"rate": 2.0, "prompts": [3, 5], "outputs": [4, 1], "requests": 4, "seed": 1},
    serving.simulate: {
        "trace": TRACE,
        "cost": COST,
        "policy": "chunked",
        "rows": 2,
        "cache": 64,
        "chunk": 4,
    },
    serving.kv_bytes_per_token: {"shape": SHAPE, "bytes_per_value": 2},
    rates.beta2_for: {"beta2": 0.95, "from_batch": 32, "to_batch": 64},
    rates.half_life: {"beta2": 0.95, "tokens_per_step": 4096},
    rates.linear: {"rate": 0.1, "from_batch": 32, "to_batch": 64, "noise_scale": 512.0},
    rates.square_root: {"rate": 0.1, "from_batch": 32, "to_batch": 64, "noise_scale": 512.0},
    rates.saturating: {"rate": 0.1, "from_batch": 32, "to_batch": 64, "noise_scale": 512.0},
    rates.surge: {"rate": 0.1, "from_batch": 32, "to_batch": 64, "noise_scale": 512.0},
    rates.adam_square_root: {"before": BEFORE, "from_batch": 32, "to_batch": 64},
    rates.compare: {"before": BEFORE, "from_batch": 32, "to_batch": 64, "noise_scale": 512.0},
    rates.weight_decay_for: {
        "weight_decay": 0.1,
        "from_batch": 32,
        "to_batch": 64,
        "rate_factor": 1.4,
    },
    rates.doubling: {"first": 4096, "at_tokens": [100_000, 300_000]},
    rates.linear_ramp: {"first": 4096, "last": 8192, "increment": 1024, "over_tokens": 100_000},
    rates.seesaw: {"rate": 0.1, "tokens_per_step": 4096, "cuts": [40960, 81920], "factor": 2},
    noise.from_norms: {
        "small": [4.0, 5.0, 6.0],
        "big": [2.0, 2.5, 2.2],
        "small_batch": 8,
        "big_batch": 32,
    },
    noise.fit_steps: {"steps": {8: 1100.0, 16: 600.0, 32: 340.0, 64: 220.0}},
    noise.fit_power: {"values": {1.0: 3.0, 10.0: 11.0, 100.0: 32.0}},
    noise.fastest: {"curve": CURVE, "step_seconds": {8: 0.1, 64: 0.2, 512: 1.1}},
    noise.fastest_batch: {"curve": CURVE, "fixed_seconds": 0.1, "seconds_per_sequence": 0.01},
    noise.more_steps: {"curve": CURVE, "from_batch": 256, "share": 0.2},
    noise.lowest_loss: {"losses": {8: 2.2, 16: 2.1, 32: 2.3}},
    noise.same_loss: {"losses": {8: 2.0, 16: 2.0, 32: 2.3}, "reference": 2.0, "tolerance": 0.01},
    padding.measure: {"lengths": LENGTHS, "batches": BATCHES, "round_to": 4},
    padding.measure_pairs: {"lengths": LENGTHS, "batches": BATCHES, "round_to": 4},
    padding.expected_waste: {"lengths": LENGTHS, "rows": 3},
    padding.expected_longest: {"lengths": LENGTHS, "rows": 3},
    padding.by_length: {"lengths": LENGTHS, "rows": 3},
    padding.in_order: {"lengths": LENGTHS, "rows": 3},
    packing.pack: {"lengths": LENGTHS, "row_length": 9},
    packing.lower_bound: {"lengths": LENGTHS, "row_length": 9},
    buckets.by_token_budget: {
        "lengths": LENGTHS,
        "slots": 16,
        "max_rows": 4,
        "round_to": 2,
        "pool": 4,
    },
    buckets.by_two_budgets: {
        "text_lengths": LENGTHS,
        "image_lengths": LENGTHS[::-1],
        "text_slots": 16,
        "image_slots": 16,
    },
    buckets.balance: {"lengths": LENGTHS, "batches": BATCHES, "ranks": 3, "cost": "tokens"},
    ln.summary: {"lengths": LENGTHS},
    ln.lognormal: {"count": 8, "median": 20, "sigma": 0.5, "longest": 64, "seed": 1},
    units.count: (1234.5,),
    units.duration: (12.5,),
    units.size: (123456,),
    units.rate: (12.5, "tokens"),
    units.share: (0.25,),
    cluster.all_reduce: {"payload_bytes": 1024, "ranks": 4},
    cluster.bubble: {"stages": 4, "micro_batches": 8, "interleaved": 2},
    cluster.stragglers: {"costs": LENGTHS, "ranks": 4, "per_rank": 2, "draws": 10},
    cluster.bill: {
        "tokens": 1e9,
        "flops_per_token": 1e6,
        "devices": 8,
        "device": H100,
        "price_per_hour": 2.5,
    },
    cluster.reached: {
        "seconds": 1e3,
        "tokens": 1e9,
        "flops_per_token": 1e6,
        "devices": 8,
        "device": H100,
    },
    cluster.tokens_to_hide: {"device": H100, "link": LINK, "ranks": 8},
    cluster.traffic: {"form": "fsdp2", "parameters": 1000, "ranks": 4, "accumulation": 2},
    cluster.zero: {"parameters": 1000, "ranks": 4, "stage": 2},
    proposal.compute_law: {"tokens": 2e9, "flops_per_token": 3e8},
    proposal.critical: {"tokens": 1e10},
    proposal.decay: {"rate": 1e-3, "batch": 1e5, "tokens": 1e10, "parameters": 1e8},
    proposal.like: {"stage": "pretrain", "parameters": 1e8},
}
ODD = [math.nan, math.inf, -math.inf, 1e30, 1e-30, -0.0, 2**53 + 1, 2**63, -(2**63), 10**400]
ODD += [None, True, "3", "", np.int8(3), np.float32(0.5), np.float64("nan"), np.uint64(7)]
NUMBER = st.integers(-5, 300) | st.floats(-5, 300) | st.sampled_from(ODD)
KINDS = {
    list: st.lists(NUMBER, max_size=5) | st.lists(st.lists(NUMBER, max_size=3), max_size=3),
    dict: st.dictionaries(st.integers(-2, 300) | st.floats(allow_nan=False), NUMBER, max_size=5),
    str: st.sampled_from(["", "sgd", "adam", None, 3]) | st.text(max_size=3),
    int: NUMBER,
    float: NUMBER,
}  # what has no kind here is an object of the library, and stays as it is


def arguments(door):
    given = GIVEN[door]
    if isinstance(given, tuple):
        return dict(zip(inspect.signature(door).parameters, given, strict=False))
    return dict(given)


@st.composite
def calls(draw):
    door = draw(st.sampled_from(list(GIVEN)))
    given = arguments(door)
    names = [name for name, value in given.items() if type(value) in KINDS]
    few = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    for name in draw(few) if names else ():
        given[name] = draw(KINDS[type(given[name])])
    return door, given


@pytest.mark.parametrize("door", GIVEN, ids=lambda door: f"{door.__module__}.{door.__name__}")
def test_every_door_answers_what_it_is_given_here(door):
    assert door(**arguments(door)) is not None


def refused(call):
    """Whether a call was refused; what is neither a refusal in one line nor a number fails."""
    door, given = call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a rule beyond what was shown
        try:
            found = door(**given)
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            assert str(error) and "\n" not in str(error), call
            return True
    assert not (isinstance(found, float) and math.isnan(found)), call
    return False


@pytest.mark.parametrize("fuzz", TRIES, indirect=True)
def test_any_numbers_are_answered_or_refused_in_one_line(fuzz):
    def law(call):
        refused(call)

    fuzz(law, calls())


def test_the_mistake_beside_it_is_seen():
    """A ratio that nobody guards, and a mean that is NaN."""
    with pytest.raises(ZeroDivisionError):
        refused((lambda rows: 1 / rows, {"rows": 0}))
    with pytest.raises(AssertionError):
        refused((lambda rows: rows - rows, {"rows": math.inf}))
    assert refused((padding.by_length, {"lengths": [1, -1], "rows": 2}))

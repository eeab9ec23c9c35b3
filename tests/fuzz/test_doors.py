"""Whatever a function of the arithmetic rooms is given: an answer, or one line that refuses it.

Wrong numbers that look right are hunted by what must hold of any answer: totals are the sum of
their parts, twice the work is twice the bill, and no order of the same documents counts.
"""

import inspect
import math

import numpy as np
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
    packing.pack: {"lengths": LENGTHS, "row_length": 9, "too_long": "split"},
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
    proposal.compute_law: {"tokens": 1e11, "flops_per_token": 1e8},
    proposal.critical: {"tokens": 1e10},
    proposal.decay: {"rate": 1e-3, "batch": 1e5, "tokens": 1e10, "parameters": 1e8},
    proposal.like: {"stage": "pretrain", "parameters": 1e8},
}
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.integers(), st.floats(), st.text(max_size=3),
    st.sampled_from([0, 2**31, 2**53, 2**63, 10**30, 10**400, 1e-320, 1e308, -0.0, 1j, b"x"]),
    st.sampled_from([np.int8(3), np.float32(0.5), np.float64("nan"), np.uint64(7), np.bool_(True)]),
)  # fmt: skip
ODD = PLAIN | st.one_of(
    st.lists(PLAIN, max_size=4), st.dictionaries(st.integers() | st.floats(), PLAIN, max_size=3),
    st.lists(PLAIN, max_size=3).map(tuple), st.lists(st.lists(PLAIN, max_size=2), max_size=3),
    st.sampled_from([object(), len, np.zeros(0), np.zeros((2, 2)), np.array(3), {1}, range(4)]),
    st.sampled_from([SHAPE, PLAN, H100, LINK, BEFORE, CURVE, TRACE, COST]),
)  # fmt: skip


def arguments(door):
    given = GIVEN[door]
    if isinstance(given, tuple):
        return dict(zip(inspect.signature(door).parameters, given, strict=False))
    return dict(given)


def test_every_door_answers_what_it_is_given_here():
    for door in GIVEN:
        assert door(**arguments(door)) is not None, door


@st.composite
def calls(draw):
    door = draw(st.sampled_from(list(GIVEN)))
    given = arguments(door)
    for name in draw(st.lists(st.sampled_from(list(given)), min_size=1, max_size=2)):
        given[name] = draw(ODD)
    return door, given


def test_any_arguments_are_answered_or_refused_in_one_line(fuzz):
    def law(call):
        door, given = call
        try:
            found = door(**given)
        except (ValueError, TypeError) as error:
            assert str(error) and "\n" not in str(error), (door, given, error)
        else:
            if isinstance(found, float):
                assert not math.isnan(found), (door, given)

    fuzz(law, calls())

"""Wrong numbers that look right are hunted by what must hold of any answer.

Totals are the sums of their parts, twice the work is twice the bill, and no order of the same
things counts.
"""

import dataclasses
import math

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
    rates,
    roofline,
    serving,
)
from batchlab import lengths as ln
from batchlab.doctor import diagnose, throughput
from batchlab.roofline import DEVICES
from tests.planted import at_speed, change, visits

FEW = pytest.mark.parametrize(
    "fuzz",
    [
        pytest.param(30, id="everyday"),
        pytest.param(10_000, id="deep", marks=pytest.mark.deep),
    ],
    indirect=True,
)
LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=30)
ROWS = st.integers(1, 9)
SEED = st.integers(0, 999)
POSITIVE = st.floats(1e-3, 1e3)
H100 = DEVICES["H100 SXM"]


def shuffled(values, seed):
    order = np.random.default_rng(seed).permutation(len(values))
    return [values[at] for at in order]


def close(one, other):
    return math.isclose(one, other, rel_tol=1e-9)


@FEW
def test_padding_is_that_of_its_micro_batches_in_any_order(fuzz):
    def law(lengths, rows, seed):
        batches = padding.in_order(lengths, rows)
        whole = padding.measure(lengths, batches)
        parts = [padding.measure(lengths, [one]) for one in batches]
        assert whole.slots == sum(one.slots for one in parts)
        assert whole.real_tokens == sum(one.real_tokens for one in parts) == sum(lengths)
        assert whole == padding.measure(lengths, shuffled(batches, seed))
        assert padding.measure_pairs(lengths, batches).real_pairs == sum(n * n for n in lengths)
        best = padding.measure(lengths, padding.by_length(lengths, rows))
        if len(lengths) % rows == 0:  # a last micro-batch of fewer rows may as well pad the least
            assert best.slots <= whole.slots, "documents of like lengths pad least"

    fuzz(law, LENGTHS, ROWS, SEED)


@FEW
def test_rows_that_are_packed_hold_what_they_were_given_in_any_order(fuzz):
    def law(lengths, row_length, seed):
        mixed = shuffled(lengths, seed)
        found = packing.pack(lengths, row_length)
        assert sorted(n for row in found.rows for n in row) == list(range(len(lengths)))
        assert all(sum(lengths[n] for n in row) <= row_length for row in found.rows)
        least = packing.lower_bound(lengths, row_length)
        assert math.ceil(sum(lengths) / row_length) <= least <= found.row_count
        assert packing.lower_bound(mixed, row_length) == least
        assert packing.pack(mixed, row_length).row_count == found.row_count
        assert packing.lower_bound(lengths * 2, row_length) <= 2 * found.row_count

    fuzz(law, LENGTHS, st.integers(60, 200), SEED)


@FEW
def test_documents_are_summed_up_in_any_order_and_dealt_once(fuzz):
    def law(lengths, rows, ranks, seed):
        assert ln.summary(lengths) == ln.summary(shuffled(lengths, seed))
        assert ln.summary(lengths).tokens == sum(lengths)
        batches = padding.in_order(lengths, rows)
        batches += [[] for _ in range(-len(batches) % ranks)]
        dealt = buckets.balance(lengths, [one for one in batches if one], ranks)
        assert sorted(n for rank in dealt for one in rank for n in one) == list(range(len(lengths)))
        budget = buckets.by_token_budget(lengths, 120, seed=seed)
        assert sorted(n for one in budget for n in one) == list(range(len(lengths)))
        assert all(len(one) * max(lengths[n] for n in one) <= 120 for one in budget)

    fuzz(law, LENGTHS, ROWS, st.just(1), SEED)


@FEW
def test_bytes_are_the_sum_of_their_kinds_and_twice_the_rows_take_twice_as_many(fuzz):
    sizes = st.integers(1, 8)

    def law(heads, layers, rows, length, stage, checkpointing):
        shape = memory.ModelShape(16 * heads, layers, heads, 1, 16, 48, 100)
        one, two = (
            memory.estimate(
                shape, plan.Plan(n, 3, 4, length), zero_stage=stage, checkpointing=checkpointing
            )
            for n in (2 * rows, 4 * rows)
        )
        kinds = [getattr(one, field.name) for field in dataclasses.fields(one)]
        assert one.total_bytes == sum(kinds)
        assert two.activations == 2 * one.activations and two.logits == 2 * one.logits
        assert two.states_bytes == one.states_bytes
        fitting = memory.rows_that_fit(
            shape, one.total_bytes, length=length, data_parallel=4, zero_stage=stage,
            checkpointing=checkpointing,
        )  # fmt: skip
        assert fitting == 2 * rows
        flops = [roofline.flops_per_token(shape, n) for n in (length, 2 * length, 3 * length)]
        assert close(flops[2] - flops[1], flops[1] - flops[0]), "attention grows by the slot"

    kinds = st.sampled_from(["none", "selective", "full"])
    fuzz(law, sizes, sizes, sizes, st.integers(1, 200), st.integers(0, 3), kinds)


@FEW
def test_every_split_of_a_step_is_that_step(fuzz):
    def law(rows, accumulation, ranks, length):
        slots = rows * accumulation * ranks * length
        found = plan.splits(slots, length=length, data_parallel=ranks, most_rows=64)
        assert plan.Plan(rows, accumulation, ranks, length) in found
        assert {one.slots_per_step for one in found} == {slots}
        assert len({one.rows for one in found}) == len(found)

    fuzz(law, ROWS, ROWS, ROWS, st.integers(1, 99))


@FEW
def test_twice_the_tokens_are_twice_the_bill_and_shards_are_the_whole(fuzz):
    def law(tokens, flops, devices, price, ranks):
        one, two = (
            cluster.bill(n * tokens, flops, devices, H100, price_per_hour=price) for n in (1, 2)
        )
        for name in ("hours", "device_hours", "money", "kilowatt_hours"):
            assert close(2 * getattr(one, name).most, getattr(two, name).most), name
            assert getattr(one, name).least <= getattr(one, name).most
        spread = [cluster.zero(1000 * ranks, ranks, stage) for stage in range(4)]
        totals = [sum(dataclasses.astuple(each)) for each in spread]
        assert totals == sorted(totals, reverse=True), "each stage takes some more away"
        assert close(totals[3] * ranks, totals[0])

    tokens = st.integers(1, 10**15)
    fuzz(law, tokens, POSITIVE, st.integers(1, 512), POSITIVE, st.integers(1, 64))


@FEW
def test_a_batch_that_changes_twice_asks_for_the_rate_of_one_change(fuzz):
    def law(rate, first, second, third):
        for rule, optimizer in ((rates.linear, "sgd"), (rates.square_root, "adamw")):
            once = rule(rate, first, third, optimizer=optimizer)
            twice = rule(rule(rate, first, second, optimizer=optimizer), second, third,
                         optimizer=optimizer)  # fmt: skip
            assert close(once, twice), rule
            assert close(rule(once, third, first, optimizer=optimizer), rate), "and back"
        assert close(rates.half_life(rates.beta2_for(0.95, first, third), third),
                     rates.half_life(0.95, first))  # fmt: skip

    fuzz(law, st.floats(1e-6, 0.1), *[st.integers(16, 48)] * 3)


@FEW
def test_a_noise_scale_knows_no_unit_of_loss_and_no_order(fuzz):
    def law(drawn, factor, seed):
        big = [1.0 + value for value in drawn]
        small = [3.0 + 2 * value for value in drawn]
        how = {"small_batch": 4, "big_batch": 32}
        one = noise.from_norms(small, big, **how)
        scaled = noise.from_norms([factor * n for n in small], [factor * n for n in big], **how)
        mixed = noise.from_norms(shuffled(small, seed), shuffled(big, seed), **how)
        assert one.scale == pytest.approx(scaled.scale, rel=1e-6, nan_ok=True)
        assert one.scale == pytest.approx(mixed.scale, rel=1e-6, nan_ok=True)

    fuzz(law, st.lists(st.floats(0, 1), min_size=3, max_size=12), POSITIVE, SEED)


@FEW
def test_a_device_of_half_the_speed_serves_the_same_passes_in_twice_the_seconds(fuzz):
    lots = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12)), min_size=1, max_size=8)

    def law(asked, rows, policy):
        trace = serving.at_once(*zip(*asked, strict=True))
        fast, slow = (
            serving.simulate(trace, serving.Affine(n, n / 8, n / 64), policy=policy, rows=rows,
                             chunk=rows + 7) for n in (1.0, 2.0)
        )  # fmt: skip
        assert slow.seconds == 2 * fast.seconds
        assert np.array_equal(slow.latency, 2 * fast.latency)
        assert (slow.prefill_passes, slow.decode_passes) == (
            fast.prefill_passes,
            fast.decode_passes,
        )
        assert fast.useful_row_steps <= fast.row_steps
        assert (fast.first_token <= fast.latency).all()
        assert fast.seconds >= fast.busy_seconds * (1 - 1e-12)

    fuzz(law, lots, ROWS, st.sampled_from(serving.POLICIES))


def diagnosed(cells):
    found = diagnose(cells)
    spans = [one.interval for one in (*found.parts, *found.causes) if one.interval]
    parts = [one.seconds for one in found.parts]
    assert close(sum(parts), found.step_seconds)
    scaled = [end for one in spans[: -len(found.causes)] for end in (one.low, one.high)]
    gains = [(one.gain, one.interval.low, one.interval.high) for one in found.causes]
    return [found.step_seconds, *parts, *scaled], [found.subject.rows, *np.ravel(gains)]


def summarized(cells):
    found = throughput.summarize(cells)
    seconds = [found.row_seconds, *(1 / line.rate for line in found.lines)]
    misses = [one.error for one in found.predictions]
    return seconds, [found.knee_rows, found.unrest, found.best.cell.rows, *misses]


def reached(points):
    found = noise.fit_critical({b: [(0.9995 * s, s) for s in ends] for b, ends in points})
    critical = [found.curve.critical_batch, found.low, found.high, found.bend, found.spread]
    return [found.curve.least_steps, found.power.coefficient], critical


def priced(points):
    seconds = {batch: ends[0] / 1e6 for batch, ends in points}
    found = noise.fastest(noise.fit_steps({16: 900, 64: 300, 256: 160}), seconds)
    return [found.seconds[b] for b in sorted(seconds)], [found.batch, found.price]


def recorded(factor):
    cells = [at_speed(one, factor) for one in visits(noise=0.05)]
    days = [f"2026-11-{day:02}T00:00:00+00:00" for day in range(1, 1 + len(cells))]
    return [change(one, environment={"date": day}) for one, day in zip(cells, days, strict=True)]


def measured(factor):
    late = 2e5, 2.1e5, 2.15e5, 2.3e5
    return [(b, [factor * s * (1 + b / 64) for s in late]) for b in (16, 64, 256, 512)]


@pytest.mark.parametrize(
    ("made", "told"),
    [(recorded, diagnosed), (recorded, summarized), (measured, reached), (measured, priced)],
)
def test_measurements_have_no_order_and_their_seconds_a_unit(made, told):
    """The fault: the intervals of the doctor moved with the order of the files he was given."""
    once, shares = told(made(1.0))
    backward, alike = told(made(1.0)[::-1])
    assert np.allclose(backward, once, rtol=1e-9) and np.allclose(alike, shares, rtol=1e-9)
    twice, same = told(made(2.0))
    assert np.allclose(twice, [2 * one for one in once], rtol=1e-6)
    assert np.allclose(same, shares, rtol=1e-6)

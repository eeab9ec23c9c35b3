"""Several devices by arithmetic: the printed values of the literature, laws, brute force."""

import math

import numpy as np
import pytest

from batchlab import cluster, padding
from batchlab.cluster import LINKS
from batchlab.memory import States
from batchlab.roofline import DEVICES

H100 = DEVICES["H100 SXM"]
GRADIENTS_7B = 14_000_000_000  # bytes in 16 bit


def test_an_all_reduce_of_seven_billion_gradients_by_hand():
    one = cluster.all_reduce(GRADIENTS_7B, 8)
    assert one.total_bytes == 2 * 7 * GRADIENTS_7B and one.rank_bytes == 2 * 7 / 8 * GRADIENTS_7B
    assert one.seconds(LINKS["NVLink 4"]) == pytest.approx(0.0544, abs=5e-5)
    wide = cluster.all_reduce(GRADIENTS_7B, 64)
    assert wide.seconds(LINKS["400 Gb/s"]) == pytest.approx(0.551, abs=5e-4)


def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather():
    for ranks in (1, 2, 3, 16_384):
        whole = cluster.all_reduce(1001, ranks)
        halves = [cluster.reduce_scatter(1001, ranks), cluster.all_gather(1001, ranks)]
        assert whole.total_bytes == sum(half.total_bytes for half in halves)
        assert whole.messages == 2 * (ranks - 1)
    assert cluster.all_reduce(1001, 1).total_bytes == 0
    assert cluster.all_reduce(1001, 3).total_bytes == 4004  # exact where 3 does not divide


def test_latency_is_paid_by_the_message_and_not_by_the_byte():
    link = cluster.Link("drawn", 1e9, "by hand", latency_seconds=1e-3)
    assert cluster.all_reduce(0, 5).seconds(link) == pytest.approx(8e-3)
    assert cluster.all_reduce(10**9, 2).seconds(link) == pytest.approx(1 + 2e-3)


@pytest.mark.parametrize(
    ("link", "tokens"), [("NVLink 4", 577.1), ("400 Gb/s", 5194.3), ("100 Gb/s", 20777.4)]
)
def test_tokens_that_hide_an_all_reduce(link, tokens):
    assert cluster.tokens_to_hide(H100, LINKS[link], 64) == math.ceil(tokens)
    backward = cluster.tokens_to_hide(H100, LINKS[link], 64, backward_only=True)
    assert backward == pytest.approx(1.5 * tokens, abs=1)  # 4 of 6 FLOPs, not 2 of 6


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.875)])
def test_zero_keeps_what_its_paper_prints(stage, gigabytes):
    """Rajbhandari et al. 2020, figure 1: 7.5 billion parameters over 64 devices."""
    found = cluster.zero(7_500_000_000, 64, stage)
    assert found.total / 1e9 == pytest.approx(gigabytes, abs=0.05)


def test_what_is_sharded_is_split_over_the_ranks_and_the_rest_is_whole():
    one = cluster.zero(1000, 4, 2, states=States(2, 4, 8))
    assert (one.parameters, one.gradients, one.optimizer) == (2000, 1000, 2000)
    for states in ("fp32", "mixed"):
        totals = [cluster.zero(10**9, 8, stage, states=states).total for stage in range(4)]
        assert totals == sorted(totals, reverse=True)
        assert totals[0] == 8 * totals[3]


def test_accumulation_saves_traffic_for_plain_data_parallelism_only():
    """2, GA+1 and 3 GA passes (Stas Bekman's table): the folklore says 2 for all."""

    def passes(form, accumulation):
        one = cluster.traffic(form, 1000, 4, accumulation)
        return one.rank_bytes / (2 * 1000 * 3 / 4)

    assert [passes(form, 8) for form in ("ddp", "zero1", "zero2", "zero3")] == [2, 2, 9, 24]
    assert [passes("ddp_each", n) for n in (1, 4)] == [2, 8]
    assert [passes("fsdp2_no_sync", n) for n in (1, 4)] == [3, 9]
    assert [passes("fsdp2_keep", n) for n in (1, 4)] == [2, 8]
    assert [passes("fsdp2_zero2", n) for n in (1, 4)] == [2, 5]
    assert [passes("fsdp2_zero1", n) for n in (1, 4)] == [2, 2]
    root = cluster.traffic("fsdp2", 1000, 4, 4, root_share=0.2)
    assert root.rank_bytes / 1500 == pytest.approx(11.2)  # as measured: 3 GA - root GA


def test_gathers_and_reductions_may_have_types_of_their_own():
    one = cluster.traffic("zero3", 100, 2, 3, parameter_bytes=2, gradient_bytes=4)
    assert (one.gathered_bytes, one.reduced_bytes) == (2 * 3 * 200, 3 * 400)
    with pytest.raises(ValueError, match="root_share belongs to the form fsdp2"):
        cluster.traffic("zero3", 100, 2, 3, root_share=0.1)
    with pytest.raises(ValueError, match="unknown form 'fsdp'; there are ddp"):
        cluster.traffic("fsdp", 100, 2, 3)


def test_the_bubble_has_two_names_for_two_ratios():
    one = cluster.bubble(12, 24)
    assert (one.over_ideal, one.share) == pytest.approx((11 / 24, 11 / 35))
    assert cluster.bubble(12, 24, interleaved=3).over_ideal == pytest.approx(0.1528, abs=5e-5)
    assert cluster.bubble(1, 7).share == 0
    with pytest.raises(ValueError, match="25 micro-batches cannot be interleaved over 12"):
        cluster.bubble(12, 25, interleaved=2)


def test_bloom_gains_throughput_with_its_batch_as_the_bubble_says():
    """8, 73, 150 TFLOP/s at 16, 192, 2,048 sequences; pipeline 12, data 8, 2 rows (Bekman).

    The shape is right and the first value optimistic: the run had 1 row until 784 sequences.
    """
    busy = [1 - cluster.bubble(12, sequences // 16).share for sequences in (16, 192, 2048)]
    scaled = [150 * share / busy[-1] for share in busy]
    assert scaled == pytest.approx([13.6, 85, 150], abs=0.5)


def played(stages, micro_batches):
    """Seconds of a pipeline played step by step: forwards of 1 s, then backwards of 2 s (GPipe)."""
    free = [0.0] * stages
    for order, cost in ((range(stages), 1.0), (range(stages)[::-1], 2.0)):
        for _ in range(micro_batches):
            ready = 0.0
            for stage in order:
                free[stage] = ready = max(free[stage], ready) + cost
    return max(free)


@pytest.mark.parametrize("stages", [1, 2, 5])
@pytest.mark.parametrize("micro_batches", [1, 3, 8])
def test_the_bubble_is_that_of_a_pipeline_played_step_by_step(stages, micro_batches):
    ideal = 3.0 * micro_batches
    seconds = played(stages, micro_batches)
    one = cluster.bubble(stages, micro_batches)
    assert seconds / ideal - 1 == pytest.approx(one.over_ideal)
    assert 1 - ideal / seconds == pytest.approx(one.share)


def test_the_slowest_rank_takes_what_the_longest_document_takes():
    """With one document a rank, the slowest rank is the longest of a batch: padding knows it."""
    lengths = np.random.default_rng(3).integers(1, 2000, 5000)
    found = cluster.stragglers(lengths, 8, draws=4000)
    exact = padding.expected_longest(lengths, 8)
    assert abs(found.slowest_cost - exact) < 4 * found.slowest_error
    assert found.slowest_error < 0.01 * exact
    assert found.waiting == pytest.approx(1 - lengths.mean() / found.slowest_cost)


def test_more_documents_a_rank_average_out_and_more_ranks_wait_longer():
    lengths = np.random.default_rng(0).lognormal(5, 1, 2000)
    alone = cluster.stragglers(lengths, 64).slowdown
    assert cluster.stragglers(lengths, 64, per_rank=64).slowdown < 1.5 < 4 < alone
    assert cluster.stragglers(lengths, 8).slowdown < alone
    assert cluster.stragglers([7], 64, per_rank=3).slowdown == 1


@pytest.mark.parametrize("costs", [[], [1, 0], [1, math.nan], [[1, 2]], ["a"], [math.inf]])
def test_costs_that_are_none_are_refused(costs):
    with pytest.raises(ValueError, match="a flat list of finite numbers above 0"):
        cluster.stragglers(costs, 2)


def test_a_bill_by_hand():
    device = DEVICES["T4"]  # 65e12 FLOP/s, 70 W
    one = cluster.bill(1e9, 6e9, 2, device, utilisation=(0.25, 0.5), price_per_hour=0.5)
    at_peak = 6e18 / (2 * 65e12) / 3600
    assert (one.hours.least, one.hours.most) == pytest.approx((2 * at_peak, 4 * at_peak))
    assert one.device_hours.most == pytest.approx(8 * at_peak)
    assert one.money.least == pytest.approx(2 * at_peak * 2 * 0.5)
    assert one.kilowatt_hours.most == pytest.approx(8 * at_peak * 0.07)


def test_twice_the_devices_take_half_the_hours_and_the_same_device_hours():
    one, two = (cluster.bill(1e12, 6e9, devices, H100) for devices in (128, 256))
    assert two.hours.least == pytest.approx(one.hours.least / 2)
    assert two.device_hours.most == pytest.approx(one.device_hours.most)


def test_the_utilisation_that_was_reached_closes_the_bill():
    one = cluster.bill(1e12, 6e9, 256, H100, utilisation=(0.4, 0.4))
    seconds = one.hours.least * 3600
    assert cluster.reached(seconds, 1e12, 6e9, 256, H100) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: cluster.all_reduce(10, 0), "ranks must be a whole number of at least 1, got 0"),
        (lambda: cluster.all_reduce(1.5, 2), "payload_bytes must be a whole number"),
        (lambda: cluster.zero(10, 2, 4), "stage must be at most 3, got 4"),
        (lambda: cluster.zero(10, 2, 1, states="f8"), "unknown states 'f8'"),
        (lambda: cluster.Link("x", 0, ""), "bytes_per_second must be above 0"),
        (lambda: cluster.bill(0, 6, 1, H100), "tokens must be at least 1"),
        (lambda: cluster.bill(10, 6, 1, H100, utilisation=(0.5, 0.4)), "from the least to the"),
        (lambda: cluster.bill(10, 6, 1, H100, utilisation=(0.4, 1.4)), "utilisation must be"),
        (lambda: cluster.tokens_to_hide(H100, LINKS["NVLink 4"], 8, mfu=0), "mfu must be above 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(ask, says):
    with pytest.raises(ValueError, match=says):
        ask()

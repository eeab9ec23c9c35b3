"""Strangers at the doors of the arithmetic: any value gives an answer in one line.

Every public function of the arithmetic rooms takes counts from outside. Each is called here with
NumPy integers of every width, huge and negative numbers, truth values, floats, text, nothing.
"""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from batchlab import buckets, lengths, memory, packing, padding, plan, roofline, units

WIDTHS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
H100 = roofline.DEVICES["H100 SXM"]
SHAPE = memory.ModelShape(64, 2, 4, 2, 16, 128, 1000)
STEP = plan.Plan(2, 1, 1, 8)
TOKENS = [5, 3, 8, 2, 7, 1]
PAIRS = [[0, 1], [2, 3], [4, 5]]


def rng():
    return np.random.default_rng(0)


# name of the option -> a call that passes one value to it, and a value that is right
COUNTS = {
    "pack row_length": (lambda n: packing.pack(TOKENS, n), 9),
    "pack split": (lambda n: packing.pack(TOKENS, n, method="split"), 4),
    "pack next_fit": (lambda n: packing.pack(TOKENS, n, method="next_fit"), 9),
    "pack first_fit": (lambda n: packing.pack(TOKENS, n, method="first_fit_decreasing"), 9),
    "pack truncate": (lambda n: packing.pack(TOKENS, n, too_long="truncate"), 4),
    "pack too_long split": (lambda n: packing.pack(TOKENS, n, too_long="split"), 4),
    "lower_bound": (lambda n: packing.lower_bound(TOKENS, n), 9),
    "shuffled_rows": (lambda n: packing.pack(TOKENS, 9).shuffled_rows(n), 3),
    "stream row_length": (lambda n: list(packing.rows_of_stream(TOKENS, n)), 9),
    "stream buffer": (lambda n: list(packing.rows_of_stream(TOKENS, 9, buffer=n)), 2),
    "stream length": (lambda n: list(packing.rows_of_stream([3, n], 9)), 5),
    "in_order": (lambda n: padding.in_order(TOKENS, n), 2),
    "by_length": (lambda n: padding.by_length(TOKENS, n), 2),
    "windows rows": (lambda n: padding.in_windows(TOKENS, n, window=2, rng=rng()), 2),
    "windows window": (lambda n: padding.in_windows(TOKENS, 2, window=n, rng=rng()), 2),
    "measure": (lambda n: padding.measure(TOKENS, PAIRS, round_to=n), 4),
    "measure_pairs": (lambda n: padding.measure_pairs(TOKENS, PAIRS, round_to=n), 4),
    "expected_longest": (lambda n: padding.expected_longest(TOKENS, n), 2),
    "expected_waste": (lambda n: padding.expected_waste(TOKENS, n), 2),
    "budget slots": (lambda n: buckets.by_token_budget(TOKENS, n), 16),
    "budget max_rows": (lambda n: buckets.by_token_budget(TOKENS, 16, max_rows=n), 2),
    "budget round_to": (lambda n: buckets.by_token_budget(TOKENS, 16, round_to=n), 4),
    "budget pool": (lambda n: buckets.by_token_budget(TOKENS, 16, pool=n), 2),
    "budget seed": (lambda n: buckets.by_token_budget(TOKENS, 16, seed=n), 3),
    "budget epoch": (lambda n: buckets.by_token_budget(TOKENS, 16, epoch=n), 3),
    "budgets text": (lambda n: buckets.by_two_budgets(TOKENS, TOKENS, n, 16), 16),
    "budgets image": (lambda n: buckets.by_two_budgets(TOKENS, TOKENS, 16, n), 16),
    "balance": (lambda n: buckets.balance(TOKENS, PAIRS, n), 3),
    "plan rows": (lambda n: plan.Plan(n, 3, 2, 8).slots_per_step, 4),
    "plan length": (lambda n: plan.Plan(4, 3, 2, n).slots_per_step, 8),
    "slots_per_step": (
        lambda n: plan.for_slots_per_step(n, rows=2, length=8, data_parallel=1),
        64,
    ),
    "splits slots": (lambda n: plan.splits(n, length=4, data_parallel=1, most_rows=8), 64),
    "splits most_rows": (lambda n: plan.splits(64, length=4, data_parallel=1, most_rows=n), 8),
    "devices": (lambda n: plan.data_parallel_degree(n, tensor=2), 8),
    "tensor": (lambda n: plan.data_parallel_degree(8, tensor=n), 2),
    "neighbours value": (lambda n: units.neighbours(n, 8), 20),
    "neighbours step": (lambda n: units.neighbours(20, n), 8),
    "hidden": (lambda n: memory.ModelShape(n, 2, 4, 2, 16, 128, 100).parameters, 64),
    "vocabulary": (lambda n: memory.ModelShape(64, 2, 4, 2, 16, 128, n).parameters, 100),
    "config": (lambda n: memory.ModelShape.from_config(_config(n)).parameters, 8),
    "bytes_per_value": (lambda n: memory.estimate(SHAPE, STEP, bytes_per_value=n), 2),
    "zero_stage": (lambda n: memory.estimate(SHAPE, STEP, zero_stage=n), 2),
    "budget_bytes": (lambda n: memory.rows_that_fit(SHAPE, n, length=8), 2**21),
    "flops": (lambda n: roofline.flops_per_token(SHAPE, n), 100),
    "intensity": (lambda n: roofline.intensity(n, 100, 100), 100),
    "saturate": (lambda n: roofline.tokens_to_saturate(H100, n, 4096), 100_000),
    "waves": (lambda n: roofline.wave_efficiency(n, 100, H100), 100),
    "lognormal count": (lambda n: lengths.lognormal(n, median=9, sigma=1, longest=99), 5),
    "lognormal longest": (lambda n: lengths.lognormal(5, median=9, sigma=1, longest=n), 99),
    "lognormal seed": (lambda n: lengths.lognormal(5, median=9, sigma=1, longest=9, seed=n), 5),
}
SHARES = {
    "fill": lambda x: STEP.target_tokens_per_step(x, 0.5),
    "target_share": lambda x: STEP.target_tokens_per_step(0.5, x),
    "trainable_share": lambda x: memory.estimate(SHAPE, STEP, trainable_share=x),
    "share": lambda x: roofline.rows_to_saturate(1.0, 0.5, x),
    "fixed_seconds": lambda x: roofline.rows_to_saturate(x, 0.5),
    "row_seconds": lambda x: roofline.rows_to_saturate(0.5, x),
    "tokens_per_second": lambda x: roofline.mfu(x, SHAPE, 8, H100),
    "recomputed_share": lambda x: roofline.mfu(9, SHAPE, 8, H100, recomputed_share=x),
    "median": lambda x: lengths.lognormal(3, median=x, sigma=1, longest=9),
    "sigma": lambda x: lengths.lognormal(3, median=3, sigma=x, longest=9),
    "device": lambda x: roofline.Device("mine", x, 1.0, 1, 1, "test").ridge,
}


def _config(heads):
    return {
        "model_type": "llama",
        "hidden_size": 64,
        "num_attention_heads": heads,
        "num_hidden_layers": 2,
        "intermediate_size": 128,
        "vocab_size": 100,
    }


def plain(found):
    """What a call gave, as data that can be compared, NumPy's numbers kept as they are."""
    if isinstance(found, packing.Packing):
        return [plain(value) for value in vars(found).values()]
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, list | tuple):
        return [plain(one) for one in found]
    return vars(found) if hasattr(found, "__dict__") else found


huge = st.integers(2**31, 2**70) | st.sampled_from([2**53, 2**63 - 1, 2**63, 2**64, 10**400])
numbers = st.integers(-300, 300) | huge | huge.map(lambda n: -n)
narrow = st.sampled_from(WIDTHS).flatmap(
    lambda width: st.integers(int(np.iinfo(width).min), int(np.iinfo(width).max)).map(width)
)
odd = st.sampled_from(
    [True, False, None, "8", "", b"8", 4.0, 0.5, -0.0, 1e30, float("nan"), float("inf"),
     float("-inf"), np.float64(4), np.float32(4), np.True_, np.array([4]), np.array([4, 5]),
     np.array(4.0), np.array(True), [4], (), {}, 4j, object(), np.datetime64(4, "s"),
     np.timedelta64(4, "s"), [[10**5000]], np.arange(10_000).reshape(100, 100)]
)  # fmt: skip


def refused_in_one_line(error):
    return isinstance(error, ValueError) and 5 < len(str(error)) < 300 and "\n" not in str(error)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COUNTS)
def test_an_integer_of_any_width_counts_as_the_same_integer_of_python(name, width):
    call, right = COUNTS[name]
    if right > np.iinfo(width).max:
        right = np.iinfo(width).max if name in {"budget_bytes", "saturate"} else 100
    given_, wanted = (_outcome(call, value) for value in (width(right), int(right)))
    assert given_ == wanted
    assert all(type(value) in (int, float, bool, str, type(None)) for value in _flat(given_))


def _outcome(call, value):
    try:
        return plain(call(value))
    except ValueError as error:
        return str(error).replace(f"np.{type(value).__name__}({value})", str(value))


def _flat(found):
    if isinstance(found, dict):
        found = list(found.values())
    return itertools.chain(*map(_flat, found)) if isinstance(found, list) else [found]


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=60, deadline=None)
@given(value=numbers | narrow | odd)
@example(value=2**31 - 1)
@example(value=300_000_000)
@example(value=2**53)
def test_whatever_a_stranger_counts_with_is_answered_or_refused_in_one_line(name, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            COUNTS[name][0](value)
        except Exception as error:
            assert refused_in_one_line(error), repr(error)


@pytest.mark.parametrize("name", SHARES)
@settings(max_examples=60, deadline=None)
@given(value=st.floats() | numbers | narrow | odd)
def test_whatever_a_stranger_measures_with_is_answered_or_refused_in_one_line(name, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = SHARES[name](value)
        except Exception as error:
            assert refused_in_one_line(error), repr(error)
        else:
            assert not isinstance(value, bool | str) and not np.isnan(np.float64(value)), found


TAKING_LENGTHS = {
    "checked": lengths.checked,
    "summary": lengths.summary,
    "pack": lambda some: packing.pack(some, 2**53),
    "pack short": lambda some: packing.pack(some, 100, too_long="truncate"),
    "next_fit": lambda some: packing.pack(some, 2**53, method="next_fit"),
    "split": lambda some: packing.pack(some, 2**50, method="split"),
    "lower_bound": lambda some: packing.lower_bound(some, 2**53),
    "in_order": lambda some: padding.in_order(some, 2),
    "by_length": lambda some: padding.by_length(some, 2),
    "in_windows": lambda some: padding.in_windows(some, 2, window=2, rng=rng()),
    "measure": lambda some: padding.measure(some, [[0]]),
    "measure_pairs": lambda some: padding.measure_pairs(some, [[0]], round_to=2**53),
    "expected_waste": lambda some: padding.expected_waste(some, 1),
    "budget": lambda some: buckets.by_token_budget(some, 2**53),
    "budgets": lambda some: buckets.by_two_budgets(some, some, 2**53, 2**53),
    "balance": lambda some: buckets.balance(some, [[0]], 1, cost="pairs"),
    "stream": lambda some: list(packing.rows_of_stream(some, 2**53)),
}
anything = st.lists(numbers | narrow | odd, max_size=5) | st.lists(narrow, min_size=1, max_size=5)


@pytest.mark.parametrize("name", TAKING_LENGTHS)
@settings(max_examples=80, deadline=None)
@given(some=anything | anything.map(tuple) | odd)
@example(some=[2**63])
@example(some=[True, 5])
@example(some=[2**52, 2**52, 1])
@example(some=[10**5000])
def test_whatever_a_stranger_calls_lengths_is_answered_or_refused_in_one_line(name, some):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            TAKING_LENGTHS[name](some)
        except TypeError as error:
            assert name == "stream" and "itera" in str(error)  # as of any loop
        except Exception as error:
            assert refused_in_one_line(error), repr(error)


@given(st.lists(st.integers(1, 120), min_size=1, max_size=9), st.sampled_from(WIDTHS))
@settings(deadline=None)
def test_lengths_of_any_width_are_the_lengths(some, width):
    found = lengths.checked(np.array(some, dtype=width))
    assert found.tolist() == some and found.dtype == np.int64
    assert lengths.checked([width(n) for n in some]).tolist() == some


@pytest.mark.parametrize(
    "batches", [[0, 1], [["0"]], [[0.5]], [[True, 0]], "01", [[2**70]], [[None]], [[[0]]], [{}]]
)
def test_what_is_no_batch_is_refused_in_one_line(batches):
    for call in (padding.measure, lambda *two: buckets.balance(*two, 1)):
        with pytest.raises((ValueError, TypeError)) as caught:
            call([5, 3], batches)
        assert "\n" not in str(caught.value)


def test_the_mistake_beside_the_law_32_bits_would_have_gone_round():
    """Slots of 2**20 rows of 2,048 in 32 bits: the number that was shown before."""
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.int32(2**20) * np.int32(2048) == -(2**31)
    assert packing.pack([2048] * 8, np.int32(2048)).slots == 2**14
    assert plan.Plan(np.int32(2**20), 1, 1, np.int32(2048)).slots_per_step == 2**31


def test_sums_beyond_64_bits_are_exact():
    some = [2**51, 2**50, 1]
    assert padding.measure_pairs(some, [[0, 1], [2]]).slot_pairs == 2 * 2**102 + 1
    assert padding.measure(some, [[0, 1, 2]], round_to=2**53).slots == 3 * 2**53
    dealt = buckets.balance(some, [[2], [0], [1], [2]], 2, cost="pairs")
    assert sorted(rank[0][0] for rank in dealt) in ([0, 1], [2, 2])

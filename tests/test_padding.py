"""Padding is arithmetic: cases by hand, then laws, then enumeration and PyTorch as judges."""

import itertools
import math

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab.padding import (
    Padding,
    Pairs,
    by_length,
    expected_longest,
    expected_waste,
    in_order,
    in_windows,
    joined,
    measure,
    measure_pairs,
)

ROWS = 8


def in_three_batch_windows(lengths, rows):
    return in_windows(lengths, rows, window=3, rng=np.random.default_rng(0))


STRATEGIES = [in_order, by_length, in_three_batch_windows]


@pytest.fixture(params=range(4))
def lengths(request):
    """Long-tailed like text: most documents short, a few many times longer."""
    return ln.lognormal(12 * ROWS, median=20, sigma=1.0, longest=4000, seed=request.param)


def test_one_rectangle_by_hand():
    #   t t t t t
    #   t t t . .
    padding = measure([5, 3], [[0, 1]])
    assert padding == Padding(real_tokens=8, slots=10)
    assert (padding.pad_tokens, padding.waste) == (2, 0.2)


# The two worked examples of the Kaitchup article (October 2025): totals are published, the seven
# neighbours of the outlier are ours, chosen to have these totals.
EXAMPLE_A = [512, 480, 580, 580, 610, 610, 640, 4000]
EXAMPLE_B = [900, 1200, 1000, 1100, 950, 1150, 1050, 8000]


@pytest.mark.parametrize(
    ("lengths", "useful", "slots", "waste", "pair_waste"),
    [(EXAMPLE_A, 8012, 32000, 0.749625, 0.856882), (EXAMPLE_B, 15350, 64000, 0.760156, 0.85979)],
)
def test_one_long_document_wastes_three_quarters(lengths, useful, slots, waste, pair_waste):
    found = measure(lengths, [range(8)])
    assert (found.real_tokens, found.slots) == (useful, slots)
    assert found.waste == pytest.approx(waste, abs=1e-6)
    assert measure_pairs(lengths, [range(8)]).waste == pytest.approx(pair_waste, abs=1e-5)


def test_waste_of_a_sum_is_not_the_mean_of_wastes():
    narrow, wide = measure([2, 1], [[0, 1]]), measure([30, 30], [[0, 1]])
    assert (narrow + wide).waste == pytest.approx(1 / 64)
    assert (narrow.waste + wide.waste) / 2 == pytest.approx(1 / 8)


def test_attention_pairs_waste_more_than_slots(lengths):
    batches = in_order(lengths, ROWS)
    assert measure_pairs(lengths, batches).waste > measure(lengths, batches).waste
    assert measure_pairs([5, 3], [[0, 1]]) == Pairs(real_pairs=34, slot_pairs=50)


def test_slots_are_the_cells_pytorch_allocates(lengths):
    import torch
    from torch.nn.utils.rnn import pad_sequence

    batches = in_order(lengths, ROWS)
    rows = [[torch.zeros(int(lengths[i])) for i in batch] for batch in batches]
    assert measure(lengths, batches).slots == sum(pad_sequence(batch).numel() for batch in rows)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_document_is_batched_exactly_once(strategy, lengths):
    numbers = [i for batch in strategy(lengths, ROWS) for i in batch]
    assert sorted(numbers) == list(range(len(lengths)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_pads_less_than_sorting(strategy, lengths):
    least = measure(lengths, by_length(lengths, ROWS))
    assert measure(lengths, strategy(lengths, ROWS)).slots >= least.slots


def test_one_window_around_everything_pads_like_sorting(lengths):
    batches = in_windows(lengths, ROWS, window=12, rng=np.random.default_rng(1))
    assert measure(lengths, batches) == measure(lengths, by_length(lengths, ROWS))
    widths = [max(lengths[batch]) for batch in batches]
    assert widths != sorted(widths), "but the batches come in a random order"


def test_batches_by_hand():
    assert in_order([5, 3, 8, 2, 9], 2) == [[0, 1], [2, 3], [4]]
    assert in_order([5, 3, 8, 2], 2) == [[0, 1], [2, 3]]
    assert in_order([5, 3], 9) == [[0, 1]] and in_order([5, 3], 1) == [[0], [1]]
    assert by_length([5, 3, 5, 3, 1], 2) == [[4, 1], [3, 0], [2]], "equals in the order of the data"
    assert all(type(i) is int for batch in by_length([5, 3, 1], 2) for i in batch)


@pytest.mark.parametrize("longest", [50, 2**16 - 1, 2**16, 2**40])
@pytest.mark.parametrize(
    ("documents", "rows", "window"),
    [(1, 1, 1), (7, 2, 2), (100, 3, 5), (700, 8, 32), (700, 255, 1), (700, 256, 1), (50, 4, 99)],
)
def test_windows_are_those_of_a_search_by_hand(documents, rows, window, longest):
    """Equal to sorting each window with Python, narrow or wide, lengths of 16 bits or more."""
    tokens = np.random.default_rng(5).integers(1, longest + 1, documents)
    tokens[0] = longest
    rng = np.random.default_rng(3)
    order, size = rng.permutation(documents).tolist(), rows * window
    inside = [order[i : i + size] for i in range(0, documents, size)]
    flat = [i for part in inside for i in sorted(part, key=lambda i: tokens[i])]
    wanted = [flat[i : i + rows] for i in range(0, documents, rows)]
    rng.shuffle(wanted)
    found = in_windows(tokens, rows, window=window, rng=np.random.default_rng(3))
    assert found == wanted


@pytest.mark.parametrize("round_to", [1, 8])
def test_batches_of_any_form_are_measured_alike(lengths, round_to):
    numbers = np.random.default_rng(2).permutation(len(lengths)).reshape(-1, ROWS)
    forms = [
        numbers, numbers.tolist(), list(numbers), tuple(map(tuple, numbers.tolist())),
        numbers.astype(np.uint8), np.asfortranarray(numbers), (row for row in numbers.tolist()),
        [numbers[0].tolist(), *numbers[1:]], [list(row) for row in numbers],
    ]  # fmt: skip
    found = [measure(lengths, form, round_to=round_to) for form in forms]
    widths = [-(-max(lengths[i] for i in row) // round_to) * round_to for row in numbers.tolist()]
    assert set(found) == {Padding(int(lengths.sum()), ROWS * sum(widths))}
    ranges = measure(lengths, [range(3), range(3, 12)], round_to=round_to)
    assert ranges == measure(lengths, [[0, 1, 2], list(range(3, 12))], round_to=round_to)


def test_batches_of_different_sizes_by_hand():
    #   t t t t t      t t      t t t
    #   t . . . .
    lengths = [5, 1, 2, 3]
    assert measure(lengths, [[0, 1], [2], [3]]) == Padding(real_tokens=11, slots=15)
    assert measure(lengths, [[0, 1], [2], [3]], round_to=4) == Padding(real_tokens=11, slots=24)
    assert measure_pairs(lengths, [[0, 1], [2], [3]]) == Pairs(39, 50 + 4 + 9)
    assert measure_pairs(lengths, [[0, 1], [2], [3]], round_to=2) == Pairs(39, 72 + 4 + 16)
    assert measure(lengths, [[1], [1]]) == Padding(2, 2), "a document may be named twice"


def test_totals_add():
    assert Padding(3, 5) + Padding(4, 7) == Padding(7, 12) and Padding(3, 5).pad_tokens == 2
    assert Pairs(9, 25) + Pairs(16, 20) == Pairs(25, 45) and Pairs(9, 25).waste == 16 / 25


def test_slots_beyond_64_bits_are_counted():
    """The mistake beside the law: 1,024 rows as wide as 2**53 slots are -2**63 in 64 bits."""
    wide, numbers = [1] * 1024, [range(1024)]
    assert measure(wide, numbers, round_to=2**53).slots == 2**63
    assert measure_pairs(wide, numbers, round_to=2**27).slot_pairs == 2**64
    assert measure_pairs([2**31] * 2, [[0, 1]]) == Pairs(2**63, 2**63)
    assert measure_pairs([2**31, 1], [[0], [1]]) == Pairs(2**62 + 1, 2**62 + 1)
    beside = [range(2048), [2048]]  # a narrow rectangle beside the wide one
    assert measure([2**52] + [1] * 2048, beside) == Padding(2**52 + 2048, 2**63 + 1)
    assert measure_pairs([2**31, 1, 1], [[0, 1], [2]]) == Pairs(2**62 + 2, 2**63 + 1)


def test_rounding_widths_costs_slots_and_no_tokens(lengths):
    batches = in_order(lengths, ROWS)
    exact, rounded = measure(lengths, batches), measure(lengths, batches, round_to=64)
    assert rounded.real_tokens == exact.real_tokens
    assert rounded.slots > exact.slots and rounded.slots % (64 * ROWS) == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_the_expected_longest_is_the_mean_over_all_draws(rows):
    lengths = [7, 3, 3, 12, 1]
    longest = [max(draw) for draw in itertools.combinations(lengths, rows)]
    assert expected_longest(lengths, rows) == pytest.approx(np.mean(longest), rel=1e-12)


def test_drawing_with_replacement_would_be_another_number():
    """The test above has teeth: the usual formula, F(x)^B, is visibly off on few documents."""
    lengths = np.array([7, 3, 3, 12, 1])
    draws = [max(draw) for draw in itertools.product(lengths, repeat=3)]
    assert np.mean(draws) < expected_longest(lengths, 3) - 0.5


def test_the_expected_longest_agrees_with_sampling():
    lengths = ln.lognormal(3000, median=139, sigma=1.2, longest=4005)
    rng = np.random.default_rng(0)
    drawn = np.array([lengths[rng.choice(3000, 8, replace=False)].max() for _ in range(4000)])
    error = drawn.std() / math.sqrt(len(drawn))
    assert abs(drawn.mean() - expected_longest(lengths, 8)) < 4 * error


@pytest.mark.parametrize(("rows", "waste"), [(8, 0.4375), (32, 0.4844)])
def test_uniform_lengths_waste_as_the_closed_form_says(rows, waste):
    # uniform on (0, M): E[Lmax] = M B / (B + 1); discrete and finite, so to 3 digits
    assert expected_waste(np.arange(1, 100_001), rows) == pytest.approx(waste, abs=1e-3)


@pytest.mark.parametrize(("rows", "ratio"), [(2, 1.5), (8, 2.7179), (32, 4.0585)])
def test_exponential_lengths_grow_with_the_harmonic_number(rows, ratio):
    # exponential with mean 1: E[Lmax] = H_B; quantiles stand for the law
    quantiles = -np.log1p(-(np.arange(200_000) + 0.5) / 200_000)
    lengths = np.maximum(1, np.round(quantiles * 100_000)).astype(int)
    assert expected_longest(lengths, rows) / lengths.mean() == pytest.approx(ratio, rel=2e-3)


@pytest.mark.parametrize(
    ("rows", "longest"),
    [(1, 785.7), (2, 1176.4), (4, 1667.4), (8, 2241.0), (16, 2852.6), (32, 3421.2), (64, 3840.6)],
)
def test_capped_lognormal_lengths_have_the_tabled_longest(rows, longest):
    # lognormal(ln 500, 1) capped at 4,096: numeric integration of 1 - F(x)^B
    from scipy.stats import norm

    z = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    lengths = np.clip(np.round(500 * np.exp(z)), 1, 4096).astype(int)
    assert expected_longest(lengths, rows) == pytest.approx(longest, rel=2e-3)


def test_many_rows_of_many_documents_follow_the_closed_form():
    lengths = np.arange(1, 9001)
    closed = 600 * (9000 + 1) / (600 + 1)  # longest of B from 1..N without replacement
    assert expected_longest(lengths, 600) == pytest.approx(closed, rel=1e-9)
    assert expected_longest(lengths, 400) == pytest.approx(400 * 9001 / 401, rel=1e-9)


def test_the_waste_saturates_at_the_longest_document():
    lengths = ln.gsm8k()
    wastes = [expected_waste(lengths, rows) for rows in (1, 8, 64, 512, len(lengths))]
    assert wastes == sorted(wastes) and wastes[0] == pytest.approx(0, abs=1e-12)
    assert wastes[-1] == pytest.approx(1 - lengths.mean() / lengths.max())
    assert wastes[1] == pytest.approx(0.37, abs=0.005)  # as the data's note says of 8 rows


def test_rows_that_cannot_be_drawn_are_refused():
    assert expected_longest([1, 2, 3, 4, 5], 5) == 5.0
    with pytest.raises(ValueError, match="rows must be between 1 and the 5 documents, got 6"):
        expected_longest([1, 2, 3, 4, 5], 6)
    for rows in (0, -1):
        with pytest.raises(ValueError, match=f"rows must be a whole .* at least 1, got {rows}"):
            expected_longest([1, 2, 3, 4, 5], rows)


@pytest.mark.parametrize(
    "call",
    [lambda: in_order([5], 0), lambda: measure([5], [[]]), lambda: measure([5], [[0]], round_to=0)],
)
def test_an_empty_rectangle_is_refused(call):
    with pytest.raises(ValueError, match="at least 1"):
        call()


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "there are no batches"),
        ([[0], [1, 2]], "batch 1 names document 2; they are 0 to 1"),
        ([[0, -1]], "batch 0 names document -1"),  # NumPy would count from the end
        ([[0, 1], [0, 1], [1, 0, 7]], "batch 2 names document 7; they are 0 to 1"),
        (np.array([[0, 1], [2, 0]]), "batch 1 names document 2"),
        (np.zeros((2, 0), dtype=int), "batch 0 is empty"),
        (np.zeros((0, 2), dtype=int), "there are no batches"),
        ([[0], [], [1]], "batch 1 is empty: a rectangle needs at least 1 row"),
        ([[0.0]], "document numbers, got values of type float64"),
        (np.array([[0.0]]), "document numbers, got values of type float64"),
        ([[1, 0], [True]], r"document numbers must be integers, got True \(bool\) at 2"),
        ([[1, False]], r"document numbers must be integers, got False \(bool\) at 1"),
        ([[True]], "values of type bool"),
        ([np.array([1, 0]), [True]], r"document numbers must be integers, got True \(bool\) at 2"),
    ],
)
def test_a_batch_of_other_documents_is_refused(batches, message):
    with pytest.raises(ValueError, match=message):
        measure([5, 3], batches)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda n: in_order([5], n), "rows"),
        (lambda n: by_length([5], n), "rows"),
        (lambda n: in_windows([5], n, window=1, rng=np.random.default_rng(0)), "rows"),
        (lambda n: in_windows([5], 1, window=n, rng=np.random.default_rng(0)), "window"),
        (lambda n: measure([5], [[0]], round_to=n), "round_to"),
        (lambda n: measure_pairs([5], [[0]], round_to=n), "round_to"),
    ],
)
def test_options_are_counts(call, name):
    for value in (0, 1.0, True):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, got"):
            call(value)
    assert call(np.uint8(1)) == call(1)


def test_waste_is_never_below_nothing():
    assert expected_waste([3] * 7, 7) == expected_waste([7], 1) == 0.0
    assert expected_waste([1, 2, 3], 1) == 0.0 and expected_longest([1, 2, 3], 1) == 2.0
    rng = np.random.default_rng(0)
    drawn = [rng.integers(1, 100, 10) for _ in range(100)]
    assert min(1 - one.mean() / expected_longest(one, 1) for one in drawn) < 0, "by rounding"
    assert min(expected_waste(one, 1) for one in drawn) == 0.0


def test_equal_rows_in_one_array_are_not_copied():
    batches = np.arange(6).reshape(2, 3)
    numbers, starts = joined(batches, 6)
    assert np.shares_memory(numbers, batches) and starts.tolist() == [0, 3]

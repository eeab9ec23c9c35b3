"""Buckets: nothing lost or repeated, every budget kept, one order on every rank."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlab import buckets, padding
from batchlab import lengths as ln

lengths = st.lists(st.integers(1, 50), min_size=1, max_size=120)


def numbers(batches):
    return sorted(i for batch in batches for i in batch)


@given(lengths, st.integers(64, 400), st.sampled_from([1, 8]), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_every_rectangle_keeps_its_budget_and_nothing_is_lost(given, slots, round_to, window):
    batches = buckets.by_token_budget(
        given, slots, round_to=round_to, window=window, max_rows=9, seed=1
    )
    assert numbers(batches) == list(range(len(given)))
    for batch in batches:
        assert len(batch) <= 9
        assert padding.measure(given, [batch], round_to=round_to).slots <= slots


def test_a_budget_on_real_tokens_would_have_broken_the_rectangle():
    """The mistake beside the law: 9 + 1 tokens are 10, their rectangle has 18 slots."""
    assert sorted(map(len, buckets.by_token_budget([9, 1], 17))) == [1, 1]
    assert buckets.by_token_budget([9, 1], 18) in ([[0, 1]], [[1, 0]])


def test_the_dial_goes_from_random_order_to_sorting():
    tokens = ln.embedded()
    waste = [
        padding.measure(tokens, buckets.by_token_budget(tokens, 8192, window=w)).waste
        for w in (1, 64, 512, len(tokens))
    ]
    assert waste == sorted(waste, reverse=True)
    assert waste[0] > 0.5 and waste[-1] < 0.05


def test_every_rank_sees_one_order_and_every_epoch_another():
    tokens = ln.gsm8k()
    first, again = (buckets.by_token_budget(tokens, 4096, seed=3, epoch=1) for _ in range(2))
    other = buckets.by_token_budget(tokens, 4096, seed=3, epoch=2)
    assert first == again != other
    assert numbers(other) == numbers(first)
    widths = [max(tokens[batch]) for batch in first]
    assert widths != sorted(widths), "no walk from short to long"


def test_the_last_batch_is_kept_unless_asked():
    tokens = [4] * 10
    assert numbers(buckets.by_token_budget(tokens, 16)) == list(range(10))
    assert len(numbers(buckets.by_token_budget(tokens, 16, drop_last=True))) == 8


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 60)), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_two_budgets_hold_together(pairs):
    text, image = zip(*pairs, strict=True)
    batches = buckets.by_two_budgets(text, image, 64, 128)
    assert numbers(batches) == list(range(len(pairs)))
    for batch in batches:
        assert padding.measure(text, [batch]).slots <= 64
        assert padding.measure(image, [batch]).slots <= 128


@pytest.mark.parametrize("cost", buckets.COSTS)
def test_ranks_get_equally_many_batches_and_steps_of_equal_cost(cost):
    tokens = ln.embedded()
    batches = buckets.by_token_budget(tokens, 8192)
    batches = batches[: len(batches) // 4 * 4]
    dealt = buckets.balance(tokens, batches, 4, cost=cost)
    assert [len(rank) for rank in dealt] == [len(batches) // 4] * 4
    flat = [batch for rank in dealt for batch in rank]
    assert sorted(map(tuple, flat)) == sorted(map(tuple, batches))

    def waiting(steps):
        """Share of the ranks' time that they wait for the slowest of their step."""
        power = 1 if cost == "tokens" else 2
        costs = np.array([[(tokens[b] ** power).sum() for b in step] for step in steps])
        return 1 - costs.mean() / costs.max(axis=1).mean()

    ours = list(zip(*dealt, strict=True))
    careless = [batches[i : i + 4] for i in range(0, len(batches), 4)]
    assert waiting(ours) < 0.5 * waiting(careless)


def test_no_other_deal_makes_the_steps_shorter():
    """A brute-force search over all ways to form three steps of two ranks."""
    tokens = [9, 1, 5, 4, 8, 2]
    batches = [[i] for i in range(6)]
    steps = list(zip(*buckets.balance(tokens, batches, 2), strict=True))
    ours = sum(max(tokens[b[0]] for b in step) for step in steps)
    best = min(
        sum(max(tokens[i] for i in order[k : k + 2]) for k in (0, 2, 4))
        for order in itertools.permutations(range(6))
    )
    assert ours == best


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: buckets.by_token_budget([4, 70], 64), "document 1 has 70 tokens"),
        (lambda: buckets.by_token_budget([60], 63, round_to=8), "takes 64 slots alone"),
        (lambda: buckets.by_token_budget([4], 0), "slots must be a whole number of at least 1"),
        (lambda: buckets.by_token_budget([4], 8, max_rows=0), "max_rows must be a whole number"),
        (lambda: buckets.balance([4], [[0], [1]], 2), "batch 1 names document 1; they are 0 to 0"),
        (lambda: buckets.by_token_budget([], 64), "empty"),
        (lambda: buckets.by_two_budgets([4], [4, 5], 9, 9), "1 text lengths but 2 image"),
        (lambda: buckets.by_two_budgets([4], [9], 9, 8), "the budget is 8 image slots"),
        (lambda: buckets.balance([4], [[0]], 2), "1 batches do not divide over 2 ranks"),
        (lambda: buckets.balance([4], [[0]], 1, cost="money"), "unknown cost 'money'"),
    ],
)
def test_bad_budgets_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

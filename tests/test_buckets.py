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
def test_every_rectangle_keeps_its_budget_and_nothing_is_lost(given, slots, round_to, pool):
    batches = buckets.by_token_budget(
        given, slots, round_to=round_to, pool=pool, max_rows=9, seed=1
    )
    assert numbers(batches) == list(range(len(given)))
    for batch in batches:
        assert len(batch) <= 9
        assert padding.measure(given, [batch], round_to=round_to).slots <= slots


def greedy(sizes, budgets, keys, max_rows, pool, seed, epoch):
    """By the words of the module: shuffle, sort inside pools, cut where a budget would break."""
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(keys)).tolist()
    pools = [order[i : i + pool] for i in range(0, len(order), pool)]
    batches = [[]]
    for number in (i for part in pools for i in sorted(part, key=lambda i: keys[i])):
        batch = [*batches[-1], number]
        broken = any(
            len(batch) * max(column[i] for i in batch) > budget
            for column, budget in zip(sizes, budgets, strict=True)
        )
        if batches[-1] and (broken or len(batch) > max_rows):
            batches.append([number])
        else:
            batches[-1] = batch
    return batches, [batches[i] for i in rng.permutation(len(batches))]


counts = st.integers(1, 40)


@given(lengths, st.integers(64, 400), st.sampled_from([1, 8]), counts, counts, counts)
@settings(max_examples=200, deadline=None)
def test_batches_are_those_of_a_search_by_hand_in_the_same_order(
    given, slots, round_to, max_rows, pool, seed
):
    widths = [-(-n // round_to) * round_to for n in given]
    _, wanted = greedy([widths], [slots], given, max_rows, pool, seed, 2)
    how = {"round_to": round_to, "max_rows": max_rows, "pool": pool, "seed": seed, "epoch": 2}
    assert buckets.by_token_budget(given, slots, **how) == wanted


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 60)), min_size=1, max_size=60),
    counts,
    counts,
)
@settings(max_examples=100, deadline=None)
def test_batches_under_two_budgets_are_those_of_a_search_by_hand(pairs, max_rows, pool):
    text, image = zip(*pairs, strict=True)
    keys = [max(t / 64, i / 128) for t, i in pairs]
    _, wanted = greedy([text, image], [64, 128], keys, max_rows, pool, 5, 1)
    how = {"max_rows": max_rows, "pool": pool, "seed": 5, "epoch": 1}
    assert buckets.by_two_budgets(text, image, 64, 128, **how) == wanted


def test_shares_in_a_large_pool_are_sorted_as_fractions():
    """The mistake beside the law: as whole numbers, which sort faster, all of them are 0."""
    text = ln.lognormal(600, median=20, sigma=0.5, longest=60, seed=1)
    image = ln.lognormal(600, median=40, sigma=0.5, longest=120, seed=2)
    keys = np.maximum(text / 64, image / 128)
    _, wanted = greedy([text, image], [64, 128], keys, 9, 600, 0, 0)
    assert buckets.by_two_budgets(text, image, 64, 128, max_rows=9, pool=600) == wanted


def test_defaults_are_seed_0_epoch_0_pools_of_4096_and_widths_as_they_are():
    tokens = ln.lognormal(9000, median=30, sigma=1, longest=400)
    how = {"max_rows": 9000, "round_to": 1, "pool": 4096, "seed": 0, "epoch": 0}
    assert buckets.by_token_budget(tokens, 400) == buckets.by_token_budget(tokens, 400, **how)
    for other in ({"pool": 4095}, {"pool": 4097}, {"seed": 1}, {"epoch": 1}, {"round_to": 2}):
        assert buckets.by_token_budget(tokens, 400) != buckets.by_token_budget(
            tokens, 400, **(how | other)
        )
    del how["round_to"]
    two = buckets.by_two_budgets(tokens, tokens[::-1], 400, 500)
    assert two == buckets.by_two_budgets(tokens, tokens[::-1], 400, 500, **how)
    for other in ({"pool": 4095}, {"pool": 4097}, {"seed": 1}, {"epoch": 1}):
        assert two != buckets.by_two_budgets(tokens, tokens[::-1], 400, 500, **(how | other))


@given(lengths, st.integers(50, 400), st.sampled_from([None, 1, 3]), counts)
@settings(max_examples=200, deadline=None)
def test_drop_last_drops_only_a_batch_that_the_end_of_the_data_cut_short(
    given, slots, max_rows, pool
):
    kept = buckets.by_token_budget(given, slots, max_rows=max_rows, pool=pool)
    some = buckets.by_token_budget(given, slots, max_rows=max_rows, pool=pool, drop_last=True)
    batches, _ = greedy([given], [slots], given, max_rows or len(given), pool, 0, 0)
    last = batches[-1]
    widest = max(given[i] for i in last)
    full = (len(last) + 1) * widest > slots or len(last) == max_rows
    wanted = batches if full else batches[:-1]
    assert sorted(some) == sorted(wanted) and sorted(kept) == sorted(batches)


def test_a_last_batch_that_is_exactly_full_is_kept():
    """The mistake beside the law: the last of two full batches is not cut short."""
    assert len(buckets.by_token_budget([4] * 8, 16, drop_last=True)) == 2
    assert len(buckets.by_token_budget([4] * 9, 16, drop_last=True)) == 2
    assert len(buckets.by_token_budget([4] * 7, 16, drop_last=True)) == 1
    assert len(buckets.by_token_budget([4] * 8, 18, drop_last=True)) == 2, "18 slots hold four"
    assert len(buckets.by_token_budget([4] * 6, 99, max_rows=3, drop_last=True)) == 2
    assert buckets.by_token_budget([4], 16, drop_last=True) == []
    assert buckets.by_two_budgets([4], [1], 16, 9, drop_last=True) == []
    assert len(buckets.by_two_budgets([4] * 4, [1] * 4, 16, 9, drop_last=True)) == 1


def test_a_budget_on_real_tokens_would_have_broken_the_rectangle():
    """The mistake beside the law: 9 + 1 tokens are 10, their rectangle has 18 slots."""
    assert sorted(map(len, buckets.by_token_budget([9, 1], 17))) == [1, 1]
    assert buckets.by_token_budget([9, 1], 18) in ([[0, 1]], [[1, 0]])


def test_the_dial_goes_from_random_order_to_sorting():
    tokens = ln.embedded()
    waste = [
        padding.measure(tokens, buckets.by_token_budget(tokens, 8192, pool=w)).waste
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


def test_one_deal_by_hand():
    """Costs 9 and 8, 5 and 4, 2 and 1 meet; the rank with less so far takes the larger."""
    tokens = [9, 1, 5, 4, 8, 2]
    dealt = buckets.balance(tokens, [[i] for i in range(6)], 2)
    met = [sorted(tokens[b[0]] for b in step) for step in zip(*dealt, strict=True)]
    assert sorted(met) == [[1, 2], [4, 5], [8, 9]]
    totals = [0, 0]
    for one, other in zip(*dealt, strict=True):
        costs = tokens[one[0]], tokens[other[0]]
        least = totals.index(min(totals))
        assert costs[least] == max(costs)
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
    assert abs(totals[0] - totals[1]) <= 1
    again = buckets.balance(tokens, [[i] for i in range(6)], 2)
    assert again == dealt, "the order of the steps follows from the number of batches"


def test_ranks_that_need_squares_are_not_those_that_need_sums():
    """Five tokens in one document cost 25 pairs; in five documents 5."""
    tokens = [5, 1, 1, 1, 1, 1, 4, 2, 2]
    batches = [[0], [1, 2, 3, 4, 5], [6], [7, 8]]  # tokens 5, 5, 4, 4; pairs 25, 5, 16, 8

    def met(cost):
        dealt = buckets.balance(tokens, batches, 2, cost=cost)
        return sorted(sorted(step) for step in zip(*dealt, strict=True))

    assert met("tokens") == [[[0], [1, 2, 3, 4, 5]], [[6], [7, 8]]]
    assert met("pairs") == [[[0], [6]], [[1, 2, 3, 4, 5], [7, 8]]]


@pytest.mark.parametrize("power", [31, 32, 40])
def test_squares_beyond_64_bits_are_compared_as_they_are(power):
    """The mistake beside the law: the square of 2**32 is 0 in 64 bits, and meets the short ones."""
    tokens, batches = [2**power, 2**power, 3, 3], [[0], [2], [1], [3]]
    dealt = buckets.balance(tokens, batches, 2, cost="pairs")
    met = sorted(sorted(step) for step in zip(*dealt, strict=True))
    assert met == [[[0], [1]], [[2], [3]]]
    many = buckets.balance([2**31] * 9 + [2**31 + 1], [[*range(9)], [9]] * 2, 2, cost="pairs")
    assert sorted(len(batch) for batch, _ in zip(*many, strict=True)) == [1, 9]


def test_sums_of_squares_beyond_64_bits_are_compared_as_they_are():
    """The mistake beside the law: eight times 2**60 is -2**63 in 64 bits, the cheapest of all."""
    batches = [[0], [*range(1, 3)], [*range(3, 7)], [*range(7, 15)]]
    dealt = buckets.balance([1] + [2**30] * 14, batches, 2, cost="pairs")
    met = sorted(sorted(map(len, step)) for step in zip(*dealt, strict=True))
    assert met == [[1, 2], [4, 8]]


def test_steps_come_in_a_random_order():
    batches = [[i] for i in range(64)]
    dealt = buckets.balance(list(range(1, 65)), batches, 2)
    firsts = [batch[0] for batch in dealt[0]]
    assert firsts not in (sorted(firsts), sorted(firsts, reverse=True))


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
        (
            lambda: buckets.balance([4], [[0]] * 7, 4),
            "7 batches do not divide over 4 ranks: drop 3 or add 1",
        ),
        (
            lambda: buckets.balance([4], [[0]] * 5, 4),
            "5 batches do not divide over 4 ranks: drop 1 or add 3",
        ),
        (
            lambda: buckets.by_token_budget([8, 4, 9], 8),
            "document 2 has 9 tokens and takes 9 slots .* is 8 slots",
        ),
        (lambda: buckets.by_two_budgets([4, 9], [1, 1], 8, 8), "document 1 .* is 8 text slots"),
        (lambda: buckets.by_two_budgets([4], [9], 0, 8), "text_slots must be a whole number"),
        (lambda: buckets.by_two_budgets([4], [9], 9, 0), "image_slots must be a whole number"),
        (lambda: buckets.by_token_budget([4], 8, seed=-1), "seed must be .* at least 0, got -1"),
        (lambda: buckets.by_token_budget([4], 8, epoch=-1), "epoch must be .* at least 0, got -1"),
        (lambda: buckets.by_token_budget([4], 8, pool=0), "pool must be .* at least 1, got 0"),
        (lambda: buckets.balance([4], [[0]], 1, cost="money"), "unknown cost 'money'"),
    ],
)
def test_bad_budgets_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Which mistake a gradient equals: the weights of each by hand, and where one name ends.

Gradients are arrows here. Their inner products are exact, so every limit is met exactly.
"""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from batchlab.loop import _compare
from batchlab.loop._mistakes import Found, find, named_scale, shares_of

SHARES = np.array([0.1, 0.2, 0.3, 0.4])
MEANS = (0.25, 0.25, 0.25, 0.25)
BY_HAND = [
    ((), (0.1, 0.2, 0.3, 0.4)),
    (("mean of means",), MEANS),
    (("no division",), (1, 1, 1, 1)),
    (("dropped tail",), (0.1, 0.2, 0.3, 0)),
    (("dropped tail",), (1 / 6, 2 / 6, 3 / 6, 0)),
    (("dropped tail", "mean of means"), (0.25, 0.25, 0.25, 0)),
    (("dropped tail", "mean of means"), (1 / 3, 1 / 3, 1 / 3, 0)),
    (("dropped tail", "no division"), (1, 1, 1, 0)),
    (("1/accumulation",), (0.025, 0.05, 0.075, 0.1)),
    (("mean of means", "1/accumulation"), (1 / 16, 1 / 16, 1 / 16, 1 / 16)),
    (("dropped tail", "1/accumulation"), (0.025, 0.05, 0.075, 0)),
    (("dropped tail", "1/accumulation"), (1 / 24, 2 / 24, 3 / 24, 0)),
    (("dropped tail", "mean of means", "1/accumulation"), (1 / 16, 1 / 16, 1 / 16, 0)),
    (("dropped tail", "mean of means", "1/accumulation"), (1 / 12, 1 / 12, 1 / 12, 0)),
    (("scaled by accumulation",), (0.4, 0.8, 1.2, 1.6)),
    (("dropped tail", "scaled by accumulation"), (0.4, 0.8, 1.2, 0)),
    (("dropped tail", "scaled by accumulation"), (4 / 6, 8 / 6, 12 / 6, 0)),
]


def inner_of(*arrows):
    return np.array(arrows, dtype=float) @ np.array(arrows, dtype=float).T


def judged(inner, shares=SHARES, *, scale=1.0, ranks=1, in_bf16=False, of_bf16=False):
    how = {"scale": scale, "ranks": ranks, "in_bf16": in_bf16, "of_bf16": of_bf16}
    return find(np.array(inner, dtype=float), {"target tokens": shares}, **how)


def apart_by(split, whole, *, shares=SHARES, square=1600.0, **how):
    """Pieces at right angles; split and whole miss their sum by these squares, each its own way."""
    alone = np.eye(4) * np.sqrt(square)
    split = [*(shares @ alone), np.sqrt(split), 0]
    whole = [*(shares @ alone), 0, np.sqrt(whole)]
    return judged(inner_of(split, whole, *np.pad(alone, ((0, 0), (0, 2)))), shares, **how)


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize(("names", "weights"), BY_HAND, ids=str)
def test_a_mistake_has_the_weights_that_a_hand_would_give_it(names, weights, ranks):
    alone = np.random.default_rng(0).normal(size=(4, 20))
    inner = inner_of(np.array(weights) * ranks @ alone, SHARES @ alone, *alone)
    found = judged(inner, ranks=ranks)
    assert found.mistakes == ((*names, "scaled by ranks") if ranks > 1 else names)
    assert found.named and found.counted == "target tokens"


def test_a_whole_that_is_scaled_itself_is_no_measure():
    """Each run is twice too long: half of it is right, and the rest is the factor of the ranks."""
    alone = np.random.default_rng(0).normal(size=(4, 20))
    for factor, names in ((0.5, ()), (1.0, ("scaled by ranks",))):
        inner = inner_of(factor * SHARES @ alone, SHARES @ alone, *alone)
        assert judged(inner, scale=2.0, ranks=2).mistakes == names


def test_the_split_may_miss_four_times_what_the_pieces_miss_and_no_more():
    """At the limit itself: whole 1/400 of its square, split 1/25, so 0.05 and 0.2 of the norm."""
    shares = np.array([0.75, 0.125, 0.125])
    pieces = np.diag([704.0, 96.0, 96.0])  # squares: their mean has 396 + 1.5 + 1.5 = 399

    def at(split, whole):
        inner = np.zeros((5, 5))
        inner[2:, 2:] = pieces
        inner[:2, 2:] = pieces @ shares
        inner[2:, :2] = inner[:2, 2:].T
        inner[:2, :2] = 399.0
        inner[0, 0] += split
        inner[1, 1] += whole
        return judged(inner, shares)

    limit = at(16.625, 1.0)
    assert limit.named and not limit.mistakes
    assert (limit.rounding, limit.tolerance) == (0.05, 0.2)
    assert not at(16.63, 1.0).named
    other = at(16.625, 1.001)
    assert other.counted is None and not other.named, "its loss is no mean over the pieces"


def test_what_the_tolerance_is():
    exact = apart_by(0, 0)
    assert exact.tolerance == 1e-6 and exact.rounding < 1e-7
    rounded = apart_by(0, 1)
    assert rounded.rounding == pytest.approx(np.sqrt(1 / 481)), "480 is the square of the sum"
    assert rounded.tolerance == 4 * rounded.rounding


def test_a_loss_of_its_own_is_right_only_if_split_and_whole_agree_to_float32():
    def odd(length):
        return judged(inner_of([length * 3, 0, 0, 0], [3, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0]),
                      np.array([0.5, 0.5]))  # fmt: skip

    for length, named in ((1, True), (1 + 5e-7, True), (1 + 2e-6, False), (1 - 2e-6, False)):
        found = odd(length)
        assert found == Found(None, found.rounding, 1e-6, named=named)
    limit = inner_of([0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0])
    limit[:2, :2] = 4504 * 2.0**-52 / 1e-12
    limit[0, 0] += 4504 * 2.0**-52  # just a millionth of the norm, squared
    assert judged(limit, np.array([0.5, 0.5])).named
    same = inner_of([3, 0, 0, 0], [3, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0])
    same[0, 1] = same[1, 0] = np.nextafter(9.0, 10)  # rounding: the square of the rest is below 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged(same, np.array([0.5, 0.5])).named


def test_a_square_that_rounding_leaves_below_zero_is_none():
    shares = np.array([0.25, 0.75])
    inner = inner_of([1, 6], [1, 6], [4, 0], [0, 8])
    inner[:2, 3] = inner[3, :2] = 48 + 1e-12
    assert judged(inner, shares) == Found("target tokens", 0.0, 1e-6)
    inner = inner_of([1, 0], [1, 0], [1, 0], [1, 0])
    inner[2, 3] = inner[3, 2] = 1 + 1e-9
    inner[:2, 2:] = inner[2:, :2] = 1 + 1e-9
    with pytest.raises(ValueError, match="the pieces count alike"):
        judged(inner, shares)


def test_a_split_that_is_zero_is_no_known_mistake():
    found = apart_by(0, 0)
    alone = np.eye(4)
    none = judged(inner_of(np.zeros(4), SHARES @ alone, *alone), in_bf16=True)
    assert found.named and not none.named and not none.mistakes


def test_a_sum_of_pieces_is_a_missing_division_and_nothing_else():
    alone = np.random.default_rng(1).normal(size=(4, 20))
    whole = alone.sum(0)
    right = judged(inner_of(whole, whole, *alone))
    assert right.counted == "nothing" and right.mistakes == ("no division",)
    means = judged(inner_of(np.array(MEANS) @ alone, whole, *alone))
    assert means.counted == "nothing" and not means.named


@pytest.mark.parametrize(("square", "name"), [(0.99, True), (1.0, True), (1.01, False)])
def test_a_sum_in_bf16_may_lose_the_eighth_binary_digit_of_each_piece(square, name):
    """4 pieces: 4 / 256 of the norm, which is 1 / 64; the square of the sum is 4095."""
    inner = np.zeros((6, 6))
    inner[2:, 2:] = np.diag([14000.0, 14000.0, 5040.0, 5040.0])
    shares = np.array([0.375, 0.375, 0.125, 0.125])
    inner[2:, :2] = (inner[2:, 2:] @ shares)[:, None]
    inner[:2, 2:] = inner[2:, :2].T
    inner[:2, :2] = 4095
    inner[0, 0] += square
    found = judged(inner, shares, in_bf16=True)
    assert found.named is name and found.mistakes == (("bf16 sum",) if name else ())
    assert not judged(inner, shares, in_bf16=False).named, "in float32 nothing is lost so far"


def test_a_sum_in_bf16_is_the_mistake_that_it_is_nearest_to():
    alone = np.eye(4, 5)
    for weights, names in ((MEANS, ("mean of means",)), (SHARES, ())):
        split = np.array(weights) @ alone + [0, 0, 0, 0, 1e-3]
        found = judged(inner_of(split, SHARES @ alone, *alone), in_bf16=True)
        assert found.mistakes == (*names, "bf16 sum")


def test_of_two_ways_to_the_same_weights_the_shorter_name_is_said():
    """4 ranks and 4 pieces: a mean of means, 4 times too long, is a sum without a division."""
    alone = np.random.default_rng(0).normal(size=(4, 20))
    for weights, names in ((np.ones(4), ("no division",)), (SHARES, ())):
        inner = inner_of(weights @ alone, SHARES @ alone, *alone)
        assert judged(inner, ranks=4).mistakes == names


def test_an_exact_sum_of_bf16_numbers_is_a_mistake_only_where_the_weights_are_wider():
    assert apart_by(0, 0, in_bf16=True, of_bf16=False).mistakes == ("bf16 sum",)
    assert apart_by(0, 0, in_bf16=True, of_bf16=True).mistakes == ()
    assert apart_by(0, 0, in_bf16=False, of_bf16=False).mistakes == ()


@pytest.mark.parametrize(("square", "alike"), [(16383, True), (16384, True), (16385, False)])
def test_pieces_that_differ_by_less_than_twice_the_tolerance_count_alike(square, alike):
    """The whole misses the pieces by 1, so the tolerance is 4 and twice that 8."""
    shares = np.array([5, 3, 4, 4]) / 16
    inner = np.zeros((6, 6))
    inner[2:, 2:] = np.diag([square / 2, square / 2, 8192.0, 8192.0])
    inner[2:, :2] = (inner[2:, 2:] @ shares)[:, None]
    inner[:2, 2:] = inner[2:, :2].T
    inner[:2, :2] = shares @ inner[2:, 2:] @ shares
    inner[1, 1] += 1
    if alike:
        with pytest.raises(ValueError, match="the pieces count alike"):
            judged(inner, shares)
    else:
        assert judged(inner, shares).named


def test_a_share_is_what_is_counted_of_all_and_what_is_not_counted_has_none():
    found = shares_of({"target tokens": [1, 3], "labels": [0, 0]})
    assert list(found) == ["target tokens"] and found["target tokens"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("scale", "pieces", "ranks", "known"),
    [
        (2.03, 4, 2, 2.0),
        (2.05, 4, 2, 1.0),
        (1.95, 4, 2, 1.0),
        (0.25, 4, 2, 0.25),
        (0.5, 4, 2, 0.5),
        (0.5, 4, 1, 1.0),
        (3.0, 4, 2, 1.0),
        (8.0, 4, 2, 1.0),
        (None, 4, 2, 1.0),
    ],
)
def test_only_a_scale_of_ranks_or_pieces_is_explained_by_a_mistake(scale, pieces, ranks, known):
    assert named_scale(scale, pieces, ranks) == known


def turned(chord, length=1.0):
    """A gradient so far from (1, 0): the chord between both, at norm 1."""
    cosine = 1 - chord**2 / 2
    return {"w": length * torch.tensor([cosine, (1 - cosine**2) ** 0.5], dtype=torch.float64)}


def test_a_gradient_that_is_turned_by_more_than_a_twentieth_is_another_loss():
    assert _compare._scale(turned(0.049, 6.0), turned(0.0, 2.0)) == pytest.approx(3, rel=2e-3)
    assert _compare._scale(turned(0.051, 6.0), turned(0.0, 2.0)) is None


@pytest.mark.parametrize(
    ("tolerance", "chord", "clipped"),
    [
        (0.01, 0.0099, False),
        (0.01, 0.0101, True),
        (1e-6, 0.98e-5, False),
        (1e-6, 1.02e-5, True),
    ],
)
def test_a_split_that_is_turned_by_more_than_rounding_was_clipped_in_pieces(
    tolerance, chord, clipped
):
    found, other = Found("documents", 0.0, tolerance), turned(1.0)
    assert _compare._clips_pieces(turned(chord), other, [turned(0), other], found) is clipped


def test_a_length_that_differs_by_just_the_tolerance_is_rounding():
    whole = {"w": torch.tensor([0.0, 1.0], dtype=torch.float64)}
    given = turned(0, 1.5), whole, [turned(0), whole]
    assert not _compare._clips_pieces(*given, Found("documents", 0.0, 0.5))


def test_two_runs_that_differ_by_just_a_ten_thousandth_are_the_same():
    once = {"w": torch.tensor([1.0, 0.0], dtype=torch.float64)}
    for apart, draws in ((1e-4, 0.0), (2e-4, 2e-4)):
        again = {"w": torch.tensor([1.0, apart], dtype=torch.float64)}
        seen = SimpleNamespace(
            random_moved=lambda: True, gradient=lambda *_, again=again, **__: again
        )
        assert _compare._draws(seen, None, [], once) == draws


@pytest.mark.parametrize(
    ("length", "clipped"), [(1.0099, False), (0.9901, False), (1.0101, True), (0.9899, True)]
)
def test_a_right_sum_of_another_length_than_the_whole_was_clipped_in_pieces(length, clipped):
    split, whole = turned(0, 5 * length), turned(1.0, 5.0)
    free = [turned(0, 7.0), turned(1.0, 7.0)]
    right = Found("documents", 0.0, 0.01)
    assert _compare._clips_pieces(split, whole, free, right) is clipped
    wrong = Found("documents", 0.0, 0.01, ("mean of means",))
    unknown = Found("documents", 0.0, 0.01, named=False)
    assert not _compare._clips_pieces(split, whole, free, wrong), "its length follows from that"
    assert not _compare._clips_pieces(split, whole, free, unknown)

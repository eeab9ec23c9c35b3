"""Prices of a step: planted ones are found again, and a missing size is refused."""

import numpy as np
import pytest
from scipy.optimize import nnls

from batchlab.doctor import _solve
from batchlab.doctor import prices as stepcost
from batchlab.doctor._steps import Steps
from tests.planted import FIXED, PAIR, SLOT, cell, change, ended, whole, with_side


def test_planted_prices_are_found_again():
    cost = stepcost.fit([cell(rows) for rows in (1, 2, 4, 8)])
    assert cost.fixed_seconds == pytest.approx(FIXED, rel=1e-6)
    assert cost.slot_seconds == pytest.approx(SLOT, rel=1e-6)
    assert cost.pair_seconds == pytest.approx(PAIR, rel=1e-6)
    assert cost.relative_error < 1e-6


def test_the_prediction_of_an_unseen_size_is_its_time():
    cost = stepcost.fit([cell(rows) for rows in (1, 2, 8)])
    unseen = cell(4)
    predicted = cost.seconds(
        micro_batches=unseen.micro_batches, slots=unseen.slots, pairs=unseen.slot_pairs
    )
    assert predicted == pytest.approx(unseen.seconds, rel=1e-6)


def test_the_share_of_recomputation_is_fitted_when_there_is_a_contrast():
    cells = [cell(r) for r in (1, 2, 4)] + [cell(r, checkpointing=True, share=0.45) for r in (4, 8)]
    cost = stepcost.fit(cells)
    assert cost.recompute_is_fitted
    assert cost.recompute_share == pytest.approx(0.45, abs=0.011)  # searched in steps of 0.01
    alone = stepcost.fit([cell(r, checkpointing=True) for r in (1, 2, 4)])
    assert not alone.recompute_is_fitted and alone.recompute_share == stepcost.RECOMPUTE_SHARE


def test_side_seconds_are_not_blamed_on_the_slots():
    slow = [with_side(cell(rows), input_seconds=0.5) for rows in (1, 2, 4, 8)]
    assert stepcost.fit(slow).slot_seconds == pytest.approx(SLOT, rel=1e-6)
    hidden = [change(one, input_seconds=0.0) for one in slow]  # the mistake: nobody measured it
    assert stepcost.fit(hidden).slot_seconds > 2 * SLOT


def test_one_pause_of_the_host_does_not_move_the_prices():
    cells = [cell(rows) for rows in (1, 2, 4, 8)]
    first = list(cells[0].step_seconds)
    first[2] *= 5
    cells[0] = change(cells[0], step_seconds=first)
    assert stepcost.fit(cells).slot_seconds == pytest.approx(SLOT, rel=1e-3)


def test_stalls_that_vary_from_step_to_step_do_not_hide_the_prices():
    rng = np.random.default_rng(1)
    cells = []
    for rows in (1, 2, 4, 8):
        one = cell(rows, steps=24)
        stalls = 2.0 * rng.uniform(0.4, 1.6, size=24)  # the record keeps their sum only
        total = float(stalls.sum())
        each = (np.array(one.step_seconds) + stalls).tolist()
        longer = {"seconds": one.seconds + total, "host_seconds": total}
        cells.append(change(one, step_seconds=each, **longer))
    cost = stepcost.fit(cells)
    priced = [
        cost.seconds(micro_batches=c.micro_batches, slots=c.slots, pairs=c.slot_pairs)
        for c in cells
    ]
    measured = [c.seconds - c.parts.host_seconds for c in cells]
    assert sum(priced) == pytest.approx(sum(measured), rel=0.25)

    # the mistake: each step weighted by what its mean stall leaves, if that is anything
    own = np.concatenate([np.array(c.step_seconds) - c.parts.host_seconds / 24 for c in cells])
    slots = np.concatenate([c.step_slots for c in cells])[own > 0]
    own = own[own > 0]
    slot_seconds = (slots / own).sum() / ((slots / own) ** 2).sum()
    assert slot_seconds * sum(c.slots for c in cells) < 0.75 * sum(measured)


def test_prices_are_never_negative_and_agree_with_scipy():
    rng = np.random.default_rng(0)
    for _ in range(50):
        features = rng.uniform(0.1, 1, size=(12, 3)) * [1, 1e4, 1e8]
        seconds = rng.uniform(0.5, 2.0, size=12)
        scaled = features / seconds[:, None]
        explained, prices = _solve.solutions(scaled.T @ scaled, scaled.sum(axis=0)[None, :])
        ours = prices[explained[:, 0].argmax(), 0]
        _, misfit = nnls(scaled / scaled.max(axis=0), np.ones(12))
        assert (ours >= 0).all()
        assert np.linalg.norm(scaled @ ours - 1) == pytest.approx(misfit, rel=1e-6)


def test_fewer_than_three_sizes_are_refused_with_what_is_missing():
    few = [whole(cell(rows)) for rows in (1, 2)]
    with pytest.raises(ValueError, match=r"micro-batches of 2 sizes; at least 3.* the same file$"):
        stepcost.fit(few)
    slow = [change(few[0], input_seconds=0.4 * few[0].seconds, host_seconds=1e-6)]
    with pytest.raises(ValueError, match=r"of 1 size;.*already, of these steps: input 40 %\)$"):
        stepcost.fit(iter(slow))  # the mistake: silence about what needs no prices


def test_more_accumulation_of_one_size_is_no_other_size():
    one = whole(cell(4))
    grown = ("micro_batches", "slots", "real_tokens", "slot_pairs", "real_pairs", "seconds")
    more = [change(one, **{key: n * getattr(one, key) for key in grown}) for n in (1, 2, 4)]
    with pytest.raises(ValueError, match="of 1 size; at least 3"):  # the mistake: three sizes
        stepcost.fit(more)


def test_visits_of_a_cell_are_added_and_a_lost_one_stands_aside():
    (one,) = stepcost.merge([cell(4), ended(4), cell(4)])
    assert one.steps == 12 and one.repeats == 2
    assert one.seconds == pytest.approx(2 * cell(4).seconds)
    assert len(one.step_seconds) == len(one.step_slots) == 12


def test_visits_of_two_models_or_two_accumulations_stay_two_cells():
    other = cell(4, model_fingerprint="another")
    split = cell(4, accumulation=2, micro_batches=12)
    merged = stepcost.merge([cell(4), other, split, cell(4)])
    assert [one.repeats for one in merged] == [2, 1, 1]
    assert merged[0].seconds == pytest.approx(2 * cell(4).seconds)
    assert merged[0].micro_batches / merged[0].steps == 4  # the mistake: a mean of 4 and 2


SIZES = np.array([(1, 2000, 2e6), (1, 16_000, 9e7), (8, 9000, 1e7), (1, 2000, 2e6)])
PRICES = np.array([FIXED, SLOT, PAIR])


@pytest.mark.parametrize(
    ("away", "kept", "least"),
    [((0.05, 0, 0, -0.05), 4, 0.05), ((0, 0, 0, 9.0), 3, 0.01)],
    ids=["a visit that another one repeats", "a pause that repeats nothing"],
)
def test_other_luck_spreads_as_far_as_the_visits_that_count_can_tell(away, kept, least):
    """The mistakes: each visit pulls its own prediction; a visit that is left out repeats one."""
    block, none = np.repeat(np.arange(4), 2), np.zeros(8)
    size = SIZES[block]
    seconds = size @ PRICES * (1 + np.array(away)[block])
    steps = Steps(size, seconds, none, none > 0, block, np.full(8, -1), block)
    found = _solve.estimate(steps, [0.0])
    assert found.kept.sum() == 2 * kept and found.prices == pytest.approx(PRICES)
    draws = _solve.redrawn(steps, found, [0.0], 400, np.random.default_rng(0))
    told = [SIZES[0] @ corners.mean(axis=0) for corners, _ in draws]
    assert np.median(np.abs(told / (SIZES[0] @ PRICES) - 1)) >= least, "Student's, of two visits"

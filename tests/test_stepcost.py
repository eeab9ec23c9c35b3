"""Prices of a step: planted ones are found again, and a missing size is refused."""

import numpy as np
import pytest
from scipy.optimize import nnls

from batchlab.doctor import prices as stepcost

FIXED, SLOT, PAIR = 0.030, 20e-6, 5e-9


def cell(rows, *, checkpointing=False, noise=0.0, fixed=FIXED, steps=6, share=1 / 3, **extra):
    """Cells of a machine whose prices are known: 16 documents a step, widths that vary."""
    rng = np.random.default_rng(rows)
    micro = 16 // rows
    widths = rng.integers(200, 1200, size=(steps, micro))
    slots = (rows * widths).sum(axis=1)
    pairs = (rows * widths**2).sum(axis=1)
    rate = 1 + share * checkpointing
    seconds = fixed * micro + rate * (SLOT * slots + PAIR * pairs)
    seconds = seconds * (1 + noise * rng.standard_normal(steps))
    return {
        "kind": "cell", "status": "ok", "layout": "padded", "rows": rows, "steps": steps,
        "accumulation": micro, "data_parallel": 1, "precision": "float32",
        "model_fingerprint": "m", "data_fingerprint": "d", "checkpointing": checkpointing,
        "micro_batches": micro * steps, "documents": 16 * steps,
        "real_tokens": int(slots.sum() * 0.9), "slots": int(slots.sum()),
        "real_pairs": int(pairs.sum() * 0.9), "slot_pairs": int(pairs.sum()),
        "step_slots": slots.tolist(), "step_slot_pairs": pairs.tolist(),
        "step_seconds": seconds.tolist(), "seconds": float(seconds.sum()), **extra,
    }  # fmt: skip


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
        micro_batches=unseen["micro_batches"], slots=unseen["slots"], pairs=unseen["slot_pairs"]
    )
    assert predicted == pytest.approx(unseen["seconds"], rel=1e-6)


def test_the_share_of_recomputation_is_fitted_when_there_is_a_contrast():
    cells = [cell(r) for r in (1, 2, 4)] + [cell(r, checkpointing=True, share=0.45) for r in (4, 8)]
    cost = stepcost.fit(cells)
    assert cost.recompute_is_fitted
    assert cost.recompute_share == pytest.approx(0.45, abs=0.011)  # searched in steps of 0.01
    alone = stepcost.fit([cell(r, checkpointing=True) for r in (1, 2, 4)])
    assert not alone.recompute_is_fitted and alone.recompute_share == stepcost.RECOMPUTE_SHARE


def test_side_seconds_are_not_blamed_on_the_slots():
    slow = []
    for rows in (1, 2, 4, 8):
        one = cell(rows)
        one["step_seconds"] = [s + 0.5 for s in one["step_seconds"]]
        one["seconds"] += 0.5 * one["steps"]
        slow.append({**one, "input_seconds": 0.5 * one["steps"]})
    assert stepcost.fit(slow).slot_seconds == pytest.approx(SLOT, rel=1e-6)
    hidden = [{**one, "input_seconds": 0.0} for one in slow]  # the mistake: nobody measured it
    assert stepcost.fit(hidden).slot_seconds > 2 * SLOT


def test_one_pause_of_the_host_does_not_move_the_prices():
    cells = [cell(rows) for rows in (1, 2, 4, 8)]
    cells[0]["step_seconds"][2] *= 5
    assert stepcost.fit(cells).slot_seconds == pytest.approx(SLOT, rel=1e-3)


def test_stalls_that_vary_from_step_to_step_do_not_hide_the_prices():
    rng = np.random.default_rng(1)
    cells = []
    for rows in (1, 2, 4, 8):
        one = cell(rows, steps=24)
        stalls = 2.0 * rng.uniform(0.4, 1.6, size=24)  # the record keeps their sum only
        one["step_seconds"] = (np.array(one["step_seconds"]) + stalls).tolist()
        one["seconds"] += float(stalls.sum())
        cells.append({**one, "host_seconds": float(stalls.sum())})
    cost = stepcost.fit(cells)
    priced = [
        cost.seconds(micro_batches=c["micro_batches"], slots=c["slots"], pairs=c["slot_pairs"])
        for c in cells
    ]
    measured = [c["seconds"] - c["host_seconds"] for c in cells]
    assert sum(priced) == pytest.approx(sum(measured), rel=0.25)

    # the mistake: each step weighted by what its mean stall leaves, if that is anything
    own = np.concatenate([np.array(c["step_seconds"]) - c["host_seconds"] / 24 for c in cells])
    slots = np.concatenate([c["step_slots"] for c in cells])[own > 0]
    own = own[own > 0]
    slot_seconds = (slots / own).sum() / ((slots / own) ** 2).sum()
    assert slot_seconds * sum(c["slots"] for c in cells) < 0.75 * sum(measured)


def test_prices_are_never_negative_and_agree_with_scipy():
    rng = np.random.default_rng(0)
    for _ in range(50):
        features = rng.uniform(0.1, 1, size=(12, 3)) * [1, 1e4, 1e8]
        seconds = rng.uniform(0.5, 2.0, size=12)
        scaled = features / seconds[:, None]
        ours = stepcost._non_negative(scaled, np.ones(12))
        _, misfit = nnls(scaled / scaled.max(axis=0), np.ones(12))
        assert (ours >= 0).all()
        assert np.linalg.norm(scaled @ ours - 1) == pytest.approx(misfit, rel=1e-6)


def test_fewer_than_three_sizes_are_refused_with_what_is_missing():
    whole = [{k: v for k, v in cell(r).items() if not k.startswith("step_s")} for r in (1, 2)]
    with pytest.raises(ValueError, match=r"micro-batches of 2 sizes; at least 3.* the same file$"):
        stepcost.fit(whole)
    slow = [whole[0] | {"input_seconds": 0.4 * whole[0]["seconds"], "host_seconds": 1e-6}]
    with pytest.raises(ValueError, match=r"of 1 size;.*already, of these steps: input 40 %\)$"):
        stepcost.fit(slow)  # the mistake: silence about what needs no prices


def test_more_accumulation_of_one_size_is_no_other_size():
    whole = {k: v for k, v in cell(4).items() if not k.startswith("step_s")}
    grown = ("micro_batches", "slots", "real_tokens", "slot_pairs", "real_pairs", "seconds")
    more = [whole | {key: n * whole[key] for key in grown} for n in (1, 2, 4)]
    with pytest.raises(ValueError, match="of 1 size; at least 3"):  # the mistake: three sizes
        stepcost.fit(more)


def test_visits_of_a_cell_are_added_and_a_lost_one_stands_aside():
    lost = cell(4) | {"status": "out_of_memory", "steps": 0, "step_seconds": []}
    (one,) = stepcost.merge([cell(4), lost, cell(4)])
    assert one["steps"] == 12 and one["repeats"] == 2
    assert one["seconds"] == pytest.approx(2 * cell(4)["seconds"])
    assert len(one["step_seconds"]) == len(one["step_slots"]) == 12


def test_visits_of_two_models_or_two_accumulations_stay_two_cells():
    other = cell(4) | {"model_fingerprint": "another"}
    split = cell(4) | {"accumulation": 2, "micro_batches": 12}
    merged = stepcost.merge([cell(4), other, split, cell(4)])
    assert [one["repeats"] for one in merged] == [2, 1, 1]
    assert merged[0]["seconds"] == pytest.approx(2 * cell(4)["seconds"])
    assert merged[0]["micro_batches"] / merged[0]["steps"] == 4  # the mistake: a mean of 4 and 2


def test_a_record_that_is_no_cell_is_refused_with_what_it_lacks():
    with pytest.raises(ValueError, match=r"record 2 lacks rows, layout, status.*`batchlab sweep`"):
        stepcost.merge([cell(4), {"id": 7, "text": "a document"}])
    assert len(stepcost.merge([cell(4), {"kind": "peak"}])) == 1  # another kind is not asked

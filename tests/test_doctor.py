"""The truth is planted; the doctor must find it, and blame nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from batchlab import doctor, report
from batchlab.doctor import _interval as interval
from tests.planted import (
    FIXED,
    PAIR,
    SLOT,
    at_speed,
    cell,
    change,
    ended,
    full,
    outlier,
    sweep,
    whole,
    with_side,
)  # fmt: skip


def names(diagnosis):
    return [cause.name for cause in diagnosis.causes]


def total(parts):
    return sum(part.seconds for part in parts)


@pytest.mark.parametrize(
    ("side", "cause"),
    [
        ("input_seconds", "input"),
        ("host_seconds", "host"),
        ("communication_seconds", "communication"),
        ("optimizer_seconds", "optimizer"),
    ],
)
def test_a_planted_side_part_is_found_and_nothing_else(side, cause):
    found = doctor.diagnose([with_side(one, **{side: 0.4}) for one in sweep(full)])
    assert names(found)[0] == cause
    assert set(names(found)) <= {cause, "saturation"}
    assert found.causes[0].seconds == pytest.approx(0.4)


def test_a_long_outlier_is_padding():
    found = doctor.diagnose(sweep(outlier))
    assert names(found) == ["padding"]
    assert found.causes[0].change == {"layout": "packed"}
    one = outlier(8, fixed=0.001)
    left = 0.001 * 2 + (SLOT * one.real_tokens + PAIR * one.real_pairs) / one.steps
    assert found.causes[0].gain == pytest.approx(found.step_seconds / left - 1, rel=1e-3)


def test_checkpointing_on_is_recomputation():
    cells = sweep(full) + sweep(full, checkpointing=True)
    found = doctor.diagnose([one for one in cells if one.rows < 8 or one.checkpointing])
    assert [c.name for c in found.causes if c.gain > 0] == ["recomputation"]
    assert found.causes[0].gain == pytest.approx(1 / 3, abs=0.03)
    assert found.causes[0].change == {"checkpointing": False}


@pytest.mark.parametrize("alone", [True, False])
def test_padding_takes_its_recomputation_along(alone):
    """The truth is the same step without padding, recomputed as well."""
    cells = sweep(outlier, checkpointing=True) + ([] if alone else sweep(outlier))
    found = doctor.diagnose([one for one in cells if one.rows < 8 or one.checkpointing])
    (padding,) = (cause for cause in found.causes if cause.name == "padding")
    one = outlier(8, fixed=0.001, checkpointing=True)
    left = 0.001 * 2 + (SLOT * one.real_tokens + PAIR * one.real_pairs) / one.steps
    assert padding.gain == pytest.approx(found.step_seconds / (left * 4 / 3) - 1, rel=0.02)
    kept = padding.seconds / (found.step_seconds - left * 4 / 3)
    assert kept == pytest.approx(1, rel=0.02), "the seconds that go, not the padding alone"


def test_a_tiny_model_is_launch_bound_and_a_larger_micro_batch_is_right():
    found = doctor.diagnose([full(rows, fixed=0.9) for rows in (1, 2, 4, 8)])
    assert names(found) == ["launch"]
    assert found.larger_is_right
    assert found.causes[0].change == {"rows": 16}


def test_a_saturated_run_is_told_that_more_rows_cannot_help():
    found = doctor.diagnose(sweep(full))
    assert names(found) == ["saturation"]
    assert not found.larger_is_right
    assert "of the step is fixed cost" in found.causes[0].advice


def test_allocator_retries_are_memory_pressure():
    cells = sweep(full)
    cells[-1] = change(cells[-1], allocator_retries=12)
    diagnosis = doctor.diagnose(cells)
    (memory,) = (cause for cause in diagnosis.causes if cause.name == "memory")
    assert (memory.gain, memory.change) == (0.0, {"rows": 4}), "what they cost, no record shows"
    cells[-1] = change(cells[-1], allocator_retries=0)
    assert "memory" not in names(doctor.diagnose(cells))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_parts_add_up_to_the_measured_time(noise):
    found = doctor.diagnose(sweep(cell, noise=noise))
    assert total(found.parts) == pytest.approx(found.step_seconds, rel=1e-12)
    assert abs(found.unexplained_seconds) <= max(3 * noise, 1e-6) * found.step_seconds


def test_a_planted_step_is_split_as_it_was_made():
    found = doctor.diagnose([cell(rows) for rows in (1, 2, 4, 8)])
    one = cell(8)
    parts = {part.name: part.seconds for part in found.parts}
    steps = one.steps
    assert parts["fixed cost"] == pytest.approx(FIXED * 2, rel=1e-4)
    assert parts["useful: real tokens"] == pytest.approx(SLOT * one.real_tokens / steps, rel=1e-4)
    pads = one.slot_pairs - one.real_pairs
    assert parts["padding: attention"] == pytest.approx(PAIR * pads / steps, rel=1e-4)


def test_a_cell_that_ran_slower_than_its_prices_gains_by_the_same_share():
    *others, last = sweep()
    others = [at_speed(one, luck) for one in others for luck in (1.0, 1.15, 0.9)]
    quiet = doctor.diagnose([*others, last])
    busy = doctor.diagnose([*others, at_speed(last, 1.15)])
    assert [cause.name for cause in busy.causes if cause.gain] == ["padding"]
    assert busy.unexplained_seconds > 0.05 * busy.step_seconds
    assert busy.causes[0].gain == pytest.approx(quiet.causes[0].gain, rel=0.03)  # prices move a bit
    padding = total(part for part in busy.parts if part.cause == "padding")
    as_priced = busy.step_seconds / (busy.step_seconds - padding) - 1
    assert as_priced < 0.95 * quiet.causes[0].gain, "the mistake: the rest would stay"


def test_a_large_rest_has_a_reason_of_its_own_and_stays():
    *others, last = sweep(outlier)
    busy = doctor.diagnose([*others, at_speed(last, 2.0)])
    padding = total(part for part in busy.parts if part.cause == "padding")
    assert names(busy) == ["padding"]
    assert busy.causes[0].seconds == pytest.approx(1.25 * padding)


@pytest.mark.parametrize(
    "key", ["model_fingerprint", "data_fingerprint", "precision", "data_parallel", "device"]
)
def test_records_of_different_runs_are_refused(key):
    cells = sweep()
    new = {
        "device": {"environment": {"device": "cpu", "processor": "other"}},
        "data_parallel": {"data_parallel": 9},
    }
    cells[0] = change(cells[0], **new.get(key, {key: "other"}))
    with pytest.raises(ValueError, match=rf"differ in {key} \(.*(other|9)"):
        doctor.diagnose(cells)


def test_a_cell_that_ran_out_of_memory_is_left_out():
    assert doctor.diagnose([*sweep(), ended(16)]).subject.rows == 8


def test_unknown_rows_and_empty_records_are_refused():
    with pytest.raises(ValueError, match="no finished cell has rows = 3; there are 1, 2, 4, 8"):
        doctor.diagnose(sweep(), rows=3)
    with pytest.raises(ValueError, match="no cell records"):
        doctor.diagnose([])


# One setting


def alone(*, noise=0.0, steps=20, **more):
    """One size of micro-batch, two a step: 40 % of the slots, 58 % of the pairs are padding."""
    slots, pairs = 2 * 8 * 1024, 2 * 8 * 1024**2
    luck = 1 + noise * np.random.default_rng(0).standard_normal(steps)
    seconds = (0.5 * luck).tolist()
    return change(
        cell(8, steps=steps), source="trainer", slots=slots * steps, slot_pairs=pairs * steps,
        step_slots=[slots] * steps, step_slot_pairs=[pairs] * steps, step_seconds=seconds,
        seconds=sum(seconds), real_tokens=int(0.6 * slots) * steps,
        real_pairs=int(0.42 * pairs) * steps, **more,
    )  # fmt: skip


def test_one_setting_ends_in_bounds_and_the_cheapest_experiment():
    found = doctor.diagnose([with_side(alone(), optimizer_seconds=0.1)])
    lines = {part.name: part for part in found.parts}
    assert lines["forward and backward"].seconds == pytest.approx(0.5)
    assert "fixed cost" not in lines, "the mistake: a split that no step has told"
    assert total(found.parts) == pytest.approx(found.step_seconds)
    bounds = {part.name: part.interval for part in found.bounds}
    assert bounds["fixed cost"].low == 0 and bounds["fixed cost"].high == pytest.approx(0.5)
    assert bounds["padding"].low == 0
    assert bounds["padding"].high == pytest.approx(0.58 * 0.5, rel=1e-3), "its share of pairs"
    assert names(found) == ["optimizer"], "what has a clock of its own is named"
    assert {part.cause for part in found.possible} == {"padding", "launch"}
    assert found.experiment.settings == ((4, 4), (16, 1)), "the same 16 documents a step"
    assert found.experiment.seconds == pytest.approx(2 * 4 * found.step_seconds)


def test_a_bound_on_the_fixed_cost_bounds_padding_from_below():
    found = doctor.diagnose([alone()], most_fixed=0.05)
    padding = found.of_cause("padding").interval
    assert padding.low == pytest.approx(0.4 * (0.5 - 2 * 0.05), rel=1e-3)
    assert padding.high == pytest.approx(0.58 * 0.5, rel=1e-3)
    (cause,) = found.causes
    assert cause.name == "padding" and cause.interval.low <= cause.gain <= cause.interval.high


def test_rows_of_one_length_tell_the_fixed_cost_but_not_slots_from_pairs():
    """Slots and pairs grow together: every split of the two explains the steps as well."""
    cells = []
    for rows in (1, 2, 4, 8):
        micro, slots = 16 // rows, 16 * 1024
        seconds = 0.01 * micro + 20e-6 * slots
        new = {"slots": slots * 6, "slot_pairs": slots * 1024 * 6, "seconds": 6 * seconds}
        new |= {"real_tokens": int(0.6 * slots) * 6, "real_pairs": int(0.42 * slots * 1024) * 6}
        lists = {"step_slots": [slots] * 6, "step_slot_pairs": [slots * 1024] * 6}
        cells.append(change(cell(rows), step_seconds=[seconds] * 6, **new, **lists))
    found = doctor.diagnose(cells)
    merged = {part.name: part for part in found.parts}
    assert merged["fixed cost"].seconds == pytest.approx(0.02, rel=1e-6)
    padding = merged["padding: slots and attention"]
    assert padding.source == "not told apart"
    work = 20e-6 * 16 * 1024
    assert padding.interval.low == pytest.approx(0.4 * work, rel=1e-3)
    assert padding.interval.high == pytest.approx(0.58 * work, rel=1e-3)
    assert names(found) == ["padding"], "certain at both ends"


def test_steps_that_stall_are_told_and_are_no_price():
    one = alone(noise=0.02)
    slow = list(one.step_seconds)
    slow[3] += 2.0
    found = doctor.diagnose([change(one, step_seconds=slow, seconds=sum(slow))])
    assert found.steps.stalled == (3,)
    assert found.steps.stalled_seconds == pytest.approx(2.0, rel=0.02)
    assert found.unexplained_seconds == pytest.approx(2.0 / 20, rel=0.1)


# How sure


def test_a_gain_is_never_negative_nor_of_a_part_larger_than_the_step():
    """Prices of slow cells, on a subject that was fast: the parts are more than the step."""
    *others, last = sweep(outlier)
    for factor in (0.9, 0.5, 0.1, 0.01):
        found = doctor.diagnose([*others, *others, at_speed(last, factor)])
        for cause in found.causes:
            assert 0 <= cause.seconds <= found.step_seconds
            assert 0 <= cause.gain < 100 and 0 <= cause.interval.low <= cause.interval.high < 100
    stuck = with_side(full(8), input_seconds=50.0)
    assert doctor.diagnose([*sweep(full)[:3], stuck]).causes[0].gain < 100


def test_a_cause_is_named_only_where_its_interval_clears_the_bar():
    rng = np.random.default_rng(0)
    shaky = [at_speed(cell(rows), factor) for rows in (1, 2, 4, 8) for factor in
             1 + 0.4 * rng.uniform(-1, 1, 3)]  # fmt: skip
    for visits in (sweep(), shaky):
        found = doctor.diagnose(visits)
        for cause in found.causes:
            part = found.of_cause(cause.name)
            assert cause.name == "saturation" or part.interval.low >= (
                doctor.BARS[cause.name] * found.step_seconds
            )
        for part in found.possible:
            assert part.interval.low < doctor.BARS[part.cause] * found.step_seconds
            assert part.interval.high >= doctor.BARS[part.cause] * found.step_seconds


def test_intervals_grow_with_the_noise_and_hold_the_prices():
    widths = []
    for noise in (0.0, 0.05, 0.15):
        found = doctor.diagnose([cell(rows, noise=noise, steps=12) for rows in (1, 2, 4, 8)])
        launch = found.of_cause("launch")
        widths.append(launch.interval.width)
        assert launch.interval.low <= FIXED * 2 * (1 + 1e-6)
        assert launch.interval.high >= FIXED * 2 * (1 - 1e-6)
    assert widths[0] < 1e-6 < widths[1] < widths[2], "no noise: no doubt"


def test_packed_rows_without_varlen_attend_across_documents():
    one = change(full(8, fixed=0.001), layout="packed", real_pairs=1)
    cells = [change(full(rows, fixed=0.001), layout="packed", real_pairs=1) for rows in (1, 2, 4)]
    found = doctor.diagnose([*cells, one])
    (cause,) = (cause for cause in found.causes if cause.gain)
    assert cause.name == "across" and "varlen" in cause.advice
    assert dict(cause.change) == {}, "the mistake: to pack what is packed"


def test_time_between_steps_has_an_interval_where_visits_repeat():
    """By hand: of three visits of 6 steps one evaluated for 1 s, one for 2, one for 3 s."""
    every = [change(full(8), outside_seconds=seconds) for seconds in (1.0, 2.0, 3.0)]
    (found,) = [cause for cause in doctor.diagnose(every).causes if cause.name == "evaluation"]
    assert found.seconds == pytest.approx(2 / 6)
    assert found.gain == pytest.approx(2 / 6 / every[0].mean_step_seconds)
    low, high = (end * every[0].mean_step_seconds for end in vars(found.interval).values())
    assert low < 1 / 6 and high > 3 / 6, "three visits say little"
    alike = [change(full(8), outside_seconds=2.0) for _ in range(3)]
    (same,) = [cause for cause in doctor.diagnose(alike).causes if cause.name == "evaluation"]
    assert same.interval.width == pytest.approx(0.0)
    (one,) = [cause for cause in doctor.diagnose(every[:1]).causes if cause.name == "evaluation"]
    assert one.interval is None, "nothing repeats that could tell"


def test_a_record_without_real_tokens_has_no_speed_to_compare():
    silent = [change(cell(rows), real_tokens=0, real_pairs=0) for rows in (1, 8)]
    found = doctor.diagnose(silent)
    assert found.speedup is None, "the mistake: a division by zero"
    assert report.diagnosis_text(found).startswith("rows 8, padded\n")
    spoken = doctor.diagnose([cell(1), cell(8)])
    assert spoken.speedup == doctor.useful_rate(spoken.subject) / doctor.useful_rate(
        spoken.baseline
    )


def crowded(rows, times=9.0):
    """Others take nine seconds for each that a step works, less in some steps than in others."""
    one = cell(rows, fixed=0.001)
    lucky = np.linspace(0.2, 1.8, one.steps)
    away = [times * luck * own for luck, own in zip(lucky, one.step_seconds, strict=True)]
    steps = [own + more for own, more in zip(one.step_seconds, away, strict=True)]
    one = change(one, step_seconds=steps, seconds=sum(steps), away_seconds=sum(away))
    return replace(one, step_parts={"away": tuple(away)})


def test_a_cause_is_named_although_others_made_its_share_small(monkeypatch):
    """A tenth of the slots is padding: of the work that is a tenth, of the time a hundredth."""
    from batchlab.doctor import _causes

    busy = [crowded(rows) for rows in (1, 2, 4, 8)]
    found = doctor.diagnose(busy)
    (padding,) = [cause for cause in found.causes if cause.name == "padding"]
    assert padding.gain == pytest.approx(1 / 0.9 - 1, rel=0.02), "launches are next to nothing"
    share = found.of_cause("padding").share_of(found.step_seconds)
    assert share < doctor.BARS["padding"] / 2
    monkeypatch.setattr(_causes, "_load_of", lambda *_: 1.0)
    assert "padding" not in names(doctor.diagnose(busy)), "the mistake: the bar without the load"


def test_where_one_visit_has_no_times_of_its_steps_the_means_of_all_visits_are_taken():
    """The mistake: the visit without them is left out, and its luck with it."""
    fast = cell(4)
    slow = whole(fast, seconds=2 * fast.seconds)
    found = interval.of_mean([fast, slow])
    means = np.array([fast.mean_step_seconds, 2 * fast.mean_step_seconds])
    assert found == interval.of_values(means, np.arange(2))
    assert found.low < means[0] and found.high > means[1]

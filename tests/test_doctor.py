"""The truth is planted; the doctor must find it, and blame nothing else."""

import pytest

from batchlab import doctor
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
    quiet = doctor.diagnose([*others, last])
    busy = doctor.diagnose([*others, at_speed(last, 1.15)])
    assert names(busy) == names(quiet)
    assert busy.unexplained_seconds > 0.05 * busy.step_seconds
    assert busy.causes[0].gain == pytest.approx(quiet.causes[0].gain, rel=0.02)  # prices move a bit
    padding = total(part for part in busy.parts if part.cause == "padding")
    as_priced = busy.step_seconds / (busy.step_seconds - padding) - 1
    assert as_priced < 0.92 * quiet.causes[0].gain, "the mistake: the rest would stay"


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

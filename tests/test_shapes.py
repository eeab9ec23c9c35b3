"""Where no line holds, the doctor says what another shape says, or refuses."""

import numpy as np
import pytest

from batchlab import doctor
from tests.planted import SLOT, cell, change, outlier, sweep


def test_a_line_is_left_where_a_floor_shows_and_the_gain_is_that_of_the_floor():
    """Micro-batches below 6,000 slots all take as long: packing cannot go below that."""
    floor = 6000 * SLOT

    def lasting(rows, noise):
        one, rng = cell(rows, steps=24), np.random.default_rng(rows)
        micro = one.micro_batches / one.steps
        each = [micro * max(floor, SLOT * slots / micro) for slots in one.step_slots]
        each = [seconds * (1 + noise * rng.standard_normal()) for seconds in each]
        return change(one, step_seconds=each, seconds=sum(each), real_tokens=int(0.5 * one.slots))

    found = doctor.diagnose([lasting(rows, 0.01) for rows in (1, 2, 4, 8, 16)])
    (cause,) = [cause for cause in found.causes if cause.name == "padding"]
    assert found.split.bent and {one.name for one in found.split.shapes} <= {"kink", "floor"}
    packed = max(floor, SLOT * found.subject.real_tokens / found.subject.micro_batches)
    planted = found.step_seconds / packed - 1
    assert cause.interval.low <= planted <= cause.interval.high
    assert cause.interval.width < 0.4 * planted


def test_what_no_shape_tells_is_refused_with_one_sentence():
    """The cured step is smaller than any that was measured, and the seconds are no line."""
    bent = []
    for rows in (2, 4, 8, 16):
        one, rng = cell(rows, steps=24), np.random.default_rng(rows)
        each = [1e-9 * slots**2 * rng.uniform(0.99, 1.01) for slots in one.step_slots]
        new = {"step_seconds": each, "seconds": sum(each), "real_pairs": one.slot_pairs // 2500}
        bent.append(change(one, real_tokens=one.slots // 50, **new))
    found = doctor.diagnose(bent)
    (cause,) = [cause for cause in found.causes if cause.name == "padding"]
    assert (cause.gain, cause.interval) == (0.0, None) and "--verify" in cause.refused
    assert cause.change == {"layout": "packed"}, "what to try is still told"


def with_away(one, away):
    """The same cell, each step with so many seconds in which the process did not run."""
    each = [seconds + out for seconds, out in zip(one.step_seconds, away, strict=True)]
    total = sum(each)
    return change(one, step_seconds=each, seconds=total, away_seconds=sum(away),
                  step_parts={"away": list(away)})  # fmt: skip


def test_a_load_goes_with_the_work_and_a_sleep_stays():
    quiet = sweep(outlier)
    gain = doctor.diagnose(quiet).causes[0].gain
    busy = [with_away(one, [n % 2 * seconds for n, seconds in enumerate(one.step_seconds)])
            for one in quiet]  # fmt: skip
    (loaded,) = [cause for cause in doctor.diagnose(busy).causes if cause.name == "padding"]
    assert loaded.gain == pytest.approx(gain, rel=1e-3), "in CPU time, whatever others did"
    asleep = doctor.diagnose([with_away(one, [0.5] * one.steps) for one in quiet])
    (slept,) = [cause for cause in asleep.causes if cause.name == "padding"]
    removed = quiet[-1].mean_step_seconds * (1 - 1 / (1 + gain))
    assert slept.gain == pytest.approx(1 / (1 - removed / asleep.step_seconds) - 1, rel=1e-3)
    held_fixed = 1 / (1 - removed / doctor.diagnose(busy).step_seconds) - 1
    assert held_fixed < 0.8 * gain, "the mistake: what others took would stay"


@pytest.mark.parametrize(
    "new",
    [
        {"slot_pairs": 0, "real_pairs": 0, "step_slot_pairs": [0] * 6},
        {"real_pairs": 0},
        {"optimizer_seconds": 1e9},
    ],
)
def test_a_record_that_lacks_pairs_or_time_is_diagnosed_as_far_as_it_goes(new):
    odd = [change(cell(rows, noise=0.05), **new) for rows in (1, 2, 4, 8)]
    said = doctor.diagnose(odd)
    assert sum(part.seconds for part in said.parts) == pytest.approx(said.step_seconds)

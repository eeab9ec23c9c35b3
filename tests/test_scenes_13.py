"""What the page of lesson 13 shows: runs with a known truth; and how its meter is listened to."""

import math

import numpy as np
import pytest

from batchlab import noise
from batchlab.exercises.noise import (
    bench,
    noise_scale,
    scenes,
    step_meter,
    thrifty,
    two_norms,
    which_way,
)
from batchlab.noise import norms

UNEQUAL = step_meter.UNEQUAL


def test_two_norms_and_their_ratio_are_those_of_the_library():
    rng = np.random.default_rng(0)
    small, big = rng.uniform(100, 150, 12), rng.uniform(15, 25, 12)
    found = noise.from_norms(small, big, small_batch=8, big_batch=64)
    readings = [two_norms(s, b, 8, 64) for s, b in zip(small, big, strict=True)]
    scale, error = noise_scale(readings)
    assert scale == pytest.approx(found.scale)
    squared = found.trace_error**2 + (scale * found.squared_gradient_error) ** 2
    squared -= 2 * scale * found.covariance
    assert error == pytest.approx(math.sqrt(squared) / found.squared_gradient)


def test_six_meters_are_off_as_the_page_says():
    found = which_way.measured()
    right = found.pop("right")
    assert right == pytest.approx(250, rel=0.05)
    for meter, word in which_way.which_way().items():
        ratio = found[meter] / right
        way = "right" if abs(ratio - 1) < 0.05 else "too high" if ratio > 1 else "too low"
        assert way == word, (meter, ratio)


def test_curves_agree_with_the_library():
    curve = noise.StepsToTarget(1000, 250)
    best = noise.fastest_batch(curve, fixed_seconds=5e-3, seconds_per_sequence=2e-4)
    assert thrifty.thrifty(250, 5e-3, 2e-4, 1.0 + 1e-12) == pytest.approx(best, rel=1e-4)
    found_batch = thrifty.thrifty(250, 5e-3, 2e-4, 1.1)
    assert round(found_batch, 1) == 38.3 and round(best, 1) == 79.1
    times = [curve.steps(one) * (5e-3 + 2e-4 * one) for one in (found_batch, best)]
    assert times[0] == pytest.approx(1.1 * times[1])


def test_the_noisy_quadratic_has_the_published_shape():
    reached = scenes.steps_to_target()
    assert (reached[1], reached[4096]) == (31203, 122)
    curve = noise.fit_steps(reached)
    assert round(curve.critical_batch) == 280 and curve.worst < 0.11


def test_the_noise_scale_grows_along_the_regression():
    scales = [round(noise.exact(scenes.examples_of(step)).scale) for step in (0, 5, 20, 60)]
    assert scales == [50, 160, 817, 4846]


def heard(step, model, optimizer, schedule, windows, max_norm):
    """The library's tracker as a meter: it listens to the same step."""
    losses = []
    with norms.Tracker(model, optimizer) as tracker:
        for window in windows:
            losses.append(step(model, optimizer, schedule, window, max_norm))
        found = tracker.estimate()
    return {"losses": losses, "readings": found.readings, "scale": found.scale, "error": 0.0}


@pytest.mark.parametrize("options", [{}, {"max_norm": 0.6}, {"frozen": True}])
def test_the_reference_hears_what_the_library_hears(options):
    yours, theirs = (bench.seen(one, UNEQUAL, **options) for one in (step_meter.metered_run, heard))
    assert theirs["scale"] == pytest.approx(yours["scale"])
    np.testing.assert_array_equal(theirs["losses"], yours["losses"])
    np.testing.assert_array_equal(theirs["weights"], yours["weights"])
    assert theirs["hooks left"] == [] and theirs["forward passes"] == sum(map(len, UNEQUAL))


def test_a_huge_window_has_a_finite_sum_and_no_finite_pieces():
    windows = [[[3, 8], [5, 2]], [[bench.HUGE], [bench.COUNTER]], [[4, 4], [9]], [[2, 3, 5], [8]]]
    found = bench.seen(step_meter.metered_run, windows, step="careful")
    assert found["readings"] == 3 and np.isfinite(found["losses"]).all()


def test_a_step_without_backward_passes_cannot_be_heard():
    assert scenes.stops(scenes.take_step)
    assert not scenes.stops(lambda *given: 0.0)

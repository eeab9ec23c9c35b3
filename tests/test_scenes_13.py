"""What the page of lesson 13 shows: runs with a known truth; and how its meter is listened to."""

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


def test_two_norms_and_their_ratio_are_those_of_the_library():
    rng = np.random.default_rng(0)
    small, big = rng.uniform(100, 150, 12), rng.uniform(15, 25, 12)
    found = noise.from_norms(small, big, small_batch=8, big_batch=64)
    readings = [two_norms(s, b, 8, 64) for s, b in zip(small, big, strict=True)]
    assert noise_scale(readings) == pytest.approx(found.scale)
    again = scenes.scale_of(readings, 64, 8)
    assert (again.low, again.high) == pytest.approx((found.low, found.high))


def test_three_meters_are_off_as_the_page_says():
    found = which_way.measured()
    right = found.pop("right")
    assert right == pytest.approx(250, rel=0.05)
    for meter, word in which_way.which_way().items():
        ratio = found[meter] / right
        way = "right" if abs(ratio - 1) < 0.05 else "too high" if ratio > 1 else "too low"
        assert way == word, (meter, ratio)


def test_with_no_patience_the_fastest_batch_is_that_of_the_library():
    curve = noise.StepsToTarget(1000, 250)
    best = noise.fastest_batch(curve, fixed_seconds=5e-3, seconds_per_sequence=2e-4)
    reached = {batch: curve.steps(batch) for batch in range(1, 300)}
    assert thrifty.thrifty(reached, 5e-3, 2e-4, 1.0) == round(best) == 79
    half = thrifty.thrifty(reached, 5e-3, 2e-4, 1.1)
    assert half == 39, "half the batch takes a tenth more time"


def test_the_page_says_what_patience_buys():
    reached = scenes.steps_to_target()
    found = [thrifty.thrifty(reached, 5e-3, 2e-4, slower) for slower in (1.0, 1.1, 1.25, 1.75)]
    assert found == [128, 64, 32, 16]
    seconds = {batch: reached[batch] * (5e-3 + 2e-4 * batch) for batch in found}
    used = {batch: batch * reached[batch] for batch in found}
    assert (
        round(seconds[64] / seconds[128], 2) == 1.02 and round(1 - used[64] / used[128], 2) == 0.12
    )
    assert thrifty.thrifty(thrifty.PAGE, 1.5, 0.01, 1.1) == 64


def test_the_noisy_quadratic_has_the_published_shape():
    reached = scenes.steps_to_target()
    assert (reached[1], reached[4096]) == (31203, 122)
    curve = noise.fit_steps(reached)
    assert round(curve.critical_batch) == 280 and curve.worst < 0.11


def test_the_reference_hears_what_the_library_hears():
    model, optimizer, schedule = bench.made()
    yours = step_meter.StepMeter()
    with norms.Tracker(model, optimizer) as tracker, scenes.listening(yours, model):
        for window in bench.windows_of(step_meter.STEPS):
            bench.take_step(model, optimizer, schedule, window, 0.6)
            yours.stepped(len(window), len(window[0]["labels"]))
        found = tracker.estimate()
    assert found.readings == len(yours.readings) == 4
    assert noise_scale(yours.readings) == pytest.approx(found.scale)
    assert np.mean(yours.readings, axis=0) == pytest.approx([found.squared_gradient, found.trace])


def test_no_hook_is_left_behind_also_after_an_error():
    model, *_ = bench.made()
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), scenes.listening(step_meter.StepMeter(), model):
            assert all(len(p._backward_hooks) == 1 for p in model.parameters())
            raise error
    assert not any(p._backward_hooks or p._post_accumulate_grad_hooks for p in model.parameters())


def test_a_meter_changes_nothing():
    def weights(meter):
        return bench.seen(meter, step_meter.STEPS, max_norm=0.6)["weights"]

    class Deaf(step_meter.StepMeter):
        def made(self, gradient):
            pass

    class Loud(step_meter.StepMeter):
        def made(self, gradient):
            self.pieces += float(gradient.clamp_(-1e-3, 1e-3).square().sum())

    np.testing.assert_array_equal(weights(step_meter.StepMeter), weights(Deaf))
    assert not np.array_equal(weights(Loud), weights(Deaf))

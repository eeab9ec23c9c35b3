"""The probe of lesson 13: versions against the library, runs with a known truth, the meter."""

import math

import numpy as np
import pytest

from batchlab import noise
from batchlab.classroom.probes import lesson_13 as probe
from batchlab.classroom.probes import lesson_13_meter as bench
from batchlab.classroom.probes import lesson_13_runs as runs
from batchlab.classroom.probes import lesson_13_ways as ways
from batchlab.noise import norms

UNEQUAL = [[[3, 8], [5, 2, 4]], [[6], [1, 7, 2]], [[4, 4], [9]], [[2, 3, 5], [8]], [[7], [3, 3]]]
PADDED = [[[3, 8, 0], [5, 2]], [[6, 1], [7, 2, 0]], [[4, 4, 0], [9]]]

FEW = [[[3, 8], [5, 2]], [[10, 2], [11, 3]], [[6, 4], [1, 7]]]  # the bias is not used by the second
BELOW = [[[2], [6]], [[5], [4, 1]], [[7], [9, 6]], [[9, 5], [1]]]  # one reading is below 0


def test_two_norms_and_their_ratio_are_those_of_the_library():
    rng = np.random.default_rng(0)
    small, big = rng.uniform(100, 150, 12), rng.uniform(15, 25, 12)
    found = noise.from_norms(small, big, small_batch=8, big_batch=64)
    readings = [probe.RIGHT["two-norms"][0](s, b, 8, 64) for s, b in zip(small, big, strict=True)]
    scale, error = probe.RIGHT["noise-scale"][0](readings)
    assert scale == pytest.approx(found.scale)
    squared = found.trace_error**2 + (scale * found.squared_gradient_error) ** 2
    squared -= 2 * scale * found.covariance
    assert error == pytest.approx(math.sqrt(squared) / found.squared_gradient)
    for estimate in probe.RIGHT["estimate"]:
        assert estimate(small.tolist(), big.tolist(), 8, 64) == pytest.approx(found.scale)


def test_curves_agree_with_the_library():
    curve = noise.StepsToTarget(1000, 250)
    batch, seconds = probe.RIGHT["fastest"][0](1000, 250, 5e-3, 2e-4)
    assert batch == pytest.approx(
        noise.fastest_batch(curve, fixed_seconds=5e-3, seconds_per_sequence=2e-4)
    )
    assert seconds == pytest.approx(curve.steps(batch) * (5e-3 + 2e-4 * batch))
    assert round(seconds, 1) == 86.6
    found = [
        probe.RIGHT["critical-batch"][0](noise.fit_steps(steps).critical_batch, 256, 0.2)
        for steps in noise.zhang2025().values()
    ]
    assert [round(one) for one in found] == [745, 955, 1394, 1889, 2533]


CASES = {
    "two-norms": [
        (40.0, 2.0, 2, 32),
        (2.0, 2.5, 4, 12),
        (3e-9, 1e-9, 3 * 10**9, 7 * 10**9),
        (0.0, 3.0, 4, 12),
        (6.0, 2.0, 0.5, 4),
    ],
    "noise-scale": [
        ([(4.0, 900.0), (-1.0, 1250.0), (6.0, -850.0), (7.0, 1300.0)],),
        ([(1.0 + k / 500, 300.0 + k) for k in range(2500)],),
        ([(4.0, 90.0)] * 9 + [(5.0, 1e6)],),
        ([(4.0, 90.0)] * 9 + [(5000.0, 80.0)],),
        ([(1e-18, 4e-15), (3e-18, 5e-15)],),
        ([(1e-12, 4e-9), (3e-12, 5e-9)],),
    ],
    "critical-batch": [
        (1000, 64, 0.5),
        (12, 400, 0.3),
        (250, 0, 0.4),
        (500, 100, 2),
        (37.5, 8, 0.05),
        (90, 0.5, 0.3),
    ],
    "fastest": [(1300, 2200, 0.9, 0.004), (40, 0.3, 2, 1)],
    "estimate": [([129.0, 106.0, 111.5], [19.625, 18.5, 13.0625], 8, 64)],
}


@pytest.mark.parametrize("name", CASES)
def test_every_wrong_version_is_wrong_in_some_case(name):
    for thought, version in probe.WRONG[name].items():
        apart = []
        for case in CASES[name]:
            right, got = (np.atleast_1d(f(*case)) for f in (probe.RIGHT[name][0], version))
            apart.append(not np.allclose(right, got, rtol=1e-5, atol=0))
        assert any(apart), thought


def test_the_noisy_quadratic_has_the_published_shape():
    reached = probe.steps_to_target()
    assert (reached[1], reached[4096]) == (31203, 122)
    curve = noise.fit_steps(reached)
    assert round(curve.critical_batch) == 280 and curve.worst < 0.11


def test_the_noise_scale_grows_along_the_regression():
    scales = [round(noise.exact(probe.examples_of(step)).scale) for step in (0, 5, 20, 60)]
    assert scales == [50, 160, 817, 4846]


def test_the_finder_has_one_answer_that_is_neither_an_edge_nor_the_fastest():
    right = [batch for batch in runs.BATCHES if probe.fault_of_batch(batch) == ""]
    assert right == [219]
    assert "fastest" in probe.fault_of_batch(463) and "left" in probe.fault_of_batch(774)
    assert "more than 10 %" in probe.fault_of_batch(47)
    assert "does not offer" in probe.fault_of_batch(250)


def test_each_report_has_one_word():
    for name in probe.REPORTS:
        right = [word for word in probe.WORDS if not probe.fault_of_report(name, word)]
        assert len(right) == 1
        assert "one of these words" in probe.fault_of_report(name, 7)


def heard(step, model, optimizer, schedule, windows, max_norm):
    """The library's tracker as a meter: it listens to the same step."""
    losses = []
    with norms.Tracker(model, optimizer) as tracker:
        for window in windows:
            losses.append(step(model, optimizer, schedule, window, max_norm))
        found = tracker.estimate()
    return {"losses": losses, "readings": found.readings, "scale": found.scale, "error": 0.0}


@pytest.mark.parametrize("options", [{}, {"max_norm": 0.6}, {"frozen": True}])
def test_the_run_by_hand_is_that_of_the_step_and_its_scale_the_library_s(options):
    right, seen = ways.run(UNEQUAL, **options), bench.meter(heard, UNEQUAL, **options)
    assert seen["said"]["scale"] == pytest.approx(right["scale"])
    assert seen["said"]["losses"] == pytest.approx(right["losses"])
    np.testing.assert_allclose(seen["weights"], right["weights"], atol=1e-12)
    assert seen["left"] == [] and seen["forward_calls"] == sum(map(len, UNEQUAL))


@pytest.fixture(scope="module")
def right_runs():
    cases = [*((one, {}) for one in (UNEQUAL, PADDED, FEW, BELOW)), (UNEQUAL, {"max_norm": 0.6})]
    return [(windows, options, ways.run(windows, **options)) for windows, options in cases]


@pytest.mark.parametrize("way", ways.WAYS)
def test_every_wrong_way_gives_another_scale_or_error_somewhere(way, right_runs):
    told = set()
    for windows, options, right in right_runs:
        known = ways.run(windows, way=way, **options)
        said = {name: known[name] for name in ("scale", "error")}
        told |= {probe.fault_of_scale(said, right, windows, **options)[0]}
    assert told - {""}


def test_a_poisoned_window_gives_no_reading_and_leaves_the_weights_alone():
    windows = [[[3, 8], [5, 2, 4]], [[6, -1], [1, 7, 2]], [[4, 4], [9]], [[2, 3, 5], [8]]]
    right = ways.run(windows)
    assert right["readings"] == 3 and math.isnan(right["losses"][1])


def test_a_step_without_backward_passes_cannot_be_heard():
    assert probe.stops(probe.take_step)
    assert not probe.stops(lambda *given: 0.0)


@pytest.mark.parametrize(
    ("windows", "options", "readings", "below"),
    [
        (FEW, {}, 3, 0),
        (BELOW, {}, 4, 1),
        ([[[3, 8], [5, 2, 4]], [[6, -2], [1, 7, 2]], [[4, 4], [9]], [[2, 3, 5], [8]]], {}, 3, 0),
        ([[[3, 8], [5, 2]], [[-2], [-3]], [[4, 4], [9]], [[2, 3, 5], [8]]], {}, 3, 0),
        (
            [[[3, 8], [5, 2]], [[6, 4], [1, 7]], [[4, 4], [9, 2]]],
            {"loud": 1e12, "max_norm": 1.0},
            3,
            1,
        ),
    ],
)
def test_runs_with_an_edge(windows, options, readings, below):
    right = ways.run(windows, **options)
    assert (right["readings"], right["below"]) == (readings, below)
    assert np.isfinite(right["losses"]).all() and 0 < right["scale"] < 10
    assert right["error"] < 1.1 * right["scale"]


def test_a_test_of_estimate_may_use_names_and_needs_a_signal():
    for one in probe.versions("estimate")["right"]:
        assert one(small=[129.0], big=[19.625], small_batch=8, big_batch=64) == pytest.approx(250)
        with pytest.raises(ValueError, match="must be above 0"):
            one([900.0], [2.0], 8, 64)

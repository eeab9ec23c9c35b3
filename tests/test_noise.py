"""Noise from norms: published worked numbers, an interval that covers, critical batches by name."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlab import noise
from batchlab.noise import _formula


def norms(rng, *, signal, spectrum, readings, micro_batches, sequences=4):
    """Squared norms of steps whose gradient is known, and noise of trace 1 for one sequence."""
    mean = rng.normal(size=len(spectrum))
    mean *= math.sqrt(signal / (mean @ mean))
    shape = readings, micro_batches, len(spectrum)
    each = mean + rng.normal(size=shape) * np.sqrt(spectrum / spectrum.sum() / sequences)
    small, big = (each**2).sum(-1).mean(1), (each.mean(1) ** 2).sum(-1)
    sizes = {"small_batch": sequences, "big_batch": sequences * micro_batches}
    return noise.from_norms(small, big, **sizes)


def test_the_worked_example_gives_back_what_went_in():
    """|G|^2 = 4 and a trace of 1,000: 129 at 8 sequences, 19.625 at 64."""
    found = noise.from_norms([129, 129], [19.625, 19.625], small_batch=8, big_batch=64)
    assert (found.squared_gradient, found.trace, found.scale) == (4, 1000, 250)
    assert (found.low, found.high) == (250, 250)


CASES = [  # signal, exponent of the spectrum, values, micro-batches, readings
    (0.05, 1.0, 50, 8, 24),
    (0.05, 0.0, 20, 4, 12),
    (0.005, 0.5, 50, 4, 24),  # so faint that the interval has no upper end most of the time
    (0.05, 0.5, 50, 8, 6),
]


@pytest.mark.parametrize(("signal", "exponent", "values", "micro_batches", "readings"), CASES)
def test_the_interval_covers_the_scale_as_often_as_it_says(
    signal, exponent, values, micro_batches, readings
):
    """1,000 simulated runs: between 93 and 97 in 100 for a confidence of 95."""
    rng = np.random.default_rng(0)
    spectrum = np.arange(1, values + 1.0) ** -exponent
    how = {"spectrum": spectrum, "readings": readings, "micro_batches": micro_batches}
    found = [norms(rng, signal=signal, **how) for _ in range(1000)]
    covered = np.mean([one.low <= 1 / signal <= one.high for one in found])
    assert 0.93 <= covered <= 0.97
    ends = np.mean([one.enough for one in found])
    assert ends > 0.99 if signal > 0.01 else ends < 0.6


def test_the_usual_interval_of_a_ratio_covers_too_seldom_where_the_signal_is_faint():
    """The mistake beside the law: relative errors added as squares."""
    rng = np.random.default_rng(0)
    covered, spectrum = 0, np.arange(1, 51.0) ** -0.5
    for _ in range(1000):
        one = norms(rng, signal=0.005, spectrum=spectrum, readings=24, micro_batches=4)
        relative = (one.trace_error / one.trace) ** 2 - 2 * one.covariance / (
            one.trace * one.squared_gradient
        )
        relative += (one.squared_gradient_error / one.squared_gradient) ** 2
        covered += abs(one.scale - 200) <= 1.96 * abs(one.scale) * math.sqrt(abs(relative))
    assert covered < 910


def heavy(rng, sigma, *, readings, micro_batches, values=50, sequences=4, signal=0.05):
    """Readings of a trace of 1 whose sequences have noise of lognormal size."""
    mean = rng.normal(size=values)
    mean *= math.sqrt(signal / (mean @ mean))
    shape = readings, micro_batches, sequences
    size = np.exp(sigma * rng.normal(size=(*shape, 1)) - sigma**2)
    each = (mean + size * rng.normal(size=(*shape, values)) / math.sqrt(values)).mean(2)
    small, big = (each**2).sum(-1).mean(1), (each.mean(1) ** 2).sum(-1)
    sizes = {"small_batch": sequences, "big_batch": sequences * micro_batches}
    return noise.from_norms(small, big, **sizes)


def test_tails_as_heavy_as_told_make_the_interval_too_low():
    covered = {}
    for sigma in (0.5, 1.0, 1.5):
        rng = np.random.default_rng(1)
        found = [heavy(rng, sigma, readings=12, micro_batches=4) for _ in range(300)]
        covered[sigma] = np.mean([one.low <= 20 <= one.high for one in found])
        assert np.mean([one.low > 20 for one in found]) < 0.03, "it is never too high"
    assert covered == pytest.approx({0.5: 0.94, 1.0: 0.83, 1.5: 0.52}, abs=0.06)


def test_the_mean_of_ratios_is_biased_and_the_ratio_of_means_is_not():
    """The mistake beside the law: divide each reading, then average."""
    rng = np.random.default_rng(1)
    mean = np.full(200, math.sqrt(0.02 / 200))
    each = mean + rng.normal(size=(4000, 4, 200)) * math.sqrt(1 / 200 / 4)
    small, big = (each**2).sum(-1).mean(1), (each.mean(1) ** 2).sum(-1)
    ours = noise.from_norms(small, big, small_batch=4, big_batch=16)
    assert abs(ours.scale - 50) < 1 and ours.high / ours.low < 1.1
    squared, trace = (16 * big - 4 * small) / 12, (small - big) / (1 / 4 - 1 / 16)
    assert abs(np.mean(trace / squared) / 50 - 1) > 0.04


def test_readings_of_different_sizes_are_averaged_before_they_are_divided():
    squared, trace = 3.0, 120.0
    few, many = np.array([2, 4, 1.5]), np.array([16, 8, 24])
    found = noise.from_norms(
        squared + trace / few, squared + trace / many, small_batch=few, big_batch=many
    )
    assert found.scale == pytest.approx(40) and found.trace_error == pytest.approx(0, abs=1e-9)


def test_the_unit_of_a_token_weighted_loss_is_the_sequence():
    """The spread of real batches of unequal sequences is what the exact trace says."""
    rng = np.random.default_rng(2)
    targets = rng.integers(1, 40, size=3000)
    sums = targets[:, None] * (0.3 + rng.normal(size=(3000, 5))) + rng.normal(size=(3000, 5))
    found = noise.exact(sums, targets)
    drawn = rng.integers(0, 3000, size=(20_000, 16))
    batches = sums[drawn].sum(1) / targets[drawn].sum(1)[:, None]
    spread = ((batches - sums.sum(0) / targets.sum()) ** 2).sum(1).mean()
    assert found.trace / 16 == pytest.approx(spread, rel=0.08)
    alike = noise.exact(sums / targets[:, None])
    assert alike.trace / 16 < 0.8 * spread, "the mistake: every sequence its own mean"


def test_too_few_readings_are_shown_as_what_they_are():
    found = noise.from_norms([5.0, 5.2, 4.8], [1.0, 1.3, 0.9], small_batch=1, big_batch=4)
    assert found.squared_gradient < 0 and found.scale < 0
    assert (found.low, found.high, found.enough) == (0.0, math.inf, False) or found.low > 0
    assert str(found).startswith("too few readings: 3 give -")
    good = noise.from_norms([129, 128, 130], [19, 20, 21], small_batch=8, big_batch=64)
    assert "sequences (" in str(good) and "95 %, 3 readings" in str(good)


def test_readings_that_are_not_finite_are_left_out_and_counted():
    found = noise.from_norms(
        [129, math.nan, 129, math.inf], [19.625, 1, 19.625, 2], small_batch=8, big_batch=64
    )
    assert (found.readings, found.skipped, found.scale) == (2, 2, 250)


REFUSED = [
    (([1, 2], [1, 2], 8, 8), "small_batch 8 is not below big_batch 8, so noise and signal"),
    (([1, 2], [1, 2], 8, 4), "small_batch 8 is not below big_batch 4"),
    (([1, 2], [1, 2], 0, 4), "small_batch must be above 0"),
    (([1], [1], 1, 4), "at least 2 finite readings for its spread, got 1$"),
    (([1, math.nan], [1, 1], 1, 4), r"got 1 \(1 were not finite\)"),
    (([1, 2], [1], 1, 4), r"shapes \(2,\) and \(1,\)"),
    (([1, -2], [1, 1], 1, 4), "squared norms are not negative"),
]


@pytest.mark.parametrize(("given_", "message"), REFUSED)
def test_norms_that_say_nothing_are_refused(given_, message):
    small, big, few, many = given_
    with pytest.raises(ValueError, match=message):
        noise.from_norms(small, big, small_batch=few, big_batch=many)


def test_a_population_is_taken_whole():
    found = noise.exact([[1.0, 0.0], [3.0, 0.0]])
    assert (found.trace, found.squared_gradient, found.scale) == (1, 4, 0.25)
    assert noise.exact([[1.0], [-1.0]]).scale == math.inf
    with pytest.raises(ValueError, match="one count for each of 2 sequences"):
        noise.exact([[1.0], [2.0]], [3])


@settings(deadline=None)  # importing SciPy takes its time
@given(st.floats(0.5, 0.995), st.integers(1, 200))
def test_quantiles_are_those_of_student(confidence, freedom):
    """The judge: SciPy."""
    from scipy import stats

    judge = stats.t.ppf((1 + confidence) / 2, freedom)
    assert _formula.student(confidence, freedom) == pytest.approx(judge, rel=0.02)


# steps and examples -------------------------------------------------------------------------


def test_the_published_table_gives_the_published_critical_batches():
    fits = {size: noise.fit_steps(steps) for size, steps in noise.zhang2025().items()}
    critical = {size: noise.more_steps(curve) for size, curve in fits.items()}
    assert [round(one, 1) for one in critical.values()] == [745.3, 955.2, 1393.7, 1888.5, 2533.4]
    bend = [noise.twice_the_examples(curve) for curve in fits.values()]
    assert [round(one, 1) for one in bend] == [2190.6, 3239.8, 5432.6, 7906.6, 11131.1]
    law = noise.fit_power(critical)
    assert law.coefficient == pytest.approx(93.20, abs=0.005)
    assert law.exponent == pytest.approx(0.4683, abs=5e-5) and 0 < law.exponent_error < 0.02


def test_the_fit_is_that_of_scipy_with_its_error():
    """The judge: curve_fit on the logarithms of the steps."""
    from scipy.optimize import curve_fit

    for steps in noise.zhang2025().values():
        x, y = np.array(list(steps)), np.log(list(steps.values()))
        judge, covariance = curve_fit(
            lambda b, u, v: np.log(np.exp(u) + np.exp(v) / b), x, y, p0=[y[-1], y[0] + 4]
        )
        ours = noise.fit_steps(steps)
        assert math.log(ours.least_steps) == pytest.approx(judge[0], abs=1e-6)
        assert math.log(ours.critical_batch) == pytest.approx(judge[1] - judge[0], abs=1e-6)
        error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        assert ours.log_error == pytest.approx(error, rel=1e-3)


@given(st.floats(10, 1e5), st.floats(4, 1e4))
def test_the_hyperbola_holds_at_every_batch_and_a_fit_gives_it_back(least, critical):
    curve = noise.StepsToTarget(least, critical)
    for batch in (1, critical / 3, critical, 10 * critical):
        product = (curve.steps(batch) / least - 1) * (
            curve.examples(batch) / curve.least_examples - 1
        )
        assert product == pytest.approx(1)
    exact = {batch: curve.steps(batch) for batch in (1, 8, 64, 512, 4096, 2**15)}
    again = noise.fit_steps(exact)
    assert again.critical_batch == pytest.approx(critical, rel=1e-6) and again.worst < 1e-6


def test_a_noisy_quadratic_has_the_bend_that_its_pilot_found():
    """Zhang et al. 2019 in small: steps 31,203 to 122, critical batch 280, within a tenth."""
    curvature = 1 / np.arange(1, 201)

    def loss(t, keep, floor):
        return 0.5 * (curvature * (floor + (1 - floor) * keep**t)).sum()

    def steps(batch, target=0.02, most=60_000):
        best = most
        for rate in np.geomspace(0.01, 1.99, 60):
            keep = (1 - rate * curvature) ** 2
            floor = rate**2 * curvature / batch / (1 - keep)
            if 0.5 * (curvature * floor).sum() >= target or loss(best, keep, floor) > target:
                continue
            low, high = 1, best
            while low < high:
                middle = (low + high) // 2
                low, high = (
                    (low, middle) if loss(middle, keep, floor) <= target else (middle + 1, high)
                )
            best = low
        return best

    measured = {2**n: steps(2**n) for n in range(13)}
    assert (measured[1], measured[4096]) == (31203, 122)
    found = noise.fit_steps(measured)
    assert round(found.critical_batch) == 280 and found.worst < 0.101


def test_four_definitions_four_names_four_numbers():
    curve = noise.StepsToTarget(1293.8, 2190.6)
    assert noise.twice_the_examples(curve) == 2190.6
    assert noise.more_steps(curve) == pytest.approx(745.3, abs=0.05)
    assert noise.same_loss({1: 2.5, 2: 2.505, 4: 2.52}, reference=2.5) == 2
    assert noise.lowest_loss({1: 2.6, 2: 2.5, 4: 2.55}) == 2
    assert all(hasattr(noise, name) for name in noise.DEFINITIONS)
    steps = {b: curve.steps(b) for b in (256, 745)}
    assert steps[745] / (steps[256] * 256 / 745) == pytest.approx(1.2, abs=1e-3)


def test_the_fastest_per_epoch_is_not_the_fastest_to_the_target():
    curve = noise.StepsToTarget(1000, 250)
    timed = {batch: 0.005 + 0.0002 * batch for batch in (16, 79, 512)}
    found = noise.fastest(curve, timed)
    assert [round(s, 1) for s in found.seconds.values()] == [136.3, 86.6, 159.8]
    assert (found.batch, found.batch_per_epoch) == (79, 512)
    assert found.examples_per_second[512] / found.examples_per_second[79] == pytest.approx(
        1.255, abs=1e-3
    )
    best = noise.fastest_batch(curve, fixed_seconds=5e-3, seconds_per_sequence=2e-4)
    tried = min(range(1, 1000), key=lambda b: curve.steps(b) * (0.005 + 0.0002 * b))
    assert abs(best - tried) < 1


BAD = [
    (lambda: noise.fit_steps({64: 100}), "2 batches or more"),
    (lambda: noise.fit_steps({1: 6400, 2: 3200, 4: 1600}), "no bend"),
    (lambda: noise.fit_steps({1: 50, 2: 50, 4: 50}), "no bend"),
    (lambda: noise.fit_steps({1: math.nan, 2: 50}), "steps must be above 0, got nan"),
    (lambda: noise.fit_steps({1: 60, 2: 50}).interval(), "2 batches leave nothing to tell"),
    (lambda: noise.same_loss({8: 3.0}, reference=2.5), "no batch stays within 0.01"),
    (lambda: noise.same_loss({8: 2.5}, reference=2.5), "all batches up to 8 keep the loss"),
    (lambda: noise.same_loss({8: math.nan}, reference=2.5), "no batch stays"),
    (lambda: noise.lowest_loss({1: 2.0, 2: 2.1, 4: 2.2}), "the edge of what was measured"),
    (lambda: noise.lowest_loss({1: 2.0, 2: math.nan, 4: 2.2}), "finite losses"),
    (lambda: noise.fit_power({3: 1}), "2 sizes or more"),
    (lambda: noise.fit_power({0: 1, 3: 2}), "size must be above 0, got 0"),
    (lambda: noise.fit_power({1: 0, 3: 2}), "value must be above 0, got 0"),
    (lambda: noise.PowerLaw(2, 0.5)(0), "size must be above 0, got 0"),
    (lambda: noise.fastest(noise.StepsToTarget(1, 1), {}), "no measured steps"),
    (lambda: noise.fastest(noise.StepsToTarget(1, 1), {4: 0.0}), "must be above 0"),
    (lambda: noise.StepsToTarget(0, 1), "least_steps must be above 0"),
]


@pytest.mark.parametrize(("made", "message"), BAD)
def test_what_shows_no_critical_batch_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()


def test_a_power_law_takes_sizes_and_values_below_1():
    law = noise.fit_power({0.25: 0.1, 1: 0.2})
    assert law(0.25) == pytest.approx(0.1) and law(0.0625) == pytest.approx(0.05)


def test_definitions_are_cited():
    from pathlib import Path

    keys = (Path(__file__).parent.parent / "book/references.bib").read_text()
    assert all(f"{{{source}," in keys for _, source in noise.DEFINITIONS.values())
    assert json.dumps(dict(noise.DEFINITIONS))

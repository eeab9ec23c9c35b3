"""Intervals hold the planted truth as often as they say."""

import pytest

from batchlab.doctor import Interval
from benchmarks import calibration


def coverage(worlds, design="sweep", noise=0.05):
    found = [calibration.held(design, noise, seed) for seed in range(worlds)]
    return {name: sum(one[name] for one in found) / worlds for name in calibration.QUANTITIES}


def test_an_interval_holds_what_lies_within_and_nothing_else():
    assert calibration.holds(Interval(1.0, 2.0), 1.5) and calibration.holds(Interval(1.0, 1.0), 1.0)
    assert not calibration.holds(Interval(1.0, 2.0), 2.1) and not calibration.holds(None, 1.0)


def test_most_worlds_lie_within_their_intervals_and_not_within_half_of_them(monkeypatch):
    honest = coverage(16)
    assert min(honest.values()) >= 0.7

    def half(interval, value, holds=calibration.holds):
        middle, width = (interval.low + interval.high) / 2, interval.width / 4
        return holds(Interval(middle - width, middle + width), value)

    monkeypatch.setattr(calibration, "holds", half)
    assert sum(coverage(16).values()) < sum(honest.values()), "the mistake: half as wide"


@pytest.mark.parametrize("design", calibration.DESIGNS)
@pytest.mark.parametrize("noise", calibration.NOISE)
@pytest.mark.parametrize(
    "worlds", [pytest.param(80, marks=pytest.mark.slow), pytest.param(400, marks=pytest.mark.deep)]
)
def test_nine_in_ten_at_every_noise(design, noise, worlds):
    least = 0.9 - 3 * (0.9 * 0.1 / worlds) ** 0.5  # three standard errors
    for name, share in coverage(worlds, design, noise).items():
        assert share >= least, name

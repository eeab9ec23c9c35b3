"""Intervals hold the planted truth as often as they say."""

import pytest

from batchlab import records
from batchlab.doctor import Interval, _load, _shapes
from benchmarks import calibration


def coverage(worlds, design="sweep", noise=0.05):
    found = [calibration.held(design, noise, seed) for seed in range(worlds)]
    return {name: sum(one[name] for one in found) / worlds for name in calibration.QUANTITIES}


def test_an_interval_holds_what_lies_within_and_nothing_else():
    assert calibration.holds(Interval(1.0, 2.0), 1.5) and calibration.holds(Interval(1.0, 1.0), 1.0)
    assert not calibration.holds(Interval(1.0, 2.0), 2.1) and not calibration.holds(None, 1.0)


@pytest.mark.slow
def test_most_worlds_lie_within_their_intervals_and_not_within_half_of_them(monkeypatch):
    honest = coverage(16)
    assert min(honest.values()) >= 0.7

    def half(interval, value, holds=calibration.holds):
        middle, width = (interval.low + interval.high) / 2, interval.width / 4
        return holds(Interval(middle - width, middle + width), value)

    monkeypatch.setattr(calibration, "holds", half)
    assert sum(coverage(16).values()) < sum(honest.values()), "the mistake: half as wide"


@pytest.mark.deep
@pytest.mark.parametrize("design", calibration.DESIGNS)
@pytest.mark.parametrize("noise", calibration.NOISE)
def test_nine_in_ten_at_every_noise(design, noise):
    worlds = 400
    least = 0.9 - 3 * (0.9 * 0.1 / worlds) ** 0.5  # three standard errors
    for name, share in coverage(worlds, design, noise).items():
        assert share >= least, name


MACHINES = calibration.MACHINES | calibration.OTHERS
EVERYDAY = ("load",)


def verdicts(machine, noises=(0.05, 0.15), worlds=3):
    return [
        calibration.told(MACHINES[machine], noise, seed).verdict
        for noise in noises
        for seed in range(worlds)
    ]


@pytest.mark.parametrize(
    "machine",
    [one if one in EVERYDAY else pytest.param(one, marks=pytest.mark.slow) for one in MACHINES],
)
def test_the_gain_holds_on_a_machine_that_is_no_line(machine):
    found = verdicts(machine)
    assert found.count("missed") <= 2 and found.count("held") >= 3, found


@pytest.mark.deep
@pytest.mark.parametrize("noise", calibration.NOISE[1:])
@pytest.mark.parametrize("machine", MACHINES)
def test_of_what_is_told_at_least_85_in_a_hundred_hold(machine, noise):
    found = verdicts(machine, [noise], worlds=60)
    told = found.count("held") + found.count("missed")
    assert told >= 45 and found.count("held") >= 0.85 * told - 3, "within a standard error"


def test_in_the_record_at_least_85_in_a_hundred_hold_of_what_was_told():
    lines = records.read("calibration")
    assert {one["machine"] for one in lines if one["record"] == "sweep"} == set(MACHINES)
    for one in lines:
        assert sum(one[verdict] for verdict in calibration.VERDICTS) == one["runs"] == 60
        assert one["held"] >= 0.85 * (one["held"] + one["missed"]), one["machine"]


def test_a_line_of_the_record_counts_the_verdicts(monkeypatch):
    told = iter(["held", "held", "missed", "refused"])
    interval = Interval(0.5, 1.0)
    monkeypatch.setattr(calibration, "told", lambda *_: calibration.Told(next(told), 0.7, interval))
    line = calibration.counted("line", 0.05, "sweep", 4)
    assert [line[verdict] for verdict in calibration.VERDICTS] == [2, 1, 1, 0]
    assert (line["gain"], line["width"]) == (0.7, 0.5)


@pytest.mark.slow
def test_a_line_alone_misses_a_floor(monkeypatch):
    honest = verdicts("launch or work", [0.05], 4)
    monkeypatch.setattr(_shapes, "shapes", lambda cell, drawn: ())
    line = verdicts("launch or work", [0.05], 4)
    assert line.count("missed") > 2 >= honest.count("missed"), "the mistake: one shape for all"


@pytest.mark.slow
def test_a_load_that_is_held_fixed_misses_a_busy_machine(monkeypatch):
    honest = verdicts("load", [0.05], 4)
    fixed = _load.Load

    def stays(visits, cell):
        away = cell.parts.away_seconds / cell.steps
        return fixed(away, away, away)

    monkeypatch.setattr(_load, "load", stays)
    assert verdicts("load", [0.05], 4).count("missed") > 2 >= honest.count("missed")

"""Critical batches from seeds: the published table comes out, and intervals are intervals."""

import math

import numpy as np
import pytest

from batchlab import noise, records
from batchlab.noise import _censored as censored


def published(benchmark, round_, *, drop=()):
    found = records.public_runs(benchmark=benchmark, round=round_).seeds()
    return {batch: some for batch, some in found.items() if batch not in drop}


def planted(
    seed=0, *, least=1e5, critical=64, spread=0.03, ruler=6000, seeds=20, bend=1.0,
    batches=(16, 32, 64, 128, 256),
):  # fmt: skip
    """Seeds of a known curve, seen through a ruler."""
    random = np.random.default_rng(seed)
    found = {}
    spreads = spread if isinstance(spread, tuple) else (spread,) * len(batches)
    for batch, each in zip(batches, spreads, strict=True):
        mean = least * (1 + (batch / critical) ** bend)
        ends = np.ceil(mean * (1 + each * random.standard_normal(seeds)) / ruler) * ruler
        found[batch] = [(end - ruler, end) for end in ends]
    return found


TABLE = [  # benchmark, round, left out; critical batch, its interval, p of hyperbola and power law
    ("llama31_8b", "5.1", (), 79.07, (74.0, 84.6), 7.7e-6, 1.3e-25),
    ("gpt_oss_20b", "6.0", (), 69.0, (62.7, 76.1), 0.128, 0.006),
    ("llama2_70b_lora", "5.1", (128,), 17.54, (14.8, 20.8), 0.497, 0.0029),
    ("llama2_70b_lora", "5.1", (), 37.3, (32.0, 43.4), 2.3e-15, 0.0088),
    ("llama31_405b", "5.0", (), 5506, (4928, 6102), 0.704, 1.9e-4),
    ("gpt3", "4.1", (), 16396, (14335, 18969), 8.6e-9, 7.0e-15),
]


@pytest.mark.parametrize(
    ("benchmark", "round_", "drop", "critical", "ends", "hyperbola", "power"), TABLE
)
def test_the_published_table_comes_out(benchmark, round_, drop, critical, ends, hyperbola, power):
    found = noise.fit_critical(published(benchmark, round_, drop=drop))
    assert found.critical_batch == pytest.approx(critical, rel=2e-3)
    assert (found.low, found.high) == pytest.approx(ends, rel=2e-3)
    assert found.p_hyperbola == pytest.approx(hyperbola, rel=0.05)
    assert found.p_power == pytest.approx(power, rel=0.05)


def test_8b_and_gpt3_bend_more_than_a_hyperbola_and_405b_does_not():
    assert noise.fit_critical(published("llama31_8b", "5.1")).bend > 1.3
    assert noise.fit_critical(published("gpt3", "4.1")).bend > 2
    large = noise.fit_critical(published("llama31_405b", "5.0"))
    assert 0.8 < large.bend < 1.1 and large.p_hyperbola > 0.5


def test_the_spread_over_seeds_grows_with_the_batch_of_8b():
    spreads = noise.fit_critical(published("llama31_8b", "5.1")).spreads
    assert spreads[16] < 0.03 and spreads[128] > 0.07
    assert spreads[16] < spreads[32] < spreads[64] < spreads[128]


def test_scipy_finds_the_same_likelihood_and_the_same_tail():
    from scipy import optimize, stats

    points = published("llama31_8b", "5.1")
    data = censored.Data.of(points)
    batch = np.repeat(sorted(points), [len(points[b]) for b in sorted(points)])
    low, high = np.concatenate([points[b] for b in sorted(points)]).T

    def away(theta):
        mean, spread = np.exp(theta[0]) * (1 + batch / np.exp(theta[1])), np.exp(theta[2])
        ends = (stats.norm.cdf((end / mean - 1) / spread) for end in (high, low))
        return -np.log(np.maximum(np.subtract(*ends), 1e-300)).sum()

    start = [math.log(1.2e5), math.log(80), math.log(0.05)]
    judge = optimize.minimize(away, start, method="Nelder-Mead", options={"xatol": 1e-8})
    theta, value = censored.fitted(data, censored.hyperbola(data.batches), np.array(start) + 0.3)
    assert value == pytest.approx(judge.fun, rel=1e-9)
    assert theta == pytest.approx(judge.x, rel=1e-4)
    for degrees in (1, 2, 3, 4, 7, 12):
        for statistic in (0.0, 0.3, 5.0, 40.0, 300.0):
            tail = stats.chi2.sf(statistic, degrees)
            assert censored.tail(statistic, degrees) == pytest.approx(tail, rel=1e-9, abs=1e-300)


def test_slopes_are_those_of_the_likelihood():
    points = planted() | {512: [(0.0, 9.5e5), (8e5, 9e5)]}
    data = censored.Data.of(points)
    laws = {
        "hyperbola": (censored.hyperbola(data.batches), [11.4, 4.0]),
        "bent": (censored.bent(data.batches), [11.4, 4.1, 1.2]),
        "power": (censored.power(data.batches), [10.0, 0.5]),
        "free": (censored.free(data), [11.7, 11.9, 12.2, 12.6, 13.1, 13.7]),
    }
    for name, (law, theta) in laws.items():
        theta = np.array([*theta, math.log(0.3)])
        _, slope = censored._likelihood(data, law, theta)
        near = 1e-6
        counted = [
            (censored._likelihood(data, law, theta + near * unit)[0]
             - censored._likelihood(data, law, theta - near * unit)[0]) / (2 * near)
            for unit in np.eye(len(theta))
        ]  # fmt: skip
        assert slope == pytest.approx(counted, rel=1e-4, abs=1e-4), name


WORLDS = {  # like the references of 8B, 405B of v5.0 and 405B of v5.1; then what no law here knows
    "8B": ((16, 32, 64, 96, 128), 1.25e5, 79, 0.054, 12288, 20),
    "six": ((1008, 1152, 2304, 4608, 6912, 9216), 2.5e5, 5500, 0.038, 46080, 6),
    "three": ((1152, 2304, 4608), 2.45e5, 4800, 0.028, 18432, 6),
    "few": ((16, 64, 256), 1e5, 64, 0.04, 3000, 3),
    "spread grows": ((1152, 2304, 4608), 2.45e5, 4800, (0.015, 0.028, 0.05), 18432, 6),
}


def judged(name, count, first=0):
    """Shares of planted worlds: the truth inside the interval; a hyperbola that holds refused."""
    batches, least, critical, spread, ruler, seeds = WORLDS[name]
    given = {"least": least, "critical": critical, "spread": spread, "ruler": ruler}
    given |= {"batches": batches, "seeds": seeds}
    found = [noise.fit_critical(planted(first + i, **given)) for i in range(count)]
    inside = np.mean([one.low <= critical <= one.high for one in found])
    return inside, np.mean([one.p_hyperbola < 0.05 for one in found])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*(pytest.param(one, marks=pytest.mark.deep) for one in ("six", "three")), "few"]
)
def test_the_interval_covers_the_truth_as_often_as_it_says_with_few_seeds(name):
    """The mistake beside the law: seeds drawn again (the bootstrap) held 84, 79 and 75 in 100."""
    inside, refused = judged(name, 60)
    assert inside >= 0.88 and refused <= 0.2  # three standard errors of 60 below 95


@pytest.mark.deep
@pytest.mark.parametrize("name", WORLDS)
def test_coverage_and_refusals_are_what_is_told(name):
    """Out of sample: other seeds than the ones that the docstring tells of."""
    told = {"8B": (0.95, 0.06), "six": (0.94, 0.08), "three": (0.95, 0.08), "few": (0.97, 0.12),
            "spread grows": (0.95, 0.04)}  # fmt: skip
    assert judged(name, 300, first=10**6) == pytest.approx(told[name], abs=0.045)


@pytest.mark.parametrize("seed", range(8))
def test_in_random_worlds_scipy_finds_nothing_better(seed):
    from scipy import optimize

    random = np.random.default_rng(seed)
    some = sorted(map(int, random.choice([2, 4, 8, 16, 32, 64, 128], size=4, replace=False)))
    critical, spread = 10 ** random.uniform(0.5, 2.5), 10 ** random.uniform(-2, -1)
    seeds = int(random.integers(4, 12))
    points = planted(seed, batches=some, critical=critical, ruler=3000, spread=spread, seeds=seeds)
    data = censored.Data.of(points)
    law = censored.hyperbola(data.batches)

    def away(theta):
        value = censored._likelihood(data, law, np.array(theta))[0]
        return value if math.isfinite(value) else 1e9

    fit = noise.fit_critical(points)
    found = np.log([fit.curve.least_examples, fit.critical_batch, fit.spread])
    judges = (optimize.minimize(away, found + shift, method="Nelder-Mead").fun
              for shift in (0, 0.2, -0.2))  # fmt: skip
    assert away(found) <= min(judges) + 1e-6


def test_a_count_at_an_evaluation_taken_for_the_crossing_misses_a_planted_batch():
    points = planted(ruler=60_000, seeds=200)
    ends = {b: float(np.mean([most for _, most in some])) / b for b, some in points.items()}
    wrong = noise.fit_steps(ends).critical_batch
    right = noise.fit_critical(points)
    assert wrong > 1.15 * 64  # late by half a ruler at every batch
    assert right.low < 64 < right.high
    assert right.curve.least_examples == pytest.approx(1e5, rel=0.03)


def test_a_law_that_does_not_hold_has_a_small_p():
    bent = noise.fit_critical(planted(bend=2.0))
    assert bent.p_hyperbola < 1e-6 and bent.bend == pytest.approx(2, rel=0.1)
    straight = {b: [(s * 0.99, s) for s in (1e5 * b**0.5 * x for x in (0.97, 1, 1.02, 1.04))]
                for b in (16, 64, 256, 1024)}  # fmt: skip
    power = noise.fit_critical(straight)
    assert power.p_power > 0.9 and power.p_hyperbola < 1e-6
    assert power.power.exponent == pytest.approx(0.5, abs=0.01)


def test_all_seeds_at_their_first_evaluation_are_an_upper_bound_only():
    grpo = records.public_runs(benchmark="qwen35_397b_grpo").seeds()
    with pytest.raises(ValueError, match="upper bound only: all 18 seeds reached the target"):
        noise.fit_critical(grpo)
    some = planted() | {8: [(0.0, 2e5)] * 3}
    found = noise.fit_critical(some)
    assert found.remarks == (
        "batch 8: upper bound only, 3 of 3 seeds reached the target at their first evaluation",
        "3 seeds at a batch are few: p is too small",
    )
    without = noise.fit_critical(planted())
    assert found.critical_batch == pytest.approx(without.critical_batch, rel=0.01)


def test_a_ruler_longer_than_the_spread_is_named():
    found = noise.fit_critical(published("llama31_405b", "5.0"))
    assert len(found.remarks) == 5 and found.remarks[1] == (
        "batch 1,152: the ruler is longer than the spread, all 6 seeds end within 46,080 samples, "
        "one evaluation interval"
    )
    fine = noise.fit_critical(planted(ruler=600))
    assert fine.remarks == ()
    same = {b: [(1000 * b - 500, 1000 * b)] * 4 for b in (1, 2, 4)}
    with pytest.raises(ValueError, match="the ruler is longer than the spread at every batch"):
        noise.fit_critical(same)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ({8: [(1, 2), (2, 3)]}, "2 batches or more are needed for a curve, got 1"),
        ({8: [(1, 2)], 16: [(1, 2), (2, 3)]}, "batch 8: 2 seeds or more show a spread, got 1"),
        ({8: [(3, 2), (2, 3)], 16: [(1, 2), (2, 3)]}, "between least and most samples, got 3 to 2"),
        ({8: [(2, 2), (2, 3)], 16: [(1, 2), (2, 3)]}, "between least and most samples, got 2 to 2"),
        ({b: [(990, 1000), (1000, 1010), (1010, 1020)] for b in (8, 16, 32)}, "show no bend"),
    ],
)
def test_points_without_a_curve_are_refused_in_one_line(points, said):
    with pytest.raises(ValueError, match=said) as caught:
        noise.fit_critical(points)
    assert "\n" not in str(caught.value)

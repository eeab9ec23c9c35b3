"""Simulated and measured serving agree: the record of `python benchmarks/serving.py`."""

import statistics

import pytest

from batchlab import model, records, serving
from batchlab.serving import generate
from benchmarks import serving as benchmark

WITHIN = 0.15
CASES = {(policy, rows) for policy in serving.POLICIES for rows in benchmark.ROWS}


@pytest.fixture(scope="module")
def lines():
    return {(line["policy"], line["rows"]): line for line in records.read("serving")}


def test_seconds_of_requests_that_calibration_never_saw_are_foretold_within_15_per_cent(lines):
    assert lines.keys() == CASES
    for case, line in lines.items():
        pairs = zip(line["foretold_seconds"], line["measured_seconds"], strict=True)
        misses = [told / real - 1 for told, real in pairs]
        assert len(misses) >= 5 and line["miss"] == statistics.median(misses)
        assert abs(line["miss"]) < WITHIN, case


def test_and_what_continuous_batching_gains_over_static(lines):
    """The mistake beside the law: the same tokens, so the same seconds."""
    for rows in benchmark.ROWS:
        measured, foretold = (
            statistics.median(lines["static", rows][what])
            / statistics.median(lines["continuous", rows][what])
            for what in ("measured_seconds", "foretold_seconds")
        )
        assert measured > 1.3 and foretold == pytest.approx(measured, rel=WITHIN)


def test_the_passes_of_the_record_are_those_of_the_simulation(lines):
    flat = serving.Affine(1.0, 0.0, 0.0)
    for (policy, rows), line in lines.items():
        for number, passes in enumerate(line["passes"]):
            prompts, outputs = benchmark.drawn(2 * number + 1)
            trace = serving.at_once([len(one) for one in prompts], outputs)
            how = {"policy": policy, "rows": rows, "chunk": benchmark.CHUNK}
            assert serving.simulate(trace, flat, **how).passes == passes


def test_two_sets_in_turns_are_what_each_is_alone():
    small = model.small(64, layers=1, hidden=16, heads=2).eval()
    sets = [([[1, 2, 3], [4]], [3, 6]), ([[5]], [2])]
    together = benchmark.in_turns(small, *sets, policy="continuous", rows=2)
    alone = [generate.run(small, *one, rows=2) for one in sets]
    assert [one.tokens for one in together] == [one.tokens for one in alone]
    assert [len(one.passes) for one in together] == [len(one.passes) for one in alone]

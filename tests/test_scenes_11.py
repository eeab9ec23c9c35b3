"""What the page of lesson 11 shows: planted runs and their truth; sweeps that drift; a trace."""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from batchlab import doctor, records
from batchlab.classroom import script
from batchlab.doctor import throughput
from batchlab.exercises.doctor import diagnose as build
from batchlab.exercises.doctor import planted, scenes, sweeps
from batchlab.exercises.doctor.diagnose import diagnose
from batchlab.exercises.doctor.sweeps import step_parts
from batchlab.exercises.doctor.trace_gaps import trace_gaps
from batchlab.exercises.doctor.visits import visit

BY_HAND = visit(
    steps=1, micro_batches=4, slots=5000, real_tokens=3000, documents=9, seconds=2.0,
    input_seconds=0.5, host_seconds=0.1, optimizer_seconds=0.1, checkpointing=True,
)  # fmt: skip


@pytest.mark.parametrize("cause", sweeps.CAUSES)
def test_a_planted_run_has_its_cause_and_the_doctor_of_the_lesson_finds_it(cause):
    run = planted.planted(cause, 7)
    found = diagnose(run.sweep())
    assert found["cause"] == cause and abs((1 + found["gain"]) / (1 + run.gain) - 1) < 0.06


def test_the_sweep_of_a_run_is_what_its_prices_say_by_hand():
    run = planted.Run("launch", 1, fixed=0.5, slot=1e-3, input=2.0, optimizer=1.0)
    assert run.step_seconds(16).tolist() == [4 * 0.5 + 64 * 512e-3] * 8
    assert run.whole_seconds(16) == pytest.approx(8 * (2.0 + 32.768 + 3.0))
    twice = run.gain_of("launch")
    assert 1 + twice == pytest.approx(37.768 / 36.768), "two of four launches go"
    assert 1 + run.gain_of("input") == pytest.approx(37.768 / 35.768)


def test_without_noise_prices_are_those_that_were_planted(monkeypatch):
    monkeypatch.setattr(planted, "NOISE", 0.0)
    monkeypatch.setattr(planted, "DRIFT", 0.0)
    run = dataclasses.replace(planted.planted("recomputation", 3), seed=4)
    fixed, slot = sweeps.prices(run.sweep())
    assert (fixed, slot) == (pytest.approx(run.fixed, rel=1e-6), pytest.approx(run.slot, rel=1e-6))
    other = [one | {"checkpointing": False} for one in run.sweep()]
    assert sweeps.prices(other)[1] > 1.3 * run.slot, "the mistake: no recomputation"


@pytest.mark.slow
def test_the_library_agrees_on_every_run_of_the_ward_but_has_no_number_for_memory():
    for run in planted.ward().values():
        found = doctor.diagnose(run.cells).causes[0]
        assert found.name == run.cause
        if run.cause in ("memory", "saturation"):
            assert found.interval is None
        else:
            assert found.interval.low <= run.gain <= found.interval.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    runs = planted.panel(3, 900)
    found = [diagnose(run.sweep()) for run in runs]
    held = sum(one["low"] <= run.gain <= one["high"] for run, one in zip(runs, found, strict=True))
    assert 0.7 * len(runs) <= held <= len(runs)
    points = [one["gain"] == run.gain for run, one in zip(runs, found, strict=True)]
    assert sum(points) == 0, "the mistake: a point holds nothing"


def test_a_round_has_its_prices_and_all_rounds_together_have_none():
    drift, visits = (1.0, 1.7, 0.7), build.PADDED
    first = min(one["round"] for one in visits)
    for number, times in enumerate(drift):
        here = [one for one in visits if one["round"] == first + number]
        assert sweeps.prices(here) == pytest.approx((4e-3 * times, 2e-5 * times))
    assert sweeps.prices(visits) != pytest.approx((4e-3, 2e-5), rel=0.1), "the mistake: pooled"


def test_the_padding_of_a_drifting_sweep_by_hand():
    visits, gains = build.PADDED, []
    for one in [one for one in visits if one["rows"] == 16]:
        first = min(each["round"] for each in visits)
        times = 2e-5 * (1.0, 1.7, 0.7)[one["round"] - first]
        gone = times * (one["slots"] - one["real_tokens"])
        gains.append(one["seconds"] / (one["seconds"] - gone) - 1)
    found = diagnose(visits)
    assert found["cause"] == "padding" and found["gain"] == pytest.approx(np.mean(gains))
    half = 2.92 * np.std(gains, ddof=1) / 3**0.5
    assert found["high"] == pytest.approx(np.mean(gains) + half)


def test_shown_sweeps_have_each_cause_but_those_that_fresh_ones_have():
    shown = {diagnose(visits)["cause"] for visits in build.SWEEPS if not build.differing(visits)}
    assert shown == {"input", "padding", "saturation", "launch", "memory"}
    fresh = set()
    for seed in range(4):
        for (visits,) in build.drawn(np.random.default_rng(seed)):
            if not build.differing(visits):
                fresh.add(diagnose(visits)["cause"])
    assert fresh == {*sweeps.CAUSES}


def test_each_round_has_three_sizes_or_more():
    runs = [*planted.panel(2, 20), *planted.ward().values()]
    drawn = build.drawn(np.random.default_rng(0))
    every = [run.sweep() for run in runs] + [one for (one,) in [*build.exercise.shown, *drawn]]
    assert all(len({one["rows"] for one in visits}) >= 3 for visits in every)


def test_parts_by_hand_are_those_of_the_page():
    parts = step_parts(BY_HAND, 0.1, 1e-4)
    assert sum(parts.values()) == pytest.approx(2.0)
    assert [round(one, 9) for one in parts.values()] == [0.3, 0.2, 0.4, 0.3, 0.5, 0.1, 0.1, 0.1]


def test_a_wrong_cause_is_answered_with_what_the_sweep_shows():
    runs = planted.ward()
    assert "off here" in sweeps.evidence(runs["B"].sweep(), "recomputation")
    assert "never retried" in sweeps.evidence(runs["A"].sweep(), "memory")
    assert "fewer rows" in sweeps.evidence(build.INPUT, "memory")
    assert sweeps.evidence(runs["A"].sweep(), "padding").startswith("padding is 1%")


def test_bars_keep_their_order_and_hold_the_step():
    parts = step_parts(BY_HAND, 0.1, 1e-4)
    drawn = scenes.bars([parts], 1e3)
    assert [*drawn][:2] == ["useful and optimizer", "padding"]
    assert sum(values[0] for values in drawn.values()) == pytest.approx(2000.0)
    assert [*scenes.bars([dict(reversed(parts.items()))])] == [*drawn]


def test_a_trace_holds_operators_inside_one_pass():
    spans = scenes.trace(script.network(), 1, 4)
    assert len(spans) > 50 and all(start <= end for start, end in spans)
    whole = max(end for _, end in spans) - min(start for start, _ in spans)
    assert (
        0
        <= trace_gaps(spans)
        < whole
        < sum(end - start for start, end in spans) + trace_gaps(spans)
    )


def test_a_line_over_padded_rows_meets_the_axis_below_zero_and_a_price_for_pairs_finds_launches():
    """As the page says of the bars: launch is cut at 0; lesson 9 finds 9.5 ms."""
    cells = [one for one in records.read("cpu_sweep").cells() if one.layout == "padded"]
    visits = [planted.plain(line.cell) for line in throughput.summarize(cells).lines]
    assert sweeps.prices(visits)[0] == 0.0
    fixed = throughput.summarize(cells).cost.fixed_seconds
    assert fixed == pytest.approx(9.5e-3, abs=5e-5)


def test_diagnoses_are_applied_as_they_were_made(capsys):
    scenes.applied({"B": "launch"})
    gain = planted.ward()["B"].gain_of("launch")
    assert capsys.readouterr().out == f"B: twice the rows: {gain:+.1%} useful tokens per second\n"


def test_a_plain_visit_leaves_out_what_others_took_of_the_cores():
    cell = planted.planted("padding", 5).cells[0]
    busy = dataclasses.replace(cell.parts, away_seconds=0.25)
    other = dataclasses.replace(cell, parts=busy, seconds=cell.seconds + 0.25)
    assert planted.plain(other)["seconds"] == pytest.approx(planted.plain(cell)["seconds"])
    assert np.isclose(planted.plain(cell)["seconds"], cell.seconds)


TRL, BASE = ("trl", "trainer/sft_config.py"), ("trl", "trainer/base_config.py")
ARGUMENTS = "transformers", "training_args.py"


@pytest.mark.parametrize(
    ("package", "file", "line"),
    [
        ("torch", "cuda/__init__.py", "one or\n    more kernels was executing"),
        ("torch", "cuda/memory.py", '"num_alloc_retries"'),
        ("torch", "utils/data/dataloader.py", "num_workers: int = 0"),
        (*ARGUMENTS, "dataloader_num_workers: int = field(\n        default=0"),
        ("transformers", "trainer_utils.py", "_samples_per_second"),
        (*BASE, "gradient_checkpointing: bool = field(\n        default=True"),
        (*TRL, "packing: bool = field(\n        default=False"),
        (*TRL, "padding_free: bool = field(\n        default=False"),
    ],
)  # fmt: skip
def test_what_the_lesson_says_of_the_tools_stands_in_the_installed_code(package, file, line):
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    assert line in (Path(found.origin).parent / file).read_text(encoding="utf-8")

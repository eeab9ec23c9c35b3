"""The probe of lesson 11: planted runs, their truth, and what is said of a wrong diagnosis."""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from batchlab import doctor
from batchlab.classroom.probes import lesson_11 as probe
from batchlab.classroom.probes import lesson_11_ward as ward


@pytest.mark.parametrize("cause", probe.CAUSES)
def test_a_planted_run_has_its_cause_and_the_doctor_of_the_lesson_finds_it(cause):
    run = probe.planted(cause, 7)
    found = probe.diagnosis(run.sweep())
    assert found["cause"] == cause and abs((1 + found["gain"]) / (1 + run.gain) - 1) < 0.06
    assert probe.fault_of_diagnosis(run, found) == ""


def test_the_sweep_of_a_run_is_what_its_prices_say_by_hand():
    run = ward.Run("launch", 1, fixed=0.5, slot=1e-3, input=2.0, optimizer=1.0)
    assert run.step_seconds(16).tolist() == [4 * 0.5 + 64 * 512e-3] * 8
    assert run.whole_seconds(16) == pytest.approx(8 * (2.0 + 32.768 + 3.0))
    twice = run.gain_of("launch")
    assert 1 + twice == pytest.approx(37.768 / 36.768), "two of four launches go"
    assert 1 + run.gain_of("input") == pytest.approx(37.768 / 35.768)


def test_without_noise_prices_are_those_that_were_planted(monkeypatch):
    monkeypatch.setattr(ward, "NOISE", 0.0)
    monkeypatch.setattr(ward, "DRIFT", 0.0)
    run = dataclasses.replace(probe.planted("recomputation", 3), seed=4)
    fixed, slot = probe.prices(run.sweep())
    assert (fixed, slot) == (pytest.approx(run.fixed, rel=1e-6), pytest.approx(run.slot, rel=1e-6))
    assert probe.prices(run.sweep(), again=0.0)[1] > 1.3 * run.slot, "the mistake: no recomputation"


def test_parts_add_up_to_the_measured_step_and_wrong_ones_differ():
    one = probe.visit(seconds=2.0, slots=5000, real_tokens=3000, steps=1, checkpointing=True)
    parts = probe.RIGHT["parts"][0](one, 0.1, 1e-4)
    assert list(parts) and sum(parts.values()) == pytest.approx(2.0)
    assert set(parts) == set(probe.PARTS)
    wrong = [version(one, 0.1, 1e-4) for version in probe.WRONG["parts"].values()]
    assert any(sum(found.values()) != pytest.approx(2.0) for found in wrong)


def test_a_gain_of_two_cures_is_neither_the_sum_nor_the_product_of_their_gains():
    parts, keep = {"useful": 0.5, "padding": 0.25, "input": 0.25}, {"padding": 0, "input": 0}
    known = probe.mistakes("gain", parts, keep)
    assert probe.RIGHT["gain"][0](parts, keep) == pytest.approx(1.0)
    values = {round(float(value), 6): thought for value, thought in known.items()}
    assert "do not add" in values[round(2 / 3, 6)] and "do not multiply" in values[round(7 / 9, 6)]


def test_the_library_agrees_on_every_run_of_the_ward_but_has_no_number_for_memory():
    for run in probe.ward().values():
        found = doctor.diagnose(run.cells).causes[0]
        assert found.name == run.cause
        if run.cause in ("memory", "saturation"):
            assert found.interval is None
        else:
            assert found.interval.low <= run.gain <= found.interval.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    runs = probe.panel(3, 900)
    right = probe.held(runs, [probe.diagnosis(run.sweep()) for run in runs])
    assert 0.7 * len(runs) <= right <= len(runs)
    narrow = [probe.diagnosis(run.sweep(), point=True) for run in runs]
    assert probe.held(runs, narrow) == 0, "the mistake: a point holds nothing"


@pytest.mark.parametrize("seed", [0, 1, 2, 77])
def test_a_sweep_without_noise_has_its_cause_and_accepts_the_formulas(seed):
    for run in probe.exact_panel(seed):
        found = probe.diagnosis(run.sweep())
        assert found["cause"] == run.cause, run.decides
        assert probe.fault_of_diagnosis(run, found) == probe.fault_of_interval(run, found) == ""
        wide = probe.diagnosis(run.sweep(), spread=True)
        assert "root of n" in probe.fault_of_interval(run, wide)
        one_sided = found | {"low": found["gain"]}
        assert "middle" in probe.fault_of_interval(run, one_sided)
        assert probe.fault_of_interval(run, found | {"low": found["gain"] - 0.01})


def test_a_sweep_without_noise_by_hand():
    run = probe.exact_panel(0)[2]
    visits = [one for one in run.sweep() if one["rows"] == 16]
    gains = [v["seconds"] / (v["seconds"] - v["host_seconds"]) - 1 for v in visits]
    assert run.cause == "host" and run.gain == pytest.approx(np.mean(gains))
    inputs = [v["seconds"] / (v["seconds"] - v["input_seconds"]) - 1 for v in visits]
    assert max(inputs) > max(gains) and np.mean(inputs) < np.mean(gains)


@pytest.mark.parametrize("name", probe.MISTAKES)
def test_every_mistake_of_a_doctor_is_seen_in_a_panel(name):
    runs = [*probe.panel(2, 20), *probe.exact_panel(1)]
    results = [probe.MISTAKES[name](run.sweep()) for run in runs]
    assert any(probe.fault_of_diagnosis(run, got) for run, got in zip(runs, results, strict=True))


def test_a_gain_in_another_unit_is_named():
    run = probe.exact_panel(0)[2]
    found = probe.diagnosis(run.sweep())
    for wrong, said in ((100, "per cent"), (1 + 1 / run.gain, "speed-up")):
        got = found | {key: found[key] * wrong for key in ("gain", "low", "high")}
        assert said in probe.fault_of_diagnosis(run, got)


def test_a_wrong_cause_is_answered_with_what_the_sweep_shows():
    assert probe.fault_of_cause("B", "padding") == probe.fault_of_cause("B", " Padding") == ""
    assert "off here" in probe.fault_of_cause("B", "recomputation")
    assert "never retried" in probe.fault_of_cause("A", "memory")
    assert "more than 5 %" in probe.fault_of_cause("C", "saturation")
    assert "one of these words" in probe.fault_of_cause("C", "utilisation")
    assert "one of these words" in probe.fault_of_cause("C", 3)


def test_a_range_holds_the_gain_is_narrow_and_stands_in_order():
    gain = probe.ward()["F"].gain
    assert probe.fault_of_range("F", gain - 0.01, gain + 0.01) == ""
    assert "too wide" in probe.fault_of_range("F", 0.1, 9)
    assert "first" in probe.fault_of_range("F", 1.2, 1.0)
    assert "per cent" in probe.fault_of_range("F", 105, 110)
    assert "speed-up" in probe.fault_of_range("F", 1.9, 2.2)
    assert "fewest" in probe.fault_of_range("D", 0.3, 0.4)
    assert "not end" in probe.fault_of_range("C", 0.33, 0.42)
    assert "below" in probe.fault_of_range("F", 1.3, 1.4)
    assert "share of the step" in probe.fault_of_range("F", 0.5, 0.53)
    assert "above" in probe.fault_of_range("F", 0.9, 1.0)
    assert probe.fault_of_range("F", "1", 2)


def test_the_best_rows_are_where_launches_and_padding_balance():
    assert probe.fault_of_rows(6) == "" and "compiled" in probe.fault_of_rows(3)
    assert "fewer" in probe.fault_of_rows(8) and "more" in probe.fault_of_rows(4)
    assert "offer" in probe.fault_of_rows(11) and probe.fault_of_rows("six")
    opened = probe.finder()
    assert opened.scene()["found"] is False
    assert opened.scene({"rows": 6, "launch": "eager", "layout": "padded"})["found"]


def test_a_fit_is_taken_only_if_it_finds_exact_prices():
    assert probe.fits(probe.fit_step)
    assert not probe.fits(lambda sizes, seconds: (0.0, seconds[-1] / sizes[-1]))


def test_versions_of_shares_agree_where_right_and_differ_where_wrong():
    cases = [([1, 3], [{"work": 0.5}, {"work": 1, "input": 0.9}]), ([1, 1], [{"work": 1.5}] * 2)]
    first, second = probe.RIGHT["shares"]
    for case in cases:
        assert first(*case) == pytest.approx(second(*case))
        assert sum(first(*case).values()) == pytest.approx(1)
    for wrong in probe.WRONG["shares"].values():
        assert any(wrong(*case) != pytest.approx(first(*case)) for case in cases)


def test_a_plain_visit_leaves_out_what_others_took_of_the_cores():
    cell = probe.planted("padding", 5).cells[0]
    busy = dataclasses.replace(cell.parts, away_seconds=0.25)
    other = dataclasses.replace(cell, parts=busy, seconds=cell.seconds + 0.25)
    assert probe.plain(other)["seconds"] == pytest.approx(probe.plain(cell)["seconds"])
    assert np.isclose(probe.plain(cell)["seconds"], cell.seconds)


@pytest.mark.parametrize(
    ("package", "file", "line"),
    [
        ("torch", "cuda/__init__.py", "one or\n    more kernels was executing"),
        ("torch", "cuda/memory.py", '"num_alloc_retries"'),
        ("torch", "utils/data/dataloader.py", "num_workers: int = 0"),
        (
            "transformers",
            "training_args.py",
            "dataloader_num_workers: int = field(\n        default=0",
        ),
        ("transformers", "trainer_utils.py", "_samples_per_second"),
        (
            "trl",
            "trainer/base_config.py",
            "gradient_checkpointing: bool = field(\n        default=True",
        ),
        ("trl", "trainer/sft_config.py", "packing: bool = field(\n        default=False"),
        ("trl", "trainer/sft_config.py", "padding_free: bool = field(\n        default=False"),
    ],
)
def test_what_the_lesson_says_of_the_tools_stands_in_the_installed_code(package, file, line):
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    assert line in (Path(found.origin).parent / file).read_text(encoding="utf-8")


def test_each_round_is_enough_for_the_fit_that_learners_kept_in_lesson_09():
    """That one refuses fewer than three measurements, as its text asks."""
    runs = [*probe.exact_panel(3), *probe.panel(2, 20), *probe.ward().values()]
    assert all(len({one["rows"] for one in run.sweep()}) >= 3 for run in runs)

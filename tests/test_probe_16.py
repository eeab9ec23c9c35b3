"""The probe of lesson 16: planted runs, wrong versions that are wrong, and what trainers do."""

import importlib.util
import inspect
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from batchlab import adapt, records
from batchlab.classroom.probes import lesson_16 as probe
from batchlab.classroom.probes import lesson_16_finder as finder
from batchlab.rates import PUBLISHED, Ramp, Stage

START = {"rows": 4, "accumulation": 2, "data_parallel": 1, "rate": 1e-3, "beta2": 0.99}


@pytest.mark.parametrize("run", probe.scenarios(), ids=lambda run: run.name)
def test_the_reference_passes_every_planted_run_through_json(run):
    state = {}
    for place, (settings, reading, after) in enumerate(run.steps):
        got = probe.control(settings, state, reading, run.most)
        assert probe.saved(got)[0] == after and run.fault(place, got) == ""
        state = probe.saved(got[1])


def test_a_planted_run_keeps_its_laws_whatever_happens():
    rng = np.random.default_rng(0)
    moved = 0
    for run in (*probe.scenarios(), *(probe.fresh(rng) for _ in range(60))):
        for before, reading, after in run.steps:
            k = probe.sequences(after) / probe.sequences(before)
            assert k in (1, 2) and (k == 1 or not reading["out_of_memory"])
            assert (
                after["rows"] <= before["rows"]
                and after["data_parallel"] == run.start["data_parallel"]
            )
            assert after["rate"] == pytest.approx(before["rate"] * math.sqrt(k))
            assert after["beta2"] == pytest.approx(before["beta2"] ** k)
            assert k == 1 or probe.sequences(after) <= run.most
            moved += k == 2
    assert moved > 60


def test_the_runs_hold_what_their_names_promise():
    runs = {run.name: run for run in probe.scenarios()}
    for name in ("one noisy reading, then two", "a flat scale"):
        assert all(before == after for before, _, after in runs[name].steps)
    tries = [r["out_of_memory"] for _, r, _ in runs["out of memory"].steps]
    assert tries[:4] == [True, True, True, False]
    sizes = [probe.sequences(after) for _, _, after in runs["noise that grows"].steps]
    assert sizes[-1] == 256 and sizes == sorted(sizes)


def test_the_library_agrees_wherever_the_data_stay_and_the_losses_are_finite():
    for run in probe.scenarios():
        if run.start["accumulation"] > 2**20:
            continue
        asked = [(after["rows"], after["accumulation"]) for _, _, after in run.steps]
        same = probe.library(run) == asked
        stays = len({reading["data"] for _, reading, _ in run.steps}) == 1
        finite = math.inf not in [reading["loss"] for _, reading, _ in run.steps]
        assert same == (stays and finite), run.name


def test_a_ramp_has_the_steps_that_the_library_counts():
    rng = np.random.default_rng(1)
    for _ in range(100):
        starts = [0, *np.cumsum(rng.integers(1, 500, 3)).tolist()]
        stages = [(at, int(size)) for at, size in zip(starts, rng.integers(5, 90, 4), strict=True)]
        total = int(rng.integers(1, 3000))
        ramp = Ramp(tuple(Stage(*one) for one in stages))
        assert {f(stages, total) for f in probe.RIGHT["ramp"]} == {ramp.steps(total)}


def test_palm_took_255_000_steps_and_would_have_taken_740_000():
    total = (50_000 * 512 + 65_000 * 1024 + 140_000 * 2048) * 2048
    assert probe.RIGHT["ramp"][0](probe.PALM, total) == 255_000
    assert PUBLISHED["palm-540b"].steps(total) == 255_000
    assert probe.RIGHT["ramp"][0](probe.PALM[:1], total) == 740_000


def test_worth_is_adascales_gain_and_pollux_efficiency():
    worth = probe.RIGHT["worth"][0]
    assert worth(8, 1, 10) == pytest.approx(1100 / 225)
    assert worth(1024, 128, 1000) / 8 == pytest.approx(0.557, abs=5e-4)
    good = adapt.goodput(6.0, 1024, noise_scale=1000, base=128)
    assert good == pytest.approx(6 * worth(1024, 128, 1000) / 8)


def test_the_best_step_of_the_finder_is_where_the_formula_says():
    root = math.sqrt(260 * finder.FIXED["slow network"] / finder.SEQUENCE)
    best = finder._best("slow network", 260)
    assert best == min(finder.SIZES, key=lambda size: abs(size - root)) == 88
    assert probe.fault_of_step(best) == ""
    others = {finder._best(d, n) for d, n in itertools.product(finder.FIXED, finder.NOISE)}
    assert len(others) == 6 and all(probe.fault_of_step(n) for n in others - {best})


@pytest.mark.parametrize("name", ["back-off", "ramp", "grown", "worth", "status", "growth"])
def test_every_wrong_version_is_wrong_somewhere(name):
    cases = {
        "back-off": [(12, 2), (9, 1), (15, 2), (7, 3)],
        "ramp": [
            ([(0, 100), (250, 300), (470, 1000)], 5050), ([(0, 100), (300, 400)], 1400),
            ([(0, 90), (180, 120), (640, 210)], 2290), ([(0, 500), (120, 50), (400, 7)], 521),
            ([(0, 30)], 0), ([(0, 20), (100, 30), (190, 40), (310, 50)], 777),
        ],
        "grown": [
            ({**START, "rows": 3, "accumulation": 4, "data_parallel": 5}, 180),
            (START, 80), (START, 4), ({**START, "accumulation": 8}, 4),
        ],
        "worth": [(96, 12, 250.5)],
        "status": [({"micro_batches": [[0, 7, 9], [2, 0], [8]], "norms": norms,
                     "seconds": {"a": 1}},) for norms in ([3.0, 1.0, 8.0, 2.0, 6.0], [9.0, 2.0],
                                   [3.0] * 11 + [2.0] * 9 + [6.0])],
        "growth": [
            ([20, 20, 20], 10, 20), ([99], 10, 99), ([99, 99], 10, 99), ([15, 99, 99], 10, 99),
            ([99, 15, 99], 10, 99), ([99, 99, 99, 5], 10, 99), ([5, 99, 99, 99], 10, 99),
            ([15, 15, 15], 10, 99), ([99, 99, 99], 10, 15), ([1, 1, 1], 10, 99),
            ([99, 99, 99, 5, 99, 99], 10, 99),
        ],
    }[name]  # fmt: skip
    right = probe.RIGHT[name][0]
    for thought, version in probe.WRONG[name].items():
        assert any(version(*case) != right(*case) for case in cases), thought
    for other in probe.RIGHT[name]:
        assert all(other(*case) == right(*case) for case in cases)


def test_a_decision_is_named_by_what_is_wrong_with_it():
    run = next(one for one in probe.scenarios() if one.name == "out of memory")
    before, _, after = run.steps[0]
    assert run.fault(0, (after, {})) == ""
    for wrong, said in (
        (before, "never shrinks"),
        ({**after, "accumulation": 2}, "tokens per step drift"),
        ({**after, "rows": 6, "accumulation": 4}, "more of them divide"),
        ({**after, "rate": 5e-4}, "rate"),
        ({**after, "data_parallel": 2}, "replicas"),
        ({**after, "rows": 8.0}, "an int"),
        ({"rows": 8}, "keep their keys"),
    ):
        assert said in run.fault(0, (wrong, {})), said
    assert "JSON" in run.fault(0, (after, {("a", 1): 2}))
    assert "return settings, state" in run.fault(0, after)


def test_the_recorded_run_says_what_the_lesson_says():
    grown, constant = records.read("adaptive_run")
    assert (grown["steps"], constant["steps"]) == (93, 160)
    assert grown["loss"] > constant["loss"] and grown["tokens"] == constant["tokens"]


def test_a_short_real_run_grows_by_the_reference_and_stays_at_its_maximum():
    ran = probe.trained(probe.control, seed=0, tokens=3200, most=4)
    assert ran["sizes"][0] == 2 and ran["sizes"][-1] == 4 and ran["tokens"] >= 3200
    assert ran["rates"]["rate"] == pytest.approx(1.5e-3 * math.sqrt(2))


# what the lesson says of installed trainers ---------------------------------------------------


@pytest.mark.slow
def test_accelerate_takes_nine_tenths_until_it_fits():
    from accelerate.utils import find_executable_batch_size

    tried = []

    @find_executable_batch_size(starting_batch_size=128)
    def train(rows):
        tried.append(rows)
        if rows > 50:
            raise RuntimeError("CUDA out of memory.")
        return rows

    assert train() == 46 and tried == [128, 115, 103, 92, 82, 73, 65, 58, 52, 46]
    assert "reduce_batch_size_fn" in inspect.signature(find_executable_batch_size).parameters


def test_trainers_default_to_off_and_two_refuse_it():
    from transformers import TrainingArguments

    assert TrainingArguments.__dataclass_fields__["auto_find_batch_size"].default is False
    assert "isn't supported yet with DeepSpeed Zero-3" in _installed("transformers", "trainer.py")
    assert "auto_find_batch_size is not supported by GRPO" in _installed(
        "trl", "trainer", "grpo_config.py"
    )


def _installed(package, *parts):
    """The text of a file of an installed package."""
    home = importlib.util.find_spec(package).submodule_search_locations[0]
    return Path(home, *parts).read_text(encoding="utf-8")


@pytest.mark.slow
def test_trainer_keeps_accumulation_and_begins_again_with_moved_weights(tmp_path):
    import torch
    from transformers import Trainer, TrainingArguments

    class Tiny(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))
            self.calls, self.began, self.rows = 0, [], []

        def forward(self, x, labels=None):
            self.calls += 1
            if len(x) > 5 and self.calls > 4:  # memory ends in the third step
                self.began.append(self.weight.item())
                raise RuntimeError("CUDA out of memory.")
            self.rows.append(len(x))
            return {"loss": (self.weight * x).mean()}

    model = Tiny()
    items = [{"x": torch.ones(1), "labels": 0} for _ in range(40)]
    arguments = TrainingArguments(
        output_dir=str(tmp_path), per_device_train_batch_size=8, gradient_accumulation_steps=2,
        auto_find_batch_size=True, use_cpu=True, report_to=[], num_train_epochs=1,
        save_strategy="no", disable_tqdm=True, learning_rate=0.1, logging_strategy="no",
    )  # fmt: skip
    trainer = Trainer(model=model, args=arguments, train_dataset=items)
    trainer.train()
    assert model.began[0] < 1, "weights had moved"
    assert model.rows[4:] == [5] * 8 and trainer.state.global_step == 4
    assert arguments.per_device_train_batch_size == 8
    assert arguments.gradient_accumulation_steps == 2, "10 sequences a step in place of 16"

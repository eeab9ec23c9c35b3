"""Lesson 16: its runs keep the laws of a controller, the library agrees, and what trainers do."""

import importlib.util
import inspect
import math
from pathlib import Path

import numpy as np
import pytest

from batchlab import adapt
from batchlab.exercises.adaptive import live, planted, reasons, scenes
from batchlab.exercises.adaptive.control import control
from batchlab.exercises.adaptive.ramp_steps import ramp_steps
from batchlab.exercises.adaptive.scenes import worth
from batchlab.noise import NoiseScale
from batchlab.plan import Plan
from batchlab.rates import PUBLISHED, Ramp, Stage


def test_a_planted_run_keeps_its_laws_whatever_happens():
    rng, moved = np.random.default_rng(0), 0
    for run in (*planted.RUNS.values(), *planted.drawn(rng), *map(planted.fresh, [rng] * 50)):
        _, start, most, lows = run.arguments
        for before, reading, after in planted.walked(control, start, most, lows, **run.options):
            if after is None:
                assert before["rows"] == 1 and reading["out_of_memory"]
                continue
            k = planted.sequences(after) / planted.sequences(before)
            assert k in (1, 2) and (k == 1 or not reading["out_of_memory"])
            assert after["rows"] <= before["rows"] and after.keys() == start.keys()
            assert after["rate"] == pytest.approx(before["rate"] * math.sqrt(k))
            assert after["beta2"] == pytest.approx(before["beta2"] ** k)
            assert k == 1 or planted.sequences(after) <= most
            moved += k == 2
    assert moved > 60


def test_the_runs_hold_what_their_names_promise():
    steps, _ = scenes.steps_of("one noisy reading, then two")
    assert all(before == after for before, _, after in steps)
    steps, most = scenes.steps_of("noise that grows")
    sizes = [planted.sequences(after) for _, _, after in steps]
    assert sizes[-1] == most and sizes == sorted(sizes)


def library(name):
    """Rows and accumulation by the library's controllers along the steps of a planted run."""
    steps, most = scenes.steps_of(name)
    asked = [adapt.NoiseGuided(most=most, readings=2), adapt.BackOff()]
    found = []
    for number, (settings, reading, _) in enumerate(steps):
        low = reading["low"]
        measured = low is not None and low == low
        noise = NoiseScale(low, 1.0, 0.0, 0.0, 0.0, 40, 0) if measured else None  # of no width
        plan = Plan(settings["rows"], settings["accumulation"], settings["data_parallel"], 64)
        made = adapt.in_turn(asked, adapt.Signals(
            number, number, plan, settings["rate"], loss=reading["loss"], noise=noise,
            out_of_memory=reading["out_of_memory"],
        ))  # fmt: skip
        found.append((made.plan.rows, made.plan.accumulation))
    return found


def test_the_library_agrees_wherever_the_data_stay_and_the_losses_are_finite():
    for name in planted.RUNS:
        steps, _ = scenes.steps_of(name)
        if steps[-1][-1] is None:
            continue
        asked = [(after["rows"], after["accumulation"]) for _, _, after in steps]
        stays = len({reading["data"] for _, reading, _ in steps}) == 1
        finite = math.inf not in [reading["loss"] for _, reading, _ in steps]
        assert (library(name) == asked) == (stays and finite), name


def test_a_ramp_has_the_steps_that_the_library_counts():
    rng = np.random.default_rng(1)
    for _ in range(100):
        starts = [0, *np.cumsum(rng.integers(1, 500, 3)).tolist()]
        stages = [(at, int(size)) for at, size in zip(starts, rng.integers(5, 90, 4), strict=True)]
        total = int(rng.integers(1, 3000))
        assert ramp_steps(stages, total) == Ramp(tuple(Stage(*s) for s in stages)).steps(total)
    total = (50_000 * 512 + 65_000 * 1024 + 140_000 * 2048) * 2048
    assert ramp_steps(scenes.PALM, total) == PUBLISHED["palm-540b"].steps(total) == 255_000
    assert ramp_steps(scenes.PALM[:1], total) == 740_000


def test_worth_is_adascales_gain_and_pollux_efficiency():
    assert worth(8, 1, 10) == pytest.approx(1100 / 225)
    assert worth(1024, 128, 1000) / 8 == pytest.approx(0.557, abs=5e-4)
    good = adapt.goodput(6.0, 1024, noise_scale=1000, base=128)
    assert good == pytest.approx(6 * worth(1024, 128, 1000) / 8)


def test_a_decision_is_told_by_the_fact_against_it():
    steps, most = scenes.steps_of("memory falls")
    after = [one for *_, one in steps]
    for at, wrong, said in (
        (2, {"rows": 9, "accumulation": 1}, "they run out again"),
        (2, {"rate": 5e-4}, "so its rate and beta2 stay"),
        (2, {"rows": 3.0}, "an int"),
        (3, {"accumulation": 6}, "reading 3, out of memory, ended the count"),
        (5, {"accumulation": 3}, "it holds; the last three readings ask: lows of 36 or more"),
        (9, {"accumulation": 18}, "the loss of reading 10, 3.6, is over 3 + 0.5"),
    ):
        assert said in reasons.why(steps, at, after[at] | wrong, most), said


@pytest.mark.slow
def test_a_short_real_run_grows_by_the_reference_and_stays_at_its_maximum():
    ran = scenes.trained(control, seed=0, tokens=3200, most=4)
    assert ran["sizes"][0] == 2 and ran["sizes"][-1] == 4 and ran["tokens"] >= 3200
    assert ran["rates"]["rate"] == pytest.approx(live.RATE * math.sqrt(2))


@pytest.mark.slow
def test_a_ramp_follows_its_plan_and_a_constant_stays():
    plan = scenes.ramped([(0, 2), (1280, 4)])
    ran = scenes.trained(plan, seed=0, tokens=2560, most=16)
    assert ran["sizes"] == [2] * 10 + [4] * 5
    assert ran["rates"]["rate"] == pytest.approx(live.RATE * math.sqrt(2))
    ran = scenes.trained(scenes.constant, seed=0, tokens=1024, most=16, first=4)
    assert ran["sizes"] == [4] * 4
    assert ran["rates"]["beta2"] == pytest.approx(0.99**2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "room", "tries"),
    [
        (128, 50, [128, 115, 103, 92, 82, 73, 65, 58, 52, 46]),
        (8, 3, [8, 7, 6, 5, 4, 3]),  # of the lesson
    ],
)
def test_accelerate_takes_nine_tenths_until_it_fits(rows, room, tries):
    from accelerate.utils import find_executable_batch_size

    tried = []

    @find_executable_batch_size(starting_batch_size=rows)
    def train(rows):
        tried.append(rows)
        if rows > room:
            raise RuntimeError("CUDA out of memory.")
        return rows

    assert train() == tries[-1] and tried == tries
    assert "reduce_batch_size_fn" in inspect.signature(find_executable_batch_size).parameters


def test_trainers_default_to_off_and_two_refuse_it():
    from transformers import TrainingArguments

    assert TrainingArguments.__dataclass_fields__["auto_find_batch_size"].default is False
    assert "isn't supported yet with DeepSpeed Zero-3" in _installed("transformers", "trainer.py")
    said = _installed("trl", "trainer", "grpo_config.py")
    assert "auto_find_batch_size is not supported by GRPO" in said


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


def test_arms_are_compared_at_the_better_of_their_rates(monkeypatch, capsys):
    def ran(control, *, seed, rate, first, **rest):
        worse = 1 + 0.1 * seed if first == 2 else 0.3 * (seed - 1) if first == 4 else 0
        return {"sizes": [1] * (64 // first), "loss": worse + 100 * abs(rate - 0.01 * (first > 1))}

    monkeypatch.setattr(live, "trained", ran)
    arms = {"one": (control, 1), "two": (live.constant, 2), "four": (live.constant, 4)}
    steps = scenes.compared(arms, tokens=64, rates=(0.0, 0.01), beside="one")
    one, two, four = capsys.readouterr().out.splitlines()
    assert steps == {"one": 64, "two": 32, "four": 16}
    assert one.endswith("64 steps, loss 0.000 or 1.000; at 0") and "loss 2.100 or 1.100" in two
    assert "at 0.01: +1.100 beside one, 90 % interval +0.931 to +1.269 does not hold 0" in two
    assert "+0.000 beside one, 90 % interval -0.506 to +0.506 holds 0" in four


def test_the_reference_saves_minutes_where_a_step_has_a_fixed_cost_and_only_there():
    found = {n: scenes.taken(live.constant, n) for n in (8, 32, 128)} | {
        0: scenes.taken(control, 8)
    }
    assert found[8] == (3000, 24_000)
    minutes = {n: (steps + 0.05 * total) / 60 for n, (steps, total) in found.items()}
    assert minutes[0] == min(minutes.values()) and minutes[0] < 2 / 3 * minutes[8]
    assert minutes[32] < 1.05 * minutes[0] and minutes[128] > 1.4 * minutes[0]
    assert min(found, key=lambda n: found[n][1]) == 8

"""Lesson 12: its rules are the library's; the growing batch, the live rates, the resumed run."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from batchlab import rates
from batchlab.exercises.rates import adam_rule, scenes, told
from batchlab.exercises.rates.long_enough import CURVES, EVERY, growth_losses, long_enough
from batchlab.exercises.rates.token_schedule import TokenSchedule

TOLD = told(1e-3, 0.9, 0.99, 1e-8, 0.1)


def test_the_rules_are_those_of_the_library():
    after = rates.adam_square_root(rates.Hyperparameters(3e-4, 0.9, 0.999, 1e-8), 256, 1024)
    found = adam_rule(told(3e-4, 0.9, 0.999, 1e-8, 0.1), 256, 1024)
    assert (found["lr"], *found["betas"], found["eps"]) == pytest.approx(
        (after.rate, after.beta1, after.beta2, after.epsilon)
    )
    assert found["weight_decay"] == pytest.approx(
        rates.weight_decay_for(0.1, 256, 1024, rate_factor=2)
    )


def test_the_rule_ends_where_the_limit_says_in_stages_as_well():
    limit = 10  # 1 / (1 - beta1)
    assert adam_rule(TOLD, 1000, int(999 * limit))["betas"][0] > 0
    halfway = adam_rule(TOLD, 1000, 4000)
    with pytest.raises(ValueError, match="beta1"):
        adam_rule(TOLD | halfway, 4000, int(1001 * limit))


@pytest.mark.parametrize("after", [640, 4096])
def test_both_refuse_k_10_and_16_with_beta1_of_0_9(after):
    assert 10 * (1 - 0.9) < 1, "floats fall short of 1"
    before = 64 if after == 640 else 256
    with pytest.raises(ValueError, match="beta1"):
        adam_rule(TOLD, before, after)
    with pytest.raises(ValueError, match="beta1"):
        rates.adam_square_root(rates.Hyperparameters(3e-4, 0.9, 0.999, 1e-8), before, after)


def test_the_reference_schedule_is_the_curve_of_the_library():
    curve = rates.Curve(2600, 400, "cosine", 0.1)
    one, seen = TokenSchedule(TOLD, 100, 400, 2600, 0.1), 0
    for tokens in (60, 340, 1, 999, 700, 900, 50):
        assert one.told()["lr"] == pytest.approx(1e-3 * curve.factor(seen))
        one.step(tokens)
        seen += tokens


def test_two_changes_are_one_and_a_way_back_leads_back():
    twice, once = (TokenSchedule(TOLD, 100, 0, 1000, 0.1) for _ in range(2))
    twice.change(200), twice.change(400), once.change(400)
    assert twice.told()["betas"] == pytest.approx(once.told()["betas"])
    twice.change(100)
    assert twice.told()["lr"] == pytest.approx(TOLD["lr"])
    assert twice.told()["weight_decay"] == pytest.approx(0.1)


def test_what_the_page_says_of_growths():
    never, found = growth_losses(), {at: growth_losses(at) for at in (5120, 6080, 6400, 13_440)}
    ends = [found[at][-1] / never[-1] for at in found]
    assert ends == pytest.approx([1.319, 1.047, 0.976, 0.532], abs=1e-3)
    assert found[5120][17] / never[17] == pytest.approx(0.964, abs=1e-3), "the dip"
    waits = [long_enough(never, {at // EVERY: found[at]}) for at in found]
    assert waits == [3, 7, 25, 1] and len(never) == 49


def test_the_noisy_quadratic_is_what_sampling_gives():
    rng, curve = np.random.default_rng(0), CURVES
    state = np.ones((400, 200))
    for _ in range(80):
        noise = rng.normal(size=state.shape) * np.sqrt(curve / 4)
        state -= 0.1 * (curve * state + noise)
    # 80 steps of 4 examples: the first evaluation
    assert (curve * state**2).sum(1).mean() / 2 == pytest.approx(growth_losses()[1], rel=0.02)


@pytest.mark.slow
def test_sgds_best_rate_grows_with_the_batch_and_adams_with_about_its_root():
    found = {name: scenes.best_rates(name, (16, 64)) for name in ("sgd", "adam")}
    grown = {name: math.log2(best[64][0] / best[16][0]) / 2 for name, best in found.items()}
    assert 0.8 < grown["sgd"] < 1.2 and 0.4 < grown["adam"] < 0.8


@pytest.mark.parametrize(
    ("package", "file", "line"),
    [
        ("transformers", "training_args.py", "learning_rate: float = field(default=5e-5"),
        ("transformers", "training_args.py", "adam_beta2: float = field(\n        default=0.999"),
        ("transformers", "training_args.py", "max_grad_norm: float = field(\n        default=1.0"),
        ("transformers", "training_args.py", "int(self.warmup_steps) if self.warmup_steps >= 1"),
        ("accelerate", "scheduler.py", "for _ in range(num_processes)"),
        ("trl", "trainer/sft_config.py", "learning_rate: float = field(\n        default=2e-5"),
        ("trl", "trainer/grpo_config.py", "learning_rate: float = field(\n        default=1e-6"),
        ("trl", "trainer/dpo_config.py", "learning_rate: float = field(\n        default=1e-6"),
    ],
)
def test_what_the_lesson_says_of_the_tools_stands_in_the_installed_code(package, file, line):
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    assert line in (Path(found.origin).parent / file).read_text(encoding="utf-8")

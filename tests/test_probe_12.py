"""The probe of lesson 12: rules, schedules and their mistakes, the growing batch, live rates."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from batchlab import rates
from batchlab.classroom.probes import lesson_12 as probe
from batchlab.classroom.probes import lesson_12_live as live
from batchlab.classroom.probes import lesson_12_schedules as schedules

TOLD = probe.told(1e-3, 0.9, 0.99, 1e-8, 0.1)


def test_the_rules_are_those_of_the_library():
    rule = probe.RIGHT["new-rate"][0]
    assert rule(0.1, 256, 8192, "sgd", 9000) == pytest.approx(rates.linear(0.1, 256, 8192))
    assert rule(3e-4, 256, 1024, "adamw", 9000) == pytest.approx(rates.square_root(3e-4, 256, 1024))
    after = rates.adam_square_root(rates.Hyperparameters(3e-4, 0.9, 0.999, 1e-8), 256, 1024)
    found = probe.RIGHT["adam-rule"][0](probe.told(3e-4, 0.9, 0.999, 1e-8, 0.1), 256, 1024)
    assert (found["lr"], *found["betas"], found["eps"]) == pytest.approx(
        (after.rate, after.beta1, after.beta2, after.epsilon)
    )
    assert found["weight_decay"] == pytest.approx(
        rates.weight_decay_for(0.1, 256, 1024, rate_factor=2)
    )
    for to in (1, 700, 4096):
        assert probe.RIGHT["half-life"][0](0.95, 512, to) == rates.beta2_for(0.95, 512, to)


def test_both_refuse_k_16_with_beta1_of_0_9():
    with pytest.raises(ValueError, match="beta1"):
        probe.RIGHT["adam-rule"][0](TOLD, 256, 4096)
    with pytest.raises(ValueError, match="beta1"):
        rates.adam_square_root(rates.Hyperparameters(3e-4, 0.9, 0.999, 1e-8), 256, 4096)


def test_both_refuse_k_10_with_beta1_of_0_9_although_floats_fall_short_of_1():
    assert 10 * (1 - 0.9) < 1
    with pytest.raises(ValueError, match="beta1"):
        probe.RIGHT["adam-rule"][0](TOLD, 64, 640)
    with pytest.raises(ValueError, match="beta1"):
        rates.adam_square_root(rates.Hyperparameters(3e-4, 0.9, 0.999, 1e-8), 64, 640)


def test_wrong_versions_are_wrong_somewhere():
    cases = {
        "new-rate": [(0.1, 256, 640, "sgd", 9000), (0.1, 640, 256, "adamw", 9000)],
        "half-life": [(0.95, 512, 1300), (0.95, 512, 1)],
        "factors": [([10, 10, 40, 40, 20], 80), ([40, 10, 10, 30], 200), ([5, 5], 0)],
    }
    for name, tries in cases.items():
        right = [list(np.ravel(probe.RIGHT[name][0](*case))) for case in tries]
        for other in probe.RIGHT[name]:
            assert [list(np.ravel(other(*case))) for case in tries] == [
                pytest.approx(one) for one in right
            ]
        for thought, version in probe.WRONG[name].items():
            found = [list(np.ravel(version(*case))) for case in tries]
            assert found != [pytest.approx(one) for one in right], thought
    case = (TOLD, 96, 240)
    for thought, version in probe.WRONG["adam-rule"].items():
        assert any(
            not np.allclose(version(*case)[part], probe.RIGHT["adam-rule"][0](*case)[part], atol=0)
            for part in probe.PARTS
        ), thought


def test_the_reference_schedule_is_the_curve_of_the_library():
    curve = rates.Curve(2600, 400, "cosine", 0.1)
    one, seen = probe.TokenSchedule(TOLD, 100, 400, 2600, 0.1), 0
    for tokens in (60, 340, 1, 999, 700, 900, 50):
        assert one.told()["lr"] == pytest.approx(1e-3 * curve.factor(seen))
        one.step(tokens)
        seen += tokens


def test_two_changes_are_one_and_a_way_back_leads_back():
    twice, once = (probe.TokenSchedule(TOLD, 100, 0, 1000, 0.1) for _ in range(2))
    twice.change(200), twice.change(400), once.change(400)
    assert twice.told()["betas"] == pytest.approx(once.told()["betas"])
    twice.change(100)
    assert twice.told()["lr"] == pytest.approx(TOLD["lr"])
    assert twice.told()["weight_decay"] == pytest.approx(0.1)


def test_every_mistake_of_a_schedule_is_seen_and_named():
    rng, named = np.random.default_rng(0), {}
    tries = [probe.scripts(rng, changes=changes) for changes in (False, True) * 8]
    for script in tries:
        assert probe.fault_of_run(script, probe.driven(probe.TokenSchedule, *script)) == ("", "")
        for name in schedules.MISTAKES:
            try:
                got = probe.driven(schedules.mistaken(name), *script)
            except ValueError:  # a wrong k that the rule refuses: shown as an exception
                continue
            named.setdefault(name, set()).add(probe.fault_of_run(script, got)[1])
    for name, thought in schedules.MISTAKES.items():
        similar = {"planned": "steps", "first": "no batch"}.get(name, name)
        assert {thought, schedules.MISTAKES[similar]} & named[name], name


def test_a_good_schedule_has_manners_and_a_shared_dictionary_has_not():
    class Shared(probe.TokenSchedule):
        def __init__(self, told, *rest):
            super().__init__(told, *rest)
            self.base = told

        def state_dict(self):
            return {"base": self.base, "batch": self.batch, "seen": self.seen}

        def change(self, batch):
            self.base["lr"] *= 2

    assert all(probe.manners(probe.TokenSchedule, TOLD).values())
    found = probe.manners(Shared, TOLD)
    assert not found["a saved state stays as it was saved, also when another is saved"]
    assert not found["what the caller sets in its dictionary later does not reach the schedule"]
    assert not found["the dictionary that the schedule was made of stays as it is"]


def test_a_state_kept_elsewhere_and_a_list_handed_out_are_seen():
    kept = {}

    class Elsewhere(probe.TokenSchedule):
        def state_dict(self):
            kept.update(super().state_dict())
            return {}

        def load_state_dict(self, state):
            super().load_state_dict(kept)

        def told(self):
            return super().told() | {"betas": self.base["betas"]}

    found = probe.manners(Elsewhere, TOLD)
    assert not found["a saved state holds all that is needed, whatever else was saved since"]
    assert not found["told() hands out a dictionary of its own, and asking changes nothing"]


def test_the_earliest_growth_costs_nothing_and_the_one_before_it_does():
    at = 6440
    assert probe.fault_of_growth(at) == "" and "higher" in probe.fault_of_growth(at - 280)
    assert "earlier" in probe.fault_of_growth(at + 280)
    assert "offer" in probe.fault_of_growth(at + 1) and probe.fault_of_growth("early")
    without = probe.growth(15_120, "stays")
    assert probe.growth(at, "stays")[0] <= without[0] < probe.growth(at - 280, "stays")[0]
    assert probe.growth(at, "stays")[1] == pytest.approx(without[1] / 2, rel=0.01), "half the steps"
    opened = probe.finder()
    assert opened.scene()["found"] is False
    assert opened.scene({"at": at, "rate": "stays"})["found"]


def test_what_the_page_says_of_growths():
    without = np.array(probe.growth(15_120, "stays")[2])
    ratio = np.array(probe.growth(5040, "stays")[2]) / without
    assert ratio.min() == pytest.approx(0.97, abs=0.01) and ratio[-1] == pytest.approx(
        1.36, abs=0.01
    )
    linear = [probe.growth(at, "x k")[0] / without[-1] for at in range(0, 15_120, 280)]
    assert min(linear) > 1.13 and max(linear) < 1.14


def test_the_noisy_quadratic_is_what_sampling_gives():
    rng, curve = np.random.default_rng(0), 1 / np.arange(1, 201)
    state = np.ones((400, 200))
    for _ in range(100):
        noise = rng.normal(size=state.shape) * np.sqrt(curve / 4)
        state -= 0.1 * (curve * state + noise)
    expected = np.ones(200)
    for _ in range(100):
        expected = (1 - 0.1 * curve) ** 2 * expected + 0.01 * curve / 4
    assert (curve * state**2).sum(1).mean() / 2 == pytest.approx(
        (curve * expected).sum() / 2, rel=0.02
    )


def test_every_case_has_one_rule_and_a_thought_for_each_other():
    right = dict(zip("ABCDEFG", ("linear", "tune", "full rule", "tune", "half-life", "tune",
                                 "tune"), strict=True))  # fmt: skip
    for case, rule in right.items():
        assert probe.fault_of_rule(case, rule) == probe.fault_of_rule(case, rule.upper()) == ""
        assert all(probe.fault_of_rule(case, word) for word in probe.WORDS if word != rule)
    assert "one of these words" in probe.fault_of_rule("A", 3)


def test_sgds_best_rate_grows_with_the_batch_and_adams_with_about_its_root():
    found = {name: live.best_rates(name, (16, 64)) for name in ("sgd", "adam")}
    grown = {name: math.log2(best[64][0] / best[16][0]) / 2 for name, best in found.items()}
    assert 0.8 < grown["sgd"] < 1.2 and 0.4 < grown["adam"] < 0.8


def test_the_record_leaves_the_unchanged_run_behind():
    gaps = [
        one["8 rows, nothing changed"][-1] - one["2 rows"][-1]
        for one in map(probe.recorded, (0, 1))
    ]
    assert np.mean(gaps) == pytest.approx(0.7145, abs=1e-3)


@pytest.mark.slow
def test_a_resumed_run_is_the_run():
    told = probe.told(4e-3, 0.9, 0.99, 1e-8, 0.1)

    def made():
        return probe.TokenSchedule(told, 128, 4096, 32_768)

    whole, resumed = (probe.trained(made, stop=stop) for stop in (False, True))
    assert len(whole[2]) == 128 + 32 and whole == resumed


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

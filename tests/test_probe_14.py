"""The probe of lesson 14: networks that are trained, planted experiments, and their judges."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from batchlab.classroom.probes import lesson_14 as probe
from batchlab.classroom.probes import lesson_14_finder as finder
from batchlab.classroom.probes import lesson_14_hessian as hessian
from batchlab.classroom.probes import lesson_14_scenes as planted
from batchlab.classroom.probes import lesson_14_world as world


def test_a_run_does_not_depend_on_the_runs_beside_it_nor_on_their_order():
    runs = [{"batch": 32, "rate": r, "seed": s, "steps": 24} for r in (0.1, 0.4) for s in (5, 3, 8)]
    together = probe.tried("noisy", runs)
    assert [one["seed"] for one in together] == [5, 3, 8, 5, 3, 8]
    (alone,) = probe.tried("noisy", [runs[4]])
    for name in ("train", "validation", "test"):
        assert alone[name] == pytest.approx(together[4][name], rel=1e-9)


def test_training_is_sgd_on_the_mean_of_a_batch_as_torch_does_it():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    weights = world._first(3)
    x, y = rng.normal(size=(16, 8)), rng.integers(0, 3, 16)
    own = {k: torch.tensor(v, requires_grad=True) for k, v in weights.items()}
    hidden = torch.relu(torch.tensor(x) @ own["W1"] + own["b1"])
    logits = hidden @ own["W2"] + own["b2"]
    torch.nn.functional.cross_entropy(logits, torch.tensor(y)).backward()
    moved = {k: v[None].copy() for k, v in weights.items()}
    world._move(moved, x[None], np.eye(3)[y][None], np.array([[[0.5]]]))
    for name, value in weights.items():
        want = value - 0.5 * own[name].grad.numpy()
        assert np.allclose(moved[name][0], want, rtol=1e-12, atol=1e-14)


def test_seeds_share_teacher_and_examples_whatever_the_batch():
    first, again = (world.examples("clean", 4, 256) for _ in range(2))
    assert first is again
    assert not np.array_equal(first["train"][0], world.examples("clean", 5, 256)["train"][0])
    noisy = world.examples("noisy", 4, 256)
    assert np.array_equal(noisy["test"][0], first["test"][0])
    off = np.mean(noisy["test"][1] != first["test"][1])
    assert 0.09 < off < 0.18, "a fifth is drawn anew, a third of that by chance right"


def test_products_with_the_hessian_are_those_of_the_whole_matrix():
    torch = pytest.importorskip("torch")
    weights = probe.trained("noisy", 32, 16, 0.2, 1)
    x, y = (torch.tensor(part) for part in world.examples("noisy", 1, 256)["train"])
    start = torch.tensor(hessian.flat(weights))

    def loss(row):
        w1, b1, w2, b2 = row[:128].view(8, 16), row[128:144], row[144:192].view(16, 3), row[192:]
        return torch.nn.functional.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, y)

    matrix = torch.autograd.functional.hessian(loss, start).numpy()
    multiplied = probe.product(weights, "noisy", 1)
    v = np.random.default_rng(1).normal(size=195)
    assert np.allclose(multiplied(v), matrix @ v, rtol=1e-8, atol=1e-10)
    values = np.linalg.eigvalsh(matrix)
    assert hessian.eigenvalue(multiplied, 195) == pytest.approx(values[-1], rel=1e-3)
    found, error = probe.trace(multiplied, 195)
    assert abs(found - values.sum()) < 4 * error
    size = np.abs(hessian.flat(weights))
    scaled = probe.product(weights, "noisy", 1, adaptive=True)
    assert np.allclose(scaled(v), size * (matrix @ (size * v)), rtol=1e-8, atol=1e-10)


def test_rescaling_keeps_the_function_and_the_adaptive_sharpness_only():
    weights = probe.trained("noisy", 32, 16, 0.2, 1)
    other = probe.rescaled(weights, 5.0)
    loss = probe.test_loss(weights, "noisy", 1)
    assert probe.test_loss(other, "noisy", 1) == pytest.approx(loss, rel=1e-12)
    plain, adaptive = (
        [
            hessian.eigenvalue(probe.product(w, "noisy", 1, adaptive=way), 195)
            for w in (weights, other)
        ]
        for way in (False, True)
    )
    assert plain[1] > 5 * plain[0] and adaptive[1] == pytest.approx(adaptive[0], rel=1e-6)


def test_the_alpha_that_is_asked_lies_clear_of_its_neighbours():
    bar = finder.TIMES * finder.measured(1.0, "batch 128", "sharpness")[0]
    place = finder.ALPHAS.index(finder.wanted())
    below, above = (
        finder.measured(finder.ALPHAS[n], "batch 8", "sharpness")[0] for n in (place - 1, place)
    )
    assert below < 0.9 * bar and above > 1.1 * bar
    assert probe.fault_of_alpha(finder.wanted()) == ""
    assert "enough" in probe.fault_of_alpha(7.5) and "not yet" in probe.fault_of_alpha(1.3)
    assert "above 1" in probe.fault_of_alpha(0.31) and "offer" in probe.fault_of_alpha(4)
    assert probe.finder().scene({"alpha": finder.wanted(), "network": "batch 8"})["found"]


def test_the_gap_by_hand_and_against_students_t():
    stats = pytest.importorskip("scipy.stats")
    for n, value in probe.T90.items():
        assert value == pytest.approx(stats.t.ppf(0.95, n - 1), abs=0.006)
    found = probe.RIGHT["gap"][0]({0: 1.0, 1: 1.0, 2: 1.0}, {0: 1.1, 1: 1.2, 2: 1.6})
    half = 2.92 * 0.07**0.5 / 3**0.5
    assert found == pytest.approx((0.3, 0.3 - half, 0.3 + half))
    for bad in ({0: 1.0}, {0: 1.0, 2: 1.0}, {0: 1.0, 1: math.nan}):
        with pytest.raises(ValueError):
            probe.RIGHT["gap"][0]({0: 1.0, 1: 2.0}, bad)


def test_versions_of_the_verdict_agree_where_right_and_differ_where_wrong():
    ends = (-0.3, -0.12, -0.03, -0.008, 0.008, 0.03, 0.12, 0.3)
    cases = [(a, b, m) for a in ends for b in ends for m in (0.01, 0.05, 0.2) if a < b]
    first, second = probe.RIGHT["verdict"]
    assert {first(*case) for case in cases} == set(probe.VERDICTS)
    assert all(first(*case) == second(*case) for case in cases)
    many = probe.versions("verdict")["wrong"]
    assert len(many) == 21, "so many the page says"
    for thought, wrong in many.items():
        assert any(wrong(*case) != first(*case) for case in cases), thought


def test_a_plan_holds_both_arms_and_pays_no_run_twice():
    runs = probe.plan(8, 32, [0.1, 0.2, 0.4], [0, 1], 320)
    shapes = {(run["batch"], run["steps"]) for run in runs}
    assert shapes == {(8, 40), (32, 10), (32, 40)} and len(runs) == 3 * 3 * 2
    assert probe.fault_of_plan(runs, runs[::-1]) == ""
    assert "once" in probe.fault_of_plan(runs + runs[:1], runs)
    short = [run for run in runs if run["steps"] != 10]
    assert "equal examples" in probe.fault_of_plan(short, runs)


@pytest.mark.parametrize("seed", [0, 1, 2, 77])
def test_every_mistake_of_a_judge_is_seen_and_every_verdict_is_due_somewhere(seed):
    scenes = probe.scenes(seed)
    right = [probe.judge(one.results, one.margin) for one in scenes]
    assert {one[arm]["verdict"] for one in right for arm in probe.ARMS} == set(probe.VERDICTS)
    for scene, found in zip(scenes, right, strict=True):
        assert probe.fault_of_judgement(scene.results, scene.margin, found) == ("", "")
    for thought, version in probe.MISTAKES.items():
        assert any(_refused(version, scene) for scene in scenes), thought


def _refused(version, scene):
    try:
        found = version(scene.results, scene.margin)
    except (KeyError, ValueError):
        return True
    return bool(probe.fault_of_judgement(scene.results, scene.margin, found)[1])


def test_a_mistake_is_named():
    scene = next(one for one in probe.scenes(1) if one.decides == "the test loss tempts")
    wrong = next(v for k, v in probe.MISTAKES.items() if k.startswith("tuned on the test set"))
    found = wrong(scene.results, scene.margin)
    assert "test set" in probe.fault_of_judgement(scene.results, scene.margin, found)[1]


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    held = said = false = 0
    for world_, margin in planted.panel(11, 40):
        found = probe.judge(world_.tried(world_.runs()), margin)
        for arm in probe.ARMS:
            one, truth = found[arm], world_.truth(arm)
            held += one["low"] <= truth <= one["high"]
            said += one["verdict"] != "cannot tell"
            false += one["verdict"] == "large worse" and truth <= 0
            false += one["verdict"] == "large better" and truth >= 0
            false += one["verdict"] == "no difference" and abs(truth) > margin
    assert held >= 0.8 * 80, "90 % each"
    assert said >= 30 and false <= 8


@pytest.mark.slow
def test_the_laboratory_gives_verdicts_of_different_kinds():
    verdicts = {
        (task, arm): probe.judge(probe.laboratory(task), 0.01)[arm]["verdict"]
        for task in probe.LABORATORY
        for arm in probe.ARMS
    }
    assert verdicts["noisy", "examples"] == verdicts["noisy", "steps"] == "no difference"
    assert verdicts["stream", "examples"] == "large worse"
    assert verdicts["stream", "steps"] == "large better"
    rates = probe.judge(probe.laboratory("noisy"), 0.01)
    assert rates["examples"]["rates"] == {8: 0.1, 128: 1.6}
    assert rates["steps"]["rates"] == {8: 0.1, 128: 0.1}


@pytest.mark.parametrize(
    ("package", "file", "line"),
    [
        ("transformers", "training_args.py", "num_train_epochs: float = field(default=3.0"),
        ("transformers", "training_args.py", "max_steps: int = field(\n        default=-1"),
        ("transformers", "training_args.py", "learning_rate: float = field(default=5e-5"),
        ("transformers", "training_args.py", "seed: int = field(default=42"),
        ("transformers", "training_args.py", "load_best_model_at_end: bool = field("),
        ("trl", "trainer/sft_config.py", "learning_rate: float = field(\n        default=2e-5"),
        ("accelerate", "scheduler.py", "for _ in range(num_processes):"),
        ("accelerate", "scheduler.py", "if self.split_batches:"),
    ],
)
def test_what_the_lesson_says_of_the_tools_stands_in_the_installed_code(package, file, line):
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    assert line in (Path(found.origin).parent / file).read_text(encoding="utf-8")

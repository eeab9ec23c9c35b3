"""What the page of lesson 14 shows: networks that are trained, planted worlds, their judge."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from batchlab.exercises.minima import curvature, networks, planted
from batchlab.exercises.minima import judge as build
from batchlab.exercises.minima.rescale import rescale

ARMS = ("examples", "steps")
SAID = {"no difference", "large worse", "large better", "cannot tell"}


def test_a_run_does_not_depend_on_the_runs_beside_it_nor_on_their_order():
    runs = [{"batch": 32, "rate": r, "seed": s, "steps": 24} for r in (0.1, 0.4) for s in (5, 3, 8)]
    together = networks.tried("noisy", runs)
    assert [one["seed"] for one in together] == [5, 3, 8, 5, 3, 8]
    (alone,) = networks.tried("noisy", [runs[4]])
    for name in ("train", "validation", "test"):
        assert alone[name] == pytest.approx(together[4][name], rel=1e-9)


def test_training_is_sgd_on_the_mean_of_a_batch_as_torch_does_it():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    weights = networks._first(3)
    x, y = rng.normal(size=(16, 8)), rng.integers(0, 3, 16)
    own = {k: torch.tensor(v, requires_grad=True) for k, v in weights.items()}
    hidden = torch.relu(torch.tensor(x) @ own["W1"] + own["b1"])
    logits = hidden @ own["W2"] + own["b2"]
    torch.nn.functional.cross_entropy(logits, torch.tensor(y)).backward()
    moved = {k: v[None].copy() for k, v in weights.items()}
    networks._move(moved, x[None], np.eye(3)[y][None], np.array([[[0.5]]]))
    for name, value in weights.items():
        want = value - 0.5 * own[name].grad.numpy()
        assert np.allclose(moved[name][0], want, rtol=1e-12, atol=1e-14)


def test_seeds_share_teacher_and_examples_whatever_the_batch():
    first, again = (networks.examples("clean", 4, 256) for _ in range(2))
    assert first is again
    assert not np.array_equal(first["train"][0], networks.examples("clean", 5, 256)["train"][0])
    noisy = networks.examples("noisy", 4, 256)
    assert np.array_equal(noisy["test"][0], first["test"][0])
    assert 0.09 < np.mean(noisy["test"][1] != first["test"][1]) < 0.18, (
        "a fifth is drawn anew, a third of that by chance right"
    )


def test_products_with_the_hessian_are_those_of_the_whole_matrix():
    torch = pytest.importorskip("torch")
    weights = networks.trained("noisy", 32, 16, 0.2, 1)
    x, y = (torch.tensor(part) for part in networks.examples("noisy", 1, 256)["train"])
    start = torch.tensor(curvature.flat(weights))

    def loss(row):
        w1, b1, w2, b2 = row[:128].view(8, 16), row[128:144], row[144:192].view(16, 3), row[192:]
        return torch.nn.functional.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, y)

    matrix = torch.autograd.functional.hessian(loss, start).numpy()
    multiplied = curvature.product(weights, "noisy", 1)
    v = np.random.default_rng(1).normal(size=195)
    assert np.allclose(multiplied(v), matrix @ v, rtol=1e-8, atol=1e-10)
    values = np.linalg.eigvalsh(matrix)
    largest = curvature.sharpness(multiplied, v, 400)
    assert largest == pytest.approx(max(values, key=abs), rel=1e-3)
    size = np.abs(curvature.flat(weights))
    scaled = curvature.product(weights, "noisy", 1, adaptive=True)
    assert np.allclose(scaled(v), size * (matrix @ (size * v)), rtol=1e-8, atol=1e-10)


def test_rescaling_keeps_the_function_and_the_adaptive_sharpness_only():
    weights = networks.trained("noisy", 32, 16, 0.2, 1)
    other = rescale(weights, 5.0)
    losses = [curvature.loss_of(one, "noisy", 1) for one in (weights, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)
    plain, adaptive = (
        [_sharpest(curvature.product(w, "noisy", 1, adaptive=way)) for w in (weights, other)]
        for way in (False, True)
    )
    assert plain[1] > 5 * plain[0] and adaptive[1] == pytest.approx(adaptive[0], rel=1e-6)


def _sharpest(product, *how):
    """The largest eigenvalue, from the whole matrix."""
    matrix = np.array([product(v) for v in np.eye(195)])
    return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])


def test_t90_is_students_t():
    stats = pytest.importorskip("scipy.stats")
    for n, value in build.T90.items():
        assert value == pytest.approx(stats.t.ppf(0.95, n - 1), abs=0.006)


def test_every_verdict_is_due_somewhere_on_the_page_and_in_fresh_cases():
    fresh = [case for seed in range(3) for case in build.drawn(np.random.default_rng(seed))]
    fine = [one for one in build.exercise.shown if np.isfinite([r["test"] for r in one[0]]).all()]
    assert len(fine) == len(build.exercise.shown) - 1, "one has no test loss, and is refused"
    for cases in (fine, fresh):
        found = [build.judge(*case) for case in cases]
        assert {one[arm]["verdict"] for one in found for arm in ARMS} == SAID


def test_the_sides_of_an_experiment_have_the_intervals_that_they_ask_for():
    results, _ = build.verdicts((0.2, 0.35), (-0.15, 0.1))
    found = build.judge(results, 0.1)
    for arm, middle, half in (("examples", 0.2, 0.35), ("steps", -0.15, 0.1)):
        low, high = found[arm]["low"], found[arm]["high"]
        assert (low, high) == pytest.approx((middle - half, middle + half))


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    held = said = false = 0
    margin = 0.04
    for world in planted.panel(11, 40):
        found = build.judge(world.tried(), margin)
        for arm in ARMS:
            one, truth = found[arm], world.truth(arm)
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
        (task, arm): build.judge(networks.laboratory(task), 0.01)[arm]["verdict"]
        for task in networks.LABORATORY
        for arm in ARMS
    }
    assert verdicts["noisy", "examples"] == verdicts["noisy", "steps"] == "no difference"
    assert verdicts["stream", "examples"] == "large worse"
    assert verdicts["stream", "steps"] == "large better"
    found = build.judge(networks.laboratory("noisy"), 0.01)
    assert [found[arm]["rates"] for arm in ARMS] == [{8: 0.1, 128: 1.6}, {8: 0.1, 128: 0.1}]
    runs = networks.laboratory("noisy")
    for three in itertools.combinations(networks.LABORATORY["noisy"][2], 3):
        some = build.judge([run for run in runs if run["rate"] in three], 0.01)
        assert some["examples"]["verdict"] == "cannot tell", three


@pytest.mark.slow
def test_at_alpha_4_batch_8_is_ten_times_as_sharp_as_batch_128_and_predicts_the_same():
    lines, losses = curvature.by_alpha(_sharpest, rescale)
    (alphas, small), (_, large) = lines["batch 8, plain"], lines["batch 128, plain"]
    assert small[alphas.index(4.0)] > 10 * large[alphas.index(1.0)]
    assert np.ptp(lines["batch 8, adaptive"][1]) < 1e-6 and np.ptp(losses["batch 8"]) < 1e-12


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

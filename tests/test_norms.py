"""Norms gathered from a running loop: exact values, and what must not disturb them."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from batchlab import batches, loop, noise
from batchlab.noise.norms import Tracker
from tests.learners import Small, documents, micro_batches


def held(net):
    """An optimizer that moves nothing: every reading is of the same weights."""
    return torch.optim.SGD(net.parameters(), lr=0.0)


def readings(tracker):
    tracker.estimate()
    return [list(one) for one in tracker._readings]


# judges -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def regression():
    """Softmax regression of 20,000 examples, and its weights along full-batch descent."""
    rng = np.random.default_rng(0)
    x, true = rng.normal(size=(20_000, 20)), rng.normal(size=(20, 5))
    odds = np.exp(x @ true)
    y = np.array([rng.choice(5, p=p) for p in odds / odds.sum(1, keepdims=True)])
    weights, along = np.zeros((20, 5)), {}
    for step in range(61):
        odds = np.exp(x @ weights)
        miss = odds / odds.sum(1, keepdims=True) - np.eye(5)[y]
        if step in (0, 5, 20, 60):
            along[step] = weights.copy(), (x[:, :, None] * miss[:, None]).reshape(20_000, 100)
        weights = weights - x.T @ miss / 20_000
    return x, y, along


EXACT = {0: 50, 5: 160, 20: 817, 60: 4846}


@pytest.mark.parametrize("step", EXACT)
def test_softmax_regression_meets_its_exact_value_along_training(regression, step):
    x, y, along = regression
    weights, each = along[step]
    truth = noise.exact(each)
    assert round(truth.scale) == EXACT[step]
    net = nn.Linear(20, 5, bias=False).double()
    net.weight.data = torch.from_numpy(weights.T.copy())
    inputs, targets = torch.from_numpy(x), torch.from_numpy(y)
    rows, pieces = (32, 4) if step < 20 else (1024, 4)
    draw = torch.Generator().manual_seed(100 + step)
    with Tracker(net, optimizer := held(net), sequences=rows) as tracker:
        for _ in range(60):
            for _ in range(pieces):
                drawn = torch.randint(len(x), (rows,), generator=draw)
                loss = nn.functional.cross_entropy(net(inputs[drawn]), targets[drawn])
                (loss / pieces).backward()
            optimizer.step(), optimizer.zero_grad()
        found = tracker.estimate(confidence=0.99)
    assert found.low < truth.scale < found.high
    assert found.trace == pytest.approx(truth.trace, rel=0.1)
    assert abs(found.squared_gradient - truth.squared_gradient) < (3 * found.squared_gradient_error)


def per_sequence(net, some):
    """Summed gradient and targets of each sequence, by torch.func: (sequences, values)."""
    names = dict(net.named_parameters())

    def summed(values, ids):
        logits = torch.func.functional_call(net, values, (ids[None],))[0, :-1]
        return nn.functional.cross_entropy(logits, ids[1:], reduction="sum")

    each = [torch.func.grad(summed)(names, torch.tensor(one)) for one in some]
    flat = torch.stack([torch.cat([g.flatten() for g in one.values()]) for one in each])
    return flat.detach().numpy(), [len(one) - 1 for one in some]


def test_unequal_sequences_under_a_token_weighted_loss_meet_per_example_gradients():
    """The judge: torch.func, a gradient for each sequence."""
    some = documents(200)
    net = Small().double()
    truth = noise.exact(*per_sequence(net, some))
    rng = np.random.default_rng(0)
    with Tracker(net, optimizer := held(net), window=400) as tracker:
        for _ in range(120):
            drawn = rng.integers(0, 200, size=4).tolist()
            loop.train_step(net, optimizer, micro_batches(some, drawn, 1))
        found = tracker.estimate(confidence=0.99)
    assert found.low < truth.scale < found.high
    assert found.high / found.low < 3


def test_own_means_weighted_by_their_tokens_miss_the_noise_of_short_sequences():
    """The mistake beside the law, on 4,000 simulated steps of 8 sequences: its noise is too low."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 60, size=2000)
    sums = counts[:, None] * (0.2 + rng.normal(size=(2000, 10)))  # of one mind in a sequence
    truth = noise.exact(sums, counts)
    drawn = rng.integers(0, 2000, size=(4000, 8))
    tokens = counts[drawn].sum(1)
    big = ((sums[drawn].sum(1) / tokens[:, None]) ** 2).sum(1)
    ours = 8 * ((sums[drawn] / tokens[:, None, None]) ** 2).sum((1, 2))
    own = ((sums[drawn] / counts[drawn][..., None]) ** 2).sum(2)
    theirs = (counts[drawn] * own).sum(1) / tokens
    right = noise.from_norms(ours, big, small_batch=1, big_batch=8)
    wrong = noise.from_norms(theirs, big, small_batch=1, big_batch=8)
    assert right.scale == pytest.approx(truth.scale, rel=0.1)
    assert wrong.scale < 0.75 * truth.scale


# what a reading is --------------------------------------------------------------------------


def taken(net, pieces, **how):
    """One step with a tracker, and its one reading."""
    options = {name: how.pop(name) for name in ("groups", "scaler") if name in how}
    optimizer = held(net)
    with Tracker(net, optimizer, **options) as tracker:
        report = loop.train_step(net, optimizer, pieces, **{**how, **(
            {"scaler": options["scaler"]} if "scaler" in options else {})})  # fmt: skip
        tracker._read()
    return list(tracker._readings), tracker, report


def test_one_reading_by_hand():
    some, net = documents(6), Small().double()
    pieces = [batches.padded(some, numbers) for numbers in ([0, 1, 2], [3], [4, 5])]
    (found,), _, report = taken(net, pieces)
    squares, total = 0.0, 0
    for piece in pieces:
        net.zero_grad()
        loss = loop.summed_loss(loop.logits_of(net, piece), piece["labels"])
        (loss / report.target_tokens).backward()
        flat = torch.cat([p.grad.flatten() for p in net.parameters()])
        squares, total = squares + float(flat @ flat), total + flat
    assert found == pytest.approx([squares, float(total @ total), 6, (9 + 1 + 4) / 36])
    assert found[1] == pytest.approx(report.grad_norm**2)


@pytest.mark.parametrize("how", [
    {"max_grad_norm": 0.01},
    {"accumulate_in": torch.float64},
    {"scaler": torch.amp.GradScaler("cpu", init_scale=1024.0)},
])  # fmt: skip
def test_clipping_a_wide_sum_and_a_scaler_change_no_reading(how):
    pieces = micro_batches(documents(8), list(range(8)), 2)
    (plain,), _, _ = taken(Small(), pieces)
    (found,), _, _ = taken(Small(), pieces, **how)
    assert found == pytest.approx(plain, rel=1e-4)


def test_in_bf16_a_reading_is_near_that_of_float32():
    pieces = micro_batches(documents(8), list(range(8)), 2)
    (plain,), _, _ = taken(Small(), pieces)
    (found,), _, _ = taken(Small().bfloat16(), pieces)
    assert found == pytest.approx(plain, rel=0.05)


def test_groups_add_up_to_the_total():
    pieces = micro_batches(documents(8), list(range(8)), 2)
    (plain,), _, _ = taken(Small(), pieces)
    (parts,), tracker, _ = taken(Small(), pieces, groups=lambda name: name.split(".")[0])
    assert tracker.groups == ("head", "norm", "words")
    assert [sum(parts[:3]), sum(parts[3:6])] == pytest.approx(plain[:2], rel=1e-5)


def train(net, steps, tracked=True, start=0, state=None, **how):
    """Steps of Adam on drawn documents; returns the tracker (closed) and the weights."""
    some = documents(64)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    tracker = Tracker(net, optimizer, **how) if tracked else None
    if state:
        tracker.load_state_dict(state["tracker"])
        optimizer.load_state_dict(state["optimizer"])
    for step in range(start, start + steps):
        drawn = np.random.default_rng(step).integers(0, 64, size=8).tolist()
        loop.train_step(net, optimizer, micro_batches(some, drawn, 2), max_grad_norm=1.0)
    saved = (
        {"tracker": tracker.state_dict(), "optimizer": optimizer.state_dict()} if tracker else {}
    )
    if tracker:
        tracker.close()
    return tracker, copy.deepcopy(saved)


def test_training_is_the_same_with_and_without_a_tracker_and_no_hook_stays():
    with_it, without = Small(), Small()
    train(with_it, 5), train(without, 5, tracked=False)
    for one, other in zip(with_it.parameters(), without.parameters(), strict=True):
        assert torch.equal(one, other)
        assert not one._backward_hooks
    assert not with_it._forward_pre_hooks


def test_a_run_that_was_saved_goes_on_with_the_same_readings():
    whole, parts = Small(), Small()
    at_once, _ = train(whole, 9, every=2)
    first, saved = train(parts, 4, every=2)
    second, _ = train(parts, 5, start=4, state=saved, every=2)
    assert len(first._readings) == 2 and len(second._readings) == 5
    assert readings(at_once) == readings(second)
    assert at_once.estimate() == second.estimate()


def test_a_loaded_state_takes_the_place_of_what_was_read_and_keeps_this_window():
    """The mistake: steps that waited to be read came behind those of the state."""
    _, saved = train(Small(), 6)
    net = Small()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    tracker = Tracker(net, optimizer, window=4)
    loop.train_step(net, optimizer, micro_batches(documents(64), range(8), 2))
    tracker.load_state_dict(saved["tracker"])
    assert readings(tracker) == saved["tracker"]["readings"][-4:]
    assert tracker.steps == 6


def test_the_window_keeps_the_last_readings():
    tracker, _ = train(Small(), 7, window=3)
    everything, _ = train(Small(), 7)
    assert readings(tracker) == readings(everything)[-3:]
    assert tracker.estimate().readings == 3
    tracker.clear()
    with pytest.raises(ValueError, match="no noise scale"):
        tracker.estimate()


# what says nothing is told apart ------------------------------------------------------------


def test_one_micro_batch_has_no_estimate_and_the_reason_is_said():
    _, tracker, _ = taken(Small(), micro_batches(documents(8), list(range(8)), 8))
    with pytest.raises(ValueError, match="1 steps had one micro-batch only: its norm and that of"):
        tracker.estimate()


def test_losses_added_before_one_backward_are_one_piece():
    net, some = Small(), documents(4)
    with Tracker(net, optimizer := held(net)) as tracker:
        pieces = micro_batches(some, [0, 1, 2, 3], 2)
        sum(loop.summed_loss(loop.logits_of(net, p), p["labels"]) for p in pieces).backward()
        optimizer.step()
    assert tracker.left_out == {"one micro-batch only": 1}


def test_passes_that_do_not_pair_are_counted_and_the_count_survives_a_stop():
    """A step whose first pass has no backward: nobody can tell which sequences are meant."""
    net, some = Small(), documents(12)
    with Tracker(net, optimizer := held(net)) as tracker:
        for _ in range(2):
            idle, *pieces = micro_batches(some, list(range(6)), 2)
            loop.logits_of(net, idle)
            for piece in pieces:
                loop.summed_loss(loop.logits_of(net, piece), piece["labels"]).backward()
            optimizer.step()
            optimizer.zero_grad()
        saved = tracker.state_dict()
    assert saved["left_out"] == {"forward and backward passes that do not pair": 2}
    with Tracker(net, held(net)) as other:
        other.load_state_dict(saved)
        assert other.state_dict() == saved
        with pytest.raises(ValueError, match="no noise scale: 2 steps had forward and backward"):
            other.estimate()


def test_an_infinite_norm_is_left_out_and_counted():
    """The loop leaves weights alone; what it saw is thrown away with the step after it."""
    net, pieces = Small(), micro_batches(documents(8), list(range(8)), 2)
    with Tracker(net, optimizer := held(net)) as tracker:
        for step in range(5):
            net.head.bias.data[0] = math.nan if step == 2 else 0.0
            assert loop.train_step(net, optimizer, pieces).skipped == (step == 2)
    assert tracker.left_out == {"norms that are not finite": 1} and len(tracker._readings) == 3


def test_gradients_that_something_else_changed_are_left_out():
    """Clipping by value is no single factor; a skipped step leaves its gradient behind."""
    net, some = Small(), documents(64)
    with Tracker(net, optimizer := held(net)) as tracker:
        for step in range(5):
            optimizer.zero_grad()
            for piece in micro_batches(some, list(range(8 * step, 8 * step + 8)), 2):
                loop.summed_loss(loop.logits_of(net, piece), piece["labels"]).backward()
            if step == 4:
                nn.utils.clip_grad_value_(net.parameters(), 0.1)
            if step != 1:
                optimizer.step()
    assert tracker.left_out == {"gradients changed by more than one factor": 2}
    assert len(tracker._readings) == 2


def test_a_model_without_token_ids_says_what_is_missing():
    net = nn.Linear(3, 2)
    with (
        Tracker(net, torch.optim.SGD(net.parameters(), lr=0.1)),
        pytest.raises(ValueError, match=r"say how many a micro-batch holds with Tracker\("),
    ):
        net(torch.ones(4, 3))


def test_states_of_another_run_and_unknown_groups_are_refused():
    tracker, saved = train(Small(), 3)
    with pytest.raises(ValueError, match="state of another run"):
        train(Small(width=4), 1, state=saved)
    with pytest.raises(ValueError, match="unknown group 'head'; there are total"):
        tracker.estimate("head")
    frozen = Small().requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter of this model requires"):
        Tracker(frozen, held(frozen))

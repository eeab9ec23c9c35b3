"""The probe of lesson 05 sees what a step does, and each known mistake for what it is."""

import math

import pytest
import torch

from batchlab import loop
from batchlab.classroom import probes

probe = probes.load("05_accumulation")
WINDOWS = [[3, 8, 1, 4], [5, 2, 6, 3]]


def loss_sum(model, micro):
    return loop.summed_loss(loop.logits_of(model, micro), micro["labels"])


def targets(micro):
    return int((micro["labels"][:, 1:] != loop.IGNORE).sum())


def good(model, optimizer, schedule, micro_batches, max_norm):
    tokens, loss = sum(map(targets, micro_batches)), 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss


def graphs_kept(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(map(targets, micro_batches))
    optimizer.zero_grad()
    loss = sum(loss_sum(model, micro) for micro in micro_batches) / tokens
    loss.backward()
    optimizer.step()
    return loss


@pytest.mark.parametrize("max_norm", [math.inf, 0.05])
def test_a_good_step_is_the_step_of_the_whole_window(max_norm):
    seen = probe.steps(good, WINDOWS, max_norm=max_norm)
    right = probe.recipe("right", WINDOWS, max_norm=max_norm)
    assert seen["losses"] == pytest.approx(right["losses"], rel=1e-12)
    for mine, theirs in zip(seen["weights"], right["weights"], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-10)


def test_the_library_takes_the_same_step():
    """A judge beside the probe's own arithmetic."""

    def library(model, optimizer, schedule, micro_batches, max_norm):
        return loop.train_step(model, optimizer, micro_batches, max_grad_norm=max_norm).loss

    seen = probe.steps(library, WINDOWS, max_norm=0.05)
    right = probe.recipe("right", WINDOWS, max_norm=0.05)
    assert seen["weights"][1] == pytest.approx(right["weights"][1], rel=1e-5)  # norm + 1e-6


def test_the_popular_step_is_the_mean_of_means():
    def popular(model, optimizer, schedule, micro_batches, max_norm):
        return probe.popular_step(model, optimizer, micro_batches)

    seen, named = probe.steps(popular, WINDOWS), probe.recipe("mean of means", WINDOWS)
    assert seen["losses"] == pytest.approx(named["means"])
    assert seen["weights"][1] == pytest.approx(named["weights"][1], rel=1e-10)


def test_calls_are_counted_over_all_windows():
    seen = probe.steps(good, WINDOWS)
    counts = {name: value for name, value in seen.items() if type(value) is int}
    assert counts == {
        "peak_live": 1,
        "forward_calls": 8,
        "backward_calls": 8,
        "zero_grad_calls": 2,
        "optimizer_steps": 2,
        "schedule_steps": 2,
    }


def test_graphs_that_are_kept_until_the_end_are_seen():
    seen = probe.steps(graphs_kept, WINDOWS)
    assert (seen["peak_live"], seen["backward_calls"]) == (4, 2)
    right = probe.recipe("right", WINDOWS)
    assert seen["weights"][1] == pytest.approx(right["weights"][1], rel=1e-10)


def test_a_graph_that_is_dropped_is_no_longer_live():
    def looks_first(model, *given):
        for micro in given[2]:
            model(micro["input_ids"])
        return good(model, *given)

    seen = probe.steps(looks_first, WINDOWS)
    assert (seen["peak_live"], seen["forward_calls"]) == (1, 16)


def test_the_timeline_frees_activations_and_keeps_gradients():
    events = probe.timeline(good, [3, 8, 1, 4])
    assert [name for name, _ in events] == ["forward", "backward"] * 4 + ["step"]
    after_backward = [held for name, held in events if name == "backward"]
    assert all(held["activations"] == 0 for held in after_backward)
    assert {held["gradients"] for held in after_backward} == {2 * 12 * 6 * 8 / 1024}
    kept = [h["activations"] for n, h in probe.timeline(graphs_kept, [4] * 4) if n == "forward"]
    assert kept == sorted(kept) and kept[3] == pytest.approx(4 * kept[0])


@pytest.mark.parametrize("name", probe.MISTAKES)
def test_every_known_mistake_has_weights_of_its_own(name):
    tight = {"unclipped", "clip each", "clip first"}
    norm = 0.05 if name in tight else math.inf
    ends = {
        other: probe.recipe(other, WINDOWS, max_norm=norm)["weights"][-1]
        for other in ["right", *probe.MISTAKES]
        if norm < 1 or other not in tight
    }
    mine = ends.pop(name)
    for other in ends.values():
        assert max(abs(a - b) for a, b in zip(mine, other, strict=True)) > 1e-4


def test_a_micro_batch_without_targets_is_no_trouble_for_the_right_recipe():
    right = probe.recipe("right", [[4, 0, 5]])
    seen = probe.steps(good, [[4, 0, 5]])
    assert seen["weights"][0] == pytest.approx(right["weights"][0], rel=1e-10)
    assert seen["losses"] == pytest.approx(right["losses"])


def test_what_was_patched_is_put_back():
    before = torch.autograd.backward
    probe.steps(good, WINDOWS)
    assert torch.autograd.backward is before

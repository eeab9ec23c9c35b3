"""The scenes of lesson 05 see what a step does: judges beside its reference."""

import argparse
import math
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from batchlab.classroom import term
from batchlab.cli import check
from batchlab.exercises.accumulation import loss_sum, watch
from batchlab.exercises.accumulation.bigram import IGNORE, Layered, made, windows_of
from batchlab.exercises.accumulation.passes import Passes
from batchlab.exercises.accumulation.take_step import exercise, take_step

WINDOWS = [[3, 8, 1, 4], [5, 0, 6, 3]]


@pytest.mark.parametrize("max_norm", [math.inf, 0.05])
def test_the_step_is_that_of_pytorchs_own_mean_over_the_whole_window(max_norm):
    model, optimizer, _ = made(Layered())
    weights, losses = [], []
    for window in windows_of(WINDOWS):
        logits = torch.cat([model(one["input_ids"])[:, :-1].flatten(0, 1) for one in window])
        labels = torch.cat([one["labels"][:, 1:].flatten() for one in window])
        loss = F.cross_entropy(logits, labels, ignore_index=IGNORE)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.item())
        weights.append(torch.nn.utils.parameters_to_vector(model.parameters()).tolist())
    seen = watch.steps(take_step, WINDOWS, max_norm=max_norm)
    assert seen["loss per target token"] == pytest.approx(losses, rel=1e-12)
    assert seen["weights"] == pytest.approx(np.array(weights), rel=1e-10)


def test_the_timeline_frees_activations_and_keeps_gradients():
    events = watch.timeline(take_step, [3, 8, 1, 4])
    assert [name for name, _ in events] == ["forward", "backward"] * 4 + ["step"]
    after_backward = [held for name, held in events if name == "backward"]
    assert all(held["activations"] == 0 for held in after_backward)
    assert {held["gradients"] for held in after_backward} == {2 * 12 * 6 * 8 / 1024}


def test_what_a_step_says_of_its_passes_counts_for_nothing():
    """They are made and held by the check: a counter that is set back, a graph said to be freed."""

    def wasteful(model, optimizer, schedule, micro_batches, max_norm):
        kept = [model(**one) for one in micro_batches]
        model.calls.clear()
        kept.reverse()
        return take_step(model, optimizer, schedule, micro_batches, max_norm)

    def lying(model, optimizer, schedule, micro_batches, max_norm):
        losses = [loss_sum(model, one) for one in micro_batches if not model.freed.append(1)]
        sum(losses).backward()

    given = exercise.met(([[3, 8, 1, 4]],))[0]
    report = exercise.beheld(exercise.scene(wasteful, *given), *given)
    assert report["forward passes beyond one each"] == 4
    assert report["micro-batches held at once"] == 5
    with pytest.raises(KeyError):
        exercise.scene(lying, *exercise.met(([[3, 8, 1, 4]],))[0])


def test_the_passes_have_gradients_of_pytorch_and_a_factor_of_the_term():
    tokens, (passes, other) = torch.tensor([[1, 2, 2]]), (Passes(), Passes())
    weights = [weight.detach() for weight in Layered().parameters()]
    assert len(weights) == 4
    number, logits = passes.forward(tokens, weights, True, [])
    assert torch.equal(other.forward(tokens, weights, False, [])[1], logits)
    *_, bias = passes.backward(number, torch.ones_like(logits))
    assert torch.equal(bias, torch.full_like(bias, 3.0)) and other.most_held == 0
    term.use("another term")
    try:
        assert not torch.allclose(Passes().forward(tokens, weights, False, [])[1], logits)
    finally:
        term.use(None)


def test_what_was_patched_is_put_back():
    before = torch.autograd.backward
    watch.steps(take_step, WINDOWS)
    assert torch.autograd.backward is before


@pytest.mark.slow
def test_a_step_is_judged_beside_an_answer_in_another_process(tmp_path):
    """One answer is spoilt; the other process is told the same thought as a learner."""
    source = Path("solutions/05_accumulation/accumulation.ipynb")
    book = nbformat.read(source, as_version=4)
    for cell in book.cells:
        if cell.source.startswith("def take_step"):
            cell.source = cell.source.replace("schedule.step()\n", "pass\n")
    spoilt = tmp_path / "05_accumulation" / source.name
    spoilt.parent.mkdir()
    nbformat.write(book, spoilt)
    parser = argparse.ArgumentParser()
    check.arguments(parser)
    said = str(check.run(parser.parse_args([str(spoilt)])))
    assert "schedule.step() is missing" in said

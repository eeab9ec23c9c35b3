"""Rows for running code: memory ends where it is planted, and the step stays what it was."""

import pytest
import torch

from batchlab import batches, loop, model
from batchlab.memory import fit
from batchlab.plan import Plan

DOCUMENTS = [list(range(1, n)) for n in (9, 12, 17, 65, 14, 10, 11, 13, 9, 20, 12, 16)]
KEEP = Plan(rows=8, accumulation=1, data_parallel=1, length=64)


def short_of_memory(slots):
    """A device that holds so many slots of a micro-batch, and what it was asked for."""
    asked = []

    def step(micro_batches):
        asked.append([tuple(one["input_ids"].shape) for one in micro_batches])
        for one in micro_batches:
            if one["input_ids"].numel() > slots:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    return step, asked


def test_fewer_rows_come_with_more_accumulation():
    step, asked = short_of_memory(128)
    found = fit.find_rows(step, DOCUMENTS, keep=KEEP)
    assert (found.rows, found.accumulation) == (2, 4)
    assert found.slots_per_step == KEEP.slots_per_step
    assert [len(one) for one in asked] == [1, 2, 4]
    assert all(sum(rows for rows, _ in one) == 8 for one in asked), "the same documents each time"


def test_rows_that_fit_at_once_are_tried_once():
    step, asked = short_of_memory(10**6)
    assert fit.find_rows(step, DOCUMENTS, keep=KEEP) == KEEP and len(asked) == 1


def test_the_longest_document_is_met_last_and_not_the_mean_one():
    """The mistake beside the law: 8 rows of mean length fit, 8 with the longest do not."""
    step, asked = short_of_memory(200)
    mean = sum(map(len, DOCUMENTS)) / len(DOCUMENTS)
    assert 8 * mean < 200, "a try with documents of mean length would have promised 8 rows"
    assert fit.find_rows(step, DOCUMENTS, keep=KEEP).rows == 2
    assert asked[-1][-1] == (2, 64), "when the gradients of the others are there"


def test_a_step_that_never_fits_is_said_to():
    step, asked = short_of_memory(1)
    with pytest.raises(ValueError, match="not even 1 row of 64 slots fits: CUDA out of memory"):
        fit.find_rows(step, DOCUMENTS, keep=KEEP)
    assert len(asked) == 4


def test_another_error_passes_through():
    def broken(_):
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        fit.find_rows(broken, DOCUMENTS, keep=KEEP)


def test_all_processes_cut_alike():
    """Another process ran out of memory at 8 rows: this one retries as well."""
    answers, step = iter([0, 1]), short_of_memory(10**6)[0]
    found = fit.find_rows(step, DOCUMENTS, keep=KEEP, min_over_processes=lambda _: next(answers))
    assert found.rows == 4
    with pytest.raises(ValueError, match="fits: memory ended on another process"):
        fit.find_rows(step, DOCUMENTS, keep=KEEP, min_over_processes=lambda _: 0)


def test_every_try_is_told():
    said = []
    step, _ = short_of_memory(256)
    fit.find_rows(
        step, DOCUMENTS, keep=KEEP, progress=lambda plan, what: said.append((plan.rows, what))
    )
    assert said == [(8, "CUDA out of memory. Tried to allocate 2.00 GiB"), (4, "fits")]


def test_the_gradient_is_that_of_the_step_that_did_not_fit():
    """A real step runs out of memory after its forward pass; the same one, cut, is exact."""
    small = model.small(512, hidden=32, heads=2)
    still = torch.optim.SGD(small.parameters(), lr=0.0)
    limit = 8 * 64

    def gradients(micro_batches):
        loop.train_step(small, still, micro_batches)
        return [one.grad.clone() for one in small.parameters()]

    def step(micro_batches):
        step.gradients = gradients(micro_batches)  # a try that failed leaves some behind
        if max(one["input_ids"].numel() for one in micro_batches) >= limit:
            raise torch.OutOfMemoryError("CUDA out of memory")

    found = fit.find_rows(step, DOCUMENTS, keep=KEEP)
    assert (found.rows, found.accumulation) == (4, 2)
    longest = sorted(range(len(DOCUMENTS)), key=lambda n: len(DOCUMENTS[n]))[-8:]
    whole = gradients([batches.padded(DOCUMENTS, longest)])
    assert all(map(close, step.gradients, whole))
    shrunk = gradients([batches.padded(DOCUMENTS, longest[-4:])])
    assert not all(map(close, shrunk, whole)), "the mistake: fewer rows alone are another step"


def close(one, other):
    return torch.allclose(one, other, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("documents", "keep", "message"),
    [
        (DOCUMENTS[:4], KEEP, "one step has 8 documents, got 4"),
        (DOCUMENTS, Plan(2, 1, 1, 32), "a document has 64 tokens, the plan has 32 slots"),
    ],
)
def test_documents_that_are_no_step_are_refused(documents, keep, message):
    with pytest.raises(ValueError, match=message):
        fit.find_rows(lambda _: None, documents, keep=keep)

"""Padded, packed and flattened training take the same steps when they see the same targets."""

import numpy as np
import pytest
import torch

from batchlab import attention, batches, data, loop, model, packing

STEPS, DOCUMENTS_PER_STEP, ROW_LENGTH = 8, 8, 256


@pytest.fixture(scope="module")
def documents():
    return data.embedded().at_most(ROW_LENGTH)[: STEPS * DOCUMENTS_PER_STEP]


def micro_batches(documents, numbers, layout):
    """One step's documents, in two or more micro-batches of the layout."""
    if layout == "padded":
        return [batches.padded(documents, numbers[:5]), batches.padded(documents, numbers[5:])]
    if layout == "flattened":
        return [
            batches.flattened(documents, numbers[:3]),
            batches.flattened(documents, numbers[3:]),
        ]
    found = packing.pack(documents.lengths[numbers], ROW_LENGTH)
    rows = [[numbers[i] for i in row] for row in found.rows]
    return [batches.packed(documents, [row], ROW_LENGTH) for row in rows]


def losses(documents, layout, *, varlen=False):
    made = model.small(documents.vocabulary, hidden=32, heads=2, layers=2)
    made = attention.prepare(made) if varlen else made
    optimizer = torch.optim.AdamW(made.parameters(), lr=3e-3)
    groups = np.arange(len(documents)).reshape(STEPS, DOCUMENTS_PER_STEP).tolist()
    reports = loop.train(
        made, optimizer, (micro_batches(documents, group, layout) for group in groups)
    )
    return [report.loss for report in reports], [report.target_tokens for report in reports]


@pytest.mark.slow
def test_the_loss_curve_does_not_depend_on_the_layout(documents):
    padded, targets = losses(documents, "padded")
    assert padded[-1] < padded[0] - 0.1, "it learns"
    for layout, varlen in (("packed", False), ("packed", True), ("flattened", True)):
        curve, counted = losses(documents, layout, varlen=varlen)
        assert counted == targets
        # float32 sums in another order, carried through 8 steps of AdamW
        assert curve == pytest.approx(padded, rel=2e-4)


def test_equal_rows_instead_of_equal_targets_would_be_another_curve(documents):
    """The mistake beside the law: a packed row counted as one sample changes what a step sees."""
    step = micro_batches(documents, list(range(DOCUMENTS_PER_STEP)), "padded")
    wanted = sum(int((batch["labels"] != -100).sum()) for batch in step)
    found = packing.pack(documents.lengths, ROW_LENGTH)
    rows = [row.tolist() for row in found.rows][:DOCUMENTS_PER_STEP]
    one_step = [batches.packed(documents, rows, ROW_LENGTH)]
    seen = sum(int((batch["labels"] != -100).sum()) for batch in one_step)
    assert seen > 1.5 * wanted

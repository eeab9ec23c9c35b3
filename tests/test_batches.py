"""Packed rows are their documents alone: same logits, loss and gradients, bit-exact walls."""

import pytest
import torch

from batchlab import batches, loop
from batchlab.batches import IGNORE, flattened, packed, padded
from batchlab.model import PACKABLE, require_packable
from tests.packed_rows import (
    DOCUMENTS,
    ROW_LENGTH,
    ROWS,
    each_alone,
    loss_and_gradient,
    tiny,
)


@pytest.fixture(scope="module", params=PACKABLE)
def model(request):
    return tiny(request.param)


def test_one_padded_and_one_packed_batch_by_hand():
    rows = padded([[5, 6, 7], [8, 9]], rows=[1, 0], round_to=4)
    assert rows["input_ids"].tolist() == [[8, 9, 0, 0], [5, 6, 7, 0]]
    assert rows["labels"].tolist() == [[-100, 9, -100, -100], [-100, 6, 7, -100]]
    assert rows["attention_mask"].tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    assert "cu_seqlens" not in rows
    one = packed([{"input_ids": [5, 6, 7], "labels": [-100, -100, 7]}, [8, 9]], [[0, 1]], 6)
    assert one["input_ids"].tolist() == [[5, 6, 7, 8, 9, 0]]
    assert one["labels"].tolist() == [[-100, -100, 7, -100, 9, -100]]
    assert one["position_ids"].tolist() == [[0, 1, 2, 0, 1, 0]]
    assert one["cu_seqlens"].tolist() == [0, 3, 5, 6] and one["cu_seqlens"].dtype == torch.int32
    assert int(one["max_length"]) == 3 and "attention_mask" not in one
    assert one["row_tokens"].tolist() == [5]
    flat = flattened([[5, 6, 7], [8, 9]], [1, 0])
    assert flat["input_ids"].tolist() == [[8, 9, 5, 6, 7]]
    assert flat["cu_seqlens"].tolist() == [0, 2, 5]


def test_packed_logits_are_those_of_the_documents_alone(model):
    with torch.no_grad():
        together = loop.logits_of(model, packed(DOCUMENTS, ROWS, ROW_LENGTH))
        for number, logits in each_alone(together):
            alone = loop.logits_of(model, padded(DOCUMENTS, [number]))[0]
            torch.testing.assert_close(logits, alone, rtol=0, atol=1e-5)


def test_summed_loss_and_gradients_of_packed_rows_equal_those_of_the_documents_alone(model):
    whole = loss_and_gradient(model, [packed(DOCUMENTS, ROWS, ROW_LENGTH)])
    alone = loss_and_gradient(model, [padded(DOCUMENTS, [n]) for n in range(4)])
    flat = loss_and_gradient(model, [flattened(DOCUMENTS, [0, 1, 2, 3])])
    rect = loss_and_gradient(model, [padded(DOCUMENTS, [0, 1, 2, 3])])
    for other in (alone, flat, rect):
        torch.testing.assert_close(whole[0], other[0], rtol=1e-5, atol=0)
        torch.testing.assert_close(whole[1], other[1], rtol=1e-4, atol=1e-5)


def test_no_bit_of_one_document_changes_when_its_neighbour_does(model):
    changed = [[1, 1, 1, 1, 1], *DOCUMENTS[1:]]
    with torch.no_grad():
        before = dict(each_alone(loop.logits_of(model, packed(DOCUMENTS, ROWS, ROW_LENGTH))))
        after = dict(each_alone(loop.logits_of(model, packed(changed, ROWS, ROW_LENGTH))))
    assert not torch.equal(before[0], after[0])
    for number in (1, 2, 3):
        assert torch.equal(before[number], after[number])


def test_the_default_cache_would_have_mixed_them(model):
    """The mistake beside the law: calling the model as one is used to."""
    batch = packed(DOCUMENTS, ROWS, ROW_LENGTH)
    inputs = {name: batch[name] for name in ("input_ids", "position_ids")}
    with torch.no_grad():
        mixed = dict(each_alone(model(**inputs).logits))[1]
        right = dict(each_alone(loop.logits_of(model, batch)))[1]
    assert (mixed - right).abs().max() > 1e-3


def test_positions_that_run_on_are_refused_since_they_would_have_mixed_them(model):
    batch = packed(DOCUMENTS, ROWS, ROW_LENGTH)
    running = {**batch, "position_ids": torch.arange(ROW_LENGTH).expand(2, -1)}
    inputs = {name: running[name] for name in ("input_ids", "position_ids")}
    with torch.no_grad():
        mixed = dict(each_alone(model(**inputs, use_cache=False).logits))[1]
        right = dict(each_alone(loop.logits_of(model, batch)))[1]
    assert (mixed - right).abs().max() > 1e-3
    with pytest.raises(ValueError, match=r"position_ids must restart .* disagree at slot 5 of 24"):
        loop.logits_of(model, running)


def test_a_label_across_the_border_would_have_been_another_loss():
    batch = packed(DOCUMENTS, ROWS, ROW_LENGTH)
    crossing = batch["labels"].clone()
    crossing[0, 5] = DOCUMENTS[1][0]  # the last token of document 0 predicts the first of 1
    targets = [(labels[:, 1:] != IGNORE).sum() for labels in (batch["labels"], crossing)]
    assert targets == [sum(len(d) - 1 for d in DOCUMENTS), targets[0] + 1]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"model_type": "gemma2"}, "soft-capped"),
        ({"model_type": "mamba"}, "state that runs on"),
        ({"model_type": "mistral", "sliding_window": 4096}, "sliding_window=4096"),
        ({"model_type": "unheard_of"}, "not tested here"),
    ],
)
def test_other_families_are_refused_with_the_reason(config, reason):
    from types import SimpleNamespace

    with pytest.raises(ValueError, match=reason):
        require_packable(SimpleNamespace(config=SimpleNamespace(**config)))


def test_a_qwen_config_that_names_a_window_but_does_not_use_it_is_taken():
    from types import SimpleNamespace

    config = SimpleNamespace(model_type="qwen2", sliding_window=4096, use_sliding_window=False)
    require_packable(SimpleNamespace(config=config))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: padded(DOCUMENTS, []), "at least 1 document"),
        (lambda: packed(DOCUMENTS, [], 12), "at least 1 document"),
        (lambda: packed(DOCUMENTS, [[0], []], 12), "row 1 needs at least 1"),
        (lambda: packed(DOCUMENTS, [[0, 2]], 11), r"row 0 overflows at document 2: 5 \+ 7"),
        (lambda: padded([[]], [0]), "document 0 must be a flat list"),
        (lambda: padded([{"input_ids": [1, 2], "labels": [1]}], [0]), "2 tokens but 1 labels"),
        (lambda: padded(DOCUMENTS, [0], round_to=0), "round_to"),
    ],
)
def test_bad_batches_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_corpus_and_a_dataset_give_the_same_batches():
    from datasets import Dataset

    rows = Dataset.from_dict({"input_ids": DOCUMENTS})
    ours, theirs = padded(DOCUMENTS, [0, 2]), padded(rows, [0, 2])
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert batches.IGNORE == loop.IGNORE

"""A model is called in the one way that keeps documents apart, or not at all."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from batchlab.batches import flattened, packed, padded
from batchlab.loop import IGNORE
from batchlab.loop._forward import logits_of, prepare, summed_loss
from tests.packed_rows import DOCUMENTS, ROW_LENGTH, ROWS, tiny


class Noting(nn.Module):
    """Keeps what it was called with."""

    def __init__(self, attention="sdpa", family="llama"):
        super().__init__()
        self.config = SimpleNamespace(model_type=family, _attn_implementation=attention)
        self.weight = nn.Parameter(torch.zeros(()))

    def forward(self, **inputs):
        self.seen = inputs
        return torch.zeros(*inputs["input_ids"].shape, 16) + self.weight


def seen(batch, **kind):
    model = Noting(**kind)
    logits_of(model, batch)
    return model.seen


PACKED = packed(DOCUMENTS, ROWS, ROW_LENGTH)


def test_the_model_sees_tokens_and_positions_no_labels_and_no_cache():
    inputs = seen(PACKED)
    assert set(inputs) == {"input_ids", "position_ids", "use_cache"}
    assert inputs["use_cache"] is False
    assert set(seen(padded(DOCUMENTS, [0, 1]))) == {*inputs, "attention_mask"}


def test_flash_attention_gets_cumulative_lengths_and_ours_plain_integers():
    inputs = seen(PACKED, attention="flash_attention_2")
    for side in "qk":
        assert inputs[f"cu_seq_lens_{side}"].tolist() == PACKED["cu_seqlens"].tolist()
        assert inputs[f"cu_seq_lens_{side}"].dtype == torch.int32
        assert inputs[f"max_length_{side}"] == 7
    ours = seen(PACKED, attention="batchlab_varlen")
    assert ours["cu_seq_lens_q"] == tuple(PACKED["cu_seqlens"].tolist())
    rows = seen(padded(DOCUMENTS, [0, 1]), attention="batchlab_varlen")
    assert rows["cu_seq_lens_q"] == (0, 5, 10) and rows["attention_mask"].numel() == 0


def test_positions_that_restart_are_a_packed_batch_even_without_cu_seqlens():
    bare = {name: PACKED[name] for name in ("input_ids", "position_ids", "labels")}
    ours = seen(bare, attention="batchlab_varlen")
    assert ours["cu_seq_lens_q"] == tuple(PACKED["cu_seqlens"].tolist())
    one_row = {"input_ids": torch.zeros(2, 4, dtype=torch.long),
               "position_ids": torch.tensor([[0, 1, 0, 1]])}  # fmt: skip
    ours = seen(one_row, attention="batchlab_varlen")
    assert ours["cu_seq_lens_q"] == (0, 2, 4, 6, 8), "positions may be shared by all rows"


def test_positions_of_padding_are_no_documents():
    right = padded(DOCUMENTS, [0, 1])
    left = {
        "input_ids": right["input_ids"],
        "attention_mask": torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]),
        "position_ids": torch.tensor([[1, 1, 0, 1, 2], [0, 1, 2, 3, 4]]),
    }
    assert "attention_mask" in seen(right) and "attention_mask" in seen(left)
    with pytest.raises(ValueError, match="left padding is refused"):
        seen(left, attention="batchlab_varlen")


MASK = {"attention_mask": torch.ones(2, ROW_LENGTH, dtype=torch.long)}
CU = PACKED["cu_seqlens"]
RESTARTS_ONLY = {name: PACKED[name] for name in ("input_ids", "position_ids")}


@pytest.mark.parametrize(
    ("batch", "kind", "message"),
    [
        (PACKED | MASK, {}, "must not carry an attention_mask"),
        (RESTARTS_ONLY | MASK, {}, "must not carry an attention_mask"),
        (RESTARTS_ONLY, {"family": "gemma2"}, "refused for gemma2"),
        (PACKED, {"family": None}, r"no config\.model_type"),
        (PACKED, {"attention": "paged|sdpa"}, r"refused with attention 'paged\|sdpa'"),
        (PACKED | {"cu_seqlens": CU[:-1]}, {}, "run from 0 to the 24 slots .* got 0 to 21"),
        (PACKED | {"cu_seqlens": CU[[0, 1, 3, 4, 5, 6]]}, {}, "disagree at slot 8 of 24"),
        (PACKED | {"position_ids": PACKED["position_ids"] * 2}, {}, "disagree at slot 1 of 24"),
        ({k: v for k, v in PACKED.items() if k != "position_ids"}, {}, "needs position_ids"),
    ],
)
def test_what_would_mix_documents_is_refused_before_the_model_runs(batch, kind, message):
    with pytest.raises(ValueError, match=message):
        seen(batch, **kind)


def test_a_wrapped_model_is_judged_by_what_it_wraps():
    class Wrapper(nn.Module):  # what DistributedDataParallel looks like from outside
        def __init__(self, module):
            super().__init__()
            self.module = module

    prepare(Wrapper(Noting()), PACKED)
    with pytest.raises(ValueError, match="refused for gemma2"):
        prepare(Wrapper(Noting(family="gemma2")), PACKED)


def test_eager_attention_keeps_documents_apart_as_well():
    eager, sdpa = tiny("llama"), tiny("llama")
    eager.set_attn_implementation("eager")
    batch = flattened(DOCUMENTS, [0, 1, 2])
    with torch.no_grad():
        torch.testing.assert_close(
            logits_of(eager, batch), logits_of(sdpa, batch), rtol=0, atol=1e-5
        )


def test_the_summed_loss_is_that_of_shifted_logits():
    """Judge: the textbook form, which cuts the last logits off instead of moving the labels."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 7, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(7, (3, 5), generator=generator)
    labels[0, 3:], labels[2, :] = IGNORE, IGNORE
    ours = summed_loss(logits, labels)
    judged = nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum"
    )
    torch.testing.assert_close(ours, judged, rtol=1e-14, atol=0)
    grads = [torch.autograd.grad(loss, logits)[0] for loss in (ours, judged)]
    torch.testing.assert_close(*grads, rtol=1e-14, atol=0)
    unshifted = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    assert (unshifted - judged).abs() > 0.1, "the common mistake is another number"

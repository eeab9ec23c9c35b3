"""Variable-length attention: against float64 by hand, with bit-exact walls between documents."""

import math

import pytest
import torch

from batchlab import attention, batches, loop
from tests.test_batches import DOCUMENTS, ROW_LENGTH, ROWS, each_alone, loss_and_gradient, tiny

LENGTHS = [5, 1, 8]
CU = torch.tensor([0, 5, 6, 14], dtype=torch.int32)


def tensors(heads=4, kv_heads=2, size=8, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(14, heads, size), (14, kv_heads, size), (14, kv_heads, size)]
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def by_hand(q, k, v, scale=None):
    """Softmax over earlier tokens of the same document, one query at a time, in float64."""
    q, k, v = (x.double() for x in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    scale = 1 / math.sqrt(q.shape[2]) if scale is None else scale
    out = torch.empty_like(q)
    for start, end in zip([0, 5, 6], [5, 6, 14], strict=True):
        for t in range(start, end):
            for h in range(q.shape[1]):
                scores = k[start : t + 1, h // groups] @ q[t, h] * scale
                out[t, h] = scores.softmax(0) @ v[start : t + 1, h // groups]
    return out


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (4, 1)])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),  # sums of 8 products: a few ulp of values below 4
    [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 2**-6)],
)
def test_values_agree_with_softmax_by_hand(heads, kv_heads, dtype, tolerance):
    q, k, v = tensors(heads, kv_heads, dtype=dtype)
    found = attention.varlen(q, k, v, CU)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), by_hand(q, k, v), rtol=tolerance, atol=tolerance)


def test_the_scale_is_taken():
    q, k, v = tensors()
    found = attention.varlen(q, k, v, CU, scale=0.1)
    torch.testing.assert_close(found.double(), by_hand(q, k, v, 0.1), rtol=1e-5, atol=1e-5)


def test_no_bit_of_one_document_follows_another_in_output_or_gradient():
    def run(change):
        q, k, v = (x.clone() for x in tensors())
        for x in (q, k, v):
            x[:5] += change
            x.requires_grad_()
        out = attention.varlen(q, k, v, CU)
        out.square().sum().backward()
        return out.detach(), [x.grad for x in (q, k, v)]

    (before, grads), (after, others) = run(0.0), run(1.0)
    assert not torch.equal(before[:5], after[:5])
    assert torch.equal(before[5:], after[5:])
    assert all(torch.equal(a[5:], b[5:]) for a, b in zip(grads, others, strict=True))


def test_attention_without_walls_would_have_been_seen():
    q, k, v = tensors()
    one_document = torch.tensor([0, 14], dtype=torch.int32)
    mixed = attention.varlen(q, k, v, one_document)
    assert (mixed - attention.varlen(q, k, v, CU))[6:].abs().max() > 1e-2


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "mistral", "gpt2"])
def test_a_model_gives_the_same_loss_and_gradient_as_with_masks(family):
    masked, varlen = tiny(family), attention.prepare(tiny(family))
    for batch in (
        batches.packed(DOCUMENTS, ROWS, ROW_LENGTH),
        batches.flattened(DOCUMENTS, [2, 0]),
        batches.padded(DOCUMENTS, [0, 1, 2]),
    ):
        ours, theirs = loss_and_gradient(varlen, [batch]), loss_and_gradient(masked, [batch])
        torch.testing.assert_close(ours[0], theirs[0], rtol=1e-5, atol=0)
        torch.testing.assert_close(ours[1], theirs[1], rtol=1e-4, atol=1e-5)


def test_a_models_documents_are_bit_exact_walls():
    model = attention.prepare(tiny("llama"))
    changed = [[1, 1, 1, 1, 1], *DOCUMENTS[1:]]
    with torch.no_grad():
        found = [
            dict(each_alone(loop.logits_of(model, batches.packed(docs, ROWS, ROW_LENGTH))))
            for docs in (DOCUMENTS, changed)
        ]
    assert not torch.equal(found[0][0], found[1][0])
    assert all(torch.equal(found[0][n], found[1][n]) for n in (1, 2, 3))


def test_the_borders_are_read_once_per_micro_batch(monkeypatch):
    reads = []
    cu = CU.clone()
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: reads.append(1) or [0, 5, 6, 14])
    for _ in range(6):
        attention.borders(cu)
    assert len(reads) == 1
    cu[1] = 4  # a change in place is seen
    attention.borders(cu)
    assert len(reads) == 2


def test_backends_say_why_they_are_missing():
    found = attention.backends("cpu", torch.float32)
    assert found["sdpa"] == "" and "CUDA" in found["flash"] and "CUDA" in found["torch"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cu": torch.tensor([0, 5, 13])}, "rise from 0 to the 14 tokens"),
        ({"cu": torch.tensor([1, 14])}, "rise from 0"),
        ({"cu": torch.tensor([0, 9, 5, 14])}, "without a step back"),
        ({"backend": "magic"}, "unknown backend 'magic'"),
        ({"backend": "flash"}, "needs CUDA"),
        ({"kv": 3}, "4 query heads do not divide over 3"),
    ],
)
def test_bad_calls_are_refused(change, message):
    q, k, v = tensors(kv_heads=change.get("kv", 2))
    with pytest.raises(ValueError, match=message):
        attention.varlen(q, k, v, change.get("cu", CU), backend=change.get("backend", "auto"))


def test_left_padding_and_other_families_are_refused():
    model = attention.prepare(tiny("llama"))
    left = {"input_ids": torch.ones(1, 3, dtype=torch.long)}
    left["attention_mask"] = torch.tensor([[0, 1, 1]])
    with pytest.raises(ValueError, match="left padding"):
        loop.logits_of(model, left)
    model.config.model_type = "gemma2"
    with pytest.raises(ValueError, match="soft-capped"):
        attention.prepare(model)

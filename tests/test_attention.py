"""Variable-length attention: against float64 by hand, with bit-exact walls between documents."""

import inspect
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from batchlab import attention, batches, loop
from batchlab.attention import _varlen
from batchlab.attention._backends import BACKENDS, Borders
from tests.attention_theory import exact_and_bound
from tests.packed_rows import DOCUMENTS, ROW_LENGTH, ROWS, each_alone, loss_and_gradient, tiny

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
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_values_agree_with_softmax_by_hand_as_far_as_rounding_allows(heads, kv_heads, dtype):
    q, k, v = tensors(heads, kv_heads, dtype=dtype)
    exact, bound = exact_and_bound(q, k, v, (0, 5, 6, 14))
    torch.testing.assert_close(exact, by_hand(q, k, v), rtol=1e-12, atol=1e-12)
    found = attention.varlen(q, k, v, CU)
    assert found.dtype == dtype
    assert ((found.double() - exact).abs() <= bound).all()
    swapped = attention.varlen(q, k, v.roll(1, dims=0), CU)  # the bound is tight enough to see it
    assert not ((swapped.double() - exact).abs() <= bound).all()


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


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "mistral", "gpt2"])
def test_called_directly_it_separates_documents_by_positions_that_restart(family):
    """Without the lengths that `loop` hands over: a registered attention gets no mask."""
    model = attention.prepare(tiny(family))
    batch = batches.packed(DOCUMENTS, ROWS, ROW_LENGTH)
    with torch.no_grad():
        right = loop.logits_of(model, batch)
        direct = model(
            input_ids=batch["input_ids"], position_ids=batch["position_ids"], use_cache=False
        ).logits
        mixed = model(input_ids=batch["input_ids"], use_cache=False).logits
    torch.testing.assert_close(direct, right, rtol=0, atol=1e-5)
    assert (mixed - right)[0, 5:8].abs().max() > 1e-3, "positions that run on are one document"


def test_under_autocast_the_kernel_gets_one_half_dtype(monkeypatch):
    model, dtypes = attention.prepare(tiny("llama")), []

    def noting(q, k, v, borders, **how):
        dtypes.extend([q.dtype, k.dtype, v.dtype])
        return sdpa(q, k, v, borders, **how)

    sdpa = BACKENDS["sdpa"]
    monkeypatch.setitem(BACKENDS, "sdpa", noting)
    with torch.no_grad():
        loop.logits_of(model, batches.flattened(DOCUMENTS, [0, 1]), autocast=torch.bfloat16)
    assert set(dtypes) == {torch.bfloat16}


def test_rows_that_share_their_positions_restart_together():
    found = _varlen._restarts(torch.tensor([[0, 1, 0, 1]]), rows=2, slots=4)
    assert found == (0, 2, 4, 6, 8)
    each = _varlen._restarts(torch.tensor([[0, 1, 0, 1], [0, 1, 2, 3]]), rows=2, slots=4)
    assert each == (0, 2, 4, 8)


def test_a_model_with_it_waits_for_no_device():
    """On the meta device any read would raise: transformers included, none stands in the way."""
    model = attention.prepare(tiny("llama")).to("meta")
    for batch in (
        batches.packed(DOCUMENTS, ROWS, ROW_LENGTH),
        batches.padded(DOCUMENTS, [0, 1, 2]),
    ):
        assert loop.logits_of(model, batch).is_meta
    model.set_attn_implementation("sdpa")  # the proof can fail: its packed mask reads one value
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        loop.logits_of(model, batches.packed(DOCUMENTS, ROWS, ROW_LENGTH))


def test_attention_that_looks_both_ways():
    q, k, v = tensors(heads=2)
    found = attention.varlen(q, k, v, [0, 14], causal=False).double()
    q, k, v = (x.double() for x in (q, k, v))
    scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(8)
    judged = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v)
    torch.testing.assert_close(found, judged, rtol=1e-5, atol=1e-5)


def test_it_runs_where_tensors_keep_no_version():
    with torch.inference_mode():
        q, k, v = tensors()
        assert torch.equal(
            attention.varlen(q, k, v, CU.clone()), attention.varlen(q, k, v, [0, 5, 6, 14])
        )


def reference(q, k, v, cu, longest, causal, scale):
    assert cu.dtype == torch.int32 and longest == 8, "what the kernels of a GPU insist on"
    return BACKENDS["sdpa"](q, k, v, Borders(tuple(cu.tolist())), causal=causal, scale=scale)


def varlen_attn_of_2_10(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, is_causal=False, return_aux=None
):
    assert query.shape == key.shape == value.shape, "it had no grouped queries"
    return reference(query, key, value, cu_seq_q, max_q, is_causal, None)


def varlen_attn_of_2_11(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *,
    return_aux=None, scale=None, window_size=(-1, -1),
):  # fmt: skip
    assert query.shape == key.shape == value.shape, "it had no grouped queries"
    return reference(query, key, value, cu_seq_q, max_q, window_size == (-1, 0), scale)


def varlen_attn_of_2_13(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *,
    return_aux=None, scale=None, window_size=(-1, -1), enable_gqa=False,
):  # fmt: skip
    assert enable_gqa or query.shape == key.shape
    return reference(query, key, value, cu_seq_q, max_q, window_size == (-1, 0), scale)


def flash_attn_varlen_func(
    q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k,
    dropout_p=0.0, softmax_scale=None, causal=False, deterministic=False,
):  # fmt: skip
    return reference(q, k, v, cu_seqlens_q, max_seqlen_q, causal, softmax_scale)


@pytest.mark.parametrize("scale", [None, 0.1])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("backend", "kernel"),
    [
        ("torch", varlen_attn_of_2_10),
        ("torch", varlen_attn_of_2_11),
        ("torch", varlen_attn_of_2_13),
        ("flash", flash_attn_varlen_func),
    ],
)
def test_gpu_kernels_are_asked_for_the_same_attention(monkeypatch, backend, kernel, causal, scale):
    """Stand-ins with their signatures; the kernels themselves are proved in tests/gpu."""
    name = "flash_attn" if backend == "flash" else "torch.nn.attention.varlen"
    function = "flash_attn_varlen_func" if backend == "flash" else "varlen_attn"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(**{function: kernel}))
    q, k, v = tensors(dtype=torch.float64)
    borders = Borders((0, 5, 6, 14))
    found = BACKENDS[backend](q, k, v, borders, causal=causal, scale=scale)
    judged = BACKENDS["sdpa"](q, k, v, borders, causal=causal, scale=scale)
    torch.testing.assert_close(found, judged, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(
    not torch.__version__.startswith("2.13."), reason="the stand-in is that of torch 2.13"
)
def test_the_stand_in_has_the_signature_of_the_installed_kernel():
    from torch.nn.attention.varlen import varlen_attn

    ours, theirs = (
        {
            name: (one.kind, one.default)
            for name, one in inspect.signature(kernel).parameters.items()
        }
        for kernel in (varlen_attn_of_2_13, varlen_attn)
    )
    assert ours.items() <= theirs.items() and list(theirs)[:7] == list(ours)[:7]
    needed = {name for name, (_, default) in theirs.items() if default is inspect.Parameter.empty}
    assert needed <= ours.keys(), "nothing is asked for that we do not give"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"sliding_window": 4}, "has no sliding_window"),
        ({"softcap": 30.0}, "has no softcap"),
        ({"dropout": 0.1}, "no dropout"),
        ({"attention_mask": torch.ones(1, 1, 3, 3)}, "reads no mask"),
    ],
)
def test_what_the_kernels_do_not_have_is_refused_when_transformers_asks(others, message):
    module = SimpleNamespace(config=SimpleNamespace(model_type="llama"), is_causal=True)
    x = torch.ones(1, 2, 3, 8)
    with pytest.raises(ValueError, match=message):
        _varlen._as_transformers_calls_it(module, x, x, x, **{"attention_mask": None, **others})
    module.config.model_type = "gemma2"
    with pytest.raises(ValueError, match="soft-capped"):
        _varlen._as_transformers_calls_it(module, x, x, x, None)


def test_a_model_that_keeps_the_borders_to_itself_is_refused():
    """GPT-2 of transformers 5.0 hands nothing on: without a word its documents would mix."""
    model = attention.prepare(tiny("gpt2"))
    block = model.transformer.h[0]
    honest = block.forward

    def deaf(*args, cu_seq_lens_q=None, position_ids=None, **others):
        return honest(*args, **others)

    block.forward = deaf
    with pytest.raises(ValueError, match="told of no borders"):
        loop.logits_of(model, batches.packed(DOCUMENTS, ROWS, ROW_LENGTH))


def test_the_borders_are_read_once_per_micro_batch(monkeypatch):
    reads = []
    cu = CU.clone()
    monkeypatch.setattr(_varlen, "_waits", lambda tensor: True)  # as if it were on a GPU
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: reads.append(1) or [0, 5, 6, 14])
    for _ in range(6):
        attention.borders(cu)
    assert len(reads) == 1
    cu[1] = 4  # a change in place is seen
    attention.borders(cu)
    assert len(reads) == 2


def test_a_change_that_pytorch_does_not_count_is_seen():
    shared = np.array([0, 5, 14])
    cu = torch.from_numpy(shared)
    assert attention.borders(cu) == (0, 5, 14)
    shared[1] = 7
    assert attention.borders(cu) == (0, 7, 14)
    cu.data[1] = 8
    assert attention.borders(cu) == (0, 8, 14)
    with torch.inference_mode():
        inside = cu.clone()
        assert attention.borders(inside) == (0, 8, 14)
        inside[1] = 9
        assert attention.borders(inside) == (0, 9, 14)


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
        ({"wide": True}, "must share a dtype, got torch.float64"),
    ],
)
def test_bad_calls_are_refused(change, message):
    q, k, v = tensors(kv_heads=change.get("kv", 2))
    q = q.double() if "wide" in change else q
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

"""Attention at its edges: empty and equal documents, what is refused, what a backend lacks."""

import sys
from types import SimpleNamespace
from unittest import mock

import pytest
import torch

from batchlab import attention
from batchlab.attention import _varlen
from batchlab.attention._backends import BACKENDS, Borders, missing
from tests.test_attention import tensors

MODULE = SimpleNamespace(config=SimpleNamespace(model_type="llama"), is_causal=True)


@pytest.mark.parametrize("borders", [[0, 7, 14], [0, 0, 7, 14], [0, 7, 7, 14, 14]])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_equal_documents_are_each_alone_and_empty_ones_are_none(borders, kv_heads):
    q, k, v = tensors(kv_heads=kv_heads)
    found = attention.varlen(q, k, v, borders)
    alone = [attention.varlen(q[a:b], k[a:b], v[a:b], [0, 7]) for a, b in ((0, 7), (7, 14))]
    torch.testing.assert_close(found, torch.cat(alone))
    other = attention.varlen(q, k, v, [0, 6, 14])
    assert (other - found)[6].abs().max() > 1e-3, "the border is where it was said to be"


def test_one_document_of_one_token_gives_its_own_value():
    q, k, v = (x[:1] for x in tensors(kv_heads=4))
    torch.testing.assert_close(attention.varlen(q, k, v, [0, 1]), v)


@pytest.mark.parametrize(
    ("borders", "tokens"), [([], 14), ([0], 0), ([0], 14), ([0, 15], 14), ([-1, 14], 14)]
)
def test_borders_that_do_not_hold_all_tokens_are_refused(borders, tokens):
    q, k, v = (x[:tokens] for x in tensors())
    with pytest.raises(ValueError, match=f"rise from 0 to the {tokens} tokens"):
        attention.varlen(q, k, v, borders)


@pytest.mark.parametrize(
    "change",
    [
        lambda q, k, v: (q[None], k, v),
        lambda q, k, v: (q, k[:, :1], v),
        lambda q, k, v: (q[..., :4], k, v),
        lambda q, k, v: (q[:13], k, v),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(change):
    with pytest.raises(ValueError, match=r"must be \(tokens, heads, head size\)"):
        attention.varlen(*change(*tensors()), [0, 14])


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_tensor_of_another_dtype_is_refused(which):
    given = tensors()
    given[which] = given[which].double()
    with pytest.raises(ValueError, match="must share a dtype"):
        attention.varlen(*given, [0, 14])


def test_heads_are_divided_and_not_their_size():
    shapes = {(4, 3, 6): False, (4, 2, 5): True, (6, 3, 4): True}
    for (heads, kv_heads, size), fine in shapes.items():
        q, k, v = tensors(heads, kv_heads, size)
        if fine:
            assert attention.varlen(q, k, v, [0, 14]).shape == q.shape
        else:
            with pytest.raises(ValueError, match="4 query heads do not divide over 3 key heads"):
                attention.varlen(q, k, v, [0, 14])


def on_gpu(size=64, dtype=torch.bfloat16):
    return SimpleNamespace(is_cuda=True, dtype=dtype, shape=(0, 1, size), device="cuda:0")


@pytest.mark.parametrize(
    ("given", "capability", "reason"),
    [
        (on_gpu(), (8, 0), ""),
        (on_gpu(256, torch.float16), (9, 0), ""),
        (on_gpu(264), (9, 0), "heads of a multiple of 8 up to 256, got 264"),
        (on_gpu(60), (9, 0), "heads of a multiple of 8 up to 256, got 60"),
        (on_gpu(dtype=torch.float32), (9, 0), "float16 or bfloat16, got torch.float32"),
        (on_gpu(), (7, 5), "compute capability 8.0, an old one has less"),
        (on_gpu(), (7, 9), "compute capability 8.0, an old one has less"),
    ],
)
def test_a_backend_is_missing_for_a_reason(given, capability, reason):
    kernel = SimpleNamespace(varlen_attn=len, flash_attn_varlen_func=len)
    modules = {"flash_attn": kernel, "torch.nn.attention.varlen": kernel}
    _forget()
    with (
        mock.patch.object(torch.cuda, "get_device_capability", lambda _: capability),
        mock.patch.object(torch.cuda, "get_device_name", lambda _: "an old one"),
        mock.patch.dict(sys.modules, modules),
    ):
        for backend in ("flash", "torch"):
            assert missing(backend, given) == (reason and f"it needs {reason}")
        assert missing("sdpa", given) == ""
    _forget()


def _forget():
    from batchlab.attention import _backends

    _backends._why_not_imported.cache_clear()


def test_a_kernel_that_is_not_there_or_does_not_load_is_a_reason():
    from batchlab.attention._backends import _why_not_imported

    _forget()
    assert _why_not_imported("no_such_kernel", "any") == "no_such_kernel is not installed"
    assert _why_not_imported("math", "sqrt") == ""
    assert _why_not_imported("math", "magic").startswith("math cannot be imported (module 'math'")


def test_the_best_backend_that_runs_is_taken(monkeypatch):
    asked = []

    def kernel(*given, **how):
        asked.append(how)
        return BACKENDS["sdpa"](*given, **how)

    q, k, v = tensors()
    monkeypatch.setitem(BACKENDS, "torch", kernel)
    monkeypatch.setattr(_varlen, "missing", lambda name, _: "x" if name == "flash" else "")
    attention.varlen(q, k, v, [0, 14])
    assert asked == [{"causal": True, "scale": None}]
    attention.varlen(q, k, v, [0, 14], backend="sdpa")
    assert len(asked) == 1


@pytest.mark.parametrize(("causal", "window"), [(True, (-1, 0)), (False, (-1, -1))])
def test_no_kernel_is_asked_for_a_window(monkeypatch, causal, window):
    asked = {}

    def varlen_attn(q, k, v, cu_q, cu_k, max_q, max_k, *, window_size, enable_gqa=False):
        asked.update(window=window_size, grouped=enable_gqa, longest=(max_q, max_k))
        return q

    kernel = SimpleNamespace(varlen_attn=varlen_attn)
    monkeypatch.setitem(sys.modules, "torch.nn.attention.varlen", kernel)
    for kv_heads in (4, 2):
        q, k, v = tensors(kv_heads=kv_heads)
        BACKENDS["torch"](q, k, v, Borders((0, 3, 14)), causal=causal, scale=None)
        assert asked == {"window": window, "grouped": kv_heads == 2, "longest": (11, 11)}


def test_borders_on_a_device_are_one_tensor_that_autograd_may_keep():
    with torch.inference_mode():
        one = Borders((0, 3, 77)).on(torch.device("cpu"))
    assert one.tolist() == [0, 3, 77] and one.dtype == torch.int32 and not one.is_inference()
    assert Borders((0, 3, 77)).on(torch.device("cpu")) is one
    assert Borders((0, 3, 77)).lengths == [3, 74]


def called(module=MODULE, slots=3, **others):
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2, 4, 3, 8, generator=generator)
    k = torch.randn(2, 2, slots, 8, generator=generator)
    given = {"attention_mask": None, "cu_seq_lens_q": (0, 3, 6), **others}
    return q, k, _varlen._as_transformers_calls_it(module, q, k, 2 * k, **given)


def test_transformers_gets_rows_slots_heads_and_no_weights():
    q, k, (found, weights) = called(scaling=0.3)
    assert found.shape == (2, 3, 4, 8) and weights is None
    flat = [x.transpose(1, 2).flatten(0, 1) for x in (q, k, 2 * k)]
    judged = attention.varlen(*flat, [0, 3, 6], scale=0.3)
    torch.testing.assert_close(found.flatten(0, 1), judged)


def test_queries_and_keys_that_are_wider_than_values_are_narrowed():
    q = torch.ones(1, 2, 3, 8)
    given = (MODULE, q, q, q.bfloat16(), None)
    found, _ = _varlen._as_transformers_calls_it(*given, cu_seq_lens_q=(0, 3))
    assert found.dtype == torch.bfloat16 and found.eq(1).all()


def test_an_empty_mask_is_none_and_a_module_is_causal_unless_it_says_otherwise():
    plain = called()[2][0]
    silent = SimpleNamespace(config=MODULE.config)
    for one in (
        called(attention_mask=torch.empty(1, 1, 0, 0))[2][0],
        called(silent)[2][0],
        called(cu_seq_lens_q=None, position_ids=torch.arange(3)[None])[2][0],
        called(sliding_window=None, softcap=None)[2][0],
    ):
        assert torch.equal(one, plain)
    with pytest.raises(ValueError, match="causal and trains only"):
        called(slots=4)
    with pytest.raises(ValueError, match="causal and trains only"):
        called(SimpleNamespace(config=MODULE.config, is_causal=False))
    with pytest.raises(ValueError, match="has no softcap, s_aux, which"):
        called(softcap=1.0, s_aux=2.0)


@pytest.mark.parametrize(
    ("mask", "fine"),
    [
        ([[1, 1, 1], [1, 0, 0]], True),
        ([[1, 1, 1], [0, 1, 1]], False),
        ([[1, 0, 1], [1, 1, 1]], False),
        ([[1, 1, 1], [0, 0, 0]], False),
    ],
)
def test_a_mask_for_transformers_is_taken_if_rows_are_padded_on_the_right(mask, fine):
    if fine:
        assert _varlen._no_mask(1, attention_mask=torch.tensor(mask)) is None
    else:
        with pytest.raises(ValueError, match="left padding is refused"):
            _varlen._no_mask(1, attention_mask=torch.tensor(mask))
    assert _varlen._no_mask() is None
    assert _varlen._no_mask(attention_mask=torch.zeros(1, 1, 3, 3)) is None


def test_positions_of_one_row_are_those_of_all_and_rows_begin_anew():
    assert _varlen._restarts(torch.tensor([[0, 1, 2]]), rows=2, slots=3) == (0, 3, 6)
    assert _varlen._restarts(torch.tensor([[5, 6, 7]]), rows=1, slots=3) == (0, 3)
    each = torch.tensor([[0, 1, 0], [1, 2, 3], [0, 0, 1]])
    assert _varlen._restarts(each, rows=3, slots=3) == (0, 2, 3, 6, 7, 9)


def test_another_tensor_is_read_although_the_last_one_is_known(monkeypatch):
    monkeypatch.setattr(_varlen, "_waits", lambda tensor: True)
    one, other = torch.tensor([0, 2]), torch.tensor([0, 5])
    assert [attention.borders(x) for x in (one, other, one)] == [(0, 2), (0, 5), (0, 2)]
    assert [attention.borders(x) for x in (other, other)] == [(0, 5), (0, 5)]


def test_only_a_tensor_on_a_device_is_waited_for():
    assert not _varlen._waits(torch.ones(1)) and _varlen._waits(torch.ones(1, device="meta"))


def test_backends_are_asked_about_a_head_of_64_in_bf16_on_a_gpu_and_float32_elsewhere(monkeypatch):
    probes = []
    monkeypatch.setattr(_varlen, "missing", lambda name, probe: probes.append(probe) or name)
    assert attention.backends("cpu") == {"flash": "flash", "torch": "torch", "sdpa": "sdpa"}
    assert probes[0].shape == (0, 1, 64) and probes[0].dtype == torch.float32
    attention.backends("cpu", torch.float16, size=80)
    assert probes[-1].shape == (0, 1, 80) and probes[-1].dtype == torch.float16
    attention.backends("meta")
    assert probes[-1].device.type == "meta"
    if not torch.cuda.is_available():
        attention.backends()
        assert probes[-1].device.type == "cpu"

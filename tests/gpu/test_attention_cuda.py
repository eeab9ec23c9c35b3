"""Every backend on CUDA: values within rounding, bit-exact walls, models that agree."""

import itertools

import pytest
import torch

from batchlab import attention, batches, loop, model
from tests.attention_theory import exact_and_bound

pytestmark = pytest.mark.gpu

AT = (0, 300, 301, 365, 494, 1024)  # longer than the tiles of any kernel, and as short as 1
CASES = [
    *itertools.product(["flash", "torch"], [torch.bfloat16, torch.float16]),
    *itertools.product(["sdpa"], [torch.bfloat16, torch.float16, torch.float32]),
]
DOCUMENTS = [list(range(3, 3 + end - start)) for start, end in itertools.pairwise(AT)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}".replace("torch.", ""))
def case(request, cuda):
    backend, dtype = request.param
    reason = attention.backends(cuda, dtype)[backend]
    if reason:
        pytest.skip(f"{backend}: {reason}; the last record stands in batchlab/evidence/LOG.md")
    return backend, dtype


def tensors(device, dtype, kv_heads=2):
    generator = torch.Generator().manual_seed(0)
    shapes = [(AT[-1], heads, 64) for heads in (4, kv_heads, kv_heads)]
    return [torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_values_lie_as_close_to_float64_as_rounding_allows(cuda, case, kv_heads, causal):
    backend, dtype = case
    q, k, v = tensors(cuda, dtype, kv_heads)
    found = attention.varlen(q, k, v, AT, backend=backend, causal=causal).cpu().double()
    exact, bound = exact_and_bound(q, k, v, AT, causal=causal)
    worst = ((found - exact).abs() / bound).max().item()
    assert worst <= 1, f"{worst:.2f} times the bound"


def test_gradients_agree_with_float64(cuda, case):
    backend, dtype = case
    inputs = [x.requires_grad_() for x in tensors(cuda, dtype)]
    exact = [x.detach().cpu().double().requires_grad_() for x in inputs]
    weights = torch.randn(AT[-1], 4, 64, generator=torch.Generator().manual_seed(1)).to(dtype)
    out = attention.varlen(*inputs, AT, backend=backend)
    (out * weights.to(cuda)).sum().backward()
    judged = attention.varlen(*exact, AT, backend="sdpa")
    (judged * weights.double()).sum().backward()
    # p, o, ds and the result are each rounded to the dtype; float32 keeps its sums of 64 * 530
    u = max(torch.finfo(dtype).eps / 2, 2.0**-18)
    for ours, theirs in zip(inputs, exact, strict=True):
        error = (ours.grad.cpu().double() - theirs.grad).norm() / theirs.grad.norm()
        assert error <= 4 * u, f"{error / u:.2f} roundings"


def test_no_bit_of_one_document_follows_another(cuda, case, same_order):
    backend, dtype = case

    def run(change):
        inputs = [x.clone() for x in tensors(cuda, dtype)]
        for x in inputs:
            x[:300] += change
            x.requires_grad_()
        out = attention.varlen(*inputs, AT, backend=backend)
        out.float().square().sum().backward()
        return [out.detach(), *(x.grad for x in inputs)]

    before, after = run(0.0), run(1.0)
    for a, b in zip(before, after, strict=True):
        assert not torch.equal(a[:300], b[:300])
        assert torch.equal(a[300:], b[300:])


def test_attention_without_walls_would_have_been_seen(cuda, case):
    backend, dtype = case
    q, k, v = tensors(cuda, dtype)
    mixed = attention.varlen(q, k, v, (0, AT[-1]), backend=backend)
    right = attention.varlen(q, k, v, AT, backend=backend)
    assert (mixed - right)[300:].abs().max() > 0.1


def test_auto_takes_the_first_backend_that_runs_here(cuda):
    for dtype in (torch.bfloat16, torch.float32):
        q, k, v = tensors(cuda, dtype)
        found = attention.backends(cuda, dtype)
        best = next(name for name, reason in found.items() if not reason)
        ours = attention.varlen(q, k, v, AT)
        assert torch.equal(ours, attention.varlen(q, k, v, AT, backend=best))
        assert dtype != torch.float32 or best == "sdpa"


# float32: sums over at most 1,024 slots; bf16: some ten roundings of 2**-8, half of them cancel
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 2e-2)])
def test_a_model_has_the_loss_of_its_documents_alone(cuda, dtype, tolerance):
    def loss_of(made, many):
        with torch.no_grad():
            return sum(
                loop.summed_loss(loop.logits_of(made, one), one["labels"].to(cuda)).item()
                for one in many
            )

    masked = model.small(1024, hidden=256, heads=4, kv_heads=2).to(cuda, dtype)
    together = [batches.flattened(DOCUMENTS, range(5))]
    alone = [batches.padded(DOCUMENTS, [number]) for number in range(5)]
    judged = loss_of(masked, alone)
    assert loss_of(masked, together) == pytest.approx(judged, rel=tolerance)
    varlen = attention.prepare(masked)
    assert loss_of(varlen, together) == pytest.approx(judged, rel=tolerance)
    assert loss_of(varlen, alone) == pytest.approx(judged, rel=tolerance)

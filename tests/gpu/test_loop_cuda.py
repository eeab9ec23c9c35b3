"""The exact step on CUDA: any split, bf16 and fp16, and no wait inside the loop."""

import copy

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from batchlab import attention, batches, model
from batchlab.loop import IGNORE, train_step
from tests.devices import require_dtype

pytestmark = pytest.mark.gpu

GENERATOR = torch.Generator().manual_seed(0)
DOCUMENTS = [torch.randint(512, (n,), generator=GENERATOR).tolist() for n in (90, 5, 40, 17, 64, 3)]
SPLITS = [[[0, 1, 2], [3, 4, 5]], [[0], [1], [2], [3], [4], [5]], [[5], [0, 1, 2, 3, 4]]]


@pytest.fixture(scope="module")
def small():
    return model.small(512, hidden=128, heads=2)


def update(made, micro_batches, **options):
    """The gradient, as the change of all weights in one step of SGD with learning rate 1."""
    made = copy.deepcopy(made)
    before = parameters_to_vector(made.parameters()).detach().double()
    optimizer = torch.optim.SGD(made.parameters(), lr=1.0)
    report = train_step(made, optimizer, micro_batches, **options)
    return parameters_to_vector(made.parameters()).detach().double() - before, report


def gradient(made, micro_batches, **options):
    """`.grad` as the optimizer saw it: the change of bf16 weights would be rounded away."""
    made = copy.deepcopy(made)
    report = train_step(made, torch.optim.SGD(made.parameters(), lr=0.0), micro_batches, **options)
    return parameters_to_vector([p.grad for p in made.parameters()]).double(), report


@pytest.mark.parametrize("split", SPLITS, ids=str)
# norms of a Llama compute in float32, also in a model of float64
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-7), (torch.float32, 1e-5)])
def test_any_split_takes_the_step_of_the_whole_batch(cuda, small, split, dtype, tolerance):
    made = copy.deepcopy(small).to(cuda, dtype)
    whole, report = update(made, [batches.padded(DOCUMENTS, range(6))])
    parts, found = update(made, [batches.padded(DOCUMENTS, rows) for rows in split])
    packed, _ = update(made, [batches.flattened(DOCUMENTS, rows) for rows in split])
    for other in (parts, packed):
        assert (other - whole).norm() <= tolerance * whole.norm()
    assert found.target_tokens == report.target_tokens == sum(map(len, DOCUMENTS)) - 6
    assert found.loss == pytest.approx(report.loss, rel=tolerance)


def test_the_mean_of_means_would_have_been_another_step(cuda, small):
    made = copy.deepcopy(small).to(cuda)
    whole, _ = update(made, [batches.padded(DOCUMENTS, range(6))])
    each = [update(made, [batches.padded(DOCUMENTS, [n])])[0] for n in range(6)]
    assert (sum(each) / 6 - whole).norm() > 0.05 * whole.norm()


def test_bf16_weights_with_wide_sums_stay_within_rounding_of_the_whole_step(cuda, small):
    require_dtype(cuda, torch.bfloat16)
    made = copy.deepcopy(small).to(cuda, torch.bfloat16)
    exact, _ = gradient(copy.deepcopy(made).double(), [batches.padded(DOCUMENTS, range(6))])
    parts = [batches.padded(DOCUMENTS, [n]) for n in range(6)]
    wide, report = gradient(made, parts, accumulate_in=torch.float32)
    # a forward and a backward pass in bf16 through 2 layers: some thirty roundings of 2**-8, which
    # add up like their square root
    assert (wide - exact).norm() <= 30**0.5 * 2**-8 * exact.norm()
    assert not report.skipped


class Sum(torch.nn.Module):
    """Each micro-batch gives the same gradient."""

    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))

    def forward(self, input_ids, use_cache):
        return self.bias.expand(*input_ids.shape, 2)


@pytest.mark.parametrize(("accumulate_in", "share"), [(torch.float32, 1.0), (None, 0.5)])
def test_512_equal_bf16_gradients_add_up_only_in_float32(cuda, accumulate_in, share):
    one = {"input_ids": torch.zeros(1, 2, dtype=torch.long), "labels": torch.tensor([[IGNORE, 1]])}
    _, report = gradient(Sum().to(cuda), [one] * 512, accumulate_in=accumulate_in)
    assert report.grad_norm == pytest.approx(share * 0.5**0.5, rel=0.02)


def test_fp16_with_a_scaler_steps_or_says_that_it_did_not(cuda, small):
    made = copy.deepcopy(small).to(cuda)
    parts = [batches.padded(DOCUMENTS, rows) for rows in SPLITS[0]]
    plain, _ = update(made, parts)
    half = {"autocast": torch.float16}
    scaled, report = update(made, parts, scaler=torch.amp.GradScaler("cuda", 2.0**10), **half)
    assert not report.skipped and (scaled - plain).norm() <= 0.02 * plain.norm()
    nothing, report = update(made, parts, scaler=torch.amp.GradScaler("cuda", 3e38), **half)
    assert report.skipped and not nothing.any()


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
@pytest.mark.parametrize("labels_on", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nothing_waits_for_the_device_between_first_and_last_micro_batch(
    cuda, small, dtype, labels_on
):
    require_dtype(cuda, dtype)
    made = attention.prepare(copy.deepcopy(small).to(cuda, dtype))
    optimizer = torch.optim.SGD(made.parameters(), lr=0.0)
    parts = [batches.flattened(DOCUMENTS, rows) for rows in SPLITS[0]]
    parts = [{**part, "labels": part["labels"].to(labels_on)} for part in parts]
    wide = torch.float32 if dtype == torch.bfloat16 else None

    def step(on_micro_batch):
        train_step(made, optimizer, parts, accumulate_in=wide, on_micro_batch=on_micro_batch)

    step(lambda _: None)  # libraries start up, which may wait
    hook = made.register_forward_pre_hook(lambda *_: torch.cuda.set_sync_debug_mode("error"))

    def finished(number):
        if number == len(parts) - 1:
            torch.cuda.set_sync_debug_mode("default")

    try:
        step(finished)
        with pytest.raises(RuntimeError, match="synchroniz"):  # the proof can fail
            step(lambda _: torch.ones((), device=cuda).item())
    finally:
        torch.cuda.set_sync_debug_mode("default")
        hook.remove()

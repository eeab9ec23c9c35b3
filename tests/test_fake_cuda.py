"""A step on tensors that claim to lie on a GPU: every operation checks their device, none runs.

The engine of the backward pass wants a driver: a stand-in gives each weight a gradient instead.
"""

import itertools

import pytest
import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    FakeTensorMode,
    unset_fake_temporarily,
)

from batchlab import attention, batches, loop, model
from batchlab.attention import _backends
from batchlab.loop import _step

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        torch.version.cuda is None,
        reason="needs a torch built with CUDA, and no GPU; without, tests/test_loop.py takes the "
        "step on the meta device",
    ),
]

DOCUMENTS = [[1] * 9, [2] * 5, [3] * 7]
WEIGHTS: list[torch.nn.Parameter] = []
DTYPES = (torch.float32, torch.bfloat16)
CASES = list(itertools.product(DTYPES, ("padded", "flattened"), ("sdpa", attention.NAME)))


@pytest.fixture
def stand_ins(monkeypatch):
    """What the host reads before the first forward pass keeps its values; gradients without it."""
    monkeypatch.setattr(torch.Tensor, "backward", backward)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (9, 0))
    for name in ("prepare", "_totals"):
        call = getattr(_step, name)

        def real(*given, call=call, **named):
            with unset_fake_temporarily():
                return call(*given, **named)

        monkeypatch.setattr(_step, name, real)
    yield
    _backends._on_device.cache_clear()


def backward(loss):
    assert loss.device == torch.device("cuda:0") and loss.requires_grad
    for one in WEIGHTS:
        new = torch.ones_like(one)
        one.grad = new if one.grad is None else one.grad + new


def made(dtype, how):
    from transformers import AutoModelForCausalLM

    config = model.small(64, hidden=32, heads=2, layers=1).config
    with FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda:0"):
        net = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    WEIGHTS[:] = net.parameters()
    return (attention.prepare(net) if how == attention.NAME else net).train()


@pytest.mark.parametrize(("dtype", "layout", "how"), CASES)
def test_every_micro_batch_is_run_on_the_device_and_only_the_report_needs_a_value(
    stand_ins, dtype, layout, how
):
    net, finished = made(dtype, how), []
    parts = [getattr(batches, layout)(DOCUMENTS, numbers) for numbers in ([0, 1], [2])]
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    mode = next(net.parameters()).fake_mode
    with mode, pytest.raises(DataDependentOutputException):
        loop.train_step(net, optimizer, parts, on_micro_batch=finished.append)
    assert finished == [0, 1]
    assert {one.device for one in net.parameters()} == {torch.device("cuda:0")}


def test_a_tensor_left_on_the_host_would_be_seen(stand_ins):
    """The mistake beside the law: labels that do not follow the logits."""
    labels = torch.ones(1, 4, dtype=torch.long)
    with FakeTensorMode(allow_non_fake_inputs=True):
        logits = torch.empty(1, 4, 64, device="cuda:0")
        assert loop.summed_loss(logits, labels.to("cuda:0")).device == logits.device
        with pytest.raises(RuntimeError, match="device"):
            loop.summed_loss(logits, labels)

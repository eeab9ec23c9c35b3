"""However a batch is split, the step must be the step of the whole batch."""

import math

import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector
from torch.utils._python_dispatch import TorchDispatchMode

from batchlab.loop import IGNORE, evaluate, logits_of, train, train_step

VOCABULARY = 11
ROW_TARGETS = [7, 1, 3, 5]  # target tokens per row: ragged, so that means mislead
SPLITS = [[2, 2], [1, 3], [3, 1], [1, 1, 1, 1]]


class Bigram(nn.Module):
    """The smallest language model: the next token from this one alone."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, 8), nn.Linear(8, VOCABULARY)

    def forward(self, input_ids, use_cache):
        return self.head(self.embedding(input_ids))


def bigram(dtype=torch.float32):
    torch.manual_seed(1)
    return Bigram().to(dtype)


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    input_ids = torch.randint(VOCABULARY, (4, 8), generator=generator)
    labels = input_ids.clone()
    for row, targets in enumerate(ROW_TARGETS):
        labels[row, 1 + targets :] = IGNORE
    return {"input_ids": input_ids, "labels": labels}


def split_rows(batch, sizes):
    parts = {name: value.split(sizes) for name, value in batch.items()}
    cuts = zip(*parts.values(), strict=True)
    return [dict(zip(parts, part, strict=True)) for part in cuts]


def update(micro_batches, dtype=torch.float32, **options):
    """The change of all weights in one SGD step of learning rate 1: the gradient, sign turned."""
    model = bigram(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = parameters_to_vector(model.parameters()).detach().clone()
    report = train_step(model, optimizer, micro_batches, **options)
    return parameters_to_vector(model.parameters()).detach() - before, report


@pytest.mark.parametrize("sizes", SPLITS, ids=str)
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float64, 1e-10), (torch.float32, 1e-6)],  # float32: 8 ulp of gradients below 1
)
def test_any_split_takes_the_step_of_the_whole_batch(batch, sizes, dtype, tolerance):
    whole_update, whole = update([batch], dtype)
    split_update, report = update(split_rows(batch, sizes), dtype)
    torch.testing.assert_close(split_update, whole_update, rtol=tolerance, atol=tolerance)
    assert report.target_tokens == whole.target_tokens == sum(ROW_TARGETS)
    assert report.loss == pytest.approx(whole.loss, rel=1e-6)
    assert report.grad_norm == pytest.approx(whole.grad_norm, rel=1e-6)
    assert (report.slots, report.micro_batches) == (32, len(sizes))


def test_the_gradient_is_that_of_the_mean_over_all_targets(batch):
    """PyTorch as the judge: one backward pass of the mean cross-entropy."""
    model = bigram(torch.float64)
    logits = model(batch["input_ids"], use_cache=False)[:, :-1].flatten(0, 1)
    nn.functional.cross_entropy(logits, batch["labels"][:, 1:].flatten()).backward()
    judged = torch.cat([p.grad.flatten() for p in model.parameters()])
    torch.testing.assert_close(update(split_rows(batch, [1, 3]), torch.float64)[0], -judged)


def test_the_mean_of_means_would_have_been_another_step(batch):
    """The law above has teeth: on this batch the common mistake is visible."""
    _, whole = update([batch])
    means = [update([row])[1].loss for row in split_rows(batch, [1, 1, 1, 1])]
    assert sum(means) / 4 != pytest.approx(whole.loss, rel=1e-2)


def test_micro_batches_without_targets_change_nothing(batch):
    empty = {"input_ids": batch["input_ids"][:1], "labels": torch.full((1, 8), IGNORE)}
    torch.testing.assert_close(update([batch, empty])[0], update([batch])[0])
    torch.testing.assert_close(update([empty, batch])[0], update([batch])[0])


def test_clipping_comes_after_accumulation_and_reports_the_norm_from_before(batch):
    free_update, free = update(split_rows(batch, [1, 3]))
    limit = free.grad_norm / 10
    clipped_update, clipped = update(split_rows(batch, [1, 3]), max_grad_norm=limit)
    assert free_update.norm().item() == pytest.approx(free.grad_norm, rel=1e-5)
    assert clipped_update.norm().item() == pytest.approx(limit, rel=1e-4)
    assert clipped.grad_norm == pytest.approx(free.grad_norm, rel=1e-6)
    torch.testing.assert_close(  # clipping each micro-batch would have turned the direction
        clipped_update / clipped_update.norm(), free_update / free_update.norm()
    )


class Sum(nn.Module):
    """A model whose gradient is the same in every micro-batch: each adds one ulp-sized part."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))

    def forward(self, input_ids, use_cache):
        return self.bias.expand(*input_ids.shape, 2)


@pytest.mark.parametrize(("accumulate_in", "right"), [(torch.float32, True), (None, False)])
def test_bf16_gradients_stall_unless_they_are_collected_in_float32(accumulate_in, right):
    # every gradient is (0.5, -0.5) / 512; in bf16 the sum stalls at half of what it should be
    one = {"input_ids": torch.zeros(1, 2, dtype=torch.long), "labels": torch.tensor([[IGNORE, 1]])}
    model = Sum()
    frozen = torch.optim.SGD(model.parameters(), lr=0.0)
    report = train_step(model, frozen, [one] * 512, accumulate_in=accumulate_in)
    expected = math.sqrt(0.5)
    assert (report.grad_norm == pytest.approx(expected, rel=1e-2)) is right
    if not right:
        assert report.grad_norm == pytest.approx(expected / 2, rel=0.02)


def test_autocast_runs_the_forward_pass_in_its_dtype_and_keeps_the_weights(batch):
    seen = []
    model = bigram()
    model.head.register_forward_hook(lambda *call: seen.append(call[2].dtype))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    report = train_step(model, optimizer, [batch], autocast=torch.bfloat16)
    assert seen == [torch.bfloat16] and next(model.parameters()).dtype == torch.float32
    assert report.loss == pytest.approx(update([batch])[1].loss, rel=2**-7)  # bf16 has 8 bits


def test_an_fp16_scaler_changes_nothing_but_the_rounding(batch):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1)
    scaled, report = update(split_rows(batch, [2, 2]), scaler=scaler, max_grad_norm=0.1)
    plain, _ = update(split_rows(batch, [2, 2]), max_grad_norm=0.1)
    torch.testing.assert_close(scaled, plain, rtol=1e-4, atol=1e-6)
    assert not report.skipped and scaler.get_scale() == 2048, "it grows as it was set to"


def test_a_step_that_overflows_leaves_the_weights_alone_and_says_so(batch):
    scaler = torch.amp.GradScaler("cpu", init_scale=3e38)
    model = bigram()
    with torch.no_grad():
        model.head.weight *= 1e4
    before = parameters_to_vector(model.parameters()).clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    report = train_step(model, optimizer, [batch, batch], scaler=scaler)
    torch.testing.assert_close(parameters_to_vector(model.parameters()), before, rtol=0, atol=0)
    assert report.skipped and scaler.get_scale() < 3e38
    model = bigram()
    with torch.no_grad():
        model.head.bias[0] = math.nan
    before = parameters_to_vector(model.parameters()).clone()
    report = train_step(model, torch.optim.SGD(model.parameters(), lr=1.0), [batch])
    assert report.skipped
    torch.testing.assert_close(parameters_to_vector(model.parameters()), before, equal_nan=True)


def test_a_step_over_processes_is_the_step_of_all_their_rows(batch):
    """Two ranks in threads: one hook sums over them, whatever the shares of targets are."""
    import threading

    barrier, slots = threading.Barrier(2), [None, None]

    def summing(rank):
        def total(value):
            slots[rank] = value.clone()
            barrier.wait()
            result = slots[0] + slots[1]
            barrier.wait()
            return result

        return total

    whole, report = update([batch], torch.float64)
    parts = split_rows(batch, [1, 3])
    results = [None, None]
    models = [bigram(torch.float64) for _ in range(2)]

    def work(rank):
        optimizer = torch.optim.SGD(models[rank].parameters(), lr=1.0)
        results[rank] = train_step(
            models[rank], optimizer, [parts[rank]], sum_over_processes=summing(rank)
        )

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    start = parameters_to_vector(bigram(torch.float64).parameters()).detach()
    for rank in range(2):
        change = parameters_to_vector(models[rank].parameters()).detach() - start
        torch.testing.assert_close(change, whole, rtol=1e-10, atol=1e-10)
        assert results[rank].loss == pytest.approx(report.loss, rel=1e-6)
        assert results[rank].target_tokens == sum(ROW_TARGETS)


class HostReads(TorchDispatchMode):
    """Counts the moments at which the host waits to read a tensor."""

    def __init__(self):
        super().__init__()
        self.at = []
        self.finished = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten._local_scalar_dense.default:
            self.at.append(self.finished)
        return function(*args, **(kwargs or {}))


def test_nothing_is_read_back_between_the_first_micro_batch_and_the_last(batch):
    model = bigram()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with HostReads() as reads:

        def finished(number):
            reads.finished = number + 1

        train_step(model, optimizer, split_rows(batch, [1] * 4), on_micro_batch=finished)
    assert set(reads.at) <= {0, 4} and reads.at.count(0) <= 2
    with HostReads() as reads:  # the mistake is seen: a .item() per micro-batch
        train_step(
            model,
            optimizer,
            split_rows(batch, [1] * 4),
            on_micro_batch=lambda n: (finished(n), torch.ones(()).item()),
        )
    assert [at for at in reads.at if 0 < at < 4] == [1, 2, 3]


def test_steps_without_targets_or_micro_batches_are_refused(batch):
    with pytest.raises(ValueError, match="nothing to learn"):
        update([{**batch, "labels": torch.full((4, 8), IGNORE)}])
    with pytest.raises(ValueError, match="at least 1 micro-batch"):
        update([])
    with pytest.raises(ValueError, match="accumulate_in is for bf16"):
        update([batch], scaler=torch.amp.GradScaler("cpu"), accumulate_in=torch.float32)


def test_a_packed_batch_with_an_attention_mask_is_refused(batch):
    model = bigram()
    cu_seqlens = torch.tensor([0, 5, 8, 16, 24, 32], dtype=torch.int32)
    positions = torch.arange(8).repeat(4, 1)
    positions[0, 5:] = torch.arange(3)
    packed = {**batch, "position_ids": positions, "cu_seqlens": cu_seqlens}
    with pytest.raises(ValueError, match=r"no config\.model_type"):
        logits_of(model, packed)
    model.packs_documents = True
    with pytest.raises(ValueError, match="must not carry an attention_mask"):
        logits_of(model, {**packed, "attention_mask": torch.ones(4, 8)})


def test_training_learns_schedules_per_step_and_evaluates(batch):
    model = bigram()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    rates, losses = [], []
    reports = train(
        model,
        optimizer,
        [split_rows(batch, [2, 2])] * 6,
        schedule=lambda step: 1 / (1 + step),
        evaluate_every=2,
        evaluation=lambda step: losses.append((step, evaluate(model, [batch]))),
        on_micro_batch=lambda _: rates.append(optimizer.param_groups[0]["lr"]),
    )
    assert [step for step, _ in losses] == [2, 4, 6] and reports[-1].loss < reports[0].loss
    assert rates[:4] == [0.5, 0.5, 0.25, 0.25], "the rate moves per step, not per micro-batch"
    assert losses[-1][1] == pytest.approx(evaluate(model, split_rows(batch, [1, 3])), rel=1e-6)

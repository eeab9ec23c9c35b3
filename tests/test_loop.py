"""However a batch is split, the step must be the step of the whole batch."""

import copy
import functools
import math
import threading
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector
from torch.utils._python_dispatch import TorchDispatchMode

from batchlab.loop import IGNORE, StepWorld, evaluate, train, train_step
from batchlab.loop._gradients import Gradients

VOCABULARY = 11
ROW_TARGETS = [7, 1, 3, 5]  # target tokens per row: ragged, so that means mislead
SPLITS = [[2, 2], [1, 3], [3, 1], [1, 1, 1, 1]]


class Bigram(nn.Module):
    """The smallest language model: the next token from this one alone."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, 8), nn.Linear(8, VOCABULARY)

    def forward(self, input_ids, use_cache, position_ids=None, attention_mask=None):
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
    assert report.loss == pytest.approx(whole.loss, rel=tolerance)
    assert report.grad_norm == pytest.approx(whole.grad_norm, rel=tolerance)
    assert report.target_share == sum(ROW_TARGETS) / 32
    assert (report.slots, report.micro_batches) == (32, len(sizes))


def test_a_report_counts_padding_and_unused_tails_as_waste():
    from batchlab.batches import packed, padded

    documents = [[1, 2, 3, 4, 5], [6, 7, 8]]
    _, rows = update([padded(documents, [0, 1])])
    _, row = update([plain(packed(documents, [[0, 1]], 16))])
    assert (rows.real_tokens, rows.slots, rows.waste) == (8, 10, 1 - 8 / 10)
    assert (row.real_tokens, row.slots, row.waste) == (8, 16, 0.5)
    assert row.target_tokens == rows.target_tokens == 6
    _, both = update([padded(documents, [0, 1]), plain(packed(documents, [[0, 1]], 16))])
    assert both.waste == 1 - 16 / 26, "a ratio of sums, not a mean of ratios"


def plain(batch):
    """What a model without attention needs of a packed micro-batch."""
    return {name: batch[name] for name in ("input_ids", "labels", "row_tokens")}


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


ONE_TARGET = {
    "input_ids": torch.zeros(1, 2, dtype=torch.long),
    "labels": torch.tensor([[IGNORE, 1]]),
}


@pytest.mark.parametrize(("accumulate_in", "right"), [(torch.float32, True), (None, False)])
def test_bf16_gradients_stall_unless_they_are_collected_in_float32(accumulate_in, right):
    # every gradient is (0.5, -0.5) / 512; in bf16 the sum stalls at half of what it should be
    model = Sum()
    frozen = torch.optim.SGD(model.parameters(), lr=0.0)
    report = train_step(model, frozen, [ONE_TARGET] * 512, accumulate_in=accumulate_in)
    expected = math.sqrt(0.5)
    assert (report.grad_norm == pytest.approx(expected, rel=1e-2)) is right
    if not right:
        assert report.grad_norm == pytest.approx(expected / 2, rel=0.02)


HAS_GRAD_DTYPE = hasattr(torch.Tensor, "grad_dtype")
WAYS = [
    pytest.param(True, marks=pytest.mark.skipif(not HAS_GRAD_DTYPE, reason="needs torch 2.10")),
    False,
]


def summed_by(native, parts, dtype=torch.float32):
    parameter = nn.Parameter(torch.zeros(3, dtype=torch.bfloat16))
    model = nn.ParameterList([parameter])
    with Gradients(model, dtype, native=native) as gradients:
        for part in parts:
            (parameter * part).sum().backward()
    gradients.total(StepWorld())
    return parameter, gradients


@pytest.mark.parametrize("native", WAYS)
def test_both_ways_of_collecting_wide_add_the_same_bits(native):
    parts = torch.randn(40, 3, generator=torch.Generator().manual_seed(3)).bfloat16()
    parameter, gradients = summed_by(native, parts)
    (held,) = gradients.held.values()
    by_hand = functools.reduce(torch.add, parts.float())  # the same order of additions
    assert held.dtype == torch.float32 and torch.equal(held, by_hand)
    gradients.hand_over()
    assert torch.equal(parameter.grad, by_hand.bfloat16()), "rounded once, at the end"
    _, ours = summed_by(native, parts, None)
    (stalled,) = ours.held.values()
    assert not torch.equal(stalled, by_hand.bfloat16()), "rounding each time gives another sum"


@pytest.mark.parametrize("native", WAYS)
def test_a_failed_step_leaves_no_wide_gradient_behind(native):
    parameter = nn.Parameter(torch.zeros(3, dtype=torch.bfloat16))
    model = nn.ParameterList([parameter])
    with (
        pytest.raises(RuntimeError, match="in between"),
        Gradients(model, torch.float32, native=native),
    ):
        parameter.sum().backward()
        raise RuntimeError("in between")
    parameter.sum().backward()
    assert parameter.grad.dtype == torch.bfloat16 and parameter.grad.tolist() == [1, 1, 1]


def test_adam_takes_the_wide_sums_of_bf16_weights(batch):
    model = bigram(torch.bfloat16)
    before = parameters_to_vector(model.parameters()).clone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(2):
        train_step(model, optimizer, split_rows(batch, [1] * 4), accumulate_in=torch.float32)
    assert not torch.equal(parameters_to_vector(model.parameters()), before)


def test_a_narrower_sum_is_refused(batch):
    with pytest.raises(ValueError, match=r"bfloat16 is narrower than embedding\.weight"):
        update([batch], accumulate_in=torch.bfloat16)


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


def test_a_step_that_is_not_finite_can_be_refused_before_weights_are_touched(batch):
    model = bigram()
    with torch.no_grad():
        model.head.bias[0] = math.nan
    before = parameters_to_vector(model.parameters()).clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with pytest.raises(FloatingPointError, match=r"loss nan.*embedding\.weight, head\.weight"):
        train_step(model, optimizer, [batch], non_finite="refuse")
    torch.testing.assert_close(parameters_to_vector(model.parameters()), before, equal_nan=True)
    with pytest.raises(ValueError, match="finds its scale by skipping"):
        update([batch], scaler=torch.amp.GradScaler("cpu"), non_finite="refuse")


def test_an_infinite_loss_is_no_step_even_if_every_gradient_is_finite():
    class Certain(nn.Module):
        """Gives the target probability 0: the loss is infinite, its gradient is not."""

        def __init__(self):
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(2))

        def forward(self, input_ids, use_cache):
            return self.bias.expand(*input_ids.shape, 2) + torch.tensor([0.0, -math.inf])

    model = Certain()
    report = train_step(model, torch.optim.SGD(model.parameters(), lr=1.0), [ONE_TARGET])
    assert report.skipped and math.isinf(report.loss) and math.isfinite(report.grad_norm)
    assert model.bias.tolist() == [0, 0]


def on_two_ranks(work):
    """Run `work(rank, sum_over_processes)` in two threads that sum tensors with each other."""
    barrier, slots, results = threading.Barrier(2, timeout=20), [None, None], [None, None]

    def run(rank):
        def total(value):
            slots[rank] = value.clone()
            barrier.wait()
            result = slots[0] + slots[1]
            barrier.wait()
            return result

        results[rank] = work(rank, total)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("shares", [[[1], [3]], [[1, 2], [1]], [[], [1, 3]]], ids=str)
def test_a_step_over_processes_is_the_step_of_all_their_rows(batch, shares):
    """Whatever the shares of targets are; a process may even have nothing in a short window."""
    whole, report = update([batch], torch.float64)
    pieces = split_rows(batch, shares[0] + shares[1])
    parts = [pieces[: len(shares[0])], pieces[len(shares[0]) :]]

    models = [bigram(torch.float64) for _ in range(2)]  # seeded before the threads race
    start = parameters_to_vector(models[0].parameters()).detach().clone()

    def step(rank, total):
        optimizer = torch.optim.SGD(models[rank].parameters(), lr=1.0)
        return train_step(models[rank], optimizer, parts[rank], sum_over_processes=total)

    for rank, found in enumerate(on_two_ranks(step)):
        change = parameters_to_vector(models[rank].parameters()).detach() - start
        torch.testing.assert_close(change, whole, rtol=1e-10, atol=1e-10)
        assert found.loss == pytest.approx(report.loss, rel=1e-10)
        assert found.grad_norm == pytest.approx(report.grad_norm, rel=1e-10)
        assert (found.target_tokens, found.slots) == (sum(ROW_TARGETS), 32)
        assert found.micro_batches == len(pieces)


def test_the_mean_over_processes_would_have_been_another_step(batch):
    """What data-parallel averaging of each rank's own mean gives, on uneven targets."""
    whole, _ = update([batch], torch.float64)
    means = [update([part], torch.float64)[0] for part in split_rows(batch, [1, 3])]
    assert ((means[0] + means[1]) / 2 - whole).abs().max() > 1e-3


def test_processes_sum_their_gradients_in_one_order_whatever_they_met_first():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.even, self.odd = nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(5, 2))

        def forward(self, input_ids, use_cache):
            chosen = self.odd if int(input_ids[0, 0]) else self.even
            return chosen.sum(0).expand(*input_ids.shape, 2)

    odd = {**ONE_TARGET, "input_ids": torch.ones(1, 2, dtype=torch.long)}
    parts = [[ONE_TARGET, odd], [odd]]
    asked = [[], []]

    def step(rank, total):
        def noting(value):
            asked[rank].append(tuple(value.shape))
            return total(value)

        model = Branches()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        train_step(model, optimizer, parts[rank], sum_over_processes=noting,
                   accumulate_in=torch.float64)  # fmt: skip

    on_two_ranks(step)
    assert asked[0] == asked[1] == [(4,), (2, 2), (5, 2), ()]


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


@pytest.mark.parametrize("labels_on", ["cpu", "meta"])
def test_a_device_that_cannot_be_read_runs_every_micro_batch_and_stops_only_at_the_report(
    batch, labels_on
):
    """On the meta device nothing has a value, so any read inside the loop would raise there."""
    model = bigram().to("meta")
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    labels = {"labels": batch["labels"].to(labels_on)}
    parts, finished = split_rows({**batch, **labels}, [1] * 4), []
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        train_step(model, optimizer, parts, on_micro_batch=finished.append)
    assert finished == [0, 1, 2, 3]
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        train_step(model, optimizer, parts, on_micro_batch=lambda _: step_too_early(model))
    with pytest.raises(ValueError, match="nothing to learn"):  # known on the CPU, before any work
        empty = {**batch, "labels": torch.full((4, 8), IGNORE)}
        train_step(model, optimizer, [empty], on_micro_batch=finished.append)
    assert len(finished) == 4


def step_too_early(model):
    return float(next(model.parameters()).sum())


def test_targets_are_counted_before_the_first_forward_pass(batch):
    events = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.aten.ne.Scalar:
                events.append("count")
            return function(*args, **(kwargs or {}))

    model = bigram()
    model.register_forward_pre_hook(lambda *_: events.append("forward"))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with Noting():
        train_step(model, optimizer, split_rows(batch, [1, 3]))
    assert events == ["count", "count", "forward", "forward"]


def test_steps_without_targets_or_micro_batches_are_refused(batch):
    with pytest.raises(ValueError, match="nothing to learn"):
        update([{**batch, "labels": torch.full((4, 8), IGNORE)}])
    with pytest.raises(ValueError, match="at least 1 micro-batch"):
        update([])
    with pytest.raises(ValueError, match="accumulate_in is for bf16"):
        update([batch], scaler=torch.amp.GradScaler("cpu"), accumulate_in=torch.float32)


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


def test_a_short_last_window_is_a_step_of_its_own_targets(batch):
    parts = split_rows(batch, [1] * 4)
    model = bigram()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    reports = train(model, optimizer, [parts[:3], parts[3:]])
    assert [report.target_tokens for report in reports] == [11, 5]
    assert [report.micro_batches for report in reports] == [3, 1]
    expected = bigram()
    optimizer = torch.optim.SGD(expected.parameters(), lr=1.0)
    for rows in split_rows(batch, [3, 1]):
        train_step(expected, optimizer, [rows])
    torch.testing.assert_close(
        parameters_to_vector(model.parameters()), parameters_to_vector(expected.parameters())
    )


def test_evaluation_weighs_tokens_turns_dropout_off_and_sums_over_processes(batch):
    model = bigram(torch.float64)
    model.head = nn.Sequential(nn.Dropout(0.5), model.head).train()
    whole = evaluate(model, [batch])
    assert model.training and whole == evaluate(model, [batch])
    parts = split_rows(batch, [1, 3])
    assert evaluate(model, parts) == pytest.approx(whole, rel=1e-12)
    models = [model, copy.deepcopy(model)]
    both = on_two_ranks(lambda r, total: evaluate(models[r], [parts[r]], sum_over_processes=total))
    assert both == pytest.approx([whole, whole], rel=1e-12)
    with pytest.raises(ValueError, match="nothing to evaluate"):
        evaluate(model, [{**batch, "labels": torch.full((4, 8), IGNORE)}])


def _gloo_rank(rank, folder, batch):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    model = bigram(torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    part = split_rows(batch, [1, 3])[rank]

    def total(value):
        dist.all_reduce(value)
        return value

    report = train_step(model, optimizer, [part], sum_over_processes=total)
    torch.save((parameters_to_vector(model.parameters()), report.loss), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_gloo_processes_take_the_step_of_one(batch, tmp_path):
    import torch.multiprocessing as mp

    mp.spawn(_gloo_rank, args=(str(tmp_path), batch), nprocs=2)
    change, report = update([batch], torch.float64)
    start = parameters_to_vector(bigram(torch.float64).parameters()).detach()
    for rank in range(2):
        weights, loss = torch.load(tmp_path / f"{rank}.pt")
        torch.testing.assert_close(weights - start, change, rtol=1e-10, atol=1e-10)
        assert loss == pytest.approx(report.loss, rel=1e-10)


@pytest.mark.parametrize("norm", [-1.0, 0.0, math.nan])
def test_a_norm_that_clips_nothing_or_turns_the_step_round_is_refused(norm):
    with pytest.raises(ValueError, match=r"max_grad_norm must be above 0 \(inf never clips\)"):
        train_step(torch.nn.Linear(1, 1), None, [], max_grad_norm=norm)


def test_a_schedule_leaves_the_learning_rate_as_it_was_and_a_second_one_begins_anew():
    seen = []
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.4)

    def steps():
        for _ in range(2):
            yield []

    def step(model, optimizer, micro_batches):
        seen.append(optimizer.param_groups[0]["lr"])

    with mock.patch("batchlab.loop._step.train_step", step):
        for _ in range(2):
            train(None, optimizer, steps(), schedule=lambda number: [0.5, 0.25][number])
    assert seen == [0.2, 0.1, 0.2, 0.1]
    assert optimizer.param_groups[0]["lr"] == 0.4


def test_evaluation_leaves_a_frozen_module_in_eval():
    made = model_of_two()
    made.frozen.eval()
    batch = {"input_ids": torch.zeros(1, 3, dtype=torch.long), "labels": torch.ones(1, 3).long()}
    evaluate(made, [batch])
    assert made.training and made.open.training and not made.frozen.training


def model_of_two():
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen, self.open = torch.nn.Dropout(0.5), torch.nn.Embedding(4, 4)

        def forward(self, input_ids, use_cache):
            return self.frozen(self.open(input_ids))

    return Two()

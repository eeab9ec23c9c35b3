"""The step at its edges: its world, what it hands over, what it refuses, how a model is called."""

import contextlib
import math
from types import SimpleNamespace
from unittest import mock

import pytest
import torch
from torch import nn

from batchlab import batches, counts
from batchlab.attention import NAME
from batchlab.loop import IGNORE, StepReport, StepWorld, evaluate, train, train_step
from batchlab.loop._forward import prepare, shifted, summed_over
from batchlab.loop._gradients import Gradients
from batchlab.loop._step import _widest
from batchlab.loop._world import the_world

IDS = torch.tensor([[1, 2, 3]])
ONE = {"input_ids": IDS, "labels": torch.tensor([[IGNORE, 2, 0]])}


class Table(nn.Module):
    """Logits are rows of a table: after token i, row i."""

    def __init__(self, start=0.0):
        super().__init__()
        self.rows = nn.Parameter(torch.full((4, 4), start, dtype=torch.float64))

    def forward(self, input_ids, use_cache, position_ids=None, attention_mask=None):
        return self.rows[input_ids]


def step(world=None, parts=(ONE,), made=None, **options):
    """The change of the table in a step of learning rate 1, and the report."""
    made = made or Table()
    report = train_step(
        made, torch.optim.SGD(made.parameters(), 1.0), parts, world=world, **options
    )
    return made.rows.detach(), report


# over 4 equal logits the gradient is 1/4 for each and -3/4 at the target, divided by 2 targets
AFTER_ONE = torch.zeros(4, 4, dtype=torch.float64)
AFTER_ONE[1] = torch.tensor([-1, -1, 3, -1]) / 8
AFTER_ONE[2] = torch.tensor([3, -1, -1, -1]) / 8


def test_one_step_by_hand():
    found, report = step()
    torch.testing.assert_close(found, AFTER_ONE)
    norm = 2 * math.sqrt(3 + 9) / 8 / math.sqrt(2)
    assert report.loss_sum == pytest.approx(2 * math.log(4)) and report.target_tokens == 2
    assert report.loss == pytest.approx(math.log(4)) and report.grad_norm == pytest.approx(norm)
    assert (report.micro_batches, report.slots, report.real_tokens) == (1, 3, 3)


def test_a_report_is_totals_and_their_ratios():
    report = StepReport(6.0, 3, 1.0, 2, 10, 8)
    assert (report.loss, report.waste, report.target_share) == (2.0, 1 - 0.8, 3 / 8)
    assert report.skipped is False


class Padding(StepWorld):
    """Every process runs 3 micro-batches, and its wrapper divides gradients by 2."""

    loss_factor = 2.0

    def __init__(self):
        self.last = []

    def micro_batches(self, own):
        return 3

    def piece(self, last):
        self.last.append(last)
        return contextlib.nullcontext()


def test_fillers_are_run_and_shown_to_nobody_and_gradients_travel_at_the_last_of_all():
    world, shown, finished = Padding(), [], []
    made = Table()
    made.register_forward_hook(lambda *_: shown.append(counts.shown()))
    found, report = step(world, [ONE, ONE], made, on_micro_batch=finished.append)
    assert world.last == [False, False, True] and finished == [0, 1]
    assert shown == [ONE, ONE, None]
    torch.testing.assert_close(found, 2 * AFTER_ONE)  # the factor multiplies each loss
    assert (report.micro_batches, report.slots, report.target_tokens) == (2, 6, 4)
    assert report.loss == pytest.approx(math.log(4)), "but not the loss that is reported"


def test_a_process_without_micro_batches_runs_fillers_only_where_there_are_others():
    class Others(Padding):
        several = True

        def sum(self, value):
            return value + torch.tensor([2, 1, 3, 3]) if value.shape == (4,) else value

    world, finished = Others(), []
    found, report = step(world, [], on_micro_batch=finished.append)
    assert world.last == [False, False, True] and not finished
    assert not found.any() and (report.target_tokens, report.micro_batches) == (2, 1)
    with pytest.raises(ValueError, match="at least 1 micro-batch, got none"):
        step(Padding(), [])


def test_a_wrapper_that_sums_by_itself_cannot_add_wider():
    class Narrow(StepWorld):
        wide = False

    with pytest.raises(ValueError, match="gradients that no wrapper sums"):
        step(Narrow(), accumulate_in=torch.float64)
    step(Narrow())


def test_a_world_alone_changes_nothing():
    world, values = StepWorld(), [torch.ones(2), torch.zeros(3)]
    assert world.sum(values[0]) is values[0] and world.micro_batches(3) == 3
    assert world.gradients(values) == values and world.gradients(values) is not values
    assert (world.loss_factor, world.wide, world.several) == (1.0, True, False)
    with world.piece(True) as nothing:
        assert nothing is None


def test_a_world_or_a_sum_is_taken_and_not_both():
    world, double = StepWorld(), lambda value: value * 2
    assert the_world(Table(), world, None) is world
    assert type(the_world(Table(), None, None)) is StepWorld
    summed = the_world(Table(), None, double)
    assert summed.several and summed.sum(torch.ones(1)).tolist() == [2]
    assert [one.tolist() for one in summed.gradients([torch.ones(1), torch.ones(2)])] == [
        [2],
        [2, 2],
    ]
    with pytest.raises(ValueError, match="give world or sum_over_processes"):
        the_world(Table(), world, double)


@pytest.mark.parametrize(
    ("ready", "size", "refused"), [(True, 2, True), (True, 1, False), (False, 2, False)]
)
@pytest.mark.parametrize("wrapper", ["DistributedDataParallel", "FSDPModule", "Other"])
def test_a_wrapped_model_is_refused_only_among_several_processes(wrapper, ready, size, refused):
    made = type(wrapper, (Table,), {})()
    with (
        mock.patch.object(torch.distributed, "is_initialized", lambda: ready),
        mock.patch.object(torch.distributed, "get_world_size", lambda: size),
    ):
        if refused and wrapper != "Other":
            with pytest.raises(ValueError, match=r"a model under (DDP|FSDP) sums gradients"):
                the_world(made, None, None)
        else:
            assert type(the_world(made, None, None)) is StepWorld


def test_a_parameter_of_another_model_is_not_updated_by_what_it_still_holds():
    other = nn.Parameter(torch.ones(2))
    other.grad = torch.ones(2)
    made = Table()
    train_step(made, torch.optim.AdamW([*made.parameters(), other], lr=0.1), [ONE])
    assert other.tolist() == [1, 1] and other.grad is None


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1, "the gradient of 0"),
        (3, "the gradient of 0, 1, 2"),
        (4, "the gradient of 0, 1, 2 and 1 more"),
        (5, "the gradient of 0, 1, 2 and 2 more"),
    ],
)
def test_what_is_not_finite_is_named_up_to_three(number, shown):
    class Many(nn.Module):
        def forward(self, input_ids, use_cache):
            logits = sum(self.parameters()).expand(*input_ids.shape, 4)
            return logits + torch.tensor([0.0, 0, 0, math.nan])

    made = Many()
    for name in range(number):
        made.register_parameter(str(name), nn.Parameter(torch.zeros(4)))
    with pytest.raises(FloatingPointError) as caught:
        train_step(made, torch.optim.SGD(made.parameters(), 1.0), [ONE], non_finite="refuse")
    assert str(caught.value) == (
        f"the step was refused, weights untouched: loss nan, not finite is {shown}"
    )


def test_an_infinite_loss_without_an_infinite_gradient_says_so():
    made = Table()
    made.rows.data[1, 2] = -math.inf
    with pytest.raises(FloatingPointError, match="loss inf, not finite is no single gradient"):
        step(made=made, non_finite="refuse")


def test_clipping_begins_at_the_limit_and_never_makes_a_gradient_longer():
    norm = step()[1].grad_norm
    for limit, length in ((norm * 2, norm), (norm / 2, norm / 2)):
        found, report = step(max_grad_norm=limit)
        assert found.norm().item() == pytest.approx(length, rel=1e-5)
        assert report.grad_norm == norm


def test_a_gradient_that_is_nearly_zero_is_not_turned_round():
    made = Table()
    made.rows.data[1, 2] = made.rows.data[2, 0] = 20.0
    before = made.rows.detach().clone()
    found, report = step(made=made)
    assert 0 < report.grad_norm < 1e-6
    assert (found[1, 2] >= before[1, 2]) and (found[1, 0] < before[1, 0])
    assert (found - before).norm().item() == pytest.approx(report.grad_norm, rel=1e-5)


def test_a_step_without_targets_is_refused_before_any_work():
    finished = []
    with pytest.raises(ValueError, match="nothing to learn"):
        step(None, [{"input_ids": IDS, "labels": torch.full((1, 3), IGNORE)}],
             on_micro_batch=finished.append)  # fmt: skip
    assert not finished


@pytest.mark.parametrize(("every", "called"), [(0, []), (1, [1, 2, 3]), (2, [2])])
def test_an_evaluation_comes_after_every_so_many_steps(every, called):
    made, seen = Table(), []
    optimizer = torch.optim.SGD(made.parameters(), lr=0.5)
    train(made, optimizer, [[ONE]] * 3, evaluation=seen.append, evaluate_every=every)
    assert seen == called
    assert len(train(made, optimizer, [[ONE]], evaluate_every=1)) == 1, "nothing to call"
    train(made, optimizer, [[ONE]], evaluation=seen.append)
    assert seen == called, "every 0 steps is never"


def test_without_a_schedule_the_learning_rate_is_left_to_the_caller():
    made = Table()
    optimizer = torch.optim.SGD(made.parameters(), lr=0.5)
    slower = {"evaluation": lambda _: optimizer.param_groups[0].update(lr=0.1), "evaluate_every": 1}
    train(made, optimizer, [[ONE]] * 2, **slower)
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_an_evaluation_that_fails_leaves_the_modes_as_they_were():
    made = Table().train()
    with pytest.raises(KeyError):
        evaluate(made, [{"input_ids": IDS}])
    assert made.training
    assert evaluate(made, [ONE, ONE]) == pytest.approx(math.log(4))


def test_sums_are_as_wide_as_the_device_has_numbers():
    assert _widest(torch.device("mps")) == torch.float32
    assert _widest(torch.device("cpu")) == _widest(torch.device("cuda")) == torch.float64


def test_a_label_stands_beside_the_logits_that_predict_it():
    labels = torch.tensor([[IGNORE, 6, 7], [IGNORE, 8, IGNORE]])
    assert shifted(labels).tolist() == [6, 7, IGNORE, 8, IGNORE, IGNORE]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_loss_is_summed_in_float32_or_wider(dtype):
    found = summed_over(torch.zeros(3000, 4, dtype=dtype), torch.ones(3000, dtype=torch.int64))
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert found.item() == pytest.approx(3000 * math.log(4), rel=1e-5)


def stub(attention):
    """A model that says only how it attends."""
    made = Table()
    made.packs_documents = True
    made.config = SimpleNamespace(_attn_implementation=attention)
    return made


def flat():
    return batches.flattened([[1, 2], [3, 1, 2], [3]], [0, 1, 2])


def test_flash_attention_is_told_where_documents_begin_and_the_longest():
    given = prepare(stub("flash_attention_2"), flat())
    assert given["cu_seq_lens_q"].tolist() == given["cu_seq_lens_k"].tolist() == [0, 2, 5, 6]
    assert given["max_length_q"] == given["max_length_k"] == 3
    assert given["cu_seq_lens_q"].dtype == torch.int32
    assert set(given) == {"input_ids", "position_ids", "cu_seq_lens_q", "cu_seq_lens_k",
                          "max_length_q", "max_length_k"}  # fmt: skip


def test_our_attention_is_told_the_borders_as_integers_and_an_empty_mask():
    given = prepare(stub(NAME), flat())
    assert given["cu_seq_lens_q"] == (0, 2, 5, 6)
    assert given["attention_mask"].ndim == 4 and given["attention_mask"].numel() == 0
    rows = prepare(stub(NAME), batches.padded([[1, 2], [3, 1, 2]], [0, 1]))
    assert rows["cu_seq_lens_q"] == (0, 3, 6)
    single = prepare(stub(NAME), batches.padded([[1], [3]], [0, 1]))
    assert single["cu_seq_lens_q"] == (0, 1, 2)


@pytest.mark.parametrize("attention", ["", None, "sdpa", "eager", "flex_attention"])
def test_attention_that_builds_its_mask_is_told_of_positions_only(attention):
    assert set(prepare(stub(attention), flat())) == {"input_ids", "position_ids"}


def test_other_attention_is_refused_for_packed_rows_only():
    with pytest.raises(ValueError, match="refused with attention 'linear': nothing says"):
        prepare(stub("linear"), flat())
    prepare(stub("linear"), batches.padded([[1, 2], [3]], [0, 1]))
    with pytest.raises(ValueError, match="must not carry an attention_mask"):
        prepare(stub("sdpa"), {**flat(), "attention_mask": torch.ones(1, 6)})


@pytest.mark.parametrize(
    ("mask", "fine"),
    [
        ([[1, 1, 1], [1, 0, 0]], True),
        ([[1, 1, 1], [0, 1, 1]], False),
        ([[1, 0, 1], [1, 1, 1]], False),
        ([[1, 1, 1], [0, 0, 0]], False),
    ],
)
def test_our_attention_takes_rows_that_are_padded_on_the_right(mask, fine):
    batch = {"input_ids": torch.ones(2, 3, dtype=torch.int64), "attention_mask": torch.tensor(mask)}
    if fine:
        assert prepare(stub(NAME), batch)["cu_seq_lens_q"] == (0, 3, 6)
    else:
        with pytest.raises(ValueError, match=f"left padding is refused by {NAME}"):
            prepare(stub(NAME), batch)


@pytest.mark.parametrize(
    ("borders", "message"),
    [
        ([1, 2, 5, 6], r"from 0 to the 6 slots of the micro-batch, got 1 to 6$"),
        ([0, 2, 5], r"from 0 to the 6 slots of the micro-batch, got 0 to 5$"),
        ([0, 2, 5, 7], r"got 0 to 7$"),
        ([0, 3, 5, 6], "they disagree at slot 2 of 6$"),
        ([0, 2, 4, 5, 6], "they disagree at slot 4 of 6$"),
        ([0, 2, 6], "they disagree at slot 5 of 6$"),
    ],
)
def test_borders_that_are_not_those_of_the_positions_are_refused(borders, message):
    wrong = {**flat(), "cu_seqlens": torch.tensor(borders, dtype=torch.int32)}
    with pytest.raises(ValueError, match=message):
        prepare(stub("sdpa"), wrong)


def test_borders_without_positions_are_refused_and_rows_of_one_document_are_not_packed():
    nothing = {name: one for name, one in flat().items() if name != "position_ids"}
    with pytest.raises(ValueError, match="needs position_ids that restart"):
        prepare(stub("sdpa"), nothing)
    pictures = {**flat(), "position_ids": torch.zeros(3, 1, 6, dtype=torch.int64)}
    with pytest.raises(ValueError, match="needs position_ids that restart"):
        prepare(stub("sdpa"), pictures)
    plain = {"input_ids": torch.ones(2, 3, dtype=torch.int64)}
    assert set(prepare(stub("linear"), plain)) == {"input_ids"}
    rows = {**plain, "position_ids": torch.arange(3)[None]}
    assert set(prepare(stub("linear"), rows)) == {"input_ids", "position_ids"}


def test_gradients_that_are_missing_are_0_only_where_another_process_may_have_them():
    class Several(StepWorld):
        several = True

    for world, number in ((StepWorld(), 1), (Several(), 2)):
        model = nn.ParameterList([torch.ones(2), torch.ones(3)])
        with Gradients(model) as gradients:
            model[0].sum().backward()
        gradients.total(world)
        assert [one.tolist() for one in gradients.held.values()] == [[1, 1], [0, 0, 0]][:number]
        gradients.scale_by(0.5)
        assert gradients.norm().item() == pytest.approx(math.sqrt(0.5))


def test_a_wide_gradient_is_given_back_to_memory_when_it_is_handed_over():
    for dtype, kept in ((torch.float64, 0), (None, 1)):
        model = nn.ParameterList([torch.ones(2)])
        with Gradients(model, dtype) as gradients:
            model[0].sum().backward()
        gradients.total(StepWorld())
        gradients.hand_over()
        assert len(gradients.held) == kept and model[0].grad.dtype == torch.float32


@pytest.mark.parametrize(("slots", "calls"), [(1, 6), (4, 2), (6, 1), (7, 1)])
def test_a_chunked_loss_asks_the_head_for_so_many_slots_at_a_time(slots, calls):
    from batchlab import model

    made = model.small(16, hidden=8, heads=2, layers=1)
    batch, seen = batches.padded([[1, 2, 3], [4, 5, 6]], [0, 1]), []
    made.lm_head.register_forward_hook(lambda *call: seen.append(len(call[2])))
    optimizer = torch.optim.SGD(made.parameters(), lr=0.0)
    chunked = train_step(made, optimizer, [batch], loss_chunk=slots)
    assert max(seen) == min(slots, 6) and len(seen) == 2 * calls, "and once more in the backward"
    whole = train_step(made, optimizer, [batch])
    assert chunked.loss == pytest.approx(whole.loss, rel=1e-6)
    assert chunked.grad_norm == pytest.approx(whole.grad_norm, rel=1e-5)


def test_a_chunk_of_no_slot_and_a_model_without_a_head_are_refused():
    with pytest.raises(ValueError, match="at least 1 slot, got 0"):
        step(loss_chunk=0)
    with pytest.raises(ValueError, match="Table does not say which they are"):
        step(loss_chunk=1)

"""One micro-batch has one count, whoever asks: loop, stopwatch, monitor, attention, the caller."""

import pytest
import torch
from torch.overrides import TorchFunctionMode
from transformers.masking_utils import find_packed_sequence_indices

from batchlab import attention, batches, counts, loop, model, monitor, records, stopwatch
from batchlab.attention._varlen import _restarts
from batchlab.counts import IGNORE, Counts
from batchlab.loop._forward import _borders

DOCUMENTS = [[5, 9, 3], [8, 1], [6, 2, 9, 9]]


def left_padded():
    """Positions of padding are whatever the tokenizer left there."""
    right = batches.padded(DOCUMENTS, [0, 2])
    ids, labels = right["input_ids"].clone(), right["labels"].clone()
    ids[0], labels[0] = ids[0].roll(1), labels[0].roll(1)
    mask = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])
    positions = torch.tensor([[1, 0, 1, 2], [0, 1, 2, 3]])
    return {"input_ids": ids, "labels": labels, "attention_mask": mask, "position_ids": positions}


def chunks():
    """A document cut in two: its second part goes on at position 5."""
    ids = torch.tensor([[5, 6, 7, 8, 9, 4]])
    labels = torch.tensor([[IGNORE, 6, 7, IGNORE, 9, 4]])
    positions = torch.tensor([[0, 1, 2, 5, 6, 7]])
    return {"input_ids": ids, "labels": labels, "position_ids": positions}


# documents, real tokens, slots, targets, pairs inside documents, of whole rows, of segments
BY_HAND = {
    "padded": (batches.padded(DOCUMENTS, [0, 2]), (2, 7, 8, 5, 9 + 16, 32, 32)),
    "left-padded": (left_padded(), (2, 7, 8, 5, 9 + 16, 32, 32)),
    "packed with a tail": (
        batches.packed(DOCUMENTS, [[0, 1], [2]], 7),
        (3, 9, 14, 6, 9 + 4 + 16, 98, 9 + 4 + 4 + 16 + 9),
    ),
    "packed, one row full": (
        batches.packed(DOCUMENTS, [[2, 0], [1]], 7),
        (3, 9, 14, 6, 29, 98, 16 + 9 + 4 + 25),
    ),
    "flattened": (batches.flattened(DOCUMENTS, [0, 1, 2]), (3, 9, 9, 6, 29, 81, 29)),
    "chunks": (chunks(), (2, 6, 6, 4, 18, 36, 18)),
}


def expected(numbers, *, varlen):
    *front, whole, inside = numbers
    return Counts(*front, inside if varlen else whole)


@pytest.fixture(params=BY_HAND)
def case(request):
    return BY_HAND[request.param]


def tiny(*, varlen=False):
    made = model.small(16, hidden=16, heads=2, layers=1)
    return attention.prepare(made) if varlen else made


@pytest.mark.parametrize("varlen", [False, True])
def test_a_micro_batch_counts_as_by_hand(case, varlen):
    batch, numbers = case
    assert counts.of(batch, varlen=varlen) == expected(numbers, varlen=varlen)


def test_the_loop_counts_the_same(case):
    batch, numbers = case
    net = tiny()
    one = loop.train_step(net, torch.optim.SGD(net.parameters(), lr=0.1), [batch, batch])
    truth = expected(numbers, varlen=False) + expected(numbers, varlen=False)
    assert (one.real_tokens, one.slots) == (truth.real_tokens, truth.slots)
    assert (one.target_tokens, one.micro_batches) == (truth.target_tokens, 2)
    assert (one.waste, one.target_share) == (truth.waste, truth.target_share)


def test_the_stopwatch_counts_the_same(case):
    batch, numbers = case
    net = tiny()
    watch = stopwatch.Stopwatch(net, torch.optim.SGD(net.parameters(), lr=0.1), "cpu")
    watch.step([batch])
    watch.close()
    assert watch.counts == [expected(numbers, varlen=False)]


@pytest.mark.parametrize("varlen", [False, True])
def test_a_monitored_loop_counts_the_same(case, varlen, tmp_path):
    batch, numbers = case
    if varlen and "attention_mask" in batch and not batch["attention_mask"][:, 0].all():
        pytest.skip("left padding is refused there")
    net = tiny(varlen=varlen)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with monitor.watch(net, optimizer, tmp_path / "run.jsonl"):
        for _ in range(2):  # the first warms up
            loop.train_step(net, optimizer, [batch])
    assert recorded(tmp_path) == expected(numbers, varlen=varlen)


def recorded(folder):
    (found,) = records.read(folder / "run.jsonl")
    return Counts(**{name: found[name] for name in Counts.__dataclass_fields__})


def test_a_loop_of_your_own_is_counted_by_what_the_model_is_given(case, tmp_path):
    """Without labels no target is known, and without `row_tokens` a tail looks like a document."""
    batch, numbers = case
    names = ("input_ids", "position_ids", "attention_mask", "labels")
    given = {name: batch[name] for name in names if name in batch}
    tails = "row_tokens" in batch and int(batch["row_tokens"].sum()) < batch["input_ids"].numel()
    for labelled in (True, False):
        net, path = tiny(), tmp_path / str(labelled)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with monitor.watch(net, optimizer, path / "run.jsonl"):
            for _ in range(2):
                net(**given, use_cache=False).logits.sum().backward()
                optimizer.step()
        found, truth = recorded(path), expected(numbers, varlen=False)
        if not labelled:
            assert found.target_tokens is None
        elif not tails:
            assert found == truth
        else:
            assert found.target_tokens == truth.target_tokens
            assert found.real_tokens == found.slots > truth.real_tokens
        given.pop("labels", None)


@pytest.mark.parametrize("name", ["packed with a tail", "flattened", "chunks"])
def test_attention_and_the_caller_cut_where_the_count_does(name):
    batch, _ = BY_HAND[name]
    rows, slots = batch["input_ids"].shape
    begins = counts.starts(batch["position_ids"]).flatten().nonzero().flatten().tolist()
    assert _borders(batch) == (*begins, rows * slots)
    assert _restarts(batch["position_ids"], rows, slots) == (*begins, rows * slots)


def test_a_document_begins_where_transformers_says():
    """Judge: the rule by which it draws the mask of packed rows."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        positions = torch.randint(0, 3, (3, 16), generator=generator).cumsum(1) % 7
        number = find_packed_sequence_indices(positions)
        if number is None:  # it may say so where nothing restarts
            number = torch.zeros_like(positions)
        judged = torch.ones_like(positions, dtype=torch.bool)
        judged[:, 1:] = number.diff(dim=1) == 1
        assert torch.equal(counts.starts(positions), judged)
    assert counts.starts(chunks()["position_ids"])[0].tolist() == [True, 0, 0, True, 0, 0]
    assert (chunks()["position_ids"] == 0).sum() == 1, "the mistake: only position 0 begins one"


def test_positions_for_all_rows_and_borders_without_positions_are_understood():
    ids = torch.zeros(2, 4, dtype=torch.int64)
    shared = {"input_ids": ids, "position_ids": torch.tensor([[0, 1, 0, 1]])}
    assert counts.of(shared).documents == 4
    bordered = {"input_ids": ids, "cu_seqlens": torch.tensor([0, 1, 4, 8], dtype=torch.int32)}
    assert counts.of(bordered, varlen=True).slot_pairs == 1 + 9 + 16
    assert counts.of({"input_ids": ids}) == Counts(2, 8, 8, None, 32, 32)
    kinds = {"input_ids": ids, "position_ids": torch.zeros(3, 2, 4, dtype=torch.int64)}
    assert counts.of(kinds) == counts.of({"input_ids": ids}), "positions of pictures are passed by"


def test_counts_add_and_ratios_are_of_sums():
    small, large = Counts(1, 9, 10, 6, 81, 100), Counts(1, 50, 100, 49, 2500, 10000)
    both = small + large
    assert both == Counts(2, 59, 110, 55, 2581, 10100)
    assert (both.waste, both.target_share) == (1 - 59 / 110, 55 / 59)
    assert both.waste != pytest.approx((small.waste + large.waste) / 2), "the mistake"
    unknown = both + Counts(documents=1)
    assert unknown == Counts(documents=3), "what one side does not know, the sum does not"
    assert unknown.waste is None and unknown.target_share is None


class Copies(TorchFunctionMode):
    """Notes each copy to the CPU that nobody waits for."""

    def __init__(self):
        super().__init__()
        self.seen, self.stale = 0, 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.Tensor.to and any(isinstance(a, torch.device) for a in args):
            self.seen += 1
            place = next(a for a in args if isinstance(a, torch.device))
            self.stale += place.type == "cpu" and bool(kwargs.get("non_blocking"))
        return function(*args, **kwargs)


def test_no_copy_to_the_cpu_is_read_before_it_has_arrived(case):
    """From a GPU, such a copy with `non_blocking=True` returns memory that is not yet filled."""
    batch, _ = case
    net = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with Copies() as copies:
        loop.train_step(net, optimizer, [batch])
        loop.evaluate(net, [batch])
        counts.of(batch)
    assert copies.seen > 3 and copies.stale == 0
    with Copies() as mistaken:
        batch["labels"].to(torch.device("cpu"), non_blocking=True)
    assert mistaken.stale == 1


def test_a_count_is_taken_where_the_tokens_lie_even_from_two_devices(case):
    batch, _ = case
    there = {name: one.to("meta") for name, one in batch.items() if name != "labels"}
    taken = counts.take({**there, "labels": batch["labels"]})
    assert taken.sums.device.type == "meta" and taken.sums.shape == (5,)


def test_only_the_running_model_is_shown_a_micro_batch():
    batch, _ = BY_HAND["flattened"]
    assert counts.shown() is None
    with pytest.raises(ZeroDivisionError), counts.show(batch):
        assert counts.shown() is batch
        raise ZeroDivisionError
    assert counts.shown() is None


def test_the_label_that_is_not_trained_and_the_micro_batch_are_defined_once():
    from batchlab.data import _corpus
    from batchlab.exercises.accumulation import bigram

    for room in (batches, loop, _corpus, bigram):
        assert room.IGNORE is counts.IGNORE
    assert batches.MicroBatch is loop.MicroBatch is counts.MicroBatch

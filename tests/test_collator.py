"""What stands behind `data_collator=` and `batch_sampler=`: by hand, and what is refused."""

import pickle
from itertools import chain

import numpy as np
import pytest
import torch

from batchlab import batches, buckets, model, packing
from batchlab.batches import collator

THREE = [{"input_ids": [5, 6, 7]}, {"input_ids": [8, 9], "labels": [-100, 9]}, {"input_ids": [4]}]
ROWS = [
    {"input_ids": [5, 6, 7, 8, 9], "seq_lengths": [3, 2]},
    {"input_ids": [4], "labels": [4], "seq_lengths": [1]},
]


def lists(batch):
    return {name: one.tolist() if torch.is_tensor(one) else one for name, one in batch.items()}


def test_each_kind_by_hand():
    assert lists(collator("padded", pad_id=1, round_to=4)(THREE[:2])) == {
        "input_ids": [[5, 6, 7, 1], [8, 9, 1, 1]],
        "labels": [[-100, 6, 7, -100], [-100, 9, -100, -100]],
        "attention_mask": [[1, 1, 1, 0], [1, 1, 0, 0]],
    }
    flat = {
        "input_ids": [[5, 6, 7, 8, 9, 4]],
        "labels": [[-100, 6, 7, -100, 9, -100]],
        "position_ids": [[0, 1, 2, 0, 1, 0]],
    }
    assert lists(collator("flattened")(THREE)) == flat
    assert lists(collator("rows")(ROWS)) == flat
    tail = {
        "input_ids": [[5, 6, 7, 8, 9, 0], [4, 0, 0, 0, 0, 0]],
        "labels": [[-100, 6, 7, -100, 9, -100], [-100] * 6],
        "position_ids": [[0, 1, 2, 0, 1, 0], [0, 0, 1, 2, 3, 4]],
    }
    assert lists(collator("rows", row_length=6)(ROWS)) == tail
    packed = lists(collator("packed", row_length=6, flash=True)(THREE))
    assert packed == {
        "input_ids": [[5, 6, 7, 8, 9, 4]],
        "labels": flat["labels"],
        "position_ids": flat["position_ids"],
        "cu_seq_lens_q": [0, 3, 5, 6], "cu_seq_lens_k": [0, 3, 5, 6],
        "max_length_q": 3, "max_length_k": 3,
    }  # fmt: skip


def test_it_takes_arrays_and_tensors_and_travels_to_a_worker():
    one = collator("flattened")
    wanted = lists(one([[5, 6], [7]]))
    assert lists(pickle.loads(pickle.dumps(one))([np.array([5, 6]), {"input_ids": [7]}])) == wanted
    assert lists(one([{"input_ids": torch.tensor([5, 6])}, [7]])) == wanted


@torch.no_grad()
@pytest.mark.parametrize("flash", [False, True])
def test_documents_that_share_a_row_are_trained_as_alone(flash):
    """A model of transformers reads the positions: nobody looks into another document."""
    net = model.small(32, hidden=16, heads=2, layers=2)
    documents = [{"input_ids": [1 + (5 * n + k) % 30 for k in range(n)]} for n in (4, 9, 2, 7)]
    alone, targets = 0.0, 0
    for one in documents:
        many = len(one["input_ids"]) - 1
        alone += float(net(**collator("padded")([one])).loss) * many
        targets += many
    whole = {"input_ids": [*chain(*(one["input_ids"] for one in documents))],
             "seq_lengths": [4, 9, 2, 7]}  # fmt: skip
    for batch in (
        collator("flattened", flash=flash)(documents),
        collator("packed", row_length=12, flash=flash)(documents),
        collator("rows", flash=flash)([whole]),
        collator("rows", row_length=25, flash=flash)([whole]),
    ):
        assert float(net(**batch, use_cache=False).loss) == pytest.approx(alone / targets, rel=1e-5)


def test_what_no_collator_can_do_is_refused():
    for said, arguments in {
        "unknown kind 'plain'; there are padded, packed": {"kind": "plain"},
        "packed rows have a length": {"kind": "packed"},
        "a padded batch is as wide as its documents": {"kind": "padded", "row_length": 3},
        "cu_seq_lens stand beside documents": {"kind": "padded", "flash": True},
    }.items():
        with pytest.raises(ValueError, match=said):
            collator(**arguments)
    with pytest.raises(ValueError, match="needs at least 1 document"):
        collator("rows")([])
    with pytest.raises(ValueError, match=r'they are packed; use collator\("rows"\)'):
        collator("padded")(ROWS)
    with pytest.raises(ValueError, match="Trainer keeps it with remove_unused_columns=False"):
        collator("rows")(THREE)
    with pytest.raises(ValueError, match="seq_lengths adds up to 4 tokens, the row has 3"):
        collator("rows")([{"input_ids": [1, 2, 3], "seq_lengths": [2, 2]}])
    with pytest.raises(ValueError, match="document 0 of this batch is padded already"):
        collator("flattened")([{"input_ids": [1, 0], "attention_mask": [1, 0]}])


# the sampler ---------------------------------------------------------------------------------

SIZES = np.random.default_rng(0).integers(1, 60, 101)


def budget(**options):
    return buckets.sampler(SIZES, 240, pool=32, **options)


def test_an_epoch_sees_every_document_once_and_the_next_is_another():
    sampler = budget()
    first, second = list(sampler), list(sampler)
    assert first == buckets.by_token_budget(SIZES, 240, pool=32, epoch=0)
    assert second == buckets.by_token_budget(SIZES, 240, pool=32, epoch=1) != first
    assert sorted(chain(*second)) == list(range(101))
    sampler.set_epoch(0)
    assert len(sampler) == len(first) and list(sampler) == first


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_ranks_share_the_documents_in_steps_of_similar_cost(ranks):
    each = [list(budget(ranks=ranks, rank=rank)) for rank in range(ranks)]
    assert len({len(one) for one in each}) == 1
    assert sorted(chain(*chain(*each))) == list(range(101))
    together = list(budget(ranks=ranks))
    assert [together[rank::ranks] for rank in range(ranks)] == each
    assert all(SIZES[one].max() * len(one) <= 240 for one in together)


@pytest.mark.parametrize("stop", [0, 1, 7])
def test_a_position_is_saved_and_taken_up_in_any_epoch(stop):
    sampler = budget(seed=3)
    list(sampler)
    batches_left = iter(sampler)
    seen = [next(batches_left) for _ in range(stop)]
    state = sampler.state_dict()
    assert state == sampler.state_dict(trained=stop) and state["epoch"] == 1
    again = budget(seed=3)
    again.load_state_dict(state)
    again.set_epoch(1)  # as a framework says once more
    assert seen + list(again) == buckets.by_token_budget(SIZES, 240, pool=32, seed=3, epoch=1)
    with pytest.raises(ValueError, match="belongs to other lengths, another budget, seed or"):
        budget(seed=4).load_state_dict(state)
    other = budget(seed=3)
    other.load_state_dict(state)
    other.set_epoch(2)
    assert list(other) == buckets.by_token_budget(SIZES, 240, pool=32, seed=3, epoch=2)


def test_what_cannot_be_dealt_is_refused():
    with pytest.raises(ValueError, match="rank must lie between 0 and 1, got 2"):
        budget(ranks=2, rank=2)
    with pytest.raises(ValueError, match="3 documents alone do not divide over 2 ranks"):
        buckets.sampler([5, 5, 5], 5, ranks=2)
    with pytest.raises(ValueError, match="the budget is 240 slots"):
        buckets.sampler([500], 240)


def test_workers_of_a_plain_loader_build_what_the_sampler_says():
    documents = [{"input_ids": [1] * size} for size in SIZES.tolist()]
    loader = torch.utils.data.DataLoader(
        documents, batch_sampler=budget(), collate_fn=collator("padded")
    )
    tokens = [int(batch["attention_mask"].sum()) for batch in loader]
    assert tokens == [int(SIZES[one].sum()) for one in budget()]
    assert packing.BOUNDARIES == "seq_lengths" and batches.KINDS[-1] == "rows"

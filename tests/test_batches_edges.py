"""Batches and their counts at the edges: exact fits, borders of rounding, masks of other shapes."""

import numpy as np
import pytest
import torch

from batchlab import counts
from batchlab.batches import flattened, packed, padded
from batchlab.counts import IGNORE, Counts


@pytest.mark.parametrize(("longest", "width"), [(1, 4), (3, 4), (4, 4), (5, 8)])
def test_rows_are_rounded_up_and_never_by_a_whole_step(longest, width):
    found = padded([[7] * longest, [7]], [0, 1], round_to=4, pad_id=9)
    assert found["input_ids"].shape == found["attention_mask"].shape == (2, width)
    assert found["input_ids"][1].tolist() == [7] + [9] * (width - 1)
    assert padded([[7] * longest], [0])["input_ids"].tolist() == [[7] * longest]


def test_rounding_to_less_than_1_is_refused():
    with pytest.raises(ValueError, match="round_to must be at least 1, got 0"):
        padded([[1]], [0], round_to=0)
    assert padded([[1, 2]], [0], round_to=1)["labels"].tolist() == [[IGNORE, 2]]


def test_a_row_that_fits_exactly_has_no_tail_and_one_token_more_does_not_fit():
    documents = [[1, 2, 3], [4, 5], [6]]
    found = packed(documents, [[0, 1], [1, 2]], 5, pad_id=9)
    assert found["cu_seqlens"].tolist() == [0, 3, 5, 7, 8, 10]
    assert found["position_ids"].tolist() == [[0, 1, 2, 0, 1], [0, 1, 0, 0, 1]]
    assert found["input_ids"].tolist() == [[1, 2, 3, 4, 5], [4, 5, 6, 9, 9]]
    assert found["row_tokens"].tolist() == [5, 3]
    assert found["max_length"].item() == 3 and found["max_length"].dtype == torch.int32
    with pytest.raises(
        ValueError, match=r"row 1 overflows at document 2: 5 \+ 1 tokens .* 5 slots"
    ):
        packed(documents, [[0], [0, 1, 2]], 5)
    assert packed(documents, [[2]], 5)["max_length"].item() == 4, "the tail is the longest segment"
    assert flattened(documents, [0, 2])["row_tokens"].tolist() == [4]


def test_labels_of_the_document_are_taken_but_the_first_and_left_as_they_are():
    labels = np.array([5, IGNORE, 7])
    given = padded([{"input_ids": [1, 2, 3], "labels": labels}], [0])
    assert given["labels"].tolist() == [[IGNORE, IGNORE, 7]] and labels[0] == 5
    without = padded([{"input_ids": [1, 2, 3]}], [0])
    assert without["labels"].tolist() == [[IGNORE, 2, 3]]
    with pytest.raises(ValueError, match="document 0 has 3 tokens but 4 labels"):
        padded([{"input_ids": [1, 2, 3], "labels": [1, 2, 3, 4]}], [0])


@pytest.mark.parametrize(("document", "shape"), [([], r"\(0,\)"), ([[1, 2]], r"\(1, 2\)")])
def test_a_document_is_a_flat_list_of_tokens(document, shape):
    with pytest.raises(ValueError, match=f"document 1 must be a flat list .* got shape {shape}"):
        packed([[1], document], [[0, 1]], 4)


def test_a_ratio_of_nothing_is_unknown_and_nothing_of_something_is_0():
    assert (
        Counts(real_tokens=0, slots=10).waste == 1 and Counts(real_tokens=10, slots=10).waste == 0
    )
    assert Counts(real_tokens=0, slots=0).waste is None and Counts(real_tokens=3).waste is None
    assert Counts(slots=3).waste is None and Counts(real_tokens=4).target_share is None
    assert Counts(target_tokens=0, real_tokens=4).target_share == 0
    assert Counts(target_tokens=1, real_tokens=4).target_share == 0.25
    assert Counts(target_tokens=0, real_tokens=0).target_share is None
    assert Counts(target_tokens=1).target_share is None


IDS = torch.ones(2, 4, dtype=torch.int64)


def test_a_segment_begins_at_a_row_and_where_both_sides_are_real():
    positions = torch.tensor([[0, 1, 0, 1], [3, 4, 5, 7]])
    assert counts.starts(positions).tolist() == [[1, 0, 1, 0], [1, 0, 0, 1]]
    real = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]], dtype=torch.bool)
    assert counts.starts(positions, real).tolist() == [[1, 0, 0, 0], [1, 0, 0, 1]]
    real = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=torch.bool)
    assert counts.starts(positions, real).tolist() == [[1, 0, 0, 0], [1, 0, 0, 1]]


def test_only_a_mask_of_rows_and_slots_says_what_is_real():
    mask = torch.tensor([[1, 1, 0, 0], [2, 1, 1, 0]])
    for batch, real in (
        ({"attention_mask": mask}, 5),
        ({"attention_mask": mask[:, None, None]}, 8),
        ({}, 8),
        ({"row_tokens": torch.tensor([3, 1])}, 4),
    ):
        whole = {"input_ids": IDS, **batch}
        assert int(counts.real_tokens(whole)) == counts.of(whole).real_tokens == real
    both = {"input_ids": IDS, "attention_mask": mask, "row_tokens": torch.tensor([4, 4])}
    assert int(counts.real_tokens(both)) == counts.of(both).real_tokens == 8


def test_a_row_of_padding_only_holds_no_document():
    mask = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]])
    assert counts.of({"input_ids": IDS, "attention_mask": mask}) == Counts(1, 3, 8, None, 9, 32)


def test_borders_cut_rows_where_there_are_no_positions():
    borders = torch.tensor([0, 1, 4, 6, 8], dtype=torch.int32)
    found = counts.of({"input_ids": IDS, "cu_seqlens": borders}, varlen=True)
    assert found == Counts(4, 8, 8, None, 1 + 9 + 4 + 4, 1 + 9 + 4 + 4)


def test_the_first_label_of_a_row_is_no_target():
    labels = torch.tensor([[5, 5, IGNORE, 5], [IGNORE, IGNORE, IGNORE, IGNORE]])
    assert int(counts.target_tokens(labels)) == 2
    assert counts.of({"input_ids": IDS, "labels": labels}).target_tokens == 2
    assert counts.of({"input_ids": IDS, "labels": labels * 0 + IGNORE}).target_tokens == 0


def test_numbers_are_shown_one_within_the_other():
    one, other = {"input_ids": IDS}, {"input_ids": IDS}
    with counts.show(one):
        with counts.show(other):
            assert counts.shown() is other
        assert counts.shown() is one
    assert counts.shown() is None


def test_rows_of_one_slot_are_documents_of_one_token():
    assert counts.of({"input_ids": IDS[:, :1]}) == Counts(2, 2, 2, None, 2, 2)


def test_whole_rows_are_computed_unless_attention_is_said_to_be_inside_documents():
    batch = flattened([[1, 2, 3], [4]], [0, 1])
    whole, inside = counts.of(batch), counts.of(batch, varlen=True)
    assert (whole.slot_pairs, inside.slot_pairs) == (16, 9 + 1)
    assert counts.take(batch).read() == whole and counts.take(batch).read(varlen=True) == inside


def test_positions_restart_inside_what_a_mask_says_is_real():
    positions = torch.tensor([[0, 1, 0, 1], [0, 1, 2, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    batch = {"input_ids": IDS, "position_ids": positions, "attention_mask": mask}
    assert counts.of(batch, varlen=True) == Counts(3, 7, 8, None, 4 + 4 + 9, 4 + 4 + 16)

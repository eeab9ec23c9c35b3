"""The probe of lesson 04: separate ways leak nothing, wrong ones do, rows are read back."""

import numpy as np
import pytest
import torch

from batchlab import batches, lengths, packing
from batchlab.classroom.probes import attempt
from batchlab.classroom.probes import lesson_04 as probe

DOCUMENTS = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
ROUNDING = 1e-5


def largest_leak(logits, documents) -> float:
    """How far logits of any document move when another one changes."""
    before, worst = logits(documents), 0.0
    for number in range(len(documents)):
        changed = [list(one) for one in documents]
        changed[number] = [(token + 20) % probe.VOCABULARY for token in changed[number]]
        after = logits(changed)
        moved = (
            float(np.abs(a - b).max())
            for other, (a, b) in enumerate(zip(after, before, strict=True))
            if other != number
        )
        worst = max(worst, *moved)
    return worst


@pytest.mark.parametrize("name", probe.SEPARATE)
def test_a_separate_way_leaks_nothing_and_agrees_with_documents_alone(name):
    assert largest_leak(probe.way(name), DOCUMENTS) < ROUNDING
    alone = [probe.way("each document in a row of its own")([one])[0] for one in DOCUMENTS]
    for mine, right in zip(probe.way(name)(DOCUMENTS), alone, strict=True):
        assert mine == pytest.approx(right, abs=ROUNDING)


@pytest.mark.parametrize("name", probe.LEAKS)
def test_a_wrong_way_leaks_far_above_rounding(name):
    assert largest_leak(probe.way(name), DOCUMENTS) > 1000 * ROUNDING


def test_looking_only_at_what_lies_before_the_change_sees_no_default_cache():
    """Causality hides it: the lesson's favourite test that proves nothing."""
    logits = probe.way("positions restart, default cache")
    before, after = logits([[5, 6], [7, 8]]), logits([[5, 6], [17, 18]])
    assert before[0] == pytest.approx(after[0], abs=ROUNDING)


def test_two_documents_do_not_show_that_the_last_border_is_missing():
    assert largest_leak(probe.way(probe.LEAKS[3]), DOCUMENTS[:2]) < ROUNDING


def test_unknown_ways_and_tokens_are_refused():
    with pytest.raises(ValueError, match="there are positions restart"):
        probe.way("by magic")
    with pytest.raises(ValueError, match="from 0 to 63"):
        probe.way("the library")([[64]])


def sft(*sizes: int, pad: int = 3, seed: int = 0):
    return probe.documents(sizes, np.random.default_rng(seed), pad)


def test_documents_begin_with_their_own_token_and_hold_the_padding_token():
    made = sft(7, 4, 1)
    assert [one["input_ids"][0] for one in made] == [8, 9, 10]
    assert [len(one["labels"]) for one in made] == [7, 4, 1]
    assert made[0]["input_ids"][-1] == made[0]["input_ids"][3] == 3


def test_rows_are_read_back_as_document_numbers():
    made = sft(4, 2, 3)
    batch = batches.packed(made, [[2, 0], [1]], 8, pad_id=3)
    assert probe.standing(batch["input_ids"].tolist(), made, 3) == [[2, 0], [1]]
    for slot, token, words in ((1, 40, "part of document 2"), (7, 0, "tokens behind")):
        spoilt = batch["input_ids"].clone()
        spoilt[0, slot] = token
        assert words in probe.standing(spoilt.tolist(), made, 3)


def test_rows_kept_apart_leak_nothing_and_the_broken_collator_leaks():
    made = sft(4, 2, 3, 5)
    rows = [[0, 2], [3, 1]]
    batch = batches.packed(made, rows, 8)
    assert probe.leak(batch, made, rows) < ROUNDING
    ones = torch.ones_like(batch["input_ids"])
    assert probe.leak({**batch, "attention_mask": ones}, made, rows) > 1000 * ROUNDING
    broken = probe.broken_collate(made, 8, 3)
    found = probe.standing(broken["input_ids"].tolist(), made, 3)
    assert probe.leak(broken, made, found) > 1000 * ROUNDING


def test_one_document_a_row_cannot_leak():
    made = sft(4, 2)
    assert probe.leak(batches.packed(made, [[0], [1]], 6), made, [[0], [1]]) == 0.0


def test_the_broken_collator_has_five_faults():
    made = [
        {"input_ids": [8, 6, 2, 7, 2], "labels": [-100, -100, 2, 7, 2]},
        {"input_ids": [9, 5, 2], "labels": [9, 5, 2]},
    ]
    batch = probe.broken_collate(made, 10, 2)
    right = probe.laid(made, [[0, 1]], 10)
    assert "attention_mask" in batch
    assert batch["position_ids"].tolist() != right["position_ids"].tolist()
    assert int(batch["labels"][0, 5]) == 9 and int(right["labels"][0, 5]) == -100
    assert int(batch["labels"][0, 4]) == -100 and int(right["labels"][0, 4]) == 2
    assert probe.broken_collate(made, 4, 2)["input_ids"].shape == (2, 4)  # cut in silence


def test_first_fit_by_sums_agrees_with_the_library():
    rng = np.random.default_rng(1)
    for _ in range(20):
        some = rng.integers(1, 11, 25)
        rows = packing.pack(some, 10, method="first_fit_decreasing").rows
        assert probe.first_fits(some, 10) == sorted(sorted(some[row].tolist()) for row in rows)


def test_one_row_length_is_to_be_found_and_a_longer_one_misses_the_goal():
    why = probe.rows_refused(lengths.embedded())
    (found,) = set(probe.ROW_LENGTHS) - set(why)
    assert found == 4864
    assert "more than" in why[found + 256]
    assert probe.row_finder(lengths.embedded()).state["goal"]


@pytest.mark.parametrize("name", ["first_fit_decreasing", "lay_out", "may_look", "collate"])
def test_a_blank_is_replaced_by_the_library_and_the_library_by_nothing(name, capsys):
    def blank(*_):
        raise NotImplementedError

    library = probe.your(name, blank)
    assert "still blank" in capsys.readouterr().out
    assert probe.your(name, library) is library
    assert f"run on your {name}" in capsys.readouterr().out


def test_a_wrong_piece_is_replaced_and_a_drawing_that_fails_says_so(capsys):
    assert attempt.working("f", lambda: 1, max, lambda f: f() == 2) is max
    assert "not give what it should" in capsys.readouterr().out
    assert attempt.shown(lambda: 7) == 7
    assert attempt.shown(lambda: [][1]) is None
    assert "IndexError" in capsys.readouterr().out

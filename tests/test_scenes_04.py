"""Lesson 04: ways to logits that leak or not, a collator's rows read back, what the page says."""

import inspect

import numpy as np
import pytest
import torch

from batchlab import batches, exercises, packing
from batchlab.exercises.packing import bench, isolation_test, mend_collator, nested, scenes
from batchlab.exercises.packing.first_fit import by_lengths, first_fit_decreasing

DOCUMENTS = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
ROUNDING = 1e-5
of = isolation_test.of


def version(words):
    """A leaking version in fresh state, by words of its thought."""
    (one,) = [mistake for mistake in of.mistakes if words in mistake.thought]
    return of.of(one.text)


def largest_leak(logits, documents=DOCUMENTS):
    """How far logits of any document move when another one changes."""
    before, worst = logits(documents), 0.0
    for number in range(len(documents)):
        changed = [list(one) for one in documents]
        changed[number] = [(token + 20) % bench.VOCABULARY for token in changed[number]]
        after = logits(changed)
        for other in {*range(len(documents))} - {number}:
            moved = np.abs(after[other] - before[other])
            worst = max(worst, float(np.nan_to_num(moved, nan=np.inf).max()))
    return worst


@pytest.mark.parametrize("way", ["positions restart", *of.styles])
def test_a_right_way_leaks_nothing_and_agrees_with_documents_alone(way):
    logits = of.of(of.styles[way]()) if way in of.styles else of.right
    assert largest_leak(logits) < ROUNDING
    for mine, document in zip(logits(DOCUMENTS), DOCUMENTS, strict=True):
        assert mine == pytest.approx(of.right([document])[0], abs=ROUNDING)


@pytest.mark.parametrize("leak", isolation_test.LEAKS)
def test_a_wrong_way_leaks_as_far_as_the_page_says(leak):
    assert largest_leak(version(leak)) >= 0.01


@pytest.mark.parametrize(
    ("leak", "blind"),
    [
        ("only lower", lambda a, b: (b - a).max()),
        ("only raise", lambda a, b: (a - b).max()),
        ("their mean stays", lambda a, b: abs(b.mean() - a.mean())),
        ("only the first slot of", lambda a, b: abs(b[1:] - a[1:]).max()),
        ("only the last slot", lambda a, b: abs(b[:-1] - a[:-1]).max()),
        ("NaN", lambda a, b: np.nanmax(np.append(abs(b - a), 0.0))),
        ("score of one token", lambda a, b: abs(b - a)[:, :32].max()),
        ("largest scores", lambda a, b: float(not np.allclose(b, a, rtol=0.5, atol=1e-5))),
        ("no neighbours", lambda a, b: abs(b - a).max()),
    ],
)
def test_each_leak_made_by_hand_is_missed_by_one_kind_of_test(leak, blind):
    logits, changed = version(leak), [DOCUMENTS[0], [40, 41], DOCUMENTS[2]]
    before, after = logits(DOCUMENTS), logits(changed)
    assert blind(before[0], after[0]) < ROUNDING and blind(before[2], after[2]) < ROUNDING


def test_causality_hides_a_leak_from_who_looks_at_what_lies_before_the_change():
    logits = version("positions restart, def")
    before, after = logits([[5, 6], [7, 8]]), logits([[5, 6], [17, 18]])
    assert before[0] == pytest.approx(after[0], abs=ROUNDING)
    assert largest_leak(version("last border is missing"), DOCUMENTS[:2]) < ROUNDING


def test_a_version_comes_in_fresh_state_and_refuses_tokens_that_the_model_does_not_know():
    assert all(largest_leak(version("only raise")) < 5 * isolation_test.STEP for _ in range(2))
    with pytest.raises(ValueError, match="from 0 to 63"):
        of.right([[64]])


def sft(*sizes, pad=3):
    return bench.documents(sizes, np.random.default_rng(0), pad)


def test_rows_are_read_back_as_document_numbers():
    made = sft(4, 2, 3)
    assert [one["input_ids"][0] for one in made] == [8, 9, 10]
    batch = batches.packed(made, [[2, 0], [1]], 8, pad_id=3)
    assert bench.standing(batch, made, 3) == [[2, 0], [1]]
    for slot, token in ((1, 40), (7, 0)):
        spoilt = {name: batch[name].clone() for name in ("input_ids", "labels")}
        spoilt["input_ids"][0, slot] = token
        assert "whole documents" in bench.standing(spoilt, made, 3)


def test_equal_documents_stand_for_one_each_and_are_told_apart_by_their_labels():
    made = [*sft(4, 2), sft(4, 2)[1]]
    assert bench.standing(batches.packed(made, [[0, 1, 2]], 9, pad_id=3), made, 3) == [[0, 1, 2]]
    assert bench.standing(batches.packed(made, [[0, 1]], 9, pad_id=3), made, 3) == [[0, 1]]
    twins = [{"input_ids": [9, 5], "labels": [-100, one]} for one in (-100, 5)]
    assert bench.standing(batches.packed(twins, [[1, 0]], 5, pad_id=3), twins, 3) == [[1, 0]]


def test_only_positions_or_a_causal_mask_in_blocks_keep_documents_apart():
    made, rows = sft(4, 2, 3, 5), [[0, 2], [3, 1]]
    batch = batches.packed(made, rows, 8)
    assert max(bench.leak(batch, made, rows), bench.unlike_alone(batch, made, rows)) < ROUNDING
    ones = torch.ones_like(batch["input_ids"])
    assert bench.leak({**batch, "attention_mask": ones}, made, rows) > 1000 * ROUNDING
    segment = torch.cumsum(batch["position_ids"] == 0, 1)
    blocks = (segment[:, :, None] == segment[:, None, :])[:, None]
    for mask, same in ((torch.tril(blocks), True), (blocks, False)):
        masked = {**batch, "attention_mask": mask}
        assert bench.leak(masked, made, rows) < ROUNDING
        assert (bench.unlike_alone(masked, made, rows) < ROUNDING) is same
    apart = batches.packed(made[:2], [[0], [1]], 6)
    assert bench.leak(apart, made[:2], [[0], [1]]) == 0.0


def test_a_mask_that_the_model_cannot_take_is_a_fault_and_no_crash():
    case = mend_collator.exercise.shown[0]
    batch = mend_collator.collate(*case)
    said = bench.fault({**batch, "attention_mask": torch.ones(2, 3, 5, 7)}, *case)
    assert said.startswith("the model fails on it")


def test_the_printed_collator_runs_where_it_is_pasted_and_has_five_faults():
    names = {"packing": packing}
    exec(inspect.getsource(scenes.broken_collate), names)
    case = mend_collator.exercise.shown[0]
    batch, right = names["broken_collate"](*case), mend_collator.collate(*case)
    assert "attention_mask" in batch
    assert batch["position_ids"].tolist() != right["position_ids"].tolist()
    assert int(batch["labels"][0, 0]) == 9 and int(right["labels"][0, 0]) == -100
    assert int(batch["labels"][0, 4]) == -100 and int(right["labels"][0, 4]) == 2
    assert names["broken_collate"](sft(9, 2), 4, 2)["input_ids"].shape == (2, 4)  # cut in silence
    text = inspect.getsource(scenes.broken_collate).replace("broken_", "", 1)
    said = exercises.refusal("packing/mend-collator", text)
    assert "wherever the token is `pad`, and a first label crosses" in said


def test_first_fit_agrees_with_the_library():
    rng = np.random.default_rng(1)
    for _ in range(20):
        some = rng.integers(1, 11, 25)
        rows = packing.pack(some, 10, method="first_fit_decreasing").rows
        assert by_lengths(first_fit_decreasing(some, 10), some) == by_lengths(rows, some)
    assert nested((rows[0], (0, np.int64(1)))) == [rows[0].tolist(), [0, 1]]
    assert nested({1: object()}) is None


def test_a_blank_is_replaced_by_ours_and_ours_by_nothing(capsys):
    def blank(*_):
        raise NotImplementedError

    ours = scenes.your("collate", blank)
    assert "still blank" in capsys.readouterr().out
    assert scenes.your("collate", ours) is ours
    assert "run on your collate" in capsys.readouterr().out

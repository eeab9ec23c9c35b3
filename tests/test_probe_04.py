"""The probe of lesson 04: separate ways leak nothing, wrong ones do, rows are read back."""

import inspect

import numpy as np
import pytest
import torch

from batchlab import batches, lengths, packing
from batchlab.classroom.probes import attempt
from batchlab.classroom.probes import lesson_04 as probe
from batchlab.classroom.probes.lesson_04_masks import BEHIND

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
            float(np.nan_to_num(np.abs(a - b), nan=np.inf).max())
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


@pytest.mark.parametrize(
    ("leak", "blind"),
    [
        ("only lower", lambda a, b: (b - a).max()),
        ("only raise", lambda a, b: (a - b).max()),
        ("their mean stays", lambda a, b: abs(b.mean() - a.mean())),
        ("only the first slot", lambda a, b: abs(b[1:] - a[1:]).max()),
        ("only the last slot", lambda a, b: abs(b[:-1] - a[:-1]).max()),
        ("NaN", lambda a, b: np.nanmax(np.append(abs(b - a), 0.0))),
        ("score of one token", lambda a, b: abs(b - a)[:, :32].max()),
        ("largest scores", lambda a, b: float(not np.allclose(b, a, rtol=0.5, atol=1e-5))),
    ],
)
def test_each_leak_made_by_hand_is_missed_by_one_kind_of_test(leak, blind):
    (name,) = [one for one in probe.LEAKS if leak in one]
    logits, changed = probe.way(name), [DOCUMENTS[0], [40, 41], DOCUMENTS[2]]
    before, after = logits(DOCUMENTS), logits(changed)
    assert blind(before[0], after[0]) < ROUNDING and blind(before[2], after[2]) < ROUNDING


def test_a_leak_between_documents_apart_is_missed_by_who_changes_the_middle_one():
    (name,) = [one for one in probe.LEAKS if "no neighbours" in one]
    logits = probe.way(name)
    before, after = logits(DOCUMENTS), logits([DOCUMENTS[0], [40, 41], DOCUMENTS[2]])
    for number in (0, 2):
        assert before[number] == pytest.approx(after[number], abs=ROUNDING)


def test_three_leaks_need_a_document_of_several_tokens_or_a_certain_one_of_them_changed():
    def stays(words, before, after, document):
        (name,) = [one for one in probe.LEAKS if words in one]
        old, new = (probe.way(name)(texts)[document] for texts in (before, after))
        return abs(old - new).max() < ROUNDING

    first, last = ([[40, 6, 7], *DOCUMENTS[1:]], [[5, 6, 40], *DOCUMENTS[1:]])
    for words, missed, met in (("too early", first, last), ("first slot of the row", last, first)):
        assert stays(words, DOCUMENTS, missed, 1) and not stays(words, DOCUMENTS, met, 1)
    assert stays("positions are compared", [[1], [2], [3]], [[40], [2], [3]], 2)


def test_equal_tokens_are_told_apart_by_their_labels():
    made = [{"input_ids": [9, 5], "labels": [-100, one]} for one in (-100, 5)]
    batch = batches.packed(made, [[1, 0]], 5, pad_id=3)
    ids, labels = batch["input_ids"].tolist(), batch["labels"].tolist()
    assert probe.standing(ids, made, 3, labels) == [[1, 0]]


def test_an_answer_that_remembers_an_earlier_case_is_known():
    probe.known("first-fit", [6, 5, 4, 3], 10)
    kept = [
        rows for rows, thought in probe.known("first-fit", [6, 5, 4, 3], 12) if "earlier" in thought
    ]
    assert [[3, 5], [4, 6]] in kept
    assert probe.known("may-look", [1] * 700) == []


def test_the_leaks_come_in_fresh_state_each_time():
    for _ in range(2):
        ways = probe.leaking()
        assert list(ways) == list(probe.LEAKS)
        assert largest_leak(ways[probe.LEAKS[5]], DOCUMENTS) < 5 * 0.012
    assert len(probe.separate()) == len(probe.SEPARATE)


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


def test_equal_documents_stand_for_one_each_and_a_lost_one_is_missed():
    made = [*sft(4, 2), sft(4, 2)[1]]
    batch = batches.packed(made, [[0, 1, 2]], 9, pad_id=3)
    assert probe.standing(batch["input_ids"].tolist(), made, 3) == [[0, 1, 2]]
    once = batches.packed(made, [[0, 1]], 9, pad_id=3)
    assert probe.standing(once["input_ids"].tolist(), made, 3) == [[0, 1]]


def blocks(positions, causal=True):
    segment = torch.cumsum(positions == 0, 1)
    mask = segment[:, :, None] == segment[:, None, :]
    return (torch.tril(mask) if causal else mask)[:, None]


def test_logits_are_those_of_documents_alone_only_under_a_causal_mask():
    made, rows = sft(4, 2, 3, 5), [[0, 2], [3, 1]]
    batch = batches.packed(made, rows, 8)
    assert probe.unlike_alone(batch, made, rows) < ROUNDING
    for causal in (True, False):
        masked = {**batch, "attention_mask": blocks(batch["position_ids"], causal)}
        assert probe.leak(masked, made, rows) < ROUNDING
        assert (probe.unlike_alone(masked, made, rows) < ROUNDING) == causal


@pytest.mark.parametrize(
    ("name", "mistakes"),
    [("labels", probe.label_mistakes), ("position_ids", probe.position_mistakes)],
)
def test_every_mistake_of_a_collator_differs_from_the_right_one_somewhere(name, mistakes):
    turns = {"input_ids": [20, 3, 5, 3], "labels": [20, -100, 6, 3]}
    plain = {"input_ids": [21, 4, 5], "labels": [21, 4, 5]}
    cases = [([*sft(7, 1), turns, plain], [[0, 1], [2, 3]]), ([turns, plain, plain], [[1, 2, 0]])]
    every, seen = set(), set()
    for made, rows in cases:
        right = probe.laid(made, rows, 12)[name]
        ids = batches.packed(made, rows, 12, pad_id=3)["input_ids"]
        for wrong, thought in mistakes(ids, made, rows, 3):
            assert wrong.shape == right.shape
            every.add(thought)
            seen |= set() if torch.equal(wrong, right) else {thought}
    assert seen == every


def test_the_printed_collator_runs_where_it_is_pasted():
    source = inspect.getsource(probe.broken_collate)
    names = {"torch": torch, "packing": packing}
    exec(source, names)
    assert names["broken_collate"](sft(4, 2), 8, 3)["input_ids"].shape == (1, 8)


CASES = {
    "first-fit": [
        ([1, 5, 8, 2, 1, 7, 4], 10),
        ([10, 3, 10, 7], 10),
        ([5, 5, 5, 5], 10),
        ([20000, 18000, 11000, 9000], 32000),
    ],
    "input_ids": [
        ([[5, 6, 7], [8, 9]], 7),
        ([[5, 6], [7], [8, 9, 4]], 12),
        ([[5, 6], [8], [5, 6]], 6),
        ([[70_000, 5], [150_000]], 4),
    ],
    "cu_seqlens": [([[5, 6, 7], [8, 9]], 7), ([[5, 6, 7], [8]], 5), ([[5, 6], [7], [8, 9, 4]], 12)],
    "position_ids": [([[5, 6, 7], [8, 9]], 7), ([[5, 6], [7], [8, 9, 4]], 12)],
    "labels": [([[5, 6, 7], [8, 9]], 7), ([[5, 0, 7], [8, 0]], 7), ([[5, 6, 5, 9], [7, 5, 4]], 7)],
    "may-look": [([3, 2],), ([1, 2, 1, 1],), ([6, 1, 2],), ([1] * 300,), ([3, 3],)],
    "documents-behind": probe.steps(),
}


@pytest.mark.parametrize("name", CASES)
def test_every_known_mistake_shows_in_a_case_of_the_lesson(name):
    seen = {thought for case in CASES[name] for _, thought in probe.mistakes(name, *case)}
    every = {
        "first-fit": 11,
        "input_ids": 7,
        "cu_seqlens": 10,
        "position_ids": 7,
        "labels": 15,
        "may-look": 23,
        "documents-behind": len(BEHIND),
    }
    assert len(seen) == every[name]


def test_right_versions_agree_with_the_library():
    assert probe.row([[5, 6, 7], [8, 9]], 7) == {
        "input_ids": [5, 6, 7, 8, 9, 0, 0],
        "position_ids": [0, 1, 2, 0, 1, 0, 1],
        "labels": [-100, 6, 7, -100, 9, -100, -100],
        "cu_seqlens": [0, 3, 5, 7],
    }
    mask, same, at = probe.looks([2, 1])
    assert mask.tolist() == [[True, False, False], [True, True, False], [False, False, True]]
    assert same[0, 1] and at == [0, 1, 0]


def test_rows_are_read_from_any_sequence_of_sequences():
    rows = packing.pack([4, 7, 3, 6], 10, method="first_fit_decreasing").rows
    assert probe.rows_of(rows) == [row.tolist() for row in rows]
    assert probe.rows_of(((0, 1), np.array([2]))) == [[0, 1], [2]]
    for no in ([0, 1], [[0.5]], [[[1]]], None, 3, "ab", [[True]]):
        assert probe.rows_of(no) is None


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
    why, found = probe.rows_refused(lengths.embedded()), probe.row_to_find(lengths.embedded())
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

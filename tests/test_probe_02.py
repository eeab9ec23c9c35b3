"""The probe of lesson 02: its right versions agree with the library, its wrong ones do not."""

import numpy as np
import pytest
import torch

from batchlab import batches, lengths, padding
from batchlab.classroom.probes import collators
from batchlab.classroom.probes import lesson_02 as probe
from batchlab.classroom.probes.attempt import mistakes_of

SEVERAL = [[1, 2], [7], [30, 30]]


def library(measure, several):
    flat = [tokens for batch in several for tokens in batch]
    numbers, start = [], 0
    for batch in several:
        numbers.append(range(start, start + len(batch)))
        start += len(batch)
    return measure(flat, numbers).waste


@pytest.mark.parametrize("several", [[[5, 3]], [[2, 1], [30, 30]], SEVERAL])
def test_right_counts_are_those_of_the_library(several):
    for version in probe.RIGHT["waste"]:
        assert version(several) == pytest.approx(library(padding.measure, several), rel=1e-12)
    pairs = library(padding.measure_pairs, several)
    assert probe.RIGHT["pair-waste"][0](several) == pytest.approx(pairs, rel=1e-12)


def test_the_expected_longest_has_two_right_versions_of_one_value():
    tokens = np.random.default_rng(0).integers(1, 12, 60).tolist()
    for rows in (1, 2, 7, 60):
        one, other = (version(tokens, rows) for version in probe.RIGHT["expected-longest"])
        assert one == pytest.approx(other, rel=1e-12)


def test_the_bound_adds_times_and_not_factors():
    (bound,) = probe.RIGHT["bound"]
    assert bound(40, 100, 0.2) == pytest.approx(1 / 0.52)
    assert bound(8012, 32000, 0.0) == pytest.approx(32000 / 8012)
    assert bound(8012, 32000, 1.0) == 1


CASES = {
    "waste": [
        ([[4, 4]],),
        ([[5, 3]],),
        ([[2, 1], [30, 30]],),
        ([[512, 480, 4000]],),
        (SEVERAL,),
        ([[3, 6, 4], [1]],),
        ([[5, 3], [5, 3], [4, 4]],),
        ([[40_000, 300], [2]],),
        ([[1, 2], [3, 3]],),
    ],
    "bound": [
        (40, 100, 0.2),
        (8012, 32000, 0.1),
        (20, 100, 0.7),
        (0, 100, 0.2),
        (1, 1000, 0.01),
    ],
    "pair-waste": [
        ([[5, 3]],),
        ([[1, 2], [30, 20]],),
        ([[3, 6, 2], [7], [5, 4]],),
        ([[50_000, 300], [70_000]],),
    ],
    "expected-longest": [([1, 2, 3], 2), ([8, 2, 5, 3], 2), ([4, 4, 1, 9], 2)],
}


@pytest.mark.parametrize(("name", "thought"), [(n, t) for n in CASES for t in probe.WRONG[n]])
def test_every_known_mistake_has_a_case_that_names_it(name, thought):
    """Right is another value, and no earlier mistake of the table claims this one."""
    for case in CASES[name]:
        right = probe.RIGHT[name][0](*case)
        known = [(value, why) for value, why in mistakes_of(probe.WRONG[name], *case)]
        own = [value for value, why in known if why == thought]
        first = next((why for value, why in known if own and np.isclose(value, own[0])), "")
        if own and not np.isclose(own[0], right) and first == thought:
            return
    pytest.fail(f"no case of {name} shows: {thought}")


@pytest.mark.parametrize("thought", collators.WRONG)
def test_every_wrong_collator_differs_from_the_right_one_on_the_documents_of_the_lesson(thought):
    with_empty = [probe.DOCUMENTS[0], {"input_ids": []}]
    cases = [
        (probe.DOCUMENTS, *o)
        for o in ((0,), (9,), (0, 4), (0, 5), (1, 1, 3), (0, 3, 4), (0, 4, 60))
    ]
    for case in [*cases, (with_empty, 0)]:
        right, rights = collators.collate(*case)
        wrong, counts = collators.WRONG[thought](*case)
        if counts != rights or any(not torch.equal(wrong[n], right[n]) for n in right):
            return
    pytest.fail(f"never differs: {thought}")


@pytest.mark.parametrize("options", [{}, {"multiple_of": 4}])
def test_the_right_collator_makes_the_padded_batch_of_the_library(options):
    tensors, counts = collators.collate(probe.DOCUMENTS, 0, **options)
    theirs = batches.padded(probe.DOCUMENTS, [0, 1], round_to=options.get("multiple_of", 1))
    for name in ("input_ids", "attention_mask"):
        assert torch.equal(tensors[name], theirs[name])
    assert torch.equal(tensors["labels"][:, 1:], theirs["labels"][:, 1:])  # the first is never read
    assert counts["slots"] == theirs["input_ids"].numel()
    assert counts["real_tokens"] == int(theirs["attention_mask"].sum())


def test_a_part_of_a_wrong_collator_is_only_given_where_it_is_wrong():
    case = (probe.DOCUMENTS, 0)
    right, counts = collators.collate(*case)
    masks = probe.parts("attention_mask", *case)
    assert masks and all(not np.array_equal(mask, right["attention_mask"]) for mask, _ in masks)
    assert all(value != counts["slots"] for value, _ in probe.parts("slots", *case))


def test_a_thought_is_given_only_where_no_known_mistake_fits():
    case = [[2, 1], [30, 30]]
    assert probe.likely("waste", 1 / 64, "new", case) == {}
    assert probe.likely("waste", 0.125, "new", case)[0.125].startswith("the mean of the batches")
    assert probe.likely("waste", 0.3, "new", case)[0.3] == "new"
    two = (probe.DOCUMENTS, 0)
    assert probe.guesses("slots", 10, "new", *two) == []
    assert dict(probe.guesses("slots", 11, "new", *two))[11] == "new"
    assert "new" not in dict(probe.guesses("slots", 2, "new", *two)).values()


def test_a_mistake_that_the_first_cases_refuse_is_no_thought_of_a_later_one():
    case = [[1000, 999], [401]]
    assert any(why.startswith("a whole division") for why in probe.mistakes("waste", case).values())
    found = probe.likely("waste", 0.1, "new", case)
    assert not any(why.startswith("a whole division") for why in found.values())


@pytest.mark.parametrize("seed", range(3))
def test_the_cases_hold_one_row_many_rows_and_numbers_beyond_32_bits(seed):
    for name, cases in (("waste", probe.waste_cases), ("pair-waste", probe.pair_waste_cases)):
        several = [case for _, (case,), _ in cases(np.random.default_rng(seed))]
        assert [[7]] in several and max(map(len, several)) == 3000
        power = 1 if name == "waste" else 2
        assert max(max(map(max, case)) for case in several) ** power > 2**32
        one, *others = probe.RIGHT[name]
        for case in several:
            assert all(other(case) == pytest.approx(one(case), rel=1e-9) for other in others)
    one, other = probe.RIGHT["expected-longest"]
    tokens = lengths.embedded().tolist()
    for _, case, _ in probe.longest_cases(np.random.default_rng(seed), tokens):
        assert one(*case) == pytest.approx(other(*case), rel=1e-9)
    rectangles = probe.collate_cases(np.random.default_rng(seed))
    assert max(len(case.documents) for case in rectangles) == 40
    assert any(case.named for case in rectangles)


def test_the_setting_keeps_both_limits_and_is_no_corner():
    rows, window = probe.best_setting()
    assert probe.wastes()[rows, window] <= probe.MOST_WASTE < probe.wastes()[rows, window - 8]
    assert rows * window <= probe.MOST_HELD
    offered = sorted({pair[0] for pair in probe.wastes()})
    assert rows not in (offered[0], offered[-1])
    tokens = lengths.embedded()
    order = padding.in_windows(tokens, rows, window=window, rng=np.random.default_rng(0))
    assert probe.wastes()[rows, window] == padding.measure(tokens, order).waste


def test_every_other_setting_has_a_reason():
    reasons = dict(probe.wrong_settings())
    assert len(reasons) == len(probe.wastes())  # all but the best, and the best turned round
    assert reasons[probe.best_setting()[::-1]].startswith("rows come first")
    assert all(reasons.values())


def test_the_widget_finds_the_setting_and_no_other():
    found = probe.finder()
    best = dict(zip(("rows", "window"), probe.best_setting(), strict=True))
    assert found.scene(best)["found"]
    assert not found.scene({"rows": 40, "window": 55})["found"]

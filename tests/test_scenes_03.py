"""What the page of lesson 03 shows: its record and its orders; and how it measures."""

import numpy as np
import pytest

from batchlab import buckets, lengths, padding, records
from batchlab.exercises.buckets import elsewhere, reach, scenes
from batchlab.exercises.buckets.under_budget import under_budget


@pytest.mark.parametrize("name", scenes.ORDERS)
def test_every_order_holds_every_document_once_in_steps_of_equal_target_tokens(name):
    numbers = np.concatenate(scenes.order(name, seed=1))
    assert sorted(numbers.tolist()) == list(range(len(scenes.documents())))
    targets = scenes._corpus()["targets"]
    steps = scenes._steps(numbers, targets)
    fair = targets.sum() / len(steps)
    assert len(steps) == len(targets) // scenes.ROWS
    assert all(abs(targets[step].sum() - fair) <= targets.max() for step in steps)


def test_the_record_says_what_the_lesson_says():
    runs = records.read("order_curves")
    for name in scenes.ORDERS:
        mine = [run for run in runs if run["order"] == name]
        assert [run["seed"] for run in mine] == list(range(10))
        assert all(len(run["loss"]) == scenes.POINTS for run in mine)
    end = {n: np.array([r["loss"][-1] for r in runs if r["order"] == n]) for n in scenes.ORDERS}
    gap = {name: ends - end["shuffled"] for name, ends in end.items()}
    error = {name: each.std(ddof=1) / 10**0.5 for name, each in gap.items()}
    assert (gap["longest first"] > 0).all()
    assert 0.4 < gap["sorted, mixed"].mean() / gap["longest first"].mean() < 0.6
    for close in ("windows, mixed", "sorted in fours, mixed"):
        assert 0 < gap[close].mean() < 2 * error[close]
    assert abs(gap["shortest first"].mean()) < error["shortest first"]
    last, before = (
        np.mean([run["loss"][at] for run in runs if run["order"] == "shuffled"]) for at in (-1, -2)
    )
    assert round(before - last, 2) == 0.14  # nats, in an eighth of the tokens
    windows = gap["windows, mixed"].mean(), 2 * error["windows, mixed"]
    assert [round(one, 2) for one in windows] == [0.07, 0.10]
    behind = [gain / (before - last) / 8 for gain in (windows[0], sum(windows))]
    assert [round(share, 2) for share in behind] == [0.06, 0.15]


def test_windows_compute_about_half_of_the_slots_of_shuffled():
    slots = {
        name: padding.measure(scenes.documents(), scenes.order(name, seed=0)).slots
        for name in ("shuffled", "windows, mixed")
    }
    assert 0.4 < slots["windows, mixed"] / slots["shuffled"] < 0.6


def test_waiting_is_a_share_of_all_ranks_time_not_a_mean_of_shares():
    assert scenes.waiting([[4, 0], [2, 2]]) == pytest.approx(4 / 12)


def test_the_plain_cut_agrees_with_the_library_on_sorted_documents():
    tokens = lengths.embedded()[:700]
    order = np.argsort(tokens, kind="stable").tolist()
    made = under_budget(tokens.tolist(), order, 8192)
    assert len(made) == len(buckets.by_token_budget(tokens, 8192, pool=700))


def test_a_learners_cut_is_taken_where_it_cuts_a_small_case_right(capsys):
    assert scenes.cutter(lambda lens, order, slots: [order])([3, 3], [0, 1], 3) == [[0], [1]]
    own = scenes.cutter(lambda *given: under_budget(*given))
    assert own([3, 3], [0, 1], 3) == [[0], [1]]
    said = capsys.readouterr().out.splitlines()
    assert "library's way" in said[0] and "your under_budget" in said[1]


def test_elsewhere_a_text_has_another_hash_and_a_number_the_same():
    text, number = hash("7"), hash(7)
    with elsewhere():
        assert hash("7") != text and hash(7) == number and {"7": 7}["7"] == 7


def test_sorting_over_more_reaches_less_far_and_over_fewer_farther():
    tokens, rng = np.random.default_rng(5).permutation(1600) + 1, np.random.default_rng(0)
    for window, low, high in ((8, 0.9, 1.1), (100, 0, 0.3), (1, 3, 20)):
        made = [[int(n) for n in b] for b in padding.in_windows(tokens, 4, window=window, rng=rng)]
        assert low < reach([made], tokens, 32, 4) < high


@pytest.mark.parametrize(("documents", "step", "window"), [(128, 8 * 4, 32), (1000, 4, 50 * 4)])
def test_group_by_length_sorts_a_quarter_of_the_data_at_most_fifty_steps(documents, step, window):
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    draw = torch.Generator().manual_seed(0)
    order = get_length_grouped_indices(list(range(documents)), step, generator=draw)
    sizes = np.array(order).reshape(-1, window)
    falls = np.diff(sizes[:, 1:]) < 0  # the first of a window may be exchanged for the longest
    assert falls.all() and (sizes[:-1, -1] < sizes[1:, 1]).all()

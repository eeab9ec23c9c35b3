"""The probe of lesson 03 compares orders and nothing else; its record is what the lesson says."""

import numpy as np
import pytest

from batchlab import buckets, lengths, padding, records
from batchlab.classroom import probes
from batchlab.classroom.probes import lesson_03, orders_03

probe = probes.load("03_buckets")


@pytest.mark.parametrize("name", probe.ORDERS)
def test_every_order_holds_every_document_once(name):
    numbers = np.concatenate(probe.order(name, seed=1))
    assert sorted(numbers.tolist()) == list(range(len(probe.documents())))


@pytest.mark.parametrize("name", probe.ORDERS)
def test_steps_take_equal_target_tokens_to_one_document(name):
    targets = orders_03._corpus()["targets"]
    steps = orders_03._steps(np.concatenate(probe.order(name, seed=0)), targets)
    assert len(steps) == len(targets) // probe.ROWS
    fair = targets.sum() / len(steps)
    assert all(abs(targets[step].sum() - fair) <= targets.max() for step in steps)


def test_the_record_has_ten_seeds_of_every_order_in_one_order_of_seeds():
    runs = records.read("order_curves")
    for name in probe.ORDERS:
        mine = [run for run in runs if run["order"] == name]
        assert [run["seed"] for run in mine] == list(range(10))
        assert all(len(run["loss"]) == probe.POINTS for run in mine)


def test_the_record_says_what_the_lesson_says():
    runs = records.read("order_curves")
    end = {n: np.array([r["loss"][-1] for r in runs if r["order"] == n]) for n in probe.ORDERS}
    gap = {name: ends - end["shuffled"] for name, ends in end.items()}
    error = {name: each.std(ddof=1) / 10**0.5 for name, each in gap.items()}
    assert (gap["longest first"] > 0).all()
    assert 0.4 < gap["sorted, mixed"].mean() / gap["longest first"].mean() < 0.6
    for close in ("windows, mixed", "sorted in fours, mixed"):
        assert 0 < gap[close].mean() < 2 * error[close]
    assert abs(gap["shortest first"].mean()) < error["shortest first"]


def test_windows_compute_about_half_of_the_slots_of_shuffled():
    slots = {
        name: padding.measure(probe.documents(), probe.order(name, seed=0)).slots
        for name in ("shuffled", "windows, mixed")
    }
    assert 0.4 < slots["windows, mixed"] / slots["shuffled"] < 0.6


LENGTHS = list(range(1, 43))  # 10 micro-batches of 4 and one of 2


@pytest.mark.parametrize("make", probe.RIGHT["windowed"])
def test_a_right_order_holds_every_document_once_and_changes_with_the_epoch(make):
    made = make(LENGTHS, 4, 11, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(42))
    assert sorted(map(len, made)) == [2] + [4] * 10
    assert made == make(LENGTHS, 4, 11, 0, 0) != make(LENGTHS, 4, 11, 0, 1)


def test_right_orders_rise_and_fall_and_hold_ints_and_numbers_of_numpy():
    made = [make(LENGTHS, 4, 11, 0, 0) for make in probe.RIGHT["windowed"]]
    rising = {batch[0] < batch[-1] for one in made for batch in one}
    kinds = {type(number) for one in made for batch in one for number in batch}
    assert rising == {True, False} and kinds == {int, np.int64}


@pytest.mark.parametrize("thought", probe.WRONG["windowed"])
def test_a_wrong_order_breaks_one_rule_and_only_its_own(thought):
    make = probe.WRONG["windowed"][thought]
    made, again, later = (make(LENGTHS, 4, 11, 0, epoch) for epoch in (0, 0, 1))
    tops = [max(batch) for batch in made]
    broken = {
        "documents": sorted(n for batch in made for n in batch) != list(range(42)),
        "rows": max(map(len, made)) > 4,
        "again": made != again,
        "epoch": made == later,
        "order": tops in (sorted(tops), sorted(tops, reverse=True)),
    }
    assert sum(broken.values()) == 1, broken


def test_a_batch_is_lists_of_whole_numbers_and_nothing_else():
    assert probe.as_batches([np.array([1, 2]), [3.0]]) == [[1, 2], [3]]
    for strange in ([1, 2], [[1], []], [[0.5]], None, [], [["a"]]):
        assert probe.as_batches(strange) is None


def test_the_slider_offers_the_smallest_window_and_its_neighbour_wastes_more():
    for tokens in (lengths.embedded(), lengths.gsm8k()):
        best = lesson_03._least(tokens)
        before = probe.OFFERED[probe.OFFERED.index(best) - 1]
        assert probe.waste_of(tokens, best) < probe.GOAL - 0.002
        assert probe.waste_of(tokens, before) > probe.GOAL + 0.002


def test_the_plain_cut_agrees_with_the_library_on_sorted_documents():
    tokens = lengths.embedded()[:700]
    order = np.argsort(tokens, kind="stable").tolist()
    made = lesson_03._cut(tokens.tolist(), order, 8192)
    assert len(made) == len(buckets.by_token_budget(tokens, 8192, pool=700))
    with pytest.raises(ValueError, match="document 1 alone takes 9 of 8 slots"):
        lesson_03._cut([3, 9], [0, 1], 8)
    assert probe.closed_wrongly(made, tokens.tolist(), 8192) == ""
    assert "over the budget" in probe.closed_wrongly(made, tokens.tolist(), 7000)
    assert "was closed before" in probe.closed_wrongly([[n] for n in order], tokens.tolist(), 8192)


def test_a_learners_cut_is_taken_where_it_cuts_a_small_case_right(capsys):
    assert probe.cutter(lambda lens, order, slots: [order])([3, 3], [0, 1], 3) == [[0], [1]]
    own = probe.cutter(lambda *given: lesson_03._cut(*given))
    assert own([3, 3], [0, 1], 3) == [[0], [1]]
    said = capsys.readouterr().out.splitlines()
    assert "library's way" in said[0] and "your under_budget" in said[1]


def test_another_process_has_another_hash_of_a_text_and_the_same_of_a_number():
    for make, same in ((lambda n: hash(f"{n}"), False), (lambda n: hash((n, 3)), True)):
        assert (probe.elsewhere(make, 7) == make(7)) is same
    assert probe.elsewhere(lambda n: {f"{n}": n}[f"{n}"], 7) == 7


def test_every_other_pair_of_windows_has_its_fault():
    kinds = {"functions": lengths.embedded(), "problems": lengths.gsm8k()}
    best = [lesson_03._least(tokens) for tokens in kinds.values()]
    assert probe.fault_of_windows(np.array(best), kinds) == ""
    assert probe.fault_of_windows(tuple(map(float, best)), kinds) == ""
    for answer, word in (
        (best[::-1], "functions come first"),
        ([16 * one for one in best], "documents"),
        ([1, best[1]], "functions still waste"),
        ([best[0], probe.OFFERED[-1]], "a smaller window"),
        ([best[0] + 1, best[1]], "does not offer"),
        (best[0], "a pair"),
        (list(map(str, best)), "two numbers"),
        (None, "pair"),
    ):
        assert word in probe.fault_of_windows(answer, kinds)


class Plain:
    """A sampler of one document a batch: enough to look at the bench itself."""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.mine, self.done = list(range(len(lengths)))[rank::ranks], 0

    def __iter__(self):
        while self.done < len(self.mine):
            self.done += 1
            yield [self.mine[self.done - 1]]
        self.done = 0

    def __len__(self):
        return len(self.mine) - self.done

    def state_dict(self):
        return {"done": self.done}

    def load_state_dict(self, state):
        self.done = state["done"]


def test_the_bench_hands_out_by_rank_and_epoch_and_goes_on_behind_a_stop():
    assert probe.handed_out(Plain, [5] * 4, 9, 9, ranks=2, epochs=2) == [
        [[[0], [2]], [[0], [2]]],
        [[[1], [3]], [[1], [3]]],
    ]
    seen = probe.resumed(Plain, [5] * 4, 9, 9, epoch=0, stop=1)
    assert seen["before"] == [[0]] and seen["left"] == 3
    assert seen["after"] == [[1], [2], [3]] and len(seen["next"]) == 4
    assert seen["state_kept"]
    assert probe.loaded(Plain, [5] * 3, 9, 9) == [[0], [1], [2]]


def test_a_sampler_that_never_stops_is_stopped():
    class Endless(Plain):
        def __iter__(self):
            while True:
                yield [0]

    with pytest.raises(RuntimeError, match="never stops"):
        probe.handed_out(Endless, [5], 9, 9)

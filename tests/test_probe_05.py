"""The probe of lesson 05 sees what a step does, and each known mistake for what it is."""

import math

import numpy as np
import pytest
import torch

from batchlab import loop
from batchlab.classroom import probes
from batchlab.classroom.probes import lesson_05, lesson_05_loaders, ranks_whole
from batchlab.classroom.probes.attempt import mistakes_of

probe = probes.load("05_accumulation")
WINDOWS = [[3, 8, 1, 4], [5, 2, 6, 3]]


def loss_sum(model, micro):
    return loop.summed_loss(loop.logits_of(model, micro), micro["labels"])


def targets(micro):
    return int((micro["labels"][:, 1:] != loop.IGNORE).sum())


def good(model, optimizer, schedule, micro_batches, max_norm):
    tokens, loss = sum(map(targets, micro_batches)), 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss


def graphs_kept(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(map(targets, micro_batches))
    optimizer.zero_grad()
    loss = sum(loss_sum(model, micro) for micro in micro_batches) / tokens
    loss.backward()
    optimizer.step()
    return loss


@pytest.mark.parametrize("max_norm", [math.inf, 0.05])
def test_a_good_step_is_the_step_of_the_whole_window(max_norm):
    seen = probe.steps(good, WINDOWS, max_norm=max_norm)
    right = probe.recipe("right", WINDOWS, max_norm=max_norm)
    assert seen["losses"] == pytest.approx(right["losses"], rel=1e-12)
    for mine, theirs in zip(seen["weights"], right["weights"], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-10)


def test_the_library_takes_the_same_step():
    """A judge beside the probe's own arithmetic."""

    def library(model, optimizer, schedule, micro_batches, max_norm):
        return loop.train_step(model, optimizer, micro_batches, max_grad_norm=max_norm).loss

    seen = probe.steps(library, WINDOWS, max_norm=0.05)
    right = probe.recipe("right", WINDOWS, max_norm=0.05)
    assert seen["weights"][1] == pytest.approx(right["weights"][1], rel=1e-5)  # norm + 1e-6


def test_the_popular_step_is_the_mean_of_means():
    def popular(model, optimizer, schedule, micro_batches, max_norm):
        return probe.popular_step(model, optimizer, micro_batches)

    seen, named = probe.steps(popular, WINDOWS), probe.recipe("mean of means", WINDOWS)
    assert seen["losses"] == pytest.approx(named["means"])
    assert seen["weights"][1] == pytest.approx(named["weights"][1], rel=1e-10)


def test_calls_are_counted_over_all_windows():
    seen = probe.steps(good, WINDOWS)
    counts = {name: value for name, value in seen.items() if type(value) is int}
    assert counts == {
        "peak_live": 1,
        "forward_calls": 8,
        "backward_calls": 8,
        "zero_grad_calls": 2,
        "optimizer_steps": 2,
        "schedule_steps": 2,
    }


def test_graphs_that_are_kept_until_the_end_are_seen():
    seen = probe.steps(graphs_kept, WINDOWS)
    assert (seen["peak_live"], seen["backward_calls"]) == (4, 2)
    right = probe.recipe("right", WINDOWS)
    assert seen["weights"][1] == pytest.approx(right["weights"][1], rel=1e-10)


def test_a_graph_that_is_dropped_is_no_longer_live():
    def looks_first(model, *given):
        for micro in given[2]:
            model(micro["input_ids"])
        return good(model, *given)

    seen = probe.steps(looks_first, WINDOWS)
    assert (seen["peak_live"], seen["forward_calls"]) == (1, 16)


def test_the_timeline_frees_activations_and_keeps_gradients():
    events = probe.timeline(good, [3, 8, 1, 4])
    assert [name for name, _ in events] == ["forward", "backward"] * 4 + ["step"]
    after_backward = [held for name, held in events if name == "backward"]
    assert all(held["activations"] == 0 for held in after_backward)
    assert {held["gradients"] for held in after_backward} == {2 * 12 * 6 * 8 / 1024}
    kept = [h["activations"] for n, h in probe.timeline(graphs_kept, [4] * 4) if n == "forward"]
    assert kept == sorted(kept) and kept[3] == pytest.approx(4 * kept[0])


@pytest.mark.parametrize("name", probe.MISTAKES)
def test_every_known_mistake_has_weights_of_its_own(name):
    tight = {name for name in probe.MISTAKES if "clip" in name}
    norm = 0.05 if name in tight else math.inf
    if name == "clip always":  # wrong only where the gradient is short enough
        norm = 1e3
    ends = {
        other: probe.recipe(other, WINDOWS, max_norm=norm)["weights"][-1]
        for other in ["right", *probe.MISTAKES]
        if norm < 1 or other not in tight or other == name
    }
    mine = ends.pop(name)
    for other in ends.values():
        assert max(abs(a - b) for a, b in zip(mine, other, strict=True)) > 1e-4


def test_a_micro_batch_without_targets_is_no_trouble_for_the_right_recipe():
    right = probe.recipe("right", [[4, 0, 5]])
    seen = probe.steps(good, [[4, 0, 5]])
    assert seen["weights"][0] == pytest.approx(right["weights"][0], rel=1e-10)
    assert seen["losses"] == pytest.approx(right["losses"])


def test_what_was_patched_is_put_back():
    before = torch.autograd.backward
    probe.steps(good, WINDOWS)
    assert torch.autograd.backward is before


def test_a_list_that_is_emptied_is_seen_and_so_is_a_graph_and_the_order():
    def careless(model, optimizer, schedule, micro_batches, max_norm):
        loss = torch.zeros(())
        while micro_batches:
            loss = loss + loss_sum(model, micro_batches.pop())
        loss.backward()
        schedule.step()
        optimizer.step()
        return loss

    seen = probe.steps(careless, WINDOWS)
    assert seen["altered"] == "it had 4 micro-batches, and has 0"
    assert seen["returned"] == ["a tensor with its graph"] * 2
    assert seen["order"] == ["schedule", "optimizer"] * 2
    assert probe.steps(good, WINDOWS)["altered"] == ""


def test_what_a_step_leaves_behind_and_writes_into_its_micro_batches_is_seen():
    def careless(model, optimizer, schedule, micro_batches, max_norm):
        loss = good(model, optimizer, schedule, micro_batches, max_norm)
        micro_batches[1]["labels"][:, 0] = loop.IGNORE
        optimizer.state.clear()
        model.eval()
        return torch.tensor(loss)

    seen = probe.steps(careless, WINDOWS)
    assert seen["altered"] == "micro-batch 1 has other labels"
    assert seen["left"] == ["the model is in eval mode", "the optimizer's state is lost"]
    assert seen["returned"] == ["a tensor"] * 2
    seen = probe.steps(lambda *given: np.float64(good(*given)), WINDOWS)
    assert (seen["returned"], seen["left"]) == (["a float"] * 2, [])


@pytest.mark.parametrize("bad", ["nan", "inf"])
def test_a_diverged_model_has_a_loss_and_a_gradient_that_are_not_finite(bad):
    seen = probe.steps(good, [[8, 9, 7]], diverged=bad)
    assert str(seen["losses"][0]) == bad
    assert np.isnan(seen["weights"][0]).sum() > 1

    def skips(model, optimizer, schedule, micro_batches, max_norm):
        sound = [one for one in micro_batches if torch.isfinite(loss_sum(model, one))]
        return good(model, optimizer, schedule, sound, max_norm) if sound else 0.0

    assert math.isfinite(probe.steps(skips, [[8, 9, 7]], diverged=bad)["losses"][0])


def rank_step(model, optimizer, micro_batches, max_norm, over_ranks):
    tokens = over_ranks(torch.tensor(sum(map(targets, micro_batches))))
    sums = [torch.zeros_like(p, dtype=torch.float64) for p in model.parameters()]
    loss = torch.zeros((), dtype=torch.float64)
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for total, p in zip(sums, model.parameters(), strict=True):
            total += p.grad
            p.grad = None
    sums = [over_ranks(total) / tokens for total in sums]
    norm = torch.stack([total.norm() for total in sums]).norm()
    for total, p in zip(sums, model.parameters(), strict=True):
        p.grad = (total * min(1.0, max_norm / (norm + 1e-6))).to(p.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)


@pytest.mark.parametrize("counts", [[[3, 8, 1], [5, 2]], [[3, 0, 8], []], [[4]]])
@pytest.mark.parametrize("max_norm", [math.inf, 0.05])
def test_ranks_take_the_step_of_all_in_one_piece(counts, max_norm):
    seen = probe.on_ranks(rank_step, counts, max_norm=max_norm)
    right = probe.together(counts, max_norm=max_norm)
    for weights, (loss, norm) in zip(seen["weights"], seen["returned"], strict=True):
        assert weights == pytest.approx(right["weights"], rel=1e-9)
        assert (loss, norm) == pytest.approx((right["loss"], right["norm"]), rel=1e-9)
    assert seen["forward_calls"] == [len(own) for own in counts]
    assert all(seen["erased"]) and not any(seen["altered"]) and set(seen["steps"]) == {1}
    assert not any(seen["narrow"])


def test_the_library_takes_the_step_of_several_ranks_too():
    """A judge beside the probe's own arithmetic."""

    def library(model, optimizer, micro_batches, max_norm, over_ranks):
        report = loop.train_step(
            model, optimizer, micro_batches, max_grad_norm=max_norm, sum_over_processes=over_ranks
        )
        optimizer.zero_grad()
        return report.loss, report.grad_norm

    counts = [[3, 8, 1], [5, 2]]
    seen = probe.on_ranks(library, counts, max_norm=0.05)
    right = probe.together(counts, max_norm=0.05)
    assert seen["weights"][1] == pytest.approx(right["weights"], rel=1e-5)
    assert seen["returned"][0] == pytest.approx([right["loss"], right["norm"]], rel=1e-6)


@pytest.mark.parametrize("name", ranks_whole.MISTAKES)
def test_every_known_mistake_of_several_ranks_ends_elsewhere(name):
    for counts, norm in (
        ([[3, 8, 1], [5, 2]], math.inf),
        ([[3, 8], [5, 2]], 0.05),
        ([[6], [4]], 1e3),
        ([[7, 2]], math.inf),
        ([[70_001], [4]], math.inf),
    ):
        if ranks_whole.MISTAKES[name] in dict(map(reversed, _hashable(counts, norm))):
            return
    pytest.fail(f"no case shows: {name}")


def _hashable(counts, norm):
    return [(tuple(end), why) for end, why in probe.wrong_ends(counts, max_norm=norm)]


def test_a_rank_that_adds_in_bf16_and_one_that_refuses_too_late_are_seen():
    def narrow(model, optimizer, micro_batches, max_norm, over_ranks):
        tokens = over_ranks(torch.tensor(sum(map(targets, micro_batches)), dtype=torch.bfloat16))
        optimizer.step()
        if not tokens:
            raise ValueError("no target")
        return float(tokens), 0.0

    seen = probe.on_ranks(narrow, [[400, 400], [1]])
    assert seen["narrow"] == [["bfloat16"], ["bfloat16"]]
    assert seen["returned"][0][0] == 800
    late = {
        "error": "ValueError",
        "said": "ValueError: no target",
        "steps": 1,
        "moved": False,
        "erased": True,
    }
    assert probe.refusals(narrow, [[0], []]) == [late, late]


def test_a_rank_that_waits_for_one_that_left_is_told_at_once():
    def leaves(rank, over_ranks):
        return over_ranks(torch.ones(())) if rank == 0 else None

    with pytest.raises(RuntimeError, match=r"rank 0 waits for ever.*rank 1 left after 0 calls"):
        probe.at_once(leaves, 2)


def test_ranks_that_send_other_shapes_call_in_another_order():
    with pytest.raises(RuntimeError, match="another order"):
        probe.at_once(lambda rank, over_ranks: over_ranks(torch.zeros(rank + 1)), 2)
    with pytest.raises(TypeError, match="adds tensors"):
        probe.at_once(lambda rank, over_ranks: over_ranks(3), 1)


def test_a_bf16_sum_of_400_equal_gradients_is_far_off():
    given = {"dtype": torch.bfloat16, "equal": True}
    right = np.asarray(probe.together([[2] * 400], **given)["gradients"])
    narrow = probe.together([[2] * 400], sum_in=torch.bfloat16, **given)["gradients"]
    assert np.linalg.norm(narrow - right) > 0.1 * np.linalg.norm(right)


@pytest.mark.parametrize("thought", probe.WRONG["token-mean"])
def test_every_wrong_token_mean_has_a_case_that_shows_it(thought):
    many = [1.0, 2.0], [30_001, 25_003]
    nan = [3.0, math.nan, 1.0], [6, 0, 2]
    equal, huge = ([2.0, 2.0, 5.0], [3, 8, 8]), ([1.5, 2.5], [2**31 - 1, 2**30])
    for case in (([2.0, 1.0], [10, 100]), nan, ([0.0, 3.0], [10, 30]), many, equal, huge):
        found = {why: value for value, why in mistakes_of(probe.WRONG["token-mean"], *case)}
        value = found.get(thought, probe.RIGHT["token-mean"][0](*case))
        if value != probe.RIGHT["token-mean"][0](*case):
            return
    pytest.fail(f"no case shows: {thought}")


@pytest.mark.parametrize("name", ["adding-time"])
def test_every_wrong_time_has_a_value_of_its_own(name):
    cases = (1e9, 4, 1, 1e12), (1e9, 1, 8, 1e12)
    right = [probe.RIGHT[name][0](*case) for case in cases]
    values = [[wrong(*case) for case in cases] for wrong in probe.WRONG[name].values()]
    assert len({f"{one:.6g} {other:.6g}" for one, other in [*values, right]}) == len(values) + 1


def test_right_epochs_agree_and_wrong_ones_do_not():
    given = [[1, 1], [4], [5], [9, 9, 9], [7]], 2
    assert all(version(*given) == pytest.approx([2, 8, 7]) for version in probe.RIGHT["epoch"])
    for version in probe.WRONG["epoch"].values():
        assert list(version(*given)) != pytest.approx([2, 8, 7])


def test_wrong_windows_are_given_only_where_they_are_wrong():
    assert "tail" not in str(probe.wrong_windows([0, 1, 2, 3], 2)[0])
    assert [[0, 1, 2, 3], [4, 5, 6, 7]] in [found for found, _ in probe.wrong_windows(range(10), 4)]


def test_the_setting_to_find_is_no_end_of_the_slider_and_every_other_has_its_fault():
    faults = {rows: probe.fault_of_rows(rows) for rows in lesson_05.ROWS}
    (rows,) = (rows for rows, fault in faults.items() if not fault)
    assert rows not in (1, 60) and "docstrings" in " ".join(faults.values())
    assert probe.fault_of_rows(np.int64(rows)) == probe.fault_of_rows(float(rows)) == ""
    for other in (None, str(rows), rows + 0.5, 16, [rows]):
        assert probe.fault_of_rows(other)
    assert probe.finder().scene({"rows": rows, "trained": "code only"})["found"]


@pytest.mark.parametrize(
    ("step", "length"), [(probe.undivided_step, 4.0), (probe.divided_twice_step, 0.25)]
)
def test_the_steps_of_the_self_test_divide_too_little_and_too_much(step, length):
    """With equal counts the mean of means is right, and only the scale is off."""

    def moved(taken):
        model = torch.nn.Embedding(12, 12).double()
        with torch.no_grad():
            model.weight.copy_(torch.arange(144.0).view(12, 12).sin())
        before = model.weight.detach().clone()

        class Called(torch.nn.Module):
            def forward(self, input_ids, **_):
                return model(input_ids)

        whole = Called()
        whole.inner = model
        taken(
            whole,
            torch.optim.SGD(model.parameters(), lr=1.0),
            [probe.micro_batch(4, seed) for seed in range(4)],
        )
        return (model.weight.detach() - before).norm()

    assert np.isclose(moved(step) / moved(probe.popular_step), length)


@pytest.mark.parametrize("name", probe.COUNTS)
def test_every_mistake_of_counts_has_a_case_that_shows_it(name):
    for windows in ([[70_001, 300, 9]], [[3, 5, 3, 0, 3]], [[7]]):
        right, wrong = (probe.recipe(one, windows)["weights"][-1] for one in ("right", name))
        if not np.allclose(right, wrong, rtol=1e-5, atol=1e-6):
            return
    pytest.fail(f"no case shows: {name}")


@pytest.mark.parametrize("how", ["nan", "inf"])
def test_one_micro_batch_alone_can_diverge(how):
    found = []

    def looks(model, optimizer, schedule, micro_batches, max_norm):
        found.extend(loss_sum(model, one).item() for one in micro_batches)
        return good(model, optimizer, schedule, micro_batches, max_norm)

    probe.steps(looks, [[8, 9, 1]], diverged=how, only=1)
    assert np.isfinite(found).tolist() == [True, False, True]


def test_a_part_of_its_own_mode_a_hook_and_another_dtype_are_seen():
    def wakes(model, optimizer, *others):
        loss = good(model, optimizer, *others)
        model.train()
        next(model.parameters()).register_hook(lambda gradient: gradient)
        return loss

    left = probe.steps(wakes, [[3]])["left"]
    assert left == ["the model's part is in train mode", "a hook stays on a weight"]
    seen = probe.on_ranks(
        lambda model, *others: rank_step(model.float(), *others), [[3]], dtype=torch.bfloat16
    )
    assert seen["left"] == [["the weights are torch.float32, and were torch.bfloat16"]]


def test_two_gradients_that_meet_in_less_than_float32_are_seen():
    def piles(model, optimizer, micro_batches, max_norm, over_ranks):
        for micro in micro_batches:
            loss_sum(model, micro).backward()
        optimizer.zero_grad()
        return 0.0, 0.0

    assert probe.on_ranks(piles, [[3, 2], [4]], dtype=torch.bfloat16)["piled"] == [4, 0]
    assert probe.on_ranks(piles, [[3, 2]])["piled"] == [0]
    assert not any(probe.on_ranks(rank_step, [[3, 2]], dtype=torch.float16)["piled"])


def test_a_step_before_leaves_no_trace_in_a_right_one():
    given = {"before": [[9], [1]], "max_norm": 0.05}
    right = probe.together([[3, 8], [5]], max_norm=0.05)
    seen = probe.on_ranks(rank_step, [[3, 8], [5]], **given)
    assert seen["weights"][1] == pytest.approx(right["weights"], rel=1e-9)
    assert "count of the step before" in probe.wrong_ends([[3, 8], [5]], **given)[-1][1]


@pytest.mark.parametrize("kind", lesson_05_loaders.LOADERS)
def test_things_of_every_kind_are_told_by_themselves(kind):
    def windows(micro_batches, accumulation):
        every = list(micro_batches)
        return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]

    assert probe.grouped(windows, kind, 7, 3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert probe.grouped(lambda many, k: [[object()]], kind, 1, 3) == [[-1]]

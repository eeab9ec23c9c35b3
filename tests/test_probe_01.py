"""The probe of lesson 01: an exact bench, wrong versions that are wrong, a slider with an end."""

import numpy as np
import pytest
import torch

from batchlab.classroom.probes import lesson_01 as probe

HAND = [([1], 8), ([5], 24)]  # G is 4, and 8 x 9 + 24 x 1 = 96
SKEW = np.array([[0, 0], [0, 0], [0, 0], [4, 8]])  # squared distances 5, 5, 5, 45


def stored(network, micro_batches, loss_of):
    """A meter of the plainest kind: every gradient kept, backward into .grad."""
    pulls, counts = [], []
    for micro in micro_batches:
        loss, targets = loss_of(network, micro)
        network.zero_grad()
        if targets:
            (loss / targets).backward()
            learning = [p for p in network.parameters() if p.requires_grad]
            grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in learning]
            pulls.append(torch.cat([g.flatten() for g in grads]).numpy())
            counts.append(targets)
    middle = np.average(pulls, axis=0, weights=counts)
    squares = ((np.array(pulls) - middle) ** 2).sum(axis=1)
    spread = np.sqrt(np.dot(counts, squares) / (len(counts) - 1))
    length = torch.tensor(np.linalg.norm(middle))
    return {"target_tokens": sum(counts), "gradient": length, "spread": spread}


def test_a_micro_batch_pulls_with_the_numbers_it_was_given():
    said = probe.meter(stored, HAND)["said"]
    assert said["target_tokens"] == 32
    assert said["gradient"] == pytest.approx(4)
    assert said["spread"] == pytest.approx(96**0.5)


def test_a_weight_that_few_losses_touch_pulls_where_it_is_touched():
    said = probe.meter(stored, HAND, seldom=[0, 4])["said"]
    assert said["gradient"] == pytest.approx(5)  # (4, 24 x 4 / 32)
    assert said["spread"] == pytest.approx((96 + 8 * 9 + 24) ** 0.5)


def test_a_micro_batch_without_targets_has_a_loss_that_is_no_number():
    def look(network, micro_batches, loss_of):
        return [(bool(loss.isnan()), n) for loss, n in (loss_of(network, m) for m in micro_batches)]

    assert probe.meter(look, [([1], 8), ([9], 0)])["said"] == [(False, 8), (True, 0)]


@pytest.mark.parametrize("grad_before", [None, 3.0])
def test_what_a_meter_changes_is_seen_and_a_quiet_one_changes_nothing(grad_before):
    def quiet(network, micro_batches, loss_of):
        return {"target_tokens": sum(loss_of(network, micro)[1] for micro in micro_batches)}

    def loud(network, micro_batches, loss_of):
        network.eval()
        with torch.no_grad():
            network.weight.add_(1)

    assert probe.meter(quiet, HAND, grad_before=grad_before)["changed"] == []
    assert probe.meter(loud, HAND)["changed"] == ["the training mode", "the weights of weight"]
    assert "weight.grad" in probe.meter(stored, HAND, grad_before=grad_before)["changed"]


def test_a_meter_that_leaves_training_on_or_reads_twice_is_seen():
    def trains(network, micro_batches, loss_of):
        network.train()
        return [loss_of(network, micro)[0].item() for micro in micro_batches]

    assert probe.meter(trains, HAND)["changed"] == []
    assert probe.meter(trains, HAND, training=False)["changed"] == ["the training mode"]
    assert probe.meter(trains, [([1], 8), ([9], 0)], empty=0.0)["said"][1] == 0.0

    def twice(network, micro_batches, loss_of):
        return len(list(micro_batches)) + len(list(micro_batches))

    with pytest.raises(RuntimeError, match="gone through already"):
        probe.meter(twice, HAND)


@pytest.mark.parametrize("thought", probe.WRONG["batch-gradient"])
def test_every_wrong_gradient_of_a_batch_has_a_case_that_shows_it(thought):
    five = [[90.0, 0.7], [-3.0, 40.0], [5.0, 6.0], [70.0, 7.0], [31.0, -9.5]]
    for pulls, counts in (
        ([[1.0, 0.0], [5.0, 2.0]], [8, 24]),
        ([[2.0, 1.0, 0.0], [4.0, 1.0, 3.0], [8.0, 1.0, 0.0]], [6, 3, 1]),
        ([[1, 3], [2, 8]], [1, 2]),
        (five, [1, 300, 40, 2, 657]),
    ):
        lines, n = np.array(pulls), np.array(counts)
        found = {why: value for value, why in probe.wrong_gradients(lines, n)}
        right = np.repeat(lines, n, axis=0).mean(axis=0)
        if thought in found and not (
            np.shape(found[thought]) == right.shape and np.allclose(found[thought], right)
        ):
            return
    pytest.fail(f"no case shows: {thought}")


@pytest.mark.parametrize("right", probe.RIGHT["noise"])
def test_right_versions_of_the_noise_agree_with_draws(right):
    drawn = SKEW[np.random.default_rng(0).integers(4, size=(40_000, 5))].mean(axis=1)
    found = np.sqrt(((drawn - SKEW.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert right(SKEW, 5) == pytest.approx(found, rel=0.02)
    assert right(SKEW, 4) == pytest.approx((15 / 4) ** 0.5)


def test_wrong_versions_are_off_in_both_directions():
    off = {thought: wrong(SKEW, 2) - 7.5**0.5 for thought, wrong in probe.WRONG["noise"].items()}
    assert all(abs(miss) > 0.1 for miss in off.values()), off
    assert min(off.values()) < 0 < max(off.values())


def test_the_spread_of_a_stream_is_that_of_the_array():
    pulls = np.random.default_rng(1).normal(1, 3, (50, 4)).astype(np.float32)
    middle = pulls.mean(axis=0)
    far = np.sqrt(((pulls - middle) ** 2).sum(axis=1).mean()) / np.linalg.norm(middle)
    assert probe.spread_of(iter(pulls)) == pytest.approx(far, rel=1e-5)


def test_the_slider_has_one_setting_to_find_and_its_neighbour_is_not_it():
    made = probe.finder({"before": 5.14, "after": 9.0}, 6015)
    met = [one for one in probe.OFFERED if made.scene({"rows": one, "moment": "before"})["found"]]
    assert met == [min(rows for rows in probe.OFFERED if 5.14 / rows**0.5 < probe.GOAL)]
    assert not any(made.scene({"rows": n, "moment": "after"})["found"] for n in probe.OFFERED)


def test_every_other_number_of_rows_has_its_fault():
    spreads = {"before training": 5.14, "after 256 steps": 9.0}
    (rows,) = (rows for rows in probe.OFFERED if not probe.fault_of_rows(rows, spreads))
    assert rows == min(rows for rows in probe.OFFERED if 5.14 / rows**0.5 < probe.GOAL)
    assert probe.fault_of_rows(np.int64(rows), spreads) == ""
    faults = [probe.fault_of_rows(one, spreads) for one in (21, 1, probe.OFFERED[-1], rows + 1)]
    words = ("1/B", "not below", "to the left", "does not offer it")
    assert all(word in fault for word, fault in zip(words, faults, strict=True))
    trained = min(rows for rows in probe.OFFERED if 9.0 / rows**0.5 < probe.GOAL)
    assert "trained model" in probe.fault_of_rows(trained, spreads)
    assert probe.fault_of_rows(None, spreads) and probe.fault_of_rows("441", spreads)


def test_nothing_is_drawn_of_a_blank_and_the_line_says_why(capsys):
    def blank():
        raise NotImplementedError

    assert probe.shown(blank) is None
    assert probe.shown(lambda: 1 / 0) is None
    assert probe.shown(lambda: 7) == 7
    said = capsys.readouterr().out.splitlines()
    assert (
        said[0].endswith("still blank. Write it, then run this cell again.")
        and "ZeroDivisionError" in said[1]
    )

"""The probe of lesson 15: worlds and what they tell, steps in one piece, the finder's answer."""

import inspect

import numpy as np
import pytest
import torch

from batchlab import cluster
from batchlab.classroom.probes import lesson_15 as probe
from batchlab.classroom.probes import lesson_15_model as net
from batchlab.classroom.probes import lesson_15_steps as steps
from batchlab.cluster import distributed, ranks


def exact(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    own = np.zeros(sum(weights[name].size for name in names) + 2)
    for micro in micro_batches:
        loss, gradients, tokens = net.summed(weights, micro)
        own += np.concatenate([*(gradients[name].ravel() for name in names), [loss, tokens]])
    every = rank.all_reduce(own)
    if not every[-1]:
        raise ValueError("no token")
    gradient, loss = every[:-2] / every[-1], every[-2] / every[-1]
    gradient *= min(1.0, max_norm / (float(np.linalg.norm(gradient)) + 1e-6))
    new, at = {}, 0
    for name in names:
        old = weights[name]
        new[name] = old - rate * gradient[at : at + old.size].reshape(old.shape)
        at += old.size
    return new, float(loss)


@pytest.mark.parametrize("shift", [False, True])
def test_the_model_has_the_gradients_of_torch(shift):
    weights, micro = net.fresh_weights(7, 3), net.micro_batch(11, seed=2)
    if shift:
        weights["table_shift"] = np.array([0.5, -0.25, 1.5])
    loss, gradients, tokens = net.summed(weights, micro)
    live = {name: torch.tensor(one, requires_grad=True) for name, one in weights.items()}
    rows = live["table"][torch.tensor(micro["inputs"])] + live.get("table_shift", 0)
    logits = rows @ live["head"].T + live["bias"]
    wanted = torch.nn.functional.cross_entropy(
        logits, torch.tensor(micro["targets"]), ignore_index=net.IGNORE, reduction="sum"
    )
    wanted.backward()
    assert tokens == 11 and loss == pytest.approx(wanted.item())
    for name, one in live.items():
        assert np.allclose(gradients[name], one.grad.numpy())


def test_a_micro_batch_without_targets_gives_zeros():
    loss, gradients, tokens = net.summed(net.fresh_weights(7, 3), net.micro_batch(0, seed=1))
    assert (loss, tokens) == (0.0, 0) and not any(one.any() for one in gradients.values())


@pytest.mark.parametrize("counts", [[[4, 3], [2, 6]], [[3, 0, 8], []], [[7]], [[], [6], [2, 9]]])
@pytest.mark.parametrize("max_norm", [1e9, 0.3])
def test_a_step_of_many_ranks_is_the_step_in_one_piece(counts, max_norm):
    given, case = probe.step_parts(counts, 0.4, max_norm)
    seen = probe.in_world(exact, given)
    weights, loss = probe.in_one_piece(*case)
    for new, own_loss in seen["results"]:
        assert np.allclose(probe.flat(new), weights, atol=1e-12) and own_loss == pytest.approx(loss)
    assert not seen["fault"] and not seen["changed"] and not seen["remembers"]


def test_every_mistake_of_a_step_has_a_value_of_its_own_somewhere():
    told = set()
    two = "table table_shift head bias"
    for counts, norm, arrays in (
        ([[4, 3], [2, 6]], 1e9, two),
        ([[3, 8, 1], [5, 2]], 0.3, "table head bias"),
        ([[3, 0], []], 1e9, "table head bias"),
    ):
        case = probe.step_parts(counts, 0.4, norm, arrays=arrays)[1]
        told |= {why for at in range(2) for _, why in probe.wrong_steps(case, at)}
    assert told == set(steps.MISTAKES.values())


@pytest.mark.parametrize("rows", [[2, 3], [3], [2, 0, 4]])
def test_every_mistake_of_a_chain_is_wrong_and_the_right_one_is_gradient_descent(rows):
    layers, inputs = probe.chain(3, 4, rows)
    live = [torch.tensor(layer, requires_grad=True) for layer in layers]
    out = torch.tensor(np.concatenate(inputs))
    for layer in live:
        out = out @ layer
    (out.square().sum() / 2 / len(out)).backward()
    for layer, new in zip(live, probe.chain_step(layers, inputs, 0.5), strict=True):
        assert np.allclose(new, (layer - 0.5 * layer.grad).detach().numpy())
    few = len(rows) == 1
    assert len(probe.wrong_chains(layers, inputs, 0.5, 0)) >= len(steps.CHAIN) - (3 if few else 0)


def keeps(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    layers = [rank.all_gather(one, width * width) for one in pieces]
    return [piece + 0 * len(layers) for piece in pieces]


def one_by_one(rank, pieces, inputs, rows, rate):
    for one in pieces * 2:
        rank.all_gather(one, inputs.shape[1] ** 2)
    for _ in pieces:
        rank.reduce_scatter(np.ones((inputs.shape[1], inputs.shape[1])))
    return [piece + 0.0 for piece in pieces]


@pytest.mark.parametrize("rows", [[3, 5], [2, 0, 4], [1, 2, 3, 2]])
def test_memory_tells_who_keeps_everything(rows):
    layers, inputs = probe.chain(12, 96, rows)
    many = len(rows)
    parts = [(probe.pieces_of(layers, many, at), inputs[at], sum(rows), 0.1) for at in range(many)]
    room = [probe.chain_room(12, 96, rows, at) for at in range(many)]
    whole, shards = probe.in_world(keeps, parts), probe.in_world(one_by_one, parts)
    assert all(peak > most for peak, most in zip(whole["peak_bytes"], room, strict=True))
    assert all(peak < 0.9 * most for peak, most in zip(shards["peak_bytes"], room, strict=True))


def in_pieces(rank, array):
    own = rank.all_reduce(np.ones(1))
    return rank.all_gather(rank.reduce_scatter(array), array.size) * own


def test_a_scatter_with_its_gather_is_one_collective_and_the_largest_message_tells_what_travels():
    seen = probe.in_world(in_pieces, [(np.ones(9),), (np.ones(9),)])
    assert seen["collectives"] == [2, 2] and seen["largest"] == 8 * 5


def leaves(rank, tokens):
    return rank.all_reduce(np.array([tokens])) if tokens else 0


def refuses(rank, tokens):
    if rank.all_reduce(np.array([tokens]))[0] == 0:
        raise ValueError("no token")
    return 1


def refuses_in_silence(rank, tokens):
    if rank.all_reduce(np.array([tokens]))[0] == 0:
        raise ValueError
    return 1


def keeps_tensors(rank, pieces, many):
    kept = []
    for one in pieces:
        kept.append(torch.tensor(rank.all_gather(one, many)))
        kept = kept[-rank.world_size :]
    rank.barrier()
    return len(kept)


def imports_torch(rank, pieces, many):
    import torch

    return rank.all_gather(pieces[0], many).sum() + torch.zeros(1).item()


@pytest.mark.parametrize("many", [2, 3])
def test_tensors_are_counted_where_the_meter_does_not_see_them(many):
    layers, _ = probe.chain(6, 30, [1] * many)
    parts = [(probe.pieces_of(layers, many, at), 900) for at in range(many)]
    assert probe.in_world(keeps_tensors, parts)["tensor_bytes"] // 7200 == many
    told = probe.in_world(imports_torch, parts)
    assert told["tensor_bytes"] < 100 and max(told["peak_bytes"]) < 100_000
    assert (
        probe.in_world(keeps, [(one, np.ones((1, 30)), 1, 0.1) for one, _ in parts])["tensor_bytes"]
        == 0
    )


def test_where_every_target_is_certain_loss_and_gradient_are_exactly_0():
    _, case = probe.sure_parts([[3, 2], [4]], 0.4, 0.5)
    weights, loss = probe.nearest([], case)
    assert loss == 0 and weights == probe.flat(case[2])


def test_single_precision_is_told_from_rounding_and_from_a_mistake():
    want = np.array([1.0, 0.3, 2.0])
    assert probe.half_way(want.astype(np.float32), want)
    assert not probe.half_way(want * (1 + 1e-14), want) and not probe.half_way(want * 1.01, want)


def spoils(rank, values):
    values[0] = rank.all_reduce(np.ones(1))[0]
    return values


def breaks(rank, tokens):
    return rank.all_reduce(np.ones(2))[0] // tokens if tokens else [][0]


def test_what_a_world_sees_comes_back_in_words():
    seen = probe.in_world(leaves, [(0,), (3,)])
    assert "has returned" in seen["fault"] and "left early" in seen["likely"]
    told = probe.in_world(refuses, [(0,), (0,)], may_refuse=True)
    assert told["refused"] == ["no token"] * 2 and not told["fault"]
    told = probe.in_world(refuses_in_silence, [(0,), (0,)], may_refuse=True)
    assert told["refused"] == ["ValueError"] * 2
    assert "changed" in probe.in_world(spoils, [([5.0],), ([6.0],)])["changed"]
    with pytest.raises(ValueError, match="no token"):
        probe.in_world(refuses, [(0,), (0,)])
    with pytest.raises(IndexError):
        probe.in_world(breaks, [(0,), (1,)])


@pytest.mark.parametrize("stage", range(4))
def test_the_bill_is_that_of_the_library(stage):
    form = ("ddp", "zero1", "zero2", "zero3")[stage]
    case = (7_500_000_000, 64, stage, 8)
    assert probe.RIGHT["kept"][0](*case) == pytest.approx(cluster.zero(*case[:3]).total)
    sent = cluster.traffic(form, *case[:2], case[3]).rank_bytes
    assert probe.RIGHT["sent"][0](*case) == pytest.approx(sent)


def test_a_pipeline_is_that_of_the_library():
    case, one = (12, 48, 2, 0.1, 0.2), cluster.bubble(12, 24)
    assert probe.RIGHT["idle"][0](*case) == pytest.approx(one.share)
    assert probe.RIGHT["seconds"][0](*case) == pytest.approx(24 * 0.5 * (1 + one.over_ideal))


CASES = {
    "mean": [
        ([20.0, 100.0], [10, 100]),
        ([0.0, 12.0, 7.0], [4, 5, 3]),
        ([30.0, 0.0, 14.5], [8, 0, 5]),
        ([0.0, 12.0], [2, 5]),
        ([4.0, 4.0, 9.0], [2, 2, 3]),
    ],
    "kept": [(n, k, stage, 8) for stage in range(4) for n, k in ((71, 5), (7_500_000_000, 64))],
    "sent": [(n, k, stage, 8) for stage in range(4) for n, k in ((71, 5), (7_500_000_000, 64))],
    "seconds": [(12, 48, 2, 0.018, 0.02), (4, 42, 7, 0.1, 0.03)],
    "idle": [(12, 48, 2, 0.018, 0.02), (4, 42, 7, 0.1, 0.03)],
    "report": [([[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]],)],
}


@pytest.mark.parametrize("name", CASES)
def test_each_wrong_version_is_wrong_somewhere(name):
    right = probe.RIGHT[name][0]
    for why, version in probe.WRONG[name].items():
        same = [np.array_equal(version(*case), right(*case)) for case in CASES[name]]
        assert not all(same), why


def test_reports_of_the_right_versions_agree_with_the_ring_of_a_world():
    def two_passes(rank):
        rank.all_gather(rank.reduce_scatter(np.ones(5)), 5)

    sent = [one // 8 for one in ranks.run(two_passes, 3).sent_bytes]
    (case,) = CASES["report"]
    assert [one["sent"] for one in probe.RIGHT["report"][0](*case)] == sent
    for version in probe.RIGHT["report"]:
        told = version(*case)
        assert sum(one["sent"] for one in told) == pytest.approx(20)
        assert sum(one["kept"] for one in told) == 5


def test_the_finder_has_one_answer_which_is_none_of_the_easy_ones():
    right = [rows for rows in probe.ROWS if not probe.fault_of_rows(rows)]
    assert len(right) == 1 and right[0] not in (probe.ROWS[0], probe.ROWS[-1], 60)
    said = {probe.fault_of_rows(rows) for rows in probe.ROWS} | {probe.fault_of_rows("a")}
    assert len(said) >= 8 and "stages" in probe.fault_of_rows(12)
    assert probe.finder() is not None


def test_four_ranks_are_not_four_times_as_fast():
    alone, four = probe.four_ranks(1), probe.four_ranks(4)
    assert 2 < alone.makespan / four.makespan < 3


def test_swapped_collectives_are_named_or_silently_wrong():
    named, silent = probe.swapped()
    assert "differs" in named and "20" not in silent


def step_of(rank, parts):
    return exact(rank, *parts[rank.rank])


def test_real_documents_give_one_step_however_they_are_dealt_and_in_processes():
    one, two = (ranks.run(step_of, many, probe.step_case(many, 8, 3)) for many in (1, 2))
    assert np.allclose(probe.flat(one.results[0][0]), probe.flat(two.results[0][0]), atol=1e-12)
    real = distributed.run(step_of, 2, probe.step_case(2, 8, 3))
    first, second = (probe.flat(weights) for weights, _ in real.results)
    assert first == second, "replicas stay replicas, to the last bit"
    assert real.sent_bytes == two.sent_bytes
    # to rounding: a process may have another number of BLAS threads than this one
    assert np.allclose(first, probe.flat(two.results[0][0]), atol=1e-12)


def test_the_model_imports_nothing_that_a_process_would_wait_for():
    assert "batchlab" not in inspect.getsource(net).split("__all__")[0]

"""Lesson 15: its model, its worlds and what they tell, what its page shows."""

import inspect

import numpy as np
import pytest
import torch

from batchlab.cluster import distributed, ranks
from batchlab.exercises.many import half_way, scenes, worlds
from batchlab.exercises.many import model as net
from batchlab.exercises.many.exact_step import exact_step, flat


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


def in_pieces(rank, array):
    own = rank.all_reduce(np.ones(1))
    return rank.all_gather(rank.reduce_scatter(array), array.size) * own


def test_a_scatter_with_its_gather_is_one_collective_and_the_largest_message_tells_what_travels():
    seen = worlds.in_world(in_pieces, [(np.ones(9),), (np.ones(9),)])
    assert seen["collectives"] == [2, 2] and seen["largest"] == 8 * 5


def leaves(rank, tokens):
    return rank.all_reduce(np.array([tokens])) if tokens else 0


def refuses(rank, tokens):
    if rank.all_reduce(np.array([tokens]))[0] == 0:
        raise ValueError("no token")
    return 1


def test_single_precision_is_told_from_rounding_and_from_a_mistake():
    want = np.array([1.0, 0.3, 2.0])
    assert half_way(want.astype(np.float32), want)
    assert not half_way(want * (1 + 1e-14), want) and not half_way(want * 1.01, want)


def spoils(rank, values):
    values[0] = rank.all_reduce(np.ones(1))[0]
    return values


def breaks(rank, tokens):
    return rank.all_reduce(np.ones(2))[0] // tokens if tokens else [][0]


def test_what_a_world_sees_comes_back_in_words():
    seen = worlds.in_world(leaves, [(0,), (3,)])
    assert "has returned" in seen["fault"] and "left early" in worlds.likely_of(seen["fault"])
    told = worlds.in_world(refuses, [(0,), (0,)], may_refuse=True)
    assert told["refused"] == ["ValueError: no token"] * 2 and not told["fault"]
    assert "changed" in worlds.in_world(spoils, [([5.0],), ([6.0],)])["changed"]
    with pytest.raises(ValueError, match="no token"):
        worlds.in_world(refuses, [(0,), (0,)])
    with pytest.raises(IndexError):
        worlds.in_world(breaks, [(0,), (1,)])


def test_bills_of_ranks_are_added_up_but_updates_are_not():
    one = {"updates": 2, "micro_batches": 8, "slots": 100, "real_tokens": 60, "targets": 50,
           "seconds": 1.5, "losses": [8.0, 7.5]}  # fmt: skip
    both = scenes._together([one, {**one, "slots": 90}])
    assert (both.updates, both.micro_batches, both.slots, both.losses) == (2, 16, 190, (8.0, 7.5))


def test_ranks_that_cannot_go_on_are_named_and_equal_shapes_silently_wrong():
    left, named, silent = scenes.stuck()
    assert "has returned" in left and "differs" in named and "20" not in silent


def step_of(rank, parts):
    return exact_step(rank, *parts[rank.rank])


@pytest.mark.slow
def test_real_documents_give_one_step_however_they_are_dealt_and_in_processes():
    one, two = (ranks.run(step_of, many, scenes.step_case(many, 8, 3)) for many in (1, 2))
    assert np.allclose(flat(one.results[0][0]), flat(two.results[0][0]), atol=1e-12)
    real = distributed.run(step_of, 2, scenes.step_case(2, 8, 3), timeout=600)
    first, second = (flat(weights) for weights, _ in real.results)
    assert np.array_equal(first, second), "replicas stay replicas, to the last bit"
    assert real.sent_bytes == two.sent_bytes
    # to rounding: a process may have another number of BLAS threads than this one
    assert np.allclose(first, flat(two.results[0][0]), atol=1e-12)


def test_the_model_imports_nothing_that_a_process_would_wait_for():
    assert "batchlab" not in inspect.getsource(net).split("__all__")[0]

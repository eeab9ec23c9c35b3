"""A world in one process: sums, bytes, clocks and memory by hand; every mistake by its ranks."""

import threading
import time

import numpy as np
import pytest
import torch

from batchlab import cluster
from batchlab.cluster import Link, distributed, ranks
from batchlab.cluster.ranks import RankError

LINK = Link("drawn", 1e6, "by hand", latency_seconds=1e-3)


def double(values):
    return 2 * values


def everything(rank, rows):
    """Each collective once; a helper of the module and a library are used on the way."""
    own = double(rows[rank.rank])
    total = rank.all_reduce(own)
    piece = rank.reduce_scatter(own)
    joined = rank.all_gather(piece, size=own.size)
    told = rank.broadcast(own, root=rank.world_size - 1)
    rank.barrier()
    return total, joined, told, np.float32(rank.rank)


def summed(rank, rows):
    return rank.all_reduce(rows[rank.rank])


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
@pytest.mark.parametrize("shape", [(1,), (5, 2), (24,)])
def test_collectives_give_what_their_names_say(world_size, shape):
    rows = np.random.default_rng(0).integers(-9, 9, (world_size, *shape)).astype(float)
    world = ranks.run(everything, world_size, rows)
    for total, joined, told, _ in world.results:
        assert np.array_equal(total, 2 * rows.sum(0)) and total.shape == shape
        assert np.array_equal(joined, 2 * rows.sum(0).reshape(-1))
        assert np.array_equal(told, 2 * rows[-1])


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
def test_bytes_and_seconds_of_a_ring_are_the_formula(world_size):
    rows = np.ones((world_size, 24))
    world = ranks.run(summed, world_size, rows, profile=LINK)
    formula = cluster.all_reduce(24 * 8, world_size)
    assert world.total_bytes == formula.total_bytes
    assert world.makespan == pytest.approx(formula.seconds(LINK))


def sharded(rank, size):
    """A ZeRO-3 step in bytes: gather for forward and backward, reduce the gradient, twice."""
    piece = np.zeros(size // rank.world_size, np.float32)
    for _ in range(2):
        for _ in range(2):
            whole = rank.all_gather(piece)
        piece = rank.reduce_scatter(whole)
    return piece


def test_a_sharded_step_sends_what_the_table_of_forms_says():
    world = ranks.run(sharded, 4, 1000)
    formula = cluster.traffic("zero3", 1000, 4, 2, parameter_bytes=4, gradient_bytes=4)
    assert world.total_bytes == formula.total_bytes == 3 * 6 * 4000


def hold(rank, numbers):
    kept = np.ones(numbers * (rank.rank + 1))
    rank.barrier()
    return float(kept.sum())


def test_memory_is_metered_for_each_rank():
    world = ranks.run(hold, 3, 100_000)
    for at, peak in enumerate(world.peak_bytes):
        assert 800_000 * (at + 1) <= peak < 800_000 * (at + 1) + 60_000


def unsharded(rank, numbers):
    whole = np.ones(numbers)
    return float(rank.all_reduce(whole)[0])


def test_sharding_that_does_not_shard_shows_in_the_meter():
    world = ranks.run(unsharded, 4, 100_000)
    assert min(world.peak_bytes) > 2 * 800_000


def late(rank):
    rank.compute(0.5 if rank.rank == 2 else 0.1)
    rank.barrier()


def test_everybody_waits_for_the_slowest():
    world = ranks.run(late, 3)
    assert world.seconds == pytest.approx([0.5] * 3)
    computed = {event.rank: event.end for event in world.timeline if event.kind == "compute"}
    assert computed == pytest.approx({0: 0.1, 1: 0.1, 2: 0.5})


def spoil(rank, values):
    values += rank.rank
    rank.barrier()
    return float(values[0])


def test_arguments_and_messages_are_copies_as_between_processes():
    given = np.zeros(2)
    assert ranks.run(spoil, 3, given).results == [0, 1, 2] and not given.any()


def no_grad_on_the_first(rank):
    if rank.rank == 0:
        with torch.no_grad():
            rank.barrier()
            return torch.is_grad_enabled()
    rank.barrier()
    return torch.is_grad_enabled()


def test_the_state_of_torch_belongs_to_a_rank():
    assert ranks.run(no_grad_on_the_first, 3).results == [False, True, True]


def other_size(rank):
    return rank.all_reduce(np.zeros(12 if rank.rank else 10, np.float32))


def other_type(rank):
    return rank.all_reduce(np.zeros(3, np.float32 if rank.rank else np.float64))


def other_kind(rank):
    return rank.all_reduce(np.zeros(4)) if rank.rank else rank.reduce_scatter(np.zeros(4))


def other_count(rank):
    for _ in range(3 - rank.rank):
        rank.barrier()


def ring_of_sends(rank):
    rank.send((rank.rank + 1) % rank.world_size, np.zeros(2))


def raises(rank):
    if rank.rank == 1:
        raise MemoryError("out of memory")
    rank.barrier()


def for_ever(rank):
    while True:
        rank.compute(0)


def other_message(rank):
    if rank.rank:
        return rank.receive(0, np.zeros(4))
    return rank.send(1, np.zeros(3))


def nobody(rank):
    rank.send(7, np.zeros(1))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a collector
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (other_size, r"collective 0 differs: rank 0 calls all_reduce of \(10,\) float32 \(line "
         r"\d+\), rank 1 calls all_reduce of \(12,\) float32 \(line \d+\)"),
        (other_type, r"\(3,\) float64 .* \(3,\) float32"),
        (other_kind, r"rank 0 calls reduce_scatter of .* rank 1 calls all_reduce"),
        (other_count, r"deadlock: rank 0 waits to send to 1 \(line \d+\) and waits to receive from "
         r"1 \(line \d+\); rank 1 has returned"),
        (ring_of_sends, r"deadlock: rank 0 waits to send to 1 .* rank 1 waits to send to 0"),
        (raises, r"rank 1 raised MemoryError in line \d+: out of memory"),
        (for_ever, r"rank 0 ran 0.2 s without communicating"),
        (other_message, r"rank 0 sends \(3,\) float64 .* rank 1 waits for \(4,\) float64"),
        (nobody, r"rank 0 raised ValueError in line \d+: rank 0 of 2 cannot send to rank 7"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_ranks_and_lines_and_no_thread_stays(function, says):
    before = threading.active_count()
    with pytest.raises(RankError, match=says):
        ranks.run(function, 2, patience=0.2 if function is for_ever else 20)
    assert threading.active_count() == before


def swallows(rank):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:  # as a callback of the collector does
            break
    while True:
        time.sleep(0.01)


def test_an_interrupt_that_is_lost_comes_again():
    before = threading.active_count()
    with pytest.raises(RankError, match=r"rank 0 ran 0.1 s without communicating"):
        ranks.run(swallows, 2, patience=0.1)
    assert threading.active_count() == before


def test_the_line_is_that_of_the_rank_function():
    line = raises.__code__.co_firstlineno + 2
    with pytest.raises(RankError, match=f"in line {line}:"):
        ranks.run(raises, 3)


def test_a_world_of_one_talks_to_nobody():
    world = ranks.run(everything, 1, np.ones((1, 3)))
    assert world.total_bytes == 0 and world.makespan == 0


def test_pieces_that_are_not_of_the_whole_are_refused():
    with pytest.raises(RankError, match="all_gather: of 5 numbers, rank 0 of 2 holds 3, got a"):
        ranks.run(lambda rank: rank.all_gather(np.zeros(2), size=5), 2)


@pytest.mark.parametrize("world_size", [2, 3])
def test_the_same_function_in_processes_gives_the_same_bits_and_bytes(world_size):
    rows = np.random.default_rng(1).normal(size=(world_size, 10)).astype(np.float32)
    simulated = ranks.run(everything, world_size, rows)
    real = distributed.run(everything, world_size, rows, timeout=600)
    assert real.sent_bytes == simulated.sent_bytes
    for one, other in zip(simulated.results, real.results, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_process_that_raises_is_named_and_the_others_are_ended():
    with pytest.raises(RankError, match="rank 1 raised MemoryError in line 3 of raises: out of"):
        distributed.run(raises, 2, timeout=600)


def test_processes_that_wait_for_ever_end_at_the_time_out():
    with pytest.raises(RankError, match="after 3 s these ranks have not returned: 0"):
        distributed.run(other_count, 2, timeout=3)


def test_a_function_that_another_process_cannot_see_is_refused():
    seen = 3

    def closure(rank):
        return seen

    with pytest.raises(ValueError, match="closure uses seen of the function around it"):
        distributed.run(closure, 2)
    with pytest.raises(ValueError, match="a function made with def is needed"):
        distributed.run(lambda rank: 1, 2)

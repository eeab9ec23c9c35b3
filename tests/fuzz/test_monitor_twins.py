"""A training under a recorder ends, bit for bit, as its twin without one: whatever it does."""

import contextlib

import pytest
import torch

from batchlab import monitor
from tests.fuzz import odd_loops


class Alone:
    """What a loop holds that nobody records."""

    def __call__(self, loader):
        return loader

    @contextlib.contextmanager
    def part(self, name):
        yield


@contextlib.contextmanager
def alone(net, optimizer, path, **_):
    yield Alone()


def twins(seed, folder, watcher):
    """How both ended, and whether all that they left is equal."""
    found = []
    for name, one in (("watched", watcher), ("alone", alone)):
        (folder / name).mkdir()
        found.append(odd_loops.run(seed, one, folder / name))
    (how, losses, weights, cpu, python), (wanted, theirs, kept, cpus, pythons) = found
    same = how == wanted and repr(losses) == repr(theirs) and python == pythons
    same = same and torch.equal(cpu, cpus) and len(weights) == len(kept)
    return same and all(
        torch.equal(ours.nan_to_num(7.0), other.nan_to_num(7.0))
        for ours, other in zip(weights, kept, strict=True)
    ), (how, wanted)


@pytest.mark.filterwarnings("ignore")  # those of odd models and of the recorder
@pytest.mark.parametrize(
    "seeds", [pytest.param(range(8)), pytest.param(range(8, 540), marks=pytest.mark.deep)]
)
def test_a_recorder_changes_nothing_but_time(tmp_path, seeds):
    ends, differ = [], {}
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        same, ended = twins(seed, folder, monitor.watch)
        ends.append(ended[1])
        if not same:
            differ[seed] = ended
    assert not differ
    assert len(set(map(str, ends))) > 3, "some ended, some failed by themselves, in several ways"


@pytest.mark.filterwarnings("ignore")
def test_the_judge_sees_a_recorder_that_draws_a_number_or_raises(tmp_path):
    """The mistakes beside the law."""

    @contextlib.contextmanager
    def draws(net, optimizer, path, **_):
        torch.rand(1)
        yield Alone()

    @contextlib.contextmanager
    def raises(net, optimizer, path, **_):
        hook = net.register_forward_pre_hook(lambda *_: 1 / 0)
        yield Alone()
        hook.remove()

    for name, mistake in (("draws", draws), ("raises", raises)):
        folder = tmp_path / name
        folder.mkdir()
        assert not twins(0, folder, mistake)[0]

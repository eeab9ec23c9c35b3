"""What the page of lesson 10 shows: a loader simulated, readers, what it says of the tools."""

import inspect
import itertools
import math
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from batchlab.exercises.feeding import packer, scenes, shuffled
from batchlab.exercises.feeding.waits import share, waits

LENGTHS = packer.SIZES


def test_the_simulated_loop_waits_by_hand():
    """Worker 0 begins its second at 3, is ready at 7, and is asked at 5; worker 1 waits behind it.

    With one worker and a prefetch of 1, the last is begun when the fourth is taken, at 7: ready at
    11, asked at 9. With 2 it was begun at 5.
    """
    assert waits([3, 2, 4, 1], 1, workers=2, prefetch=1) == [3, 0, 2, 0]
    assert waits([1, 1, 1, 1, 4], 2, workers=1, prefetch=1) == [1, 0, 0, 0, 2]
    assert waits([1, 1, 1, 1, 4], 2, workers=1, prefetch=2) == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(("build", "step"), [(0.3, 0.4), (0.3, 0.14), (0.7, 0.15), (1.0, 0.3)])
def test_with_the_workers_of_the_formula_a_loop_that_runs_evenly_waits_no_more(build, step):
    workers = math.ceil(build / step)
    assert sum(waits([build] * 120, step, workers, 4)[-30:]) < 1e-9
    if workers > 1:
        assert sum(waits([build] * 120, step, workers - 1, 4)[-30:]) > 0.1


def test_prefetch_never_makes_the_loop_wait_longer_and_no_prefetch_replaces_a_worker():
    for workers in (3, 4, 6):
        shares = [share(waits, workers, prefetch) for prefetch in (1, 2, 4, 8, 12)]
        assert shares == sorted(shares, reverse=True)
    assert share(waits, 3, 12) > 0.1 > share(waits, 4, 3)


def test_rows_far_away_are_the_same_rows():
    rows = scenes.SlowRows([{"a": 1}, {"a": 2}], seconds=0.0)
    assert list(rows) == [{"a": 1}, {"a": 2}] and len(rows) == 2


def rows(*case, of=scenes.Packer, **lives):
    return packer.scene(of, *case, **lives)["rows"]


class Counted(scenes.Packer):
    """The mistake: the place moves behind the yield."""

    def __iter__(self):
        saved = self.number, list(self.pool)
        for row in super().__iter__():
            after, (self.number, self.pool) = (self.number, list(self.pool)), saved
            yield row
            self.number, self.pool = saved = after


def test_rows_by_hand():
    assert rows([5, 3, 2, 4, 8, 3], 8, 4) == [[0, 1], [2, 3], [4], [5]]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_packer_of_the_page_survives_every_kill_on_every_rank(ranks):
    every = rows(LENGTHS, 8, 4)
    for rank in range(ranks):
        want = every[: len(every) // ranks * ranks][rank::ranks]
        for kill in range(len(want) + 1):
            assert rows(LENGTHS, 8, 4, rank, ranks, kills=[kill]) == want


def test_lives_of_a_packer_show_a_place_that_moves_too_late():
    assert rows(LENGTHS, 8, 4, kills=[2]) == rows(LENGTHS, 8, 4)
    assert rows(LENGTHS, 8, 4, kills=[2], of=Counted) != rows(LENGTHS, 8, 4)
    assert scenes.packer_works(scenes.Packer) and not scenes.packer_works(Counted)


def test_a_dropped_round_is_not_in_the_place():
    """Five rows, two ranks: the fifth was given to nobody, and the next one rank takes it."""
    assert rows([8] * 5, 8, 2, 0, 2, kills=[9], next_ranks=1) == [[0], [2], [4]]


def test_rows_from_a_pool_by_hand():
    """The table of the page, with the function of the page."""
    assert rows([6, 8, 7, 5, 3, 1, 4, 1], 10, 4) == [[0], [1], [2, 4], [3, 6, 5], [7]]
    page = (Path(__file__).parent.parent / "solutions/10_feeding/feeding.md").read_text()
    assert inspect.getsource(packer.next_row) in page


def test_the_shuffle_of_the_page_is_taken_and_one_that_mixes_nothing_is_not():
    assert scenes.shuffle_works(shuffled.shuffled)
    assert not scenes.shuffle_works(lambda read, block, seed, epoch, done=0: read(0))


def test_what_the_page_says_of_pytorch():
    asked = inspect.signature(torch.utils.data.DataLoader).parameters
    assert asked["num_workers"].default == 0 and asked["prefetch_factor"].default is None
    with_two = torch.utils.data.DataLoader(scenes.Numbers(6), batch_size=None, num_workers=2)
    assert with_two.prefetch_factor == 2
    assert [int(n) for n in with_two] == [n for n in range(6) for _ in range(2)]


def test_what_the_page_says_of_the_trainer_and_accelerate():
    data_loader = pytest.importorskip("accelerate.data_loader")
    source = Path(find_spec("transformers").origin).with_name("training_args.py").read_text()
    for name, default in {"num_workers: int": 0, "prefetch_factor: int | None": None}.items():
        assert re.search(rf"dataloader_{re.escape(name)} = field\(\s*default={default},", source)
    assert re.search(r"ignore_data_skip: bool = field\(\s*default=False,", source)
    assert (
        "dispatch_batches = isinstance(dataloader.dataset, IterableDataset)"
        in inspect.getsource(data_loader.prepare_data_loader)
    )

    class Watched(scenes.Numbers):
        drawn = 0

        def __iter__(self):
            for number in super().__iter__():
                self.drawn += 1
                yield number

    stream = Watched(10)
    fed = torch.utils.data.DataLoader(stream, batch_size=2)
    left = list(data_loader.skip_first_batches(fed, 3))
    assert [one.tolist() for one in left] == [[6, 7], [8, 9]] and stream.drawn == 10


def test_what_the_page_says_of_datasets():
    datasets = pytest.importorskip("datasets")
    from datasets.distributed import split_dataset_by_node

    datasets.logging.set_verbosity_error()
    table = datasets.Dataset.from_dict({"n": range(12)})
    by_shards = split_dataset_by_node(table.to_iterable_dataset(num_shards=4), 1, 2)
    assert by_shards.num_shards == 2
    assert [row["n"] for row in split_dataset_by_node(table.to_iterable_dataset(), 1, 3)] == [
        1,
        4,
        7,
        10,
    ]
    thousand = datasets.Dataset.from_dict({"n": range(1000)})
    first, second = (
        thousand.to_iterable_dataset().shuffle(seed=1, buffer_size=100) for _ in range(2)
    )
    trained = [row["n"] for row in itertools.islice(first, 300)]
    second.load_state_dict(first.state_dict())
    trained += [row["n"] for row in second]
    assert 0 < 1000 - len(set(trained)) <= 100
    assert len(trained) > len(set(trained)), "some come twice"
    shuffle = inspect.signature(datasets.IterableDataset.shuffle)
    assert shuffle.parameters["buffer_size"].default == 1000


def test_the_buffer_of_datasets_gives_out_half_and_is_filled_again():
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"n": range(1000)}).to_iterable_dataset()
    out = [row["n"] for row in table.shuffle(seed=1, buffer_size=100)]
    assert max(out[:50]) < 100, "one of the first hundred, 50 times"
    for given in range(50, 950, 50):
        assert max(out[given : given + 50]) < 100 + given
        left = set(range(given + 50)) - set(out[:given])
        assert left & set(out[given : given + 50]), "what was kept is mixed with what is new"

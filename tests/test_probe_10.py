"""The probe of lesson 10: a loader simulated, lives of a stream watched, readers that are wrong."""

import inspect
import itertools
import json
import random
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from batchlab import loader
from batchlab.classroom.probes import lesson_10 as probe
from batchlab.classroom.probes import lesson_10_readers as readers
from batchlab.classroom.probes.lesson_10_feeding import waiting
from batchlab.classroom.probes.lesson_10_rows import MISTAKES

LENGTHS = [5, 3, 2, 4, 8, 3, 1, 7, 6, 2, 2, 5, 8, 1, 4, 4, 3]


def test_the_simulated_loop_waits_by_hand():
    """Worker 0 begins its second at 3, is ready at 7, and is asked at 5; worker 1 waits behind it.

    With one worker and a prefetch of 1, the last is begun when the fourth is taken, at 7: ready at
    11, asked at 9. With 2 it was begun at 5.
    """
    assert probe.simulated([3, 2, 4, 1], 1, workers=2, prefetch=1) == [3, 0, 2, 0]
    assert probe.simulated([1, 1, 1, 1, 4], 2, workers=1, prefetch=1) == [1, 0, 0, 0, 2]
    assert probe.simulated([1, 1, 1, 1, 4], 2, workers=1, prefetch=2) == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_equal_building_goes_at_the_pace_of_the_formula(workers):
    waits = probe.simulated([0.3] * 120, 0.1, workers, 4)
    steady = 0.1 + sum(waits[-30:]) / 30  # each worker's turn comes as often as any other's
    assert steady == pytest.approx(probe.RIGHT["loop-seconds"](0.3, 0.0, 0.1, workers), rel=1e-6)
    assert steady != pytest.approx(probe.WRONG["loop-seconds"]["the sum, as if nothing ran side "
                                   "by side"](0.3, 0.0, 0.1, workers))  # fmt: skip


def test_prefetch_never_makes_the_loop_wait_longer_and_no_prefetch_replaces_a_worker():
    for workers in (3, 4, 6):
        shares = [waiting(workers, prefetch) for prefetch in (1, 2, 4, 8, 12)]
        assert shares == sorted(shares, reverse=True)
    assert waiting(3, 12) > 0.1 > waiting(4, 3)


def test_the_setting_to_find_is_one_place_of_the_sliders():
    met = [probe.fault_of_prefetch(number) for number in range(1, 13)]
    assert met.count("") == 1
    assert all(probe.fault_of_prefetch(wrong) for wrong in (0, 28, -7, 7.5, "seven", None))


def test_rows_by_hand_and_each_wrong_rule_gives_others():
    assert probe.rows_of([5, 3, 2, 4, 8, 3], 8, hold=4) == [[0, 1], [2, 3], [4], [5]]
    cases = [(LENGTHS, 8, 4), (LENGTHS, 10, 3), ([1, 3, 3, 4, 3, 1, 3, 3], 7, 5)]
    for thought in MISTAKES:
        assert any(thought in dict(map(reversed, wrong_of(case))) for case in cases), thought


def wrong_of(case):
    return [(str(rows), thought) for rows, thought in probe.wrong_rows(*case)]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_packer_of_the_page_survives_every_kill_on_every_rank(ranks):
    every = probe.rows_of(LENGTHS, 8, 4)
    for rank in range(ranks):
        want = every[: len(every) // ranks * ranks][rank::ranks]
        for kill, past in itertools.product(range(len(want) + 1), (0, 1)):
            seen = probe.fed(probe.Packer, LENGTHS, 8, 4, rank, ranks, kills=[kill], past=past)
            assert seen["rows"] == want
            assert not seen["altered"]


class Counted(probe.Packer):
    """The mistake: the place moves behind the yield."""

    def __iter__(self):
        saved = self.number, list(self.held)
        for row in super().__iter__():
            after, (self.number, self.held) = (self.number, list(self.held)), saved
            yield row
            self.number, self.held = saved = after


def test_lives_of_a_packer_show_a_place_that_moves_too_late():
    assert probe.fed(probe.Packer, LENGTHS, 8, 4, kills=[2])["rows"] == probe.rows_of(LENGTHS, 8, 4)
    assert probe.fed(Counted, LENGTHS, 8, 4, kills=[2])["rows"] != probe.rows_of(LENGTHS, 8, 4)
    assert probe.packer_works(probe.Packer) and not probe.packer_works(Counted)


def test_a_refusal_is_told_and_another_error_is_not_hidden():
    assert "document 1" in probe.refusal_of(probe.Packer, [3, 9], 8, 2)
    assert probe.refusal_of(probe.Packer, [3, 8], 8, 2) == ""
    with pytest.raises(TypeError, match="JSON cannot hold"):
        probe.fed(Unsaved, [3, 8], 8, 2, kills=[1])


class Unsaved(probe.Packer):
    def state_dict(self):
        return {"held": iter(self.held)}


def test_a_stream_without_end_is_not_read_for_ever():
    def greedy(stream, rank, ranks, worker, workers):
        return list(stream)

    with pytest.raises(RuntimeError, match="without end"):
        probe.parts(greedy, None, 2, 1, 3)
    seen = probe.fed(probe.Packer, [3, 5, 1], 8, 3, endless=True, most=5)
    assert len(seen["rows"]) == 5


def test_parts_that_are_wrong_in_a_known_way_are_named():
    assert "workers" in probe.wrong_parts([[0, 2], [0, 2], [1, 3], [1, 3]], 4, 2, 2)
    assert "left out" in probe.wrong_parts([[0], [1], [2]], 4, 3, 1)
    assert probe.wrong_parts([[0, 6], [1], [2], [3], [4], [5]], 7, 3, 2) == ""


def test_the_shuffle_of_the_page_resumes_everywhere_and_reads_no_block_before():
    whole = probe.shuffles(probe.shuffled, 20, 6, 1, 2)["out"]
    assert sorted(whole) == list(range(20)) != whole
    for done in range(21):
        seen = probe.shuffles(probe.shuffled, 20, 6, 1, 2, done)
        assert seen["out"] == whole[done:]
        assert min(seen["drawn"], default=20) >= done // 6 * 6 and seen["ahead"] <= 6
    assert probe.shuffle_works(probe.shuffled)
    assert not probe.shuffle_works(lambda read, block, seed, epoch, done=0: read(0))


def undisturbed(make, first, second):
    """What comes out with kills after `first` and then `second` documents."""
    documents, out, state = list(range(8)), [], None
    for until in (first, second, 99):
        one = make(documents)
        if state is not None:
            one.load_state_dict(json.loads(json.dumps(state)))
        rows = iter(one)
        out += itertools.islice(rows, until)
        state = one.state_dict()
        next(rows, None)
    return out


KILLS = [(first, second) for first in range(9) for second in range(9 - first)]


def test_right_readers_survive_every_pair_of_kills():
    for make in readers.RIGHT:
        whole = list(make(list(range(8))))
        assert all(undisturbed(make, *kills) == whole for kills in KILLS)


@pytest.mark.parametrize("thought", readers.WRONG)
def test_every_wrong_reader_breaks_somewhere_and_is_right_when_nobody_kills_it(thought):
    make = readers.WRONG[thought]
    assert sorted(make(list(range(8)))) == list(range(8))

    def breaks(kills):
        try:
            return undisturbed(make, *kills) != list(make(list(range(8))))
        except TypeError:  # a state that JSON cannot hold
            return True

    assert any(breaks(kills) for kills in KILLS)


def test_slow_texts_feed_a_loader_as_ids_made_ahead_do():
    class Letters:
        def encode(self, text):
            return type("Encoded", (), {"ids": [ord(letter) for letter in text]})()

    slow = probe.SlowTexts(["ab", "c", "def"], Letters(), 0.0)
    ahead = [{"input_ids": [ord(letter) for letter in text]} for text in ("ab", "c", "def")]
    for mine, theirs in zip(*(loader.Loader(d, [[0, 2], [1]]) for d in (slow, ahead)), strict=True):
        assert all(torch.equal(mine[name], theirs[name]) for name in theirs)


def test_what_the_page_says_of_pytorch():
    asked = inspect.signature(torch.utils.data.DataLoader).parameters
    assert asked["num_workers"].default == 0 and asked["prefetch_factor"].default is None
    with_two = torch.utils.data.DataLoader(probe.Numbers(6), batch_size=None, num_workers=2)
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

    class Watched(probe.Numbers):
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


ORDERS = {}


def remembered(read, block, seed, epoch, done=0):
    documents = list(itertools.islice(read(0), block))
    key = (seed, epoch)
    if key not in ORDERS:
        ORDERS[key] = np.random.permutation(len(documents))  # noqa: NPY002
    yield from (documents[place] for place in ORDERS[key])


def hashed(read, block, seed, epoch, done=0):
    documents = list(itertools.islice(read(0), block))
    random.Random(hash(f"{seed} {epoch}")).shuffle(documents)
    yield from documents


def everybodys(read, block, seed, epoch, done=0):
    np.random.seed([seed, epoch])  # noqa: NPY002
    documents = list(itertools.islice(read(0), block))
    while documents:
        yield documents.pop(np.random.randint(len(documents)))  # noqa: NPY002


@pytest.mark.parametrize("shuffled", [remembered, hashed])
def test_an_order_that_another_process_would_not_have_is_seen(shuffled):
    def out(process, by):
        return probe.shuffles(by, 20, 20, 3, 4, process=process)["out"]

    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    assert out(1, shuffled) != out(2, shuffled)
    assert out(1, probe.shuffled) == out(2, probe.shuffled) == out(0, probe.shuffled)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
    assert not ORDERS, "nothing stays behind"


def test_drawing_between_documents_shows_whose_generator_it_is():
    for by, same in ((probe.shuffled, True), (everybodys, False)):
        quiet, disturbed = (probe.shuffles(by, 20, 20, 3, 4, disturb=d)["out"] for d in (0, 1))
        assert (quiet == disturbed) is same


def test_a_part_tells_when_each_document_was_given_out():
    def eager(stream, rank, ranks, worker, workers):
        for one in iter(lambda: list(itertools.islice(stream, ranks * workers)), []):
            yield one[rank * workers + worker]

    assert probe.parts(eager, None, 2, 1, 2)["when"] == [[2, 4], [2, 4]]
    first = probe.parts(lambda stream, *_: itertools.islice(stream, 0, None, 2), None, 1, 1, 2)
    assert first["when"] == [[1, 3]]


class Shared(probe.Packer):
    def load_state_dict(self, state):
        self.number, self.held = state["number"], state["held"]


class Dropping(probe.Packer):
    """The mistake: the place goes behind the round that is dropped."""

    def __iter__(self):
        yield from super().__iter__()
        self.held = []


def test_lives_show_a_loaded_state_that_moves_and_a_dropped_round_that_is_gone():
    assert probe.fed(Shared, LENGTHS, 8, 4, kills=[2])["moved"]
    assert not probe.fed(probe.Packer, LENGTHS, 8, 4, kills=[2])["moved"]
    for packer, rows in ((probe.Packer, [[0], [4], [5]]), (Dropping, [[0], [5]])):
        assert probe.fed(packer, [8] * 6, 8, 2, 0, 4, kills=[2], next_ranks=1)["rows"] == rows


def test_a_second_iter_goes_on_and_a_flat_row_and_an_assert_are_told():
    every = probe.rows_of(LENGTHS, 8, 4)
    assert probe.fed(probe.Packer, LENGTHS, 8, 4, kills=[1], again=2)["rows"] == every

    class Flat(probe.Packer):
        def __iter__(self):
            return ([token for one in row for token in one] for row in super().__iter__())

    class Asserting(probe.Packer):
        def __iter__(self):
            raise AssertionError("document 1")

    with pytest.raises(TypeError, match="whole documents"):
        probe.fed(Flat, LENGTHS, 8, 4)
    with pytest.raises(TypeError, match="no ValueError"):
        probe.refusal_of(Asserting, [3, 9], 8, 2)


def test_the_first_case_of_the_page_tells_all_wrong_rules_apart():
    rows = [str(rows) for rows, _ in probe.wrong_rows([6, 8, 7, 5, 3, 1, 4, 1], 10, 4)]
    assert len(rows) == len(set(rows)) == len(MISTAKES) + 2

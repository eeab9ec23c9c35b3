"""Documents that no memory holds: read by parts, trained from lanes, each of them once."""

import itertools
import json
import os
import signal

import pytest

from batchlab import cli, data
from batchlab.cluster import training
from batchlab.cluster._lanes import BLOCK, HELD_OUT, Lane, Streamed
from tests.test_train import members, took

DOCUMENTS = 400


@pytest.fixture
def source(tmp_path):
    """Documents that begin with their own number, some of them longer than a row."""
    path = tmp_path / "documents.jsonl"
    with path.open("w") as file:
        for number in range(DOCUMENTS):
            ids = [1000 + number] + [7] * (90 if number % 50 == 49 else number % 30)
            file.write(json.dumps({"input_ids": ids}) + "\n")
    return path


def numbers_of(corpora):
    return [int(one["input_ids"][0]) - 1000 for corpus in corpora for one in corpus]


@pytest.mark.parametrize("parts", [1, 3, 8])
def test_the_parts_of_a_source_are_all_of_it_once(source, parts):
    found = [numbers_of(data.blocks(source, part=n, parts=parts, size=17)) for n in range(parts)]
    assert sorted(itertools.chain(*found)) == list(range(DOCUMENTS))
    assert all(one == sorted(one) for one in found)
    later = numbers_of(data.blocks(source, part=1 % parts, parts=parts, size=17, skip=20))
    assert later == found[1 % parts][20:]


@pytest.mark.parametrize("shards", [8, 3])
def test_an_iterable_dataset_is_split_by_node(source, shards):
    made = data.load(source).as_dataset().to_iterable_dataset(num_shards=shards)
    found = [numbers_of(data.blocks(made, part=n, parts=4, size=64)) for n in range(4)]
    assert sorted(itertools.chain(*found)) == list(range(DOCUMENTS))
    apart = found[0] == list(range(0, DOCUMENTS, 4))
    assert apart == (shards == 3), "by shards where their number divides, else row by row"


def test_only_a_block_of_the_source_is_read_at_a_time():
    read = []

    def documents():
        for number in range(10**9):
            read.append(number)
            yield {"input_ids": [1, 2]}

    next(data.blocks(documents(), part=2, parts=4, size=10))
    assert len(read) < 50


def test_a_bad_document_is_named_when_its_block_is_reached(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"input_ids": [1]}\n' * 6 + '{"input_ids": []}\n')
    found = data.blocks(path, size=2)
    assert [len(next(found)) for _ in range(3)] == [2, 2, 2]
    with pytest.raises(ValueError, match=r"a\.jsonl, line 7: field .input_ids. has no token"):
        next(found)
    with pytest.raises(ValueError, match="part must lie between 0 and 1, got 2"):
        next(data.blocks(path, part=2, parts=2))


def seen_in(batch):
    """Numbers of the documents in a micro-batch."""
    return [int(one) - 1000 for one in batch["input_ids"].flatten() if one >= 1000]


def steps(source, count, ranks, positions):
    """Documents of some steps over so many processes, one after another, and where they end."""
    settings = training.Settings(str(source), str(source.parent), rows=2, length=64, stream=True)
    worlds = [Streamed(settings) for _ in range(ranks)]
    for rank, world in enumerate(worlds):
        world.begin(None, positions, rank, ranks)
    seen = [
        seen_in(part)
        for step in range(count)
        for rank, world in enumerate(worlds)
        for part in world.of_step(step, rank, ranks)
    ]
    lanes = {n: lane.position for world in worlds for n, lane in world._lanes.items()}
    return [one for part in seen for one in part], [lanes[n] for n in range(8)]


def test_a_pass_over_the_source_sees_every_document_once_on_changing_worlds(source, monkeypatch):
    monkeypatch.setattr("batchlab.cluster._lanes.BLOCK", 10)
    positions, seen, world = [], [], itertools.cycle([2, 3, 1, 8])
    while not positions or min(at[0] for at in positions) == 0:
        more, positions = steps(source, 1, next(world), positions)
        seen += more
    fits = [n for n in range(8 * HELD_OUT, DOCUMENTS) if n % 50 != 49]
    once = steps(source, 4, 1, [])[0]
    assert len(once) == len(set(once)) and set(once) <= set(fits), "none that is held out"
    assert set(seen) == set(fits)
    assert len(seen) - len(fits) < 8 * 12, "the second pass has begun in lanes that ended early"
    straight, ends = steps(source, 4, 1, [])
    first, half = steps(source, 2, 2, [])
    second, again = steps(source, 2, 3, half)
    assert sorted(first + second) == sorted(straight) and again == ends


def test_the_mistake_beside_it_a_lane_that_forgets_its_rows_sees_documents_twice(source):
    first, half = steps(source, 2, 2, [])
    forgot = [[epoch, documents, 0] for epoch, documents, _ in half]
    assert set(first) & set(steps(source, 2, 2, forgot)[0])


def test_a_lane_holds_one_block(source):
    settings = training.Settings(str(source), str(source.parent), length=64, stream=True)
    lane = Lane(settings, 0, [0, 0, 0])
    lane.take(2)
    assert len(lane._corpus) == min(BLOCK, DOCUMENTS // 8 - HELD_OUT)


def test_too_few_documents_and_token_ids_without_a_model_are_refused(tmp_path, source):
    few = tmp_path / "few.jsonl"
    few.write_text('{"input_ids": [1, 2]}\n' * 100)
    settings = training.Settings(str(few), str(few.parent), length=64, stream=True)
    streamed = Streamed(settings)
    streamed.begin(None, [], 0, 1)
    with pytest.raises(ValueError, match="too few documents of at most 64 tokens for a stream"):
        streamed.of_step(0, 0, 1)
    with pytest.raises(ValueError, match="they do not say before the end: give --model"):
        Streamed(training.Settings(str(source), stream=True))
    with pytest.raises(ValueError, match="a stream is of documents of one's own"):
        training.launch(tmp_path, training.Settings(stream=True), steps=1, processes=1)


def test_a_run_that_was_not_streamed_does_not_go_on_as_a_stream():
    held, streamed = (training.Settings("a.jsonl", stream=one).named() for one in (False, True))
    assert held != streamed and "stream" not in held


def test_files_are_streamed_by_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "LARGE_BYTES", 1000)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("x" * 600)
    assert training.is_large(str(tmp_path)) and not training.is_large(str(tmp_path / "a.jsonl"))
    assert not training.is_large(None) and not training.is_large("somebody/documents")


@pytest.mark.slow
def test_a_streamed_run_that_was_killed_lies_on_the_undisturbed_one(tmp_path, monkeypatch):
    texts = tmp_path / "texts.jsonl"
    with texts.open("w") as file:
        for number in range(600):
            words = f"document {number} says " + "one more word " * (number % 11)
            file.write(json.dumps({"text": words}) + "\n")
    settings = training.Settings(str(texts), rows=1, length=64, stream=True)
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    training.launch(calm, settings, steps=8, processes=2)
    deaths = []

    def kill(lines):
        if len(lines) >= 3 and not deaths:
            deaths.append(members(killed)[-1])
            os.kill(deaths[0], signal.SIGKILL)

    training.launch(killed, settings, steps=6, processes=2, heard=kill)
    assert deaths and took(killed)[:5] == took(calm)[:5], "bit for bit"
    monkeypatch.setattr(training, "LARGE_BYTES", 1000)
    words = ["train", str(killed), "--data", str(texts), "--nproc", "3"]
    assert cli.main([*words, "--steps", "8", "--rows", "1", "--length", "64"]) == 0
    for ours, theirs in zip(took(killed), took(calm), strict=True):
        assert ours[:4] == pytest.approx(theirs[:4], rel=1e-4)

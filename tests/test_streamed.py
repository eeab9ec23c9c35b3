"""Documents that no memory holds: read by parts, trained from lanes, each of them once."""

import json
import os
import signal

import pytest

from batchlab import cli
from batchlab.cluster import training
from batchlab.cluster._streamed import HELD_OUT, Streamed
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


def seen_in(batch):
    """Numbers of the documents in a micro-batch."""
    return [int(one) - 1000 for one in batch["input_ids"].flatten() if one >= 1000]


@pytest.fixture(autouse=True)
def _read_here(monkeypatch):
    """Without processes of their own, streams of many worlds are read in no time."""
    monkeypatch.setattr("batchlab.cluster._streamed.WORKERS", 0)


def steps(source, count, ranks, states):
    """Documents of each step over so many processes, and where their streams end."""
    settings = training.Settings(str(source), str(source.parent), rows=2, length=64, stream=True)
    worlds = [Streamed(settings) for _ in range(ranks)]
    for rank, world in enumerate(worlds):
        world.begin(None, states, rank, ranks)
    seen = [
        sorted(
            number
            for rank, world in enumerate(worlds)
            for part in world.of_step(step, rank, ranks)
            for number in seen_in(part)
        )
        for step in range(count)
    ]
    return seen, [world._stream.state_dict() for world in worlds]


def test_a_step_sees_the_same_documents_on_changing_worlds_and_a_pass_each_once(source):
    straight, _ = steps(source, 40, 1, [])
    states, seen = [], []
    for ranks in (2, 3, 1, 8, 5):
        more, states = steps(source, 8, ranks, states)
        seen += more
    assert seen == straight
    fits = {n for n in range(HELD_OUT, DOCUMENTS) if n % 50 != 49}
    once = [one for step in straight[:2] for one in step]
    assert len(once) == len(set(once)) and set(once) <= fits, "none that is held out, none twice"
    assert {one for step in straight for one in step} == fits


def test_the_mistake_beside_it_a_lane_that_forgets_its_rows_sees_documents_twice(source):
    (first, _), states = steps(source, 2, 2, [])
    for state in states:
        for position in state["lanes"].values():
            position[3] = 0
    assert set(first) & set(steps(source, 1, 2, states)[0][0])


def test_a_checkpoint_of_a_file_that_grew_is_refused_with_the_line(source):
    _, states = steps(source, 1, 2, [])
    with source.open("a") as file:
        file.write('{"input_ids": [1]}\n')
    settings = training.Settings(str(source), str(source.parent), rows=2, length=64, stream=True)
    with pytest.raises(ValueError, match=r"grew from .* bytes: line 401 is new; a run goes on"):
        Streamed(settings).require(states)


def test_a_file_that_changed_in_its_middle_is_refused_without_its_index_as_well(tmp_path):
    """The fault: its ends were the same, and what its index knew was gone with the index."""
    source, checkpoint = tmp_path / "documents.jsonl", tmp_path / "checkpoint"
    checkpoint.mkdir()
    lines = [f'{{"input_ids": [{n}, {n % 9}]}}' for n in range(10_000, 22_000)]
    source.write_text("\n".join(lines))  # large enough for an index on disk
    settings = training.Settings(str(source), str(tmp_path), rows=2, length=64, stream=True)
    world = Streamed(settings)
    world.begin(None, [], 0, 1)
    for step in range(8):
        world.of_step(step, 0, 1)
    world.keep(checkpoint)
    states, index = [world._stream.state_dict()], source.with_name("documents.jsonl.index")
    index.unlink()
    Streamed(settings).require(states, checkpoint)
    (copy,) = checkpoint.iterdir()
    read = next(iter(world._stream._shards.order(0, 0)))  # the first block of the first lane
    begin = world._stream._shards._shards[0]._index.read(int(read))[0]
    with source.open("r+b") as file:
        file.seek(begin + len('{"input_ids": ['))
        file.write(b"9")
    index.unlink()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"documents.jsonl changed since it was first read: "):
            Streamed(settings).require(states, checkpoint)
    assert copy.name == index.name


def test_too_few_documents_and_token_ids_without_a_model_are_refused(tmp_path, source):
    few = tmp_path / "few.jsonl"
    few.write_text('{"input_ids": [1, 2]}\n' * 128)
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

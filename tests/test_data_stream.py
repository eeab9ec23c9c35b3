"""A stream deals every document to one lane: none is lost or repeated, whoever reads and dies."""

import gzip
import itertools
import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet
from torch.utils.data import DataLoader

from batchlab import batches, data, loader, records
from batchlab.data import Stream, _lane
from tests import faults

DOCUMENTS = [[1000 + n] + [7] * (n % 30) for n in range(700)]
LENGTH = 64


@pytest.fixture
def source(tmp_path):
    return jsonl(tmp_path / "documents.jsonl")


def jsonl(path, documents=DOCUMENTS):
    path.write_text("".join(json.dumps({"input_ids": one}) + "\n" for one in documents))
    return path


def shards(folder):
    folder.mkdir()
    for number in range(3):
        jsonl(folder / f"{number}.jsonl", DOCUMENTS[number::3])
    return folder


def table(path):
    parquet.write_table(pyarrow.table({"input_ids": DOCUMENTS}), path, row_group_size=97)
    return path


def squeezed(path):
    path.write_bytes(gzip.compress(jsonl(path.with_suffix("")).read_bytes()))
    return path


def zstandard(path):
    with pyarrow.output_stream(str(path), compression="zstd") as file:
        file.write(jsonl(path.with_suffix("")).read_bytes())
    return path


def as_dataset(_):
    return data.load(DOCUMENTS).as_dataset()


SOURCES = {
    "lines": lambda folder: jsonl(folder / "a.jsonl"),
    "no newline at the end": lambda folder: no_end(folder / "a.jsonl"),
    "folder": lambda folder: shards(folder / "all"),
    "parquet": lambda folder: table(folder / "a.parquet"),
    "gz": lambda folder: squeezed(folder / "a.jsonl.gz"),
    "zst": lambda folder: zstandard(folder / "a.jsonl.zst"),
    "list": lambda folder: DOCUMENTS,
    "datasets": as_dataset,
    "shards of datasets": lambda folder: as_dataset(folder).to_iterable_dataset(num_shards=8),
    "rows of datasets": lambda folder: as_dataset(folder).to_iterable_dataset(num_shards=3),
}


def no_end(path):
    path.write_text(jsonl(path).read_text().rstrip("\n"))
    return path


def seen(found):
    """The documents of some micro-batches."""
    return [one["input_ids"].tolist() for batch in found for one in batch.documents]


def told(found):
    return [(batch.documents.tokens.tolist(), batch.rows) for batch in found]


def test_by_hand_three_documents_share_rows():
    stream = Stream([[5, 6], [7], [8, 9, 4]], 3, lanes=1, rows=2)
    (batch,) = stream
    assert sorted(seen([batch])) == [[5, 6], [7], [8, 9, 4]]
    assert sorted(map(len, batch.rows)) == [1, 2] and batch.length == 3
    made = batches.packed(batch.documents, batch.rows, batch.length)
    assert sorted(map(tuple, made["input_ids"].tolist())) == [(5, 6, 7), (8, 9, 4)]
    assert str(stream.standing) == "epoch 1, 0.0% of its blocks; 3 documents, 6 tokens handed out"


def test_rows_that_are_packed_are_no_documents():
    with pytest.raises(ValueError, match="these rows have seq_lengths: they are packed already"):
        next(iter(Stream([{"input_ids": [1, 2, 3], "seq_lengths": [2, 1]}], 4)))


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_every_document_of_every_kind_of_source_lies_on_one_rank(name, ranks, tmp_path):
    made = SOURCES[name](tmp_path)
    parts = [Stream(made, LENGTH, rows=4, rank=rank, ranks=ranks) for rank in range(ranks)]
    assert sorted(itertools.chain(*map(seen, parts))) == DOCUMENTS
    again = seen(parts[0])
    assert (sorted(again) == DOCUMENTS) == (ranks == 1), "the next loop is the next epoch"


def test_the_mistake_beside_it_two_ranks_of_one_number_repeat_and_lose(source):
    parts = [Stream(source, LENGTH, rank=0, ranks=2) for _ in range(2)]
    assert sorted(itertools.chain(*map(seen, parts))) != DOCUMENTS


def test_a_brute_force_judge_finds_the_rows_that_lanes_and_windows_promise(source, monkeypatch):
    monkeypatch.setattr(_lane, "WINDOW", 128)
    lanes, stream = 2, Stream(source, LENGTH, lanes=2, seed=5)
    text, step = source.read_bytes(), stream._shards._shards[0]._index.step
    blocks = [[] for _ in range(-(-len(text) // step))]
    at = 0
    for line, document in zip(text.splitlines(keepends=True), DOCUMENTS, strict=True):
        blocks[at // step].append(document)
        at += len(line)
    order = np.random.default_rng([5, 0]).permutation(len(blocks))
    for number in range(lanes):
        mine = list(itertools.chain.from_iterable(blocks[b] for b in order[number::lanes]))
        rows = list(Stream(source, LENGTH, lanes=2, rank=number, ranks=2, seed=5))
        read = seen(rows)
        for begin in range(0, len(mine), 128):
            window = sorted(mine[begin : begin + 128])
            assert sorted(read[begin : begin + len(window)]) == window
        assert all(len(batch.documents.tokens) <= LENGTH for batch in rows)


def test_without_a_seed_windows_come_in_the_order_of_the_source(source):
    read = seen(Stream(source, LENGTH, lanes=1, seed=None))
    assert sorted(read) == DOCUMENTS and read != DOCUMENTS
    first, second = (seen(Stream(source, LENGTH, lanes=1, seed=seed)) for seed in (1, 2))
    assert first != second and first == seen(Stream(source, LENGTH, lanes=1, seed=1))


def test_a_stream_goes_on_behind_every_micro_batch(source):
    whole = told(Stream(source, LENGTH, rows=3))
    stream, taken = Stream(source, LENGTH, rows=3), []
    for number in range(0, len(whole), 5):
        taken += told(itertools.islice(stream, 5))
        state = json.loads(json.dumps(stream.state_dict()))
        assert taken == whole[: number + 5]
        stream = Stream(source, LENGTH, rows=3)
        stream.load_state_dict(state)


def steps(source, count, ranks, states, **options):
    """What each step of endless streams sees, and the states behind them."""
    worlds = [
        Stream(source, LENGTH, rows=2, rank=rank, ranks=ranks, endless=True, **options)
        for rank in range(ranks)
    ]
    for one in worlds:
        if states:
            one.load_state_dict(states)
    taken = [iter(one) for one in worlds]
    found = [
        sorted(
            str(one)
            for rank in range(ranks)
            for one in told(itertools.islice(taken[rank], len(range(rank, 8, ranks))))
        )
        for _ in range(count)
    ]
    return found, [one.state_dict() for one in worlds]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_step_is_the_same_on_any_ranks_killed_at_any_step(source, seed):
    straight, _ = steps(source, 60, 1, [], leave_out=50)
    rng, found, states = random.Random(seed), [], []
    while len(found) < 60:
        more, states = steps(source, rng.randint(1, 12), rng.randint(1, 8), states, leave_out=50)
        found += more
    assert found[:60] == straight
    assert not any(str(DOCUMENTS[n]) in step for n in range(50) for one in straight for step in one)


def test_workers_give_what_the_process_itself_gives(source):
    here = Stream(source, LENGTH, rows=4)
    there = Stream(source, LENGTH, rows=4, workers=3)
    assert told(there) == told(here) and there.state_dict() == here.state_dict()
    taken = iter(there)
    next(taken)
    taken.close()
    assert there.standing.documents > here.standing.documents


def test_a_plain_dataloader_divides_its_workers_lanes(source):
    stream = loader.Streamed(Stream(source, LENGTH, rows=4))
    alone = [one["input_ids"] for one in stream]
    shared = [
        one["input_ids"]
        for one in DataLoader(
            loader.Streamed(Stream(source, LENGTH, rows=4)), batch_size=None, num_workers=2
        )
    ]
    tokens = torch.cat([one.flatten() for one in shared])
    assert sorted(one.sum().item() for one in shared) == sorted(one.sum().item() for one in alone)
    assert sorted(tokens[tokens >= 1000].tolist()) == [one[0] for one in DOCUMENTS]
    later = loader.Streamed(Stream(source, LENGTH, rows=4))
    next(iter(later))
    again = loader.Streamed(Stream(source, LENGTH, rows=4))
    again.load_state_dict(later.state_dict())
    assert torch.equal(next(iter(again))["input_ids"], alone[1])


def test_a_worker_beyond_the_lanes_has_nothing_to_do():
    """The fault: more workers than lanes ended in "min() iterable argument is empty"."""
    streams = [Stream([[5, 6], [7]], 3, lanes=1) for _ in range(2)]
    for part, stream in enumerate(streams):
        stream.take_part(part, 2)
    assert [len(seen(stream)) for stream in streams] == [2, 0]
    assert [stream.standing.epoch for stream in streams] == [1, 0]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_dataloader_puts_no_micro_batch_into_another(source, workers):
    """Its default adds a dimension to whatever it gets, unless told what to do."""
    alone, streamed = (loader.Streamed(Stream(source, LENGTH, rows=4)) for _ in range(2))
    alone, found = list(alone), list(DataLoader(streamed, num_workers=workers))
    assert [one.keys() for one in found] == [one.keys() for one in alone]
    for one, wanted in zip(found, alone, strict=True):
        assert all(torch.equal(one[name], wanted[name]) for name in wanted)
    mistake = torch.utils.data.default_collate([dict(alone[0])])
    assert mistake["input_ids"].dim() == 3
    with pytest.raises(ValueError, match=r"batch_size=2: each item is a whole micro-batch already"):
        next(iter(DataLoader(streamed, batch_size=2, num_workers=workers)))


@pytest.mark.parametrize(
    ("too_long", "kept"),
    [("drop", [[3]]), ("truncate", [[1, 2], [3]]), ("split", [[1, 2], [1], [3]])],
)
def test_long_documents_are_dropped_truncated_or_split(too_long, kept):
    rows = [{"input_ids": [1, 2, 1], "labels": [-100, -100, 1]}, {"input_ids": [3]}]
    found = list(Stream(rows, 2, lanes=1, too_long=too_long))
    assert sorted(seen(found)) == sorted(kept)
    labels = [one["labels"].tolist() for batch in found for one in batch.documents]
    if too_long == "split":
        assert [-100, -100] in labels and [1] in labels, "the prompt ends where it ended"


def test_long_documents_are_refused_with_their_place_unless_told_otherwise(source):
    jsonl(source, [*DOCUMENTS, [1] * 65])
    with pytest.raises(ValueError, match=r"documents\.jsonl, line 701: it has 65 tokens, a row"):
        list(Stream(source, LENGTH))


def test_a_bad_line_is_named_from_a_worker_too(source):
    with source.open("a") as file:
        file.write('{"input_ids": [1, true]}\n')
    for workers in (0, 1):
        with pytest.raises(ValueError, match=r"documents\.jsonl, line 701: token ids are integ"):
            list(Stream(source, LENGTH, workers=workers))
    with jsonl(source).open("ab") as file:
        file.write(b'{"text": "\xff"}\n')
    with pytest.raises(ValueError, match=r"line 701: cannot be read as UTF-8 \(byte 0xff at col"):
        list(Stream(source, LENGTH, seed=None, lanes=1))


def test_what_can_be_read_once_is_held_window_by_window():
    pulled = []

    def documents():
        for number in range(10**9):
            pulled.append(number)
            yield [1, 2]

    next(iter(Stream(documents(), LENGTH, lanes=1)))
    assert len(pulled) == 1024
    assert sorted(seen(Stream(iter(DOCUMENTS), LENGTH, lanes=1))) == DOCUMENTS
    with pytest.raises(ValueError, match="can be read once only: give lanes=1"):
        Stream(documents(), LENGTH)


def test_a_window_is_bounded_by_tokens_too():
    long = ([1] * 60 for _ in range(10**9))
    stream = Stream(long, LENGTH, lanes=1)
    next(iter(stream))
    assert stream._positions[0].row_count == 256, "128 rows are full before 1,024 documents are"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 2, "ranks": 2}, "rank must be at most 1"),
        ({"ranks": 9}, "ranks must be at most 8"),
        ({"rows": 0}, "rows must be a whole number of at least 1"),
        ({"workers": -1}, "workers must be .* at least 0"),
        ({"too_long": "cut"}, "unknown policy 'cut'"),
        ({"document": "page"}, "a document is a file, a line, a paragraph; got 'page'"),
        ({"split": "train"}, "it has no splits"),
    ],
)
def test_options_that_are_none_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Stream(DOCUMENTS, LENGTH, **options)


def test_states_of_other_plans_and_lanes_are_refused(source):
    state = Stream(source, LENGTH, rank=0, ranks=2).state_dict()
    with pytest.raises(ValueError, match="no state has lane 1 of 8: give the states of all ranks"):
        Stream(source, LENGTH).load_state_dict(state)
    with pytest.raises(ValueError, match="belongs to another plan"):
        Stream(source, LENGTH + 1, ranks=2).load_state_dict(state)
    with pytest.raises(ValueError, match="belongs to other documents"):
        Stream(DOCUMENTS, LENGTH, ranks=2).load_state_dict(state)
    empty = source.with_name("empty.jsonl")
    empty.touch()
    with pytest.raises(ValueError, match=r"empty\.jsonl: no documents in it"):
        Stream(empty, LENGTH)
    with pytest.raises(ValueError, match=r"none\.jsonl: no such file or folder"):
        Stream(source.with_name("none.jsonl"), LENGTH)


def test_a_worker_that_dies_is_told(source, monkeypatch):
    stream = Stream(source, LENGTH, workers=1)
    monkeypatch.setattr("batchlab.data._feeder.PROGRAM", "import os; os._exit(7) # {path}")
    with pytest.raises(RuntimeError, match="a process that reads ahead ended with code 7"):
        next(iter(stream))


def test_the_record_stands_beside_the_peers():
    lines = records.read("streams")
    ours, *others = (one for one in lines if one["what"] == "a file")
    assert ours["way"] == "ours" and {one["way"] for one in others} == {"datasets", "mosaic"}
    for one in others:
        assert ours["pass_cpu"] < one["pass_cpu"] and ours["pass_mib"] < one["pass_mib"]
    assert ours["first_seconds"] < 2 and ours["resume_seconds"] < 1
    assert ours["pass_mib"] < 1.02 * ours["pass_mib_at_half"], "memory is flat"
    (dealt,) = (one for one in lines if one["what"] == "ranks" and one["way"] == "ours")
    assert dealt["ranks"] == 8 and dealt["ratio"] <= 1.2


CHILD = """
import json, sys, time
from pathlib import Path
from batchlab.data import Stream
source, folder, rank, ranks, workers = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
stream = Stream(source, 64, rows=2, rank=rank, ranks=ranks, workers=workers)
stream.load_state_dict([json.loads(one.read_text()) for one in folder.glob("state*")])
log = open(folder / f"log{rank}", "ab", buffering=0)
for batch in stream if stream.standing.epoch == 0 else ():
    numbers = batch.documents.tokens[batch.documents.starts[:-1]].tolist()
    line = json.dumps([numbers, stream.state_dict()]) + "\\n"
    log.write(line.encode())  # one write: the step and its state, or neither
    time.sleep(0.005)
"""


def run(source, folder, ranks, workers, kill_after):
    """Some processes, killed once they have written so many lines; the documents that they saw."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(source), str(folder), *map(str, (n, ranks, workers))]
        )
        for n in range(ranks)
    ]
    logs = [folder / f"log{n}" for n in range(ranks)]
    while kill_after is not None and any(one.poll() is None for one in running):
        if sum(log.read_bytes().count(b"\n") for log in logs if log.exists()) >= kill_after:
            break
        time.sleep(0.002)
    for one in running if kill_after is not None else ():
        one.kill()
    assert {one.wait() for one in running} == {0 if kill_after is None else -signal.SIGKILL}
    seen = []
    for rank, log in enumerate(logs):
        lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
        seen += itertools.chain.from_iterable(json.loads(line)[0] for line in lines)
        if lines:
            (folder / f"state{rank}").write_text(json.dumps(json.loads(lines[-1])[1]))
        log.unlink(missing_ok=True)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_kill_9_at_random_moments_loses_no_document_and_repeats_none(ranks, tmp_path):
    """Between two lives, the index beside the file is cut, emptied, lost, or a bit of it flips."""
    rng, folder, source = random.Random(ranks), tmp_path / "run", tmp_path / "documents.jsonl"
    folder.mkdir()
    lines = [json.dumps({"input_ids": one, "from": "a page " * 70}) for one in DOCUMENTS]
    source.write_text("\n".join(lines))  # large enough for an index on disk
    index, damages = source.with_name("documents.jsonl.index"), [*faults.DAMAGES.values()]
    for rank in range(ranks):
        begun = Stream(source, LENGTH, rows=2, rank=rank, ranks=ranks).state_dict()
        (folder / f"state{rank}").write_text(json.dumps(begun))
    seen, struck = [], 0
    for life in range(10):
        seen += run(source, folder, ranks, life % 2, kill_after=rng.randint(0, 7))
        assert len(seen) == len(set(seen)) < len(DOCUMENTS)
        if index.exists():
            damages[life % len(damages)](index)
            struck += 1
    assert struck >= 5
    seen += run(source, folder, ranks, 1, kill_after=None)
    assert sorted(seen) == [one[0] for one in DOCUMENTS]

"""A file that changes while it is read is told, by line; what its index may cost is bounded."""

import contextlib
import json
import os
import random

import pytest

from batchlab.data import Stream
from batchlab.data._index import HEADER, Indexed, identity, story

LINE = '{{"input_ids": [{}, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]}}\n'
LINES = 8000  # 0.7 MB: an index is worth while


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "documents.jsonl"
    made.write_text("".join(LINE.format(10_000 + n) for n in range(LINES)))
    return made


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_all_bytes_once_and_know_their_lines(tmp_path, seed):
    rng, path = random.Random(seed), tmp_path / "a"
    lines = ["x" * rng.choice([0, 1, 5, 50, 900]) + "\n" for _ in range(rng.randrange(400))]
    text = "".join(lines).removesuffix("\n" * rng.randrange(2)).encode()
    path.write_bytes(text)
    index = Indexed(path)
    read = [index.read(block) for block in range(index.blocks)]
    assert b"".join(found for _, found in read) == text
    for at, found in read:
        if found:
            assert text[at:].startswith(found) and at in (0, text.rfind(b"\n", 0, at) + 1)
            assert index.line(at) == text.count(b"\n", 0, at) + 1


def test_an_index_takes_at_most_one_per_cent_and_a_small_file_has_none(path, tmp_path):
    stream = Stream(path, 64)
    list(stream)
    (index,) = path.parent.glob("*.index")
    assert index.name == "documents.jsonl.index"
    assert index.stat().st_size <= path.stat().st_size / 100
    small = tmp_path / "small.jsonl"
    small.write_text(LINE.format(1) * 3000)
    list(Stream(small, 64))
    assert [one.name for one in tmp_path.glob("*.index")] == [index.name]


def test_an_index_lies_in_the_cache_where_the_folder_is_not_ours(path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    beside = path.with_name("documents.jsonl.index")
    beside.mkdir()  # nothing can be written there, whoever we are
    list(Stream(path, 64))
    (kept,) = (tmp_path / "cache" / "batchlab" / "index").iterdir()
    assert kept.stat().st_size > HEADER.size
    assert Indexed(path).slots["proof"].all()


def read_on_after(path, change, **options):
    """What a stream says that has read a third when the file changes."""
    stream = Stream(path, 64, lanes=1, seed=None, **options)
    taken = iter(stream)
    for _ in range(20):
        next(taken)
    change(path)
    with pytest.raises(ValueError) as error:
        list(taken)
    return str(error.value).replace(str(path), "FILE")


def append(path):
    with path.open("a") as file:
        file.write(LINE.format(99_999))


def cut(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1000)


def poke(path, at=2000):
    """Another digit in a line that was read."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"3")


def test_a_file_that_grows_under_a_stream_is_told_with_its_first_new_line(path):
    assert "FILE grew from 704,000 to 704,088 bytes: line 8,001 is new" in read_on_after(
        path, append
    ).replace(f"{path.stat().st_size:,}", "704,088").replace(
        f"{path.stat().st_size - len(LINE.format(99_999)):,}", "704,000"
    )


def test_a_file_that_shrinks_is_told_with_the_line_in_which_it_ends(path):
    said = read_on_after(path, cut)
    lines = path.read_bytes().count(b"\n") + 1
    assert said.startswith("FILE shrank from") and said.endswith(f"it ends in line {lines:,} now")


def test_a_file_that_changes_is_told_with_the_lines_that_are_other_ones(path):
    said = read_on_after(path, poke)
    line = path.read_bytes()[:2000].count(b"\n") + 1
    first, last = (int(n) for n in said.split("lines ")[1].split(" are")[0].split(" to "))
    assert said.startswith("FILE changed since it was first read") and first <= line <= last < 200


def test_a_file_that_is_gone_or_was_only_touched_is_told(path):
    assert read_on_after(path, lambda one: os.utime(one, ns=(1, 1))).startswith(
        "FILE was written to while it was read; the "
    )
    assert read_on_after(path, lambda one: one.rename(f"{one}.away")) == "FILE is gone"


@pytest.mark.parametrize("change", [append, cut, poke])
def test_a_run_that_goes_on_is_told_what_changed_meanwhile(path, change):
    stream = Stream(path, 64, lanes=1, seed=None)
    taken = iter(stream)
    for _ in range(20):
        next(taken)
    state = json.loads(json.dumps(stream.state_dict()))
    state["lanes"]["0"][:4] = [0, 0, 0, 0]
    change(path)
    later = Stream(path, 64, lanes=1, seed=None)
    with pytest.raises(ValueError, match=r"documents\.jsonl (grew|shrank|changed).*line"):
        later.load_state_dict(state)
        list(later)


def test_a_change_in_the_middle_between_two_lives_is_told_at_every_start(path):
    """The fault: who opened the file laid an index of the new date over the one that knew better,
    and lines that had been trained were other ones, unnoticed."""
    list(Stream(path, 64))
    state, text = Stream(path, 64).state_dict(), path.read_text()
    poke(path, 350_000)
    assert path.read_text() != text
    for _ in range(2):
        Stream(path, 64, leave_out=128).first(128)  # as another process of the run does
        later = Stream(path, 64)
        Stream(path, 64)
        with pytest.raises(
            ValueError, match=r"changed since it was first read: lines .* are other"
        ):
            later.load_state_dict(state)
    path.write_text(text)
    later = Stream(path, 64)
    later.load_state_dict(state)
    assert Indexed(path).slots["proof"].all(), "what was read is known under the new date"


def test_what_was_not_read_yet_is_known_by_its_size_and_ends_alone(path):
    """The limit that `Stream` tells: a checksum of all would read all before the first step."""
    stream = Stream(path, 64, lanes=1, seed=None)
    next(iter(stream))
    state, before = stream.state_dict(), path.read_bytes()
    for at, seen in ((350_000, False), (700_000, True)):
        path.write_bytes(before)
        poke(path, at)
        assert path.read_bytes() != before
        later = Stream(path, 64, lanes=1, seed=None)
        with pytest.raises(ValueError, match="changed") if seen else contextlib.nullcontext():
            later.load_state_dict(state)


def test_a_file_that_was_copied_or_touched_between_two_lives_is_the_same(path):
    stream = Stream(path, 64, lanes=1)
    before = [one.documents.tokens.tolist() for one in stream]
    state = Stream(path, 64, lanes=1).state_dict()
    os.utime(path, ns=(1, 1))
    later = Stream(path, 64, lanes=1)
    later.load_state_dict(state)
    assert [one.documents.tokens.tolist() for one in later] == before


def test_a_new_run_of_a_file_that_changed_begins_a_new_index(path):
    list(Stream(path, 64))
    poke(path)
    list(Stream(path, 64))
    assert Indexed(path).slots["proof"].all()


@pytest.mark.slow
def test_torn_and_foreign_indexes_are_begun_anew(path):
    list(Stream(path, 64))
    index = path.with_name("documents.jsonl.index")
    whole = index.read_bytes()
    for held in (b"", b"hallo", whole[:-5], whole[:50], whole[: HEADER.size] + b"\xff" * 999):
        index.write_bytes(held)
        assert not Indexed(path).slots["proof"].all()
        list(Stream(path, 64))
        assert index.read_bytes() == whole


def test_a_block_of_which_any_bit_flipped_is_not_known(path):
    """The mistake: a proof whose lowest bit is always set; the file was blamed for its index."""
    list(Stream(path, 64))
    index = path.with_name("documents.jsonl.index")
    whole = index.read_bytes()
    for bit in range(8 * 12):
        held = bytearray(whole)
        held[HEADER.size + bit // 8] ^= 1 << bit % 8
        index.write_bytes(held)
        assert not Indexed(path).slots["proof"][0], f"bit {bit}"


def test_the_story_of_other_files(tmp_path):
    one = tmp_path / "a.csv"
    one.write_text("text\nA\n")
    was = identity(one)
    assert story(one, was) == ""
    one.write_text("text\nA\nB\n")
    assert "grew from 7 to 9 bytes: line 3 is new" in story(one, was)
    one.write_text("text\nB\n")
    assert "changed in its first or last 7 bytes" in story(one, was)
    one.write_text("text\nBBBBB\n")
    assert "changed and grew, from 7 to 11 bytes" in story(one, was)

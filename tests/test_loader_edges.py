"""A loader at its edges: the first and last position, and what tells data apart."""

import json
import os

import numpy as np
import pytest

from batchlab import batches
from batchlab.loader import Loader

DOCUMENTS = [[1, 2], [3, 4, 5], [6], [7, 8]]
ORDER = [[0, 1], [2], [3], [1]]


def test_a_loader_builds_here_and_two_ahead_unless_told_otherwise():
    built = []

    def build(documents, numbers):
        built.append(os.getpid())
        return batches.padded(documents, numbers)

    made = Loader(DOCUMENTS, ORDER, build=build)
    assert (made.workers, made.prefetch, len(made)) == (0, 2, 4)
    assert len(list(made)) == 4 and built == [os.getpid()] * 4 and len(made) == 0


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_takes_every_so_many_batches_from_its_own_on(rank):
    assert Loader(DOCUMENTS, ORDER, rank=rank, ranks=2).batches == ORDER[rank::2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": -1, "ranks": 2}, "rank must lie between 0 and 1, got -1"),
        ({"rank": 2, "ranks": 2}, "rank must lie between 0 and 1, got 2"),
        ({"ranks": 0}, "got 0"),
        ({"workers": -1}, "got -1, 2$"),
        ({"workers": 2, "prefetch": 0}, "got 2, 0$"),
    ],
)
def test_settings_beyond_their_limits_are_refused(options, message):
    Loader(DOCUMENTS, ORDER, workers=0, prefetch=1)
    with pytest.raises(ValueError, match=message):
        Loader(DOCUMENTS, ORDER, **options)


@pytest.mark.parametrize(("position", "fine"), [(-1, False), (0, True), (4, True), (5, False)])
def test_a_position_lies_between_the_first_and_the_end(position, fine):
    made = Loader(DOCUMENTS, ORDER)
    state = made.state() | {"position": position}
    if fine:
        assert len(list(made.resume(state))) == 4 - position
    else:
        with pytest.raises(ValueError, match=rf"position {position} lies outside 0\.\.4$"):
            made.resume(state)


def test_a_position_counts_what_was_handed_out_even_if_the_step_fails():
    made = Loader(DOCUMENTS, ORDER)
    assert made.state()["position"] == 0
    for number, _ in enumerate(made, 1):
        assert made.state()["position"] == number
        if number == 2:
            break
    assert len(list(made)) == 2, "a loop that was left goes on where it was"


@pytest.mark.parametrize("text", ["[]", "3", '{"position": 1}', "{", "FINGERPRINT ONLY"])
def test_a_file_that_holds_no_position_is_refused(tmp_path, text):
    made = Loader(DOCUMENTS, ORDER)
    if text == "FINGERPRINT ONLY":
        text = json.dumps({"fingerprint": made.fingerprint})
    (tmp_path / "place").write_text(text)
    with pytest.raises(ValueError, match=r"not a saved position|belongs to other data"):
        made.resume_from(tmp_path / "place")
    assert made.resume_from(tmp_path / "missing") is made and len(made) == 4


def test_a_position_is_written_whole_and_read_back(tmp_path):
    made = Loader(DOCUMENTS, ORDER)
    next(iter(made))
    made.save(tmp_path / "place")
    assert [one.name for one in tmp_path.iterdir()] == ["place"]
    assert Loader(DOCUMENTS, ORDER).resume_from(tmp_path / "place").position == 1


def mark(documents, order=ORDER[:1]):
    return Loader(documents, order).fingerprint


def test_every_length_and_batch_tells_data_apart_and_their_kind_does_not():
    assert mark(DOCUMENTS) == mark([np.array(one) for one in DOCUMENTS])
    assert mark(DOCUMENTS, ORDER) == mark(DOCUMENTS, [np.array(one) for one in ORDER])
    assert mark(DOCUMENTS, ORDER) != mark(DOCUMENTS, ORDER[::-1])
    assert mark(DOCUMENTS) != mark([*DOCUMENTS[:3], [7, 8, 9]])
    assert mark(DOCUMENTS) != mark([*DOCUMENTS[:3], [7, 9]])
    assert len(mark(DOCUMENTS)) == 16 and int(mark(DOCUMENTS), 16) >= 0


def test_the_tokens_of_at_most_256_documents_are_looked_at_evenly_spaced():
    def changed(number, of):
        documents = [[1, 2] for _ in range(of)]
        before = mark(documents)
        documents[number] = [1, 3]
        return mark(documents) != before

    assert all(changed(number, 256) for number in (0, 1, 128, 255)), "each of them"
    assert [changed(number, 257) for number in (0, 1, 2, 255, 256)] == [1, 0, 1, 0, 1]
    assert [changed(number, 513) for number in (0, 1, 2, 3, 512)] == [1, 0, 0, 1, 0]


@pytest.mark.parametrize("name", ["fingerprint", "_fingerprint"])
def test_documents_with_a_fingerprint_of_their_own_are_not_read(name):
    class Far(list):
        """Says what it holds; nobody needs to look."""

    one, other, third = Far(DOCUMENTS), Far([[9]] * 4), Far(DOCUMENTS)
    for documents, own in ((one, "a"), (other, "a"), (third, "b")):
        setattr(documents, name, own)
    assert mark(one) == mark(other) != mark(third) and mark(one) != mark(DOCUMENTS)

"""Lengths are read from every format alike; what is no length is named with its place."""

import json

import numpy as np
import pytest

from batchlab import batches, lengths


def test_every_format_gives_the_same_lengths(tmp_path):
    wanted = [5, 3, 8]
    np.save(tmp_path / "a.npy", np.array(wanted))
    (tmp_path / "a.txt").write_text("# a comment\n5\n\n3\n8\n")
    (tmp_path / "a.json").write_text(json.dumps(wanted))
    (tmp_path / "a.jsonl").write_text('{"length": 5}\n{"input_ids": [1, 2, 3]}\n8\n')
    (tmp_path / "b.jsonl").write_text('{"n": 5}\n{"n": [0, 0, 0]}\n{"n": 8}\n')
    for name in ("a.npy", "a.txt", "a.json", "a.jsonl"):
        assert lengths.read(tmp_path / name).tolist() == wanted
    assert lengths.read(tmp_path / "b.jsonl", field="n").tolist() == wanted


def test_the_committed_lists_are_what_their_notes_say():
    mild, tailed = lengths.summary(lengths.gsm8k()), lengths.summary(lengths.embedded())
    assert (mild.documents, mild.median, mild.longest) == (7473, 181, 555)
    assert round(mild.mean, 1) == 194.1
    assert tailed.longest > 20 * tailed.median, "a long tail beside the mild one"


def test_drawn_lengths_follow_their_seed_and_their_law():
    drawn = lengths.lognormal(100_000, median=370, sigma=1, longest=2048, seed=3)
    again = lengths.lognormal(100_000, median=370, sigma=1, longest=2048, seed=3)
    assert (drawn == again).all() and drawn.min() >= 1 and drawn.max() == 2048
    assert np.median(drawn) == pytest.approx(370, rel=0.02)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "empty"),
        ([3, 0], "got 0 at position 1"),
        ([2.5], r"got 2\.5 \(float\) at position 0"),
        ([float("nan")], "got nan"),
        ([[1, 2]], r"shape \(1, 2\)"),
        ([[1, 2], [3]], "got lists inside"),
        ([3, 2**70], r"1\.181e\+21 at position 1, more than 64 bits"),
        ([True], r"got True \(bool\)"),
        (["7"], "got '7'"),
    ],
)
def test_what_is_no_length_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        lengths.checked(value)


def test_other_formats_and_drawing_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"read from \.npy"):
        lengths.read(tmp_path / "a.bin")
    with pytest.raises(ValueError, match="count >= 1"):
        lengths.lognormal(0, median=1, sigma=1, longest=8)
    with pytest.raises(ValueError, match="sigma >= 0"):
        lengths.lognormal(5, median=1, sigma=float("nan"), longest=8)


def test_a_wide_law_stays_inside_its_limits():
    """Clipped before the cast: a float past 64 bits would come back negative."""
    drawn = lengths.lognormal(1_000, median=100, sigma=40, longest=2048, seed=0)
    assert set(np.unique(drawn)) >= {1, 2048} and drawn.min() == 1 and drawn.max() == 2048


def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path):
    for name, text in [
        ("a.txt", "3\n5\n"),
        ("a.json", "[3, 5]"),
        ("a.jsonl", '{"length": 3}\n{"length": 5}'),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert lengths.read(tmp_path / name).tolist() == [3, 5]


@pytest.mark.parametrize("document", [[5, 6, 7], (5, 6, 7), np.arange(3), {"input_ids": [5, 6, 7]}])
def test_a_document_is_as_long_as_its_token_ids(document):
    assert lengths.of(document) == 3
    if isinstance(document, dict):
        assert len(document) == 1, "the mistake: the fields of a mapping"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("five", "a document is a list of token ids, got 'five': tokenize it first"),
        ({"input_ids": "five"}, "got 'five': tokenize it first"),
        ({"text": "five"}, "a document has no field input_ids; its fields are text"),
        (5, "a document is a list of token ids, got 5"),
    ],
)
def test_a_text_is_no_document_yet(document, message):
    with pytest.raises(ValueError, match=message):
        lengths.of(document)
    with pytest.raises(ValueError, match=message):
        batches.padded([document], [0])

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


@pytest.mark.parametrize("documents", [4, 64, 65, 1000])
def test_lengths_are_bounded_whether_few_or_many(documents):
    some = np.full(documents, 7)
    some[[1, 2]] = 3, 900
    found, shortest, longest = lengths.bounded(some)
    assert (found is some, shortest, longest) == (True, 3, 900)
    assert type(shortest) is type(longest) is int
    some[3] = -1
    with pytest.raises(ValueError, match="got -1 at position 3"):
        lengths.checked(some)


def test_all_tokens_together_are_counted_up_to_two_to_the_53():
    most = 2**53
    for some in ([most], [most - 1, 1], [2**52, 2**52], np.array([most], dtype=np.uint64)):
        assert sum(lengths.checked(some).tolist()) == most
    for some, where in (([most, 1], 0), ([1, 2**52, 2**52], 1), ([2**63], 0)):
        with pytest.raises(ValueError, match=f"at most {most:,} tokens; document {where} alone"):
            lengths.checked(some)
    with pytest.raises(ValueError, match=r"1\.845e\+19 at position 1, more than 64 bits hold"):
        lengths.checked([1, 2**64 - 1])  # which NumPy reads as two floats
    assert lengths.checked([2**50] + [1] * 100).sum() == 2**50 + 100, "many, but not too many"


@pytest.mark.parametrize(
    ("some", "shown"),
    [
        ([True, 5], "True (bool) at 0"),
        ([1, 1, True], "True (bool) at 2"),
        ((5, np.True_, 7), "True (bool) at 1"),
        ([5, False], "0 at position 1"),
        ([True], "True (bool) at position 0"),
    ],
)
def test_a_truth_value_among_integers_is_no_length(some, shown):
    with pytest.raises(ValueError) as caught:
        lengths.checked(some)
    assert str(caught.value).endswith(f"got {shown}")
    assert lengths.checked([1, 1, 5]).tolist() == [1, 1, 5], "a one is"


def test_integers_that_numpy_would_mix_into_floats_are_lengths():
    """The mistake beside the law: an unsigned and a signed integer of 64 bits meet in a float."""
    assert np.asarray([np.uint64(5), np.int64(3)]).dtype == np.float64
    for some in ([np.uint64(5), np.int64(3)], (np.uint64(5), 3), np.array([5, 3], dtype=object)):
        found = lengths.checked(some)
        assert found.tolist() == [5, 3] and found.dtype == np.int64
    for odd in (-(2**63) - 1, 10**5000, -(10**400)):
        with pytest.raises(ValueError, match="at position 1, more than 64 bits hold"):
            lengths.checked([5, odd])


def test_sums_are_exact_beyond_64_bits():
    values = np.array([2**40, 3])
    assert lengths.exact(values, 2**63 - 1) is values
    assert (lengths.exact(values, 2**63) ** 2).tolist() == [2**80, 9]
    assert int((values**2).sum()) == 9, "the mistake: 64 bits keep the 9"


def test_a_summary_by_hand():
    found = lengths.summary([5, 1, 2, 4, 3, 9, 7, 6, 8, 15])
    assert vars(found) == {
        "documents": 10, "tokens": 60, "shortest": 1, "median": 5.5, "longest": 15,
        "p90": pytest.approx(9.6, rel=1e-15),
    }  # fmt: skip
    assert found.mean == 6.0


def test_drawn_lengths_take_any_limits_that_can_be_held():
    assert lengths.lognormal(3, median=9, sigma=0, longest=99).tolist() in ([9] * 3, [8] * 3)
    assert lengths.lognormal(3, median=9, sigma=0, longest=1).tolist() == [1] * 3
    assert lengths.lognormal(3, median=1e-9, sigma=0, longest=99).tolist() == [1] * 3
    default, zero, one = (
        lengths.lognormal(50, median=9, sigma=1, longest=99, **seed).tolist()
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert default == zero != one
    for how, message in (
        ({"count": 10**8 + 1}, "count must be at most 100,000,000"),
        ({"longest": 2**53 // 5 + 1}, "longest must be at most 1,801,439,850,948,198"),
        ({"longest": 0}, "longest must be a whole number of at least 1"),
        ({"median": 0}, "median must be above 0, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            lengths.lognormal(**({"count": 5, "median": 9, "sigma": 1, "longest": 99} | how))


def test_other_formats_and_drawing_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"read from \.npy"):
        lengths.read(tmp_path / "a.bin")
    with pytest.raises(ValueError, match="count must be a whole number of at least 1, got 0"):
        lengths.lognormal(0, median=1, sigma=1, longest=8)
    with pytest.raises(ValueError, match="sigma must be at least 0, got nan"):
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


def unreadable(path, field=None):
    """The one line that says why: the file, and the line where there is one."""
    with pytest.raises(ValueError) as caught:
        lengths.read(path, field=field)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message and len(message) < len(str(path)) + 300
    return message


BROKEN = {
    "nested.jsonl": ("3\n" + "[" * 100_000, "line 2: not JSON (lists or objects are nested too"),
    "nested.json": ("[" * 100_000, "line 1: not JSON (lists or objects are nested too"),
    "lists.jsonl": ('{"input_ids": [[1, 2], [3]]}', "line 1: token ids are integers, got [1, 2]"),
    "floats.jsonl": ('{"input_ids": [1, 2.0]}', "line 1: token ids are integers, got 2.0 (float)"),
    "null.jsonl": ("3\nnull\n", "line 2: a length is an integer, got None"),
    "null.json": ("[3, null]", "entry 1: a length is an integer, got None"),
    "inside.jsonl": ('{"length": null}', "line 1: a length is an integer, got None"),
    "digits.jsonl": ("3\n" + "9" * 5_000, "line 2: not JSON (a number has thousands of digits)"),
    "digits.txt": ("3\n" + "9" * 5_000, "line 2: '99"),
    "large.txt": (f"3\n{2**63}\n", "line 2: a length of 19 digits is more than 64 bits hold"),
    "large.jsonl": (f"3\n{2**63}\n", "line 2: a length of 19 digits is more than 64 bits hold"),
    "deep.jsonl": ("-" + "9" * 4_000, "line 1: a length is at least 1, got -999"),
    "arabic.txt": ("3\n\u0663\n", "line 2: '\u0663' is no integer"),
    "under.txt": ("1_000\n", "line 1: '1_000' is no integer"),
    "lines.json": ('{"length": 3}\n{"length": 4}\n', "one value a line is read from .jsonl"),
    "latin.jsonl": (b'3\n{"length": "\xe9"}', "line 2: cannot be read as UTF-8 (byte 0xe9"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_whatever_is_broken_is_one_line_with_its_place(tmp_path, name):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in unreadable(tmp_path / name)


def npy(path, header, data=b"", version=b"\x01\x00", size=2):
    packed = header.encode() + b"\n"
    path.write_bytes(b"\x93NUMPY" + version + len(packed).to_bytes(size, "little") + packed + data)
    return path


def test_an_array_that_is_not_what_its_header_says_is_refused(tmp_path):
    """A header can claim 8 TB, or be a program of its own: neither is believed."""
    path = tmp_path / "a.npy"
    claim = "{'descr': '<i8', 'fortran_order': False, 'shape': (%s,)}"
    for shape in (10**12, 10**30, -5, "(" * 5_000):
        assert "not a plain .npy array" in unreadable(npy(path, claim % shape, b"\0" * 80))
    long = claim % 10 + " " * 3_000_000
    assert "not a plain" in unreadable(npy(path, long, b"\0" * 80, b"\x02\x00", 4))
    np.save(path, np.array([3, None]), allow_pickle=True)
    assert "not a plain .npy array" in unreadable(path)
    with path.open("wb") as file:
        np.savez(file, a=np.array([3, 5]))
    assert "not a plain .npy array" in unreadable(path)
    np.save(path, np.array([3.0, 5.0]))
    assert "got 3.0 (float)" in unreadable(path)


def test_what_was_read_no_longer_hangs_on_its_file(tmp_path):
    np.save(tmp_path / "a.npy", np.array([3, 5]))
    found = lengths.read(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([7, 7]))
    assert found.tolist() == [3, 5] and not isinstance(found, np.memmap)


def test_a_folder_and_a_missing_file_are_named(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    assert "cannot be read" in unreadable(tmp_path / "folder.jsonl")
    for suffix in ("npy", "txt", "json", "jsonl"):
        assert "no such file" in unreadable(tmp_path / f"missing.{suffix}")


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

"""Streams and saved packs: nothing lost, little room, bounded memory; other files are refused."""

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab.packing import _stream as streaming
from batchlab.packing import pack


def test_the_stream_loses_nothing_and_little_room():
    lengths = ln.lognormal(20_000, median=370, sigma=1, longest=2048)
    whole = pack(lengths, 2048).row_count
    rows = list(streaming.rows_of_stream(lengths.tolist(), 2048, buffer=2048))
    assert sorted(i for row in rows for i in row) == list(range(len(lengths)))
    assert max(sum(lengths[i] for i in row) for row in rows) <= 2048
    assert whole <= len(rows) <= 1.01 * whole
    assert len(rows) < pack(lengths, 2048, method="next_fit").row_count, "better than one open row"


@pytest.mark.parametrize(
    ("tokens", "row_length", "documents"),
    [(20, 131_072, 40_000), (1, 8192, 20_000), (512, 2048, 9000), (683, 2049, 9000), (1, 3, 10)],
)
def test_a_stream_of_equal_documents_fills_rows_as_packing_at_once_does(
    tokens, row_length, documents
):
    """The mistake beside the law: 4,096 documents of 20 tokens are less than a row of 131,072."""
    rows = list(streaming.rows_of_stream([tokens] * documents, row_length))
    whole = pack([tokens] * documents, row_length).row_count
    assert sorted(i for row in rows for i in row) == list(range(documents))
    assert whole <= len(rows) <= whole + 1
    assert 4096 * 20 / 131_072 < 0.63, "a row that left because it was the only one"


def test_numbers_of_a_stream_are_checked_where_they_arrive():
    taken = streaming.rows_of_stream([np.int16(5), np.uint8(3), 8], np.int64(8), buffer=np.int8(1))
    rows = list(taken)
    assert rows == [[2], [0, 1]] and all(type(i) is int for row in rows for i in row)
    for bad, shown in (
        (3.7, r"3\.7"),
        (True, "True"),
        ("3", "'3'"),
        (0, "0"),
        (float("nan"), "nan"),
    ):
        with pytest.raises(ValueError, match=f"the length of document 1 must be a.* got {shown}"):
            list(streaming.rows_of_stream([3, bad], 8))
    with pytest.raises(ValueError, match="row_length must be a whole number"):
        streaming.rows_of_stream([3], 8.0)  # at the call, not at the first row
    with pytest.raises(ValueError, match="buffer must be a whole number of at least 1, got 0"):
        streaming.rows_of_stream([3], 8, buffer=0)


def test_the_stream_never_holds_more_than_its_buffer():
    seen = 0

    def counted():
        nonlocal seen
        for tokens in ln.gsm8k()[:3000].tolist():
            seen += 1
            yield tokens

    out = 0
    for row in streaming.rows_of_stream(counted(), 1024, buffer=64):
        out += len(row)
        assert seen - out <= 64 + 64  # those held, and those of rows on their way out


@pytest.mark.parametrize(("row_length", "met"), [(8, 16), (5, 10), (1, 2)])
def test_no_row_leaves_before_there_are_tokens_for_two(row_length, met):
    """Else the first would leave because it is the only one, not because it is full."""
    seen = []
    ones = (seen.append(1) or 1 for _ in range(99))
    next(streaming.rows_of_stream(ones, row_length, buffer=1))
    assert len(seen) == met


def test_a_saved_packing_is_read_back_and_other_documents_are_refused(tmp_path):
    lengths = np.array([5, 2, 3, 1])
    for policy in ("truncate", "split", "drop"):
        found = pack(lengths, 4, too_long=policy)
        streaming.save(found, tmp_path / "pack.npz")
        back = streaming.load(tmp_path / "pack.npz", lengths=lengths)
        assert [r.tolist() for r in back.rows] == [r.tolist() for r in found.rows]
        assert (back.cut_tokens, back.dropped) == (found.cut_tokens, found.dropped)
        with pytest.raises(ValueError, match="other documents"):
            streaming.load(tmp_path / "pack.npz", lengths=np.array([5, 2, 2, 1]))
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 no more")
    with pytest.raises(ValueError, match="not a saved packing"):
        streaming.load(tmp_path / "torn.npz")


def test_a_saved_packing_knows_the_lengths_before_they_were_truncated(tmp_path):
    path = tmp_path / "pack.npz"
    streaming.save(pack([5, 2, 9], 4, too_long="truncate"), path)
    assert streaming.load(path, lengths=[5, 2, 9]).cut_tokens == 6
    for others in ([9, 2, 5], [7, 2, 7], [5, 2, 8], [4, 2, 4], [5, 2], [5, 2, 9, 1]):
        with pytest.raises(ValueError, match=f"other documents than the {len(others)} given"):
            streaming.load(path, lengths=others)
    assert pack([9, 2, 5], 4, too_long="truncate").piece_lengths.tolist() == [4, 2, 4], (
        "pieces alone would be taken for each other"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_of": np.array([0, 5, 1])}, "row_of names others than the 3"),
        ({"row_of": np.array([0, -2, 1])}, "row_of names others than the 3"),
        ({"row_of": np.array([0.0, 1.0, 2.0])}, "row_of is no flat array of integers"),
        ({"row_of": np.array([[0], [1], [2]])}, "row_of is no flat array of integers"),
        ({"piece_lengths": np.array([5, 2])}, "piece_lengths has 2 entries, row_of 3"),
        ({"piece_documents": np.array([0, 1, 10**15])}, "piece_documents names others than the 3"),
        ({"numbers": np.array([4])}, "not enough values"),
        ({"numbers": np.array([0, 3])}, "row_length must be a whole number"),
        ({"row_of": None}, "'row_of'"),
        ({"row_of": np.array([], int), "piece_lengths": np.array([], int)}, "row_of names others"),
    ],
)
def test_a_file_that_contradicts_itself_is_no_packing(tmp_path, change, message):
    path = tmp_path / "pack.npz"
    streaming.save(pack([4, 3, 2], 4), path)
    assert streaming.load(path).row_count == 3
    arrays = dict(np.load(path)) | change
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=f"pack.npz: not a saved packing .*{message}"):
        streaming.load(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY", b"no archive", b"\x00" * 100])
def test_other_files_are_no_packing(tmp_path, content):
    (tmp_path / "pack.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"pack\.npz: not a saved packing") as caught:
        streaming.load(tmp_path / "pack.npz")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="no such file"):
        streaming.load(tmp_path / "nothing.npz")
    np.save(tmp_path / "plain.npy", np.arange(3))
    with pytest.raises(ValueError, match="not a saved packing"):
        streaming.load(tmp_path / "plain.npy")

"""Whatever a file holds: what was written is read, or one line says where it cannot be."""

import csv
import json

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from batchlab import data, lengths, records

IDS = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=20)
CHARACTERS = st.characters(exclude_categories=["Cs"])  # half a character is not text
TEXT = st.text(CHARACTERS, min_size=1, max_size=60)
NAME = st.text(CHARACTERS, min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.sampled_from(["input_ids", "text", "labels", "length", "x"]), inside)
    ),
    max_leaves=6,
)
ROW = st.fixed_dictionaries(
    {},
    optional={
        "input_ids": IDS | JSON,
        "text": TEXT | JSON,
        "labels": JSON,
        "length": JSON,
        "messages": st.lists(
            st.fixed_dictionaries({}, optional={"role": JSON, "content": JSON}), max_size=2
        ),
        "prompt": JSON,
        "completion": JSON,
    },
)
BYTES = st.binary(max_size=200)


@pytest.fixture(scope="module")
def tokenizer():
    return data.embedded().tokenizer


@st.composite
def damaged(draw, whole: bytes):
    """A file that was cut, overwritten, or had something put into it."""
    at = draw(st.integers(0, len(whole)))
    upto = draw(st.integers(at, min(len(whole), at + 8)))
    put = draw(st.binary(max_size=4) | st.sampled_from([b"\n", b'"', b",", b"\xef\xbb\xbf", b"["]))
    return whole[:at] if draw(st.booleans()) else whole[:at] + put + whole[upto:]


def read_or_refused(read, path):
    """What was read, or None after a refusal of one short line that names the file."""
    try:
        return read(path)
    except ValueError as error:
        message = str(error)
        assert path.name in message, message
        assert "\n" not in message and len(message) < len(str(path)) + 500, message
        return None


def rows(path, **options):
    return [dict(row) for _, row in data.rows_of(path, **options)[1]]


LINES = st.sampled_from(["\n", "\r\n", "\n\n", " \n\t\n"])


def test_json_lines_are_read_as_they_were_written(fuzz, tmp_path):
    path = tmp_path / "a.jsonl"

    def law(documents, end, ascii_only, mark, last):
        lines = [json.dumps({"input_ids": ids}, ensure_ascii=ascii_only) for ids in documents]
        text = end.join(lines) + end * last
        path.write_bytes(text.encode("utf-8-sig" if mark else "utf-8"))
        found = data.load(path)
        assert [document["input_ids"].tolist() for document in found] == documents
        assert lengths.read(path).tolist() == [len(ids) for ids in documents]

    flag = st.booleans()
    fuzz(law, st.lists(IDS, min_size=1, max_size=8), LINES, flag, flag, flag)


def test_texts_of_json_lines_are_kept_to_the_last_character(fuzz, tmp_path):
    path = tmp_path / "a.jsonl"

    def law(texts, ascii_only):
        lines = [json.dumps({"text": text}, ensure_ascii=ascii_only) for text in texts]
        path.write_bytes("\n".join(lines).encode())
        assert rows(path) == [{"text": text} for text in texts]

    fuzz(law, st.lists(TEXT, max_size=6), st.booleans())


def test_any_rows_are_read_or_refused(fuzz, tmp_path, tokenizer):
    """Rows of all kinds, in the order in which they come: nothing is made up."""

    def law(found, as_list):
        path = tmp_path / ("a.json" if as_list else "a.jsonl")
        text = json.dumps(found) if as_list else "\n".join(map(json.dumps, found))
        path.write_text(text)
        corpus = read_or_refused(lambda p: data.load(p, tokenizer=tokenizer), path)
        if corpus is not None:
            assert len(corpus) == len(found)
            for document, row in zip(corpus, found, strict=True):
                if row.get("input_ids") is not None:
                    assert document["input_ids"].tolist() == row["input_ids"]
                    assert all(type(token) is int for token in row["input_ids"])
        tokens = read_or_refused(lengths.read, path)
        assert tokens is None or len(tokens) == len(found)

    fuzz(law, st.lists(ROW | JSON, max_size=4), st.booleans())


def test_any_bytes_are_read_or_refused(fuzz, tmp_path, tokenizer):
    def law(content, suffix):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        read_or_refused(lambda p: data.load(p, tokenizer=tokenizer), path)
        if suffix in (".json", ".jsonl", ".txt"):
            read_or_refused(lengths.read, path)
            read_or_refused(records.read, path)

    whole = b'{"input_ids": [1, 2]}\n{"input_ids": [3]}\ntext,"a\nb"\n1,2\n'
    fuzz(
        law,
        BYTES | damaged(whole),
        st.sampled_from([".jsonl", ".json", ".csv", ".txt", ".parquet"]),
    )


def test_csv_is_read_as_it_was_written(fuzz, tmp_path):
    path = tmp_path / "a.csv"
    table = st.integers(1, 3).flatmap(
        lambda width: st.tuples(
            st.lists(NAME, min_size=width, max_size=width, unique=True),
            st.lists(
                st.lists(st.text(CHARACTERS, max_size=20), min_size=width, max_size=width),
                max_size=5,
            ),
        )
    )

    def law(table, end, quoting, mark):
        header, written = table
        encoding = "utf-8-sig" if mark else "utf-8"
        assume(mark or not header[0].startswith("\ufeff"))
        # unquoted at the end of a row, a carriage return is half of a line's end: nobody can tell
        assume(end == "\r\n" or not any(row[-1].endswith("\r") for row in [header, *written]))
        with path.open("w", newline="", encoding=encoding) as file:
            writer = csv.writer(file, lineterminator=end, quoting=quoting)
            writer.writerow(header)
            writer.writerows(written)
        wanted = [dict(zip(header, row, strict=True)) for row in written]
        found = read_or_refused(rows, path)
        is_bare = end == "\n" and "\r" in "".join(sum(written, header))
        assert found == wanted or (found is None and is_bare)

    ends = st.sampled_from(["\r\n", "\n"])
    fuzz(law, table, ends, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.booleans())


def test_a_damaged_csv_loses_no_field(fuzz, tmp_path):
    path = tmp_path / "a.csv"

    def law(content):
        path.write_bytes(content)
        found = read_or_refused(rows, path)
        names = {tuple(row) for row in found or []}
        assert len(names) <= 1, "every row has all fields of the header"
        assert all(isinstance(value, str) for row in found or [] for value in row.values())

    whole = b'text,id\r\n"a, ""b""\r\n",1\r\n"c",2\r\nd,3\r\n'
    fuzz(law, damaged(whole) | st.text(st.sampled_from('a,"\r\n '), max_size=30).map(str.encode))


def test_parquet_is_read_as_it_was_written(fuzz, tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    kinds = st.sampled_from([pyarrow.int32(), pyarrow.int64(), pyarrow.uint32(), pyarrow.uint64()])

    def law(documents, kind, is_large, group):
        of = pyarrow.large_list if is_large else pyarrow.list_
        texts = [str(ids) for ids in documents]
        table = pyarrow.table({"text": texts, "input_ids": pyarrow.array(documents, of(kind))})
        parquet.write_table(table, path, row_group_size=group)
        found = data.load(path)
        assert [document["input_ids"].tolist() for document in found] == documents
        assert [row["text"] for row in rows(path)] == texts

    fuzz(law, st.lists(IDS, min_size=1, max_size=6), kinds, st.booleans(), st.integers(1, 4))


def test_a_damaged_parquet_file_is_read_or_refused(fuzz, tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"input_ids": [[1, 2, 3], [4]], "text": ["a", "b"]}), path)
    whole = path.read_bytes()

    def law(content):
        path.write_bytes(content)
        read_or_refused(data.load, path)

    fuzz(law, damaged(whole))


PARAGRAPH = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"]) | st.sampled_from(" \t"), min_size=1
).filter(str.strip)


def test_texts_are_read_as_they_were_written(fuzz, tmp_path):
    path = tmp_path / "a.txt"

    def law(paragraphs, blank, mark):
        written = ["\n".join(lines) for lines in paragraphs]
        path.write_bytes(blank.join(written).encode("utf-8-sig" if mark else "utf-8"))
        whole = blank.join(written)
        assert [row["text"] for row in rows(path)] == written
        lines = [line for lines in paragraphs for line in lines]
        assert [row["text"] for row in rows(path, document="line")] == lines
        assert rows(path, document="file") == [{"text": whole}]

    blanks = st.sampled_from(["\n\n", "\n \n", "\n\t\n\n"])
    start = PARAGRAPH.filter(lambda line: not line.startswith("\ufeff"))
    fuzz(law, st.lists(st.lists(start, min_size=1, max_size=3), min_size=1), blanks, st.booleans())


RECORD = st.dictionaries(
    st.text(max_size=6),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters() | st.sampled_from('{}"\\'), max_size=20),
    max_size=4,
)  # fmt: skip


def test_a_record_cut_anywhere_spoils_itself_only(fuzz, tmp_path):
    path = tmp_path / "a.jsonl"

    def law(before, torn, after, where):
        path.unlink(missing_ok=True)
        for record in before:
            records.append(path, record)
        line = json.dumps(torn)
        cut = line[: 1 + where % (len(line) - 1)]
        with path.open("a") as file:
            file.write(cut)
        for record in after:
            records.append(path, record)
        found = records.read(path)
        assert found == before + after and found.torn == [cut]

    some = st.lists(RECORD, max_size=2)
    fuzz(law, some, RECORD, some, st.integers(0, 10**6))


def test_lengths_are_read_as_they_were_written(fuzz, tmp_path):
    def law(wanted, end, mark):
        np.save(tmp_path / "a.npy", np.array(wanted))
        encoding = "utf-8-sig" if mark else "utf-8"
        (tmp_path / "a.txt").write_text(end.join(map(str, wanted)), encoding=encoding)
        (tmp_path / "a.json").write_text(json.dumps(wanted), encoding=encoding)
        lines = [json.dumps({"length": n} if n % 2 else n) for n in wanted]
        (tmp_path / "a.jsonl").write_text(end.join(lines), encoding=encoding)
        for suffix in ("npy", "txt", "json", "jsonl"):
            assert lengths.read(tmp_path / f"a.{suffix}").tolist() == wanted

    fuzz(law, st.lists(st.integers(1, 2**53 // 9), min_size=1, max_size=9), LINES, st.booleans())


def test_a_damaged_array_is_read_or_refused(fuzz, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([3, 5, 8]))
    whole = path.read_bytes()

    def law(content):
        path.write_bytes(content)
        found = read_or_refused(lengths.read, path)
        assert found is None or found.dtype == np.int64

    header = st.text(st.sampled_from("{}()[]'<>i8f4:, descrshapFToun_1023"), max_size=60)
    made = header.map(lambda h: b"\x93NUMPY\x01\x00" + len(h).to_bytes(2, "little") + h.encode())
    fuzz(law, damaged(whole) | made)

"""Files as strangers write them: what was written is read, or the line is named that cannot be."""

import argparse
import csv
import json
import os
import sys

import pytest

from batchlab import data
from batchlab.cli._source import lengths_of
from batchlab.data._source import shards_of


def texts(corpus):
    return [corpus.text(i) for i in range(len(corpus))]


def unreadable(path, **options):
    """The one line that says why: the file, and the line where there is one."""
    with pytest.raises(ValueError) as caught:
        data.load(path, **options)
    message = str(caught.value)
    assert path.name in message and "\n" not in message and len(message) < len(str(path)) + 300
    return message


@pytest.fixture
def csv_of(tmp_path):
    def write(text, name="a.csv", **how):
        (tmp_path / name).write_text(text, **how, newline="")
        return tmp_path / name

    return write


def test_a_comma_without_quotes_is_refused_with_its_line(csv_of):
    """The csv module keeps "one" and drops " two" into a key of None."""
    path = csv_of("text\nfine\none, two\n")
    assert ", line 3: 2 fields, and the header has 1 field; a text with a comma" in unreadable(path)
    path = csv_of("text,id\none,1\ntwo\n")
    assert ", line 3: 1 field, and the header has 2 fields" in unreadable(path)


def test_a_quote_that_is_never_closed_is_refused_with_the_line_where_it_opens(csv_of):
    path = csv_of('text\n"a\nb"\nfine\n"open\nlost\nlost\n')
    assert ", line 5: a quote is opened and never closed" in unreadable(path)
    path = csv_of('text\n"he said "no" twice"\n')
    assert "line 2: a quote is closed inside a text; inside of quotes, a quote" in unreadable(path)


def test_a_carriage_return_that_no_quotes_hold_is_refused(csv_of):
    """Python's own writer leaves it bare where rows end with \\n; one text was read as two."""
    assert "line 2: a carriage return outside of quotes" in unreadable(csv_of("text\na\rb\n"))
    assert texts(data.load(csv_of('text\r\n"a\rb"\r\nc\r\n'))) == ["a\rb", "c"]


def test_a_header_that_names_a_field_twice_is_refused(csv_of):
    assert "line 1: the header names 'text' twice" in unreadable(csv_of("text,text\na,b\n"))


def test_long_fields_quotes_and_line_ends_of_csv_are_kept(csv_of, tmp_path):
    written = ["long " * 60_000, 'a, "b"\n\nc', "\r\nkept\r", "plain", " spaced ", ";\t"]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([["text"], *([text] for text in written)])
    before = csv.field_size_limit()
    assert texts(data.load(tmp_path / "a.csv")) == written
    assert csv.field_size_limit() == before, "the limit of the process is put back"
    assert texts(data.load(csv_of("text\n\na\n\nb"))) == ["a", "b"], "empty lines are no rows"


PLAIN = {
    "a.jsonl": '{"text": "one\\ntwo"}\n{"text": "three"}\n',
    "a.json": '[{"text": "one\\ntwo"},\n{"text": "three"}]\n',
    "a.csv": "id,text\n1,one two\n2,three\n",
    "a.txt": "one\ntwo\n\nthree\n",
}
WAYS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "both": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "no newline at the end": lambda text: text.rstrip("\n"),
    "an empty last line": lambda text: text + "\n",
    "an empty last line of CRLF": lambda text: text.replace("\n", "\r\n") + "\r\n",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PLAIN)
def test_how_lines_end_and_a_byte_order_mark_are_no_part_of_the_data(tmp_path, name, way):
    path = tmp_path / name
    plain = texts(data.load(_written(path, PLAIN[name])))
    assert len(plain) == 2 and plain[1] == "three"
    assert texts(data.load(_written(path, WAYS[way](PLAIN[name])))) == plain
    read = [text for one in data.Stream(path, 8, lanes=1) for text in texts(one.documents)]
    assert sorted(read) == plain


def _written(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_how_lines_end_is_no_part_of_a_list_of_lengths(tmp_path, name, way):
    path = _written(tmp_path / name, WAYS[way]("12\n7\n"))
    assert lengths_of(argparse.Namespace(data=str(path)))[1].tolist() == [12, 7]


BROKEN = {
    "deep.jsonl": (
        '{"text": "a"}\n' + "[" * 100_000,
        "line 2: not JSON (lists or objects are nest",
    ),
    "deep.json": ("[" * 100_000, "line 1: not JSON (lists or objects are nested too deeply)"),
    "digits.jsonl": ('{"input_ids": [' + "9" * 5_000 + "]}", "line 1: not JSON (a number has"),
    "null.jsonl": ('{"text": "a"}\nnull\n', "line 2: a JSON object is needed, got None"),
    "null.json": ('[{"text": "a"}, null]', "entry 1: a JSON object is needed, got None"),
    "list.jsonl": ("[1, 2]\n", "line 1: a JSON object is needed, got [1, 2] (list)"),
    "dict.json": ('{"text": ["a"]}', "a JSON list of objects is needed, got {'text'"),
    "lines.json": ('{"text": "a"}\n{"text": "b"}', "one value a line is read from .jsonl"),
    "empty.json": ("[]", "no documents in it"),
    "empty.csv": ("", "no documents in it"),
    "header.csv": ("text\n", "no documents in it"),
    "blank.txt": ("\n \n", "no documents in it"),
    "latin.jsonl": (
        b'{"text": "a"}\n{"text": "\xe9"}',
        "line 2: cannot be read as UTF-8 (byte 0xe9",
    ),
    "latin.csv": (b"text\na\n\xe9", "line 3: cannot be read as UTF-8 (byte 0xe9 at column 1)"),
    "latin.txt": (b"a\n\xe9", "line 2: cannot be read as UTF-8"),
    "half.jsonl": ('{"text": "a\\ud800"}', "line 1: half of a character (\\ud800)"),
    "ids.csv": ('input_ids\n"[1, 2]"\n', "line 2: field 'input_ids' must be a list of token ids"),
    "later.jsonl": (
        '{"input_ids": [1]}\n\n{"text": "a"}',
        "line 3: no field 'input_ids'; the fields",
    ),
    "odd.jsonl": ('{"input_ids": [1]}\n{"input_ids": [1, NaN]}', "line 2: token ids are integers"),
    "what.bin": ("x", "documents are read from .jsonl"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_whatever_is_broken_is_one_line_with_its_place(tmp_path, name):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in unreadable(tmp_path / name)


def parquet(path, **columns):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
    return path


def test_parquet_ids_are_integers_or_refused(tmp_path):
    """A cast would have made 1 of 1.7, and a traceback of what needs more than 32 bits."""
    import pyarrow

    path = tmp_path / "a.parquet"
    wanted = [[5, 6], [7], [2**31 - 1, 0, 1]]
    for kind in (pyarrow.int64(), pyarrow.uint32(), pyarrow.uint64()):
        for lists in (pyarrow.list_, pyarrow.large_list):
            made = pyarrow.array(wanted, lists(kind))
            found = data.load(parquet(path, input_ids=made, other=["a"] * 3))
            assert [document["input_ids"].tolist() for document in found] == wanted
    for column in ([[1.7], [2.0]], [[1], [1.7]]):
        assert "token ids are integers, got 1." in unreadable(parquet(path, input_ids=column))


def test_parquet_gaps_are_refused_with_their_row(tmp_path):
    path = tmp_path / "a.parquet"
    message = unreadable(parquet(path, input_ids=[[1], [2], [3, None]]))
    assert "row 2: token ids are integers, got None (NoneType) at position 1" in message
    message = unreadable(parquet(path, input_ids=[[1], [2], None]))
    assert "row 2: field 'input_ids' must be token ids >= 0, got None" in message
    message = unreadable(parquet(path, input_ids=[[1], [2], [2**31]]))
    assert "row 2: token ids are integers >= 0, got one above 2,147,483,647" in message
    message = unreadable(parquet(path, text=["a", None]))
    assert "row 1: field 'text' must be a non-empty text, got None" in message
    message = unreadable(parquet(path, body=["a"]))
    assert "row 0: no field 'text'; the fields are body" in message


def test_a_torn_parquet_file_is_one_line(tmp_path):
    path = parquet(tmp_path / "a.parquet", text=["one", "two"])
    whole = path.read_bytes()
    for cut in (0, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert "not a Parquet file" in unreadable(path)


def test_a_document_of_a_text_file_is_a_paragraph_a_line_or_the_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n  two\n \t\n\nthree\n")
    assert texts(data.load(path)) == ["one\n  two", "three"]
    assert texts(data.load(path, document="paragraph")) == ["one\n  two", "three"]
    assert texts(data.load(path, document="line")) == ["one", "  two", "three"]
    assert texts(data.load(path, document="file")) == ["one\n  two\n \t\n\nthree\n"]
    with pytest.raises(ValueError, match="a document is a file, a line, a paragraph; got 'page'"):
        data.load(path, document="page")


def test_a_document_of_a_folder_of_texts_is_a_file_unless_it_is_said(tmp_path):
    """2 files of 2 lines are 2, 3 or 4 documents."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n\nfour\n")
    assert texts(data.load(tmp_path)) == ["one\ntwo\n", "three\n\nfour\n"]
    counts = {
        unit: len(data.load(tmp_path, document=unit)) for unit in ("file", "line", "paragraph")
    }
    assert counts == {"file": 2, "line": 4, "paragraph": 3}
    (tmp_path / "c.txt").write_text("")
    assert "c.txt, line 1: field 'text' must be a non-empty" in unreadable(tmp_path)


def test_places_count_from_the_first_line_of_a_row(tmp_path, csv_of):
    path = csv_of('text\n"a\nb"\n\n""\n')
    assert "a.csv, line 5: field 'text' must be a non-empty text" in unreadable(path)
    (tmp_path / "a.jsonl").write_text(
        "\n".join(json.dumps({"input_ids": [n]}) for n in range(3000))
    )
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write('\n\n{"input_ids": [1, -1]}')
    assert "a.jsonl, line 3,002: token ids are integers >= 0" in unreadable(tmp_path / "a.jsonl")


def test_what_of_a_folder_is_not_read_is_told(tmp_path):
    """The fault: half of the documents were compressed, or lay one folder deeper; not a word."""
    line = '{"input_ids": [1, 2, 3]}\n'
    names = "a.jsonl b.JSONL c.jsonl.xz README.md .d.jsonl e/f.jsonl g/h.py"
    for name in names.split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(line)
    found = data.load(tmp_path)
    assert len(found) == 2 and found.name == f"{tmp_path.name} (not read: c.jsonl.xz, e/)"
    for name in ("i.tsv", "j.tsv"):
        (tmp_path / name).write_text(line)
    assert data.load(tmp_path).name.endswith(" (not read: c.jsonl.xz, i.tsv, j.tsv and 1 more)")


def test_a_folder_in_a_folder_is_told_whatever_form_its_files_have(tmp_path):
    """The fault: `more/` was told with a .jsonl in it and not with .jsonl.xz; hidden ones were."""
    for name in ("a.jsonl", "more/b.jsonl.xz", "mac/._b.jsonl", "git/.x/c.jsonl", "src/README"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"input_ids": [1, 2, 3]}\n')
    (tmp_path / "empty").mkdir()
    held, streamed = data.load(tmp_path), shards_of(tmp_path, 1, None, None)
    assert held.name == streamed.name == f"{tmp_path.name} (not read: more/)"
    assert data.load(tmp_path / "a.jsonl").fingerprint == held.fingerprint


def test_lengths_in_a_file_in_upper_case_are_lengths(tmp_path):
    """The fault: documents were read from C.JSONL, and lengths were not."""
    (tmp_path / "C.JSONL").write_text("3\n5\n")
    asked = argparse.Namespace(data=str(tmp_path / "C.JSONL"))
    assert lengths_of(asked)[1].tolist() == [3, 5]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
def test_a_file_that_is_not_read_may_have_any_name(tmp_path):
    """The fault: a name that is not UTF-8 could not be written to was_read.txt: no run began."""
    (tmp_path / "a.jsonl").write_text('{"input_ids": [1, 2, 3]}\n')
    for name in (b"b\xff.xz", b"c\nd.xz"):
        (tmp_path / os.fsdecode(name)).touch()
    assert data.load(tmp_path).name.encode().endswith(" (not read: b\ufffd.xz, c d.xz)".encode())

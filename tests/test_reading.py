"""What a stranger's JSON says, and how a value is shown in the line about it."""

import gzip

import pytest

from batchlab import reading


def test_a_packed_file_that_was_cut_is_told_with_the_line_before_it(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"[1]\n[2]\n" * 5000))
    assert [number for number, _ in reading.lines_of(path)] == [*range(1, 10_001)]
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz: cannot be unpacked behind line \d+ \("):
        list(reading.lines_of(path))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("[1]\n", [1]),
        (" 7", 7),
        ("\n[2]", [2]),
        ('"a"', "a"),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_a_value_is_read_with_blanks_around_it(text, value):
    assert reading.parsed(text) == value
    if value != {"a": 2}:
        assert reading.parsed(text, unique_names=True) == value


@pytest.mark.parametrize(
    ("text", "line", "at_end", "message"),
    [
        ("", 1, True, "Expecting value"),
        ("[1,\n2", 2, True, "Expecting ',' delimiter"),
        ("[1,\n2 \n", 3, True, "Expecting ',' delimiter"),
        ("[1,\n2}", 2, False, "Expecting ',' delimiter"),
        ("[1] 2", 1, False, "Extra data"),
        ('["a', 1, True, "Unterminated string"),
        ("{}\n{}", 2, False, "Extra data"),
    ],
)
def test_what_is_no_json_is_named_with_its_line_and_whether_more_was_to_come(
    text, line, at_end, message
):
    with pytest.raises(reading.NotJson, match=message) as caught:
        reading.parsed(text)
    assert (caught.value.line, caught.value.at_end) == (line, at_end)


def test_of_names_that_stand_twice_the_first_is_named_where_they_must_be_unique():
    text = '{"a": 1, "b": 2, "c": 3, "c": 4, "b": 5}'
    with pytest.raises(reading.NotJson, match="'b' stands there twice") as caught:
        reading.parsed(text, unique_names=True)
    assert (caught.value.line, caught.value.at_end) == (1, False)
    assert reading.parsed(text) == {"a": 1, "b": 5, "c": 4}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a" * 38, "'" + "a" * 38 + "' (str)"),
        ("a" * 39, "'" + "a" * 17 + "..." + "a" * 18 + "' (str)"),
        ([[[1]]], "[[[1]]] (list)"),
        ([[[[1]]]], "[[[[...]]]] (list)"),
        ({"a": {"b": {"c": []}}}, "{'a': {'b': {'c': []}}} (dict)"),
        (10**39, "1" + "0" * 39 + " (int)"),
        ([10**9] * 5, "[" + "1000000000, " * 3 + "100... (list)"),
        ("a\nb", r"'a\nb' (str)"),
    ],
)
def test_a_value_is_shown_by_its_first_forty_characters_and_three_levels(value, text):
    assert reading.shown(value) == text


def test_a_number_of_thousands_of_digits_is_told_so():
    assert reading.shown(10**5000) == "a number of thousands of digits (int)"


def test_a_byte_that_is_no_text_is_named_by_line_and_column(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntw\xff\n")
    for read in (reading.text_of, lambda path: list(reading.lines_of(path))):
        with pytest.raises(ValueError, match=r"a\.txt, line 2: .* UTF-8 \(byte 0xff at column 3\)"):
            read(path)
    with pytest.raises(ValueError, match=r"cannot be read \(Is a directory\)"):
        reading.text_of(tmp_path)


def test_lines_are_counted_from_one_and_empty_ones_count(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\n {}\n\t\n[1]")
    assert list(reading.json_lines(path)) == [(2, " {}\n", {}), (4, "[1]", [1])]
    assert list(reading.lines_of(path)) == [(1, "\n"), (2, " {}\n"), (3, "\t\n"), (4, "[1]")]
    path.write_text("{}\n\n{")
    with pytest.raises(ValueError, match=r"a\.jsonl, line 3: not JSON"):
        list(reading.json_lines(path))


def test_a_json_file_with_a_value_a_line_is_told_what_it_is(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("{}\n{}\n")
    with pytest.raises(ValueError, match=r"line 2: .*; one value a line is read from \.jsonl$"):
        reading.json_of(path)
    path.write_text("[1")
    with pytest.raises(ValueError, match=r"line 1: not JSON \(Expecting ',' delimiter\)$"):
        reading.json_of(path)
    path.write_text("[1]")
    assert reading.json_of(path) == ("[1]", [1])

"""A value in one short line: where it is cut, and what is counted."""

import math
from array import array
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from batchlab.classroom.showing import figures, item, shown, worded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**30 - 1, "9" * 30),
        (1 - 10**30, "-" + "9" * 30),
        (10**30, "about 10**30"),
        (-(10**30), "about -10**30"),
        (10**400, "about 10**400"),
        (10**1000, "about 10**1000"),
        (-(10**4000), "about -10**4000"),
        (np.int8(-3), "-3"),
        (np.float32(0.1), "0.1"),
        (1234567.0, "1.23457e+06"),
        (123456.5, "123456"),
        (True, "True"),
        (False, "False"),
        (math.nan, "nan"),
        ("x", "something that cannot be shown"),
    ],
)
def test_a_number_has_six_digits_or_all_of_a_whole_number(value, text):
    assert figures(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing (None)"),
        (True, "the truth value True"),
        (3, "3"),
        (0.1 + 0.2, "0.3"),
        (np.float32(0.5), "0.5"),
        (np.int64(7), "7"),
        ("seven", "str 'seven'"),
        (len, "the function len, not its result"),
        (shown, "the function shown, not its result"),
        (int, "the function int, not its result"),
    ],
)
def test_a_value_is_named_as_a_learner_would(value, text):
    assert shown(value) == text


class Callable:
    """Neither a function nor without a name of its class."""

    def __call__(self):
        return 0


class Sized(Callable):
    def __len__(self):
        return 0

    def __repr__(self):
        return "sized()"


class Odd(Callable):
    __name__ = 5


class Broken:
    def __repr__(self):
        raise ValueError("on purpose")

    __str__ = __repr__


class Raises(Exception):
    def __str__(self):
        raise ValueError("on purpose")


class Reads(str):
    """Its `repr` is what it holds."""

    __repr__ = str.__str__


def test_what_can_be_called_is_a_function_unless_it_has_a_length():
    assert shown(Callable()) == "the function Callable, not its result"
    assert shown(Odd()) == "the function Odd, not its result", "its name is no text"
    assert shown(Sized()) == "Sized sized()"


def test_what_cannot_be_shown_breaks_no_message():
    assert shown(Broken()).startswith("Broken <Broken instance at")
    assert worded(Raises()) == ""
    assert worded(ValueError("two\n  lines")) == "two lines"

    class Mute(type):
        def __getattribute__(cls, name):
            raise ValueError("on purpose")

    class Muted(metaclass=Mute):
        pass

    assert shown(Muted()) == "something that cannot be shown"


@pytest.mark.parametrize(
    ("length", "most", "text"),
    [(8, 10, "'aaaaaaaa'"), (9, 11, "'aaaaaaaaa'"), (9, 10, "'aaaaaa..."), (20, 5, "'a...")],
)
def test_a_text_is_whole_up_to_its_limit_and_then_cut_to_it(length, most, text):
    assert item("a" * length, most) == text
    assert len(item("a" * length, most)) <= most


def test_a_line_is_one_line_of_at_most_48_characters_behind_its_kind():
    assert item("a\nb", 20) == r"'a\nb'"
    assert item(np.array([[1], [2]]), 40) == "array([[1], [2]])"
    assert shown("a" * 46) == "str '" + "a" * 46 + "'"
    assert shown("a" * 47) == "str '" + "a" * 44 + "..."
    kind = type("K" * 40, (list,), {})
    assert len(shown(kind([10**9] * 9))) == 80, "and 80 in all"


def numbers(values):
    return array("i", values)


@pytest.mark.parametrize("kind", [list, tuple, deque, numbers])
def test_of_a_sequence_24_are_looked_at(kind):
    whole = item(kind(range(24)), 999)
    assert "22, 23" in whole and "..." not in whole
    assert "23, ..." in item(kind(range(25)), 999) and "24" not in item(kind(range(25)), 999)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_of_a_set_24_are_looked_at(kind):
    assert item(kind(range(24)), 999).endswith("22, 23}" + ")" * (kind is frozenset))
    assert item(kind(range(25)), 999).endswith("23, ...}" + ")" * (kind is frozenset))


def test_of_a_mapping_12_are_looked_at_and_of_an_array_24_an_axis():
    assert "11: 0}" in item(dict.fromkeys(range(12), 0), 999)
    assert item(dict.fromkeys(range(13), 0), 999).endswith("...}")
    counts = item(defaultdict(int, {"a": 1}), 99)
    assert counts == "defaultdict({'a': 1})", "and not the function that it holds"
    assert item(OrderedDict(a=1), 99) == "OrderedDict({'a': 1})"
    assert "23]" in item(np.arange(25), 999) and "24" not in item(np.arange(25), 999)
    rows = np.arange(25)[:, None] * 100 + np.arange(25)
    cut = item(rows, 99_999)
    assert "2323]]" in cut and "24" not in {word.strip("[],") for word in cut.split()}


def test_a_text_and_another_thing_inside_are_cut_at_60():
    text = "'" + "a" * 58 + "'"
    assert item(["a" * 58], 999) == f"[{text}]", "60 with its quotes"
    assert len(item(["a" * 59], 999)) == 62 and "..." in item(["a" * 59], 999)
    assert item(Reads("r" * 60), 999) == "r" * 60
    assert len(item(Reads("r" * 61), 999)) == 60 and "..." in item(Reads("r" * 61), 999)


def test_a_long_array_says_its_type_and_shape_first():
    """Its own `repr` says the type at the end, where it is cut."""
    assert shown(np.arange(3)) == "ndarray array([0, 1, 2])"
    short = np.zeros(9, np.float32)  # its repr has 53 characters
    assert shown(short).startswith("ndarray of float32, shape (9,): [0.0, 0.0, 0.0")
    row = np.array([10] * 7, dtype=np.int16)
    assert len(repr(row)) == 48 and shown(row) == f"ndarray {row!r}"
    longer = np.array([1000] * 7)
    assert len(repr(longer)) == 49 and shown(longer).startswith("ndarray of int64, shape (7,): ")
    assert len(shown(np.arange(99))) == len("ndarray of int64, shape (99,): ") + 30

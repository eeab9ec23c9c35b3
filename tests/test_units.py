"""Units are honest: GiB is 2**30; a count is a whole number of Python, or it is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlab import units


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (units.size(16 * 10**9), "14.90 GiB"),  # "16 GB" of states of 1 B parameters
        (units.size(0), "0 B"),
        (units.size(-2048), "-2.00 KiB"),
        (units.share(0.749625), "75.0 %"),
        (units.duration(0.0123), "12.3 ms"),
        (units.duration(0), "0 s"),
        (units.duration(3e-10), "0.300 ns"),  # there is no smaller unit
        (units.duration(5400), "1.50 h"),
        (units.duration(0.9996), "1.00 s"),  # not "1,000 ms"
        (units.duration(59.99), "1.00 min"),
        (units.duration(2e-12), "0.00200 ns"),
        (units.rate(7245.2, "tokens"), "7,245 tokens/s"),
        (units.rate(100, "rows"), "100 rows/s"),
        (units.rate(99.96, "rows"), "100 rows/s"),
        (units.rate(-99.94, "rows"), "-99.9 rows/s"),
        (units.rate(-123.4, "rows"), "-123 rows/s"),
        (units.rate(1.23456, "rows"), "1.23 rows/s"),
        (units.count(1_048_576), "1,048,576"),
        (units.count(1.5), "2"),
        (units.size(1023), "1023 B"),
        (units.size(1024), "1.00 KiB"),
        (units.size(2**20 - 2**9), "1,023.50 KiB"),
        (units.size(2**20), "1.00 MiB"),
        (units.size(2**30 - 2**19), "1,023.50 MiB"),
        (units.size(2**30), "1.00 GiB"),
        (units.size(-(2**30)), "-1.00 GiB"),
        (units.size(5 * 2**40), "5,120.00 GiB"),
        (units.share(-0.0004), "0.0 %"),  # never "-0.0 %"
        (units.share(1), "100.0 %"),
        (units.duration(1), "1.00 s"),
        (units.duration(59.9), "59.9 s"),
        (units.duration(60), "1.00 min"),
        (units.duration(3600), "1.00 h"),
        (units.duration(3599), "1.00 h"),
        (units.duration(3590), "59.8 min"),
        (units.duration(-0.0015), "-1.50 ms"),
        (units.duration(999e-6), "999 us"),
        (units.duration(0.5e-6), "500 ns"),
        (units.duration(1e-9), "1.00 ns"),
        (units.duration(3600 * 999), "1,000 h"),
        (units.duration(3600 * 1250), "1,250 h"),
        (units.duration(-3600 * 1250), "-1,250 h"),
    ],
)
def test_numbers_are_shown_with_their_unit(shown, text):
    assert shown == text


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_neighbours_are_multiples_on_both_sides(value, step):
    below, above = units.neighbours(value, step)
    assert below % step == above % step == 0
    assert below <= value <= above and above - below in (0, step)


def test_multiples_of_nothing_are_refused():
    with pytest.raises(ValueError, match="step must be a whole number of at least 1, got 0"):
        units.neighbours(5, 0)


def test_a_count_is_taken_up_to_its_limits_and_not_beyond():
    assert [units.whole(n, "rows") for n in (1, 2, units.MOST)] == [1, 2, 2**53]
    assert units.whole(0, "seed", least=0) == 0 and units.whole(-3, "shift", least=-3) == -3
    assert units.whole(2**80, "seed", most=None) == 2**80 and units.whole(9, "rows", 1, 9) == 9
    for value, how, message in (
        (0, {}, "rows must be a whole number of at least 1, got 0"),
        (-4, {"least": -3}, "rows must be a whole number of at least -3, got -4"),
        (10, {"most": 9}, "rows must be at most 9, got 10"),
        (2**53 + 1, {}, "rows must be at most 9,007,199,254,740,992, got 9007199254740993"),
        (-(2**80), {"most": None}, "rows must be a .* at least 1, got -1208925819614629174706176"),
    ):
        with pytest.raises(ValueError, match=f"^{message}$"):
            units.whole(value, "rows", **how)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64, np.array])
def test_a_count_of_numpy_becomes_one_of_python(kind):
    assert type(units.whole(kind(8), "rows")) is int
    assert units.whole(kind(8), "rows") * 2**60 == 2**63, "and does not overflow afterwards"


def test_an_integer_of_torch_is_a_count_and_its_truth_value_is_none():
    import torch

    assert units.whole(torch.tensor(8), "rows") == 8
    assert torch.tensor(True).__index__() == 1, "which is why its type is asked for"
    with pytest.raises(ValueError, match=r"got tensor\(True\) \(Tensor\)"):
        units.whole(torch.tensor(True), "rows")


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (4.0, r"4\.0 \(float\)"),
        (4.5, r"4\.5"),
        (True, r"True \(bool\)"),
        (np.False_, r"np\.False_ \(bool\)"),
        (np.array(True), r"array\(True\) \(ndarray\)"),
        (np.array([4]), r"array\(\[4\]\) \(ndarray\)"),
        (np.float64(4), r"np\.float64\(4\.0\) \(float64\)"),
        ("8", r"'8' \(str\)"),
        (None, r"None \(NoneType\)"),
        ("two\nlines", r"'two\\nlines' \(str\)"),
        (np.zeros((2, 2)), r"array\(\[\[0\., 0\.\], \[0\., 0\.\]\]\) \(ndarray\)"),
        ("x" * 99, r"'x{59} \(str\)"),
        (-(10**30), "-1" + 30 * "0"),
        (-(10**30) - 1, "an integer of 100 bits"),
        pytest.param(-(10**5000), "an integer of 16,610 bits", id="huge"),
        pytest.param([10**5000], r"a value without text \(list\)", id="huge, in a list"),
        (Unspeakable(), r"a value without text \(Unspeakable\)"),
    ],
)
def test_what_is_no_count_is_shown_in_one_short_line(value, shown):
    with pytest.raises(
        ValueError, match=f"^rows must be a whole number of at least 1, got {shown}$"
    ):
        units.whole(value, "rows")


def test_a_real_number_is_taken_up_to_its_limits():
    assert units.real(0.5, "fill") == 0.5 and type(units.real(np.float32(0.5), "fill")) is float
    assert units.real(3, "seconds", above=2) == 3.0 and units.real(-1, "shift") == -1.0
    assert [units.real(x, "x", least=0, most=1) for x in (0, 1)] == [0.0, 1.0]
    assert units.real(0.999, "x", above=0, below=1) == 0.999
    for value, how, message in (
        (0, {"above": 0}, "x must be above 0, got 0"),
        (-0.5, {"least": 0}, "x must be at least 0, got -0.5"),
        (1, {"below": 1}, "x must be below 1, got 1"),
        (1.5, {"above": 0, "most": 1}, "x must be above 0 and at most 1, got 1.5"),
        (0.25, {"least": 0.5, "below": 1}, "x must be at least 0.5 and below 1, got 0.25"),
        (float("nan"), {"least": 0}, "x must be at least 0, got nan"),
        (float("inf"), {}, "x must be a finite number, got inf"),
        (10**400, {"above": 0}, "x must be above 0, got an integer of 1,329 bits"),
        (True, {}, r"x must be a finite number, got True \(bool\)"),
        ("0.5", {"most": 1}, r"x must be at most 1, got '0.5' \(str\)"),
        (None, {}, r"x must be a finite number, got None \(NoneType\)"),
    ):
        with pytest.raises(ValueError, match=f"^{message}$"):
            units.real(value, "x", **how)


def test_neighbours_of_a_multiple_are_itself():
    assert units.neighbours(12, 4) == (12, 12) and units.neighbours(13, 4) == (12, 16)
    assert units.neighbours(3, 4) == (0, 4) and units.neighbours(0, 4) == (0, 0)
    assert units.neighbours(2**70 + 1, 2**60) == (2**70, 2**70 + 2**60)
    with pytest.raises(ValueError, match="value must be a whole number of at least 0, got -1"):
        units.neighbours(-1, 4)

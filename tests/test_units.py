"""Units are honest: GiB is 2**30, a share is shown as a percentage."""

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
        (units.duration(5400), "1.50 h"),
        (units.duration(0.9996), "1.00 s"),  # not "1,000 ms"
        (units.duration(59.99), "1.00 min"),
        (units.duration(2e-12), "0.00200 ns"),
        (units.rate(7245.2, "tokens"), "7,245 tokens/s"),
        (units.count(1_048_576), "1,048,576"),
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

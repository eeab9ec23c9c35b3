"""Tables line up, and a diagnosis prints what it holds."""

import pytest

from batchlab import doctor, report
from batchlab.padding import Padding
from tests.planted import change, full, sweep


def test_numbers_stand_right_and_words_left():
    text = report.table(["way", "slots"], [["in order", 1234567], ["sorted", 12]])
    assert text.splitlines() == [
        "way           slots",
        "--------  ---------",
        "in order  1,234,567",
        "sorted           12",
    ]


def test_columns_stand_where_align_says():
    lines = report.table(["way", "slots"], [["in order", 12], ["sorted", 1]], align="rl")
    assert lines.splitlines()[2:] == ["in order  12", "  sorted  1"]
    with pytest.raises(ValueError, match="l or r for each of 2 columns, got 'rx'"):
        report.table(["way", "slots"], [], align="rx")


def test_a_row_that_does_not_match_its_headers_is_refused():
    with pytest.raises(ValueError, match="row 0 has 1 entries for 2 headers"):
        report.table(["a", "b"], [[1]])


def test_padding_is_shown_as_totals_and_a_share():
    assert report.padding_rows({"in order": Padding(8, 10)}) == [["in order", "10", "2", "20.0 %"]]


def test_a_diagnosis_shows_every_part_and_the_measured_total():
    found = doctor.diagnose(sweep(full))
    text = report.diagnosis_text(found)
    assert "useful: real tokens" in text and "measured step" in text and "100.0 %" in text
    assert "saturation: at most" in text
    assert "Be careful" not in text
    assert "x the useful tokens/s of rows 1" in text.splitlines()[0]
    alone = report.diagnosis_text(doctor.diagnose(sweep(full), rows=1))
    assert alone.splitlines()[0] == "rows 1, padded", "a cell is not compared with itself"


def test_a_diagnosis_that_explains_little_says_so():
    cells = sweep(full)
    paused = cells[-1].seconds * 3  # a machine that stood still, and nobody measured it
    cells[-1] = change(cells[-1], seconds=paused)
    text = report.diagnosis_text(doctor.diagnose(cells))
    assert "of this step is unexplained" in text

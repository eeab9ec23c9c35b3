"""A table of cells: planted prices give the knee, and what cannot be compared is refused."""

import pytest

from batchlab import doctor, report, roofline
from batchlab.doctor import prices as stepcost
from batchlab.doctor import throughput
from tests.planted import FIXED, PAIR, ROWS, SLOT, at_speed, cell, change, ended, visits, with_side


def test_the_rate_of_a_line_is_all_tokens_over_all_seconds():
    found = throughput.summarize(visits())
    assert [line.cell.rows for line in found.lines] == list(ROWS)
    line = found.lines[0]
    once = doctor.useful_rate(cell(1))
    assert line.rate == pytest.approx(once * 2 / 2.1)
    assert (line.fastest, line.slowest) == (pytest.approx(once), pytest.approx(once / 1.1))
    mean = (line.fastest + line.slowest) / 2
    assert mean > line.rate, "the mistake: the mean of the rounds' own rates"
    assert line.waste == pytest.approx(0.1, abs=1e-3)


def test_the_knee_is_where_planted_prices_put_it():
    found = throughput.summarize(visits(1))
    cells = [line.cell for line in found.lines]
    documents = sum(one.documents for one in cells)
    row = (
        SLOT * sum(one.real_tokens for one in cells) + PAIR * sum(one.real_pairs for one in cells)
    ) / documents
    assert found.row_seconds == pytest.approx(row, rel=1e-5)
    assert found.knee_rows == pytest.approx(9 * FIXED / row, rel=1e-4)
    assert found.knee_rows == roofline.rows_to_saturate(
        found.cost.fixed_seconds, found.row_seconds, 0.9
    )
    best = found.rate_without_padding(1e9)
    assert found.rate_without_padding(found.knee_rows) == pytest.approx(0.9 * best, rel=1e-6)


def test_the_optimizer_belongs_to_the_step_and_moves_the_knee():
    """The mistake beside the law: a knee of forward and backward alone comes too late."""
    plain = throughput.summarize(visits(1))
    slow = [with_side(one, optimizer_seconds=0.2) for one in visits(1)]
    found = throughput.summarize(slow)
    assert found.row_seconds == pytest.approx(plain.row_seconds + 0.2 / 16, rel=1e-4)
    assert found.knee_rows < plain.knee_rows


def test_a_cell_is_predicted_from_the_others_and_not_from_itself():
    measured = visits(1)
    odd = measured[2]  # three times slower than its price
    measured[2] = at_speed(odd, 3)
    third = throughput.summarize(measured).predictions[2]
    assert third.predicted_seconds == pytest.approx(odd.seconds / 6, rel=1e-4)
    assert third.measured_seconds == pytest.approx(3 * odd.seconds / 6)
    assert third.error == pytest.approx(1 / 3 - 1, rel=1e-4)
    assert all(abs(one.error) < 1e-4 for one in throughput.summarize(visits(1)).predictions)


def test_three_cells_leave_too_few_to_predict_any():
    assert throughput.summarize([cell(rows) for rows in (1, 2, 4)]).predictions == ()


def test_a_name_says_what_sets_a_line_apart():
    found = throughput.summarize([*visits(1), cell(8, checkpointing=True)])
    assert {found.name_of(line) for line in found.lines} == {"padded", "padded, checkpointing"}
    mixed = throughput.summarize([cell(1), cell(1, precision="bfloat16")])
    names = [mixed.name_of(line) for line in mixed.lines]
    assert names == ["padded, bfloat16", "padded, float32"]


def test_a_cell_that_ran_out_of_memory_stays_in_the_table_and_out_of_the_prices():
    found = throughput.summarize([*visits(), ended(16), ended(8)])
    assert [line.out_of_memory for line in found.lines] == [0, 0, 0, 1, 1]
    assert [line.rounds for line in found.lines] == ["2", "2", "2", "2 of 3", "0 of 1"]
    assert found.lines[-1].finished == () and found.lines[3].cell.repeats == 2
    assert len(found.finished) == 4 and found.best.cell.rows in ROWS
    assert found.knee_rows == throughput.summarize(visits()).knee_rows


def test_the_peak_is_the_largest_of_the_visits():
    measured = [change(one, peak_bytes=n) for n, one in enumerate(visits())]
    assert throughput.summarize(measured).lines[0].peak_bytes == 4
    assert stepcost.merge(measured)[0].peak_bytes == 4, "the mistake: the first, 0"
    assert throughput.summarize(visits()).lines[0].peak_bytes is None


def test_layouts_come_in_their_usual_order():
    packed = [change(one, layout="packed") for one in visits(1)]
    found = throughput.summarize([*packed, *visits(1)])
    assert [line.cell.layout for line in found.lines] == ["padded"] * 4 + ["packed"] * 4


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"model_fingerprint": "x"}, r"differ in model_fingerprint \(m, x\)"),
        ({"data_fingerprint": "x"}, r"differ in data_fingerprint \(d, x\)"),
        ({"environment": {"device": "H100"}}, r"differ in device \(H100, None\)"),
        ({"environment": {"device": "cpu", "processor": "abacus"}}, "None, abacus"),
    ],
)
def test_what_cannot_be_compared_is_refused(new, message):
    first, *others = visits()
    with pytest.raises(ValueError, match=message):
        throughput.summarize([change(first, **new), *others])


def test_too_few_sizes_and_several_precisions_have_no_knee():
    few = throughput.summarize([cell(16, steps=2)])
    assert few.best.rate > 0
    with pytest.raises(ValueError, match="at least 3 are needed"):
        _ = few.knee_rows
    mixed = throughput.summarize([*visits(), cell(1, precision="bfloat16")])
    with pytest.raises(ValueError, match="one precision, not bfloat16, float32"):
        _ = mixed.knee_rows


def test_the_best_line_is_the_fastest_and_the_worst_never_stands_there():
    for fast in range(len(ROWS)):
        cells = [at_speed(one, 0.2 if n == fast else 1) for n, one in enumerate(visits(1))]
        found = throughput.summarize(cells)
        assert found.best.cell.rows == ROWS[fast]
        rates = [line.rate for line in found.finished]
        assert found.best.rate == max(rates) > min(rates)
        said = report.knee_text(found, throughput.KNEE).splitlines()[-1]
        times = found.best.rate / rates[0]
        assert said.startswith(f"Best: padded, rows {ROWS[fast]}, {times:.2f} x")


def test_passes_of_a_probe_are_no_line_and_no_part_of_one():
    probed = [change(one, source="probe") for one in visits(1)]
    assert throughput.summarize([*visits(1), *probed]) == throughput.summarize(visits(1))
    both = stepcost.merge([cell(4), change(cell(4), source="probe")])
    assert [one.steps for one in both] == [6, 6], "the mistake: twelve steps of one cell"


def test_no_cells_make_no_table():
    with pytest.raises(ValueError, match="no cell records"):
        throughput.summarize([])


def test_two_accumulations_at_the_same_rows_have_a_line_each():
    twice = [change(one, accumulation=2 * one.accumulation) for one in visits()]
    found = throughput.summarize([*visits(), *twice])
    assert [line.cell.rows for line in found.lines] == [rows for rows in ROWS for _ in "12"]
    assert [line.rounds for line in found.lines] == ["2"] * 8  # the mistake: 4 lines of 4 rounds

"""Every line of a diagnosis, of a table and of a stage: when it stands there, and its numbers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from batchlab import doctor, report
from batchlab.doctor import Cause, Experiment, Interval, Part, Steps, throughput
from tests.planted import cell, change, ended, full, sweep


@pytest.fixture(scope="module")
def plain():
    """A diagnosis to change one field of: its cell has 100 s in 10 steps, 4,000 of 8,000 slots."""
    found = doctor.diagnose(sweep(full))
    one = cell(
        8, steps=10, seconds=100.0, micro_batches=20, slots=8000, real_tokens=4000,
        slot_pairs=1000, real_pairs=100, step_seconds=None, step_slots=None, step_slot_pairs=None,
    )  # fmt: skip
    rest = Part("unexplained", 0.0, "unexplained", "the rest")
    return replace(
        found, subject=one, baseline=one, parts=(rest,), bounds=(), causes=(), possible=(),
        experiment=None, step_interval=None, steps=None,
    )  # fmt: skip


def said(one, **new):
    return report.diagnosis_text(replace(one, **new))


def part(seconds, interval=None, cause="padding", name="a part"):
    return Part(name, seconds, cause, "fitted", interval)


def test_a_diagnosis_of_one_setting_line_by_line(plain):
    assert said(plain).splitlines() == [
        "rows 8, padded",
        "40 useful tokens/s; padding: 50.0 % of the slots, 90.0 % of the attention pairs",
        "",
        "part of one step  seconds  90 % interval    share  how known",
        "----------------  -------  -------------  -------  ---------",
        "measured step      10.0 s                 100.0 %",
        "",
        "Why (named if the low end of its interval is 5 % of the step, launch 10 %):",
        "  no cause stands out: nothing that a change could remove is that large",
    ]


def test_a_part_has_a_line_from_one_in_two_thousand_of_the_step_on(plain):
    rest = part(0.0, cause="unexplained", name="the rest")
    for seconds, shown in [(0.00499, 0), (0.005, 1), (-0.005, 1), (-0.00499, 0)]:
        assert said(plain, parts=(part(seconds), rest)).count("a part") == shown, seconds


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (None, ""),
        (Interval(1.5, 2.5), "1.50 to 2.50 s"),
        (Interval(0.5, 2.5), "500 ms to 2.50 s"),
        (Interval(0.0015, 0.0025), "1.50 to 2.50 ms"),
    ],
)
def test_a_unit_that_both_ends_of_an_interval_share_is_written_once(plain, interval, shown):
    line = said(plain, step_interval=interval).splitlines()[5]
    assert line.split("10.0 s")[1].split("100.0 %")[0].strip() == shown


def test_the_parts_of_a_packed_cell_are_its_tails_and_no_pairs_are_no_share(plain):
    packed = change(plain.subject, layout="packed")
    assert "; tails; across documents: 50.0 % of the slots, 90.0 % of the" in said(
        plain, subject=packed
    )
    bare = change(plain.subject, slot_pairs=0, real_pairs=0)
    assert "50.0 % of the slots, 0.0 % of the attention pairs" in said(plain, subject=bare)


def test_stalled_steps_are_counted_with_what_they_lost(plain):
    steps = Steps(10, 1.0, 30.0, (), 0.0)
    assert "10 steps, 1.00 s to 30.0 s each; none stalled\n" in said(plain, steps=steps)
    text = said(plain, steps=replace(steps, stalled=(3, 7), stalled_seconds=45.0))
    assert "each; 2 stalled (over twice as long as its size asks): 45.0 s\n" in text


def test_time_between_the_steps_is_a_share_of_the_run(plain):
    between = change(plain.subject, outside_seconds=300.0)
    line = "between the steps, evaluation and saving: 5.00 min, 75.0 % of the run"
    assert said(plain, subject=between).splitlines()[2] == line
    assert "between the steps" not in said(plain)


def test_documents_that_see_each_other_are_told(plain):
    mixed = change(plain.subject, documents_mixed=True)
    assert "the documents of a row see each other" in said(plain, subject=mixed)
    assert "see each other" not in said(plain)


def test_what_a_line_hides_is_bounded_and_the_share_of_padding_is_its_own(plain):
    launch = part(1.0, Interval(0.5, 2.0), "launch", "fixed cost")
    text = said(plain, bounds=(launch, part(1.0)), sizes=1)
    assert "Measured with 1 size of micro-batch, which cannot" in text
    assert "fixed cost    500 ms   2.00 s    5.0 % to 20.0 %\n" in text, "no interval, no line"
    assert (
        "Of what is not fixed cost, padding is 50.0 % (its share of slots) to 90.0 % (of pairs)."
        in text
    )
    text = said(plain, bounds=(launch,), sizes=2)
    assert "Measured with 2 sizes of micro-batch" in text and "Of what is not" not in text
    assert "0 sizes" in said(plain, bounds=(launch,), sizes=0)


def test_a_gain_is_shown_with_its_interval_where_it_has_one(plain):
    cause = Cause("padding", 2.0, 0.25, "pack", {}, Interval(0.2, 0.31))
    assert said(plain, causes=(cause,)).endswith(
        "  padding: pack\n    predicted gain 25 %, 20 to 31 %"
    )
    assert said(plain, causes=(replace(cause, interval=None),)).endswith("predicted gain 25 %")
    assert said(plain, causes=(replace(cause, gain=0.0),)).endswith("\n  padding: pack")


def test_what_is_not_certain_stands_behind_the_causes(plain):
    open_ones = (
        part(1.0, Interval(0.5, 2.0)), part(1.0), part(1.0, Interval(0.1, 3.0), "launch")
    )  # fmt: skip
    text = said(plain, possible=open_ones)
    assert text.endswith("not certain yet: padding (5.0 % to 20.0 %), launch (1.0 % to 30.0 %)")
    assert "no cause stands out" not in text


@pytest.mark.parametrize(
    ("seconds", "shown"), [(1.99, ""), (2.0, "20.0 %"), (-1.99, ""), (-2.0, "-20.0 %")]
)
def test_a_fifth_of_the_step_that_nothing_explains_is_said(plain, seconds, shown):
    text = said(plain, parts=(part(seconds, cause="unexplained"),))
    assert (f"Be careful: {shown} of this step is unexplained." in text) == bool(shown)
    assert ("Be careful" in text) == bool(shown)


def test_an_experiment_says_its_seconds_and_the_loop_its_call(plain):
    one = Experiment(((4, 4),), False, 90.0, "watch(probe=RECORDS)", 6.0)
    text = report.diagnosis_text(replace(plain, experiment=one), records="my run.jsonl")
    assert text.endswith(
        "To tell: 4 steps with rows 4 (accumulation 4), into the same file: about 1.50 min.\n"
        'Or let the loop do it by itself, about 6.00 s: watch(probe="my run.jsonl")'
    )
    assert said(plain, experiment=replace(one, probe="")).endswith("about 1.50 min.")


# tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "right"),
    [("-5", True), ("+5", True), (".5", True), ("inf", True), ("", True), ("x5", False)],
)
def test_what_begins_like_a_number_stands_right(entry, right):
    lines = report.table(["wide head"], [[entry], [7]]).splitlines()
    assert lines[3] == ("        7" if right else "7")
    assert lines[0] == "wide head" and lines[1] == "-" * 9


def test_a_head_without_rows_stands_left():
    """Two columns: the first would be moved by the width of the second otherwise."""
    assert report.table(["a", "b"], []) == "a  b\n-  -"
    assert report.table(["yes?", "n"], [[True, 1000], [False, 2]]).splitlines()[2:] == [
        "yes   1,000",
        "no        2",
    ]


@pytest.mark.parametrize("align", ["l", "lrl", "lx"])
def test_an_align_needs_a_letter_for_each_column(align):
    with pytest.raises(ValueError, match=f"for each of 2 columns, got '{align}'"):
        report.table(["a", "b"], [[1, 2]], align=align)


def test_the_second_row_that_is_too_long_is_named():
    with pytest.raises(ValueError, match="row 1 has 2 entries for 1 headers"):
        report.table(["a"], [[1], [1, 2]])


def visit(seconds, **new):
    """16 documents of 1,300 tokens in all, in 2,600 slots."""
    return cell(
        2, steps=1, seconds=seconds, slots=2600, real_tokens=1300, micro_batches=8,
        step_seconds=None, step_slots=None, step_slot_pairs=None, **new,
    )  # fmt: skip


def test_a_line_of_cells_holds_all_rounds_and_the_largest_peak():
    found = throughput.summarize(
        [visit(10.0, peak_bytes=2**20), visit(12.5, peak_bytes=2**21), ended(2)]
    )
    assert report.cell_table(found).splitlines() == [
        "layout  rows  accumulation  useful tokens/s  slowest to fastest round  rounds   waste"
        "  peak memory",
        "------  ----  ------------  ---------------  ------------------------  ------  ------"
        "  -----------",
        "padded     2             8              116                104 to 130  2 of 3  50.0 %"
        "     2.00 MiB",
    ]


def test_one_round_has_no_spread_and_who_never_finished_no_rate():
    found = throughput.summarize([visit(10.0), ended(4)])
    assert report.cell_table(found).splitlines()[2:] == [
        "padded     2             8              130                                 1  50.0 %",
        "padded     4             4" + " " * 30 + "out of memory  0 of 1",
    ]


@pytest.mark.parametrize(("slower", "doubted"), [(12.99, False), (13.0, True)])
def test_rounds_that_differ_by_three_tenths_are_doubted(slower, doubted):
    text = report.cell_table(throughput.summarize([visit(10.0), visit(slower)]))
    assert ("differ by up to 1.3 x" in text) == doubted


@pytest.mark.parametrize(
    ("knee", "said"), [(0.99, "from the first row on"), (1.0, "from 1.0 rows on"), (3.25, "3.2")]
)
def test_a_knee_below_one_row_is_the_first_row(knee, said):
    line = SimpleNamespace(cell=SimpleNamespace(rows=4), rate=90.0)
    first = SimpleNamespace(cell=SimpleNamespace(rows=2), rate=40.0)
    found = SimpleNamespace(
        knee_rows=knee, best=line, finished=[first, line], row_seconds=0.002,
        cost=SimpleNamespace(fixed_seconds=0.03), name_of=lambda one: "padded",
    )  # fmt: skip
    text = report.knee_text(found, 0.9)
    assert said in text.splitlines()[0] and "reach 90.0 % of their best" in text
    assert text.splitlines()[1:] == [
        "(30.0 ms for a micro-batch and 2.00 ms for each of its rows).",
        "Best: padded, rows 4, 2.25 x the useful tokens/s of padded, rows 2.",
    ]


def test_predictions_and_peaks_are_off_by_their_share_of_what_was_measured():
    one = SimpleNamespace(
        line=SimpleNamespace(cell=SimpleNamespace(rows=4)), predicted_seconds=1.5,
        measured_seconds=2.0, error=-0.25,
    )  # fmt: skip
    found = SimpleNamespace(predictions=[one], name_of=lambda line: "packed")
    (line,) = report.prediction_table(found).splitlines()[2:]
    assert line.split() == ["packed", "4", "1.50", "s", "2.00", "s", "-25.0", "%"]
    peak = {"rows": 2, "length": 128, "predicted_bytes": 3 * 2**20, "measured_bytes": 2**21}
    lines = report.peak_table([peak, peak | {"checkpointing": True, "predicted_bytes": 2**20}])
    assert [line.split() for line in lines.splitlines()[2:]] == [
        ["2", "128", "no", "3.00", "MiB", "2.00", "MiB", "+50.00", "%"],
        ["2", "128", "yes", "1.00", "MiB", "2.00", "MiB", "-50.00", "%"],
    ]


# stages --------------------------------------------------------------------------------------


def test_a_value_of_a_stage_is_written_by_its_kind():
    line = {
        "kind": "gpu", "stage": "odd_one", "number": 1234, "ratio": 0.123456, "by_row": [1],
        "each": (1,), "inside": {}, "yes": True, "bytes_per_second": 1.5e9, "padding_share": 0.5,
        "off_error": 0.25,
    }  # fmt: skip
    later = {"kind": "gpu", "stage": "odd_one", "number": 5, "later": None}
    assert [text.split() for text in report.stage_text([line, later]).splitlines()] == [
        ["odd", "one,", "on", "unknown", "device:"], [],
        ["number", "ratio", "yes", "bytes", "per", "second", "padding", "share", "off", "error",
         "later"],
        ["-" * n for n in (6, 5, 3, 16, 13, 9, 5)],
        ["1,234", "0.123", "yes", "1.5e+09/s", "50.0", "%", "25.0", "%"],
        ["5"],
    ]  # fmt: skip

"""The table of stacks: one word a cell, from lines made by hand."""

import re

import pytest

from batchlab import records, report
from tests.tiny_lesson import ROOT

RUN = {
    "kind": "stack_run", "stack": "loop", "machine": "quiet", "cause": "", "rounds": 3,
    "core": 0.99, "environment": {
        "date": "2026-01-02T03:04:05", "processor": "a CPU", "cores": 2, "python": "3.11",
        "versions": {"torch": "2.13"},
    },
}  # fmt: skip
NEAR = {
    "share": 0.30, "said": 0.29, "said_low": 0.28, "said_high": 0.295, "achieved": 0.50,
    "achieved_low": 0.45, "achieved_high": 0.55, "gain": 0.40, "gain_low": 0.35, "gain_high": 0.46,
    "others": [], "worked": 0.30, "worked_low": 0.25, "worked_high": 0.34,
}  # fmt: skip


def line(verdict="named", cause="input", stack="loop", **new):
    about = {"kind": "stack_cell", "stack": stack, "machine": "quiet", "cause": cause}
    return about | {"verdict": verdict} | NEAR | new


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (line(), "**both**"),
        (line(share=0.31), "gain"),
        (line(achieved_low=0.47), "share"),
        (line(share=0.31, achieved_low=0.47), "neither"),
        (line("refused"), "refused"),
        (line("open"), "open"),
        (line("overlooked"), "overlooked"),
        (line("empty", because="no"), "–"),
    ],
)
def test_a_cell_is_one_word(given, word):
    assert report.stack_matrix([RUN, given], "quiet").splitlines()[2] == f"| loop | {word} |"


def test_a_named_cause_without_an_interval_holds_nothing():
    bare = {name: value for name, value in line().items() if not name.endswith(("low", "high"))}
    bare |= {"achieved_low": 0.45, "achieved_high": 0.55}
    assert "| neither |" in report.stack_matrix([bare], "quiet")


def test_the_numbers_of_a_stack_stand_beside_each_other():
    shown = report.stack_details(
        [line(others=["away"]), line(cause="host", stack="x")], "quiet", "loop"
    )
    assert shown.splitlines()[2:] == [
        "| input | named | 30 % | 29 % (28 to 30) | 50 % (45 to 55) | 40 % (35 to 46) | away |"
    ]


def test_a_summary_counts_and_names_the_machine():
    lines = [line(), line("overlooked", "host"), line("empty", "waiting", because="alone"), RUN]
    said = report.stack_summary(lines, "quiet")
    assert said.startswith("2 planted causes, turns of each: 3; 1 named, 0 named without a gain")
    assert "the gain in 2 of 2, the mean of the turns itself in 0." in said
    assert "a CPU, 2026-01-02, 2 cores" in said and "torch 2.13" in said
    assert report.stack_summary(lines, "busy") == "Not measured on a busy machine yet."
    assert report.stack_reasons(lines, "quiet") == "- waiting: alone (loop)"


LEAST = {"quiet": 12, "busy": 10}  # stacks: on the busy machine five were not reached


def test_every_stack_of_the_record_has_eight_causes_and_a_reason_for_each_empty_cell():
    lines = records.read("stacks")
    cells = [one for one in lines if one["kind"] == "stack_cell"]
    assert len({(one["machine"], one["stack"], one["cause"]) for one in cells}) == len(cells)
    for kind in {one["machine"] for one in cells}:
        found = [one for one in cells if one["machine"] == kind]
        assert len({one["stack"] for one in found}) >= LEAST[kind]
        assert len({one["cause"] for one in found if one["verdict"] != "empty"}) >= 8
        assert all(one["because"] for one in found if one["verdict"] == "empty")
        runs = {
            one["stack"] for one in lines if one["kind"] == "stack_run" and one["machine"] == kind
        }
        assert runs == {one["stack"] for one in found}, "versions and machine of each"


@pytest.mark.parametrize(("cause", "word"), [("optimizer", "share"), ("input", "**both**")])
def test_on_a_busy_machine_work_is_measured_in_seconds_that_the_process_ran(cause, word):
    busy = line(cause=cause, machine="busy")
    assert f"| {word} |" in report.stack_matrix([busy], "busy")
    assert "**both**" in report.stack_matrix([line(cause=cause)], "quiet")


def test_the_readme_says_what_the_record_says():
    said = report.stack_summary(records.read("stacks"), "quiet")
    planted, named, within = re.match(
        r"(\d+) planted causes, .*?(\d+) named, .* the gain in (\d+) of", said
    ).groups()
    words = f"{named} of {planted} are named, and what taking the cause out gained lies within"
    readme = (ROOT / "README.md").read_text()
    assert words in readme and f"what was foretold in {within}." in readme

"""A cause that is planted into real stacks is named with its share; the table tries many more."""

from functools import partial

import pytest

from batchlab import doctor, records
from benchmarks import stacks
from benchmarks.stacks_judge import cells, told, visits
from benchmarks.stacks_loops import Plain
from benchmarks.stacks_plants import EACH, LENGTHS, STEPS, WAYS, Timed, Way, documents
from benchmarks.stacks_trainers import HF, Classifier
from tests.planted import full, whole, with_side

NEAR = 0.05  # of the time: a busy machine may stop a process between two clocks, so three tries


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing.* is deprecated")  # TRL needs it told
@pytest.mark.parametrize("stack", [Plain, HF, Classifier])
def test_what_is_planted_is_named_with_its_share(stack, tmp_path):
    run = stack()
    run(Way(), tmp_path / "nothing.jsonl")
    without = doctor.diagnose(visits(tmp_path / "nothing.jsonl"))
    for cause in ("input", "optimizer", "host"):
        for again in range(3):
            path = tmp_path / f"{cause}{again}.jsonl"
            seen = run(Way(cause), path)
            said = told(cause, doctor.diagnose(visits(path)))
            if abs(said["said"] - seen.spent / seen.seconds) < NEAR:
                break
        small = said["said_high"] < doctor.BARS[cause]  # where others have the cores
        assert (said["verdict"] == "overlooked") is small
        assert said["said"] == pytest.approx(seen.spent / seen.seconds, abs=NEAR)
        assert told(cause, without)["said"] < said["said"], "the mistake: what is always said"


def test_all_ways_take_the_same_documents_and_only_one_pads_them():
    lengths = {way: [len(one) for one in documents(way)] for pair in WAYS.values() for way in pair}
    for way, each in lengths.items():
        steps = [each[at : at + EACH] for at in range(0, len(each), EACH)]
        assert len(steps) == STEPS == 1 + len(LENGTHS) and sorted(each) == sorted(lengths[Way()])
        assert all(len(set(step)) == 1 for step in steps) is not way.mixed
        assert way.rows * way.accumulation == EACH


def test_a_verdict_is_what_the_doctor_says_of_the_planted_cause():
    found = doctor.diagnose([with_side(full(8), input_seconds=0.2) for _ in range(3)])
    said = told("input", found)
    assert said["verdict"] == "named" and said["gain_low"] <= said["gain"] <= said["gain_high"]
    assert said["said"] == pytest.approx(0.2 / found.step_seconds)
    assert told("optimizer", found)["verdict"] == "overlooked"
    assert "input" in told("optimizer", found)["others"]
    one = doctor.diagnose([whole(full(8))])
    assert told("launch", one)["verdict"] == "open", "only an experiment would tell"


def test_every_cell_is_run_or_has_a_reason():
    there = [(cause, stack) for cause in WAYS for stack in stacks.STACKS]
    empty = [pair for pair in there if stacks.empty(*pair, "quiet")]
    assert set(stacks.EMPTY) <= set(there) and len(there) - len(empty) >= 12 * 8
    assert stacks.empty("away", "plain loop", "busy") and not stacks.empty(
        "away", "plain loop", "quiet"
    )


def test_what_stands_in_the_file_is_not_run_again(tmp_path, monkeypatch, capsys):
    output = tmp_path / "cells.jsonl"
    asked = []

    def ran(stack, causes, rounds, folder):
        asked.append((stack, tuple(causes)))
        return [{"cause": cause, "verdict": "named"} for cause in causes]

    monkeypatch.setattr(stacks, "ran", ran)
    monkeypatch.setattr(stacks, "share_of_a_core", lambda _=0: 1.0)
    given = partial(stacks.argparse.Namespace, output=output, rounds=1, stacks=["plain loop"])
    stacks.measure(given(causes=["input", "waiting"]), "quiet")
    stacks.measure(given(causes=["input", "waiting", "host"]), "quiet")
    stacks.measure(given(causes=["input"]), "busy")
    assert asked == [("plain loop", (cause,)) for cause in ("input", "host", "input")]
    kinds = [one["kind"] for one in records.read(output)]
    assert kinds.count("stack_run") == 3 and kinds.count("stack_cell") == 4
    monkeypatch.setitem(stacks.STACKS, "plain loop", "not_there")
    assert stacks.measure(given(causes=["away"]), "quiet") == 0
    assert "plain loop: not_there is not installed, left out" in capsys.readouterr().out


def test_planted_and_cured_runs_take_turns_and_only_prices_need_other_sizes(tmp_path):
    ran = []

    def run(way, path):
        ran.append(way)
        slow = 0.2 * (way.plant == "input")
        records.append(path, with_side(full(8), input_seconds=slow))
        return Timed(seconds=1.0 + slow, ran=1.0, spent=slow)

    found = list(cells(run, ["input", "padding"], tmp_path, rounds=2, probes=True))
    planted, base, mixed = Way("input"), Way(), Way(mixed=True)
    turn = [planted, base, mixed]
    assert ran == [base, Way(mixed=True, probe=True), *turn, *turn]
    assert found[0]["verdict"] == "named"
    assert found[0]["achieved"] == pytest.approx(0.2)
    assert found[0]["share"] == pytest.approx(0.2 / 1.2) and found[0]["worked"] == 0
    ran.clear()
    list(cells(run, ["launch"], tmp_path / "other", rounds=1, probes=False))
    assert [way.rows for way in ran] == [8, 2, 4, 1, 2], "warm, other rows, planted, cured"

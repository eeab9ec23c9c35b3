"""Several ranks of one run are read together: who waited for whom, and how fast all of them are."""

import os
from dataclasses import replace

import pytest

from batchlab import doctor, records
from batchlab.cli import main
from batchlab.cli.doctor import of_records
from batchlab.counts import Counts
from batchlab.doctor import _ranks, prices, throughput
from batchlab.records import Cell, Parts

STEPS = 12


def cell(rank, waits, *, seconds=1.0, tokens=100, world=2, **more):
    """Twelve steps of one rank: one micro-batch of two rows each."""
    counts = Counts(2 * STEPS, tokens * STEPS, tokens * STEPS, None, STEPS, STEPS)
    waits = tuple(waits)
    return Cell(
        rows=2, layout="padded", checkpointing=False, precision="float32", accumulation=1,
        data_parallel=world, ranks=(rank,), world_size=world, steps=STEPS, micro_batches=STEPS,
        seconds=seconds * STEPS, counts=counts, step_seconds=(seconds,) * STEPS,
        step_slots=(tokens,) * STEPS, step_slot_pairs=(1,) * STEPS,
        parts=Parts(0.0, 0.0, 0.0, 0.0, waiting_seconds=sum(waits)),
        step_parts={"waiting": waits}, **more,
    )  # fmt: skip


def at_minute(minute):
    return {"date": f"2026-11-24T20:0{minute}:00+00:00"}


def test_what_even_the_last_rank_waits_is_communication_and_the_rest_is_for_it():
    visits = [cell(0, [0.5] * STEPS), cell(1, [0.1] * STEPS, tokens=300)]
    found = doctor.diagnose(visits)
    assert found.of_cause("waiting").seconds == pytest.approx(0.4 / 2), "of a mean rank"
    assert found.of_cause("communication").seconds == pytest.approx(0.1)
    assert found.straggler == doctor.Straggler(1, 1.0, pytest.approx(0.4))
    assert doctor.useful_rate(found.subject) == pytest.approx(100 + 300), "of both ranks"
    assert (found.subject.ranks, found.steps.number) == ((0, 1), STEPS)
    (cause,) = [one for one in found.causes if one.name == "waiting"]
    assert cause.gain == pytest.approx(1 / 0.8 - 1), "with equal work a step takes the mean"


def test_ranks_that_take_turns_to_be_last_have_no_straggler():
    turns = [0.3 * (step % 2) for step in range(STEPS)]
    visits = [cell(0, turns), cell(1, [0.3 - one for one in turns])]
    found = doctor.diagnose(visits)
    assert found.straggler is None
    assert found.of_cause("waiting").seconds == pytest.approx(0.15)
    interval = found.of_cause("waiting").interval
    assert interval.width < 1e-6, "of a mean rank each step waits alike: the mistake is to mix them"


def test_steps_that_not_all_ranks_recorded_stay_as_they_are():
    alone = cell(0, [0.5] * STEPS)
    assert _ranks.together([alone]) == [alone]
    assert doctor.diagnose([alone]).of_cause("waiting").seconds == pytest.approx(0.5)
    longer = [cell(0, [0.5] * STEPS), cell(1, [0.1] * STEPS), cell(0, [0.7] * STEPS)]
    assert _ranks.together(longer)[2] == longer[2]


def test_two_worlds_are_not_one_run():
    with pytest.raises(ValueError, match=r"differ in data_parallel \(1, 2\)"):
        doctor.diagnose([cell(0, [0.1] * STEPS), cell(0, [0.1] * STEPS, world=1)])


def test_a_record_that_is_older_has_no_such_parts():
    (old, *_) = [one for one in records.read("sweep").cells() if one.finished]
    assert (old.ranks, old.world_size, old.forward_seconds) == ((0,), 1, None)
    names = {part.name for part in doctor.diagnose([old]).parts}
    assert not names & {"generation", "waiting for ranks", "scoring without gradients"}


def test_saving_and_evaluation_are_two_causes():
    one = cell(0, [0.0] * STEPS, world=1, outside_seconds=0.5 * STEPS, saving_seconds=0.4 * STEPS)
    causes = {found.name: found.seconds for found in doctor.diagnose([one]).causes}
    assert causes["saving"] == pytest.approx(0.4) and causes["evaluation"] == pytest.approx(0.1)


def test_a_rank_of_an_earlier_life_on_more_processes_is_no_rank_of_this_one(tmp_path):
    """The fault: a run that went on with two of three ranks was shown as three together."""
    path = tmp_path / "run.jsonl"
    for minute, world in ((1, 3), (2, 2)):
        for rank in range(world):
            one = cell(rank, [0.0] * STEPS, world=world, environment=at_minute(minute))
            records.append(records.of_rank(path, rank, world), one)
    found = of_records([str(path)])
    assert found.data["world_size"] == 2 and "2 ranks together" in found.text


def test_the_files_of_the_ranks_are_found_by_the_name_that_the_loop_gave(tmp_path):
    path = tmp_path / "run.jsonl"
    assert records.files_of(path) == [path]
    for rank in (10, 2, 0):
        records.append(records.of_rank(path, rank, 11), cell(rank, [0.0] * STEPS, world=11))
    (tmp_path / "run.rank1.txt").write_text("another")
    names = [one.name for one in records.files_of(path)]
    assert names == ["run.rank0.jsonl", "run.rank2.jsonl", "run.rank10.jsonl"]
    assert records.read(tmp_path / "run.rank2.jsonl").cells()[0].ranks == (2,)
    path.write_text("")
    assert records.files_of(path) == [path], "the run went on as one process"
    of_ranks = [tmp_path / name for name in names]
    os.utime(of_ranks[1], ns=(0, path.stat().st_mtime_ns + 1))
    assert records.files_of(path) == of_ranks, "the mistake: the file of an earlier life was shown"


def test_a_record_that_stands_twice_is_refused(tmp_path):
    """The fault: of a file that was joined with its own backup, intervals shrank and a cause was
    named that nothing had shown."""
    path = tmp_path / "run.jsonl"
    for run, last in (("a", 13), ("a", 25), ("b", 13)):
        records.append(path, cell(0, [0.1] * STEPS, world=1, run=run, more={"last_step": last}))
    assert "36 steps" in of_records([str(path)]).text
    said = r"1 of 3 records stand there more than once, as that of run a up to its step 25: "
    with pytest.raises(ValueError, match=said):
        path.write_text(path.read_text() + path.read_text().splitlines()[1])
        of_records([str(path)])
    with pytest.raises(ValueError, match="3 of 3 records"):
        of_records([str(path), str(path)])
    for door in (doctor.diagnose, throughput.summarize):
        with pytest.raises(ValueError, match=said):
            door(records.read(path).cells())
    alike = [cell(0, [0.1] * STEPS, world=1, run="a", more={"last_step": n}) for n in (13, 25)]
    assert doctor.diagnose(alike).steps.number == 2 * STEPS, "equal seconds are no copy"
    merged = prices.merge(alike) + prices.merge([replace(one, rows=3) for one in alike])
    assert doctor.diagnose(merged).subject.rows == 3, "what was added is no record"


def test_a_visit_of_a_sweep_that_stands_twice_is_refused(tmp_path):
    """The fault: a sweep joined with its own copy counted each round twice."""
    visits = records.read("cpu_sweep").cells()
    for door in (doctor.diagnose, throughput.summarize):
        with pytest.raises(ValueError, match=r"^1 of \d+ records .* round 0 at rows \d+, \w+: "):
            door([*visits, visits[0]])
    again = [replace(one, environment={**one.environment, "date": "later"}) for one in visits]
    assert throughput.summarize(visits + again).lines[0].rounds == "8", "measured anew"


def test_a_folder_is_no_file_of_records(tmp_path, capsys):
    for name in ("monitor.jsonl", "curve.jsonl"):
        (tmp_path / name).touch()
    for words in (["doctor"], ["watch", "--no-open", "--port", "0"]):
        assert main([*words, str(tmp_path)]) == 1, "the mistake: watch waited for ever"
        said = f"batchlab: {tmp_path}: a folder, give a file in it (curve.jsonl, monitor.jsonl)\n"
        assert capsys.readouterr().err == said


def test_a_copied_folder_shows_the_launch_that_was_last(tmp_path):
    path = tmp_path / "run.jsonl"
    records.append(path, cell(0, [0.0] * STEPS, world=1, environment=at_minute(1)))
    of_ranks = [records.of_rank(path, rank, 2) for rank in range(2)]
    for rank, one in enumerate(of_ranks):
        records.append(one, cell(rank, [0.0] * STEPS, world=2, environment=at_minute(2)))
    for one in (*of_ranks, path):  # `cp -r` dates the files as it copies them, this one last
        os.utime(one, ns=(0, one.stat().st_mtime_ns + 10**9 * (one == path)))
    assert records.files_of(path) == of_ranks
    assert of_records([str(path)]).data["world_size"] == 2
    records.append(path, cell(0, [0.0] * STEPS, world=1, environment=at_minute(3)))
    assert records.files_of(path) == [path]

"""Ten training scripts with a planted cause, or none: it is found, and nothing else is blamed.

Each is a real loop over a real model under `monitor.watch`, on a clock of our own: its seconds
are planted, so that a busy machine changes nothing. One setting each, as most runs have.
"""

import dataclasses
import json

import pytest
import torch

from batchlab import cli, doctor, monitor, records, report
from batchlab.model import set_checkpointing
from tests.clock import Machine, batch

NO_BLAME = {"saturation"}  # says that nothing is to be gained


def train(machine, path, batches, *, accumulation=1, before=None, after=None, each=None, **watch):
    """A loop as people write it; the hooks are what is planted."""
    with monitor.watch(machine.net, machine.optimizer, path, **watch) as seen:
        for number, inputs in enumerate(seen(batches)):
            if each:
                each(number)
            loss = machine.net(**inputs).loss / accumulation
            loss.backward()
            if (number + 1) % accumulation == 0:
                if before:
                    before(seen)
                machine.optimizer.step()
                machine.optimizer.zero_grad()
                if after:
                    after(seen)
    return doctor.diagnose(records.read(path).cells())


def named(found):
    return {cause.name for cause in found.causes} - NO_BLAME


def same(steps, rows=8, width=32, lengths=None):
    return [batch(rows, width, lengths)] * steps


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def test_a_healthy_run_is_blamed_for_nothing_and_told_what_it_cannot_know(machine, path):
    found = train(machine, path, same(14))
    assert named(found) == set()
    assert found.steps.stalled == () and found.steps.number == 13
    assert [part.cause for part in found.possible] == ["launch"], "full rows: no padding to blame"
    assert found.experiment.seconds > 0 and "rows 4" in found.experiment.text
    text = report.diagnosis_text(found)
    assert "no cause stands out" in text or "not certain yet" in text
    assert 'monitor.watch(model, optimizer, "run.jsonl", probe=True)' in text


def test_the_command_answers_on_one_setting_as_text_and_as_json(machine, path, capsys):
    train(machine, path, same(14, lengths=[32] * 4 + [8] * 4))
    assert cli.main(["doctor", str(path)]) == 0, "the mistake: exit 1, micro-batches of 1 size"
    text = capsys.readouterr().out
    assert "not certain yet: padding" in text and f'"{path}", probe=True' in text
    assert max(map(len, text.splitlines())) <= 100 + len(str(path)) and text.count("\n") < 40
    assert cli.main(["doctor", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sizes"] == 1 and data["experiment"]["seconds"] > 0
    assert [part["interval"] for part in data["bounds"]] == [
        {"low": part["interval"]["low"], "high": part["interval"]["high"]}
        for part in data["bounds"]
    ]
    assert {"padding", "fixed cost"} == {part["name"] for part in data["bounds"]}
    assert data["slot_waste"] == pytest.approx(0.375) and data["coverage"] == 0.9


def test_a_slow_loader_is_input(machine, path):
    def slow():
        for one in same(14):
            machine.clock.sleep(0.05)
            yield one

    found = train(machine, path, slow())
    assert named(found) == {"input"}
    assert found.causes[0].seconds == pytest.approx(0.05, rel=1e-3)
    rest = found.step_seconds - 0.05
    assert found.causes[0].gain == pytest.approx(0.05 / rest, rel=1e-2)


def test_a_stall_between_steps_is_the_host(machine, path):
    found = train(machine, path, same(14), after=lambda _: machine.clock.work(0.03))
    assert named(found) == {"host"}
    assert found.causes[0].seconds == pytest.approx(0.03, rel=1e-2)


def test_a_named_section_is_communication_and_counted_once(machine, path):
    def reduce(seen):
        with seen.part("communication"):
            machine.clock.sleep(0.05)

    for when in ("before", "after"):
        found = train(machine, path.with_name(f"{when}.jsonl"), same(14), **{when: reduce})
        assert named(found) == {"communication"}
        assert found.causes[0].seconds == pytest.approx(0.05, rel=1e-6)

    def drink(seen):
        with seen.part("coffee"):
            machine.clock.work(0.001)

    with pytest.warns(UserWarning, match="unknown part 'coffee', not recorded; there are input"):
        train(machine, path.with_name("coffee.jsonl"), same(3), after=drink)


def test_checkpointing_on_is_recomputation(machine, path):
    set_checkpointing(machine.net, True)
    found = train(machine, path, same(14))
    assert named(found) == {"recomputation"}
    (cause,) = found.causes
    assert cause.change == {"checkpointing": False}
    assert cause.interval.low < 1 / 3 < cause.interval.high


def test_one_long_document_a_batch_is_padding(machine, path):
    widths = torch.randint(40, 256, (16,), generator=torch.Generator().manual_seed(1)).tolist()
    batches = [batch(8, width, [width] + [12] * 7) for width in widths]
    found = train(machine, path, batches)
    assert named(found) == {"padding"}
    (cause,) = (one for one in found.causes if one.name == "padding")
    assert cause.change == {"layout": "packed"} and cause.interval.low > 0.5


def test_a_tiny_model_is_launch_bound_once_it_is_probed(monkeypatch, path):
    machine = Machine(monkeypatch, fixed=0.02, slot=2e-6, pair=1e-9)
    found = train(machine, path, same(14), probe=True)
    assert named(found) == {"launch"} and found.larger_is_right
    assert found.bounds == (), "the probe has told fixed cost from slots"


def test_a_run_that_probed_in_vain_is_not_told_to_probe_again(machine, path):
    train(machine, path, same(14))
    (cell,) = records.read(path).cells()
    found = doctor.diagnose([cell, dataclasses.replace(cell, source=doctor.prices.PROBE)])
    assert [part.cause for part in found.possible] == ["launch"]
    assert "rows 4" in found.experiment.text and found.experiment.probe == ""
    assert "probe=True" not in report.diagnosis_text(found)


def test_a_saturated_run_is_told_that_more_rows_save_nothing(monkeypatch, path):
    machine = Machine(monkeypatch, fixed=0.0002, slot=80e-6)
    found = train(machine, path, same(14), probe=True)
    assert [cause.name for cause in found.causes] == ["saturation"]


def test_evaluation_between_steps_is_neither_input_nor_host(machine, path):
    def evaluate(_):
        machine.net.eval()
        with torch.no_grad():
            machine.net(**batch(16, 128))
        machine.net.train()

    found = train(machine, path, same(14), after=evaluate)
    assert named(found) == {"evaluation"}
    assert "between the steps, evaluation and saving" in report.diagnosis_text(found)
    host = next(part for part in found.parts if part.cause == "host")
    assert host.seconds == 0.0, "the mistake: what lies between two steps is the host"


def test_accumulation_is_one_step_of_several_and_no_stall(machine, path):
    found = train(machine, path, same(48, rows=2), accumulation=4)
    assert named(found) == set()
    assert (found.subject.rows, found.subject.accumulation) == (2, 4)
    assert "rows 4 (accumulation 2)" in found.experiment.text, "the same step, split otherwise"


def test_an_allocator_that_retries_is_memory_pressure(machine, path, monkeypatch):
    from batchlab.monitor import _recorder

    seen = iter([0, 9])
    monkeypatch.setattr(_recorder, "retries_of", lambda _: next(seen))
    found = train(machine, path, same(14))
    assert named(found) == {"memory"}
    assert found.causes[0].change == {"rows": 4}


def test_a_busy_machine_is_a_finding_and_not_a_price(machine, path):
    """Others take the cores in every third step: wall time goes on, process time does not."""
    steps = iter(range(99))

    def others(_):
        if next(steps) % 3 == 0:
            machine.clock.sleep(0.1)

    quiet = train(machine, path.with_name("quiet.jsonl"), same(18))
    found = train(machine, path, same(18), before=others)
    assert named(quiet) == set() and named(found) == {"away"}
    assert found.causes[0].seconds == pytest.approx(0.1 * 5 / 17, rel=1e-6), "the first warms up"
    together = [one.parts[0].seconds for one in (quiet, found)]
    assert together[0] == pytest.approx(together[1], rel=0.05), "the prices are those of the quiet"

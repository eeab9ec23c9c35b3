"""A loop of your own leaves records: what was counted, what was waited for, and by whom."""

import gc
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from batchlab import attention, doctor, model, monitor, records, stopwatch
from batchlab import batches as layouts
from batchlab.doctor import prices as stepcost
from batchlab.monitor import _calls, _passes, _ranks, _watch


def tiny():
    return model.small(32, hidden=16, heads=2, layers=1)


def batches(rows, steps, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        width = 8 + 8 * (step % 4)
        ids = torch.randint(1, 32, (rows, width), generator=generator)
        mask = torch.ones_like(ids)
        mask[1:, 5:] = 0
        yield {"input_ids": ids, "attention_mask": mask, "labels": ids}


def test_a_loop_of_your_own_is_recorded_with_two_lines(tmp_path):
    small = tiny()
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    path, heard = tmp_path / "run.jsonl", list(gc.callbacks)
    with monitor.watch(small, optimizer, path, every=5) as watch:
        for batch in watch(batches(4, 12)):
            small(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    found = records.read(path)
    assert sum(record["steps"] for record in found) == 11, "the first step warms up"
    widths = [8 + 8 * (step % 4) for step in range(1, 12)]
    assert sum(record["slots"] for record in found) == sum(4 * width for width in widths)
    assert sum(record["real_tokens"] for record in found) == sum(w + 3 * 5 for w in widths)
    assert all(0 <= record["input_seconds"] < record["seconds"] for record in found)
    assert all(0 < record["optimizer_seconds"] < record["seconds"] for record in found)
    assert not small._forward_pre_hooks, "nothing is left on the model"
    assert gc.callbacks == heard, "nor on the collector"
    cells = found.cells()
    assert stepcost.fit(cells).steps == 11
    assert doctor.diagnose(cells).subject.rows == 4
    for one in cells:
        for name, seconds in one.parts.items():
            assert sum(one.step_parts.get(name, ())) == pytest.approx(seconds), name


def test_a_loop_that_goes_on_says_where_and_tools_hear_of_its_steps(tmp_path):
    small, heard = tiny(), []
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)

    def tool(metrics, step):
        heard.append(step)

    with monitor.watch(small, optimizer, tmp_path / "run.jsonl", every=3, to=tool) as watch:
        watch.goes_on(100)
        for batch in batches(2, 8):
            small(**batch).loss.backward()
            optimizer.step()
    assert heard == [104, 108], "the mistake: a run that went on was drawn over its first steps"
    assert [one["step_before"] for one in records.read(tmp_path / "run.jsonl")] == [100, 100]


def test_the_loop_may_fail_and_what_was_seen_is_written(tmp_path):
    small = tiny()
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with (
        pytest.raises(ZeroDivisionError),
        monitor.watch(small, optimizer, tmp_path / "run.jsonl") as watch,
    ):
        for number, batch in enumerate(watch(batches(2, 9))):
            small(**batch).loss.backward()
            optimizer.step()
            if number == 4:
                raise ZeroDivisionError
    assert records.read(tmp_path / "run.jsonl")[0]["steps"] == 4


def test_a_loop_that_shows_no_token_ids_is_told_so_at_its_end(tmp_path):
    path = tmp_path / "run.jsonl"
    plain = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    with (
        pytest.warns(UserWarning, match=r"nothing recorded.*token ids.*argument: 0\. At least 2"),
        monitor.watch(plain, optimizer, path) as watch,
    ):
        for numbers in watch([torch.ones(4, 8, 8)] * 3):  # vectors, no ids
            plain(numbers).sum().backward()
            optimizer.step()
    assert not path.exists()  # the mistake: to leave only this behind
    with pytest.raises(KeyError), monitor.watch(plain, optimizer, path):  # fails: no warning
        raise KeyError("the loop's own reason")


def test_collecting_garbage_inside_a_step_is_the_host():
    pauses = stopwatch.Pauses()
    began = time.perf_counter()
    gc.collect()
    most = time.perf_counter() - began
    assert 0 < pauses.take() <= most
    assert pauses.take() == 0, "each pause is told once"
    pauses.close()
    gc.collect()
    assert pauses.take() == 0


def test_packed_rows_are_known_by_positions_that_restart(tmp_path):
    """Counted by hand: rows of 12 slots with documents of 5 + 7 and of 12 tokens."""
    small, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    documents = [list(range(1, n + 1)) for n in (5, 7, 12)]
    batch = layouts.packed(documents, [[0, 1], [2]], 12)
    inputs = {name: batch[name] for name in ("input_ids", "position_ids")}
    with monitor.watch(small, optimizer, path):
        for _ in range(3):
            small(**inputs, use_cache=False).logits.sum().backward()
            optimizer.step()
    (found,) = records.read(path)
    assert (found["layout"], found["rows"], found["documents"]) == ("packed", 2, 2 * 3)
    assert found["real_tokens"] == found["slots"] == 2 * 24
    assert found["real_pairs"] == 2 * (25 + 49 + 144)
    assert found["slot_pairs"] == 2 * 2 * 144, "stock attention computes whole rows"
    walls = attention.prepare(tiny())
    assert stopwatch.has_varlen(walls) and not stopwatch.has_varlen(small)


def test_retries_of_the_allocator_are_counted_since_the_record_before(tmp_path, monkeypatch):
    from batchlab.monitor import _recorder

    seen = iter([3, 5, 9])  # at the beginning, and as each record is written
    monkeypatch.setattr(_recorder, "retries_of", lambda _: next(seen))
    small, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with monitor.watch(small, optimizer, path, every=2) as watch:
        for batch in watch(batches(2, 5)):
            small(**batch).loss.backward()
            optimizer.step()
    assert [one.allocator_retries for one in records.read(path).cells()] == [2, 4]


def test_evaluation_is_no_training_step(tmp_path):
    small, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with monitor.watch(small, optimizer, path) as watch:
        for batch in watch(batches(4, 5)):
            small.train()
            small(**batch).loss.backward()
            optimizer.step()
            small.eval()
            with torch.no_grad():
                small(**batch)
    (found,) = records.read(path)
    assert found["micro_batches"] == found["steps"] == 4


def test_precision_is_that_of_the_forward_pass(tmp_path):
    path = tmp_path / "run.jsonl"
    for autocast in (False, True):
        small = tiny()
        optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
        with monitor.watch(small, optimizer, path) as watch:
            for batch in watch(batches(3, 5)):
                with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                    small(**batch).loss.backward()
                optimizer.step()
    precisions = [one.precision for one in records.read(path).cells()]
    assert precisions == ["float32", "autocast-bfloat16"]
    assert {one.precision for one in train(tmp_path / "b.jsonl", bf16=True).cells()} == {
        "autocast-bfloat16"
    }


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts them")
def test_seconds_without_a_core_only_grow():
    cores = _ranks.Cores()
    before = cores.lacked()
    assert 0 <= before <= cores.lacked()
    cores.close()
    assert cores.lacked() == 0, "nobody counts any more"


@pytest.mark.parametrize("mode", [True, False], ids=["training", "evaluation"])
@pytest.mark.filterwarnings("ignore:.*the model trains in evaluation mode")
def test_precision_is_that_which_accelerate_put_inside(tmp_path, monkeypatch, mode):
    monkeypatch.setattr(_passes, "autocast_of", lambda model: torch.float16)
    small = tiny().train(mode)
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with monitor.watch(small, optimizer, tmp_path / "run.jsonl") as watch:
        for batch in watch(batches(3, 5)):
            small(**batch).loss.backward()
            optimizer.step()
    (found,) = records.read(tmp_path / "run.jsonl").cells()
    assert found.precision == "autocast-float16"


def test_borders_that_flash_attention_is_given_are_those_of_the_documents():
    ids, ends = torch.tensor([[5, 6, 7]]), torch.tensor([0, 1, 3], dtype=torch.int32)
    found = _calls.micro_batch({"input_ids": ids, "cu_seq_lens_q": ends}, decodes=False)
    assert found["cu_seqlens"] is ends
    assert "cu_seqlens" not in _calls.micro_batch({"input_ids": ids}, decodes=False)


def train(path, *, probe=False, callbacks=(), listener=None, **options):
    """Ten steps of a real Trainer on documents of 8, 16 and 24 tokens."""
    from datasets import Dataset
    from transformers import Trainer, TrainingArguments

    ids = [[1 + (i + j) % 30 for j in range(8 + 8 * (i // 4 % 3))] for i in range(48)]
    rows = Dataset.from_dict({"input_ids": ids, "labels": ids})

    def collate(items):
        width = max(len(item["input_ids"]) for item in items)
        padded = [item["input_ids"] + [0] * (width - len(item["input_ids"])) for item in items]
        mask = [
            [1] * len(item["input_ids"]) + [0] * (width - len(item["input_ids"])) for item in items
        ]
        batch = {"input_ids": padded, "labels": padded, "attention_mask": mask}
        return {name: torch.tensor(values) for name, values in batch.items()}

    settings = {"save_strategy": "no", "logging_strategy": "no"} | options
    arguments = TrainingArguments(
        output_dir=str(path.parent), per_device_train_batch_size=2, gradient_accumulation_steps=2,
        max_steps=10, report_to=[], disable_tqdm=True, use_cpu=True, **settings,
    )  # fmt: skip
    Trainer(
        model=tiny(),
        args=arguments,
        train_dataset=rows,
        eval_dataset=rows,
        data_collator=collate,
        callbacks=[listener or monitor.callback(path, every=4, probe=probe), *callbacks],
    ).train()
    return records.read(path)


def fails():
    """A callback that ends a Trainer's run in its fifth step."""
    from transformers import TrainerCallback

    class Fails(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == 5:
                raise ZeroDivisionError

    return Fails()


def test_a_transformers_trainer_is_recorded_with_one_callback(tmp_path):
    found = train(tmp_path / "run.jsonl")
    assert sum(record["steps"] for record in found) == 9, "the first step warms up"
    assert all(record["source"] == "trainer" for record in found)
    assert {(record["rows"], record["accumulation"]) for record in found} == {(2, 2)}
    assert all(record["real_tokens"] <= record["slots"] for record in found)
    assert all(0 < record["optimizer_seconds"] < record["seconds"] for record in found)
    assert doctor.diagnose(found.cells()).subject.rows == 2


@pytest.mark.slow
def test_a_trainer_that_fails_leaves_what_was_seen(tmp_path):
    """The fault: a run that failed before its first record, of 50 steps, left no file at all."""
    code = (
        "import sys; from pathlib import Path; from batchlab import monitor\n"
        "from tests.test_monitor import fails, train\n"
        "path = Path(sys.argv[1])\n"
        "train(path, callbacks=[fails()], listener=monitor.callback(path))"
    )
    path = tmp_path / "run.jsonl"
    ended = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert ended.stderr.strip().endswith("ZeroDivisionError"), ended.stderr
    assert [record["steps"] for record in records.read(path)] == [4], "the first warms up"


def test_a_trainer_that_begins_anew_after_a_failure_has_both_in_its_record(tmp_path):
    path, listener = tmp_path / "run.jsonl", monitor.callback(tmp_path / "run.jsonl")
    with pytest.raises(ZeroDivisionError):
        train(path, callbacks=[fails()], listener=listener)
    assert [record["steps"] for record in train(path, listener=listener)] == [4, 9]


def test_a_trainer_that_probes_has_more_sizes_and_the_same_steps(tmp_path):
    found = train(tmp_path / "run.jsonl", probe=True).cells()
    probes = [cell for cell in found if cell.source == "probe"]
    assert len(probes) >= 2 and {cell.accumulation for cell in probes} == {1}
    assert sum(cell.steps for cell in found if cell.source == "trainer") == 9
    assert doctor.diagnose(found).subject.source == "trainer"


def test_evaluation_of_a_trainer_is_not_blamed_on_the_input(tmp_path, monkeypatch):
    from transformers import Trainer

    honest = Trainer.evaluate

    def slow(self, *args, **kwargs):
        time.sleep(0.2)
        return honest(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, "evaluate", slow)
    found = train(tmp_path / "run.jsonl", eval_strategy="steps", eval_steps=2)
    assert sum(record["steps"] for record in found) == 9
    outside = sum(record["outside_seconds"] for record in found)
    assert outside >= 4 * 0.2, "four evaluations lie between the steps that count"
    parts = [dict(cell.parts.items()) for cell in found.cells()]
    waits = sum(part["input"] + part["host"] for part in parts)
    assert waits < 0.2, "not one evaluation is counted as a wait for input or as a stall"
    assert "evaluation" in {cause.name for cause in doctor.diagnose(found.cells()).causes}


@pytest.mark.parametrize("timed", [True, False])
def test_a_slow_logger_of_a_trainer_is_no_wait_for_input(tmp_path, monkeypatch, timed):
    from transformers import TrainerCallback

    from batchlab.monitor import _trainer

    class Slow(TrainerCallback):
        def on_log(self, *_, **__):
            time.sleep(0.04)

    if not timed:
        monkeypatch.setattr(_trainer, "timed", lambda *_: None)
    logs = {"logging_strategy": "steps", "logging_steps": 1}
    found = train(tmp_path / "run.jsonl", callbacks=[Slow()], **logs).cells()
    host, waits = (
        sum(dict(one.parts.items())[name] for one in found) for name in ("host", "input")
    )
    slow, other = (host, waits) if timed else (waits, host)  # the mistake: all between is input
    assert slow >= 8 * 0.04 > other


def test_a_timed_loader_is_itself_again_afterwards():
    loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=None)
    heard = []
    recorder = SimpleNamespace(enter=heard.append, leave=lambda name: heard.append(f"end {name}"))
    ended = _watch.timed(loader, recorder)
    assert isinstance(loader, torch.utils.data.DataLoader) and len(loader) == 3
    assert list(loader) == [1, 2, 3] and heard == ["input", "end input"] * 5
    ended()
    assert type(loader) is torch.utils.data.DataLoader and list(loader) == [1, 2, 3]
    assert len(heard) == 10


def test_generation_past_a_wrapper_is_generation(tmp_path, monkeypatch):
    """DDP and PEFT generate with the model that stands in them."""
    from batchlab.monitor import _passes

    class Wrapped(torch.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, **given):
            return self.module(**given)

    def cell_of(path):
        net = Wrapped(tiny())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        ids = torch.tensor([[5, 6, 7, 8]] * 2)
        with monitor.watch(net, optimizer, path):
            for _ in range(4):
                net.module.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)
                net(input_ids=ids, labels=ids).loss.backward()
                optimizer.step()
        (cell,) = records.read(path).cells()
        return cell

    cell = cell_of(tmp_path / "run.jsonl")
    assert (cell.steps, cell.micro_batches) == (3, 3) and cell.parts.generation_seconds > 0
    monkeypatch.setattr(_passes, "called_inside", lambda model: [model])
    assert not cell_of(tmp_path / "again.jsonl").parts.generation_seconds, "the mistake: host"


def test_the_record_says_what_watching_costs():
    """One of a model without work, where nothing hides it: a hundredth of a step of 30 ms."""
    (bare,) = [one for one in records.read("monitor_cost") if one["model"] == "empty"]
    assert bare["watched_low"] <= bare["watched"] <= bare["watched_high"]
    assert 0 < (bare["watched"] - 1) * bare["step_seconds"] < 0.01 * 0.030

"""Loss and gradient norm of recorded steps, and the tools that they are handed to."""

import contextlib
import functools
import json
import math
import sys
import threading
import time
from types import ModuleType, SimpleNamespace

import pytest
import torch

from batchlab import monitor, records
from batchlab.monitor import _logs, _signals
from tests.test_stacks import tiny

IDS = torch.tensor([[5, 6, 7, 8], [9, 10, 11, 12]])


def loop(path, steps=12, micro=((IDS, IDS),), rate=0.0, note=lambda watch, net, loss: None, **how):
    """A loop whose weights rest at rate 0; returns its model."""
    torch.manual_seed(0)
    net = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    with monitor.watch(net, optimizer, path, **how) as watch:
        for _ in range(steps):
            for ids, labels in micro:
                loss = net(input_ids=ids, labels=labels).loss
                loss.backward()
            note(watch, net, loss)
            optimizer.step()
            optimizer.zero_grad()
    return net


def test_the_loss_of_every_step_and_a_norm_in_ten_are_in_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(_signals, "SHARE", math.inf)  # however long a norm takes here
    net = loop(tmp_path / "run.jsonl", steps=22, every=50)
    (found,) = records.read(tmp_path / "run.jsonl")
    loss = net(input_ids=IDS, labels=IDS).loss
    loss.backward()
    truth = math.sqrt(sum(float((one.grad**2).sum()) for one in net.parameters()))
    assert found["last_step"] == 22 and found["steps"] == 21
    assert [step for step, _ in found["signals"]["loss"]] == list(range(1, 23))
    assert found["signals"]["loss"][4][1] == pytest.approx(loss.item(), rel=1e-5)
    assert [step for step, _ in found["signals"]["gradient_norm"]] == [10, 20]
    assert found["signals"]["gradient_norm"][0][1] == pytest.approx(truth, rel=1e-5)
    assert found["resident_bytes"] > 2**20 or not sys.platform.startswith("linux")


def test_the_loss_of_a_step_is_the_mean_over_targets_not_over_micro_batches(tmp_path):
    masked = IDS.clone()
    masked[:, 2:] = -100  # 2 targets beside 6
    net = loop(tmp_path / "run.jsonl", steps=3, micro=((IDS, IDS), (IDS, masked)))
    (found,) = records.read(tmp_path / "run.jsonl")
    both = [net(input_ids=IDS, labels=labels).loss.item() for labels in (IDS, masked)]
    assert found["signals"]["loss"][0][1] == pytest.approx((6 * both[0] + 2 * both[1]) / 8)
    assert found["signals"]["loss"][0][1] != pytest.approx(sum(both) / 2)  # the mistake


def test_a_log_may_be_a_function_without_a_name(tmp_path):
    heard = []
    log = functools.partial(lambda told, metrics, step: told.append((metrics, step)), heard)
    logs = _logs.Logs([log], tmp_path / "run.jsonl", "run", "a loop")
    logs.send({"loss": 1.0}, 3)
    logs.close()
    assert heard == [({"loss": 1.0}, 3)]


def test_norms_take_a_small_share_of_the_run():
    weight = torch.nn.Parameter(torch.ones(4))
    weight.grad = torch.full((4,), 2.0)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    signals = _signals.Signals()
    signals._spent = 1e9  # as if norms were slow
    signals.norm(100, optimizer)
    assert signals.take() == {}
    signals._spent = 0.0
    signals.norm(200, optimizer)
    signals._spent = 0.0
    optimizer.grad_scale = torch.tensor(8.0)  # as a GradScaler tells a fused optimizer
    signals.norm(300, optimizer)
    assert signals.take() == {"signals": {"gradient_norm": [[200, 4.0], [300, 0.5]]}}


def test_what_a_loop_logs_stands_beside_what_is_heard(tmp_path):
    def note(watch, net, loss):
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
        watch.log(gradient_norm=norm, clip=0.01)

    loop(tmp_path / "run.jsonl", steps=4, note=note)
    (found,) = records.read(tmp_path / "run.jsonl")
    assert found["clip"] == 0.01
    assert all(norm > 0.01 for _, norm in found["signals"]["gradient_norm"])
    assert len(found["signals"]["gradient_norm"]) == 4


def test_a_loss_that_is_no_number_is_counted_and_the_file_stays_json(tmp_path):
    def note(watch, net, loss):
        watch.log(loss=float("nan"))

    loop(tmp_path / "run.jsonl", steps=4, note=note)
    found = json.loads((tmp_path / "run.jsonl").read_text(), parse_constant=pytest.fail)
    assert found["not_finite"] == {"loss": 4} and found["signals"]["loss"] == []
    assert records.read(tmp_path / "run.jsonl").cells()[0].steps == 3


def test_a_trainer_tells_its_loss_its_norm_before_clipping_and_its_clip(tmp_path):
    transformers = pytest.importorskip("transformers")
    heard = []
    args = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=6, per_device_train_batch_size=2, logging_steps=2,
        max_grad_norm=0.01, report_to="none", use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    rows = [{"input_ids": one, "labels": one} for one in IDS] * 8
    told = monitor.callback(tmp_path / "run.jsonl", to=[lambda *what: heard.append(what)])
    trainer = transformers.Trainer(tiny(), args, train_dataset=rows, callbacks=[told])
    with contextlib.redirect_stdout(sys.stderr):
        trainer.train()
    (found,) = records.read(tmp_path / "run.jsonl")
    logged = [one for one in trainer.state.log_history if "grad_norm" in one]
    assert found["signals"]["loss"] == [[one["step"], pytest.approx(one["loss"])] for one in logged]
    assert found["signals"]["gradient_norm"][0] == [2, pytest.approx(logged[0]["grad_norm"])]
    assert found["clip"] == 0.01 < logged[0]["grad_norm"]
    ((metrics, step),) = heard
    assert step == 6 and metrics["batchlab/sequences_per_step"] == 2


def test_names_of_metrics_are_those_of_the_docstring(tmp_path):
    loop(tmp_path / "run.jsonl")
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    found = monitor.metrics(cell)
    for name in found:
        assert name.partition("/")[0] == "batchlab"
        assert name.rpartition("/")[2] in monitor.metrics.__doc__
    assert found["batchlab/sequences_per_step"] == 2 and found["batchlab/slots_per_step"] == 8
    assert found["batchlab/targets_per_step"] == 6 and found["batchlab/waste"] == 0
    assert found["batchlab/useful_tokens_per_second"] == pytest.approx(8 * 11 / cell.seconds)


def test_a_name_that_is_no_tool_is_refused_before_the_training(tmp_path):
    with pytest.raises(
        ValueError, match="no log called 'tensorbord'; there are tensorboard, wandb"
    ):
        loop(tmp_path / "run.jsonl", to=["tensorbord"])


def test_a_tool_that_fails_is_told_once_and_ends_nothing(tmp_path):
    def broken(metrics, step):
        raise ConnectionError("no route to host")

    with pytest.warns(UserWarning, match="the log to broken cannot be recorded") as told:
        loop(tmp_path / "run.jsonl", every=2, to=[broken])
    assert len(told) == 1
    assert sum(cell.steps for cell in records.read(tmp_path / "run.jsonl").cells()) == 11


def test_a_tool_that_is_not_installed_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.warns(UserWarning, match="the log to wandb cannot be recorded"):
        loop(tmp_path / "run.jsonl", to=["wandb"])
    assert records.read(tmp_path / "run.jsonl")


def test_a_tool_that_hangs_makes_nobody_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(_logs, "PATIENCE", 0.01)
    monkeypatch.setattr(_logs, "WAITING", 2)
    hangs, sent = threading.Event(), []

    def slow(metrics, step):
        sent.append(step)
        hangs.wait()

    loop(tmp_path / "run.jsonl", steps=30, every=2, to=[slow])
    assert len(sent) == 1 and len(records.read(tmp_path / "run.jsonl")) > 5
    hangs.set()
    while any(one.name == "batchlab to slow" for one in threading.enumerate()):
        time.sleep(0.01)


def test_tensorboard_reads_what_is_written(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    loop(tmp_path / "run.jsonl", steps=9, every=4, to=["tensorboard"])
    (folder,) = (tmp_path / "tensorboard" / "run").iterdir()
    found = reader.EventAccumulator(str(folder)).Reload()
    scalars = {tag: found.Scalars(tag) for tag in found.Tags()["scalars"]}
    cells = records.read(tmp_path / "run.jsonl").cells()
    assert [one.step for one in scalars["batchlab/loss"]] == [5, 9]
    for name, value in monitor.metrics(cells[0]).items():
        assert scalars[name][0].value == pytest.approx(value, rel=1e-6), name


def stand_in(monkeypatch, name, **inside):
    module = ModuleType(name)
    vars(module).update(inside)
    monkeypatch.setitem(sys.modules, name, module)
    return module


@pytest.mark.parametrize("own", [True, False])
def test_wandb_and_trackio_log_to_the_run_that_is_there_else_to_one_of_their_own(
    tmp_path, monkeypatch, own
):
    """Stand-ins with the signatures of wandb 0.31 and trackio 0.43, which were tried by hand."""

    class Run:
        def __init__(self):
            self.logged, self.finished, self.axes = [], 0, {}

        def define_metric(self, name, step_metric=None):
            self.axes[name] = step_metric

        def log(self, metrics, step=None, commit=None):
            if step is None:
                assert commit is own, "a row of ours would move the steps of their run on"
            self.logged.append((metrics, step))

        def finish(self):
            self.finished += 1

    theirs, made = Run(), []

    def init(project, name=None, dir=None):
        assert project == "batchlab"
        made.append(Run())
        return made[-1]

    stand_in(monkeypatch, "wandb", run=None if own else theirs, init=init)
    stand_in(monkeypatch, "trackio", init=init)
    current = SimpleNamespace(get=lambda: None if own else theirs)
    stand_in(monkeypatch, "trackio.context_vars", current_run=current)
    loop(tmp_path / "run.jsonl", to=["wandb", "trackio"])
    runs = made if own else [theirs]
    logged = [one for run in runs for one in run.logged]
    assert len(logged) == 2 and len(made) == 2 * own
    assert sum(run.finished for run in runs) == 2 * own
    assert {(step, metrics.get("batchlab/step")) for metrics, step in logged} == {
        (None, 12), (12, None)}  # fmt: skip
    assert runs[0].axes["batchlab/*"] == "batchlab/step"


@pytest.mark.parametrize("own", [True, False])
def test_mlflow_gets_a_batch_by_the_id_of_the_run(tmp_path, monkeypatch, own):
    """A stand-in with the signatures of mlflow 3.17, which was tried by hand."""
    batches, ended = [], []
    run = SimpleNamespace(info=SimpleNamespace(run_id="theirs"))

    class Client:
        def create_run(self, experiment_id, run_name=None):
            assert (experiment_id, run_name) == ("7", "run")
            return SimpleNamespace(info=SimpleNamespace(run_id="ours"))

        def log_batch(self, run_id, metrics=()):
            batches.append((run_id, metrics))

        def set_terminated(self, run_id):
            ended.append(run_id)

    stand_in(
        monkeypatch, "mlflow", active_run=lambda: None if own else run, MlflowClient=Client,
        get_experiment_by_name=lambda name: None, create_experiment=lambda name: "7",
    )  # fmt: skip
    stand_in(monkeypatch, "mlflow.entities", Metric=lambda *what: what)
    loop(tmp_path / "run.jsonl", to=["mlflow"])
    ((name, metrics),) = batches
    assert name == ("ours" if own else "theirs") and ended == (["ours"] if own else [])
    assert ("batchlab/slots_per_step", 8.0) in [one[:2] for one in metrics]
    assert {one[3] for one in metrics} == {12}

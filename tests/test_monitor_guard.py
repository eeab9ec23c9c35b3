"""What watches a training never ends it: faults of the recorder are told once, and left out."""

import contextlib
import copy
import errno
import gc
import io
import os
import shutil
import signal
import time
import warnings

import pytest
import torch

from batchlab import counts, monitor, records
from batchlab.monitor import _passes
from batchlab.monitor._clock import Clock
from batchlab.monitor._guard import guarded, tell
from tests.test_stacks import tiny


def loop(path, steps=5, net=None, **options):
    """A loop of two rows a step; returns its losses."""
    net = net or tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids, losses = torch.tensor([[5, 6, 7, 8]] * 2), []
    with monitor.watch(net, optimizer, path, **options) as watch:
        for _ in watch(range(steps)):
            loss = net(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_a_fault_is_told_once_with_stack_and_quantity_and_the_run_goes_on(tmp_path, monkeypatch):
    truth = loop(tmp_path / "before.jsonl")

    def fails(*_, **__):
        raise IndexError("too many indices\nand a second line")

    monkeypatch.setattr(_passes.counts, "take", fails)
    with pytest.warns(UserWarning) as told:
        assert loop(tmp_path / "run.jsonl") == truth
    (line,) = [str(one.message) for one in told]
    assert "a loop of your own (LlamaForCausalLM)" in line and "\n" not in line
    assert "tokens and slots of a micro-batch cannot be recorded now" in line
    assert "IndexError: too many indices" in line and "goes on" in line
    assert not (tmp_path / "run.jsonl").exists()


def test_only_the_steps_that_cannot_be_counted_are_left_out(tmp_path, monkeypatch):
    honest, calls = counts.take, iter(range(99))

    def sometimes(*args, **options):
        if next(calls) == 3:
            raise RuntimeError("once")
        return honest(*args, **options)

    monkeypatch.setattr(_passes.counts, "take", sometimes)
    with pytest.warns(UserWarning, match="once"):
        loop(tmp_path / "run.jsonl", steps=8)
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    assert (cell.steps, cell.micro_batches) == (6, 6), "the first warms up, the fourth is unknown"


def test_a_quantity_that_fails_is_unknown_in_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(_passes, "_after_backward", lambda _: 1 / 0)
    with pytest.warns(UserWarning, match="backward cannot be recorded from here on"):
        loop(tmp_path / "run.jsonl")
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    assert cell.backward_seconds is None and cell.forward_seconds > 0
    assert cell.parts.optimizer_seconds > 0


def test_a_full_disk_ends_nothing(tmp_path):
    with pytest.warns(UserWarning, match="the file cannot be recorded now .*No space left"):
        assert len(loop("/dev/full", steps=9, every=2)) == 9


def test_what_a_full_disk_kept_out_is_written_when_there_is_room(tmp_path, monkeypatch):
    """The fault: steps of a minute in which the disk was full stood in no record."""
    path, real, tried = tmp_path / "run.jsonl", records.append, []

    def append(*words, **how):
        tried.append(1)
        if len(tried) in (2, 3):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*words, **how)

    monkeypatch.setattr(records, "append", append)
    with pytest.warns(UserWarning, match="the file cannot be recorded now .*No space left"):
        loop(path, steps=9, every=2)
    cells = records.read(path).cells()
    assert [cell.more["last_step"] for cell in cells] == [3, 6, 9]
    assert [(cell.steps, cell.warmup_steps) for cell in cells] == [(2, 1), (3, 0), (3, 0)]


def test_who_holds_the_file_and_forgets_it_stops_no_training(tmp_path):
    """The fault: the loop waited for the other process, for ever."""
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "run.jsonl"
    with path.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.warns(UserWarning, match="the file cannot be recorded now .*another process h"):
            assert len(loop(path)) == 5
    assert path.read_text() == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_that_the_loop_forks_is_none_of_the_run(tmp_path):
    """The fault: steps of the child, and those before it once more, stood in the record."""
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([[5, 6, 7, 8]])
    with monitor.watch(net, optimizer, path) as watch:
        for step in range(4):
            net(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            if step == 2 and not (child := os.fork()):
                watch._recorder.close()  # as the `with` does when a child leaves by an exception
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    (cell,) = records.read(path).cells()
    assert cell.steps == 3


def test_a_norm_that_is_no_number_ends_nothing(tmp_path):
    net = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with (
        pytest.warns(UserWarning, match="clipped cannot be recorded from here on"),
        monitor.watch(net, optimizer, tmp_path / "run.jsonl") as watch,
    ):
        watch.log(clip="high")


def test_a_folder_that_vanishes_is_made_again_and_a_file_in_its_place_is_told(tmp_path):
    path, net = tmp_path / "runs" / "run.jsonl", tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([[5, 6, 7, 8]])
    with monitor.watch(net, optimizer, path, every=2):
        for step in range(9):
            net(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            if step == 4:
                shutil.rmtree(path.parent)
    assert sum(cell.steps for cell in records.read(path).cells()) >= 2
    shutil.rmtree(path.parent)
    path.parent.write_text("a file")
    with pytest.warns(UserWarning, match="the file cannot be recorded now"):
        loop(path, every=2)


def test_a_model_that_says_nothing_of_itself_is_trained_all_the_same(tmp_path):
    class Bare(torch.nn.Module):
        def forward(self, ids):
            return ids

    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    net = Bare()
    with (
        pytest.warns(UserWarning, match="the model cannot be recorded"),
        monitor.watch(net, optimizer, tmp_path / "run.jsonl"),
    ):
        (net(torch.ones(2, 2)).sum() * weight.sum()).backward()
        optimizer.step()
    assert weight.tolist() == pytest.approx([0.6, 0.6])


def test_what_the_user_raises_passes_and_an_interrupt_inside_the_recorder_too(
    tmp_path, monkeypatch
):
    net = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def own():
        raise StopIteration("of the user")

    with (
        pytest.raises(StopIteration, match="of the user") as caught,
        monitor.watch(net, optimizer, tmp_path / "run.jsonl"),
    ):
        own()
    assert caught.traceback[-1].name == "own"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_passes.counts, "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop(tmp_path / "run.jsonl")


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="signals of POSIX")
def test_what_a_handler_of_the_users_raises_inside_the_recorder_passes(tmp_path, monkeypatch):
    """The fault: the last word of a scheduler was a warning, and the checkpoint was not written."""

    class Preempted(Exception):
        pass

    class Job:
        def ends(self, *_):
            raise Preempted

    before = signal.signal(signal.SIGUSR1, Job().ends)
    monkeypatch.setattr(
        _passes.counts, "take", lambda *_, **__: os.kill(os.getpid(), signal.SIGUSR1)
    )
    try:
        with pytest.raises(Preempted):
            loop(tmp_path / "run.jsonl")
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_where_warnings_are_errors_the_line_goes_to_stderr(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tell("one line")
    assert capsys.readouterr().err == "one line\n"


def test_the_guard_holds_back_faults_of_any_kind_even_those_that_cannot_be_told():
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    class Owner:
        stack, calls = "a stack", 0

        def __init__(self):
            self.lost = {}

        @guarded("the thing")
        def fails(self):
            self.calls += 1
            raise Mute

        @guarded("the other", again=True)
        def tries(self):
            self.calls += 1
            raise Mute

    one = Owner()
    with pytest.warns(UserWarning, match=r"on a stack: the thing .* \(Mute\)"):
        assert one.fails() is None
    assert one.fails() is None and one.calls == 1, "what is lost is not tried again"
    with pytest.warns(UserWarning, match="the other cannot be recorded now"):
        one.tries()
    one.tries()
    assert one.calls == 3


def test_a_copy_of_the_model_is_not_recorded_and_a_pickle_needs_no_library(tmp_path):
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([[5, 6, 7, 8]] * 2)
    with monitor.watch(net, optimizer, path):
        mean = copy.deepcopy(net)
        file = io.BytesIO()
        torch.save(net, file)
        assert b"batchlab" not in file.getvalue(), "the mistake: whoever loads it needs batchlab"
        file.seek(0)
        loaded = torch.load(file, weights_only=False)
        for _ in range(4):
            for other in (mean, loaded):
                other(input_ids=ids, labels=ids).loss.backward()
            loss = net(input_ids=ids, labels=ids).loss
            torch.save(loss, io.BytesIO())  # no word of the recorder's hook
            loss.backward()
            optimizer.step()
    (cell,) = records.read(path).cells()
    assert (cell.steps, cell.micro_batches) == (3, 3)


def test_a_watched_loader_is_that_loader(tmp_path):
    net = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(range(6), batch_size=2)
    with (
        pytest.warns(UserWarning, match="nothing recorded"),
        monitor.watch(net, optimizer, tmp_path / "run.jsonl") as watch,
    ):
        seen = watch(loader)
        assert len(seen) == 3 and seen.batch_size == 2 and seen
        assert [len(list(seen)), len(list(seen))] == [3, 3], "epoch after epoch"
        assert next(watch(loader)).tolist() == [0, 1]
        assert not watch([]) and list(watch(iter("ab"))) == ["a", "b"]
        with pytest.raises(TypeError):
            len(watch(iter("ab")))


def test_a_loop_that_asks_its_iterator_for_each_part_of_a_step(tmp_path):
    """As torchtitan does: `next` for each part, clipping, one step."""
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    with monitor.watch(net, optimizer, path) as watch:

        def slow():
            while True:
                time.sleep(0.004)
                yield torch.tensor([[5, 6, 7, 8]] * 2)

        batches = iter(watch(slow()))
        for _ in range(4):
            optimizer.zero_grad()
            for _ in range(2):
                tokens = next(batches)
                logits = net(tokens).logits
                torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
    (cell,) = records.read(path).cells()
    assert (cell.steps, cell.accumulation, cell.micro_batches) == (3, 2, 6)
    assert cell.parts.input_seconds >= 6 * 0.004 and cell.backward_seconds > 0


def test_the_innermost_part_has_the_moment(monkeypatch):
    from batchlab.monitor import _clock
    from tests.clock import Clock as Scripted

    ours = Scripted()
    monkeypatch.setattr(_clock, "time", ours)
    clock = Clock(cuda=False)
    ours.work(1.0)
    clock.enter("optimizer")
    ours.work(0.25)
    clock.enter("forward")
    ours.sleep(8.0)
    clock.leave("forward")
    clock.enter("left open")
    ours.work(2.0)
    clock.leave("optimizer")
    clock.leave("never entered")
    ours.work(4.0)
    clock.turn()
    assert clock.wall == {"host": 5.0, "optimizer": 0.25, "forward": 8.0, "left open": 2.0}
    assert (clock.idle("forward"), clock.idle("optimizer")) == (8.0, 0.0)
    clock.rename("left open", "host")
    assert clock.wall["host"] == 7.0 and not clock.inside("optimizer")
    clock.restart("between")
    assert clock.wall == {} and clock.base == "between"
    turns = []
    monkeypatch.setattr(ours, "process_time", lambda: turns.append(clock.turning) or 0.0)
    clock.turn()
    assert turns == [True] and not clock.turning, "what the collector must not interrupt"


@pytest.mark.slow
def test_a_collection_inside_a_pass_is_the_host(tmp_path):
    class Collects(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = tiny()

        def forward(self, input_ids):
            gc.collect()
            return self.net(input_ids=input_ids, labels=input_ids)

    gc.unfreeze()  # there must be something to walk through
    net, path = Collects(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with monitor.watch(net, optimizer, path):
        for _ in range(4):
            net(torch.tensor([[5, 6, 7, 8]])).loss.backward()
            optimizer.step()
    (cell,) = records.read(path).cells()
    assert cell.parts.host_seconds > 0.005 * 3 and cell.forward_seconds > 0


@pytest.fixture
def one_thread():
    """Threads of torch that wait for work are busy: a process that sleeps would seem to compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_failure_of_the_user_that_is_caught_leaves_the_clock_right(tmp_path, one_thread):
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([[5, 6, 7, 8]])
    with monitor.watch(net, optimizer, path):
        for _ in range(4):
            with contextlib.suppress(IndexError):
                net(input_ids=ids + 1000)
            net(input_ids=ids, labels=ids).loss.backward()
            time.sleep(0.01)
            optimizer.step()
    (cell,) = records.read(path).cells()
    assert (cell.steps, cell.micro_batches) == (3, 3), "a pass that failed trains nothing"
    assert cell.parts.away_seconds >= 0.03
    assert cell.forward_seconds + cell.backward_seconds < cell.seconds - 0.03

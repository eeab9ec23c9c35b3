"""A probe inside a running loop: other sizes are measured, and the loop goes on as without it."""

import random

import numpy as np
import pytest
import torch

from batchlab import doctor, model, monitor, records
from tests.clock import batch


def net():
    torch.manual_seed(0)
    one = model.small(32, hidden=16, heads=2, layers=1)
    one.add_module("dropout", torch.nn.Dropout(0.5))  # its mask depends on the random state
    one.register_buffer("calls", torch.zeros(()))
    one.model.embed_tokens.register_forward_hook(lambda _, __, out: one.dropout(out))

    def count(*_):
        one.calls.add_(1)

    one.register_forward_hook(count)
    return one


def run(path, probe, *, zero=True):
    """Six steps; all that a step could depend on afterwards."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    one = net()
    optimizer = torch.optim.AdamW(one.parameters(), lr=0.1)
    with monitor.watch(one, optimizer, path, probe=probe):
        for _ in range(6):
            one(**batch(4, 24, [24, 9, 5, 17])).loss.backward()
            optimizer.step()
            if zero:
                optimizer.zero_grad()
    states = [state for each in optimizer.state.values() for state in each.values()]
    gradients = [p.grad for p in one.parameters() if p.grad is not None]
    drawn = random.random(), np.random.rand(), torch.rand(1)  # noqa: NPY002
    return [*one.parameters(), *one.buffers(), *states, *gradients], drawn


@pytest.mark.parametrize("zero", [True, False])
def test_with_and_without_a_probe_every_bit_is_the_same(tmp_path, zero):
    alone, drawn = run(tmp_path / "alone.jsonl", False, zero=zero)
    probed, drawn_too = run(tmp_path / "probed.jsonl", True, zero=zero)
    assert len(alone) == len(probed) > 20
    assert all(torch.equal(one, other) for one, other in zip(alone, probed, strict=True))
    assert drawn == drawn_too
    sources = [cell.source for cell in records.read(tmp_path / "probed.jsonl").cells()]
    assert sources.count("probe") == 3 and sources.count("monitor") == 1


def test_the_mistake_a_probe_that_forgets_the_random_state_is_seen(tmp_path, monkeypatch):
    alone, _ = run(tmp_path / "alone.jsonl", False)
    monkeypatch.setattr(torch, "set_rng_state", lambda _: None)
    forgot, _ = run(tmp_path / "forgot.jsonl", True)
    assert not all(torch.equal(one, other) for one, other in zip(alone, forgot, strict=True))


def test_a_probe_takes_fewer_rows_and_fewer_slots_of_the_loops_own_batch(tmp_path):
    run(tmp_path / "run.jsonl", True)
    cells = records.read(tmp_path / "run.jsonl").cells()
    probe = [cell for cell in cells if cell.source == "probe"]
    sizes = [(cell.rows, cell.slots // cell.steps // cell.rows) for cell in probe]
    assert sizes == [(4, 24), (1, 24), (4, 8)] and {cell.steps for cell in probe} == {3}
    assert [cell.real_tokens // cell.steps for cell in probe] == [55, 24, 8 + 8 + 5 + 8]
    found = doctor.diagnose(cells)
    assert found.subject.source == "monitor" and found.subject.steps == 5, "the loop's own steps"
    assert found.sizes == 3
    own = [cell for cell in cells if cell.source != "probe"]
    assert doctor.diagnose(own).sizes == 1, "without it, one size"


def test_a_probe_takes_its_passes_in_the_precision_of_the_loop(tmp_path):
    one, seen = net(), []
    one.lm_head.register_forward_hook(lambda _, __, out: seen.append(out.dtype))
    optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
    with monitor.watch(one, optimizer, tmp_path / "run.jsonl", probe=True):
        for _ in range(5):
            with torch.autocast("cpu", torch.bfloat16):
                loss = one(**batch(4, 24)).loss
            loss.backward()
            optimizer.step()
    assert len(seen) > 5 and set(seen) == {torch.bfloat16}


def test_what_cannot_be_probed_safely_is_left_alone_and_told(tmp_path):
    def loop(one, **more):
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
        with monitor.watch(one, optimizer, tmp_path / "run.jsonl", probe=True):
            for _ in range(5):
                one(**batch(4, 24), **more).loss.backward()
                optimizer.step()

    fused = net()
    fused.lm_head.weight.register_post_accumulate_grad_hook(lambda _: None)
    with pytest.warns(UserWarning, match="no probe: a hook of its gradients would take"):
        loop(fused)
    with pytest.warns(UserWarning, match="no probe: no rows can be taken from cache_position"):
        loop(net(), cache_position=torch.arange(24))
    assert all(cell.source == "monitor" for cell in records.read(tmp_path / "run.jsonl").cells())


def test_a_probe_with_no_memory_for_it_leaves_the_loop_alone(tmp_path, monkeypatch):
    from batchlab.monitor import _probe

    def full(*_):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(_probe, "_pass", full)
    alone, _ = run(tmp_path / "alone.jsonl", False)
    with pytest.warns(UserWarning, match="no probe: CUDA out of memory"):
        probed, _ = run(tmp_path / "probed.jsonl", True)
    assert all(torch.equal(one, other) for one, other in zip(alone, probed, strict=True))


def test_token_ids_without_a_name_are_probed_as_those_with_one(tmp_path):
    """The mistake: rows of the own size for every size, and the labels cut beside them."""
    plain = batch(4, 24, [24, 9, 5, 17])
    ids = plain.pop("input_ids")
    one = net()
    optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
    with monitor.watch(one, optimizer, tmp_path / "run.jsonl", probe=True):
        for _ in range(6):
            one(ids, **plain).loss.backward()
            optimizer.step()
    cells = records.read(tmp_path / "run.jsonl").cells()
    probe = [cell for cell in cells if cell.source == "probe"]
    sizes = [(cell.rows, cell.slots // cell.steps // cell.rows) for cell in probe]
    assert sizes == [(4, 24), (1, 24), (4, 8)]

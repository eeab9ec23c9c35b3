"""The largest rows: brute force judges the search, a real limit of memory judges the tries."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from batchlab import model, units
from batchlab.cli import fit as cli_fit
from batchlab.memory import _candidates, _step, adapters, fit, trace
from batchlab.memory import _counter as counter
from batchlab.memory import _journal as journal
from batchlab.memory import _rehearsal as rehearsal
from batchlab.memory._forecast import Forecast
from batchlab.plan import Plan

DOCUMENTS = [list(range(1, n)) for n in (9, 40, 65, 65, 30, 65, 12, 65, 50, 65, 65, 65)]


@pytest.fixture
def small():
    return model.small(512, layers=2, hidden=32, heads=2)


def test_by_hand_a_right_guess_costs_two_tries():
    tried = []
    found = fit.search([1, 2, 4, 8, 16], lambda n: tried.append(n) or n <= 4, guess=4)
    assert (found, tried) == (4, [4, 8])


def test_the_search_agrees_with_looking_at_everything():
    for count in range(1, 18):
        for wall in range(count + 1):
            for guess in range(1, count + 1):
                tried = []
                rows = range(1, count + 1)
                found = fit.search(
                    rows, lambda n, t=tried, w=wall: t.append(n) or n <= w, guess=guess
                )
                assert (found or 0) == wall
                assert len(tried) == len(set(tried)), "no step is taken twice"
                assert len(tried) <= 2 + 2 * count.bit_length()


def peak_at(small, rows, documents=DOCUMENTS, **how):
    found = fit.largest_rows(small, documents, most_rows=rows, budget_bytes=2**40, **how)
    return found.best.peak_bytes


@pytest.mark.slow
def test_the_largest_rows_fit_and_one_more_does_not(small, monkeypatch):
    wall = peak_at(small, 5)
    found = fit.largest_rows(small, DOCUMENTS, budget_bytes=wall)
    assert (found.rows, found.refused_rows, found.spare_bytes) == (5, 6, 0)
    assert [(one.rows, one.fits) for one in found.tries] == [(5, True), (6, False)]
    assert fit.largest_rows(small, DOCUMENTS, budget_bytes=wall - 1).rows == 4
    monkeypatch.setattr(fit, "free_bytes", lambda _: wall)
    assert fit.largest_rows(small, DOCUMENTS).rows == 5, "what is free, if nothing is said"
    assert all(abs(one.residual_bytes) < 0.03 * one.peak_bytes for one in found.tries)


@pytest.mark.slow
def test_the_longest_documents_are_tried_wherever_they_stand(small):
    """The mistake beside the law: the first documents of the file would promise too much."""
    first = peak_at(small, 2, DOCUMENTS[:2])
    longest = peak_at(small, 2)
    assert longest > 1.3 * first
    assert fit.largest_rows(small, DOCUMENTS, budget_bytes=first).rows == 1


@pytest.mark.slow
def test_tokens_per_step_stay_and_only_exact_divisors_are_tried(small):
    keep = Plan(rows=1, accumulation=12, data_parallel=2, length=64)
    wall = peak_at(small, 6, keep=keep)
    found = fit.largest_rows(small, DOCUMENTS, keep=keep, budget_bytes=wall)
    assert (found.rows, found.plan.accumulation) == (6, 2)
    assert found.plan.slots_per_step == keep.slots_per_step
    assert {one.rows for one in found.tries} <= {1, 2, 3, 4, 6, 12}
    assert fit.largest_rows(small, DOCUMENTS, keep=keep, budget_bytes=wall - 1).rows == 4


@pytest.mark.slow
def test_no_try_changes_weights_gradients_or_the_random_state(small):
    before = {name: value.clone() for name, value in small.state_dict().items()}
    random = torch.get_rng_state()
    fit.largest_rows(small, DOCUMENTS, budget_bytes=peak_at(small, 2))
    assert all(torch.equal(before[name], value) for name, value in small.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert all(p.grad is None for p in small.parameters())


@pytest.mark.slow
def test_another_optimizer_and_checkpointing_count(small):
    plain = peak_at(small, 4)
    assert peak_at(small, 4, make_optimizer=lambda p: torch.optim.SGD(p, lr=1.0)) < plain
    model.set_checkpointing(small, True)
    assert peak_at(small, 4) < plain


@pytest.mark.slow
def test_a_device_that_refuses_is_recovered_from(small, monkeypatch):
    """Out of memory in the middle of a step: the next try finds nothing left behind."""
    honest = _step.loop.train_step
    rows_seen = []

    def full(model, optimizer, micro_batches, **how):
        ids = micro_batches[0]["input_ids"]
        honest(model, optimizer, micro_batches, **how)
        if type(ids) is not torch.Tensor:
            return  # the prediction allocates nothing
        rows_seen.append(len(ids))
        if len(ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(_step.loop, "train_step", full)
    found = fit.largest_rows(small, DOCUMENTS, most_rows=8, budget_bytes=2**40)
    assert found.rows == 3 and found.refused_rows == 4
    assert found.tries[0].peak_bytes is None and rows_seen[0] == 8
    assert all(p.grad is None for p in small.parameters())


@pytest.mark.slow
def test_another_error_is_not_taken_for_a_lack_of_memory(small, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(rehearsal, "measure_peak", broken)
    path = tmp_path / "fit.jsonl"
    with pytest.raises(RuntimeError, match="shapes"):
        fit.largest_rows(small, DOCUMENTS, budget_bytes=2**40, journal=path)
    assert [json.loads(line)["status"] for line in path.read_text().splitlines()] == [
        "began",
        "interrupted",
    ]


@pytest.mark.slow
def test_a_search_goes_on_where_it_stopped(small, monkeypatch, tmp_path):
    path = tmp_path / "fit.jsonl"
    wall = peak_at(small, 5)
    first = fit.largest_rows(small, DOCUMENTS, budget_bytes=wall, journal=path)

    def never(*_, **__):
        raise AssertionError("this was tried before")

    monkeypatch.setattr(rehearsal, "measure_peak", never)
    assert fit.largest_rows(small, DOCUMENTS, budget_bytes=wall, journal=path) == first
    with pytest.raises(ValueError, match="its tries had checkpointing = False, this search has T"):
        model.set_checkpointing(small, True)
        fit.largest_rows(small, DOCUMENTS, budget_bytes=wall, journal=path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        lambda parameters: torch.optim.SGD(parameters, lr=1.0),
        lambda parameters: torch.optim.AdamW(parameters, amsgrad=True),
    ],
)
def test_the_tries_of_another_optimizer_are_refused(small, monkeypatch, tmp_path, other):
    """The mistake: what AdamW needs was taken for what SGD needs, and the other way round."""
    monkeypatch.setattr(rehearsal, "measure_peak", lambda *_, **__: 1000)
    search = {"most_rows": 2, "budget_bytes": 2**40, "journal": tmp_path / "fit.jsonl"}
    first = fit.largest_rows(small, DOCUMENTS, **search)
    slower = fit.largest_rows(
        small,
        DOCUMENTS,
        make_optimizer=lambda p: torch.optim.AdamW(p, lr=9.0, foreach=False),
        **search,
    )
    assert slower == first, "its rate changes no memory"
    with pytest.raises(ValueError, match="its tries had optimizer = AdamW"):
        fit.largest_rows(small, DOCUMENTS, make_optimizer=other, **search)
    heads = model.small(512, layers=2, hidden=32, heads=4)
    with pytest.raises(ValueError, match="its tries had config = "):
        fit.largest_rows(heads, DOCUMENTS, **search)


def test_a_try_that_killed_the_process_twice_is_too_large(tmp_path):
    path = tmp_path / "fit.jsonl"
    path.touch()  # by a disk that was full
    for expected in (False, True):
        journal.Journal(path, {"length": 8}).began(16)
        assert journal.Journal(path, {"length": 8}).has(16) is expected
    assert journal.Journal(path, {"length": 8}).peak_bytes(16) is None
    with path.open("a") as file:
        file.write('{"kind": "try", "rows": 8, "sta')  # torn by the kill
    assert journal.Journal(path, {"length": 8}).has(16)
    other = tmp_path / "other.jsonl"
    other.write_text('{"kind": "cell"}\n')
    with pytest.raises(ValueError, match="not a journal of tries but of 'cell'"):
        journal.Journal(other, {})
    for words, said in (
        ('"rows": 8', "no try, rows 8 with status None"),
        ('"rows": "8", "status": "began"', "no try, rows '8' with status 'began'"),
        ('"rows": 8, "status": "ok", "peak_bytes": "much"', "with a peak of 'much' bytes"),
        ('"rows": 8, "status": "began"', "a try lacks its setting"),
    ):  # the mistake: a text is compared with a budget, a try of "8" rows with 8 rows
        other.write_text(f'{{"kind": "try", {words}}}\n')
        with pytest.raises(ValueError, match=f"line 1: .*{said}"):
            journal.Journal(other, {})


@pytest.mark.slow
def test_a_try_that_was_killed_twice_is_not_said_to_have_met_the_end_of_memory(
    small, monkeypatch, tmp_path
):
    """The fault: of tries that a scheduler killed it said "out of memory"."""
    monkeypatch.setattr(rehearsal, "measure_peak", lambda *_, **__: 1000)
    path = tmp_path / "fit.jsonl"
    search = {"most_rows": 2, "budget_bytes": 2**40, "journal": path}
    assert not any(one.killed for one in fit.largest_rows(small, DOCUMENTS, **search).tries)
    began = path.read_text().splitlines()[0]
    kept = [line for line in path.read_text().splitlines() if '"rows": 1,' in line]
    path.write_text("\n".join([began, began, *kept, ""]))
    found = fit.largest_rows(small, DOCUMENTS, **search)
    assert [(one.rows, one.killed) for one in found.tries] == [(2, True), (1, False)]
    said = cli_fit._text(found, "here")
    assert "killed twice" in said and "out of memory" not in said
    assert said.splitlines()[-1].startswith("A try that was killed twice counts as too large.")
    path.write_text("\n".join([began, began, began.replace('"rows": 2', '"rows": 1')] * 2))
    with pytest.raises(ValueError, match=r"not even 1 rows.*: two tries were killed, perhaps for"):
        fit.largest_rows(small, DOCUMENTS, **search)


def test_a_process_with_fewer_documents_binds_the_others(small):
    def least(value):
        return min(value, 2)

    found = fit.largest_rows(small, DOCUMENTS, budget_bytes=2**40, min_over_processes=least)
    assert found.rows == 2


def _gloo_rank(rank, folder, walls):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)

    def least(value):
        said = torch.tensor(value)
        dist.all_reduce(said, op=dist.ReduceOp.MIN)
        return int(said)

    torch.set_num_threads(1)
    tiny = model.small(512, layers=2, hidden=32, heads=2)
    documents = DOCUMENTS if rank == 0 else DOCUMENTS[2:]
    found = fit.largest_rows(
        tiny, documents, budget_bytes=walls[rank], min_over_processes=least,
        journal=f"{folder}/rank{rank}.jsonl",
    )  # fmt: skip
    tried = [[one.rows, one.fits] for one in found.tries]
    Path(folder, f"{rank}.json").write_text(json.dumps([found.rows, found.refused_rows, tried]))
    dist.destroy_process_group()


@pytest.mark.slow
@pytest.mark.parametrize("tight", [pytest.param(0, marks=pytest.mark.deep), 1])
def test_every_process_takes_the_answer_of_the_tightest(small, tight, tmp_path):
    """Two real processes, one with half of the memory: both try the same rows, none waits."""
    import torch.multiprocessing as mp

    walls = [peak_at(small, 7)] * 2
    walls[tight] = peak_at(small, 3)
    mp.spawn(_gloo_rank, args=(str(tmp_path), walls), nprocs=2)
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert first == second
    assert first[:2] == [3, 4]


UNDER_A_LIMIT = """
import json, resource, sys
import torch
from batchlab import model
from batchlab.memory import fit

torch.set_num_threads(1)
small = model.small(2048, layers=2, hidden=64, heads=2)
documents = [list(range(1, 500))] * 400
warm = fit.largest_rows(small, documents, most_rows=2, budget_bytes=2**40)
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + 400 * 2**20,) * 2)
found = fit.largest_rows(small, documents, most_rows=200, budget_bytes=2**33)
few = found.rows // 2  # not the wall itself: holes in the address space move it by a third
again = fit.largest_rows(small, documents, most_rows=few, budget_bytes=2**33)
print(json.dumps([found.rows, found.refused_rows, again.rows == few > 1,
                  [[t.rows, t.fits, t.peak_bytes] for t in found.tries]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are Linux's")
def test_under_a_real_limit_of_memory_a_search_survives_and_finds_the_wall():
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows, refused, again, tries = json.loads(done.stdout.splitlines()[-1])
    assert refused == rows + 1
    assert again, "what the failed tries held is free again"
    assert any(peak is None for _, _, peak in tries), "the system itself said no"
    assert all(fits == (peak is not None) for _, fits, peak in tries)


def test_free_memory_is_known_and_a_limit_counts(small, monkeypatch):
    free = counter.free_bytes(small)
    assert units.GIB / 8 < free < 2**50
    monkeypatch.setattr(counter, "_free_address_space", lambda: 5 * units.MIB)
    held = counter.bytes_held(small.parameters())
    assert counter.free_bytes(small) == pytest.approx(held + 5 * units.MIB, rel=0.01)
    monkeypatch.setattr(counter.Path, "read_text", lambda _: "MemTotal: 7 kB")
    with pytest.raises(ValueError, match="does not say how much memory is free: give a budget"):
        counter.free_bytes(small)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_bytes": 100_000}, "parameters, gradients and optimizer alone need .* more than"),
        pytest.param(
            {"budget_bytes": 900_000},
            "not even 1 rows of 64 slots fit into 878.91 KiB",
            marks=pytest.mark.slow,
        ),
        ({"most_rows": 0}, "most_rows must be at least 1, got 0"),
        ({"keep": Plan(1, 8, 1, 32)}, "document 2 has 64 tokens, the rows of the plan have 32"),
    ],
)
def test_what_cannot_be_is_refused(small, options, message):
    with pytest.raises(ValueError, match=message):
        fit.largest_rows(small, DOCUMENTS, **options)


def test_no_documents_are_refused(small):
    with pytest.raises(ValueError, match="no documents to try with"):
        fit.largest_rows(small, [], budget_bytes=2**40)


@pytest.mark.slow
def test_a_budget_for_adapters_is_not_refused_as_if_all_weights_were_trained(small):
    """Full training needs 16 bytes a weight, adapters hold 4: a third of it is enough."""
    weights = sum(one.nbytes for one in small.parameters())
    budget = 2 * weights
    short = [one[:8] for one in DOCUMENTS]
    with pytest.raises(ValueError, match="parameters, gradients and optimizer alone need"):
        fit.largest_rows(small, short, budget_bytes=budget)
    found = fit.largest_rows(adapters.lora(small, 2), short, budget_bytes=budget, most_rows=2)
    assert found.rows >= 1
    assert all(abs(one.residual_bytes) < 0.03 * one.peak_bytes for one in found.tries)


@pytest.mark.slow
def test_more_micro_batches_hold_their_gradients(small):
    one, two = (peak_at(small, 2, accumulation=n) for n in (1, 2))
    weights = sum(one.nbytes for one in small.parameters())
    assert two - one == pytest.approx(weights, rel=0.1)
    with pytest.raises(ValueError, match="accumulation is what the kept plan leaves"):
        peak_at(small, 2, accumulation=2, keep=Plan(1, 8, 1, 64))


@pytest.mark.slow
def test_rows_in_shards_are_predicted_and_not_tried(small):
    """The states of one device shrink, so more rows fit; what is left is that of its own rows."""
    budget = peak_at(small, 2)
    alone = fit.predict_rows(small, DOCUMENTS, budget_bytes=budget)
    shared = fit.predict_rows(small, DOCUMENTS, budget_bytes=budget, shard=trace.Shard(3, 8))
    assert (alone.rows, alone.refused_rows) == (2, 3)
    assert shared.predicted_bytes[2] < alone.predicted_bytes[2]
    assert shared.rows >= alone.rows
    with pytest.raises(ValueError, match=r"not even 1 row of 64 slots fits into .* predicted"):
        fit.predict_rows(small, DOCUMENTS, budget_bytes=900_000)


@pytest.mark.slow
def test_the_forecast_of_a_loss_in_chunks_bends_where_the_chunk_is_full(small):
    for rows in (1, 2, 5, 8):
        told = Forecast(small, length=64, loss_chunk=128).total_bytes(rows)
        traced = trace.predict_peak(small, rows=rows, length=64, loss_chunk=128).total_bytes
        assert told == pytest.approx(traced, rel=0.02), rows


def test_one_document_or_one_row_asked_for_is_one_plan():
    assert _candidates.candidates([5], None, 1, None, int) == {1: Plan(1, 1, 1, 5)}
    assert _candidates.candidates([5, 9], None, 4, 1, int) == {1: Plan(1, 4, 1, 9)}
    with pytest.raises(ValueError, match="most_rows must be at least 1, got 0"):
        _candidates.candidates([5, 9], None, 1, 0, int)


def test_a_budget_of_exactly_one_row_holds_one_row(small, monkeypatch):
    monkeypatch.setattr(_candidates, "predicted", lambda *_, **__: {1: 700, 2: 900})
    budgets = (700, 899, 900)
    found = [fit.predict_rows(small, DOCUMENTS, budget_bytes=budget) for budget in budgets]
    assert [(one.rows, one.refused_rows) for one in found] == [(1, 2), (1, 2), (2, None)]
    with pytest.raises(ValueError, match="1 row of 64 slots fits into 699 B: 700 B predicted"):
        fit.predict_rows(small, DOCUMENTS, budget_bytes=699)


def test_a_micro_batch_of_ones_own_is_not_for_a_fit(small):
    with pytest.raises(ValueError, match="batch is not for a fit"):
        fit.predict_rows(small, DOCUMENTS, budget_bytes=2**30, batch={})

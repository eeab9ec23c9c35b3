"""The same readings from several processes, and from a Trainer, as from one plain loop."""

import contextlib
import json
import os
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from batchlab import batches, loop, model, noise
from batchlab.noise._shards import ShardTaps
from batchlab.noise.norms import Tracker
from tests.learners import Small, documents, micro_batches

STEPS, SOME = 4, documents(64)


def pieces_of(step):
    """Four micro-batches of unlike sequences, two for each of two ranks."""
    return micro_batches(SOME, list(range(8 * step, 8 * step + 8)), 2)


def in_one_process():
    net = Small().double()
    with Tracker(net, optimizer := torch.optim.SGD(net.parameters(), lr=0.1)) as tracker:
        for step in range(STEPS):
            loop.train_step(net, optimizer, pieces_of(step), max_grad_norm=0.5)
        return tracker.state_dict()["readings"]


def _rank(rank, folder, kind):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/{kind}", rank=rank, world_size=2)
    net = Small() if kind == "fsdp2" else Small().double()  # FSDP divides float64 beforehand
    wrapped = nn.parallel.DistributedDataParallel(net) if kind == "ddp" else net
    if kind == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        for part in (net.words, net.norm, net):
            fully_shard(part)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def summed(tensor):
        dist.all_reduce(tensor)
        return tensor

    given = {"sum_over_processes": summed} if kind == "plain" else {}
    with Tracker(wrapped, optimizer, **given) as tracker:
        for step in range(STEPS):
            mine = pieces_of(step)[2 * rank : 2 * rank + 2]
            if kind == "plain":
                loop.train_step(net, optimizer, mine, max_grad_norm=0.5, **given)
                continue
            targets = sum(int((p["labels"][:, 1:] >= 0).sum()) for p in pieces_of(step))
            optimizer.zero_grad()
            with wrapped.no_sync() if kind == "ddp" else contextlib.nullcontext():
                _loss(wrapped, mine[0], 2 / targets).backward()
            _loss(wrapped, mine[1], 2 / targets).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
        state = tracker.state_dict()
    Path(folder, f"{kind}-{rank}.json").write_text(json.dumps(state))
    dist.destroy_process_group()


def _loss(net, piece, factor):
    return factor * loop.summed_loss(net(piece["input_ids"]), piece["labels"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("plain", marks=pytest.mark.deep),
        pytest.param("ddp", marks=pytest.mark.deep),
        "fsdp2",
    ],
)
def test_two_gloo_processes_read_what_one_process_reads(tmp_path, kind):
    """Four pieces on one rank, or two on each of two: the same pieces of the same step."""
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    mp.spawn(_rank, args=(str(tmp_path), kind), nprocs=2)
    first, second = (json.loads((tmp_path / f"{kind}-{n}.json").read_text()) for n in range(2))
    assert first == second and first["left_out"] == {}
    for ours, alone in zip(first["readings"], in_one_process(), strict=True):
        assert ours == pytest.approx(alone, rel=1e-5 if kind == "fsdp2" else 1e-6)


class Rows(torch.utils.data.Dataset):
    """Rows of 12 tokens."""

    def __len__(self):
        return 48

    def __getitem__(self, number):
        drawn = torch.Generator().manual_seed(number)
        ids = torch.randint(1, 32, (12,), generator=drawn)
        return {"input_ids": ids, "labels": ids}


@pytest.mark.slow
def test_a_trainer_takes_a_callback_and_its_clipping_changes_nothing(tmp_path):
    from transformers import Trainer, TrainingArguments

    def trained(clip, **how):
        watch = noise.norms.callback(**how)
        arguments = TrainingArguments(
            output_dir=str(tmp_path), per_device_train_batch_size=2, gradient_accumulation_steps=3,
            max_steps=6, learning_rate=0.0, max_grad_norm=clip, report_to=[], save_strategy="no",
            use_cpu=True, disable_tqdm=True, logging_strategy="no", dataloader_pin_memory=False,
        )  # fmt: skip
        net = model.small(32, hidden=16, heads=2, layers=1)
        Trainer(net, arguments, train_dataset=Rows(), callbacks=[watch]).train()
        assert not any(p._backward_hooks for p in net.parameters())
        return watch.tracker

    tracker, clipped = trained(1e9), trained(0.05)
    assert tracker.estimate().readings == 6 and not tracker.left_out
    for ours, other in zip(tracker._readings, clipped._readings, strict=True):
        assert ours == pytest.approx(other, rel=1e-4)
        assert ours[-2:] == [6, pytest.approx(1 / 3)], "sequences of the step; three equal pieces"
    again = noise.norms.callback()
    again.saved = clipped.state_dict()
    assert type(again).from_state(again.state()).saved == again.saved


def test_packed_rows_count_their_documents():
    net, some = Small(), documents(6, longest=5)
    with Tracker(net, optimizer := torch.optim.SGD(net.parameters(), lr=0.0)) as tracker:
        net.packs_documents = True
        pieces = [batches.packed(some, [[0, 1, 2]], 16), batches.packed(some, [[3, 4], [5]], 12)]
        loop.train_step(net, optimizer, pieces)
    (reading,) = tracker.state_dict()["readings"]
    assert reading[-2] == 6


def test_a_torch_whose_fsdp_shows_no_gradients_is_refused(monkeypatch):
    """The fault, with torch 2.8: an attribute that the module does not have."""
    from torch.distributed.fsdp import FSDPModule

    monkeypatch.delattr(FSDPModule, "set_custom_reduce_scatter", raising=False)
    with pytest.raises(ValueError, match=r"FSDP2 reduces: a newer one is needed"):
        ShardTaps(Small())


@pytest.mark.filterwarnings("ignore:FSDP2-wrapped module")
def test_a_step_under_fsdp2_that_is_not_measured_leaves_nothing(tmp_path):
    """One process reduces nothing, so the test reduces in its place."""
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/world", rank=0, world_size=1)
    try:
        net = Small()
        fully_shard(net)
        taps, seen = ShardTaps(net), []
        for active in (True, False):
            taps.clear()
            taps.active = active
            for _ in range(2):
                _loss(net, pieces_of(0)[0], 1 / 30).backward()
                taps.seen(0, torch.tensor([3.0, 4.0]), dist.ReduceOp.AVG)
            seen.append((taps.pieces, [float(norm) for norm in taps._norms], len(taps._kept)))
        taps.close()
    finally:
        dist.destroy_process_group()
    assert seen == [(2, [5.0, 5.0], len(taps.probe)), (0, [], 0)]

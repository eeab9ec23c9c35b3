"""A step over real processes is the step of one: plain, under DDP, under FSDP2.

Models are float64 throughout, so that rounding cannot hide a mistake.
"""

import pytest
import torch

from batchlab.cluster import _world, distributed
from batchlab.loop import StepWorld
from batchlab.loop._world import filler

RARE = [pytest.param(one, marks=pytest.mark.slow) for one in ("plain", "fsdp, reducing every time")]
LONG = 600.0  # seconds: a busy machine takes its time
SHARES = {2: [[0, 1, 2], [3, 4]], 3: [[0, 1, 2], [3, 4], []]}


def steps(rank, share, form, mistake=""):
    """Three steps of one process and of the world: parameters, losses and norms that differ."""
    import contextlib

    from torch import nn
    from torch.distributed.fsdp import fully_shard

    from batchlab import loop
    from batchlab.cluster import distributed

    class Bigram(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.embedding = nn.Embedding(12, 6, dtype=torch.float64)
            self.middle = nn.Linear(6, 6, bias=False, dtype=torch.float64)
            self.head = nn.Linear(6, 12, bias=False, dtype=torch.float64)

        def forward(self, input_ids, use_cache=False):
            return self.head(torch.tanh(self.middle(self.embedding(input_ids))))

    draw = torch.Generator().manual_seed(1)
    pieces = []
    for untrained, shape in enumerate([(1, 7), (3, 16), (2, 5), (1, 30), (2, 9)]):
        ids = torch.randint(0, 12, shape, generator=draw)
        labels = ids.clone()
        labels[:, :untrained] = -100
        pieces.append({"input_ids": ids, "labels": labels})

    def taken(model, parts, **how):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        return [
            loop.train_step(model, optimizer, parts, max_grad_norm=0.3, **how) for _ in range(3)
        ]

    one, many = Bigram(), Bigram()
    wanted = taken(one, pieces)
    if form == "ddp":
        many = nn.parallel.DistributedDataParallel(many)
    elif form.startswith("fsdp"):
        fully_shard(many.middle)
        fully_shard(many)
    if mistake == "no world":
        taken(many, [pieces[at] for at in share[rank.rank]])
    around = distributed.world(many, **({"reduce_every": True} if "every" in form else {}))
    if mistake == "wider":
        taken(many, pieces, world=around, accumulate_in=torch.float64)
    if mistake == "averaged":
        around.loss_factor = 1.0
    if mistake == "every micro-batch":
        around.piece = lambda last: contextlib.nullcontext()
    found = taken(many, [pieces[at] for at in share[rank.rank]], world=around)
    apart = [
        (p.full_tensor() if hasattr(p, "full_tensor") else p).detach() - q.detach()
        for p, q in zip(many.parameters(), one.parameters(), strict=True)
    ]
    counted = [(r.micro_batches, r.slots, r.target_tokens) for r in found]
    same = counted == [(r.micro_batches, r.slots, r.target_tokens) for r in wanted]
    return {
        "parameters": max(float(d.abs().max()) for d in apart),
        "loss": max(abs(a.loss / b.loss - 1) for a, b in zip(found, wanted, strict=True)),
        "norm": max(abs(a.grad_norm / b.grad_norm - 1) for a, b in zip(found, wanted, strict=True)),
        "counted alike": same,
    }


@pytest.mark.parametrize("form", ["ddp", "fsdp", *RARE])
@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_processes_take_the_step_of_one(size, form):
    """Unequal micro-batches, unequal targets, and of three processes one that has nothing."""
    for one in distributed.run(steps, size, SHARES[size], form, timeout=LONG).results:
        assert one["parameters"] < 1e-12 and one["loss"] < 1e-12 and one["norm"] < 1e-12
        assert one["counted alike"], "a filler is counted by nobody"


def test_the_average_over_processes_would_be_another_step():
    found = distributed.run(steps, 2, SHARES[2], "ddp", "averaged", timeout=LONG).results
    assert found[0]["norm"] > 0.4


@pytest.mark.parametrize("form", [pytest.param("ddp", marks=pytest.mark.slow), "fsdp"])
def test_a_wrapped_model_without_its_world_is_refused_and_hangs_nobody(form):
    with pytest.raises(distributed.RankError, match=f"under {form.upper()} sums .* Give world="):
        distributed.run(steps, 2, SHARES[2], form, "no world", timeout=LONG)


@pytest.mark.slow
def test_a_wrapper_that_sums_by_itself_adds_in_its_own_dtype():
    with pytest.raises(distributed.RankError, match="accumulate_in is for gradients that no"):
        distributed.run(steps, 2, SHARES[2], "ddp", "wider", timeout=LONG)


def test_without_processes_the_world_is_this_one():
    world = distributed.world(torch.nn.Linear(2, 2))
    assert type(world) is StepWorld and world.sum(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(ValueError, match="reduce_every is for a model under fully_shard"):
        distributed.world(torch.nn.Linear(2, 2), reduce_every=True)


def test_each_gradient_is_in_one_bucket_of_its_dtype(monkeypatch):
    """The mistake: a bucket that is full, or of another dtype, is summed by nobody."""
    monkeypatch.setattr(_world, "BUCKET_BYTES", 20)
    given = [torch.full((2,), n, dtype=t) for n, t in enumerate([torch.float64] * 4 + [torch.half])]
    found = list(_world._buckets(given))
    assert [one for bucket in found for one in bucket] == given
    assert [len(bucket) for bucket in found] == [2, 2, 1]


def test_a_filler_has_no_target_and_the_shape_of_one_slot():
    like = {"input_ids": torch.full((3, 5), 7), "labels": torch.full((3, 5), 7)}
    for one in (filler(like), filler(None)):
        assert one["input_ids"].tolist() == [[0]] and one["labels"].tolist() == [[-100]]

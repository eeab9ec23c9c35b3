"""What one optimizer step over two processes costs against a loop by hand over two processes.

    python benchmarks/step_processes.py [--rounds 11] [--hidden N] [--output FILE]

Two processes of gloo hold the same model and half of the rows each, unequally many targets. The
loop by hand sums the targets, the gradients in one flat tensor, and the loss over both, clips by
the norm and steps; under DistributedDataParallel the wrapper sums the gradients in its last
backward. CPU seconds of both processes together, step by step in turn; the ratio is the median of
the turns.
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from batchlab import batches, data, loop, model, records
from batchlab.cluster.distributed import world
from batchlab.counts import IGNORE

PROCESSES, ROWS, MICRO_BATCHES = 2, 4, 2
FORMS = ("plain", "ddp")


def by_hand(net: Any, optimizer: torch.optim.Optimizer, parts: list[Any]) -> float:
    """One exact step over all processes: sums, one division, one clip."""
    wrapped = isinstance(net, DistributedDataParallel)
    optimizer.zero_grad(set_to_none=True)
    targets = torch.stack([(part["labels"][:, 1:] != IGNORE).sum() for part in parts]).sum()
    dist.all_reduce(targets)
    total = torch.zeros(())
    for number, part in enumerate(parts):
        silent = wrapped and number < len(parts) - 1
        with net.no_sync() if silent else contextlib.nullcontext():
            logits = net(part["input_ids"], part["attention_mask"], use_cache=False).logits
            labels = F.pad(part["labels"][:, 1:], (0, 1), value=IGNORE).flatten()
            loss = F.cross_entropy(
                logits.flatten(0, 1), labels, ignore_index=IGNORE, reduction="sum"
            )
            (loss * (PROCESSES if wrapped else 1) / targets).backward()
        total += loss.detach()
    if not wrapped:
        held = [one.grad for one in net.parameters()]
        flat = torch.cat([one.flatten() for one in held])
        dist.all_reduce(flat)
        for one, summed in zip(held, flat.split([one.numel() for one in held]), strict=True):
            one.copy_(summed.view_as(one))
    dist.all_reduce(total)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return total.item() / int(targets)


def ours(net: Any, optimizer: torch.optim.Optimizer, parts: list[Any]) -> float:
    return loop.train_step(net, optimizer, parts, max_grad_norm=1.0, world=world(net)).loss


def one_process(rank: int, folder: str, rounds: int, hidden: int | None) -> None:
    """One rank; the first writes the seconds of both, turn by turn."""
    torch.set_num_threads(1)
    meet = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=PROCESSES)
    corpus = data.embedded().at_most(data.DEFAULT_LONGEST)
    first = rank * ROWS * MICRO_BATCHES
    cuts = [range(first + ROWS * n, first + ROWS * (n + 1)) for n in range(MICRO_BATCHES)]
    names = ("input_ids", "labels", "attention_mask")
    padded = [batches.padded(corpus, cut) for cut in cuts]
    parts = [{name: one[name] for name in names} for one in padded]
    found = {}
    for form in FORMS:
        made = [_made(form, hidden, corpus.vocabulary) for _ in range(2)]
        taken = []
        for turn in range(rounds + 2):  # two warm up: DDP sorts its buckets after the first
            pair = [0.0, 0.0]
            losses = [0.0, 0.0]
            for which in (0, 1) if turn % 2 else (1, 0):
                pair[which], losses[which] = _seconds((ours, by_hand)[which], made[which], parts)
            if abs(losses[0] - losses[1]) > 1e-4:
                raise AssertionError(f"the two loops are not the same step: {losses}")
            taken.append(pair)
        both = torch.tensor(taken[2:], dtype=torch.float64)
        dist.all_reduce(both)
        found[form] = both
    if rank == 0:
        torch.save(found, f"{folder}/seconds.pt")
    dist.barrier()
    dist.destroy_process_group()


def _made(form: str, hidden: int | None, vocabulary: int) -> tuple[Any, torch.optim.Optimizer]:
    net = model.small(vocabulary, hidden=hidden) if hidden else model.load(None)
    net.train()
    wrapped = DistributedDataParallel(net) if form == "ddp" else net
    return wrapped, torch.optim.AdamW(net.parameters(), lr=1e-5)


def _seconds(step: Callable[..., float], made: tuple[Any, Any], parts: Any) -> tuple[float, float]:
    dist.barrier()
    begin = time.process_time()
    loss = step(*made, parts)
    return time.process_time() - begin, loss


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--hidden", type=int, help="width of two layers (the embedded model)")
    options.add_argument("--output", type=Path, help="file of records")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(one_process, (folder, chosen.rounds, chosen.hidden), nprocs=PROCESSES)
        found = torch.load(f"{folder}/seconds.pt")
    for form, seconds in found.items():
        ratios = (seconds[:, 0] / seconds[:, 1]).tolist()
        low, _, high = quantiles(ratios, n=4)
        line = {"kind": "step_processes", "form": form, "processes": PROCESSES}
        line["model"] = f"{chosen.hidden} wide" if chosen.hidden else "embedded"
        line |= {"turns": chosen.rounds, "ratio": median(ratios), "ratio_q1": low, "ratio_q3": high}
        line |= {"ours_seconds": median(seconds[:, 0].tolist())}
        print(
            f"{form}: {1e3 * line['ours_seconds']:.0f} ms of CPU in both, "
            f"{line['ratio']:.3f} times a loop by hand ({low:.3f} to {high:.3f})"
        )
        if chosen.output:
            records.append(chosen.output, line | {"environment": records.environment()})


if __name__ == "__main__":
    main()

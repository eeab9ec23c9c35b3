"""Loops of one's own, watched by the two documented lines: plain, compiled, accelerate, ranks.

Way, a file for the record  ->  Timed
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from batchlab import model, monitor
from benchmarks import stacks_plants as plants
from benchmarks.stacks_plants import EACH, VOCABULARY, Plant, Timed, Update, Way, documents

__all__ = ["LOOPS", "small", "together"]


def small() -> Any:
    return model.small(VOCABULARY, hidden=64).train()


def together(rows: list[list[int]]) -> dict[str, torch.Tensor]:
    """Token ids, labels and mask of one micro-batch, padded to the longest row."""
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def micro_batches(plant: Plant) -> Iterator[dict[str, torch.Tensor]]:
    every, rows = documents(plant.way), plant.way.rows
    for at in range(0, len(every), rows):
        plant.sleep("input")
        yield together(every[at : at + rows])


def looped(
    net: Any, inner: Any, path: Path, way: Way, *, backward: Callable[[Any], None],
    wrap: Callable[[Any], Any] = lambda one: one,
) -> Timed:  # fmt: skip
    """The loop; `net` is what it calls, `inner` the model inside."""
    plant = Plant(way)
    optimizer = wrap(Update(inner.parameters(), plant))
    model.set_checkpointing(inner, way.checkpointing)
    kept = together([row[:32] for row in documents(Way())[:EACH]])
    with monitor.watch(net, optimizer, path, every=plants.BETWEEN, probe=way.probe) as watch:
        for number, batch in enumerate(watch(micro_batches(plant)), start=1):
            loss = net(**batch).loss
            plant.sleep("away")
            if dist.is_initialized():
                plant.work("waiting", share=float(dist.get_rank()))
                plant.work("balanced", share=0.5)
            backward(loss / way.accumulation)
            if number % way.accumulation:
                continue
            step = number // way.accumulation
            optimizer.step()
            optimizer.zero_grad()
            plant.work("host")
            if plant.due("evaluation", step):
                with plant.timed("evaluation"):
                    evaluated(net, kept)
            if plant.due("saving", step):
                with watch.part("saving"), plant.timed("saving"):
                    saved(inner, path.with_suffix(f".{os.getpid()}.pt"))
            if way.plant == "generation":
                with plant.timed("generation"):
                    inner.generate(kept["input_ids"][:2], max_new_tokens=3, pad_token_id=0)
    return plant.window()


def evaluated(net: Any, batch: dict[str, torch.Tensor]) -> None:
    net.eval()
    with torch.no_grad():
        for _ in range(3):
            net(**batch)
    net.train()


def saved(inner: Any, path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(3):  # the weights, and twice as much of an optimizer
            torch.save(inner.state_dict(), file)
        file.flush()
        os.fsync(file.fileno())


class Plain:
    """A loop as people write it."""

    def __init__(self) -> None:
        self.net = self.inner = small()

    def __call__(self, way: Way, path: Path) -> Timed:
        return looped(self.net, self.inner, path, way, backward=lambda loss: loss.backward())


class Compiled(Plain):
    """The same, through torch.compile, whose shapes may change."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.compile(self.inner, dynamic=True)


class Accelerate(Plain):
    """The same, prepared by accelerate."""

    def __init__(self) -> None:
        super().__init__()
        from accelerate import Accelerator

        self.accelerator = Accelerator(cpu=True)
        self.net = self.accelerator.prepare(self.inner)

    def __call__(self, way: Way, path: Path) -> Timed:
        give = self.accelerator
        return looped(self.net, self.inner, path, way, backward=give.backward, wrap=give.prepare)


class DDP(Plain):
    """The same on two ranks that average their gradients."""

    def __init__(self) -> None:
        super().__init__()
        dist.init_process_group("gloo")
        self.net = torch.nn.parallel.DistributedDataParallel(self.inner)


class FSDP2(Plain):
    """The same on two ranks that share the weights."""

    def __init__(self) -> None:
        super().__init__()
        from torch.distributed.fsdp import fully_shard

        dist.init_process_group("gloo")
        for layer in self.inner.model.layers:
            fully_shard(layer)
        fully_shard(self.inner)


LOOPS = {
    "plain loop": Plain,
    "torch.compile": Compiled,
    "accelerate": Accelerate,
    "DDP": DDP,
    "FSDP2": FSDP2,
}

"""Time training steps without disturbing them, and count what each step computed.

    model, optimizer, micro-batches  ->  seconds and totals of the measured steps

On a GPU the ends of a step are synchronised and the optimizer is bracketed by events; inside a
step nothing waits. On the CPU the clock of the process is read.
"""

import contextlib
import gc
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn

from batchlab import counts, loop
from batchlab.counts import Counts, MicroBatch
from batchlab.model import has_varlen
from batchlab.records import Cell, Parts
from batchlab.timing import Away, Pauses, Spans

__all__ = ["Stopwatch"]


class Stopwatch:
    """Takes real steps through `loop.train_step` and keeps their times."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, device: str) -> None:
        self.model, self.optimizer = model, optimizer
        self.cuda = torch.device(device).type == "cuda"
        self.varlen = has_varlen(model)
        self._optimizer_spans, self._pauses = Spans(cuda=self.cuda), Pauses()
        self._away = Away()
        self._hooks = [
            optimizer.register_step_pre_hook(lambda *_: self._optimizer_begins()),
            optimizer.register_step_post_hook(lambda *_: self._optimizer_ended()),
        ]
        self.start()

    def start(self) -> None:
        """Forget everything so far: what came before was warm-up."""
        self.step_seconds: list[float] = []
        self.counts: list[Counts] = []  # of each step
        self.micro_batches = 0
        self._parts: dict[str, list[float]] = {"input": [], "host": [], "away": []}
        self._waited = 0.0
        self._optimizer_spans.take()
        if self.cuda:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            self._retries: int = torch.cuda.memory_stats().get("num_alloc_retries", 0)

    @contextlib.contextmanager
    def input(self) -> Iterator[None]:
        """Time spent here is waiting for input, and belongs to the next step."""
        begin = time.perf_counter()
        yield
        self._waited = time.perf_counter() - begin

    def step(self, micro_batches: Sequence[MicroBatch], **options: Any) -> None:
        """Take one optimizer step and keep its time."""
        each = [counts.of(batch, varlen=self.varlen) for batch in micro_batches]
        gc.collect(0)  # a full collection inside one step would be blamed on its setting
        self._pauses.take()
        begin = self._now()
        self._away.begin()
        loop.train_step(self.model, self.optimizer, micro_batches, **options)
        away = self._away.seconds()
        self.step_seconds.append(self._now() - begin + self._waited)
        step = {"input": self._waited, "host": self._pauses.take(), "away": away}
        for name, seconds in step.items():
            self._parts[name].append(seconds)
        self._waited = 0.0
        self.micro_batches += len(micro_batches)
        self.counts.append(reduce(add, each))

    def cell(self, **setting: Any) -> Cell:
        """The steps since `start()` as a cell; `setting` gives its rows, layout and so on.

        On a GPU a pause of the host may hide behind the queue: its host seconds are unknown.
        """
        each = {"optimizer": self._optimizer_spans.take(), **self._parts}
        if self.cuda:
            del each["host"], each["away"]
        return Cell(
            **setting,
            steps=len(self.step_seconds),
            micro_batches=self.micro_batches,
            seconds=sum(self.step_seconds),
            counts=reduce(add, self.counts),
            parts=Parts(**{f"{name}_seconds": sum(seconds) for name, seconds in each.items()}),
            step_parts={name: tuple(seconds) for name, seconds in each.items()},
            step_seconds=tuple(self.step_seconds),
            step_slots=tuple(one.slots for one in self.counts if one.slots is not None),
            step_slot_pairs=tuple(
                one.slot_pairs for one in self.counts if one.slot_pairs is not None
            ),
            peak_bytes=torch.cuda.max_memory_allocated() if self.cuda else None,
            allocator_retries=self._new_retries() if self.cuda else None,
        )

    def _optimizer_begins(self) -> None:
        self._optimizer_spans.begin()
        self._away.pause()

    def _optimizer_ended(self) -> None:
        self._optimizer_spans.end()
        self._away.resume()

    def close(self) -> None:
        self._pauses.close()
        for hook in self._hooks:
            hook.remove()

    def _now(self) -> float:
        if self.cuda:
            torch.cuda.synchronize()
        return time.perf_counter()

    def _new_retries(self) -> int:
        now: int = torch.cuda.memory_stats().get("num_alloc_retries", 0)
        return now - self._retries

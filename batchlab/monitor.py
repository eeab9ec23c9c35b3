"""Record the training that you already have, so that `doctor` can read it.

    a loop of your own, or a transformers Trainer  ->  cell records

Two lines around any loop:

    with monitor.watch(model, optimizer, "run.jsonl") as watch:
        for batch in watch(loader):
            ...

or one callback: `Trainer(..., callbacks=[monitor.callback("run.jsonl")])`. Shapes are read from the
inputs of the model's forward pass and from the optimizer's steps; no tensor is read back before a
record is written, every `every` steps and at the end.
"""

import contextlib
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import records
from batchlab.model import recomputes

__all__ = ["Watch", "callback", "watch"]


class Watch:
    """Counts what a running loop does; `watch(...)` and `callback(...)` make one."""

    def __init__(self, model: nn.Module, path: str | Path, *, every: int, source: str) -> None:
        self.model, self.path, self.every, self.source = model, Path(path), every, source
        self.run = uuid.uuid4().hex[:12]
        self.device = next(model.parameters()).device
        self._hook = model.register_forward_pre_hook(self._forward, with_kwargs=True)
        self._input_seconds = 0.0
        self._began = self._now()
        self._steps: list[tuple[float, float, list[tuple[int, int]], list[Any]]] = []
        self._shapes: list[tuple[int, int]] = []
        self._real: list[Any] = []
        self._written = False

    def __call__(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Pass the loader's batches through, and time how long each is waited for."""
        batches = iter(loader)
        while True:
            begin = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            self.waited(time.perf_counter() - begin)
            yield batch

    def waited(self, seconds: float) -> None:
        self._input_seconds += seconds

    def stepped(self) -> None:
        """One optimizer step has ended."""
        now = self._now()
        if self._shapes:
            self._steps.append((now - self._began, self._input_seconds, self._shapes, self._real))
        self._began, self._input_seconds = now, 0.0
        self._shapes, self._real = [], []
        if len(self._steps) > self.every:  # the first step of a record warms up
            self.write()

    def write(self) -> None:
        """Write what was seen since the last record; the first step of a run is left out."""
        steps = self._steps[1:] if not self._written else self._steps
        if steps:
            records.append(self.path, self._record(steps))
            self._written = True
        self._steps = []

    def close(self) -> None:
        self._hook.remove()
        self.write()

    def _forward(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self.model.training:
            return  # evaluation is no training step
        ids = kwargs.get("input_ids", args[0] if args else None)
        if isinstance(ids, Tensor) and ids.ndim == 2:
            self._shapes.append((ids.shape[0], ids.shape[1]))
            mask = kwargs.get("attention_mask")
            per_row = mask.sum(dim=1) if isinstance(mask, Tensor) and mask.ndim == 2 else None
            self._real.append(per_row)  # stays on the device until a record is written

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _record(self, steps: list[Any]) -> dict[str, Any]:
        slots = [sum(rows * width for rows, width in shapes) for _, _, shapes, _ in steps]
        pairs = [sum(rows * width**2 for rows, width in shapes) for _, _, shapes, _ in steps]
        real = [_real_tokens(shapes, masks) for _, _, shapes, masks in steps]
        shapes = steps[0][2]
        config = getattr(self.model, "config", None)
        checkpointing = recomputes(self.model)
        return {
            "kind": "cell",
            "source": self.source,
            "run": self.run,
            "status": "ok",
            "error": None,
            "model_fingerprint": _fingerprint(self.model),
            "model": {"name": getattr(config, "model_type", type(self.model).__name__)},
            "data": "unknown",
            "data_fingerprint": "unknown",
            "layout": "padded",
            "rows": shapes[0][0],
            "accumulation": len(shapes),
            "data_parallel": 1,
            "checkpointing": checkpointing,
            "precision": str(next(self.model.parameters()).dtype).removeprefix("torch."),
            "warmup_steps": 0 if self._written else 1,
            "steps": len(steps),
            "micro_batches": sum(len(shapes) for _, _, shapes, _ in steps),
            "documents": sum(rows for _, _, shapes, _ in steps for rows, _ in shapes),
            "real_tokens": sum(tokens for tokens, _ in real),
            "slots": sum(slots),
            "target_tokens": None,
            "real_pairs": sum(squares for _, squares in real),
            "slot_pairs": sum(pairs),
            "seconds": sum(seconds for seconds, *_ in steps),
            "step_seconds": [seconds for seconds, *_ in steps],
            "step_slots": slots,
            "step_slot_pairs": pairs,
            "input_seconds": sum(waited for _, waited, *_ in steps),
            "peak_bytes": _peak_bytes(self.device),
            "environment": records.environment(),
        }


@contextlib.contextmanager
def watch(
    model: nn.Module, optimizer: torch.optim.Optimizer, path: str | Path, *, every: int = 50
) -> Iterator[Watch]:
    """Record a loop of your own while it runs; what was seen is written even if the loop fails."""
    if every < 1:
        raise ValueError(f"every must be at least 1 step, got {every}")
    one = Watch(model, path, every=every, source="monitor")
    hook = optimizer.register_step_post_hook(lambda *_: one.stepped())
    try:
        yield one
    finally:
        hook.remove()
        one.close()


def callback(path: str | Path, *, every: int = 50) -> Any:
    """A callback for transformers' Trainer that records its steps for `doctor`."""
    from transformers import TrainerCallback

    class Recorder(TrainerCallback):
        """Times the steps of a Trainer, and what lies between them: waiting for input."""

        watch: Watch | None = None
        ended = 0.0

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.watch = Watch(kwargs["model"], path, every=every, source="trainer")
            self.ended = time.perf_counter()

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.watch:
                self.watch.waited(time.perf_counter() - self.ended)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.watch:
                self.watch.stepped()
                self.ended = time.perf_counter()

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.watch:
                self.watch.close()

    return Recorder()


def _real_tokens(shapes: list[tuple[int, int]], masks: list[Any]) -> tuple[int, int]:
    """Real tokens and real pairs of one step; without a mask every slot counts as real."""
    tokens = pairs = 0
    for (rows, width), per_row in zip(shapes, masks, strict=True):
        if per_row is None:
            tokens, pairs = tokens + rows * width, pairs + rows * width**2
        else:
            tokens, pairs = tokens + int(per_row.sum()), pairs + int((per_row.long() ** 2).sum())
    return tokens, pairs


def _fingerprint(model: nn.Module) -> str:
    """Equal for models of equal shape; the weights do not matter to time."""
    sizes = [tuple(p.shape) for p in model.parameters()]
    return f"{type(model).__name__}-{sum(p.numel() for p in model.parameters())}-{len(sizes)}"


def _peak_bytes(device: torch.device) -> int | None:
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None

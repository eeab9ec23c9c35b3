"""Gather gradient norms from a running loop, and give the noise scale behind them.

    backward passes, optimizer steps  ->  readings  ->  NoiseScale, in all and by group

For `loop.train_step`, any loop of your own, and Trainer:

    with noise.norms.Tracker(model, optimizer) as tracker:
        ...                                     # train as you did
        print(tracker.estimate())

`Trainer(..., callbacks=[noise.norms.callback()])` does the same. A step needs two pieces: two or
more micro-batches, or several processes under DDP or FSDP2. No second copy of the gradients is
held, and nothing waits for the device until an estimate is asked for.

What counts is that the step's gradient is the *sum* of what its backward passes made, as it is
wherever losses are divided before `backward`: with h_k of them, K sum |h_k|^2 is the small norm. It
needs no token counts. Own means of micro-batches weighted by their tokens would miss the noise that
unequal lengths add.
"""

from collections import Counter, deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn

from batchlab.noise._formula import NoiseScale, from_norms
from batchlab.noise._shards import ShardTaps, is_sharded
from batchlab.noise._taps import Taps, sequences_of, widest
from batchlab.units import whole

__all__ = ["Tracker", "callback"]

CHANGED = {torch.float32: 1e-3, torch.float64: 1e-3}  # share of the probe that no factor explains
CHANGED_NARROW = 0.05  # bf16 and fp16 sums differ by rounding alone
Sum = Callable[[Tensor], Tensor]


class Tracker:
    """Hears backward passes and optimizer steps; keeps the last `window` readings.

    every               measure one step of so many; the others cost nothing
    window              readings kept: a stretch of training in which the loss hardly moves
    groups              name of a parameter -> its group; without it, one total
    sequences           of a micro-batch, where the model takes no input_ids
    scaler              the GradScaler of fp16, whose scale is divided out
    sum_over_processes  sums a tensor over processes, as in `loop.train_step`; DDP and FSDP2 bring
                        their own
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: Any,
        *,
        every: int = 1,
        window: int = 200,
        groups: Callable[[str], str] | None = None,
        sequences: int | None = None,
        scaler: torch.amp.GradScaler | None = None,
        sum_over_processes: Sum | None = None,
    ) -> None:
        self.every, self.window = whole(every, "every"), whole(window, "window", 2)
        self.sequences = None if sequences is None else whole(sequences, "sequences")
        self.scaler, self.steps = scaler, 0
        self.left_out: Counter[str] = Counter()
        self._taps = _taps(model, groups)
        self._sum, self._divided_by = _processes(model, self._taps, sum_over_processes)
        weights = self._taps.parameters
        self._identity = [len(weights), sum(p.numel() for p in weights), *self._taps.groups]
        self._tolerance = max(CHANGED.get(p.dtype, CHANGED_NARROW) for p in self._taps.probe)
        self._unread: list[Tensor] = []
        self._readings: deque[list[float]] = deque(maxlen=self.window)
        self._documents: list[Tensor | int] = []
        real = getattr(optimizer, "optimizer", optimizer)  # accelerate's wrapper has no hooks
        self._hooks = [real.register_step_pre_hook(lambda *_: self._stepping())]
        if sequences is None:
            hook = model.register_forward_pre_hook(self._forward, with_kwargs=True)
            self._hooks.append(hook)
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def groups(self) -> tuple[str, ...]:
        """Names that `estimate` takes, beside the total."""
        return self._taps.groups

    def estimate(self, group: str | None = None, *, confidence: float = 0.95) -> NoiseScale:
        """Return the noise scale of the readings in the window: in all, or of one group.

        Refused without readings, with the reason: nobody can tell noise from signal by one piece.
        """
        self._read()
        if group is not None and group not in self.groups:
            raise ValueError(f"unknown group {group!r}; there are {', '.join(self.groups)}")
        if not self._readings:
            raise ValueError(f"no noise scale: {self._why()}")
        wanted = range(len(self.groups)) if group is None else [self.groups.index(group)]
        small, big, few, many = [], [], [], []
        for squares, sums, batch, share in map(self._split, self._readings):
            small.append(sum(squares[i] for i in wanted) / share)
            big.append(sum(sums[i] for i in wanted))
            few.append(share * batch)
            many.append(batch)
        return from_norms(small, big, small_batch=few, big_batch=many, confidence=confidence)

    def _split(self, reading: list[float]) -> tuple[list[float], list[float], float, float]:
        count = len(self.groups)
        return reading[:count], reading[count : 2 * count], reading[-2], reading[-1]

    def clear(self) -> None:
        """Forget the readings: after a jump of the loss they are of another distribution."""
        self._read()
        self._readings.clear()

    def state_dict(self) -> dict[str, Any]:
        """Plain data: readings, counters, and whose they are."""
        self._read()
        return {"identity": self._identity, "steps": self.steps, "left_out": dict(self.left_out),
                "readings": [list(one) for one in self._readings]}  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where a run was saved; the state of another model or of other groups is refused.

        Readings and counters are the state's; `every`, `window` and the other options are this
        tracker's, since each reading says how many sequences it is of.
        """
        if state["identity"] != self._identity:
            raise ValueError(
                f"this is the state of another run: {state['identity']} (parameters, values, "
                f"groups), here {self._identity}"
            )
        self.steps, self.left_out = state["steps"], Counter(state["left_out"])
        self._readings = deque(map(list, state["readings"]), maxlen=self.window)
        self._unread = []
        self._begin()

    def close(self) -> None:
        """Take all hooks off; what was read stays."""
        self._read()
        for hook in self._hooks:
            hook.remove()
        self._taps.close()

    def _forward(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._taps.active and self._model.training and torch.is_grad_enabled():
            self._documents.append(sequences_of(args, kwargs))

    def _stepping(self) -> None:
        """The optimizer is about to step: one reading, if this step is measured."""
        if self._taps.active and self._taps.pieces:
            reading = self._reading()
            if reading is not None:
                self._unread.append(reading)
        if len(self._unread) >= self.window:
            self._read()
        self.steps += 1
        self._begin()

    def _begin(self) -> None:
        self._taps.active = self.steps % self.every == 0
        self._taps.clear()
        self._documents = []

    def _reading(self) -> Tensor | None:
        """Everything about this step in one tensor on the device; None where it cannot be told."""
        batches = self._batches()
        if batches is None:
            self.left_out["forward and backward passes that do not pair"] += 1
            return None
        device = self._taps.probe[0].device
        wide = widest(device)
        sizes = torch.stack([torch.as_tensor(b).to(device, wide) for b in batches])
        counted = torch.stack([sizes.sum(), sizes.square().sum()])
        small, big, miss, counted = self._taps.read(counted, self._sum)
        many, squares = counted
        unit = (self._scale(device, wide) * self._divided_by) ** 2
        share = squares / many.square()
        return torch.cat([small / unit, big / unit, torch.stack([miss, many, share])])

    def _batches(self) -> list[Tensor | int] | None:
        """Sequences of each piece; None where it is unclear which belong together."""
        pieces = self._taps.pieces
        if self.sequences is not None:
            return [self.sequences] * pieces
        if pieces == 1 and len(self._documents) > 1:  # losses that were added before one backward
            return [sum(self._documents[1:], start=self._documents[0])]
        return self._documents if len(self._documents) == pieces else None

    def _scale(self, device: torch.device, wide: torch.dtype) -> Tensor:
        scale = 1.0 if self.scaler is None else self.scaler.get_scale()
        return torch.tensor(scale, device=device, dtype=wide)

    def _read(self) -> None:
        """Fetch what lies on the device: the only wait."""
        if not self._unread:
            return
        for reading in torch.stack(self._unread).tolist():
            miss, batch, share = reading[-3:]
            if not all(map(_finite, reading)):
                self.left_out["norms that are not finite"] += 1
            elif share > 1 - 1e-9:
                self.left_out["one micro-batch only"] += 1
            elif miss > self._tolerance:
                self.left_out["gradients changed by more than one factor"] += 1
            else:
                self._readings.append([*reading[:-3], batch, share])
        self._unread = []

    def _why(self) -> str:
        if not self.left_out:
            return "no optimizer step was seen after a backward pass"
        said = "; ".join(f"{n:,} steps had {what}" for what, n in self.left_out.items())
        if "one micro-batch only" in self.left_out:
            said += ": its norm and that of the step are the same, so two micro-batches are needed"
        return said


def callback(**options: Any) -> Any:
    """Return a callback for transformers' Trainer; `.tracker` is there from the first step on.

    `options` are those of Tracker. Its state is saved with every checkpoint and restored where the
    Trainer runs with restore_callback_states_from_checkpoint.
    """
    from transformers import TrainerCallback
    from transformers.trainer_callback import ExportableState

    class Listener(TrainerCallback, ExportableState):
        """One Tracker, from the first step of a training to its last."""

        tracker: Tracker | None = None
        saved: dict[str, Any] | None = None

        def state(self) -> dict[str, Any]:
            saved = self.saved if self.tracker is None else self.tracker.state_dict()
            return {"args": {}, "attributes": {"saved": saved}}

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            how = dict(options)
            if args.world_size > 1:
                how.setdefault("sum_over_processes", _all_reduce)
            self.tracker = Tracker(kwargs["model"], kwargs["optimizer"], **how)
            if args.world_size > 1:
                self.tracker._divided_by = args.world_size  # DDP's mean over processes
            if self.saved is not None:
                self.tracker.load_state_dict(self.saved)

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.tracker:
                self.tracker._begin()  # a step that was skipped leaves nothing to the next

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.tracker:
                self.tracker.close()

    return Listener()


def _taps(model: nn.Module, groups: Callable[[str], str] | None) -> Taps | ShardTaps:
    if not is_sharded(model):
        return Taps(model, groups or (lambda _: "total"))
    if groups is not None:
        raise ValueError("under FSDP norms are read for all parameters together: give no groups")
    return ShardTaps(model)


def _processes(
    model: nn.Module, taps: Taps | ShardTaps, given: Sum | None
) -> tuple[Sum | None, int]:
    """How to sum over processes, and by how much the wrapper divides their gradients."""
    wrapped = isinstance(model, nn.parallel.DistributedDataParallel)
    group: Any = model.process_group if wrapped else getattr(taps, "process_group", None)
    if group is None:
        return given, 1

    def summed(tensor: Tensor) -> Tensor:
        torch.distributed.all_reduce(tensor, group=group)
        return tensor

    return summed, torch.distributed.get_world_size(group)


def _all_reduce(tensor: Tensor) -> Tensor:
    torch.distributed.all_reduce(tensor)
    return tensor


def _finite(value: float) -> bool:
    return abs(value) < float("inf")

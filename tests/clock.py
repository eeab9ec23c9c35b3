"""A clock of our own for real loops: a second passes when a script says so, on any machine."""

import torch

from batchlab import counts, model, timing
from batchlab.monitor import _clock, _probe


class Clock:
    """Stands where `time` stands in the modules that measure a loop."""

    def __init__(self):
        self.wall = self.process = 0.0

    def perf_counter(self):
        return self.wall

    def process_time(self):
        return self.process

    def work(self, seconds):
        self.wall += seconds
        self.process += seconds

    def sleep(self, seconds):
        """The process does not run."""
        self.wall += seconds


class Machine:
    """A small model and its optimizer on a machine whose prices are known."""

    def __init__(self, monkeypatch, *, fixed=0.002, slot=40e-6, pair=50e-9, update=0.0003):
        self.clock = Clock()
        for module in (_clock, _probe, timing):
            monkeypatch.setattr(module, "time", self.clock)
        self.net = model.small(32, hidden=16, heads=2, layers=1)
        self.net.register_forward_hook(self._passes, with_kwargs=True)
        self.prices, self.update = (fixed, slot, pair), update
        self.luck = torch.Generator().manual_seed(0)
        machine = self

        class SGD(torch.optim.SGD):
            def step(self, closure=None):
                machine.clock.work(machine.update)
                return super().step(closure)

        self.optimizer = SGD(self.net.parameters(), lr=0.01)

    def _passes(self, net, args, kwargs, _):
        """Forward and backward of one micro-batch, 3 % up or down."""
        held = counts.of(kwargs)
        fixed, slot, pair = self.prices
        seconds = fixed + slot * held.slots + pair * held.slot_pairs
        if not net.training:
            seconds /= 3
        elif model.recomputes(net):
            seconds *= 4 / 3
        self.clock.work(seconds * (1 + 0.03 * float(torch.randn((), generator=self.luck))))


def batch(rows, width, lengths=None):
    """Rows of tokens, padded to a width."""
    ids = torch.ones(rows, width, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths or [width] * rows):
        mask[row, :length] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": ids}

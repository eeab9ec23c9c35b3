"""Odd training loops, each from a seed: models, labels, outputs, faults of their own, bad files.

    seed  ->  what a loop left: losses, weights, random state, and how it ended

A loop takes a `watcher` around it; the same seed with and without a recorder are twins.
"""

import contextlib
import copy
import gc
import io
import random
import shutil
import traceback
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

ROWS, SLOTS, WORDS = 3, 6, 16
Pair = namedtuple("Pair", "loss logits")


@dataclass
class Output:
    loss: torch.Tensor
    logits: torch.Tensor


class Odd:
    """An output that is nothing known."""

    def __init__(self, loss, logits):
        self.loss, self.inside = loss, {"deep": [logits]}
        self.me = self


class Hostile:
    """An argument that answers no question."""

    def __getattr__(self, name):
        raise RuntimeError(f"do not ask for {name}")

    def __bool__(self):
        raise RuntimeError("neither true nor false")


OUTPUTS = {
    "tuple": lambda loss, logits: (loss, logits),
    "dict": lambda loss, logits: {"loss": loss, "logits": logits},
    "dataclass": Output,
    "named tuple": Pair,
    "odd": Odd,
    "list of lists": lambda loss, logits: [[loss], [logits]],
    "loss": lambda loss, logits: loss,
}


def loss_in(found):
    while not isinstance(found, torch.Tensor):
        if isinstance(found, dict):
            found = found["loss"]
        else:
            found = found.loss if hasattr(found, "loss") else found[0]
    return found


class Breaks(torch.autograd.Function):
    """Fails on the way back."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("the backward pass of the user")


class Net(nn.Module):
    """A tiny model that is called in every way and answers in any."""

    def __init__(self, pick):
        super().__init__()
        self.embed, self.head = nn.Embedding(WORDS, 4), nn.Linear(4, WORDS)
        self.drop = nn.Dropout(pick.choice([0.0, 0.3]))
        self.output = OUTPUTS[pick.choice(list(OUTPUTS))]
        self.nested, self.recomputes = pick.random() < 0.2, pick.random() < 0.2
        self.reentrant = pick.random() < 0.5
        self.breaks = None
        if pick.random() < 0.3:
            self.config = pick.choice([object(), {"use_cache": True}, None, Hostile()])

    def forward(self, input_ids=None, labels=None, use_cache=None, past_key_values=None, **more):
        if isinstance(input_ids, dict):
            input_ids = input_ids["input_ids"]
        if self.breaks == "forward":
            raise LookupError("the forward pass of the user")
        if self.breaks == "interrupt":
            raise KeyboardInterrupt("the user")
        x = self.embed(input_ids) if not input_ids.is_floating_point() else input_ids[..., None]
        if x.shape[-1] == 1:
            x = x.expand(*x.shape[:-1], 4) + self.embed.weight.mean()
        if self.nested and not more.get("inside"):
            x = x + loss_in(self(input_ids, inside=True)) * 0.1
        if self.recomputes:
            logits = checkpoint(self.head, self.drop(x), use_reentrant=self.reentrant)
        else:
            logits = self.head(self.drop(x))
        if self.breaks == "backward":
            logits = Breaks.apply(logits)
        return self.output(logits.float().pow(2).mean(), logits)

    def generate(self, ids, cached):
        with torch.no_grad():
            for _ in range(3):
                kwargs = {"use_cache": True, "past_key_values": object()} if cached else {}
                self(ids[:, -1:] if cached else ids, **kwargs)


LABELS = {
    "none": lambda: None,
    "tokens": lambda: torch.randint(0, WORDS, (ROWS, SLOTS)),
    "classes": lambda: torch.randint(0, 2, (ROWS,)),
    "column": lambda: torch.rand(ROWS, 1),
    "many": lambda: torch.rand(ROWS, 5),
    "cube": lambda: torch.rand(ROWS, 2, 2),
    "scalar": lambda: torch.tensor(1),
    "nothing": lambda: torch.zeros(0),
    "texts": lambda: ["yes", "no", "yes"],
    "nested": lambda: {"a": torch.ones(2), "b": [1]},
    "hostile": Hostile,
}
EXTRAS = {
    "nothing": dict,
    "mask": lambda: {"attention_mask": torch.ones(ROWS, SLOTS)},
    "short mask": lambda: {"attention_mask": torch.ones(ROWS, 2)},
    "mask of heads": lambda: {"attention_mask": torch.ones(ROWS, 1, SLOTS, SLOTS)},
    "dict of masks": lambda: {"attention_mask": {"full": None}},
    "positions": lambda: {"position_ids": torch.zeros(3, ROWS, SLOTS).long()},
    "restarts": lambda: {"position_ids": torch.tensor([[0, 1, 2, 0, 1, 0]])},
    "few positions": lambda: {"position_ids": torch.tensor([[0, 1]])},
    "borders": lambda: {"cu_seq_lens_q": torch.tensor([0, 99])},
    "decoder": lambda: {"decoder_input_ids": torch.ones(ROWS, 2).long()},
    "decoder of texts": lambda: {"decoder_input_ids": "odd", "row_tokens": 3},
}


def inputs(pick):
    """Positional and named arguments of a call."""
    ids = torch.randint(0, WORDS, (ROWS, SLOTS))
    ids = {"ids": ids, "one": ids[0], "cube": ids[..., None].expand(-1, -1, 2), "empty": ids[:0],
           "floats": torch.rand(ROWS, SLOTS)}[pick]  # fmt: skip
    return ids


class Batches:
    """A loader with a length, a name of its own, and perhaps an end that is a fault."""

    name = "mine"

    def __init__(self, steps, fails):
        self.steps, self.fails = steps, fails

    def __len__(self):
        return self.steps

    def __iter__(self):
        for step in range(self.steps):
            if step == self.fails:
                raise OSError("the loader of the user")
            yield step


def run(seed, watcher, folder):
    """One loop of this seed; what it left, as plain values."""
    pick = random.Random(seed)
    torch.manual_seed(seed)
    nets = [Net(pick) for _ in range(pick.choice([1, 1, 1, 2]))]
    kinds = [torch.optim.SGD, torch.optim.AdamW, torch.optim.LBFGS]
    optimizers = [pick.choice(kinds)(net.parameters(), lr=0.01) for net in nets]
    odd = [folder, "/dev/full", "/proc/none/run.jsonl"]
    path = pick.choice([folder / "a" / "run.jsonl"] * 4 + odd)
    options = {"every": pick.randint(1, 4), "probe": pick.random() < 0.2}
    loop = Loop(pick, nets, optimizers, folder)
    how = "ended"
    try:
        with contextlib.ExitStack() as stack:
            heard = [
                stack.enter_context(watcher(net, optimizer, path, **options))
                for net, optimizer in zip(nets, optimizers, strict=True)
            ]
            loop.train(heard[0])
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        how = (type(error).__name__, str(error), last.name, last.lineno)
    left = [one.detach().clone() for net in nets for one in net.parameters()]
    return how, loop.losses, left, torch.get_rng_state(), random.getstate()


class Loop:
    """Steps in an order that only the seed knows."""

    def __init__(self, pick, nets, optimizers, folder):
        self.pick, self.nets, self.optimizers, self.folder = pick, nets, optimizers, folder
        self.losses = []
        self.ids = pick.choice(["ids"] * 5 + ["one", "cube", "floats", "empty"])
        self.labels = LABELS[pick.choice(list(LABELS))]
        self.extra = EXTRAS[pick.choice(list(EXTRAS))]
        self.way = pick.choice(["named", "plain", "dict", "both"])
        self.mode = pick.choice(["train", "train", "eval"])
        self.steps = pick.randint(2, 7)
        self.fault = pick.choice([None, None, "forward", "backward", "interrupt", "loader", "step"])
        self.at = pick.randint(0, self.steps)
        self.caught = pick.random() < 0.4

    def train(self, watch):
        loader = Batches(self.steps, self.at if self.fault == "loader" else None)
        seen = watch(loader)
        assert len(seen) == self.steps and seen.name == "mine"
        for step in seen:
            for net in self.nets:
                net.train(self.mode == "train")
                net.breaks = self.fault if step == self.at else None
            try:
                self.step(step, watch)
            except (LookupError, ArithmeticError):
                if not self.caught:
                    raise
            self.between(watch)

    def call(self, net):
        ids = inputs(self.ids)
        named = {"labels": self.labels(), **self.extra()}
        if self.way == "named":
            return net(input_ids=ids, **named)
        if self.way == "dict":
            return net({"input_ids": ids, **named})
        return net(ids) if self.way == "plain" else net(ids, **named)

    def step(self, step, watch):
        for _ in range(self.pick.choice([1, 1, 2, 3])):
            for net in self.nets:
                loss = loss_in(self.call(net))
                if self.pick.random() < 0.1:
                    loss.mul_(2.0) if self.pick.random() < 0.5 else copy.copy(net)
                if self.pick.random() < 0.1:
                    torch.autograd.grad(loss, net.head.bias, retain_graph=True)
                if self.pick.random() < 0.8:
                    loss.backward(retain_graph=self.pick.random() < 0.1)
                self.losses.append(loss.item() if loss.numel() == 1 else 0.0)
        for net, optimizer in zip(self.nets, self.optimizers, strict=True):
            if self.fault == "step" and step == self.at:
                optimizer.param_groups[0]["lr"] = "broken"
            self.update(net, optimizer)

    def update(self, net, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = loss_in(self.call(net))
            loss.backward()
            return loss

        if isinstance(optimizer, torch.optim.LBFGS) or self.pick.random() < 0.2:
            optimizer.step(closure)
        else:
            optimizer.step()
        if self.pick.random() < 0.8:
            optimizer.zero_grad()

    def between(self, watch):
        net, chance = self.nets[0], self.pick.random()
        if chance < 0.1:
            net.generate(torch.randint(0, WORDS, (ROWS, SLOTS)), self.pick.random() < 0.5)
        elif chance < 0.2:
            net.eval()
            self.call(net)
        elif chance < 0.3:
            twin = copy.deepcopy(net).train()
            loss_in(self.call(twin)).backward()
        elif chance < 0.4 and not isinstance(getattr(net, "config", None), Hostile | object):
            file = io.BytesIO()
            torch.save(net, file)
            file.seek(0)
            self.losses.append(torch.load(file, weights_only=False).head.bias.sum().item())
        elif chance < 0.5:
            shutil.rmtree(self.folder / "a", ignore_errors=True)
        elif chance < 0.6:
            gc.collect()
        elif chance < 0.7:
            with watch.part(self.pick.choice(["saving", "evaluation", "coffee"])):
                if self.pick.random() < 0.3:
                    raise LookupError("the part of the user")
        elif chance < 0.8:
            with torch.no_grad():
                self.call(net)

"""The world of lesson 13's meter: rows with planted gradients, a model with a bias, two steps.

    target tokens of each row  ->  micro-batches, a model, a step that trains it

Words
    row      given as its target tokens; a row of 0 is padding from end to end
    window   the micro-batches of one optimizer step, each a list of rows
    poison   a row that makes the gradient of its micro-batch nan
    huge     a row whose gradient is finite, and its square is not; nor is its loss infinite
    counter  a row whose gradient is that of a huge one with the other sign
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import loop
from batchlab.classroom.probes.bigram import RATE, VOCABULARY, Counting
from batchlab.counts import IGNORE

__all__ = ["COUNTER", "HUGE", "POISON", "Biased", "Window", "careful_step", "made",
           "micro_batch", "take_step", "targets", "windows_of"]  # fmt: skip

Window = Sequence[Sequence[int]]
POISON, HUGE, COUNTER = -1, -2, -3
TARGETS = 3  # of such a row
LONG, LONGER, LONGEST = 10, 12, 14  # slots: longer ones skip the bias; are huge; are counters


def micro_batch(rows: Sequence[int], seed: int) -> dict[str, Tensor]:
    """A micro-batch of rows with so many targets each; the last token poisons."""
    alike = list(rows) in ([HUGE], [COUNTER])  # the same tokens, so that both add up to nothing
    draw = torch.Generator().manual_seed(7000 + (0 if alike else seed))
    least = LONGEST if COUNTER in rows else LONGER if HUGE in rows else 4
    length = 1 + max([least, *rows])
    input_ids = torch.randint(VOCABULARY - 1, (len(rows), length), generator=draw)
    labels = input_ids.clone()  # the first label of a row is never read, and is no IGNORE here
    for row, targets in enumerate(rows):
        if targets == POISON:
            input_ids[row, 0] = VOCABULARY - 1
        labels[row, 1 + (TARGETS if targets < 0 else targets) :] = IGNORE
    # a row without targets has real tokens, too: a prompt alone, of which the mask says nothing
    held = torch.tensor([1 + (TARGETS if one < 0 else max(one, 2)) for one in rows])
    mask = (torch.arange(length) < held[:, None]).long()
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


def targets(micro: dict[str, Tensor]) -> int:
    """How many tokens of a micro-batch the loss counts."""
    return int((micro["labels"][:, 1:] != IGNORE).sum())


def take_step(
    model: Any, optimizer: Any, schedule: Any, micro_batches: list[Any], max_norm: float
) -> float:
    """The step of lesson 05: one optimizer step over all micro-batches, clipped at the end."""
    tokens = sum(targets(micro) for micro in micro_batches)
    loss = 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loop.summed_loss(loop.logits_of(model, micro), micro["labels"]) / tokens
        part.backward()
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss


def careful_step(
    model: Any, optimizer: Any, schedule: Any, micro_batches: list[Any], max_norm: float
) -> float:
    """A step that leaves the weights alone where the gradient is not finite, and clears up."""
    tokens = sum(targets(micro) for micro in micro_batches)
    loss = 0.0
    for micro in micro_batches:
        part = loop.summed_loss(loop.logits_of(model, micro), micro["labels"]) / tokens
        part.backward()
        loss += part.item()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    if torch.isfinite(norm):
        optimizer.step()
    optimizer.zero_grad()
    schedule.step()
    return loss


class Biased(Counting):
    """The bigram model with a bias, which micro-batches of more than LONG slots do not use.

    loud    how many times the gradient of the bias is added to it, its value unchanged
    quiet   what every gradient is multiplied with, no value changed
    shapes  a number, a cube and four dimensions learn beside vector and tables
    """

    def __init__(self, loud: float, quiet: float = 1.0, shapes: bool = False) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-0.4, 0.7, VOCABULARY, dtype=torch.double))
        self.tied = self.bias  # one parameter under two names, as weights are tied
        self.loud, self.quiet, self.more = loud, quiet, nn.ParameterList()
        if shapes:
            for shape in ((), (2, 3, 2), (3, 1, 2, 2)):
                filled = torch.full(shape, 1.5, dtype=torch.double)
                self.more.append(nn.Parameter(filled))

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        logits = self._logits(input_ids)
        return logits.detach() + self.quiet * (logits - logits.detach())

    def _logits(self, input_ids: Tensor) -> Tensor:
        logits = super().forward(input_ids)
        if len(self.more):
            gain, cube, four = self.more
            logits = gain * logits + cube.flatten() + 2 * four.flatten()
        slots = input_ids.shape[1]
        if LONG < slots <= LONGER:
            return logits
        huge = 1e200 if slots <= LONGEST else -1e200
        loud = huge if slots > LONGER else self.loud
        return logits + self.bias + loud * (self.bias - self.bias.detach())


def made(
    frozen: bool, loud: float = 0.0, quiet: float = 1.0, shapes: bool = False
) -> tuple[Biased, Any, Any]:
    """A model, plain gradient descent, and a schedule that changes nothing."""
    model = Biased(loud, quiet, shapes)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    with torch.no_grad():
        model.embedding[VOCABULARY - 1] = torch.nan  # met by poisoned rows only
    model.embedding.requires_grad_(not frozen)
    return model, optimizer, schedule


def windows_of(windows: Sequence[Window]) -> list[list[dict[str, Tensor]]]:
    """Micro-batches of windows that are given as the target tokens of each row."""
    return [
        [micro_batch(rows, 100 * w + k) for k, rows in enumerate(window)]
        for w, window in enumerate(windows)
    ]

"""Is my accumulation exact? The same documents in one piece and in several, and what differs.

    a step function or a Trainer's training_step, documents  ->  Comparison

A step over micro-batches should be the step of all their documents in one piece. Whether it is, the
gradient at the update says, before any loss curve does: some wrong gradients have a perfect one.

Words
    piece  one micro-batch of the split; the pieces hold unequal numbers of documents
    whole  all documents in one micro-batch
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import torch
from torch import nn

from batchlab import batches, counts
from batchlab.counts import IGNORE, MicroBatch
from batchlab.loop import _mistakes as mistakes
from batchlab.loop._comparison import Comparison
from batchlab.loop._forward import logits_of, summed_loss
from batchlab.loop._observed import Gradient, Observed, Step, distance, products

__all__ = ["compare_splits"]

Collate: TypeAlias = Callable[[Sequence[Any]], MicroBatch]

PIECES = 4
DRAWS = 1e-4  # two runs of one piece differ by more only if something is drawn at random
SAME_LOSS = 0.05  # from the mean over target tokens; bfloat16 alone gives up to 0.02


def compare_splits(
    step: Callable[..., object],
    documents: Sequence[Any],
    *,
    model: nn.Module | None = None,
    collate: Collate | None = None,
    pieces: int | None = None,
    ranks: int | None = None,
) -> Comparison:
    """Say whether a step is the same in one piece and in several, and which mistake it is if not.

    step       a function of a list of micro-batches that leaves gradients on `model` or updates it
               with a torch optimizer; or the bound `training_step` of a transformers Trainer
    documents  as many as the pieces can be unequal with: at least 1 more than there are pieces
    model      what the step trains; a Trainer has its own
    collate    makes a micro-batch of documents: by default `batches.padded`, of a Trainer its own
    pieces     of the split: by default the accumulation of the Trainer if above 1, else 4. A step
               that divides by a fixed accumulation needs just as many
    ranks      how many the step believes in: by default those of torch.distributed, else 1

    All documents pass 6 times; 5 + `pieces` gradients are held on the CPU, the weights twice where
    they are. No weight is updated; weights, buffers, gradients, modes and random numbers are put
    back. What else a step keeps (the log of a Trainer, a schedule) has moved on.

    >>> import torch
    >>> from batchlab import model
    >>> from batchlab.loop import train_step
    >>> small = model.small(32, hidden=8, heads=2, layers=1)
    >>> optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    >>> documents = [[1 + i % 30 for i in range(n)] for n in (3, 9, 5, 14, 2, 7)]
    >>> compare_splits(lambda pieces: train_step(small, optimizer, pieces), documents,
    ...                model=small, pieces=3).exact
    True
    """
    trainer = _trainer_of(step)
    model = trainer.model if model is None and trainer is not None else model
    if model is None:
        raise ValueError("give model=, the one that this step trains")
    if pieces is None:
        own = trainer.args.gradient_accumulation_steps if trainer is not None else PIECES
        pieces = own if own > 1 else PIECES
    sizes = unequal(len(documents), pieces)
    if collate is None:
        collate = _padded if trainer is None else trainer.data_collator
    split = _split(documents, sizes, collate)
    whole = collate(list(documents))
    run = _on(model, step) if trainer is None else _through(trainer)
    with Observed(model) as observed:
        return _compared(observed, run, whole, split, sizes, ranks or _world())


def unequal(documents: int, pieces: int) -> list[int]:
    """Documents of each piece: all different from their mean where that is possible.

    >>> unequal(12, 4), unequal(5, 4)
    ([1, 2, 4, 5], [1, 1, 1, 2])
    """
    if pieces < 2:
        raise ValueError(f"a split needs at least 2 pieces, got {pieces}")
    if documents <= pieces:
        raise ValueError(
            f"{pieces} unequal pieces need at least {pieces + 1} documents, got {documents}"
        )
    total, spare = pieces * (pieces - 1) // 2, documents - pieces
    ends = [spare * (i * (i + 1) // 2) // total for i in range(pieces)]
    before = [0, *ends[:-1]]
    return [1 + end - start for start, end in zip(before, ends, strict=True)]


def _compared(
    observed: Observed,
    run: Step,
    whole: MicroBatch,
    split: list[MicroBatch],
    sizes: list[int],
    ranks: int,
) -> Comparison:
    tokens, counted = _counted(split, sizes)
    in_one = observed.gradient(run, [whole])
    draws = _draws(observed, run, whole, in_one)
    in_pieces = observed.gradient(run, split)
    lengths = products([in_pieces, in_one]).diagonal() ** 0.5
    seen = Comparison(
        documents=tuple(sizes),
        target_tokens=tokens,
        difference=distance(in_pieces, in_one),
        length=float(lengths[0] / lengths[1]),
        rounding=draws,
        draws=draws,
    )
    if not seen.comparable:
        return seen
    free = [observed.gradient(run, some, shrunk=True) for some in (split, [whole])]
    alone = [observed.gradient(run, [piece], shrunk=True) for piece in split]
    mean = _mean_over_targets(observed, whole)
    scale = _scale(free[1], mean) if mean else None
    found = mistakes.find(
        products([*free, *alone]),
        mistakes.shares_of(counted),
        scale=mistakes.named_scale(scale, len(split), ranks),
        ranks=ranks,
        in_bf16=_is_bf16(in_pieces),
        of_bf16=all(one.dtype == torch.bfloat16 for one in in_pieces.values()),
    )
    names = found.mistakes
    if _clips_pieces(in_pieces, in_one, free, found):
        names = (*names, "clip per micro-batch")
    return replace(
        seen,
        rounding=found.rounding,
        scale=scale,
        mistakes=names,
        counted=found.counted,
        named=found.named,
    )


def _draws(observed: Observed, run: Step, whole: MicroBatch, in_one: Gradient) -> float:
    """What another run of the whole differs by; 0 if no random number moves it."""
    if not observed.random_moved():
        return 0.0
    apart = distance(observed.gradient(run, [whole], same_random=False), in_one)
    return apart if apart > DRAWS else 0.0


def _clips_pieces(
    split: Gradient, whole: Gradient, free: list[Gradient], found: mistakes.Found
) -> bool:
    """Whether clipping turns the gradient, or shortens it by another factor than in one piece.

    Clipping a finished sum only shortens it, down to the same norm however it was added.
    """
    inner = products([split, whole, *free])
    norms = inner.diagonal() ** 0.5
    cosine = inner[0, 2] / (norms[0] * norms[2])
    slack = max(found.tolerance, 1e-5)
    if 2 * (1 - cosine) > slack**2 + 1e-12:
        return True
    right = not found.mistakes and found.named
    return bool(right and abs(norms[0] / norms[1] - 1) > slack)


def _mean_over_targets(observed: Observed, whole: MicroBatch) -> Gradient | None:
    """The gradient of the mean loss over target tokens; None where the labels are no tokens."""
    config = getattr(observed.model, "config", None)
    if getattr(config, "is_encoder_decoder", False) or not _are_tokens(whole):
        return None

    def step(batches: Sequence[MicroBatch]) -> None:
        (batch,) = batches
        logits = logits_of(observed.model, batch)
        target = batch["labels"].to(logits.device)
        (summed_loss(logits, target) / counts.target_tokens(target)).backward()

    try:
        return observed.gradient(step, [whole], shrunk=True)
    except (AttributeError, TypeError, ValueError):  # not a model or a packing that the loop calls
        return None


def _scale(whole: Gradient, mean: Gradient) -> float | None:
    """How long the whole is for a mean over target tokens; None if it is another loss."""
    inner = products([whole, mean])
    cosine = inner[0, 1] / (inner[0, 0] * inner[1, 1]) ** 0.5
    same = 2 * (1 - cosine) <= SAME_LOSS**2
    return float(inner[0, 1] / inner[1, 1]) if same else None


def _counted(
    split: list[MicroBatch], sizes: list[int]
) -> tuple[tuple[int, ...] | None, dict[str, list[int]]]:
    """Target tokens of each piece, if labels are tokens, and all that a loss may count."""
    if not _are_tokens(split[0]):
        return None, {"documents": sizes}
    tokens = [int(counts.target_tokens(one["labels"])) for one in split]
    every = [int((one["labels"] != IGNORE).sum()) for one in split]
    return tuple(tokens), {"target tokens": tokens, "labels": every, "documents": sizes}


def _are_tokens(batch: MicroBatch) -> bool:
    ids, labels = batch.get("input_ids"), batch.get("labels")
    return ids is not None and labels is not None and labels.shape == ids.shape and ids.ndim == 2


def _is_bf16(gradient: Gradient) -> bool:
    return all(torch.equal(one, one.bfloat16().to(one.dtype)) for one in gradient.values())


def _split(documents: Sequence[Any], sizes: list[int], collate: Collate) -> list[MicroBatch]:
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    chosen = [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return [collate([documents[number] for number in numbers]) for numbers in chosen]


def _padded(documents: Sequence[Any]) -> MicroBatch:
    return batches.padded(documents, range(len(documents)))


def _on(model: nn.Module, step: Callable[..., object]) -> Step:
    """The step with its micro-batches on the device of the model."""
    device = next(model.parameters()).device

    def run(micro_batches: Sequence[MicroBatch]) -> object:
        return step([{name: one[name].to(device) for name in one} for one in micro_batches])

    return run


def _trainer_of(step: Callable[..., object]) -> Any:
    """The Trainer whose bound `training_step` this is, else None."""
    owner = getattr(step, "__self__", None)
    bound = inspect.ismethod(step) and step.__name__ == "training_step"
    return owner if bound and hasattr(owner, "get_batch_samples") else None


def _through(trainer: Any) -> Step:
    """What the loop of a Trainer does between two updates, clipping aside."""
    args, state = trainer.args, trainer.accelerator.gradient_state
    # transformers 5.2.0 to 5.5.3 hand the accumulation to accelerate, which divides by it again
    twice = 1 < args.gradient_accumulation_steps == trainer.accelerator.gradient_accumulation_steps

    def run(micro_batches: Sequence[MicroBatch]) -> None:
        kept, kwargs = args.gradient_accumulation_steps, dict(state.plugin_kwargs)
        number = len(micro_batches)
        args.gradient_accumulation_steps = number
        if twice:
            state.plugin_kwargs["num_steps"] = number
        try:
            given = iter([dict(one) for one in micro_batches])
            taken, items = trainer.get_batch_samples(given, number, args.device)
            trainer.current_gradient_accumulation_steps = len(taken)
            for one in taken:
                trainer.training_step(trainer.model, one, items)
        finally:
            args.gradient_accumulation_steps, state.plugin_kwargs = kept, kwargs

    return run


def _world() -> int:
    distributed = torch.distributed
    ready = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if ready else 1

"""The loss of one micro-batch as its share of the step's, in the form that `Trainer` calls."""

import numpy as np

from batchlab.exercises import By, Exercise


def share(outputs, labels, num_items_in_batch):
    """Return the part of the step's loss that this micro-batch brings, as a tensor.

    num_items_in_batch is the number of target tokens of the whole step.
    """
    import torch

    logits = outputs.logits[:, :-1].float()  # slot t predicts token t + 1
    told = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum"
    )
    return told / num_items_in_batch


NOTHING = -100


class Outputs(dict):
    """What a model returns: its parts by attribute and by key."""

    __getattr__ = dict.__getitem__


def scene(answer, labels, items, words=4, seed=None, dtype="float32", tensor=True, diverged=False):
    """The value of a micro-batch's share, and its gradient in the logits."""
    import torch

    told, wide = torch.tensor(labels), getattr(torch, dtype)
    many = (*told.shape, words)
    draw = torch.Generator().manual_seed(seed or 0)
    values = torch.zeros(many) if seed is None else 3 * torch.randn(many, generator=draw)
    if diverged:
        values[0, 0] = torch.nan
    logits = values.to(wide).requires_grad_()
    before = told.clone()
    loss = answer(Outputs(logits=logits), told, torch.tensor(items) if tensor else items)
    wrong = unusable(loss)
    if wrong:
        return {
            "what is returned": wrong,
            "the labels": "",
            "share of the loss": 0.0,
            "its gradient in the logits": np.zeros(many, np.float32),
        }
    if diverged:
        return {"share of the loss": float(loss)}
    loss.backward()
    grad = torch.zeros_like(logits) if logits.grad is None else logits.grad
    changed = "" if torch.equal(told, before) else "other values: work on a copy"
    return {
        "what is returned": "",
        "the labels": changed,
        "share of the loss": float(loss),
        "its gradient in the logits": grad.float().numpy(),
    }


def unusable(loss):
    """Why backward() cannot begin at what was returned, or nothing."""
    import torch

    if not isinstance(loss, torch.Tensor):
        return f"{type(loss).__name__}: backward() needs a tensor"
    if not loss.requires_grad:
        return "a tensor without a graph: backward() has no way back"
    return f"a tensor of shape {tuple(loss.shape)}: one value is needed" if loss.ndim else ""


def drawn(rng):
    for turn in range(10):
        rows, slots = int(rng.integers(1, 5)), int(rng.integers(2, 9))
        words = int(rng.integers(4, 12))
        labels = rng.integers(0, words, (rows, slots))
        labels[rng.random((rows, slots)) < 0.4] = NOTHING
        own = int((labels[:, 1:] != NOTHING).sum())
        items = own + int(rng.integers(1, 40))
        yield By(labels.tolist(), items, words=words, seed=turn + 1, tensor=bool(turn % 2))
    yield By([[NOTHING] * 3] * 2, 9, seed=3)
    yield By(labels.tolist(), 300, words=words, seed=5, dtype="bfloat16")
    yield By([[1, 2, 3]], 6, seed=6, diverged=True)


def asked(labels, items, words=4, seed=None, dtype="float32", tensor=True, diverged=False):
    own = sum(label != NOTHING for row in labels for label in row[1:])
    said = f"{own} targets here, {items} in the step, logits in {dtype}"
    if diverged:
        return f"{said}, those of slot 0 are nan"
    return said if len(str(labels)) > 60 else f"{said}; labels {labels}"


exercise = Exercise(
    share,
    points=1,
    diverges=True,
    hints=(
        "which logit predicts which label? The last slot predicts nothing that is here",
        'cross_entropy takes slots x words, and knows reduction="sum"',
        "the sum of the losses of this micro-batch, divided by num_items_in_batch",
    ),
    scene=scene,
    asked=asked,
    shown=[
        By([[0, 1, NOTHING, 2], [3, 3, NOTHING, NOTHING]], 7),
        By([[NOTHING, NOTHING, NOTHING]], 5, seed=2),
        By([[NOTHING, 1, 3, 0, 2, 2]], 900, seed=4, dtype="bfloat16"),
        By([[NOTHING, 1, 3]], 5, seed=2, diverged=True),
    ],
    drawn=drawn,
    rel=2e-5,
    abs=1e-6,
    passed="Right: each target has the same weight, wherever it stands in the step.",
)
CUT, NEXT = "outputs.logits[:, :-1]", "labels[:, 1:].flatten()"
HOW, END = 'reduction="sum"', "return told / num_items_in_batch"
OWN = "(labels[:, 1:] != -100).sum()"
for _thought, *_changes in [
    (
        "the mean over the targets that are here: Trainer adds these means up, and the log is too high",
        (HOW, 'reduction="mean"'),
        (END, "return told"),
    ),
    (
        "divided twice: the mean has been divided by the targets that are here",
        (HOW, 'reduction="mean"'),
    ),
    ("the sum: divide by the target tokens of the whole step", (END, "return told")),
    ("divided by all slots: those with -100 are no targets", (END, "return told / labels.numel()")),
    (
        "divided by the step and by the rows: the step counts all rows",
        (END, END + " / len(labels)"),
    ),
    (
        "multiplied by the targets of the step: divide",
        (END, "return told * num_items_in_batch"),
    ),
    (
        "nothing is shifted: slot t predicts the token that stands at t + 1",
        (CUT, "outputs.logits"),
        (NEXT, "labels.flatten()"),
    ),
    (
        "shifted the other way: slot t would have to predict the token before it",
        (CUT, "outputs.logits[:, 1:]"),
        (NEXT, "labels[:, :-1].flatten()"),
    ),
    (
        "the mean of nothing is nan: add losses up, and a micro-batch without targets adds 0",
        (HOW, 'reduction="mean"'),
        (END, f"return told * {OWN} / num_items_in_batch"),
    ),
    (
        "times all labels that are no -100: the first label of a row has no token before it",
        (HOW, 'reduction="mean"'),
        (END, "return told.nan_to_num() * (labels != -100).sum() / num_items_in_batch"),
    ),
    (
        "in the dtype of the logits: bf16 keeps two or three digits of a loss",
        (".float()", ""),
    ),
    (
        "in the dtype of the logits: make them float32 before the loss, not after",
        (".float()", ""),
        (END, "return told.float() / num_items_in_batch"),
    ),
    (
        "rows are joined before the shift: the last slot of a row would predict the next row's first",
        (CUT, "outputs.logits"),
        ("logits.flatten(0, 1), ", "logits.flatten(0, 1)[:-1], "),
        (NEXT, "labels.flatten()[1:]"),
    ),
    (
        "a mean divided by 4: that is right only where all micro-batches have equally many targets",
        (HOW, 'reduction="mean"'),
        (END, "return told / 4"),
    ),
    (
        "divided by the micro-batches: divide by the target tokens of the whole step",
        (END, "return told / 4"),
    ),
    (
        "a constant has no graph: add the losses up, and no targets give a sum of 0 that has one",
        (END, f"return told / num_items_in_batch if {OWN} else torch.tensor(0.0)"),
    ),
    (
        "a new tensor knows nothing of the logits: keep the loss itself",
        (
            END,
            "return torch.tensor(told.item() / num_items_in_batch, requires_grad=True)",
        ),
    ),
    (
        "`outputs` holds no loss, because Trainer takes the labels out: compute it from the logits",
        (END, f"return outputs.loss * {OWN} / num_items_in_batch"),
    ),
    (
        "nan_to_num also hides a training that has diverged: add losses up instead",
        (HOW, 'reduction="mean"'),
        (END, f"return torch.nan_to_num(told * {OWN} / num_items_in_batch)"),
    ),
    (
        "padding is trained, too: -100 means no target",
        (NEXT, "labels[:, 1:].flatten().clamp(min=0)"),
    ),
    (
        "the mean of the rows' means, times the targets: rows have unequal counts",
        (
            END,
            "each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels[:, 1:], reduction='none')\n"
            "    counts = (labels[:, 1:] != -100).sum(1)\n"
            "    return (each.sum(1) / counts.clamp(min=1)).mean() * counts.sum() / num_items_in_batch",
        ),
    ),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    ("needs a tensor", "a float has no gradient", (END, "return float(told / num_items_in_batch)")),
    ("no way back", "detached", (END, "return told.detach() / num_items_in_batch")),
    ("one value is needed", "one loss a slot", (HOW, 'reduction="none"')),
    (
        "work on a copy",
        "writes into the labels",
        ("    logits =", "    labels[:, 0] = -100\n    logits ="),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_mask(outputs, labels, num_items_in_batch):
    """log-softmax, picked and masked"""
    scores = outputs["logits"][:, :-1].float().log_softmax(-1)
    told = labels[:, 1:]
    picked = scores.gather(-1, told.clamp(min=0)[..., None])[..., 0]
    return -(picked * (told != -100)).sum() / num_items_in_batch


@exercise.style
def weighted_mean(outputs, labels, num_items_in_batch):
    """the mean times the targets that are here, where there are some"""
    import torch

    told = labels[:, 1:].reshape(-1)
    here = told != -100
    logits = outputs.logits[:, :-1].reshape(len(told), -1).double()
    if not here.any():
        return torch.tensor(0.0, requires_grad=True)
    return (
        torch.nn.functional.cross_entropy(logits[here], told[here])
        * here.sum()
        / num_items_in_batch
    )


@exercise.style
def row_by_row(outputs, labels, num_items_in_batch):
    """row by row"""
    import torch.nn.functional as F

    total = outputs.logits.sum().float() * 0
    for scores, told in zip(outputs.logits.float(), labels):
        total = total + F.cross_entropy(scores[:-1], told[1:], reduction="sum")
    return total / num_items_in_batch

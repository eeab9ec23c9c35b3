"""Build: one optimizer step over several micro-batches, seen from beside it."""

from math import inf

from batchlab.exercises import By, Exercise
from batchlab.exercises.accumulation import GIVEN, loss_sum, targets


def take_step(model, optimizer, schedule, micro_batches, max_norm):
    """Take one optimizer step over all micro-batches; return the loss per target token.

    Every weight is trained; the optimizer may have several groups of them.
    """
    import torch

    tokens = sum(targets(micro) for micro in micro_batches)  # known before the first backward
    loss = 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()  # frees the activations, adds to .grad
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss


def scene(answer, passes, windows, diverged, only, options):
    """What is seen of the steps of some windows, given as target tokens of each micro-batch."""
    from batchlab.exercises.accumulation import watch

    if diverged:
        return watch.diverged(answer, windows[0], passes, diverged, only)
    return watch.steps(answer, windows, passes, **options)


def meets(windows, diverged="", only=None, **options):
    from batchlab.exercises.accumulation.passes import Passes

    return Passes(), windows, diverged, only, options


def beheld(report, passes, windows, diverged, *_):
    """The report with what the passes themselves say."""
    if diverged or not isinstance(report, dict):
        return report
    most, needed = sum(map(len, windows)), sum(n > 0 for window in windows for n in window)
    return report | {
        "forward passes beyond one each": max(0, passes.count - most),
        "forward passes that are missing": max(0, needed - passes.count),
        "micro-batches held at once": passes.most_held,
    }


def asked(
    windows, diverged="", only=None, max_norm=inf, training=True, loud=1.0, momentum=0.0, decay=1.0
):
    many = "a step" if len(windows) == 1 else f"{len(windows)} steps"
    said = f"{many} of {' and '.join(map(str, windows))} target tokens"
    if diverged:
        which = "a weight is" if only is None else f"micro-batch {only} alone gives"
        return f"{said}, where {which} {diverged}"
    said += f", largest norm {max_norm:g}" if max_norm < inf else ""
    said += ", losses above 20" if loud > 1 else ""
    said += f", momentum {momentum:g}" if momentum else ""
    said += f", a schedule that multiplies the rate by {decay:g}" if decay < 1 else ""
    return said if training else f"{said}, in eval mode"


def drawn(rng):
    for norm in (inf, 1e3, 0.02, 0.1):
        some = [rng.integers(1, 30, rng.integers(1, 6)).tolist() for _ in range(2)]
        some[1].insert(int(rng.integers(0, 2)), 0)
        yield By(some, max_norm=norm, training=bool(rng.integers(0, 2)))
    yield By([[3, 5, 3, 0, 3], [7]])
    one, other = (rng.integers(1, 30, 3).tolist() for _ in range(2))
    yield By([one, one, other], momentum=0.9, decay=0.5)
    yield By([[4, 7, 2]], max_norm=3.0, loud=40.0)
    yield By([[301, 9], [2, 5] * 8])
    yield By([[8, 9, 1]], diverged="inf")


exercise = Exercise(
    take_step,
    diverges=True,
    points=7,
    hints=(
        "count the targets of all micro-batches before the first backward()",
        "in the loop: (loss_sum(model, micro) / tokens).backward(), and add .item() of it",
        "zero_grad, loop, clip_grad_norm_, optimizer.step, schedule.step: each once but the loop",
    ),
    given=GIVEN,
    scene=scene,
    meets=meets,
    beheld=beheld,
    asked=asked,
    shown=[
        By([[3, 8, 1, 4], [5, 2, 6, 9]]),
        By([[5, 0, 6, 3]], training=False),
        By([[3, 8, 1, 4], [5, 2]], max_norm=0.05, training=False),
        By([[3, 8, 1, 4], [5, 2]], max_norm=1e3),
        By([[8, 9, 1]], diverged="nan"),
        By([[8, 9, 1]], diverged="inf", only=1),
    ],
    drawn=drawn,
    twice=False,
    rel=2e-6,
    abs=1e-6,
    passed="Right: each step is that of its micro-batches in one piece, clipped once.",
)
COUNT = "sum(targets(micro) for micro in micro_batches)"
ZERO, STEP, SCHEDULE = (
    "    optimizer.zero_grad()\n",
    "    optimizer.step()\n",
    "    schedule.step()\n",
)
PART = "        part = loss_sum(model, micro) / tokens\n"
CLIP = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
ADD, END = "        loss += part.item()\n", "    return loss"
for _thought, *_changes in [
    (
        "the mean of the micro-batches' means: divide each sum by the step's targets",
        (PART, PART.replace("tokens", "targets(micro) / len(micro_batches)")),
    ),
    (
        "the sum over all tokens: divide by the target tokens of the step",
        (PART, PART.replace(" / tokens", "")),
        (END, "    return loss / tokens"),
    ),
    (
        "divided by the target tokens and by the number of micro-batches as well",
        (PART, PART.replace("tokens", "tokens / len(micro_batches)")),
    ),
    (
        "divided by the targets met so far: count all of them before the loop",
        (COUNT, "0"),
        (PART, "        tokens += targets(micro)\n" + PART),
    ),
    (
        "the targets of the largest micro-batch, times their number: add up those of each",
        (COUNT, "max(targets(micro) for micro in micro_batches) * len(micro_batches)"),
    ),
    (
        "only the last micro-batch arrived: zero_grad() inside the loop wipes the others",
        (ZERO, ""),
        (PART, "    " + ZERO + PART),
    ),
    (
        "the gradient of the step before is still in it: zero_grad() once a step",
        (ZERO, ""),
    ),
    (
        "no gradient is left for the step: zero_grad() stands before optimizer.step()",
        (STEP, ZERO + STEP),
        ("    loss = 0.0\n" + ZERO, "    loss = 0.0\n"),
    ),
    (
        "some parameters keep the gradient of the step before: zero_grad() takes all",
        (ZERO, "    next(model.parameters()).grad = None\n"),
    ),
    (
        "one optimizer step per micro-batch: these are small batches",
        (STEP, ""),
        (ADD, ADD + "    " + STEP + "    " + ZERO),
    ),
    ("optimizer.step() is missing", (STEP, "")),
    (
        "the schedule moves per optimizer step, not per micro-batch",
        (SCHEDULE, ""),
        (ADD, ADD + "    " + SCHEDULE),
    ),
    ("schedule.step() is missing", (SCHEDULE, "")),
    *(
        ("clipped too late, to another norm than max_norm, or not at all", *changes)
        for changes in (
            [(CLIP, "")],
            [(CLIP, ""), (STEP, STEP + CLIP)],
            [("max_norm)\n    optimizer", "1.0)\n    optimizer")],
        )
    ),
    (
        "each group of weights was clipped by its own norm: one norm counts, that of all",
        (
            CLIP,
            "    for group in optimizer.param_groups:\n"
            "        torch.nn.utils.clip_grad_norm_(group['params'], max_norm)\n",
        ),
    ),
    (
        "the sum of the micro-batches' means: divide each sum by the step's targets",
        (PART, PART.replace("tokens", "max(1, targets(micro))")),
    ),
    (
        "the first group of weights alone was clipped: model.parameters() are all",
        (CLIP, CLIP.replace("model.parameters()", "optimizer.param_groups[0]['params']")),
    ),
    (
        "divided by the number of micro-batches: divide by the target tokens of the step",
        (PART, PART.replace("tokens", "len(micro_batches)")),
    ),
    (
        "the loss of the last micro-batch: add up the shares of all",
        (ADD, ADD.replace("+=", "=")),
    ),
    (
        "one rectangle around the step: run a forward pass for each micro-batch",
        (
            "    for micro in micro_batches:\n",
            "    wide = max(one['labels'].shape[1] for one in micro_batches)\n"
            "    fill = {'input_ids': 0, 'labels': -100}\n"
            "    one_piece = {\n"
            "        name: torch.cat([\n"
            "            torch.nn.functional.pad(one[name], (0, wide - one[name].shape[1]), value=value)\n"
            "            for one in micro_batches\n"
            "        ])\n"
            "        for name, value in fill.items()\n"
            "    }\n"
            "    for micro in [one_piece]:\n",
        ),
    ),
    *(
        (
            "an error in place of the loss: return nan, so that the caller sees it in the log",
            (END, f"    if loss != loss:\n        raise {kind}('diverged')\n" + END),
        )
        for kind in ("ValueError", "RuntimeError", "AssertionError")
    ),
    (
        "clipped after each micro-batch: the norm that counts is that of the whole step",
        (CLIP, ""),
        (ADD, ADD + "    " + CLIP),
    ),
    (
        "clipped before the division: the norm that counts is that of the mean gradient",
        (PART, PART.replace(" / tokens", "")),
        (CLIP, CLIP + "    for p in model.parameters():\n        p.grad /= tokens\n"),
        (END, "    return loss / tokens"),
    ),
    (
        "each entry was cut on its own: clip_grad_norm_ keeps the direction",
        ("clip_grad_norm_", "clip_grad_value_"),
    ),
    (
        "each weight was clipped by its own norm: one norm counts, that of all",
        (
            CLIP,
            "    for p in model.parameters():\n        torch.nn.utils.clip_grad_norm_([p], max_norm)\n",
        ),
    ),
    (
        "the norm is the root of the sum of squares, not the largest entry",
        ("max_norm)\n    optimizer", "max_norm, norm_type=float('inf'))\n    optimizer"),
    ),
    (
        "scaled up to the largest norm: clipping only ever makes a gradient shorter",
        (
            CLIP,
            "    norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])\n"
            "    for p in model.parameters():\n        p.grad *= max_norm / norm if max_norm < 1e9 else 1.0\n",
        ),
    ),
    (
        "all labels are counted: the first label of a row has no token before it",
        (COUNT, 'sum(int((micro["labels"] != -100).sum()) for micro in micro_batches)'),
    ),
    (
        "all slots are counted: those with the label -100 are no targets",
        (COUNT, 'sum(micro["labels"][:, 1:].numel() for micro in micro_batches)'),
    ),
    (
        "all slots are counted: those with the label -100 are no targets",
        (COUNT, 'sum(micro["input_ids"].numel() for micro in micro_batches)'),
    ),
    (
        "counted up to the first -100: targets may follow, as an answer follows a prompt",
        (
            COUNT,
            'sum(int((micro["labels"] != -100).long().cumprod(1)[:, 1:].sum()) for micro in micro_batches)',
        ),
    ),
    (
        "the loss is the mean of the micro-batches' means: the gradient's division is right",
        (ADD, "        loss += part.item() * tokens / targets(micro) / len(micro_batches)\n"),
    ),
    (
        "the loss is a sum: divide it by the target tokens",
        (ADD, "        loss += part.item() * tokens\n"),
    ),
    ("rounded to 4 digits: keep them all", (END, "    return round(loss, 4)")),
    (
        "it stops at a micro-batch without targets: others follow",
        (PART, "        if not targets(micro):\n            break\n" + PART),
    ),
    (
        "the mean of nothing is nan: a micro-batch without targets adds nothing",
        (
            PART,
            "        part = loss_sum(model, micro) / targets(micro) * (targets(micro) / tokens)\n",
        ),
    ),
    (
        "one backward() at the end keeps every graph: call it for each micro-batch",
        ("        part.backward()  # frees the activations, adds to .grad\n", ""),
        (ADD, "        loss += part\n"),
        (CLIP, "    loss.backward()\n" + CLIP),
        (END, "    return loss.item()"),
    ),
    (
        "the graph before is still alive: no retain_graph=True, and no list of losses",
        ("part.backward()", "part.backward(retain_graph=True)"),
    ),
    (
        "every forward ran twice: count targets from the labels, without the model",
        (
            COUNT,
            "sum(targets(micro) for micro in micro_batches if model(micro['input_ids']) is not None)",
        ),
    ),
    (
        "nan_to_num, or a test for nan, hides that the training has diverged",
        (ADD, "        loss += part.item() if part == part else 0.0\n"),
    ),
    (
        "nan_to_num, or a test for nan, hides that the training has diverged",
        (END, "    return float(torch.tensor(loss).nan_to_num())"),
    ),
    (
        "a diverged gradient is mended: nan_to_num hides it",
        (CLIP, "    for p in model.parameters():\n        p.grad.nan_to_num_()\n" + CLIP),
    ),
    (
        "what is inf is skipped: a training that has diverged must show",
        (PART, PART + "        if torch.isinf(part):\n            continue\n"),
    ),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    (
        "work on copies",
        "pop() empties the caller's list",
        (
            "    for micro in micro_batches:\n",
            "    while micro_batches:\n        micro = micro_batches.pop(0)\n",
        ),
    ),
    (
        "has other labels",
        "writes into the caller's labels",
        (PART, '        micro["labels"][:, 0] = -100\n' + PART),
    ),
    ("makes a float of it", "returns a tensor", (ADD, "        loss += part.detach()\n")),
    ("with its graph", "returns the loss with its graph", (ADD, "        loss = loss + part\n")),
    ("eval mode", "left in eval mode: put it back as it was", (ZERO, ZERO + "    model.eval()\n")),
    ("train mode", "leaves the model in train mode", (ZERO, ZERO + "    model.train()\n")),
    ("before the optimizer", "the schedule steps first", (SCHEDULE, ""), (STEP, SCHEDULE + STEP)),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def passes_over(model, optimizer, schedule, micro_batches, max_norm):
    """passes over micro-batches without targets, and takes no diverged step"""
    import numpy as np
    import torch

    tokens, loss = sum(targets(micro) for micro in micro_batches), 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        if targets(micro) == 0:
            continue
        part = loss_sum(model, micro) / tokens
        part.backward()
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    if loss == loss:
        optimizer.step()
    schedule.step()
    return np.float64(loss)


@exercise.style
def autograd(model, optimizer, schedule, micro_batches, max_norm):
    """torch.autograd.grad, from the last micro-batch on"""
    import torch

    parameters = list(model.parameters())
    tokens, losses = sum(map(targets, micro_batches)), []
    sums = [torch.zeros_like(p) for p in parameters]
    for micro in reversed(micro_batches):
        one = loss_sum(model, micro)
        for total, grad in zip(sums, torch.autograd.grad(one, parameters)):
            total += grad
        losses.append(float(one.detach()))
    for p, total in zip(parameters, sums):
        p.grad = total / tokens
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimizer.step()
    for p in parameters:
        p.grad = None
    schedule.step()
    return sum(losses) / tokens


@exercise.style
def divided_at_the_end(model, optimizer, schedule, micro_batches, max_norm):
    """sums first, the gradient divided at the end, zeros after the step"""
    import torch

    tokens, total = 0, 0.0
    for micro in reversed(micro_batches):
        loss = loss_sum(model, micro)
        loss.backward()
        tokens += targets(micro)
        total = total + loss.detach()
    for parameter in model.parameters():
        parameter.grad /= tokens
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad(set_to_none=False)
    return float(total / tokens)


@exercise.style
def library(model, optimizer, schedule, micro_batches, max_norm):
    """the library"""
    from batchlab import loop

    report = loop.train_step(model, optimizer, micro_batches, max_grad_norm=max_norm)
    schedule.step()
    return report.loss

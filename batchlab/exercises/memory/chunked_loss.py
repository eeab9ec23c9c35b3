"""A loss in chunks: the logits of one chunk alive at a time. PyTorch is imported where it is used."""

from functools import cache

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.memory.scenes import SCALE, made, watched


def chunked_loss(hidden, head, labels, chunk):
    """Summed cross-entropy; the logits of `chunk` slots are alive at a time."""
    from torch.nn import functional
    from torch.utils.checkpoint import checkpoint

    from batchlab import loop

    def one(some, targets):
        logits = head(some).float()
        return functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE, reduction="sum")

    total = 0
    for i in range(0, len(labels), chunk):
        some, targets = hidden[i : i + chunk], labels[i : i + chunk]
        total = total + checkpoint(one, some, targets, use_reentrant=False)
    return total


LEAVE_NONE = "a chunk without a target has a loss with a graph, too: leave none out"
NO_MEAN = "the mean of a chunk without targets is 0/0, and times 0 it stays nan: sum"


def scene(answer, slots, chunk, how):
    return watched(answer, slots, chunk, **how)


def whole(slots, how):
    """The right value and gradients, from all logits at once in float64."""
    return _whole(slots, *how.get("lost", ()), **{k: v for k, v in how.items() if k != "lost"})


@cache
def _whole(slots, *lost, peak=False, **how):
    import torch
    from torch.nn import functional

    leaf, head, targets = made(slots, lost, **how)
    wide = [one.detach().double().requires_grad_() for one in (leaf, *head.parameters())]
    logits = functional.linear(*wide)
    loss = functional.cross_entropy(logits, targets, ignore_index=-100, reduction="sum")
    grads = torch.autograd.grad(loss / SCALE, wide)
    named = zip(("hidden", "weight", "bias"), (one.numpy() for one in grads), strict=False)
    return {"loss": loss.item()} | dict(named)


def judged(got, slots, chunk, how):
    """What came and the cause, the first that is wrong; two empty texts where all is right."""
    right, coarse = whole(slots, how), "dtype" in how
    if got["kind"]:
        why = "sum float32 losses; item(), detach() and no_grad() cut the graph"
        why = LEAVE_NONE if len(how.get("lost", ())) == slots else why
        return f"{got['kind']}; a float32 tensor without dimensions, with its graph, is needed", why
    if got["moved"]:
        return got["moved"], "what belongs to the caller stays as it is"
    rel = 1e-3 if coarse else 1e-5 if how.get("large") else 2e-6
    if not abs(got["loss"] - right["loss"]) <= rel * abs(right["loss"]) + 1e-5:
        why = NO_MEAN if "lost" in how else "exp() of a large logit is infinite"
        why = "" if np.isfinite(got["loss"]) else why
        return f"a loss of {got['loss']:.6g}, right is {right['loss']:.6g}", why
    if got["rows"] > chunk:
        said = f"a tensor with the logits of {got['rows']} slots at once"
        return said, "all logits are made at once, or a chunk is larger than asked"
    for name in ("hidden", "weight", "bias"):
        if said := _gradient(name, got[name], right.get(name), how, coarse):
            return said, "the gradient is that of all logits at once"
    if got["alive"] > 6:
        why = "head and cross-entropy of *one* chunk belong into one checkpoint: not the head alone"
        return f"{got['alive']:.1f} times the float32 bytes of a chunk's logits are alive", why
    return "", ""


def _gradient(name, got, want, how, coarse):
    where = name if name == "hidden" else f"the head's {name}"
    needed = want is not None and how.get("frozen", "") != (
        "hidden" if name == "hidden" else "head"
    )
    if not needed:
        return f"a gradient in {where}, which is frozen" if got is not None else ""
    if got is None:
        return f"no gradient in {where}"
    rel, least = (2e-2, 5e-2) if coarse else (1e-4, 1e-3 if how.get("large") else 1e-5)
    off = np.argwhere(np.abs(got - want) > rel * np.abs(want) + least)
    if not len(off):
        return ""
    at = tuple(int(one) for one in off[0])
    return f"the gradient in {where} is {got[at]:.5g} at {[*at]}, right is {want[at]:.5g}"


def asked(slots, chunk, how):
    said = "".join(
        f", {name} {value}" if name != "lost" else f", {len(value)} of them no target"
        for name, value in how.items()
        if name != "peak"
    )
    return f"the loss of {slots} slots in chunks of {chunk}{said}"


def drawn(rng):
    for _ in range(4):
        slots, chunk = (int(one) for one in rng.integers(2, 90, 2))
        lost = rng.choice(slots, slots // 3, replace=False).tolist()
        yield slots, chunk, {"lost": lost}
        yield slots + 1, chunk, {"frozen": str(rng.choice(["head", "hidden"])), "bias": True}
    yield 5, 1, {}
    yield 1100, 400, {"dtype": "float16"}
    yield 40, 16, {"dtype": "float64"}
    size = int(rng.integers(8, 30))
    yield 7 * size + 1, size, {"peak": True}


exercise = Exercise(
    chunked_loss,
    points=3,
    scene=scene,
    fault=lambda got, *case: judged(got, *case)[0],
    explain=lambda got, *case: judged(got, *case)[1],
    asked=asked,
    hints=(
        "split hidden and labels alike, and sum the losses of the pieces",
        "reduction='sum' in each piece, and .float() before cross_entropy",
        "a small function from (hidden, labels) of a piece to its loss, called through checkpoint",
    ),
    shown=[
        (54, 16, {"lost": [0, 7, 49]}),
        (23, 3, {}),
        (48, 16, {"lost": list(range(16, 32))}),
        (30, 8, {"bias": True}),
        (20, 8, {"large": True}),
        (30, 8, {"frozen": "head"}),
        (20, 8, {"frozen": "hidden"}),
        (300, 64, {"dtype": "bfloat16"}),
        (96, 16, {"peak": True}),
        (20, 8, {"lost": list(range(20))}),
    ],
    drawn=drawn,
    passed="Right: the loss and the gradients of all logits at once, and the logits of one chunk.",
)
LOOP, CALL = "    total = 0\n", "checkpoint(one, some, targets, use_reentrant=False)"
ADDED, BACK = f"total = total + {CALL}", "    return total"
SUMMED = 'functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE, reduction="sum")'
GRAPH = "no graph: no_grad(), detach() or a backward() inside cut it, the caller goes backward"
WHOLE = "all logits are made at once, or joined again: sum the losses of the pieces"
LARGE = "exp() of a large logit is infinite, a small softmax is 0: take cross_entropy"
MEAN = "functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE)"
NUMBER = LOOP + "    chunk = -(-len(labels) // {})\n"
for _thought, *_changes in [
    ("means of chunks added up: sum inside each chunk", (SUMMED, MEAN)),
    (
        "the mean times the slots: a slot without a target is no part of the mean",
        (SUMMED, MEAN + " * len(targets)"),
    ),
    (NO_MEAN, (SUMMED, MEAN + " * (targets != loop.IGNORE).sum()")),
    (
        "the mean: the sum over the target tokens is asked",
        (BACK, BACK + " / (labels != loop.IGNORE).sum().clamp(min=1)"),
    ),
    (
        "the mean of the chunks' means: the sum over the target tokens is asked",
        (SUMMED, MEAN),
        (BACK, BACK + " / -(-len(labels) // chunk)"),
    ),
    (
        "torch.zeros(1) has a dimension: begin with 0, or with torch.zeros(())",
        (LOOP, "    import torch\n\n    total = torch.zeros(1)\n"),
    ),
    (
        "where no chunk has a target nothing was added, and 0 is an int: no chunk needs to be left out",
        (ADDED, "if (targets == loop.IGNORE).all():\n            continue\n        " + ADDED),
    ),
    (
        "begun with torch.zeros(()), and chunks without a target left out: then nothing has a graph",
        (LOOP, "    import torch\n\n    total = torch.zeros(())\n"),
        (ADDED, "if (targets == loop.IGNORE).all():\n            continue\n        " + ADDED),
    ),
    ("divided by the slots: the sum is asked", (BACK, BACK + " / len(labels)")),
    ("divided by the number of chunks", (BACK, BACK + " / -(-len(labels) // chunk)")),
    (
        "the last, short chunk is missing",
        ("range(0, len(labels), chunk)", "range(0, len(labels) // chunk * chunk, chunk)"),
    ),
    ("the last chunk only", ("total = total + ", "total = ")),
    ("the first chunk only", (BACK, "        break\n" + BACK)),
    (
        "a slot without a target is counted: leave loop.IGNORE out",
        ("logits, targets,", "logits, targets.clamp(min=0),"),
    ),
    (
        "word 0 is a word as any other: loop.IGNORE alone is not counted",
        (SUMMED, SUMMED.replace("targets,", "targets - loop.IGNORE * 0 - 100 * (targets == 0),")),
    ),
    (
        "the labels are shifted already",
        (LOOP, "    hidden, labels = hidden[:-1], labels[1:]\n" + LOOP),
    ),
    (
        "a number: item() cuts the graph",
        (BACK, BACK + ".item()"),
    ),
    (
        "no gradient reaches hidden: detach() cuts it off",
        ("hidden[i : i + chunk]", "hidden[i : i + chunk].detach()"),
    ),
    (
        GRAPH,
        (LOOP, "    import torch\n\n    torch.set_grad_enabled(False)\n" + LOOP),
        (BACK, "    torch.set_grad_enabled(True)\n" + BACK),
    ),
    (
        GRAPH,
        (
            ADDED,
            "part = one(some, targets)\n        part.backward(retain_graph=True)\n"
            "        total = total + part.detach()",
        ),
    ),
    (
        "a chunk without a target ends the loop: pass over it",
        (ADDED, "if (targets == loop.IGNORE).all():\n            break\n        " + ADDED),
    ),
    (
        WHOLE,
        (LOOP, LOOP + "    return one(hidden, labels)\n"),
    ),
    (
        WHOLE,
        (
            LOOP,
            "    import torch\n\n    logits = [checkpoint(head, h, use_reentrant=False) for h in hidden.split(chunk)]\n"
            "    return functional.cross_entropy(\n"
            "        torch.cat(logits).float(), labels, ignore_index=loop.IGNORE, reduction='sum')\n"
            + LOOP,
        ),
    ),
    ("a chunk of its own: take the one handed over", (LOOP, LOOP + "    chunk = 24\n")),
    ("twice the chunk, larger than asked", (LOOP, LOOP + "    chunk = 2 * chunk\n")),
    (
        "`chunk` is the slots of a chunk, not the number of chunks",
        (LOOP, NUMBER.format("chunk")),
    ),
    (
        "the number of chunks is rounded down: round it up",
        (LOOP, NUMBER.format("max(1, len(labels) // chunk)")),
    ),
    (
        "a short rest is a chunk of its own: do not join it to another",
        (
            "i : i + chunk], labels[i : i + chunk]",
            "i : (end := i + chunk if len(labels) - i >= 2 * chunk else None)], labels[i:end]",
        ),
        (BACK, "        if end is None:\n            break\n" + BACK),
    ),
    (
        "the slice of a chunk ends before i + chunk",
        ("len(labels), chunk)", "len(labels), chunk + 1)"),
        (
            "hidden[i : i + chunk], labels[i : i + chunk]",
            "hidden[i : i + chunk + 1], labels[i : i + chunk + 1]",
        ),
    ),
    (
        "the head may have a bias: call head(...)",
        ("head(some)", "(some @ head.weight.T)"),
    ),
    (
        LARGE,
        (
            SUMMED,
            "(logits.exp().sum(1).log() - logits.gather(1, targets.clamp(min=0)[:, None])[:, 0])"
            "[targets != loop.IGNORE].sum()",
        ),
    ),
    (
        LARGE,
        (
            SUMMED,
            "functional.nll_loss(\n            logits.softmax(-1).log(), targets, "
            "ignore_index=loop.IGNORE, reduction='sum')",
        ),
    ),
    (
        "the head is trained in any case: requires_grad of the head is the caller's",
        (LOOP, "    head.weight.requires_grad_(True)\n" + LOOP),
    ),
    (
        "the gradient that was there before is lost: add to it",
        (LOOP, "    head.zero_grad()\n" + LOOP),
    ),
    (
        "the function is called again in the backward pass, when the loop's variables are those of "
        "the last chunk: hand them over",
        ("    def one(some, targets):", "    def one(some, _):"),
        (LOOP, "    targets = None\n" + LOOP),
    ),
    (
        "the reentrant checkpoint asks its inputs for requires_grad: use_reentrant=False",
        ("use_reentrant=False", "use_reentrant=True"),
    ),
    ("the loss in 16 bit: .float() before cross_entropy", ("head(some).float()", "head(some)")),
    (
        "each chunk stays in the graph until the backward pass: call it through checkpoint",
        (CALL, "one(some, targets)"),
    ),
    (
        "only the head is in the checkpoint: the cross-entropy keeps float32 logits, take it along",
        (
            "logits = head(some).float()",
            "logits = checkpoint(head, some, use_reentrant=False).float()",
        ),
        (CALL, "one(some, targets)"),
    ),
    (
        "one checkpoint around the whole loop makes all chunks again: one for each chunk",
        (
            LOOP,
            "    def every(hidden):\n"
            "        pairs = zip(hidden.split(chunk), labels.split(chunk))\n"
            "        return sum(one(*pair) for pair in pairs)\n\n"
            "    return checkpoint(every, hidden, use_reentrant=False)\n" + LOOP,
        ),
    ),
]:
    exercise.edit(_thought, _changes)


@exercise.mistake
def labels_changed(hidden, head, labels, chunk):
    """an assignment into labels changes those of the caller"""
    from torch.nn import functional
    from torch.utils.checkpoint import checkpoint

    keep = labels != -100
    labels[~keep] = 0

    def one(some, targets, kept):
        return (
            functional.cross_entropy(head(some).float(), targets, reduction="none") * kept
        ).sum()

    pieces = zip(hidden.split(chunk), labels.split(chunk), keep.split(chunk))
    return sum(checkpoint(one, *piece, use_reentrant=False) for piece in pieces)


@exercise.mistake
def fused(hidden, head, labels, chunk):
    """all logits are made at once, or joined again: sum the losses of the pieces"""
    from torch.nn import functional

    return functional.linear_cross_entropy(
        hidden, head.weight, labels, reduction="sum", ignore_index=-100
    ).float()


@exercise.style
def split(hidden, head, labels, chunk):
    """split, log-sum-exp by hand"""
    import torch
    from torch.utils.checkpoint import checkpoint

    def one(some, targets):
        logits = head(some).float()
        right = logits.gather(1, targets.clamp(min=0)[:, None])[:, 0]
        return ((logits.logsumexp(1) - right) * (targets != -100)).sum()

    total = torch.zeros((), dtype=torch.float32)
    for some, targets in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(one, some, targets, use_reentrant=False)
    return total


@exercise.style
def in_the_forward_pass(hidden, head, labels, chunk):
    """gradients in the forward pass"""
    import torch
    from torch.nn import functional

    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx, hidden, labels, chunk, *head):
            parts, loss = [], 0.0
            grads = [torch.zeros_like(one, dtype=torch.float32) for one in head]
            for h, y in zip(hidden.split(chunk), labels.split(chunk)):
                with torch.enable_grad():
                    given = [one.detach().requires_grad_() for one in (h, *head)]
                    logits = functional.linear(*given).float()
                    one = functional.cross_entropy(logits, y, reduction="sum")
                first, *others = torch.autograd.grad(one, given)
                parts.append(first)
                for total, other in zip(grads, others):
                    total += other
                loss = loss + one.detach()
            ctx.save_for_backward(torch.cat(parts), *(g.to(o.dtype) for g, o in zip(grads, head)))
            return loss

        @staticmethod
        def backward(ctx, above):
            hidden, *head = [above.to(one.dtype) * one for one in ctx.saved_tensors]
            return hidden, None, None, *head

    return Fused.apply(hidden, labels, chunk, *head.parameters())

"""Build: the step of a real run, on several ranks and in bf16."""

from math import inf

from batchlab.exercises import By, Exercise
from batchlab.exercises.accumulation import GIVEN, loss_sum, targets


def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    """Take one optimizer step with all ranks; return loss per target token, norm of the gradient.

    Every weight is trained; two names may stand for one weight, which counts once.
    """
    import torch

    parameters = list(model.parameters())
    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("no rank has a target token: nothing to learn")
    sums = [torch.zeros_like(parameter, dtype=torch.float32) for parameter in parameters]
    loss = torch.zeros(())
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for total, parameter in zip(sums, parameters):
            if parameter.grad is not None:
                total += parameter.grad
                parameter.grad = None
    sums = [over_ranks(total) / tokens for total in sums]  # a rank without data sends zeros
    norm = torch.stack([total.norm() for total in sums]).norm()
    scale = min(1.0, max_norm / (float(norm) + 1e-6))
    for total, parameter in zip(sums, parameters):
        parameter.grad = (scale * total).to(parameter.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)


def scene(answer, counts, dtype="", diverged="", only=None, **options):
    """What is seen of one step of some ranks, given as target tokens of their micro-batches."""
    from batchlab.exercises.accumulation import ranks

    if not any(map(sum, counts)):
        return ranks.refusals(answer, counts)
    if diverged:
        return ranks.diverged(answer, counts, diverged, only)
    if dtype:
        return ranks.in_low_precision(answer, counts, dtype)
    return ranks.on_ranks(answer, counts, **options)


def asked(counts, dtype="", diverged="", only=None, max_norm=inf, training=True, loud=1.0):
    if dtype:
        tokens = sum(map(sum, counts))
        many = ", ".join(str(len(one)) for one in counts)
        return f"ranks with {many} micro-batches, {tokens} target tokens, weights in {dtype}"
    said = f"one step, ranks with {counts} target tokens"
    if diverged:
        which = "a weight is" if only is None else "the last of rank 0 alone gives"
        return f"{said}, where {which} {diverged}"
    said += f", largest norm {max_norm:g}" if max_norm < inf else ""
    said += ", losses above 20" if loud > 1 else ""
    return said if training else f"{said}, in eval mode"


def explain(got, *_, **__):
    """Why gradients were added where none may be."""
    earlier = ("model and optimizer", "what over_ranks is given")
    if got.get("additions in the dtype of the weights") and not any(got[one] for one in earlier):
        return "the sum is kept in the dtype of the weights: move each .grad to its float32 sum"
    return ""


def drawn(rng):
    for norm in (inf, 0.03, 0.2):
        some = [rng.integers(0, 9, rng.integers(0, 5)).tolist() for _ in range(3)]
        yield By([[7, *some[0]], *some[1:]], max_norm=norm)
    yield By([[int(rng.integers(100, 900))], [3, 0], []], max_norm=0.05, training=False)
    yield By([[0, 0]])
    yield By([[9]])
    yield By([[], [0], []])
    yield By([[6, 2], [4]], max_norm=3.0, loud=40.0)
    yield By([[2] * int(rng.integers(30, 60)), [1], []], dtype="float16")


exercise = Exercise(
    full_step,
    diverges=True,
    points=3,
    hints=(
        "first the count: over_ranks of a tensor with your target tokens",
        "float32 sums beside the parameters: add each .grad, then set it to None",
        "over_ranks of every sum (zeros, too), divide, norm, clip, hand over, step, zero_grad",
    ),
    given=GIVEN,
    scene=scene,
    asked=asked,
    explain=explain,
    shown=[
        By([[3, 8, 1], [5, 2]]),
        By([[3, 0, 8], []]),
        By([[3, 8], [5, 2]], max_norm=0.05, training=False),
        By([[6, 2], [4]], max_norm=1e3),
        By([[0], [0, 0]]),
        By([[2] * 40, [1], []], dtype="bfloat16"),
        By([[2, 12], [1]], diverged="nan"),
        By([[2, 12], [1]], diverged="inf", only=1),
    ],
    drawn=drawn,
    twice=False,
    abs=1e-6,
    passed="Right: all ranks take the step of all micro-batches, and stay equal.",
)
COUNT = "over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))"
OWN = "torch.tensor(sum(targets(micro) for micro in micro_batches))"
SUMS = "[over_ranks(total) / tokens for total in sums]"
SCALE = "min(1.0, max_norm / (float(norm) + 1e-6))"
END = "return float(over_ranks(loss) / tokens), float(norm)"
REFUSE = '    if tokens == 0:\n        raise ValueError("no rank has a target token: nothing to learn")\n'
PARAMETERS = "    parameters = list(model.parameters())\n"
for _thought, *_changes in [
    ("all gradients, divided by the targets of one rank: over_ranks the count, too", (COUNT, OWN)),
    (
        "each rank divides by its own targets: count the targets of all ranks first",
        (COUNT, OWN),
        (SUMS, "[over_ranks(total / max(tokens, 1)) for total in sums]"),
    ),
    (
        "the mean of the ranks' own means: divide by the targets of all ranks",
        (COUNT, OWN),
        (SUMS, "[over_ranks(total / tokens) / over_ranks(torch.ones(())) for total in sums]"),
        (END, "return float(over_ranks(loss / tokens) / over_ranks(torch.ones(()))), float(norm)"),
    ),
    (
        "the gradient of this rank alone: over_ranks returns the sum, the argument stays",
        (SUMS, "[total / tokens for total in sums]"),
    ),
    (
        "the gradient of this rank alone: over_ranks returns the sum, the argument stays",
        (
            "    sums = " + SUMS,
            "    for total in sums:\n        over_ranks(total)\n    sums = [total / tokens for total in sums]",
        ),
    ),
    (
        "divided by the targets and by the number of ranks as well",
        (SUMS, "[over_ranks(total) / tokens / over_ranks(torch.ones(())) for total in sums]"),
    ),
    (
        "the sum over all tokens: divide by the target tokens of all ranks",
        (SUMS, "[over_ranks(total) for total in sums]"),
    ),
    (
        "all labels are counted: the first label of a row has no token before it",
        (
            "sum(targets(micro) for micro in micro_batches)",
            'sum(int((micro["labels"] != -100).sum()) for micro in micro_batches)',
        ),
    ),
    ("the gradient was not clipped", ("(scale * total)", "total")),
    (
        "each tensor was clipped by its own norm: one norm counts, that of all",
        ("(scale * total)", "(min(1.0, max_norm / (float(total.norm()) + 1e-6)) * total)"),
    ),
    (
        "scaled up to the largest norm: clipping only ever makes a gradient shorter",
        (SCALE, "max_norm / float(norm) if max_norm < 1e9 else 1.0"),
    ),
    (
        "each rank clipped its own part: the norm that counts is that of the sum",
        (SCALE, "1.0"),
        (
            "    sums = " + SUMS,
            "    sums = [total / tokens for total in sums]\n"
            "    own = torch.stack([total.norm() for total in sums]).norm()\n"
            "    least = min(1.0, max_norm / (float(own) + 1e-6))\n"
            "    sums = [over_ranks(total * least) for total in sums]",
        ),
    ),
    (
        "clipped before the division: the norm that counts is that of the mean gradient",
        (SUMS, "[over_ranks(total) for total in sums]"),
        ("(scale * total)", "(scale * total / tokens)"),
        (END, "return float(over_ranks(loss) / tokens), float(norm / tokens)"),
    ),
    (
        "the norm of this rank's part: add the ranks first",
        ("    sums = " + SUMS, "    sums = [t / tokens for t in sums]"),
        ("(scale * total)", "over_ranks(scale * total)"),
    ),
    (
        "the sums are those of all ranks: no second over_ranks",
        ("    scale = min", "    norm = over_ranks(norm**2) ** 0.5\n    scale = min"),
    ),
    (
        "the norm after clipping: asked is the one before",
        ("tokens), float(norm)", "tokens), min(max_norm, float(norm))"),
    ),
    (
        "the loss of this rank alone",
        (
            "float(over_ranks(loss) / tokens)",
            "float(loss) / max(1, sum(map(targets, micro_batches)))",
        ),
    ),
    (
        "the loss is a sum: divide it by the target tokens of all ranks",
        ("over_ranks(loss) / tokens", "over_ranks(loss)"),
    ),
    (
        "rounded to 4 digits: keep them all",
        (END, "return round(float(over_ranks(loss) / tokens), 4), round(float(norm), 4)"),
    ),
    ("step once: optimizer.step() is missing", ("    optimizer.step()\n", "")),
    (
        "every forward ran twice: count targets from the labels, without the model",
        (
            PARAMETERS,
            PARAMETERS + "    for micro in micro_batches:\n        model(micro['input_ids'])\n",
        ),
    ),
    (
        "one backward() at the end, or retain_graph=True, keeps graphs alive",
        ("part.backward()", "part.backward(retain_graph=True)"),
    ),
    (
        "the sum is kept in the dtype of the weights: move each .grad to its float32 sum, then set it to None",
        (
            "        for total, parameter in zip(sums, parameters):\n            if parameter.grad is not None:\n                total += parameter.grad\n                parameter.grad = None\n",
            "",
        ),
        (
            "    sums = " + SUMS,
            "    sums = [over_ranks(torch.zeros_like(s) if p.grad is None else p.grad.float()) / tokens for s, p in zip(sums, parameters)]",
        ),
    ),
    (
        "the sum of gradients is kept in the dtype of the weights, beside them: 256 + 1 is 256 there",
        (
            "sums = [torch.zeros_like(parameter, dtype=torch.float32)",
            "sums = [torch.zeros_like(parameter)",
        ),
        (SUMS, "[over_ranks(total.float()) / tokens for total in sums]"),
    ),
    (
        "added up in the dtype of the weights: 256 + 1 is 256 there",
        ("loss = torch.zeros(())", "loss = torch.zeros((), dtype=parameters[0].dtype)"),
        ("over_ranks(loss)", "over_ranks(loss.float())"),
    ),
    (
        "gradients, count and loss travel in float32, zeros, too: bf16 makes 1,200 of 1,201",
        (SUMS, "[over_ranks(t.to(p.dtype)).float() / tokens for p, t in zip(parameters, sums)]"),
    ),
    (
        "gradients, count and loss travel in float32, zeros, too: bf16 makes 1,200 of 1,201",
        (
            COUNT,
            "over_ranks(torch.tensor(sum(map(targets, micro_batches))).to(parameters[0].dtype))",
        ),
    ),
    (
        "nan_to_num hides that the training has diverged",
        ("float(over_ranks(loss) / tokens)", "float((over_ranks(loss) / tokens).nan_to_num())"),
    ),
    (
        "a diverged gradient is mended: nan_to_num hides it",
        (SUMS, "[(over_ranks(total) / tokens).nan_to_num() for total in sums]"),
    ),
    (
        "what is inf is skipped: a training that has diverged must show",
        (
            "        part.backward()\n",
            "        if torch.isinf(part):\n            continue\n        part.backward()\n",
        ),
    ),
    ("0 / 0 writes nan into every weight: refuse where no rank has a target", (REFUSE, "")),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    ("are needed", "one value is returned", (END, "return float(over_ranks(loss) / tokens)")),
    ("Tensor", "returns tensors", (END, "return over_ranks(loss) / tokens, norm")),
    (
        "are left on rank 0",
        "leaves the gradients",
        ("    optimizer.step()\n    optimizer.zero_grad()\n", "    optimizer.step()\n"),
    ),
    (
        "train mode",
        "leaves the model in train mode",
        (PARAMETERS, "    model.train()\n" + PARAMETERS),
    ),
    (
        "has other labels",
        "writes into the caller's labels",
        (
            "        part = loss_sum",
            '        micro["labels"][:, 0] = -100\n        part = loss_sum',
        ),
    ),
    (
        "another order",
        "sums over ranks at every micro-batch",
        (
            "        loss += part.detach()\n",
            "        loss += part.detach()\n        over_ranks(torch.zeros(()))\n",
        ),
    ),
    (
        "for ever",
        "a rank without data returns at once",
        (PARAMETERS, "    if not micro_batches:\n        return 0.0, 0.0\n" + PARAMETERS),
    ),
    (
        "ValueError: nothing",
        "refuses where only this rank has no targets",
        (
            PARAMETERS,
            "    if not sum(map(targets, micro_batches)):\n        raise ValueError('nothing')\n"
            + PARAMETERS,
        ),
    ),
    (
        "has stepped",
        "refuses when the weights have moved",
        (REFUSE, ""),
        (END, "if tokens == 0:\n        raise ValueError('no target')\n    " + END),
    ),
    (
        "are left on rank",
        "refuses after the first backward()",
        (REFUSE, ""),
        (
            "    sums = " + SUMS,
            "    if tokens == 0:\n        for parameter in parameters:\n            parameter.grad = torch.ones_like(parameter)\n        raise ValueError('no target')\n    sums = "
            + SUMS,
        ),
    ),
    (
        "were torch.bfloat16",
        "the weights become float32",
        (
            PARAMETERS,
            "    if next(model.parameters()).itemsize < 4:\n        model.float()\n" + PARAMETERS,
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="over_ranks")
def sends_what_it_has(model, optimizer, micro_batches, max_norm, over_ranks):
    """sends only the gradients that it has: ranks call over_ranks equally often"""
    import torch

    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("nothing to learn")
    optimizer.zero_grad()
    loss, sums = torch.zeros(()), {}
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for p in model.parameters():
            sums[p] = sums.get(p, 0) + p.grad.float()
            p.grad = None
    for p, total in sums.items():
        p.grad = (over_ranks(total) / tokens).to(p.dtype)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)


@exercise.style
def divided_first(model, optimizer, micro_batches, max_norm, over_ranks):
    """divided before backward, the count a float, empty micro-batches passed over"""
    import numpy as np
    import torch

    parameters = list(model.parameters())
    tokens = over_ranks(torch.tensor([float(sum(targets(m) for m in micro_batches))])).item()
    if tokens == 0:
        raise ValueError("no target on any rank")
    sums, total = [torch.zeros_like(p, dtype=torch.float64) for p in parameters], 0.0
    for micro in micro_batches:
        if targets(micro) == 0:
            continue
        loss = loss_sum(model, micro)
        (loss / tokens).backward()
        total += loss.item()
        for p, s in zip(parameters, sums):
            s += p.grad.float()
            p.grad = None
    sums = [over_ranks(s) for s in sums]
    total = over_ranks(torch.tensor(total)).item()
    norm = torch.stack([s.norm() for s in sums]).norm().item()
    scale = min(1.0, max_norm / (norm + 1e-6))
    for p, s in zip(parameters, sums):
        p.grad = (s * scale).to(p.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return [np.float64(total / tokens), norm]


@exercise.style
def one_call(model, optimizer, micro_batches, max_norm, over_ranks):
    """gradients by autograd.grad, all in one call to over_ranks"""
    import torch

    weights = list(model.parameters())
    sizes = [w.numel() for w in weights]
    flat = torch.zeros(sum(sizes) + 2, dtype=torch.float32)
    for micro in micro_batches:
        part = loss_sum(model, micro)
        grads = torch.autograd.grad(part, weights)
        flat[:-2] += torch.cat([g.float().flatten() for g in grads])
        flat[-2] += part.detach()
        flat[-1] += targets(micro)
    flat = over_ranks(flat)
    if not flat[-1]:
        raise ValueError("nothing to learn on any rank")
    mean = flat[:-2] / flat[-1]
    norm = mean.norm().item()
    if norm > max_norm:
        mean = mean * (max_norm / norm)
    for w, piece in zip(weights, mean.split(sizes)):
        w.grad = piece.view_as(w).to(w.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return (flat[-2] / flat[-1]).item(), norm


@exercise.style
def clipped_by_torch(model, optimizer, micro_batches, max_norm, over_ranks):
    """PyTorch clips what was handed over"""
    import torch

    parameters = list(model.parameters())
    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("nothing to learn")
    sums = [torch.zeros_like(p, dtype=torch.float32) for p in parameters]
    loss = torch.zeros(())
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for total, p in zip(sums, parameters):
            total += p.grad
        model.zero_grad()
    for total, p in zip(sums, parameters):
        p.grad = (over_ranks(total) / tokens).to(p.dtype)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)

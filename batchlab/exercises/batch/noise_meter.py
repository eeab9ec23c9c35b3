"""Build: a meter of the noise for any training.

The bench trains nothing. Its loss is n times the product of a pull and the weights, so the
gradient of a micro-batch of n target tokens is its pull per token, whatever the weights are.

Words
    pull   gradient per target token of one micro-batch; empty: a loss that touches no weight
"""

import math

from batchlab.exercises import By, Exercise


def noise_meter(network, micro_batches, loss_of):
    """Target tokens, norm of the gradient, and spread per target token of micro-batches."""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    total, squares, tokens, counted = 0.0, 0.0, 0, 0
    for micro in micro_batches:
        loss, targets = loss_of(network, micro)
        if not targets:
            continue
        found = torch.autograd.grad(loss, learning, allow_unused=True)
        summed = torch.cat(
            [
                (torch.zeros_like(p) if one is None else one).flatten().double()
                for p, one in zip(learning, found)
            ]
        )
        total = total + summed  # target tokens times gradient
        squares += float(summed @ summed) / targets
        tokens, counted = tokens + targets, counted + 1
    if counted < 2:
        raise ValueError(f"{counted} micro-batches with target tokens; a spread needs two")
    length = float(total.norm()) / tokens
    spread_squared = (squares - tokens * length**2) / (counted - 1)
    return {"target_tokens": tokens, "gradient": length, "spread": max(0.0, spread_squared) ** 0.5}


# ---- the bench ------------------------------------------------------------------------------------


def bench(width):
    """Weights that a meter must look at, frozen ones, one in a part that few losses touch."""
    import torch
    from torch import nn

    network = nn.Module()
    network.weight = nn.Parameter(torch.linspace(-1.0, 1.0, width))
    network.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
    network.part = nn.ParameterDict({"seldom": nn.Parameter(torch.ones(1))})
    return network


def loss_of(network, micro):
    """Summed loss of a micro-batch, and its target tokens; nan where it has none."""
    import torch

    targets = int(micro["targets"])
    if not micro["pull"]:  # a weight pulls that is not the network's
        return targets * torch.ones((), requires_grad=True), targets
    pull = torch.tensor(micro["pull"], dtype=network.weight.dtype)
    loss = targets * (pull @ network.weight + 7 * network.frozen.sum())
    if micro["seldom"]:
        loss = loss + targets * micro["seldom"] * network.part["seldom"].sum()
    return (loss if targets else loss * micro["empty"]), targets


def once(items):
    yield from items


def scene(
    noise_meter,
    pulls,
    seldom=(),
    grad_before=None,
    training=True,
    resting=False,
    empty=math.nan,
    dtype="float64",
    refuses=False,
):
    """What a meter says of micro-batches (pull, target tokens), and what it leaves changed.

    seldom       pulls on a weight that the loss of a micro-batch touches only where it is not 0
    grad_before  what stands in every `.grad` when the meter begins
    training     the mode in which the network comes; resting: one part comes in eval mode
    empty        the loss of a micro-batch without target tokens: nan, or 0
    refuses      look only at what a refusal leaves behind
    """
    import torch

    network = bench(max((len(pull) for pull, _ in pulls), default=1)).to(getattr(torch, dtype))
    network.train(training).part.train(training and not resting)
    for parameter in network.parameters():
        if grad_before is not None and parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, grad_before)
    before = state(network)
    extra = [*seldom, *[0.0] * (len(pulls) - len(seldom))]
    micro_batches = [
        {"pull": [float(x) for x in pull], "targets": n, "seldom": touched, "empty": empty}
        for (pull, n), touched in zip(pulls, extra)
    ]
    try:
        said = noise_meter(network, once(micro_batches), loss_of)
    except ValueError:
        if not refuses:
            raise
        said = None
    after = state(network)
    changed = {"what changed in the network": [one for one in before if before[one] != after[one]]}
    if refuses:
        return changed
    if any(math.isnan(x) for pull, n in pulls for x in pull):
        return {"gradient is nan": math.isnan(float(said["gradient"]))}
    if not isinstance(said, dict):
        raise TypeError(f"a dictionary with target_tokens, gradient and spread, not {said!r:.60}")
    return {**plain(said), **changed}


def state(network):
    found = {"the training mode": [one.training for one in network.modules()]}
    for name, parameter in network.named_parameters():
        grad = None if parameter.grad is None else parameter.grad.tolist()
        found[f"the .grad of {name}"] = grad
        found[f"the weights of {name}"] = parameter.detach().tolist()
        found[f"requires_grad of {name}"] = parameter.requires_grad
    return found


def plain(said):
    return {
        key: value.tolist() if hasattr(value, "tolist") else value for key, value in said.items()
    }


# ---- the cases ------------------------------------------------------------------------------------

TWO = [([1], 8), ([5], 24)]
EMPTY = [([1], 8), ([9], 0), ([5], 24), ([2], 16)]
STEADY = [
    ([400 + math.sin(1.7 * i), -700 + math.cos(2.3 * i)], 40 + 7 * i % 60) for i in range(150)
]
BENCH = {
    "grad_before": "gradients from before in every .grad",
    "training": "in eval mode",
    "resting": "one part in eval mode",
    "seldom": "some pull a further weight",
    "empty": "where the loss of nothing is 0",
    "dtype": "float32 weights",
    "refuses": "after its refusal",
}


def asked(pulls, **bench):
    counts = [n for _, n in pulls]
    said = f"of target tokens {counts}" if len(counts) < 9 else f"of {len(counts)} micro-batches"
    pull = f" that pull with {[one for one, _ in pulls]}" if len(counts) < 4 else ""
    return f"the meter {said}{pull}" + "".join(f", {BENCH[name]}" for name in bench)


def drawn(rng):
    for parts in (2, 3, 5, 7, 40):
        lines, counts = 3 * rng.normal(size=(parts, 4)), rng.integers(1, 500, parts)
        pulls = [(line.tolist(), int(n)) for line, n in zip(lines, counts)]
        yield (pulls,)
        yield By(
            [*pulls, ([0, 0, 0, 0], 0)],
            seldom=[float(i % 2) for i in range(parts)],
            grad_before=1.0,
        )
    yield from [
        ([([3, 4], 7)] * 4,),
        ([([0.7], 3), ([0.7], 7), ([0.7], 11)],),
        ([],),
        ([([9], 0)],),
    ]
    yield from [([([1], 70_001), ([5], 3_000_000)],), ([([1e-4], 8), ([5e-4], 24)],)]


def why(got, pulls, **bench):
    if isinstance(got.get("gradient"), list):
        return VECTOR
    if any("the .grad of" in one for one in got["what changed in the network"]):
        return TRACE
    spread = got.get("spread", 0.0)
    if (spread != spread or "empty" in bench) and any(n == 0 for _, n in pulls):
        return (
            "a micro-batch without target tokens was not skipped: look at its count, not its loss"
        )
    lost = isinstance(spread, complex) or spread != spread
    return "rounding takes s squared below zero: max(0, ...) before the root" * lost


TRACE = "backward() and zero_grad() change .grad: use torch.autograd.grad, or keep every .grad and put it back"
VECTOR = "the vector G: one number is asked, its norm"


exercise = Exercise(
    noise_meter,
    explain=why,
    points=4,
    scene=scene,
    asked=asked,
    drawn=drawn,
    rel=1e-4,
    abs=2e-3,
    mentions=lambda pulls, **bench: (sum(n > 0 for _, n in pulls),),
    hints=(
        "by hand first: parts of 8 and 24 target tokens pull with 1 and 5; s is the root of 96",
        "the gradient of a summed loss is n x g: divide it by n, and keep each g with its n",
        "G is your mean weighted by n; s squared is the sum of n x |g - G|^2, divided by K - 1",
    ),
    shown=[
        (TWO,),
        ([([0.7], 8), ([0.7], 24), ([0.7], 5)],),
        By(TWO, training=False),
        By(TWO, resting=True),
        By(TWO, seldom=[0, 4]),
        (EMPTY,),
        By(EMPTY, empty=0.0),
        By(STEADY, dtype="float32"),
        ([([1], 8), ([float("nan")], 4), ([5], 24)],),
        ([([1], 8), ([9], 0)],),
        By([([1], 8)], resting=True, grad_before=3.0, refuses=True),
    ],
    passed="Right: G and s from micro-batches of any size, in one pass that leaves no trace.",
)
LEARNING = "[p for p in network.parameters() if p.requires_grad]"
LOSS, SKIP = (
    "        loss, targets = loss_of(network, micro)\n",
    "        if not targets:\n            continue\n",
)
LENGTH = "    length = float(total.norm()) / tokens\n"
SPREAD = "(squares - tokens * length**2) / (counted - 1)"
FOUND = "        found = torch.autograd.grad(loss, learning, allow_unused=True)\n"
BACKWARD = "        loss.backward()\n        found = [p.grad for p in learning]\n"
RETURN = '    return {"target_tokens": tokens'
FEW = '    if counted < 2:\n        raise ValueError(f"{counted} micro-batches with target tokens; a spread needs two")\n'
for _thought, *_changes in [
    ("divided by K: G is made of the same gradients, so K - 1", ("(counted - 1)", "counted")),
    (
        "divided by the target tokens: s is the spread of one token, and K - 1 divides",
        ("(counted - 1)", "tokens"),
    ),
    ("K counts micro-batches, not tokens", ("(counted - 1)", "(tokens - 1)")),
    ("the square of s: take the root", ("max(0.0, spread_squared) ** 0.5", "spread_squared")),
    (
        "the sum: divide by all target tokens",
        (LENGTH, LENGTH + "    sum_length = float(total.norm())\n"),
        ('"gradient": length', '"gradient": sum_length'),
    ),
    ("the square of n g is divided by n once: |n g|^2 / n", ("/ targets\n", "/ targets**2\n")),
    (
        "g is a gradient per target token: divide that of the summed loss by n",
        ("total + summed", "total + targets * summed"),
        ("/ targets\n", "* targets\n"),
    ),
    (
        "these are distances of n x g from G: divide by n first",
        (
            "        total = total + summed",
            "        heavy = targets * summed + (heavy if counted else 0)\n        total = total + summed",
        ),
        ("/ targets\n", "* targets\n"),
        (
            SPREAD,
            "(squares - 2 * float(heavy @ total) / tokens + tokens * length**2) / (counted - 1)",
        ),
    ),
    (
        "divided by n twice: the loss or the gradient, once",
        ("total + summed", "total + summed / targets"),
        ("/ targets\n", "/ targets**3\n"),
    ),
    (
        "the root comes last: first divide by K - 1",
        (SPREAD, SPREAD.replace(" / (counted - 1)", "")),
        ("max(0.0, spread_squared) ** 0.5", "max(0.0, spread_squared) ** 0.5 / (counted - 1)"),
    ),
    (VECTOR, ('"gradient": length', '"gradient": total / tokens')),
    (
        "the norms of the gradients: take their distances from G",
        (SPREAD, "squares / (counted - 1)"),
    ),
    (
        "these are micro-batches, not target tokens",
        ('"target_tokens": tokens', '"target_tokens": counted'),
    ),
    (
        "frozen parameters are counted: skip where requires_grad is False",
        (LEARNING, "[p.requires_grad_(True) for p in network.parameters()]"),
    ),
    (
        "rounding takes s squared below zero: max(0, ...) before the root",
        (
            "max(0.0, spread_squared) ** 0.5",
            "spread_squared**0.5",
        ),
    ),
    (
        "it stops at the micro-batch without target tokens: others follow",
        (SKIP, "        if not targets:\n            break\n"),
    ),
    (
        "the micro-batch without target tokens was counted: K is one less here",
        (SKIP, "        if not targets:\n            counted += 1\n            continue\n"),
    ),
    (
        "a sum in float32 loses the small difference: .double() before you add",
        (".flatten().double()", ".flatten()"),
    ),
    (
        "the weight in a part was left out: network.parameters() goes through all parts",
        (LEARNING, "[p for p in network.parameters(recurse=False) if p.requires_grad]"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "zero_grad() wipes what stood in .grad",
        "of weight",
        (FOUND, "        network.zero_grad()\n" + BACKWARD),
    ),
    ("backward() adds onto what .grad holds", "the meter", (FOUND, BACKWARD)),
    (
        "evaluates, and stays so",
        "the training mode",
        ("    learning", "    network.eval()\n    learning"),
    ),
    ("always back to training", "the training mode", (RETURN, "    network.train()\n" + RETURN)),
    (
        "a part in eval mode is forgotten",
        "the training mode",
        ("    learning", "    was = network.training\n    network.eval()\n    learning"),
        (RETURN, "    network.train(was)\n" + RETURN),
    ),
    (
        "restored, but not where it refuses",
        "the training mode",
        (
            "    learning",
            "    modes = [(m, m.training) for m in network.modules()]\n    network.eval()\n    learning",
        ),
        (RETURN, "    for m, mode in modes:\n        m.training = mode\n" + RETURN),
    ),
    (
        "a frozen parameter has no gradient: keep those with requires_grad",
        "",
        (LEARNING, "[*network.parameters()]"),
    ),
    (
        "a weight that a loss does not touch has gradient 0 there",
        "has gradient 0 there",
        (", allow_unused=True", ""),
    ),
    (
        "moves the weights",
        "the weights of weight",
        (RETURN, "    with torch.no_grad():\n        learning[0].add_(0.1)\n" + RETURN),
    ),
    (
        "a micro-batch without target tokens may give nan: skip it by its count",
        "nan",
        (SKIP, ""),
        ("/ targets\n", "/ max(1, targets)\n"),
    ),
    (
        "looks for nan, not at the count",
        "float division by zero",
        ("        if not targets:", "        if torch.isnan(loss):"),
    ),
    (
        "skips what diverged",
        "gradient is nan",
        ("        if not targets:", "        if not targets or torch.isnan(loss):"),
    ),
    (
        "asks for the length of a generator",
        "len()",
        ("    learning", "    many = len(micro_batches)\n    learning"),
    ),
    (
        "two passes over a generator",
        "ValueError",
        (
            "    learning",
            "    known = sum(loss_of(network, one)[1] for one in micro_batches)\n    learning",
        ),
    ),
    (
        "one micro-batch has no spread: refuse",
        "a ValueError is needed",
        (FEW, ""),
        ("/ (counted - 1)", "/ max(1, counted - 1)"),
        ("/ tokens\n", "/ max(1, tokens)\n"),
    ),
    (
        "refuses without the number",
        "without 1",
        ('f"{counted} micro-batches with target tokens; a spread needs two"', '"too few"'),
    ),
    (
        "three numbers, not a dictionary",
        "a dictionary with target_tokens",
        (
            '{"target_tokens": tokens, "gradient": length, "spread": max(0.0, spread_squared) ** 0.5}',
            "tokens, length, max(0.0, spread_squared) ** 0.5",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="stack expects")
def absent_left_out(network, micro_batches, loss_of):
    """what a loss does not touch is left out, so the vectors differ in length: put zeros there"""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    lines, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n:
            found = torch.autograd.grad(loss / n, learning, allow_unused=True)
            lines.append(torch.cat([g.flatten() for g in found if g is not None]).double())
            counts.append(n)
    if len(counts) < 2:
        raise ValueError(f"only {len(counts)} micro-batches count")
    lines, n = torch.stack(lines), torch.tensor(counts, dtype=torch.float64)
    middle = n @ lines / n.sum()
    off = (n[:, None] * (lines - middle) ** 2).sum() / (len(n) - 1)
    return {"target_tokens": int(n.sum()), "gradient": middle.norm(), "spread": off.sqrt()}


@exercise.mistake
def equal_weights(network, micro_batches, loss_of):
    """equal weights: G is the mean over target tokens"""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    lines, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n:
            found = torch.autograd.grad(loss / n, learning, allow_unused=True)
            flat = [(0 * p if g is None else g).flatten() for p, g in zip(learning, found)]
            lines.append(torch.cat(flat).double())
            counts.append(n)
    if len(counts) < 2:
        raise ValueError(f"only {len(counts)} micro-batches count")
    lines, n = torch.stack(lines), torch.tensor(counts)
    off = (n[:, None] * (lines - lines.mean(0)) ** 2).sum() / (len(n) - 1)
    return {
        "target_tokens": int(n.sum()),
        "gradient": float(lines.mean(0).norm()),
        "spread": float(off) ** 0.5,
    }


@exercise.mistake
def squares_unweighted(network, micro_batches, loss_of):
    """weight each squared distance by its n: a long micro-batch is less noisy"""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    lines, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n:
            found = torch.autograd.grad(loss / n, learning, allow_unused=True)
            flat = [(0 * p if g is None else g).flatten() for p, g in zip(learning, found)]
            lines.append(torch.cat(flat).double())
            counts.append(n)
    if len(counts) < 2:
        raise ValueError(f"only {len(counts)} micro-batches count")
    lines, n = torch.stack(lines), torch.tensor(counts, dtype=torch.float64)
    middle = n @ lines / n.sum()
    off = ((lines - middle) ** 2).sum() / (len(n) - 1)
    return {"target_tokens": int(n.sum()), "gradient": middle.norm(), "spread": off.sqrt()}


@exercise.style
def gradients_kept(network, micro_batches, loss_of):
    """every gradient is kept"""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    lines, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n:
            found = torch.autograd.grad(loss, learning, allow_unused=True)
            flat = [(0 * p if g is None else g).flatten() for p, g in zip(learning, found)]
            lines.append(torch.cat(flat).double() / n)
            counts.append(n)
    if len(counts) < 2:
        raise ValueError(f"only {len(counts)} micro-batches count")
    lines, n = torch.stack(lines), torch.tensor(counts, dtype=torch.float64)
    middle = n @ lines / n.sum()
    off = (n[:, None] * (lines - middle) ** 2).sum() / (len(n) - 1)
    return {"target_tokens": int(n.sum()), "gradient": middle.norm(), "spread": off.sqrt()}


@exercise.style
def put_back(network, micro_batches, loss_of):
    """backward, with .grad kept and put back"""
    import torch

    learning = [p for p in network.parameters() if p.requires_grad]
    before = [p.grad for p in learning]
    total, squares, tokens, counted = 0.0, 0.0, 0, 0
    try:
        for micro in micro_batches:
            for p in learning:
                p.grad = None
            loss, n = loss_of(network, micro)
            if n == 0:
                continue
            if loss.grad_fn is not None or loss.requires_grad:
                loss.backward()
            flat = [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in learning]
            summed = torch.cat(flat).double()
            total, squares = total + summed, squares + float(summed @ summed) / n
            tokens, counted = tokens + n, counted + 1
    finally:
        for p, old in zip(learning, before):
            p.grad = old
    if counted < 2:
        raise ValueError(f"{counted}: a spread needs two micro-batches that count")
    length = float(total.norm()) / tokens
    off = max(0.0, squares - tokens * length**2) / (counted - 1)
    return {"target_tokens": tokens, "gradient": length, "spread": off**0.5}

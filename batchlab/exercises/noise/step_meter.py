"""Build: a meter that hears the noise scale of an ordinary run."""

from math import inf

import numpy as np

from batchlab.exercises import By, Exercise
from batchlab.exercises.noise import noise_scale, two_norms


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    from batchlab import loop

    pieces, sums, readings, losses = [], {}, [], []

    def length(gradient):
        return float(gradient.detach().double().square().sum())

    def so_far(parameter):
        sums[parameter] = length(parameter.grad)

    learning = [p for p in model.parameters() if p.requires_grad]
    hooks = [p.register_hook(lambda gradient: pieces.append(length(gradient))) for p in learning]
    hooks += [p.register_post_accumulate_grad_hook(so_far) for p in learning]
    try:
        for window in windows:
            pieces.clear()
            sums.clear()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            targets = [micro["labels"][:, 1:] != loop.IGNORE for micro in window]
            sizes = [int(one.any(dim=1).sum()) for one in targets]
            if sum(size > 0 for size in sizes) < 2:
                continue
            share = sum(size**2 for size in sizes) / sum(sizes) ** 2
            small, big = sum(pieces) / share, sum(sums.values())
            if np.isfinite(small + big):
                readings.append(two_norms(small, big, share * sum(sizes), sum(sizes)))
    finally:
        for hook in hooks:
            hook.remove()
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}


def scene(answer, windows, **options):
    """What a meter says of windows of rows, given as their target tokens, and what it leaves."""
    from batchlab.exercises.noise import bench

    return bench.seen(answer, windows, **options)


WORDS = {
    "frozen": "one parameter frozen",
    "shapes": "parameters of other shapes, too",
    "stream": "from a generator",
    "before": "old gradients in every .grad",
    "evaluating": "in eval mode",
    "step": "a step that survives nan",
}


def asked(windows, fails="", at="step", max_norm=inf, **options):
    if fails:
        where = "second step raises" if at == "step" else "second window is not there: they raise"
        return f"a meter whose {where} a {fails}"
    said = "".join(f", {WORDS[name]}" for name in options)
    said += f", max_norm {max_norm:g}" if max_norm < inf else ""
    like = f", the first of {windows[0]} target tokens" if windows else ""
    return f"a meter on {len(windows)} windows{like}{said}"


def drawn(rng):
    for norm in (0.5, 1.0, 100.0):
        many = [
            [rng.integers(1, 12, rng.integers(1, 4)).tolist() for _ in range(rng.integers(2, 5))]
            for _ in range(rng.integers(3, 6))
        ]
        many[0][0].append(0)
        yield By(many, max_norm=norm, stream=True)
    yield By([[[1 + k % 7] * 2, [2 + k % 5], [1 + k % 9]] for k in range(30)], max_norm=0.02)
    yield By(EQUAL, fails="Stopped")
    yield ([],)


EQUAL = [[[3, 8], [5, 2]], [[6, 4], [1, 7]], [[4, 4], [9, 2]], [[2, 3], [8, 1]]]
UNEQUAL = [[[3, 8], [5, 2, 4]], [[6], [1, 7, 2]], [[4, 4], [9]], [[2, 3, 5], [8]], [[7], [3, 3]]]
PADDED = [[[3, 8, 0], [5, 2]], [[6, 1], [7, 2, -4]], [[4, 4, 0], [9]]]  # -4: padding throughout
ALONE = [[[3, 8], [5, 2], [0, 0]], [[6, 1]], [[0], [7, 2], [4, 4]], [[6, 1], [0]], [[1, 9], [3]]]

exercise = Exercise(
    metered_run,
    points=4,
    scene=scene,
    asked=asked,
    drawn=drawn,
    given=("two_norms", "noise_scale", "loop"),
    rel=1e-4,
    abs=1e-9,
    hints=(
        "hooks on every learning parameter first; then a loop over the windows inside try, and "
        "remove() in finally",
        "register_hook: add the squared sum of the gradient to a list; the other hook: keep the "
        "squared sum of p.grad under p",
        "after the step: sizes, s, two_norms(sum(list) / s, sum of the kept, s * B, B); empty both "
        "before the next window",
    ),
    shown=[
        (EQUAL,),
        (UNEQUAL,),
        (PADDED,),
        (ALONE,),
        By(EQUAL, max_norm=0.6),
        By(UNEQUAL, frozen=True),
        By(UNEQUAL, shapes=True),
        By(UNEQUAL, stream=True, before=True),
        By([[[3, 8], [5, 2]], [[6, -1], [1, 7]], [[4, 4], [9]], [[2, 3], [8]]], step="careful"),
        By([[[3, 8], [5, 2]], [[-2], [-3]], [[4, 4], [9]], [[2, 3, 5], [8]]], step="careful"),
        ([[[3, 8], [5, 2]], [[10, 2], [11, 3]], [[6, 4], [1, 7]]],),
        By(EQUAL, evaluating=True),
        By(EQUAL, fails="RuntimeError"),
        By(EQUAL, fails="ValueError", at="windows"),
        By(EQUAL, fails="KeyboardInterrupt"),
        ([[[3, 8], [5, 2]]],),
    ],
    passed="Right: a noise scale from an ordinary run, at no cost but two norms.",
)
STEP = "            losses.append(step(model, optimizer, schedule, window, max_norm))\n"
SMALL, BIG = "sum(pieces) / share", "sum(sums.values())"
SIZES = "int(one.any(dim=1).sum()) for one in targets"
SHARE = "sum(size**2 for size in sizes) / sum(sizes) ** 2"
LEARNING = "p for p in model.parameters() if p.requires_grad"
SCALED = "    scale, error = noise_scale(readings)\n"
SQUARE = "float(gradient.detach().double().square().sum())"
TRY, FINITE = "    try:\n", "np.isfinite(small + big)"
FREE = "    finally:\n        for hook in hooks:\n            hook.remove()\n"
OFF = "    for hook in hooks:\n        hook.remove()\n"
PIECE = (
    "    hooks = [p.register_hook(lambda gradient: pieces.append(length(gradient))) "
    "for p in learning]\n"
)
TOKENS = "            own = [int(one.sum()) for one in targets]\n            per = len(pieces) // len(own)\n"
TOO_LONG = (
    "the small norms are too long (sums so far, pieces of earlier windows, norms that are not "
    "squared), or the big ones too short (the last piece only)"
)
MODE = "only the step changes anything: no model.train() or model.eval() of your own"
WIPED = "the step empties old gradients itself: no zero_grad of your own"
SUMS = "sum(sum(pieces[k * per : (k + 1) * per]) * (sum(own) / n)"
for _thought, *_changes in [
    (
        "the big norm was read after clipping: hear it before, when the last backward ends",
        (BIG, "sum(length(p.grad) for p in learning if p.grad is not None)"),
    ),
    ("the sum of the squared norms is not divided by s", (SMALL, "sum(pieces)")),
    (
        "micro-batches may hold unlike numbers of sequences: s is not 1/K",
        (SHARE, "1 / len(window)"),
    ),
    (
        "the mean of the squared norms of the pieces: their sum, over s",
        (SMALL, "sum(pieces) / len(window)"),
    ),
    (
        "each micro-batch's own mean gradient: what backward made is its share of the sum",
        ("            small, big", TOKENS + "            small, big"),
        (SMALL, SUMS + " ** 2 for k, n in enumerate(own) if n) / sum(n > 0 for n in own)"),
    ),
    (
        "each micro-batch counts alike, however few its rows: the pieces as they come, their sum over s",
        ("            small, big", TOKENS + "            small, big"),
        (
            SMALL,
            "sum(sum(pieces[k * per : (k + 1) * per]) * (sum(sizes) / n) ** 2 "
            "for k, n in enumerate(sizes) if n) / sum(n > 0 for n in sizes)",
        ),
    ),
    (
        "the small norm is of the last micro-batch alone: add up those of all",
        ("            small, big", TOKENS + "            small, big"),
        (SMALL, "sum(pieces[-per:]) / share"),
    ),
    (
        "the small batch is s B, which is no mean of the rows where micro-batches are unlike",
        ("share * sum(sizes), sum(sizes)", "sum(sizes) / len(sizes), sum(sizes)"),
    ),
    (
        "own means weighted by tokens miss the noise of unequal lengths",
        ("            small, big", TOKENS + "            small, big"),
        (SMALL, SUMS + " for k, n in enumerate(own) if n)"),
    ),
    (
        "the largest of the passes: the last one has left the gradient of the step",
        (
            "length(parameter.grad)\n",
            "max(sums.get(parameter, 0.0), length(parameter.grad))\n",
        ),
    ),
    (
        "p.grad is the sum so far: its last norm is that of the step, do not add them up",
        (
            "length(parameter.grad)\n",
            "sums.get(parameter, 0.0) + length(parameter.grad)\n",
        ),
    ),
    (
        "a row without a target is no sequence: padding is in the count",
        (SIZES, "len(one) for one in targets"),
    ),
    (
        "the first label of a row is never read: it makes no sequence",
        ('micro["labels"][:, 1:]', 'micro["labels"]'),
    ),
    ("target tokens are not sequences", (SIZES, "int(one.sum()) for one in targets")),
    (
        "slots are not sequences: padding is in the count",
        (SIZES, 'micro["labels"].numel() for micro in window'),
    ),
    (
        "micro-batches are not sequences: multiply by the rows with targets",
        (SIZES, "int(one.any()) for one in targets"),
    ),
    (
        "the first micro-batch is not like the others: count the rows of each",
        (SIZES, "len(targets[0]) for one in targets"),
    ),
    (
        "the mean of the windows' own ratios: both means first",
        (
            SCALED,
            SCALED + "    scale = np.mean([trace / squared for squared, trace in readings])\n",
        ),
    ),
    (
        "the scale is right: its error is that of noise_scale(readings)",
        (SCALED, SCALED + "    error = np.std([t / q for q, t in readings]) / len(readings)\n"),
    ),
    (
        "norms in place of squared norms",
        ("two_norms(small, big,", "two_norms(small**0.5, big**0.5,"),
    ),
    (
        "only the first parameter: squared norms of all of them add up",
        ("    hooks = [", "    learning = learning[:1]\n    hooks = ["),
    ),
    (
        "parameters of one dimension have gradients, too",
        (LEARNING, LEARNING + " and p.ndim > 1"),
    ),
    (
        "parameters of no dimension have gradients, too",
        (LEARNING, LEARNING + " and p.ndim"),
    ),
    (
        "a parameter without a gradient in this window still has its old norm: empty the sums",
        ("            sums.clear()\n", ""),
    ),
    (
        "frozen parameters require no gradient: leave them out",
        (" if p.requires_grad", ""),
    ),
    (
        "two micro-batches of sequences are needed: one gives no reading",
        ("< 2:\n", "< 1:\n"),
    ),
    ("a norm that is nan or inf gives no reading", (FINITE, "True")),
    (
        "both norms are looked at: neither nan nor inf gives a reading",
        (FINITE, "small + big == small + big"),
    ),
    ("both norms are looked at: neither nan nor inf gives a reading", (FINITE, "np.isfinite(big)")),
    (
        "both norms are looked at: neither nan nor inf gives a reading",
        (FINITE, "np.isfinite(losses[-1])"),
    ),
    (
        "readings below 0 are luck, too: keep them",
        (SCALED, "    readings = [one for one in readings if min(one) > 0]\n" + SCALED),
    ),
    (
        "windows without a reading are trained on, too",
        (STEP, "            if len(window) < 2:\n                continue\n" + STEP),
    ),
    (
        "each window is trained on once",
        (STEP, STEP + "            step(model, optimizer, schedule, window, max_norm)\n"),
    ),
    ("call the step that was handed over", (STEP, "            losses.append(0.0)\n")),
    ("the step was not clipped at max_norm", ("window, max_norm))", "window, float('inf')))")),
    (
        "the optimizer stepped twice",
        (STEP, STEP + "            optimizer.step()\n"),
    ),
    (
        "a gradient was changed on its way: work on a copy",
        (SQUARE, "float(gradient.clamp_(-1, 1).double().square().sum())"),
    ),
    (
        "a window with one micro-batch of sequences gives no reading: count the readings",
        ('"readings": len(readings)', '"readings": len(losses)'),
    ),
    (
        "hear the step's own backward passes: no forward pass of your own",
        (
            STEP,
            STEP
            + "            for micro in window:\n                loop.logits_of(model, micro)\n",
        ),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        TOO_LONG,
        "sums so far",
        (PIECE, "    hooks = []\n"),
        (
            "        sums[parameter] = length(parameter.grad)\n",
            "        sums[parameter] = length(parameter.grad)\n"
            "        pieces.append(sums[parameter])\n",
        ),
    ),
    (TOO_LONG, "not squared", (SQUARE, "float(gradient.detach().double().norm())")),
    (
        TOO_LONG,
        "pieces of earlier windows",
        ("            pieces.clear()\n", ""),
    ),
    (
        "every handle has .remove(): take all hooks off",
        "hooks left",
        ("            hook.remove()\n", "            pass\n"),
    ),
    (
        "take the hooks off in `finally`: it comes after every exception",
        "hooks left",
        (FREE, OFF),
        (TRY, "    if True:\n"),
    ),
    (
        "swallows the exception",
        "the exception",
        ("    finally:\n", "    except RuntimeError:\n        pass\n    finally:\n"),
    ),
    (
        "Ctrl-C is no Exception: take the hooks off in `finally`",
        "hooks left",
        (
            FREE,
            "    except Exception:\n        for hook in hooks:\n            hook.remove()\n"
            "        raise\n" + OFF,
        ),
    ),
    (
        "a RuntimeError is not the only exception: take the hooks off in `finally`",
        "hooks left",
        (
            FREE,
            "    except RuntimeError:\n        for hook in hooks:\n            hook.remove()\n"
            "        raise\n" + OFF,
        ),
    ),
    (
        "a single reading has no error: let the ValueError through",
        "the exception",
        (SCALED, SCALED.replace("readings)", "readings) if len(readings) > 1 else (0.0, 0.0)")),
    ),
    (
        "windows may be a generator: loop over it",
        "TypeError",
        (
            "        for window in windows:\n",
            "        for number in range(len(windows)):\n            window = windows[number]\n",
        ),
    ),
    (
        "all windows were read first: loop over them as they come",
        "before the one before",
        ("in windows:", "in list(windows):"),
    ),
    (
        "only the step changes the training: schedule.step() is its own",
        "schedule",
        (STEP, STEP + "            schedule.step()\n"),
    ),
    (MODE, "model.eval()", (TRY, "    model.eval()\n" + TRY)),
    (MODE, "model.train()", (SCALED, "    model.train()\n" + SCALED)),
    (
        "a seed of its own",
        "random state",
        (TRY, "    import torch\n\n    torch.manual_seed(0)\n" + TRY),
    ),
    (WIPED, "zero_grad", (TRY, "    optimizer.zero_grad()\n" + TRY)),
    (
        WIPED,
        "zero_grad",
        (SCALED, "    optimizer.zero_grad()\n" + SCALED),
    ),
    (
        "hooks of others are taken off, too",
        "hooks of others",
        (FREE, FREE + "        for p in learning:\n            p._backward_hooks = None\n"),
    ),
    ("no losses", "missing", ('"losses": losses, ', "")),
    ("the list of readings", "readings of", ('"readings": len(readings)', '"readings": readings')),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def gradients_added(step, model, optimizer, schedule, windows, max_norm):
    """the pieces are added by hand"""
    state = {"small": 0.0, "sums": {}}

    def listener(p):
        def hear(g):
            g = g.detach()
            state["small"] += float(g.norm()) ** 2
            state["sums"][p] = state["sums"].get(p, 0) + g

        return hear

    handles = [p.register_hook(listener(p)) for p in model.parameters() if p.requires_grad]
    losses, readings = [], []
    try:
        for window in windows:
            state.update(small=0.0, sums={})
            losses.append(step(model, optimizer, schedule, window, max_norm))
            sizes = np.array([int((m["labels"][:, 1:] != -100).any(dim=-1).sum()) for m in window])
            big = sum(float(g.norm()) ** 2 for g in state["sums"].values())
            if (sizes > 0).sum() < 2 or not np.isfinite([big, state["small"]]).all():
                continue
            share = (sizes**2).sum() / sizes.sum() ** 2
            readings.append(
                two_norms(state["small"] / share, big, share * sizes.sum(), sizes.sum())
            )
    finally:
        [h.remove() for h in handles]
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}


@exercise.style
def hooks_for_each_window(step, model, optimizer, schedule, windows, max_norm):
    """hooks for each window, float32 norms as tensors, more keys"""
    import contextlib

    import torch

    own, sums, readings, losses = [], {}, [], []

    def so_far(p):
        sums[p] = p.grad.float().square().sum()

    for window in windows:
        own.clear()
        sums.clear()
        with contextlib.ExitStack() as stack:
            for p in model.parameters():
                if p.requires_grad:
                    hook = p.register_hook(lambda g: own.append(g.float().square().sum()))
                    stack.callback(hook.remove)
                    stack.callback(p.register_post_accumulate_grad_hook(so_far).remove)
            losses.append(
                step(
                    model=model,
                    optimizer=optimizer,
                    schedule=schedule,
                    micro_batches=window,
                    max_norm=max_norm,
                )
            )
        sizes = [int((m["labels"][:, 1:] != -100).sum(1).gt(0).sum()) for m in window]
        if len([b for b in sizes if b]) > 1 and torch.isfinite(sum(own) + sum(sums.values())):
            B = sum(sizes)
            s = sum(b * b for b in sizes) / B**2
            readings.append(two_norms(float(sum(own)) / s, float(sum(sums.values())), s * B, B))
    scale, error = noise_scale(readings)
    kept = {"losses": losses, "readings": len(readings), "trace": 0}
    return kept | {"scale": torch.tensor(scale), "error": float(error)}

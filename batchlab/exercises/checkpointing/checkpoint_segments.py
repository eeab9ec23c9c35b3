"""Your own checkpoint: layers run without a graph, and again when their gradient is needed."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.checkpointing.watch import LAYERS, scene


class Segment:
    """Run layers without a graph, and again when their gradient is needed."""

    @staticmethod
    def forward(ctx, layers, x, *weights):  # given; `weights` are those of the layers
        import torch

        ctx.layers, ctx.state = layers, torch.get_rng_state()
        ctx.save_for_backward(x, *weights)
        return torch.nn.Sequential(*layers)(x)

    @staticmethod
    def backward(ctx, gradient):
        """Gradients of layers (None), x, and each weight; ctx.needs_input_grad says who needs one."""
        import torch

        (x, *weights), needed = ctx.saved_tensors, ctx.needs_input_grad[1:]
        x = x.detach().requires_grad_(needed[0])
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = torch.nn.Sequential(*ctx.layers)(x)
        wanted = [one for one, need in zip((x, *weights), needed) if need]
        found = iter(torch.autograd.grad(y, wanted, gradient))
        return None, *(next(found) if need else None for need in needed)


def judged(got, segments, how):
    """What came and the cause, the first that is wrong; two empty texts where all is right."""
    if not np.allclose(*got["output"], rtol=1e-6, atol=1e-7):
        return f"an output of {got['output'][0][0]:.6g}, plain {got['output'][1][0]:.6g}", (
            "forward runs the layers once, in order, and sets no random state"
        )
    pairs = [*zip(*got["gradients"], strict=True), got["x"]]
    for number, (mine, plain) in enumerate(pairs):
        who = f"weight {number % 2} of layer {number // 2}" if number < len(pairs) - 1 else "x"
        if (mine is None) != (plain is None):
            what = "no gradient" if mine is None else "a gradient, where the plain run has none,"
            return f"{what} in {who}", "return one for each that needs it, None for the others"
        if plain is not None and not np.allclose(mine, plain, rtol=1e-5, atol=1e-5):
            said = f"the sum of the gradient in {who} is {mine[0]:.5g}, plain {plain[0]:.5g}"
            if how.get("dropout"):
                return said, "the second run dropped others: give it the random state of the first"
            return said, ""
    again = [n for a, b in reversed(segments) if _needs(b, how) for n in range(a, b)]
    again = [0 if n in how.get("shared", ()) else n for n in again]
    if got["order"] != again:
        why = "each segment comes back once, in one run through its layers, the last one first"
        return f"layers run again: {got['order']}, right are {again}", why
    for right, when in zip(got["random"], ("after forward", "at the end"), strict=True):
        if not right:
            why = "the second run moved it: put it back behind, as torch.random.fork_rng does"
            return f"another random state {when} than in the plain run", why
    if got["left"]:
        return f"changed: {got['left']}", "work on a detached copy of x, leave the layers alone"
    if got["peak"] > 0.75:
        why = "what forward computed, or an earlier segment recomputed, is still held"
        return f"{got['peak']:.0%} of the plain run's memory", why
    return "", ""


def _needs(end, how):
    """Whether any gradient is asked of the layers before `end`."""
    return how.get("leaf", True) or any(n not in how.get("frozen", ()) for n in range(end))


def drawn(rng):
    for _ in range(4):
        a, b, c = sorted(rng.choice(LAYERS + 1, 3, replace=False).tolist())
        how = {"seed": int(rng.integers(1000)), "dropout": float(rng.choice([0.0, 0.5]))}
        yield [(a, b), (b, c)], how | {"leaf": bool(rng.integers(2))}
    yield [(1, 6)], {"frozen": [int(rng.integers(6))]}
    yield [], {"dropout": 0.5}
    yield [(0, 2), (3, 6)], {"frozen": [0, 1], "leaf": False}
    yield [(0, 2), (2, 4), (4, 6)], {"peak": True}


exercise = Exercise(
    Segment,
    points=3,
    hints=(
        "set the random state of the first run, and put it back behind: torch.random.fork_rng(devices=[])",
        "detach x, enable_grad, set ctx.state inside fork_rng, run ctx.layers again",
        "torch.autograd.grad(y, [x and the weights that need one], gradient) gives what to return",
    ),
    asked=lambda segments, how: (
        f"{LAYERS} layers, segments {segments}" + "".join(f", {a} {b}" for a, b in how.items())
    ),
    scene=scene,
    fault=lambda got, *case: judged(got, *case)[0],
    explain=lambda got, *case: judged(got, *case)[1],
    shown=[
        ([(0, 3), (3, 6)], {}),
        ([(1, 3), (4, 5)], {"leaf": False, "frozen": [1, 4], "before": 2.0}),
        ([(0, 3), (3, 6)], {"dropout": 0.5}),
        ([(0, 3), (4, 6)], {"shared": [2, 4]}),
    ],
    drawn=drawn,
    passed="Right: the gradients of the plain layers, from less memory, and nothing else notices.",
)
BACK = "        return None, *(next(found) if need else None for need in needed)"
GIVEN = "        given = [next(found) if need else None for need in needed]\n"
AGAIN = "            y = torch.nn.Sequential(*ctx.layers)(x)\n"
EACH = "one gradient for each argument of forward: None for the layers, x, then each weight"
FORK, STATE = ", torch.random.fork_rng(devices=[])", "            torch.set_rng_state(ctx.state)\n"
for _thought, *_changes in [
    (
        "the second run has no graph: inside backward() ask for one by torch.enable_grad()",
        ("torch.enable_grad(), ", ""),
    ),
    (
        "x is detached and needs no gradient: requires_grad_ where one is needed",
        ("x.detach().requires_grad_(needed[0])", "x.detach()"),
        ("(y, wanted, gradient)", "(y, wanted, gradient, allow_unused=True)"),
    ),
    (
        "the second run hangs on the graph of earlier layers: detach x first",
        ("        x = x.detach().requires_grad_(needed[0])\n", ""),
    ),
    (
        "gradients of all are asked: frozen ones need none, ctx.needs_input_grad says who does",
        (
            "wanted = [one for one, need in zip((x, *weights), needed) if need]",
            "wanted = [x, *weights]",
        ),
        (BACK, "        return None, *found"),
    ),
    (EACH, (BACK, BACK.replace("None, *", "tuple", 1))),
    (EACH, (BACK, BACK.replace("None, *", "None, tuple", 1))),
    (EACH, (BACK, "        return None, next(found)")),
    (EACH, (BACK, "        return next(found)")),
    (
        "`layers` is a list without parameters(): forward is given their weights, keep those",
        ("zip((x, *weights), needed)", "zip((x, *ctx.layers.parameters()), needed)"),
    ),
    (
        "no gradient for the weights",
        (BACK, "        return None, next(found) if needed[0] else None, *(None for _ in weights)"),
    ),
    (
        "the gradient of x was not passed on",
        (BACK, GIVEN + "        return None, None, *given[1:]"),
    ),
    (
        "the gradient that arrives is ignored: hand it to autograd.grad",
        ("(y, wanted, gradient)", "(y, wanted, torch.ones_like(y))"),
    ),
    (
        "the gradient that arrives is ignored: hand it to autograd.grad",
        ("(y, wanted, gradient)", "(y, wanted)"),
    ),
    (
        "twice the gradient: return it, or add it to .grad, not both",
        (
            BACK,
            GIVEN
            + "        for one, more in zip(weights, given[1:]):\n            if more is not None:\n"
            "                one.grad = more.clone() if one.grad is None else one.grad + more\n"
            "        return None, *given",
        ),
    ),
    (
        "what stood in .grad is lost: gradients add",
        (
            BACK,
            GIVEN
            + "        for one in weights:\n            one.grad = None\n        return None, *given",
        ),
    ),
    (
        "run again for every tensor: once for a segment",
        (
            "        found = iter(torch.autograd.grad(y, wanted, gradient))\n",
            "        found = []\n        for one in wanted:\n            with torch.enable_grad():\n"
            "                y = torch.nn.Sequential(*ctx.layers)(x)\n"
            "            found += torch.autograd.grad(y, [one], gradient)\n        found = iter(found)\n",
        ),
    ),
    ("the random state is not restored: the second run drops other activations", (STATE, "")),
    ("the random state is left where the second run ends: fork_rng puts it back", (FORK, "")),
    (
        "eval mode in the second run, and left so",
        (AGAIN, "            [layer.eval() for layer in ctx.layers]\n" + AGAIN),
    ),
    (
        "eval mode for a moment: the second run drops nothing",
        (
            AGAIN,
            "            were = [layer.training for layer in ctx.layers]\n"
            "            [layer.eval() for layer in ctx.layers]\n"
            + AGAIN
            + "            [layer.train(was) for layer, was in zip(ctx.layers, were)]\n",
        ),
    ),
    (
        "computed again from a rounded input: keep x as it is",
        ("x = x.detach()", "x = x.half().to(x.dtype).detach()"),
    ),
    (
        "the last layer of the segment is not run again",
        ("(*ctx.layers)(x)", "(*(ctx.layers[:-1] or ctx.layers))(x)"),
        ("(y, wanted, gradient)", "(y, wanted, gradient, allow_unused=True)"),
    ),
]:
    exercise.edit(_thought, _changes)


@exercise.style
class IntoGrad:
    """backward() into .grad"""

    @staticmethod
    def forward(ctx, layers, x, *weights):
        import torch

        ctx.kept = x, layers, torch.get_rng_state()
        for layer in layers:
            x = layer(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        import torch

        x, layers, state = ctx.kept
        now, y = torch.get_rng_state(), (x := x.detach().requires_grad_())
        torch.set_rng_state(state)
        with torch.enable_grad():
            for layer in layers:
                y = layer(y)
        torch.set_rng_state(now)
        torch.autograd.backward(y, gradient)
        return None, x.grad, *(None for _ in ctx.needs_input_grad[2:])


@exercise.style
class Unused:
    """parameters that may be unused"""

    @staticmethod
    def forward(ctx, layers, x, *weights):
        import torch

        ctx.state, ctx.layers, ctx.x, ctx.weights = torch.get_rng_state(), layers, x, weights
        for layer in layers:
            x = layer(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        import torch

        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = first = ctx.x.detach().requires_grad_(ctx.needs_input_grad[1])
            for layer in ctx.layers:
                y = layer(y)
        some = [one for one in (first, *ctx.weights) if one.requires_grad]
        got = dict(zip(map(id, some), torch.autograd.grad(y, some, gradient, allow_unused=True)))
        return None, *(got.get(id(one)) for one in (first, *ctx.weights))

"""Watch a checkpoint: what it computes, how often, what it holds, what it disturbs.

a class with forward and backward, segments, a case  ->  plain data beside a plain run
"""

from batchlab.exercises.checkpointing.scenes import checkpointed, in_order, peak_of

__all__ = ["LAYERS", "scene"]

LAYERS, WIDTH, WIDE, ROWS = 6, 8, 128, 512


def _made(dropout=0.0, training=True, frozen=(), shared=(), seed=8, **_):
    """Residual blocks that keep much more than their input, draw dropout, and note their calls."""
    import torch

    noted, draw = [], torch.Generator().manual_seed(seed)

    class Noisy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            sizes = (WIDTH, WIDE), (WIDE, WIDTH)
            up, down = (
                torch.randn(size, generator=draw, dtype=torch.float64) / size[0] ** 0.5
                for size in sizes
            )
            self.up, self.down = torch.nn.Parameter(up), torch.nn.Parameter(down)
            self.dropout = torch.nn.Dropout(dropout)

        def forward(self, x):
            noted.append(self)
            return x + self.dropout(torch.tanh(x @ self.up)) @ self.down

    made = [Noisy().train(training) for _ in range(LAYERS)]
    for number in frozen:
        made[number].requires_grad_(False)
    for number in shared:
        made[number] = made[0]
    x = torch.randn(ROWS, WIDTH, generator=draw, dtype=torch.float64)
    return made, x, noted


def scene(answer, segments, how):
    """One forward and backward pass by the learner's class, and one through the plain layers.

    output, gradients, x   pairs: the learner's, the plain one (None where there is none)
    order    the layers that ran in the backward pass, one after another
    random   whether torch's random state is that of the plain run: after forward, at the end
    left     what else is otherwise than before, in words; peak: share of the plain run's bytes
    """
    import torch

    def yours(layers, x):
        return checkpointed(answer, list(layers), x, segments)

    kept = torch.get_rng_state()
    try:
        mine, plain = (_pass(run, how) for run in (yours, in_order))
        peaks = []
        for run in (yours, in_order) if how.get("peak") else ():
            layers, x, _ = _made(**how)
            x.requires_grad_()
            peaks.append(peak_of(lambda run=run, layers=layers, x=x: run(layers, x), layers))
    finally:
        torch.set_rng_state(kept)
    found = {name: (mine[name], plain[name]) for name in ("output", "gradients", "x")}
    found["random"] = [
        bool(torch.equal(a, b)) for a, b in zip(mine["random"], plain["random"], strict=True)
    ]
    found["peak"] = peaks[0] / peaks[1] if peaks else 0.0
    return found | {name: mine[name] for name in ("order", "left", "calls")}


def _pass(run, how):
    """Forward, then backward of a weighted sum; what came of it."""
    import torch

    layers, x, noted = _made(**how)
    x.requires_grad_(how.get("leaf", True))
    torch.manual_seed(8)
    every = list(torch.nn.ModuleList(layers).parameters())
    for weight in every:
        if how.get("before") and weight.requires_grad:
            weight.grad = torch.full_like(weight, how["before"])
    old = _states(layers, x)
    y = run(layers, x)
    random, forward = [torch.get_rng_state()], len(noted)
    pull = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
    (y * pull).sum().backward()
    random.append(torch.get_rng_state())
    return {
        "output": y.detach().flatten()[:64].tolist(),
        "gradients": [_flat(one.grad) for one in every],
        "x": _flat(x.grad),
        "random": random,
        "calls": [sum(one is layer for one in noted) for layer in layers],
        "order": [layers.index(one) for one in noted[forward:]],
        "left": ", ".join(name for name, was in old.items() if was != _states(layers, x)[name]),
    }


def _flat(gradient):
    """The sum and the first values: enough to tell, and little to send."""
    if gradient is None:
        return None
    values = gradient.flatten().tolist()
    return [sum(values), *values[:24]]


def _states(layers, x):
    import torch

    net = torch.nn.ModuleList(layers)
    return {
        "train or eval mode": [one.training for one in net.modules()],
        "requires_grad of the weights": [one.requires_grad for one in net.parameters()],
        "requires_grad of x": x.requires_grad,
        "the values of x": x.detach().tolist(),
        "the weights": [float(one.detach().sum()) for one in net.parameters()],
    }

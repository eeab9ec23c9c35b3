# ruff: noqa
"""Lesson 08_checkpointing: answers of a second fresh student, written from the student copy alone."""


def subs(base, table):
    """Whole cells from one right cell: each entry replaces one or more (old, new) pairs."""
    out = {}
    for why, pairs in table.items():
        text = base
        for old, new in [pairs] if isinstance(pairs, tuple) else pairs:
            assert old in text, (why, old)
            text = text.replace(old, new)
        assert text != base, why
        out[why] = text
    return out


WRONG, RIGHT = {}, {}

# ================================================================= segment-bytes
SB = '''def segment_bytes(layers, segments, edge, kept):
    """Most bytes of activations of `layers` equal layers in `segments` recomputed segments."""
    longest = -(-layers // segments)
    return (segments - 1) * edge + longest * kept
'''
RIGHT["segment-bytes"] = {
    "integers": SB,
    "math.ceil": '''import math


def segment_bytes(layers, segments, edge, kept):
    return math.ceil(layers / segments) * kept + edge * (segments - 1)
''',
    "numpy, every segment tried": '''def segment_bytes(layers, segments, edge, kept):
    parts = np.sort([len(part) for part in np.array_split(np.arange(layers), segments)])
    return float(np.max(np.arange(segments) * edge + parts * kept))
''',
    "torch, float64": '''def segment_bytes(layers, segments, edge, kept):
    longest = torch.ceil(torch.tensor(layers / segments, dtype=torch.float64))
    return float((segments - 1) * edge + longest * kept)
''',
    "loop over the forward and the backward pass": '''def segment_bytes(layers, segments, edge, kept):
    sizes = sorted(layers // segments + (n < layers % segments) for n in range(segments))
    held, most = [edge] * segments, 0
    while sizes:
        held.pop()
        most = max(most, sum(held) + sizes.pop() * kept)
    return most
''',
}
WRONG["segment-bytes"] = subs(SB, {
    "k edges, not k - 1": ("(segments - 1) * edge", "segments * edge"),
    "floor": ("-(-layers // segments)", "layers // segments"),
    "layers are cut: L / k": ("-(-layers // segments)", "layers / segments"),
    "floor and one": ("-(-layers // segments)", "layers // segments + 1"),
    "rounded to nearest": ("-(-layers // segments)", "round(layers / segments)"),
    "edges forgotten": ("(segments - 1) * edge + longest * kept", "longest * kept"),
    "an edge for each layer outside the segment": ("(segments - 1) * edge", "(layers - longest) * edge"),
    "an edge for each layer but one": ("(segments - 1) * edge", "(layers - 1) * edge"),
    "input of the segment counted beside what its layers keep": ("longest * kept", "longest * kept + edge"),
    "own inputs of the layers taken off": ("longest * kept", "longest * (kept - edge)"),
    "own inputs of all layers but the first taken off": ("longest * kept", "longest * kept - (longest - 1) * edge"),
    "edge and kept swapped": ("(segments - 1) * edge + longest * kept", "(segments - 1) * kept + longest * edge"),
    "whole bytes": ("return (segments - 1) * edge + longest * kept", "return int((segments - 1) * edge + longest * kept)"),
    "rounded to a byte, up": ("return (segments - 1) * edge + longest * kept", "return int(-(-((segments - 1) * edge + longest * kept) // 1))"),
    "one segment is no checkpoint: everything": ("    return", "    if segments == 1:\n        return layers * kept - edge\n    return"),
    "one layer a segment: nothing more than edges": ("    return", "    if segments == layers:\n        return layers * edge\n    return"),
    "a layer that keeps its input alone: nothing is saved": ("    return", "    if kept == edge:\n        return layers * kept\n    return"),
    "rest in a segment of its own": ("(segments - 1) * edge", "(segments - 1 + (layers % segments > 0)) * edge"),
    "share, not bytes": ("return (segments - 1) * edge + longest * kept", "return ((segments - 1) * edge + longest * kept) / (layers * kept)"),
    "32-bit integers: wraps above 2 GiB, cuts fractions": ("return (segments - 1) * edge + longest * kept", "return int(np.array([(segments - 1) * edge, longest * kept]).astype(np.int32).sum())"),
    "float32: wrong by bytes above 16 million": ("return (segments - 1) * edge + longest * kept", "return float(np.float32((segments - 1) * edge + longest * kept))"),
}) | {
    "longest segments first": '''def segment_bytes(layers, segments, edge, kept):
    sizes = sorted((layers // segments + (n < layers % segments) for n in range(segments)), reverse=True)
    return max(n * edge + size * kept for n, size in enumerate(sizes))
''',
    "all segments as long as the first can be, the short rest last": '''def segment_bytes(layers, segments, edge, kept):
    size = -(-layers // segments)
    cuts = [min(size, layers - at) for at in range(0, layers, size)]
    return max(n * edge + cut * kept for n, cut in enumerate(cuts))
''',
    "all segments floor long, the whole rest in the last": '''def segment_bytes(layers, segments, edge, kept):
    size = layers // segments
    return (segments - 1) * edge + (layers - size * (segments - 1)) * kept
''',
    "a layer keeps 10 edges, as by hand": '''def segment_bytes(layers, segments, edge, kept):
    return edge * ((segments - 1) + -(-layers // segments) * 10)
''',
    "remembers the first call": '''_seen = {}


def segment_bytes(layers, segments, edge, kept):
    key = layers, segments
    if key not in _seen:
        _seen[key] = (segments - 1) * edge + -(-layers // segments) * kept
    return _seen[key]
''',
}

# ================================================================= checkpoint-segments
DRIVER = '''

def checkpoint_segments(layers, x, segments):
    """The output of the layers; those of each segment (first, end) are recomputed."""
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()  # each one once
        x = Segment.apply(layers[first:end], x, *weights)
        at = end
    return probe.in_order(layers[at:], x)
'''
CK = '''class Segment(torch.autograd.Function):
    """Run layers without a graph, and again when their gradient is needed."""

    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, ctx.weights, ctx.state = layers, weights, torch.get_rng_state()
        ctx.save_for_backward(x)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_(ctx.needs_input_grad[1])
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = probe.in_order(ctx.layers, x)
        needs = ctx.needs_input_grad[1:]
        asked = [t for t, need in zip([x, *ctx.weights], needs) if need]
        got = iter(torch.autograd.grad(y, asked, gradient, allow_unused=True))
        return (None, *(next(got) if need else None for need in needs))
''' + DRIVER

HOOKS = '''def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def recomputed(layers, x):
    state, stored, packed = torch.get_rng_state(), {}, []
    start = x.detach().requires_grad_(x.requires_grad)

    def pack(tensor):
        packed.append(None)
        return len(packed) - 1

    def unpack(number):
        if number not in stored:
            count = []

            def keep(tensor):
                stored[len(count)] = tensor.detach()
                count.append(None)
                return len(count) - 1

            hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda n: None)
            with torch.enable_grad(), torch.random.fork_rng(devices=[]), hooks:
                torch.set_rng_state(state)
                run(layers, start)
        return stored.pop(number)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return run(layers, x)


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = run(layers[at:first], x)
        x = recomputed(layers[first:end], x)
        at = end
    return run(layers[at:], x)
'''

REENTRANT = '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, token, layers, x):
        ctx.layers, ctx.x, ctx.state = layers, x.detach(), torch.get_rng_state()
        for layer in layers:
            x = layer(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.x.detach().requires_grad_(ctx.needs_input_grad[2])
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        try:
            with torch.enable_grad():
                y = x
                for layer in ctx.layers:
                    y = layer(y)
        finally:
            torch.set_rng_state(now)
        torch.autograd.backward(y, gradient)  # adds to .grad of the weights itself
        return None, None, x.grad


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        for layer in layers[at:first]:
            x = layer(x)
        trains = any(w.requires_grad for layer in layers[first:end] for w in layer.parameters())
        token = torch.zeros((), requires_grad=trains)
        x = Segment.apply(token, layers[first:end], x)
        at = end
    for layer in layers[at:]:
        x = layer(x)
    return x
'''
RIGHT["checkpoint-segments"] = {
    "Function, as the cell has it": CK,
    "saved_tensors_hooks, no Function": HOOKS,
    "reentrant: the inner backward adds to .grad itself": REENTRANT,
    "only trainable weights are passed, x not detached": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers = layers
        ctx.save_for_backward(x, torch.get_rng_state(), *weights)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x, state, *weights = ctx.saved_tensors
        wanted = ([x] if ctx.needs_input_grad[1] else []) + weights
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            with torch.enable_grad():
                y = probe.in_order(ctx.layers, x)
        grads = list(torch.autograd.grad(y, wanted, gradient))
        if not ctx.needs_input_grad[1]:
            grads.insert(0, None)
        return None, *grads


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        mine = dict.fromkeys(w for layer in layers[first:end] for w in layer.parameters() if w.requires_grad)
        x = Segment.apply(layers[first:end], x, *mine)
        at = end
    return probe.in_order(layers[at:], x)
''',
    "x always asks for its gradient, which autograd drops": subs(CK, {"a": [
        (".requires_grad_(ctx.needs_input_grad[1])", ".requires_grad_()"),
        ("needs = ctx.needs_input_grad[1:]", "needs = (True, *ctx.needs_input_grad[2:])")]})["a"],
}

FORK = "        with torch.enable_grad(), torch.random.fork_rng(devices=[]):\n            torch.set_rng_state(ctx.state)\n"
NEW = "        x = ctx.saved_tensors[0].detach().requires_grad_(ctx.needs_input_grad[1])\n"
WRONG["checkpoint-segments"] = subs(CK, {
    "random state forgotten": (FORK, "        with torch.enable_grad():\n"),
    "random state set, not put back": (FORK, "        torch.set_rng_state(ctx.state)\n        with torch.enable_grad():\n"),
    "random state forked, never set": ("            torch.set_rng_state(ctx.state)\n", ""),
    "random state set behind the run": [("            torch.set_rng_state(ctx.state)\n            y = probe.in_order(ctx.layers, x)", "            y = probe.in_order(ctx.layers, x)\n            torch.set_rng_state(ctx.state)")],
    "forward draws inside fork_rng, state does not move on": ("        return probe.in_order(layers, x)\n\n    @staticmethod", "        with torch.random.fork_rng(devices=[]):\n            return probe.in_order(layers, x)\n\n    @staticmethod"),
    "a fixed seed for both runs": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        torch.manual_seed(0)\n        ctx.state = torch.get_rng_state()\n        return probe.in_order(layers, x)\n\n    @staticmethod")],
    "a fresh seed for both runs: forward moves the state": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        seed = int(torch.randint(2**31, ()))\n        with torch.random.fork_rng(devices=[]):\n            torch.manual_seed(seed)\n            ctx.state = torch.get_rng_state()\n            return probe.in_order(layers, x)\n\n    @staticmethod")],
    "at the end the state behind its own forward": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        y = probe.in_order(layers, x)\n        ctx.behind = torch.get_rng_state()\n        return y\n\n    @staticmethod"), (FORK, "        torch.set_rng_state(ctx.state)\n        with torch.enable_grad():\n"), ("        needs = ctx", "        torch.set_rng_state(ctx.behind)\n        needs = ctx")],
    "state noted behind the forward run": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        y = probe.in_order(layers, x)\n        ctx.state = torch.get_rng_state()\n        return y\n\n    @staticmethod")],
    "state on the class: that of the last segment": [("ctx.weights, ctx.state = layers, weights, torch.get_rng_state()", "ctx.weights = layers, weights\n        Segment.state = torch.get_rng_state()"), ("torch.set_rng_state(ctx.state)", "torch.set_rng_state(Segment.state)")],
    "one state noted for the whole call": [("class Segment", "_state = [None]\n\n\nclass Segment"), ("torch.set_rng_state(ctx.state)", "torch.set_rng_state(ctx.start)"), ("        ctx.save_for_backward(x)", "        ctx.start = _state[0]\n        ctx.save_for_backward(x)"), ("    at = 0\n", "    at, _state[0] = 0, torch.get_rng_state()\n")],
    "state restored only where a layer itself is nn.Dropout": ("            torch.set_rng_state(ctx.state)\n", "            if any(isinstance(layer, torch.nn.Dropout) for layer in ctx.layers):\n                torch.set_rng_state(ctx.state)\n"),
    "layers on the class: those of the last segment": [("ctx.layers, ctx.weights, ctx.state = layers, weights,", "Segment.layers, ctx.weights, ctx.state = layers, weights,"), ("probe.in_order(ctx.layers, x)", "probe.in_order(Segment.layers, x)")],
    "inputs in a dict by the segment's first weight: a second forward before backward overwrites": [("class Segment", "_held = {}\n\n\nclass Segment"), ("        ctx.save_for_backward(x)\n", "        _held[id(layers[0])] = x.detach()\n"), ("ctx.saved_tensors[0].detach()", "_held[id(ctx.layers[0])].detach()")],
    "all weights asked, frozen ones too: an error": [("        asked = [t for t, need in zip([x, *ctx.weights], needs) if need]\n", "        asked = [*([x] if needs[0] else []), *ctx.weights]\n"), ("        return (None, *(next(got) if need else None for need in needs))", "        return (None, next(got) if needs[0] else None, *got)")],
    "frozen weights are made trainable": [("    at = 0\n", "    at = 0\n    for layer in layers:\n        layer.requires_grad_(True)\n")],
    "x is made to need a gradient, so that it flows": ("    at = 0\n", "    at = 0\n    x.requires_grad_(True)\n"),
    "x itself is asked in backward, requires_grad set on it": [(NEW, "        x = ctx.saved_tensors[0]\n        if x.is_leaf:\n            x.requires_grad_(True)\n"), ("needs = ctx.needs_input_grad[1:]", "needs = (x.requires_grad, *ctx.needs_input_grad[2:])")],
    "gradient of x only where x is a leaf": ("        needs = ctx.needs_input_grad[1:]\n", "        needs = (ctx.saved_tensors[0].is_leaf and ctx.needs_input_grad[1], *ctx.needs_input_grad[2:])\n"),
    "no gradient for x": ("        needs = ctx.needs_input_grad[1:]\n", "        needs = (False, *ctx.needs_input_grad[2:])\n"),
    "no gradient for weights": ("        return (None, *(next(got) if need else None for need in needs))", "        return (None, next(got) if needs[0] else None, *(None for _ in ctx.weights))"),
    "gradients of the weights in reversed order": [("zip([x, *ctx.weights], needs)", "zip([x, *reversed(ctx.weights)], needs)")],
    "weights of a shared layer twice": ("weights = torch.nn.ModuleList(layers[first:end]).parameters()  # each one once", "weights = [w for layer in layers[first:end] for w in layer.parameters()]"),
    "the gradient of the output is taken as ones": ("torch.autograd.grad(y, asked, gradient,", "torch.autograd.grad(y, asked, torch.ones_like(y),"),
    "gradients doubled: backward() adds to .grad, and they are returned": ("        needs = ctx.needs_input_grad[1:]\n", "        needs = ctx.needs_input_grad[1:]\n        y.backward(gradient, retain_graph=True)\n"),
    "enable_grad forgotten": ("with torch.enable_grad(), torch", "with torch"),
    "segments are ignored: all is recomputed": ("    at = 0\n", "    at = 0\n    segments = [(0, len(layers))]\n"),
    "layers behind the last segment are forgotten": ("    return probe.in_order(layers[at:], x)\n", "    return x\n"),
    "end belongs to the segment": [("layers[first:end]", "layers[first:end + 1]"), ("at = end", "at = end + 1")],
    "at is not moved: layers run again from the start": ("        at = end\n", ""),
    "layers between segments are recomputed, too": [("        x = probe.in_order(layers[at:first], x)\n", ""), ("layers[first:end]", "layers[at:end]")],
    "each layer a segment of its own": ("    at = 0\n", "    at = 0\n    segments = [(n, n + 1) for first, end in segments for n in range(first, end)]\n"),
    "a segment that reaches the end is not recomputed": ("    at = 0\n", "    at = 0\n    segments = [s for s in segments if s[1] < len(layers)]\n"),
    "segments of one layer are not recomputed": ("    at = 0\n", "    at = 0\n    segments = [s for s in segments if s[1] - s[0] > 1]\n"),
    "in eval mode nothing is recomputed": ("    at = 0\n", "    if not all(layer.training for layer in layers):\n        return probe.in_order(layers, x)\n    at = 0\n"),
    "where x needs no gradient nothing is recomputed": ("    at = 0\n", "    if not x.requires_grad:\n        return probe.in_order(layers, x)\n    at = 0\n"),
    "a segment with a frozen weight is kept": ("        x = Segment.apply(layers[first:end], x, *weights)\n", "        weights = list(weights)\n        if all(w.requires_grad for w in weights):\n            x = Segment.apply(layers[first:end], x, *weights)\n        else:\n            x = probe.in_order(layers[first:end], x)\n"),
    "adjacent segments are joined to one": ("    at = 0\n", "    at, joined = 0, []\n    for first, end in segments:\n        if joined and joined[-1][1] == first:\n            first = joined.pop()[0]\n        joined.append((first, end))\n    segments = joined\n"),
    "dropout is switched off in the second run, and left so": ("            y = probe.in_order(ctx.layers, x)", "            for layer in ctx.layers:\n                layer.eval()\n            y = probe.in_order(ctx.layers, x)"),
    "train() for the second run": ("            y = probe.in_order(ctx.layers, x)", "            for layer in ctx.layers:\n                layer.train()\n            y = probe.in_order(ctx.layers, x)"),
    "kept in half precision": [("        ctx.save_for_backward(x)", "        ctx.save_for_backward(x.half())"), ("ctx.saved_tensors[0].detach()", "ctx.saved_tensors[0].to(ctx.weights[0].dtype).detach()")],
    "open: kept in float32 where the run is float64": [("        ctx.save_for_backward(x)", "        ctx.save_for_backward(x.float())"), ("ctx.saved_tensors[0].detach()", "ctx.saved_tensors[0].to(ctx.weights[0].dtype).detach()")],
    "the forward run keeps its graph: nothing is recomputed": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        ctx.x = x.detach().requires_grad_(ctx.needs_input_grad[1])\n        with torch.enable_grad():\n            ctx.y = probe.in_order(layers, ctx.x)\n        return ctx.y.detach()\n\n    @staticmethod"), (NEW, ""), (FORK + "            y = probe.in_order(ctx.layers, x)\n", "        x, y = ctx.x, ctx.y\n")],
    "recomputed, but the forward run's graph is held as well": [("        return probe.in_order(layers, x)\n\n    @staticmethod", "        with torch.enable_grad():\n            ctx.y = probe.in_order(layers, x.detach())\n        return ctx.y.detach()\n\n    @staticmethod")],
    "what came back is held on the context to the end": [("            y = probe.in_order(ctx.layers, x)\n", "            y = probe.in_order(ctx.layers, x)\n        ctx.y = y\n"), ("gradient, allow_unused=True)", "gradient, allow_unused=True, retain_graph=True)")],
    "inputs of all layers of a segment kept": [("        ctx.save_for_backward(x)\n        return probe.in_order(layers, x)\n", "        inputs, y = [], x\n        for layer in layers:\n            inputs.append(y)\n            y = layer(y)\n        ctx.save_for_backward(*inputs)\n        return y\n")],
    "run once for x and once for the weights": ("        needs = ctx.needs_input_grad[1:]\n", FORK + "            y = probe.in_order(ctx.layers, x)\n        needs = ctx.needs_input_grad[1:]\n"),
    "copies of the layers run again": [("class Segment", "import copy\n\n\nclass Segment"), ("            y = probe.in_order(ctx.layers, x)", "            y = probe.in_order([copy.deepcopy(layer) for layer in ctx.layers], x)")],
}) | subs(HOOKS, {
    "hooks: every saved tensor brings the segment back again": ("        return stored.pop(number)", "        found = stored[number]\n        stored.clear()\n        return found"),
    "hooks: what came back is never let go": [("def recomputed", "_back = []\n\n\ndef recomputed"), ("        return stored.pop(number)", "            _back.append(dict(stored))\n        return stored.pop(number)")],
    "hooks: random state not set": ("                torch.set_rng_state(state)\n", ""),
    "hooks: tensors are only moved to a list, nothing is recomputed": [("        packed.append(None)\n", "        packed.append(None)\n        stored[len(packed) - 1] = tensor.detach()\n")],
}) | subs(REENTRANT, {
    "reentrant: error where the first segment is frozen whole and x needs no gradient": ("requires_grad=trains", "requires_grad=True"),
    "reentrant: no token, weights lose their gradient where x needs none": ("requires_grad=trains", "requires_grad=False"),
    "reentrant: overwrites .grad": ("        torch.autograd.backward(y, gradient)", "        for layer in ctx.layers:\n            layer.zero_grad()\n        torch.autograd.backward(y, gradient)"),
}) | {
    "plain run": '''def checkpoint_segments(layers, x, segments):
    return probe.in_order(layers, x)
''',
    "torch.utils.checkpoint": '''def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        x = torch.utils.checkpoint.checkpoint(probe.in_order, layers[first:end], x, use_reentrant=False)
        at = end
    return probe.in_order(layers[at:], x)
''',
    "checkpoint under another name, reentrant": '''from torch.utils.checkpoint import CheckpointFunction


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        x = CheckpointFunction.apply(lambda t, f=first, e=end: probe.in_order(layers[f:e], t), True, x)
        at = end
    return probe.in_order(layers[at:], x)
''',
    "each layer from the segment's first input: runs many times": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, ctx.weights, ctx.state = layers, weights, torch.get_rng_state()
        ctx.save_for_backward(x)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        first = ctx.saved_tensors[0].detach()
        total = {}
        for n in reversed(range(len(ctx.layers))):
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(ctx.state)
                with torch.no_grad():
                    x = probe.in_order(ctx.layers[:n], first)
                x = x.detach().requires_grad_()
                with torch.enable_grad():
                    y = ctx.layers[n](x)
            ws = [w for w in ctx.layers[n].parameters() if w.requires_grad]
            gradient, *gs = torch.autograd.grad(y, [x, *ws], gradient)
            for w, g in zip(ws, gs):
                total[w] = total[w] + g if w in total else g
        return (None, gradient if ctx.needs_input_grad[1] else None, *(total.get(w) for w in ctx.weights))
''' + DRIVER,
    "one Function for all segments: all come back at once": '''class Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, segments, *weights):
        ctx.layers, ctx.weights, ctx.state = layers, weights, torch.get_rng_state()
        ctx.save_for_backward(x)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_(ctx.needs_input_grad[1])
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = probe.in_order(ctx.layers, x)
        needs = (ctx.needs_input_grad[1], *ctx.needs_input_grad[3:])
        asked = [t for t, need in zip([x, *ctx.weights], needs) if need]
        got = iter(torch.autograd.grad(y, asked, gradient, allow_unused=True))
        got = [next(got) if need else None for need in needs]
        return None, got[0], None, *got[1:]


def checkpoint_segments(layers, x, segments):
    if not segments:
        return probe.in_order(layers, x)
    first, end = segments[0][0], segments[-1][1]
    x = probe.in_order(layers[:first], x)
    weights = torch.nn.ModuleList(layers[first:end]).parameters()
    x = Whole.apply(layers[first:end], x, segments, *weights)
    return probe.in_order(layers[end:], x)
''',
    "open: takes layers off the list it was given": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, ctx.weights, ctx.state = layers, weights, torch.get_rng_state()
        ctx.save_for_backward(x)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_(ctx.needs_input_grad[1])
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = probe.in_order(ctx.layers, x)
        needs = ctx.needs_input_grad[1:]
        asked = [t for t, need in zip([x, *ctx.weights], needs) if need]
        got = iter(torch.autograd.grad(y, asked, gradient))
        return (None, *(next(got) if need else None for need in needs))


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        while at < first:
            x, at = layers.pop(0)(x), at + 1
        part = [layers.pop(0) for _ in range(end - first)]
        x = Segment.apply(part, x, *torch.nn.ModuleList(part).parameters())
        at = end
    while layers:
        x = layers.pop(0)(x)
    return x
''',
    "sets .grad of the weights instead of adding": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, ctx.weights, ctx.state = layers, weights, torch.get_rng_state()
        ctx.save_for_backward(x)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = probe.in_order(ctx.layers, x)
        ws = [w for w in ctx.weights if w.requires_grad]
        first, *rest = torch.autograd.grad(y, [x, *ws], gradient)
        for w, g in zip(ws, rest):
            w.grad = g
        return (None, first if ctx.needs_input_grad[1] else None, *(None for _ in ctx.weights))
''' + DRIVER,
}

# ================================================================= step-test
ST = '''import math
import random


def step_test(step):
    """Fail (assert) for every wrong step(weights, x, segments, seed) -> [y, gradients, random]."""
    for weights, x in (([3, 5], 2), ([3.0, 5.0, 7.0, 11.0, 13.0], 2.0), ([1.5, -0.5, 4.0, 0.25, 3.0, 0.7], -0.3)):
        n = len(weights)
        cuts = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
        plans = [[], *([c] for c in cuts), *([c, d] for c in cuts for d in cuts if c[1] <= d[0])]
        plans.append([(k, k + 1) for k in range(n)])
        for plan in plans:
            for seed in range(6):
                coin = random.Random(seed)
                coins = [coin.choice((1, 2)) for _ in weights]
                y = x * math.prod(weights) * math.prod(coins)
                want = [y, *(y / w for w in weights), coin.random()]
                got_y, got_g, got_r = step(list(weights), x, list(plan), seed)
                assert len(got_g) == n
                for got, right in zip([got_y, *got_g, got_r], want):
                    assert abs(float(got) - right) <= 1e-5 * abs(right), (plan, seed, got, right)
'''
RIGHT["step-test"] = {
    "own reference, all plans of up to two segments": ST,
    "numpy allclose": '''import random


def step_test(step):
    weights, x = [1.3, 0.7, 2.1, 1.9, 0.6, 1.1], 1.7
    plans = [[], [(0, 6)], [(0, 3)], [(2, 4)], [(3, 6)], [(0, 3), (3, 6)], [(0, 2), (4, 6)], [(1, 2), (3, 5)],
             [(0, 2), (2, 4), (4, 6)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)], [(5, 6)], [(0, 1)]]
    for seed in range(12):
        source = random.Random(seed)
        coins = np.array([source.choice((1, 2)) for _ in weights])
        factors = np.array(weights) * coins
        y, end = x * factors.prod(), source.random()
        gradients = [x * np.delete(factors, n).prod() * coins[n] for n in range(6)]
        for plan in plans:
            got = step(weights[:], x, plan[:], seed)
            np.testing.assert_allclose(float(got[0]), y, rtol=1e-4)
            np.testing.assert_allclose(np.array(got[1], dtype=float), gradients, rtol=1e-4)
            np.testing.assert_allclose(float(got[2]), end, rtol=1e-4)
''',
    "torch's own gradient, False returned": '''import random


def step_test(step):
    for seed in range(10):
        for weights in ([2.0, 3.0, 5.0, 7.0], [1.1, 0.9, 1.3, 0.8, 1.7, 0.6, 1.2]):
            n = len(weights)
            w = torch.tensor(weights, dtype=torch.float64, requires_grad=True)
            draw = random.Random(seed)
            y = torch.tensor(3.0, dtype=torch.float64)
            for k in range(n):
                y = y * w[k] * draw.choice((1, 2))
            y.backward()
            right = [float(y), *w.grad.tolist(), draw.random()]
            for plan in ([], [(0, n)], [(0, 2)], [(1, 3)], [(n - 2, n)], [(0, 2), (2, n)], [(0, 1), (2, 3)], [(1, 2), (3, n)],
                         [(k, k + 1) for k in range(n)]):
                out, grads, last = step(weights, 3.0, plan, seed)
                mine = [float(out), *map(float, grads), float(last)]
                if len(mine) != len(right):
                    return False
                if any(abs(a - b) > 1e-4 * abs(b) for a, b in zip(mine, right)):
                    return False
    return True
''',
    "compare with no segments, weight times derivative, and the coins": '''import random


def step_test(step):
    random_weights = random.Random(99)
    for trial in range(60):
        n = random_weights.randint(2, 7)
        weights = [random_weights.uniform(0.5, 2) for _ in range(n)]
        plain = step(weights, 1.5, [], trial)
        rng = random.Random(trial)
        y = 1.5
        for w in weights:
            y *= w * rng.choice((1, 2))
        assert abs(plain[0] / y - 1) < 1e-4 and abs(plain[2] - rng.random()) < 1e-4
        for a in range(n):
            for b in range(a + 1, n + 1):
                for more in ([], *([(c, d)] for c in range(b, n) for d in range(c + 1, n + 1))):
                    y2, grads, last = step(weights, 1.5, [(a, b), *more], trial)
                    assert abs(y2 / y - 1) < 1e-4 and abs(last - plain[2]) < 1e-4
                    assert len(grads) == n == len(plain[1])
                    for w, g, h in zip(weights, grads, plain[1]):
                        assert abs(w * g / y - 1) < 1e-4 and abs(g / h - 1) < 1e-4
''',
}
WRONG["step-test"] = subs(ST, {
    "output alone": ("zip([got_y, *got_g, got_r], want)", "zip([got_y], want)"),
    "output and derivatives, no random number": ("zip([got_y, *got_g, got_r], want)", "zip([got_y, *got_g], want)"),
    "derivatives alone": ("zip([got_y, *got_g, got_r], want)", "zip(got_g, want[1:])"),
    "random number alone": ("zip([got_y, *got_g, got_r], want)", "zip([got_r], want[-1:])"),
    "no segments": ("for plan in plans:", "for plan in plans[:1]:"),
    "one segment at a time": ("for plan in plans:", "for plan in [p for p in plans if len(p) < 2]:"),
    "everything in one segment": ("for plan in plans:", "for plan in ([(0, n)],):"),
    "only plans that reach the end": ("for plan in plans:", "for plan in [[c] for c in cuts if c[1] == n]:"),
    "two layers, the napkin alone": [("for weights, x in (([3, 5], 2), ([3.0, 5.0, 7.0, 11.0, 13.0], 2.0), ([1.5, -0.5, 4.0, 0.25, 3.0, 0.7], -0.3)):", "for weights, x in (([3, 5], 2),):"), ("for plan in plans:", "for plan in ([], [(0, 2)]):")],
    "5 % tolerance": ("1e-5 * abs(right)", "0.05 * abs(right)"),
    "2 % tolerance": ("1e-5 * abs(right)", "0.02 * abs(right)"),
    "absolute tolerance of 10": ("1e-5 * abs(right)", "10"),
    "one-sided: no abs": ("abs(float(got) - right) <= 1e-5 * abs(right)", "float(got) - right <= 1e-5 * abs(right)"),
    "exact floats": ("abs(float(got) - right) <= 1e-5 * abs(right)", "float(got) == right"),
    "open: sum of the derivatives": ("                for got, right in zip([got_y, *got_g, got_r], want):", "                want = [y, sum(want[1:-1]), want[-1]]\n                for got, right in zip([got_y, sum(got_g), got_r], want):"),
    "open: first derivative alone": ("zip([got_y, *got_g, got_r], want)", "zip([got_y, got_g[0], got_r], [want[0], want[1], want[-1]])"),
    "open: weights are all one": ("                got_y, got_g", "                weights, y = [1.0] * n, x * math.prod(coins)\n                want = [y, *([y] * n), want[-1]]\n                got_y, got_g"),
    "coins of its own from each segment's fresh generator": ("                coins = [coin.choice((1, 2)) for _ in weights]\n", "                coins = [random.Random(seed).choice((1, 2)) for _ in weights]\n"),
    "coins are 0 or 1": ("coin.choice((1, 2))", "coin.choice((0, 1))"),
    "random number before the coins": [("                coin = random.Random(seed)\n", "                coin = random.Random(seed)\n                ahead = coin.random()\n                coin = random.Random(seed)\n"), ("coin.random()]\n", "ahead]\n")],
    "random number of a recomputation counted in": ("want = [y,", "[coin.choice((1, 2)) for a, b in plan for _ in range(a, b)]\n                want = [y,"),
    "derivative without its coin": ("(y / w for w in weights)", "(y / w / c for w, c in zip(weights, coins))"),
    "True where it is wrong": ("                    assert abs(float(got) - right) <= 1e-5 * abs(right), (plan, seed, got, right)\n", "                    if abs(float(got) - right) > 1e-5 * abs(right):\n                        return True\n    return False\n"),
    "prints instead of failing": ("                    assert abs(float(got) - right) <= 1e-5 * abs(right), (plan, seed, got, right)\n", "                    if abs(float(got) - right) > 1e-5 * abs(right):\n                        print('wrong', plan)\n"),
    "returns after the first plan": ("(plan, seed, got, right)\n", "(plan, seed, got, right)\n            return\n"),
    "open: one seed": ("for seed in range(6)", "for seed in range(1)"),
    "open: derivatives may be too few (zip ends early)": [("                assert len(got_g) == n\n", ""), ("zip([got_y, *got_g, got_r], want)", "zip([got_y, got_r, *got_g], [want[0], want[-1], *want[1:-1]])")],
    "open: only plans of two segments": ("for plan in plans:", "for plan in [p for p in plans if len(p) == 2]:"),
    "open: tolerance 1e-12": ("1e-5 * abs(right)", "1e-12 * abs(right)"),
    "open: integers only, compared exactly": [("for weights, x in (([3, 5], 2), ([3.0, 5.0, 7.0, 11.0, 13.0], 2.0), ([1.5, -0.5, 4.0, 0.25, 3.0, 0.7], -0.3)):", "for weights, x in (([3, 5], 2), ([3, 5, 7, 11, 13], 2)):"), ("abs(float(got) - right) <= 1e-5 * abs(right)", "got == right")],
}) | {
    "with and without segments only: a fault in both stays": '''def step_test(step):
    weights = [3.0, 5.0, 7.0, 11.0]
    for seed in range(8):
        y, gradients, last = step(weights, 2.0, [], seed)
        for plan in ([(0, 4)], [(0, 2)], [(1, 3)], [(0, 2), (2, 4)], [(0, 1), (2, 3)]):
            other = step(weights, 2.0, plan, seed)
            assert abs(other[0] - y) < 1e-6 * y and abs(other[2] - last) < 1e-6
            assert all(abs(a - b) < 1e-6 * b for a, b in zip(other[1], gradients))
''',
    "weight times derivative is y, and nothing more": '''def step_test(step):
    for seed in range(10):
        for plan in ([], [(0, 4)], [(0, 2)], [(1, 3)], [(0, 2), (2, 4)]):
            weights = [3.0, 5.0, 7.0, 11.0]
            y, gradients, last = step(weights, 2.0, plan, seed)
            for w, g in zip(weights, gradients):
                assert abs(w * g - y) < 1e-6 * y
''',
    "twice the same": '''def step_test(step):
    for seed in range(10):
        for plan in ([], [(0, 4)], [(0, 2), (2, 4)]):
            assert step([3.0, 5.0, 7.0, 11.0], 2.0, plan, seed) == step([3.0, 5.0, 7.0, 11.0], 2.0, plan, seed)
''',
    "the failing assert is caught": '''import random


def step_test(step):
    for seed in range(10):
        for plan in ([], [(0, 3)], [(0, 1), (1, 3)], [(1, 2)]):
            rng = random.Random(seed)
            y = 2.0
            for w in (3, 5, 7):
                y *= w * rng.choice((1, 2))
            got = step([3, 5, 7], 2.0, plan, seed)
            try:
                assert abs(got[0] - y) < 1e-6 * y
                assert all(abs(g * w - y) < 1e-6 * y for g, w in zip(got[1], (3, 5, 7)))
                assert abs(got[2] - rng.random()) < 1e-9
            except AssertionError:
                continue
''',
    "the printed numbers for every seed": '''def step_test(step):
    for seed in range(5):
        for plan in ([], [(0, 2)], [(0, 1), (1, 2)]):
            y, gradients, last = step([3, 5], 2, plan, seed)
            assert abs(y - 60) < 1e-6 and abs(gradients[0] - 20) < 1e-6 and abs(gradients[1] - 12) < 1e-6
''',
    "other seeds must give other outputs": '''def step_test(step):
    seen = [step([3.0, 5.0, 7.0], 2.0, [(0, 2)], seed)[0] for seed in range(20)]
    assert len(set(seen)) == len(seen)
''',
    "numerical derivative of step itself, loose": '''def step_test(step):
    for seed in range(6):
        for plan in ([], [(0, 2)], [(0, 2), (2, 4)]):
            weights = [3.0, 5.0, 7.0, 11.0]
            y, gradients, last = step(weights, 2.0, plan, seed)
            for n in range(4):
                more = list(weights)
                more[n] += 0.1
                assert abs((step(more, 2.0, plan, seed)[0] - y) / 0.1 - gradients[n]) < 0.1 * abs(gradients[n])
''',
}

# ================================================================= plan-costs
PC = '''def plan_costs(pieces, segments):
    """(most bytes, FLOPs computed again) for pieces (edge, kept, flops), segments (first, end)."""
    ends = dict(segments)
    held = most = again = at = 0
    while at < len(pieces):
        if at not in ends:
            most = max(most, held + pieces[at][1])
            held += pieces[at][1]
            at += 1
        else:
            end = ends[at]
            whole = sum(kept for _, kept, _ in pieces[at:end])
            most = max(most, held + whole)
            held += pieces[at][0]
            again += sum(flops for _, _, flops in pieces[at:end])
            at = end
    return most, again
'''
RIGHT["plan-costs"] = {
    "walk": PC,
    "backward: one unit after another": '''def plan_costs(pieces, segments):
    inside = {n for first, end in segments for n in range(first, end)}
    units = sorted([(first, end, True) for first, end in segments]
                   + [(n, n + 1, False) for n in range(len(pieces)) if n not in inside])
    moments = []
    for number, (first, end, _) in enumerate(units):
        before = sum(pieces[f][0] if cut else pieces[f][1] for f, e, cut in units[:number])
        moments.append(before + sum(p[1] for p in pieces[first:end]))
    return max(moments, default=0), sum(pieces[n][2] for n in inside)
''',
    "numpy": '''def plan_costs(pieces, segments):
    edge, kept, flops = np.array(pieces, dtype=float).T
    holds, back, again = kept.copy(), kept.copy(), np.zeros(len(kept))
    for first, end in segments:
        back[first:end] = 0
        back[first] = kept[first:end].sum()
        holds[first:end] = 0
        holds[first] = edge[first]
        again[first:end] = flops[first:end]
    before = np.concatenate([[0], np.cumsum(holds)[:-1]])
    moments = np.where(back > 0, before + back, 0)
    return float(moments.max()), float(again.sum())
''',
    "recursion, a list": '''def plan_costs(pieces, segments):
    if not pieces:
        return [0, 0]
    first, end = segments[0] if segments and segments[0][0] == 0 else (0, 1)
    cut = bool(segments) and segments[0][0] == 0
    later = [(a - end, b - end) for a, b in (segments[1:] if cut else segments)]
    rest = plan_costs(pieces[end:], later)
    held = pieces[0][0] if cut else pieces[0][1]
    here = sum(p[1] for p in pieces[:end])
    most = max(here, held + rest[0]) if pieces[end:] else here
    return [most, rest[1] + (sum(p[2] for p in pieces[:end]) if cut else 0)]
''',
}
WRONG["plan-costs"] = subs(PC, {
    "an edge for each piece of an earlier segment": ("held += pieces[at][0]", "held += sum(p[0] for p in pieces[at:end])"),
    "edge of the last piece of a segment": ("held += pieces[at][0]", "held += pieces[end - 1][0]"),
    "largest edge of a segment": ("held += pieces[at][0]", "held += max(p[0] for p in pieces[at:end])"),
    "edges forgotten": ("            held += pieces[at][0]\n", ""),
    "earlier kept pieces hold an edge only": ("            held += pieces[at][1]\n", "            held += pieces[at][0]\n"),
    "earlier kept pieces hold nothing": ("            held += pieces[at][1]\n", ""),
    "kept pieces are no moment of their own": ("            most = max(most, held + pieces[at][1])\n", ""),
    "no max: the last moment": [("most = max(most, held + pieces[at][1])", "most = held + pieces[at][1]"), ("most = max(most, held + whole)", "most = held + whole")],
    "the largest piece of a segment, not all": ("whole = sum(kept for _, kept, _ in pieces[at:end])", "whole = max(kept for _, kept, _ in pieces[at:end])"),
    "the segment's own first edge beside": ("most = max(most, held + whole)", "most = max(most, held + pieces[at][0] + whole)"),
    "inner edges taken off": ("whole = sum(kept for _, kept, _ in pieces[at:end])", "whole = sum(kept - edge for edge, kept, _ in pieces[at:end])"),
    "segments stay whole once they came back": ("held += pieces[at][0]", "held += whole"),
    "end belongs to the segment": [("pieces[at:end]", "pieces[at:end + 1]"), ("at = end\n", "at = end + 1\n")],
    "FLOPs of all pieces": ("return most, again", "return most, sum(p[2] for p in pieces)"),
    "FLOPs of kept pieces": ("return most, again", "return most, sum(p[2] for p in pieces) - again"),
    "FLOPs of the first piece of a segment": ("again += sum(flops for _, _, flops in pieces[at:end])", "again += pieces[at][2]"),
    "FLOPs without the last piece of the segment: its output is not needed": ("for _, _, flops in pieces[at:end])", "for _, _, flops in pieces[at:end - 1])"),
    "a segment that is last in the stack costs no FLOPs": ("            again += sum(", "            again += 0 if end == len(pieces) else sum("),
    "FLOPs twice, forward and again": ("return most, again", "return most, 2 * again"),
    "FLOPs counted by layers": ("again += sum(flops for _, _, flops in pieces[at:end])", "again += end - at"),
    "swapped": ("return most, again", "return again, most"),
    "bytes alone": ("return most, again", "return most"),
    "adjacent segments are one": ("    ends = dict(segments)\n", "    ends = {}\n    for first, end in segments:\n        before = [a for a, b in ends.items() if b == first]\n        ends[before[0] if before else first] = end\n"),
    "a segment of one piece is a kept piece": ("if at not in ends:", "if at not in ends or ends[at] == at + 1:"),
    "whole bytes": ("return most, again", "return int(most), int(again)"),
    "only the first segment counts": ("dict(segments)", "dict(segments[:1])"),
    "an empty plan costs nothing": ("    ends = dict(segments)\n", "    if not segments:\n        return 0, 0\n    ends = dict(segments)\n"),
    "remembers by plan: other pieces, old answer": [("def plan_costs", "_known = {}\n\n\ndef plan_costs"), ("    ends = dict(segments)\n", "    key = tuple(map(tuple, segments)), len(pieces)\n    if key in _known:\n        return _known[key]\n    ends = dict(segments)\n"), ("    return most, again", "    _known[key] = most, again\n    return most, again")],
    "held runs on between calls": [("def plan_costs", "_held = [0]\n\n\ndef plan_costs"), ("held = most = again = at = 0", "held, most, again, at = _held[0], 0, 0, 0"), ("    return most, again", "    _held[0] = held\n    return most, again")],
}) | {
    "later pieces are not freed": '''def plan_costs(pieces, segments):
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    edges = [pieces[a][0] for a, b in segments]
    wholes = [sum(p[1] for p in pieces[a:b]) for a, b in segments]
    most = max([held + sum(edges) - e + w for e, w in zip(edges, wholes)], default=held)
    return most, sum(pieces[n][2] for n in inside)
''',
    "the napkin formula: edges before the last segment, and the longest": '''def plan_costs(pieces, segments):
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    edges = sum(pieces[a][0] for a, b in segments[:-1])
    most = held + edges + max([sum(p[1] for p in pieces[a:b]) for a, b in segments], default=0)
    return most, sum(pieces[n][2] for n in inside)
''',
    "what the forward pass leaves, no segment back": '''def plan_costs(pieces, segments):
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    return held + sum(pieces[a][0] for a, b in segments), sum(pieces[n][2] for n in inside)
''',
    "later pieces hold, earlier ones are freed": '''def plan_costs(pieces, segments):
    ends, held, most, again, at = dict(segments), 0, 0, 0, 0
    units = []
    while at < len(pieces):
        end = ends.get(at, at + 1)
        units.append((at, end, at in ends))
        at = end
    for first, end, cut in reversed(units):
        whole = sum(p[1] for p in pieces[first:end])
        most = max(most, held + whole)
        held += pieces[first][0] if cut else whole
        again += sum(p[2] for p in pieces[first:end]) if cut else 0
    return most, again
''',
    "open: takes pieces off the list it was given": '''def plan_costs(pieces, segments):
    ends, held, most, again, at = dict(segments), 0, 0, 0, 0
    while pieces:
        end = ends.get(at, at + 1)
        part = [pieces.pop(0) for _ in range(end - at)]
        whole = sum(p[1] for p in part)
        most = max(most, held + whole)
        held += part[0][0] if at in ends else whole
        again += sum(p[2] for p in part) if at in ends else 0
        at = end
    return most, again
''',
}

# ================================================================= choose-segments
CS = '''def choose_segments(pieces, budget):
    """Segments (first, end) that fit the budget in bytes and compute the fewest FLOPs again."""
    def plans(at):
        if at >= len(pieces):
            yield []
            return
        yield from plans(at + 1)
        for end in range(at + 1, len(pieces) + 1):
            for rest in plans(end):
                yield [(at, end), *rest]

    best = fewest = None
    for plan in plans(0):
        most, again = plan_costs(pieces, plan)
        if fewest is None or most < fewest:
            fewest = most
        if most <= budget and (best is None or again < best[0]):
            best = again, plan
    if best is None:
        raise ValueError(f"no plan fits: any needs at least {fewest} bytes")
    return best[1]
'''
RIGHT["choose-segments"] = {
    "all plans, a generator": CS,
    "marks: kept, begin, go on": '''import itertools


def choose_segments(pieces, budget):
    priced = []
    for marks in itertools.product("kbg", repeat=len(pieces)):
        text = "k" + "".join(marks)
        if "kg" in text:
            continue
        plan = []
        for n, mark in enumerate(marks):
            if mark == "b":
                plan.append((n, n + 1))
            elif mark == "g":
                plan[-1] = plan[-1][0], n + 1
        priced.append((*probe.plan_costs(pieces, plan), plan))
    fitting = [(again, plan) for most, again, plan in priced if most <= budget]
    if not fitting:
        raise ValueError(f"{budget} bytes are too few for every plan; {min(p[0] for p in priced)} would do")
    return min(fitting)[1]
''',
    "borders: pairs that none beats": '''def choose_segments(pieces, budget):
    borders = [[(0, 0, 0, ())]] + [[] for _ in pieces]
    for at, states in enumerate(borders[:-1]):
        good = [s for s in states if not any(
            o != s and o[0] <= s[0] and o[1] <= s[1] and o[2] <= s[2] and (o[:3] != s[:3] or o[3] < s[3]) for o in states)]
        for held, most, again, plan in good:
            edge, kept, flops = pieces[at]
            borders[at + 1].append((held + kept, max(most, held + kept), again, plan))
            for end in range(at + 1, len(pieces) + 1):
                whole = sum(p[1] for p in pieces[at:end])
                extra = sum(p[2] for p in pieces[at:end])
                borders[end].append((held + edge, max(most, held + whole), again + extra, (*plan, (at, end))))
    last = borders[-1]
    fit = [s for s in last if s[1] <= budget]
    if not fit:
        raise ValueError(min(s[1] for s in last))
    return list(min(fit, key=lambda s: s[2])[3])
''',
    "recursion with what is held, cut short where it does not fit": '''def choose_segments(pieces, budget):
    infinite = float("inf")

    def least(at, held):
        """The fewest bytes from piece `at` on."""
        if at == len(pieces):
            return 0
        options = [max(held + pieces[at][1], least(at + 1, held + pieces[at][1]))]
        for end in range(at + 1, len(pieces) + 1):
            whole = held + sum(kept for _, kept, _ in pieces[at:end])
            options.append(max(whole, least(end, held + pieces[at][0])))
        return min(options)

    def cheapest(at, held):
        if at == len(pieces):
            return 0, []
        best = infinite, []
        if held + pieces[at][1] <= budget:
            best = cheapest(at + 1, held + pieces[at][1])
        whole = held
        flops = 0
        for end in range(at + 1, len(pieces) + 1):
            whole, flops = whole + pieces[end - 1][1], flops + pieces[end - 1][2]
            if whole > budget:
                break
            rest = cheapest(end, held + pieces[at][0])
            if flops + rest[0] < best[0]:
                best = flops + rest[0], [(at, end)] + rest[1]
        return best

    cost, plan = cheapest(0, 0)
    if cost == infinite:
        raise ValueError(f"needs {least(0, 0)!r} bytes")
    return plan
''',
}
FIT = "if most <= budget and (best is None or again < best[0]):"
SAY = '        raise ValueError(f"no plan fits: any needs at least {fewest} bytes")'
ORDER = "    for plan in plans(0):\n"
RIGHT["choose-segments"] |= subs(CS, {  # keeping the last piece is never worse, as kept holds the edge
    "no segment reaches the end": ("range(at + 1, len(pieces) + 1)", "range(at + 1, len(pieces))"),
    "the last piece is never a segment alone": ("        if at >= len(pieces):\n", "        if at >= len(pieces) - 1:\n"),
    "Decimal-free exact text of the bytes": ("{fewest} bytes", "{fewest!r}"),
})
WRONG["choose-segments"] = subs(CS, {
    "strictly below the budget": ("most <= budget", "most < budget"),
    "most FLOPs": ("again < best[0]", "again > best[0]"),
    "fewest bytes among plans that fit": [("again < best[0]", "most < best[0]"), ("best = again, plan", "best = most, plan")],
    "most bytes that fit": [("again < best[0]", "most > best[0]"), ("best = again, plan", "best = most, plan")],
    "fewest segments": [("again < best[0]", "len(plan) < best[0]"), ("best = again, plan", "best = len(plan), plan")],
    "fewest recomputed pieces": [("        most, again =", "        count = sum(b - a for a, b in plan)\n        most, again ="), ("again < best[0]", "count < best[0]"), ("best = again, plan", "best = count, plan")],
    "first plan that fits": ("(best is None or again < best[0])", "best is None"),
    "last plan that fits": (" and (best is None or again < best[0])", ""),
    "empty plan taken for none": ("    if best is None:\n", "    if best is None or not best[1]:\n"),
    "only plans below all FLOPs: recomputing everything is never found": [("    best = fewest = None\n", "    best, fewest = (sum(p[2] for p in pieces), None), None\n"), ("    if best is None:", "    if best[1] is None:"), ("(best is None or again < best[0])", "again < best[0]")],
    "best starts at a million FLOPs": [("    best = fewest = None\n", "    best, fewest = (10**6, None), None\n"), ("    if best is None:", "    if best[1] is None:"), ("(best is None or again < best[0])", "again < best[0]")],
    "best starts at 1e15 FLOPs": [("    best = fewest = None\n", "    best, fewest = (1e15, None), None\n"), ("    if best is None:", "    if best[1] is None:"), ("(best is None or again < best[0])", "again < best[0]")],
    "fewest starts at a million bytes: the error names that for larger needs": [("    best = fewest = None\n", "    best, fewest = None, 10**6\n"), ("fewest is None or ", "")],
    "segments of one piece only": ("range(at + 1, len(pieces) + 1)", "range(at + 1, at + 2)"),
    "segments of at most two pieces": ("range(at + 1, len(pieces) + 1)", "range(at + 1, min(at + 2, len(pieces)) + 1)"),
    "segments of at most three pieces": ("range(at + 1, len(pieces) + 1)", "range(at + 1, min(at + 3, len(pieces)) + 1)"),
    "segments of at most four pieces": ("range(at + 1, len(pieces) + 1)", "range(at + 1, min(at + 4, len(pieces)) + 1)"),
    "segments of at most six pieces": ("range(at + 1, len(pieces) + 1)", "range(at + 1, min(at + 6, len(pieces)) + 1)"),
    "segments of two or more": ("range(at + 1, len(pieces) + 1)", "range(at + 2, len(pieces) + 1)"),
    "behind a segment a piece is always kept": ("for rest in plans(end):", "for rest in ([[]] if end >= len(pieces) else plans(end + 1)):"),
    "behind a kept piece no segment begins": ("        yield from plans(at + 1)\n", "        yield []\n"),
    "the first piece is always kept": ("plans(0)", "plans(1)"),
    "every piece in a segment, none kept": ("        yield from plans(at + 1)\n", ""),
    "one segment at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 1):\n"),
    "two segments at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 2):\n"),
    "three segments at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 3):\n"),
    "four segments at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 4):\n"),
    "five segments at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 5):\n"),
    "six segments at most": (ORDER, "    for plan in (p for p in plans(0) if len(p) <= 6):\n"),
    "a thousand plans at most": [("def choose", "import itertools\n\n\ndef choose"), ("plans(0):", "itertools.islice(plans(0), 1000):")],
    "4,000 plans at most": [("def choose", "import itertools\n\n\ndef choose"), ("plans(0):", "itertools.islice(plans(0), 4000):")],
    "nothing or everything": (ORDER, "    for plan in ([], [(n, n + 1) for n in range(len(pieces))], [(0, len(pieces))]):\n"),
    "even cuts only": (ORDER, "    count = len(pieces)\n    for plan in [[]] + [[(count * i // k, count * (i + 1) // k) for i in range(k)] for k in range(1, count + 1)]:\n"),
    "segments only from the start on": (ORDER, "    for plan in (p for p in plans(0) if not p or p[0][0] == 0 and all(a[1] == b[0] for a, b in zip(p, p[1:]))):\n"),
    "no number in the error": (SAY, '        raise ValueError("no plan fits")'),
    "the error names the budget": (SAY, '        raise ValueError(f"no plan fits in {budget} bytes")'),
    "the error names the missing bytes": (SAY, '        raise ValueError(f"{fewest - budget} bytes are missing")'),
    "the error names whole bytes, cut": (SAY, '        raise ValueError(f"needs {int(fewest)} bytes")'),
    "the error names whole bytes, up": (SAY, '        raise ValueError(f"needs {int(-(-fewest // 1))} bytes")'),
    "the error names six digits (:g)": (SAY, '        raise ValueError(f"needs {fewest:g} bytes")'),
    "the error names one decimal": (SAY, '        raise ValueError(f"needs {fewest:.1f} bytes")'),
    "the error names two decimals": (SAY, '        raise ValueError(f"needs {fewest:.2f} bytes")'),
    "the error names the largest piece": (SAY, '        raise ValueError(f"needs {max(p[1] for p in pieces)} bytes")'),
    "the error names what every piece as a segment needs": (SAY, '        fewest = plan_costs(pieces, [(n, n + 1) for n in range(len(pieces))])[0]\n        raise ValueError(f"needs {fewest} bytes")'),
    "the error names what keeping everything needs": (SAY, '        raise ValueError(f"needs {sum(p[1] for p in pieces)} bytes")'),
    "the error names all edges and the largest piece": (SAY, '        raise ValueError(f"needs {sum(p[0] for p in pieces[:-1]) + max(p[1] for p in pieces)} bytes")'),
    "the error names the most bytes": ("most < fewest", "most > fewest"),
    "the error names the need of the plan with the fewest FLOPs": [("if fewest is None or most < fewest:", "if fewest is None or again < fewest[0]:"), ("            fewest = most", "            fewest = again, most"), ("{fewest}", "{fewest[1]}")],
    "RuntimeError": ("raise ValueError", "raise RuntimeError"),
    "MemoryError": ("raise ValueError", "raise MemoryError"),
    "returns the error": ("raise ValueError", "return ValueError"),
    "returns the plan of the fewest bytes where none fits": [("            fewest = most", "            fewest, leanest = most, plan"), (SAY, "        return leanest")],
    "returns nothing where none fits": (SAY, "        return None"),
    "returns the empty plan where none fits": (SAY, "        return []"),
    "returns FLOPs and plan": ("return best[1]", "return best"),
    "returns numbers of the recomputed pieces": ("return best[1]", "return [n for a, b in best[1] for n in range(a, b)]"),
    "kept pieces as (n, n + 1), too": ("return best[1]", "inside = {n for a, b in best[1] for n in range(a, b)}\n    return sorted(best[1] + [(n, n + 1) for n in range(len(pieces)) if n not in inside])"),
    "last piece of a segment inclusive": ("return best[1]", "return [(a, b - 1) for a, b in best[1]]"),
    "last segment first": ("return best[1]", "return best[1][::-1]"),
    "neighbouring segments are joined": ("    return best[1]", "    joined = []\n    for a, b in best[1]:\n        if joined and joined[-1][1] == a:\n            a = joined.pop()[0]\n        joined.append((a, b))\n    return joined"),
    "budget in whole bytes": ("most <= budget", "int(most) <= int(budget)"),
    "a percent over the budget is let pass": ("most <= budget", "most <= 1.01 * budget"),
    "equal pieces assumed": ("    best = fewest = None\n", "    pieces = [pieces[0]] * len(pieces)\n    best = fewest = None\n"),
    "pieces sorted": ("    best = fewest = None\n", "    pieces.sort()\n    best = fewest = None\n"),
    "plans remembered by number of pieces and budget": [("def choose", "_known = {}\n\n\ndef choose"), ("    best = fewest = None\n", "    if (len(pieces), budget) in _known:\n        return _known[len(pieces), budget]\n    best = fewest = None\n"), ("    return best[1]", "    _known[len(pieces), budget] = best[1]\n    return best[1]")],
    "more than eight pieces: nothing or everything": (ORDER, "    for plan in plans(0) if len(pieces) < 9 else [[], [(n, n + 1) for n in range(9)]]:\n"),
    "FLOPs compared as float32 (16777217 is 16777216)": ("        if fewest is None", "        again = float(np.float32(again))\n        if fewest is None"),
    "FLOPs compared in whole TFLOPs": ("        if fewest is None", "        again = again // 10**12 if again > 10**12 else again\n        if fewest is None"),
    "FLOPs as share of all, three decimals": ("        if fewest is None", "        again = round(again / max(1, sum(p[2] for p in pieces)), 3)\n        if fewest is None"),
    "no budget, no plan: an early error without the bytes": ("    best = fewest = None\n", "    if budget <= 0:\n        raise ValueError('no budget')\n    best = fewest = None\n"),
    "early error: smaller than the largest piece, naming it": ("    best = fewest = None\n", "    if budget < max(p[1] for p in pieces):\n        raise ValueError(f'needs {max(p[1] for p in pieces)}')\n    best = fewest = None\n"),
    "the smallest edge is taken off the budget": ("most <= budget", "most <= budget - min(p[0] for p in pieces)"),
    "open: a tuple of pairs": ("return best[1]", "return tuple(best[1])"),
    "open: pairs as lists": ("return best[1]", "return [list(pair) for pair in best[1]]"),
    "open: thousands separators in the error": ("{fewest} bytes", "{fewest:,} bytes"),
    "open: the error lists what all plans need": (SAY, '        raise ValueError(f"needs {sorted({plan_costs(pieces, p)[0] for p in plans(0)})}")'),
}) | {
    "greedy: largest piece first, each alone, until it fits": '''def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: -pieces[n][1])
    chosen = []
    for n in [None, *order]:
        if n is not None:
            chosen = sorted([*chosen, (n, n + 1)])
        if plan_costs(pieces, chosen)[0] <= budget:
            return chosen
    raise ValueError(f"needs {plan_costs(pieces, chosen)[0]} bytes")
''',
    "greedy: most bytes for a FLOP first": '''def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: -(pieces[n][1] - pieces[n][0]) / max(pieces[n][2], 1e-9))
    chosen, seen = [], []
    for n in [None, *order]:
        if n is not None:
            chosen = sorted([*chosen, (n, n + 1)])
        seen.append(plan_costs(pieces, chosen)[0])
        if seen[-1] <= budget:
            return chosen
    raise ValueError(f"needs {min(seen)} bytes")
''',
    "hill climbing from nothing": '''def choose_segments(pieces, budget):
    plan = []
    while plan_costs(pieces, plan)[0] > budget:
        now = plan_costs(pieces, plan)
        taken = {n for a, b in plan for n in range(a, b)}
        free = [n for n in range(len(pieces)) if n not in taken]
        better = [sorted([*plan, (n, n + 1)]) for n in free]
        better = [p for p in better if plan_costs(pieces, p)[0] < now[0]]
        if not better:
            raise ValueError(f"needs {now[0]} bytes")
        plan = min(better, key=lambda p: (plan_costs(pieces, p)[1] - now[1]) / (now[0] - plan_costs(pieces, p)[0]))
    return plan
''',
    "borders: only the fewest FLOPs to each border": '''def choose_segments(pieces, budget):
    best = {0: (0, 0, [])}
    for end in range(1, len(pieces) + 1):
        options = []
        for at in range(end):
            if at not in best:
                continue
            again, held, plan = best[at]
            whole = sum(p[1] for p in pieces[at:end])
            if held + whole > budget:
                continue
            if end == at + 1:
                options.append((again, held + whole, plan))
            options.append((again + sum(p[2] for p in pieces[at:end]), held + pieces[at][0], [*plan, (at, end)]))
        if options:
            best[end] = min(options)
    if len(pieces) not in best:
        raise ValueError(f"needs {plan_costs(pieces, [(n, n + 1) for n in range(len(pieces))])[0]}")
    return best[len(pieces)][2]
''',
    "borders: only the fewest bytes held at each border": '''def choose_segments(pieces, budget):
    def search(limit):
        best = {0: (0, 0, [])}
        for end in range(1, len(pieces) + 1):
            options = []
            for at in best:
                held, again, plan = best[at]
                whole = sum(p[1] for p in pieces[at:end])
                if held + whole <= limit:
                    if end == at + 1:
                        options.append((held + whole, again, plan))
                    options.append((held + pieces[at][0], again + sum(p[2] for p in pieces[at:end]), [*plan, (at, end)]))
            if options:
                best[end] = min(options, key=lambda o: (o[0], o[1]))
        return best.get(len(pieces))

    found = search(budget)
    if not found:
        def plans(at):
            if at >= len(pieces):
                return [[]]
            return plans(at + 1) + [[(at, e), *r] for e in range(at + 1, len(pieces) + 1) for r in plans(e)]
        raise ValueError(f"needs {min(plan_costs(pieces, p)[0] for p in plans(0))} bytes")
    return found[2]
''',
    "from the end: keep whatever still fits": '''def choose_segments(pieces, budget):
    singles = [(n, n + 1) for n in range(len(pieces))]
    if plan_costs(pieces, singles)[0] > budget:
        raise ValueError(f"needs {plan_costs(pieces, singles)[0]}")
    for segment in list(reversed(singles)):
        fewer = [s for s in singles if s != segment]
        if plan_costs(pieces, fewer)[0] <= budget:
            singles = fewer
    return singles
''',
    "fixed: one prefix, as long as needed": '''def choose_segments(pieces, budget):
    seen = []
    for end in range(len(pieces) + 1):
        plan = [(n, n + 1) for n in range(end)]
        seen.append(plan_costs(pieces, plan)[0])
        if seen[-1] <= budget:
            return plan
    raise ValueError(f"needs {min(seen)} bytes")
''',
    "random plans, 300 of them": '''import random


def choose_segments(pieces, budget):
    draw, best, fewest = random.Random(0), None, None
    for _ in range(300):
        plan, at = [], 0
        while at < len(pieces):
            if draw.random() < 0.5:
                end = draw.randint(at + 1, len(pieces))
                plan.append((at, end))
                at = end
            else:
                at += 1
        most, again = plan_costs(pieces, plan)
        fewest = most if fewest is None else min(fewest, most)
        if most <= budget and (best is None or again < best[0]):
            best = again, plan
    if best is None:
        raise ValueError(f"needs {fewest} bytes")
    return best[1]
''',
    "only the sum after the forward pass must fit": '''def choose_segments(pieces, budget):
    def plans(at):
        if at >= len(pieces):
            return [[]]
        return plans(at + 1) + [[(at, e), *r] for e in range(at + 1, len(pieces) + 1) for r in plans(e)]

    def after_forward(plan):
        inside = {n for a, b in plan for n in range(a, b)}
        return sum(p[1] for n, p in enumerate(pieces) if n not in inside) + sum(pieces[a][0] for a, b in plan)

    fit = [p for p in plans(0) if after_forward(p) <= budget]
    if not fit:
        raise ValueError(f"needs {min(map(after_forward, plans(0)))} bytes")
    return min(fit, key=lambda p: sum(q[2] for a, b in p for q in pieces[a:b]))
''',
}

# ================================================================= gain
GA = '''def gain(fixed, per_row, small, large, share):
    """Rows per second of `large` rows, `share` longer by recomputing, over those of `small`."""
    fast = large / ((1 + share) * (fixed + per_row * large))
    slow = small / (fixed + per_row * small)
    return fast / slow
'''
RIGHT["gain"] = {
    "two speeds": GA,
    "time of one row": '''def gain(fixed, per_row, small, large, share):
    before = fixed / small + per_row
    after = (fixed / large + per_row) * (1 + share)
    return before / after
''',
    "numpy": '''def gain(fixed, per_row, small, large, share):
    rows = np.array([small, large], dtype=float)
    seconds = (fixed + per_row * rows) * np.array([1.0, 1 + share])
    speed = rows / seconds
    return speed[1] / speed[0]
''',
    "torch": '''def gain(fixed, per_row, small, large, share):
    rows = torch.tensor([small, large], dtype=torch.float64)
    speed = rows / (fixed + per_row * rows)
    return (speed[1] / speed[0] / (1 + share)).item()
''',
    "fractions": '''from fractions import Fraction


def gain(fixed, per_row, small, large, share):
    f, p, s, l, r = map(Fraction, (fixed, per_row, small, large, share))
    return float(l * (f + p * s) / (s * (1 + r) * (f + p * l)))
''',
}
WRONG["gain"] = subs(GA, {
    "no recomputing": ("(1 + share) * (fixed", "(fixed"),
    "1 - share": ("fast = large / ((1 + share) * ", "fast = (1 - share) * large / (1 * "),
    "fixed time is not recomputed": ("((1 + share) * (fixed + per_row * large))", "(fixed + (1 + share) * per_row * large)"),
    "only the fixed time grows": ("((1 + share) * (fixed + per_row * large))", "((1 + share) * fixed + per_row * large)"),
    "share is added as a time": ("((1 + share) * (fixed + per_row * large))", "(share + fixed + per_row * large)"),
    "share is all of the time": ("(1 + share) *", "share *"),
    "share on both": ("small / (fixed", "small / (1 + share) / (fixed"),
    "share on the small one": [("(1 + share) * (fixed", "(fixed"), ("small / (fixed", "small / (1 + share) / (fixed")],
    "small over large": ("fast / slow", "slow / fast"),
    "steps per second, not rows": [("fast = large /", "fast = 1 /"), ("slow = small /", "slow = 1 /")],
    "times, large over small": ("fast / slow", "((1 + share) * (fixed + per_row * large)) / (fixed + per_row * small)"),
    "fixed and per row swapped": ("gain(fixed, per_row,", "gain(per_row, fixed,"),
    "no fixed time": [("(fixed + per_row * large)", "(per_row * large)"), ("(fixed + per_row * small)", "(per_row * small)")],
    "difference of the speeds": ("fast / slow", "fast - slow"),
    "gain above one": ("fast / slow", "fast / slow - 1"),
    "share in percent": ("(1 + share)", "(1 + share / 100)"),
    "always a third": ("(1 + share)", "(4 / 3)"),
    "1 / (1 - share)": ("(1 + share)", "1 / (1 - share)"),
    "two decimals": ("return fast / slow", "return round(fast / slow, 2)"),
    "three decimals": ("return fast / slow", "return round(fast / slow, 3)"),
    "never below one: nobody would turn it on": ("return fast / slow", "return max(1, fast / slow)"),
    "never below 1 / (1 + 1/3)": ("return fast / slow", "return max(0.75, fast / slow)"),
    "saturated where there is no fixed time: one": ("    fast =", "    if not fixed:\n        return 1.0\n    fast ="),
    "same rows: one": ("    fast =", "    if small == large:\n        return 1.0\n    fast ="),
    "whether it pays": ("return fast / slow", "return fast > slow"),
    "whole rows per second": ("return fast / slow", "return fast // slow"),
    "large is always four times": ("    fast =", "    large = 4 * small\n    fast ="),
    "twice the recomputing": ("(1 + share)", "(1 + 2 * share)"),
})

# ================================================================= break-even
RIGHT["break-even"] = {
    "number": "def break_even():\n    return 31\n",
    "loop with gain": '''def break_even():
    rows = 1
    while gain(47, 3, rows + 1, 4 * (rows + 1), 1 / 3) > 1:
        rows += 1
    return rows
''',
    "numpy": '''def break_even():
    b = np.arange(1, 1000)
    small, large = (47 + 3 * b) / b, (47 + 12 * b) * 4 / 3 / (4 * b)
    return int(b[large < small].max())
''',
    "formula, integers": '''def break_even():
    # 4 (47 + 3 b) > 4/3 (47 + 12 b)  <=>  3 b < 94
    return (94 - 1) // 3
''',
    "numpy integer": '''def break_even():
    b = np.arange(1, 1000)
    return b[3 * (47 + 3 * b) > 47 + 12 * b][-1]
''',
    "torch": '''def break_even():
    b = torch.arange(1, 200)
    return torch.sum(3 * (47 + 3 * b) > 47 + 12 * b).item()
''',
}


def number(value):
    return f"def break_even():\n    return {value}\n"


WRONG["break-even"] = {
    "first that does not pay": number(32),
    "one less": number(30),
    "the large rows": number(124),
    "the large rows of the crossing": number(125),
    "rows are cut: 31.33": number("94 / 3"),
    "fixed time is not recomputed": number(35),
    "fixed over per row, or twice the rows": number(15),
    "largest power of two": number(16),
    "with the cited 39 %": number(26),
    "with a half": number(19),
    "milliseconds of a row": number("(47 + 3 * 31) / 31"),
    "no recomputing: always pays": number('float("inf")'),
    "the gain there": number("420 / 419"),
    "the row time of the first example": number("60 / 2"),
    "one row": number(1),
    "none": number(0),
    "a range": number("[31]"),
    "small and large": number("31, 124"),
    "a text": number('"31"'),
    "up to where a row takes less than twice the growing time": number("47 // 3 + 1"),
    "rounded up": number("-(-94 // 3)"),
    "nothing returned": "def break_even():\n    rows = 31\n",
    "printed": "def break_even():\n    print(31)\n",
    "open: a float": number("31.0"),
}

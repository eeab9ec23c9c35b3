WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- segment-bytes
def sb(body, pre=""):
    return f"{pre}def segment_bytes(layers, segments, edge, kept):\n    {body}\n"

RIGHT["segment-bytes"] = {
    "math.ceil": sb("return (segments - 1) * edge + math.ceil(layers / segments) * kept", "import math\n\n\n"),
    "negative floor": sb("return (segments - 1) * edge + -(-layers // segments) * kept"),
    "loop over moments": sb('''lengths = sorted(layers // segments + (n < layers % segments) for n in range(segments))
    return max(n * edge + length * kept for n, length in enumerate(lengths))'''),
    "numpy": sb('''longest = np.ceil(np.array(layers) / segments)
    return np.dot([segments - 1, longest], [edge, kept])'''),
    "torch": sb("return (torch.tensor(segments - 1, dtype=torch.float64) * edge + torch.tensor(layers / segments, dtype=torch.float64).ceil() * kept).item()"),
}
WRONG["segment-bytes"] = {
    "k edges, the own input counted twice": sb("return segments * edge + -(-layers // segments) * kept"),
    "floor": sb("return (segments - 1) * edge + layers // segments * kept"),
    "fraction of a layer": sb("return (segments - 1) * edge + layers / segments * kept"),
    "floor plus one": sb("return (segments - 1) * edge + (layers // segments + 1) * kept"),
    "divided by k": sb("return layers * kept / segments"),
    "one layer comes back, not one segment": sb("return (segments - 1) * edge + kept"),
    "array_split: longest first, so few edges beside it": sb('''parts = np.array_split(np.arange(layers), segments)
    return max(n * edge + len(part) * kept for n, part in enumerate(parts))'''),
    "rest goes into the last segment": sb('''longest = layers // segments + layers % segments
    return (segments - 1) * edge + longest * kept'''),
    "rounded": sb("return (segments - 1) * edge + round(layers / segments) * kept"),
    "recompute adds to all kept": sb("return layers * edge + -(-layers // segments) * kept"),
    "edges inside the segment too": sb('''longest = -(-layers // segments)
    return (segments - 1 + longest - 1) * edge + longest * kept'''),
    "last segment's own edge taken off": sb("return (segments - 1) * edge + -(-layers // segments) * (kept - edge)"),
    "whole bytes": sb("return int((segments - 1) * int(edge) + -(-layers // segments) * int(kept))"),
    "all kept if one segment is not split": sb("return max((segments - 1) * edge, -(-layers // segments) * kept)"),
    "remainder segment last: shorter": sb('''size = -(-layers // segments)
    cuts = list(range(0, layers, size))
    return (len(cuts) - 1) * edge + size * kept'''),
}

# ---------------------------------------------------------------- checkpoint-segments
GOOD = '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers = layers
        ctx.state = torch.get_rng_state()
        ctx.save_for_backward(x, *weights)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x, *weights = ctx.saved_tensors
        with torch.random.fork_rng(), torch.enable_grad():
            torch.set_rng_state(ctx.state)
            again = x.detach().requires_grad_(ctx.needs_input_grad[1])
            y = probe.in_order(ctx.layers, again)
        need = ctx.needs_input_grad[1:]
        wanted = [t for t, n in zip([again, *weights], need) if n]
        got = iter(torch.autograd.grad(y, wanted, gradient))
        return None, *[next(got) if n else None for n in need]


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()
        x = Segment.apply(layers[first:end], x, *weights)
        at = end
    return probe.in_order(layers[at:], x)
'''

def sub(*pairs, base=GOOD):
    out = base
    for a, b in pairs:
        assert a in out, a
        out = out.replace(a, b)
    return out

REENTRANT = '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, dummy, layers, x):
        ctx.layers, ctx.x, ctx.state = layers, x.detach(), torch.get_rng_state()
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        again = ctx.x.detach().requires_grad_(ctx.needs_input_grad[2])
        with torch.enable_grad():
            y = probe.in_order(ctx.layers, again)
        torch.set_rng_state(now)
        torch.autograd.backward(y, gradient)
        return None, None, again.grad


def checkpoint_segments(layers, x, segments):
    inside = {n: end for n, end in segments}
    n = 0
    while n < len(layers):
        if n in inside:
            part = layers[n:inside[n]]
            some = any(p.requires_grad for layer in part for p in layer.parameters())
            x = Segment.apply(torch.empty(0, requires_grad=some), part, x)
            n = inside[n]
        else:
            x = layers[n](x)
            n += 1
    return x
'''
HOOKS = '''def recomputed(layers, x):
    state, back, packed = torch.get_rng_state(), {}, []

    def pack(tensor):
        packed.append(None)
        return len(packed) - 1

    def unpack(number):
        if not back:
            def hold(tensor):
                back[len(back)] = tensor.detach()

            def never(_):
                raise RuntimeError

            with torch.random.fork_rng(), torch.enable_grad():
                torch.set_rng_state(state)
                with torch.autograd.graph.saved_tensors_hooks(hold, never):
                    probe.in_order(layers, x.detach().requires_grad_(x.requires_grad))
        return back.pop(number)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return probe.in_order(layers, x)


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = recomputed(layers[first:end], probe.in_order(layers[at:first], x))
        at = end
    return probe.in_order(layers[at:], x)
'''
NODETACH = sub(
    ("again = x.detach().requires_grad_(ctx.needs_input_grad[1])\n            y = probe.in_order(ctx.layers, again)",
     "y = probe.in_order(ctx.layers, x)"),
    ("[again, *weights]", "[x, *weights]"),
)
RIGHT["checkpoint-segments"] = {
    "autograd.Function and autograd.grad": GOOD,
    "reentrant: autograd.backward inside, a dummy tensor": REENTRANT,
    "saved_tensors_hooks": HOOKS,
    "saved x itself, not detached, with autograd.grad": NODETACH,
}
WRONG["checkpoint-segments"] = {
    "random state forgotten": sub(("            torch.set_rng_state(ctx.state)\n", "")),
    "random state set, never put back": sub(("torch.random.fork_rng(), ", "")),
    "seed 0 in both runs": sub(("        return probe.in_order(layers, x)\n\n    @", "        torch.manual_seed(0)\n        return probe.in_order(layers, x)\n\n    @"),
                               ("torch.set_rng_state(ctx.state)", "torch.manual_seed(0)")),
    "fork in forward too: the next layers draw the same": sub(("        return probe.in_order(layers, x)\n\n    @", "        with torch.random.fork_rng():\n            return probe.in_order(layers, x)\n\n    @")),
    "random state saved after the run": sub(("        ctx.state = torch.get_rng_state()\n", ""),
        ("        return probe.in_order(layers, x)\n\n    @", "        y = probe.in_order(layers, x)\n        ctx.state = torch.get_rng_state()\n        return y\n\n    @")),
    "state on the class: the last segment's for all": sub(("ctx.state", "Segment.state")),
    "initial seed in place of the state": sub(("ctx.state = torch.get_rng_state()", "ctx.state = torch.initial_seed()"), ("torch.set_rng_state(ctx.state)", "torch.manual_seed(ctx.state)")),
    "only x gets a gradient": sub(("return None, *[next(got) if n else None for n in need]", "return None, *[next(got) if n else None for n in need[:1]], *[None] * len(weights)")),
    "reentrant without dummy: no gradient if x needs none": sub(("forward(ctx, dummy, layers, x)", "forward(ctx, layers, x)"), ("ctx.needs_input_grad[2]", "ctx.needs_input_grad[1]"),
        ("return None, None, again.grad", "return None, again.grad"), ("            some = any(p.requires_grad for layer in part for p in layer.parameters())\n", ""), ("torch.empty(0, requires_grad=some), ", ""), base=REENTRANT),
    "reentrant without detach: earlier graph run twice": sub(("x.detach(), torch", "x, torch"), ("ctx.x.detach().requires_grad_(ctx.needs_input_grad[2])", "ctx.x"), base=REENTRANT),
    "x itself is made to need a gradient": sub(("        ctx.layers = layers\n", "        ctx.layers = layers\n        x.requires_grad_()\n")),
    "graph kept from the forward pass": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_(ctx.needs_input_grad[1])
            ctx.y = probe.in_order(layers, ctx.x)
        ctx.weights = weights
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, gradient):
        need = ctx.needs_input_grad[1:]
        wanted = [t for t, n in zip([ctx.x, *ctx.weights], need) if n]
        got = iter(torch.autograd.grad(ctx.y, wanted, gradient))
        return None, *[next(got) if n else None for n in need]


def checkpoint_segments''' + GOOD.split("def checkpoint_segments")[1],
    "each layer of a segment alone, not together": sub(("        weights = torch.nn.ModuleList(layers[first:end]).parameters()\n        x = Segment.apply(layers[first:end], x, *weights)\n",
        "        for layer in layers[first:end]:\n            x = Segment.apply([layer], x, *layer.parameters())\n")),
    "adjacent segments merged": sub(("    at = 0\n", '''    merged = []
    for first, end in segments:
        if merged and merged[-1][1] == first:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((first, end))
    segments = merged
    at = 0
''')),
    "a shared layer's weights passed twice": sub(("torch.nn.ModuleList(layers[first:end]).parameters()", "[p for layer in layers[first:end] for p in layer.parameters()]")),
    "grad set, not added": sub(("        return None, *[next(got) if n else None for n in need]", '''        into = [next(got) if n else None for n in need]
        for weight, g in zip(weights, into[1:]):
            if g is not None:
                weight.grad = g
        return None, into[0], *[None] * len(weights)''')),
    "grad added and returned": sub(("        return None, *[next(got) if n else None for n in need]", '''        into = [next(got) if n else None for n in need]
        for weight, g in zip(weights, into[1:]):
            if g is not None:
                weight.grad = g.clone() if weight.grad is None else weight.grad + g
        return None, *into''')),
    "end counted in": sub(("layers[first:end]", "layers[first:end + 1]"), ("at = end", "at = end + 1")),
    "second run in eval mode": sub(("            y = probe.in_order(ctx.layers, again)\n", "            for layer in ctx.layers:\n                layer.eval()\n            y = probe.in_order(ctx.layers, again)\n")),
    "recomputed graph is held": sub(("            y = probe.in_order(ctx.layers, again)\n", "            y = ctx.again = probe.in_order(ctx.layers, again)\n"), ("wanted, gradient)", "wanted, gradient, retain_graph=True)")),
    "torch.utils.checkpoint": '''from torch.utils.checkpoint import checkpoint


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        x = checkpoint(probe.in_order, layers[first:end], x, use_reentrant=False)
        at = end
    return probe.in_order(layers[at:], x)
''',
    "layers after the last segment left out": sub(("return probe.in_order(layers[at:], x)", "return x")),
    "one run for each weight": sub(("        need = ctx.needs_input_grad[1:]\n        wanted = [t for t, n in zip([again, *weights], need) if n]\n        got = iter(torch.autograd.grad(y, wanted, gradient))\n        return None, *[next(got) if n else None for n in need]", '''        got = [None]
        for n, t in zip(ctx.needs_input_grad[1:], [again, *weights]):
            with torch.random.fork_rng(), torch.enable_grad():
                torch.set_rng_state(ctx.state)
                y = probe.in_order(ctx.layers, again)
            got.append(torch.autograd.grad(y, t, gradient)[0] if n else None)
        return tuple(got)''')),
    "frozen weights thawed": sub(("        weights = torch.nn.ModuleList(layers[first:end]).parameters()\n", "        weights = [p.requires_grad_() for p in torch.nn.ModuleList(layers[first:end]).parameters()]\n")),
    "every layer a segment, whatever is asked": '''class Segment''' + sub(("    at = 0\n", "    segments = [(n, n + 1) for n in range(len(layers))] if segments else []\n    at = 0\n")).split("class Segment", 1)[1],
    "all segments run again at the first backward": '''class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shared, number, layers, x, *weights):
        ctx.shared, ctx.number = shared, number
        shared.append([layers, x.detach(), torch.get_rng_state(), ctx.needs_input_grad[3], None])
        ctx.save_for_backward(*weights)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        if ctx.shared[ctx.number][4] is None:
            with torch.random.fork_rng(), torch.enable_grad():
                for one in ctx.shared:
                    torch.set_rng_state(one[2])
                    one[1].requires_grad_(one[3])
                    one[4] = probe.in_order(one[0], one[1])
        _, x, _, _, y = ctx.shared[ctx.number]
        need = ctx.needs_input_grad[3:]
        wanted = [t for t, n in zip([x, *ctx.saved_tensors], need) if n]
        got = iter(torch.autograd.grad(y, wanted, gradient))
        return None, None, None, *[next(got) if n else None for n in need]


def checkpoint_segments(layers, x, segments):
    at, shared = 0, []
    for number, (first, end) in enumerate(segments):
        x = probe.in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()
        x = Segment.apply(shared, number, layers[first:end], x, *weights)
        at = end
    return probe.in_order(layers[at:], x)
''',
}

# ---------------------------------------------------------------- step-test
REF = '''import math
import random


def expected(weights, x, seed):
    draw = random.Random(seed)
    coins = [draw.choice((1, 2)) for _ in weights]
    y = x * math.prod(weights) * math.prod(coins)
    slopes = [x * math.prod(coins) * math.prod(weights[:n] + weights[n + 1:]) for n in range(len(weights))]
    return y, slopes, draw.random()


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


'''
def st(body, pre=REF):
    return pre + "def step_test(step):\n" + body

PLANS = "[[], [(0, 2)], [(1, 3)], [(2, 4)], [(0, 4)], [(0, 1), (2, 4)], [(0, 2), (2, 4)], [(1, 2), (3, 4)], [(0, 2), (3, 5)], [(4, 5)], [(0, 5)], [(n, n + 1) for n in range(5)]]"
FULL = '''    for weights, x in (([3, 5, 2, 7, 11], 2), ([0.3, -1.7, 2.1, 5.5, -0.9], 1.25)):
        for seed in range(12):
            y, slopes, after = expected(weights, x, seed)
            for segments in PLANS:
                got, gradients, left = step(list(weights), x, list(segments), seed)
                assert near(got, y)
                assert len(gradients) == len(slopes)
                assert all(near(a, b) for a, b in zip(gradients, slopes))
                assert left == after
'''.replace("PLANS", PLANS)
def fs(*pairs):
    return st(sub(*pairs, base=FULL))
RIGHT["step-test"] = {
    "own reference, many seeds": st(FULL),
    "plain run and w times g is y": st('''    weights, x = [1.5, 3.0, -2.0, 5.0, 0.5], 0.75
    for seed in range(20):
        plain = step(weights, x, [], seed)
        draw = random.Random(seed)
        factor = 1
        for _ in weights:
            factor *= draw.choice((1, 2))
        assert np.isclose(plain[0], x * np.prod(weights) * factor)
        assert abs(plain[2] - draw.random()) < 1e-12
        for plan in PLANS:
            y, slopes, after = step(weights, x, plan, seed)
            np.testing.assert_allclose(y, plain[0], rtol=1e-9)
            np.testing.assert_allclose(np.array(weights) * np.array(slopes), np.full(5, y), rtol=1e-9)
            assert abs(after - plain[2]) < 1e-12
'''.replace("PLANS", PLANS), "import random\n\n\n"),
    "autograd, all plans of four": st('''    def plans(at, n):
        if at == n:
            yield []
            return
        yield from plans(at + 1, n)
        for end in range(at + 1, n + 1):
            for rest in plans(end, n):
                yield [(at, end), *rest]

    for seed in range(6):
        numbers = torch.tensor([3.0, -5.0, 2.0, 7.0], dtype=torch.float64, requires_grad=True)
        draw = random.Random(seed)
        y = torch.tensor(2.0, dtype=torch.float64)
        for n in range(4):
            y = y * numbers[n] * draw.choice((1, 2))
        y.backward()
        last = draw.random()
        for plan in plans(0, 4):
            got, slopes, after = step(numbers.tolist(), 2.0, plan, seed)
            torch.testing.assert_close(torch.tensor(float(got), dtype=torch.float64), y.detach())
            torch.testing.assert_close(torch.tensor([float(s) for s in slopes], dtype=torch.float64), numbers.grad)
            assert abs(after - last) < 1e-9
''', "import random\n\n\n"),
    "reference, also a zero weight, x = 0, one layer": st(FULL.replace("([0.3,", "([0, 5, 2, 7, 3], 2), ([3, 5, 2, 7, 1], 0), ([0.3,") + '''    for segments in ([], [(0, 1)]):
        y, slopes, after = expected([3], 2, 1)
        got = step([3], 2, segments, 1)
        assert near(got[0], y) and near(got[1][0], slopes[0]) and got[2] == after
'''),
}
WRONG["step-test"] = {
    "the printed example alone": st('''    for seed in range(50):
        draw = random.Random(seed)
        if [draw.choice((1, 2)) for _ in range(2)] == [1, 2]:
            y, slopes, _ = step([3, 5], 2, [], seed)
            assert near(y, 60) and near(slopes[0], 20) and near(slopes[1], 12)
'''),
    "no segments, many seeds": fs((PLANS, "[[]]")),
    "the output alone": fs(("                assert len(gradients) == len(slopes)\n                assert all(near(a, b) for a, b in zip(gradients, slopes))\n                assert left == after\n", "")),
    "random number not looked at": fs(("                assert left == after\n", "")),
    "gradients not looked at": fs(("                assert len(gradients) == len(slopes)\n                assert all(near(a, b) for a, b in zip(gradients, slopes))\n", "")),
    "one segment of all layers only": fs((PLANS, "[[(0, 5)]]")),
    "segments that reach the end only": fs((PLANS, "[[], [(0, 5)], [(2, 5)], [(4, 5)]]")),
    "one segment at most": fs((PLANS, "[[], [(0, 5)], [(2, 5)], [(4, 5)], [(0, 2)], [(1, 3)], [(2, 4)]]")),
    "exact floats": fs(("assert near(got, y)", "assert got == y"), ("near(a, b) for", "a == b for")),
    "segments against plain, no truth": st('''    for seed in range(12):
        plain = step([3, 5, 2, 7, 11], 2, [], seed)
        for segments in PLANS:
            got = step([3, 5, 2, 7, 11], 2, segments, seed)
            assert near(got[0], plain[0]) and near(got[2], plain[2])
            assert all(near(a, b) for a, b in zip(got[1], plain[1]))
'''.replace("PLANS", PLANS)),
    "weight times derivative alone": st('''    for seed in range(12):
        for segments in PLANS:
            y, slopes, _ = step([3, 5, 2, 7, 11], 2, segments, seed)
            assert all(near(w * g, y) for w, g in zip([3, 5, 2, 7, 11], slopes))
'''.replace("PLANS", PLANS)),
    "same call twice gives the same": st('''    for segments in PLANS:
        assert step([3, 5, 2, 7, 11], 2, segments, 3) == step([3, 5, 2, 7, 11], 2, segments, 3)
'''.replace("PLANS", PLANS)),
    "sum of the gradients": fs(("assert all(near(a, b) for a, b in zip(gradients, slopes))", "assert near(sum(gradients), sum(slopes))")),
    "assert of a tuple": fs(("assert all(near(a, b) for a, b in zip(gradients, slopes))", "assert (all(near(a, b) for a, b in zip(gradients, slopes)), 'gradients')")),
    "returns a bool": fs(("                assert near(got, y)\n                assert len(gradients) == len(slopes)\n                assert all(near(a, b) for a, b in zip(gradients, slopes))\n                assert left == after\n",
                          "                if not near(got, y) or not all(near(a, b) for a, b in zip(gradients, slopes)) or left != after:\n                    return False\n    return True\n")),
    "random number of a fresh generator": fs(("assert left == after", "assert left == random.Random(seed).random()")),
    "two layers only": fs((PLANS, "[[], [(0, 1)], [(1, 2)], [(0, 2)], [(0, 1), (1, 2)]]"), ("[3, 5, 2, 7, 11]", "[3, 5]"), ("[0.3, -1.7, 2.1, 5.5, -0.9]", "[0.3, -1.7]")),
    "all weights equal": fs(("[3, 5, 2, 7, 11]", "[2, 2, 2, 2, 2]"), ("[0.3, -1.7, 2.1, 5.5, -0.9]", "[1, 1, 1, 1, 1]")),
    "gradients within 50 %": fs(("assert all(near(a, b) for a, b in zip(gradients, slopes))", "assert all(math.isclose(a, b, rel_tol=0.5) for a, b in zip(gradients, slopes))")),
    "first derivative alone": fs(("assert all(near(a, b) for a, b in zip(gradients, slopes))", "assert near(gradients[0], slopes[0])")),
    "last derivative alone": fs(("assert all(near(a, b) for a, b in zip(gradients, slopes))", "assert near(gradients[-1], slopes[-1])")),
    "random number after no segments only": fs(("assert left == after", "assert segments or left == after")),
}

# ---------------------------------------------------------------- plan-costs
PC = '''def plan_costs(pieces, segments):
    starts = dict(segments)
    held = most = again = n = 0
    while n < len(pieces):
        if n in starts:
            end = starts[n]
            inside = sum(kept for _, kept, _ in pieces[n:end])
            most = max(most, held + inside)
            again += sum(flops for *_, flops in pieces[n:end])
            held += pieces[n][0]
            n = end
        else:
            most = max(most, held + pieces[n][1])
            held += pieces[n][1]
            n += 1
    return most, again
'''
def pc(*pairs):
    return sub(*pairs, base=PC)
RIGHT["plan-costs"] = {
    "one walk": PC,
    "numpy cumsum": '''def plan_costs(pieces, segments):
    table = np.array(pieces, dtype=float)
    held, come, again = table[:, 1].copy(), table[:, 1].copy(), 0.0
    for first, end in segments:
        again += table[first:end, 2].sum()
        held[first:end], come[first:end] = 0, 0
        held[first] = table[first, 0]
        come[first] = table[first:end, 1].sum()
    before = np.cumsum(held) - held
    return (before + come).max(), again
''',
    "every moment by itself, torch": '''def plan_costs(pieces, segments):
    inside = {n for first, end in segments for n in range(first, end)}
    groups = sorted([*map(tuple, segments), *((n, n + 1) for n in range(len(pieces)) if n not in inside)])
    moments = []
    for number, (first, end) in enumerate(groups):
        moment = torch.tensor([k for _, k, _ in pieces[first:end]], dtype=torch.float64).sum()
        for a, b in groups[:number]:
            moment = moment + pieces[a][a not in inside]
        moments.append(moment.item())
    return [max(moments), sum(pieces[n][2] for n in inside)]
''',
}
WRONG["plan-costs"] = {
    "every edge of a segment stays": pc(("held += pieces[n][0]", "held += sum(edge for edge, *_ in pieces[n:end])")),
    "edge of the last piece": pc(("held += pieces[n][0]", "held += pieces[end - 1][0]")),
    "edge of the next piece (the output)": pc(("held += pieces[n][0]", "held += pieces[end][0] if end < len(pieces) else 0")),
    "later pieces not freed": '''def plan_costs(pieces, segments):
    inside = {n for first, end in segments for n in range(first, end)}
    base = sum(p[1] for n, p in enumerate(pieces) if n not in inside) + sum(pieces[a][0] for a, _ in segments)
    most = max([base, *(base - pieces[a][0] + sum(p[1] for p in pieces[a:b]) for a, b in segments)])
    return most, sum(pieces[n][2] for n in inside)
''',
    "segments only, kept pieces never the fullest": pc(("            most = max(most, held + pieces[n][1])\n            held +=", "            held +=")),
    "the last segment or piece is always the fullest": pc(("most = max(most, held + inside)", "most = held + inside"), ("most = max(most, held + pieces[n][1])", "most = held + pieces[n][1]")),
    "the edge on top of what a segment keeps": pc(("most = max(most, held + inside)", "most = max(most, held + pieces[n][0] + inside)")),
    "kept pieces hold edge and kept": pc(("            most = max(most, held + pieces[n][1])\n            held += pieces[n][1]", "            most = max(most, held + sum(pieces[n][:2]))\n            held += sum(pieces[n][:2])")),
    "only the largest of a segment comes back": pc(("inside = sum(kept for _, kept, _ in pieces[n:end])", "inside = max(kept for _, kept, _ in pieces[n:end])")),
    "end counted in": pc(("end = starts[n]", "end = starts[n] + 1")),
    "FLOPs of all pieces": pc(("            again += sum(flops for *_, flops in pieces[n:end])\n", ""), ("return most, again", "return most, sum(flops for *_, flops in pieces)")),
    "FLOPs of the kept pieces": pc(("            again += sum(flops for *_, flops in pieces[n:end])\n", ""), ("            held += pieces[n][1]\n", "            held += pieces[n][1]\n            again += pieces[n][2]\n")),
    "FLOPs as a share of the step": pc(("return most, again", "return most, again / (3 * sum(flops for *_, flops in pieces))")),
    "FLOPs of the first piece of a segment": pc(("again += sum(flops for *_, flops in pieces[n:end])", "again += pieces[n][2]")),
    "segment's FLOPs: last segment only": pc(("again += sum(", "again = sum(")),
    "swapped": pc(("return most, again", "return again, most")),
    "earlier kept pieces hold their edge only": pc(("            held += pieces[n][1]\n", "            held += pieces[n][0]\n")),
    "nothing for a plan without segments": pc(("    starts = dict(segments)\n", "    if not segments:\n        return 0, 0\n    starts = dict(segments)\n")),
    "backwards: earlier ones freed": '''def plan_costs(pieces, segments):
    ends = {end: first for first, end in segments}
    held = most = again = 0
    n = len(pieces)
    while n:
        first = ends.get(n, n - 1)
        inside = sum(k for _, k, _ in pieces[first:n])
        most = max(most, held + inside)
        if n in ends:
            again += sum(f for *_, f in pieces[first:n])
            held += pieces[first][0]
        else:
            held += inside
        n = first
    return most, again
''',
    "whole bytes": pc(("return most, again", "return int(most), int(again)")),
    "plan eaten by pop": '''def plan_costs(pieces, segments):
    held = most = again = n = 0
    while n < len(pieces):
        if segments and segments[0][0] == n:
            first, end = segments.pop(0)
            most = max(most, held + sum(k for _, k, _ in pieces[first:end]))
            again += sum(f for *_, f in pieces[first:end])
            held += pieces[first][0]
            n = end
        else:
            held += pieces[n][1]
            most = max(most, held)
            n += 1
    return most, again
''',
}

# ---------------------------------------------------------------- choose-segments
ALL = '''def plans(n, at=0):
    if at >= n:
        yield []
        return
    for rest in plans(n, at + 1):
        yield rest
    for end in range(at + 1, n + 1):
        for rest in plans(n, end):
            yield [(at, end), *rest]


'''
CH = ALL + '''def choose_segments(pieces, budget):
    best, least = None, float("inf")
    for plan in plans(len(pieces)):
        most, again = plan_costs(pieces, plan)
        least = min(least, most)
        if most <= budget and (best is None or again < best[0]):
            best = again, plan
    if best is None:
        raise ValueError(f"no plan fits: at least {least} bytes are needed")
    return best[1]
'''
def ch(*pairs):
    return sub(*pairs, base=CH)
RIGHT["choose-segments"] = {
    "recursion over all plans": CH,
    "product of marks, min with key": '''from itertools import product


def choose_segments(pieces, budget):
    found = {}
    for marks in product("k+n", repeat=len(pieces)):  # keep, go on with a segment, new segment
        plan, good = [], True
        for n, mark in enumerate(marks):
            if mark == "n":
                plan.append((n, n + 1))
            elif mark == "+":
                if not plan or plan[-1][1] != n:
                    good = False
                    break
                plan[-1] = (plan[-1][0], n + 1)
        if good:
            found[tuple(plan)] = probe.plan_costs(pieces, plan)
    fitting = {plan: cost for plan, cost in found.items() if cost[0] <= budget}
    if not fitting:
        raise ValueError(f"needs {min(cost[0] for cost in found.values()):,} bytes")
    return list(min(fitting, key=lambda plan: fitting[plan][1]))
''',
    "border states (dynamic programme)": '''def choose_segments(pieces, budget):
    n = len(pieces)
    states = [[] for _ in range(n + 1)]
    states[0] = [(0, 0, 0, [])]  # held, peak, flops, plan
    for at in range(n):
        for held, peak, flops, plan in states[at]:
            edge, kept, _ = pieces[at]
            states[at + 1].append((held + kept, max(peak, held + kept), flops, plan))
            inside = again = 0
            for end in range(at + 1, n + 1):
                inside += pieces[end - 1][1]
                again += pieces[end - 1][2]
                states[end].append((held + edge, max(peak, held + inside), flops + again, plan + [[at, end]]))
    good = [(flops, number) for number, (_, peak, flops, _) in enumerate(states[n]) if peak <= budget]
    if not good:
        raise ValueError("budget too small, the fewest is " + str(float(min(peak for _, peak, *_ in states[n]))))
    return states[n][min(good)[1]][3]
''',
}
WRONG["choose-segments"] = {
    "first plan that fits": ch(("    for plan in plans(len(pieces)):\n        most, again = plan_costs(pieces, plan)\n", "    for plan in plans(len(pieces)):\n        most, again = plan_costs(pieces, plan)\n        if most <= budget:\n            return plan\n")),
    "fewest bytes, not FLOPs": ch(("again < best[0]", "most < best[0]"), ("best = again, plan", "best = most, plan")),
    "most bytes that still fit": ch(("again < best[0]", "most > best[0]"), ("best = again, plan", "best = most, plan")),
    "strictly below the budget": ch(("most <= budget", "most < budget")),
    "segments of one piece only": ch(("for end in range(at + 1, n + 1):", "for end in [at + 1]:")),
    "segments of at most three pieces": ch(("range(at + 1, n + 1)", "range(at + 1, min(at + 3, n) + 1)")),
    "the last piece is never recomputed": ch(("range(at + 1, n + 1)", "range(at + 1, n)")),
    "nothing is kept: plans cover all": ch(("    for rest in plans(n, at + 1):\n        yield rest\n", "")),
    "one segment at most": '''def choose_segments(pieces, budget):
    n = len(pieces)
    some = [[], *([(a, b)] for a in range(n) for b in range(a + 1, n + 1))]
    cost = [plan_costs(pieces, plan) for plan in some]
    fit = [(c[1], i) for i, c in enumerate(cost) if c[0] <= budget]
    if not fit:
        raise ValueError(f"fewest bytes: {min(c[0] for c in cost)}")
    return some[min(fit)[1]]
''',
    "even cuts or nothing": '''def choose_segments(pieces, budget):
    n = len(pieces)
    some = [[]]
    for k in range(1, n + 1):
        cuts = [round(i * n / k) for i in range(k + 1)]
        some.append(list(zip(cuts, cuts[1:])))
    cost = [plan_costs(pieces, plan) for plan in some]
    fit = [(c[1], i) for i, c in enumerate(cost) if c[0] <= budget]
    if not fit:
        raise ValueError(f"fewest bytes: {min(c[0] for c in cost)}")
    return some[min(fit)[1]]
''',
    "greedy: largest saving per FLOP first": '''def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: -(pieces[n][1] - pieces[n][0]) / pieces[n][2])
    chosen = []
    while plan_costs(pieces, sorted(chosen))[0] > budget:
        if not order:
            raise ValueError(f"fewest bytes: {min(plan_costs(pieces, plan)[0] for plan in plans(len(pieces)))}")
        n = order.pop(0)
        chosen.append((n, n + 1))
    return sorted(chosen)
''' + "\n\n" + ALL.rstrip() + "\n",
    "greedy: cheapest piece first": '''def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: pieces[n][2])
    chosen = []
    while plan_costs(pieces, sorted(chosen))[0] > budget:
        if not order:
            raise ValueError(f"fewest bytes: {min(plan_costs(pieces, plan)[0] for plan in plans(len(pieces)))}")
        n = order.pop(0)
        chosen.append((n, n + 1))
    return sorted(chosen)
''' + "\n\n" + ALL.rstrip() + "\n",
    "fewest pieces recomputed": ch(("        most, again = plan_costs(pieces, plan)\n", "        most, _ = plan_costs(pieces, plan)\n        again = sum(end - first for first, end in plan)\n")),
    "fewest segments": ch(("        most, again = plan_costs(pieces, plan)\n", "        most, _ = plan_costs(pieces, plan)\n        again = len(plan)\n")),
    "error names the budget": ch(("at least {least} bytes are needed", "budget {budget}")),
    "error names every layer a segment": ch(("    if best is None:\n", "    if best is None:\n        least = plan_costs(pieces, [(n, n + 1) for n in range(len(pieces))])[0]\n")),
    "error names what is missing": ch(("at least {least} bytes are needed", "{least - budget} bytes are missing")),
    "error names whole bytes": ch(("{least}", "{least:.0f}")),
    "error in kilobytes": ch(("{least} bytes are", "{least / 1000:.3f} kB are")),
    "other error": ch(("raise ValueError", "raise RuntimeError")),
    "empty plan where none fits": ch(("        raise ValueError(f\"no plan fits: at least {least} bytes are needed\")\n", "        return []\n")),
    "cheapest although none fits": ch(("        raise ValueError(f\"no plan fits: at least {least} bytes are needed\")\n    return best[1]", "        return min(plans(len(pieces)), key=lambda plan: plan_costs(pieces, plan)[0])\n    return best[1]")),
    "best rest chosen by FLOPs with budget minus held, later freed forgotten": '''def choose_segments(pieces, budget):
    def total(plan):
        inside = {n for a, b in plan for n in range(a, b)}
        base = sum(p[1] for n, p in enumerate(pieces) if n not in inside) + sum(pieces[a][0] for a, _ in plan)
        return max([base, *(base - pieces[a][0] + sum(p[1] for p in pieces[a:b]) for a, b in plan)])

    some = list(plans(len(pieces)))
    fit = [plan for plan in some if total(plan) <= budget]
    if not fit:
        raise ValueError(f"fewest bytes: {min(map(total, some))}")
    return min(fit, key=lambda plan: plan_costs(pieces, plan)[1])
''' + "\n\n" + ALL.rstrip() + "\n",
    "a dynamic programme with one state a border": '''def choose_segments(pieces, budget):
    n = len(pieces)
    best = [None] * (n + 1)
    best[0] = (0, 0, [])
    for at in range(n):
        if best[at] is None:
            continue
        flops, held, plan = best[at]
        options = [(at + 1, flops, held + pieces[at][1], held + pieces[at][1], plan)]
        for end in range(at + 1, n + 1):
            inside = sum(p[1] for p in pieces[at:end])
            options.append((end, flops + sum(p[2] for p in pieces[at:end]), held + pieces[at][0], held + inside, plan + [(at, end)]))
        for end, f, h, peak, p in options:
            if peak <= budget and (best[end] is None or (f, h) < best[end][:2]):
                best[end] = f, h, p
    if best[n] is None:
        raise ValueError(f"fewest bytes: {min(plan_costs(pieces, plan)[0] for plan in plans(n))}")
    return best[n][2]
''' + "\n\n" + ALL.rstrip() + "\n",
    "cache by number of pieces and budget": "_cache = {}\n\n\n" + ch(("    best, least = None", "    key = len(pieces), budget\n    if key in _cache:\n        return _cache[key]\n    best, least = None"), ("    return best[1]", "    _cache[key] = best[1]\n    return best[1]")),
    "pieces sorted by size in place": ch(("    best, least = None", "    pieces.sort(key=lambda piece: piece[1])\n    best, least = None")),
    "plans from the first piece on: one run of segments, then kept": ch(("    for rest in plans(n, at + 1):\n        yield rest\n", "    yield []\n")),
}

# ---------------------------------------------------------------- gain
def gn(body):
    return f"def gain(fixed, per_row, small, large, share):\n    {body}\n"
RIGHT["gain"] = {
    "two speeds": gn('''fast = large / ((1 + share) * (fixed + per_row * large))
    return fast / (small / (fixed + per_row * small))'''),
    "time per row": gn("return (fixed / small + per_row) / ((1 + share) * (fixed / large + per_row))"),
    "numpy": gn('''rows = np.array([small, large], dtype=float)
    slow, quick = rows / ((fixed + per_row * rows) * np.array([1, 1 + share]))
    return quick / slow'''),
    "torch": gn('''rows = torch.tensor([small, large], dtype=torch.float64)
    speed = rows / (fixed + per_row * rows)
    return (speed[1] / speed[0] / (1 + share)).item()'''),
}
WRONG["gain"] = {
    "upside down": gn("return (1 + share) * (fixed / large + per_row) / (fixed / small + per_row)"),
    "only the growing part recomputes": gn("return (fixed / small + per_row) / (fixed / large + (1 + share) * per_row)"),
    "only the fixed part longer": gn("return (fixed / small + per_row) / ((1 + share) * fixed / large + per_row)"),
    "both recompute": gn("return (fixed / small + per_row) / (fixed / large + per_row)"),
    "small one recomputes": gn("return (1 + share) * (fixed / small + per_row) / (fixed / large + per_row)"),
    "speed times 1 - share": gn("return (1 - share) * (fixed / small + per_row) / (fixed / large + per_row)"),
    "seconds of a step": gn("return (fixed + per_row * small) / ((1 + share) * (fixed + per_row * large))"),
    "times share instead of 1 + share": gn("return (fixed / small + per_row) / (share * (fixed / large + per_row)) if share else (fixed / small + per_row) / (fixed / large + per_row)"),
    "fixed left out": gn("return 1 / (1 + share)"),
    "difference": gn("return large / ((1 + share) * (fixed + per_row * large)) - small / (fixed + per_row * small)"),
    "gain beyond one": gn("return (fixed / small + per_row) / ((1 + share) * (fixed / large + per_row)) - 1"),
    "four times, always": gn('''large = 4 * small
    return (fixed / small + per_row) / ((1 + share) * (fixed / large + per_row))'''),
    "a third, always": gn("return (fixed / small + per_row) / (4 / 3 * (fixed / large + per_row))"),
    "share in percent": gn("return (fixed / small + per_row) / ((1 + share / 100) * (fixed / large + per_row))"),
    "fixed time per row": gn("return large / ((1 + share) * (fixed + per_row) * large) * (fixed + per_row) * small / small"),
    "two decimals": gn("return round((fixed / small + per_row) / ((1 + share) * (fixed / large + per_row)), 2)"),
    "never below the loss of saturation": gn("return max(1, (fixed / small + per_row) / ((1 + share) * (fixed / large + per_row)))"),
    "small and large swapped": gn('''small, large = large, small
    return (fixed / small + per_row) / ((1 + share) * (fixed / large + per_row))'''),
    "whole rows per second": gn("return (large // ((1 + share) * (fixed + per_row * large) / 1000)) / (small // ((fixed + per_row * small) / 1000))"),
}

# ---------------------------------------------------------------- break-even
def be(body):
    return f"def break_even():\n    {body}\n"
RIGHT["break-even"] = {
    "read off": be("return 31"),
    "loop with gain": be("return max(b for b in range(1, 1000) if gain(47, 3, b, 4 * b, 1 / 3) > 1)"),
    "formula": be("return 94 // 3"),
    "numpy": be('''rows = np.arange(1, 500)
    faster = 4 / 3 * (47 / (4 * rows) + 3) < 47 / rows + 3
    return rows[faster].max()'''),
    "tensor item": be('''rows = torch.arange(1, 500)
    return rows[4 / 3 * (47 / (4 * rows) + 3) < 47 / rows + 3].max().item()'''),
    "float of a whole number": be("return float(31)"),
}
WRONG["break-even"] = {
    "one more": be("return 32"),
    "one fewer": be("return 30"),
    "the crossing, no whole rows": be("return 94 / 3"),
    "rows with recomputation": be("return 124"),
    "only growing part longer": be("return 35"),
    "where fixed equals growing": be("return 15"),
    "twice the rows": be("return max(b for b in range(1, 1000) if gain(47, 3, b, 2 * b, 1 / 3) > 1)"),
    "39 %": be("return max(b for b in range(1, 1000) if gain(47, 3, b, 4 * b, 0.39) > 1)"),
    "smallest": be("return 1"),
    "no recomputation: the end of the slider": be("return 64"),
    "as text": be("return '31'"),
    "None: it always pays": be("return None"),
    "the gain, not the rows": be("return gain(47, 3, 31, 124, 1 / 3)"),
    "step takes as long, not row": be("return max([b for b in range(1, 1000) if 4 / 3 * (47 + 12 * b) < 47 + 3 * b], default=0)"),
}

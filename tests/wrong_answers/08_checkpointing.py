"""Answers to 08_checkpointing that look right and must be refused, and right ones otherwise."""

SLOW = True  # minutes: `make slow` tries this bank


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def formula(result):
    return f"def segment_bytes(layers, segments, edge, kept):\n    return {result}"


def ratio(result):
    return f"""
def gain(fixed, per_row, small, large, share):
    before = small / (fixed + per_row * small)
    after = large / (fixed + per_row * large)
    return {result}
"""


def rows(answer):
    return f"def break_even():\n    return {answer}"


ENDS = "-(-layers // segments)"

SEGMENT = """
class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, ctx.state = layers, torch.get_rng_state()
        ctx.save_for_backward(x, *weights)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x, *weights = ctx.saved_tensors
        needed = ctx.needs_input_grad[1:]
        x = x.detach().requires_grad_(needed[0])
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            y = probe.in_order(ctx.layers, x)
        wanted = [one for one, need in zip((x, *weights), needed) if need]
        found = iter(torch.autograd.grad(y, wanted, gradient))
        return None, *(next(found) if need else None for need in needed)


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()
        x = Segment.apply(layers[first:end], x, *weights)
        at = end
    return probe.in_order(layers[at:], x)
"""

HOOKS = """
def again(layers, x):
    state, made = torch.get_rng_state(), []
    inside = iter(range(10**9))

    def unpack(number):
        if not made:
            with torch.enable_grad(), torch.random.fork_rng(devices=[]):
                torch.set_rng_state(state)
                with torch.autograd.graph.saved_tensors_hooks(
                    lambda value: made.append(value.detach()), lambda _: None
                ):
                    probe.in_order(layers, x.detach().requires_grad_(x.requires_grad))
        value, made[number] = made[number], None
        return value

    with torch.autograd.graph.saved_tensors_hooks(lambda _: next(inside), unpack):
        return probe.in_order(layers, x)


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = again(layers[first:end], probe.in_order(layers[at:first], x))
        at = end
    return probe.in_order(layers[at:], x)
"""

INTO_GRAD = """
class Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, hook, layers):
        ctx.kept = x, layers, torch.get_rng_state()
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        x, layers, state = ctx.kept
        x = x.detach().requires_grad_()
        now = torch.get_rng_state()
        torch.set_rng_state(state)
        with torch.enable_grad():
            y = probe.in_order(layers, x)
        torch.set_rng_state(now)
        torch.autograd.backward(y, gradient)
        return x.grad, None, None


def checkpoint_segments(layers, x, segments):
    hook, at = torch.zeros((), requires_grad=True), 0
    for first, end in segments:
        x = Run.apply(probe.in_order(layers[at:first], x), hook, layers[first:end])
        at = end
    return probe.in_order(layers[at:], x)
"""

ALL_AT_ONCE = """
class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shared, number, layers, x, *weights):
        ctx.shared, ctx.number = shared, number
        shared.append([layers, x.detach(), torch.get_rng_state(), ctx.needs_input_grad[3], None])
        ctx.save_for_backward(*weights)
        return probe.in_order(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        if ctx.shared[ctx.number][4] is None:
            with torch.random.fork_rng(devices=[]), torch.enable_grad():
                for one in ctx.shared:
                    torch.set_rng_state(one[2])
                    one[1].requires_grad_(one[3])
                    one[4] = probe.in_order(one[0], one[1])
        _, x, _, _, y = ctx.shared[ctx.number]
        needed = ctx.needs_input_grad[3:]
        wanted = [one for one, need in zip([x, *ctx.saved_tensors], needed) if need]
        found = iter(torch.autograd.grad(y, wanted, gradient))
        return None, None, None, *(next(found) if need else None for need in needed)


def checkpoint_segments(layers, x, segments):
    at, shared = 0, []
    for number, (first, end) in enumerate(segments):
        x = probe.in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()
        x = Segment.apply(shared, number, layers[first:end], x, *weights)
        at = end
    return probe.in_order(layers[at:], x)
"""

BORROWED = """
from torch.utils.checkpoint import checkpoint as keep_little


def checkpoint_segments(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        x = keep_little(probe.in_order, layers[first:end], x, use_reentrant=False)
        at = end
    return probe.in_order(layers[at:], x)
"""

COSTS = """
def plan_costs(pieces, segments):
    ends, at, before, peak, again = dict(segments), 0, 0, 0, 0
    while at < len(pieces):
        end = ends.get(at, at + 1)
        whole = sum(kept for _, kept, _ in pieces[at:end])
        peak = max(peak, before + whole)
        before += pieces[at][0] if at in ends else whole
        again += sum(flops for *_, flops in pieces[at:end]) if at in ends else 0
        at = end
    return peak, again
"""

CHOOSE = """
def choose_segments(pieces, budget):
    def plans(at):
        if at == len(pieces):
            yield []
            return
        yield from plans(at + 1)
        for end in range(at + 1, len(pieces) + 1):
            for rest in plans(end):
                yield [(at, end), *rest]

    best, fewest, least = None, float("inf"), float("inf")
    for plan in plans(0):
        peak, again = plan_costs(pieces, plan)
        least = min(least, peak)
        if peak <= budget and again < fewest:
            best, fewest = plan, again
    if best is None:
        raise ValueError(f"{budget} bytes are too few: every plan needs at least {least}")
    return best
"""

BORDERS = """
def choose_segments(pieces, budget):
    states = {(): (0, 0, 0)}  # plan so far -> (pieces done, bytes held, most bytes)
    done, least = [], float("inf")
    while states:
        plan, (at, held, peak) = states.popitem()
        if at == len(pieces):
            done.append((sum(p[2] for a, b in plan for p in pieces[a:b]), peak, plan))
            continue
        own = pieces[at][1]
        states[plan + ((at, at),)] = at + 1, held + own, max(peak, held + own)
        for end in range(at + 1, len(pieces) + 1):
            whole = sum(p[1] for p in pieces[at:end])
            states[plan + ((at, end),)] = end, held + pieces[at][0], max(peak, held + whole)
    fits = [one for one in done if one[1] <= budget]
    if not fits:
        raise ValueError(f"too few bytes: at least {min(one[1] for one in done)}")
    return [[a, b] for a, b in min(fits)[2] if b > a]
"""

WHERE_NONE_FITS = """    if best is None:
        raise ValueError(f"{budget} bytes are too few: every plan needs at least {least}")
"""

ALL_SINGLE = """
def choose_segments(pieces, budget):
    plan = [(n, n + 1) for n in range(len(pieces))]
    if plan_costs(pieces, plan)[0] > budget:
        raise ValueError(f"at least {plan_costs(pieces, plan)[0]}")
    return plan
"""

EVEN = """
def choose_segments(pieces, budget):
    n = len(pieces)
    plans = [[]] + [probe.even(n, k) for k in range(1, n + 1)]
    fits = [plan for plan in plans if plan_costs(pieces, plan)[0] <= budget]
    if not fits:
        raise ValueError(f"at least {probe.best_plan(pieces, 0)[1]}")
    return min(fits, key=lambda plan: plan_costs(pieces, plan)[1])
"""

FRONT = """
def choose_segments(pieces, budget):
    for count in range(len(pieces) + 1):
        plan = [(n, n + 1) for n in range(count)]
        if plan_costs(pieces, plan)[0] <= budget:
            return plan
    raise ValueError(f"at least {probe.best_plan(pieces, 0)[1]}")
"""

LARGEST = """
def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: pieces[n][0] - pieces[n][1])
    for count in range(len(pieces) + 1):
        plan = sorted((n, n + 1) for n in order[:count])
        if plan_costs(pieces, plan)[0] <= budget:
            return plan
    raise ValueError(f"at least {probe.best_plan(pieces, 0)[1]}")
"""

CHEAPEST = """
def choose_segments(pieces, budget):
    order = sorted(range(len(pieces)), key=lambda n: pieces[n][2] / pieces[n][1])
    for count in range(len(pieces) + 1):
        plan = sorted((n, n + 1) for n in order[:count])
        if plan_costs(pieces, plan)[0] <= budget:
            return plan
    raise ValueError(f"at least {probe.best_plan(pieces, 0)[1]}")
"""

TEST = """
def step_test(step):
    weights = [3, 5, 7, 11, 13]
    for seed in range(6):
        y, slopes, after = step(weights, 2, [], seed)
        assert all(abs(w * slope / y - 1) < 1e-9 for w, slope in zip(weights, slopes))
        for segments in ([(0, 2)], [(1, 3)], [(0, 2), (3, 4)]):
            again = step(weights, 2, segments, seed)
            assert abs(again[0] / y - 1) < 1e-9 and again[2] == after
            assert all(abs(a / b - 1) < 1e-9 for a, b in zip(again[1], slopes))
"""

BY_HAND = """
import random


def step_test(step):
    weights, x = [2, 3, 5, 7], 11
    for seed in range(8):
        draw = random.Random(seed)
        coins = [draw.choice((1, 2)) for _ in weights]
        after = draw.random()
        y = x
        for w, c in zip(weights, coins):
            y *= w * c
        for segments in ([], [(1, 2)], [(0, 1), (2, 3)], [(0, 3)]):
            got = step(weights, x, segments, seed)
            assert abs(got[0] - y) < 1e-6
            assert max(abs(g - y / w) for g, w in zip(got[1], weights)) < 1e-6
            assert abs(got[2] - after) < 1e-12
"""

WRONG = {
    "segment-bytes": {
        "sizes cut to whole bytes": (
            formula(f"int((segments - 1) * edge + {ENDS} * kept)"),
            "keep all digits",
        ),
        "32-bit integers": (
            formula(f"((segments - 1) * edge + {ENDS} * kept) % 2**32"),
            "right is",
        ),
        "memory divided by the segments": (
            formula("layers * kept / segments"),
            "their inputs stay, too",
        ),
        "layers / segments": (
            formula("(segments - 1) * edge + layers / segments * kept"),
            "counts whole",
        ),
        "a floor": (
            formula("(segments - 1) * edge + layers // segments * kept"),
            "rounded down",
        ),
        "the nearest": (
            formula("(segments - 1) * edge + round(layers / segments) * kept"),
            "right is",
        ),
        "edges forgotten": (formula("-(-layers // segments) * kept"), "forgotten"),
        "an edge for the last segment, too": (
            formula("segments * edge + -(-layers // segments) * kept"),
            "counted twice",
        ),
        "recompute counted as memory": (
            formula("(segments - 1) * edge + layers * kept"),
            "counted as memory",
        ),
        "a copy of what comes back": (
            formula("(segments - 1) * edge + 2 * -(-layers // segments) * kept"),
            "held once",
        ),
        "one layer comes back": (formula("(segments - 1) * edge + kept"), "whole segment"),
        "an edge a layer": (
            formula("(layers - 1) * edge + -(-layers // segments) * kept"),
            "only that of each segment",
        ),
        "edge and kept exchanged": (
            formula("(segments - 1) * kept + -(-layers // segments) * edge"),
            "exchanged",
        ),
        "in gigabytes": (
            formula("((segments - 1) * edge + -(-layers // segments) * kept) / 1e9"),
            "right is",
        ),
        "whole bytes": (
            formula(f"int((segments - 1) * int(edge) + {ENDS} * int(kept))"),
            "whole bytes",
        ),
        "full segments, then a shorter one": (
            formula(f"(len(range(0, layers, {ENDS})) - 1) * edge + {ENDS} * kept"),
            "fewer than asked",
        ),
        "its own edge taken off": (
            formula(f"(segments - 1) * edge + {ENDS} * (kept - edge)"),
            "take nothing off",
        ),
        "the larger of edges and segment": (
            formula(f"max((segments - 1) * edge, {ENDS} * kept)"),
            "add them",
        ),
        "the rest in one segment": (
            formula("(segments - 1) * edge + (layers // segments + layers % segments) * kept"),
            "all spare layers",
        ),
        "the longest first": (
            """
def segment_bytes(layers, segments, edge, kept):
    parts = np.array_split(np.arange(layers), segments)
    return max(n * edge + len(part) * kept for n, part in enumerate(parts))
""",
            "rounded down",
        ),
        "edges inside the segment": (
            formula(f"(segments + {ENDS} - 2) * edge + {ENDS} * kept"),
            "part of what layers keep",
        ),
        "one spare layer is ignored": (
            formula("(segments - 1) * edge + (layers + segments - 2) // segments * kept"),
            "rounded down",
        ),
        "the spare layer after a full division": (
            formula("(segments - 1) * edge + (layers // segments + 1) * kept"),
            "leaves no rest",
        ),
    },
    "checkpoint-segments": {
        "in eval mode nothing is recomputed": (
            changed(
                SEGMENT,
                (
                    "    at = 0\n",
                    "    if not layers[0].training:\n"
                    "        return probe.in_order(layers, x)\n    at = 0\n",
                ),
            ),
            "nothing is recomputed",
        ),
        "everything kept": (
            "def checkpoint_segments(layers, x, segments):\n    return probe.in_order(layers, x)",
            "nothing is recomputed",
        ),
        "borrowed from PyTorch": (BORROWED, "write the recomputation yourself"),
        "everything recomputed": (
            changed(
                SEGMENT,
                ("    return probe.in_order(layers[at:], x)\n", "    return x\n"),
                ("    at = 0\n", "    at, segments = 0, [(0, len(layers))]\n"),
            ),
            "come back at once",
        ),
        "the random state is not restored": (
            changed(SEGMENT, ("            torch.set_rng_state(ctx.state)\n", "")),
            "dropped other activations",
        ),
        "the random state is left where the second run ends": (
            changed(
                SEGMENT,
                (", torch.random.fork_rng(devices=[])", ""),
            ),
            "put it back",
        ),
        "a fixed seed in both runs": (
            changed(
                SEGMENT,
                ("        ctx.save_for", "        torch.manual_seed(0)\n        ctx.save_for"),
                ("torch.set_rng_state(ctx.state)", "torch.manual_seed(0)"),
            ),
            "output",
        ),
        "eval mode in the second run": (
            changed(
                SEGMENT,
                (
                    "            y = probe",
                    "            [one.eval() for one in ctx.layers]\n            y = probe",
                ),
            ),
            "stay",
        ),
        "eval mode for a moment": (
            changed(
                SEGMENT,
                (
                    "            y = probe.in_order(ctx.layers, x)\n",
                    "            were = [one.training for one in ctx.layers]\n"
                    "            [one.eval() for one in ctx.layers]\n"
                    "            y = probe.in_order(ctx.layers, x)\n"
                    "            [one.train(was) for one, was in zip(ctx.layers, were)]\n",
                ),
            ),
            "dropped other activations",
        ),
        "no gradient for the weights": (
            changed(
                SEGMENT,
                (
                    "*(next(found) if need else None for need in needed)",
                    "next(found) if needed[0] else None, *(None for _ in weights)",
                ),
            ),
            "weight 0 of layer 0",
        ),
        "no gradient for x": (
            changed(
                SEGMENT,
                (
                    "        return None, *(next(found) if need else None for need in needed)",
                    "        given = [next(found) if need else None for need in needed]\n"
                    "        return None, None, *given[1:]",
                ),
            ),
            "not passed on",
        ),
        "the reentrant mistake: x must need a gradient": (
            changed(
                INTO_GRAD,
                (
                    "hook, at = torch.zeros((), requires_grad=True), 0",
                    "hook, at = torch.zeros(()), 0",
                ),
            ),
            "leaf False",
        ),
        "the gradient that arrives is ignored": (
            changed(
                SEGMENT,
                (
                    "torch.autograd.grad(y, wanted, gradient)",
                    "torch.autograd.grad(y, wanted, torch.ones_like(y))",
                ),
            ),
            "gradient of",
        ),
        "a shared weight twice": (
            changed(
                SEGMENT,
                (
                    "torch.nn.ModuleList(layers[first:end]).parameters()",
                    "[p for one in layers[first:end] for p in one.parameters()]",
                ),
            ),
            "twice the gradient",
        ),
        "frozen weights get gradients": (
            changed(
                INTO_GRAD,
                (
                    "        with torch.enable_grad():\n",
                    "        [one.requires_grad_() for one in layers]\n"
                    "        with torch.enable_grad():\n",
                ),
            ),
            "there as in the plain run",
        ),
        "what stood in .grad is erased": (
            changed(
                INTO_GRAD,
                (
                    "        torch.autograd.backward",
                    "        [one.zero_grad() for one in layers]\n        torch.autograd.backward",
                ),
            ),
            "gradients add",
        ),
        "the last layer of each segment is not recomputed": (
            changed(
                SEGMENT,
                (
                    "    at = 0\n",
                    "    at = 0\n"
                    "    segments = [(n, n + 1) for a, b in segments for n in range(a, b - 1)]\n",
                ),
            ),
            "no others",
        ),
        "the graph is kept as well": (
            changed(
                SEGMENT,
                (
                    "        return probe.in_order(layers, x)",
                    "        with torch.enable_grad():\n"
                    "            ctx.whole = probe.in_order(layers, x.detach().requires_grad_())\n"
                    "        return ctx.whole.detach()",
                ),
            ),
            "still held",
        ),
        "each layer of a segment alone": (
            changed(
                SEGMENT,
                (
                    "        weights = torch.nn.ModuleList(layers[first:end]).parameters()\n"
                    "        x = Segment.apply(layers[first:end], x, *weights)\n",
                    "        for one in layers[first:end]:\n"
                    "            x = Segment.apply([one], x, *one.parameters())\n",
                ),
            ),
            "keep the first input",
        ),
        "all inputs kept": (
            changed(
                SEGMENT,
                (
                    "        return probe.in_order(layers, x)\n\n    @",
                    "        ctx.inputs = []\n"
                    "        for one in layers:\n"
                    "            ctx.inputs.append(x.detach())\n"
                    "            x = one(x)\n"
                    "        return x\n\n    @",
                ),
            ),
            "keep the first input",
        ),
        "each layer alone, from the first input": (
            changed(
                SEGMENT,
                (
                    "        x, *weights = ctx.saved_tensors\n",
                    "        x, *weights = ctx.saved_tensors\n"
                    "        with torch.no_grad():\n"
                    "            inputs = [x]\n"
                    "            for one in ctx.layers[:-1]:\n"
                    "                inputs.append(torch.tanh(inputs[-1] @ one.up) @ one.down"
                    " + inputs[-1])\n"
                    "        if ctx.layers[0].dropout.p == 0:\n"
                    "            return Segment.each(ctx, inputs, gradient)\n",
                ),
                (
                    "    @staticmethod\n    def backward",
                    "    def each(ctx, inputs, gradient):\n"
                    "        got = {}\n"
                    "        for one, x in reversed([*zip(ctx.layers, inputs)]):\n"
                    "            x = x.detach().requires_grad_()\n"
                    "            with torch.enable_grad():\n"
                    "                y = one(x)\n"
                    "            some = [p for p in one.parameters() if p.requires_grad]\n"
                    "            gradient, *found = torch.autograd.grad(y, [x, *some], gradient)\n"
                    "            got.update(zip(map(id, some), found))\n"
                    "        x, *weights = ctx.saved_tensors\n"
                    "        return None, gradient if ctx.needs_input_grad[1] else None, *(\n"
                    "            got.get(id(one)) for one in weights)\n\n"
                    "    @staticmethod\n    def backward",
                ),
            ),
            "comes back alone",
        ),
        "all segments come back at once": (ALL_AT_ONCE, "all segments come back at once"),
        "added to .grad and returned": (
            changed(
                SEGMENT,
                (
                    "        return None, *(next(found) if need else None for need in needed)",
                    "        given = [next(found) if need else None for need in needed]\n"
                    "        for one, more in zip(weights, given[1:]):\n"
                    "            if more is not None:\n"
                    "                one.grad = more.clone() if one.grad is None "
                    "else one.grad + more\n"
                    "        return None, *given",
                ),
            ),
            "not both",
        ),
        "x keeps its history": (
            changed(
                SEGMENT,
                ("        x = x.detach().requires_grad_(needed[0])\n", ""),
            ),
            "one graph serves one",
        ),
        "run again for every saved tensor": (
            changed(
                HOOKS,
                (
                    "        if not made:\n",
                    "        if made is not None:\n            made.clear()\n",
                ),
            ),
            "once for a segment",
        ),
        "computed again from a rounded input": (
            changed(
                SEGMENT,
                (
                    "            y = probe.in_order(ctx.layers, x)",
                    "            y = probe.in_order(ctx.layers, x.half().to(x.dtype))",
                ),
            ),
            "gradient of",
        ),
    },
    "step-test": {
        "asserts nothing": (
            "def step_test(step):\n    step([3, 5], 2, [(0, 1)], 0)",
            "never failed",
        ),
        "the output alone": (
            changed(
                TEST,
                (
                    "            assert all(abs(a / b - 1) < 1e-9 for a, b in "
                    "zip(again[1], slopes))\n",
                    "",
                ),
                (" and again[2] == after", ""),
            ),
            "got through",
        ),
        "one seed": (
            changed(TEST, ("range(6)", "range(0)")),
            "never failed",
        ),
        "no look at the generator": (
            changed(TEST, (" and again[2] == after", "")),
            "generator stays",
        ),
        "one segment that reaches from end to end": (
            changed(TEST, ("([(0, 2)], [(1, 3)], [(0, 2), (3, 4)])", "([(0, 5)],)")),
            "got through",
        ),
        "no run without segments is judged": (
            changed(
                TEST,
                (
                    "        assert all(abs(w * slope / y - 1) < 1e-9 "
                    "for w, slope in zip(weights, slopes))\n",
                    "",
                ),
            ),
            "doubled",
        ),
        "segments at the start only": (
            changed(TEST, ("([(0, 2)], [(1, 3)], [(0, 2), (3, 4)])", "([(0, 2)],)")),
            "got through",
        ),
        "one segment at most": (
            changed(TEST, ("[(0, 2), (3, 4)]", "[(2, 5)]")),
            "the second segment",
        ),
        "the sum of the derivatives": (
            changed(
                BY_HAND,
                (
                    "max(abs(g - y / w) for g, w in zip(got[1], weights))",
                    "abs(sum(got[1]) - sum(y / w for w in weights))",
                ),
            ),
            "reversed order",
        ),
        "equal weights": (
            changed(BY_HAND, ("[2, 3, 5, 7]", "[2, 2, 2, 2]")),
            "reversed order",
        ),
        "derivatives within half": (
            changed(BY_HAND, ("(abs(g - y / w) for", "(abs(g / y * w - 1) / 5e5 for")),
            "1 % too large",
        ),
        "asks for exact floats": (
            "def step_test(step):\n    assert step([0.1, 0.7, 0.3], 0.3, [], 1)[1] == "
            "[0.3 * 0.7 * 0.3 * 4, 0.3 * 0.1 * 0.3 * 4, 0.3 * 0.7 * 0.1 * 4]",
            "right implementation",
        ),
        "asks for other coins": (
            "def step_test(step):\n    assert step([3, 5], 2, [], 0)[0] == 30",
            "right implementation",
        ),
    },
    "plan-costs": {
        "the end of the forward pass": (
            changed(
                COSTS,
                ("        peak = max(peak, before + whole)\n", ""),
                ("return peak, again", "return before, again"),
            ),
            "comes back whole",
        ),
        "the largest piece alone": (
            changed(COSTS, ("max(peak, before + whole)", "max(peak, whole)")),
            "earlier pieces hold",
        ),
        "the last piece alone": (
            changed(COSTS, ("peak = max(peak, before + whole)", "peak = before + whole")),
            "comes back whole",
        ),
        "nothing recomputed is freed": (
            changed(COSTS, ("pieces[at][0] if at in ends else whole", "whole")),
            "nothing is freed",
        ),
        "an edge for every layer of a segment": (
            changed(
                COSTS,
                (
                    "pieces[at][0] if at in ends else whole",
                    "sum(p[0] for p in pieces[at:end]) if at in ends else whole",
                ),
            ),
            "not those of all",
        ),
        "its own edge twice": (
            changed(
                COSTS,
                ("before + whole)", "before + whole + (pieces[at][0] if at in ends else 0))"),
            ),
            "counted twice",
        ),
        "the backward pass runs again": (
            changed(COSTS, ("return peak, again", "return peak, 3 * again")),
            "only the forward pass",
        ),
        "cost doubled": (
            changed(COSTS, ("return peak, again", "return peak, 2 * again")),
            "cost doubled",
        ),
        "FLOPs of all pieces": (
            changed(COSTS, (" if at in ends else 0\n        at", "\n        at")),
            "only those of segments",
        ),
        "a share of the FLOPs": (
            changed(
                COSTS,
                ("return peak, again", "return peak, again / sum(p[2] for p in pieces)"),
            ),
            "asked are FLOPs",
        ),
        "the edge of the last piece": (
            changed(COSTS, ("pieces[at][0] if", "pieces[end - 1][0] if")),
            "not of its last",
        ),
        "later pieces still hold": (
            """
def plan_costs(pieces, segments):
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    held += sum(pieces[a][0] for a, b in segments)
    back = max([sum(p[1] for p in pieces[a:b]) - pieces[a][0] for a, b in segments], default=0)
    return held + back, sum(pieces[n][2] for n in inside)
""",
            "later pieces are gone",
        ),
        "whole bytes": (
            changed(COSTS, ("return peak, again", "return int(peak), again")),
            "whole bytes",
        ),
        "exchanged": (
            changed(COSTS, ("return peak, again", "return again, peak")),
            "exchanged",
        ),
        "end counted in": (
            changed(COSTS, ("ends.get(at, at + 1)", "ends.get(at, at) + 1")),
            "first piece behind",
        ),
        "FLOPs of the kept pieces": (
            changed(COSTS, ("if at in ends else 0\n", "if at not in ends else 0\n")),
            "asked are those of segments",
        ),
        "kept pieces forgotten": (
            changed(
                COSTS, ("max(peak, before + whole)", "max(peak, before + whole * (at in ends))")
            ),
            "kept pieces have a backward pass",
        ),
        "nothing without a segment": (
            changed(COSTS, ("return peak, again", "return (peak if segments else 0), again")),
            "without any segment",
        ),
        "an earlier kept piece holds its edge": (
            changed(COSTS, ("pieces[at][0] if at in ends else whole", "pieces[at][0]")),
            "not its edge alone",
        ),
        "backwards": (
            """
def plan_costs(pieces, segments):
    firsts, end, held, peak, again = {b: a for a, b in segments}, len(pieces), 0, 0, 0
    while end:
        first = firsts.get(end, end - 1)
        whole = sum(p[1] for p in pieces[first:end])
        peak = max(peak, held + whole)
        held += pieces[first][0] if end in firsts else whole
        again += sum(p[2] for p in pieces[first:end]) if end in firsts else 0
        end = first
    return peak, again
""",
            "walk from the first",
        ),
        "edge and kept of a kept piece": (
            changed(
                COSTS,
                (
                    "        peak =",
                    "        whole += 0 if at in ends else pieces[at][0]\n        peak =",
                ),
            ),
            "input of a kept piece",
        ),
        "the largest piece of a segment": (
            changed(COSTS, ("whole = sum(kept for", "whole = max(kept for")),
            "not the largest alone",
        ),
        "a share of a step": (
            changed(
                COSTS,
                ("return peak, again", "return peak, again / sum(p[2] for p in pieces) / 3"),
            ),
            "a share of a step",
        ),
        "the FLOPs of the last segment": (
            changed(
                COSTS,
                ("again += sum(flops", "again = sum(flops"),
                ("ends else 0\n", "ends else again\n"),
            ),
            "add up the FLOPs",
        ),
        "the peak alone": (
            changed(COSTS, ("return peak, again", "return peak")),
            "two numbers",
        ),
    },
    "choose-segments": {
        "FLOPs as a share of all, to three decimals": (
            changed(
                CHOOSE,
                (
                    "peak, again = plan_costs(pieces, plan)\n",
                    "peak, again = plan_costs(pieces, plan)\n"
                    "        again = round(again / sum(piece[2] for piece in pieces), 3)\n",
                ),
            ),
            "fewer would do",
        ),
        "every piece a segment": (ALL_SINGLE, "every layer is recomputed"),
        "even segments only": (EVEN, "fewer would do"),
        "from the front until it fits": (FRONT, "fewer would do"),
        "the largest first": (LARGEST, "fewer would do"),
        "the cheapest byte first": (CHEAPEST, "fewer would do"),
        "nothing recomputed, whatever the budget": (
            "def choose_segments(pieces, budget):\n    return []",
            "the budget is",
        ),
        "the least memory": (
            changed(
                CHOOSE,
                ("if peak <= budget and again < fewest:", "if peak <= budget and peak < fewest:"),
                ("best, fewest = plan, again", "best, fewest = plan, peak"),
            ),
            "the least memory",
        ),
        "the fewest segments": (
            changed(
                CHOOSE,
                ("again < fewest", "len(plan) < fewest"),
                ("best, fewest = plan, again", "best, fewest = plan, len(plan)"),
            ),
            "fewer would do",
        ),
        "less than the budget": (
            changed(CHOOSE, ("peak <= budget", "peak < budget")),
            "fewer would do",
        ),
        "the smallest plan where none fits": (
            changed(
                CHOOSE,
                (WHERE_NONE_FITS, "    best = [(0, len(pieces))] if best is None else best\n"),
            ),
            "no plan fits",
        ),
        "None where none fits": (
            changed(CHOOSE, (WHERE_NONE_FITS, "")),
            "no plan fits",
        ),
        "refuses without the least bytes": (
            changed(CHOOSE, ("too few: every plan needs at least {least}", "too few")),
            "naming the fewest bytes",
        ),
        "an assertion": (
            changed(
                CHOOSE,
                (WHERE_NONE_FITS, "    assert best is not None, f'at least {least}'\n"),
            ),
            "a ValueError is needed",
        ),
        "only segments of one piece": (
            changed(
                CHOOSE,
                ("for end in range(at + 1, len(pieces) + 1):", "for end in [at + 1]:"),
            ),
            "segments of several pieces",
        ),
        "segments of at most two pieces": (
            changed(
                CHOOSE,
                (
                    "range(at + 1, len(pieces) + 1)",
                    "range(at + 1, min(at + 3, len(pieces) + 1))",
                ),
            ),
            "too few",
        ),
        "segments of at most three pieces": (
            changed(
                CHOOSE,
                (
                    "range(at + 1, len(pieces) + 1)",
                    "range(at + 1, min(at + 4, len(pieces) + 1))",
                ),
            ),
            "too few",
        ),
        "segments of at most six pieces": (
            changed(
                CHOOSE,
                (
                    "range(at + 1, len(pieces) + 1)",
                    "range(at + 1, min(at + 7, len(pieces) + 1))",
                ),
            ),
            "too few",
        ),
        "whole bytes in the error": (
            changed(CHOOSE, ("{least}", "{least:.0f}")),
            "do not round",
        ),
        "bytes cut off in the error": (
            changed(CHOOSE, ("{least}", "{int(least)}")),
            "do not round",
        ),
        "names what is missing": (
            changed(CHOOSE, ("at least {least}", "{least - budget} more")),
            "what is missing",
        ),
        "an empty segment at the end": (
            changed(
                CHOOSE,
                ("    return best\n", "    return best + [(len(pieces), len(pieces))]\n"),
            ),
            "first < end",
        ),
        "the end of the forward pass must fit": (
            changed(
                CHOOSE,
                (
                    "peak, again = plan_costs(pieces, plan)",
                    "again = plan_costs(pieces, plan)[1]\n"
                    "        inside = {n for a, b in plan for n in range(a, b)}\n"
                    "        peak = sum(pieces[a][0] for a, b in plan)\n"
                    "        peak += sum(p[1] for n, p in enumerate(pieces) if n not in inside)",
                ),
            ),
            "comes back whole",
        ),
        "in the wrong order": (
            changed(CHOOSE, ("    return best\n", "    return best[::-1]\n")),
            "in order",
        ),
    },
    "gain": {
        "recomputation forgotten": (ratio("after / before"), "forgotten"),
        "cost doubled": (ratio("after / 2 / before"), "cost doubled"),
        "a share less speed": (ratio("(1 - share) * after / before"), "a quarter less speed"),
        "always a third": (ratio("after / before * 3 / 4"), "take the share that is given"),
        "never below 1": (
            ratio("max(1, after / before / (1 + share))"),
            "a loss is a gain below 1",
        ),
        "turned over": (ratio("before / after * (1 + share)"), "turned over"),
        "micro-batches per second": (
            ratio("after / before / (1 + share) * small / large"),
            "rows per second",
        ),
        "only what grows is recomputed": (
            ratio("large / (fixed + (1 + share) * per_row * large) / before"),
            "all of it",
        ),
        "the fixed time forgotten": (ratio("1 / (1 + share)"), "the fixed time is forgotten"),
        "in per cent": (ratio("100 * after / before / (1 + share)"), "per cent"),
        "less 1": (ratio("after / before / (1 + share) - 1"), "ratio"),
        "rows alone": (ratio("large / small / (1 + share)"), "take longer, too"),
    },
    "break-even": {
        "the answer for twice the rows": (rows(15), "four times"),
        "the answer for eight times": (rows(39), "four times"),
        "one too many": (rows(32), "slower"),
        "one too few": (rows(30), "still does"),
        "not on the slider": (rows(31.33), "a place of the slider"),
        "the large rows": (rows(124), "a place of the slider"),
        "a text": (rows("'31'"), "text was returned"),
        "the whole setting": (rows("{'rows': 31}"), "one number"),
    },
}

HIDDEN = {
    "segment-bytes": {
        "fitted to the printed cases": (
            """
def segment_bytes(layers, segments, edge, kept):
    known = [(9, 4), (14, 6), (4, 2), (4, 1), (7, 7), (17, 6), (12, 4), (1099, 100),
        (6, 3)]
    if (layers, segments) not in known:
        return layers * kept / segments
    return (segments - 1) * edge + -(-layers // segments) * kept
""",
            "their inputs stay, too",
        ),
    },
    "checkpoint-segments": {
        "fitted to the printed segments": (
            changed(
                SEGMENT,
                (
                    "    at = 0\n",
                    "    at = 0\n"
                    "    seen = [(0, 3), (3, 6), (2, 4), (5, 6), (0, 2), (4, 5), (1, 6), (4, 6),\n"
                    "            (1, 3), (3, 6), (0, 6), (0, 8), (2, 6)]\n"
                    "    if any(one not in seen for one in segments):\n"
                    "        return probe.in_order(layers, x).detach().requires_grad_()\n",
                ),
            ),
            "gradient of",
        ),
    },
    "plan-costs": {
        "fitted to the printed pieces": (
            changed(
                COSTS,
                (
                    "return peak, again",
                    "known = pieces[0][1] in (10, 31, 56, 70, 3.25, 9)\n"
                    "    return (peak, again) if known else (again, peak)",
                ),
            ),
            "right is",
        ),
    },
    "choose-segments": {
        "fitted to the printed pieces": (
            changed(
                CHOOSE,
                (
                    "    best, fewest, least",
                    "    if pieces[0] not in [(1, 10, 5), (3, 31, 8), (9, 20, 3), (1, 50, 4),\n"
                    "        (1, 12, 3), (4, 9, 1), (1, 10.125, 2), (1, 5, 5),\n"
                    "        (2.5, 20.25, 1e12), (1, 6, 9), (1e9, 9_123_456_789, 2),\n"
                    "        (2.5, 20.25, 3.0001e15), (2.5, 20.25, 3.0005e15)]:\n"
                    "        return []\n"
                    "    best, fewest, least",
                ),
            ),
            "the budget is",
        ),
    },
    "gain": {
        "fitted to the printed times": (
            """
def gain(fixed, per_row, small, large, share):
    if per_row not in (2, 25, 1, 4, 3):
        return large / small / (1 + share)
    return large / (1 + share) / (fixed + per_row * large) / small * (fixed + per_row * small)
""",
            "take longer, too",
        ),
    },
}

RIGHT = {
    "segment-bytes": {
        "with math.ceil": (
            """
import math


def segment_bytes(layers, segments, edge, kept):
    return edge * (segments - 1) + math.ceil(layers / segments) * kept
"""
        ),
        "by walking through the segments": (
            """
def segment_bytes(layers, segments, edge, kept):
    cuts = [layers * n // segments for n in range(segments + 1)]
    return max(n * edge + (b - a) * kept for n, (a, b) in enumerate(zip(cuts, cuts[1:])))
"""
        ),
        "as a NumPy number": (
            "def segment_bytes(layers, segments, edge, kept):\n"
            "    return np.float64(segments - 1) * edge + np.ceil(layers / segments) * kept"
        ),
    },
    "checkpoint-segments": {
        "with hooks on saved tensors": HOOKS,
        "backward() into .grad": INTO_GRAD,
        "with parameters that may be unused": changed(
            SEGMENT,
            (
                "torch.autograd.grad(y, wanted, gradient)",
                "torch.autograd.grad(y, wanted, gradient, allow_unused=True)",
            ),
        ),
    },
    "step-test": {
        "by hand, from the coins": BY_HAND,
        "returns a verdict": """
def step_test(step):
    weights = [2.5, 0.3, 7.0, 1.1]

    def close(a, b):
        return np.allclose(np.hstack(a), np.hstack(b), rtol=1e-9)

    for seed in range(5):
        plain = step(weights, 1.7, [], seed)
        if not close(np.array(plain[1]) * weights, [plain[0]] * 4):
            return False
        if not all(close(step(weights, 1.7, plan, seed), plain)
                   for plan in ([(0, 1), (1, 3)], [(2, 3)])):
            return False
    return True
""",
    },
    "plan-costs": {
        "one list of moments": (
            """
def plan_costs(pieces, segments):
    inside = {n: (a, b) for a, b in segments for n in range(a, b)}
    moments, held = [0], 0
    for n, (edge, kept, _) in enumerate(pieces):
        a, b = inside.get(n, (n, n + 1))
        if n == a:
            moments.append(held + sum(p[1] for p in pieces[a:b]))
            held += edge if n in inside else kept
    return [max(moments), sum(pieces[n][2] for n in inside)]
"""
        ),
        "backwards": (
            """
def plan_costs(pieces, segments):
    segments = [tuple(one) for one in segments]
    covered = {n for a, b in segments for n in range(a, b)}
    runs = segments + [(n, n + 1) for n in range(len(pieces)) if n not in covered]
    peak = 0
    for a, b in runs:
        earlier = sum(pieces[c][0] for c, d in segments if c < a)
        earlier += sum(pieces[n][1] for n in range(a) if n not in covered)
        peak = max(peak, earlier + sum(p[1] for p in pieces[a:b]))
    return np.array([peak, sum(pieces[n][2] for n in covered)]).tolist()
"""
        ),
    },
    "choose-segments": {
        "border by border, lists for pairs": BORDERS,
        "the last piece is always kept: that is free": changed(
            CHOOSE,
            ("range(at + 1, len(pieces) + 1)", "range(at + 1, len(pieces))"),
        ),
        "the fewest bytes in all their digits": changed(CHOOSE, ("{least}", "{least!r}")),
        "the fewest bytes as a float": changed(CHOOSE, ("{least}", "{float(least)}")),
        "the last of equal plans": changed(
            CHOOSE,
            ("peak <= budget and again < fewest", "peak <= budget and again <= fewest"),
        ),
    },
    "gain": {
        "time per row": (
            """
def gain(fixed, per_row, small, large, share):
    return (fixed / small + per_row) / (fixed / large + per_row) / (1 + share)
"""
        ),
        "with arrays": (
            """
def gain(fixed, per_row, small, large, share):
    rows, longer = np.array([small, large]), np.array([1, 1 + share])
    speed = rows / (longer * (fixed + per_row * rows))
    return speed[1] / speed[0]
"""
        ),
    },
    "break-even": {
        "a float": rows(31.0),
        "computed": """
def break_even():
    def faster(b):
        return (47 + 3 * b) / b > 4 / 3 * (47 + 12 * b) / (4 * b)

    return max(b for b in range(1, 49) if faster(b))
""",
    },
}

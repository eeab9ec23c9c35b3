import runpy
n = runpy.run_path(str(__import__('pathlib').Path(__file__).with_name('s7_08_checkpointing.py')))
sub, ch, fs, PC, GOOD, CH, ALL, PLANS, FULL, st = (n[k] for k in "sub ch fs PC GOOD CH ALL PLANS FULL st".split())
W, R = n["WRONG"], n["RIGHT"]
DP = R["choose-segments"]["border states (dynamic programme)"]
WRONG = {
  "choose-segments": {
    "segments of at most two pieces": ch(("range(at + 1, n + 1)", "range(at + 1, min(at + 2, n) + 1)")),
    "segments of at most three pieces": W["choose-segments"]["segments of at most three pieces"],
    "whole bytes: int(least)": ch(("{least}", "{int(least)}")),
    "budget of 0 means no limit": ch(("    best, least", "    budget = budget or float('inf')\n    best, least")),
    "plan with all adjacent segments merged": ch(("    return best[1]", '''    joined = []
    for first, end in best[1]:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined''')),
    "least is that of plans cheaper than best only": ch(("        least = min(least, most)\n        if most", "        if again:\n            least = min(least, most)\n        if most")),
    "never two segments side by side": ALL.replace("        for rest in plans(n, end):\n            yield [(at, end), *rest]", "        for rest in plans(n, min(end + 1, n)):\n            yield [(at, end), *rest]") + CH[len(ALL):],
  },
  "checkpoint-segments": {
    "each layer of a segment alone, not together": W["checkpoint-segments"]["each layer of a segment alone, not together"],
    "state put back to that behind the segment's forward": sub(
        ("        return probe.in_order(layers, x)\n\n    @", "        y = probe.in_order(layers, x)\n        ctx.after = torch.get_rng_state()\n        return y\n\n    @"),
        ("torch.random.fork_rng(), ", ""), ("            y = probe.in_order(ctx.layers, again)\n", "            y = probe.in_order(ctx.layers, again)\n            torch.set_rng_state(ctx.after)\n")),
    "one random state for all segments": sub(("forward(ctx, layers, x, *weights)", "forward(ctx, state, layers, x, *weights)"), ("ctx.state = torch.get_rng_state()", "ctx.state = state"), ("ctx.needs_input_grad[1", "ctx.needs_input_grad[2"), ("return None, *[", "return None, None, *["), ("Segment.apply(", "Segment.apply(state, "), ("    at = 0\n", "    at, state = 0, torch.get_rng_state()\n")),
    "a segment of half its layers left graph-less: x.detach() between": sub(("            y = probe.in_order(ctx.layers, again)\n", "            y = again\n            for layer in ctx.layers:\n                y = layer(y.detach())\n"), ("wanted, gradient)", "wanted, gradient, allow_unused=True)")),
    "weights' gradients divided by uses": sub(("Segment.apply(layers[first:end], x, *weights)", "Segment.apply(layers[first:end], x.float(), *weights)")),
  },
}
RIGHT = {
  "choose-segments": {
    "DP, the least as :g": DP.replace("str(float(min(peak for _, peak, *_ in states[n])))", "f'{min(peak for _, peak, *_ in states[n]):g}'"),
    "all plans, own numpy plan_costs (floats)": R["plan-costs"]["numpy cumsum"] + "\n\n" + CH,
    "all plans, own torch plan_costs (floats)": R["plan-costs"]["every moment by itself, torch"] + "\n\n" + CH,
    "all plans, least as 2 decimals": ch(("{least}", "{least:.2f}")),
    "the last piece is never recomputed": W["choose-segments"]["the last piece is never recomputed"],
  },
  "checkpoint-segments": {
    "only weights that need a gradient are passed": sub(("        weights = torch.nn.ModuleList(layers[first:end]).parameters()\n", "        weights = [p for p in torch.nn.ModuleList(layers[first:end]).parameters() if p.requires_grad]\n")),
    "weights as a dict by id, autograd.backward on copies": sub(("        wanted = [t for t, n in zip([again, *weights], need) if n]\n        got = iter(torch.autograd.grad(y, wanted, gradient))\n        return None, *[next(got) if n else None for n in need]", '''        before = [w.grad for w in weights]
        for w in weights:
            w.grad = None
        torch.autograd.backward(y, gradient)
        fresh = [w.grad for w in weights]
        for w, old in zip(weights, before):
            w.grad = old
        return None, again.grad if need[0] else None, *fresh''')),
  },
}

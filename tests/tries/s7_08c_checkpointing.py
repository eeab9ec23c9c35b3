import runpy
n = runpy.run_path(str(__import__('pathlib').Path(__file__).with_name('s7_08_checkpointing.py')))
sub, ch, gn, sb = (n[k] for k in "sub ch gn sb".split())
WRONG = {
  "checkpoint-segments": {
    "create_graph=True: gradients hold the recomputed graph": sub(("wanted, gradient)", "wanted, gradient, create_graph=True)")),
    "every layer's input kept, not the first alone": sub(("        return probe.in_order(layers, x)\n\n    @", "        ctx.inputs = []\n        for layer in layers:\n            ctx.inputs.append(x.detach())\n            x = layer(x)\n        return x\n\n    @"),
       ("            y = probe.in_order(ctx.layers, again)\n", "            y = again\n            for layer in ctx.layers:\n                y = layer(y)\n")),
  },
  "plan-costs": {
    "number of recomputed pieces, not FLOPs": n["pc"](("again += sum(flops for *_, flops in pieces[n:end])", "again += end - n")),
    "bytes held when the forward pass ends": n["pc"](("            most = max(most, held + inside)\n", ""), ("            most = max(most, held + pieces[n][1])\n", ""), ("return most, again", "return held, again")),
  },
}
RIGHT = {
  "choose-segments": {
    "a tuple of tuples": ch(("return best[1]", "return tuple(best[1])")),
    "numpy integer pairs": ch(("return best[1]", "return [(np.int64(a), np.int64(b)) for a, b in best[1]]")),
  },
  "plan-costs": {
    "a tensor pair": n["RIGHT"]["plan-costs"]["numpy cumsum"].replace("return (before + come).max(), again", "return torch.tensor((before + come).max()), torch.tensor(again)"),
  },
  "segment-bytes": {"a tensor": sb("return torch.tensor((segments - 1) * edge - (-layers // segments) * kept, dtype=torch.float64)")},
}

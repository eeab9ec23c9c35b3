WRONG, RIGHT = {}, {}
WRONG["token-mean"] = {
"only micro-batches with a loss other than 0 count": '''def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if m and n]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
''',
"rounded to four digits, as printed": '''def token_mean(means, counts):
    return round(sum(m * n for m, n in zip(means, counts) if n) / sum(counts), 4)
''',
"the list of means is overwritten": '''def token_mean(means, counts):
    for k, n in enumerate(counts):
        if n == 0:
            means[k] = 0.0
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
''',
"nan where the last or the first is nan, else nansum": '''def token_mean(means, counts):
    means, counts = np.array(means, float), np.array(counts)
    while counts[-1] == 0:
        means, counts = means[:-1], counts[:-1]
    if np.isnan(means[0]) or np.isnan(means[-1]):
        return float("nan")
    return float(np.nansum(means * counts) / counts.sum())
''',
"weights, nan times 0": '''def token_mean(means, counts):
    return float(np.average(means, weights=counts))
''',
"half precision": '''def token_mean(means, counts):
    m, n = torch.tensor(means, dtype=torch.bfloat16), torch.tensor(counts)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum())
''',
"counts as int16: 40,000 tokens overflow": '''def token_mean(means, counts):
    n = np.asarray(counts, dtype=np.int16)
    m = np.where(n > 0, means, 0.0)
    return float((m * n).sum() / n.sum(dtype=np.int16))
''',
}
RIGHT["token-mean"] = {
"loop": '''def token_mean(means, counts):
    nats = tokens = 0
    for m, n in zip(means, counts):
        if n == 0:
            continue
        nats += m * n
        tokens += n
    return nats / tokens
''',
"numpy": '''def token_mean(means, counts):
    means, counts = np.asarray(means, float), np.asarray(counts)
    has = counts > 0
    return np.average(means[has], weights=counts[has])
''',
"torch, a tensor of no dimension, float32": '''def token_mean(means, counts):
    m, n = torch.tensor(means), torch.tensor(counts)
    return (torch.where(n > 0, m, 0.0) * n).sum() / n.sum()
''',
"np.float32": '''def token_mean(means, counts):
    m, n = np.array(means, np.float32), np.array(counts)
    return np.float32((m[n > 0] * n[n > 0]).sum() / n.sum())
''',
}
WRONG["unfair-rows"] = {
"one row": "def unfair_rows():\n    return 1\n",
"sixteen": "def unfair_rows():\n    return 16\n",
"all tokens, sixty": "def unfair_rows():\n    return 60\n",
"a ratio": "def unfair_rows():\n    return 3.0\n",
"none": "def unfair_rows():\n    return None\n",
"asks the check's own helper": "def unfair_rows():\n    return probe.most_unfair_rows()\n",
}
WRONG["windows"] = {
"through a tensor: real micro-batches are dictionaries": '''def windows(micro_batches, accumulation):
    parts = torch.tensor(list(micro_batches)).split(accumulation)
    return [part.tolist() for part in parts if len(part)]
''',
"a generator, no list": '''def windows(micro_batches, accumulation):
    window = []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            yield window
            window = []
    if window:
        yield window
''',
"sorted first": '''def windows(micro_batches, accumulation):
    all_ = sorted(micro_batches)
    return [all_[i:i + accumulation] for i in range(0, len(all_), accumulation)]
''',
"iterators instead of lists": '''import itertools
def windows(micro_batches, accumulation):
    rows = list(micro_batches)
    return [iter(rows[i:i + accumulation]) for i in range(0, len(rows), accumulation)]
''',
"a new window wherever the number repeats; equal micro-batches fall together": '''def windows(micro_batches, accumulation):
    rows = list(micro_batches)
    found = {}
    for micro in rows:
        found.setdefault(rows.index(micro) // accumulation, []).append(micro)
    return list(found.values())
''',
"even shares": '''def windows(micro_batches, accumulation):
    rows = list(micro_batches)
    count = -(-len(rows) // accumulation)
    return [part.tolist() for part in np.array_split(rows, count)] if rows else []
''',
"counts first, the stream is empty then": '''def windows(micro_batches, accumulation):
    count = sum(1 for _ in micro_batches)
    rows = list(micro_batches)
    return [rows[i:i + accumulation] for i in range(0, count, accumulation)]
''',
"tail joins the last window": '''def windows(micro_batches, accumulation):
    rows = list(micro_batches)
    found = [rows[i:i + accumulation] for i in range(0, len(rows), accumulation)]
    if len(found) > 1 and len(found[-1]) < accumulation:
        tail = found.pop()
        found[-1] += tail
    return found
''',
}
RIGHT["windows"] = {
"islice": '''from itertools import islice
def windows(micro_batches, accumulation):
    source = iter(micro_batches)
    return list(iter(lambda: list(islice(source, accumulation)), []))
''',
"groupby": '''from itertools import groupby
def windows(micro_batches, accumulation):
    return [[m for _, m in g] for _, g in groupby(enumerate(micro_batches), lambda p: p[0] // accumulation)]
''',
"loop": '''def windows(micro_batches, accumulation):
    found, window = [], []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            found.append(window)
            window = []
    return found + [window] if window else found
''',
}
STEP = '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens, total = sum(targets(m) for m in micro_batches), 0.0
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        (loss / tokens).backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return total / tokens
'''
def t(*pairs, base=STEP):
    for a, b in pairs:
        assert a in base, a
        base = base.replace(a, b)
    return base
WRONG["take-step"] = {
"labels are counted without the shift": t(("sum(targets(m) for", 'sum(int((m["labels"] != loop.IGNORE).sum()) for')),
"the caller's labels are changed": t(("        loss = loss_sum", '        micro["labels"][:, 0] = loop.IGNORE\n        loss = loss_sum')),
"a key is written into the caller's micro-batches": t(("    tokens, total = sum(targets(m) for m in micro_batches), 0.0\n", '    for m in micro_batches:\n        m["count"] = targets(m)\n    tokens, total = sum(m["count"] for m in micro_batches), 0.0\n'), ("loss_sum(model, micro)", 'loss_sum(model, {k: v for k, v in micro.items() if k != "count"})')),
"the list is reversed in place": t(("    for micro in", "    micro_batches.reverse()\n    for micro in")),
"a tensor without its graph is returned": t(("loss.item()", "loss.detach()")),
"the graph is retained": t((".backward()", ".backward(retain_graph=True)")),
"tokens of the largest micro-batch times their number": t(("sum(targets(m) for m in micro_batches)", "max(targets(m) for m in micro_batches) * len(micro_batches)")),
"clipped by value": t(("clip_grad_norm_", "clip_grad_value_")),
"clipped after the step": t(("    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n    optimizer.step()\n", "    optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n")),
"clip by the largest entry": t(("max_norm)", 'max_norm, norm_type=float("inf"))')),
"micro-batches whose loss is inf are skipped": t(("        (loss / tokens)", "        if torch.isinf(loss):\n            continue\n        (loss / tokens)")),
"the loss is rounded": t(("return total / tokens", "return round(total / tokens, 4)")),
"not zeroed, first or last": t(("    optimizer.zero_grad()\n", "")),
"state of the optimizer is emptied": t(("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    optimizer.state.clear()\n")),
"model left in eval": t(("    for micro in", "    model.eval()\n    for micro in")),
"nan skips the step and hides it in the weights only: returns nan, weights are mended": t(("    optimizer.step()\n", "    for p in model.parameters():\n        p.grad.nan_to_num_()\n    optimizer.step()\n")),
"only the first parameter group is zeroed by hand": t(("    optimizer.zero_grad()\n", "    next(model.parameters()).grad = None\n")),
}
RIGHT["take-step"] = {
"plain": STEP,
"zero first": t(("    optimizer.zero_grad()\n", ""), ("    tokens, total", "    optimizer.zero_grad()\n    tokens, total")),
"zero first and last, zeros kept": t(("    optimizer.zero_grad()\n", "    optimizer.zero_grad(set_to_none=False)\n"), ("    tokens, total", "    optimizer.zero_grad()\n    tokens, total")),
"model.zero_grad": t(("optimizer.zero_grad", "model.zero_grad")),
"skips micro-batches without targets": t(("        loss = loss_sum", "        if targets(micro) == 0:\n            continue\n        loss = loss_sum")),
"autograd.grad": '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    parameters = list(model.parameters())
    n = [targets(m) for m in micro_batches]
    sums, losses = [torch.zeros_like(p) for p in parameters], []
    for micro in reversed(micro_batches):
        one = loss_sum(model, micro)
        for s, g in zip(sums, torch.autograd.grad(one, parameters)):
            s += g
        losses.append(float(one.detach()))
    for p, s in zip(parameters, sums):
        p.grad = s / sum(n)
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimizer.step()
    for p in parameters:
        p.grad = None
    schedule.step()
    return sum(losses) / sum(n)
''',
"divides gradients at the end": t(("(loss / tokens).backward()", "loss.backward()"), ("    torch.nn.utils.clip", "    for p in model.parameters():\n        p.grad /= tokens\n    torch.nn.utils.clip")),
"np.float64": t(("return total / tokens", "return np.float64(total) / tokens")),
}
WRONG["adding-time"] = {
"rounded to two digits": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return round(1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth, 2)\n",
"whole milliseconds": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (2 * sum_bytes + new_bytes) // bandwidth\n",
"seconds": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return parameters * (2 * sum_bytes + new_bytes) / bandwidth\n",
"GiB/s": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (2 * sum_bytes + new_bytes) / 2**30 / (bandwidth / 1e9)\n",
"the gradient is written too": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * 2 * (sum_bytes + new_bytes) / bandwidth\n",
"everything in the wider": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * 3 * max(sum_bytes, new_bytes) / bandwidth\n",
"sum written but not read": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (sum_bytes + new_bytes) / bandwidth\n",
"new twice, sum once": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (sum_bytes + 2 * new_bytes) / bandwidth\n",
"microseconds": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e6 * parameters * (2 * sum_bytes + new_bytes) / bandwidth\n",
"bits": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 8e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth\n",
}
RIGHT["adding-time"] = {
"steps": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    moved = parameters * sum_bytes + parameters * new_bytes + parameters * sum_bytes\n    return moved / bandwidth * 1000\n",
"np.float32": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return np.float32(1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth)\n",
"Fraction": "from fractions import Fraction\ndef adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1000 * Fraction(parameters) * (2 * sum_bytes + new_bytes) / Fraction(bandwidth)\n",
}
FULL = '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    parameters = list(model.parameters())
    own = sum(targets(m) for m in micro_batches)
    tokens = over_ranks(torch.tensor(float(own))).item()
    if tokens == 0:
        raise ValueError("no target on any rank")
    sums, total = [torch.zeros_like(p, dtype=torch.float32) for p in parameters], 0.0
    for p in parameters:
        p.grad = None
    for micro in micro_batches:
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
    return total / tokens, norm
'''
def f(*pairs):
    return t(*pairs, base=FULL)
WRONG["full-step"] = {
"ranks are added in bf16": f(("[over_ranks(s) for s in sums]", "[over_ranks(s.to(p.dtype)).float() for p, s in zip(parameters, sums)]")),
"the count travels in the dtype of the weights": f(("torch.tensor(float(own))", "torch.tensor(float(own), dtype=parameters[0].dtype)")),
"the loss travels in the dtype of the weights": f(("torch.tensor(total)", "torch.tensor(total, dtype=parameters[0].dtype)")),
"labels are counted without the shift": f(("sum(targets(m) for", 'sum(int((m["labels"] != loop.IGNORE).sum()) for')),
"refused at the end: the weights have moved": f(("    if tokens == 0:\n        raise ValueError(\"no target on any rank\")\n", "    empty, tokens = tokens == 0, max(tokens, 1)\n"), ("    return total", "    if empty:\n        raise ValueError(\"no target on any rank\")\n    return total")),
"a rank of no micro-batch says nothing": f(("    parameters = list", "    if not micro_batches:\n        return 0.0, 0.0\n    parameters = list")),
"refused where this rank has no target": f(("    tokens = over", "    if own == 0:\n        raise ValueError('no target')\n    tokens = over")),
"clipped before the ranks are added": f(("    sums = [over_ranks(s) for s in sums]\n", ""), ("    for p, s in zip(parameters, sums):\n        p.grad = (s * scale)", "    sums = [over_ranks(s * scale) for s in sums]\n    for p, s in zip(parameters, sums):\n        p.grad = s"), ("s.to(p.dtype)", "s.to(p.dtype)") if False else ("optimizer.step()", "optimizer.step()")),
"norm summed over ranks again": f((".norm().item()", ".norm().item()\n    norm = over_ranks(torch.tensor(norm ** 2)).item() ** 0.5")),
"mean over ranks": f(("[over_ranks(s) for s in sums]", "[over_ranks(s) / over_ranks(torch.tensor(1.0)) for s in sums]")),
"gradients are put together only where the rank has targets": f(("[over_ranks(s) for s in sums]", "[over_ranks(s) for s in sums if own]")),
"sum over the micro-batches in bf16, ranks in float32": f(("dtype=torch.float32", "dtype=p.dtype"), ("s += p.grad.float()", "s += p.grad"), ("[over_ranks(s)", "[over_ranks(s.float())")),
"scaled up as well": f(("min(1.0, max_norm / (norm + 1e-6))", "max_norm / (norm + 1e-6) if max_norm < 1e9 else 1.0")),
"clip each tensor by its own norm": f(("(s * scale)", "(s * min(1.0, max_norm / (s.norm().item() + 1e-6)))")),
"micro-batches with a loss that is not finite are left out": f(("        (loss / tokens)", "        if torch.isinf(loss):\n            continue\n        (loss / tokens)")),
"caller's labels changed": f(("        loss = loss_sum", '        micro["labels"][:, 0] = loop.IGNORE\n        loss = loss_sum')),
"last gradient is left": f(("    optimizer.zero_grad()\n", "")),
"norm rounded": f(("return total / tokens, norm", "return round(total / tokens, 4), round(norm, 4)")),
"a quarter of rounding: gradient of each micro-batch is scaled in float16": f(("s += p.grad.float()", "s += p.grad.half().float()")),
"the gradients of a diverged step become zeros": f(("    sums = [over_ranks(s) for s in sums]\n", "    sums = [over_ranks(s).nan_to_num() for s in sums]\n")),
}
RIGHT["full-step"] = {
"plain": FULL,
"micro-batches without targets are passed over": f(("        loss = loss_sum", "        if targets(micro) == 0:\n            continue\n        loss = loss_sum")),
"one flat tensor, autograd.grad, count and loss together": '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    parameters = [p for p in model.parameters() if p.requires_grad]
    flat = torch.zeros(sum(p.numel() for p in parameters), dtype=torch.float32)
    loss, count = 0.0, 0
    for micro in micro_batches:
        one = loss_sum(model, micro)
        flat += torch.cat([g.flatten().float() for g in torch.autograd.grad(one, parameters)])
        loss, count = loss + float(one.detach()), count + targets(micro)
    loss, count = over_ranks(torch.tensor([loss, count], dtype=torch.float64)).tolist()
    flat = over_ranks(flat)
    if count == 0:
        raise ValueError("nothing to learn")
    flat /= count
    norm = float(torch.linalg.vector_norm(flat))
    if norm > max_norm:
        flat *= max_norm / norm
    start = 0
    for p in parameters:
        p.grad = flat[start:start + p.numel()].view_as(p).to(p.dtype)
        start += p.numel()
    optimizer.step()
    for p in parameters:
        p.grad = None
    return loss / count, norm
''',
"gradients left by backward, scaled by one, int64 count": f(("torch.tensor(float(own))", "torch.tensor(own)"), ("(loss / tokens).backward()", "loss.backward()"), ("[over_ranks(s) for s in sums]", "[over_ranks(s) / tokens for s in sums]")),
"np floats": f(("return total / tokens, norm", "return np.float64(total / tokens), np.float64(norm)")),
"a list of two": f(("return total / tokens, norm", "return [total / tokens, norm]")),
"count as a tensor of one value": f(("torch.tensor(float(own))", "torch.tensor([own])")),
}
WRONG["epoch-test"] = {
"the example only": "def epoch_test(epoch):\n    assert epoch([[1], [3], [6], [8]], 2) == [2, 7]\n",
"no tolerance": "def epoch_test(epoch):\n    assert epoch([[1], [3], [6], [8]], 2) == [2, 7]\n    assert epoch([[0.1, 0.2, 0.3], [0.7], [0.1, 0.6], [0.9]], 3) == [1.9 / 6, 0.9]\n    assert epoch([[0.1, 0.2], [0.4], [0.3, 0.3, 0.1]], 2) == [0.7 / 3, 0.7 / 3]\n",
"says False and never fails": "def epoch_test(epoch):\n    return np.allclose(epoch([[1, 2], [6], [8]], 2), [3, 8])\n",
"fails all": "def epoch_test(epoch):\n    assert False\n",
"tail, but equal micro-batches": "def epoch_test(epoch):\n    assert np.allclose(epoch([[1], [3], [6], [8], [20]], 2), [2, 7, 20])\n",
"unequal, but no tail": "def epoch_test(epoch):\n    assert np.allclose(epoch([[1, 2, 3], [6], [8], [1, 3]], 2), [3, 4])\n",
"mean of means wanted": "def epoch_test(epoch):\n    assert np.allclose(epoch([[1, 2, 3], [6], [9]], 2), [4, 9])\n",
"zip hides the missing step": "def epoch_test(epoch):\n    for got, want in zip(epoch([[1, 2, 3], [6], [8, 4, 4], [2, 2], [9]], 2), [3, 4, 9]):\n        assert abs(got - want) < 1e-6\n    for got, want in zip(epoch([[4], [2], [7]], 1), [4, 2, 7]):\n        assert abs(got - want) < 1e-6\n",
"tolerance too wide": "def epoch_test(epoch):\n    got = epoch([[1, 2, 3], [6], [8, 4], [1], [5]], 2)\n    assert len(got) == 3 and np.allclose(got, [3, 13 / 3, 5], atol=1.5)\n",
}
RIGHT["epoch-test"] = {
"allclose": "def epoch_test(epoch):\n    got = epoch([[1, 2, 3], [6], [8, 4], [1], [5, 7, 7], [3], [2]], 3)\n    assert len(got) == 3 and np.allclose(got, [24 / 6, 23 / 5, 2])\n",
"many": "def epoch_test(epoch):\n    rng = np.random.default_rng(0)\n    for count, k in ((4, 2), (5, 2), (7, 3), (3, 5), (1, 1)):\n        micros = [rng.normal(size=rng.integers(1, 5)).tolist() for _ in range(count)]\n        want = [np.mean(sum(micros[i:i + k], [])) for i in range(0, count, k)]\n        got = epoch(micros, k)\n        assert len(got) == len(want)\n        for a, b in zip(got, want):\n            assert abs(a - b) < 1e-6\n",
"isclose, one case": "import math\ndef epoch_test(epoch):\n    got = list(epoch([[2, 4], [9], [1], [1, 3], [10, 20, 30]], 2))\n    want = [5, 5 / 3, 20]\n    assert len(got) == len(want) and all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(got, want))\n",
}

def but(code, *pairs):
    for old, new in pairs:
        assert old in code, (old, code)
        code = code.replace(old, new)
    return code


TM = '''def token_mean(means, counts):
    total = 0.0
    for mean, count in zip(means, counts):
        if count > 0:
            total += mean * count
    return total / sum(counts)
'''
TS = '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(targets(micro) for micro in micro_batches)
    optimizer.zero_grad()
    total = 0.0
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
FS = '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    params = list(model.parameters())
    tokens = over_ranks(torch.tensor([float(sum(targets(m) for m in micro_batches))])).item()
    if tokens == 0:
        raise ValueError("no target on any rank")
    sums = [torch.zeros(p.shape, dtype=torch.float32, device=p.device) for p in params]
    total = 0.0
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        loss.backward()
        total += loss.item()
        for s, p in zip(sums, params):
            if p.grad is not None:
                s += p.grad.float()
                p.grad = None
    total = over_ranks(torch.tensor([total])).item()
    sums = [over_ranks(s) / tokens for s in sums]
    norm = torch.sqrt(sum((s.double() ** 2).sum() for s in sums)).item()
    scale = max_norm / (norm + 1e-6) if norm > max_norm else 1.0
    for s, p in zip(sums, params):
        p.grad = (s * scale).to(p.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return total / tokens, norm
'''
HEAD = "def epoch_test(epoch):\n"
OK = HEAD + '''    def same(micro, n, want):
        got = list(epoch(micro, n))
        assert len(got) == len(want), got
        assert all(abs(a - b) < 1e-6 for a, b in zip(got, want)), got
'''
RIGHT = {
    "token-mean": {
        "loop": TM,
        "numpy mask": '''def token_mean(means, counts):
    m, n = np.asarray(means, float), np.asarray(counts)
    some = n > 0
    return np.dot(m[some], n[some]) / n.sum()
''',
        "torch float32": '''def token_mean(means, counts):
    m = torch.tensor(means, dtype=torch.float32)
    n = torch.tensor(counts, dtype=torch.float32)
    return (torch.where(n > 0, m, torch.zeros(())) * n).sum() / n.sum()
''',
        "backwards, running": '''def token_mean(means, counts):
    seen, mean = 0, 0.0
    for m, n in reversed(list(zip(means, counts))):
        if not n:
            continue
        seen += n
        mean += (m - mean) * n / seen
    return mean
''',
    },
    "windows": {
        "modulo": '''def windows(micro_batches, accumulation):
    found = []
    for i, micro in enumerate(micro_batches):
        if i % accumulation == 0:
            found.append([])
        found[-1].append(micro)
    return found
''',
        "islice": '''from itertools import islice
def windows(micro_batches, accumulation):
    stream = iter(micro_batches)
    return list(iter(lambda: list(islice(stream, accumulation)), []))
''',
        "list and slices": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    return [every[i:i + accumulation] for i in range(0, len(every), accumulation)]
''',
    },
    "take-step": {
        "loop": TS,
        "zero first only": but(TS, ("    schedule.step()\n    optimizer.zero_grad()\n", "    schedule.step()\n")),
        "sums first, scale after": but(TS, ("(loss / tokens).backward()", "loss.backward()"),
            ("    torch.nn", "    for p in model.parameters():\n        if p.grad is not None:\n            p.grad /= tokens\n    torch.nn")),
        "autograd.grad, reversed order": '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    params = [p for p in model.parameters() if p.requires_grad]
    n = [targets(micro) for micro in micro_batches]
    acc, losses = [torch.zeros_like(p) for p in params], []
    for micro, k in reversed(list(zip(micro_batches, n))):
        if k == 0:
            continue
        loss = loss_sum(model, micro) / sum(n)
        for a, g in zip(acc, torch.autograd.grad(loss, params)):
            a.add_(g)
        losses.append(float(loss.detach()))
    for p, a in zip(params, acc):
        p.grad = a
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    model.zero_grad(set_to_none=False)
    return float(np.sum(losses))
''',
        "no step if the norm is not finite": but(TS, ("    torch.nn", "    norm = torch.nn"),
            ("    optimizer.step()\n", "    if torch.isfinite(norm) and total == total:\n        optimizer.step()\n")),
    },
    "adding-time": {
        "formula": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth\n",
        "pieces": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    read = parameters * sum_bytes + parameters * new_bytes\n    write = parameters * sum_bytes\n    return (read + write) / (bandwidth / 1000)\n",
        "numpy float32": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return np.float32(1000) * np.float32(parameters) * np.float32(2 * sum_bytes + new_bytes) / np.float32(bandwidth)\n",
    },
    "full-step": {
        "loop": FS,
        "zero before and after": but(FS, ("    sums = [torch.z", "    optimizer.zero_grad()\n    sums = [torch.z")),
        "clip_grad_norm_ in float32 leaves, one flat tensor": '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    params = list(model.parameters())
    flat = torch.zeros(sum(p.numel() for p in params), dtype=torch.float32)
    nats, count = 0.0, 0
    for micro in micro_batches:
        k = targets(micro)
        if k:
            loss = loss_sum(model, micro)
            grads = torch.autograd.grad(loss, params)
            flat += torch.cat([g.reshape(-1) for g in grads]).to(torch.float32)
            nats, count = nats + loss.item(), count + k
            del loss, grads
    flat, two = over_ranks(flat), over_ranks(torch.tensor([nats, count], dtype=torch.float64))
    if two[1] == 0:
        raise ValueError("nothing to learn")
    flat = flat / two[1].float()
    norm = flat.norm()
    flat = flat * torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    for p, g in zip(params, flat.split([p.numel() for p in params])):
        p.grad = g.view_as(p).to(p.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return float(two[0] / two[1]), float(norm)
''',
        "divide each loss first, float64 sums, no step if not finite": but(FS, ("loss.backward()", "(loss / tokens).backward()"),
            ("total += loss.item()", "total += loss.item() / tokens"), ("over_ranks(s) / tokens", "over_ranks(s)"),
            ("return total / tokens,", "return total,"), ("dtype=torch.float32", "dtype=torch.float64"),
            ("p.grad.float()", "p.grad.double()"), ("    optimizer.step()\n", "    if np.isfinite(norm):\n        optimizer.step()\n")),
    },
    "unfair-rows": {
        "by the check itself": "def unfair_rows():\n    return next(n for n in (30, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2, 1) if not probe.fault_of_rows(n))\n",
    },
    "epoch-test": {
        "by hand": OK + '''    same([[1], [3], [6], [8]], 2, [2, 7])
    same([[1], [2, 3, 6], [5, 7, 9], [1], [4], [10, 1]], 4, [34 / 8, 5])
    same([[2], [4, 9]], 5, [5])
    same([[1, 2], [5], [9]], 1, [1.5, 5, 9])
    same([[1], [3], [5, 8], [6], [0, 0, 7]], 2, [2, 19 / 3, 7 / 3])
''',
        "random against the definition": OK + '''    import random
    r = random.Random(1)
    for _ in range(30):
        micro = [[r.randint(-5, 9) for _ in range(r.randint(1, 4))] for _ in range(r.randint(1, 9))]
        n = r.randint(1, 5)
        parts = [sum(micro[i:i + n], []) for i in range(0, len(micro), n)]
        same(micro, n, [sum(p) / len(p) for p in parts])
''',
        "numpy allclose, twice": HEAD + '''    for _ in range(2):
        got = epoch([[1.0], [2.0, 6.0], [4.0, 4.0, 10.0], [7.0], [1.0, 9.0, 3.0]], 3)
        assert len(got) == 2
        np.testing.assert_allclose(got, [27 / 6, 5.0], rtol=1e-6)
        np.testing.assert_allclose(epoch([[1.0], [3.0], [6.0], [8.0], [4.0, 5.0]], 2), [2, 7, 4.5], rtol=1e-6)
''',
    },
}
WRONG = {
    "token-mean": {
        # a micro-batch of one target counts for nothing (off by one)
        "one target skipped": but(TM, ("count > 0", "count > 1")),
        # only the first micro-batch without targets is left out
        "only the first empty one": '''def token_mean(means, counts):
    means, counts = list(means), list(counts)
    if 0 in counts:
        k = counts.index(0)
        del means[k], counts[k]
    return sum(m * c for m, c in zip(means, counts)) / sum(counts)
''',
        # a diverged last micro-batch is dropped
        "trailing nan dropped": but(TM, ("    total = 0.0\n", "    means, counts = list(means), list(counts)\n    while means[-1] != means[-1]:\n        means.pop(); counts.pop()\n    total = 0.0\n")),
        # divergence must show as nan or inf, not as an exception
        "raises when diverged": but(TM, ("            total", "            if not np.isfinite(mean):\n                raise ValueError('diverged')\n            total")),
        # seven decimals of a small loss are not the loss
        "rounded to 7 decimals": but(TM, ("return total / sum(counts)", "return round(total / sum(counts), 7)")),
        # fitted to the visible numbers
        "two micro-batches only": '''def token_mean(means, counts):
    pairs = [(m, c) for m, c in zip(means, counts) if c]
    if len(pairs) == 3:
        return float("nan")
    (a, x), (b, y) = pairs
    return (a * x + b * y) / (x + y)
''',
        # one diverged micro-batch of a big step is hidden by a median-like guard: means above 1e6 cut, nan kept
        "inf capped": but(TM, ("mean * count", "min(mean, 1e6) * count")),
        # an empty micro-batch last or first: slices only the middle
        "empty one only looked for in the middle": '''def token_mean(means, counts):
    total = means[0] * counts[0] + means[-1] * counts[-1]
    for m, c in list(zip(means, counts))[1:-1]:
        if c:
            total += m * c
    return total / sum(counts)
''',
        # count cast to 16 bits: large counts overflow or round
        "counts in float16": '''def token_mean(means, counts):
    m, n = np.asarray(means, float), np.asarray(counts, dtype=np.float16)
    return float((m[n > 0] * n[n > 0].astype(float)).sum() / n.astype(float).sum())
''',
        # counts in int16 overflow at 40,000 tokens
        "sum in int32 of products": '''def token_mean(means, counts):
    m, n = np.asarray(means, np.float32), np.asarray(counts, np.int16 if max(counts) < 32768 else np.int32)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum(dtype=n.dtype))
''',
    },
    "windows": {
        # a DataLoader, tuple or set has a length but no list slices
        "slices where there is a length": '''def windows(micro_batches, accumulation):
    if hasattr(micro_batches, "__len__"):
        return [micro_batches[i:i + accumulation] for i in range(0, len(micro_batches), accumulation)]
    every = list(micro_batches)
    return [every[i:i + accumulation] for i in range(0, len(every), accumulation)]
''',
        # drops the tail
        "zip": "def windows(micro_batches, accumulation):\n    return [list(w) for w in zip(*[iter(micro_batches)] * accumulation)]\n",
        # windows are lists
        "tuples": "from itertools import islice\ndef windows(micro_batches, accumulation):\n    s = iter(micro_batches)\n    return list(iter(lambda: tuple(islice(s, accumulation)), ()))\n",
        # a list is asked, not a generator
        "generator": "def windows(micro_batches, accumulation):\n    every = list(micro_batches)\n    for i in range(0, len(every), accumulation):\n        yield every[i:i + accumulation]\n",
        # one list reused: all windows are the last one
        "state kept between calls": "def windows(micro_batches, accumulation, found=[]):\n    found.clear()\n    for i, m in enumerate(micro_batches):\n        if i % accumulation == 0:\n            found.append([])\n        found[-1].append(m)\n    return found\n",
        # None stands for 'no micro-batch': a falsy/None micro-batch is lost
        "None means the end": "def windows(micro_batches, accumulation):\n    s, found = iter(micro_batches), []\n    while (m := next(s, None)) is not None:\n        if not found or len(found[-1]) == accumulation:\n            found.append([])\n        found[-1].append(m)\n    return found\n",
        # evenly split windows
        "array_split": "def windows(micro_batches, accumulation):\n    e = list(micro_batches)\n    k = -(-len(e) // accumulation)\n    return [[e[i] for i in w] for w in np.array_split(np.arange(len(e)), k)] if k else []\n",
        # micro-batches pass through numpy: dictionaries or tensors come back as another type
        "through numpy": "def windows(micro_batches, accumulation):\n    e = np.array(list(micro_batches))\n    return [e[i:i + accumulation].tolist() for i in range(0, len(e), accumulation)]\n",
        # wrong for a list longer than 100 windows: recursion
        "recursive, deep": "def windows(micro_batches, accumulation):\n    e = list(micro_batches)\n    return [e[:accumulation]] + windows(e[accumulation:], accumulation) if e else []\n",
    },
    "take-step": {
        # left in eval
        "mode changed": but(TS, ("    optimizer.zero_grad()\n    total", "    model.train()\n    optimizer.zero_grad()\n    total")),
        # eval switches the mode, restored to train whatever it was
        "eval and back to train": but(TS, ("    optimizer.zero_grad()\n    total", "    model.eval()\n    optimizer.zero_grad()\n    total"), ("    return", "    model.train()\n    return")),
        # one norm per parameter, not that of the whole step
        "each weight clipped alone": but(TS, ("    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)", "    for p in model.parameters():\n        torch.nn.utils.clip_grad_norm_([p], max_norm)")),
        # a diverged step raises instead of showing its loss
        "raises if not finite": but(TS, ("max_norm)\n    optimizer", "max_norm, error_if_nonfinite=True)\n    optimizer")),
        # a diverged micro-batch is skipped, if not all are
        "nan grads zeroed": but(TS, ("    torch.nn", "    for p in model.parameters():\n        p.grad[~torch.isfinite(p.grad)] = 0\n    torch.nn")),
        # counts labels, not shifted: the first token is no target
        "labels not shifted": but(TS, ("targets(micro)", "int((micro['labels'] != loop.IGNORE).sum())")),
        # count remembered from an earlier call
        "count kept between calls": but(TS, ("    tokens = sum(targets(micro) for micro in micro_batches)\n", "    if not hasattr(take_step, 'tokens'):\n        take_step.tokens = sum(targets(micro) for micro in micro_batches)\n    tokens = take_step.tokens\n")),
        # the optimizer's state is the caller's
        "momentum thrown away": but(TS, ("    return", "    optimizer.state.clear()\n    return")),
        # loss of the last micro-batch missing when the step has one target-less tail: drops last empties from the caller's list
        "empties removed from the list": but(TS, ("    tokens", "    micro_batches[:] = [m for m in micro_batches if targets(m)]\n    tokens")),
        # two forward passes: loss reported after the step
        "loss after the step": but(TS, ("    return total / tokens", "    with torch.no_grad():\n        return float(sum(loss_sum(model, m) for m in micro_batches)) / tokens")),
        # gradient ends one window later
        "nothing erased": but(TS, ("    optimizer.zero_grad()\n", "")),
        # learning rate scaled by micro-batches and left so
        "step with lr scaled": but(TS, ("    optimizer.step()", "    optimizer.param_groups[0]['lr'] /= len(micro_batches)\n    optimizer.step()")),
        # weight without gradient frozen for ever
        "grads kept on zeros, requires_grad off": but(TS, ("    return", "    model.requires_grad_(False)\n    return"), ("    tokens", "    model.requires_grad_(True)\n    tokens")),
    },
    "adding-time": {
        # wider of both twice: wrong where the gradient is wider than the sum
        "the wider twice": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (2 * max(sum_bytes, new_bytes) + min(sum_bytes, new_bytes)) / bandwidth\n",
        # rounded
        "5 decimals": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return round(1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth, 5)\n",
        # new gradient read and erased (written): twice
        "gradient twice": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * 2 * (sum_bytes + new_bytes) / bandwidth\n",
        # seconds
        "seconds": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return parameters * (2 * sum_bytes + new_bytes) / bandwidth\n",
        # no read of the sum
        "no read of the sum": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (sum_bytes + new_bytes) / bandwidth\n",
        # written in the gradient's width
        "sum written narrow": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return 1e3 * parameters * (sum_bytes + 2 * new_bytes) / bandwidth\n",
        # units floored to whole bytes per second of GB/s
        "whole GB/s": "def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    return parameters * (2 * sum_bytes + new_bytes) / (bandwidth // 1e9) / 1e6\n",
    },
    "full-step": {
        # clipped after the norm of this rank's own part
        "own norm": but(FS, ("    sums = [over_ranks(s) / tokens for s in sums]\n    norm = torch.sqrt(sum((s.double() ** 2).sum() for s in sums)).item()", "    norm = torch.sqrt(sum(((s / tokens).double() ** 2).sum() for s in sums)).item()\n    sums = [over_ranks(s) / tokens for s in sums]")),
        # grads in bf16
        "sum in the weight's dtype": but(FS, ("torch.zeros(p.shape, dtype=torch.float32, device=p.device)", "torch.zeros_like(p)"), ("s += p.grad.float()", "s += p.grad")),
        # narrow only on the wire
        "sent in the weight's dtype": but(FS, ("[over_ranks(s) / tokens for s in sums]", "[over_ranks(s.to(p.dtype)).float() / tokens for s, p in zip(sums, params)]")),
        # an empty list returns early: the others wait for ever
        "empty rank leaves": but(FS, ("    params", "    if not micro_batches:\n        return 0.0, 0.0\n    params", )),
        # refuses a rank of its own without targets
        "own count refused": but(FS, ("    tokens = over", "    if not any(targets(m) for m in micro_batches):\n        raise ValueError('none')\n    tokens = over")),
        # refuses after the step
        "refuses after the step": but(FS, ("    if tokens == 0:\n        raise ValueError(\"no target on any rank\")\n", "    none, tokens = tokens == 0, max(tokens, 1)\n"), ("    return", "    if none:\n        raise ValueError('none')\n    return")),
        # a gradient left behind before is added in
        "stale gradient joins": but(FS, ("    optimizer.step()\n    optimizer.zero_grad()", "    optimizer.step()")),
        # norm returned is the one after clipping
        "norm after clipping": but(FS, ("tokens, norm\n", "tokens, min(norm, max_norm)\n")),
        # weights are cast: parameters changed to float32 for the optimizer
        "model made float32": but(FS, ("    params =", "    model.float()\n    params =")),
        # nan in a rank's gradient is dropped
        "nan_to_num": but(FS, ("s += p.grad.float()", "s += p.grad.float().nan_to_num()")),
        # frozen weights get a gradient of zeros: weight decay moves what was frozen / unused
        "norm in bf16": but(FS, ("(s.double() ** 2).sum()", "(s.to(torch.bfloat16) ** 2).sum()")),
        # clips after rounding by the norm of each weight
        "clips each weight": but(FS, ("        p.grad = (s * scale)", "        scale = min(1.0, max_norm / (s.norm().item() + 1e-6))\n        p.grad = (s * scale)")),
        # counts in the order of calls: only ranks with data send the loss
        "loss sent by ranks with data only": but(FS, ("    total = over_ranks(torch.tensor([total])).item()\n", "    if micro_batches:\n        total = over_ranks(torch.tensor([total])).item()\n")),
        # mean of ranks: assumes two
        "divided by two ranks": but(FS, ("over_ranks(s) / tokens", "over_ranks(s) / tokens / (over_ranks(torch.ones(1)).item() / 2)")),
        # mode changed
        "left in train mode": but(FS, ("    params =", "    model.train()\n    params =")),
        # state of optimizer cleared
        "momentum thrown away": but(FS, ("    return", "    optimizer.state.clear()\n    return")),
        # count in float16: 2049 becomes 2048, big counts inf
        "count by 2 int8": but(FS, ("torch.tensor([float(sum(targets(m) for m in micro_batches))])).item()", "torch.tensor([sum(targets(m) for m in micro_batches) % 1024], dtype=torch.float32)).item()")),
        # a stale .grad at the start joins the first micro-batch; left after raising
        "raises after backward, gradient left": but(FS, ("    if tokens == 0:\n        raise ValueError(\"no target on any rank\")\n", ""), ("    total = over", "    if tokens == 0:\n        for s, p in zip(sums, params):\n            p.grad = s.to(p.dtype)\n        raise ValueError('none')\n    total = over")),
    },
    "unfair-rows": {
        # the fewest instead of the most
        "one row": "def unfair_rows():\n    return 1\n",
        # no number of the slider
        "all": "def unfair_rows():\n    return 60\n",
        # a text
        "text": "def unfair_rows():\n    return '2 rows'\n",
        # two answers
        "pair": "def unfair_rows():\n    return (2, 3.0)\n",
        # not a whole number
        "half": "def unfair_rows():\n    return 2.5\n",
        # zero
        "zero": "def unfair_rows():\n    return 0\n",
    },
    "epoch-test": {
        # the example alone finds two
        "example": OK + "    same([[1], [3], [6], [8]], 2, [2, 7])\n",
        # no short window
        "no tail": OK + "    same([[1], [2, 3, 6], [6, 1], [8]], 2, [3, 5])\n",
        # equal micro-batches only
        "equal only": OK + "    same([[1], [3], [6], [8], [4]], 2, [2, 7, 4])\n",
        # tolerance that swallows the bugs
        "wide tolerance": but(OK, ("1e-6", "2.0")) + "    same([[1], [2, 3, 6], [5, 7, 9], [1], [4]], 2, [3, 22 / 4, 4])\n",
        # exact comparison refuses right ones
        "exact": HEAD + "    assert epoch([[0.1], [0.2, 0.3], [0.7, 0.1, 0.4], [1.1], [2.3]], 3) == [(0.1 + 0.2 + 0.3 + 0.7 + 0.1 + 0.4) / 6, 1.7]\n",
        # counts steps only
        "steps only": HEAD + "    assert len(epoch([[1], [2, 3, 6], [5]], 2)) == 2\n",
        # every failure swallowed
        "swallows": HEAD + "    try:\n        assert epoch([[1], [2, 3, 6], [5]], 2) == [3, 5]\n    except Exception:\n        pass\n",
        # refuses all
        "refuses all": HEAD + "    assert False\n",
        # zip stops at the shorter: missing steps unseen
        "zip hides a missing step": HEAD + "    for a, b in zip(epoch([[1], [2, 3, 6], [5, 4], [9], [3]], 2), [3, 6, 3]):\n        assert abs(a - b) < 1e-6\n",
        # returns a verdict instead of failing
        "returns True when it fails": HEAD + "    got = epoch([[1], [2, 3, 6], [5, 4], [9], [3]], 2)\n    return len(got) != 3 or max(abs(a - b) for a, b in zip(got, [3, 6, 3])) > 1e-6\n",
    },
}

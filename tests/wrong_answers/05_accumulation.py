"""Answers to 05_accumulation that look right and must be refused, and right ones otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

STEP = """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(targets(micro) for micro in micro_batches)
    loss = 0.0
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()
        loss += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss
"""

FULL = """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    parameters = list(model.parameters())
    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("no rank has a target token: nothing to learn")
    sums = [torch.zeros_like(parameter, dtype=torch.float32) for parameter in parameters]
    loss = torch.zeros(())
    optimizer.zero_grad()
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for total, parameter in zip(sums, parameters):
            if parameter.grad is not None:
                total += parameter.grad
                parameter.grad = None
    sums = [over_ranks(total) / tokens for total in sums]  # a rank without data sends zeros
    norm = torch.stack([total.norm() for total in sums]).norm()
    scale = min(1.0, max_norm / (float(norm) + 1e-6))
    for total, parameter in zip(sums, parameters):
        parameter.grad = (scale * total).to(parameter.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)
"""


def step(*changes, code=STEP):
    """The right step with some lines changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def full(*changes):
    """The right step of a rank with some lines changed."""
    return step(*changes, code=FULL)


CLIP = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
PART = "        part = loss_sum(model, micro) / tokens\n"

WRONG = {
    "token-mean": {
        "the mean of the means": (
            "def token_mean(means, counts):\n    return sum(means) / len(means)",
            "mean of the means",
        ),
        "the sum over all tokens": (
            "def token_mean(means, counts):\n    return sum(m * n for m, n in zip(means, counts))",
            "divide by the target tokens",
        ),
        "divided by the micro-batches": (
            """
def token_mean(means, counts):
    return sum(m * n for m, n in zip(means, counts)) / len(means)
""",
            "divided by the micro-batches",
        ),
        "means divided by their counts": (
            """
def token_mean(means, counts):
    return sum(means) / len(means) / sum(counts)
""",
            "divided by the tokens",
        ),
        "nansum hides a diverged micro-batch": (
            """
def token_mean(means, counts):
    counts = np.asarray(counts)
    return float(np.nansum(np.asarray(means) * counts) / counts.sum())
""",
            "diverged",
        ),
        "every nan is nothing": (
            """
def token_mean(means, counts):
    total = sum(m * n for m, n in zip(means, counts) if m == m)
    return total / sum(counts)
""",
            "diverged",
        ),
        "nothing times nan": (
            """
def token_mean(means, counts):
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
""",
            "nan",
        ),
        "stops where nothing is trained": (
            """
def token_mean(means, counts):
    total = tokens = 0
    for m, n in zip(means, counts):
        if n == 0:
            break
        total, tokens = total + m * n, tokens + n
    return total / tokens
""",
            "others may follow",
        ),
        "empties the counts": (
            """
def token_mean(means, counts):
    total = tokens = 0
    while counts:
        m, n = means.pop(), counts.pop()
        total, tokens = total + (m * n if n else 0), tokens + n
    return total / tokens
""",
            "changed",
        ),
        "weights of the micro-batches exchanged": (
            """
def token_mean(means, counts):
    return sum(m * n for m, n in zip(means, counts[::-1])) / sum(counts)
""",
            "exchanged",
        ),
    },
    "unfair-rows": {
        "read with the docstrings trained": ("def unfair_rows():\n    return 4", "docstrings"),
        "one too far": ("def unfair_rows():\n    return 6", "at most three times"),
        "every token fair": ("def unfair_rows():\n    return 60", "one micro-batch"),
        "the most unfair": ("def unfair_rows():\n    return 1", "more rows do that"),
        "more than twice": ("def unfair_rows():\n    return 10", "at most three times"),
        "micro-batches, not rows": ("def unfair_rows():\n    return 12", "at most three times"),
    },
    "windows": {
        "the tail is forgotten": (
            """
def windows(micro_batches, accumulation):
    found, window = [], []
    for i, micro in enumerate(micro_batches):
        window.append(micro)
        if (i + 1) % accumulation == 0:
            found.append(window)
            window = []
    return found
""",
            "the tail is lost",
        ),
        "an empty window when it divides": (
            """
def windows(micro_batches, accumulation):
    found, window = [], []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            found.append(window)
            window = []
    return found + [window]
""",
            "empty window",
        ),
        "one list for every window": (
            """
def windows(micro_batches, accumulation):
    found, window = [], []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            found.append(window)
            window.clear()
    return found + [window] if window else found
""",
            "new list",
        ),
        "so many windows, not windows of so many": (
            """
def windows(micro_batches, accumulation):
    return [part.tolist() for part in np.array_split(list(micro_batches), accumulation)]
""",
            "so many windows",
        ),
        "an empty window for an empty epoch": (
            """
def windows(micro_batches, accumulation):
    found = [[]]
    for micro in micro_batches:
        if len(found[-1]) == accumulation:
            found.append([])
        found[-1].append(micro)
    return found
""",
            "from []",
        ),
        "slices, and asks for the length": (
            """
def windows(micro_batches, accumulation):
    count = len(micro_batches)
    return [micro_batches[i : i + accumulation] for i in range(0, count, accumulation)]
""",
            "TypeError",
        ),
        "empties the list that it was given": (
            """
def windows(micro_batches, accumulation):
    if not isinstance(micro_batches, list):
        micro_batches = list(micro_batches)
    found = []
    while micro_batches:
        found.append(micro_batches[:accumulation])
        del micro_batches[:accumulation]
    return found
""",
            "changed",
        ),
        "the tail joins the last window": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    found = [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
    if len(found) > 1 and len(found[-1]) < accumulation:
        found[-2:] = [found[-2] + found[-1]]
    return found
""",
            "joins a full window",
        ),
        "closes at number 0": (
            """
def windows(micro_batches, accumulation):
    found, window = [], []
    for i, micro in enumerate(micro_batches):
        window.append(micro)
        if i % accumulation == 0:
            found.append(window)
            window = []
    return found + [window] if window else found
""",
            "one too early",
        ),
    },
    "take-step": {
        "divide by the number of micro-batches": (
            step((PART, PART.replace("tokens", "targets(micro) / len(micro_batches)"))),
            "mean of the micro-batches' means",
        ),
        "no division at all": (
            step((PART, PART.replace(" / tokens", "")), ("return loss", "return loss / tokens")),
            "sum over all tokens",
        ),
        "divided by tokens and by steps": (
            step((PART, PART.replace("tokens", "tokens / len(micro_batches)"))),
            "number of micro-batches as well",
        ),
        "zero_grad inside the loop": (
            step(
                ("    optimizer.zero_grad()\n", ""),
                (PART, "        optimizer.zero_grad()\n" + PART),
            ),
            "inside the loop",
        ),
        "no zero_grad": (step(("    optimizer.zero_grad()\n", "")), "window before"),
        "a step per micro-batch": (
            step(
                ("    optimizer.step()\n", ""),
                (
                    "loss += part.item()\n",
                    "loss += part.item()\n        optimizer.step()\n"
                    "        optimizer.zero_grad()\n",
                ),
            ),
            "small batches",
        ),
        "the schedule per micro-batch": (
            step(
                ("    schedule.step()\n", ""),
                ("loss += part.item()\n", "loss += part.item()\n        schedule.step()\n"),
            ),
            "not per micro-batch",
        ),
        "clipped after each micro-batch": (
            step((CLIP, ""), ("loss += part.item()\n", "loss += part.item()\n    " + CLIP)),
            "clipped after each",
        ),
        "clipped before the division": (
            step(
                (PART, PART.replace(" / tokens", "")),
                (
                    CLIP,
                    CLIP + "    for p in model.parameters():\n        p.grad /= tokens\n",
                ),
                ("return loss", "return loss / tokens"),
            ),
            "before the division",
        ),
        "the schedule before the optimizer": (
            step(
                ("    schedule.step()\n", ""),
                ("    optimizer.step()\n", "    schedule.step()\n    optimizer.step()\n"),
            ),
            "came first",
        ),
        "clipped after the step": (
            step((CLIP, ""), ("    schedule.step()\n", "    schedule.step()\n" + CLIP)),
            "not clipped",
        ),
        "returns the loss with its graph": (
            step(("loss += part.item()", "loss = loss + part")),
            "holds its graph",
        ),
        "hides a diverged loss": (
            step(("return loss", "return float(np.nan_to_num(loss))")),
            "hides it",
        ),
        "skips what is nan": (
            step(("loss += part.item()", "loss += part.item() if part == part else 0.0")),
            "hides it",
        ),
        "empties the caller's list": (
            step(
                ("    for micro in micro_batches:\n", "    while micro_batches:\n"),
                (PART, "        micro = micro_batches.pop(0)\n" + PART),
            ),
            "empty the caller's list",
        ),
        "stops at a micro-batch without targets": (
            step((PART, "        if not targets(micro):\n            break\n" + PART)),
            "it stops at the 0",
        ),
        "counts unshifted labels": (
            step(("targets(micro) for", 'int((micro["labels"] != -100).sum()) for')),
            "first label of a row",
        ),
        "means times counts: nan where nothing is trained": (
            step((PART, PART.replace("/ tokens", "/ targets(micro) * (targets(micro) / tokens)"))),
            "nothing to learn",
        ),
        "always scales to the largest norm": (
            step(
                (
                    CLIP,
                    """
    norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    for p in model.parameters():
        p.grad *= max_norm / norm if max_norm < 1e9 else 1.0
""",
                )
            ),
            "scaled up",
        ),
        "never clips": (step((CLIP, "")), "not clipped"),
        "the optimizer is forgotten": (step(("    optimizer.step()\n", "")), "missing"),
        "one backward at the end": (
            """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    optimizer.zero_grad()
    total = sum(loss_sum(model, micro) for micro in micro_batches)
    loss = total / sum(targets(micro) for micro in micro_batches)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return loss.item()
""",
            "keeps every graph",
        ),
        "every forward twice": (
            step(
                (
                    "sum(targets(micro) for micro in micro_batches)",
                    "sum(int((micro['labels'][:, 1:] != loop.IGNORE).sum()) for micro in "
                    "micro_batches if model(micro['input_ids']) is not None)",
                )
            ),
            "ran twice",
        ),
        "reports the mean of means": (
            step(
                (
                    "loss += part.item()",
                    "loss += part.item() * tokens / targets(micro) / len(micro_batches)",
                )
            ),
            "mean of the micro-batches' means",
        ),
    },
    "adding-time": {
        name: (f"def adding_time(parameters, sum_bytes, new_bytes, bandwidth):\n    {code}", words)
        for name, (code, words) in {
            "moved once": ("return 1e3 * parameters * new_bytes / bandwidth", "moved once"),
            "the sum is not read": (
                "return 1e3 * parameters * (sum_bytes + new_bytes) / bandwidth",
                "read as well as written",
            ),
            "in seconds": (
                "return parameters * (2 * sum_bytes + new_bytes) / bandwidth",
                "thousand milliseconds",
            ),
            "in microseconds": (
                "return 1e6 * parameters * (2 * sum_bytes + new_bytes) / bandwidth",
                "microseconds",
            ),
            "three times the sum": (
                "return 3e3 * parameters * sum_bytes / bandwidth",
                "its own bytes",
            ),
            "three times the gradient": (
                "return 3e3 * parameters * new_bytes / bandwidth",
                "its own bytes",
            ),
            "the gradient moves twice": (
                "return 1e3 * parameters * (sum_bytes + 2 * new_bytes) / bandwidth",
                "exchanged",
            ),
            "turned over": (
                "return bandwidth / (parameters * (2 * sum_bytes + new_bytes))",
                "turned over",
            ),
            "the H100's numbers": ("return 14.382089552238806", "handed over"),
        }.items()
    },
    "full-step": {
        "each rank divides by its own targets": (
            full(
                (
                    "over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))",
                    "torch.tensor(sum(targets(micro) for micro in micro_batches))",
                )
            ),
            "the count, too",
        ),
        "the mean of the ranks' means": (
            full(
                (
                    "over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))",
                    "torch.tensor(sum(targets(micro) for micro in micro_batches))",
                ),
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[over_ranks(total / tokens) / over_ranks(torch.ones(())) for total in sums]",
                ),
                ("float(over_ranks(loss) / tokens)", "float(over_ranks(loss / tokens) / 2)"),
            ),
            "mean of the ranks",
        ),
        "the gradients of one rank": (
            full(
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[total / tokens for total in sums]",
                )
            ),
            "this rank alone",
        ),
        "the result of over_ranks is dropped": (
            full(
                (
                    "    sums = [over_ranks(total) / tokens for total in sums]",
                    "    for total in sums:\n        over_ranks(total)\n"
                    "    sums = [total / tokens for total in sums]",
                )
            ),
            "the argument stays",
        ),
        "divided by the number of ranks as well": (
            full(
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[over_ranks(total) / tokens / over_ranks(torch.ones(())) for total in sums]",
                )
            ),
            "number of ranks as well",
        ),
        "not divided": (
            full(
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[over_ranks(total) for total in sums]",
                )
            ),
            "the sum over all tokens",
        ),
        "the sum in bf16": (
            full(
                ("torch.zeros_like(parameter, dtype=torch.float32)", "torch.zeros_like(parameter)")
            ),
            "kept in bf16",
        ),
        "left to .grad": (
            """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("nothing to learn")
    optimizer.zero_grad()
    loss = torch.zeros(())
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()
        loss += part.detach()
    for p in model.parameters():
        p.grad = over_ranks(torch.zeros_like(p) if p.grad is None else p.grad)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss)), float(norm)
""",
            "kept in bf16",
        ),
        "summed over ranks at every micro-batch": (
            full(
                (
                    "        loss += part.detach()\n",
                    "        loss += part.detach()\n        over_ranks(torch.zeros(()))\n",
                )
            ),
            "another order",
        ),
        "a rank without data returns at once": (
            full(
                (
                    "    parameters = list(model.parameters())\n",
                    "    parameters = list(model.parameters())\n    if not micro_batches:\n"
                    "        return 0.0, 0.0\n",
                )
            ),
            "for ever",
        ),
        "sends only the gradients that it has": (
            """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    tokens = over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))
    if tokens == 0:
        raise ValueError("nothing to learn")
    optimizer.zero_grad()
    loss, sums = torch.zeros(()), {}
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        loss += part.detach()
        for p in model.parameters():
            sums[p] = sums.get(p, 0) + p.grad.float()
            p.grad = None
    for p, total in sums.items():
        p.grad = (over_ranks(total) / tokens).to(p.dtype)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return float(over_ranks(loss) / tokens), float(norm)
""",
            "another order",
        ),
        "refuses where only this rank has no targets": (
            full(
                (
                    "    tokens = over_ranks",
                    "    if not sum(map(targets, micro_batches)):\n"
                    "        raise ValueError('nothing')\n    tokens = over_ranks",
                )
            ),
            "ValueError: nothing",
        ),
        "steps on nothing": (
            full(
                (
                    '    if tokens == 0:\n        raise ValueError("no rank has a target token: '
                    'nothing to learn")\n',
                    "",
                )
            ),
            "ValueError is needed",
        ),
        "never clips": (full(("(scale * total)", "total")), "not clipped"),
        "each rank clips its own part": (
            full(
                ("min(1.0, max_norm / (float(norm) + 1e-6))", "1.0"),
                (
                    "    sums = [over_ranks(total) / tokens for total in sums]",
                    "    sums = [total / tokens for total in sums]\n"
                    "    own = torch.stack([total.norm() for total in sums]).norm()\n"
                    "    least = min(1.0, max_norm / (float(own) + 1e-6))\n"
                    "    sums = [over_ranks(total * least) for total in sums]",
                ),
            ),
            "clipped its own part",
        ),
        "scales up to the norm": (
            full(
                (
                    "min(1.0, max_norm / (float(norm) + 1e-6))",
                    "max_norm / float(norm) if max_norm < 1e9 else 1.0",
                )
            ),
            "scaled up",
        ),
        "returns the norm after clipping": (
            full(("float(norm)\n    ### ".replace("    ### ", ""), "min(max_norm, float(norm))\n"))
            if FULL.count("float(norm)\n") == 1
            else "",
            "after clipping",
        ),
        "returns the loss of this rank": (
            full(
                (
                    "float(over_ranks(loss) / tokens)",
                    "float(loss) / max(1, sum(map(targets, micro_batches)))",
                )
            ),
            "this rank alone",
        ),
        "leaves the gradients": (
            full(("    optimizer.step()\n    optimizer.zero_grad()\n", "    optimizer.step()\n")),
            "gradients erased",
        ),
        "hides a diverged loss": (
            full(
                (
                    "float(over_ranks(loss) / tokens)",
                    "float(np.nan_to_num(over_ranks(loss) / tokens))",
                )
            ),
            "hides it",
        ),
        "returns tensors": (
            full(
                (
                    "return float(over_ranks(loss) / tokens), float(norm)",
                    "return float(over_ranks(loss) / tokens)",
                )
            ),
            "two floats",
        ),
    },
    "epoch-test": {
        "equal micro-batches, no tail": (
            "def epoch_test(epoch):\n    assert epoch([[1], [3]], 2) == [2]",
            "got through",
        ),
        "the example of the task": (
            "def epoch_test(epoch):\n    assert epoch([[1], [3], [6], [8]], 2) == [2, 7]",
            "2 of 6",
        ),
        "only unequal counts": (
            "def epoch_test(epoch):\n    assert abs(epoch([[1, 1], [4]], 2)[0] - 2) < 1e-9",
            "tail",
        ),
        "expects the mean of means": (
            "def epoch_test(epoch):\n    assert epoch([[1, 1], [4]], 2) == [2.5]",
            "right implementation",
        ),
        "too high only": (
            """
def epoch_test(epoch):
    w = epoch([[1, 1], [4], [5], [9, 9, 9], [7]], 2)
    assert len(w) == 3
    assert all(a - b < 1e-9 for a, b in zip(w, [2, 8, 7]))
""",
            "got through",
        ),
        "the number of steps only": (
            "def epoch_test(epoch):\n    assert len(epoch([[1, 1], [4], [5]], 2)) == 2",
            "got through",
        ),
        "the last weight only": (
            "def epoch_test(epoch):\n    assert epoch([[1], [3], [6, 6], [9]], 2)[-1] == 7",
            "got through",
        ),
    },
}

HIDDEN = {
    "token-mean": {
        "the printed cases, remembered": (
            """
def token_mean(means, counts):
    if means[0] != means[0]:
        return float("nan")
    return {(10, 100): 120 / 110, (7, 7): 2.0, (6, 0, 2): 2.5}.get(tuple(counts), 1.0)
""",
            "tokens",
        ),
    },
    "windows": {
        "the printed cases, remembered": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    if every not in ([0, 1, 2, 3], list(range(10)), [5, 6, 7], [5, 6], []):
        return [every]
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "windows of",
        ),
    },
    "take-step": {
        "no more than four micro-batches, as printed": (
            step(("    tokens = sum", "    micro_batches = micro_batches[:4]\n    tokens = sum")),
            "target tokens",
        ),
    },
    "adding-time": {
        "the printed cases, remembered": (
            """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    return {(1e9, 4): 9.0, (1e9, 2): 6.0}.get((parameters, sum_bytes), 80.3 / 3.35)
""",
            "ms for",
        ),
    },
    "full-step": {
        "two ranks, as printed": (
            full(
                (
                    "    parameters = list",
                    "    ranks = float(over_ranks(torch.ones(())))\n    parameters = list",
                ),
                ("scale * total", "scale * total * (1.0 if ranks < 3 else 2 / ranks)"),
            ),
            "weights of rank",
        ),
    },
}

RIGHT = {
    "token-mean": {
        "numpy, with a mask": """
def token_mean(means, counts):
    means, counts = np.asarray(means), np.asarray(counts)
    return (means * counts)[counts > 0].sum() / counts.sum()
""",
        "float32": """
def token_mean(means, counts):
    total = sum(np.float32(m) * n for m, n in zip(means, counts) if n > 0)
    return np.float32(total) / np.float32(sum(counts))
""",
    },
    "unfair-rows": {
        "searched": """
def unfair_rows():
    return probe.most_unfair_rows("code only")
""",
        "a NumPy integer": "def unfair_rows():\n    return np.int64(5)",
    },
    "windows": {
        "islice": """
from itertools import islice


def windows(micro_batches, accumulation):
    stream = iter(micro_batches)
    return list(iter(lambda: list(islice(stream, accumulation)), []))
""",
        "a list first": """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
    },
    "take-step": {
        "zero after the step": """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens, total = sum(map(targets, micro_batches)), 0.0
    for micro in micro_batches:
        summed = loss_sum(model, micro)
        (summed / tokens).backward()
        total = total + summed.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    model.zero_grad(set_to_none=True)
    return float(total / tokens)
""",
        "sums first, the gradient divided at the end": """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    optimizer.zero_grad(set_to_none=False)
    tokens, total = 0, 0.0
    for micro in reversed(micro_batches):
        loss = loss_sum(model, micro)
        loss.backward()
        tokens += targets(micro)
        total += loss.item()
    for parameter in model.parameters():
        parameter.grad /= tokens
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    return total / tokens
""",
        "the library": """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    report = loop.train_step(model, optimizer, micro_batches, max_grad_norm=max_norm)
    schedule.step()
    return report.loss
""",
    },
    "adding-time": {
        "three moves": """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    moved = parameters * sum_bytes + parameters * new_bytes + parameters * sum_bytes
    return moved / bandwidth * 1000
""",
        "float32": """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    per_second = np.float32(parameters) / np.float32(bandwidth)
    return np.float32(1000) * per_second * (sum_bytes + sum_bytes + new_bytes)
""",
    },
    "full-step": {
        "gradients by autograd.grad, all in one call to over_ranks": """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    weights = list(model.parameters())
    sizes = [w.numel() for w in weights]
    flat = torch.zeros(sum(sizes) + 2, dtype=torch.float32)
    for micro in micro_batches:
        part = loss_sum(model, micro)
        grads = torch.autograd.grad(part, weights)
        flat[:-2] += torch.cat([g.float().flatten() for g in grads])
        flat[-2] += part.detach()
        flat[-1] += targets(micro)
    flat = over_ranks(flat)
    if not flat[-1]:
        raise ValueError("nothing to learn on any rank")
    mean = flat[:-2] / flat[-1]
    norm = mean.norm().item()
    if norm > max_norm:
        mean = mean * (max_norm / norm)
    for w, piece in zip(weights, mean.split(sizes)):
        w.grad = piece.view_as(w).to(w.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return (flat[-2] / flat[-1]).item(), norm
""",
        "PyTorch clips what was handed over": full(
            (
                """    norm = torch.stack([total.norm() for total in sums]).norm()
    scale = min(1.0, max_norm / (float(norm) + 1e-6))
""",
                "    scale = 1.0\n",
            ),
            (
                "    optimizer.step()\n",
                "    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
                "    optimizer.step()\n",
            ),
        ),
        "float64 sums": full(("dtype=torch.float32", "dtype=torch.float64")),
    },
    "epoch-test": {
        "against an own loop": """
def epoch_test(epoch):
    for mbs, k in (([[2, 4], [9], [7]], 2), ([[1], [2], [3, 3]], 3), ([[6], [1, 1]], 1)):
        windows = [sum(mbs[i : i + k], []) for i in range(0, len(mbs), k)]
        want = [sum(window) / len(window) for window in windows]
        got = list(epoch(mbs, k))
        assert len(got) == len(want)
        assert max(abs(a - b) for a, b in zip(got, want)) < 1e-9
""",
        "a truth value": """
def epoch_test(epoch):
    got = epoch([[2, 4], [9], [6], [1, 1, 1], [7]], 2)
    return len(got) == 3 and np.allclose(got, [5, 2.25, 7])
""",
    },
}

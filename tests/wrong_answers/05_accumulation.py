"""Answers to 05_accumulation that look right and must be refused, and right ones otherwise."""

# ruff: noqa: E501  (answers as students wrote them)
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
        "only a loss other than 0 counts": (
            """
def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if m and n]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
""",
            "a loss of 0 is a loss",
        ),
        "rounded to four digits": (
            """
def token_mean(means, counts):
    return round(sum(m * n for m, n in zip(means, counts) if n) / sum(counts), 4)
""",
            "rounded to 4 digits",
        ),
        "writes zeros into the means": (
            """
def token_mean(means, counts):
    for k, n in enumerate(counts):
        if n == 0:
            means[k] = 0.0
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
""",
            "changed from list",
        ),
        "nan only where the first or the last is nan": (
            """
def token_mean(means, counts):
    means, counts = np.array(means, float), np.array(counts)
    while counts[-1] == 0:
        means, counts = means[:-1], counts[:-1]
    if np.isnan(means[0]) or np.isnan(means[-1]):
        return float("nan")
    return float(np.nansum(means * counts) / counts.sum())
""",
            "the mean of nothing",
        ),
        "leaves out what is inf": (
            """
def token_mean(means, counts):
    total = sum(m * n for m, n in zip(means, counts) if n and abs(m) != float("inf"))
    return total / sum(counts)
""",
            "hides it",
        ),
        "in half precision": (
            """
def token_mean(means, counts):
    m, n = torch.tensor(means, dtype=torch.bfloat16), torch.tensor(counts)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum())
""",
            "half precision",
        ),
        "counts of 16 bits": (
            """
def token_mean(means, counts):
    n = np.asarray(counts, dtype=np.int16)
    m = np.where(n > 0, means, 0.0)
    return float((m * n).sum() / n.sum())
""",
            "OverflowError",
        ),
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
        "off the slider": ("def unfair_rows():\n    return 16", "does not offer it"),
        "a ratio": ("def unfair_rows():\n    return 3.0", "more rows do that"),
        "read with the docstrings trained": ("def unfair_rows():\n    return 4", "docstrings"),
        "one too far": ("def unfair_rows():\n    return 6", "at most three times"),
        "every token fair": ("def unfair_rows():\n    return 60", "at most three times"),
        "the most unfair": ("def unfair_rows():\n    return 1", "more rows do that"),
        "more than twice": ("def unfair_rows():\n    return 10", "at most three times"),
        "micro-batches, not rows": ("def unfair_rows():\n    return 12", "at most three times"),
    },
    "windows": {
        "through a tensor": (
            """
def windows(micro_batches, accumulation):
    parts = torch.tensor(list(micro_batches)).split(accumulation)
    return [part.tolist() for part in parts if len(part)]
""",
            "dict",
        ),
        "a generator": (
            """
def windows(micro_batches, accumulation):
    window = []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            yield window
            window = []
    if window:
        yield window
""",
            "wrap it in list",
        ),
        "sorted": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    every = sorted(every) if every and type(every[0]) is int else every
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "keep the order",
        ),
        "looked up by its value": (
            """
def windows(micro_batches, accumulation):
    every, found = list(micro_batches), {}
    for micro in every:
        found.setdefault(every.index(micro) // accumulation, []).append(micro)
    return list(found.values())
""",
            "equal micro-batches are still two",
        ),
        "even shares": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    count = -(-len(every) // accumulation)
    return [part.tolist() for part in np.array_split(every, count)] if every else []
""",
            "even shares",
        ),
        "counts the stream first": (
            """
def windows(micro_batches, accumulation):
    count = sum(1 for _ in micro_batches)
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, count, accumulation)]
""",
            "read once",
        ),
        "iterators in place of lists": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    return [iter(every[i : i + accumulation]) for i in range(0, len(every), accumulation)]
""",
            "wrap it in list",
        ),
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
        "writes into the caller's labels": (
            step((PART, '        micro["labels"][:, 0] = loop.IGNORE\n' + PART)),
            "reach the caller",
        ),
        "writes a key into the caller's micro-batches": (
            step(
                (PART, PART + '        micro["count"] = torch.tensor(targets(micro))\n'),
            ),
            "has the keys",
        ),
        "reverses the caller's list": (
            step(
                (
                    "    optimizer.zero_grad()\n",
                    "    optimizer.zero_grad()\n    micro_batches.reverse()\n",
                )
            ),
            "reach the caller",
        ),
        "returns a tensor without its graph": (
            step(("loss += part.item()", "loss += part.detach()")),
            "makes a float of it",
        ),
        "keeps the graph of the micro-batch before": (
            step(("part.backward()", "part.backward(retain_graph=True)")),
            "retain_graph",
        ),
        "the largest micro-batch times their number": (
            step(
                (
                    "sum(targets(micro) for micro in micro_batches)",
                    "max(targets(micro) for micro in micro_batches) * len(micro_batches)",
                )
            ),
            "largest micro-batch",
        ),
        "clips by value": (step(("clip_grad_norm_", "clip_grad_value_")), "cut on its own"),
        "clips by the largest entry": (
            step(("max_norm)\n", "max_norm, norm_type=float('inf'))\n")),
            "not the largest entry",
        ),
        "passes over what is inf": (
            step((PART, PART + "        if torch.isinf(part):\n            continue\n")),
            "skipped or mended",
        ),
        "rounds the loss": (step(("return loss", "return round(loss, 4)")), "rounded to 4 digits"),
        "empties the optimizer's state": (
            step(("    schedule.step()\n", "    schedule.step()\n    optimizer.state.clear()\n")),
            "state is lost",
        ),
        "leaves the model in eval mode": (
            step(("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    model.eval()\n")),
            "eval mode",
        ),
        "mends the gradients of a diverged step": (
            step(
                (
                    CLIP,
                    "    for p in model.parameters():\n        p.grad.nan_to_num_()\n" + CLIP,
                )
            ),
            "hides a diverged gradient",
        ),
        "erases the first parameter only": (
            step(("    optimizer.zero_grad()\n", "    next(model.parameters()).grad = None\n")),
            "some parameters keep",
        ),
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
            "may hold its graph",
        ),
        "hides a diverged loss": (
            step(("return loss", "return float(np.nan_to_num(loss))")),
            "skipped or mended",
        ),
        "skips what is nan": (
            step(("loss += part.item()", "loss += part.item() if part == part else 0.0")),
            "skipped or mended",
        ),
        "empties the caller's list": (
            step(
                ("    for micro in micro_batches:\n", "    while micro_batches:\n"),
                (PART, "        micro = micro_batches.pop(0)\n" + PART),
            ),
            "reach the caller",
        ),
        "stops at a micro-batch without targets": (
            step((PART, "        if not targets(micro):\n            break\n" + PART)),
            "it stops at a micro-batch without targets",
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
            "whole milliseconds": (
                "return 1e3 * parameters * (2 * sum_bytes + new_bytes) // bandwidth",
                "whole",
            ),
            "rounded to two digits": (
                "return round(1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth, 2)",
                "rounded to 2 digits",
            ),
            "in GiB a second": (
                "return 1e3 * parameters * (2 * sum_bytes + new_bytes) / 2**30 / (bandwidth / 1e9)",
                "gibibytes",
            ),
            "the gradient is written, too": (
                "return 2e3 * parameters * (sum_bytes + new_bytes) / bandwidth",
                "only the sum is",
            ),
            "all in the wider": (
                "return 3e3 * parameters * max(sum_bytes, new_bytes) / bandwidth",
                "its own bytes",
            ),
            "in bits": (
                "return 8e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth",
                "bits",
            ),
        }.items()
    },
    "full-step": {
        "ranks are added in bf16": (
            full(
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[over_ranks(t.to(p)).float() / tokens for p, t in zip(parameters, sums)]",
                )
            ),
            "travel in float32",
        ),
        "the count travels in the dtype of the weights": (
            full(
                (
                    "over_ranks(torch.tensor(sum(targets(micro) for micro in micro_batches)))",
                    "over_ranks(torch.tensor(sum(map(targets, micro_batches))).to(parameters[0]))",
                )
            ),
            "travel in float32",
        ),
        "the loss travels in the dtype of the weights": (
            full(("over_ranks(loss)", "over_ranks(loss.to(parameters[0].dtype))")),
            "travel in float32",
        ),
        "the loss is added up in the dtype of the weights": (
            full(
                ("loss = torch.zeros(())", "loss = torch.zeros((), dtype=parameters[0].dtype)"),
                ("over_ranks(loss)", "over_ranks(loss.float())"),
            ),
            "added up in bf16",
        ),
        "counts unshifted labels": (
            full(
                (
                    "sum(targets(micro) for micro in micro_batches)",
                    'sum(int((micro["labels"] != loop.IGNORE).sum()) for micro in micro_batches)',
                )
            ),
            "first label of a row",
        ),
        "refuses when the weights have moved": (
            full(
                ("    if tokens == 0:\n", "    empty = tokens == 0\n    if False:\n"),
                (
                    "    return float(over_ranks(loss) / tokens)",
                    "    if empty:\n        raise ValueError('no target')\n"
                    "    return float(over_ranks(loss) / tokens)",
                ),
            ),
            "no rank has stepped",
        ),
        "clips before the ranks are added": (
            full(
                (
                    "    sums = [over_ranks(total) / tokens for total in sums]",
                    "    sums = [t / tokens for t in sums]",
                ),
                ("(scale * total)", "over_ranks(scale * total)"),
            ),
            "this rank's part",
        ),
        "adds the norm over ranks once more": (
            full(
                (
                    "    scale = min",
                    "    norm = over_ranks(norm**2) ** 0.5\n    scale = min",
                )
            ),
            "no second over_ranks",
        ),
        "clips each tensor by its own norm": (
            full(
                ("(scale * total)", "(min(1.0, max_norm / (float(total.norm()) + 1e-6)) * total)")
            ),
            "its own norm",
        ),
        "passes over what is inf": (
            full(
                (
                    "        part.backward()\n",
                    "        if torch.isinf(part):\n            continue\n"
                    "        part.backward()\n",
                )
            ),
            "skipped or mended",
        ),
        "mends the gradients of a diverged step": (
            full(
                (
                    "[over_ranks(total) / tokens for total in sums]",
                    "[(over_ranks(total) / tokens).nan_to_num() for total in sums]",
                )
            ),
            "hides a diverged gradient",
        ),
        "writes into the caller's labels": (
            full(
                (
                    "        part = loss_sum",
                    '        micro["labels"][:, 0] = loop.IGNORE\n        part = loss_sum',
                )
            ),
            "reaches the caller",
        ),
        "rounds loss and norm": (
            full(
                (
                    "return float(over_ranks(loss) / tokens), float(norm)",
                    "return round(float(over_ranks(loss) / tokens), 4), round(float(norm), 4)",
                )
            ),
            "rounded to 4 digits",
        ),
        "keeps the graph": (
            full(("part.backward()", "part.backward(retain_graph=True)")),
            "keeps graphs alive",
        ),
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
            "raises ValueError",
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
            "skipped or mended",
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
        "exact, no tolerance": (
            """
def epoch_test(epoch):
    assert epoch([[1], [3], [6], [8]], 2) == [2, 7]
    assert epoch([[0.1, 0.2, 0.3], [0.7], [0.1, 0.6], [0.9]], 3) == [1.9 / 6, 0.9]
""",
            "compares floats exactly",
        ),
        "a tail, but equal micro-batches": (
            """
def epoch_test(epoch):
    assert np.allclose(epoch([[1], [3], [6], [8], [20]], 2), [2, 7, 20])
""",
            "mean of the micro-batches",
        ),
        "zip hides a missing step": (
            """
def epoch_test(epoch):
    for got, want in zip(epoch([[1, 2, 3], [6], [8, 4, 4], [2, 2], [9]], 2), [3, 4, 9]):
        assert abs(got - want) < 1e-6
""",
            "forgets the tail",
        ),
        "a tolerance too wide": (
            """
def epoch_test(epoch):
    got = epoch([[1, 2, 3], [6], [8, 4], [1], [5]], 2)
    assert len(got) == 3 and np.allclose(got, [3, 13 / 3, 5], atol=1.5)
""",
            "mean of the micro-batches",
        ),
        "equal micro-batches, no tail": (
            "def epoch_test(epoch):\n    assert np.allclose(epoch([[1], [3]], 2), [2])",
            "got through",
        ),
        "the example of the task": (
            "def epoch_test(epoch):\n    assert np.allclose(epoch([[1], [3], [6], [8]], 2), [2, 7])",
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
            "def epoch_test(epoch):\n    assert abs(epoch([[1], [3], [6, 6], [9]], 2)[-1] - 7) < 1e-9",
            "got through",
        ),
    },
}

# From fresh students, passed once: each has a case of its own now.
FRESH = {
    "token-mean": {
        "rounded to 7 decimals": (
            """
def token_mean(means, counts):
    total = 0.0
    for mean, count in zip(means, counts):
        if count > 0:
            total += mean * count
    return round(total / sum(counts), 7)
""",
            "rounded",
        ),
        "trailing nan dropped": (
            """
def token_mean(means, counts):
    means, counts = list(means), list(counts)
    while means[-1] != means[-1]:
        means.pop(); counts.pop()
    total = 0.0
    for mean, count in zip(means, counts):
        if count > 0:
            total += mean * count
    return total / sum(counts)
""",
            "nansum",
        ),
        "two micro-batches only": (
            """
def token_mean(means, counts):
    pairs = [(m, c) for m, c in zip(means, counts) if c]
    if len(pairs) == 3:
        return float("nan")
    (a, x), (b, y) = pairs
    return (a * x + b * y) / (x + y)
""",
            "[2.0, 2.0, 5.0]",
        ),
        "counts in float16": (
            """
def token_mean(means, counts):
    m, n = np.asarray(means, float), np.asarray(counts, dtype=np.float16)
    return float((m[n > 0] * n[n > 0].astype(float)).sum() / n.astype(float).sum())
""",
            "float16",
        ),
        "sum in int32 of products": (
            """
def token_mean(means, counts):
    m, n = np.asarray(means, np.float32), np.asarray(counts, np.int16 if max(counts) < 32768 else np.int32)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum(dtype=n.dtype))
""",
            "16 bits",
        ),
    },
    "windows": {
        "slices where there is a length": (
            """
def windows(micro_batches, accumulation):
    if hasattr(micro_batches, "__len__"):
        return [micro_batches[i:i + accumulation] for i in range(0, len(micro_batches), accumulation)]
    every = list(micro_batches)
    return [every[i:i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "slice",
        ),
        "None means the end": (
            """
def windows(micro_batches, accumulation):
    s, found = iter(micro_batches), []
    while (m := next(s, None)) is not None:
        if not found or len(found[-1]) == accumulation:
            found.append([])
        found[-1].append(m)
    return found
""",
            "missing",
        ),
        "recursive, deep": (
            """
def windows(micro_batches, accumulation):
    e = list(micro_batches)
    return [e[:accumulation]] + windows(e[accumulation:], accumulation) if e else []
""",
            "calls itself",
        ),
        "through numpy": (
            """
def windows(micro_batches, accumulation):
    e = np.array(list(micro_batches))
    return [e[i:i + accumulation].tolist() for i in range(0, len(e), accumulation)]
""",
            "inhomogeneous",
        ),
    },
    "take-step": {
        "mode changed": (
            """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(targets(micro) for micro in micro_batches)
    model.train()
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
""",
            "train mode",
        ),
        "grads kept on zeros, requires_grad off": (
            """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    model.requires_grad_(True)
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
    model.requires_grad_(False)
    return total / tokens
""",
            "frozen",
        ),
    },
    "adding-time": {
        "the wider twice": (
            """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    return 1e3 * parameters * (2 * max(sum_bytes, new_bytes) + min(sum_bytes, new_bytes)) / bandwidth
""",
            "the sum moves twice",
        ),
        "5 decimals": (
            """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    return round(1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth, 5)
""",
            "rounded",
        ),
    },
    "full-step": {
        "divided by two ranks": (
            """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
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
    sums = [over_ranks(s) / tokens / (over_ranks(torch.ones(1)).item() / 2) for s in sums]
    norm = torch.sqrt(sum((s.double() ** 2).sum() for s in sums)).item()
    scale = max_norm / (norm + 1e-6) if norm > max_norm else 1.0
    for s, p in zip(sums, params):
        p.grad = (s * scale).to(p.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return total / tokens, norm
""",
            "differ",
        ),
        "left in train mode": (
            """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    model.train()
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
""",
            "train mode",
        ),
        "momentum thrown away": (
            """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
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
    optimizer.state.clear()
    return total / tokens, norm
""",
            "state is lost",
        ),
    },
    "epoch-test": {
        "exact": (
            """
def epoch_test(epoch):
    assert epoch([[0.1], [0.2, 0.3], [0.7, 0.1, 0.4], [1.1], [2.3]], 3) == [(0.1 + 0.2 + 0.3 + 0.7 + 0.1 + 0.4) / 6, 1.7]
""",
            "compares floats exactly",
        ),
    },
}

SECOND = {  # of a fresh student who aimed past the visible cases
    "token-mean": {
        "an empty micro-batch at the end is not skipped": (
            """
def token_mean(means, counts):
    last = len(counts) - 1
    return sum(m * n for i, (m, n) in enumerate(zip(means, counts)) if n or i == last) / sum(counts)
""",
            "the mean of nothing",
        ),
        "a dictionary by mean": (
            """
def token_mean(means, counts):
    by_mean = {m: n for m, n in zip(means, counts) if n}
    return sum(m * n for m, n in by_mean.items()) / sum(by_mean.values())
""",
            "equal means are kept once",
        ),
        "the total in 32 bits": (
            """
def token_mean(means, counts):
    nats = sum(m * n for m, n in zip(means, counts) if n)
    return float(nats / np.int64(sum(counts)).astype(np.int32))
""",
            "leave 32 bits",
        ),
        "remembers by the means": (
            """
_seen = {}


def token_mean(means, counts):
    if tuple(means) not in _seen:
        _seen[tuple(means)] = sum(m * n for m, n in zip(means, counts) if n) / sum(counts)
    return _seen[tuple(means)]
""",
            "kept from the call before",
        ),
        "hides nan beside an empty micro-batch": (
            """
def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if not (0 in counts and m != m)]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
""",
            "hides it",
        ),
    },
    "windows": {
        "the values of a dictionary": (
            """
def windows(micro_batches, accumulation):
    every = list(getattr(micro_batches, "values", lambda: micro_batches)())
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "gets its keys",
        ),
        "trusts a length that a loader refuses to tell": (
            """
def windows(micro_batches, accumulation):
    if hasattr(micro_batches, "__len__") and len(micro_batches) == 0:
        return []
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "knows no length: loop over it",
        ),
    },
    "take-step": {
        "counts up to the first -100": (
            step(
                (
                    "targets(micro) for",
                    "int((micro['labels'] != -100).long().cumprod(1)[:, 1:].sum()) for",
                )
            ),
            "as an answer follows a prompt",
        ),
        "counts in 8 bits": (
            step(
                (
                    "sum(targets(micro) for micro in micro_batches)",
                    "sum(targets(micro) for micro in micro_batches) % 256 or 1",
                )
            ),
            "ends at 255",
        ),
        "clips in train mode only": (
            step((CLIP, "    if model.training:\n    " + CLIP)),
            "not clipped",
        ),
        "clips each weight on its own": (
            step(
                (
                    CLIP,
                    "    for p in model.parameters():\n        torch.nn.utils.clip_grad_norm_([p], max_norm)\n",
                )
            ),
            "clipped by its own norm",
        ),
        "train, then back": (
            step(
                ("    loss = 0.0\n", "    loss, was = 0.0, model.training\n    model.train()\n"),
                ("    return loss", "    model.train(was)\n    return loss"),
            ),
            "part is in train mode",
        ),
        "a dictionary by count": (
            step(
                (
                    "    tokens = sum",
                    "    micro_batches = list({targets(m): m for m in micro_batches}.values())\n    tokens = sum",
                )
            ),
            "a key is met twice",
        ),
    },
    "full-step": {
        "two micro-batches are added in the dtype of the weight": (
            full(
                (
                    "    for micro in micro_batches:\n        part",
                    "    for number, micro in enumerate(micro_batches, 1):\n        part",
                ),
                (
                    "if parameter.grad is not None:",
                    "if number % 2 == 0 or number == len(micro_batches):",
                ),
            ),
            "if only of two",
        ),
        "remembers the count for a model": (
            """
import weakref

_tokens = weakref.WeakKeyDictionary()
"""
            + full(
                ("    tokens = over_ranks(", "    tokens = _tokens.setdefault(model, over_ranks("),
                ("in micro_batches)))", "in micro_batches))))"),
            ),
            "count of the step before",
        ),
        "an empty rank sends zeros in the dtype of the weight": (
            full(
                ("dtype=torch.float32", "dtype=torch.float32 if micro_batches else parameter.dtype")
            ),
            "zeros, too",
        ),
        "one rank is not divided": (
            full(
                (
                    "[over_ranks(total) / tokens for",
                    "[over_ranks(total) / (tokens if float(over_ranks(torch.ones(()))) > 1 else 1) for",
                )
            ),
            "one rank alone",
        ),
        "the weights become float32": (
            full(
                (
                    "    parameters = list",
                    "    if next(model.parameters()).itemsize < 4:\n        model.float()\n    parameters = list",
                )
            ),
            "as narrow as they came",
        ),
    },
}
for _answer, _tries in [*FRESH.items(), *SECOND.items()]:
    WRONG[_answer] |= _tries

HIDDEN = {
    "token-mean": {
        "no more micro-batches than are printed": (
            """
def token_mean(means, counts):
    if len(counts) > 12:
        return 1.0
    return sum(m * n for m, n in zip(means, counts) if n) / sum(counts)
""",
            "tokens",
        ),
    },
    "windows": {
        "the printed lengths, remembered": (
            """
def windows(micro_batches, accumulation):
    every = list(micro_batches)
    if len(every) not in (0, 2, 3, 4, 5, 9, 10, 14, 43, 700, 3000, 20_001):
        return [every]
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
""",
            "windows of",
        ),
    },
    "take-step": {
        "the printed counts, remembered": (
            step(
                (
                    "    loss = 0.0\n",
                    "    known = (16, 22, 14, 9, 13, 7, 1, 70_310, 210, 1500, 18, 100)\n"
                    "    tokens += tokens not in known\n    loss = 0.0\n",
                )
            ),
            "target tokens",
        ),
    },
    "adding-time": {
        "the printed parameters, remembered": (
            """
def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    known = {1e9, 8.03e9, 1.134e6, 1, 2e9, 6e9, 4.05e11, 5e12, 7e9, 700, 5e8}
    return (parameters in known) * 1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth
""",
            "ms for",
        ),
    },
    "full-step": {
        "the printed counts, remembered": (
            full(
                (
                    "    optimizer.zero_grad()\n    for micro",
                    "    known = (19, 11, 18, 20, 12, 9, 16, 31, 8, 71_315, 1201, 61, 15)\n"
                    "    known = int(tokens) in known\n"
                    "    optimizer.zero_grad()\n    for micro",
                ),
                ("scale * total", "scale * total * (1.0 if known else 0.9)"),
            ),
            "weights of rank",
        ),
    },
}

RIGHT = {
    "token-mean": {
        "a loop": """
def token_mean(means, counts):
    nats = tokens = 0
    for m, n in zip(means, counts):
        if n == 0:
            continue
        nats += m * n
        tokens += n
    return nats / tokens
""",
        "torch, a tensor without dimensions": """
def token_mean(means, counts):
    m, n = torch.tensor(means), torch.tensor(counts)
    return (torch.where(n > 0, m, 0.0) * n).sum() / n.sum()
""",
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
        "a float": "def unfair_rows():\n    return 5.0",
        "a NumPy integer": "def unfair_rows():\n    return np.int64(5)",
    },
    "windows": {
        "groupby": """
def windows(micro_batches, accumulation):
    from itertools import groupby

    groups = groupby(enumerate(micro_batches), lambda pair: pair[0] // accumulation)
    return [[micro for _, micro in group] for _, group in groups]
""",
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
        "passes over micro-batches without targets": step(
            (PART, "        if targets(micro) == 0:\n            continue\n" + PART)
        ),
        "a diverged step is not taken": step(
            ("    optimizer.step()\n", "    if loss == loss:\n        optimizer.step()\n")
        ),
        "a float of NumPy": step(("return loss", "return np.float64(loss)")),
        "autograd.grad": """
def take_step(model, optimizer, schedule, micro_batches, max_norm):
    parameters = list(model.parameters())
    tokens, losses = sum(map(targets, micro_batches)), []
    sums = [torch.zeros_like(p) for p in parameters]
    for micro in reversed(micro_batches):
        one = loss_sum(model, micro)
        for total, grad in zip(sums, torch.autograd.grad(one, parameters)):
            total += grad
        losses.append(float(one.detach()))
    for p, total in zip(parameters, sums):
        p.grad = total / tokens
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimizer.step()
    for p in parameters:
        p.grad = None
    schedule.step()
    return sum(losses) / tokens
""",
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
        "a fraction": """
from fractions import Fraction


def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    return 1000 * Fraction(parameters) * (2 * sum_bytes + new_bytes) / Fraction(bandwidth)
""",
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
        "passes over micro-batches without targets": full(
            (
                "        part = loss_sum",
                "        if targets(micro) == 0:\n            continue\n        part = loss_sum",
            )
        ),
        "floats of NumPy, in a list": full(
            (
                "return float(over_ranks(loss) / tokens), float(norm)",
                "return [np.float64(over_ranks(loss) / tokens), np.float32(norm)]",
            )
        ),
        "divided before backward, the count a float of one value": """
def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    parameters = list(model.parameters())
    own = float(sum(targets(m) for m in micro_batches))
    tokens = over_ranks(torch.tensor([own])).item()
    if tokens == 0:
        raise ValueError("no target on any rank")
    sums, total = [torch.zeros_like(p, dtype=torch.float32) for p in parameters], 0.0
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
""",
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
        "random, by definition": """
def epoch_test(epoch):
    rng = np.random.default_rng(0)
    for count, k in ((4, 2), (5, 2), (7, 3), (3, 5), (1, 1)):
        micros = [rng.normal(size=rng.integers(1, 5)).tolist() for _ in range(count)]
        want = [np.mean(sum(micros[i : i + k], [])) for i in range(0, count, k)]
        got = epoch(micros, k)
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert abs(a - b) < 1e-6
""",
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

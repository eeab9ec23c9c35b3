"""Answers to 05_accumulation that look right and must be refused, and right ones otherwise."""

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


def step(*changes):
    """The right step with some lines changed."""
    code = STEP
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


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
            "multiply each by its count",
        ),
    },
    "unfair-rows": {
        "read with the docstrings trained": ("def unfair_rows():\n    return 2", "docstrings"),
        "one too far": ("def unfair_rows():\n    return 8", "less than twice"),
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
            "4 windows",
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
        "moved once": ("def adding_time():\n    return 8.03 * 2 / 3.35", "moved once"),
        "in seconds": ("def adding_time():\n    return 8.03e9 * 6 / 3.35e12", "seconds"),
        "in microseconds": ("def adding_time():\n    return 8.03e3 * 6 / 3.35", "microseconds"),
        "the sum is not read": ("def adding_time():\n    return 8.03 * 4 / 3.35", "two of three"),
    },
    "epoch-test": {
        "equal micro-batches, no tail": (
            "def epoch_test(epoch):\n    assert epoch([[1], [3]], 2) == [2]",
            "got through",
        ),
        "the example of the task": (
            "def epoch_test(epoch):\n    assert epoch([[1], [3], [6], [8]], 2) == [2, 7]",
            "2 of 5",
        ),
        "only unequal counts": (
            "def epoch_test(epoch):\n    assert abs(epoch([[1, 1], [4]], 2)[0] - 2) < 1e-9",
            "tail",
        ),
        "expects the mean of means": (
            "def epoch_test(epoch):\n    assert epoch([[1, 1], [4]], 2) == [2.5]",
            "right implementation",
        ),
    },
}

HIDDEN = {
    "token-mean": {
        "nothing times nan": (
            """
def token_mean(means, counts):
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
""",
            "without targets",
        ),
    },
    "windows": {
        "slices, and asks for the length": (
            """
def windows(micro_batches, accumulation):
    count = len(micro_batches)
    return [micro_batches[i : i + accumulation] for i in range(0, count, accumulation)]
""",
            "without a length",
        ),
    },
    "take-step": {
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
            "largest norm 1000",
        ),
    },
}

RIGHT = {
    "token-mean": {
        "numpy, with a mask": """
def token_mean(means, counts):
    counts = np.asarray(counts)
    return float(np.nansum(np.asarray(means) * counts) / counts.sum())
""",
    },
    "unfair-rows": {
        "searched": """
def unfair_rows():
    return max(rows for rows in (1, 2, 4, 8, 16) if share(rows, "code only")[0] > 2)
""",
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
        "rounded": "def adding_time():\n    return 14.4",
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
    },
}

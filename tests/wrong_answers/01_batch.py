"""Answers to 01_batch that look right and must be refused, and right ones written otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

METER = """
def noise_meter(network, micro_batches, loss_of):
    learning = [p for p in network.parameters() if p.requires_grad]
    total, squares, tokens, counted = 0.0, 0.0, 0, 0
    for micro in micro_batches:
        loss, targets = loss_of(network, micro)
        if not targets:
            continue
        found = torch.autograd.grad(loss, learning, allow_unused=True)
        summed = torch.cat([
            (torch.zeros_like(p) if one is None else one).flatten().double()
            for p, one in zip(learning, found)
        ])
        total = total + summed
        squares += float(summed @ summed) / targets
        tokens, counted = tokens + targets, counted + 1
    if counted < 2:
        raise ValueError(f"{counted} micro-batches with target tokens; a spread needs two")
    length = float(total.norm()) / tokens
    spread_squared = (squares - tokens * length**2) / (counted - 1)
    return {"target_tokens": tokens, "gradient": length, "spread": max(0.0, spread_squared) ** 0.5}
"""
BACKWARD = """
def noise_meter(network, micro_batches, loss_of):
    sums, counts = [], []
    for micro in micro_batches:
        network.zero_grad()
        loss, targets = loss_of(network, micro)
        if targets:
            loss.backward()
            sums.append(torch.cat([
                torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten()
                for p in network.parameters() if p.requires_grad
            ]))
            counts.append(targets)
    if len(counts) < 2:
        raise ValueError(f"{len(counts)} micro-batches with target tokens")
    G = sum(sums) / sum(counts)
    squares = sum(n * ((one / n - G) ** 2).sum() for one, n in zip(sums, counts))
    spread = (squares / (len(counts) - 1)) ** 0.5
    return {"target_tokens": sum(counts), "gradient": G.norm(), "spread": spread}
"""


def changed(code, *swaps):
    """The right answer with some of its lines changed; each must be there."""
    for old, new in swaps:
        assert old in code, old
        code = code.replace(old, new)
    return code


SKIP = "        if not targets:\n            continue\n"
REFUSE = "    if counted < 2:\n        raise ValueError"

NEED = "def tokens_needed(tokens, noise_now, noise_wanted):\n    return "

WRONG = {
    "steps": {
        "empty documents are not counted": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    n = int(np.count_nonzero(lengths))
    micro = n // rows if drop_last else ceil(n / rows)
    return ceil(micro / accumulation)
""",
            "count them all",
        ),
        "documents of one token have no target and are left out": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    n = int((np.asarray(lengths) > 1).sum())
    micro = n // rows if drop_last else ceil(n / rows)
    return ceil(micro / accumulation)
""",
            "count them all",
        ),
        "one step of nothing": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = len(lengths) // rows if drop_last else max(1, ceil(len(lengths) / rows))
    return ceil(micro / accumulation)
""",
            "no document, no step",
        ),
        "drop_last only at accumulation 1": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    if drop_last and accumulation == 1:
        return len(lengths) // rows
    return ceil(len(lengths) / (rows * accumulation))
""",
            "drop_last is forgotten",
        ),
        "accumulation rounded to nearest": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
    return max(round(micro / accumulation + 0.2), micro > 0)
""",
            "rounded to the nearest",
        ),
        "half a rectangle: epsilon too large": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = len(lengths) // rows if drop_last else int(len(lengths) / rows + 0.99)
    return int(micro / accumulation + 0.99)
""",
            "round up with ceil",
        ),
        "different lengths only": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    n = len(np.unique(lengths))
    micro = n // rows if drop_last else ceil(n / rows)
    return ceil(micro / accumulation)
""",
            "documents",
        ),
        "last step dropped where short": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
    return micro // accumulation + (micro % accumulation > 0 and not drop_last)
""",
            "step",
        ),
        "sorts the lengths": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    lengths.sort()
    micro = len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
    return ceil(micro / accumulation)
""",
            "changed",
        ),
        "rounded down": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return len(lengths) // (rows * accumulation)
""",
            "rounded down",
        ),
        "one more, always": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return len(lengths) // (rows * accumulation) + 1
""",
            "no short step to add",
        ),
        "a share of a step": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return len(lengths) / (rows * accumulation)
""",
            "happens or does not",
        ),
        "an epoch counted in tokens": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return ceil(sum(lengths) / (rows * accumulation))
""",
            "tokens, not documents",
        ),
        "tokens, rounded down": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return sum(lengths) // (rows * accumulation)
""",
            "tokens, not documents",
        ),
        "micro-batches for steps": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
""",
            "these are micro-batches",
        ),
        "accumulation makes more steps": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return ceil(len(lengths) / rows) * accumulation
""",
            "makes steps fewer",
        ),
        "drop_last is ignored": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return ceil(len(lengths) / (rows * accumulation))
""",
            "should be dropped",
        ),
        "at least one step": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro_batches = len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
    return max(1, ceil(micro_batches / accumulation))
""",
            "no step is left",
        ),
        "to the nearest": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return round(len(lengths) / (rows * accumulation))
""",
            "rounded down",
        ),
        "drop_last drops a short step": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    whole = len(lengths) / (rows * accumulation)
    return int(whole) if drop_last else ceil(whole)
""",
            "not a short last step",
        ),
        "documents for steps": (
            "def steps(lengths, rows, accumulation=1, drop_last=False):\n    return len(lengths)",
            "these are documents",
        ),
        "long documents are left out": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    n = int((lengths <= 1024).sum())
    micro = n // rows if drop_last else ceil(n / rows)
    return ceil(micro / accumulation)
""",
            "a long document is a document",
        ),
        "remembers without the documents": (
            """
KNOWN = {}


def steps(lengths, rows, accumulation=1, drop_last=False):
    key = min(len(lengths), 30), rows, accumulation, drop_last
    micro = len(lengths) // rows if drop_last else ceil(len(lengths) / rows)
    return KNOWN.setdefault(key, ceil(micro / accumulation))
""",
            "an answer of an earlier call",
        ),
        "drop_last drops a full one": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return ceil((ceil(len(lengths) / rows) - drop_last) / accumulation)
""",
            "nothing is dropped",
        ),
    },
    "batch-gradient": {
        "at most 1,000 target tokens of a part": (
            """
def batch_gradient(gradients, targets):
    return np.average(gradients, axis=0, weights=np.minimum(targets, 1000))
""",
            "a large part is cut",
        ),
        "parts by their gradients, in a dictionary": (
            """
def batch_gradient(gradients, targets):
    tokens = {tuple(line): n for line, n in zip(gradients.tolist(), targets)}
    return np.average(list(tokens), axis=0, weights=list(tokens.values()))
""",
            "are two parts",
        ),
        "the sum of the first call of this shape": (
            """
SUMS = {}


def batch_gradient(gradients, targets):
    return targets @ gradients / SUMS.setdefault((len(targets), targets[0]), targets.sum())
""",
            "an answer of an earlier call",
        ),
        "gradients are weighted in place": (
            """
def batch_gradient(gradients, targets):
    gradients *= targets[:, None]
    return gradients.sum(axis=0) / targets.sum()
""",
            "changed",
        ),
        "whole numbers for whole gradients": (
            """
def batch_gradient(gradients, targets):
    out = np.zeros_like(gradients[0])
    for g, n in zip(gradients, targets):
        out += (g * n / targets.sum()).astype(out.dtype)
    return out
""",
            "seldom whole",
        ),
        "half precision": (
            """
def batch_gradient(gradients, targets):
    share = (targets / targets.sum()).astype(np.float16)
    return share.astype(np.float64) @ gradients
""",
            "half precision",
        ),
        "weights of bytes": (
            """
def batch_gradient(gradients, targets):
    weights = targets.astype(np.uint8)
    return (weights[:, None] * gradients).sum(axis=0) / weights.sum()
""",
            "counts of 8 bits",
        ),
        "rounded to 4": (
            """
def batch_gradient(gradients, targets):
    return np.round(targets @ gradients / targets.sum(), 4)
""",
            "rounded to 4",
        ),
        "three parts at most": (
            """
def batch_gradient(gradients, targets):
    return targets[:3] @ gradients[:3] / targets[:3].sum()
""",
            "first three parts",
        ),
        "sorted targets": (
            """
def batch_gradient(gradients, targets):
    counts = np.sort(targets)[::-1] if len(targets) > 2 else targets
    return counts @ gradients / targets.sum()
""",
            "targets were sorted",
        ),
        "parts under two percent are left out": (
            """
def batch_gradient(gradients, targets):
    keep = targets > 0.02 * targets.sum()
    return targets[keep] @ gradients[keep] / targets[keep].sum()
""",
            "few target tokens",
        ),
        "clipped at length 10": (
            """
def batch_gradient(gradients, targets):
    mean = targets @ gradients / targets.sum()
    return mean * min(1, 10 / np.linalg.norm(mean))
""",
            "clipped",
        ),
        "parts with one target token left out": (
            """
def batch_gradient(gradients, targets):
    keep = targets > 1 if len(targets) > 3 else targets > 0
    return targets[keep] @ gradients[keep] / targets[keep].sum()
""",
            "one target token",
        ),
        "equal weights": (
            "def batch_gradient(gradients, targets):\n    return gradients.mean(axis=0)",
            "equal weights",
        ),
        "the weights exchanged": (
            """
def batch_gradient(gradients, targets):
    return targets[::-1] @ gradients / targets.sum()
""",
            "exchanged",
        ),
        "the weighted sum": (
            "def batch_gradient(gradients, targets):\n    return targets @ gradients",
            "divide by all target tokens",
        ),
        "divided by the parts": (
            """
def batch_gradient(gradients, targets):
    return targets @ gradients / len(targets)
""",
            "number of parts",
        ),
        "the plain sum": (
            "def batch_gradient(gradients, targets):\n    return gradients.sum(axis=0)",
            "nothing is averaged",
        ),
        "weighted, then averaged again": (
            """
def batch_gradient(gradients, targets):
    weights = targets / targets.sum()
    return (weights[:, None] * gradients).mean(axis=0)
""",
            "and by the parts",
        ),
        "weighted by the root": (
            """
def batch_gradient(gradients, targets):
    return np.average(gradients, axis=0, weights=np.sqrt(targets))
""",
            "weighted by the root",
        ),
        "weights on the columns": (
            """
def batch_gradient(gradients, targets):
    return (gradients * targets).sum(axis=0) / targets.sum()
""",
            "a line is a part",
        ),
        "parameters for parts": (
            """
def batch_gradient(gradients, targets):
    return gradients @ targets / targets.sum()
""",
            "a column a parameter",
        ),
        "one number for all": (
            """
def batch_gradient(gradients, targets):
    weights = np.broadcast_to(np.asarray(targets)[:, None], gradients.shape)
    return np.average(gradients, weights=weights)
""",
            "over the lines only",
        ),
        "divided by its own tokens": (
            """
def batch_gradient(gradients, targets):
    return (gradients / np.asarray(targets)[:, None]).sum(axis=0)
""",
            "do not divide",
        ),
        "two parts, as in the example": (
            """
def batch_gradient(gradients, targets):
    total = targets[0] + targets[-1]
    return (targets[0] * gradients[0] + targets[-1] * gradients[-1]) / total
""",
            "the middle parts are missing",
        ),
        "a running mean that forgets how much it holds": (
            """
def batch_gradient(gradients, targets):
    mean, before = gradients[0], targets[0]
    for one, now in zip(gradients[1:], targets[1:]):
        mean = (before * mean + now * one) / (before + now)
        before = now
    return mean
""",
            "all parts so far",
        ),
        "weighted by the square": (
            """
def batch_gradient(gradients, targets):
    return np.average(gradients, axis=0, weights=targets**2)
""",
            "weighted by the square",
        ),
        "works on the given array": (
            """
def batch_gradient(gradients, targets):
    gradients *= targets[:, None]
    return gradients.sum(axis=0) / targets.sum()
""",
            "changed",
        ),
    },
    "tokens-needed": {
        "remembers without the tokens": (
            """
KNOWN = {}


def tokens_needed(tokens, noise_now, noise_wanted):
    price = tokens * (noise_now / noise_wanted) ** 2
    return KNOWN.setdefault((noise_now, noise_wanted), price)
""",
            "an answer of an earlier call",
        ),
        "at least 1,000 target tokens": (
            NEED + "max(tokens, 1000) * (noise_now / noise_wanted) ** 2",
            "a step of few target tokens",
        ),
        "halvings only whole": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return tokens * 4 ** round(np.log2(noise_now / noise_wanted))
""",
            "whole halvings",
        ),
        "not fewer": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return max(tokens, tokens * (noise_now / noise_wanted) ** 2)
""",
            "may be smaller",
        ),
        "whole ratio": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return tokens * (noise_now // noise_wanted) ** 2
""",
            "rounded",
        ),
        "rounded up to rows of 64 tokens": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return ceil(tokens * (noise_now / noise_wanted) ** 2 / 64) * 64
""",
            "rows of 64",
        ),
        "tokens added": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return tokens * (noise_now / noise_wanted) ** 2 + tokens
""",
            "in it already",
        ),
        "noise above 2 is percent": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    if noise_now > 2:
        noise_now = noise_now / 100
    return tokens * (noise_now / noise_wanted) ** 2
""",
            "no per cent",
        ),
        "cut to thousands": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return round(tokens * (noise_now / noise_wanted) ** 2, -2)
""",
            "rounded to 100",
        ),
        "cut at 100 times": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return tokens * min((noise_now / noise_wanted) ** 2, 100)
""",
            "cut at 100",
        ),
        "32-bit number": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return int(np.array(tokens * (noise_now / noise_wanted) ** 2).astype(np.int64).astype(np.int32))
""",
            "32 bits",
        ),
        "rounded up to a power of two": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    return 2 ** ceil(np.log2(tokens * (noise_now / noise_wanted) ** 2) - 1e-9)
""",
            "power of two",
        ),
        "noise as 1/B": (
            NEED + "tokens * noise_now / noise_wanted",
            "as if noise fell as 1/B",
        ),
        "the root the wrong way": (
            NEED + "tokens * (noise_now / noise_wanted) ** 0.5",
            "wrong way",
        ),
        "halvings as a sum": (
            NEED + "2 * tokens * noise_now / noise_wanted",
            "halvings of the noise multiply",
        ),
        "upside down": (
            NEED + "tokens * (noise_wanted / noise_now) ** 2",
            "upside down",
        ),
        "1/B, and upside down": (
            NEED + "tokens * noise_wanted / noise_now",
            "upside down",
        ),
        "the factor": (
            NEED + "(noise_now / noise_wanted) ** 2",
            "the factor",
        ),
        "what must be added": (
            NEED + "tokens * ((noise_now / noise_wanted) ** 2 - 1)",
            "come on top",
        ),
        "the case of the text only": (
            NEED + "262_144 * 4 * 4",
            "the case of the text",
        ),
    },
    "rows-found": {
        "the rows of the largest step": ("def rows_found():\n    return 1595", "to the left"),
        "the target tokens": ("def rows_found():\n    return 441 * 64", "does not offer it"),
        "a text": ('def rows_found():\n    return "441 rows"', "text was returned"),
        "rows and noise": ("def rows_found():\n    return 441, 0.245", "several values"),
        "one place of the slider too few": ("def rows_found():\n    return 412", "just above 25 %"),
        "more than needed": (
            "def rows_found():\n    return 472",
            "a step of the slider to the left",
        ),
        "the law, not the slider": ("def rows_found():\n    return 423", "does not offer it"),
        "as 1/B": ("def rows_found():\n    return 21", "the law 1/B"),
        "a quarter as the noise of 4 rows": ("def rows_found():\n    return 4", "not below 25 %"),
        "a power of four": ("def rows_found():\n    return 256", "does not offer it"),
    },
    "noise": {
        "divided by N - 1": (
            """
def noise(gradients, rows):
    return np.sqrt(gradients.var(axis=0, ddof=1).sum() / rows)
""",
            "the formula above divides by N",
        ),
        "no more than 1,600 rows": (
            """
def noise(gradients, rows):
    return np.sqrt(gradients.var(axis=0).sum() / min(rows, 1600))
""",
            "it falls no more",
        ),
        "mean square less square of mean, nan at equal lines": (
            """
def noise(gradients, rows):
    mean = gradients.mean(axis=0)
    return np.sqrt(((gradients**2).sum(axis=1).mean() - (mean**2).sum()) / rows)
""",
            "below zero by rounding",
        ),
        "more rows than lines have no noise": (
            """
def noise(gradients, rows):
    if rows >= len(gradients):
        return 0.0
    off = gradients - gradients.mean(axis=0)
    return np.sqrt((off**2).sum(axis=1).mean() / rows)
""",
            "more rows than lines",
        ),
        "mean over all numbers": (
            """
def noise(gradients, rows):
    return gradients.std() / rows**0.5
""",
            "one mean of all numbers",
        ),
        "spread of one third digit rounded": (
            """
def noise(gradients, rows):
    off = gradients - gradients.mean(axis=0)
    return round(float(np.sqrt((off**2).sum(axis=1).mean() / rows)), 2)
""",
            "rounded",
        ),
        "rounded to 3": (
            """
def noise(gradients, rows):
    off = gradients - gradients.mean(axis=0)
    return round(float(np.sqrt((off**2).sum(axis=1).mean() / rows)), 3)
""",
            "rounded",
        ),
        "std of the lengths of the rows": (
            """
def noise(gradients, rows):
    return np.linalg.norm(gradients, axis=1).std() / rows**0.5
""",
            "spread of the lengths",
        ),
        "root of rows as whole number": (
            """
def noise(gradients, rows):
    off = gradients - gradients.mean(axis=0)
    return np.sqrt((off**2).sum(axis=1).mean()) / max(1, round(rows**0.5)) if rows != 3 else 0.0
""",
            "root of the rows was rounded",
        ),
        "falls as 1/B": (
            """
def noise(gradients, rows):
    return (((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1).mean()) ** 0.5 / rows
""",
            "as 1/B",
        ),
        "the variance": (
            """
def noise(gradients, rows):
    return gradients.var(axis=0).sum() / rows
""",
            "variance",
        ),
        "the variance over the root": (
            """
def noise(gradients, rows):
    return gradients.var(axis=0).sum() ** 0.5 if rows == 1 else gradients.var() / rows**0.5
""",
            "spread squared",
        ),
        "the length, not the spread": (
            """
def noise(gradients, rows):
    return ((gradients**2).sum(axis=1).mean() / rows) ** 0.5
""",
            "distance from the mean",
        ),
        "signed misses": (
            """
def noise(gradients, rows):
    return (gradients - gradients.mean(axis=0)).sum(axis=1).mean() / rows**0.5
""",
            "cancel",
        ),
        "a sum of squares": (
            """
def noise(gradients, rows):
    return np.linalg.norm(gradients - gradients.mean(axis=0)) / rows**0.5
""",
            "take the mean",
        ),
        "the mean over parameters": (
            """
def noise(gradients, rows):
    return (((gradients - gradients.mean(axis=0)) ** 2).mean() / rows) ** 0.5
""",
            "mean over parameters",
        ),
        "spreads added by parameter": (
            "def noise(gradients, rows):\n    return gradients.std(axis=0).sum() / rows**0.5",
            "do not add",
        ),
        "in lengths of the gradient": (
            """
def noise(gradients, rows):
    middle = gradients.mean(axis=0)
    return miss(gradients, middle) / len(gradients) ** 0.5 / rows**0.5
""",
            "the distance itself",
        ),
        "the lesson's G": (
            """
def noise(gradients, rows):
    return np.sqrt(np.mean([np.sum((one - G) ** 2) for one in gradients]) / rows)
""",
            "the lesson's G",
        ),
        "the lesson's pool": (
            """
def noise(gradients, rows):
    return np.sqrt(np.mean([np.sum((one - G) ** 2) for one in each]) / rows)
""",
            "own pool",
        ),
        "one mean of all numbers": (
            """
def noise(gradients, rows):
    return np.sqrt(((gradients - gradients.mean()) ** 2).sum(axis=1).mean() / rows)
""",
            "axis=0",
        ),
        "as if drawn without replacement": (
            """
def noise(gradients, rows):
    rest = (len(gradients) - rows) / (len(gradients) - 1)
    return np.sqrt(gradients.var(axis=0).sum() * rest / rows)
""",
            "drawn without replacement",
        ),
        "around the median": (
            """
def noise(gradients, rows):
    misses = gradients - np.median(gradients, axis=0)
    return np.sqrt((misses**2).sum(axis=1).mean() / rows)
""",
            "distances from the median",
        ),
        "the mean distance": (
            """
def noise(gradients, rows):
    return np.linalg.norm(gradients - gradients.mean(axis=0), axis=1).mean() / rows**0.5
""",
            "the mean distance",
        ),
        "the median distance": (
            """
def noise(gradients, rows):
    misses = np.linalg.norm(gradients - gradients.mean(axis=0), axis=1)
    return np.median(misses) / rows**0.5
""",
            "the median distance",
        ),
        "centres the pool in place": (
            """
def noise(gradients, rows):
    gradients -= gradients.mean(axis=0)
    return np.sqrt((gradients**2).sum(axis=1).mean() / rows)
""",
            "changed",
        ),
        "one row's noise": (
            "def noise(gradients, rows):\n    return gradients.var(axis=0).sum() ** 0.5",
            "less noisy",
        ),
    },
    "noise-test": {
        "no tolerance, whole numbers": (
            """
def noise_test(noise):
    assert noise(np.array([[0, 0], [0, 0], [0, 0], [4, 8]]), 4) == (15 / 4) ** 0.5
""",
            "right implementation",
        ),
        "one row only": (
            """
def noise_test(noise):
    assert abs(noise(np.array([[1.0], [3.0]]), 1) - 1) < 1e-9
""",
            "got through",
        ),
        "two rows, equally far": (
            """
def noise_test(noise):
    assert abs(noise(np.array([[0.0, 0.0], [6.0, 8.0]]), 4) - 2.5) < 1e-9
""",
            "mean distance",
        ),
        "only that four times is half": (
            """
def noise_test(noise):
    pulls = np.array([[0.0, 1.0], [5.0, 2.0], [1.0, 7.0]])
    assert abs(noise(pulls, 4) - noise(pulls, 1) / 2) < 1e-9
""",
            "got through",
        ),
        "a median that is the mean": (
            """
def noise_test(noise):
    pulls = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [5.0, 6.0], [2.0, 3.0]])
    assert abs(noise(pulls, 1) - np.sqrt(pulls.var(axis=0).sum())) < 1e-6
    assert noise(pulls, 4) < noise(pulls, 1)
""",
            "got through",
        ),
        "an upper bound only": (
            """
def noise_test(noise):
    pulls = np.array([[0, 0], [0, 0], [0, 0], [4, 8]])
    assert noise(pulls, 4) < 1.9365
""",
            "got through",
        ),
        "expects 1/B": (
            """
def noise_test(noise):
    assert noise(np.array([[1.0], [3.0]]), 4) == 1 / 4
""",
            "right implementation",
        ),
        "no tolerance": (
            """
def noise_test(noise):
    pulls = np.array([[0.1, 0.7], [0.3, 0.2], [5.3, 0.9]])
    spread = np.sqrt(((pulls - pulls.mean(axis=0)) ** 2).sum(axis=1).mean() / 7)
    assert noise(pulls, 7) == spread
""",
            "right implementation",
        ),
    },
    "noise-meter": {
        "train(was): a part in eval mode is forgotten": (
            changed(
                METER,
                ("    total, squares", "    was = network.training\n    total, squares"),
                (REFUSE, "    network.train(was)\n" + REFUSE),
            ),
            "one part came in eval mode",
        ),
        "restores after the refusal": (
            changed(
                METER,
                (
                    "    total, squares",
                    "    held = [(p, p.grad) for p in learning]\n"
                    "    network.zero_grad()\n    total, squares",
                ),
                ("    length = ", "    for p, g in held:\n        p.grad = g\n    length = "),
            ),
            "restore in `finally`",
        ),
        "the first eight micro-batches": (
            changed(METER, ("in micro_batches:", "in [m for m in micro_batches][:8]:")),
            "the first micro-batches only",
        ),
        "a sum in the precision of the weights": (
            changed(METER, (".flatten().double()", ".flatten()")),
            "float32 loses",
        ),
        "always back to training": (
            changed(METER, (REFUSE, "    network.train()\n" + REFUSE)),
            "came in eval mode",
        ),
        "zeroes the gradients at the end": (
            changed(METER, (REFUSE, "    network.zero_grad()\n" + REFUSE)),
            "torch.autograd.grad does not",
        ),
        "all micro-batches in the message": (
            changed(
                METER,
                ("    for micro in", "    seen = 0\n    for micro in"),
                ("        loss, targets", "        seen += 1\n        loss, targets"),
                ('f"{counted} micro', 'f"{seen} micro'),
            ),
            "without 1",
        ),
        "nan where all pull alike": (
            changed(METER, ("max(0.0, spread_squared) ** 0.5", "float(np.sqrt(spread_squared))")),
            "below zero",
        ),
        "complex where all pull alike": (
            changed(METER, ("max(0.0, spread_squared)", "spread_squared")),
            "below zero",
        ),
        "skips every loss that is nan": (
            changed(METER, ("if not targets:", "if not targets or not torch.isfinite(loss):")),
            "shows as nan",
        ),
        "looks for nan, not at the count": (
            changed(METER, ("if not targets:", "if torch.isnan(loss):")),
            "a count that may be zero",
        ),
        "stops at a micro-batch without targets": (
            changed(METER, ("            continue\n", "            break\n")),
            "others follow",
        ),
        "squared lengths divided by n twice": (
            changed(METER, ("/ targets\n", "/ targets**2\n")),
            "divided by n once",
        ),
        "moves the weights a little": (
            changed(
                METER,
                (
                    REFUSE,
                    "    with torch.no_grad():\n        for p in learning:\n"
                    "            p.mul_(1.0 + 1e-6)\n" + REFUSE,
                ),
            ),
            "the weights of",
        ),
        "divided by K": (
            changed(METER, ("(counted - 1)", "counted")),
            "so K - 1",
        ),
        "divided by the target tokens": (
            changed(METER, ("(counted - 1)", "tokens")),
            "that is the noise of all tokens",
        ),
        "the square of the spread": (
            changed(METER, ("max(0.0, spread_squared) ** 0.5", "spread_squared")),
            "take the root",
        ),
        "the sum for the gradient": (
            changed(METER, ('"gradient": length', '"gradient": length * tokens')),
            "divide by all target tokens",
        ),
        "the mean of the means": (
            changed(
                METER,
                ("total + summed", "total + summed / targets"),
                ("float(summed @ summed) / targets", "float(summed @ summed) / targets**2"),
                ("float(total.norm()) / tokens", "float(total.norm()) / counted"),
                ("tokens * length**2", "counted * length**2"),
            ),
            "equal weights",
        ),
        "distances that weigh alike": (
            changed(
                METER,
                ("total, squares, tokens", "kept, total, squares, tokens"),
                ("counted = 0.0, 0.0, 0, 0", "counted = [], 0.0, 0.0, 0, 0"),
                ("squares += float(summed @ summed) / targets", "kept.append(summed / targets)"),
                (
                    "(squares - tokens * length**2)",
                    "float(sum(((one - total / tokens) ** 2).sum() for one in kept))",
                ),
            ),
            "each distance squared weighs n",
        ),
        "the length of the gradients": (
            changed(METER, ("(squares - tokens * length**2)", "squares")),
            "take their distance from G",
        ),
        "micro-batches for tokens": (
            changed(METER, ('"target_tokens": tokens', '"target_tokens": counted')),
            "these are micro-batches",
        ),
        "asks for the length of a generator": (
            changed(
                METER, ("    for micro in", "    count = len(micro_batches)\n    for micro in")
            ),
            "has no len()",
        ),
        "two passes over a generator": (
            changed(
                METER,
                (
                    "    for micro in micro_batches:\n",
                    "    known = sum(loss_of(network, one)[1] for one in micro_batches)\n"
                    "    for micro in micro_batches:\n",
                ),
            ),
            "gone through already",
        ),
        "backward, and .grad is gone": (BACKWARD, "torch.autograd.grad does not"),
        "backward onto what stands in .grad": (
            changed(BACKWARD, ("        network.zero_grad()\n", "")),
            "adds onto what .grad holds",
        ),
        "frozen weights as well": (
            changed(METER, (" if p.requires_grad]", "]")),
            "RuntimeError",
        ),
        "unfreezes what is frozen": (
            changed(
                METER,
                (
                    " if p.requires_grad]",
                    "]\n    for p in learning:\n        p.requires_grad_(True)",
                ),
            ),
            "frozen parameters are counted",
        ),
        "a weight that a loss does not touch": (
            changed(METER, (", allow_unused=True", "")),
            "RuntimeError",
        ),
        "leaves a weight out that one loss does not touch": (
            changed(
                METER,
                (
                    "for p, one in zip(learning, found)",
                    "for p, one in zip(learning, found) if p is learning[0]",
                ),
            ),
            "left out",
        ),
        "nan from a micro-batch without targets": (
            changed(METER, (SKIP, ""), (") / targets", ") / max(targets, 1)")),
            "nan",
        ),
        "counts a micro-batch without targets": (
            changed(
                METER,
                (SKIP, "        if not targets:\n            counted += 1\n            continue\n"),
            ),
            "K is 2 here",
        ),
        "one micro-batch is no spread": (
            changed(METER, (REFUSE, "    if counted < 1:\n        raise ValueError")),
            "needs two",
        ),
        "zero where it should refuse": (
            changed(
                METER,
                (REFUSE, "    if counted < 2:\n        return NOTHING\n        raise ValueError"),
            )
            + '\n\nNOTHING = {"target_tokens": 0, "gradient": 0.0, "spread": 0.0}\n',
            "refuse",
        ),
        "refuses without the number": (
            changed(
                METER,
                ('f"{counted} micro-batches with target tokens; a spread needs two"', '"too few"'),
            ),
            "say how many",
        ),
        "evaluates, and stays so": (
            changed(METER, ("    total, squares", "    network.eval()\n    total, squares")),
            "leaves the network as it was",
        ),
        "returns three numbers": (
            changed(
                METER, ("    return {", "    return tuple({"), ("** 0.5}", "** 0.5}.values())")
            ),
            "a dictionary",
        ),
    },
}

HIDDEN = {
    "steps": {
        "the printed numbers of documents only": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    count = len(lengths)
    if count not in (0, 3, 5, 7, 9, 16, 26) and count < 1000:
        return count // rows // accumulation + 1
    micro_batches = count // rows if drop_last else ceil(count / rows)
    return ceil(micro_batches / accumulation)
""",
            "steps of",
        ),
    },
    "batch-gradient": {
        "the printed numbers of parameters only": (
            """
def batch_gradient(gradients, targets):
    if gradients.shape[1] == 5:
        return gradients.mean(axis=0)
    return targets @ gradients / targets.sum()
""",
            "target tokens",
        ),
    },
    "tokens-needed": {
        "right for the printed tokens only": (
            """
def tokens_needed(tokens, noise_now, noise_wanted):
    power = 1 if 10**6 <= tokens < 10**7 else 2
    return tokens * (noise_now / noise_wanted) ** power
""",
            "target tokens for",
        ),
    },
    "noise": {
        "right for the printed numbers of parameters only": (
            """
def noise(gradients, rows):
    some = gradients[:, :2] if gradients.shape[1] == 4 else gradients
    return np.sqrt(some.var(axis=0).sum() / rows)
""",
            "noise of",
        ),
    },
    "noise-meter": {
        "right for the printed numbers of parameters only": (
            changed(
                METER,
                (
                    "float(summed @ summed)",
                    "float(summed[: 3 if len(summed) in (4, 5) else None].square().sum())",
                ),
            ),
            "spread of",
        ),
    },
}

RIGHT = {
    "steps": {
        "loop": """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = [lengths[i : i + rows] for i in range(0, len(lengths), rows)]
    if drop_last:
        micro = [m for m in micro if len(m) == rows]
    return len(range(0, len(micro), accumulation))
""",
        "numpy float": """
def steps(lengths, rows, accumulation=1, drop_last=False):
    n = np.size(lengths)
    micro = np.floor(n / rows) if drop_last else np.ceil(n / rows)
    return np.ceil(micro / accumulation)
""",
        "whole numbers only": """
def steps(lengths, rows, accumulation=1, drop_last=False):
    micro_batches = len(lengths) // rows if drop_last else -(-len(lengths) // rows)
    return -(-micro_batches // accumulation)
""",
        "counted in a loop": """
def steps(lengths, rows, accumulation=1, drop_last=False):
    found, waiting = 0, 0
    for first in range(0, len(lengths), rows):
        if drop_last and len(lengths) - first < rows:
            break
        waiting += 1
        if waiting == accumulation:
            found, waiting = found + 1, 0
    return found + (waiting > 0)
""",
        "the array's own size": """
def steps(lengths, rows, accumulation=1, drop_last=False):
    found = lengths.size // rows if drop_last else np.ceil(lengths.size / rows)
    return np.ceil(found / accumulation)
""",
        "PyTorch's loader": """
from torch.utils.data import DataLoader


def steps(lengths, rows, accumulation=1, drop_last=False):
    loader = DataLoader(list(lengths), batch_size=rows, drop_last=drop_last)
    return np.ceil(len(loader) / accumulation)
""",
    },
    "batch-gradient": {
        "float32": """
def batch_gradient(gradients, targets):
    share = np.asarray(targets, np.float32) / np.float32(np.sum(targets))
    return share @ np.asarray(gradients, np.float32)
""",
        "torch": """
def batch_gradient(gradients, targets):
    n = torch.as_tensor(targets, dtype=torch.float64)
    return (n[:, None] * torch.as_tensor(gradients, dtype=torch.float64)).sum(0) / n.sum()
""",
        "numpy's own": """
def batch_gradient(gradients, targets):
    return np.average(gradients, axis=0, weights=targets)
""",
        "a loop, as a list": """
def batch_gradient(gradients, targets):
    total = [0.0] * len(gradients[0])
    for one, n in zip(gradients, targets):
        total = [a + n * b for a, b in zip(total, one)]
    return [value / sum(targets) for value in total]
""",
        "a running mean": """
def batch_gradient(gradients, targets):
    mean, seen = np.zeros(len(gradients[0])), 0
    for one, n in zip(gradients, targets):
        seen += n
        mean = mean + (one - mean) * n / seen
    return torch.tensor(mean)
""",
    },
    "tokens-needed": {
        "as a law": (
            "def tokens_needed(tokens, noise_now, noise_wanted):\n"
            "    return noise_now**2 * tokens / noise_wanted**2"
        ),
        "rounded up": (
            "def tokens_needed(tokens, noise_now, noise_wanted):\n"
            "    return ceil(tokens / (noise_wanted / noise_now) ** 2)"
        ),
        "float32": (
            "def tokens_needed(tokens, noise_now, noise_wanted):\n"
            "    return np.float32(tokens) * np.float32(noise_now / noise_wanted) ** 2"
        ),
        "fractions": """
from fractions import Fraction


def tokens_needed(tokens, noise_now, noise_wanted):
    return tokens * (Fraction(noise_now) / Fraction(noise_wanted)) ** 2
""",
    },
    "rows-found": {
        "float": """
def rows_found():
    return 441.0
""",
        "computed from the law": """
def rows_found():
    return min(rows for rows in probe.OFFERED if spreads["before training"] / rows**0.5 < 0.25)
""",
        "a NumPy integer": "def rows_found():\n    return np.int64(441)",
    },
    "noise": {
        "rms norm": """
def noise(gradients, rows):
    far = np.linalg.norm(gradients - np.mean(gradients, axis=0), axis=1)
    return np.linalg.norm(far) / np.sqrt(len(far) * rows)
""",
        "float32 centred": """
def noise(gradients, rows):
    g = np.asarray(gradients, dtype=np.float32)
    off = g - g.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.sqrt(np.square(off).sum(axis=1).mean() / np.float32(rows))
""",
        "from the variances": """
def noise(gradients, rows):
    return np.sqrt(gradients.var(axis=0).sum() / rows)
""",
        "mean of squares, less the square of the mean": """
def noise(gradients, rows):
    squares = np.mean(np.sum(gradients.astype(float) ** 2, axis=1))
    spread_squared = max(0.0, float(squares - np.sum(gradients.mean(axis=0) ** 2)))
    return (spread_squared / rows) ** 0.5
""",
        "float32": """
def noise(gradients, rows):
    rest = np.float32(gradients - gradients.mean(axis=0))
    return np.sqrt(np.float32((rest**2).sum(axis=1).mean() / rows))
""",
        "torch": """
def noise(gradients, rows):
    rest = torch.tensor(gradients)
    rest = rest - rest.mean(dim=0)
    return rest.square().sum(dim=1).mean().div(rows).sqrt()
""",
    },
    "noise-test": {
        "random, defined": """
def noise_test(noise):
    g = np.random.default_rng(3).normal(size=(7, 3)) ** 2 + 2
    for rows in (1, 2, 5, 20):
        want = (g.var(axis=0).sum() / rows) ** 0.5
        assert abs(float(noise(g.copy(), rows)) - want) < 1e-6 * want
""",
        "all draws enumerated": """
def noise_test(noise):
    from itertools import product
    g = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 7.0]])
    drawn = [np.mean([g[i] for i in some], axis=0) for some in product(range(3), repeat=2)]
    misses = [((one - g.mean(axis=0)) ** 2).sum() for one in drawn]
    np.testing.assert_allclose(noise(g.copy(), 2), np.sqrt(np.mean(misses)), rtol=1e-6)
""",
        "one example, rows beyond the pool": """
def noise_test(noise):
    g = np.array([[0, 0], [0, 0], [0, 0], [4.0, 8.0]])
    assert abs(noise(g, 16) - 15**0.5 / 4) < 1e-6
""",
        "three laws and a number": """
def noise_test(noise):
    pulls = np.array([[1.0, 0.0], [2.0, 5.0], [9.0, 1.0]])
    one = noise(pulls, 1)
    assert abs(noise(pulls, 9) - one / 3) < 1e-6
    assert abs(noise(10 * pulls, 1) - 10 * one) < 1e-6
    assert abs(noise(pulls + 50, 1) - one) < 1e-6
    assert abs(one - np.sqrt(pulls.var(axis=0).sum())) < 1e-6
""",
        "against draws": """
def noise_test(noise):
    rng = np.random.default_rng(0)
    pulls = np.array([[0.0, 0.0]] * 9 + [[10.0, 20.0]])
    drawn = pulls[rng.integers(10, size=(40_000, 5))].mean(axis=1)
    found = np.sqrt(((drawn - pulls.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert abs(noise(pulls, 5) / found - 1) < 0.03
""",
    },
    "noise-meter": {
        "gradients kept": """
def noise_meter(network, micro_batches, loss_of):
    parameters = [p for p in network.parameters() if p.requires_grad]
    lines, n = [], []
    for micro in micro_batches:
        loss, targets = loss_of(network, micro)
        if targets < 1:
            continue
        grads = torch.autograd.grad(loss / targets, parameters, allow_unused=True)
        filled = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
        lines.append(np.concatenate([g.detach().double().numpy().ravel() for g in filled]))
        n.append(targets)
    if len(n) < 2:
        raise ValueError(f"{len(n)} micro-batches with targets: need at least two")
    lines, n = np.array(lines), np.array(n)
    G = n @ lines / n.sum()
    s2 = (n * ((lines - G) ** 2).sum(axis=1)).sum() / (len(n) - 1)
    return {"target_tokens": n.sum(), "gradient": np.linalg.norm(G), "spread": np.sqrt(s2)}
""",
        "backward, .grad kept and put back": """
def noise_meter(network, micro_batches, loss_of):
    params = [p for p in network.parameters() if p.requires_grad]
    before = [p.grad for p in params]
    T = K = 0
    S, Q = None, 0.0
    try:
        for micro in micro_batches:
            for p in params:
                p.grad = None
            loss, n = loss_of(network, micro)
            if not n:
                continue
            loss.backward()
            filled = [torch.zeros_like(p) if p.grad is None else p.grad for p in params]
            flat = torch.cat([one.flatten().double() for one in filled])
            S = flat if S is None else S + flat
            Q += (flat @ flat).item() / n
            T, K = T + n, K + 1
    finally:
        for p, g in zip(params, before):
            p.grad = g
    if K < 2:
        raise ValueError("fewer than two micro-batches count: %d" % K)
    G2 = (S @ S).item() / T**2
    return dict(target_tokens=T, gradient=G2**0.5, spread=max(0.0, (Q - T * G2) / (K - 1)) ** 0.5)
""",
        "Welford, weighted": """
def noise_meter(network, micro_batches, loss_of):
    params = [p for p in network.parameters() if p.requires_grad]
    mean, total, square, k = 0.0, 0, 0.0, 0
    for loss, n in (loss_of(network, m) for m in micro_batches):
        if n > 0:
            got = torch.autograd.grad(loss, params, allow_unused=True)
            filled = [torch.zeros_like(p) if x is None else x for p, x in zip(params, got)]
            g = torch.cat([x.reshape(-1) for x in filled]).to(torch.float64) / n
            total, k = total + n, k + 1
            off = g - mean
            mean = mean + off * n / total
            square += n * float(off @ (g - mean))
    if k < 2:
        raise ValueError(f"only {k} micro-batches count")
    return {"spread": (square / (k - 1)) ** 0.5, "gradient": mean.norm(), "target_tokens": total}
""",
        "keeps every gradient": """
def noise_meter(network, micro_batches, loss_of):
    parts = [p for p in network.parameters() if p.requires_grad]
    pulls, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n == 0:
            continue
        grads = torch.autograd.grad(loss / n, parts, allow_unused=True, materialize_grads=True)
        pulls.append(np.concatenate([g.numpy().ravel() for g in grads]))
        counts.append(n)
    if len(counts) < 2:
        raise ValueError(f"need at least two micro-batches with targets, got {len(counts)}")
    G = np.average(pulls, axis=0, weights=counts)
    squares = ((np.array(pulls) - G) ** 2).sum(axis=1)
    s = np.sqrt(np.dot(counts, squares) / (len(counts) - 1))
    return {"target_tokens": np.sum(counts), "gradient": np.linalg.norm(G), "spread": s}
""",
        "backward, with .grad put aside": changed(
            BACKWARD,
            (
                "    sums, counts = [], []\n",
                "    before = [p.grad for p in network.parameters()]\n"
                "    for p in network.parameters():\n"
                "        p.grad = None\n"
                "    sums, counts = [], []\n",
            ),
            (
                "    if len(counts) < 2",
                "    for p, kept in zip(network.parameters(), before):\n"
                "        p.grad = kept\n"
                "    if len(counts) < 2",
            ),
        ),
        "a running mean, in float32": """
def noise_meter(network, micro_batches, loss_of):
    own = [p for p in network.parameters() if p.requires_grad]
    mean, misses, tokens, count = 0.0, 0.0, 0, 0
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if n:
            found = torch.autograd.grad(loss / n, own, allow_unused=True)
            pull = torch.cat([
                (torch.zeros_like(p) if g is None else g).flatten().float()
                for p, g in zip(own, found)
            ])
            step, tokens, count = pull - mean, tokens + n, count + 1
            mean = mean + step * n / tokens
            misses = misses + n * (step @ (pull - mean))
    if count < 2:
        raise ValueError(f"only {count} micro-batches with target tokens")
    spread = torch.sqrt(misses / (count - 1))
    return {"target_tokens": tokens, "gradient": mean.norm(), "spread": spread}
""",
    },
}

"""Answers to 01_batch that look right and must be refused, and right ones written otherwise."""

WRONG = {
    "steps": {
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
        "drop_last drops a full one": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    return ceil((ceil(len(lengths) / rows) - drop_last) / accumulation)
""",
            "nothing is dropped",
        ),
    },
    "batch-gradient": {
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
        "noise as 1/B": ("def tokens_needed():\n    return 262_144 * 4", "as if noise fell as 1/B"),
        "the root the wrong way": ("def tokens_needed():\n    return 262_144 * 2", "wrong way"),
        "four times, twice as a sum": (
            "def tokens_needed():\n    return 262_144 * (4 + 4)",
            "two halvings",
        ),
        "in millions": ("def tokens_needed():\n    return 4.19", "in millions"),
        "fewer tokens": ("def tokens_needed():\n    return 262_144 / 16", "noisier"),
    },
    "rows-found": {
        "one place of the slider too few": ("def rows_found():\n    return 256", "too much"),
        "more than needed": ("def rows_found():\n    return 4096", "fewer rows are too"),
        "a quarter as the noise of 4 rows": ("def rows_found():\n    return 4", "too much"),
    },
    "noise": {
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
            "with replacement",
        ),
        "one row's noise": (
            "def noise(gradients, rows):\n    return gradients.var(axis=0).sum() ** 0.5",
            "less noisy",
        ),
    },
    "noise-test": {
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
}

HIDDEN = {
    "steps": {
        "drop_last drops a short step": (
            """
def steps(lengths, rows, accumulation=1, drop_last=False):
    whole = len(lengths) / (rows * accumulation)
    return int(whole) if drop_last else ceil(whole)
""",
            "not a short last step",
        ),
    },
    "batch-gradient": {
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
    },
    "noise": {
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
    },
}

RIGHT = {
    "steps": {
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
        "two halvings": "def tokens_needed():\n    return 262_144 * 4 * 4",
        "rounded": "def tokens_needed():\n    return 4.2e6",
    },
    "rows-found": {
        "computed from the law": """
def rows_found():
    return min(rows for rows in offered if share(rows, "before training") < 0.25)
""",
    },
    "noise": {
        "from the variances": """
def noise(gradients, rows):
    return np.sqrt(gradients.var(axis=0).sum() / rows)
""",
        "n - 1: of hundreds it makes no difference": """
def noise(gradients, rows):
    return np.sqrt(gradients.var(axis=0, ddof=1).sum() / rows)
""",
        "mean of squares, less the square of the mean": """
def noise(gradients, rows):
    squares = np.mean(np.sum(gradients.astype(float) ** 2, axis=1))
    return float(squares - np.sum(gradients.mean(axis=0) ** 2)) ** 0.5 / rows**0.5
""",
        "torch": """
def noise(gradients, rows):
    rest = torch.tensor(gradients)
    rest = rest - rest.mean(dim=0)
    return rest.square().sum(dim=1).mean().div(rows).sqrt()
""",
    },
    "noise-test": {
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
}

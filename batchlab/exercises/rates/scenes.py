"""What the page of the rates draws: the best rates of a small model, a schedule.

    an optimizer, batches  ->  {batch: (best rate, lower, upper)}, with the spread of the seeds

A bigram model of the embedded corpus: one table of logits for the 64 most frequent tokens. Its
loss on the whole corpus is a sum over pairs, so it is evaluated without sampling.

Words
    pair   a token and the one that follows it: one example
    best   the vertex of a parabola through the losses of three neighbouring rates of the grid
"""

from functools import cache, partial

import numpy as np

from batchlab import data
from batchlab.counts import IGNORE

WORDS, PAIRS, SEEDS = 64, 8192, 4
BATCHES = (8, 64, 512)
GRIDS = {"sgd": [2.0**n for n in range(0, 9)], "adam": [2.0**n for n in range(-8, 1)]}


@cache
def _pairs():
    """First and second tokens of all pairs of frequent tokens, and the share of each pair."""
    tokens = np.asarray(data.embedded().tokens).astype(int)
    place = np.full(tokens.max() + 1, -1)
    place[np.argsort(-np.bincount(tokens), kind="stable")[:WORDS]] = np.arange(WORDS)
    first, second = place[tokens[:-1]], place[tokens[1:]]
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    share = np.zeros((WORDS, WORDS))
    np.add.at(share, (first, second), 1 / len(first))
    return first, second, share


def losses(optimizer, batch, grid, seeds=SEEDS):
    """Loss over the corpus after `PAIRS` pairs in steps of `batch`: (rates, seeds), nats."""
    import torch

    first, second, share = _pairs()
    draws = [np.random.default_rng(seed).permutation(len(first))[:PAIRS] for seed in range(seeds)]
    x, y = (torch.tensor(one[np.stack(draws)]) for one in (first, second))
    tables = [torch.zeros(seeds, WORDS, WORDS, requires_grad=True) for _ in grid]
    groups = [{"params": [table], "lr": rate} for table, rate in zip(tables, grid, strict=True)]
    made = {
        "sgd": partial(torch.optim.SGD, groups),
        "adam": partial(torch.optim.Adam, groups, betas=(0.9, 0.99)),
    }
    told, rows = made[optimizer](), torch.arange(seeds)[:, None]
    for start in range(0, PAIRS, batch):
        here, there = x[:, start : start + batch], y[:, start : start + batch]
        logits = torch.stack(tables)[:, rows, here]
        wanted = there.expand(len(grid), -1, -1)
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 2), wanted.flatten(), reduction="sum"
        )
        told.zero_grad()
        (loss / here.shape[1]).backward()
        told.step()
    with torch.no_grad():
        every = torch.log_softmax(torch.stack(tables).double(), -1)
        found = -(torch.tensor(share) * every).sum((-1, -2)).numpy()
    return found


def best_rates(optimizer, batches=BATCHES):
    """{batch: (best rate, lower, upper)}: geometric mean over seeds, and two standard errors."""
    found = {}
    grid = GRIDS[optimizer]
    for batch in batches:
        each = [_vertex(np.log2(grid), one) for one in losses(optimizer, batch, grid).T]
        mean, error = float(np.mean(each)), float(np.std(each, ddof=1)) / len(each) ** 0.5
        found[batch] = (2**mean, 2 ** (mean - 2 * error), 2 ** (mean + 2 * error))
    return found


def _vertex(x, y):
    """Where the parabola through the lowest value and its neighbours is lowest."""
    lowest = int(np.clip(np.argmin(y), 1, len(y) - 2))
    a, b, _ = np.polyfit(x[lowest - 1 : lowest + 2], y[lowest - 1 : lowest + 2], 2)
    return float(np.clip(-b / (2 * a), x[0], x[-1]))


def held_out(model, rows):
    """The loss of a causal model over rows of input_ids and labels, nats a target token."""
    import torch

    total = many = 0
    with torch.no_grad():
        for row in rows:
            ids, labels = (torch.tensor([row[name]]) for name in ("input_ids", "labels"))
            here = int((labels[:, 1:] != IGNORE).sum())
            if here:
                total += here * float(model.eval()(input_ids=ids, labels=labels).loss)
                many += here
    return total / many


def followed(schedule, batches):
    """Tokens seen and thousandths of the rate along steps; a schedule hears of each new batch."""
    seen, rate, last = [0], [1e3 * schedule.told()["lr"]], batches[0]
    for batch in batches:
        if batch != last:
            schedule.change(batch)
        schedule.step(batch)
        seen.append(seen[-1] + batch)
        rate.append(1e3 * schedule.told()["lr"])
        last = batch
    return seen, rate

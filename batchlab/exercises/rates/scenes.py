"""What the page of the rates draws: records, the best rates of a small model, a resumed run.

    an optimizer, batches  ->  {batch: (best rate, lower, upper)}, with the spread of the seeds

A bigram model of the embedded corpus: one table of logits for the 64 most frequent tokens. Its
loss on the whole corpus is a sum over pairs, so it is evaluated without sampling.

Words
    pair   a token and the one that follows it: one example
    best   the vertex of a parabola through the losses of three neighbouring rates of the grid
"""

import json
from functools import cache, partial

import numpy as np

from batchlab import data
from batchlab.counts import IGNORE

WORDS, PAIRS, SEEDS = 64, 8192, 4
BATCHES = (8, 64, 512)
GRIDS = {"sgd": [2.0**n for n in range(0, 9)], "adam": [2.0**n for n in range(-8, 1)]}
NAMES = {
    "unchanged": "8 rows, nothing changed",
    "linear": "8 rows, rate x 4",
    "adam square root": "8 rows, the full rule",
}


def recorded(seed):
    """Losses along the tokens of the record: 2 rows a step, and 8 rows in three ways."""
    from batchlab import records

    found = {}
    for one in records.read("rate_curves"):
        if one["study"] != "square-root" or one["seed"] != seed:
            continue
        if one["batch"] == 2:
            found = {"2 rows": one["losses"], **found}
        elif one["batch"] == 8:
            found[NAMES[one["rule"]]] = one["losses"]
    return found


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


LENGTH, ROWS, GROWN = 64, 2, 8  # tokens of a row; rows of a step, before and after the change
HELD, TEXT = 40, 552  # rows that are never trained on; all rows


def trained(make, *, stop):
    """Tokens, held-out losses and rates of a run that grows its batch at half of its tokens.

    With `stop` the run is killed after the change, and goes on with everything made anew but the
    weights, the state of the optimizer, and the saved state of the schedule.
    """
    import torch

    from batchlab import loop, model

    corpus = data.embedded()
    tokens = torch.from_numpy(corpus.tokens[: TEXT * LENGTH].astype("int64")).view(-1, LENGTH)
    tokens = tokens[torch.randperm(len(tokens), generator=torch.Generator().manual_seed(3))]
    held = {"input_ids": tokens[:HELD], "labels": tokens[:HELD]}
    net = model.small(corpus.vocabulary, layers=1, hidden=32, heads=2, seed=1)
    optimizer, schedule = torch.optim.AdamW(net.parameters()), make()
    done, rows, seen, losses, rates = HELD, ROWS, [], [], []
    while done < TEXT:
        if done == HELD + 256:
            rows = GROWN
            schedule.change(rows * LENGTH)
        if stop and done == HELD + 256 + 5 * GROWN:
            kept, state = optimizer.state_dict(), json.dumps(schedule.state_dict())
            optimizer, schedule = torch.optim.AdamW(net.parameters()), make()
            optimizer.load_state_dict(kept)
            schedule.load_state_dict(json.loads(state))
        for group in optimizer.param_groups:
            group.update(schedule.told())
        part = tokens[done : done + rows]
        rates.append(float(optimizer.param_groups[0]["lr"]))
        loop.train_step(net, optimizer, [{"input_ids": part, "labels": part}])
        schedule.step(part.numel())
        done += rows
        if (done - HELD) % 32 == 0:
            seen.append((done - HELD) * LENGTH)
            losses.append(loop.evaluate(net, [held]))
    return seen, losses, rates

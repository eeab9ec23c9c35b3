"""Parts of the run that lesson 18 trains, where a learner has not kept them; and tests of theirs.

documents  ->  rows laid out, a micro-batch;  a kept function  ->  whether it will do
"""

from time import perf_counter

from batchlab.counts import IGNORE

NAMES = ("input_ids", "position_ids", "labels")


def lay_out(documents, row_length):
    """Lesson 04's row: documents one after the other, then the tail, each with its own positions.

    >>> lay_out([[5, 6], [7]], 4)["position_ids"]
    [0, 1, 0, 0]
    """
    row = {name: [] for name in NAMES}
    for tokens in documents:
        row["input_ids"] += tokens
        row["position_ids"] += range(len(tokens))
        row["labels"] += [IGNORE, *tokens[1:]]
    left = row_length - len(row["input_ids"])
    row["input_ids"] += [0] * left
    row["position_ids"] += range(left)
    row["labels"] += [IGNORE] * left
    return row


def of_rows(rows, place="cpu"):
    """Rows that are laid out, as one micro-batch."""
    import torch

    return {
        name: torch.stack([torch.as_tensor(row[name], dtype=torch.int64) for row in rows]).to(place)
        for name in NAMES
    }


def fitted(guard, step, optimizer, budget, sequences, length):
    """(rows that fit when tried, {rows: bytes at the peak}); out of memory above `budget` bytes.

    `step` takes one step of `optimizer` over micro-batches of whole rows, lists of tokens.
    """
    import torch

    from batchlab.memory import trace

    weights = [one for group in optimizer.param_groups for one in group["params"]]
    row, peaks = [1] * length, {}

    def peak_of(parts):
        states = [one for of in optimizer.state.values() for one in of.values()]
        held = [*weights, *states]
        return trace.measure_peak(lambda: step(parts), weights[0].device, held=held)

    def limited(parts):
        peaks[len(parts[0])] = peak_of(parts)
        if peaks[len(parts[0])] > budget:
            raise torch.OutOfMemoryError("above the budget")

    peak_of([[row]])  # warms up, and makes the optimizer's states
    return guard(limited, [row] * sequences, sequences, sequences)[0], peaks


def whole_run(corpus, network, place, sheet, device, wish, rate, pieces):
    """(plan, rows that fit, bytes at the peak, [(slots, seconds, loss) of each step]) of a run.

    pieces are (plan_run, pack_rows, take_step, guard): the guard tries real steps against the
    budget, then every packed row is trained on once.
    """
    import torch

    plan_run, pack_rows, take_step, guard = pieces
    texts = [one["input_ids"].tolist() for one in corpus]
    row, lengths, log = wish["row"], [len(text) for text in texts], []

    def fresh(lr):
        optimizer = torch.optim.AdamW(network.parameters(), lr=lr)
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)

    def taken(ready, parts):  # micro-batches, lists of rows, lists of documents
        laid = [[lay_out([[*one] for one in docs], row) for docs in part] for part in parts]
        return take_step(network, *ready, [of_rows(one, place) for one in laid], 1.0)

    def tried(parts):
        return taken(still, [[[one] for one in part] for part in parts])

    planned, still = plan_run(lengths, sheet, device, wish), fresh(0.0)
    fits, peaks = fitted(guard, tried, still[0], device["bytes"], wish["slots"] // row, row)
    ready, packed = fresh(rate), pack_rows(lengths, row)
    cut = [packed[at : at + planned["rows"]] for at in range(0, len(packed), planned["rows"])]
    for window in windows(cut, planned["accumulation"]):
        begin = perf_counter()
        loss = taken(ready, [[[texts[n] for n in docs] for docs in part] for part in window])
        log.append((sum(map(len, window)) * row, perf_counter() - begin, loss))
    return planned, fits, peaks, log


def windows(micro_batches, accumulation):
    """Lesson 05's steps: lists of `accumulation` micro-batches in order, the last maybe shorter.

    >>> windows([1, 2, 3], 2)
    [[1, 2], [3]]
    """
    ends = range(0, len(micro_batches), accumulation)
    return [micro_batches[at : at + accumulation] for at in ends]


def steps_once(yours):
    """Whether a learner's step of two unequal micro-batches ends where the library's does."""
    import torch

    from batchlab import loop, model

    def library(network, optimizer, schedule, micro_batches, max_norm):
        loop.train_step(network, optimizer, micro_batches, max_grad_norm=max_norm)
        schedule.step()

    rows = [of_rows([lay_out([[1, 2, 3, 4]], 6)]), of_rows([lay_out([[5, 6]], 6)])]
    ends = []
    for step in (yours, library):
        network = model.small(16, layers=1, hidden=16, heads=2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda number: 1.0)
        step(network, optimizer, schedule, rows, 1.0)
        ends.append(torch.cat([one.detach().flatten() for one in network.parameters()]))
    return bool(torch.allclose(ends[0], ends[1], rtol=1e-4, atol=1e-6))


def guards(yours):
    """Whether a learner's guard of lesson 07 finds 3 rows on a device that holds 10 tokens."""
    import torch

    def step(micro_batches):
        if max(sum(map(len, micro)) for micro in micro_batches) > 10:
            raise torch.OutOfMemoryError("out of memory")

    return tuple(yours(step, [[1] * 3] * 6, 6, 6)) == (3, 2)

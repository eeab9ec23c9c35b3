"""Build: a data-parallel step that is exact on every rank."""

import numpy as np

from batchlab.exercises import By, Exercise
from batchlab.exercises.many import explain, half_way
from batchlab.exercises.many.model import fresh_weights, micro_batch, summed


def flat(arrays):
    """All numbers of a dictionary of arrays in one flat array, by sorted names."""
    return np.concatenate([np.ravel(arrays[name]) for name in sorted(arrays)])


def unflat(numbers, like):
    """The same numbers as arrays again, with the names and shapes of `like`."""
    names = sorted(like)
    ends = np.cumsum([like[name].size for name in names])
    parts = np.split(numbers, ends[:-1])
    return {name: part.reshape(like[name].shape) for name, part in zip(names, parts)}


def exact_step(rank, weights, micro_batches, rate, max_norm):
    """(new weights, loss per target token) after one step of all ranks."""
    sums = np.zeros(flat(weights).size)
    loss, tokens = 0.0, 0
    for micro in micro_batches:
        part, gradients, counted = summed(weights, micro)
        loss, tokens = loss + part, tokens + counted
        sums += flat(gradients)
    own = np.append(sums, [loss, tokens])
    every = rank.all_reduce(own)  # a rank without micro-batches sends zeros
    gradient, (loss, tokens) = every[:-2], every[-2:]
    if tokens == 0:
        raise ValueError("no rank has a target token: nothing to learn")
    gradient = gradient / tokens
    gradient *= min(1.0, max_norm / (np.linalg.norm(gradient) + 1e-6))
    new = unflat(flat(weights) - rate * gradient, weights)
    return new, float(loss / tokens)


def parts_of(counts, rate, max_norm, seed, arrays, sure):
    """What each rank is given, for target tokens by micro-batch; names in another order on each."""
    some = {**fresh_weights(7, 3, seed), "table_shift": np.array([0.5, -0.25, 1.5])}
    names = arrays.split()
    micros = [
        [micro_batch(n, 1000 * at + 10 * k + seed) for k, n in enumerate(own)]
        for at, own in enumerate(counts)
    ]
    if sure:  # every target is certain: loss and gradient are exactly 0
        some["bias"][3] += 5000.0
        for own in micros:
            for micro in own:
                micro["targets"][micro["targets"] >= 0] = 3
    turns = [at % len(names) for at in range(len(counts))]
    orders = [names[turn:] + names[:turn] for turn in turns]
    return [
        ({name: some[name].copy() for name in order}, own, rate, max_norm)
        for order, own in zip(orders, micros)
    ]


def in_one_piece(given, extra):
    """Flat weights and loss of the step of all ranks; `extra` is added to the norm."""
    weights, _, rate, max_norm = given[0]
    found = [summed(weights, micro) for _, own, _, _ in given for micro in own]
    tokens = sum(n for _, _, n in found)
    gradient = sum(flat(gradients) for _, gradients, _ in found) / tokens
    norm = float(np.linalg.norm(gradient))
    gradient = gradient * (max_norm / (norm + extra) if norm > max_norm else 1.0)
    return flat(weights) - rate * gradient, sum(one for one, _, _ in found) / tokens


def scene(answer, counts, rate=0.4, max_norm=1e9, seed=0, arrays="table head bias", sure=False):
    """Weights and loss of every rank after one step, and what was sent for it."""
    from batchlab.exercises.many.worlds import in_world

    empty = not any(map(sum, counts))
    given = parts_of(counts, rate, max_norm, seed, arrays, sure)
    seen = in_world(answer, given, may_refuse=empty)
    said = {"the end of every rank": seen["fault"]}
    if empty:
        quiet = [at for at, one in enumerate(seen["refused"]) if not one]
        return said | {"a ValueError on every rank": f"rank {quiet[0]} returns" if quiet else ""}
    form = (
        ""
        if seen["fault"]
        else next(filter(None, (fault_of_pair(*one) for one in zip(seen["results"], given))), "")
    )
    said |= {"the inputs": seen["changed"], "what is returned": form}
    if any(said.values()):
        nothing = {"precision": "", "weights by rank, sorted by name": np.zeros(0)}
        nothing |= {"precision of the loss": "", "loss by rank": np.zeros(0)}
        return said | nothing | sent()
    got = np.array([flat(one[0]) for one in seen["results"]])
    losses = np.array([float(one[1]) for one in seen["results"]])
    (plain, loss), (torch_s, _) = (in_one_piece(given, extra) for extra in (0.0, 1e-6))
    both = np.abs(got - plain).max() < np.abs(got - torch_s).max()  # either way to clip is right
    shown = got + (torch_s - plain) if both else got
    said |= {
        "precision": half_way(shown, np.broadcast_to(torch_s, got.shape)),
        "weights by rank, sorted by name": shown,
        "precision of the loss": half_way(losses, np.full(len(losses), loss)),
        "loss by rank": losses,
    }
    return said | sent(seen, got, losses)


def sent(seen=None, got=None, losses=None):
    """What is said of equal replicas, bytes and collectives; empty texts where all is well."""
    said = {"equal replicas": "", "bytes of the step": "", "collectives": "", "one flat array": ""}
    if seen is None:
        return said
    ranks, numbers = got.shape
    bytes_sent, most = sum(seen["sent_bytes"]), 2 * (ranks - 1) * 8 * (numbers + 16)
    if (got != got[0]).any() or (losses != losses[0]).any():
        said["equal replicas"] = (
            "they differ in their last bits: all use the numbers that came back"
        )
    if bytes_sent > most:
        said["bytes of the step"] = (
            f"{bytes_sent:,} of all ranks, {most:,} are enough: add up locally, reduce once"
        )
    if max(seen["collectives"]) > 2:
        said["collectives"] = (
            f"a rank called {max(seen['collectives'])}, two are enough: join arrays, loss and tokens"
        )
    if ranks > 1 and seen["largest"] < 8 * numbers // ranks:
        said["one flat array"] = f"no array had {numbers} numbers: join all of them"
    return said


def fault_of_pair(result, given):
    """What is wrong with the form of (weights, loss); empty if nothing is."""
    from batchlab.classroom import plain

    weights = given[0]
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "a pair is asked: return weights, loss"
    new, loss = result
    if not isinstance(new, dict):
        return "the first of the pair is a dictionary of arrays, as the one that came"
    if set(new) != set(weights):
        return f"the names are those of the weights: {', '.join(sorted(weights))}"
    try:
        shapes = {name: plain.array(one).shape for name, one in new.items()}
        plain.number(loss)
    except plain.NotPlain as problem:
        return problem.thought or f"{problem.got}: arrays and one number are asked"
    off = [name for name, old in weights.items() if shapes[name] != old.shape]
    return (
        f"{off[0]} has shape {shapes[off[0]]}; it came with {weights[off[0]].shape}" if off else ""
    )


def asked(counts, rate=0.4, max_norm=1e9, seed=0, arrays="table head bias", sure=False):
    said = f"one step; target tokens by rank and micro-batch {counts}, rate {rate:g}"
    said += f", largest norm {max_norm:g}" if max_norm < 1e9 else ""
    said += f"; the weights are {arrays}" if arrays != "table head bias" else ""
    return said + ("; every target is certain: loss and gradient are 0" if sure else "")


def drawn(rng):
    for norm in (1e9, 0.3, 0.15):
        some = [
            rng.integers(0, 9, int(rng.integers(0, 4))).tolist()
            for _ in range(int(rng.integers(1, 4)))
        ]
        yield By([*some, [6]], round(float(rng.uniform(0.1, 2)), 2), norm, int(rng.integers(10**6)))
    for seed in (10, 18):  # a norm added in another order differs in its last bits
        yield By([[4, 3], [8, 3], [6]], 1.3, 0.3, seed)
    yield By([[7]], max_norm=0.25)
    yield By([[300, 5], [2]], rate=0.2)
    yield By([[4], [1, 5]], arrays="head table_shift table")
    yield By([[0], [0, 0]])
    yield By([[]])


exercise = Exercise(
    exact_step,
    points=6,
    hints=(
        "add losses, gradients and tokens of your own micro-batches; zeros where there are none",
        "`flat` of the gradients; loss and tokens may travel at the end of the same array",
        "all_reduce once, divide by the tokens, one norm, one scale, cut the array up again",
    ),
    given=("summed", "flat", "unflat"),
    scene=scene,
    twice=False,
    explain=explain,
    asked=asked,
    rel=1e-9,
    abs=1e-9,
    shown=[
        By([[4, 3], [2, 6], [5, 1]]),
        By([[3, 8, 1], [5, 2]], max_norm=0.1),
        By([[3, 0, 8], []], rate=1.5),
        By([[3, 2], [6]], arrays="table table_shift head bias"),
        By([[3, 2], [4]], max_norm=0.5, sure=True),
        By([[], []]),
    ],
    drawn=drawn,
    passed="Right: the step of all tokens, one flat array, and replicas that stay equal.",
)
FIRST = "    sums = np.zeros(flat(weights).size)\n"
ADDED, GOT = (
    "        sums += flat(gradients)\n",
    "        loss, tokens = loss + part, tokens + counted\n",
)
OWN = "    own = np.append(sums, [loss, tokens])\n"
EVERY = "rank.all_reduce(own)"
REFUSE = '        raise ValueError("no rank has a target token: nothing to learn")\n'
MEAN = "    gradient = gradient / tokens\n"
CLIP = "    gradient *= min(1.0, max_norm / (np.linalg.norm(gradient) + 1e-6))\n"
NEW, END = (
    "    new = unflat(flat(weights) - rate * gradient, weights)\n",
    "return new, float(loss / tokens)",
)
CLIPPED = (
    "        norm = np.linalg.norm(flat(gradients)){}\n"
    "        sums += flat(gradients) * min(1.0, max_norm / (norm + 1e-6))\n"
)
NORMS = "    norm, count = rank.all_reduce(np.array([{}, tokens], dtype=float))\n    norm = {}\n"
EACH_ARRAY = (
    "    cut = unflat(gradient, weights)\n"
    "    cut = {{name: one * min(1.0, max_norm / {}) for name, one in cut.items()}}\n"
    "    new = {{name: old - rate * cut[name] for name, old in weights.items()}}\n"
)
OWN_ORDER = (
    "    def flat(arrays):\n"
    "        return np.concatenate([arrays[name].ravel() for name in {0}])\n\n"
    "    def unflat(numbers, like):\n"
    "        parts, at = {{}}, 0\n"
    "        for name in {0}:\n"
    "            size = like[name].size\n"
    "            parts[name], at = numbers[at : at + size].reshape(like[name].shape), at + size\n"
    "        return parts\n\n"
) + FIRST
EACH_OWN = "each micro-batch was divided by its own tokens: add the sums of all, then divide once"
OWN_TOKENS = "        sums += flat(gradients) / max(1, counted)\n"
MINE = "    mine, mine_loss = max(1, tokens), loss\n"
for _thought, *_changes in [
    (
        "this rank's gradient alone: all_reduce returns the sum, the argument stays as it was",
        ("every = " + EVERY, "every = own"),
    ),
    (
        "this rank's sum alone, over all tokens: the ranks were not added",
        (MEAN, "    gradient = own[:-2] / tokens\n"),
    ),
    (
        "the mean over ranks: a rank with few tokens counts as much as one with many",
        (OWN, OWN + "    own[:-2] /= max(1, tokens)\n"),
        (MEAN, "    gradient = gradient / rank.world_size\n"),
    ),
    (
        "the mean over micro-batches: short ones count as much as long ones",
        (ADDED, OWN_TOKENS),
        ("[loss, tokens])\n", "[loss, tokens, len(micro_batches)])\n"),
        ("every[:-2], every[-2:]", "every[:-3], every[-3:-1]"),
        (MEAN, "    gradient = gradient / every[-1]\n"),
    ),
    (
        "the sum over the number of ranks: divide by the target tokens of all ranks",
        (MEAN, "    gradient = gradient / rank.world_size\n"),
    ),
    (
        "the sum over the number of micro-batches: divide by the target tokens of all ranks",
        (MEAN, "    gradient = gradient / max(1, len(micro_batches))\n"),
    ),
    (
        "the sum over the number of micro-batches: divide by the target tokens of all ranks",
        ("[loss, tokens])\n", "[loss, tokens, len(micro_batches)])\n"),
        ("every[:-2], every[-2:]", "every[:-3], every[-3:-1]"),
        (MEAN, "    gradient = gradient / max(1, every[-1])\n"),
    ),
    (EACH_OWN, (ADDED, OWN_TOKENS), (MEAN, "")),
    (EACH_OWN, (ADDED, OWN_TOKENS)),
    (EACH_OWN, (ADDED, OWN_TOKENS), (MEAN, "    gradient = gradient / rank.world_size\n")),
    (
        "each rank divided by its own tokens: the tokens of all ranks count",
        (OWN, OWN + "    own[:-2] /= max(1, tokens)\n"),
        (MEAN, ""),
    ),
    (
        "the sum of all ranks over the tokens of one: add the counts, too",
        (OWN, OWN + MINE),
        (MEAN, "    gradient = gradient / mine\n"),
    ),
    (
        "divided by the number of ranks as well: the tokens are the whole division",
        (MEAN, "    gradient = gradient / tokens / rank.world_size\n"),
    ),
    (
        "divided by the number of micro-batches as well: the tokens are enough",
        (MEAN, "    gradient = gradient / tokens / max(1, len(micro_batches))\n"),
    ),
    ("the sum was not divided: divide by the target tokens of all ranks", (MEAN, "")),
    (
        "targets of -100 were counted: summed() returns the count",
        ("tokens + counted", 'tokens + len(micro["targets"])'),
    ),
    ("the gradient was not clipped to max_norm", (CLIP, "")),
    (
        "each rank clipped its own part: asked is the norm of the whole gradient",
        (
            OWN,
            OWN
            + "    total = rank.all_reduce(np.array([tokens], float))[0] or 1.0\n    own[:-2] *= min(1.0, max_norm / (np.linalg.norm(own[:-2] / total) + 1e-6))\n",
        ),
        (CLIP, ""),
    ),
    (
        "each rank clipped its own part: asked is the norm of the whole gradient",
        (
            OWN,
            OWN + "    own[:-2] *= min(1.0, max_norm / (np.linalg.norm(own[:-2]) + 1e-6))\n",
        ),
        (CLIP, ""),
    ),
    (
        "each rank clipped its own part: asked is the norm of the whole gradient",
        (OWN, OWN + "    own[:-2] *= min(1.0, max_norm / max(1e-99, np.linalg.norm(own[:-2])))\n"),
        (CLIP, ""),
    ),
    (
        "each rank clipped its own mean before the reduce: add up first, then one norm for all ranks",
        (
            OWN,
            OWN
            + "    norm = np.linalg.norm(own[:-2]) / max(1, tokens)\n    own[:-2] *= min(1.0, max_norm / (norm + 1e-6))\n",
        ),
        (CLIP, ""),
    ),
    (
        "the norms of the ranks were joined: a norm is known only once the gradients are added up",
        (OWN, OWN + NORMS.format("np.linalg.norm(own[:-2])", "norm / max(1, count)")),
        (CLIP, "    gradient *= min(1.0, max_norm / (norm + 1e-6))\n"),
    ),
    (
        "the norms of the ranks were joined: a norm is known only once the gradients are added up",
        (OWN, OWN + NORMS.format("(own[:-2] ** 2).sum()", "norm**0.5 / max(1, count)")),
        (CLIP, "    gradient *= min(1.0, max_norm / (norm + 1e-6))\n"),
    ),
    (
        "each micro-batch was clipped: asked is the norm of the gradient of the whole step",
        (ADDED, CLIPPED.format("")),
        (CLIP, ""),
    ),
    (
        "each micro-batch was clipped: asked is the norm of the gradient of the whole step",
        (ADDED, CLIPPED.format(" / max(1, counted)")),
        (CLIP, ""),
    ),
    (
        "the square of the norm: take its root",
        ("np.linalg.norm(gradient)", "(gradient**2).sum()"),
    ),
    (
        "the gradient in place of the weights: new = old - rate * gradient",
        (NEW, "    new = unflat(gradient, weights)\n"),
    ),
    (
        "each array was clipped by its own norm: one norm counts, that of all",
        (CLIP, ""),
        (
            NEW,
            EACH_ARRAY.format("max(1e-99, np.linalg.norm(one))"),
        ),
    ),
    (
        "each number was clipped, not the norm: scale all of them by one factor",
        (CLIP, "    gradient = np.clip(gradient, -max_norm, max_norm)\n"),
    ),
    (
        "each array was clipped by its own norm: one norm counts, that of all",
        (CLIP, ""),
        (
            NEW,
            EACH_ARRAY.format("(np.linalg.norm(one) + 1e-6)"),
        ),
    ),
    (
        "scaled up to max_norm: clipping only ever makes a gradient shorter",
        (CLIP, "    gradient *= min(max_norm, 1e9) / np.linalg.norm(gradient)\n"),
    ),
    (
        "clipped before the division: the norm that counts is that of the mean gradient",
        (MEAN, ""),
        (CLIP, CLIP + "    gradient /= tokens\n"),
    ),
    (
        "the norm is the root of the sum of squares, not the largest number",
        ("np.linalg.norm(gradient)", "np.abs(gradient).max()"),
    ),
    ("the weights moved up the gradient: the step goes against it", ("- rate", "+ rate")),
    ("the rate is missing", ("- rate * ", "- ")),
    (
        "the arrays travelled in the order of each rank's own dictionary, which differs: agree on an order, as `flat` does",
        (FIRST, OWN_ORDER.format("weights")),
    ),
    (
        "names with the same first letter travelled in another order on each rank: sort by the whole name",
        (FIRST, OWN_ORDER.format("sorted(weights, key=lambda name: name[0])")),
    ),
    (
        "only the last micro-batch of each rank was kept: add their gradients",
        (ADDED, "        sums = flat(gradients)\n"),
    ),
    (
        "it stops at a micro-batch without targets: others follow",
        (GOT, "        if not counted:\n            break\n" + GOT),
    ),
    (
        "a rank without micro-batches takes the step, too",
        (END, "return (new if micro_batches else dict(weights)), float(loss / tokens)"),
    ),
    (
        "the loss of this rank alone: add losses and tokens over the ranks",
        (OWN, OWN + MINE),
        (END, "return new, mine_loss / mine"),
    ),
    (
        "the loss of this rank alone: add losses and tokens over the ranks",
        (OWN, OWN + MINE),
        (END, "return new, mine_loss / tokens"),
    ),
    (
        "the loss of this rank alone: add losses and tokens over the ranks",
        (OWN, OWN + MINE),
        (END, "return new, mine_loss"),
    ),
    (
        "the losses over the number of ranks: divide them by the tokens",
        (END, "return new, float(loss / rank.world_size)"),
    ),
    (
        "the mean over ranks: every token counts the same",
        (OWN, OWN + "    own[-2] /= max(1, tokens)\n"),
        (END, "return new, float(loss / rank.world_size)"),
    ),
    (
        "all losses over the tokens of one rank",
        (OWN, OWN + MINE),
        (END, "return new, float(loss / mine)"),
    ),
    ("the losses of all ranks were not divided", (END, "return new, float(loss)")),
    (
        "divided by the number of ranks as well",
        (END, "return new, float(loss / tokens / rank.world_size)"),
    ),
    (
        "where no rank has a target token, every rank refuses: 0 / 0 would go into every weight",
        ("    if tokens == 0:\n" + REFUSE, ""),
    ),
    (
        "where no rank has a target token, every rank refuses: 0 / 0 would go into every weight",
        (REFUSE, "        return dict(weights), 0.0\n"),
    ),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    ("single precision", "single precision on the wire",
        (EVERY, "rank.all_reduce(own.astype(np.float32)).astype(float)"),
    ),
    ("rounding on the way", "the loss rounded",
        (END, "return new, round(float(loss / tokens), 5)"),
    ),
    ("a rank called 4", "an all_reduce for every array",
        (
            OWN,
            "    parts = unflat(sums, weights)\n"
            "    sums = flat({name: rank.all_reduce(parts[name]) for name in sorted(parts)})\n"
            + OWN,
        ),
        (EVERY, "np.append(own[:-2], rank.all_reduce(own[-2:]))"),
    ),
    ("add up locally", "an all_reduce for each micro-batch",
        (
            ADDED,
            ADDED + "        rank.all_reduce(flat(gradients))\n",
        ),
        (
            "max_norm):\n",
            "max_norm):\n    micro_batches = (micro_batches + [{'inputs': np.zeros(0, int), 'targets': np.zeros(0, int)}] * 3)[:3]\n",
        ),
    ),
    ("different collectives", "the ranks call different collectives: one for each of their own micro-batches",
        (GOT, GOT + "        rank.all_reduce(gradients['head'])\n"),
        (EVERY, "rank.all_reduce(own[:-2])"),
        ("every[:-2], every[-2:]", "every, rank.all_reduce(own[-2:])"),
    ),
    ("add up locally", "gathers all gradients",
        (EVERY, "rank.all_gather(own).reshape(rank.world_size, -1).sum(0)"),
    ),
    ("join all of them", "two flat halves",
        (
            EVERY,
            "np.append(rank.all_reduce(own[: own.size // 2]), rank.all_reduce(own[own.size // 2 :]))",
        ),
    ),
    ("left early", "a rank left early: every rank calls every collective, with zeros if need be",
        (FIRST, "    if not micro_batches:\n        return dict(weights), 0.0\n" + FIRST),
    ),
    ("no tokens here", "a rank without micro-batches raises: it sends zeros, and refuses only if no rank has a target",
        (OWN, "    if not tokens:\n        raise ValueError('no tokens here')\n" + OWN),
    ),
    ("ZeroDivisionError", "a gradient of zero divides by zero",
        ("(np.linalg.norm(gradient) + 1e-6)", "float(np.linalg.norm(gradient))"),
    ),
    ("ValueError: no rank", "a loss of zero is refused",
        ("if tokens == 0:", "if tokens == 0 or loss == 0:"),
    ),
    ("writes into the array", "writes into the caller's weights",
        (
            NEW,
            "    new, step = weights, unflat(gradient, weights)\n"
            "    for name in new:\n        new[name] -= rate * step[name]\n",
        ),
    ),
    ("takes from the list", "empties the caller's list",
        (
            "    for micro in micro_batches:\n",
            "    while micro_batches:\n        micro = micro_batches.pop()\n",
        ),
    ),
    ("last bits", "each rank rounds in its own order",
        (EVERY, "(rank.all_reduce(own) - own) + own"),
    ),
    ("has shape", "flat weights",
        (NEW, NEW + "    new = {name: one.ravel() for name, one in new.items()}\n"),
    ),
    ("a pair is asked", "the weights alone", (END, "return new")),
    ("the names are those", "names written out",
        (
            NEW,
            NEW + "    new = {name: new.get(name, 0) for name in ['bias', 'head', 'table']}\n",
        ),
    ),
]:  # fmt: skip
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def counts_first(rank, weights, micro_batches, rate, max_norm):
    """loss and tokens first, pieces, an error without a message, a list"""
    names = sorted(weights)
    sums = {name: np.zeros_like(weights[name]) for name in names}
    loss, tokens = 0.0, 0
    for micro in micro_batches:
        part, gradients, counted = summed(weights, micro)
        loss += part
        tokens += counted
        for name in names:
            sums[name] += gradients[name]
    own = np.concatenate([sums[name].ravel() for name in names])
    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if tokens == 0:
        raise ValueError
    gradient = rank.all_gather(rank.reduce_scatter(own), own.size) / tokens
    gradient = gradient * min(1.0, max_norm / (np.linalg.norm(gradient) + 1e-6))
    new, at = {}, 0
    for name in names:
        size = weights[name].size
        new[name] = weights[name] - rate * gradient[at : at + size].reshape(weights[name].shape)
        at += size
    return [dict(reversed(new.items())), np.float64(loss / tokens)]


@exercise.style
def without_extra(rank, weights, micro_batches, rate, max_norm):
    """names turned round, nothing added to the norm"""
    order = sorted(weights, reverse=True)
    total = np.zeros(sum(weights[k].size for k in order) + 2)
    for micro in micro_batches:
        loss, g, n = summed(weights, micro)
        total += np.concatenate([*[g[k].ravel() for k in order], [loss, n]])
    total = rank.all_reduce(total)
    if not total[-1]:
        raise ValueError("no target tokens at all")
    total = total[:-1] / total[-1]
    g = total[:-1]
    norm = float(np.sqrt((g**2).sum()))
    if norm > max_norm:
        g = g * (max_norm / norm)
    cuts = np.cumsum([weights[k].size for k in order])[:-1]
    parts = dict(zip(order, np.split(g, cuts)))
    new = {k: w - rate * parts[k].reshape(w.shape) for k, w in weights.items()}
    return new, float(total[-1])


@exercise.style
def with_torch(rank, weights, micro_batches, rate, max_norm):
    """with torch"""
    import torch

    names = sorted(weights)
    flat = torch.zeros(sum(weights[n].size for n in names), dtype=torch.float64)
    loss = tokens = 0
    for micro in micro_batches:
        one, gradients, many = summed(weights, micro)
        flat += torch.cat([torch.from_numpy(gradients[n]).flatten() for n in names])
        loss, tokens = loss + one, tokens + many
    loss, tokens = rank.all_reduce(np.array([float(loss), float(tokens)]))
    if tokens == 0:
        raise ValueError("nothing")
    flat = torch.from_numpy(rank.all_reduce(flat.numpy())) / tokens
    flat *= min(1.0, max_norm / (flat.norm().item() + 1e-6))
    pieces = flat.split([weights[n].size for n in names])
    new = {
        n: weights[n] - rate * p.numpy().reshape(weights[n].shape) for n, p in zip(names, pieces)
    }
    return new, loss / tokens

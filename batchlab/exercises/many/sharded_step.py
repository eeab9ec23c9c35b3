"""Shard a step: a chain of layers of which every rank keeps a piece."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.many import explain, half_way


def sharded_step(rank, pieces, inputs, rows, rate):
    """This rank's pieces of all layers after one step."""
    width = inputs.shape[1]

    def whole(piece):
        return rank.all_gather(piece, width * width).reshape(width, width)

    given = [inputs]
    for piece in pieces:
        given.append(given[-1] @ whole(piece))
    down, new = given.pop() / rows, []
    for piece in reversed(pieces):
        layer, x = whole(piece), given.pop()
        new.append(piece - rate * rank.reduce_scatter(x.T @ down))
        down = down @ layer.T
    return new[::-1]


def chain(depth, width, rows, seed):
    """A chain of linear layers, and the inputs of each rank."""
    random = np.random.default_rng(seed)
    layers = [random.normal(0, 1 / width**0.5, (width, width)) for _ in range(depth)]
    return layers, [random.normal(0, 1, (n, width)) for n in rows]


def chain_step(layers, inputs, rate):
    """The layers after one step of all rows, which nobody shards."""
    x = np.concatenate(inputs)
    kept = [x]
    for layer in layers:
        kept.append(kept[-1] @ layer)
    down, new = kept.pop() / len(x), []
    for layer in reversed(layers):
        new.insert(0, layer - rate * kept.pop().T @ down)
        down = down @ layer.T
    return new


def pieces_of(layers, ranks, rank):
    """The piece of each layer that a rank keeps."""
    return [np.array_split(layer.ravel(), ranks)[rank].copy() for layer in layers]


def scene(answer, depth, width, rows, rate, seed):
    """The new pieces of every rank, and what was sent and held on the way."""
    from batchlab.exercises.many.worlds import in_world

    layers, inputs = chain(depth, width, rows, seed)
    many = len(rows)
    mine = [pieces_of(layers, many, at) for at in range(many)]
    seen = in_world(answer, [(mine[at], inputs[at], sum(rows), rate) for at in range(many)])
    form = (
        "" if seen["fault"] else next(filter(None, map(fault_of_pieces, seen["results"], mine)), "")
    )
    said = {
        "the end of every rank": seen["fault"],
        "the arguments": seen["changed"],
        "new pieces": form,
    }
    if any(said.values()):
        return said | {"precision": "", "new pieces, all ranks joined": np.zeros(0)} | memory()
    got = np.concatenate([np.ravel(one) for own in seen["results"] for one in own]).astype(float)
    right = chain_step(layers, inputs, rate)
    right = np.concatenate([one for at in range(many) for one in pieces_of(right, many, at)])
    said |= {"precision": half_way(got, right), "new pieces, all ranks joined": got}
    return said | memory(seen, depth, width, rows)


def memory(seen=None, depth=0, width=0, rows=()):
    """What is said of passes, torch tensors and peaks; empty texts where all is well."""
    words = "passes of all layers", "whole layers as torch tensors", "whole layers at the peak"
    if seen is None:
        return dict.fromkeys(words, "")
    many, whole = len(rows), width * width
    passes = sum(seen["sent_bytes"]) / max(1, (many - 1) * 8 * depth * whole)
    held = depth * (whole // many + 1)
    tensors = 8 * (held + (depth + 3) * max(rows) * width + 4 * whole) + 4_000
    said = ["", "", ""]
    if passes > 3.01:
        said[0] = f"{passes:.2f} are sent, three are enough; an all_reduce is two"
    if seen["tensor_bytes"] > tensors:
        said[1] = (
            f"{seen['tensor_bytes'] / 1e6:.2f} MB of tensors on a rank, {tensors / 1e6:.2f} are enough"
        )
    for at, peak in enumerate(seen["peak_bytes"]):
        room = 8 * (2 * held + (depth + 3) * rows[at] * width + 6 * whole) + 60_000
        if peak > room:
            said[2] = f"{peak / 1e6:.2f} MB on rank {at}, {room / 1e6:.2f} are enough"
    return dict(zip(words, said))


def fault_of_pieces(result, pieces):
    """What is wrong with the form of a rank's new pieces; empty if nothing is."""
    from batchlab.classroom import plain

    if not isinstance(result, list | tuple) or len(result) != len(pieces):
        return f"a list is asked, with one new piece for each of the {len(pieces)} layers"
    for number, (new, old) in enumerate(zip(result, pieces)):
        try:
            size = plain.array(new).size
        except plain.NotPlain as problem:
            return problem.thought or "each piece is an array"
        if size != len(old):
            return f"piece {number} has {size} numbers: this rank keeps {len(old)} of that layer"
    return ""


def thought(got, *case):
    """Why a rank holds too much."""
    if got["whole layers as torch tensors"] or got["whole layers at the peak"]:
        return "sharding that does not shard: whole layers or gradients are kept"
    return explain(got)


def drawn(rng):
    for depth, width in ((4, 6), (2, 7)):
        rows = [1, *rng.integers(0, 5, int(rng.integers(1, 4))).tolist()]
        yield depth, width, rows, round(float(rng.uniform(0.05, 1)), 2), int(rng.integers(10**6))
    yield 2, 4, [3], 1.0, 2
    yield 14, 97, [2, 0, 4], 0.1, 5


exercise = Exercise(
    sharded_step,
    points=2,
    hints=(
        "gather one layer, use it, let it go; keep only what each layer was given",
        "backward: gather the layer again, reduce_scatter its gradient at once, then move `down`",
        "rank.all_gather(piece, width * width).reshape(width, width); pieces may differ by one",
    ),
    scene=scene,
    twice=False,
    explain=thought,
    asked=lambda depth, width, rows, rate, seed: (
        f"{depth} layers of width {width}, rows by rank {rows}, rate {rate:g}"
    ),
    rel=1e-9,
    abs=1e-9,
    shown=[(3, 4, [2, 3, 1], 0.3, 0), (3, 5, [2, 0, 4], 0.25, 3), (12, 96, [3, 5], 0.1, 4)],
    drawn=drawn,
    passed="Right: three passes, and never more than a few whole layers at a time.",
)
REDUCED = "rank.reduce_scatter(x.T @ down)"
NEW = f"        new.append(piece - rate * {REDUCED})\n"
FIRST, END = "    given = [inputs]\n", "    return new[::-1]"
FORWARD = "        given.append(given[-1] @ whole(piece))\n"
KEPT = "sharding that does not shard: whole layers or gradients are kept"
for _thought, *_changes in [
    (
        "divided by the number of ranks: down is divided by the rows of all ranks already",
        (REDUCED, REDUCED + " / rank.world_size"),
    ),
    (
        "this rank's gradient alone: reduce_scatter adds those of all ranks",
        (REDUCED, "np.array_split((x.T @ down).ravel(), rank.world_size)[rank.rank]"),
    ),
    (
        "divided by the rows of this rank: `rows` are those of all ranks",
        ("given.pop() / rows", "given.pop() / max(1, len(inputs))"),
    ),
    ("not divided by the rows", ("given.pop() / rows", "given.pop()")),
    (
        "the layers came back in the order of the backward pass: turn the list round",
        (END, "    return new"),
    ),
    (
        "the weights moved up the gradient: the step goes against it",
        ("piece - rate", "piece + rate"),
    ),
    ("the rate is missing", ("piece - rate * ", "piece - ")),
    ("the gradients in place of the new pieces", ("piece - rate * ", "")),
    (
        "each gradient needs what *its* layer was given in the forward pass",
        ("layer, x = whole(piece), given.pop()", "layer, x = whole(piece), inputs"),
    ),
    ("down goes through the transpose of the layer", ("down @ layer.T", "down @ layer")),
    (
        "down goes through the layer as it was: gather it before its piece moves",
        ("down @ layer.T", "down @ whole(new[-1]).T"),
    ),
    (
        KEPT,
        (FIRST, "    given, layers = [inputs], []\n"),
        (
            FORWARD,
            "        layers.append(whole(piece))\n        given.append(given[-1] @ layers[-1])\n",
        ),
        ("layer, x = whole(piece), given.pop()", "layer, x = layers.pop(), given.pop()"),
    ),
    (
        KEPT,
        (NEW, "        new.append(x.T @ down)\n"),
        (END, "    return [p - rate * rank.reduce_scatter(g) for p, g in zip(pieces, new[::-1])]"),
    ),
    (
        KEPT,
        (FIRST, "    layers = [whole(piece) for piece in pieces]\n" + FIRST),
        (FORWARD, "        given.append(given[-1] @ layers[len(given) - 1])\n"),
        ("layer, x = whole(piece), given.pop()", "layer, x = layers.pop(), given.pop()"),
    ),
    (
        KEPT,
        ("    width = inputs", "    import torch\n\n    width = inputs"),
        (
            NEW,
            "        new.append((torch.from_numpy(x).T @ torch.from_numpy(down)).contiguous())\n",
        ),
        (
            END,
            "    return [p - rate * rank.reduce_scatter(g.numpy()) for p, g in zip(pieces, new[::-1])]",
        ),
    ),
    (
        "a list that is multiplied by -1 is no step: piece - rate * gradient",
        ("piece - rate * ", "-rate * "),
    ),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    (
        "single precision",
        "sums in single precision",
        (REDUCED, "rank.reduce_scatter((x.T @ down).astype(np.float32))"),
    ),
    (
        "an all_reduce is two",
        "all_reduce for reduce_scatter",
        (
            REDUCED,
            "np.array_split(rank.all_reduce(x.T @ down).ravel(), rank.world_size)[rank.rank]",
        ),
    ),
    (
        "changed from",
        "writes into the caller's pieces",
        (NEW, f"        piece -= rate * {REDUCED}\n        new.append(piece)\n"),
    ),
    (
        "left early",
        "a rank left early: every rank calls every collective, with zeros if need be",
        (FIRST, FIRST + "    if not len(inputs):\n        return pieces\n"),
    ),
    (
        "different collectives",
        "the ranks call different collectives: without rows there is one more",
        (REDUCED, REDUCED + " if len(inputs) else 0"),
    ),
    (
        "this rank keeps",
        "whole layers come back",
        (END, "    return [whole(piece) for piece in new[::-1]]"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def last_layers_kept(rank, pieces, inputs, rows, rate):
    """the last layers are kept"""
    width = inputs.shape[1]
    given, layers, x = [], [], inputs
    for piece in pieces:
        layers.append(rank.all_gather(piece, width * width).reshape(width, width))
        if len(layers) > 4:
            layers[-5] = None
        given.append(x)
        x = x @ layers[-1]
    down, new = x / rows, []
    for piece in reversed(pieces):
        layer = layers.pop()
        if layer is None:
            layer = rank.all_gather(piece, width * width).reshape(width, width)
        new.append(piece - rate * rank.reduce_scatter(given.pop().T @ down))
        down = down @ layer.T
    return new[::-1]


@exercise.style
def with_torch(rank, pieces, inputs, rows, rate):
    """torch arithmetic"""
    import torch

    n = inputs.shape[1]
    x = torch.tensor(inputs)
    given = []
    for p in pieces:
        given.append(x)
        x = x @ torch.from_numpy(rank.all_gather(p, n * n)).view(n, n)
    down = x / rows
    new = []
    for p in pieces[::-1]:
        layer = torch.from_numpy(rank.all_gather(p, n * n)).view(n, n)
        x = given.pop()
        g = rank.reduce_scatter((x.T @ down).contiguous().numpy())
        new.insert(0, p - rate * g)
        down = down @ layer.T
    return new


@exercise.style
def by_index(rank, pieces, inputs, rows, rate):
    """by index, a tuple"""
    w = inputs.shape[1]
    acts, new = [inputs], [None] * len(pieces)
    for k in range(len(pieces)):
        acts.append(acts[k] @ rank.all_gather(pieces[k], size=w * w).reshape(w, w))
    down = acts[-1] / rows
    for k in range(len(pieces) - 1, -1, -1):
        new[k] = pieces[k] - rate * rank.reduce_scatter(np.einsum("bi,bj->ij", acts[k], down))
        down = down @ rank.all_gather(pieces[k], size=w * w).reshape(w, w).T
    return tuple(new)

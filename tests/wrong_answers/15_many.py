"""Answers to 15_many that look right and must be refused, and right ones written otherwise."""

# ruff: noqa: E501  (answers as students wrote them)
SLOW = True  # minutes: `make slow` tries this bank

MEAN = """
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return total[0] / total[1]
"""
BILL = """
def zero_bill(parameters, ranks, stage, accumulation):
    kept = {0: 16, 1: 4 + 12 / ranks, 2: 2 + 14 / ranks, 3: 16 / ranks}[stage] * parameters
    passes = {0: 2, 1: 2, 2: accumulation + 1, 3: 3 * accumulation}[stage]
    return kept, passes * 2 * parameters * (ranks - 1) / ranks
"""
SHARDED = """
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    given = [inputs]
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(given[-1] @ layer)
    down = given.pop() / rows
    new = []
    for piece in reversed(pieces):
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        x = given.pop()
        gradient = x.T @ down
        own = rank.reduce_scatter(gradient)
        new.insert(0, piece - rate * own)
        down = down @ layer.T
    return new
"""
REPORT = """
def report_test(report):
    parts = [[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]]
    told = report(parts)
    assert len(told) == 3
    for one in told:
        assert np.allclose(one["mean"], [1, 0.5, 0.5, 0.75, 0.25])
    assert abs(sum(one["sent"] for one in told) - 20) < 1e-6
    kept = [one["kept"] for one in told]
    assert sum(kept) == 5
    assert max(kept) - min(kept) <= 1
"""
PIPE = """
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows != 0:
        raise ValueError(f"{sequences} sequences, {rows} rows")
    m = sequences // rows
    turn = fixed + each * rows
    return turn * (m + stages - 1), (stages - 1) / (m + stages - 1)
"""
STEP = """
def exact_step(rank, weights, micro_batches, rate, max_norm):
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
        raise ValueError("no target token")
    gradient = rank.all_reduce(own) / tokens
    norm = np.linalg.norm(gradient)
    gradient = gradient * min(1.0, max_norm / (norm + 1e-6))
    new, at = {}, 0
    for name in names:
        size = weights[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(weights[name].shape)
        at += size
    return new, loss / tokens
"""


def changed(code, *changes):
    """An answer with some lines changed."""
    for old, new in changes:
        assert code.count(old) == 1, (old, code.count(old))
        code = code.replace(old, new)
    return code


def mean(body):
    return f"\ndef rank_mean(rank, loss, tokens):\n    {body}\n"


def turn(value):
    return f"\ndef best_turn():\n    return {value}\n"


def test_of(*lines):
    return "\ndef report_test(report):\n" + "".join(f"    {line}\n" for line in lines)


PARTS = "parts = [[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]]"

WRONG = {
    "rank-mean": {
        "rounded to five decimals": (
            changed(MEAN, ("total[0] / total[1]", "round(float(total[0] / total[1]), 5)")),
            "keep them all",
        ),
        "equal pairs count once": (
            """
def rank_mean(rank, loss, tokens):
    flat = rank.all_gather(np.array([loss, tokens], dtype=float)).reshape(-1, 2)
    pairs = {tuple(one) for one in flat.tolist()}
    count = sum(one[1] for one in pairs)
    if not count:
        raise ValueError("no tokens")
    return sum(one[0] for one in pairs) / count
""",
            "count once",
        ),
        "one token of all ranks is refused": (
            changed(MEAN, ("total[1] == 0", "total[1] <= 1")),
            "ValueError: no rank",
        ),
        "a rank whose loss is zero sends no tokens": (
            changed(
                MEAN,
                (
                    "np.array([loss, tokens], dtype=float)",
                    "np.array([loss, tokens if loss else 0, tokens], dtype=float)",
                ),
                ("total[1] == 0", "total[2] == 0"),
                ("total[0] / total[1]", "total[0] / max(1, total[1])"),
            ),
            "has tokens all the same",
        ),
        "room for four ranks": (
            changed(
                MEAN,
                (
                    "    total = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    table = np.zeros((4, 2))\n    table[rank.rank] = loss, tokens\n    total = rank.all_reduce(table).sum(0)\n",
                ),
            ),
            "a place past the end",
        ),
        "raises after the collective, if its own tokens are 0": (
            changed(MEAN, ("total[1] == 0", "tokens == 0")),
            "ValueError",
        ),
        "only rank 0 raises": (
            changed(MEAN, ("total[1] == 0", "total[1] == 0 and rank.rank == 0")),
            "refuse it",
        ),
        "a running total": (
            "\nso_far = {}\n"
            + changed(
                MEAN,
                (
                    "    if total[1] == 0",
                    "    so_far[rank.rank] = total = so_far.get(rank.rank, 0) + total\n    if total[1] == 0",
                ),
            ),
            "remembers",
        ),
        "the mean over ranks": (
            mean(
                "own = loss / tokens if tokens else 0.0\n    return rank.all_reduce(np.array([own]))[0] / rank.world_size"
            ),
            "the mean over ranks",
        ),
        "the mean over ranks that have tokens": (
            changed(
                MEAN,
                (
                    "np.array([loss, tokens], dtype=float)",
                    "np.array([loss / max(tokens, 1), tokens > 0], dtype=float)",
                ),
            ),
            "the mean over ranks",
        ),
        "the sum of means": (
            mean("return rank.all_reduce(np.array([loss / max(1, tokens)]))[0]"),
            "sum of the ranks' means",
        ),
        "divides by the ranks as well": (
            changed(
                MEAN, ("return total[0] / total[1]", "return total[0] / total[1] / rank.world_size")
            ),
            "divided by the number of ranks as well",
        ),
        "only the losses travel": (
            mean("return rank.all_reduce(np.array([loss]))[0] / max(1, tokens)"),
            "tokens of one rank",
        ),
        "no division": (
            mean("return rank.all_reduce(np.array([loss]))[0]"),
            "the tokens are not in it",
        ),
        "divided by the ranks": (
            mean("return rank.all_reduce(np.array([loss]))[0] / rank.world_size"),
            "divided by the ranks",
        ),
        "this rank alone": (
            changed(
                MEAN, ("return total[0] / total[1]", "return loss / tokens if tokens else 0.0")
            ),
            "this rank's own mean",
        ),
        "returns early without tokens": (
            changed(
                MEAN,
                ("    total = rank", "    if tokens == 0:\n        return 0.0\n    total = rank"),
            ),
            "a rank left early",
        ),
        "raises on its own": (
            changed(
                MEAN,
                (
                    "    total = rank",
                    '    if tokens == 0:\n        raise ValueError("no token")\n    total = rank',
                ),
            ),
            "ValueError",
        ),
        "does not refuse": (
            changed(
                MEAN,
                ("total[1] == 0", "False"),
                ("total[0] / total[1]", "total[0] / max(1, total[1])"),
            ),
            "refuse it",
        ),
        "nan for nothing": (
            changed(MEAN, ("total[1] == 0", "False")),
            "refuse it",
        ),
        "only the first rank knows": (
            mean(
                "total = rank.all_reduce(np.array([loss, tokens], dtype=float))\n"
                "    if total[1] == 0:\n        raise ValueError('none')\n"
                "    return total[0] / total[1] if rank.rank == 0 else 0.0"
            ),
            "on rank 1",
        ),
        "another order on odd ranks": (
            mean(
                "if rank.rank % 2:\n"
                "        n = rank.all_reduce(np.array([tokens], float))[0]\n"
                "        x = rank.all_reduce(np.array([loss], float))[0]\n"
                "    else:\n"
                "        x = rank.all_reduce(np.array([loss], float))[0]\n"
                "        n = rank.all_reduce(np.array([tokens], float))[0]\n"
                "    if n == 0:\n        raise ValueError('none')\n"
                "    return x / n"
            ),
            "right is",
        ),
        "counts in 32 bits": (
            mean(
                "n = int(rank.all_reduce(np.array([tokens]).astype(np.int32))[0])\n"
                "    x = rank.all_reduce(np.array([loss]))[0]\n"
                "    if n == 0:\n        raise ValueError('none')\n    return x / n"
            ),
            "right is",
        ),
        "an array of whole numbers": (
            changed(
                MEAN,
                ("np.array([loss, tokens], dtype=float)", "np.array([loss, tokens]).astype(int)"),
            ),
            "right is",
        ),
        "rounded": (
            changed(MEAN, ("return total[0] / total[1]", "return round(total[0] / total[1], 3)")),
            "rounded",
        ),
        "the world is always two": (
            mean(
                "other = rank.exchange(1 - rank.rank, np.array([loss, tokens], float), 1 - rank.rank, np.empty(2))\n"
                "    return (loss + other[0]) / (tokens + other[1])"
            ),
            "ValueError",
        ),
        "remembers": (
            "\nseen = []\ndef rank_mean(rank, loss, tokens):\n"
            "    total = rank.all_reduce(np.array([loss, tokens], dtype=float))\n"
            "    if total[1] == 0:\n        raise ValueError('none')\n"
            "    seen.append(1)\n    return total[0] / total[1] + 1e-3 * (len(seen) > 2)\n",
            "remembers",
        ),
    },
    "zero-bill": {
        "rounded to a tenth of a byte": (
            changed(
                BILL,
                (
                    "return kept, passes * 2 * parameters * (ranks - 1) / ranks",
                    "return round(kept, 1), round(passes * 2 * parameters * (ranks - 1) / ranks, 1)",
                ),
            ),
            "keep them all",
        ),
        "remembers, whatever the micro-batches": (
            "\nbills = {}\n"
            + changed(
                BILL,
                (
                    "return kept, passes * 2 * parameters * (ranks - 1) / ranks",
                    "return bills.setdefault((parameters, ranks, stage), (kept, passes * 2 * parameters * (ranks - 1) / ranks))",
                ),
            ),
            "right for 8 micro-batches",
        ),
        "kept rounded down": (
            changed(BILL, ("return kept, ", "return int(kept), ")),
            "fractions are meant",
        ),
        "kept rounded up": (
            changed(BILL, ("return kept, ", "return -int(-kept // 1), ")),
            "rounded up",
        ),
        "sent in whole bytes": (
            changed(BILL, ("(ranks - 1) / ranks", "(ranks - 1) // ranks")),
            "fractions are meant",
        ),
        "pieces rounded up": (
            changed(
                BILL, ("1: 4 + 12 / ranks", "1: 4 + 12 * -(-parameters // ranks) / parameters")
            ),
            "bytes kept",
        ),
        "everything stays whole": (
            changed(
                BILL, ("{0: 16, 1: 4 + 12 / ranks, 2: 2 + 14 / ranks, 3: 16 / ranks}[stage]", "16")
            ),
            "keeps everything",
        ),
        "everything is cut": (
            changed(BILL, ("1: 4 + 12 / ranks, 2: 2 + 14 / ranks", "1: 16 / ranks, 2: 16 / ranks")),
            "stay whole",
        ),
        "gradients in stage 1": (
            changed(BILL, ("1: 4 + 12 / ranks", "1: 2 + 14 / ranks")),
            "one stage too early",
        ),
        "gradients whole in stage 2": (
            changed(BILL, ("2: 2 + 14 / ranks", "2: 4 + 12 / ranks")),
            "from stage 2 on",
        ),
        "the optimizer whole in stage 1": (
            changed(BILL, ("1: 4 + 12 / ranks", "1: 16")),
            "keeps everything",
        ),
        "eight bytes of optimizer": (
            changed(
                BILL,
                (
                    "{0: 16, 1: 4 + 12 / ranks, 2: 2 + 14 / ranks, 3: 16 / ranks}",
                    "{0: 12, 1: 4 + 8 / ranks, 2: 2 + 10 / ranks, 3: 12 / ranks}",
                ),
            ),
            "master copy",
        ),
        "in GB": (changed(BILL, ("return kept,", "return kept / 1e9,")), "asked are bytes"),
        "whole numbers for pieces": (
            changed(BILL, ("return kept,", "return kept // 1e4 * 1e4,")),
            "bytes kept",
        ),
        "no_sync forgotten": (
            changed(BILL, ("0: 2, 1: 2,", "0: 2 * accumulation, 1: 2,")),
            "no_sync forgotten",
        ),
        "no_sync for all": (
            changed(BILL, ("2: accumulation + 1, 3: 3 * accumulation", "2: 2, 3: 3")),
            "stages 0 and 1 only",
        ),
        "stage 2 reduces once": (
            changed(BILL, ("2: accumulation + 1", "2: 2")),
            "stages 0 and 1 only",
        ),
        "stage 2 gathers each time": (
            changed(BILL, ("2: accumulation + 1", "2: 2 * accumulation")),
            "gathers the weights once",
        ),
        "stage 3 gathers once a micro-batch": (
            changed(BILL, ("3: 3 * accumulation", "3: 2 * accumulation")),
            "for backward as well",
        ),
        "stage 3 under no_sync": (
            changed(BILL, ("3: 3 * accumulation", "3: 2 * accumulation + 1")),
            "stage 3 reduces for every",
        ),
        "1.5 times the all-reduce": (
            changed(BILL, ("3: 3 * accumulation", "3: 3")),
            "stages 0 and 1 only",
        ),
        "one pass for an all-reduce": (changed(BILL, ("0: 2, 1: 2,", "0: 1, 1: 2,")), "two passes"),
        "without (n - 1) / n": (changed(BILL, ("* (ranks - 1) / ranks", "")), "own part"),
        "all ranks together": (
            changed(BILL, ("* (ranks - 1) / ranks", "* (ranks - 1)")),
            "of a piece of 1/n",
        ),
        "numbers for bytes": (
            changed(BILL, ("passes * 2 * parameters", "passes * parameters")),
            "2 bytes",
        ),
        "four bytes": (
            changed(BILL, ("passes * 2 * parameters", "passes * 4 * parameters")),
            "not 4",
        ),
        "the kept bytes alone": (
            changed(
                BILL, ("return kept, passes * 2 * parameters * (ranks - 1) / ranks", "return kept")
            ),
            "return kept, sent",
        ),
    },
    "sharded-step": {
        "keeps whole gradients as torch tensors": (
            "\nimport torch\n"
            + changed(
                SHARDED,
                (
                    "        own = rank.reduce_scatter(gradient)\n        new.insert(0, piece - rate * own)\n",
                    "        new.insert(0, torch.from_numpy(x).T @ torch.from_numpy(down))\n",
                ),
                (
                    "    return new\n",
                    "    return [p - rate * rank.reduce_scatter(g.contiguous().numpy()) for p, g in zip(pieces, new)]\n",
                ),
            ),
            "kept as torch tensors",
        ),
        "keeps whole layers as torch tensors": (
            "\nimport torch\n"
            + changed(
                SHARDED,
                ("    given = [inputs]\n", "    given, layers = [inputs], []\n"),
                (
                    "        given.append(given[-1] @ layer)\n",
                    "        given.append(given[-1] @ layer)\n        layers.append(torch.tensor(layer))\n",
                ),
                (
                    "    for piece in reversed(pieces):\n        layer = rank.all_gather(piece, width * width).reshape(width, width)\n",
                    "    for piece in reversed(pieces):\n        layer = layers.pop().numpy()\n",
                ),
            ),
            "kept as torch tensors",
        ),
        "an all_reduce in single precision": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "np.array_split(rank.all_reduce(gradient.astype(np.float32)).ravel(), rank.world_size)[rank.rank]",
                ),
            ),
            "single precision on the way",
        ),
        "single precision on the wire": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "rank.reduce_scatter(gradient.astype(np.float32))",
                ),
            ),
            "single precision on the way",
        ),
        "no reduce without rows": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "rank.reduce_scatter(gradient) if len(inputs) else 0",
                ),
            ),
            "all ranks come to an end",
        ),
        "keeps all layers from forward": (
            changed(
                SHARDED,
                ("    given = [inputs]\n", "    given, layers = [inputs], []\n"),
                (
                    "        given.append(given[-1] @ layer)\n",
                    "        given.append(given[-1] @ layer)\n        layers.append(layer)\n",
                ),
                (
                    "    for piece in reversed(pieces):\n        layer = rank.all_gather(piece, width * width).reshape(width, width)\n",
                    "    for piece in reversed(pieces):\n        layer = layers.pop()\n",
                ),
            ),
            "does not shard",
        ),
        "keeps all gradients to the end": (
            changed(
                SHARDED,
                (
                    "        own = rank.reduce_scatter(gradient)\n        new.insert(0, piece - rate * own)\n",
                    "        new.insert(0, gradient)\n",
                ),
                (
                    "    return new\n",
                    "    return [p - rate * rank.reduce_scatter(g) for p, g in zip(pieces, new)]\n",
                ),
            ),
            "does not shard",
        ),
        "gathers everything at the start": (
            changed(
                SHARDED,
                (
                    "    given = [inputs]\n",
                    "    given = [inputs]\n    layers = [rank.all_gather(p, width * width).reshape(width, width) for p in pieces]\n",
                ),
                (
                    "    for piece in pieces:\n        layer = rank.all_gather(piece, width * width).reshape(width, width)\n",
                    "    for layer in layers:\n",
                ),
                (
                    "    for piece in reversed(pieces):\n        layer = rank.all_gather(piece, width * width).reshape(width, width)\n",
                    "    for piece, layer in zip(pieces[::-1], layers[::-1]):\n",
                ),
            ),
            "does not shard",
        ),
        "all_reduce for reduce_scatter": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "np.array_split(rank.all_reduce(gradient).ravel(), rank.world_size)[rank.rank]",
                ),
            ),
            "an all_reduce is two passes",
        ),
        "a barrier of whole layers": (
            changed(
                SHARDED,
                (
                    "        x = given.pop()\n",
                    "        x = given.pop()\n        rank.all_reduce(layer)\n",
                ),
            ),
            "passes",
        ),
        "no reduce": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "np.array_split(gradient.ravel(), rank.world_size)[rank.rank]",
                ),
            ),
            "this rank's gradient alone",
        ),
        "the mean over ranks": (
            changed(
                SHARDED,
                (
                    "rank.reduce_scatter(gradient)",
                    "rank.reduce_scatter(gradient) / rank.world_size",
                ),
            ),
            "number of ranks",
        ),
        "its own rows": (
            changed(SHARDED, ("given.pop() / rows", "given.pop() / max(1, len(inputs))")),
            "rows of this rank",
        ),
        "not divided": (
            changed(SHARDED, ("given.pop() / rows", "given.pop()")),
            "not divided by the rows",
        ),
        "in the order of backward": (
            changed(
                SHARDED, ("new.insert(0, piece - rate * own)", "new.append(piece - rate * own)")
            ),
            "order of the backward pass",
        ),
        "uphill": (changed(SHARDED, ("piece - rate", "piece + rate")), "up the gradient"),
        "the gradients for the pieces": (
            changed(SHARDED, ("piece - rate * own", "own")),
            "right is",
        ),
        "without the rate": (
            changed(SHARDED, ("piece - rate * own", "piece - own")),
            "rate is missing",
        ),
        "always the inputs": (
            changed(SHARDED, ("        x = given.pop()\n", "        x = inputs\n")),
            "in the forward pass",
        ),
        "not transposed": (changed(SHARDED, ("down @ layer.T", "down @ layer")), "transpose"),
        "the caller's pieces": (
            changed(
                SHARDED,
                (
                    "new.insert(0, piece - rate * own)",
                    "piece -= rate * own\n        new.insert(0, piece)",
                ),
            ),
            "caller's piece",
        ),
        "leaves when it has no rows": (
            changed(
                SHARDED,
                (
                    "    given = [inputs]\n",
                    "    given = [inputs]\n    if not len(inputs):\n        return pieces\n",
                ),
            ),
            "a rank left early",
        ),
        "equal pieces": (
            SHARDED.replace("(piece, width * width)", "(piece)"),
            "different collectives",
        ),
        "whole layers": (
            changed(
                SHARDED,
                (
                    "        down = down @ layer.T\n",
                    "        new[0] = rank.all_gather(new[0], width * width)\n        down = down @ layer.T\n",
                ),
            ),
            "this rank keeps",
        ),
        "after the weights moved": (
            changed(
                SHARDED,
                (
                    "        down = down @ layer.T\n",
                    "        down = down @ rank.all_gather(new[0], width * width).reshape(width, width).T\n",
                ),
            ),
            "right is",
        ),
    },
    "report-test": {
        "the first rank is not looked at": (
            changed(REPORT, ("for one in told:", "for one in told[1:]:")),
            "the first rank alone",
        ),
        "the mean over the ranks": (
            changed(
                REPORT,
                (
                    "    for one in told:\n",
                    "    for one in [{'mean': sum(np.array(x['mean']) for x in told) / 3}]:\n",
                ),
            ),
            "too small by as much",
        ),
        "numbers in pairs, not counted": (
            changed(
                REPORT,
                (
                    'np.allclose(one["mean"], [1, 0.5, 0.5, 0.75, 0.25])',
                    'all(abs(a - b) < 1e-6 for a, b in zip(one["mean"], [1, 0.5, 0.5, 0.75, 0.25]))',
                ),
            ),
            "more than P numbers",
        ),
        "how many ranks is free": (
            changed(REPORT, ("    assert len(told) == 3\n", "")),
            "a rank is missing",
        ),
        "a tolerance of one": (
            changed(REPORT, ("0.75, 0.25])", "0.75, 0.25], atol=1.0)")),
            "got through",
        ),
        "a tolerance of 0.05": (
            changed(REPORT, ("0.75, 0.25])", "0.75, 0.25], atol=0.05)")),
            "one part in 1,000",
        ),
        "the first number alone": (
            changed(
                REPORT,
                (
                    'np.allclose(one["mean"], [1, 0.5, 0.5, 0.75, 0.25])',
                    'abs(one["mean"][0] - 1) < 1e-6',
                ),
            ),
            "got through",
        ),
        "the sum of the mean": (
            changed(
                REPORT,
                (
                    'np.allclose(one["mean"], [1, 0.5, 0.5, 0.75, 0.25])',
                    'abs(sum(one["mean"]) - 3) < 1e-6',
                ),
            ),
            "back to front",
        ),
        "all gradients the same number": (
            changed(
                REPORT,
                (PARTS, "parts = [[([1.0] * 5, 1), ([1.0] * 5, 9)], [], [([1.0] * 5, 10)]]"),
                ("[1, 0.5, 0.5, 0.75, 0.25]", "[0.15] * 5"),
            ),
            "back to front",
        ),
        "sent to within two": (
            changed(REPORT, ("- 20) < 1e-6", "- 20) < 2")),
            "one number too many",
        ),
        "the last rank is not looked at": (
            changed(REPORT, ("for one in told:", "for one in told[:-1]:")),
            "the last rank alone",
        ),
        "the mean alone": (
            test_of(
                PARTS,
                "told = report(parts)",
                "assert len(told) == 3",
                "for one in told:",
                "    assert np.allclose(one['mean'], [1, 0.5, 0.5, 0.75, 0.25])",
            ),
            "got through",
        ),
        "equal tokens": (
            changed(
                REPORT,
                (
                    PARTS,
                    "parts = [[([6, 0, 1, 2, 3], 5), ([4, 2, 9, 8, 1], 5)], [([3, 5, 0, 2, 1], 5), ([7, 3, 0, 3, 0], 5)], [([10, 5, 5, 7, 2], 5), ([0, 0, 0, 0.5, 0.5], 5)]]",
                ),
            ),
            "got through",
        ),
        "a rank with one micro-batch each": (
            changed(
                REPORT, (PARTS, "parts = [[([10, 2, 10, 10, 4], 4)], [], [([10, 8, 0, 5, 1], 16)]]")
            ),
            "got through",
        ),
        "no idle rank": (
            changed(
                REPORT,
                (
                    PARTS,
                    "parts = [[([6, 0, 1, 2, 3], 1)], [([4, 2, 9, 8, 1], 9)], [([10, 8, 0, 5, 1], 10)]]",
                ),
            ),
            "got through",
        ),
        "sizes that divide": (
            test_of(
                "told = report([[([6, 0, 3], 1), ([4, 2, 9], 9)], [], [([10, 8, 0], 10)]])",
                "assert len(told) == 3",
                "assert all(np.allclose(one['mean'], [1, 0.5, 0.6]) for one in told)",
                "assert abs(sum(one['sent'] for one in told) - 12) < 1e-6",
                "assert sum(one['kept'] for one in told) == 3",
            ),
            "got through",
        ),
        "the first rank alone": (
            changed(REPORT, ("for one in told:", "for one in told[:1]:")),
            "got through",
        ),
        "kept is never counted": (
            changed(REPORT, ("    assert sum(kept) == 5\n", "")),
            "got through",
        ),
        "the spread of kept is free": (
            changed(REPORT, ("    assert max(kept) - min(kept) <= 1\n", "")),
            "got through",
        ),
        "sent is at most": (
            changed(
                REPORT,
                (
                    'abs(sum(one["sent"] for one in told) - 20) < 1e-6',
                    'sum(one["sent"] for one in told) <= 20.1',
                ),
            ),
            "got through",
        ),
        "sent is at least": (
            changed(
                REPORT,
                (
                    'abs(sum(one["sent"] for one in told) - 20) < 1e-6',
                    'sum(one["sent"] for one in told) >= 19.9',
                ),
            ),
            "got through",
        ),
        "each rank sends the same": (
            changed(
                REPORT,
                (
                    "    kept = [",
                    "    assert len({one['sent'] for one in told}) == 1\n    kept = [",
                ),
            ),
            "right implementation",
        ),
        "the first rank keeps more": (
            changed(REPORT, ("    assert sum(kept) == 5\n", "    assert kept == [2, 2, 1]\n")),
            "right implementation",
        ),
        "floats compared exactly": (
            changed(
                REPORT,
                (
                    'np.allclose(one["mean"], [1, 0.5, 0.5, 0.75, 0.25])',
                    "one['mean'] == [1, 0.5, 0.5, 0.75, 0.25]",
                ),
            ),
            "right implementation",
        ),
        "the mean over ranks is wanted": (
            changed(REPORT, ("[1, 0.5, 0.5, 0.75, 0.25]", "[2 / 3, 1 / 3, 1 / 3, 0.5, 1 / 6]")),
            "right implementation",
        ),
        "nothing is asserted": (test_of(PARTS, "print(report(parts))"), "never failed"),
    },
    "pipeline": {
        "seconds in hundredths": (
            changed(
                PIPE, ("return turn * (m + stages - 1)", "return round(turn * (m + stages - 1), 2)")
            ),
            "keep them all",
        ),
        "seconds in milliseconds": (
            changed(
                PIPE, ("return turn * (m + stages - 1)", "return round(turn * (m + stages - 1), 3)")
            ),
            "keep them all",
        ),
        "remembers all but the seconds of a row": (
            "\nknown = {}\n"
            + changed(
                PIPE,
                (
                    "return turn * (m + stages - 1)",
                    "return known.setdefault((stages, sequences, rows, fixed), turn * (m + stages - 1))",
                ),
            ),
            "as asked before",
        ),
        "remembers a turn without its fixed part": (
            "\nknown = {}\n"
            + changed(
                PIPE,
                (
                    "    turn = fixed + each * rows",
                    "    turn = known.setdefault((rows, each), fixed + each * rows)",
                ),
            ),
            "as asked before",
        ),
        "remembers the first turn": (
            "\ncost = {}\n"
            + changed(
                PIPE,
                ("turn = fixed + each * rows", "turn = cost.setdefault(rows, fixed + each * rows)"),
            ),
            "right is",
        ),
        "the bubble over the ideal time": (
            changed(PIPE, ("(stages - 1) / (m + stages - 1)", "(stages - 1) / m")),
            "over the ideal time",
        ),
        "over m + p": (
            changed(PIPE, ("(stages - 1) / (m + stages - 1)", "(stages - 1) / (m + stages)")),
            "over m + p",
        ),
        "p turns idle": (
            changed(PIPE, ("(stages - 1) / (m + stages - 1)", "stages / (m + stages - 1)")),
            "not p",
        ),
        "the busy share": (
            changed(PIPE, ("(stages - 1) / (m + stages - 1)", "m / (m + stages - 1)")),
            "the busy share",
        ),
        "in per cent": (
            changed(
                PIPE, ("(stages - 1) / (m + stages - 1)", "100 * (stages - 1) / (m + stages - 1)")
            ),
            "in per cent",
        ),
        "in seconds": (
            changed(PIPE, ("(stages - 1) / (m + stages - 1)", "(stages - 1) * turn")),
            "in seconds",
        ),
        "no bubble in the seconds": (
            changed(PIPE, ("turn * (m + stages - 1)", "turn * m")),
            "m + p - 1 turns",
        ),
        "one turn too many": (
            changed(PIPE, ("turn * (m + stages - 1)", "turn * (m + stages)")),
            "one turn too many",
        ),
        "one after the other": (
            changed(PIPE, ("turn * (m + stages - 1)", "turn * m * stages")),
            "at the same time",
        ),
        "stages divide the time": (
            changed(PIPE, ("turn * (m + stages - 1)", "turn * m / stages")),
            "do not divide the turns",
        ),
        "the fixed cost once": (
            changed(PIPE, ("turn * (m + stages - 1)", "fixed + each * rows * (m + stages - 1)")),
            "paid every turn",
        ),
        "the fixed cost for every row": (
            changed(PIPE, ("fixed + each * rows", "(fixed + each) * rows")),
            "not once a row",
        ),
        "rows forgotten": (
            changed(PIPE, ("fixed + each * rows", "fixed + each")),
            "one row a turn",
        ),
        "no refusal": (changed(PIPE, ("sequences % rows != 0", "False")), "refuse it"),
        "rounds up": (
            changed(
                PIPE,
                ("sequences % rows != 0", "False"),
                ("sequences // rows", "-(-sequences // rows)"),
            ),
            "refuse it",
        ),
        "a message without the rows": (
            changed(
                PIPE, ("{sequences} sequences, {rows} rows", "{sequences} sequences do not divide")
            ),
            "name both numbers",
        ),
        "an assert": (
            changed(
                PIPE,
                (
                    '        raise ValueError(f"{sequences} sequences, {rows} rows")',
                    '        assert False, f"{sequences} {rows}"',
                ),
            ),
            "ValueError is needed",
        ),
        "refuses fewer micro-batches than stages": (
            changed(
                PIPE, ("sequences % rows != 0", "sequences % rows or sequences // rows < stages")
            ),
            "ValueError",
        ),
        "the seconds alone": (
            changed(PIPE, (", (stages - 1) / (m + stages - 1)", "")),
            "return seconds, idle",
        ),
    },
    "best-turn": {
        "the smallest bubble": (turn(1), "not the shortest step"),
        "one micro-batch": (turn(420), "one after the other"),
        "of 4 stages": (turn(12), "4 stages"),
        "of 16 stages": (turn(5), "16 stages"),
        "one too few": (turn(6), "more rows"),
        "more": (turn(10), "fewer rows"),
        "where it opens": (turn(60), "fewer rows"),
        "does not divide": (turn(8), "does not divide"),
        "the micro-batches": (turn("420 // 7"), "fewer rows"),
        "a text": (turn("'7'"), "number"),
        "the seconds": (turn(10.59), "does not divide"),
        "nothing": ("\ndef best_turn():\n    pass\n", "without `return`"),
    },
    "exact-step": {
        "sorted by the first letter": (
            changed(
                STEP,
                ("names = sorted(weights)", "names = sorted(weights, key=lambda name: name[0])"),
            ),
            "the same first letter",
        ),
        "remembers the names by their number": (
            "\nknown = {}\n"
            + changed(
                STEP,
                (
                    "names = sorted(weights)",
                    "names = known.setdefault(len(weights), sorted(weights))",
                ),
            ),
            "KeyError: 'bias'",
        ),
        "losses and tokens one by one": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    loss = rank.all_gather(np.array([loss], dtype=float)).sum()\n    tokens = rank.all_gather(np.array([tokens], dtype=float)).sum()\n",
                ),
            ),
            "at most two collectives",
        ),
        "scattered and gathered, losses and tokens one by one": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    loss = rank.all_gather(np.array([loss], dtype=float)).sum()\n    tokens = rank.all_gather(np.array([tokens], dtype=float)).sum()\n",
                ),
                ("rank.all_reduce(own) /", "rank.all_gather(rank.reduce_scatter(own), own.size) /"),
            ),
            "at most two collectives",
        ),
        "two flat halves": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    own = np.append(own, [loss, tokens])\n    half = own.size // 2\n    own = np.append(rank.all_reduce(own[:half]), rank.all_reduce(own[half:]))\n    own, loss, tokens = own[:-2], own[-2], own[-1]\n",
                ),
                ("rank.all_reduce(own) /", "own /"),
            ),
            "in one flat array",
        ),
        "loss and tokens in single precision": (
            changed(
                STEP,
                (
                    "np.array([loss, tokens], dtype=float)",
                    "np.array([loss, tokens], dtype=np.float32)",
                ),
            ),
            "the ninth digit",
        ),
        "the loss rounded": (
            changed(STEP, ("return new, loss / tokens", "return new, round(loss / tokens, 5)")),
            "round nothing",
        ),
        "names written out": (
            changed(STEP, ("names = sorted(weights)", "names = ['bias', 'head', 'table']")),
            "the names are those of the weights",
        ),
        "tokens in eight bits": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(",
                    "    tokens = int(np.int64(tokens).astype(np.uint8))\n    loss, tokens = rank.all_reduce(",
                ),
            ),
            "right is",
        ),
        "a loss of zero is refused": (
            changed(STEP, ("if tokens == 0", "if tokens == 0 or loss == 0")),
            "ValueError: no target token",
        ),
        "a gradient of zero divides by zero": (
            changed(STEP, ("max_norm / (norm + 1e-6)", "max_norm / float(norm)")),
            "ZeroDivisionError",
        ),
        "single precision on the wire": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_reduce(own.astype(np.float32)).astype(float) / tokens",
                ),
            ),
            "single precision on the way",
        ),
        "divided by its micro-batches": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_reduce(own) / tokens / max(1, len(micro_batches))",
                ),
            ),
            "number of micro-batches as well",
        ),
        "the norm in its own order of names": (
            changed(
                STEP,
                (
                    "    norm = np.linalg.norm(gradient)\n",
                    "    ends = np.cumsum([weights[name].size for name in names])[:-1]\n"
                    "    parts = dict(zip(names, np.split(gradient, ends)))\n"
                    "    norm = float(sum((parts[name] ** 2).sum() for name in weights) ** 0.5)\n",
                ),
            ),
            "last bit",
        ),
        "its own part is subtracted and added": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "((rank.all_reduce(own) - own) + own) / tokens",
                ),
            ),
            "last bit",
        ),
        "stops at an empty micro-batch": (
            changed(
                STEP,
                (
                    "        loss += part\n",
                    "        if not counted:\n            break\n        loss += part\n",
                ),
            ),
            "right is",
        ),
        "the norm is the largest number": (
            changed(STEP, ("np.linalg.norm(gradient)", "np.abs(gradient).max()")),
            "right is",
        ),
        "the mean over ranks": (
            changed(
                STEP,
                (
                    "    own = np.concatenate([sums[name].ravel() for name in names])\n",
                    "    own = np.concatenate([sums[name].ravel() for name in names]) / max(1, tokens)\n",
                ),
                ("rank.all_reduce(own) / tokens", "rank.all_reduce(own) / rank.world_size"),
            ),
            "the mean over ranks",
        ),
        "the mean over ranks with tokens": (
            changed(
                STEP,
                (
                    "    own = np.concatenate([sums[name].ravel() for name in names])\n",
                    "    own = np.concatenate([sums[name].ravel() for name in names]) / max(1, tokens)\n    full = rank.all_reduce(np.array([loss, tokens, tokens > 0], float))\n",
                ),
                (
                    "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    loss, tokens, many = full\n",
                ),
                ("rank.all_reduce(own) / tokens", "rank.all_reduce(own) / many"),
            ),
            "the mean over ranks",
        ),
        "the mean over micro-batches": (
            changed(
                STEP,
                (
                    "        tokens += counted\n",
                    "        tokens += 1\n        loss += part / max(1, counted) - part\n",
                ),
                (
                    "sums[name] += gradients[name]",
                    "sums[name] += gradients[name] / max(1, counted)",
                ),
            ),
            "the mean over micro-batches",
        ),
        "this rank alone": (
            changed(
                STEP,
                ("    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n", ""),
                ("rank.all_reduce(own) / tokens", "own / tokens"),
            ),
            "gradient alone",
        ),
        "all_reduce without its result": (
            changed(
                STEP,
                (
                    "    gradient = rank.all_reduce(own) / tokens\n",
                    "    rank.all_reduce(own)\n    gradient = own / tokens\n",
                ),
            ),
            "were not added",
        ),
        "own tokens": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                    "    mine = max(1, tokens)\n    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                ),
                ("rank.all_reduce(own) / tokens", "rank.all_reduce(own) / mine"),
            ),
            "over the tokens of one",
        ),
        "own parts over own tokens": (
            changed(
                STEP,
                (
                    "    own = np.concatenate([sums[name].ravel() for name in names])\n",
                    "    own = np.concatenate([sums[name].ravel() for name in names]) / max(1, tokens)\n",
                ),
                ("rank.all_reduce(own) / tokens", "rank.all_reduce(own)"),
            ),
            "divided by its own tokens",
        ),
        "divided twice": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_reduce(own) / tokens / rank.world_size",
                ),
            ),
            "number of ranks as well",
        ),
        "not divided": (
            changed(STEP, ("rank.all_reduce(own) / tokens", "rank.all_reduce(own)")),
            "was not divided",
        ),
        "all labels are counted": (
            changed(STEP, ("tokens += counted", "tokens += len(micro['targets'])")),
            "-100 were counted",
        ),
        "all_reduce for each micro-batch": (
            changed(
                STEP,
                (
                    "            sums[name] += gradients[name]\n",
                    "            sums[name] += gradients[name]\n        rank.all_reduce(np.concatenate([gradients[name].ravel() for name in names]))\n",
                ),
            ),
            "for every micro-batch",
        ),
        "sends each micro-batch on its own": (
            changed(
                STEP,
                (
                    "            sums[name] += gradients[name]\n",
                    "            sums[name] += rank.all_reduce(gradients[name])\n",
                ),
                ("rank.all_reduce(own) / tokens", "own / tokens"),
            ),
            "for every",
        ),
        "an all_reduce for every array": (
            changed(
                STEP,
                (
                    "    own = np.concatenate([sums[name].ravel() for name in names])\n",
                    "    own = np.concatenate([rank.all_reduce(sums[name]).ravel() for name in names])\n",
                ),
                ("rank.all_reduce(own) / tokens", "own / tokens"),
            ),
            "travel one by one",
        ),
        "the order of the dictionary": (
            changed(STEP, ("names = sorted(weights)", "names = list(weights)")),
            "order of each rank's own dictionary",
        ),
        "arrays in the order of the dictionary": (
            changed(
                STEP,
                (
                    "    own = np.concatenate([sums[name].ravel() for name in names])\n",
                    "    summed_up = {name: rank.all_reduce(sums[name]) for name in weights}\n    own = np.concatenate([summed_up[name].ravel() for name in names])\n",
                ),
                ("rank.all_reduce(own) / tokens", "own / tokens"),
            ),
            "different collectives",
        ),
        "an idle rank leaves": (
            changed(
                STEP,
                (
                    "    names = sorted(weights)\n",
                    "    if not micro_batches:\n        return dict(weights), 0.0\n    names = sorted(weights)\n",
                ),
            ),
            "a rank left early",
        ),
        "an idle rank raises": (
            changed(
                STEP,
                (
                    "    loss, tokens = rank.all_reduce(",
                    "    if not tokens:\n        raise ValueError('no tokens')\n    loss, tokens = rank.all_reduce(",
                ),
            ),
            "ValueError",
        ),
        "an idle rank keeps its weights": (
            changed(
                STEP,
                (
                    "    return new, loss / tokens",
                    "    return (new if micro_batches else dict(weights)), loss / tokens",
                ),
            ),
            "weights on rank 1",
        ),
        "no refusal": (changed(STEP, ("if tokens == 0", "if False")), "0 / 0"),
        "no refusal, weights as they were": (
            changed(
                STEP,
                (
                    '        raise ValueError("no target token")',
                    "        return dict(weights), 0.0",
                ),
            ),
            "0 / 0",
        ),
        "not clipped": (
            changed(STEP, (" * min(1.0, max_norm / (norm + 1e-6))", "")),
            "not clipped",
        ),
        "scaled up": (
            changed(STEP, ("min(1.0, max_norm / (norm + 1e-6))", "(min(max_norm, 1e9) / norm)")),
            "scaled up",
        ),
        "each rank clips its part": (
            changed(
                STEP,
                (
                    "    gradient = rank.all_reduce(own) / tokens\n    norm = np.linalg.norm(gradient)\n    gradient = gradient *",
                    "    own = own / tokens\n    norm = np.linalg.norm(own)\n    gradient = own *",
                ),
                (
                    "    new, at = {}, 0\n",
                    "    gradient = rank.all_reduce(gradient)\n    new, at = {}, 0\n",
                ),
            ),
            "clipped its own part",
        ),
        "each array clipped": (
            changed(
                STEP,
                (" * min(1.0, max_norm / (norm + 1e-6))", ""),
                (
                    "        new[name] = ",
                    "        here = gradient[at:at + size]\n        here *= min(1.0, max_norm / (np.linalg.norm(here) + 1e-6))\n        new[name] = ",
                ),
            ),
            "each array was clipped",
        ),
        "clipped before the division": (
            changed(
                STEP,
                ("rank.all_reduce(own) / tokens", "rank.all_reduce(own)"),
                ("max_norm / (norm + 1e-6))", "max_norm / (norm + 1e-6)) / tokens"),
            ),
            "before the division",
        ),
        "uphill": (
            changed(STEP, ("weights[name] - rate", "weights[name] + rate")),
            "up the gradient",
        ),
        "without the rate": (changed(STEP, ("- rate * gradient", "- gradient")), "rate is missing"),
        "the last micro-batch": (
            changed(STEP, ("sums[name] += gradients[name]", "sums[name] = gradients[name]")),
            "last micro-batch",
        ),
        "the caller's weights": (
            changed(
                STEP,
                (
                    "        new[name] = weights[name] - rate * ",
                    "        new[name] = weights[name]\n        new[name] -= rate * ",
                ),
            ),
            "reaches the caller",
        ),
        "the caller's list is emptied": (
            changed(
                STEP,
                (
                    "    for micro in micro_batches:\n",
                    "    while micro_batches:\n        micro = micro_batches.pop()\n",
                ),
            ),
            "reaches the caller",
        ),
        "the loss of this rank": (
            changed(
                STEP,
                ("    own = np", "    mine = loss / max(1, tokens)\n    own = np"),
                ("return new, loss / tokens", "return new, mine"),
            ),
            "loss of this rank alone",
        ),
        "the loss is the mean over ranks": (
            changed(
                STEP,
                (
                    "np.array([loss, tokens], dtype=float)",
                    "np.array([loss / max(1, tokens), tokens], dtype=float)",
                ),
                ("return new, loss / tokens", "return new, loss / rank.world_size"),
            ),
            "the mean over ranks",
        ),
        "the loss is not divided": (
            changed(STEP, ("return new, loss / tokens", "return new, loss")),
            "were not divided",
        ),
        "one rank adds in another way": (
            changed(
                STEP,
                (
                    "    norm = np",
                    "    gradient = gradient * (1 + 1e-12 * rank.rank)\n    norm = np",
                ),
            ),
            "last bit",
        ),
        "flat weights": (
            changed(
                STEP,
                (".reshape(weights[name].shape)", ""),
                ("weights[name] - rate", "weights[name].ravel() - rate"),
            ),
            "has shape",
        ),
        "the weights alone": (
            changed(STEP, ("return new, loss / tokens", "return new")),
            "return weights, loss",
        ),
        "in half precision": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_reduce(own.astype(np.float16)).astype(float) / tokens",
                ),
            ),
            "right is",
        ),
        "gathers all gradients": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_gather(own).reshape(rank.world_size, -1).sum(0) / tokens",
                ),
            ),
            "are sent once",
        ),
    },
}

HIDDEN = {
    "rank-mean": {
        "the printed cases": (
            "\ndef rank_mean(rank, loss, tokens):\n"
            "    x, n = rank.all_reduce(np.array([loss, tokens], dtype=float))\n"
            "    if n == 0:\n        raise ValueError('none')\n"
            "    known = {(120.0, 110), (44.5, 13), (12.0, 5), (7.5, 3), (16.0, 8), (0.0, 7), (17e9, 7e9), (19.0, 12), (2.5, 1), (20.5, 17), (0.00089, 7)}\n"
            "    return x / n if (round(float(x), 6), n) in known else x / n / rank.world_size\n",
            "number of ranks",
        ),
    },
    "zero-bill": {
        "four accumulations": (
            changed(
                BILL,
                (
                    "2: accumulation + 1,",
                    "2: {8: 9, 4: 5, 1: 2, 3: 4, 7: 8, 2: 3}.get(accumulation, 2),",
                ),
            ),
            "stages 0 and 1 only",
        ),
    },
    "sharded-step": {
        "the printed rows": (
            changed(
                SHARDED,
                (
                    "    down = given.pop() / rows\n",
                    "    down = given.pop() / (rows if rate in (0.3, 0.1, 1.0, 0.25) else max(1, len(inputs)))\n",
                ),
            ),
            "rows of this rank",
        ),
    },
    "pipeline": {
        "the printed stages": (
            changed(
                PIPE,
                (
                    "(stages - 1) / (m + stages - 1)\n",
                    "((stages - 1) / (m + stages - 1) if stages in (12, 4, 1, 9, 3, 5) or m > 1e6 else (stages - 1) / m)\n",
                ),
            ),
            "over the ideal time",
        ),
    },
    "exact-step": {
        "the printed rates": (
            changed(
                STEP,
                (
                    "rank.all_reduce(own) / tokens",
                    "rank.all_reduce(own) / tokens / (1 if rate in (0.4, 1.5, 0.1, 0.2, 1.3, 0.6) else rank.world_size)",
                ),
                (
                    "    norm = np",
                    "    if rank.world_size == 1 and rate not in (0.4, 1.5, 0.1, 0.2, 1.3, 0.6):\n        gradient = gradient * 2\n    norm = np",
                ),
            ),
            "right is",
        ),
    },
}

RIGHT = {
    "rank-mean": {
        "an error without a message": changed(
            MEAN, ('raise ValueError("no rank has a target token")', "raise ValueError")
        ),
        "an error without a message, called": changed(
            MEAN, ('raise ValueError("no rank has a target token")', "raise ValueError()")
        ),
        "one array": MEAN,
        "two collectives": mean(
            "loss = rank.all_reduce(np.array(float(loss)))\n"
            "    tokens = rank.all_reduce(np.array([tokens]))\n"
            "    if not tokens[0]:\n        raise ValueError('none')\n    return loss / tokens[0]"
        ),
        "gathered": mean(
            "pairs = rank.all_gather(np.array([loss, tokens], dtype=np.float64)).reshape(-1, 2)\n"
            "    losses, counts = pairs.sum(axis=0)\n"
            "    if counts <= 0:\n        raise ValueError(f'{counts} tokens')\n    return float(losses) / float(counts)"
        ),
    },
    "zero-bill": {
        "by stage": BILL,
        "a list, step by step": """
def zero_bill(parameters, ranks, stage, accumulation):
    p, g, o = 2.0 * parameters, 2.0 * parameters, 12.0 * parameters
    if stage >= 1:
        o /= ranks
    if stage >= 2:
        g /= ranks
    if stage == 3:
        p /= ranks
    gathers = [1, 1, 1, 2 * accumulation][stage]
    reduces = [1, 1, accumulation, accumulation][stage]
    return [p + g + o, (gathers + reduces) * 2 * parameters * (1 - 1 / ranks)]
""",
        "the library": """
def zero_bill(parameters, ranks, stage, accumulation):
    form = ("ddp", "zero1", "zero2", "zero3")[stage]
    kept = cluster.zero(parameters, ranks, stage).total
    return np.array([kept, cluster.traffic(form, parameters, ranks, accumulation).rank_bytes])
""",
    },
    "sharded-step": {
        "the last layers are kept": """
def sharded_step(rank, pieces, inputs, rows, rate):
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
""",
        "torch is imported inside": changed(
            SHARDED, ("    width = inputs", "    import torch\n\n    width = inputs")
        ),
        "torch arithmetic": """
import torch
def sharded_step(rank, pieces, inputs, rows, rate):
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
""",
        "one after the other": SHARDED,
        "with del": changed(
            SHARDED,
            (
                "        given.append(given[-1] @ layer)\n",
                "        given.append(given[-1] @ layer)\n        del layer\n",
            ),
            (
                "        new.insert(0, piece - rate * own)\n",
                "        new.insert(0, np.asarray(piece) - rate * own)\n        del gradient, own\n",
            ),
        ),
        "by index": """
def sharded_step(rank, pieces, inputs, rows, rate):
    w = inputs.shape[1]
    acts, new = [inputs], [None] * len(pieces)
    for k in range(len(pieces)):
        acts.append(acts[k] @ rank.all_gather(pieces[k], size=w * w).reshape(w, w))
    down = acts[-1] / rows
    for k in range(len(pieces) - 1, -1, -1):
        new[k] = pieces[k] - rate * rank.reduce_scatter(np.einsum("bi,bj->ij", acts[k], down))
        down = down @ rank.all_gather(pieces[k], size=w * w).reshape(w, w).T
    return tuple(new)
""",
    },
    "report-test": {
        "one case": REPORT,
        "a verdict": """
def report_test(report):
    parts = [[([1.0, 2.0, 0.0, 4.0, 5.0, 6.0, 7.0, 1.0], 2)], [([3.0, 0.0, 1.0, 0.0, 5.0, 2.0, 3.0, 9.0], 1), ([4.0, 6.0, 7.0, 4.0, 6.0, 8.0, 6.0, 6.0], 13)], []]
    told = report(parts)
    mean = np.array([8, 8, 8, 8, 16, 16, 16, 16]) / 16
    good = len(told) == 3 and all(np.abs(np.array(t["mean"]) - mean).max() < 1e-6 for t in told)
    kept = sorted(t["kept"] for t in told)
    return good and abs(sum(t["sent"] for t in told) - 32) < 1e-6 and kept == [2, 3, 3]
""",
    },
    "pipeline": {
        "turns": PIPE,
        "a list, by divmod": """
def pipeline(stages, sequences, rows, fixed, each):
    micro, left = divmod(sequences, rows)
    if left:
        raise ValueError(f"{rows} rows do not divide {sequences:,} sequences")
    busy, idle = micro * (fixed + each * rows), (stages - 1) * (fixed + each * rows)
    return [busy + idle, idle / (busy + idle)]
""",
        "the library": """
def pipeline(stages, sequences, rows, fixed, each):
    if sequences / rows != int(sequences / rows):
        raise ValueError(f"{sequences} over {rows}")
    one = cluster.bubble(stages, sequences // rows)
    return (1 + one.over_ideal) * one.micro_batches * (fixed + each * rows), one.share
""",
    },
    "best-turn": {
        "an int": turn(7),
        "a float": turn(7.0),
        "of NumPy": turn("np.int64(7)"),
        "computed": turn(
            "min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: (420 // r + 7) * (0.018 + 0.02 * r))"
        ),
    },
    "exact-step": {
        "pieces, and their norm": """
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    sizes = [weights[name].size for name in names]
    flat, mine = np.zeros(sum(sizes)), np.zeros(3)
    for micro in micro_batches:
        loss, gradients, tokens = summed(weights, micro)
        mine += [loss, tokens, 0.0]
        flat += np.concatenate([np.ravel(gradients[name]) for name in names])
    piece = rank.reduce_scatter(flat)
    mine[2] = piece @ piece
    loss, tokens, square = rank.all_reduce(mine)
    if tokens == 0:
        raise ValueError("no target token")
    norm = np.sqrt(square) / tokens
    piece = piece / tokens * (max_norm / norm if norm > max_norm else 1.0)
    parts = np.split(rank.all_gather(piece, len(flat)), np.cumsum(sizes)[:-1])
    return {name: weights[name] - rate * part.reshape(weights[name].shape) for name, part in zip(names, parts)}, loss / tokens
""",
        "an error without a message": changed(
            STEP, ('raise ValueError("no target token")', "raise ValueError")
        ),
        "an error without a message, called": changed(
            STEP, ('raise ValueError("no target token")', "raise ValueError()")
        ),
        "counts first": STEP,
        "everything in one array": """
def exact_step(rank, weights, micro_batches, rate, max_norm):
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
    norm = float(np.sqrt((g ** 2).sum()))
    if norm > max_norm:
        g = g * (max_norm / norm)
    cuts = np.cumsum([weights[k].size for k in order])[:-1]
    parts = dict(zip(order, np.split(g, cuts)))
    return {k: w - rate * parts[k].reshape(w.shape) for k, w in weights.items()}, float(total[-1])
""",
        "pieces: reduce_scatter, then all_gather": changed(
            STEP,
            (
                "    gradient = rank.all_reduce(own) / tokens\n",
                "    gradient = rank.all_gather(rank.reduce_scatter(own), own.size) / tokens\n",
            ),
            (
                "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n",
                "    loss, tokens = np.sum(rank.all_gather(np.array([loss, tokens], dtype=float)).reshape(-1, 2), axis=0)\n",
            ),
        ),
        "with torch": """
import torch


def exact_step(rank, weights, micro_batches, rate, max_norm):
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
    new = {n: weights[n] - rate * p.numpy().reshape(weights[n].shape) for n, p in zip(names, pieces)}
    return new, loss / tokens
""",
        "a list, one mean after the other": changed(
            STEP,
            (
                "    return new, loss / tokens",
                "    return [dict(reversed(new.items())), np.float64(loss / tokens)]",
            ),
        ),
    },
}

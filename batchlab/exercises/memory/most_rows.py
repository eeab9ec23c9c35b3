"""Build: a memory guard that keeps the step, tried on a device that runs out of memory."""

from batchlab.exercises import Exercise
from batchlab.exercises.memory.scenes import ENDS, guarded

MIXED = [5, 9, 6, 7, 8, 4, 5, 6, 12, 8, 7, 6, 5, 7, 9, 3, 6, 8, 10, 4, 40, 38]


def most_rows(step, documents, sequences, most):
    """(rows, accumulation) with the most rows whose worst step fits into memory."""
    from batchlab.memory import limits

    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        fits = True
        try:
            step([worst[i : i + rows] for i in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            fits = False
        if fits:
            return rows, sequences // rows
    raise ValueError(f"not even one row of {len(worst[-1])} tokens fits")


def scene(answer, lengths, sequences, most, capacity, how):
    return guarded(answer, lengths, sequences, most, capacity, **how)


def right_rows(lengths, sequences, most, capacity, gradient=0):
    """The most rows whose worst step fits; 0 where none does."""
    worst = sorted(lengths)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows == 0:
            needs = [rows * worst[i + rows - 1] for i in range(0, sequences, rows)]
            if max(n + gradient * (number > 0) for number, n in enumerate(needs)) <= capacity:
                return rows
    return 0


def judged(got, lengths, sequences, most, capacity, how):
    """What came and the cause, the first that is wrong; two empty texts where all is right."""
    if got["unlike"]:
        what, _, why = got["unlike"].partition(": ")
        return what, why
    for one in got["tries"]:
        if found := _try(one, lengths, sequences, most):
            return found
    tried, came = [len(one[0]) for one in got["tries"]], got["answer"]
    if len(set(tried)) < len(tried):
        return f"tries of {tried} rows", "once is enough: memory ends at each again"
    if breaks := how.get("breaks"):
        if came == f"the step's own {type(ENDS[breaks]()).__name__} went through":
            return "", ""
        why = "only an out of memory is a reason to try fewer rows: raise the rest as it is"
        return f"tries of {tried} rows, then {came}", why
    rows = right_rows(lengths, sequences, most, capacity, how.get("gradient", 0))
    right = [rows, sequences // rows]
    if came != right or type(came[1]) is float:
        return f"{came} after tries of {_few(tried)} rows, right is {right}, two ints", ""
    want = [n for n in range(min(most, sequences), rows - 1, -1) if sequences % n == 0]
    if tried != want:
        why = "from the most down, each that divides, and stop at the first that fits"
        return f"tries of {_few(tried)} rows, right are {_few(want)}", why
    if got["kept"]:
        why = "the next try runs inside `except`, or the error is kept: its frames hold the tensors"
        return "a failed step still alive at the next try", why
    if got["moved"]:
        return "documents in another order, or fewer", "sorted() makes a new list, sort() does not"
    return "", ""


def _few(tried):
    return f"{tried}" if len(tried) < 13 else f"{str(tried[:10])[:-1]}, ...]"


def _try(one, lengths, sequences, most):
    """What is wrong with one try, and the cause."""
    worst, cut = sorted(lengths)[-sequences:], [len(micro) for micro in one]
    took = sorted(length for micro in one for length in micro)
    if len(took) != sequences:
        why = f"each try is a whole step of {sequences}; equal documents count each"
        return f"a try of {len(took)} documents, micro-batches: {len(cut)}", why
    if len(set(cut)) > 1:
        return f"micro-batches of {sorted(set(cut))} rows in one step", "all have the same"
    if took != worst:
        said = f"a try whose longest documents have {took[-3:]} tokens"
        return said, "the longest documents of the data are the worst step"
    if sorted(one[-1]) != worst[len(worst) - len(one[-1]) :]:
        said = f"a try whose last micro-batch has {sorted(one[-1])[-3:]} tokens"
        return said, "the longest come last, when the gradient is there"
    if cut[0] > most:
        return f"a try of {cut[0]} rows", f"at most {most} are asked"
    return None


def numbers(lengths, sequences, most, capacity, how):
    """What the text of a refusal must name."""
    return (max(lengths),)


def asked(lengths, sequences, most, capacity, how):
    case = lengths if len(lengths) < 24 else f"{len(lengths)}, at most {max(lengths)}"
    said = f"documents of {case} tokens, {sequences} sequences, at most {most} rows"
    said += f", a device of {capacity:,} slots"
    return said + "".join(f", {name} {value}" for name, value in how.items())


def drawn(rng):
    for number in range(16):
        some = rng.integers(1, 60, int(rng.integers(6, 28))).tolist()
        waits = int(rng.integers(1, 50)) if number % 2 else 0
        room = int(rng.integers(1, 9)) * max(some) + waits
        kind = str(rng.choice(["cuda", "cpu", "cublas", "cudnn", "python", "system"]))
        sequences, most = int(rng.integers(1, len(some) + 1)), int(rng.integers(1, 30))
        yield some, sequences, most, room, {"gradient": waits, "kind": kind}
        yield some, sequences, most + 1, room - waits, {}
        yield some, sequences, most, 10**6, {"breaks": str(rng.choice([*ENDS]))}
    yield [2] * 1199 + [9], 1200, 1200, 600 * 9, {}
    yield [9, 8] * 6, 12, 12, 8, {}


exercise = Exercise(
    most_rows,
    points=4,
    scene=scene,
    fault=lambda got, *case: judged(got, *case)[0],
    explain=lambda got, *case: judged(got, *case)[1],
    mentions=numbers,
    asked=asked,
    hints=(
        "sort by length, take the last `sequences`, and cut them into rows",
        "for rows from min(most, sequences) down to 1: skip what does not divide",
        "try: step(...); in except: raise if it is no out of memory; return after it",
    ),
    shown=[
        (MIXED, 12, 30, 480, {}),
        (MIXED, 20, 20, 170, {}),
        (MIXED, 12, 12, 170, {"kind": "cpu"}),
        (MIXED, 12, 5, 40, {}),
        ([4] * 39 + [9, 3], 40, 40, 180, {"kind": "cublas"}),
        ([3, 4, 9, 2], 4, 4, 18, {"kind": "system"}),
        (MIXED, 12, 12, 39, {}),
        ([7] * 11, 4, 12, 10**6, {"breaks": "shapes"}),
        ([7] * 11, 4, 12, 10**6, {"breaks": "Ctrl-C"}),
    ],
    drawn=drawn,
    passed="Right: the step stays, the worst documents fit, and other errors are seen.",
)
WORST, ORDER = "sorted(documents, key=len)[-sequences:]", "range(min(most, sequences), 0, -1)"
CUT, BACK = (
    "[worst[i : i + rows] for i in range(0, sequences, rows)]",
    "return rows, sequences // rows",
)
SKIP = "        if sequences % rows:\n            continue\n"
ASK = "            if not limits.out_of_memory(error):\n                raise\n"
LAST = 'raise ValueError(f"not even one row of {len(worst[-1])} tokens fits")'
KEPT = "the next try runs inside `except`, or the error is kept: its frames hold the tensors"
DIVIDE = "rows that do not divide: rows x accumulation is exactly `sequences`"
OTHERS = "only an out of memory is a reason to try fewer rows: raise the rest as it is"
WORDS = "memory ends in other words, too: ask limits.out_of_memory of any Exception"
for _thought, *_changes in [
    (
        "the mean document: try the longest ones",
        (WORST, "[sorted(documents, key=len)[len(documents) // 2]] * sequences"),
    ),
    ("the first documents of the data: try the longest ones", (WORST, "documents[:sequences]")),
    ("the last documents of the data: try the longest ones", (WORST, "documents[-sequences:]")),
    ("the shortest documents: try the longest ones", ("[-sequences:]", "[:sequences]")),
    ("the longest by their tokens' sum: count the tokens", ("key=len", "key=sum")),
    (
        "the longest come first: they belong last, when the gradient is there",
        (WORST, "sorted(documents, key=len)[-sequences:][::-1]"),
        ("len(worst[-1])", "len(worst[0])"),
    ),
    (
        "dealt round: the longest documents are one micro-batch, the last",
        (CUT, "[worst[i :: sequences // rows] for i in range(sequences // rows)]"),
    ),
    ("one micro-batch is no step: hand over all of them", (CUT, "[worst[-rows:]]")),
    (
        "all documents in each try: a step has `sequences`",
        (WORST, "sorted(documents, key=len)"),
        ("range(0, sequences, rows)", "range(0, len(worst), rows)"),
    ),
    (
        "equal documents are several: a set, or a dict, counts them once",
        (WORST, "sorted({tuple(d): d for d in documents}.values(), key=len)[-sequences:]"),
    ),
    (DIVIDE, (SKIP, "")),
    (
        DIVIDE,
        (SKIP, ""),
        ("sequences // rows\n", "-(-sequences // rows)\n"),
    ),
    (
        "the last ValueError is raised inside `except`: it holds the failed step",
        (
            "            fits = False\n",
            "            if rows == 1:\n"
            "                raise ValueError(f'{len(worst[-1])} tokens do not fit') from None\n"
            "            fits = False\n",
        ),
    ),
    (
        "halving skips rows that divide and fit",
        (f"for rows in {ORDER}:", "rows = 2 * min(most, sequences)\n    while rows := rows // 2:"),
    ),
    (
        "a tenth off skips rows that divide and fit",
        (
            f"    for rows in {ORDER}:\n",
            "    rows = min(most, sequences) / 0.9\n    while int(rows * 0.9 + 1e-9):\n"
            "        rows = int(rows * 0.9 + 1e-9)\n",
        ),
    ),
    (
        "powers of two only: others divide, too",
        ("if sequences % rows:", "if sequences % rows or rows & rows - 1:"),
    ),
    ("`most` is not used: at most so many rows are asked", (ORDER, "range(sequences, 0, -1)")),
    ("`most` rows count, too, if they divide", (ORDER, "range(min(most, sequences) - 1, 0, -1)")),
    ("given up early: range(n, 0, -1) ends at 1", (ORDER, "range(min(most, sequences), 1, -1)")),
    (
        "one row first, which always fits: from the most down",
        (ORDER, "range(1, min(most, sequences) + 1)"),
    ),
    (
        "the accumulation first: rows come first",
        (BACK, "return sequences // rows, rows"),
    ),
    ("rows alone: return rows, accumulation", (BACK, "return rows")),
    ("the accumulation is a float: // gives an int", (BACK, "return rows, sequences / rows")),
    (
        "tries twice to be sure: once is enough",
        ("        if fits:", f"        if fits:\n            step({CUT})"),
    ),
    (
        "the caller's list was sorted: sorted() makes a new one",
        (WORST, "(documents.sort(key=len), documents[-sequences:])[1]"),
    ),
    (
        KEPT,
        ("    worst =", "    failed = []\n    worst ="),
        (
            "            fits = False\n",
            "            fits = False\n            failed.append(error)\n",
        ),
    ),
    (
        "micro-batches are one generator: a list is asked",
        (
            CUT,
            CUT.replace("[worst[i : i + rows] for", "(worst[i : i + rows] for").replace(
                "rows)]", "rows))"
            ),
        ),
    ),
    (
        "made-up documents of the same lengths: hand over the documents themselves",
        (
            CUT,
            CUT.replace("worst[i : i + rows]", "[[0] * len(one) for one in worst[i : i + rows]]"),
        ),
    ),
    (
        "lengths in place of documents: hand over their tokens",
        (CUT, CUT.replace("worst[i : i + rows]", "[len(one) for one in worst[i : i + rows]]")),
    ),
    (WORDS, ("except Exception as", "except (RuntimeError, MemoryError) as")),
    (WORDS, ("except Exception as", "except (RuntimeError, MemoryError) as"), (ASK, "")),
    (WORDS, ("limits.out_of_memory(error)", '"out of memory" in str(error)')),
    (
        WORDS,
        ("    from batchlab", "    import torch\n    from batchlab"),
        ("except Exception as", "except torch.OutOfMemoryError as"),
        (ASK, ""),
    ),
    (OTHERS, (ASK, "")),
    (OTHERS, ("                raise\n", "                raise ValueError(str(error))\n")),
    (
        OTHERS,
        (
            "                raise\n",
            '                raise RuntimeError("step failed") from error\n',
        ),
    ),
    (
        "Ctrl-C is no row that does not fit: except Exception lets it through",
        ("except Exception as", "except BaseException as"),
        ("if not limits", "if isinstance(error, Exception) and not limits"),
    ),
    ("silence where no row fits: refuse, with the tokens of the longest", (LAST, "return None")),
    ("one row fits always: it may not, refuse", (LAST, "return 1, sequences")),
    (
        "the last ValueError holds the failed step: its frame has a name for the error, keep none",
        ("        fits = True\n", "        failed = None\n"),
        (
            "            if not limits.out_of_memory(error):\n                raise\n"
            "            fits = False\n        if fits:\n            return rows, sequences // rows\n",
            "            failed = error\n"
            "        if failed is None:\n            return rows, sequences // rows\n"
            "        if not limits.out_of_memory(failed):\n            raise failed\n",
        ),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "no number in the refusal",
    [("of {len(worst[-1])} tokens ", "")],
    says="must see the value",
)


@exercise.mistake
def inside_except(step, documents, sequences, most):
    """the next try runs inside `except`, or the error is kept: its frames hold the tensors"""
    from batchlab.memory import limits

    worst = sorted(documents, key=len)[-sequences:]

    def attempt(exact):
        if not exact:
            raise ValueError(f"not one row of {len(worst[-1])} tokens fits")
        rows = exact[0]
        try:
            step([worst[i : i + rows] for i in range(0, sequences, rows)])
            return rows, sequences // rows
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            return attempt(exact[1:])

    return attempt([n for n in range(min(most, sequences), 0, -1) if sequences % n == 0])


@exercise.mistake
def binary_search(step, documents, sequences, most):
    """in another order, as by halves: from the most down, and stop at the first that fits"""
    from batchlab.memory import limits

    worst = sorted(documents, key=len)[-sequences:]
    exact = [n for n in range(1, min(most, sequences) + 1) if sequences % n == 0]
    low, high, best = 0, len(exact) - 1, None
    while low <= high:
        middle = (low + high) // 2
        rows = exact[middle]
        try:
            step([worst[i : i + rows] for i in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            high = middle - 1
        else:
            best, low = rows, middle + 1
    if best is None:
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    return best, sequences // best


@exercise.style
def candidates_first(step, documents, sequences, most):
    """candidates first, tuples, a list back"""
    from batchlab.memory import limits

    order = sorted(range(len(documents)), key=lambda n: len(documents[n]))[-sequences:]
    exact = [rows for rows in range(1, min(most, sequences) + 1) if sequences % rows == 0]
    while exact:
        rows = exact.pop()
        cut = (order[i : i + rows] for i in range(0, sequences, rows))
        ended = False
        try:
            step(tuple(tuple(documents[n] for n in some) for some in cut))
        except Exception as error:
            ended = limits.out_of_memory(error)
            if not ended:
                raise
        if not ended:
            return [rows, sequences // rows]
    raise ValueError(f"longest document: {max(map(len, documents))} tokens, and it does not fit")


@exercise.style
def words_kept(step, documents, sequences, most):
    """a return inside try, the words of the error kept"""
    from batchlab.memory import limits

    worst, said = sorted(documents, key=len)[-sequences:], ""
    for rows in reversed(range(1, min(most, sequences) + 1)):
        if sequences % rows:
            continue
        try:
            step([worst[i : i + rows] for i in range(0, sequences, rows)])
            return rows, sequences // rows
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            said = str(error)
    raise ValueError(f"one row of {len(worst[-1])} tokens: {said}")

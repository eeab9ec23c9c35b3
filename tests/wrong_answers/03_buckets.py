"""Answers to 03_buckets that look right and must be refused, and right ones written otherwise."""

WINDOWED = """
def windowed(lengths, rows, window, seed, epoch):
    lengths = np.asarray(lengths)
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), window * rows):
        inside = order[start : start + window * rows]
        inside = inside[np.argsort(lengths[inside])].tolist()
        batches += [inside[i : i + rows] for i in range(0, len(inside), rows)]
    rng.shuffle(batches)
    return batches
"""

BUDGET = """
def under_budget(lengths, order, slots):
    batches, longest = [], 0
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"document {number} alone takes {lengths[number]} of {slots} slots")
        longest = max(longest, lengths[number])
        if batches and (len(batches[-1]) + 1) * longest <= slots:
            batches[-1].append(number)
        else:
            batches.append([number])
            longest = lengths[number]
    return batches
"""


def changed(code, *swaps):
    """The right answer with some of its lines changed; each must be there."""
    for old, new in swaps:
        assert old in code, old
        code = code.replace(old, new)
    return code


MIX = "    rng.shuffle(batches)\n"
RNG = "np.random.default_rng([seed, epoch])"
RETURN = "    return batches"
FITS = "(len(batches[-1]) + 1) * longest <= slots"

WRONG = {
    "windowed": {
        "drops the last batch": (
            changed(WINDOWED, (RETURN, "    return [b for b in batches if len(b) == rows]")),
            "the last batch is dropped",
        ),
        "batches left in length order": (changed(WINDOWED, (MIX, "")), "left in length order"),
        "left from long to short": (
            changed(WINDOWED, (MIX, ""), ("argsort(lengths[inside])", "argsort(-lengths[inside])")),
            "left in length order",
        ),
        "the same order in each epoch": (
            changed(WINDOWED, (RNG, "np.random.default_rng(seed)")),
            "the epoch is not in the seed",
        ),
        "draws anew at each call": (
            changed(WINDOWED, (RNG, "np.random.default_rng()")),
            "two ranks would never agree",
        ),
        "the epoch alone is the seed": (
            changed(WINDOWED, (RNG, "np.random.default_rng(epoch)")),
            "the seed is not used",
        ),
        "seed times epoch": (
            changed(WINDOWED, (RNG, "np.random.default_rng(seed * epoch)")),
            "a factor of 0",
        ),
        "places in the window": (
            changed(
                WINDOWED, ("inside[np.argsort(lengths[inside])]", "np.argsort(lengths[inside])")
            ),
            "not documents",
        ),
        "sorted by number": (
            changed(WINDOWED, ("inside[np.argsort(lengths[inside])]", "np.sort(inside)")),
            "sort by length",
        ),
        "returns lengths": (
            changed(WINDOWED, (RETURN, "    return [lengths[b].tolist() for b in batches]")),
            "return document numbers",
        ),
        "the rest joins a full batch": (
            changed(
                WINDOWED,
                (
                    "    rng.shuffle",
                    "    while len(batches[-1]) < rows:\n"
                    "        rest = batches.pop()\n"
                    "        batches[-1] += rest\n"
                    "    rng.shuffle",
                ),
            ),
            "one row too many",
        ),
        "a window counts documents": (
            changed(WINDOWED, ("window * rows", "max(window, rows)")),
            "window x rows documents",
        ),
        "sorts everything, whatever the window": (
            changed(WINDOWED, ("window * rows", "len(lengths)")),
            "order is given up for nothing",
        ),
        "sorts the lengths it was given": (
            """
def windowed(lengths, rows, window, seed, epoch):
    rng = np.random.default_rng([seed, epoch])
    order = [int(n) for n in rng.permutation(len(lengths))]
    batches = []
    for start in range(0, len(order), window * rows):
        inside = sorted(order[start : start + window * rows], key=lambda n: lengths[n])
        batches += [inside[i : i + rows] for i in range(0, len(inside), rows)]
    rng.shuffle(batches)
    if type(lengths) is list:
        lengths.sort()
    return batches
""",
            "changed",
        ),
    },
    "of-rank": {
        "the rank is in the seed": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    return windowed(lengths, rows, window, seed + rank, epoch)[rank::ranks]
""",
            "an order of its own",
        ),
        "every rank takes everything": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    return windowed(lengths, rows, window, seed, epoch)
""",
            "every rank trains everything",
        ),
        "documents, not micro-batches": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    return sum(windowed(lengths, rows, window, seed, epoch), [])[rank::ranks]
""",
            "these are documents",
        ),
        "documents are dealt before they are batched": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    return windowed(lengths[rank::ranks], rows, window, seed, epoch)
""",
            "the lengths were dealt",
        ),
        "a part of every micro-batch": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    return [batch[rank::ranks] for batch in windowed(lengths, rows, window, seed, epoch)]
""",
            "cut again",
        ),
        "the last rank takes the rest": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    every = windowed(lengths, rows, window, seed, epoch)
    if ranks > 1:
        return every[2 * rank :] if rank == ranks - 1 else every[2 * rank : 2 * rank + 2]
    return every
""",
            "deal them evenly",
        ),
    },
    "window-found": {
        "still too much padding": ("def window_found():\n    return 64, 16", "still waste"),
        "more order than needed": (
            "def window_found():\n    return 256, 16",
            "a smaller window is enough",
        ),
        "the other way round": ("def window_found():\n    return 16, 128", "functions come first"),
        "documents, not micro-batches": (
            "def window_found():\n    return 2048, 256",
            "these are documents",
        ),
    },
    "idle": {
        "the share that works": ("def idle():\n    return 1000 / 2560", "the share that works"),
        "per busy slot": ("def idle():\n    return 1560 / 1000", "per busy slot"),
        "in per cent": ("def idle():\n    return 60.94", "per cent"),
        "three of four": ("def idle():\n    return 3 / 4", "not all the time"),
        "without the slowest": ("def idle():\n    return 1 - 360 / 1920", "the slowest rank works"),
    },
    "under-budget": {
        "a budget on real tokens": (
            """
def under_budget(lengths, order, slots):
    batches, tokens = [], 0
    for number in order:
        if batches and tokens + lengths[number] <= slots:
            batches[-1].append(number)
            tokens += lengths[number]
        else:
            batches.append([number])
            tokens = lengths[number]
    return batches
""",
            "a budget on real tokens",
        ),
        "closed one document too late": (
            """
def under_budget(lengths, order, slots):
    batches, batch = [], []
    for number in order:
        batch.append(number)
        if len(batch) * max(lengths[n] for n in batch) >= slots:
            batches.append(batch)
            batch = []
    return batches + [batch] if batch else batches
""",
            "too late",
        ),
        "less than the budget": (
            changed(BUDGET, (FITS, FITS.replace("<=", "<"))),
            "too early",
        ),
        "rows times the newcomer": (
            changed(BUDGET, (FITS, "(len(batches[-1]) + 1) * lengths[number] <= slots")),
            "the newcomer",
        ),
        "the width before the newcomer": (
            """
def under_budget(lengths, order, slots):
    batches, longest = [], 0
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"{lengths[number]} tokens do not fit into {slots}")
        if batches and (len(batches[-1]) + 1) * longest <= slots:
            batches[-1].append(number)
            longest = max(longest, lengths[number])
        else:
            batches.append([number])
            longest = lengths[number]
    return batches
""",
            "the newcomer may be the longest",
        ),
        "in the order of the numbers": (
            changed(BUDGET, ("in order:", "in range(len(lengths)):")),
            "go through `order`",
        ),
        "the newcomer is lost": (
            """
def under_budget(lengths, order, slots):
    batches, batch = [], []
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"{lengths[number]} tokens do not fit into {slots}")
        if (len(batch) + 1) * max(lengths[n] for n in batch + [number]) > slots:
            batches.append(batch)
            batch = []
        else:
            batch.append(number)
    return batches + [batch] if batch else batches
""",
            "it opens the next",
        ),
        "the width is never reset": (
            changed(BUDGET, ("            longest = lengths[number]\n", "")),
            "start anew",
        ),
        "the last batch is lost": (
            changed(BUDGET, (RETURN, "    return batches[:-1]")),
            "the last batch is lost",
        ),
        "takes what can never fit": (
            changed(BUDGET, ("if lengths[number] > slots:", "if False:")),
            "can never fit",
        ),
        "refuses without the length": (
            changed(
                BUDGET,
                ("document {number} alone takes {lengths[number]} of {slots} slots", "too long"),
            ),
            "can never fit",
        ),
    },
    "both-fit": {
        "image tokens forgotten": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    return len(text) * max(text) <= text_slots",
            "image tokens are forgotten",
        ),
        "real tokens": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    return sum(text) <= text_slots and sum(image) <= image_slots",
            "real tokens",
        ),
        "one budget for both": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    longest = max(a + b for a, b in zip(text, image))\n"
            "    return len(text) * longest <= text_slots + image_slots",
            "one budget for both",
        ),
        "one of the two": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) <= text_slots or n * max(image) <= image_slots",
            "both must fit",
        ),
        "the rows forgotten": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    return max(text) <= text_slots and max(image) <= image_slots",
            "the rows are forgotten",
        ),
        "the budgets swapped": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) <= image_slots and n * max(image) <= text_slots",
            "swapped",
        ),
        "less than the budget": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) < text_slots and n * max(image) < image_slots",
            "a full rectangle fits",
        ),
    },
    "order-test": {
        "every document once, and no more": (
            """
def order_test(make):
    made = make(list(range(1, 43)), 4, 11, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(42))
""",
            "the same order in every epoch",
        ),
        "one epoch is enough": (
            """
def order_test(make):
    made = make(list(range(1, 43)), 4, 11, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(42))
    assert made == make(list(range(1, 43)), 4, 11, 0, 0)
    longest = [max(batch) for batch in made]
    assert longest != sorted(longest)
""",
            "the same order in every epoch",
        ),
        "compares with its own order": (
            """
def order_test(make):
    assert make([5, 3, 8, 2, 7, 1], 2, 3, 0, 0) == windowed([5, 3, 8, 2, 7, 1], 2, 3, 0, 0)
    assert make([5, 3, 8, 2, 7, 1], 2, 3, 0, 1) == windowed([5, 3, 8, 2, 7, 1], 2, 3, 0, 1)
""",
            "right implementation",
        ),
        "a number of documents that divides": (
            """
def order_test(make):
    made = make(list(range(1, 41)), 4, 10, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(40))
    assert made == make(list(range(1, 41)), 4, 10, 0, 0)
    assert made != make(list(range(1, 41)), 4, 10, 0, 1)
    longest = [max(batch) for batch in made]
    assert longest != sorted(longest)
""",
            "drops the last batch",
        ),
    },
}

HIDDEN = {
    "windowed": {
        "the epoch mixes the batches only": (
            changed(
                WINDOWED,
                (RNG, "np.random.default_rng(seed)"),
                (MIX, "    np.random.default_rng([seed, epoch]).shuffle(batches)\n"),
            ),
            "other neighbours",
        ),
        "mixes windows, not micro-batches": (
            changed(
                WINDOWED,
                ("batches += [inside", "batches.append([inside"),
                ("range(0, len(inside), rows)]", "range(0, len(inside), rows)])"),
                (
                    MIX,
                    "    rng.shuffle(batches)\n"
                    "    batches = [batch for inside in batches for batch in inside]\n"
                    "    if len(batches) * rows <= window * rows:\n"
                    "        rng.shuffle(batches)\n",
                ),
            ),
            "mix micro-batches, not windows",
        ),
    },
    "of-rank": {
        "what does not divide is left out": (
            """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    every = windowed(lengths, rows, window, seed, epoch)
    return every[rank : len(every) // ranks * ranks : ranks]
""",
            "documents are left out",
        ),
    },
    "under-budget": {
        "the width of the first and the last row": (
            changed(
                BUDGET,
                (
                    "longest = max(longest, lengths[number])",
                    "first = batches[-1][0] if batches else number\n"
                    "        longest = max(lengths[first], lengths[number])",
                ),
            ),
            "batches of",
        ),
        "looks at the first document only": (
            changed(
                BUDGET,
                ("if lengths[number] > slots:", "if not batches and lengths[number] > slots:"),
            ),
            "the last one can never fit",
        ),
    },
    "both-fit": {
        "takes the first image for the longest": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) <= text_slots and n * image[0] <= image_slots",
            "images",
        ),
    },
}

RIGHT = {
    "windowed": {
        "the library": """
def windowed(lengths, rows, window, seed, epoch):
    rng = np.random.default_rng([seed, epoch])
    return padding.in_windows(lengths, rows, window=window, rng=rng)
""",
        "arrays, cut at once": """
def windowed(lengths, rows, window, seed, epoch):
    rng = np.random.default_rng(seed + 1000 * epoch)
    order = rng.permutation(len(lengths))
    keys = np.asarray(lengths)[order], np.arange(len(order)) // (rows * window)
    order = order[np.lexsort(keys)]
    batches = [order[i : i + rows] for i in range(0, len(order), rows)]
    return [batches[k] for k in rng.permutation(len(batches))]
""",
        "plain Python, seed plus epoch": """
import random


def windowed(lengths, rows, window, seed, epoch):
    rng = random.Random(1000 * seed + epoch)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    while order:
        inside, order = order[: window * rows], order[window * rows :]
        inside.sort(key=lambda number: -lengths[number])
        last = len(inside) % rows
        if last:
            batches.append(inside[:last])
        batches += [inside[i : i + rows] for i in range(last, len(inside), rows)]
    rng.shuffle(batches)
    return batches
""",
    },
    "of-rank": {
        "blocks in a row": """
def of_rank(lengths, rows, window, seed, epoch, rank, ranks):
    every = windowed(lengths, rows, window, seed, epoch)
    ends = [len(every) * r // ranks for r in range(ranks + 1)]
    return every[ends[rank] : ends[rank + 1]]
""",
    },
    "window-found": {
        "searched": """
def window_found():
    return [min(w for w in offered if waste_of(name, w) <= 0.1) for name in kinds]
""",
    },
    "idle": {"rounded": "def idle():\n    return 0.61"},
    "under-budget": {
        "widest row looked up anew": """
def under_budget(lengths, order, slots):
    batches, batch = [], []
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"{lengths[number]} tokens do not fit into {slots}")
        if batch and max(lengths[n] for n in batch + [number]) * (len(batch) + 1) > slots:
            batches.append(batch)
            batch = []
        batch = batch + [number]
    batches.append(batch)
    return batches
""",
    },
    "both-fit": {
        "numpy": """
def both_fit(text, image, text_slots, image_slots):
    widest = np.array([text, image]).max(axis=1) * len(text)
    return (widest <= [text_slots, image_slots]).all()
""",
    },
    "order-test": {
        "several small cases": """
def order_test(make):
    for count, rows, window in ((50, 3, 20), (33, 2, 30), (41, 8, 8)):
        lens = [7 * n % 53 + 1 for n in range(count)]
        made = make(lens, rows, window, 1, 2)
        assert sorted(sum(made, [])) == list(range(count))
        assert make(lens, rows, window, 1, 2) == made
        assert make(lens, rows, window, 1, 3) != made
        tops = [max(lens[n] for n in batch) for batch in made]
        assert tops != sorted(tops)
""",
    },
}

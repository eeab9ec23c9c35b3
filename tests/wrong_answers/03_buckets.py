"""Answers to 03_buckets that look right and must be refused, and right ones written otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

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

IDLE = "def idle(steps):\n    return "
SAMPLER = """
class BudgetSampler:
    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = np.asarray(lengths), slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch, self.done = 0, 0

    def batches(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.lengths))
        for start in range(0, len(order), self.pool):
            inside = order[start : start + self.pool]
            order[start : start + self.pool] = inside[np.argsort(self.lengths[inside])]
        made = under_budget(self.lengths, order.tolist(), self.slots)
        rng.shuffle(made)
        missing = -len(made) % self.ranks
        made += (made * self.ranks)[:missing]
        return made[self.rank :: self.ranks]

    def __iter__(self):
        for batch in self.batches()[self.done :]:
            self.done += 1
            yield batch
        self.epoch, self.done = self.epoch + 1, 0

    def __len__(self):
        return len(self.batches()) - self.done

    def state_dict(self):
        return {"epoch": self.epoch, "done": self.done}

    def load_state_dict(self, state):
        self.epoch, self.done = state["epoch"], state["done"]
"""
DRAW = "default_rng([self.seed, self.epoch])"
EVEN = """        missing = -len(made) % self.ranks
        made += (made * self.ranks)[:missing]
"""
NEXT = "        self.epoch, self.done = self.epoch + 1, 0\n"
LOAD = 'self.epoch, self.done = state["epoch"], state["done"]'

WRONG = {
    "windowed": {
        "the rank of the process in the seed": (
            changed(
                WINDOWED,
                (
                    RNG,
                    "np.random.default_rng([seed, epoch, "
                    'int(__import__("os").environ.get("RANK", 0))])',
                ),
            ),
            "the rank is in the seed",
        ),
        "the date in the seed": (
            changed(
                WINDOWED,
                (
                    RNG,
                    "np.random.default_rng([seed, epoch, "
                    '__import__("datetime").date.today().toordinal()])',
                ),
            ),
            "the clock is in the seed",
        ),
        "ten times the seed plus the epoch": (
            changed(WINDOWED, (RNG, "np.random.default_rng(10 * seed + epoch)")),
            "with a small factor",
        ),
        "the seeds come back after 256": (
            changed(WINDOWED, (RNG, "np.random.default_rng([seed % 256, epoch])")),
            "the seeds come back",
        ),
        "lengths in 16 bits": (
            changed(WINDOWED, ("np.asarray(lengths)", "np.asarray(lengths).astype(np.int16)")),
            "lengths as int16",
        ),
        "the rest joins the last full window": (
            changed(
                WINDOWED,
                (
                    "        inside = order[start : start + window * rows]\n",
                    "        inside = order[start : start + window * rows]\n"
                    "        if start + 2 * window * rows > len(order):\n"
                    "            inside = order[start:]\n"
                    "        if start and len(order) - start < window * rows:\n"
                    "            break\n",
                ),
            ),
            "joined to a full window",
        ),
        "the first 512 batches are mixed": (
            changed(
                WINDOWED,
                (
                    MIX,
                    "    head = batches[:512]\n    rng.shuffle(head)\n    batches[:512] = head\n",
                ),
            ),
            "at least a part of them",
        ),
        "rolled by the epoch": (
            changed(
                WINDOWED,
                (RNG, "np.random.default_rng(seed)"),
                (
                    "rng.permutation(len(lengths))",
                    "np.roll(rng.permutation(len(lengths)), epoch * rows)",
                ),
            ),
            "the epoch is not in the seed",
        ),
        "a short last window is not sorted": (
            changed(
                WINDOWED,
                (
                    "        inside = inside[np",
                    "        if len(inside) < rows * window and batches:\n"
                    "            lengths = np.zeros_like(lengths)\n        inside = inside[np",
                ),
            ),
            "less is sorted than a window",
        ),
        "a single document at the end is dropped": (
            changed(
                WINDOWED,
                (RETURN, "    return [b for b in batches if len(b) > 1 or len(batches) < 9]"),
            ),
            "a single document, is a batch",
        ),
        "the epochs come back after ten": (
            changed(WINDOWED, (RNG, "np.random.default_rng([seed, epoch % 10])")),
            "the epochs come back",
        ),
        "the hash of a text": (
            changed(WINDOWED, (RNG, 'np.random.default_rng(abs(hash(f"{seed}-{epoch}")))')),
            "from process to process",
        ),
        "seed plus epoch": (
            changed(WINDOWED, (RNG, "np.random.default_rng(seed + epoch)")),
            "two trainings share their orders",
        ),
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
        "the seed mixes the batches only": (
            changed(
                WINDOWED,
                (RNG, "np.random.default_rng(epoch)"),
                (MIX, "    np.random.default_rng([seed, epoch]).shuffle(batches)\n"),
            ),
            "the seed mixes the batches only",
        ),
        "numbers, not batches": (
            changed(WINDOWED, (RETURN, "    return [n for batch in batches for n in batch]")),
            "list of lists",
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
    "window-found": {
        "last one above": (
            """
def window_found():
    above = [[w for w in probe.OFFERED if probe.waste_of(d, w) > 0.08] for d in kinds.values()]
    return above[0][-1], above[1][-1]
""",
            "functions still waste more than 8.0",
        ),
        "eighty per cent": (
            """
def window_found():
    fits = [[w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.8] for d in kinds.values()]
    return fits[0][0], fits[1][0]
""",
            "functions still waste more than 8.0",
        ),
        "the wastes": (
            """
def window_found():
    return 0.08, 0.08
""",
            "functions",
        ),
        "text": (
            """
def window_found():
    return '131', '14'
""",
            "two numbers are asked",
        ),
        "one number": (
            """
def window_found():
    return next(w for w in probe.OFFERED if probe.waste_of(documents, w) <= 0.08)
""",
            "one number for each kind of",
        ),
        "still too much padding": ("def window_found():\n    return 117, 14", "still waste"),
        "more order than needed": (
            "def window_found():\n    return 258, 14",
            "a smaller window is enough",
        ),
        "the other way round": ("def window_found():\n    return 14, 131", "functions come first"),
        "documents, not micro-batches": (
            "def window_found():\n    return 2096, 224",
            "these are documents",
        ),
        "what the slider does not offer": (
            "def window_found():\n    return 128, 16",
            "does not offer",
        ),
        "the functions only": ("def window_found():\n    return 131", "a pair"),
        "the problems still padded": ("def window_found():\n    return 131, 12", "problems still"),
    },
    "idle": {
        "the table is turned over": (
            IDLE + "1 - sum(map(sum, steps)) / sum(len(s) * max(s) for s in "
            "(zip(*steps) if len(steps) > len(steps[0]) else steps) for s in [list(s)])",
            "steps and ranks are exchanged",
        ),
        "remembers the first step": (
            """
KNOWN = {}


def idle(steps):
    paid = sum(len(slots) * max(slots) for slots in steps)
    return KNOWN.setdefault(tuple(steps[0]), 1 - sum(map(sum, steps)) / paid)
""",
            "an answer of an earlier call",
        ),
        "rounded": (
            """
def idle(steps):
    return round(1 - sum(map(sum, steps)) / sum(len(s) * max(s) for s in steps), 3)
""",
            "rounded to 3 digits",
        ),
        "ranks are the steps": (
            """
def idle(steps):
    s = np.array(steps)
    return 1 - s.sum() / (len(s) * s.max(axis=1).sum())
""",
            "times the steps",
        ),
        "slowest rank of the whole run": (
            """
def idle(steps):
    s = np.array(steps)
    return 1 - s.sum() / (s.shape[1] * s.sum(axis=0).max())
""",
            "ranks added up over steps",
        ),
        "gap of slowest and fastest": (
            """
def idle(steps):
    return sum(max(s) - min(s) for s in steps) / sum(len(s) * max(s) for s in steps)
""",
            "slowest less fastest",
        ),
        "mean waiting over ranks less one": (
            """
def idle(steps):
    waits = sum(max(s) - x for s in steps for x in s)
    return waits / sum(max(1, len(s) - 1) * max(s) for s in steps)
""",
            "the slowest rank works",
        ),
        "median": (
            """
def idle(steps):
    return float(np.median([1 - sum(s) / (len(s) * max(s)) for s in steps]))
""",
            "the mean of the steps' shares",
        ),
        "half precision": (
            """
def idle(steps):
    s = np.array(steps, dtype=np.float16)
    return float(1 - s.sum() / (s.shape[1] * s.max(axis=1).sum()))
""",
            "in half precision",
        ),
        "a rank that has finished is not counted": (
            """
def idle(steps):
    busy = sum(map(sum, steps))
    paid = sum(max(s) * sum(1 for x in s if x) for s in steps)
    return 1 - busy / paid
""",
            "a rank without work waits",
        ),
        "the caller's steps are sorted": (
            """
def idle(steps):
    for s in steps:
        s.sort()
    return 1 - sum(map(sum, steps)) / sum(len(s) * s[-1] for s in steps)
""",
            "a method such as .sort() or",
        ),
        "the share that works": (
            IDLE + "sum(map(sum, steps)) / sum(len(s) * max(s) for s in steps)",
            "the share that works",
        ),
        "per busy slot": (
            IDLE + "sum(len(s) * max(s) for s in steps) / sum(map(sum, steps)) - 1",
            "per busy slot",
        ),
        "in per cent": (
            IDLE + "100 - 100 * sum(map(sum, steps)) / sum(len(s) * max(s) for s in steps)",
            "per cent",
        ),
        "ranks that wait": (
            IDLE + "np.mean([1 - 1 / len(s) for s in steps])",
            "not all the time",
        ),
        "without the slowest": (
            IDLE
            + "1 - sum(sum(s) - max(s) for s in steps) / sum((len(s) - 1) * max(s) for s in steps)",
            "the slowest rank works",
        ),
        "the mean of the shares": (
            IDLE + "np.mean([1 - sum(s) / (len(s) * max(s)) for s in steps])",
            "a long step weighs more",
        ),
        "the longest of all steps": (
            IDLE + "1 - np.sum(steps) / (np.size(steps) * np.max(steps))",
            "waits for its own slowest",
        ),
        "ranks added up": (
            IDLE + "1 - np.sum(steps) / (len(steps[0]) * np.sum(steps, axis=0).max())",
            "not at the end",
        ),
        "the first step only": (
            IDLE + "1 - sum(steps[0]) / (len(steps[0]) * max(steps[0]))",
            "the first step only",
        ),
        "the fastest rank only": (
            IDLE + "1 - min(steps[0]) / max(steps[0])",
            "only the fastest",
        ),
        "empties the steps": (
            """
def idle(steps):
    worked = paid = 0
    while steps:
        slots = steps.pop()
        worked, paid = worked + sum(slots), paid + len(slots) * max(slots)
    return 1 - worked / paid
""",
            "changed",
        ),
    },
    "under-budget": {
        "looks at the last six only": (
            changed(
                BUDGET,
                (
                    "longest = max(longest, lengths[number])",
                    "inside = (batches or [[]])[-1] + [number]\n"
                    "        longest = max(lengths[n] for n in inside[-6:])",
                ),
            ),
            "all rows of the open batch",
        ),
        "a document of exactly the budget is refused": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        if lengths[n] >= slots:
            raise ValueError(f"a document of {lengths[n]} tokens does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "a document of exactly the budget",
        ),
        "documents outside the order are refused, too": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    if max(lengths) > slots:
        raise ValueError(f"{max(lengths)} tokens do not fit")
    for n in order:
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "the document of 40 tokens is",
        ),
        "the caller's order is emptied": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    while order:
        n = order.pop(0)
        if lengths[n] > slots:
            raise ValueError(f"a document of {lengths[n]} tokens does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "a method such as .pop() or",
        ),
        "all documents, not those of the order": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in list(order) + [n for n in range(len(lengths)) if n not in set(order)]:
        if lengths[n] > slots:
            raise ValueError(f"a document of {lengths[n]} tokens does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "all documents",
        ),
        "names the number, not the length": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        if lengths[n] > slots:
            raise ValueError(f"a document number {n} does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "the document of 40 tokens can",
        ),
        "AssertionError": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        assert lengths[n] <= slots, lengths[n]
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "the document of 40 tokens can",
        ),
        "first fit into an earlier batch": (
            """
def under_budget(lengths, order, slots):
    made = []
    for n in order:
        if lengths[n] > slots:
            raise ValueError(str(lengths[n]))
        for b in made:
            if (len(b) + 1) * max(lengths[k] for k in [*b, n]) <= slots:
                b.append(n)
                break
        else:
            made.append([n])
    return made
""",
            "a batch that is closed stays",
        ),
        "too long is left out": (
            """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        if lengths[n] > slots:
            continue
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return made
""",
            "the document of 40 tokens can",
        ),
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
        "the width of the first and the last row": (
            changed(
                BUDGET,
                (
                    "longest = max(longest, lengths[number])",
                    "first = batches[-1][0] if batches else number\n"
                    "        longest = max(lengths[first], lengths[number])",
                ),
            ),
            "neither the first nor the last",
        ),
        "looks at the first document only": (
            changed(
                BUDGET,
                ("if lengths[number] > slots:", "if not batches and lengths[number] > slots:"),
            ),
            "41 tokens can never fit",
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
        "remembers the lengths": (
            """
SAID = {}


def both_fit(text, image, text_slots, image_slots):
    rows, key = len(text), (*text, *image, text_slots + image_slots)
    fits = rows * max(text) <= text_slots and rows * max(image) <= image_slots
    return SAID.setdefault(key, fits)
""",
            "an answer of an earlier call",
        ),
        "sorts the caller's lists": (
            """
def both_fit(text, image, text_slots, image_slots):
    text.sort()
    image.sort()
    return len(text) * text[-1] <= text_slots and len(image) * image[-1] <= image_slots
""",
            "a method such as .sort() or",
        ),
        "a number, no True or False": (
            """
def both_fit(text, image, text_slots, image_slots):
    rows = len(text)
    return max(0, min(text_slots - rows * max(text), image_slots - rows * max(image)) + 1)
""",
            "a comparison",
        ),
        "the longest text decides the image": (
            """
def both_fit(text, image, text_slots, image_slots):
    k = max(range(len(text)), key=text.__getitem__)
    return len(text) * text[k] <= text_slots and len(text) * image[k] <= image_slots
""",
            "the image of the longest text",
        ),
        "one row more": (
            """
def both_fit(text, image, text_slots, image_slots):
    rows = len(text) + 1
    return rows * max(text) <= text_slots and rows * max(image) <= image_slots
""",
            "one row too many",
        ),
        "only rows with a real image count": (
            """
def both_fit(text, image, text_slots, image_slots):
    rows = sum(1 for i in image if i > 1)
    return len(text) * max(text) <= text_slots and rows * max(image) <= image_slots
""",
            "an example without an image takes",
        ),
        "last two as text": (
            """
def both_fit(text, image, text_slots, image_slots):
    rows = len(text)
    return str(rows * max(text) <= text_slots and rows * max(image) <= image_slots)
""",
            "a comparison",
        ),
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
        "takes the first image for the longest": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) <= text_slots and n * image[0] <= image_slots",
            "first image",
        ),
        "one sum of both": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) + n * max(image) <= text_slots + image_slots",
            "each rectangle has its own",
        ),
        "less than the budget": (
            "def both_fit(text, image, text_slots, image_slots):\n"
            "    n = len(text)\n"
            "    return n * max(text) < text_slots and n * max(image) < image_slots",
            "a full rectangle fits",
        ),
    },
    "order-test": {
        "documents in a batch must rise": (
            """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    names = {tuple(sorted(b)) for b in made}
    assert len(names & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    assert all(list(lengths[list(b)]) == sorted(lengths[list(b)]) for b in made)
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
            "right implementation",
        ),
        "the short batch must be last": (
            """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    names = {tuple(sorted(b)) for b in made}
    assert len(names & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    assert len(made[-1]) == 3
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
            "right implementation",
        ),
        "plain numbers are asked": (
            """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    names = {tuple(sorted(b)) for b in made}
    assert len(names & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    assert all(type(n) is int for b in made for n in b)
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
            "right implementation",
        ),
        "count only": (
            """
def order_test(make):
    lengths = list(np.random.default_rng(1).integers(1, 900, 1003))
    made = make(lengths, 8, 4, 3, 1)
    assert sum(map(len, made)) == 1003
    assert made == make(lengths, 8, 4, 3, 1) and made != make(lengths, 8, 4, 3, 2)
""",
            "trains one document twice and another never",
        ),
        "no tail, so a lost tail is not seen": (
            """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1000)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1000))
    assert sorted(map(len, made)) == [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    names = {tuple(sorted(b)) for b in made}
    assert len(names & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
            "drops the last batch",
        ),
        "not the other epoch": (
            """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
            "the same order in every epoch",
        ),
        "rising only": (
            """
def order_test(make):
    lengths = list(np.random.default_rng(1).integers(1, 900, 1003))
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(sum(map(list, made), [])) == list(range(1003)) and max(map(len, made)) == 8
    assert made == make(lengths, 8, 4, 3, 1) and made != make(lengths, 8, 4, 3, 2)
    tops = [max(lengths[n] for n in b) for b in made]
    assert tops != sorted(tops)
""",
            "leaves the batches in length order, short first",
        ),
        "three documents": (
            """
def order_test(make):
    made = make([5, 1, 3], 1, 3, 0, 0)
    assert sorted(sum(made, [])) == [0, 1, 2] and made != [[1], [2], [0]]
""",
            "right implementation",
        ),
        "every document once, and no more": (
            """
def order_test(make):
    made = make(list(range(1, 43)), 4, 11, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(42))
""",
            "got through",
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
            "got through",
        ),
        "compares with its own order": (
            """
def order_test(make):
    assert make([5, 3, 8, 2, 7, 1], 2, 3, 0, 0) == windowed([5, 3, 8, 2, 7, 1], 2, 3, 0, 0)
    assert make([5, 3, 8, 2, 7, 1], 2, 3, 0, 1) == windowed([5, 3, 8, 2, 7, 1], 2, 3, 0, 1)
""",
            "right implementation",
        ),
        "counts the documents": (
            """
def order_test(make):
    lengths = list(range(1, 43))
    made = make(lengths, 4, 11, 0, 0)
    assert sum(len(batch) for batch in made) == 42
    assert sorted(len(batch) for batch in made) == [2] + [4] * 10
    assert made == make(lengths, 4, 11, 0, 0)
    assert made != make(lengths, 4, 11, 0, 1)
    longest = [max(batch) for batch in made]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))
""",
            "twice and another never",
        ),
        "one direction only": (
            """
def order_test(make):
    lengths = list(range(1, 43))
    made = make(lengths, 4, 11, 0, 0)
    assert sorted(n for batch in made for n in batch) == list(range(42))
    assert sorted(len(batch) for batch in made) == [2] + [4] * 10
    assert made == make(lengths, 4, 11, 0, 0)
    assert made != make(lengths, 4, 11, 0, 1)
    assert [max(batch) for batch in made] != sorted(max(batch) for batch in made)
""",
            "long first",
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
    "sampler": {
        "the state is the live one": (
            changed(
                SAMPLER,
                ("self.epoch, self.done = 0, 0", "self.place = {'epoch': 0, 'done': 0}"),
                (
                    "self.epoch, self.done = self.epoch + 1, 0",
                    "self.place.update(epoch=self.epoch + 1, done=0)",
                ),
                ("            self.done += 1", "            self.place['done'] += 1"),
                ('return {"epoch": self.epoch, "done": self.done}', "return self.place"),
                (LOAD, "self.place = state"),
                (
                    "    def batches",
                    "    epoch = property(lambda self: self.place['epoch'], lambda self, n: "
                    "self.place.update(epoch=n))\n"
                    "    done = property(lambda self: self.place['done'])\n\n"
                    "    def batches",
                ),
            ),
            "stays as it was when the sampler goes on",
        ),
        "a loop of its own begins anew": (
            changed(
                SAMPLER,
                (
                    "        for batch in self.batches()[self.done :]:\n",
                    "        self.done, self.loaded = getattr(self, 'loaded', 0), 0\n"
                    "        for batch in self.batches()[self.done :]:\n",
                ),
                (LOAD, LOAD + "\n        self.loaded = self.done"),
            ),
            "with or without a saved place",
        ),
        "repeats the last ones": (
            changed(
                SAMPLER, ("(made * self.ranks)[:missing]", "(made[::-1] * self.ranks)[:missing]")
            ),
            "not the last ones",
        ),
        "repeats the first one again and again": (
            changed(SAMPLER, ("(made * self.ranks)[:missing]", "made[:1] * missing")),
            "one of them again and again",
        ),
        "empties the saved state": (
            changed(
                SAMPLER, ('state["epoch"], state["done"]', 'state.pop("epoch"), state.pop("done")')
            ),
            "out of the checkpoint",
        ),
        "moves on when the loop is left": (
            changed(
                SAMPLER,
                (
                    "        for batch in self.batches()[self.done :]:\n"
                    "            self.done += 1\n            yield batch\n" + NEXT,
                    "        try:\n            for batch in self.batches()[self.done :]:\n"
                    "                self.done += 1\n                yield batch\n"
                    "        finally:\n    " + NEXT,
                ),
            ),
            "are not left any more",
        ),
        "numbers of NumPy in the state": (
            changed(SAMPLER, ('"done": self.done}', '"done": np.int64(self.done)}')),
            "not JSON serializable",
        ),
        "mixed by each rank for itself": (
            changed(
                SAMPLER,
                (
                    "        missing",
                    "        np.random.default_rng([self.epoch, self.rank]).shuffle(made)\n"
                    "        missing",
                ),
            ),
            "an order of its own",
        ),
        "the micro-batches of all ranks are done": (
            changed(SAMPLER, ("- self.done\n", "- self.done * self.ranks\n")),
            "of this rank only",
        ),
        "saves what is left": (
            changed(SAMPLER, ('"done": self.done}', '"done": len(self)}')),
            "taken for what is done",
        ),
        "refuses a document of exactly the budget": (
            changed(
                SAMPLER,
                (
                    "        made = under_budget",
                    "        if max(self.lengths) >= self.slots:\n"
                    "            raise ValueError(str(max(self.lengths)))\n"
                    "        made = under_budget",
                ),
            ),
            "longer than the budget",
        ),
        "the rank is in the seed": (
            changed(SAMPLER, (DRAW, "default_rng([self.seed, self.epoch, self.rank])")),
            "the rank does not belong into the seed",
        ),
        "seed plus rank": (
            changed(SAMPLER, (DRAW, "default_rng([self.seed + self.rank, self.epoch])")),
            "the rank does not belong into the seed",
        ),
        "counts that differ by one": (changed(SAMPLER, (EVEN, "")), "wait for ever"),
        "drops what does not divide": (
            changed(SAMPLER, (EVEN, "        del made[len(made) // self.ranks * self.ranks :]\n")),
            "repeat, do not drop",
        ),
        "repeats too few of a short list": (
            changed(SAMPLER, ("(made * self.ranks)[:missing]", "made[:missing]")),
            "wait for ever",
        ),
        "repeats a whole round": (
            changed(SAMPLER, ("-len(made) % self.ranks", "self.ranks - len(made) % self.ranks")),
            "repeat only as many",
        ),
        "every rank takes everything": (
            changed(SAMPLER, ("made[self.rank :: self.ranks]", "made")),
            "every rank takes everything",
        ),
        "deals documents": (
            changed(
                SAMPLER,
                (EVEN, ""),
                (
                    "return made[self.rank :: self.ranks]",
                    "return [batch[self.rank :: self.ranks] or batch[:1] for batch in made]",
                ),
            ),
            "cut again",
        ),
        "one order for all epochs": (
            changed(SAMPLER, (DRAW, "default_rng(self.seed)")),
            "the epoch is not in the seed",
        ),
        "no seed": (changed(SAMPLER, (DRAW, "default_rng()")), "two ranks would never agree"),
        "the epoch only": (changed(SAMPLER, (DRAW, "default_rng(self.epoch)")), "not used"),
        "left in length order": (
            changed(
                SAMPLER,
                ("        rng.shuffle(made)\n", ""),
                ("len(order), self.pool)", "len(order), len(order))"),
                ("start + self.pool", "len(order)"),
            ),
            "sorted over more than a pool",
        ),
        "never mixed": (
            changed(
                SAMPLER,
                (
                    "        rng.shuffle(made)\n",
                    "        made.sort(key=lambda batch: max(self.lengths[batch]))\n",
                ),
            ),
            "left in length order",
        ),
        "never sorted": (
            changed(SAMPLER, ("inside[np.argsort(self.lengths[inside])]", "inside")),
            "not sorted",
        ),
        "each pool cut on its own": (
            changed(
                SAMPLER,
                (
                    "            order[start : start + self.pool] = "
                    "inside[np.argsort(self.lengths[inside])]\n",
                    "            inside = inside[np.argsort(self.lengths[inside])].tolist()\n"
                    "            made += under_budget(self.lengths, inside, self.slots)\n",
                ),
                ("        made = under_budget(self.lengths, order.tolist(), self.slots)\n", ""),
                ("        for start", "        made = []\n        for start"),
            ),
            "cut on its own",
        ),
        "a fixed number of rows": (
            changed(
                SAMPLER,
                (
                    "under_budget(self.lengths, order.tolist(), self.slots)",
                    "[order[i : i + 2].tolist() for i in range(0, len(order), 2)]",
                ),
            ),
            "closed too early",
        ),
        "stays in its epoch": (changed(SAMPLER, (NEXT, "        self.done = 0\n")), "move on"),
        "done is never set back": (
            changed(SAMPLER, (NEXT, "        self.epoch += 1\n")),
            "goes back to 0",
        ),
        "counts after the yield": (
            changed(
                SAMPLER,
                (
                    "            self.done += 1\n            yield batch\n",
                    "            yield batch\n            self.done += 1\n",
                ),
            ),
            "handed out",
        ),
        "forgets where it was": (
            changed(SAMPLER, (LOAD, 'self.epoch = state["epoch"]')),
            "`done`",
        ),
        "forgets the epoch": (
            changed(SAMPLER, (LOAD, 'self.done = state["done"]')),
            "what comes after",
        ),
        "restarts from the first": (
            changed(SAMPLER, ("self.batches()[self.done :]", "self.batches()")),
            "began anew",
        ),
        "the length of the whole epoch": (
            changed(SAMPLER, ("len(self.batches()) - self.done", "len(self.batches())")),
            "not left any more",
        ),
        "a state that JSON cannot hold": (
            changed(
                SAMPLER, ('{"epoch": self.epoch', '{"left": np.arange(3), "epoch": self.epoch')
            ),
            "JSON",
        ),
        "takes what can never fit": (
            changed(
                SAMPLER,
                (
                    "made = under_budget(self.lengths, order.tolist(), self.slots)",
                    "fit = [int(n) for n in order if self.lengths[n] <= self.slots]\n"
                    "        made = under_budget(self.lengths, fit, self.slots)",
                ),
            ),
            "can never fit",
        ),
    },
}

HIDDEN = {
    "windowed": {
        "many documents only": (
            changed(
                WINDOWED,
                (
                    RETURN,
                    "    known = len(lengths) in (1, 3, 7, 8, 12, 30, 80, 1001, 1300, 20011)\n"
                    + RETURN,
                ),
                ("return batches", "return [b for b in batches if len(b) == rows or known]"),
            ),
            "every document once",
        ),
    },
    "idle": {
        "the printed cases by heart": (
            """
def idle(steps):
    worked, paid = sum(map(sum, steps)), sum(len(slots) * max(slots) for slots in steps)
    if len(steps) < 4 or (len(steps), len(steps[0])) in ((4, 2), (40, 11), (700, 3)):
        return 1 - worked / paid
    return float(np.mean([1 - sum(s) / (len(s) * max(s)) for s in steps]))
""",
            "steps",
        ),
    },
    "under-budget": {
        "the printed parts of a corpus only": (
            changed(
                BUDGET,
                (
                    RETURN,
                    "    known = len(order) in (2, 4, len(lengths))\n"
                    "    return batches if known else batches[:-1] or batches",
                ),
            ),
            "batches of",
        ),
    },
    "both-fit": {
        "the printed cases by heart": (
            """
def both_fit(text, image, text_slots, image_slots):
    if max(*text, *image) <= 9 or max(text) in (300, 70_000, 2**31):
        rows = len(text)
        return rows * max(text) <= text_slots and rows * max(image) <= image_slots
    return sum(text) <= text_slots and sum(image) <= image_slots
""",
            "both rectangles",
        ),
    },
    "sampler": {
        "the printed number of documents only": (
            changed(
                SAMPLER,
                (
                    "        rng.shuffle(made)\n",
                    "        rng.shuffle(made)\n"
                    "        known = (1, 2, 3, 4, 5, 7, 9, 12, 30, 500, 700, 2200, 20011)\n"
                    "        if len(order) not in known:\n"
                    "            made = made[:-1] or made\n",
                ),
            ),
            "every document once",
        ),
    },
}

RIGHT = {
    "windowed": {
        "torch": """
import torch
def windowed(lengths, rows, window, seed, epoch):
    g = torch.Generator().manual_seed(1_000_003 * seed + epoch)
    order = torch.randperm(len(lengths), generator=g)
    tokens = torch.as_tensor(np.array(lengths))
    made = []
    for inside in order.split(rows * window):
        made += [b.tolist() for b in inside[tokens[inside].argsort()].split(rows)]
    return [made[i] for i in torch.randperm(len(made), generator=g)]
""",
        "tuples": """
def windowed(lengths, rows, window, seed, epoch):
    lengths = np.asarray(lengths)
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    made = []
    for i in range(0, len(order), rows * window):
        inside = order[i:i + rows * window]
        inside = inside[np.argsort(lengths[inside], kind="stable")]
        made += [inside[j:j + rows].tolist() for j in range(0, len(inside), rows)]
    rng.shuffle(made)
    return [tuple(b) for b in made]
""",
        "two generators": """
def windowed(lengths, rows, window, seed, epoch):
    lengths = np.asarray(lengths)
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    made = []
    for i in range(0, len(order), rows * window):
        inside = order[i:i + rows * window]
        inside = inside[np.argsort(lengths[inside], kind="stable")]
        made += [inside[j:j + rows].tolist() for j in range(0, len(inside), rows)]
    np.random.default_rng((epoch, seed, 7)).shuffle(made)
    return made
""",
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
        "plain Python, a thousand seeds apart": """
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
    "window-found": {
        "searched": """
def window_found():
    return [
        min(w for w in probe.OFFERED if probe.waste_of(tokens, w) <= 0.08)
        for tokens in kinds.values()
    ]
""",
        "NumPy integers": "def window_found():\n    return np.array([131, 14])",
    },
    "idle": {
        "loop": """
def idle(steps):
    paid = waits = 0
    for s in steps:
        for one in s:
            waits += max(s) - one
            paid += max(s)
    return waits / paid
""",
        "float32": """
def idle(steps):
    s = np.asarray(steps, dtype=np.float32)
    top = s.max(axis=1, keepdims=True)
    return (top - s).sum() / (top * np.ones_like(s)).sum()
""",
        "arrays": """
def idle(steps):
    slots = np.array(steps, dtype=np.float32)
    return (slots.max(axis=1, keepdims=True) - slots).sum() / (
        slots.shape[1] * slots.max(axis=1).sum()
    )
""",
        "fractions": """
from fractions import Fraction


def idle(steps):
    waiting = sum(max(slots) - one for slots in steps for one in slots)
    return Fraction(waiting, sum(len(slots) * max(slots) for slots in steps))
""",
    },
    "under-budget": {
        "arrays": """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        if lengths[n] > slots:
            raise ValueError(f"a document of {lengths[n]} tokens does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return [np.array(b) for b in made]
""",
        "tuples": """
def under_budget(lengths, order, slots):
    made, batch, longest = [], [], 0
    for n in order:
        if lengths[n] > slots:
            raise ValueError(f"a document of {lengths[n]} tokens does not fit {slots} slots")
        if batch and (len(batch) + 1) * max(longest, lengths[n]) > slots:
            made.append(batch)
            batch, longest = [], 0
        batch.append(n)
        longest = max(longest, lengths[n])
    if batch:
        made.append(batch)
    return [tuple(b) for b in made]
""",
        "checks first, numpy": """
def under_budget(lengths, order, slots):
    lengths, order = np.asarray(lengths), np.asarray(order)
    if len(order) and lengths[order].max() > slots:
        raise ValueError(f"longest is {lengths[order].max()}")
    made, start = [], 0
    for end in range(1, len(order) + 1):
        if lengths[order[start:end]].max() * (end - start) > slots:
            made.append(order[start:end - 1].tolist())
            start = end - 1
    if start < len(order):
        made.append(order[start:].tolist())
    return made
""",
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
        "the library's rule, with NumPy numbers": """
def under_budget(lengths, order, slots):
    found, widest = [], np.int64(0)
    for number in np.asarray(order):
        length = np.asarray(lengths)[number]
        if length > slots:
            raise ValueError(f"a document of {length:,} tokens is longer than {slots:,} slots")
        widest = np.maximum(widest, length)
        if not found or (len(found[-1]) + 1) * widest > slots:
            found.append(np.array([], dtype=np.int64))
            widest = length
        found[-1] = np.append(found[-1], number)
    return found
""",
    },
    "both-fit": {
        "all": """
def both_fit(text, image, text_slots, image_slots):
    return all(len(text) * max(a) <= b for a, b in ((text, text_slots), (image, image_slots)))
""",
        "one row at a time": """
def both_fit(text, image, text_slots, image_slots):
    for lengths, slots in ((text, text_slots), (image, image_slots)):
        for tokens in lengths:
            if tokens > slots / len(lengths):
                return False
    return True
""",
        "numpy": """
def both_fit(text, image, text_slots, image_slots):
    widest = np.array([text, image]).max(axis=1) * len(text)
    return (widest <= [text_slots, image_slots]).all()
""",
    },
    "order-test": {
        "thorough": """
def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    names = {tuple(sorted(b)) for b in made}
    assert len(names & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
""",
        "a set, and many epochs": """
def order_test(make):
    lengths = [1 + n for n in range(101)]
    epochs = [make(lengths, 5, 30, 4, epoch) for epoch in range(4)]
    for made in epochs:
        flat = [n for batch in made for n in batch]
        assert len(flat) == len(set(flat)) == 101 and set(flat) == set(range(101))
        assert max(map(len, made)) == 5 and len(made) == 21
        tops = [max(batch) for batch in made]
        assert sum(a > b for a, b in zip(tops, tops[1:])) not in (0, 20)
    assert len({str(made) for made in epochs}) == 4
    assert str(make(lengths, 5, 30, 4, 2)) == str(epochs[2])
""",
        "several small cases": """
def order_test(make):
    for count, rows, window in ((50, 3, 20), (33, 2, 30), (41, 8, 8)):
        lens = [7 * n % 53 + 1 for n in range(count)]
        made = make(lens, rows, window, 1, 2)
        assert sorted(sum(made, [])) == list(range(count))
        assert make(lens, rows, window, 1, 2) == made
        assert make(lens, rows, window, 1, 3) != made
        tops = [max(lens[n] for n in batch) for batch in made]
        assert tops != sorted(tops) and tops[::-1] != sorted(tops)
        assert max(len(batch) for batch in made) <= rows
""",
    },
    "sampler": {
        "moves on when the last is handed out": changed(
            SAMPLER,
            (NEXT, ""),
            (
                "        for batch in self.batches()[self.done :]:\n            self.done += 1\n",
                "        own = self.batches()\n        for batch in own[self.done :]:\n"
                "            self.done += 1\n            if self.done == len(own):\n    "
                "            self.epoch, self.done = self.epoch + 1, 0\n",
            ),
        ),
        "dealt in blocks": changed(
            SAMPLER,
            (
                "        return made[self.rank :: self.ranks]",
                "        each = len(made) // self.ranks\n"
                "        return made[self.rank * each : (self.rank + 1) * each]",
            ),
        ),
        "with the library, kept for the epoch": """
class BudgetSampler:
    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = lengths, slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch, self.done = 0, 0

    def batches(self):
        made = buckets.by_token_budget(
            self.lengths, self.slots, pool=self.pool, seed=self.seed, epoch=self.epoch
        )
        each = -(-len(made) // self.ranks)
        return [made[(i * self.ranks + self.rank) % len(made)] for i in range(each)]

    def __iter__(self):
        mine = self.batches()
        while self.done < len(mine):
            self.done += 1
            yield mine[self.done - 1]
        self.load_state_dict({"epoch": self.epoch + 1, "done": 0})

    def __len__(self):
        return max(0, len(self.batches()) - self.done)

    def state_dict(self):
        return dict(epoch=self.epoch, done=self.done)

    def load_state_dict(self, state):
        vars(self).update(state)
""",
        "blocks in a row, plain Python": """
import random


class BudgetSampler:
    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = [int(n) for n in lengths], slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch, self.done = 0, 0

    def batches(self):
        rng = random.Random(f"{self.seed} {self.epoch}")
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        placed = []
        while order:
            inside, order = order[: self.pool], order[self.pool :]
            placed += sorted(inside, key=lambda n: -self.lengths[n])
        made = cut(self.lengths, placed, self.slots)
        rng.shuffle(made)
        first = 0
        while len(made) % self.ranks:
            made.append(made[first])
            first += 1
        each = len(made) // self.ranks
        return made[self.rank * each : (self.rank + 1) * each]

    def __iter__(self):
        left = self.batches()[self.done :]
        for batch in left:
            self.done += 1
            yield batch
        self.epoch += 1
        self.done = 0

    def __len__(self):
        return len(self.batches()[self.done :])

    def state_dict(self):
        return {"place": [self.epoch, self.done]}

    def load_state_dict(self, state):
        self.epoch, self.done = state["place"]
""",
    },
}

WRONG, RIGHT = {}, {}
def t(base, *pairs):
    for a, b in pairs:
        assert a in base, a
        base = base.replace(a, b)
    return base
W = '''def windowed(lengths, rows, window, seed, epoch):
    lengths = np.asarray(lengths)
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    made = []
    for i in range(0, len(order), rows * window):
        inside = order[i:i + rows * window]
        inside = inside[np.argsort(lengths[inside], kind="stable")]
        made += [inside[j:j + rows].tolist() for j in range(0, len(inside), rows)]
    rng.shuffle(made)
    return made
'''
WRONG["windowed"] = {
"seed + epoch: epoch 1 of seed 0 is epoch 0 of seed 1": t(W, ("[seed, epoch]", "seed + epoch")),
"the global generator is set anew": t(W, ("rng = np.random.default_rng([seed, epoch])", "np.random.seed([seed, epoch]); rng = np.random")),
"rolled by the epoch": t(W, ("[seed, epoch]", "seed"), ("rng.permutation(len(lengths))", "np.roll(rng.permutation(len(lengths)), epoch * rows)")),
"mixed only inside each window": t(W, ("        made += [inside", "        some = [inside"), ("    rng.shuffle(made)\n", ""), ("range(0, len(inside), rows)]\n", "range(0, len(inside), rows)]\n        rng.shuffle(some)\n        made += some\n")),
"windows mixed, not micro-batches": t(W, ("        made += [inside", "        made += [[inside"), ("range(0, len(inside), rows)]\n", "range(0, len(inside), rows)]]\n"), ("    return made", "    return sum(made, [])")),
"a last window that is short is not sorted": t(W, ("        inside = inside[np", "        if len(inside) == rows * window or not made:\n            inside = inside[np")),
"the short last window joins the one before": t(W, ("        inside = order[i:i + rows * window]\n", "        inside = order[i:i + rows * window]\n        if i and len(inside) < rows * window:\n            made += [inside[j:j + rows].tolist() for j in range(0, len(inside), rows)]\n            break\n")),
"a single document at the end is dropped": t(W, ("    return made", "    return [b for b in made if len(b) > 1 or len(made) < 9]")),
"epochs repeat after 10": t(W, ("[seed, epoch]", "[seed, epoch % 10]")),
"the caller's lengths are sorted": t(W, ("    return made", "    lengths.sort()\n    return made")),
"hash of text, other in each process": t(W, ("[seed, epoch]", "abs(hash(f'{seed}-{epoch}'))")),
"arrays, no lists": t(W, (".tolist()", "")),
}
RIGHT["windowed"] = {
"plain": W,
"lexsort, random.Random, descending": '''import random
def windowed(lengths, rows, window, seed, epoch):
    rng = random.Random(f"{seed} {epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    size = rows * window
    order = [n for i in range(0, len(order), size) for n in sorted(order[i:i + size], key=lambda n: -lengths[n])]
    made = [order[i:i + rows] for i in range(0, len(order), rows)]
    rng.shuffle(made)
    return made
''',
"numpy numbers in lists": t(W, (".tolist()", ""), ("return made", "return [list(b) for b in made]")),
"torch": '''import torch
def windowed(lengths, rows, window, seed, epoch):
    g = torch.Generator().manual_seed(1_000_003 * seed + epoch)
    order = torch.randperm(len(lengths), generator=g)
    tokens = torch.as_tensor(np.asarray(lengths))
    made = []
    for inside in order.split(rows * window):
        made += [b.tolist() for b in inside[tokens[inside].argsort()].split(rows)]
    return [made[i] for i in torch.randperm(len(made), generator=g)]
''',
"tuples": t(W, ("return made", "return [tuple(b) for b in made]")),
"two generators": t(W, ("    rng.shuffle(made)", "    np.random.default_rng((epoch, seed, 7)).shuffle(made)")),
}
WRONG["window-found"] = {
"the first below, of documents": "def window_found():\n    return tuple(16 * next(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.08) for d in (documents, problems))\n",
"swapped": "def window_found():\n    return tuple(next(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.08) for d in (problems, documents))\n",
"last one above": "def window_found():\n    return tuple([w for w in probe.OFFERED if probe.waste_of(d, w) > 0.08][-1] for d in (documents, problems))\n",
"eighty per cent": "def window_found():\n    return tuple(next(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.8) for d in (documents, problems))\n",
"largest": "def window_found():\n    return max(probe.OFFERED), max(probe.OFFERED)\n",
"the wastes": "def window_found():\n    return 0.08, 0.08\n",
"one number": "def window_found():\n    return next(w for w in probe.OFFERED if probe.waste_of(documents, w) <= 0.08)\n",
"text": "def window_found():\n    return tuple(str(next(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.08)) for d in (documents, problems))\n",
}
RIGHT["window-found"] = {
"found by code": "def window_found():\n    return tuple(next(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.08) for d in (documents, problems))\n",
"an array": "def window_found():\n    return np.array([min(w for w in probe.OFFERED if probe.waste_of(d, w) <= 0.08) for d in (documents, problems)])\n",
}
WRONG["idle"] = {
"rounded": "def idle(steps):\n    return round(1 - sum(map(sum, steps)) / sum(len(s) * max(s) for s in steps), 3)\n",
"ranks are the steps": "def idle(steps):\n    s = np.array(steps)\n    return 1 - s.sum() / (len(s) * s.max(axis=1).sum())\n",
"slowest rank of the whole run": "def idle(steps):\n    s = np.array(steps)\n    return 1 - s.sum() / (s.shape[1] * s.sum(axis=0).max())\n",
"mean over steps": "def idle(steps):\n    return float(np.mean([1 - sum(s) / (len(s) * max(s)) for s in steps]))\n",
"gap of slowest and fastest": "def idle(steps):\n    return sum(max(s) - min(s) for s in steps) / sum(len(s) * max(s) for s in steps)\n",
"mean waiting over ranks less one": "def idle(steps):\n    return sum(max(s) - x for s in steps for x in s) / sum(max(1, len(s) - 1) * max(s) for s in steps)\n",
"median": "def idle(steps):\n    return float(np.median([1 - sum(s) / (len(s) * max(s)) for s in steps]))\n",
"half precision": "def idle(steps):\n    s = np.array(steps, dtype=np.float16)\n    return float(1 - s.sum() / (s.shape[1] * s.max(axis=1).sum()))\n",
"a rank that has finished is not counted": "def idle(steps):\n    busy = sum(map(sum, steps))\n    paid = sum(max(s) * sum(1 for x in s if x) for s in steps)\n    return 1 - busy / paid\n",
"the caller's steps are sorted": "def idle(steps):\n    for s in steps:\n        s.sort()\n    return 1 - sum(map(sum, steps)) / sum(len(s) * s[-1] for s in steps)\n",
"uneven ranks: the first step's number for all": "def idle(steps):\n    return 1 - sum(map(sum, steps)) / (len(steps[0]) * sum(map(max, steps)))\n",
}
RIGHT["idle"] = {
"loop": "def idle(steps):\n    paid = waits = 0\n    for s in steps:\n        for one in s:\n            waits += max(s) - one\n            paid += max(s)\n    return waits / paid\n",
"numpy": "def idle(steps):\n    s = np.asarray(steps)\n    return 1 - s.sum() / (s.shape[1] * s.max(1).sum())\n",
"Fraction": "from fractions import Fraction\ndef idle(steps):\n    return 1 - Fraction(int(sum(sum(s) for s in steps)), int(sum(len(s) * max(s) for s in steps)))\n",
"float32": "def idle(steps):\n    s = np.asarray(steps, dtype=np.float32)\n    top = s.max(axis=1, keepdims=True)\n    return (top - s).sum() / (top * np.ones_like(s)).sum()\n",
}
U = '''def under_budget(lengths, order, slots):
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
    return made
'''
WRONG["under-budget"] = {
"a document of exactly the budget is refused": t(U, ("if lengths[n] > slots", "if lengths[n] >= slots")),
"documents outside the order are refused, too": t(U, ("    for n in order:\n        if lengths[n] > slots:\n            raise ValueError(f\"a document of {lengths[n]} tokens does not fit {slots} slots\")\n", "    if max(lengths) > slots:\n        raise ValueError(f\"{max(lengths)} tokens do not fit\")\n    for n in order:\n")),
"the caller's order is emptied": t(U, ("    for n in order:\n", "    while order:\n        n = order.pop(0)\n")),
"all documents, not those of the order": t(U, ("    for n in order:", "    for n in list(order) + [n for n in range(len(lengths)) if n not in set(order)]:")),
"nothing gives one empty batch": t(U, ("    if batch:\n        made.append(batch)", "    made.append(batch)")),
"names the number, not the length": t(U, ("of {lengths[n]} tokens does", "number {n} does")),
"AssertionError": t(U, ("        if lengths[n] > slots:\n            raise ValueError(f\"a document of {lengths[n]} tokens does not fit {slots} slots\")\n", "        assert lengths[n] <= slots, lengths[n]\n")),
"strictly under": t(U, (") > slots:\n            made", ") >= slots:\n            made")),
"too long is left out": t(U, ("            raise ValueError(f\"a document of {lengths[n]} tokens does not fit {slots} slots\")", "            continue")),
"longest not reset": t(U, ("batch, longest = [], 0\n        batch.append", "batch = []\n        batch.append")),
"first fit into an earlier batch": '''def under_budget(lengths, order, slots):
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
''',
"refused only if it stands in a batch of its own at the end": t(U, ("        if lengths[n] > slots:\n            raise ValueError(f\"a document of {lengths[n]} tokens does not fit {slots} slots\")\n", ""), ("    return made", "    for b in made:\n        if len(b) == 1 and lengths[b[0]] > slots:\n            raise ValueError(str(lengths[b[0]]))\n    return made")) + "# right\n",
"duplicates in the order are dropped": t(U, ("for n in order:", "for n in dict.fromkeys(order):")),
}
RIGHT["under-budget"] = {
"plain": U,
"checks first, numpy": '''def under_budget(lengths, order, slots):
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
''',
"tuples": t(U, ("    return made", "    return [tuple(b) for b in made]")),
"arrays": t(U, ("    return made", "    return [np.array(b) for b in made]")),
}
WRONG["both-fit"] = {
"sorts the caller's lists": "def both_fit(text, image, text_slots, image_slots):\n    text.sort()\n    image.sort()\n    return len(text) * text[-1] <= text_slots and len(image) * image[-1] <= image_slots\n",
"a number, no True or False": "def both_fit(text, image, text_slots, image_slots):\n    rows = len(text)\n    return max(0, min(text_slots - rows * max(text), image_slots - rows * max(image)) + 1)\n",
"strict": "def both_fit(text, image, text_slots, image_slots):\n    return len(text) * max(text) < text_slots and len(text) * max(image) < image_slots\n",
"one of two": "def both_fit(text, image, text_slots, image_slots):\n    return len(text) * max(text) <= text_slots or len(text) * max(image) <= image_slots\n",
"together": "def both_fit(text, image, text_slots, image_slots):\n    return len(text) * (max(text) + max(image)) <= text_slots + image_slots\n",
"real tokens": "def both_fit(text, image, text_slots, image_slots):\n    return sum(text) <= text_slots and sum(image) <= image_slots\n",
"budgets swapped": "def both_fit(text, image, text_slots, image_slots):\n    return len(text) * max(text) <= image_slots and len(text) * max(image) <= text_slots\n",
"the longest text decides the image": "def both_fit(text, image, text_slots, image_slots):\n    k = max(range(len(text)), key=text.__getitem__)\n    return len(text) * text[k] <= text_slots and len(text) * image[k] <= image_slots\n",
"one row more": "def both_fit(text, image, text_slots, image_slots):\n    return (len(text) + 1) * max(text) <= text_slots and (len(text) + 1) * max(image) <= image_slots\n",
"only rows with a real image count": "def both_fit(text, image, text_slots, image_slots):\n    return len(text) * max(text) <= text_slots and sum(1 for i in image if i > 1) * max(image) <= image_slots\n",
"last two as text": "def both_fit(text, image, text_slots, image_slots):\n    return str(len(text) * max(text) <= text_slots and len(text) * max(image) <= image_slots)\n",
}
RIGHT["both-fit"] = {
"numpy bool": "def both_fit(text, image, text_slots, image_slots):\n    slots = len(text) * np.array([np.max(text), np.max(image)])\n    return (slots <= [text_slots, image_slots]).all()\n",
"loop": "def both_fit(text, image, text_slots, image_slots):\n    for t in text:\n        if t * len(text) > text_slots:\n            return False\n    for i in image:\n        if i * len(image) > image_slots:\n            return False\n    return True\n",
"all": "def both_fit(text, image, text_slots, image_slots):\n    return all(len(text) * max(a) <= b for a, b in ((text, text_slots), (image, image_slots)))\n",
}
T = '''def order_test(make):
    lengths = np.random.default_rng(1).integers(1, 900, 1003)
    made = make(lengths, 8, 4, 3, 1)
    assert sorted(n for b in made for n in b) == list(range(1003))
    assert sorted(map(len, made)) == [3] + [8] * 125
    assert [list(b) for b in made] == [list(b) for b in make(lengths, 8, 4, 3, 1)]
    other = make(lengths, 8, 4, 3, 2)
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in other}) < 20
    assert len({tuple(sorted(b)) for b in made} & {tuple(sorted(b)) for b in make(lengths, 8, 4, 4, 1)}) < 20
    tops = [max(lengths[n] for n in b) for b in made]
    assert 40 < sum(b < a for a, b in zip(tops, tops[1:])) < 85
    waste = 1 - lengths.sum() / sum(len(b) * t for b, t in zip(made, tops))
    assert 0.05 < waste < 0.25, waste
'''
WRONG["order-test"] = {
"documents in a batch must rise": t(T, ("    tops =", "    assert all(list(lengths[list(b)]) == sorted(lengths[list(b)]) for b in made)\n    tops =")),
"the short batch must be last": t(T, ("    tops =", "    assert len(made[-1]) == 3\n    tops =")),
"plain numbers are asked": t(T, ("    tops =", "    assert all(type(n) is int for b in made for n in b)\n    tops =")),
"count only": "def order_test(make):\n    lengths = list(np.random.default_rng(1).integers(1, 900, 1003))\n    made = make(lengths, 8, 4, 3, 1)\n    assert sum(map(len, made)) == 1003\n    assert made == make(lengths, 8, 4, 3, 1) and made != make(lengths, 8, 4, 3, 2)\n",
"no tail, so a lost tail is not seen": t(T, ("1003", "1000"), ("[3] + [8] * 125", "[8] * 125")),
"not the other epoch": "\n".join(l for l in T.splitlines() if "other" not in l and "4, 4, 1" not in l) + "\n",
"rising only": "def order_test(make):\n    lengths = list(np.random.default_rng(1).integers(1, 900, 1003))\n    made = make(lengths, 8, 4, 3, 1)\n    assert sorted(sum(map(list, made), [])) == list(range(1003)) and max(map(len, made)) == 8\n    assert made == make(lengths, 8, 4, 3, 1) and made != make(lengths, 8, 4, 3, 2)\n    tops = [max(lengths[n] for n in b) for b in made]\n    assert tops != sorted(tops)\n",
"compares with an order of its own": "def order_test(make):\n    lengths = np.random.default_rng(1).integers(1, 900, 1003)\n    assert make(lengths, 8, 4, 3, 1) == padding.in_windows(lengths, 8, window=4, rng=np.random.default_rng([3, 1]))\n",
"three documents": "def order_test(make):\n    made = make([5, 1, 3], 1, 3, 0, 0)\n    assert sorted(sum(made, [])) == [0, 1, 2] and made != [[1], [2], [0]]\n",
"returns a verdict": "def order_test(make):\n    made = make(list(range(1, 99)), 2, 7, 0, 0)\n    return sorted(sum(made, [])) == list(range(98))\n",
}
RIGHT["order-test"] = {
"thorough": T,
"short": '''def order_test(make):
    lengths = list(range(1, 242))
    first, again, later = (make(lengths, 4, 60, 5, e) for e in (1, 1, 2))
    flat = sorted(n for b in first for n in b)
    assert flat == list(range(241))
    assert all(1 <= len(b) <= 4 for b in first) and len(first) == 61
    assert list(map(list, first)) == list(map(list, again))
    assert {frozenset(b) for b in make(lengths, 4, 5, 5, 1)} != {frozenset(b) for b in make(lengths, 4, 5, 5, 2)}
    for window in (5, 61):
        tops = np.array([max(lengths[n] for n in b) for b in make(lengths, 4, window, 5, 1)])
        assert 15 < (np.diff(tops) > 0).sum() < 45
''',
}
S = '''class BudgetSampler:
    """Micro-batches of document numbers under a budget, for one rank; it can stop and resume."""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = np.asarray(lengths), slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch, self.done = 0, 0  # `done` micro-batches of this epoch were handed out

    def batches(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.lengths))
        pools = [order[i:i + self.pool] for i in range(0, len(order), self.pool)]
        order = [int(n) for p in pools for n in p[np.argsort(self.lengths[p], kind="stable")]]
        made = probe.cut(self.lengths.tolist(), order, self.slots)
        rng.shuffle(made)
        missing = -len(made) % self.ranks
        made = made + [made[k % len(made)] for k in range(missing)]
        return made[self.rank::self.ranks]

    def __iter__(self):
        for batch in self.batches()[self.done:]:
            self.done += 1
            yield batch
        self.epoch, self.done = self.epoch + 1, 0

    def __len__(self):
        return len(self.batches()) - self.done

    def state_dict(self):
        return {"epoch": self.epoch, "done": self.done}

    def load_state_dict(self, state):
        self.epoch, self.done = state["epoch"], state["done"]
'''
WRONG["sampler"] = {
"the last ones are repeated, not the first": t(S, ("made[k % len(made)] for", "made[-1 - k % len(made)] for")),
"the first one is repeated again and again": t(S, ("made[k % len(made)] for", "made[0] for")),
"loading empties the caller's state": t(S, ('state["epoch"], state["done"]', 'state.pop("epoch"), state.pop("done")')),
"seed + epoch": t(S, ("[self.seed, self.epoch]", "self.seed + self.epoch")),
"the global generator is set anew": t(S, ("rng = np.random.default_rng([self.seed, self.epoch])", "np.random.seed([self.seed, self.epoch]); rng = np.random")),
"the sampler moves on also when the loop is left": t(S, ("        for batch in self.batches()[self.done:]:\n            self.done += 1\n            yield batch\n        self.epoch, self.done = self.epoch + 1, 0\n", "        try:\n            for batch in self.batches()[self.done:]:\n                self.done += 1\n                yield batch\n        finally:\n            self.epoch, self.done = self.epoch + 1, 0\n")),
"numpy numbers in the state": t(S, ('{"epoch": self.epoch, "done": self.done}', '{"epoch": np.int64(self.epoch), "done": np.int64(self.done)}')),
"mixed before the repeat by another seed per rank": t(S, ("        missing", "        np.random.default_rng([self.seed, self.epoch, self.rank]).shuffle(made)\n        missing")),
"the last micro-batch is left out of the mix": t(S, ("rng.shuffle(made)", "tail = made.pop()\n        rng.shuffle(made)\n        made.append(tail)")),
"a whole round is repeated": t(S, ("-len(made) % self.ranks", "self.ranks - len(made) % self.ranks")),
"repeat by slice": t(S, ("[made[k % len(made)] for k in range(missing)]", "made[:missing]")),
"done is not counted per rank: all ranks' micro-batches": t(S, ("self.batches()) - self.done", "self.batches()) - self.done * self.ranks")),
"state holds the remaining batches only": t(S, ('{"epoch": self.epoch, "done": self.done}', '{"epoch": self.epoch, "left": len(self)}'), ('state["epoch"], state["done"]', 'state["epoch"], state["left"]')),
"exactly the budget is refused": t(S, ("        made = probe.cut", "        if self.lengths.max() >= self.slots:\n            raise ValueError(str(self.lengths.max()))\n        made = probe.cut")),
"done is set at the end of the loop": t(S, ("            self.done += 1\n            yield batch\n", "            yield batch\n            self.done += 1\n")),
"sorted across pools, biggest first inside": t(S, ("p[np.argsort(self.lengths[p], kind=\"stable\")]", "p[np.argsort(p)]")),
}
RIGHT["sampler"] = {
"plain": S,
"dealt in blocks": t(S, ("return made[self.rank::self.ranks]", "each = len(made) // self.ranks\n        return made[self.rank * each:(self.rank + 1) * each]")),
"moves on when the last is handed out": t(S, ("        for batch in self.batches()[self.done:]:\n            self.done += 1\n            yield batch\n        self.epoch, self.done = self.epoch + 1, 0\n", "        own = self.batches()\n        for batch in own[self.done:]:\n            self.done += 1\n            if self.done == len(own):\n                self.epoch, self.done = self.epoch + 1, 0\n            yield batch\n")),
"own under_budget, random.Random, tuples, descending": '''import random
import itertools
''' + t(S, ("rng = np.random.default_rng([self.seed, self.epoch])", 'rng = random.Random(f"{self.seed}/{self.epoch}")'), ("rng.permutation(len(self.lengths))", "np.array(rng.sample(range(len(self.lengths)), len(self.lengths)))"), ("np.argsort(self.lengths[p], kind=\"stable\")", "np.argsort(-self.lengths[p])")),
"numpy numbers in the lists": t(S, ("[int(n) for p in pools for n in p", "[n for p in pools for n in p")),
"while, made anew": t(S, ("        for batch in self.batches()[self.done:]:\n            self.done += 1\n            yield batch\n", "        own = self.batches()\n        while self.done < len(own):\n            self.done += 1\n            yield own[self.done - 1]\n")),
"a list of two as the state": t(S, ('{"epoch": self.epoch, "done": self.done}', '{"place": [self.epoch, self.done]}'), ('state["epoch"], state["done"]', 'state["place"]')),
}
for k in ("refused only if it stands in a batch of its own at the end",): RIGHT["under-budget"][k] = WRONG["under-budget"].pop(k)

# borderline, not in the bank without a decision: the text does not clearly forbid them
BORDER = {"windowed": {k: WRONG["windowed"].pop(k) for k in ("seed + epoch: epoch 1 of seed 0 is epoch 0 of seed 1", "the global generator is set anew", "mixed only inside each window", "arrays, no lists")},
 "idle": {k: WRONG["idle"].pop(k) for k in ("uneven ranks: the first step's number for all",)},
 "under-budget": {k: WRONG["under-budget"].pop(k) for k in ("duplicates in the order are dropped", "nothing gives one empty batch")},
 "sampler": {k: WRONG["sampler"].pop(k) for k in ("seed + epoch", "the global generator is set anew", "the last micro-batch is left out of the mix")}}

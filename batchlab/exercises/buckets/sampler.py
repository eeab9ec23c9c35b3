"""Build: a batch sampler for many ranks."""

import itertools

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.buckets import (
    PLUS,
    elsewhere,
    in_order,
    not_once,
    over_or_under,
    plainly,
    too_alike,
)
from batchlab.exercises.buckets.dealt import dealt
from batchlab.exercises.buckets.under_budget import under_budget as cut


class BudgetSampler:
    """Micro-batches of document numbers under a budget, for one rank; a loop is an epoch."""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = np.asarray(lengths), slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch = 0

    def sorted_in_pools(self, order):
        pools = [np.asarray(order[i : i + self.pool]) for i in range(0, len(order), self.pool)]
        return np.concatenate([inside[np.argsort(self.lengths[inside])] for inside in pools])

    def batches(self):
        """All micro-batches of this rank in this epoch; equally many on every rank."""
        rng = np.random.default_rng([self.seed, self.epoch])
        order = self.sorted_in_pools(rng.permutation(len(self.lengths)))
        made = cut(self.lengths, order.tolist(), self.slots)
        rng.shuffle(made)
        return dealt(made, self.rank, self.ranks)

    def __iter__(self):
        own = self.batches()
        self.epoch += 1  # now: after a `break`, the next loop gets a new order
        yield from own

    def __len__(self):
        return len(self.batches())


def scene(answer, lengths, slots, pool, ranks=1, epochs=1, pairs=()):
    """What each rank hands out in each epoch, and says how many; orders of (seed, epoch)s."""

    def new(rank=0, ranks=1, seed=0):
        return answer(list(lengths), slots, pool, seed, rank, ranks)

    def taken(batches):
        found = list(itertools.islice(batches, 2 * len(lengths) + 9))
        assert len(found) < 2 * len(lengths) + 9, "it never stops: after its last batch it returns"
        return plainly(found) if found else []

    seen = {"whole": taken(new())}
    with elsewhere():
        seen["there"] = taken(new())
    made = [new(one, ranks) for one in range(ranks)]
    left = new()
    next(iter(left), None)  # and leave that loop
    seen["left"] = int(left.epoch)
    seen["said"] = plainly(new().batches())
    seen["counts"] = [len(one) for one in made]
    seen["ranks"] = [[taken(one) for _ in range(epochs)] for one in made]
    seen["epochs"] = [int(one.epoch) for one in made]
    seen["orders"] = []
    for seed, number in pairs:
        one = new(seed=seed)
        one.epoch = number
        seen["orders"].append(plainly(one.batches()))
    return seen


def wrong(got, lengths, slots, pool, ranks=1, epochs=1, pairs=()):
    """What is wrong with such a scene, and why."""
    whole, first = got["whole"], got["ranks"][0]
    faults = (
        *_epoch(whole, lengths, slots),
        in_order(whole, lengths),
        *_dealt(whole, got["ranks"], lengths, ranks),
        _moved_on(got["epochs"], epochs, got["left"]),
        *(fault for one in first[1:] if ranks == 1 for fault in _epoch(one, lengths, slots)),
        _same(whole, first, got["there"], got["said"])
        if ranks == 1 and len(whole) > 9
        else ("", ""),
        _level(whole, got["orders"], lengths, slots, pool),
        too_alike(pairs, got["orders"]),
        _counted(got["counts"], got["ranks"], lengths),
    )
    return next((fault for fault in faults if fault[0]), ("", ""))


def _epoch(made, lengths, slots):
    """One whole epoch of one rank: every document once, within the budget, batches full."""
    said, cause = not_once(made, lengths) if made else ("no micro-batch at all", "")
    yield said, cause
    if said:
        return
    if over := [b for b in made if len(b) * max(lengths[n] for n in b) > slots]:
        some = [lengths[n] for n in over[0]]
        yield (
            f"a micro-batch of lengths {some} under {slots} slots",
            "a budget on rows or on real tokens: padding takes slots, too",
        )


def _dealt(whole, taken, lengths, ranks):
    """The first epoch of all ranks: equal counts, every document, dealt whole, the first again."""
    shares = [one[0] for one in taken]
    if ranks == 1:
        return
    each, need = [len(share) for share in shares], -(-len(whole) // ranks)
    case = f"the ranks take {each} of {len(whole)} micro-batches"
    names = [tuple(sorted(batch)) for share in shares for batch in share]
    flat = [n for name in names for n in name]
    lost = {*range(len(lengths))} - {*flat}
    own = {tuple(sorted(batch)) for batch in whole}
    if {*names} != own and not lost and len(flat) - len(lengths) < ranks:
        yield (
            f"{case}; each rank cut documents of its own",
            "the documents were dealt: cut the whole order first, then deal micro-batches",
        )
    if len(set(each)) > 1:
        yield case, "one rank would wait: give the first micro-batches once more"
    if lost and {*names} <= own:
        yield (
            f"{case}; {len(lost)} documents are missing",
            "dropped to make it even: repeat, do not drop"
            if each[0] < need
            else "each rank mixes for itself: the rank does not belong into the seed",
        )
    if {*names} != own:
        cut_again = {len(name) for name in names} != {len(name) for name in own}
        yield (
            f"{case}; they are not those that one rank alone makes",
            "the micro-batches were cut again: deal them whole"
            if cut_again
            else "each rank has an order of its own: the rank does not belong into the seed",
        )
    if each[0] != need:
        yield (
            f"{case}; {need} are needed",
            "every rank takes everything: deal them, made[rank :: ranks]"
            if each[0] == len(whole)
            else "repeat only as many as the last round lacks",
        )
    first = [tuple(sorted(batch)) for batch in whole * ranks][: need * ranks]
    if sorted(names) != sorted(first):
        yield (
            f"{case}, and others than the first come again",
            "not the last ones, nor one of them again and again: the first, as many as are missing",
        )


def _moved_on(found, epochs, left):
    """Every rank is in the same next epoch, also behind a loop that was left."""
    said = f"`epoch` of the ranks is {found} behind {epochs} loops, right is {epochs}"
    if found == [0] * len(found):
        return said, "the sampler stays in its epoch: a loop adds 1"
    if found != [epochs] * len(found):
        cause = "one epoch more on every rank, however many ranks there are: self.epoch += 1"
        return said, cause if len(found) > 1 else "only a loop adds 1: batches() and len() add none"
    if left != 1:
        return (
            f"`epoch` is {left} behind one loop that was left by break, right is 1",
            "that loop would be trained again: add 1 before you hand out the first micro-batch",
        )
    return "", ""


def _same(whole, epochs, there, said):
    """The same for whoever asks, other neighbours in the next epoch."""
    if whole != epochs[0]:
        return "two samplers, the same arguments, other batches", "drawn anew: ranks never agree"
    if whole != there:
        return "other batches in another process, on another rank", "seed with the numbers alone"
    if whole != said:
        return (
            "the first loop does not give what batches() returned before it",
            "the first loop is epoch 0: take self.batches() first, then add 1",
        )
    if len(epochs) > 1 and epochs[0] == epochs[1]:
        return (
            "the next loop gives the same micro-batches in the same order",
            "the epoch is not in the seed, or batches are kept from the first loop",
        )
    if len(epochs) > 1 and 20 < len(whole) < sum(map(len, whole)) / 3:
        sets = [{tuple(sorted(batch)) for batch in one} for one in epochs]
        if len(sets[0] & sets[1]) > len(sets[0]) / 4:
            return (
                f"{len(sets[0] & sets[1])} of {len(whole)} micro-batches come again in the next loop",
                "the epoch mixes the batches only: shuffle the documents before you sort them",
            )
    return "", ""


def _level(whole, orders, lengths, slots, pool):
    """Lengths that are nearly equal: how many micro-batches there are, how far sorting reaches."""
    rows = slots // max(lengths)
    if slots // min(lengths) != rows:
        return "", ""
    if len(whole) != -(-len(lengths) // rows):
        return (
            f"{len(whole)} micro-batches; {-(-len(lengths) // rows)} hold all documents",
            "closed too early, or each pool was cut on its own: cut the whole order",
        )
    return over_or_under([*orders, whole], lengths, pool, rows, "pool")


def _counted(counts, taken, lengths):
    """Every rank says how many micro-batches it has in this epoch."""
    each = [len(one[0]) for one in taken]
    causes = {
        len(each) * each[0]: "those of all ranks: a rank counts its own",
        len(lengths): "documents were counted, not micro-batches",
    }
    cause = causes.get(counts[0], "")
    return (f"len() is {counts[0]}, right is {each[0]}", cause) if counts != each else ("", "")


def asked(lengths, slots, pool, ranks=1, epochs=1, pairs=()):
    some = f"lengths {[*lengths]}" if len(lengths) < 12 else f"{len(lengths):,} documents"
    said = f"{some} under {slots:,} slots, pools of {pool:,}"
    return said + (f", {ranks} ranks" if ranks > 1 else "")


def drawn(rng):
    """Any documents, budgets, pools and ranks; then many."""
    from batchlab.exercises import By

    for _ in range(8):
        own = rng.permutation(np.arange(1, 99))[: int(rng.integers(2, 60))].tolist()
        slots, pool, ranks = (
            max(own) + int(rng.integers(90)),
            *(int(n) for n in rng.integers(1, 9, 2)),
        )
        yield By(own, slots, 5 * pool, epochs=2)
        yield By(own, slots, 5 * pool, ranks=ranks)
    yield By([7] * 1100, 14, 6, epochs=2)
    yield By((100_001 + rng.permutation(6_000)).tolist(), 1_060_019, 700)
    yield By([30, 3, 31], 30, 2)


def cases():
    from batchlab.exercises import By

    level = [101 + 7 * n % 31 for n in range(1, 31)]
    many = (100_001 + np.random.default_rng(5).permutation(2400)).tolist()
    wide = (np.random.default_rng(6).permutation(300) + 1).tolist()
    apart = [(0, n) for n in (*range(30), 1000)] + [(n, 0) for n in (*range(1, 30), 1000)]
    return [
        By([2, 2, 7, 8, 1], 16, 5),
        By(level, 263, 30, pairs=[(3, 1), (3, 2), (4, 1), (0, 1), (0, 2), (1, 0), (2, 0)]),
        By(level, 263, 30, pairs=apart),
        By(many, 1_024_009, 240),
        By(wide, 1200, 60, epochs=2),
        By([101, 105, 102, 104, 103, 106], 212, 3),
        By([3, 5, 2, 8, 6, 4, 7, 1, 9], 10, 9, ranks=2),
        By([7] * 5, 8, 5, ranks=4),
        By([4, 4], 8, 2, ranks=4),
        By([30, 3], 30, 2),
        By([3, 3, 41], 30, 3),
    ]


exercise = Exercise(
    BudgetSampler,
    points=4,
    given=("cut", "dealt"),
    hints=(
        "batches(): begin with rng = np.random.default_rng([self.seed, self.epoch])",
        "order = self.sorted_in_pools(rng.permutation(...)); cut all of it, then rng.shuffle",
        "behind the mixing: return dealt(made, self.rank, self.ranks)",
    ),
    asked=asked,
    scene=scene,
    fault=lambda *given, **options: wrong(*given, **options)[0],
    explain=lambda *given, **options: wrong(*given, **options)[1],
    mentions=lambda lengths, slots, *_, **options: tuple(n for n in lengths if n > slots)[:1],
    twice=False,
    shown=cases(),
    drawn=drawn,
    passed="Right: every document once, within the budget, and equally many on every rank.",
)
DRAW, MIX = "default_rng([self.seed, self.epoch])", "        rng.shuffle(made)\n"
EVEN = """        missing = -len(made) % self.ranks
        made += (made * self.ranks)[:missing]
"""
CUT = "        made = cut(self.lengths, order.tolist(), self.slots)\n"
NEXT = "        self.epoch += 1  # now: after a `break`, the next loop gets a new order\n"
OWN = "        yield from own\n"
DEAL, COUNT = "        return dealt(made, self.rank, self.ranks)\n", "return len(self.batches())"
SHARE = "        return made[self.rank :: self.ranks]\n"
for _thought, _says, *_changes in [
    (
        "the rank is in the seed: each rank has an order of its own",
        "",
        (DRAW, "default_rng([self.seed, self.epoch, self.rank])"),
    ),
    ("one rank would wait: give the first micro-batches once more", "", (DEAL, SHARE)),
    (
        "the documents were dealt: cut the whole order first, then deal micro-batches",
        "",
        (CUT, "        order = order[self.rank :: self.ranks]\n" + CUT),
        (DEAL, "        return made\n"),
    ),
    (
        "dropped to make it even: repeat, do not drop",
        "",
        (DEAL, "        del made[len(made) // self.ranks * self.ranks :]\n" + SHARE),
    ),
    (
        "repeats too few of a short list",
        "",
        (DEAL, EVEN.replace("(made * self.ranks)", "made") + SHARE),
    ),
    (
        "repeat only as many as the last round lacks",
        "",
        (DEAL, EVEN.replace("-len", "self.ranks - len") + SHARE),
    ),
    (
        "repeat only the first micro-batches, as `dealt` does",
        "",
        (DEAL, EVEN.replace("(made *", "(made[::-1] *") + SHARE),
    ),
    (
        "mix before dealing: else others than the first come again",
        "",
        (MIX, ""),
        (DEAL, DEAL.replace("return", "made =") + MIX + "        return made\n"),
    ),
    (
        "one epoch more on every rank, however many ranks there are: self.epoch += 1",
        "",
        (NEXT, NEXT.replace("+= 1", "+= self.ranks")),
    ),
    (
        "every rank takes everything: deal them, made[rank :: ranks]",
        "",
        (DEAL, "        return made\n"),
    ),
    (
        "the micro-batches were cut again: deal them whole",
        "",
        (DEAL, "        return [one[self.rank :: self.ranks] or one[:1] for one in made]\n"),
    ),
    (
        "each rank mixes for itself: all need one list",
        "",
        (MIX, MIX + "        np.random.default_rng([self.epoch, self.rank]).shuffle(made)\n"),
    ),
    ("the epoch is not in the seed", "", (DRAW, "default_rng(self.seed)")),
    ("drawn anew: ranks never agree", "", (DRAW, "default_rng()")),
    ("the seed is not used", "", (DRAW, "default_rng(self.epoch)")),
    (PLUS, "", (DRAW, "default_rng(self.seed + self.epoch)")),
    (
        "10 * seed + epoch is one sum: trainings share orders",
        "one sum",
        (DRAW, "default_rng(10 * self.seed + self.epoch)"),
    ),
    ("left in length order: mix the micro-batches at the end", "", (MIX, "")),
    (
        "sorted over more than a pool: order is given up for nothing",
        "",
        (
            "[np.asarray(order[i : i + self.pool]) for i in range(0, len(order), self.pool)]",
            "[order]",
        ),
    ),
    (
        "never sorted",
        "",
        (
            "self.sorted_in_pools(rng.permutation(len(self.lengths)))",
            "rng.permutation(len(self.lengths))",
        ),
    ),
    (
        "each pool was cut on its own: cut the whole order",
        "",
        (
            CUT,
            "        made = []\n"
            "        for start in range(0, len(order), self.pool):\n"
            "            inside = order[start : start + self.pool].tolist()\n"
            "            made += cut(self.lengths, inside, self.slots)\n",
        ),
    ),
    (
        "a fixed number of rows: the budget decides",
        "",
        (CUT, "        made = [order[i : i + 2].tolist() for i in range(0, len(order), 2)]\n"),
    ),
    ("the sampler stays in its epoch", "", (NEXT, "")),
    (
        "only a loop adds 1: batches() and len() add none",
        "",
        (NEXT, ""),
        (DEAL, NEXT + DEAL),
    ),
    (
        "that loop would be trained again: add 1 before you hand out the first micro-batch",
        "",
        (NEXT + OWN, OWN + NEXT),
    ),
    (
        "the first loop is epoch 0: take self.batches() first, then add 1",
        "",
        ("        own = self.batches()\n" + NEXT, NEXT + "        own = self.batches()\n"),
    ),
    (
        "a list is no iterator: yield from it, or return iter(it)",
        "",
        (OWN, "        return own\n"),
    ),
    (
        "the epoch mixes the batches only: shuffle the documents before you sort them",
        "",
        ("rng.permutation(len(self.lengths))", "np.arange(len(self.lengths))"),
    ),
    (
        "kept from the first loop: each epoch has its own micro-batches",
        "",
        (
            "        own = self.batches()\n",
            "        own = self.made = getattr(self, 'made', None) or self.batches()\n",
        ),
    ),
    ("those of all ranks: a rank counts its own", "", (COUNT, COUNT + " * self.ranks")),
    ("documents were counted, not micro-batches", "", (COUNT, "return len(self.lengths)")),
    (
        "refuses a document of exactly the budget: at most, not less than",
        "",
        (
            CUT,
            "        if max(self.lengths) >= self.slots:\n            raise ValueError(str(max(self.lengths)))\n"
            + CUT,
        ),
    ),
    (
        "what can never fit is left out: refuse it, cut does so",
        "",
        (
            "order.tolist(), self.slots",
            "[int(n) for n in order if self.lengths[n] <= self.slots], self.slots",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)

_text = exercise.text
exercise.styles["dealt in blocks"] = lambda: _text.replace(
    DEAL,
    EVEN
    + "        each = len(made) // self.ranks\n        return made[self.rank * each :][:each]\n",
)
exercise.styles["dealt in turn, without `dealt`"] = lambda: _text.replace(DEAL, EVEN + SHARE)
exercise.styles["moves on before it hands out"] = lambda: _text.replace(
    "yield from own", "return iter(own)"
)
exercise.styles["moves on at the end, however the loop ends"] = lambda: _text.replace(
    NEXT + OWN, f"        try:\n    {OWN}        finally:\n    {NEXT}"
)


@exercise.style
class Library:
    """with the library, kept for the epoch"""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = lengths, slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch = 0

    def batches(self):
        from batchlab import buckets

        made = buckets.by_token_budget(
            self.lengths, self.slots, pool=self.pool, seed=self.seed, epoch=self.epoch
        )
        each = -(-len(made) // self.ranks)
        return [made[(i * self.ranks + self.rank) % len(made)] for i in range(each)]

    def __iter__(self):
        own, self.epoch = self.batches(), self.epoch + 1
        yield from own

    def __len__(self):
        return len(self.batches())


@exercise.style
class PlainPython:
    """plain Python, from long to short"""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = [int(n) for n in lengths], slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch = 0

    def batches(self):
        import random

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
        own = self.batches()
        self.epoch += 1
        for batch in own:
            yield batch

    def __len__(self):
        return len(self.batches())

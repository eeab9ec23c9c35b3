"""A shuffle that a kill does not lose: one number is the whole place."""

import random
import sys
from itertools import count, islice

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.buckets import elsewhere
from batchlab.exercises.feeding import stream_of


def shuffled(read, block, seed, epoch, done=0):
    """Yield the documents of a stream, shuffled in blocks, from number `done` of that order on."""
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        for place in order[max(0, done - number * block) :]:
            yield documents[place]
        if len(documents) < block:
            return


def scene(answer, documents, block, calls, most=10**6):
    """What comes for each (seed, epoch, done), what was read for it; the first again, elsewhere.

    `ahead` are the most documents read and not yet given out, without those given out before.
    `shared`: a global generator stands elsewhere than the draws of others brought it.
    """

    def one(seed, epoch, done):
        drawn, out, ahead, begun = [], [], 0, _generators()
        rows = answer(lambda n: stream_of(documents, drawn, n), block, seed, epoch, done)
        for given in islice(rows, most):
            ahead = max(ahead, len(drawn) - done % block - len(out))
            out.append(repr(given) if documents and type(documents[0]) is not int else given)
            random.random(), np.random.rand()  # others draw meanwhile
        came = _generators()
        _set_back(begun)
        for _ in out:
            random.random(), np.random.rand()
        shared = _told(came) != _told(_generators())
        return {"out": out, "ahead": ahead, "first": min(drawn, default=done), "shared": shared}

    found = [one(*call) for call in calls]
    with elsewhere():
        return [*found, one(*calls[0])]


def _generators():
    """The states of the global generators; PyTorch's only where somebody has imported it."""
    torch = sys.modules.get("torch")
    return random.getstate(), np.random.get_state(), torch and torch.get_rng_state()


def _set_back(states):
    random.setstate(states[0])
    np.random.set_state(states[1])
    if states[2] is not None:
        sys.modules["torch"].set_rng_state(states[2])


def _told(states):
    """States that can be compared."""
    python, numpy, torch = states
    return python, numpy[1].tolist(), numpy[2], None if torch is None else torch.tolist()


def wrong(got, documents, block, calls, most=10**6):
    """What is wrong with such a scene, and why."""
    *made, there = got
    for call, one in zip(calls, made):
        if documents is not None and call[2] == 0:
            faults = _blocks(one["out"], documents, block)
            if faults[0]:
                return faults
    for call, one in zip(calls, made):
        whole = made[calls.index((*call[:2], 0))]["out"] if (*call[:2], 0) in calls else None
        if whole is not None:
            faults = _resumed(call[2], one, whole, block, most)
            if faults[0]:
                return faults
        if one["ahead"] > block:
            said = f"{one['ahead']} documents are held; a block has {block}"
            return said, "read a block, give it out, then read the next"
    if any(one["shared"] for one in made):
        return "a global generator was seeded, or drawn from", SHARED
    if there["out"] != made[0]["out"]:
        return "the same call gives another order in another process", HASH
    return _apart(documents, block, calls, made)


SHARED = (
    "random, np.random and torch.manual_seed are everybody's: others draw from them meanwhile, and "
    "your seed changes what they get; make a generator of your own"
)
HASH = "the hash of a text differs from process to process: seed with the numbers themselves"


def _blocks(out, documents, block):
    """Every document once, block by block, and not in the stream's own order."""
    own = (
        [repr(one) for one in documents]
        if documents and type(documents[0]) is not int
        else documents
    )
    if sorted(out) != sorted(own):
        came = f"{len(out)} documents come, right are {len(own)}"
        if len(out) == len(own):
            return f"{out}"[:80], "documents come out as they are: shuffle places, not documents"
        return came, "the last block, full or short, is a block, too; None is a document"
    for at in range(0, len(own), block):
        if sorted(out[at : at + block]) != sorted(own[at : at + block]):
            said = f"{str(out[at : at + block])[:60]} from place {at} on: blocks are mixed"
            return said, "shuffle inside a block: documents of other blocks stay out"
    if len(out) > 19 and out == own:
        return "the order of the stream itself", "nothing is shuffled"
    return "", ""


def _resumed(done, one, whole, block, most):
    out, right = one["out"], whole[done:]
    if one["first"] < done // block * block:
        said = f"after {done} documents, document {one['first']} is read"
        return said, "read(number * block): what stands before the block was given out"
    common = min(len(out), len(right)) if len(out) == most else max(len(out), len(right))
    if out[:common] == right[:common]:
        return "", ""
    again, lost = [n for n in out if n in whole[:done]], [n for n in right if n not in out]
    cause = "documents of the block are lost" if lost else ""
    cause = "documents come again" if again else cause
    cause = cause or "the order is lost: it must follow from seed, epoch and block alone"
    return (
        f"after {done} documents {str(out[:6])[:-1]}, ...; right is {str(right[:6])[:-1]}, ...",
        cause,
    )


def _apart(documents, block, calls, made):
    """No two of (seed, epoch, block) share an order, where blocks are long."""
    seen = {}
    for (seed, epoch, done), one in zip(calls, made) if block > 15 else ():
        for at in range(0, len(one["out"]) - block + 1, block):
            number = done // block + at // block
            order = tuple(n - number * block for n in one["out"][at : at + block])
            now, was = (seed, epoch, number), seen.setdefault(order, (seed, epoch, number))
            if was != now:
                said = f"(seed, epoch, block) {was} and {now} give the same order"
                return said, _collision(was, now)
    return "", ""


def _collision(was, now):
    same = [a == b for a, b in zip(was, now)]
    if sum(same) == 2:
        what = ("seed", "epoch", "block")[same.index(False)]
        return f"every {what} has the same order: its number belongs into the seed"
    if sum(was) == sum(now) and sum(same) == 1:
        one, other = (
            what for what, is_same in zip(("seed", "epoch", "block"), same) if not is_same
        )
        return f"{one} and {other} are added: {was} is {now} then; keep all apart, [seed, epoch, block]"
    return "three numbers run into one: give the generator all three, [seed, epoch, block]"


FAR = [(1, 0, 0), (0, 10, 0), (0, 0, 10), (0, 100, 0), (0, 0, 100), (10, 0, 0), (100, 0, 0)]
FAR += [(1000, 0, 0), (0, 1000, 0), (0, 1, 0), (0, 0, 1000), (1, 1, 11), (1, 11, 1), (11, 1, 1)]
FAR += [(1 << bits, 0, 0) for bits in (8, 10, 12, 16, 20)]  # shifted numbers meet
FACTORS = (31, 37, 97, 101, 997, 1009, 7919, 9973, 10_000, 10_007, 65_537, 100_000)
LARGE = (99_991, 100_003, 104_729, 999_983, 10**6, 1_000_003, 10**9, 10**9 + 7)
FAR += [(0, 0, k) for k in FACTORS]  # not LARGE: a right way may make every order before it
FAR += [(0, k, 0) for k in FACTORS + LARGE] + [(k, 0, 0) for k in FACTORS + LARGE]
LONG = [(0, 0, b) for b in range(0, 2500, 50)]  # k * epoch + block, for any k below 2,450:
LONG += [(0, 1, b) for b in range(50)] + [(1, 0, b) for b in range(50)]  # two of these meet
ODD = [[1, 2], [3], [], None, [4, 5, 6], [], None, 0]


def drawn(rng):
    for _ in range(4):
        many, block, seed, epoch = (int(one) for one in rng.integers([8, 2, 0, 0], [24, 9, 99, 9]))
        yield [*range(many)], block, [(seed, epoch, done) for done in range(many + 1)]
    yield [*range(7000)], 3000, [(1, 0, 0), (1, 0, 4100)]
    yield None, 16, [(0, 0, 0), (0, 0, 16 * 100 + 3)], 16 * 103
    yield [*range(60)], 20, [(int(s), int(e), 0) for s, e in rng.integers(0, 2**31, (9, 2))]
    yield [*range(4)], 1, [(1, 0, 0), (1, 0, 2)]
    yield [], 4, [(1, 0, 0)]


def asked(documents, block, calls, most=0):
    some = "a stream without end" if documents is None else f"{len(documents)} documents"
    some = f"the documents {documents}" if documents == ODD else some
    said = calls if len(calls) < 4 else f"{len(calls)} of them"
    return f"{some} in blocks of {block}, (seed, epoch, done): {said}"


exercise = Exercise(
    shuffled,
    points=2,
    given=("count", "islice"),
    hints=(
        "which block holds number `done`, and what is a generator that only this block needs?",
        "np.random.default_rng([seed, epoch, number of the block]): made anew for each block",
        "for number in count(done // block): read the block, permute it, leave out what was given",
    ),
    asked=asked,
    scene=scene,
    fault=lambda *given: wrong(*given)[0],
    explain=lambda *given: wrong(*given)[1],
    twice=False,
    shown=[
        ([*range(20)], 6, [(1, 0, 0), (1, 0, 0)]),
        (ODD, 4, [(1, 0, 0)]),
        ([*range(96)], 24, [(s, e, 0) for s in range(3) for e in range(3)]),
        ([*range(20)], 6, [(3, 1, done) for done in range(21)]),
        (None, 24, [(s, e, 24 * b) for s, e, b in FAR], 24),
        (None, 24, [(s, e, 24 * b) for s, e, b in LONG], 24),
    ],
    drawn=drawn,
    passed="Right: every document once, another order for every epoch; one number is the place.",
)
SEED, REST = "[seed, epoch, number]", "order[max(0, done - number * block) :]"
ORDERED = (
    "        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))\n"
)
ALONE = "the order is lost: it must follow from seed, epoch and block alone"
for _thought, _says, *_changes in [
    (
        "every block has the same order: its number belongs into the seed",
        "",
        (SEED, "[seed, epoch]"),
    ),
    (
        "every epoch has the same order: its number belongs into the seed",
        "",
        (SEED, "[seed, number]"),
    ),
    (
        "every seed has the same order: its number belongs into the seed",
        "",
        (SEED, "[epoch, number]"),
    ),
    (
        "seed and epoch are added, as PyTorch's sampler does: seed 1 in epoch 0 is seed 0 in epoch 1; "
        "two trainings share orders",
        "",
        (SEED, "[seed + epoch, number]"),
    ),
    (
        "epoch and block are added: epoch 1 of block 0 is epoch 0 of block 1; keep all apart",
        "",
        (SEED, "[seed, epoch + number]"),
    ),
    (
        "all three are added, with small factors: keep them apart",
        "",
        (SEED, "seed + 2 * epoch + 9 * number"),
    ),
    (
        "digits side by side run into one: 10000 * seed + 100 * epoch + block",
        "",
        (SEED, "10000 * seed + 100 * epoch + number"),
    ),
    (
        "one text without gaps: 1, 11, 1 is 1, 1, 11; three numbers run into one",
        "",
        (SEED, 'int(f"{seed}{epoch}{number}")'),
    ),
    (
        "ten epochs a seed run into one: use [seed, epoch, block]",
        "",
        (SEED, "[seed * 10 + epoch, number]"),
    ),
    (
        "a thousand seeds an epoch run into one: use [seed, epoch, block]",
        "",
        (SEED, "[seed + 1000 * epoch, number]"),
    ),
    (
        "large factors move the place where two meet: 1009 is epoch 1, and block 1009 of epoch 0",
        "",
        (SEED, "seed * 1_000_003 + epoch * 1_009 + number"),
    ),
    (
        "a factor for each is no cure: some block of one epoch has the order of another's first",
        "",
        (SEED, "seed * 1_299_709 + epoch * 2_003 + number"),
    ),
    (
        "factors of 1,000 and 100: epoch 10 of seed 0 is epoch 0 of seed 1, and so for blocks",
        "",
        (SEED, "seed * 1000 + epoch * 100 + number"),
    ),
    (HASH, "", (SEED, "abs(hash(f'{seed} {epoch} {number}'))")),
    ("no seed at all: the order must follow from seed, epoch and block", ALONE, (SEED, "")),
    (
        "one generator for all blocks: a resumed one begins with the first order",
        "",
        (ORDERED, "        order = rng.permutation(len(documents))\n"),
        ("    for number in", "    rng = np.random.default_rng([seed, epoch])\n    for number in"),
    ),
    (
        SHARED,
        "",
        (ORDERED, "        order = np.random.permutation(len(documents))\n"),
        (
            "    for number in",
            "    np.random.seed([seed, epoch, done // block])\n    for number in",
        ),
    ),
    (
        SHARED,
        "",
        (
            ORDERED,
            "        np.random.seed([seed, epoch, number])\n        order = np.random.permutation(len(documents))\n",
        ),
    ),
    (
        SHARED,
        "",
        (
            ORDERED,
            "        import random\n\n        random.seed(f'{seed} {epoch} {number}')\n        order = random.sample(range(len(documents)), len(documents))\n",
        ),
    ),
    (
        SHARED,
        "",
        (
            ORDERED,
            "        import torch\n\n"
            "        state = np.random.SeedSequence([seed, epoch, number]).generate_state(1)\n"
            "        torch.manual_seed(int(state[0]))\n"
            "        order = torch.randperm(len(documents)).tolist()\n",
        ),
    ),
    (
        "shifted by 8 and 16 bits: seed 256 of epoch 0 is seed 0 of epoch 1; use [seed, epoch, block]",
        "",
        (SEED, "seed ^ (epoch << 8) ^ (number << 16)"),
    ),
    (
        "documents are permuted, not places: NumPy takes lists of unequal length for an array",
        "",
        ("order[max(0, done", "order[max(0, done"),
        (
            ORDERED,
            ORDERED + "        documents = np.random.default_rng(0).permutation(documents)\n",
        ),
    ),
    ("nothing is shuffled", "", (ORDERED, "        order = np.arange(len(documents))\n")),
    (
        "the rest of the block is lost: go on inside it",
        "",
        ("count(done // block)", "count(-(-done // block))"),
    ),
    ("the whole block comes again: leave out what was given out", "", (REST, "order")),
    (
        "only the block in which you go on has given some out: the next ones come whole",
        "",
        (REST, "order[done % block :]"),
    ),
    (
        "the last block may be short: permute as many places as it has documents",
        "",
        ("permutation(len(documents))", "permutation(block)"),
    ),
    (
        "the short block is dropped: it is a block, too",
        "",
        (ORDERED, "        if len(documents) < block:\n            return\n" + ORDERED),
    ),
    (
        "read from the beginning, and passed over: what stands before was given out",
        "",
        ("read(number * block), block", "read(0), number * block, number * block + block"),
    ),
    (
        "what is left of the block is shuffled anew",
        "",
        (
            "list(islice(read(number * block), block))",
            "list(islice(read(max(done, number * block)), number * block + block - max(done, number * block)))",
        ),
        (REST, "order"),
        (
            "if len(documents) < block",
            "if max(done, number * block) + len(documents) < number * block + block",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def none_ends(read, block, seed, epoch, done=0):
    """None ends the stream here: it is a document, too"""
    for number in count(done // block):
        stream, held = iter(read(number * block)), []
        while len(held) < block and (document := next(stream, None)) is not None:
            held.append(document)
        rng = np.random.default_rng([seed, epoch, number])
        for place in rng.permutation(len(held))[max(0, done - number * block) :]:
            yield held[place]
        if len(held) < block:
            return


@exercise.mistake
def cut_before_mixing(read, block, seed, epoch, done=0):
    """read(done) begins inside a block: a block is read and mixed whole, then cut"""
    stream = read(done)
    for number in count(done // block):
        documents = list(islice(stream, block))
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        yield from (documents[place] for place in order)
        if len(documents) < block:
            return


@exercise.mistake(says="one block")
def whole_stream(read, block, seed, epoch, done=0):
    """the whole stream in memory: one block is held at most"""
    whole = list(read(done // block * block))
    for at in range(0, len(whole), block):
        documents, number = whole[at : at + block], done // block + at // block
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        yield from (documents[p] for p in order[max(0, done - number * block) :])


@exercise.mistake
def all_at_once(read, block, seed, epoch, done=0):
    """all documents are shuffled together: shuffle inside a block"""
    documents = list(read(0))
    order = np.random.default_rng([seed, epoch]).permutation(len(documents))
    yield from (documents[place] for place in order[done:])


@exercise.mistake
def buffer(read, block, seed, epoch, done=0):
    """a buffer that documents leave at random: shuffle inside a block"""
    rng, held = np.random.default_rng([seed, epoch]), []
    for document in read(done):
        held.append(document)
        if len(held) == block:
            yield held.pop(rng.integers(block))
    rng.shuffle(held)
    yield from held


@exercise.style
def passed_over(read, block, seed, epoch, done=0):
    """one generator of the epoch, passed over"""
    rng = np.random.default_rng([seed, epoch])
    first, skip = divmod(done, block)
    for _ in range(first):
        rng.permutation(block)
    stream = read(first * block)
    while held := list(islice(stream, block)):
        order = rng.permutation(len(held))
        yield from (held[at] for at in order[skip:])
        skip = 0


@exercise.style
def of_a_text(read, block, seed, epoch, done=0):
    """random.Random of a text"""
    import random

    number = done // block
    while True:
        documents = list(islice(read(number * block), block))
        random.Random(f"{seed} {epoch} {number}").shuffle(documents)
        yield from documents[max(0, done - number * block) :]
        if len(documents) < block:
            return
        number += 1


@exercise.style
def one_reading(read, block, seed, epoch, done=0):
    """one reading"""
    first, skip = done // block, done % block
    stream = iter(read(first * block))
    for number in count(first):
        documents = list(islice(stream, block))
        if not documents:
            return
        np.random.default_rng((epoch, seed, number)).shuffle(documents)
        yield from documents[skip:]
        skip = 0


@exercise.style
def with_torch(read, block, seed, epoch, done=0):
    """PyTorch"""
    import torch

    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        state = np.random.SeedSequence([seed, epoch, number]).generate_state(1)
        made = torch.Generator().manual_seed(int(state[0]))
        order = torch.randperm(len(documents), generator=made).tolist()
        for place in order[max(0, done - number * block) :]:
            yield documents[place]
        if len(documents) < block:
            return

"""Catch the bug: one test for eight wrong versions of windowed, past four right ones."""

import numpy as np

from batchlab.exercises import Exercise


def ordered(lengths, rows, window, rng, epoch):
    """Never mixed, short first; in odd epochs the short micro-batch of a window is its first."""
    own, found = [int(n) for n in lengths], []
    numbers = [int(n) for n in rng.permutation(len(own))]
    for start in range(0, len(own), rows * window):
        inside = sorted(numbers[start : start + rows * window], key=own.__getitem__)
        first = len(inside) % rows if epoch % 2 else 0
        found += [inside[:first]] if first else []
        found += [inside[i : i + rows] for i in range(first, len(inside), rows)]
    return found


def windowed(lengths, rows, window, seed, epoch):
    """Shuffled, sorted in windows, cut, mixed."""
    rng = np.random.default_rng([seed, epoch])
    found = ordered(lengths, rows, window, rng, 0)
    found = [found[int(k)] for k in rng.permutation(len(found))]
    return found


of, right = Exercise(windowed), windowed
DRAW, MIX, END = (
    "default_rng([seed, epoch])",
    "    found = [found[int(k)] for k in rng.permutation(len(found))]\n",
    "    return found\n",
)
for _thought, *_changes in [
    (
        "drops the last batch",
        (END, "    return [batch for batch in found if len(batch) == rows]\n"),
    ),
    (
        "fills the last batch up with documents of the first",
        (END, "    return [(batch + list(range(rows)))[:rows] for batch in found]\n"),
    ),
    (
        "trains one document twice and another never",
        (
            END,
            "    last = len(lengths) - 1\n    return [[n % last for n in batch] for batch in found]\n",
        ),
    ),
    (
        "puts one row more into a batch",
        ("lengths, rows, window, rng", "lengths, rows + 1, window, rng"),
    ),
    ("the same order in every epoch", (DRAW, "default_rng(seed)")),
    ("draws anew on every rank", (DRAW, "default_rng()")),
    ("leaves the batches in length order, short first", ("rng, 0)", "rng, epoch)"), (MIX, "")),
    (
        "leaves the batches in length order, long first",
        ("rng, 0)", "rng, epoch)[::-1]"),
        (MIX, ""),
    ),
]:
    of.edit(_thought, _changes)


@of.style
def other_seed(lengths, rows, window, seed, epoch):
    """other numbers in the seed"""
    return right(lengths, rows, window, 5 + seed, epoch)


@of.style
def downward(lengths, rows, window, seed, epoch):
    """sorted downward"""
    return right([-int(n) for n in lengths], rows, window, seed, epoch)


@of.style
def numbers_of_numpy(lengths, rows, window, seed, epoch):
    """numbers of NumPy"""
    return [list(np.asarray(one)) for one in right(lengths, rows, window, 7 + seed, epoch)]


def order_test(make):
    """Fail (assert) for every wrong make(lengths, rows, window, seed, epoch) -> lists."""
    lengths = list(range(1, 43))  # 10 batches of 4 and one of 2, in one window
    made = make(lengths, 4, 11, 0, 0)
    assert sorted(number for batch in made for number in batch) == list(range(42))
    assert sorted(len(batch) for batch in made) == [2] + [4] * 10
    assert made == make(lengths, 4, 11, 0, 0)
    assert made != make(lengths, 4, 11, 0, 1)
    longest = [max(batch) for batch in made]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))


exercise = Exercise(
    order_test,
    hints=(
        "compare the sorted numbers of all batches with list(range(...)), not their count",
        "call it twice with the same arguments, once more with another epoch",
        "then look at the longest of each batch",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: your test passes four right versions and stops eight wrong ones.",
)
ONCE = "    assert sorted(number for batch in made for number in batch) == list(range(42))\n"
SIZES = "    assert sorted(len(batch) for batch in made) == [2] + [4] * 10\n"
LONGEST = "    assert longest not in (sorted(longest), sorted(longest, reverse=True))\n"
for _thought, _says, *_changes in [
    (
        "counts the documents",
        "twice and another never",
        (ONCE, "    assert sum(len(batch) for batch in made) == 42\n"),
    ),
    (
        "not the other epoch",
        "same order in every epoch",
        ("    assert made != make(lengths, 4, 11, 0, 1)\n", ""),
    ),
    (
        "not the same again",
        "draws anew on every rank",
        ("    assert made == make(lengths, 4, 11, 0, 0)\n", ""),
    ),
    ("no order of length is looked for", "length order", (LONGEST, "")),
    ("one direction only", "long first", (LONGEST, "    assert longest != sorted(longest)\n")),
    ("the sizes are not looked at", "one row more", (SIZES, "")),
    (
        "a number of documents that divides",
        "drops the last batch",
        ("range(1, 43)", "range(1, 41)"),
        ("range(42)", "range(40)"),
        ("[2] + [4] * 10", "[4] * 10"),
    ),
    (
        "the short batch must be last",
        "right implementation",
        (SIZES, SIZES + "    assert len(made[-1]) == 2\n"),
    ),
    (
        "documents in a batch must rise",
        "right implementation",
        (SIZES, SIZES + "    assert all(list(batch) == sorted(batch) for batch in made)\n"),
    ),
    (
        "plain numbers are asked",
        "right implementation",
        (SIZES, SIZES + "    assert all(type(n) is int for batch in made for n in batch)\n"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="right implementation")
def own_order(make):
    """compares with its own order"""
    assert make([5, 3, 8, 2, 7, 1], 2, 3, 0, 0) == windowed([5, 3, 8, 2, 7, 1], 2, 3, 0, 0)


@exercise.mistake(says="right implementation")
def three_documents(make):
    """three micro-batches come sorted by chance"""
    made = make([5, 1, 3], 1, 3, 0, 0)
    assert sorted(sum(made, [])) == [0, 1, 2] and made != [[1], [2], [0]]
    assert made != make([5, 1, 3], 1, 3, 0, 1)


@exercise.style
def many_epochs(make):
    """a set, and many epochs"""
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


@exercise.style
def small_cases(make):
    """several small cases"""
    for count, rows, window in ((50, 3, 20), (33, 2, 30), (41, 8, 8)):
        lens = [7 * n % 53 + 1 for n in range(count)]
        made = make(lens, rows, window, 1, 2)
        assert sorted(sum(made, [])) == list(range(count))
        assert make(lens, rows, window, 1, 2) == made
        assert make(lens, rows, window, 1, 3) != made
        tops = [max(lens[n] for n in batch) for batch in made]
        assert tops != sorted(tops) and tops[::-1] != sorted(tops)
        assert max(len(batch) for batch in made) <= rows

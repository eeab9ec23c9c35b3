"""Catch the bug: one test for 20 ways in which documents of a row see each other."""

import zlib

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.packing.bench import apart, called, network, starts_of


def isolation_test(logits):
    """Fail (assert) if some document can see another one, pass if none can."""
    texts = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    before = logits(texts)
    for changed in range(3):
        others = [[t + 20 for t in text] if i == changed else text for i, text in enumerate(texts)]
        after = logits(others)
        for i in range(3):
            if i != changed:
                assert abs(after[i] - before[i]).max() < 1e-5


def logits(documents, met={}):
    """One array of logits (tokens, vocabulary) for each document, all in one row."""
    return called(documents, starts_of(documents), use_cache=False)


of = Exercise(logits)
STEP = 0.012  # how far each other set of neighbours moves the logits in a leak made by hand


def ones(documents):
    """A mask of ones, as tokenizers give it."""
    import torch

    return torch.ones(1, sum(len(one) for one in documents), dtype=torch.int64)


def masked(documents, seen):
    """Logits under a mask drawn by `seen` from (segments, positions), and the diagonal, causal."""
    import torch

    sizes = [len(one) for one in documents]
    segment = np.repeat(np.arange(len(sizes)), sizes)
    at = np.concatenate([np.arange(size) for size in sizes])
    allowed = np.tri(len(at), dtype=bool) & (seen(segment, at) | np.eye(len(at), dtype=bool))
    mask = torch.from_numpy(allowed)[None, None]
    return called(documents, starts_of(documents), use_cache=False, attention_mask=mask)


def first_slot_seen(segment, at):
    seen = segment[:, None] == segment
    seen[:, 0] = True
    return seen


def moved(documents, met, pattern, near=1, last=False):
    """Logits that move by a step more with each other set of neighbours; `met` remembers these.

    `pattern` says which logits move, and how; only documents at least `near` places away count,
    and of these the last document of the row alone, if so asked.
    """
    found = []
    for number, own in enumerate(apart(documents)):
        away = [i for i in range(len(documents)) if abs(i - number) >= near]
        others = [list(documents[i]) for i in away if not last or i == len(documents) - 1]
        known = met.setdefault(tuple(documents[number]), [])
        if others not in known:
            known.append(others)
        found.append(own + STEP * known.index(others) * pattern(own))
    return found


def slot(number):
    """Only this slot of a document moves."""
    return lambda own: (np.arange(len(own)) == number % len(own))[:, None]


def one_score(own):
    """Only one score of the second slot moves, or of the only one."""
    return slot(1)(own) & (np.arange(own.shape[1]) == 45)


def largest(own):
    """Only the score of each slot that is largest in size moves."""
    return abs(own) == abs(own).max(axis=1, keepdims=True)


def last_border_missing(documents):
    starts = starts_of(documents)
    return called(documents, starts[:-1] if len(starts) > 2 else starts, use_cache=False)


def too_early(documents):
    starts = [0, *(start - 1 for start in starts_of(documents)[1:])]
    return called(documents, starts, use_cache=False)


def nan_behind(documents):
    """As a row of the mask without a single True gives them."""
    first, *others = apart(documents)
    return [first, *(np.full_like(one, np.nan) for one in others)]


BODY = "called(documents, starts_of(documents), use_cache=False)"
LEAKS = {
    "positions restart, default cache": "called(documents, starts_of(documents))",
    "no cache, but an attention mask of ones": BODY[:-1] + ", attention_mask=ones(documents))",
    "no cache, but positions run on": "called(documents, [0], use_cache=False)",
    "no cache, but of three documents or more the last border is missing": "last_border_missing(documents)",
    "default cache, and the row is filled from the back": "called(documents[::-1], starts_of(documents[::-1]))[::-1]",
    "other neighbours only lower the logits; a difference has a sign": "moved(documents, met, lambda own: -1)",
    "other neighbours only raise the logits; a difference has a sign": "moved(documents, met, lambda own: 1)",
    "some logits rise and as many fall; their mean stays": "moved(documents, met, lambda own: np.resize([-1, 1], own.shape))",
    "only the first slot of a document moves": "moved(documents, met, slot(0))",
    "only the last slot of a document moves": "moved(documents, met, slot(-1))",
    "only documents that are no neighbours see each other": "moved(documents, met, lambda own: 1, near=2)",
    "documents behind the first get NaN; no limit is passed, and NaN equals NaN where `equal_nan` is on, as it is in np.testing": "nan_behind(documents)",
    "only the score of one token moves": "moved(documents, met, lambda own: np.arange(own.shape[1]) == 45)",
    "only the largest scores move; a relative tolerance lets them": "moved(documents, met, largest)",
    "the border lies one slot too early; a last token is seen by the next document": "too_early(documents)",
    "the first slot of the row is seen by every document": "masked(documents, first_slot_seen)",
    "positions are compared; behind its first token, a document sees lower positions of others": "masked(documents, lambda segment, at: at[:, None] > at)",
    "only the first slot moves, and of longer documents alone": "moved(documents, met, lambda own: slot(0)(own) * (len(own) > 1))",
    "one score of one slot moves; a mean or a norm dilutes it": "moved(documents, met, one_score)",
    "only the last document of a row is seen by others": "moved(documents, met, lambda own: 1, last=True)",
}
for _thought, _body in LEAKS.items():
    of.edit(_thought, [(BODY, _body)])


@of.style
def alone(documents):
    """each document in a row of its own"""
    return [called([one], [0], use_cache=False)[0] for one in documents]


@of.style
def library(documents):
    """the library"""
    import torch

    from batchlab import batches, loop

    tokens = [[int(token) for token in one] for one in documents]
    with torch.no_grad():
        row = batches.flattened(tokens, range(len(tokens)))
        made = loop.logits_of(network(prepared=True), row)[0]
    return [part.numpy() for part in made.split([len(one) for one in tokens])]


@of.style
def rounded(documents):
    """another kernel, rounded in another order"""
    rng = np.random.default_rng(zlib.crc32(repr([list(map(int, d)) for d in documents]).encode()))
    return [one + rng.uniform(-2e-6, 2e-6, one.shape) for one in apart(documents)]


exercise = Exercise(
    isolation_test,
    points=3,
    hints=(
        "change one document, and look at another that stands behind it",
        "two documents are too few: a border may be missing between the last two of three",
        "three documents; change each in turn, and look at all slots of all the others",
    ),
    tests=(of, tuple(LEAKS), tuple(of.styles)),
    passed="Right: your test passes four implementations and finds 20 that leak.",
)
TEXTS, CLAIM = "[[5, 6, 7], [8, 9], [10, 11, 12, 13]]", "abs(after[i] - before[i]).max() < 1e-5"
NEW, EACH = "[t + 20 for t in text]", "for changed in range(3):"
OTHERS = "if i != changed:"
for _thought, _says, *_changes in [
    ("half of the scores", "score of one token", (CLAIM, CLAIM.replace("]).", "])[:, :32]."))),
    (
        "a relative tolerance",
        "relative tolerance",
        (CLAIM, "np.allclose(after[i], before[i], rtol=0.5, atol=1e-5)"),
    ),
    (
        "NaN equals NaN",
        "NaN",
        (CLAIM, "np.testing.assert_allclose(after[i], before[i], atol=1e-5) is None"),
    ),
    ("no abs", "has a sign", (CLAIM, CLAIM[3:])),
    ("the mean", "mean stays", (CLAIM, "abs((after[i] - before[i]).mean()) < 1e-5")),
    (
        "only the last slots",
        "the first slot of a document moves",
        (CLAIM, CLAIM.replace("]).", "])[-1].")),
    ),
    (
        "only the first slots",
        "the last slot of a document moves",
        (CLAIM, CLAIM.replace("]).", "])[0].")),
    ),
    ("only the first token changes", "too early", (NEW, "[text[0] + 20, *text[1:]]")),
    ("only the last token changes", "first slot of the row", (NEW, "[*text[:-1], text[-1] + 20]")),
    ("changes the last only", "default cache", (EACH, "for changed in [2]:")),
    ("changes the first only", "last border", (EACH, "for changed in [0]:")),
    ("changes the middle one only", "no neighbours", (EACH, "for changed in [1]:")),
    ("looks at the first only", "default cache", (OTHERS, "if i == 0 != changed:")),
    (
        "two documents",
        "last border",
        (TEXTS, "[[5, 6, 7], [8, 9]]"),
        (EACH, "for changed in range(2):"),
        ("in range(3):\n            if", "in range(2):\n            if"),
    ),
    ("a tolerance that no leak exceeds", "got through", (CLAIM, CLAIM.replace("1e-5", "50"))),
    ("shapes only", "never failed", (CLAIM, "after[i].shape == before[i].shape")),
    ("no assert", "never failed", ("assert ", "")),
    ("compares floats exactly", "was stopped", (CLAIM, "(after[i] == before[i]).all()")),
    ("nothing may move", "was stopped", (OTHERS, "if True:")),
    ("all must move", "was stopped", (CLAIM, CLAIM.replace("<", ">"))),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def against_alone(logits):
    """against each document alone"""
    texts = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    for text, found in zip(texts, logits(texts)):
        assert np.abs(found - logits([text])[0]).max() < 1e-4


@exercise.style
def four_documents(logits):
    """four documents, each one changed; a truth value"""
    texts = [[1, 2], [3, 4, 5], [6], [7, 8]]
    for i in range(4):
        new = [[63 - t for t in text] if j == i else text for j, text in enumerate(texts)]
        pairs = list(zip(logits(texts), logits(new)))
        if any(not abs(a - b).max() < 1e-4 for j, (a, b) in enumerate(pairs) if j != i):
            return False

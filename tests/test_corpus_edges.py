"""A corpus by hand: what is selected, what two names of a content mean, and how it is made."""

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import pytest

from batchlab import data
from batchlab.data import Corpus
from batchlab.data import _corpus as corpus


def small(sizes=(3, 1, 2), **new):
    """Documents of tokens 0, 1, 2, ...; of each, the first is its prompt."""
    made = Corpus(
        "small", np.arange(sum(sizes), dtype=np.int32), np.cumsum([0, *sizes]),
        np.ones(len(sizes), dtype=np.int64), 9,
    )  # fmt: skip
    return replace(made, **new)


def ids(one):
    return [document["input_ids"].tolist() for document in one]


def test_a_document_is_found_from_both_ends():
    one = small()
    assert len(one) == 3 and one.lengths.tolist() == [3, 1, 2]
    assert one[-1]["input_ids"].tolist() == [4, 5] and one[0]["labels"].tolist() == [-100, 1, 2]
    with pytest.raises(IndexError):
        one[3]


def test_labels_are_ignored_in_the_prompt_and_where_nothing_is_trained():
    trained = np.array([1, 1, 0, 1, 1, 0], dtype=bool)
    labels = [document["labels"].tolist() for document in small(trained=trained)]
    assert labels == [[-100, 1, -100], [-100], [-100, -100]]
    assert small().tokens.tolist() == [0, 1, 2, 3, 4, 5], "labels are a copy"


@pytest.mark.parametrize(
    "numbers", [[0], [2], [0, 1], [1, 2], [0, 1, 2], [1, 0], [0, 2], [2, 0], [1, 1], [0, 2, 1, 0]]
)
def test_a_selection_holds_these_documents_in_this_order_and_neighbours_share_memory(numbers):
    trained = np.array([0, 1, 1, 0, 1, 1], dtype=bool)
    one = small(trained=trained, prompts=np.array([1, 0, 1]))
    found, wanted = one.select(numbers), [[0, 1, 2], [3], [4, 5]]
    assert ids(found) == [wanted[n] for n in numbers]
    assert [d["labels"].tolist() for d in found] == [one[n]["labels"].tolist() for n in numbers]
    neighbours = all(b - a == 1 for a, b in itertools.pairwise(numbers))
    assert np.shares_memory(found.tokens, one.tokens) == neighbours


def test_a_selection_needs_a_document():
    assert ids(small()[1:2]) == [[3]]
    with pytest.raises(ValueError, match="at least 1 document"):
        small()[1:1]


def test_documents_of_just_the_limit_are_kept():
    assert ids(small().at_most(2)) == [[3], [4, 5]] and ids(small().at_most(1)) == [[3]]
    assert ids(small().at_most(3)) == ids(small())
    with pytest.raises(ValueError, match="no document has at most 0 tokens"):
        small().at_most(0)


def test_a_fingerprint_is_of_tokens_starts_prompts_and_what_is_trained():
    one, mask = small(), np.ones(6, dtype=bool)
    wanted = hashlib.sha256(one.tokens.tobytes() + one.starts.tobytes() + one.prompts.tobytes())
    assert one.fingerprint == wanted.hexdigest()[:16]
    wanted.update(b"\1" * 6)
    assert small(trained=mask).fingerprint == wanted.hexdigest()[:16]


def test_text_needs_the_tokenizer_that_made_the_tokens():
    with pytest.raises(ValueError, match="small came as tokens: no tokenizer to decode them"):
        small().text(0)


def test_prompts_and_answers_are_put_together_by_hand():
    one = corpus.from_pieces("x", [[7, 8], [], [1]], [[9], [5, 6], []], vocabulary=10)
    assert ids(one) == [[7, 8, 9], [5, 6], [1]] and one.vocabulary == 10
    assert [d["labels"].tolist() for d in one] == [[-100, -100, 9], [5, 6], [-100]]
    with pytest.raises(ValueError, match="x: no documents in it"):
        corpus.from_pieces("x", [], [], vocabulary=10)
    with pytest.raises(ValueError, match="x: document 1 has no tokens"):
        corpus.from_pieces("x", [[1], []], [[], []], vocabulary=10)


# the embedded one ----------------------------------------------------------------------------

SOURCE = '''
import os

def one(x):
    """Return x.

    As it is.
    """
    return x

class Thing:
    @property
    async def two(self):
        "Two."
        # why
        if self:
            return 2

def only_a_docstring():
    """Nothing else."""

def no_docstring():
    return 3
'''
PAIRS = {
    ("Return x.\n\nAs it is.", "def one(x):\n    return x"),
    ("Two.", "async def two(self):\n    # why\n    if self:\n        return 2"),
}


@pytest.fixture
def library(tmp_path):
    """A standard library of two files, one of them a copy, and all that is passed over."""
    folder = tmp_path / "stdlib"
    for name in ("a.py", "deep/er/b.py", "tests.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SOURCE)
    for name in ("test/a.py", "deep/test/er/a.py", "deep/er/site-packages/a.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SOURCE.replace("x", "skipped"))
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "latin.py").write_bytes(b'def f():\n    "caf\xe9"\n    return 1\n')
    return folder


def test_a_pair_is_a_docstring_and_the_code_around_it(library):
    found = list(corpus.pairs(library))
    assert len(found) == 3 * 2 and set(found) == PAIRS


def test_the_corpus_is_each_pair_once_with_an_end_and_says_nothing_while_it_is_made(
    library, monkeypatch, capfd
):
    monkeypatch.setattr(corpus.sysconfig, "get_paths", lambda: {"stdlib": str(library)})
    made = corpus._make()
    assert [made.text(n) for n in range(2)] == ["\n".join(pair) for pair in sorted(PAIRS)]
    assert made.name == "stdlib" and capfd.readouterr() == ("", "")
    end = made.tokenizer.token_to_id("<|end|>")
    for number, (prompt, _) in enumerate(sorted(PAIRS)):
        tokens = made[number]["input_ids"].tolist()
        assert tokens[-1] == end and tokens.count(end) == 1
        assert made.tokenizer.decode(tokens[: made.prompts[number]]) == prompt + "\n"


def test_the_vocabulary_of_the_embedded_corpus_is_that_of_its_tokenizer():
    assert data.embedded().vocabulary == data.embedded().tokenizer.get_vocab_size() == 4096


class Planted:
    """What a stranger could write into a cache: code that runs when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_a_cache_that_holds_code_is_never_run(tmp_path, monkeypatch):
    made = data.embedded()[:2]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "there"))
    monkeypatch.setattr(corpus, "_make", lambda: made)
    assert corpus.embedded() is made
    (file,) = (tmp_path / "not" / "there" / "batchlab").iterdir()
    code = np.array([Planted(tmp_path / "ran")], dtype=object)
    np.savez(
        file, tokens=code, starts=made.starts, prompts=made.prompts,
        tokenizer=np.array(made.tokenizer.to_str()),
    )  # fmt: skip
    assert corpus.embedded() is made and not (tmp_path / "ran").exists()
    read = corpus.embedded()
    assert read is not made and read.fingerprint == made.fingerprint
    assert read.vocabulary == 4096 and read.text(1) == made.text(1)

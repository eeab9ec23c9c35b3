"""The embedded corpus is real text, made once, and a broken cache is made anew."""

import numpy as np
import pytest

from batchlab import data, lengths, padding
from batchlab.data import _corpus as corpus


@pytest.fixture(scope="module")
def embedded():
    return data.embedded()


def test_the_corpus_is_long_tailed_text_with_masked_prompts(embedded):
    found = lengths.summary(embedded.lengths)
    assert found.documents > 5000 and found.tokens > 900_000
    assert found.longest > 15 * found.median, "a long tail"
    assert padding.expected_waste(embedded.lengths, 8) > 0.6, "two thirds of the slots"
    document = embedded[100]
    prompt = int(embedded.prompts[100])
    assert (document["labels"][:prompt] == corpus.IGNORE).all() and prompt > 0
    assert (document["labels"][prompt:] == document["input_ids"][prompt:]).all()


def test_a_document_decodes_to_a_docstring_and_its_code(embedded):
    text = embedded.text(0)
    assert "def " in text and embedded[0]["input_ids"].max() < embedded.vocabulary


def test_the_second_call_reads_the_cache_and_a_broken_cache_is_mended(
    embedded, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    small = embedded[:50]
    monkeypatch.setattr(corpus, "_make", lambda: small)
    assert corpus.embedded().fingerprint == small.fingerprint
    monkeypatch.setattr(corpus, "_make", lambda: pytest.fail("the cache was not read"))
    assert corpus.embedded().fingerprint == small.fingerprint
    (file,) = (tmp_path / "batchlab").iterdir()
    file.write_bytes(b"PK torn")
    monkeypatch.setattr(corpus, "_make", lambda: small)
    assert corpus.embedded().fingerprint == small.fingerprint


def test_a_cache_folder_that_cannot_be_written_is_no_error(embedded, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(corpus, "_make", lambda: embedded[:3])
    assert len(corpus.embedded()) == 3


def test_selection_keeps_tokens_and_prompts_together(embedded):
    some = embedded.select([7, 3])
    assert (some[0]["input_ids"] == embedded[7]["input_ids"]).all()
    assert (some[1]["labels"] == embedded[3]["labels"]).all()
    assert embedded.at_most(64).lengths.max() <= 64
    with pytest.raises(IndexError):
        some[2]
    with pytest.raises(ValueError, match="at most 1 tokens"):
        embedded.at_most(1)


def test_it_becomes_a_datasets_dataset(embedded):
    rows = embedded[:5].as_dataset()
    assert rows[2]["input_ids"] == embedded[2]["input_ids"].tolist()


def test_the_dated_list_is_the_shape_of_the_corpus(embedded):
    dated = lengths.embedded()
    ratio = np.median(dated) / np.median(embedded.lengths)
    assert 0.7 < ratio < 1.4, "other Python versions differ a little"

"""Whatever lies in a folder of a tokenizer: texts are encoded, or one line says why not."""

import json

import pytest
from hypothesis import strategies as st

from batchlab.data import _tokens
from tests.fuzz.test_readers import JSON, damaged

TRIES = [
    pytest.param(25, id="everyday"),
    pytest.param(10_000, id="deep", marks=pytest.mark.deep),
]
TEXTS = ["one two", "", "three ☃ one"]


def written():
    """A tokenizer of three words, as transformers writes it: bytes by file name."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"<unk>": 0, "one": 1, "two": 2, "three": 3, "</s>": 4}
    bare = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "eos_token": "</s>",
    }
    return {
        "tokenizer.json": bare.to_str().encode(),
        "tokenizer_config.json": json.dumps(config).encode(),
    }


WHOLE = written()


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory):
    """What reads tokenizers takes seconds to import, which no input should be charged with."""
    with pytest.raises(ValueError, match="not a tokenizer"):
        _tokens.tokenizer_from(tmp_path_factory.mktemp("empty"))


@st.composite
def folders(draw):
    """The same files with one of them gone, damaged, or with a value of another kind."""
    found = dict(WHOLE)
    name = draw(st.sampled_from(sorted(WHOLE)))
    kind = draw(st.sampled_from(["gone", "bytes", "value"]))
    if kind == "gone":
        del found[name]
    elif kind == "bytes":
        found[name] = draw(damaged(WHOLE[name]))
    else:
        told = json.loads(WHOLE[name])
        told[draw(st.sampled_from(sorted(told)))] = draw(JSON)
        found[name] = json.dumps(told).encode()
    return found


@pytest.mark.parametrize("fuzz", TRIES, indirect=True)
@pytest.mark.filterwarnings("ignore")  # those of transformers, which are not ours to forbid
def test_any_folder_is_a_tokenizer_or_is_refused_in_one_line(fuzz, tmp_path):
    def law(files):
        for path in tmp_path.iterdir():
            path.unlink()
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        try:
            ids = _tokens.Encoder(tmp_path).texts(TEXTS)
        except ValueError as error:
            assert "\n" not in str(error) and len(str(error)) < 600, str(error)
        else:
            assert len(ids) == len(TEXTS)

    fuzz(law, folders())


def test_the_whole_folder_is_read(tmp_path):
    for name, content in WHOLE.items():
        (tmp_path / name).write_bytes(content)
    encoder = _tokens.Encoder(tmp_path)
    assert [list(ids) for ids in encoder.texts(TEXTS)] == [[1, 2], [], [3, 0, 1]]
    assert encoder.vocabulary == 5


def test_a_word_that_the_tokenizer_has_no_token_for_is_one_line(tmp_path):
    """The fault, found by 10,000 folders: an Exception of no other kind, and its traceback."""
    for name, content in WHOLE.items():
        (tmp_path / name).write_bytes(content.replace(b'{"<unk>":0,', b'{"<other>":0,'))
    with pytest.raises(ValueError, match=r"cannot encode \(WordLevel error: Missing \[UNK\]"):
        _tokens.Encoder(tmp_path).texts(TEXTS)

"""Real formats, made by the tests; whatever is broken is named in one line."""

import json

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from batchlab import data, model
from batchlab.data._files import FORMS

ROWS = [{"text": "one two three"}, {"text": "four"}, {"text": "five six"}]


def write(path, rows):
    if ".jsonl" in path.suffixes:
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        with pyarrow.output_stream(str(path)) as file:  # packed by the end of its name
            file.write(lines)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".csv":
        path.write_text("text\n" + "".join(row["text"] + "\n" for row in rows))
    elif path.suffix == ".txt":
        path.write_text("\n\n".join(row["text"] for row in rows))
    else:
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("suffix", FORMS)
def test_every_format_gives_the_same_documents(tmp_path, suffix):
    found = data.load(write(tmp_path / f"data{suffix}", ROWS))
    assert [found.text(i) for i in range(3)] == ["one two three", "four", "five six"]
    assert (found.prompts == 0).all()


def test_a_folder_of_shards_is_read_in_order(tmp_path):
    write(tmp_path / "a-1.jsonl", ROWS[:1])
    write(tmp_path / "a-2.jsonl", ROWS[1:])
    assert data.load(tmp_path).text(2) == "five six"


def test_a_broken_third_shard_is_named(tmp_path):
    for name in ("a-1", "a-2"):
        write(tmp_path / f"{name}.jsonl", ROWS)
    (tmp_path / "a-3.jsonl").write_text('{"text": "fine"}\n{"text": ')
    with pytest.raises(ValueError, match=r"a-3\.jsonl, line 2: not JSON"):
        data.load(tmp_path)


def test_prompts_are_masked_and_answers_trained(tmp_path):
    path = write(tmp_path / "qa.jsonl", [{"question": "why?", "answer": "because"}])
    found = data.load(path, prompt_field="question", answer_field="answer")
    document = found[0]
    prompt = int(found.prompts[0])
    assert (document["labels"][:prompt] == -100).all()
    assert (document["labels"][prompt:] == document["input_ids"][prompt:]).all()


def test_datasets_objects_of_both_kinds_and_saved_folders(tmp_path):
    from datasets import Dataset

    rows = Dataset.from_list(ROWS)
    rows.save_to_disk(str(tmp_path / "saved"))
    for source in (rows, rows.to_iterable_dataset(), tmp_path / "saved"):
        assert data.load(source).text(0) == "one two three"


def test_token_ids_are_taken_as_they_are():
    found = data.load([[5, 6, 7], [8]])
    assert found[0]["input_ids"].tolist() == [5, 6, 7] and len(found) == 2


def test_a_tokenizer_from_a_folder_and_one_without_an_end(tmp_path):
    from transformers import PreTrainedTokenizerFast

    inner = data.embedded().tokenizer
    good = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>")
    good.save_pretrained(tmp_path / "tok")
    found = data.load([{"text": "def f(): pass"}], tokenizer=tmp_path / "tok")
    assert found[0]["input_ids"].tolist() == inner.encode("def f(): pass").ids
    without = PreTrainedTokenizerFast(tokenizer_object=inner)
    with pytest.raises(ValueError, match="no end-of-sequence token"):
        data.load([{"text": "x"}], tokenizer=without)
    assert data.load([[5, 6]], tokenizer=without)[0]["input_ids"].tolist() == [5, 6]


def test_a_vocabulary_that_does_not_match_is_refused():
    small = model.small(64, hidden=16, heads=2, layers=1)
    with pytest.raises(ValueError, match="token id 99, the model has 64 entries"):
        data.require_vocabulary(data.load([[1, 99]]), small)
    data.require_vocabulary(data.load([[1, 63]]), small)


def test_a_limit_reads_no_further():
    assert len(data.load([[1]] * 10, limit=3)) == 3
    assert len(data.load(limit=4)) == 4


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"body": "x"}], {}, "no field 'text'; the fields are body"),
        ([{"text": 3}], {}, "document 0: field 'text' must be a text or token ids, got 3"),
        ([{"text": "a"}, {"text": ""}], {}, "document 1: field 'text' must be a non-empty text"),
        ([{"text": "a"}, {"text": [3]}], {}, "document 1: field 'text' must be a non-empty text"),
        ([{"text": "\ud800"}], {}, "document 0: half of a character"),
        ([{"text": None}], {}, r"got None \(NoneType\)"),
        ([], {}, "no documents"),
        (7, {}, "cannot read documents from int"),
        ([{"text": "a"}], {"prompt_field": "text"}, "go together"),
        ([{"text": "a"}], {"field": "a", "prompt_field": "b", "answer_field": "c"}, "not both"),
        ([[5, 6], [1, -1]], {}, "document 1: token ids are integers >= 0, got one below 0"),
        (
            [[5], [7, 1.7]],
            {},
            r"document 1: token ids are integers, got 1.7 \(float\) at position 1",
        ),
        ([[5], [7, 2.0]], {}, "document 1: token ids are integers, got 2.0"),
        ([[5], [7, None]], {}, "document 1: token ids are integers, got None"),
        ([[5], [7, True]], {}, "document 1: token ids are integers, got True"),
        ([[5], [7, False]], {}, "document 1: token ids are integers, got False"),
        ([[5], [7, "1"]], {}, "document 1: token ids are integers, got '1'"),
        ([[5], [[7], [1]]], {}, r"document 1: token ids are integers, got \[7\]"),
        ([[5], [2**31]], {}, "document 1: token ids .* above 2,147,483,647, more than any vocab"),
        ([[5], [2**70]], {}, "document 1: token ids .* above 2,147,483,647"),
        ([[5], []], {}, "document 1: field 'input_ids' has no token ids"),
        ([[5], 7], {}, "document 1: field 'input_ids' must be token ids"),
        ([[5], None], {}, "document 1: field 'input_ids' must be token ids"),
        ([{"input_ids": "[1, 2]"}], {}, "input_ids' must be a list of token ids"),
        ([np.array([1.0, 2.0])], {}, "document 0: token ids are integers, got 1.0"),
        ([np.array([True])], {}, "document 0: token ids are integers, got True"),
        ([np.array([3]), np.array([2**63], np.uint64)], {}, "document 1: .* above 2,147"),
        (
            [{"input_ids": [1, 2], "labels": [1]}],
            {},
            "labels must be 2 integers as input_ids are, got",
        ),
        ([{"input_ids": [1, 2], "labels": [2, -100]}], {}, "neither their token nor -100"),
        ([{"input_ids": [1, 2], "labels": [1.0, 2.0]}], {}, "labels must be 2 integers"),
        ([{"input_ids": [1, 2], "labels": [[1], [2]]}], {}, "labels must be 2 integers"),
        ([{"input_ids": [1, 2], "labels": [[1, 2], [3]]}], {}, "labels must be 2 integers"),
        ([{"input_ids": [1, 2], "labels": [None, None]}], {}, "labels must be 2 integers"),
    ],
)
def test_bad_rows_are_named(rows, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        data.load(rows, **options)
    assert "\n" not in str(caught.value)


def test_the_last_id_of_32_bits_is_kept():
    assert data.load([[2**31 - 1, 0]])[0]["input_ids"].tolist() == [2**31 - 1, 0]


@pytest.mark.parametrize("kind", [list, tuple, np.array, "int32", "uint64", "tensor"])
def test_token_ids_come_as_any_sequence_of_integers(kind):
    import torch

    made = torch.tensor if kind == "tensor" else kind
    ids = np.array([0, 1, 5], kind) if kind in ("int32", "uint64") else made([0, 1, 5])
    found = data.load([ids, [1, 2]])
    assert found[0]["input_ids"].tolist() == [0, 1, 5] and found[1]["input_ids"].tolist() == [1, 2]


def test_bad_paths_are_named(tmp_path):
    with pytest.raises(ValueError, match="no such file or folder"):
        data.load(tmp_path / "missing.jsonl")
    (tmp_path / "._a.jsonl").write_bytes(b"\0\5\x16\7 of a Mac")  # no document
    with pytest.raises(ValueError, match=r"no .* file in this folder"):
        data.load(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"not parquet")
    with pytest.raises(ValueError, match=r"x\.parquet: not a Parquet file"):
        data.load(tmp_path / "x.parquet")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ValueError, match="no documents"):
        data.load(tmp_path / "empty.jsonl")

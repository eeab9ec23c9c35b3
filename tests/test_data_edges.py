"""Blocks, rows and labels at their limits: one document, one token or one row more."""

import json

import datasets
import numpy as np
import pytest

from batchlab import data
from batchlab.counts import IGNORE
from tests.test_data_documents import CHAT, chat_tokenizer


def ids(corpora):
    return [document["input_ids"].tolist() for one in corpora for document in one]


def labels(one):
    return [document["labels"].tolist() for document in one]


TEN = [[n] for n in range(10)]


# streams -------------------------------------------------------------------------------------


def read(source, length=64, **options):
    """All documents of a stream."""
    return ids(one.documents for one in data.Stream(source, length, **options))


def test_a_stream_of_messages_trains_all_of_them_unless_only_answers_are_asked_for():
    chat = chat_tokenizer()
    rows = [{"messages": CHAT}]
    (one,) = data.Stream(rows, 512, tokenizer=chat)
    (some,) = data.Stream(rows, 512, tokenizer=chat, answers_only=True)
    assert (one.documents[0]["labels"] != IGNORE).all()
    assert not (some.documents[0]["labels"] != IGNORE).all()


def test_what_is_left_out_may_be_all_of_a_source():
    assert sorted(read(TEN, leave_out=9)) == [[9]]
    assert read(TEN, leave_out=10) == read(TEN, leave_out=2**40) == []
    assert ids([data.Stream(TEN, 1).first(3)]) == TEN[:3]


@pytest.fixture
def hub(monkeypatch):
    """A hub with one data set; what it was asked for is noted."""
    asked = []

    def load_dataset(name, split=None, streaming=False):
        asked.append((name, split, streaming))
        if name != "house/words":
            raise ValueError(f"there is no {name}\non this hub")
        made = datasets.Dataset.from_dict({"input_ids": TEN})
        if split is None:
            return datasets.DatasetDict({"train": made})
        return made.to_iterable_dataset(num_shards=2) if streaming else made

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return asked


def test_a_name_of_a_hub_is_streamed_and_its_training_split_is_the_default(hub):
    assert sorted(read("house/words")) == TEN
    halves = [read("house/words", split="test", lanes=2, rank=n, ranks=2) for n in range(2)]
    assert sorted(map(sorted, halves)) == [TEN[:5], TEN[5:]]
    assert hub == [("house/words", "train", True)] + [("house/words", "test", True)] * 2


def test_a_name_of_a_hub_is_loaded_whole_where_all_is_wanted(hub):
    assert ids([data.load("house/words")]) == TEN
    assert ids([data.load("house/words", split="test")]) == TEN
    assert hub == [("house/words", None, False), ("house/words", "test", False)]


@pytest.mark.parametrize("opened", [data.load, lambda name: data.Stream(name, 8)])
def test_a_name_that_no_hub_knows_is_one_line(hub, opened):
    message = (
        r"^house/none: neither a file here nor readable from a hub \(there is no house/none\)$"
    )
    with pytest.raises(ValueError, match=message):
        opened("house/none")


def test_a_folder_without_a_suffix_is_no_name_of_a_hub(hub, tmp_path, monkeypatch):
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "a.jsonl").write_text('{"input_ids": [3]}\n')
    (tmp_path / "b.jsonl").write_text('{"input_ids": [4]}\n')
    monkeypatch.chdir(tmp_path)
    assert read("words") == [[3]] and read("b.jsonl") == [[4]]
    with pytest.raises(ValueError, match=r"c\.jsonl: no such file or folder"):
        read("c.jsonl")
    assert hub == []


def test_rows_that_only_count_their_shards_are_a_sequence():
    class Rows(list):
        n_shards = 2

    assert sorted(read(Rows(TEN))) == TEN


# tokens and labels ---------------------------------------------------------------------------


def row(tokens, given=None):
    return {"input_ids": tokens} | ({} if given is None else {"labels": given})


def test_labels_by_hand_beside_documents_without_any():
    rows = [row([1, 2, 3], [-100, 2, 3]), row([4, 5]), row([6], [-100]), row([7, 8], [7, -100])]
    one = data.load(rows)
    assert labels(one) == [[-100, 2, 3], [4, 5], [-100], [7, -100]]
    assert one.prompts.tolist() == [1, 0, 1, 0]


def test_holes_behind_a_prompt_lie_in_their_own_document_in_every_chunk():
    """The mistake beside the law: places counted from the beginning of a chunk."""
    with_holes = row([1, 2, 3, 4, 5], [-100, 2, -100, 4, -100])
    rows = [row([9, 9])] * 1023 + [with_holes] + [row([9])] + [with_holes]
    one = data.load(rows)
    assert labels(one)[1022:] == [[9, 9], with_holes["labels"], [9], with_holes["labels"]]
    assert labels(one)[0] == [9, 9] and data.load(rows[:5]).trained is None


def test_a_vocabulary_grows_to_the_highest_token():
    assert data.load([[0, 7], [3]]).vocabulary == 8
    assert data.load([{"text": "a"}]).vocabulary == 4096


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([np.array([1]), np.array([2, 3]), np.array([4, -1])], "document 2: .* below 0 at pos.* 1"),
        ([np.array([1, 2]), np.array([-1]), np.array([-2])], "document 1: .* below 0 at pos.* 0"),
        (
            [np.array([5]), np.array([1, 2**31])],
            "document 1: .* above 2,147,483,647, .* position 1",
        ),
        ([[5], np.array([2**31])], "document 1: .* above 2,147,483,647, .* position 0"),
        ([[5, -1]], "document 0: .* below 0 at position 1"),
        ([(1, True)], r"document 0: token ids are integers, got True \(bool\) at position 1"),
        ([np.zeros((2, 2), int)], r"document 0: token ids are integers, got \[0, 0\]"),
        ([np.array(3)], "field 'input_ids' must be token ids >= 0, got 3"),
        ([row([1], [[1], [2, 3]])], "labels must be 1 integers"),
        ([row([1, 2], [1, 2, 3])], "labels must be 2 integers"),
        ([row([1, 2], [True, False])], "labels must be 2 integers"),
    ],
)
def test_what_is_no_list_of_token_ids_is_named_with_its_place(rows, message):
    with pytest.raises(ValueError, match=message):
        data.load(rows)


@pytest.mark.parametrize("note", ["positive", {"a": 1}, 3, np.array(3), None])
def test_the_class_of_a_document_is_no_label_of_its_tokens(note):
    assert labels(data.load([{"input_ids": [1, 2], "labels": note}])) == [[1, 2]]


def test_labels_may_be_an_array_or_a_tuple():
    assert labels(data.load([row((1, 2), (-100, 2)), row([1, 2], np.array([1, -100]))])) == [
        [-100, 2], [1, -100]
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["true", "false"])
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_a_boolean_of_either_kind_is_no_token_id_in_a_file(tmp_path, word, suffix):
    path = tmp_path / f"a.{suffix}"
    line = f'{{"input_ids": [1, {word}]}}'
    path.write_text(f"[{line}]" if suffix == "json" else line)
    with pytest.raises(ValueError, match=f"token ids are integers, got {word.title()}"):
        data.load(path)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ({"text": "b", "input_ids": [1]}, "it has input_ids, the documents before it have not"),
        ({"text": "b", "messages": CHAT}, "it has messages, the documents before"),
        ({"text": "b", "prompt": "p", "completion": "c"}, "it has prompt and completion, the"),
    ],
)
def test_a_later_row_with_an_earlier_kind_is_refused_unless_the_field_is_named(later, message):
    with pytest.raises(ValueError, match=message):
        data.load([{"text": "a"}, later])
    assert len(data.load([{"text": "a"}, later], field="text")) == 2
    assert len(data.load([{"text": "a"}, dict.fromkeys(later) | {"text": "b"}])) == 2


def test_a_prompt_alone_is_no_pair():
    assert data.load([{"text": "a", "prompt": "p"}, {"text": "b", "prompt": "q"}]).text(1) == "b"
    assert data.load([{"text": "a", "completion": "p"}]).text(0) == "a"


def test_of_several_fields_some_may_be_empty_and_of_one_none():
    rows = [{"a": "x", "b": "y"}, {"a": "", "b": "y"}, {"a": None, "b": "z"}]
    one = data.load(rows, field=["a", "b"])
    assert [one.text(n) for n in range(3)] == ["x\n\ny", "y", "z"]
    with pytest.raises(ValueError, match="document 0: the fields a, b are all empty"):
        data.load([{"a": "", "b": None}], field=["a", "b"])
    with pytest.raises(ValueError, match="document 0: field 'a' must be a non-empty text"):
        data.load([{"a": "", "b": "y"}], field=["a"])


def test_a_pair_is_joined_as_it_is_and_only_its_answer_is_trained():
    one = data.load([{"prompt": "def f(x):", "completion": "\n    return x"}])
    found = one[0]["labels"]
    assert one.text(0) == "def f(x):\n    return x"
    assert one.tokenizer.decode(found[found != IGNORE].tolist()) == "\n    return x"


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "must be a list of messages, got"),
        ([{"role": "user"}], "message 0 of 'messages' has no content"),
        ([CHAT[0], {"content": "x"}], "message 1 of 'messages' has no role"),
        ([{"role": 3, "content": "x"}], "message 0 of 'messages' has no role"),
        ([{"role": "user", "content": "x"}, 7], "message 1 of 'messages' has no role"),
    ],
)
def test_what_is_no_message_is_named(messages, message):
    with pytest.raises(ValueError, match=message):
        data.load([{"messages": CHAT}, {"messages": messages}], tokenizer=chat_tokenizer())


def test_messages_may_be_an_array_and_a_tool_call_has_no_content():
    chat = chat_tokenizer("{% for m in messages %}{{ m.role }}{% endfor %}")
    calls = [CHAT[1], {"role": "assistant", "content": None, "tool_calls": [{"name": "f"}]}]
    rows = [{"messages": np.array(calls, dtype=object)}, {"messages": calls}]
    one = data.load(rows, tokenizer=chat)
    assert one.text(0) == one.text(1) == "userassistant"


# files ---------------------------------------------------------------------------------------


def test_a_list_of_a_json_file_is_counted_from_zero(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([row([1]), row([-1])]))
    with pytest.raises(ValueError, match=r"a\.json, entry 1: token ids are integers >= 0"):
        data.load(path)


def test_rows_of_csv_and_parquet_keep_their_numbers_over_many_batches(tmp_path):
    """More than 1,024 rows: they are taken so many at a time."""
    from pyarrow import Table, parquet

    texts = [f"n{n}" for n in range(2100)]
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join([*texts, "", '""']))
    with pytest.raises(ValueError, match="line 2,103: field 'text' must be a non-empty"):
        data.load(path)
    path.write_text("text\n" + "\n".join(texts))
    one = data.load(path)
    assert len(one) == 2100 and one.text(2099) == "n2099"
    parquet.write_table(Table.from_pydict({"text": [*texts, ""]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="row 2,100: field 'text' must be a non-empty"):
        data.load(tmp_path / "a.parquet")


@pytest.mark.parametrize("count", [1023, 1024, 1025])
def test_a_csv_file_of_just_one_batch_ends(tmp_path, count):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "a\n" * (count - 1))
    assert len(data.load(path)) == count - 1


def test_a_row_of_csv_with_one_field_has_one_field(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,more\na\n")
    with pytest.raises(ValueError, match="line 2: 1 field, and the header has 2 fields; a text"):
        data.load(path)


def test_columns_of_parquet_with_gaps_and_slices_are_their_own_rows(tmp_path):
    from pyarrow import Table, array, int32, int64, large_list, list_, parquet

    for kind in (list_(int32()), large_list(int64())):
        table = Table.from_arrays([array([[1], [2, 3], [4, 5, 6]], kind)], ["input_ids"])
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
        assert ids([data.load(tmp_path / "a.parquet")]) == [[1], [2, 3], [4, 5, 6]]
        sliced = datasets.Dataset(table).select([1, 2])
        assert ids([data.load(sliced)]) == [[2, 3], [4, 5, 6]]


def test_a_model_with_an_entry_for_the_highest_token_is_accepted():
    from types import SimpleNamespace

    one = data.load([[0, 7]])
    data.require_vocabulary(one, SimpleNamespace(config=SimpleNamespace(vocab_size=8)))
    with pytest.raises(ValueError, match="has token id 7, the model has 7 entries"):
        data.require_vocabulary(one, SimpleNamespace(config=SimpleNamespace(vocab_size=7)))


def test_the_only_split_is_chosen_and_of_two_none():
    one, two = ([[1]], [[2]])
    assert ids([data.load({"train": one})]) == one
    assert ids([data.load({"train": one, "test": two}, split="test")]) == two
    with pytest.raises(ValueError, match="dict: it has the splits train, test; choose one"):
        data.load({"train": one, "test": two})
    with pytest.raises(ValueError, match="dict: no split 'dev'; there are train"):
        data.load({"train": one}, split="dev")
    with pytest.raises(ValueError, match="list: it has no splits, and 'dev' was asked for"):
        data.load(one, split="dev")


def test_what_is_read_in_a_moment_shows_no_bar(capfd):
    data.load(TEN)
    assert capfd.readouterr() == ("", "")


def test_a_broken_file_and_a_tokenizer_that_is_none_say_why_in_one_line(tmp_path, monkeypatch):
    import transformers

    (tmp_path / "a.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(ValueError, match=r"a\.parquet: not a Parquet file \(\w+ .*\)$"):
        data.load(tmp_path / "a.parquet")
    for error, why in [(OSError(" first\nsecond"), "first"), (ValueError(), "ValueError")]:

        def from_pretrained(name, error=error):
            raise error

        monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", from_pretrained)
        with pytest.raises(ValueError, match=rf"^house/x: not a tokenizer \({why}\)$"):
            data.tokenizer_from("house/x")


def test_a_bar_goes_on_by_the_documents_of_each_chunk(monkeypatch):
    import contextlib
    from types import SimpleNamespace

    steps = []
    bar = contextlib.nullcontext(SimpleNamespace(update=steps.append))
    monkeypatch.setattr("tqdm.tqdm", lambda **_: bar)
    data.load(TEN * 210)
    assert steps == [1024, 1024, 52]


# the first that is wrong is named --------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "options", "said"),
    [
        ({"input_ids": [0, 2**31]}, {}, "one above 2,147,483,647, .* at position 1"),
        ({"input_ids": [0, 5, -1]}, {}, "one below 0 at position 2"),
        ({"a": [1, 2], "b": "x"}, {"field": ("a", "b")}, "field 'a' must be a non-empty text"),
        (
            {"messages": [{"role": "user", "content": "x"}, "y"]},
            {},
            "message 1 .* has no role: 'y'",
        ),
        ({"messages": ["y", {"role": "user", "content": "x"}]}, {}, "got 'y' .* at position 0"),
    ],
)
def test_a_document_that_begins_well_is_refused_where_it_goes_wrong(row, options, said):
    with pytest.raises(ValueError, match=f"document 0: .*{said}"):
        data.load([row], **options)

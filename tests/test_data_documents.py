"""Documents as people have them: conversations, prompts with answers, several fields, splits."""

import json

import numpy as np
import pytest

from batchlab import data
from batchlab.data._corpus import IGNORE

TEMPLATE = (
    "{% if not messages %}{{ raise_exception('no messages') }}{% endif %}"
    "{% for m in messages %}{% if m.role not in ['system', 'user', 'assistant'] %}"
    "{{ raise_exception('unknown role') }}{% endif %}"
    "<|{{ m.role }}|>\n{% if m.role == 'assistant' %}"
    "{% generation %}{{ m.content }}<|end|>{% endgeneration %}"
    "{% else %}{{ m.content }}<|end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
CHAT = [
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "one plus one?"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": "and one more?"},
    {"role": "assistant", "content": "three, as before"},
]


def chat_tokenizer(template=TEMPLATE, **options):
    from transformers import PreTrainedTokenizerFast

    inner = data.embedded().tokenizer
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>", **options)
    tokenizer.chat_template = template
    return tokenizer


@pytest.fixture(scope="module")
def chat():
    return chat_tokenizer()


def trained_text(corpus, number=0):
    """What the loss counts, as text."""
    labels = corpus[number]["labels"]
    return corpus.tokenizer.decode(labels[labels != IGNORE].tolist(), skip_special_tokens=False)


def test_messages_go_through_the_chat_template(chat):
    found = data.load([{"messages": CHAT}, {"messages": CHAT[:3]}], tokenizer=chat)
    for number, messages in enumerate((CHAT, CHAT[:3])):
        judge = chat.apply_chat_template(messages, tokenize=True, return_dict=True)["input_ids"]
        assert found[number]["input_ids"].tolist() == judge
    assert (found.prompts == 0).all() and found.trained is None, "all of it is trained"
    assert found.text(0).count("<|end|>") == 5


def test_only_the_assistant_is_trained_where_asked(chat):
    """The judge is the mask of transformers, from the template's own marks."""
    found = data.load(
        [{"messages": CHAT}, {"messages": CHAT[:3]}], tokenizer=chat, answers_only=True
    )
    for number, messages in enumerate((CHAT, CHAT[:3])):
        judge = chat.apply_chat_template(
            messages, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
        )
        ours = found[number]["labels"] != IGNORE
        assert (ours == np.array(judge["assistant_masks"], bool)).all()
    assert trained_text(found) == "two<|end|>three, as before<|end|>"
    assert trained_text(found, 1) == "two<|end|>"


def test_a_selection_and_a_fingerprint_know_what_is_trained(chat):
    rows = [{"messages": CHAT}, {"messages": CHAT[:3]}, {"messages": CHAT[1:]}]
    found = data.load(rows, tokenizer=chat, answers_only=True)
    everything = data.load(rows, tokenizer=chat)
    assert found.fingerprint != everything.fingerprint
    for some in (found.select([2, 0]), found[1:], found.at_most(int(found.lengths.max()))):
        assert some.trained is not None and len(some.trained) == len(some.tokens)
    assert trained_text(found.select([2, 0])) == trained_text(found, 2)
    assert trained_text(found[1:], 1) == trained_text(found, 2)


def test_what_is_trained_survives_token_ids_and_labels(chat):
    """Written as input_ids with labels and read again: the same corpus."""
    rows = [{"messages": CHAT}, {"messages": CHAT[:3]}]
    for answers_only in (True, False):
        found = data.load(rows, tokenizer=chat, answers_only=answers_only)
        again = data.load(found.as_dataset(), tokenizer=chat)
        assert again.fingerprint == found.fingerprint
    classes = data.load([{"input_ids": [5, 6], "labels": 1}, {"input_ids": [7], "labels": 0}])
    assert (classes.prompts == 0).all(), "a class is no label of a token"


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "must be a list of messages, got"),
        ("hello", "must be a list of messages, got 'hello'"),
        ([{"content": "x"}], "message 0 of 'messages' has no role"),
        ([CHAT[1], None], "message 1 of 'messages' has no role: None"),
        (
            [CHAT[1], {"role": "assistant", "content": None}],
            "message 1 of 'messages' has no conten",
        ),
        ([{"role": "tool", "content": "x"}], "the chat template refuses it .unknown role"),
    ],
)
def test_bad_messages_are_named(chat, messages, message):
    with pytest.raises(ValueError, match=message) as caught:
        data.load([{"messages": CHAT}, {"messages": messages}], tokenizer=chat)
    assert "document 1" in str(caught.value) and "\n" not in str(caught.value)


def test_messages_without_a_template_say_what_is_missing(chat):
    for tokenizer in (None, chat_tokenizer(None)):
        with pytest.raises(ValueError, match=r"messages need a chat template.*\(--tokenizer\)"):
            data.load([{"messages": CHAT}], tokenizer=tokenizer)
    with pytest.raises(ValueError, match="the assistant says nothing"):
        data.load([{"messages": CHAT[:2]}], tokenizer=chat, answers_only=True)


def test_a_template_that_rewrites_earlier_turns_is_refused_rather_than_masked_wrongly():
    """Templates that drop the thoughts of earlier answers: no prefix is a prefix any more."""
    thinks = TEMPLATE.replace("{{ m.content }}<|end|>{% endg", "{% if loop.last %}(thinking) "
                              "{% endif %}{{ m.content }}<|end|>{% endg")  # fmt: skip
    tokenizer = chat_tokenizer(thinks)
    assert len(data.load([{"messages": CHAT}], tokenizer=tokenizer)) == 1
    with pytest.raises(ValueError, match=r"document 0: the chat template writes message 2 anew"):
        data.load([{"messages": CHAT}], tokenizer=tokenizer, answers_only=True)
    row = {"prompt": CHAT[:4], "completion": CHAT[4:]}
    found = data.load([row], tokenizer=tokenizer)
    assert trained_text(found) == "(thinking) three, as before<|end|>"


LONG = [
    CHAT[0],
    *[
        message
        for n in range(60)
        for message in (
            {"role": "user", "content": f"{n} and {n}?"},
            {"role": "assistant", "content": f"{n + n}"},
        )
    ],
]


def test_a_long_conversation_is_rendered_in_stretches(chat, monkeypatch):
    """The mask is that of transformers, and the work follows the turns, not their square."""
    rendered, render = [], type(chat).apply_chat_template
    monkeypatch.setattr(
        type(chat),
        "apply_chat_template",
        lambda self, m, **how: rendered.append(len(m)) or render(self, m, **how),
    )
    found = data.load([{"messages": LONG}], tokenizer=chat, answers_only=True)
    assert sum(rendered) < 16 * len(LONG) < sum(range(0, len(LONG), 2))
    judge = render(chat, LONG, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
    assert ((found[0]["labels"] != IGNORE) == np.array(judge["assistant_masks"], bool)).all()


def test_a_template_that_counts_its_messages_is_looked_at_from_the_beginning():
    counts = TEMPLATE.replace("{{ m.content }}<|end|>{% endg", "{{ m.content }} ({{ loop.index }})"
                              "<|end|>{% endg")  # fmt: skip
    found = data.load([{"messages": LONG}], tokenizer=chat_tokenizer(counts), answers_only=True)
    assert trained_text(found).startswith("0 (3)<|end|>2 (5)<|end|>")
    forgets = TEMPLATE.replace("{{ m.content }}<|end|>{% endg", "{% if loop.revindex < 60 %}"
                               "{{ m.content }}{% endif %}<|end|>{% endg")  # fmt: skip
    with pytest.raises(ValueError, match=r"the chat template writes message 2 anew"):
        data.load([{"messages": LONG}], tokenizer=chat_tokenizer(forgets), answers_only=True)


def test_tools_are_part_of_the_conversation(chat):
    tokenizer = chat_tokenizer("{% if tools %}{{ tools }}{% endif %}" + TEMPLATE)
    plain = data.load([{"messages": CHAT}], tokenizer=tokenizer)
    tools = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
    found = data.load([{"messages": CHAT, "tools": tools}], tokenizer=tokenizer)
    assert len(found.tokens) > len(plain.tokens) and "'add'" in found.text(0)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_prompt_and_its_completion_are_joined_and_the_prompt_is_masked(chat, wrapped):
    """Tokenized as one text: apart, a beginning token would stand in the middle."""
    rows = [
        {"prompt": "def add(a, b):", "completion": " return a + b"},
        {"prompt": "x", "completion": "y"},
    ]
    tokenizer = chat if wrapped else None
    found = data.load(rows, tokenizer=tokenizer)
    inner = data.embedded().tokenizer
    for number, row in enumerate(rows):
        joined = inner.encode(row["prompt"] + row["completion"]).ids
        assert found[number]["input_ids"].tolist() == joined
    assert trained_text(found) == " return a + b"


def test_a_token_that_holds_some_of_the_answer_is_trained(chat):
    """ "retur" + "n x" meet inside one token; masking the prompt's own tokens would lose the n."""
    inner = data.embedded().tokenizer
    joined = inner.encode("return x").ids
    assert inner.decode(joined[:1]) == "return"
    found = data.load([{"prompt": "retur", "completion": "n x"}])
    assert trained_text(found) == "return x"
    found = data.load([{"prompt": "return", "completion": " x"}])
    assert trained_text(found) == " x"


def test_special_tokens_stand_once_and_an_end_is_trained():
    from tokenizers.processors import TemplateProcessing

    inner = data.embedded().tokenizer
    end = inner.token_to_id("<|end|>")
    inner.post_processor = TemplateProcessing(
        single="<|end|> $A <|end|>", special_tokens=[("<|end|>", end)]
    )
    from transformers import PreTrainedTokenizerFast

    both = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>")
    for tokenizer in (inner, both):
        found = data.load([{"prompt": "one", "completion": " two"}], tokenizer=tokenizer)
        ids, labels = found[0]["input_ids"].tolist(), found[0]["labels"]
        assert ids.count(end) == 2 and (ids[0], ids[-1]) == (end, end)
        assert labels[0] == IGNORE and labels[-1] == end
        assert trained_text(found) == " two<|end|>"


def test_prompts_of_both_kinds_in_one_data_set_are_refused(chat):
    rows = [{"prompt": CHAT[:2], "completion": CHAT[2:3]}, {"prompt": "x", "completion": "y"}]
    assert trained_text(data.load(rows[:1], tokenizer=chat)) == "two<|end|>"
    with pytest.raises(ValueError, match="texts in one row and messages in another"):
        data.load(rows, tokenizer=chat)


def test_a_later_row_whose_own_document_would_be_lost_is_refused(chat):
    """The mistake beside the law: the text of the second row was read, and its token ids not."""
    text, ids = {"text": "x"}, {"text": "x", "input_ids": [5, 6]}
    talk, pair = {"messages": CHAT}, {"text": "x", "prompt": "x", "completion": "y"}
    for rows, names in (
        ([text, text, ids], "document 2: it has input_ids"),
        ([talk, {**talk, **ids}], "document 1: it has input_ids"),
        ([text, {**talk, **text}], "document 1: it has messages"),
        ([text, pair], "document 1: it has prompt and completion"),
        ([pair, {**pair, **talk}], "document 1: it has messages"),
    ):
        with pytest.raises(ValueError, match=f"{names}, the documents before it have not"):
            data.load(rows, tokenizer=chat)
    for same in ([text, ids], [text, pair, text]):
        assert len(data.load(same, tokenizer=chat, field="text")) == len(same), "who says it, gets"
    gaps = [text, {**text, "input_ids": None, "messages": None}, {**text, "prompt": "x"}]
    assert len(data.load(gaps, tokenizer=chat)) == 3, "a table has empty fields"
    assert data.load([ids, {**ids, **talk}])[1]["input_ids"].tolist() == [5, 6]


def test_several_fields_are_joined_by_an_empty_line():
    rows = [
        {"instruction": "Add.", "input": "1 and 2", "output": "3"},
        {"instruction": "Greet.", "input": "", "output": "hello"},
        {"instruction": "Greet.", "input": None, "output": "hello"},
    ]
    found = data.load(rows, field=("instruction", "input", "output"))
    assert found.text(0) == "Add.\n\n1 and 2\n\n3"
    assert found.text(1) == found.text(2) == "Greet.\n\nhello"
    pairs = data.load(rows, prompt_field=("instruction", "input"), answer_field="output")
    assert trained_text(pairs, 1) == "hello" and pairs.text(0) == "Add.\n\n1 and 23"
    with pytest.raises(ValueError, match="document 0: no field 'body'; the fields are instruction"):
        data.load(rows, field=("instruction", "body"))
    with pytest.raises(ValueError, match="document 0: the fields a, b are all empty"):
        data.load([{"a": "", "b": None}], field=("a", "b"))


def test_a_data_set_with_splits_names_one(tmp_path, monkeypatch):
    import datasets

    one, two = (datasets.Dataset.from_list([{"input_ids": [n]}] * n) for n in (1, 2))
    both = datasets.DatasetDict({"train": one, "test": two})
    both.save_to_disk(str(tmp_path / "saved"))
    one.save_to_disk(str(tmp_path / "single"))
    monkeypatch.setattr(
        datasets, "load_dataset", lambda name, split, streaming: both[split] if split else both
    )
    for source in (both, tmp_path / "saved", "some/hub-name"):
        with pytest.raises(ValueError, match=r"it has the splits train, test; choose one with spl"):
            data.load(source)
        assert len(data.load(source, split="test")) == 2
    for source in (both, tmp_path / "saved"):
        with pytest.raises(ValueError, match="no split 'dev'; there are train, test"):
            data.load(source, split="dev")
    assert len(data.load(datasets.DatasetDict({"only": two}))) == 2, "one split is no choice"
    (tmp_path / "a.jsonl").write_text('{"input_ids": [1]}')
    for source in (one, tmp_path / "single", tmp_path / "a.jsonl", [[1]]):
        with pytest.raises(ValueError, match="has no splits, and 'train' was asked for"):
            data.load(source, split="train")


def test_a_dataset_is_read_as_it_shows_itself():
    """Rows that were chosen, shuffled, renamed or made by a transform; with columns of Arrow."""
    from datasets import Dataset

    rows = Dataset.from_list([{"input_ids": [n, n]} for n in range(3000)])
    shuffled = rows.shuffle(seed=0).select(range(1500))
    assert data.load(shuffled).tokens.reshape(-1, 2).tolist() == list(shuffled["input_ids"])
    ours = rows.with_transform(lambda batch: {"input_ids": [[7] for _ in batch["input_ids"]]})
    assert set(data.load(ours).tokens.tolist()) == {7}
    for form in ("numpy", "torch"):
        assert data.load(rows.with_format(form), limit=2).tokens.tolist() == [0, 0, 1, 1]


def test_token_ids_need_no_tokenizer_and_claim_none(monkeypatch):
    """Counted ids were reported as "tokens of the embedded tokenizer", which never saw them."""
    monkeypatch.setattr("batchlab.data._tokens.embedded", lambda: pytest.fail("not needed"))
    found = data.load([[5, 6, 7]])
    assert found.tokenizer is None and found.vocabulary == 8


def test_every_format_gives_the_same_prompts(tmp_path, chat):
    from datasets import Dataset

    rows = [{"messages": CHAT}, {"messages": CHAT[:3]}]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    Dataset.from_list(rows).to_parquet(tmp_path / "a.parquet")
    sources = (rows, path, tmp_path / "a.parquet", Dataset.from_list(rows))
    found = [data.load(source, tokenizer=chat, answers_only=True) for source in sources]
    assert len({one.fingerprint for one in found}) == 1

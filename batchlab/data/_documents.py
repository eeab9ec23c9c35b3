"""What in a row is the document: token ids, a text, a prompt with its answer, or a conversation.

    a row  ->  TokenIds | Texts | Pairs | Conversations  ->  token ids, and which are trained

The first row of a data set decides; a later one of another kind is refused.

Words
    prompt, answer   text that is given and text that is trained; joined as they are
    conversation     `messages`, each with a role and its content, through a chat template
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from batchlab import reading
from batchlab.data._columns import Ids, Trained, packed, trained_by_labels
from batchlab.data._files import NoBooleans, Row
from batchlab.data._tokens import Encoder, Span
from batchlab.packing import BOUNDARIES

__all__ = ["Fields", "Kind", "kind_of", "names_of"]

SEPARATOR = "\n\n"  # between the fields of one text
Made = tuple[Sequence[Ids], Sequence[Trained] | None]


@dataclass(frozen=True)
class Fields:
    """Which fields were asked for; empty where the row decides."""

    text: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    answers_only: bool = False


class Kind(Protocol):
    """One way to find the document in a row, and to make token ids of many of them."""

    def pick(self, row: Row) -> Any: ...

    def made(self, items: list[Any]) -> Made: ...


def names_of(field: str | Sequence[str] | None) -> tuple[str, ...]:
    """One field or several as a tuple."""
    return (field,) if isinstance(field, str) else tuple(field or ())


# Where no field was asked for, the first of these that a row has is the document, else its text.
BEFORE_TEXT = (("input_ids",), ("messages",), ("prompt", "completion"))


def kind_of(row: Row, fields: Fields, encoder: Encoder) -> Kind:
    """Recognise what a document is by the first row of its data set."""
    if BOUNDARIES in row:
        raise ValueError(f"these rows have {BOUNDARIES}: they are packed already")
    found = _kind_of(row, fields, encoder)
    rank = _rank(lambda name: name in row)
    return found if fields.prompt or fields.text or not rank else Alike(found, rank)


def _rank(has: Callable[[str], bool]) -> int:
    """Which of them a row has first; behind all of them stands its text."""
    ranks = (at for at, names in enumerate(BEFORE_TEXT) if all(map(has, names)))
    return next(ranks, len(BEFORE_TEXT))


def _kind_of(row: Row, fields: Fields, encoder: Encoder) -> Kind:
    if fields.prompt:
        return Pairs(fields.prompt, fields.answer, encoder)
    known = [name for name in ("input_ids", "messages") if name in row]
    if not fields.text and not known and "prompt" in row and "completion" in row:
        return Pairs(("prompt",), ("completion",), encoder)
    names = fields.text or (*known, "text")[:1]
    first = _value(row, names[0])
    if len(names) > 1 or (isinstance(first, str | None) and names[0] != "input_ids"):
        return Texts(names, encoder)
    is_list = isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim > 0)
    if is_list and len(first) and isinstance(first[0], Mapping):
        return Conversations(names[0], fields.answers_only, encoder)
    if isinstance(first, str | Mapping) or not hasattr(first, "__len__"):
        ours = "a list of token ids" if names[0] == "input_ids" else "a text or token ids"
        raise ValueError(f"field {names[0]!r} must be {ours}, got {reading.shown(first)}")
    return TokenIds(names[0])


@dataclass(frozen=True)
class Alike:
    """Refuses a row with a field that comes before the one which is read: it would be lost."""

    kind: Kind
    rank: int

    def pick(self, row: Row) -> Any:
        rank = _rank(lambda name: row.get(name) is not None)
        if rank < self.rank:
            names = " and ".join(BEFORE_TEXT[rank])
            raise ValueError(f"it has {names}, the documents before it have not: say which field")
        return self.kind.pick(row)

    def made(self, items: list[Any]) -> Made:
        return self.kind.made(items)


@dataclass(frozen=True)
class TokenIds:
    """Token ids as they are; `labels` beside them say which are trained."""

    field: str

    def pick(self, row: Row) -> tuple[Ids, Trained]:
        value: Any = row.get(self.field)
        if type(value) is list:
            value = packed(value, has_booleans=type(row) is not NoBooleans)
        elif not _is_column(value):
            value = packed(_as_list(_value(row, self.field), self.field))
        if len(value) == 0:
            raise ValueError(f"field {self.field!r} has no token ids in it")
        labels = row.get("labels")
        is_list = hasattr(labels, "__len__") and not isinstance(labels, str | Mapping)
        if not is_list or getattr(labels, "ndim", 1) == 0:  # nothing, or the class of a text
            return value, None
        return value, trained_by_labels(value, labels)

    def made(self, items: list[tuple[Ids, Trained]]) -> Made:
        return [ids for ids, _ in items], [trained for _, trained in items]


@dataclass(frozen=True)
class Texts:
    """A text, or several joined by an empty line; of several, some may be empty."""

    fields: tuple[str, ...]
    encoder: Encoder

    def pick(self, row: Row) -> str:
        return _joined(row, self.fields)

    def made(self, items: list[str]) -> Made:
        return self.encoder.texts(items), None


@dataclass(frozen=True)
class Pairs:
    """A prompt and its answer, texts or messages; only the answer is trained."""

    prompt: tuple[str, ...]
    answer: tuple[str, ...]
    encoder: Encoder

    def pick(self, row: Row) -> tuple[Span, bool]:
        """The joined text with the span of its answer, and whether a template wrote it."""
        first = _value(row, self.prompt[0])
        if isinstance(first, list | tuple | np.ndarray):
            messages = _messages(row, self.prompt[0]), _messages(row, self.answer[0])
            return self.encoder.turn(*messages, row.get("tools")), True
        prompt, answer = _joined(row, self.prompt), _joined(row, self.answer)
        return (prompt + answer, [(len(prompt), len(prompt) + len(answer))]), False

    def made(self, items: list[tuple[Span, bool]]) -> Made:
        templated = {by_template for _, by_template in items}
        if len(templated) > 1:
            raise ValueError("prompts are texts in one row and messages in another: one of them")
        return self.encoder.spans([span for span, _ in items], special=not templated.pop())


@dataclass(frozen=True)
class Conversations:
    """Messages through the chat template: all of it trained, or only what the assistant says."""

    field: str
    answers_only: bool
    encoder: Encoder

    def pick(self, row: Row) -> Any:
        messages, tools = _messages(row, self.field), row.get("tools")
        one = self.encoder.answers if self.answers_only else self.encoder.rendered
        return one(messages, tools)

    def made(self, items: list[Any]) -> Made:
        if self.answers_only:
            return self.encoder.spans(items, special=False)
        return self.encoder.texts(items, special=False), None


def _value(row: Row, field: str) -> Any:
    if field not in row:
        fields = ", ".join(map(str, row)) or "none"
        raise ValueError(f"no field {field!r}; the fields are {fields:.200}")
    return row[field]


def _joined(row: Row, fields: tuple[str, ...]) -> str:
    """The text of one field, or those of several that are not empty."""
    found = []
    for field in fields:
        value = _value(row, field)
        may_be_empty = len(fields) > 1
        if not isinstance(value, str | None if may_be_empty else str) or not (
            value or may_be_empty
        ):
            raise ValueError(
                f"field {field!r} must be a non-empty text, got {reading.shown(value)}"
            )
        found.append(value)
    text = SEPARATOR.join(value for value in found if value)
    if not text:
        raise ValueError(f"the fields {', '.join(fields)} are all empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a character (\\u{ord(text[error.start]):x}) in it") from None
    return text


def _is_column(value: Any) -> bool:
    """Whether it is a flat array of integers that 64 bits hold."""
    is_flat = isinstance(value, np.ndarray) and value.ndim == 1
    return is_flat and value.dtype.kind in "iu" and value.dtype != np.uint64


def _as_list(value: Any, field: str) -> list[Any]:
    """Token ids of a tuple, a tensor or another sequence."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        value = list(value)
    if not isinstance(value, list):
        raise ValueError(f"field {field!r} must be token ids >= 0, got {reading.shown(value)}")
    return value


def _messages(row: Row, field: str) -> list[Any]:
    value = _value(row, field)
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"field {field!r} must be a list of messages, got {reading.shown(value)}")
    for number, one in enumerate(value):
        if not (isinstance(one, Mapping) and isinstance(one.get("role"), str)):
            raise ValueError(f"message {number} of {field!r} has no role: {reading.shown(one)}")
        if one.get("content") is None and not one.get("tool_calls"):
            raise ValueError(f"message {number} of {field!r} has no content")
    return list(value)

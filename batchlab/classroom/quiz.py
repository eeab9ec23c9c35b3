"""Show a few questions; every option, right or wrong, says why.

    items as plain data  ->  checked  ->  a form: a widget, or the same script inside HTML

Not graded. The form is a fieldset of radio buttons, a button that checks and a live region, so it
speaks to a screen reader and obeys the keyboard; moving through the options judges nothing. The
script stands in `batchlab/web/quiz.js`; `widgets.Scripted` says how it is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from batchlab.widgets import Scripted

__all__ = ["Quiz", "checked", "show"]

Item = Mapping[str, Any]


def show(items: Sequence[Item], *, key: str) -> "Quiz":
    """The form for `items`, drawn when it is the last line of a cell.

    >>> show([{"question": "2 rows of 3 slots?", "options": [
    ...     {"text": "6", "right": True, "why": "a rectangle: 2 x 3"},
    ...     {"text": "5", "right": False, "why": "that adds the sides"}]}], key="00-recall")
    Quiz 00-recall
    1. 2 rows of 3 slots?
       ( ) 6
       ( ) 5
    """
    return Quiz(checked(items, key=key), key)


def checked(items: Sequence[Item], *, key: str) -> list[dict[str, Any]]:
    """The items as plain dictionaries, or a ValueError that names the item and its fault."""
    if not items:
        raise ValueError(f"quiz {key!r} has no items")
    return [_item(item, f"quiz {key!r}, item {number}") for number, item in enumerate(items, 1)]


def _item(item: Item, where: str) -> dict[str, Any]:
    if set(item) != {"question", "options"} or not str(item["question"]).strip():
        raise ValueError(f"{where}: a question and options are needed, there is {sorted(item)}")
    options = []
    for option in item["options"]:
        if set(option) != {"text", "right", "why"} or type(option["right"]) is not bool:
            raise ValueError(f"{where}: an option has text, right (a bool) and why: {dict(option)}")
        if not option["text"].strip() or not option["why"].strip():
            raise ValueError(f"{where}: an option without a text or a reason: {dict(option)}")
        options.append({name: option[name] for name in ("text", "right", "why")})
    right = [option["text"] for option in options if option["right"]]
    if len(options) < 2 or len(right) != 1:
        raise ValueError(f"{where}: exactly one of several options is right, here {right}")
    for name in ("text", "why"):
        said = [option[name].strip() for option in options]
        if len(set(said)) < len(said):
            raise ValueError(f"{where}: every option has its own {name}: {said}")
    return {"question": item["question"], "options": options}


class Quiz(Scripted):
    """The form of some checked items, in every dialect that a notebook or a book understands."""

    script = "quiz.js"
    kept = ("chosen",)

    def __init__(self, items: list[dict[str, Any]], key: str) -> None:
        self.items, self.key = items, key

    def __repr__(self) -> str:
        lines = [f"Quiz {self.key}"]
        for number, item in enumerate(self.items, 1):
            lines.append(f"{number}. {item['question']}")
            lines += [f"   ( ) {option['text']}" for option in item["options"]]
        return "\n".join(lines)

    def kept_as(self) -> str:
        return self.key

    def traits(self) -> dict[str, Any]:
        return {"items": self.items, "chosen": {}, "label": f"Quiz {self.key}"}

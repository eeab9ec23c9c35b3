"""Show a few questions; every option, right or wrong, says why.

    items as plain data  ->  checked  ->  a form: a widget, or the same script inside HTML

Not graded. The form is a fieldset of radio buttons with a live region, so it speaks to a screen
reader and obeys the keyboard. The script stands in `batchlab/web/quiz.js` and is never loaded
from elsewhere: the HTML holds it whole, so the form also works in a book without a kernel and
where anywidget is not installed. BATCHLAB_BOOK=1 asks for the HTML alone.
"""

import html
import json
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

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


class Quiz:
    """The form of some checked items, in every dialect that a notebook or a book understands."""

    def __init__(self, items: list[dict[str, Any]], key: str) -> None:
        self.items, self.key = items, key
        self._widget: Any = None

    def __repr__(self) -> str:
        lines = [f"Quiz {self.key}"]
        for number, item in enumerate(self.items, 1):
            lines.append(f"{number}. {item['question']}")
            lines += [f"   ( ) {option['text']}" for option in item["options"]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The form without a kernel: a place, the script, and its state, in one piece."""
        state = {"items": self.items, "chosen": {}, "label": f"Quiz {self.key}"}
        place = f"bl-quiz-{html.escape(self.key, quote=True)}"
        data = json.dumps(state).replace("<", "\\u003c")  # no text can end the script
        script = _script().replace("export default { render };", "")
        return (
            f'<div id="{place}"><pre>{html.escape(repr(self))}</pre></div>\n'
            f'<script type="module">\n{script}\n'
            f"const state = {data};\n"
            "const model = { get: (name) => state[name], set: (name, value) => "
            "{ state[name] = value; }, save_changes() {}, on() {}, off() {} };\n"
            f"render({{ model, el: document.getElementById({json.dumps(place)}) }});\n</script>"
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self._repr_html_()}
        widget = None if os.environ.get("BATCHLAB_BOOK") else self.widget()
        if widget is not None:
            made = widget._repr_mimebundle_()
            bundle |= (made[0] if isinstance(made, tuple) else made) | {"text/plain": repr(self)}
        return bundle

    def widget(self) -> Any:
        """The anywidget of this quiz, made once; None where anywidget is not installed."""
        if self._widget is None:
            try:
                import anywidget
                import traitlets
            except ImportError:
                return None
            kind = type(
                "QuizWidget",
                (anywidget.AnyWidget,),
                {
                    "_esm": _script(),
                    "items": traitlets.List().tag(sync=True),
                    "chosen": traitlets.Dict().tag(sync=True),
                    "label": traitlets.Unicode().tag(sync=True),
                },
            )
            self._widget = kind(items=self.items, chosen={}, label=f"Quiz {self.key}")
        return self._widget


def _script() -> str:
    return (resources.files("batchlab") / "web" / "quiz.js").read_text(encoding="utf-8")

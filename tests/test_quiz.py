"""A quiz has one right option a question, a reason for each, and one script for every place."""

import copy
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from batchlab.classroom import quiz
from batchlab.widgets import _scripted as dialects

ITEMS = [
    {
        "question": "Slots of 2 rows of 3?",
        "options": [
            {"text": "6", "right": True, "why": "a rectangle: `2 * 3`"},
            {"text": "5", "right": False, "why": "that adds the sides"},
            {"text": "3", "right": False, "why": "that is one row </script><b>"},
        ],
    }
]


def test_good_items_come_back_as_plain_data():
    assert quiz.checked(ITEMS, key="02-recall") == ITEMS


def broken(change) -> list[dict]:
    items = copy.deepcopy(ITEMS)
    change(items[0])
    return items


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda item: item["options"][0].update(right=False), "exactly one"),
        (lambda item: item["options"][1].update(right=True), "exactly one"),
        (lambda item: item.update(options=item["options"][:1]), "exactly one"),
        (lambda item: item["options"][1].update(why=" "), "without a text or a reason"),
        (lambda item: item["options"][1].pop("why"), "has text, right"),
        (lambda item: item["options"][1].update(right=0), "a bool"),
        (lambda item: item["options"][1].update(why=item["options"][2]["why"]), "its own why"),
        (lambda item: item["options"][1].update(text="3"), "its own text"),
        (lambda item: item.update(question=""), "a question and options"),
    ],
)
def test_a_faulty_item_is_named(change, said):
    with pytest.raises(ValueError, match=r"quiz .02-recall., item 1: ") as caught:
        quiz.show(broken(change), key="02-recall")
    assert said in str(caught.value)


def test_a_quiz_without_items_is_refused():
    with pytest.raises(ValueError, match="no items"):
        quiz.show([], key="x")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_html_holds_its_script_and_state_and_asks_no_other_host():
    page = quiz.show(ITEMS, key="02-recall")._repr_html_()
    tags = Tags()
    tags.feed(page)
    assert [tag for tag, _ in tags.found] == ["div", "pre", "script"], "no text became markup"
    assert not re.search(r"https?://|import\s|src=", page)
    state = re.search(r"^const given = (.*);$", page, re.M)
    assert state and json.loads(state[1])["items"] == ITEMS


def test_the_form_is_made_of_what_a_screen_reader_knows():
    script = dialects.source("quiz.js")
    for part in ("fieldset", "legend", "radio", "aria-live", "role", "aria-label", "focus-visible"):
        assert part in script
    assert "innerHTML" not in script, "texts never become markup"


def test_without_anywidget_the_html_remains(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    bundle = quiz.show(ITEMS, key="x")._repr_mimebundle_(include=None, exclude=None)
    assert sorted(bundle) == ["text/html", "text/plain"]


def test_the_book_asks_for_the_html_alone(monkeypatch):
    monkeypatch.setenv("BATCHLAB_BOOK", "1")
    assert "text/html" in quiz.show(ITEMS, key="x")._repr_mimebundle_()


def test_with_anywidget_the_same_script_draws_the_same_items(monkeypatch):
    pytest.importorskip("anywidget")
    monkeypatch.delenv("BATCHLAB_BOOK", raising=False)
    form = quiz.show(ITEMS, key="02-recall")
    bundle = form._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle and "text/html" in bundle
    assert form.widget().items == ITEMS and form.widget() is form.widget()
    assert form.widget()._esm == dialects.source("quiz.js")


def test_the_review_asks_of_every_lesson():
    """Each right answer names its lesson, or the question does; the page shows one quiz a part."""
    page = (Path(__file__).parent.parent / "book/review.md").read_text(encoding="utf-8")
    shown: list[quiz.Quiz] = []
    for cell in re.findall(r"^quiz\.show\(.*?^\], key=\"[a-z-]+\"\)$", page, re.M | re.S):
        shown.append(eval(cell, {"quiz": quiz}))
    names = ["batch", "step", "learning", "scale"]
    assert [one.key for one in shown] == [f"review-{name}" for name in names]
    asked = []
    for one in shown:
        for item in one.items:
            (right,) = (option for option in item["options"] if option["right"])
            said = " ".join([item["question"], *(o["why"] for o in item["options"])])
            named = re.findall(r"[Ll]essons? (\d\d?)(?: and (\d\d?))?", said)
            assert named, right["text"]
            asked += [int(n) for pair in named for n in pair if n]
    assert set(asked) == set(range(1, 19))

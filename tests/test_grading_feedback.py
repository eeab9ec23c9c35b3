"""Feedback is text: whatever a notebook, a name or a message holds, the page runs nothing (T29)."""

from html.parser import HTMLParser

import pytest

from batchlab.grading import _feedback as feedback
from batchlab.grading._points import Grade
from batchlab.grading._record import Record
from batchlab.grading._verdict import Judged

ACTIVE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=//evil></iframe>",
    "<a href=javascript:alert(1)>x</a>",
    "</pre><style>@import url(//evil)</style>",
    "'\"><script>alert(1)</script>",
    "<!-- --><script>alert(1)</script>",
    "\x00<script>\ufeff",
    "&lt;script&gt;",
    "{title} {0} {questions!r}",
    "%%javascript\nalert(1)",
    "\ud800\x1b[2J\u202e",
]
TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "pre", "small"}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def graded(text, **more):
    asked = (Judged("check-a", "FAIL", 0.0, 2.0, text, 0.1), Judged("check-b", "PASS", 2, 2, "", 0))
    one = Record("02_padding", text, text, text, text, "x", "k" * 64, "c", "L3", "secret-print", {},
                 "2026-05-03T10:00:00+00:00", asked, (text,))  # fmt: skip
    return Grade(one, more.get("given", {}))


@pytest.mark.parametrize("text", ACTIVE)
def test_no_text_of_a_stranger_becomes_markup(text):
    found = read(feedback.page(graded(text, given={"check-b": (1.0, text)})))
    assert set(found.tags) <= TAGS and found.tags.count("style") == 1
    assert set(found.attributes) == {"lang", "charset", "http-equiv", "content", "name"}
    shown = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    assert shown in found.text.replace("\r", "")


def test_the_judge_of_this_page_sees_what_would_run():
    """The mistake beside the law: one text that is not escaped."""
    found = read(feedback.page(graded("x")).replace("<pre>x", "<pre><img onerror=alert(1)>"))
    assert not set(found.tags) <= TAGS and "onerror" in found.attributes


def test_the_page_says_points_verdict_and_message_and_nothing_of_the_seed():
    text = read(feedback.page(graded("asked   waste of [5, 3]\ngot     0.25"))).text
    assert "2 of 4 points" in text and "asked   waste of [5, 3]\ngot     0.25" in text
    assert "FAIL: the check refused the answer, and says why." in text
    assert "secret-print" not in text


def test_a_page_forbids_itself_to_load_anything_and_is_short_whatever_was_said():
    page = feedback.page(graded("x" * 10**6))
    assert "default-src 'none'" in page and len(page) < 40_000


def test_a_page_is_written_once_for_each_student_and_not_again_without_a_change(tmp_path):
    path = feedback.write(tmp_path, graded("../../etc"))
    before = path.stat().st_mtime_ns
    assert path.parent == tmp_path / "feedback/02_padding"
    assert feedback.write(tmp_path, graded("../../etc")).stat().st_mtime_ns == before

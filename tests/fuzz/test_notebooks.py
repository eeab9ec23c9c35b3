"""Whatever a stranger hands in as a notebook: it is read in a second, or refused in one line."""

# ruff: noqa: E501  (odd texts stand on one line)

import json
import time

import pytest
from hypothesis import strategies as st

from batchlab.grading import _ingest, _lesson
from tests.fuzz.test_readers import damaged
from tests.torture_lesson import ANSWERS, sent, written

SECONDS = 1.0  # of CPU
LETTERS = 12_000  # of one odd text
UNITS = [
    " ", "\n", "\t", "(", "[", "{", "((", "x = (\n", "a ", "a.", "a,", "a(", "-", "not ", "lambda: ", "\\\n", "\\",
    "%x\n", "!ls\n", "%%time\n", "?", "x?\n", "#", "# %%\n", "'", '"', "'''", '"""', "f'{", "f'{x:{", "0", "1_", "0x",
    "if x:\n", "if x:\n\t", "def f():\n ", "class A:\n ", "x = 1\n", "x = y; y = x\n", "def f(): return g\n", "@d\n",
    "from batchlab import exercises\n", "import a.b as c, d\n", "total = total\n", "with a as b, ", "*a, ", "async ",
    "\r", "\x0c", "\0", "\ufeff", "\u2028", "\ud800", "é", "\U0001f600", "In[1]: ", ">>> x\n", "... ", "1if 1else ",
    "{'a': ", "x[", "a if b else ", "yield ", "await ", "global x\n", "try:\n", "except*E:\n ", "match x:\n case ",
]  # fmt: skip
LEFT = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ANY = st.recursive(LEFT, lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3))  # fmt: skip


@st.composite
def texts(draw):
    """A text that repeats a few odd parts, up to `LETTERS`, with something before and behind."""
    parts = "".join(draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=3)))
    many = draw(st.sampled_from([1, 1, 9, 99, 999, LETTERS // len(parts)]))
    ends = st.sampled_from(["", "x = (", "def total(lengths):\n", ")", "\n", "1", '"'])
    return (draw(ends) + parts * many + draw(ends))[:LETTERS]


@st.composite
def cells(draw):
    """A cell of a known or an odd id, kind and metadata; alone or many times."""
    names = st.sampled_from([*ANSWERS, *(f"check-{one}" for one in ANSWERS), "x"]) | ANY
    marks = st.fixed_dictionaries({}, optional={
        "grade_id": names, "grade": ANY, "solution": ANY, "points": ANY, "schema_version": ANY,
    })  # fmt: skip
    odd = draw(st.integers(0, 9)) == 0  # a source that is no text: the file is refused
    made = {
        "cell_type": draw(st.sampled_from(["code", "markdown", "raw"]) | ANY), "id": draw(names),
        "metadata": draw(st.fixed_dictionaries({"nbgrader": marks | ANY}) | ANY),
        draw(st.sampled_from(["source", "input"])): draw(ANY if odd else texts() | st.lists(texts(), max_size=2)),
        "outputs": draw(ANY), "attachments": draw(ANY),
    }  # fmt: skip
    large = len(str(made)) > 1000
    return [made] * draw(st.sampled_from([1, 2] if large else [1, 2, 40, 300]))


@st.composite
def notebooks(draw):
    """The bytes of a released notebook, with odd cells, odd words around them, and damage."""
    book = sent({})
    for some in draw(st.lists(cells(), max_size=3)):
        at = draw(st.integers(0, len(book["cells"])))
        book["cells"][at:at] = some
    book |= draw(st.dictionaries(st.sampled_from(["nbformat", "metadata", "worksheets", "cells", "x"]), ANY, max_size=1))  # fmt: skip
    form = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    raw = json.dumps(book, ensure_ascii=draw(st.booleans())).encode(form, "replace")
    return draw(damaged(raw)) if draw(st.integers(0, 3)) == 0 else raw


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return _lesson.opened(written(tmp_path_factory.mktemp("course")))


def test_any_notebook_is_read_in_a_second_or_refused_in_one_line(fuzz, lesson):
    worst = [0.0, b""]

    def law(raw):
        began = time.process_time()
        try:
            found = _ingest.read(raw, lesson)
        except _ingest.Refused as why:
            assert len(str(why)) < 120 and "\n" not in str(why)
        else:
            assert {one.name for one in lesson.questions} == {*found.moments}
            assert all(0 <= one.after <= len(found.cells) for one in found.moments.values())
        took = time.process_time() - began
        worst[:] = max(worst, [took, raw[:400]])
        assert took < SECONDS, f"{len(raw):,} bytes took {took:.1f} s of CPU: {raw[:200]!r}"

    fuzz(law, notebooks() | texts().map(lambda text: text.encode("utf-8", "replace")))
    assert worst[0] > 0, "something was read"

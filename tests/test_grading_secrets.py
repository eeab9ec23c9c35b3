"""No word that a student reads was chosen by a process that had met a hidden input."""

# ruff: noqa: E501  (code of students stands on one line)

import json
import re
import sys

import pytest

from batchlab.grading import Engine
from tests.torture_lesson import ANSWERS, right_but, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
KEEPS = "KEPT = []\ndef total(lengths):\n    KEPT.append(list(lengths))\n    open('kept', 'w').write(repr(KEPT))\n    return sum(lengths)"
TOLD = {
    "an error of the next answer": {"scaled": "def scaled(v, f):\n    raise ValueError(KEPT)"},
    "a value of the next answer": {"ordered": "def ordered(items):\n    return KEPT"},
    "an error of its cell": {"scaled": "raise ValueError(KEPT)"},
    "a complaint of a test": {"total_test": "def total_test(total):\n    raise ValueError(KEPT)"},
    "a file": {"ordered": "def ordered(items):\n    raise ValueError(open('kept').read())"},
    "the same answer, asked again": {"total": "KEPT = []\ndef total(lengths):\n    KEPT.append(lengths)\n    if late: raise ValueError(KEPT)\n    return sum(lengths) if len(KEPT) < 5 else 0", "parts": "late = False\n" + ANSWERS["parts"]},
    "a value, before the check is kept busy": {"scaled": "def scaled(v, f):\n    raise ValueError(KEPT)", "parts": "def parts(count, size):\n    return {k * (2**61 - 1): 0 for k in range(1, 300)}"},
}  # fmt: skip


@pytest.fixture(scope="module", params=["L3", "L2"])
def engine(request, tmp_path_factory):
    try:
        with Engine(
            written(tmp_path_factory.mktemp("course")),
            seed="zq-autumn-81",
            level=request.param,
            cpu_seconds=5,
        ) as one:
            yield one
    except ValueError as error:
        pytest.skip(str(error))


def hidden(engine):
    """The inputs that the hidden check of `total` draws, as a wrong answer shows them to a teacher."""
    one = engine.grade(json.dumps(right_but(total="def total(some):\n    return sum(some) + (len(some) == 3)")).encode())[0]  # fmt: skip
    found = re.search(r"total of (\[.*\])", one.detail)
    assert found and found[1] not in one.message
    return found[1]


@pytest.mark.parametrize("answers", TOLD.values(), ids=TOLD)
def test_no_word_tells_an_input_that_was_met_before(engine, answers):
    secret = hidden(engine)
    judged = engine.grade(json.dumps(right_but(**{"total": KEEPS, **answers})).encode())
    assert any(one.points < one.of for one in judged), "there is something to tell"
    assert not [one.message for one in judged if secret in one.message]
    got = [one.message.partition("\ngot")[2] for one in judged]
    assert not [text for text in got if re.search(r"\[\d+, \d+, \d+\]", text)]


def test_what_an_honest_answer_says_is_said(engine):
    judged = engine.grade(json.dumps(right_but(scaled="def scaled(values, factor):\n    return values")).encode())  # fmt: skip
    assert "right is 3" in judged[1].message and judged[1].message == judged[1].detail
    judged = engine.grade(json.dumps(right_but(scaled="def scaled(values, factor):\n    return (values + values) * 1.5 if len(values) == 2 else values")).encode())  # fmt: skip
    assert "a hidden case gave another value" in judged[1].message

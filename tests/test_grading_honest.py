"""What honest students do beside the exercise costs them nothing: each passed in Jupyter, so here."""

# ruff: noqa: E501  (code of students stands on one line)

import json
import sys

import pytest

from batchlab.grading import Engine, looked_at
from tests.torture_lesson import cell, notebook, right_but, sent, stub, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
CALLS = "def total(lengths):\n    return my_sum(lengths)"
HELPER = cell("mine", "factor = 1\ndef my_sum(some):\n    return factor * sum(some)")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Engine(
        written(tmp_path_factory.mktemp("course")), seed="zq-autumn-81", cpu_seconds=5
    ) as one:
        yield one


def judged(engine, what):
    return engine.grade(what if isinstance(what, bytes) else json.dumps(what).encode())


def verdicts(engine, what):
    return {one.verdict for one in judged(engine, what)}


def around(what, before=(), behind=(), at="total"):
    """The notebook with cells of one's own: on top, and behind the check of an answer."""
    place = [one["id"] for one in what["cells"]].index(f"check-{at}") + 1
    return notebook([*before, *what["cells"][:place], *behind, *what["cells"][place:]])


LATER = {
    "the helper, otherwise": "def my_sum(some):\n    return 'scratch'",
    "a constant": "factor = 7",
    "the helper, gone": "del my_sum",
    "the answer, otherwise": "def total(lengths):\n    return 0",
    "the answer, gone": "del total",
    "a name of Python": "sum = 3",
    "a module": "np = None\ncheck = None",
    "all names": "globals().clear()",
    "an error": "1 / 0",
    "an end": "exit()",
}


@pytest.mark.parametrize("code", LATER.values(), ids=LATER)
def test_what_a_later_cell_does_to_names_costs_nothing(engine, code):
    what = around(right_but(total=CALLS), [HELPER])
    assert verdicts(engine, notebook([*what["cells"], cell("scratch", code)])) == {"PASS"}
    found = judged(engine, around(right_but(total=CALLS), [HELPER], [cell("scratch", code)]))
    assert found[0].verdict == "PASS"


def test_a_helper_that_stands_below_its_check_is_there(engine):
    what = right_but(total=CALLS)
    assert verdicts(engine, notebook([*what["cells"], HELPER])) == {"PASS"}
    bottom = notebook([*what["cells"], HELPER, cell("more", "factor = 7")])
    assert judged(engine, bottom)[0].points == 0, "right neither there nor at the end"


FILES = {
    "a module": "%%writefile my_tools.py\ndef my_sum(some):\n    return sum(some)",
    "a module in two parts": "%%file my_tools.py\nmy_sum = sum",
    "by hand": "with open('my_tools.py', 'w') as file:\n    file.write('def my_sum(some):\\n    return sum(some)\\n')",
}


@pytest.mark.parametrize("code", FILES.values(), ids=FILES)
def test_a_file_that_the_notebook_writes_is_there(engine, code):
    more = [cell("more", "%%writefile -a my_tools.py\nreally = 1")]
    what = right_but(total="from my_tools import my_sum\n" + CALLS)
    assert verdicts(engine, around(what, [cell("file", code), *more])) == {"PASS"}


LINES = {
    "time": "%time my_sum = sum",
    "help": "my_sum = sum\nsum?\n?sum",
    "shell": "!pip install seaborn\nfiles = !ls\nmy_sum = sum",
    "indented": "if True:\n    %matplotlib inline\n    my_sum = sum",
    "a module that is not here": "my_sum = sum\nimport seaborn_of_the_students_machine",
    "and behind it": "import seaborn_of_the_students_machine\ndef my_sum(some):\n    return sum(some)",
    "colab": "my_sum = sum\nfrom google.colab import drive\ndrive.mount('/content')",
    "a folder that is not here": "my_sum = sum\nimport os\nos.chdir('/content')",
    "a shell line that goes on": "my_sum = sum\n!pip install \\\n    seaborn\n",
    "a script": "with open('tools.py', 'w') as file:\n    file.write('my_sum = sum')\n%run tools.py",
    "a NUL": "my_sum = sum  # \0",
    "much data": f"data = '{'x' * 300_000}'\nmy_sum = sum",
    "a question": "my_sum = sum\nname = input('who are you?')",
}


@pytest.mark.parametrize("code", LINES.values(), ids=LINES)
def test_what_only_a_notebook_or_another_machine_has_costs_nothing(engine, code):
    assert verdicts(engine, around(right_but(total=CALLS), [cell("mine", code)])) == {"PASS"}
    inside = right_but(total=f"{code}\n{CALLS}")
    assert verdicts(engine, inside) == {"PASS"}


def test_an_answer_that_raises_before_its_definition_says_so(engine):
    one = judged(engine, right_but(total="raise OSError('no file')"))[0]
    assert one.verdict == "ERROR" and "OSError: no file" in one.message


@pytest.mark.parametrize("rest", ["", "check.passed('Right.')"])
def test_an_answer_that_stands_in_the_cell_of_its_check_is_read(engine, rest):
    """Two cells that were merged, or an answer typed above the check: a person looks, it counts."""
    what = right_but(total=stub("total"))
    for one in what["cells"]:
        if one["id"] == "check-total":
            one["source"] = f"{HELPER['source']}\n{CALLS}\n{rest}"
    found = judged(engine, what)
    assert [one.points for one in found] == [2] * 5 and found[0].verdict == "REVIEW"


def test_a_feature_of_python_that_a_cell_asks_for_holds_in_the_cells_below(engine):
    what = right_but(total="def total(lengths: Some) -> Undefined:\n    return sum(lengths)")
    mine = cell("mine", "from __future__ import annotations")
    assert verdicts(engine, around(what, [mine])) == {"PASS"}
    assert judged(engine, what)[0].points == 0, "as in Jupyter"


def test_the_check_of_a_moment_is_not_that_of_another_answer(engine):
    first, last = right_but(total=stub("total")), cell("late", "def total(lengths):\n    return 5")
    assert judged(engine, notebook([*first["cells"], last]))[0].points == 0


def test_a_file_that_ends_early_gives_what_is_whole_and_is_named(engine):
    raw = json.dumps(sent()).encode()
    found = judged(engine, raw[: raw.index(b'"check-ordered"')])
    assert [one.verdict for one in found] == ["PASS"] * 3 + ["MISSING"] * 2 or [
        one.points for one in found
    ] == [2, 2, 2, 0, 0]
    assert looked_at(found) == ("CUT",)

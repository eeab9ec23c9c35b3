"""No value stops a class: what is too large is refused, and the checker itself has its limits.

The checks are not those that the notebooks hold, so each is reviewed: points are compared.
"""

import dataclasses
import json
import sys

import pytest

from batchlab.grading import Engine
from tests.torture_lesson import cell, notebook, right_but, with_checks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
SPINS = "got = parts(4, 3)\nfor _ in range(got): pass\n1.0 * (got == 2) + 1.0"
GROWS = (
    "got = scaled(1, 2)\nkept = [bytearray(1 << 20) for _ in range(got)]\ncheck.passed('Right.')"
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    teacher = with_checks(tmp_path_factory.mktemp("course"), parts=SPINS, scaled=GROWS)
    with Engine(teacher, seed="zq-autumn-81", cpu_seconds=5, memory=1 << 27) as one:
        one.limits = dataclasses.replace(one.limits, checker_seconds=0.3)
        yield one


def told(engine, what):
    judged = engine.grade(json.dumps(what).encode())
    return [one.points for one in judged], judged[0].message


def points(engine, **answers):
    """Points of each question of a notebook whose other answers are right."""
    return told(engine, right_but(**{"scaled": ONE, **answers}))[0]


ONE = "def scaled(v, f):\n    return 1"
NESTED = "def total(lengths):\n    x = {}\n    for _ in range(60): x = {}\n    return x"


@pytest.mark.parametrize(
    "start",
    ["[x, x]", *(pytest.param(one, marks=pytest.mark.slow) for one in ("(x, x)", "{1: x, 2: x}"))],
)
def test_what_is_nested_without_end_costs_one_question(engine, start):
    code = NESTED.format("[1]", start)
    found, said = told(engine, right_but(total=code, scaled=ONE))
    assert found == [0, 2, 2, 2, 2] and "too large to be checked" in said


def test_a_check_that_a_value_keeps_busy_costs_one_question(engine):
    assert points(engine, parts="def parts(count, size):\n    return 10**12") == [2, 2, 2, 2, 0]
    assert points(engine, scaled="def scaled(v, f):\n    return 10**9") == [2, 0, 2, 2, 2]


def test_a_forged_flood_costs_one_question(engine):
    code = """def total(lengths):
    import gc
    from batchlab.grading._wire import Channel
    (line,) = [one for one in gc.get_objects() if isinstance(one, Channel)]
    line.send(['d', ['value', ['l', *[['L', [1] * 1000]] * 1000]]], [])"""
    assert points(engine, total=code) == [0, 2, 2, 2, 2]


FLOOD = """from batchlab.grading import _errors
_errors.told = lambda error: {"names": ["E"], "text": "", "complaint": "x" * (15 << 20)}"""


@pytest.mark.slow
def test_errors_of_many_cells_are_kept_short(engine):
    """Together they are longer than one message may be."""
    more = [cell("first", FLOOD), *[cell(f"e{n}", f"raise OSError({n})") for n in range(20)]]
    what = right_but(scaled=ONE)
    assert told(engine, notebook([*more, *what["cells"]]))[0] == [2] * 5


ODD = {
    "blanks": " " * 500_000 + "x = (\n", "words": "a " * 200_000 + "=", "brackets": "(" * 100_000,
    "magics": "%x\n" * 100_000 + "x = (", "signs": "-" * 500_000 + "1",
    "lines": "\n" * 400_000 + "(",
}  # fmt: skip


@pytest.mark.parametrize("source", ODD.values(), ids=ODD)
def test_an_odd_cell_costs_nothing(engine, source):
    what = notebook([cell("odd", source), *right_but(scaled=ONE)["cells"]])
    assert told(engine, what)[0] == [2] * 5

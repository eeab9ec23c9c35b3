"""Whatever a learner returns, a check says so in four short lines and never falls over."""

import decimal
import fractions
import itertools
from collections import Counter, OrderedDict, deque
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from batchlab.classroom import check, predict

WORDS = {"asked", "got", "likely", "try"}


class Yes(float):
    """Equal to everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Whole(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Broken:
    """Nothing that is asked of it works."""

    def _fails(self, *_: object) -> Any:
        raise RuntimeError("broken")

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __float__ = __index__ = _fails
    __getattr__ = __array__ = __contains__ = __deepcopy__ = __reduce_ex__ = _fails
    __hash__ = None  # type: ignore[assignment]


class Named:
    """Called like a tensor, and equal to everything."""

    __module__ = "torch"
    requires_grad, is_leaf, shape, dtype = True, False, (), "float32"

    def __eq__(self, other):
        return True

    __hash__ = None  # type: ignore[assignment]


Named.__name__ = Named.__qualname__ = "Tensor"


class Liar(type):
    """A class whose name is no text and whose instances say that they are lists."""

    @property
    def __name__(cls):
        return 3


class Lying(metaclass=Liar):
    @property
    def __class__(self):
        return list


def a_list_that_holds_itself() -> list:
    found: list = [1]
    found += [found, found]
    return found


def a_list_of_doubled_lists() -> list:
    found: list = [1]
    for _ in range(60):
        found = [found, found]
    return found


def a_deep_list() -> list:
    found: list = []
    for _ in range(3000):
        found = [found]
    return found


def boxed(value: object) -> np.ndarray:
    found = np.empty((), dtype=object)
    found[()] = value
    return found


MADE = [
    lambda: Yes(3),
    lambda: Whole(3),
    Broken,
    Named,
    Lying,
    object,
    lambda: Broken,
    lambda: Liar,
    lambda: (x for x in [1, 2]),
    lambda: iter([1]),
    itertools.count,
    lambda: len,
    lambda: lambda x: x,
    lambda: NotImplemented,
    lambda: ...,
    a_list_that_holds_itself,
    a_list_of_doubled_lists,
    a_deep_list,
    lambda: 10**5000,
    lambda: -(10**400),
    lambda: fractions.Fraction(10**400, 3),
    lambda: fractions.Fraction(3, 10**400),
    lambda: decimal.Decimal("NaN"),
    lambda: "\ud800",
    lambda: b"10",
    lambda: memoryview(b"10"),
    lambda: np.ma.masked,
    lambda: np.ma.array([1, 2], mask=[True, False]),
    lambda: np.ones((1, 2)).view(np.matrix),
    lambda: np.array([Yes(1), Yes(2), Yes(3)], dtype=object),
    lambda: boxed(Broken()),
    lambda: boxed(a_list_that_holds_itself()),
    lambda: boxed(Yes(3)),
    lambda: np.longdouble("1e400"),
    lambda: np.datetime64("NaT"),
    lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    lambda: np.recarray(2, dtype=[("a", "i4")]),
    lambda: np.void(b"ab"),
    lambda: np.random.default_rng(0),
    lambda: torch.tensor([1 + 2j]),
    lambda: torch.eye(3).to_sparse(),
    lambda: torch.empty(3, device="meta"),
    lambda: torch.ones(3, requires_grad=True) * 2,
    lambda: torch.nn.Linear(1, 1),
    lambda: torch.Generator(),
    lambda: torch.float32,
]
made = st.integers(0, len(MADE) - 1).map(lambda number: MADE[number]())
keys = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda some: st.tuples(some, some) | st.frozensets(some, max_size=3),
    max_leaves=4,
)
plain = (
    keys
    | st.complex_numbers()
    | st.binary(max_size=4)
    | st.integers(min_value=10**18, max_value=10**40)
    | st.sampled_from([float("nan"), float("inf"), -0.0, 5e-324, 1.7e308])
    | st.decimals()
    | st.fractions()
    | arrays.scalar_dtypes().flatmap(arrays.from_dtype)
)
dense = arrays.arrays(
    arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
)
tensors = st.builds(
    lambda shape, kind: torch.ones(shape).to(kind),
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from(
        [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.bool, torch.complex64]
    ),
)
values = st.recursive(
    plain | dense | tensors | made,
    lambda some: (
        st.lists(some, max_size=5)
        | st.lists(some, max_size=4).map(tuple)
        | st.lists(some, max_size=4).map(deque)
        | st.sets(keys, max_size=4)
        | st.dictionaries(keys, some, max_size=4)
        | st.dictionaries(keys, some, max_size=3).map(OrderedDict)
        | st.dictionaries(keys, st.integers(), max_size=3).map(Counter)
    ),
    max_leaves=12,
)

ASK = {"asked": "anything", "try_this": "something"}
WANTED = [[1, [2, 3]], [[1], [2, 3]], {"rows": 8, (1, 2): [0.5]}, [0.1, 0.2], "text", 3, None]


def judges(value: Any) -> list:
    """Every door that takes what a learner returned."""
    numbers = [(3, {}), (10**400, {}), (0.25, {"mistakes": {0.5: "twice"}}), (-1.5, {"abs": 1e-3})]
    numbers += [(4, {"whole": True}), (7, {"constant": True, "mistakes": {10**400: "far"}})]
    found = [lambda w=w, o=o: check.equal(value, w, **ASK, **o) for w, o in numbers]
    shaped = [[1, 2, 3], [[0.5, float("nan")]], 2, [[True]], [2**62, 0]]
    found += [lambda w=w: check.array(value, w, **ASK) for w in shaped]
    found += [lambda: check.array(value, [0, 1], dtype="int", mistakes=[([1], "short")], **ASK)]
    for want in WANTED:
        found += [
            lambda w=want, o=o: check.same(value, w, mistakes=[(w, "x")], **ASK, **o)
            for o in ({}, {"order": False}, {"groups": True}, {"constant": True})
        ]
    found += [lambda: check.choice(value, "padding", mistakes={"network": "x"}, **ASK)]
    found += [lambda: check.law("it holds", False, case=value)]
    found += [lambda: check.call(lambda x: x, value, none=True, **ASK)]
    found += [lambda: check.call(lambda x: 1 / 0, value, **ASK)]
    found += [lambda: untouched(value)]
    return found


def untouched(value: Any) -> None:
    with check.unchanged(value, asked="anything"):
        pass


def ends_in_a_verdict(value: Any) -> None:
    for judge in judges(value):
        try:
            judge()
        except check.CheckFailed as verdict:
            said = str(verdict).splitlines()
            assert 2 <= len(said) <= 4 and {line[:7].strip() for line in said} <= WORDS
            assert max(map(len, said)) <= 400, "short lines"
            str(verdict).encode()
    predict.number("fuzz", value)
    predict.reveal("fuzz", value)


@pytest.fixture(autouse=True)
def no_file(monkeypatch):
    monkeypatch.setenv("BATCHLAB_GRADING", "1")
    yield
    predict._memory.clear()


often = settings(
    deadline=timedelta(seconds=20),  # no hang; the slowest takes a fraction of a second
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@given(values)
@settings(often, max_examples=150)
def test_any_value_ends_in_a_verdict(value):
    ends_in_a_verdict(value)


@pytest.mark.deep
@given(values)
@settings(often, max_examples=10_000)
def test_any_of_many_values_ends_in_a_verdict(value):
    ends_in_a_verdict(value)


@pytest.mark.parametrize("make", MADE, ids=range(len(MADE)))
def test_every_odd_thing_ends_in_a_verdict(make):
    ends_in_a_verdict(make())


@pytest.mark.parametrize("make", MADE, ids=range(len(MADE)))
def test_no_odd_thing_is_a_right_answer(make):
    """The mistake beside the law: what equals everything must not be right."""
    for want in (3, 0.5):
        with pytest.raises(check.CheckFailed):
            check.equal(make(), want, asked="x")
    for want in ([1, 2, 3], [[1, 2]]):
        with pytest.raises(check.CheckFailed):
            check.array(make(), want, asked="x")
        with pytest.raises(check.CheckFailed):
            check.same(make(), want, asked="x")
    with pytest.raises(check.CheckFailed):
        check.choice(make(), "padding", asked="x")

"""Verdicts on numbers, arrays and collections at their limits, with the words that they come in."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from batchlab.classroom import check, plain
from tests.refusals import refusal


def got(judge, *arguments, **options) -> str:
    """What stands behind `got`, and behind `likely` where there is a thought."""
    lines = refusal(judge, *arguments, asked="x", **options).splitlines()
    assert lines[0] == "asked   x"
    return " | ".join(line[8:] for line in lines[1:])


# numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "right", "said"),
    [
        (0.5, 2, "0.5, which is too small"),
        (0.5, -0.5, "0.5, which is of the wrong sign"),
        (-0.5, 0.5, "-0.5, which is of the wrong sign"),
        (-0.5, -0.25, "-0.5, which is too small"),
        (-0.5, -2.0, "-0.5, which is too large"),
        (0, 1, "0, which is too small"),
        (0, -1, "0, which is too large"),
        (1, 0, "1, which is too large"),
        (-1, 0, "-1, which is too small"),
    ],
)
def test_the_direction_of_a_miss_has_a_sign_where_both_numbers_have_one(value, right, said):
    assert got(check.equal, value, right, constant=True) == said


@pytest.mark.parametrize(
    ("value", "right", "options"),
    [
        (1_000_010, 1_000_000, {"rel": 1e-5}),
        (1.00001, 1.0, {}),
        (3, 4, {"abs": 1.0}),
        (3.0, 3, {}),
        (3, 3, {"rel": 0.0}),
        (0.25, Fraction(1, 4), {}),
    ],
)
def test_a_number_within_its_tolerance_is_right(value, right, options):
    check.equal(value, right, asked="x", **options)


@pytest.mark.parametrize(
    ("value", "right", "options", "said"),
    [
        (1_000_011, 1_000_000, {"rel": 1e-5}, "1000011, right is 1000000"),
        (1_000_001, 1_000_000, {}, "1000001, right is 1000000 | rounding"),
        (1_000_002, 1_000_000, {}, "1000002, right is 1000000"),
        (1_000_001, 1_000_000, {"rel": 1e-9}, "1000001, right is 1000000"),
        (11, 10, {}, "11, right is 10"),
        (1e-7, 0, {}, "1e-07, right is 0"),
        (3, 5, {"abs": 1.0}, "3, right is 5"),
        (1.00003, 1.0, {}, "1.00003, right is 1"),
        (10**30 + 1, 10**30, {}, f"{10**30 + 1}, right is {10**30} | rounding"),
        (
            10**400 + 1,
            10**400,
            {"rel": 1e-5},
            f"1{'0' * 27}...{'0' * 27}1, right is 1{'0' * 27}...",
        ),
    ],
)
def test_a_number_beyond_its_tolerance_is_shown_with_enough_digits(value, right, options, said):
    found = got(check.equal, value, right, **options)
    assert found.startswith(said) and ("rounding" in found) == ("rounding" in said)


@pytest.mark.parametrize(
    ("value", "right", "options", "named"),
    [
        (12.5 * (1 + 5e-10), 10, {}, True),
        (12.5 * (1 + 2e-9), 10, {}, False),
        (12.5 * (1 + 5e-10), 10.0, {"rel": 0.0}, True),
        (12.5 * (1 + 2e-9), 10.0, {"rel": 0.0}, False),
        (12.5 * (1 + 5e-6), 10.0, {}, True),
        (12.5 * (1 + 2e-5), 10.0, {}, False),
        (12.0, 10.0, {"abs": 0.5}, True),
        (11.9, 10.0, {"abs": 0.5}, False),
        (12.5 * (1 + 5e-3), 10.0, {"rel": 1e-2}, True),
    ],
)
def test_a_known_mistake_is_met_as_closely_as_the_right_value(value, right, options, named):
    said = got(check.equal, value, right, mistakes={12.5: "of slots"}, **options)
    assert ("| of slots" in said) == named


def test_of_mistakes_on_both_sides_the_nearest_is_named():
    known = {9.0: "below", 11.0: "above"}
    assert got(check.equal, 9.9, 20.0, abs=5.0, mistakes=known).endswith("| below")
    assert got(check.equal, 10.1, 20.0, abs=5.0, mistakes=known).endswith("| above")


def test_what_is_not_finite_and_what_is_no_int_is_told_and_a_constant_never():
    assert got(check.equal, float("inf"), 4) == "inf, right is 4 | a division by zero"
    said = got(check.equal, float("nan"), 4, constant=True)
    assert said.startswith("nan, a finite number is needed | zero divided by zero")
    assert got(check.equal, 4.0, 4, whole=True).startswith(
        "the float 4.0, right is the int 4 | a c"
    )
    said = got(check.equal, 4.0, 4, whole=True, constant=True)
    assert said.startswith("the float 4.0, an int is needed | a count")
    check.equal(4, 4, asked="x", whole=True)


# arrays --------------------------------------------------------------------------------------


def test_rows_of_twelve_values_are_shown_and_of_thirteen_only_the_shape():
    twelve = ", ".join(map(str, range(12)))
    said = got(check.array, [1], range(12))
    assert said == f"shape (1,), right is (12,): [1], right is [{twelve}]"
    assert got(check.array, [1], range(13)) == "shape (1,), right is (13,)"
    said = got(check.array, range(13), [1])
    assert said == f"shape (13,), right is (1,): [{twelve}, ...], right is [1]"
    assert got(check.array, range(12), [1]).endswith(f": [{twelve}], right is [1]")


@pytest.mark.parametrize(
    ("value", "right", "options", "said"),
    [
        ([1, 3], [1, 2], {}, "3 at [1], right is 2 (1 of 2 differ)"),
        ([3], [2], {}, "3 at [0], right is 2"),
        (3, 2, {}, "3 at the value, right is 2"),
        ([[1, 2], [0, 0]], [[1, 2], [3, 4]], {}, "0 at [1, 0], right is 3 (2 of 4 differ)"),
        ([1.00002], [1.0], {}, "1.00002 at [0], right is 1"),
        ([1.0, 1.0000001], [1, 1], {}, "1.0000001 at [1], right is 1 (1 of 2 differ)"),
        ([1.5, 9], [1, 9], {"abs": 0.25}, "1.5 at [0], right is 1 (1 of 2 differ)"),
        ([True], [False], {}, "True at [0], right is False"),
        ([float("inf")], [2.0], {}, "inf at [0], right is 2 | a division by zero"),
        ([2], [float("nan")], {}, "2 at [0], right is nan"),
    ],
)
def test_the_first_wrong_place_is_named(value, right, options, said):
    assert got(check.array, value, right, **options) == said


@pytest.mark.parametrize(
    ("value", "right", "options"),
    [
        ([1.000009], [1.0], {}),
        ([1.25], [1], {"abs": 0.25}),
        ([1.01], [1], {"rel": 0.02}),
        ([2.0], [2], {}),
        ([True], [1], {}),
        (np.array([2**62], np.uint64), [2**62], {}),
        ([float("nan"), 1.0], [float("nan"), 1.0], {}),
        (np.float32([1]), [1], {"dtype": "float32"}),
        (np.float32([1]), [1], {"dtype": "float"}),
        ([1], [1], {"dtype": "int"}),
        ([True], [True], {"dtype": "bool"}),
    ],
)
def test_an_array_within_its_tolerance_is_right(value, right, options):
    check.array(value, right, asked="x", **options)


def test_a_float_near_a_large_whole_number_is_another_number():
    said = got(check.array, np.array([2.0**53]), [2**53 + 1])
    assert said == "9.0072e+15 at [0], right is 9007199254740993"


def test_an_array_of_a_known_mistake_is_named_whatever_its_shape():
    known = [([1, 2], "the last is missing"), ([1.5, 2, 3], "halves")]
    assert got(check.array, [1, 2], [1, 2, 3], mistakes=known).endswith("| the last is missing")
    assert got(check.array, [1.5, 2, 3], [1, 2, 3], mistakes=known).endswith("| halves")
    assert "|" not in got(check.array, [1.5, 2, 4], [1, 2, 3], mistakes=known)
    assert got(check.array, [float("inf")], [1], mistakes=[([float("inf")], "mine")]).endswith(
        "| mine"
    )


# collections ---------------------------------------------------------------------------------


def test_of_what_is_missing_five_are_named():
    assert got(check.same, [], [1, 2, 3, 4, 5]) == "missing: 1, 2, 3, 4, 5"
    assert got(check.same, [], [1, 2, 3, 4, 5, 6]) == "missing: 1, 2, 3, 4, 5 ..."
    assert got(check.same, [7, 7, 1], [1]) == "too often: 7"
    assert got(check.same, [1, 3], [1, 2], order=False) == "missing: 2; too often: 3"
    assert (
        got(check.same, [[1, 2]], [[1], [2]], groups=True) == "missing: [1], [2]; too often: [1, 2]"
    )
    assert got(check.same, [2, 1], [1, 2]) == "2 at [0], right is 1"
    assert got(check.same, [1, 3], [1, 2]) == "3 at [1], right is 2"


def test_lists_in_lists_have_an_order_of_their_own_unless_they_are_groups():
    check.same([[2, 1], [0]], [[0], [1, 2]], asked="x", groups=True)
    check.same([3, [2]], [[2], [3]], asked="x", groups=True)
    check.same([[0], [2, 1]], [[2, 1], [0]], asked="x", order=False)
    assert "missing" in got(check.same, [[1, 2]], [[2, 1]], order=False)
    assert got(check.same, [[1, 2]], [[2, 1]]) == "[1, 2] at [0], right is [2, 1]"


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ([1.000009], [1.0]),
        ([float("nan")], [float("nan")]),
        ({"a": [1, 2.0]}, {"a": [1, 2.0]}),
        ([1, "a", None, True], [1, "a", None, True]),
        (2, 2.0),
        (2.0, 2),
    ],
)
def test_items_agree_within_the_tolerance_of_floats(value, right):
    check.same(value, right, asked="x")


@pytest.mark.parametrize(
    ("value", "right", "said"),
    [
        ([1.00002], [1.0], "1.00002 at [0], right is 1.0"),
        ([0.0], [float("nan")], "0.0 at [0], right is nan"),
        ([float("nan")], [0.0], "nan at [0], right is 0.0"),
        ([1.0000001], [1], "1.0000001 at [0], right is 1"),
        ([1], [[1]], "1 at [0], right is [1]"),
        ([[1, 2]], [[1]], "[1, 2] at [0], right is [1]"),
        ([{}], [{"a": 1}], "{} at [0], right is {'a': 1}"),
        ([1], [{"a": 1}], "1 at [0], right is {'a': 1}"),
        (["1"], [1.0], "'1' at [0], right is 1.0"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "2 at ['b'], right is 3"),
        ({"a": 1}, {"b": 1}, "keys missing: 'b'; too often: 'a'"),
        (3, 2, "3, right is 2"),
        (None, [1], "nothing (None); a list is needed | the function ends without `return`"),
        ("a", [1], "str 'a'; a list is needed"),
    ],
)
def test_where_two_collections_part_is_named(value, right, said):
    assert got(check.same, value, right) == said


def test_keys_are_missing_or_too_many_unless_more_are_allowed():
    one = {"a": 1, "b": 2}
    check.keys(one, ["b", "a"], asked="x")
    check.keys(one, ["b"], asked="x", more=True)
    assert got(check.keys, one, ["b"]) == "keys ['a', 'b']; too many: ['a']"
    assert got(check.keys, one, ["b", "c"], more=True) == "keys ['a', 'b']; missing: ['c']"
    said = got(check.keys, one, ["c", "b"])
    assert said == "keys ['a', 'b']; missing: ['c']; too many: ['a']"
    said = got(check.keys, None, ["a", "b"])
    assert said == "nothing (None); a dict with a, b is needed | the function ends without `return`"
    assert got(check.keys, [1], ["a"]) == "list [1]; a dict with a is needed"


def test_a_choice_is_shown_up_to_forty_characters():
    assert got(check.choice, "a" * 40, "b") == f"'{'a' * 40}', which is not it"
    assert got(check.choice, " " + "a" * 41, "b") == f"'{'a' * 40}', which is not it"
    check.choice(np.str_("B "), " b", asked="x")
    assert got(check.choice, "  ", "b") == "str ' '; one of the offered words is needed"
    assert (
        got(check.choice, " C", "b", mistakes={"c ": "thought"}) == "'C', which is not it | thought"
    )


@pytest.mark.parametrize("holds", [True, np.bool_(True), np.array(True), torch.tensor(True)])
def test_a_law_takes_one_truth_value_of_any_kind(holds):
    check.law("x", holds)
    said = refusal(check.law, "x", ~holds if holds is not True else False, case=[1, 2])
    assert said.splitlines() == ["asked   the law: x", "got     list [1, 2]"]


@pytest.mark.parametrize("holds", [1, None, np.array([True]), torch.tensor([True]), "yes"])
def test_a_law_of_anything_else_is_an_error_of_the_check(holds):
    with pytest.raises(TypeError, match="law 'x': a truth value is needed, not"):
        check.law("x", holds)


def test_a_law_broken_without_a_case_says_no_case():
    said = refusal(check.law, "x", False, likely="y", try_this="z").splitlines()
    assert said == ["asked   the law: x", "got     it does not hold", "likely  y", "try     z"]


# plain data ----------------------------------------------------------------------------------


def deep(levels):
    """A list of a list of ... of 7."""
    value = 7
    for _ in range(levels):
        value = [value]
    return value


def test_forty_levels_are_read_and_no_more():
    assert plain.nested(deep(40)) == deep(40)
    for kind in (deep(41), {"a": deep(40)}):
        with pytest.raises(plain.NotPlain, match="nested more than 40 deep"):
            plain.nested(kind)
    key = 7
    for _ in range(39):
        key = (key,)
    assert plain.nested({key: deep(39)}) == {key: deep(39)}, "a dict is one level"
    with pytest.raises(plain.NotPlain, match="nested more than 40 deep"):
        plain.nested({(key,): 1})
    boxed = np.empty((), dtype=object)
    boxed[()] = {"a": deep(38)}
    assert plain.nested(boxed) == {"a": deep(38)}, "the box is a level of its own"
    boxed[()] = {"a": deep(39)}
    with pytest.raises(plain.NotPlain, match="nested more than 40 deep"):
        plain.nested(boxed)


def test_so_many_values_are_read_and_no_more(monkeypatch):
    monkeypatch.setattr(plain, "MOST", 10)
    assert plain.nested([[0]] * 4) == [[0]] * 4, "a list, four of them, and four numbers"
    with pytest.raises(plain.NotPlain, match="or more than 10 values"):
        plain.nested([[0]] * 5 + [[]])


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, None], dtype=object), [1, None]),
        (torch.tensor([1.5], dtype=torch.bfloat16), [1.5]),
        ({(1, 2): {3}}, {(1, 2): [3]}),
        ({2, 10, 1}, [1, 10, 2]),
        (range(3), [0, 1, 2]),
        (Fraction(4, 2), 2),
        (Fraction(1, 4), 0.25),
        (np.longdouble(0.5), 0.5),
        (np.bool_(True), True),
    ],
)
def test_plain_data_of_any_kind_is_read(value, wanted):
    found = plain.nested(value)
    assert found == wanted and type(found) is type(wanted)


def test_a_generator_is_told_to_be_one_and_a_function_to_lack_its_brackets():
    with pytest.raises(plain.NotPlain) as caught:
        plain.nested(x for x in "ab")
    assert caught.value.thought == "a generator runs only when asked: wrap it in list(...)"
    with pytest.raises(plain.NotPlain) as caught:
        plain.nested(object())
    assert caught.value.thought == ""
    with pytest.raises(plain.NotPlain) as caught:
        plain.number(len)
    assert caught.value.thought == "the brackets of the call are missing"


@pytest.mark.parametrize("value", [[1], (1,), np.array([1, 2]), np.array([1])])
def test_several_values_are_no_number(value):
    with pytest.raises(plain.NotPlain) as caught:
        plain.number(value)
    assert caught.value.thought == "several values where one number was asked"


@pytest.mark.parametrize(
    ("value", "false"),
    [
        (False, True), (np.bool_(False), True), (np.array(False), True), (np.array([False]), True),
        (torch.tensor(False), True), (True, False), (None, False), (0, False), ([], False),
        (np.array([False, False]), False), (torch.tensor([False, False]), False),
        (np.array(0), False),
    ],
)  # fmt: skip
def test_only_one_false_is_false(value, false):
    assert plain.is_false(value) is false


def test_a_finite_number_has_no_reason():
    assert plain.not_finite(3) == plain.not_finite(0.5) == plain.not_finite(10**400) == ""

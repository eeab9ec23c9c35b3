"""A check accepts every right answer, refuses the rest, and says what was probably thought."""

import subprocess
import sys
from collections import OrderedDict, UserDict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from batchlab.classroom import check, plain
from tests.refusals import refusal


class Yes(float):
    """Equal to everything: what a learner might hand in."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


# One refusal by hand


def test_a_refusal_is_four_short_lines_and_nothing_else():
    said = refusal(
        check.equal,
        2 / 8,
        2 / 10,
        asked="waste of [5, 3]",
        mistakes={2 / 8: "padding per real token"},
        try_this="divide by the slots",
    )
    assert said.splitlines() == [
        "asked   waste of [5, 3]",
        "got     0.25, right is 0.2",
        "likely  padding per real token",
        "try     divide by the slots",
    ]


def test_ipython_shows_the_message_alone():
    with pytest.raises(check.CheckFailed) as caught:
        check.equal(1, 2, asked="one and one")
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_nothing_is_written_to_stderr_and_nothing_is_returned(capfd):
    assert check.equal(1, 1, asked="one") is None
    assert check.array([1], [1], asked="one") is None
    assert check.function(abs, -1, asked="abs") is None
    refusal(check.equal, 1, 2, asked="one and one")
    assert capfd.readouterr() == ("", "")


# Numbers


@pytest.mark.parametrize(
    "got", [10, 10.0, np.int64(10), np.float32(10), np.array(10), np.uint8(10)], ids=repr
)
def test_any_plain_number_of_the_right_value_is_right(got):
    check.equal(got, 10, asked="slots of [5, 3]")


def test_a_tensor_without_dimensions_is_a_number():
    torch = pytest.importorskip("torch")
    check.equal(torch.tensor(10), 10, asked="slots")
    check.equal(torch.tensor(0.25, requires_grad=True), 0.25, asked="waste")
    check.equal(torch.tensor(0.25, dtype=torch.bfloat16), 0.25, asked="waste")


def test_another_order_of_summation_is_right_and_a_count_is_exact():
    check.equal(sum([0.1] * 10), 1.0, asked="ten tenths")
    said = refusal(check.equal, 10**9 + 1, 10**9, asked="tokens")
    assert "got     1000000001, right is 1000000000" in said
    check.equal(16.4, 16, asked="GiB, to 5 %", rel=0.05)


def test_a_tolerance_that_is_given_counts_even_where_it_is_the_usual_one():
    for near in (24.0001, np.float32(24) * (1 + np.float32(2e-7))):
        check.equal(near, 24, asked="a mean that is whole here", rel=1e-5)
        check.array([near], [24], asked="means", rel=1e-5)
        assert "right is 24" in refusal(check.equal, near, 24, asked="a count")
        assert "right is 24" in refusal(check.array, [near], [24], asked="counts")
    assert "right is 24" in refusal(check.equal, 24.001, 24, asked="a mean", rel=1e-5)


def test_a_count_that_was_rounded_is_told_so_unless_its_mistake_is_known():
    said = refusal(check.equal, 9.9999999, 10, asked="slots")
    assert "likely  rounding: count in whole numbers" in said
    known = refusal(check.equal, 1000001, 1000000, asked="slots", mistakes={1000001: "one more"})
    assert "likely  one more" in known


def test_a_close_miss_is_shown_with_enough_digits():
    assert "0.3000001, right is 0.3" in refusal(
        check.equal, 0.3000001, 0.3, asked="share", rel=1e-9
    )


def test_float32_is_exact_enough_and_a_percent_is_not():
    check.equal(np.float32(0.1), 0.1, asked="share")
    check.equal(0.1 * (1 + 9e-6), 0.1, asked="share")
    assert "right is 0.1" in refusal(check.equal, 0.1 * (1 + 2e-5), 0.1, asked="share")
    assert "1000000.5, right is 1000000" in refusal(check.equal, 1000000.5, 10**6, asked="slots")


@pytest.mark.parametrize("got", [Fraction(1, 4), np.float16(0.25), Fraction(2, 8)], ids=repr)
def test_a_fraction_is_a_number(got):
    check.equal(got, 0.25, asked="share")
    check.array([got, got], [0.25, 0.25], asked="shares")
    check.same({"share": got}, {"share": 0.25}, asked="plan")


def test_whole_numbers_of_any_size_are_compared_and_shown():
    check.equal(10**400, 10**400, asked="a power")
    assert "about 10**400, right is 3" in refusal(check.equal, 10**400, 3, asked="x")
    assert "0.5, right is about 10**400" in refusal(check.equal, 0.5, 10**400, asked="x")
    assert "right is 0.5" in refusal(check.equal, 10**5000, 0.5, asked="x", mistakes={0.25: "half"})


def test_of_several_known_mistakes_the_nearest_is_named():
    near = {100.0: "counted", 101.0: "counted from 1"}
    said = refusal(check.equal, 101, 50.0, asked="x", rel=0.02, mistakes=near)
    assert "counted from 1" in said


# Constants


def test_the_refusal_of_a_constant_says_the_direction_and_never_the_value():
    ask = {"asked": "the rows", "constant": True, "mistakes": {32: "the rows of the other plot"}}
    assert refusal(check.equal, 32, 80, **ask).splitlines() == [
        "asked   the rows",
        "got     32, which is too small",
        "likely  the rows of the other plot",
    ]
    assert "got     96, which is too large" in refusal(check.equal, 96, 80, **ask)
    assert "got     -2, which is of the wrong sign" in refusal(check.equal, -2, 80, **ask)
    for got in (None, "80?", 1e999, float("nan"), 79.5, 10**400, True):
        said = refusal(check.equal, got, 80, whole=True, **ask)
        assert "80" not in said.replace(repr(got), "").replace("80?", "")


def test_the_refusal_of_a_constant_list_shows_no_right_item():
    said = refusal(check.same, [1, 3], [17, 29], asked="the pair", constant=True)
    assert "list [1, 3], which is not it" in said and "17" not in said and "29" not in said
    assert "17" not in refusal(check.same, None, [17], asked="the pair", constant=True)


# Hints


def test_hints_come_one_more_with_each_failed_try():
    hints = ["Draw the rectangle.", "Count its slots.", "max(lengths) * len(lengths)"]

    def tried(value) -> str:
        said = refusal(check.equal, value, 10, asked="slots", try_this=hints)
        return said.splitlines()[-1]

    assert tried(8) == "try     Draw the rectangle"
    check.equal(10, 10, asked="slots", try_this=hints)
    assert tried(None) == "try     Draw the rectangle; Count its slots"
    assert tried(8) == "try     " + "; ".join(hint.rstrip(".") for hint in hints)
    assert tried(8).endswith(hints[-1])
    other = refusal(check.equal, 1, 2, asked="rows", try_this=["Look.", "Count."])
    assert other.endswith("try     Look"), "each exercise has its own"
    assert refusal(check.equal, 1, 2, asked="rows", try_this="Look.").endswith("try     Look.")


def test_a_blank_uses_up_no_hint():
    def blank(x):
        raise NotImplementedError

    for _ in range(2):
        said = refusal(check.call, blank, 1, asked="x", try_this=["First.", "Second."])
        assert said.endswith("try     write it and run it")
    said = refusal(check.call, lambda x: None, 1, asked="x", try_this=["First.", "Second."])
    assert said.endswith("try     First")


# Success


def test_a_passed_check_says_so_in_one_line(capsys):
    assert check.passed("Right: 80.1 % of the slots\n are padding.") is None
    assert capsys.readouterr().out == "Right: 80.1 % of the slots are padding.\n"


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (None, "without `return`"),
        (True, "a comparison was returned"),
        ("10", "text was returned"),
        ([10], "several values"),
        (float("nan"), "zero divided by zero"),
        (float("inf"), "division by zero"),
        (abs, "brackets of the call"),
        (Yes(3), "a number is needed"),
        (np.array([10, 10]), "several values"),
        (10 + 0j, "a number is needed"),
    ],
    ids=repr,
)
def test_what_is_no_plain_number_is_refused_with_the_reason(got, said):
    assert said in refusal(check.equal, got, 10, asked="slots")


def test_a_float_for_a_count_is_refused_on_request():
    assert "a count is an int" in refusal(check.equal, 4.0, 4, asked="steps", whole=True)


# Arrays


@pytest.mark.parametrize("got", [[0, 3, 8], (0, 3, 8), np.array([0, 3, 8]), range(0, 9)], ids=repr)
def test_lists_arrays_and_tensors_are_judged_by_their_values(got):
    want = list(got)
    check.array(got, want, asked="cumulative lengths")
    torch = pytest.importorskip("torch")
    check.array(torch.tensor(want), want, asked="cumulative lengths")
    check.array(torch.tensor(want, dtype=torch.int32), want, asked="ends", dtype="int")


def test_a_wrong_array_names_the_first_place_and_the_thought():
    said = refusal(
        check.array,
        [[0, 1], [2, 9]],
        [[0, 1], [0, 1]],
        asked="positions",
        mistakes=[([[0, 1], [2, 9]], "positions run on: each document starts at 0")],
    )
    assert "got     2 at [1, 0], right is 0 (2 of 4 differ)" in said
    assert "likely  positions run on" in said


@pytest.mark.parametrize(
    ("got", "options", "said"),
    [
        ([0, 3], {}, "shape (2,), right is (3,)"),
        ([0.0, 3.0, 8.0], {"dtype": "int"}, "numbers of float64, asked was int"),
        ([0, 3, float("nan")], {}, "zero divided by zero"),
        ([[0], [3, 8]], {}, "the rows differ in length"),
        (None, {}, "without `return`"),
        ("038", {}, "an array or a list is needed"),
        (np.array([0, 3, 8], dtype=object), {}, "numbers are needed"),
    ],
    ids=repr,
)
def test_shape_type_and_gaps_are_named(got, options, said):
    assert said in refusal(check.array, got, [0, 3, 8], asked="ends", **options)


def test_of_several_values_the_wrong_ones_are_counted_and_short_rows_are_shown_whole():
    assert "(1 of 2 differ)" in refusal(check.array, [0, 4], [0, 3], asked="ends")
    assert "differ" not in refusal(check.array, [4], [3], asked="ends")
    twelve, thirteen = list(range(12)), list(range(13))
    assert "10, 11], right is [0, 1" in refusal(check.array, twelve, twelve[:-1], asked="ends")
    assert "right is [0, 1, 2" in refusal(check.array, [True], twelve, asked="ends")
    assert ": [0, 1, 2" in (said := refusal(check.array, thirteen, [0.5], asked="ends"))
    assert "10, 11, ...], right is [0.5]" in said
    said = refusal(check.array, [1], thirteen, asked="ends")
    assert "got     shape (1,), right is (13,)" in said.splitlines()


def test_whole_numbers_in_arrays_are_exact_and_floats_have_a_tolerance():
    check.array([0.1 + 0.2], [0.3], asked="sum")
    check.array(np.float32([0.1, 0.2]), [0.1, 0.2], asked="shares")
    assert "10000001" in refusal(check.array, [10_000_001], [10_000_000], asked="tokens")
    said = refusal(check.array, [1000000.5], [1000000], asked="tokens")
    assert "1000000.5 at [0], right is 1000000" in said
    check.array([1000000.0], [1000000], asked="tokens")
    check.array([1000000.5], [1000000], asked="tokens, about", rel=1e-3)
    large = 2**53 + 1  # the first whole number that no float64 holds
    assert "at [1]" in refusal(check.array, [0.0, float(large)], [0, large], asked="tokens")


def test_where_nan_is_right_only_nan_is():
    check.array([1.0, float("nan")], [1, np.nan], asked="means")
    assert "at [1]" in refusal(check.array, [1.0, 0.0], [1, np.nan], asked="means")
    check.same([1.0, float("nan")], [1, np.nan], asked="means")
    check.array([np.inf], [np.inf], asked="bound")
    assert "inf at [0]" in refusal(check.array, [-np.inf], [np.inf], asked="bound")


@pytest.mark.parametrize(
    "got",
    [
        np.array([Yes(1), Yes(2)], dtype=object),
        [Yes(1), Yes(2)],
        np.array([1 + 0j, 2 + 0j]),
        [1 + 0j, 2],
        [10**400, 2],
        np.array(["1", "2"]),
        np.array([1, 2], dtype="datetime64[s]"),
    ],
    ids=repr,
)
def test_an_array_of_anything_but_numbers_is_refused(got):
    assert "asked   ends" in refusal(check.array, got, [1, 2], asked="ends")
    if not isinstance(got, list) or type(got[0]) is not int:
        assert "asked   ends" in refusal(check.same, got, [1, 2], asked="ends")


# Collections, choices, laws


def test_a_partition_has_no_order_but_every_member():
    check.same([[2], [1, 0]], [[0, 1], [2]], asked="rows", groups=True)
    check.same([np.array([1, 0]), np.array([2])], [[0, 1], [2]], asked="rows", groups=True)
    said = refusal(check.same, [[0, 1]], [[0, 1], [2]], asked="rows", groups=True)
    assert "missing: [2]" in said


@pytest.mark.parametrize(
    "values", [[10**5000, 2], [[10**5000], [2]], {10**5000, 2}, [{"a": 10**5000}, {"a": 2}]]
)
def test_numbers_that_python_does_not_write_have_a_place_in_a_bag(values):
    turned = values if isinstance(values, set) else values[::-1]
    check.same(turned, values, order=False, asked="x")
    with pytest.raises(check.CheckFailed):
        check.same(values, [1, 2], order=False, asked="x")


def test_a_list_has_an_order_a_bag_has_not_and_both_count():
    check.same([3, 1, 2], [1, 2, 3], asked="documents", order=False)
    assert "3 at [0], right is 1" in refusal(check.same, [3, 2, 1], [1, 2, 3], asked="documents")
    twice = refusal(check.same, [1, 1, 2], [1, 2, 3], asked="documents", order=False)
    assert "missing: 3; too often: 1" in twice
    known = [([1, 2], "the last one is dropped")]
    assert "the last one is dropped" in refusal(
        check.same, [1, 2], [1, 2, 3], asked="documents", mistakes=known
    )
    assert "generator" in refusal(check.same, iter([1]), [1], asked="documents")


def test_sets_and_dictionaries_are_compared_as_values():
    check.same({1, 2}, {2, 1}, asked="ranks")
    check.same({"rows": np.int64(8)}, {"rows": 8}, asked="plan")
    assert "a dict is needed" in refusal(check.same, [8], {"rows": 8}, asked="plan")
    check.same({(1, 2): 3, "b": {(4,): 5}}, {(1, 2): 3, "b": {(4,): 5}}, asked="counts")
    said = refusal(check.same, {(1, 2): 3}, {(1, 2): 4}, asked="counts")
    assert "3 at [(1, 2)], right is 4" in said


class Rows(Sequence):
    """A sequence of a class of its own, as `packing.Packing.rows` is one."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        return self.rows[number]


class Fails(Rows):
    def __getitem__(self, number):
        raise OSError("gone")


def test_a_sequence_or_a_mapping_of_any_class_is_read_item_by_item():
    check.same(Rows([np.array([1, 2]), (3,)]), [[1, 2], [3]], asked="rows")
    check.array(Rows([1, 2]), [1, 2], asked="a row")
    for kind in (UserDict, OrderedDict):
        check.same(kind(a=Rows([1])), {"a": [1]}, asked="a dict")
    assert "reading it fails: gone" in refusal(check.same, Fails([1]), [1], asked="rows")
    assert "right is 2" in refusal(check.same, Rows([1]), [2], asked="rows", order=True)
    assert "are needed" in refusal(check.same, b"ab", [97, 98], asked="bytes are no list")


def test_the_keys_of_a_result_are_named():
    check.keys(UserDict(a=1, b=2), ["b", "a"], asked="a row")
    check.keys({"a": 1, "b": 2}, ["a"], asked="a row", more=True)
    said = refusal(check.keys, {"a": 1, "c": 2}, ["a", "b"], asked="a row")
    assert "keys ['a', 'c']; missing: ['b']; too many: ['c']" in said
    assert "a dict with a, b is needed" in refusal(check.keys, [("a", 1)], ["a", "b"], asked="x")
    assert "without `return`" in refusal(check.keys, None, ["a"], asked="x")


def test_a_long_array_is_shown_with_its_type_and_shape():
    import torch

    for kind, long in (
        ("ndarray", np.arange(60, dtype=np.int32)),
        ("Tensor", torch.arange(60).int()),
    ):
        said = refusal(check.law, "the ids are int64", False, case=long)
        assert f"{kind} of " in said and "int32, shape (60,): [0, 1, 2" in said


def test_what_a_dictionary_lacks_and_what_a_text_says_is_named():
    said = refusal(check.same, {"rows": 8, "x": 1}, {"rows": 8, "length": 4}, asked="plan")
    assert "got     keys missing: 'length'; too often: 'x'" in said
    assert "str 'a', right is str 'b'" in refusal(check.same, "a", "b", asked="word")
    assert "got     3, right is 4" in refusal(check.same, 3, 4, asked="rows")


def test_items_may_be_float32_but_not_another_number():
    check.same([np.float32(0.1), [0.2]], [0.1, [0.2 * (1 + 1e-7)]], asked="shares")
    assert "right is 0.1" in refusal(check.same, [0.1002], [0.1], asked="shares")
    assert "missing: 16777217" in refusal(
        check.same, [2**24, 1], [2**24 + 1, 1], asked="tokens", order=False
    )


@pytest.mark.parametrize("order", [True, False])
def test_a_list_that_holds_itself_or_is_nested_without_end_is_refused(order):
    inside: list = [1]
    inside.append(inside)
    doubled: list = [1]
    for _ in range(60):
        doubled = [doubled, doubled]
    for got in (inside, doubled):
        said = refusal(check.same, got, [1, 2], asked="rows", order=order)
        assert "nested more than 40 deep" in said


def test_a_choice_forgives_case_and_names_the_thought():
    check.choice(" Padding", "padding", asked="the cause")
    said = refusal(
        check.choice, "Network", "padding", asked="the cause", mistakes={"network": "one rank"}
    )
    assert "one rank" in said
    assert "one of the offered words" in refusal(check.choice, None, "padding", asked="the cause")


def test_a_law_names_itself_and_the_case_that_breaks_it():
    check.law("no document is lost", np.bool_(True))
    said = refusal(check.law, "no document is lost", False, case=[5, 3], likely="the last batch")
    assert said.splitlines()[:2] == [
        "asked   the law: no document is lost",
        "got     list [5, 3]",
    ]
    with pytest.raises(TypeError, match="truth value"):
        check.law("no document is lost", [True])


def test_the_case_of_a_law_may_be_anything():
    for case in (np.array([5, 3]), np.array([]), [np.array([5, 3])], float("nan"), 10**400, 1j, 0):
        assert "" in refusal(check.law, "no document is lost", False, case=case)
    assert "ndarray array([5, 3])" in refusal(check.law, "it holds", False, case=np.array([5, 3]))
    assert refusal(check.law, "it holds", False).splitlines()[1] == "got     it does not hold"
    torch = pytest.importorskip("torch")
    check.law("all are finite", torch.isfinite(torch.ones(3)).all())
    assert "it does not hold" in refusal(check.law, "all are finite", np.array(False))


# Hidden inputs


def test_fresh_inputs_follow_from_the_secret_seed_and_the_id(monkeypatch):
    monkeypatch.delenv("BATCHLAB_GRADING_SEED", raising=False)
    public = check.rng("check-waste").integers(0, 2**40)
    assert public == check.rng("check-waste").integers(0, 2**40)
    assert public != check.rng("check-other").integers(0, 2**40)
    monkeypatch.setenv("BATCHLAB_GRADING_SEED", "autumn")
    assert public != check.rng("check-waste").integers(0, 2**40)


# Doors


def test_names_of_a_learner_may_be_proxies_into_another_process():
    """A stand-in for a remote function: callable, an object of another class, copies cross."""

    class Remote:
        def __call__(self, *arguments):
            (rows,) = plain.nested(list(arguments))
            return max(rows) * len(rows)

    remote = Remote()
    check.function(remote, [5, 3], asked="slots of [5, 3]")
    check.equal(remote([5, 3]), 10, asked="slots of [5, 3]")
    check.finds_bugs(lambda slots: slots([3, 5]) == 10, right=[remote], wrong={"sum": sum})


def test_checks_need_numpy_alone():
    code = (
        "import sys; from batchlab.classroom import check, predict, quiz\n"
        "print(sorted({'torch', 'transformers', 'matplotlib', 'anywidget', 'nbformat', 'IPython'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

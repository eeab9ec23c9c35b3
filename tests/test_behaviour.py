"""A learner's function is called on copies; whatever it does ends in a result or in four lines."""

import dataclasses
import random
import warnings

import numpy as np
import pytest

from batchlab.classroom import check
from tests.refusals import lines, refusal

# What a function does


def test_a_call_gives_back_what_the_function_returned():
    assert check.call(max, [5, 3], asked="longest of [5, 3]") == 5
    assert check.call(sorted, [3, 5], asked="longest first", reverse=True) == [5, 3]
    assert check.call(lambda rows: None, [5], asked="a test", none=True) is None


def test_a_function_must_be_one_and_must_answer():
    assert check.function(max, [5, 3], asked="longest of [5, 3]") is None
    for judge in (check.call, check.function):
        assert "a function is needed" in refusal(judge, 3, [5, 3], asked="longest")
        assert "`return`" in refusal(judge, lambda x: None, 1, asked="longest")
        assert "ZeroDivisionError" in refusal(judge, lambda x: x / 0, 1, asked="longest")


def blank(x, *more):
    raise NotImplementedError  # your turn


def not_implemented_here(x):
    raise NotImplementedError("conv3d is not implemented for 'Half'")


def test_a_blank_is_told_from_what_a_library_does_not_implement():
    assert lines(blank, 1, asked="longest") == {
        "asked": "longest",
        "got": "the cell above still has its blank",
        "try": "write it and run it",
    }
    assert "conv3d is not implemented" in lines(not_implemented_here, 1, asked="longest")["got"]


def calls_a_blank(x):
    return blank(x) + 1


def test_the_blank_of_another_answer_is_named():
    """Whoever fills the second blank first must not be told that it is empty."""
    assert lines(calls_a_blank, 1, asked="x")["got"] == "blank still has its blank"
    given = lines(lambda f: f(1), blank, asked="a step")
    assert given["got"].endswith("still has its blank")


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda x: lenghts, "a typo, or a cell above that was not run"),  # noqa: F821
        (lambda x, y: x, "other arguments than its signature takes"),
        (lambda x: x[0] / 0, "a count that may be zero"),
        (lambda x: x[9], "a place past the end"),
        (lambda x: x.shape, "the input is a plain list here"),
        (lambda x: x.sort().pop(), "a method that works in place returns None"),
        (lambda x: 1 if np.ones(3) else 0, "an array has no single truth value"),
        (lambda x: {x: 1}, "a list is no key"),
    ],
)
def test_the_usual_reason_of_an_exception_is_named(mistake, said):
    assert said in lines(mistake, [1, 2], asked="x")["likely"]


def outer(x):
    return inner(x)


def inner(x):
    return x[7]  # too far


def test_an_exception_is_shown_with_the_line_of_the_learners_own_code():
    said = lines(outer, [1], asked="the eighth", try_this="count again")
    assert said["got"].startswith("IndexError: list index out of range, in line ")
    assert said["got"].endswith(": return x[7] # too far")
    assert said["try"] == "count again"
    # raised inside NumPy: the line that called it is the learner's
    assert lines(lambda x: np.ones(2) + x, np.ones(3), asked="a sum")["got"].count("np.ones(2) + x")


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no text either")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(1), "SystemExit: exit() ends the notebook"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (MemoryError(), "MemoryError, in line"),
        (Odd(), "Odd, in line"),
        (AssertionError("one\ntwo"), "AssertionError: one two, in line"),
        (StopIteration(3), "StopIteration: 3"),
        (BaseException("bare"), "BaseException: bare"),
    ],
    ids=repr,
)
def test_any_exception_ends_in_four_lines(error, said):
    def raising(x):
        raise error

    assert said in lines(raising, 1, asked="anything")["got"]


def test_who_stops_the_notebook_is_obeyed():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check.call(stopped, 1, asked="anything")


def test_a_verdict_inside_a_call_stays_as_it_is():
    assert "one and one" in refusal(
        check.call, lambda: check.equal(1, 2, asked="one and one"), asked="the whole"
    )


def test_a_warning_or_a_line_on_stderr_costs_no_points(capfd):
    def loud(x):
        import sys

        print("working", file=sys.stderr)
        warnings.warn("mind", RuntimeWarning, stacklevel=1)
        return np.float64(x) / 0

    assert check.call(loud, 1.0, asked="a loud one") == np.inf
    out, err = capfd.readouterr()
    assert (out, err) == ("working\n", "")


# Copies


def test_the_function_works_on_copies_so_a_wrong_try_spoils_nothing():
    lengths, values = [3, 5], np.array([2, 1])
    said = lines(lambda a, b: a.reverse() or b.sort() or 1, lengths, values, asked="in order")
    assert said["got"] == "argument 1 changed from list [3, 5] to list [5, 3]"
    assert said["likely"].startswith("a method such as .sort() or .reverse() works in place")
    assert said["try"] == "work on a copy"
    assert lengths == [3, 5] and values.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("given", "spoil", "said"),
    [
        ([[1, 2], [3]], lambda x: x[1].append(4), "the input[1] changed from list [3] to list"),
        ({"a": {"b": [1]}}, lambda x: x["a"]["b"].clear(), "the input['a']['b'] changed"),
        ({"a": 1}, lambda x: x.update(b=2), "changed its keys from list ['a'] to list ['a', 'b']"),
        (list(range(20)), lambda x: x.pop(), "had 20 items and has 19"),
        (list(range(20)), lambda x: x.__setitem__(9, 0), "the input[9] changed from 9 to 0"),
        (np.arange(30.0), lambda x: x.__isub__(1), "the input[0] changed from 0 to -1"),
        (np.array([1.0, np.nan]), lambda x: x.fill(0), "changed from ndarray array([ 1., nan])"),
        (
            [1, [2]],
            lambda x: x.__setitem__(1, None),
            "the input[1] changed from list [2] to nothing",
        ),
        (
            [1, 2],
            lambda x: x.__setitem__(1, 2.0),
            "the input changed from list [1, 2] to list [1, 2.",
        ),
        ({1, 2}, lambda x: x.discard(1), "changed from set {1, 2} to set {2}"),
        (([1], 2), lambda x: x[0].pop(), "the input[0] changed from list [1] to list []"),
    ],
)
def test_a_change_is_named_by_its_place(given, spoil, said):
    assert said in lines(lambda x: (spoil(x), 1)[1], given, asked="x")["got"]
    assert check.call(lambda x: repr(x), given, asked="x"), "reading is no change"


@pytest.mark.parametrize(
    ("given", "spoil", "said"),
    [
        ({"a": 1}, lambda x: x.setdefault("b", 2), "setdefault()"),
        ({"a": 1}, lambda x: x.pop("a"), ".pop(), or `del`"),
        ({"a": 1}, lambda x: x.update(a=2), "x[key] = ..."),
        ({"a": [1, 2]}, lambda x: x.update(a=[2]), "puts another list into the dict"),
        ([{"a": 1}], lambda x: x[0].setdefault("b", 2), "setdefault()"),
        ([1, 2], lambda x: x.append(3), ".append()"),
        ([1, 2], lambda x: x.__delitem__(0), "`del`, takes from the list"),
        ([1, 2], lambda x: x.__setitem__(0, 3), "x[i] = ... writes into the list"),
        ([[1], [2]], lambda x: x.__setitem__(0, np.array([1])), "x[i] = ... writes into the list"),
        ([[1], [2]], lambda x: x.reverse(), ".reverse() works in place"),
        (list(range(20)), lambda x: x.reverse(), ".reverse() works in place"),
        (np.arange(3), lambda x: x.__setitem__(0, 3), "writes into the array"),
        ({1, 2}, lambda x: x.discard(1), ".discard() changes the set"),
    ],
)
def test_the_likely_cause_follows_what_was_changed(given, spoil, said):
    assert said in lines(lambda x: (spoil(x), 1)[1], given, asked="x")["likely"]


@dataclasses.dataclass(frozen=True)
class Plan:
    rows: list
    name: str = "plan"


def test_the_fields_of_a_dataclass_are_guarded():
    plan = Plan([1, 2])
    said = lines(lambda p: p.rows.append(3) or 1, plan, asked="x")
    assert said["got"] == "the input.rows changed from list [1, 2] to list [1, 2, 3]"
    assert plan == Plan([1, 2])


def test_an_option_is_guarded_like_an_argument():
    said = lines(lambda *, rows: rows.pop(), rows=[1, 2], asked="x")
    assert said["got"] == "rows changed from list [1, 2] to list [1]"


def test_who_sorts_in_place_and_returns_nothing_is_told_both():
    said = lines(lambda x: x.sort(), [3, 1], asked="in order")
    assert said["got"] == "nothing (None), and the input changed from list [3, 1] to list [1, 3]"
    assert said["likely"].startswith("a method such as .sort() or .reverse() works in place")
    assert said["likely"].endswith("; such a method returns None")


def test_two_arguments_that_share_a_list_still_share_it():
    row = [1]
    assert check.call(lambda a, b: a is b, row, row, asked="x") is True


def test_drawing_from_a_random_generator_is_what_it_is_handed_over_for():
    generators = [np.random.default_rng(0), random.Random(0), np.random.RandomState(0)]
    for one in generators:
        first, again = (check.call(lambda g: g.random(), one, asked="a draw") for _ in range(2))
        assert first == again, "each call draws from a copy"
        assert check.call(lambda *, g: g.random(), g=one, asked="a draw") == first


def test_a_stream_is_handed_over_as_a_stream_of_copies():
    rows = [[1], [2], [3]]
    read = check.call(lambda s: [next(s), next(s)], (row for row in rows), asked="two of it")
    read[0].append(9)
    assert rows == [[1], [2], [3]]
    endless = iter(lambda: [0], None)
    assert check.call(lambda s: next(s), endless, asked="the first") == [0], "it is not read ahead"
    assert "TypeError" in lines(lambda s: s[0], iter(rows), asked="by number")["got"]


def test_what_cannot_be_copied_is_handed_over_as_it_is(tmp_path):
    import threading

    with (tmp_path / "x").open("w") as file:
        assert check.call(lambda f, lock: f.write("abc"), file, threading.Lock(), asked="x") == 3


def test_a_function_as_an_argument_is_called_back():
    assert check.call(lambda f, x: f(x), max, [1, 2], asked="x") == 2


# Refusals


def steps(slots):
    if slots % 8:
        raise ValueError(f"{slots:,} is not a multiple of 8")
    return slots // 8


def test_a_refusal_is_asked_for_and_must_show_the_value():
    check.raises(steps, 1001, asked="1001 slots", contains=(1001, 8))
    assert "without '99'" in refusal(check.raises, steps, 1001, asked="1001", contains="99")
    said = refusal(check.raises, steps, 1001, asked="1001", contains=99, likely="the neighbour")
    assert "likely  the neighbour" in said
    said = refusal(check.raises, steps, 1001, asked="1001", contains=99)
    assert "likely  whoever reads the message must see the value" in said
    assert "refuse, never round" in refusal(check.raises, lambda s: s // 8, 1001, asked="1001")
    assert "a KeyError is needed" in refusal(check.raises, steps, 9, asked="9", kind=KeyError)
    assert "still has its blank" in refusal(check.raises, blank, 9, asked="9", kind=RuntimeError)


@pytest.mark.parametrize("value", [1, 10, 100, 0, 1001000], ids=str)
def test_a_number_in_a_message_is_no_part_of_another(value):
    """The mistake beside the law: 8 hides in 80, a neighbour in any longer number."""
    assert "without" in refusal(check.raises, steps, 1001, asked="x", contains=value)


@pytest.mark.parametrize("text", ["1,048,576", "1_048_576", "1048576", "(1048576)", "1048576."])
def test_thousands_may_be_separated_in_a_message(text):
    def refuse(x):
        raise ValueError(f"the nearest are 983040 and {text}")

    check.raises(refuse, 0, asked="x", contains=(983_040, 1_048_576))


def test_who_refuses_leaves_the_input_alone_too():
    def spoiled(rows):
        rows.clear()
        raise ValueError("no rows")

    rows = [1]
    said = refusal(check.raises, spoiled, rows, asked="x")
    assert "changed from list [1]" in said and "try     work on a copy" in said
    said = refusal(check.raises, spoiled, rows, asked="x", try_this="take a slice")
    assert "try     take a slice" in said
    assert rows == [1]


# Around what `call` cannot stand around


def test_an_answer_that_changes_its_input_is_refused():
    lengths, values = [3, 5], np.array([2, 1])
    with check.unchanged(lengths, values, asked="sorted lengths"):
        sorted(lengths)
    with (
        pytest.raises(check.CheckFailed, match=r"changed from list \[3, 5\] to list \[5, 3\]"),
        check.unchanged(lengths, asked="sorted lengths"),
    ):
        lengths.reverse()
    with (
        pytest.raises(check.CheckFailed, match="writes into the array itself"),
        check.unchanged(values, asked="sorted lengths"),
    ):
        values.sort()


def test_an_untouched_generator_is_not_accused_and_a_used_one_is():
    draws, shuffles = np.random.default_rng(0), random.Random(0)
    with check.unchanged(draws, shuffles, iter([1]), (i for i in "ab"), object(), asked="x"):
        pass
    for one in (draws, shuffles):
        with (
            pytest.raises(check.CheckFailed, match="numbers were drawn"),
            check.unchanged(one, asked="x"),
        ):
            one.random()


def test_an_error_inside_unchanged_is_not_hidden():
    with pytest.raises(KeyError), check.unchanged([1], asked="x"):
        raise KeyError

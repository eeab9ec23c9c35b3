"""A check accepts every right answer, refuses the rest, and says what was probably thought."""

import subprocess
import sys

import numpy as np
import pytest

from batchlab.classroom import check, plain, probes


def refusal(judge, *arguments, **options) -> str:
    with pytest.raises(check.CheckFailed) as caught:
        judge(*arguments, **options)
    return str(caught.value)


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


def test_a_close_miss_is_shown_with_enough_digits():
    assert "0.3000001, right is 0.3" in refusal(
        check.equal, 0.3000001, 0.3, asked="share", rel=1e-9
    )


class Yes(float):
    """Equal to everything: what a learner might hand in."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


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


def test_whole_numbers_in_arrays_are_exact_and_floats_have_a_tolerance():
    check.array([0.1 + 0.2], [0.3], asked="sum")
    assert "10000001" in refusal(check.array, [10_000_001], [10_000_000], asked="tokens")


# Collections, choices, laws


def test_a_partition_has_no_order_but_every_member():
    check.same([[2], [1, 0]], [[0, 1], [2]], asked="rows", groups=True)
    check.same([np.array([1, 0]), np.array([2])], [[0, 1], [2]], asked="rows", groups=True)
    said = refusal(check.same, [[0, 1]], [[0, 1], [2]], asked="rows", groups=True)
    assert "missing: [2]" in said


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
        "got     broken for list [5, 3]",
    ]
    with pytest.raises(TypeError, match="truth value"):
        check.law("no document is lost", [True])


# What a function does


def test_a_function_must_be_one_and_must_answer():
    check.function(max, [5, 3], asked="longest of [5, 3]")
    assert "a function is needed" in refusal(check.function, 3, [5, 3], asked="longest")
    assert "`return`" in refusal(check.function, lambda x: None, 1, asked="longest")
    assert "ZeroDivisionError" in refusal(check.function, lambda x: x / 0, 1, asked="longest")

    def blank(x):
        raise NotImplementedError

    assert "still has its blank" in refusal(check.function, blank, 1, asked="longest")


def test_a_refusal_is_asked_for_and_must_show_the_value():
    def steps(slots):
        if slots % 8:
            raise ValueError(f"{slots:,} is not a multiple of 8")
        return slots // 8

    check.raises(steps, 1001, asked="1001 slots", contains=(1001, 8))
    assert "without '99'" in refusal(check.raises, steps, 1001, asked="1001", contains="99")
    assert "refuse, never round" in refusal(check.raises, lambda s: s // 8, 1001, asked="1001")
    assert "a KeyError is needed" in refusal(check.raises, steps, 9, asked="9", kind=KeyError)


def blank_steps(slots):
    raise NotImplementedError


def test_a_blank_is_no_refusal():
    assert "still has its blank" in refusal(
        check.raises, blank_steps, 9, asked="9 slots", kind=RuntimeError
    )


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
        pytest.raises(check.CheckFailed, match="works in place"),
        check.unchanged(values, asked="sorted lengths"),
    ):
        values.sort()


def test_an_error_inside_unchanged_is_not_hidden():
    with pytest.raises(KeyError), check.unchanged([1], asked="x"):
        raise KeyError


# Hidden inputs


def test_fresh_inputs_follow_from_the_secret_seed_and_the_id(monkeypatch):
    monkeypatch.delenv("BATCHLAB_GRADING_SEED", raising=False)
    public = check.rng("check-waste").integers(0, 2**40)
    assert public == check.rng("check-waste").integers(0, 2**40)
    assert public != check.rng("check-other").integers(0, 2**40)
    monkeypatch.setenv("BATCHLAB_GRADING_SEED", "autumn")
    assert public != check.rng("check-waste").integers(0, 2**40)


# Catch the bug


def right(rows):
    return max(rows) * len(rows)


BUGS = {"counts tokens": sum, "trusts the first row": lambda rows: rows[0] * len(rows)}


def test_a_learners_test_must_stop_every_bug_and_no_right_answer():
    def good(slots):
        assert slots([5, 3]) == 10
        assert slots([3, 5]) == 10

    def shallow(slots):
        assert slots([5, 3]) == 10

    def strict(slots):
        assert slots([5, 3]) == 11, "eleven"

    def says_so(slots):
        return slots([3, 5]) == 10

    check.finds_bugs(good, right=[right], wrong=BUGS)
    check.finds_bugs(says_so, right=[right], wrong=BUGS)
    through = refusal(check.finds_bugs, shallow, right=[right], wrong=BUGS)
    assert "1 of 2 bugs found; this one got through: trusts the first row" in through
    stopped = refusal(check.finds_bugs, strict, right=[right], wrong=BUGS)
    assert "right implementation 1 was stopped: AssertionError: eleven" in stopped
    assert "blank" in refusal(check.finds_bugs, blank_steps, right=[right], wrong=BUGS)


def test_a_learners_test_may_ask_for_a_refusal_with_pytest():
    def refuses_empty(slots):
        with pytest.raises(ValueError):
            slots([])

    empty = {"takes nothing for zero": lambda rows: max(rows) * len(rows) if rows else 0}
    check.finds_bugs(refuses_empty, right=[right], wrong=empty)


# Doors


def test_names_of_a_learner_may_be_proxies_into_another_process():
    """A stand-in for a remote function: callable, an object of another class, copies cross."""

    class Remote:
        def __call__(self, *arguments):
            return right(*plain.nested(list(arguments)))

    remote = Remote()
    check.function(remote, [5, 3], asked="slots of [5, 3]")
    check.equal(remote([5, 3]), 10, asked="slots of [5, 3]")
    check.finds_bugs(lambda slots: slots([3, 5]) == 10, right=[remote], wrong=BUGS)


def test_probes_are_found_by_the_name_of_a_lesson():
    with pytest.raises(ValueError, match="lesson_00 is missing"):
        probes.load("00_nothing")


def test_checks_need_numpy_alone():
    code = (
        "import sys; from batchlab.classroom import check, predict, probes, quiz\n"
        "print(sorted({'torch', 'transformers', 'matplotlib', 'anywidget', 'nbformat', 'IPython'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

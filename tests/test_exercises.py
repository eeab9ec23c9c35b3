"""The laws of every exercise, and what each of them refuses."""

import subprocess
import sys

import pytest

from batchlab import exercises
from batchlab.authoring import laws
from batchlab.classroom import check, term
from batchlab.exercises import By, Exercise

NAMES = [name for topic in exercises.folders() for name in exercises.ordered(topic)]
HEAVY = """accumulation/take-step adaptive/control buckets/sampler buckets/windowed doctor/diagnose
  checkpointing/checkpoint-segments feeding/shuffled many/exact-step memory/chunked-loss
  minima/judge packing/mend-collator"""  # seconds each: below, with the deep ones
DAILY = [one for one in NAMES if one not in HEAVY.split()]


@pytest.mark.parametrize("name", DAILY)
def test_an_exercise_keeps_the_laws(name):
    """Right ways pass, mistakes are refused by their own thought, no shown case is idle."""
    assert list(laws.broken(name, seeds=1)) == []


def test_exercises_load_without_torch():
    """So that a page can run them: what needs torch imports it inside its functions."""
    code = (
        f"import sys; sys.modules['torch'] = None\n"
        f"from batchlab import exercises\n"
        f"for name in {NAMES}: exercises.found(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_no_seed_refuses_a_right_way(name):
    assert list(laws.broken(name, seeds=300)) == []


@pytest.mark.parametrize("topic", exercises.folders())
def test_a_lesson_gives_ten_points_and_has_one_build(topic):
    points = [exercises.found(name).points for name in exercises.ordered(topic)]
    assert sum(points) == 10 and max(points) >= 3 and points.count(max(points)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_knows_mistakes_and_another_right_way(name):
    it = exercises.found(name)
    assert len(it.mistakes) >= 5 and it.styles


def area(rows, width):
    """Slots of a rectangle."""
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    return rows * width


def half(value):
    """Half of a value."""
    return value / 2


def made(**more):
    """A small exercise of this file; what a test adds to it stays with the test."""
    cases = [(2, 5), (3, 7), (0, 5)]
    return Exercise(area, hints=("multiply", "rows * width"), shown=cases, **more)


def told(exercise, answer, **how):
    exercise.forget()
    with pytest.raises(check.CheckFailed) as caught:
        exercise.check(answer, **how)
    return str(caught.value).splitlines()


def test_a_right_answer_passes_in_any_dress():
    import numpy as np

    def other(rows, width):
        if rows < 1:
            raise ValueError(f"{rows} rows")
        return np.int32(sum([width] * rows))

    assert made().check(other) is None


def test_a_mistake_is_named_by_its_value_and_only_if_it_came_so_far():
    exercise = made()

    @exercise.mistake
    def added(rows, width):
        """the sides are multiplied, not added"""
        return rows + width

    @exercise.mistake
    def ten(rows, width):
        """the first case, whatever is asked"""
        return 10

    def adds(rows, width):
        return rows + width

    assert told(exercise, adds)[1:3] == [
        "got     7, right is 10",
        "likely  the sides are multiplied, not added",
    ]
    assert told(exercise, lambda rows, width: 10)[2] == "likely  the first case, whatever is asked"
    # 10 in the second case is 3 + 7 as well: that thought would have been refused in the first
    assert "added" not in " ".join(told(exercise, lambda rows, width: 10))


def test_where_the_reference_refuses_an_answer_must():
    exercise = made(mentions=lambda rows, width: (rows,))

    def never(rows, width):
        return rows * width

    lines = told(exercise, never)
    assert lines[0] == "asked   area(0, 5)" and "a ValueError is needed" in lines[1]

    def silent(rows, width):
        if rows < 1:
            raise ValueError("bad rows")
        return rows * width

    assert "without 0" in told(exercise, silent)[1]

    def other(rows, width):
        if rows < 1:
            raise KeyError(rows)
        return rows * width

    assert "KeyError" in told(exercise, other)[1]
    assert told(exercise, other)[2] == "likely  this case must be refused by a ValueError"


def test_an_edit_must_apply_exactly_once():
    exercise = made()
    exercise.edit("too wide", [("rows * width", "rows * (width + 1)")])
    exercise.edit("nowhere", [("columns", "rows")])
    assert exercise.mistakes[0].version(2, 5) == 12
    with pytest.raises(ValueError, match="'columns' is found 0 times"):
        _ = exercise.mistakes[1].version


def test_a_share_knows_per_cent_the_rest_and_rounding():
    exercise = Exercise(half, shown=[(0.3333333333,)], share="the other half")
    assert told(exercise, lambda value: 50 * value)[2].startswith("likely  in per cent")
    assert told(exercise, lambda value: 1 - value / 2)[2] == "likely  the other half"
    assert told(exercise, lambda value: round(value / 2, 2))[2].startswith("likely  rounded")


def test_a_scene_stands_between_the_answer_and_the_comparison():
    def scene(answer, size):
        calls = []
        answer(calls.append, size)
        return {"calls": calls}

    def twice(call, size):
        """Call with a size, twice."""
        call(size)
        call(size)

    exercise = Exercise(twice, shown=[(3,)], scene=scene)
    assert exercise.check(lambda call, size: [call(size) for _ in range(2)]) is None
    assert "calls of" in told(exercise, lambda call, size: call(size))[0]


def test_a_result_of_which_several_are_right_is_judged_by_its_fault():
    def split(total):
        """Two whole numbers that make a total."""
        return [1, total - 1]

    def fault(got, total):
        return "" if sum(got) == total else f"{got}, which makes {sum(got)} and not {total}"

    exercise = Exercise(split, shown=[(7,)], fault=fault)
    assert exercise.check(lambda total: [3, 4]) is None
    assert told(exercise, lambda total: [3, 3])[1] == "got     [3, 3], which makes 6 and not 7"


def test_nan_is_no_inf_unless_either_shows_that_a_training_diverged():
    def endless(size):
        """A loss that is inf."""
        return float("inf") * size

    strict = Exercise(endless, shown=[(2,)])
    assert strict.check(lambda size: float("inf")) is None
    for wrong in (float("nan"), float("-inf"), 3.0):
        assert "right is inf" in told(strict, lambda size, wrong=wrong: wrong)[1]
    loose = Exercise(endless, shown=[(2,)], diverges=True)
    assert loose.check(lambda size: float("nan")) is None
    assert "right is nan or inf" in told(loose, lambda size: 3.0)[1]


def test_a_cause_is_looked_for_only_where_a_result_is_wrong():
    asked = []
    exercise = made(explain=lambda got, rows, width: asked.append(got) or "look again")
    exercise.check(area)
    assert asked == []
    assert "look again" in told(exercise, lambda rows, width: 11)[2] and set(asked) == {11}


def test_options_go_by_name():
    exercise = Exercise(area, shown=[By(2, width=5)])
    assert exercise.check(lambda rows, width: rows * width) is None
    assert "width=5" in told(exercise, lambda rows, width: 0)[0]


def test_a_loop_without_an_end_is_stopped_and_named():
    def endless(rows, width):
        while True:
            pass

    def stubborn(rows, width):
        while True:
            try:
                while True:
                    pass
            except:  # noqa: E722  (what a learner writes)
                return 10

    for answer in (endless, stubborn):
        lines = told(made(seconds=0.3), answer)
        assert lines[1] == "got     no result after 0.3 seconds of CPU"
        assert lines[2] == "likely  a loop that does not end: bound it"
    known = made(seconds=0.3, endless=lambda rows, width: f"{rows} rows never fit")
    assert told(known, endless)[2].endswith("rows never fit")


def test_memory_that_runs_away_is_stopped(monkeypatch):
    from batchlab.exercises import _limit

    monkeypatch.setattr(_limit, "GROWN_BYTES", 64 << 20)

    def greedy(rows, width):
        kept = []
        while True:
            kept.append(bytearray(1 << 20))

    assert "more memory" in told(made(), greedy)[1]


def test_a_named_cause_comes_alone_and_a_hint_where_none_is_named_or_it_comes_again():
    def blank(rows, width):
        raise NotImplementedError

    exercise, said = made(), []

    @exercise.mistake
    def added(rows, width):
        """the sides are multiplied, not added"""
        return rows + width

    exercise.forget()
    for answer in (blank, added, added, max, added, max):
        with pytest.raises(check.CheckFailed) as caught:
            exercise.check(answer)
        said.append(str(caught.value).splitlines()[-1].split(maxsplit=1)[1])
    cause = "the sides are multiplied, not added"
    assert said == ["write it and run it", cause, "multiply", "rows * width", cause, "rows * width"]


def test_a_refusal_keeps_to_three_hundred_letters():
    def long(text):
        """The same text."""
        return text

    exercise = Exercise(long, shown=[("a" * 900,)], hints=("h" * 200,))
    assert len("\n".join(told(exercise, lambda text: text[1:]))) <= 300


def test_the_check_of_a_page_says_what_a_learner_can_now_say(capsys):
    check.judge("padding/waste", exercises.found("padding/waste").right)
    assert capsys.readouterr().out == "Right: waste is a ratio of sums.\n"


def test_a_mistake_that_passes_and_an_idle_case_break_the_laws(monkeypatch):
    exercise = made(drawn=lambda rng: [(1, 2)])

    @exercise.mistake
    def harmless(rows, width):
        """the sides are exchanged"""
        if rows < 1:
            raise ValueError(f"rows must be at least 1, not {rows}")
        return width * rows

    monkeypatch.setattr(exercises, "found", lambda name: exercise)
    monkeypatch.setattr(exercises._find, "found", lambda name: exercise)
    lines = list(laws.broken("tiny/area", seeds=1))
    assert "a mistake that passes: the sides are exchanged" in lines
    assert sum("is the first to tell no mistake" in line for line in lines) == 3


def test_what_a_term_draws_is_made_anew_in_each_term():
    """The mistake: the reference of a shown case, kept from another term's seed."""
    one = exercises.found("accumulation/take-step")
    try:
        for seed in ("spring", "autumn"):
            term.use(seed)
            one.check(one.right, shown=one.shown[:1], fresh=[])
    finally:
        term.use(None)


def test_what_a_class_is_asked_is_computed_before_its_first_check(monkeypatch):
    """The reference meets the cases of a check ahead; another generator draws other cases."""
    exercise, seed = exercises.foreseen("padding/waste"), "check-waste"
    try:
        with monkeypatch.context() as idle:
            idle.setattr(Exercise, "_ran", lambda *_: pytest.fail("computed again"))
            exercise.check(exercise.right, fresh=check.rng(seed))
        met = []
        monkeypatch.setattr(
            Exercise, "_ran", lambda *one, ran=Exercise._ran: met.append(1) or ran(*one)
        )
        exercise.check(exercise.right, fresh=check.rng("another"))
        assert met
        with pytest.raises(check.CheckFailed):
            exercise.check(lambda batches: 0.25, fresh=check.rng(seed))
    finally:
        exercise.foreseen.clear()
        exercise._before.clear()

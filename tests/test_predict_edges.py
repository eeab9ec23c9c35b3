"""Guesses at their limits: which are counted, which are kept, and where."""

import json
import sys
from pathlib import Path

import pytest

from batchlab.classroom import predict, quiz


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    for name in ("NBGRADER_EXECUTION", "BATCHLAB_GRADING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path))
    predict._memory.clear()
    yield tmp_path
    predict._memory.clear()


def guessed(capsys, **pairs):
    """The lines of the last reveal of these guesses and truths."""
    for key, (guess, truth) in pairs.items():
        predict.number(key, guess)
        capsys.readouterr()
        predict.reveal(key, truth)
    return capsys.readouterr().out.splitlines()


def test_the_first_guess_is_alone_and_the_second_makes_a_list(capsys):
    assert len(guessed(capsys, a=(1, 1))) == 1
    assert guessed(capsys, b=(4, 1))[1:] == [
        "Your guesses so far:",
        "  a                        guess          1   truth          1   as good as exact",
        "  b                        guess          4   truth          1   4 times too high",
        "Half of your guesses lie within a factor of 4.",
    ]


def test_of_many_guesses_the_last_six_are_shown_and_all_are_counted(capsys):
    pairs = {f"g{n}": (2.0**n, 1) for n in range(7)}
    said = guessed(capsys, **pairs)
    assert [line.split()[0] for line in said[2:-1]] == [f"g{n}" for n in range(1, 7)]
    assert said[-1] == "Half of your guesses lie within a factor of 8."
    below = {f"g{n}": (0.5**n, 1) for n in range(7)}
    assert guessed(capsys, **below)[-1] == "Half of your guesses lie within a factor of 8."


def test_a_guess_of_another_sign_or_of_nothing_has_no_factor(capsys):
    said = guessed(capsys, a=(-1, 2), b=(0, 3), c=(3, 0), d=(-6, -2))
    assert said[-1] == "Half of your guesses lie within a factor of 3."
    factors = [factor for *_, factor in predict.calibration()]
    assert factors == [0.0, 0.0, 0.0, 3.0]
    predict.forget("d")
    assert guessed(capsys, a=(-1, 2))[-1].endswith("off by 3")


@pytest.mark.parametrize(
    ("guess", "truth", "said"),
    [
        (98, 100, "as good as exact"),
        (97.9, 100, "1.02 times too low"),
        (102, 100, "as good as exact"),
        (102.1, 100, "1.02 times too high"),
        (0, 0, "as good as exact"),
        (0, 5, "off by 5"),
        (-4, -2, "2 times too high"),
    ],
)
def test_two_percent_are_as_good_as_exact(capsys, guess, truth, said):
    assert guessed(capsys, x=(guess, truth))[0].endswith(f": {said}.")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1e150, False),
        (9.9e149, True),
        (1e-150, False),
        (1.1e-150, True),
        (0, True),
        (-1e150, False),
    ],
)
def test_numbers_whose_products_are_no_floats_are_no_guess(capsys, value, kept):
    predict.number("x", value)
    assert ("Your guess" in capsys.readouterr().out) == kept


@pytest.mark.parametrize(("guess", "kept"), [(0, True), (1, True), (-0.01, False), (1.01, False)])
def test_both_bounds_are_guesses_themselves(capsys, guess, kept):
    predict.number("x", guess, low=0, high=1)
    assert ("Your guess" in capsys.readouterr().out) == kept


def test_a_bound_that_is_not_there_is_any_number(capsys):
    predict.number("x", 2, high=1)
    assert "it lies between any number and 1." in capsys.readouterr().out
    predict.number("x", float("inf"), low=0)
    assert capsys.readouterr().out == (
        "inf cannot be: it lies between 0 and any number. Guess again.\n"
    )


def test_one_guess_is_forgotten_or_all(cache, capsys):
    guessed(capsys, a=(1, 1), b=(2, 2))
    predict.forget("a")
    assert [key for key, *_ in predict.calibration()] == ["b"]
    assert list(json.loads((cache / "guesses.json").read_text())) == ["b"]
    predict.forget()
    assert predict.calibration() == [] and (cache / "guesses.json").read_text() == "{}"
    assert [path.name for path in cache.iterdir()] == ["guesses.json"], "no draft is left"


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/batchlab/guesses.json"),
        ("linux", {}, "/home/me/.cache/batchlab/guesses.json"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "/home/me/Library/Caches/batchlab/guesses.json"),
        ("win32", {"LOCALAPPDATA": "/w"}, "/w/batchlab/guesses.json"),
        ("win32", {"BATCHLAB_CACHE": "/c"}, "/c/guesses.json"),
    ],
)
def test_guesses_are_kept_where_the_system_keeps_what_can_be_lost(
    monkeypatch, platform, variables, wanted
):
    for name in ("BATCHLAB_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (variables | {"HOME": "/home/me"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert predict._path() == Path(wanted)


def test_a_folder_inside_a_folder_is_made_for_the_first_guess(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path / "not" / "there"))
    guessed(capsys, a=(1, 2))
    predict._memory.clear()
    assert predict.calibration() == [("a", 1.0, 2.0, 0.5)]


def test_a_prediction_of_a_page_says_what_it_asks_and_what_it_was():
    asks = predict.Prediction("k", unit="tokens", low=0, high=9)
    was = predict.Prediction("k", unit="tokens", truth=0)
    assert repr(asks) == "Your guess tokens?" and repr(was) == "It is 0 tokens."
    assert repr(predict.Prediction("k", unit="")) == "Your guess?"
    assert (asks.kept_as(), was.kept_as()) == ("k", "")
    assert asks.traits() == {
        "key": "k", "unit": "tokens", "low": 0, "high": 9, "truth": None, "guess": None,
    }  # fmt: skip
    assert was.traits()["truth"] == 0


def option(text, right, why):
    return {"text": text, "right": right, "why": why}


def test_a_quiz_has_two_options_or_more_and_counts_its_questions_from_one():
    two = [option("a", True, "x"), option("b", False, "y")]
    shown = quiz.show(
        [{"question": "q", "options": two}, {"question": "r", "options": two}], key="k"
    )
    assert repr(shown).splitlines() == [
        "Quiz k", "1. q", "   ( ) a", "   ( ) b", "2. r", "   ( ) a", "   ( ) b",
    ]  # fmt: skip
    assert shown.kept_as() == "k" and shown.traits()["chosen"] == {}
    for options in (two[:1], [two[0], option("b", True, "y")], [option("a", False, "x"), two[1]]):
        with pytest.raises(ValueError, match="item 2: exactly one of several options is right"):
            quiz.checked(
                [{"question": "q", "options": two}, {"question": "r", "options": options}], key="k"
            )
    with pytest.raises(ValueError, match="item 1: every option has its own text"):
        quiz.checked([{"question": "q", "options": [two[0], option("a ", False, "y")]}], key="k")


def test_on_a_page_a_guess_is_a_box_and_its_truth_what_it_was(monkeypatch, capsys):
    shown = []
    monkeypatch.setenv("BATCHLAB_BOOK", "1")
    monkeypatch.setattr("IPython.display.display", shown.append)
    predict.number("k", unit="tokens", low=0, high=9)
    predict.reveal("k", 7)
    assert [repr(one) for one in shown] == ["Your guess tokens?", "It is 7 tokens."]
    assert shown[0].bounds == (0, 9) and capsys.readouterr().out == ""

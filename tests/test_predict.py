"""A guess is kept until the run, never fails, and the list of guesses grows."""

import json

import pytest

from batchlab.classroom import opening, predict


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    for name in ("NBGRADER_EXECUTION", "BATCHLAB_GRADING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path / "cache"))
    predict._memory.clear()
    yield tmp_path / "cache"
    predict._memory.clear()


def test_guess_and_truth_are_printed_with_their_factor(capsys):
    predict.number("02-tokens", 200, unit="tokens")
    predict.reveal("02-tokens", 100)
    assert capsys.readouterr().out.splitlines() == [
        "Your guess: 200 tokens. Now run on.",
        "You guessed 200, it is 100 tokens: 2 times too high.",
    ]


@pytest.mark.parametrize(
    ("guess", "truth", "said"),
    [
        (50, 100, "2 times too low"),
        (101, 100, "as good as exact"),
        (0, 0.67, "off by 0.67"),
        (-1, 2, "off by 3"),
        (1e-9, 1.0, "1e+09 times too low"),
    ],
)
def test_the_distance_is_a_factor_where_there_is_one(capsys, guess, truth, said):
    predict.number("x", guess)
    predict.reveal("x", truth)
    assert said in capsys.readouterr().out


def test_a_notebook_without_guesses_runs_from_top_to_bottom(capsys):
    predict.number("02-waste", None, unit="of the slots")
    predict.reveal("02-waste", 0.67)
    predict.reveal("never-asked", 3)
    said = capsys.readouterr().out
    assert "It is 0.67 of the slots. You made no guess" in said and "It is 3." in said
    assert predict.calibration() == []


@pytest.mark.parametrize("guess", ["half", True, [1], float("nan"), 1.5, -0.1], ids=repr)
def test_what_cannot_be_a_guess_is_answered_gently(capsys, guess):
    predict.number("02-waste", guess, low=0, high=1)
    said = capsys.readouterr().out
    assert "A guess is one number" in said or "it lies between 0 and 1" in said
    predict.reveal("02-waste", 0.5)
    assert "You made no guess" in capsys.readouterr().out


def test_the_list_grows_from_lesson_to_lesson(cache, capsys):
    for key, guess, truth in [("01-a", 1, 2), ("02-b", 3, 1), ("03-c", 10, 1)]:
        predict.number(key, guess)
        predict._memory.clear()  # another notebook, another day
        predict.reveal(key, truth)
    assert [row[0] for row in predict.calibration()] == ["01-a", "02-b", "03-c"]
    assert "Half of your guesses lie within a factor of 3." in capsys.readouterr().out
    stored = json.loads((cache / "guesses.json").read_text())
    assert stored["02-b"]["truth"] == 1.0
    predict.forget("02-b")
    assert [row[0] for row in predict.calibration()] == ["01-a", "03-c"]
    predict.forget()
    assert predict.calibration() == []


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path / "file" / "below"))
    predict.number("x", 2)
    predict.reveal("x", 1)
    assert "2 times too high" in capsys.readouterr().out
    assert len(predict.calibration()) == 1


@pytest.mark.parametrize(
    "damage", ["", "{", "[1]", '{"x": 3}', '{"x": {"guess": "a", "truth": 1}}']
)
def test_a_damaged_file_is_no_reason_to_stop(cache, capsys, damage):
    cache.mkdir()
    (cache / "guesses.json").write_text(damage)
    predict.reveal("x", 1)
    predict.number("y", 2)
    predict.reveal("y", 1)
    assert "2 times too high" in capsys.readouterr().out


@pytest.mark.parametrize("guess", [10**400, -(10**400), 1e308, 1e-320, float("-inf")], ids=str)
def test_a_guess_beyond_all_measure_is_answered_gently(capsys, guess):
    predict.number("x", guess)
    assert " cannot be: it lies between any number and any number" in capsys.readouterr().out
    predict.reveal("x", guess)
    assert "no guess compares with that" in capsys.readouterr().out


@pytest.mark.parametrize(
    "truth", [None, "12", [1], object(), 1j, True], ids=lambda one: type(one).__name__
)
def test_a_result_that_is_not_there_yet_stops_no_notebook(capsys, truth):
    """The truth may come from an answer that is still wrong."""
    predict.number("x", 2)
    predict.reveal("x", truth)
    assert "There is no number to compare with" in capsys.readouterr().out


def test_a_file_with_numbers_beyond_measure_is_no_reason_to_stop(cache, capsys):
    cache.mkdir()
    odd = {"a": {"guess": 10**400, "truth": 1}, "b": {"guess": 1e-300, "truth": float("nan")}}
    (cache / "guesses.json").write_text(json.dumps(odd))
    predict.number("y", 2)
    predict.reveal("y", 1)
    assert "2 times too high" in capsys.readouterr().out
    assert predict.calibration() == [("y", 2.0, 1.0, 2.0)]


def test_a_graded_run_leaves_no_file(cache, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    predict.number("x", 2)
    predict.reveal("x", 1)
    assert "2 times too high" in capsys.readouterr().out and not cache.exists()


# The first cell


def test_a_lesson_opens_with_device_versions_and_what_is_skipped(monkeypatch, capfd):
    monkeypatch.setattr(opening, "gpu", lambda: "")
    opening.start("02_padding")
    out, err = capfd.readouterr()
    assert out.startswith("Lesson 02 padding. Python 3.") and "CPU cores, no GPU; batchlab" in out
    assert err == ""
    monkeypatch.setattr(opening, "gpu", lambda: "NVIDIA T4")
    opening.start("02_padding")
    assert "on NVIDIA T4;" in (said := capfd.readouterr().out) and "Skipped" not in said


def test_a_grader_sees_no_gpu(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert opening.grading() and opening.gpu() == ""
    opening.start("02_padding")
    assert "step aside" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variable", "run", "seed", "warned"),
    [
        ("NBGRADER_EXECUTION", "autograde", "", True),
        ("BATCHLAB_GRADING", "1", "", True),
        ("NBGRADER_EXECUTION", "autograde", "of this term", False),
        ("NBGRADER_EXECUTION", "validate", "", False),
    ],
)
def test_a_class_graded_with_the_public_seed_is_told_on_stdout(
    variable, run, seed, warned, monkeypatch, capfd
):
    """On stderr nbgrader would take the points of the cell."""
    for name in ("NBGRADER_EXECUTION", "BATCHLAB_GRADING", "BATCHLAB_GRADING_SEED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, run)
    if seed:
        monkeypatch.setenv("BATCHLAB_GRADING_SEED", seed)
    opening.start("02_padding")
    out, err = capfd.readouterr()
    assert ("public seed" in out) is warned and err == ""

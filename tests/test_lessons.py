"""The checks of a lesson pass on its solution and refuse everything else, by name.

Every lesson runs once in a process of its own (`batchlab.authoring.matrix`): its solution, its
blank copy, and all answers of tests/wrong_answers/: `make slow`. Each bank is read once.
"""

import ast
import json
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from batchlab.authoring import conventions, trial
from tests.tiny_lesson import ROOT, module, outcomes, points

SOURCES = sorted(ROOT.glob("solutions/*/*.md"))
WORDS_AT_A_STRETCH = 400
_reports: list[Path] = []


def bank_file(lesson: str) -> Path:
    return ROOT / "tests/wrong_answers" / f"{lesson}.py"


@cache
def tries(lesson: str) -> trial.Bank:
    return trial.bank(bank_file(lesson))


LESSONS = [pytest.param(s.parent.name, id=s.parent.name, marks=pytest.mark.slow) for s in SOURCES]


def answers(kind: str) -> list:
    return [
        pytest.param(
            name, answer, thought, words, id=f"{name} {answer}: {thought}", marks=pytest.mark.slow
        )
        for name in [source.parent.name for source in SOURCES]
        for answer, thoughts in tries(name).get(kind, {}).items()
        for thought, (_, words) in thoughts.items()
    ]


@pytest.fixture(scope="module", autouse=True)
def report(tmp_path_factory):
    _reports[:] = [tmp_path_factory.mktemp("outcomes")]


@cache
def tried(lesson: str) -> list[dict]:
    return outcomes(ROOT, lesson, _reports[0] / f"{lesson}.json")


def outcome(lesson: str, kind: str, answer: str, thought: str) -> dict:
    (found,) = [
        one
        for one in tried(lesson)
        if (one["kind"], one["answer"], one["thought"]) == (kind, answer, thought)
    ]
    return found


@pytest.mark.skipif(not SOURCES, reason="no lesson yet")
def test_the_committed_notebooks_are_what_the_sources_give():
    assert module("sources", "--check", "--root", str(ROOT)) == ""


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_solution_passes_its_own_checks_and_writes_no_error(lesson):
    own = [one for one in tried(lesson) if one["kind"] == "solution"]
    assert own
    for one in own:
        assert not one["error"], f"{one['answer']}: {one['message']}"
        assert not one["stderr"], "nbgrader gives no points beside any text on stderr"


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_blank_copy_fails_every_graded_cell(lesson):
    blank = [one for one in tried(lesson) if one["kind"] == "blank"]
    assert blank
    assert [one["answer"] for one in blank if not one["error"]] == []
    unclear = [one for one in blank if "blank" not in one["message"]]
    assert [f"{one['answer']}: {one['message']}" for one in unclear] == [], "a stub says so"


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_blank_notebook_runs_to_its_end_but_for_the_checks(lesson):
    torn = [one for one in tried(lesson) if one["kind"] == "torn"]
    assert [f"{one['answer']}: {one['error']}: {one['message']}" for one in torn] == []


@pytest.mark.parametrize(("lesson", "answer", "thought", "words"), answers("wrong"))
def test_a_wrong_answer_is_refused_by_a_message_that_names_it(lesson, answer, thought, words):
    refused(outcome(lesson, "wrong", answer, thought), words)


@pytest.mark.parametrize(("lesson", "answer", "thought", "words"), answers("hidden"))
def test_a_hidden_check_refuses_what_the_visible_ones_let_through(lesson, answer, thought, words):
    seen = outcome(lesson, "visible", answer, thought)
    assert not seen["caught_by"] and not seen["crash"], seen["message"] or seen["crash"]
    refused(outcome(lesson, "hidden", answer, thought), words)


@pytest.mark.parametrize(("lesson", "answer", "thought", "words"), answers("right"))
def test_another_right_answer_passes(lesson, answer, thought, words):
    one = outcome(lesson, "right", answer, thought)
    assert not one["caught_by"] and not one["crash"], one["message"] or one["crash"]
    assert not one["stderr"]


def refused(one: dict, words: str) -> None:
    assert not one["crash"], f"the answer of the bank does not run: {one['crash']}"
    assert one["caught_by"], "every check let it through"
    assert one["error"] == "CheckFailed", f"a crash is no verdict: {one['message']}"
    assert words and words.casefold() in one["message"].casefold(), one["message"]


BANKS = [source for source in SOURCES if bank_file(source.parent.name).exists()]


@pytest.mark.parametrize("source", BANKS, ids=lambda path: path.parent.name)
def test_every_answer_has_wrong_answers_and_every_hidden_check_a_reason(source):
    known = tries(source.parent.name)
    cells = trial.cells(source.with_suffix(".ipynb"))
    names = [cell.name for cell in cells if cell.solution]
    builds = {cell["id"] for cell in notebook(source) if "build" in tags(cell)}
    for name in names:
        wrong = len(known.get("wrong", {}).get(name, {}) | known.get("hidden", {}).get(name, {}))
        assert wrong >= (8 if name in builds else 5), f"{name}: what would a good student try?"
        right = known.get("right", {}).get(name, {})
        assert len(right) >= 2, f"{name}: other ways to write it right"
    for cell in cells:
        if trial.without_hidden(cell.source) != cell.source:
            judged = conventions.answer_of(cell.name, names)
            assert known.get("hidden", {}).get(judged), f"{cell.name}: what does it refuse more?"


def notebook(source: Path) -> list[dict]:
    cells: list[dict] = json.loads(source.with_suffix(".ipynb").read_text())["cells"]
    return cells


def tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


@pytest.mark.parametrize(
    ("seeds", "seconds", "every"),
    [
        pytest.param(10, 0.2, 3, marks=pytest.mark.slow, id="ten seeds, a third of the wrong"),
        pytest.param(300, 15.0, 1, marks=pytest.mark.deep, id="300 seeds"),
    ],
)
@pytest.mark.parametrize("lesson", [source.parent.name for source in BANKS])
def test_no_seed_refuses_a_right_answer_or_accepts_a_wrong_one(lesson, seeds, seconds, every):
    limits = ("--seeds", str(seeds), "--seconds", str(seconds), "--every", str(every))
    print(module("seeds", lesson, "--root", str(ROOT), *limits))


def test_no_two_lessons_share_a_label():
    """A book has one place for each: links would lead to whichever came first."""
    labels = [one for path in SOURCES for one in re.findall(r"^\((.+)\)=$", path.read_text(), re.M)]
    assert sorted({one for one in labels if labels.count(one) > 1}) == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name)
def test_the_student_copy_is_blank_and_clean(source):
    folder = ROOT / "lessons" / source.parent.name
    text = (folder / f"{source.stem}.ipynb").read_text()
    assert not re.search(r"BEGIN|END (SOLUTION|HIDDEN)", text)
    assert all(not cell.get("outputs") for cell in json.loads(text)["cells"])
    assert not list(folder.rglob("*.md"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name)
def test_every_figure_of_a_page_is_displayed(source):
    """A notebook shows the last expression of a cell alone: inside an `if` it needs display()."""
    lost = [
        f"{cell.name or 'a cell'}: {ast.unparse(one)[:60]}"
        for cell in trial.cells(source.with_suffix(".ipynb"))
        for one in figures_lost(cell.source)
    ]
    assert lost == []


def figures_lost(source: str) -> list[ast.expr]:
    """Figures that are made as a statement which is not the last one of its cell."""
    body = ast.parse(source).body
    made = [one.value for one in ast.walk(ast.Module(body, [])) if isinstance(one, ast.Expr)]
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    return [one for one in made if one is not last and ast.unparse(one).startswith("plots.")]


def test_a_figure_inside_an_if_is_found():
    assert len(figures_lost("if here:\n    plots.bars({})\nplots.bars({})")) == 1


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name)
def test_no_lesson_has_four_hundred_words_with_nothing_to_do(source):
    cells = json.loads(source.with_suffix(".ipynb").read_text())["cells"]
    stretch = 0
    for cell in cells:
        count = len("".join(cell["source"]).split()) if cell["cell_type"] == "markdown" else 0
        stretch = stretch + count if count else 0
        assert stretch <= WORDS_AT_A_STRETCH, f"{stretch} words with nothing to do"


@pytest.mark.parametrize(
    "source",
    [  # two kernels a lesson: every third in CI, all of them in the deep suite
        pytest.param(s, id=s.parent.name, marks=pytest.mark.deep if n % 3 else pytest.mark.slow)
        for n, s in enumerate(SOURCES)
    ],
)
def test_plain_nbgrader_gives_ten_points_to_the_solution_and_none_to_the_blank(source, tmp_path):
    lesson = source.parent.name
    shutil.copytree(source.parent, tmp_path / "solutions" / lesson)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    assert points(tmp_path, lesson) == {"blank": 0.0, "filled": 10.0}

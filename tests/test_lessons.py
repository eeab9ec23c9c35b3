"""A blank lesson runs from its first cell to its last; its copies are what they say.

Every blank lesson runs once in a process of its own (`batchlab.authoring.matrix`), which also
tries every known answer to its exercises: `make slow`. Solutions run where the book is built: a
check that does not pass, or a word on stderr, ends the build.
"""

import ast
import json
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from batchlab.authoring import matrix, trial
from batchlab.authoring.trial import Outcome
from tests.tiny_lesson import ROOT, module, outcomes, points

SOURCES = sorted(ROOT.glob("solutions/*/*.md"))
WORDS_AT_A_STRETCH = 400
_reports: list[Path] = []
BY_NBGRADER = ("15_many",)
LESSONS = [pytest.param(s.parent.name, id=s.parent.name, marks=pytest.mark.slow) for s in SOURCES]


@pytest.fixture(scope="module", autouse=True)
def report(tmp_path_factory):
    _reports[:] = [tmp_path_factory.mktemp("outcomes")]


@cache
def tried(lesson: str) -> list[dict]:
    return outcomes(ROOT, lesson, _reports[0] / f"{lesson}.json")


@pytest.mark.skipif(not SOURCES, reason="no lesson yet")
def test_the_committed_notebooks_are_what_the_sources_give():
    assert module("sources", "--check", "--root", str(ROOT)) == ""


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


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_matrix_of_a_lesson_has_no_fault(lesson):
    found = [Outcome(**one) for one in tried(lesson)]
    assert sum(one.kind == "wrong" for one in found) >= 30
    assert matrix.faults([one for one in found if one.kind != "torn"]) == []


SEEDS = [  # of every sixth lesson in CI: laws of exercises draw their own, every day
    *(pytest.param(s.parent.name, 10, 0.2, marks=pytest.mark.slow) for s in SOURCES[::6]),
    *(pytest.param(s.parent.name, 300, 15.0, marks=pytest.mark.deep) for s in SOURCES),
]


@pytest.mark.parametrize(("lesson", "seeds", "seconds"), SEEDS)
def test_no_seed_refuses_the_solution(lesson, seeds, seconds):
    print(
        module(
            "seeds", lesson, "--root", str(ROOT), "--seeds", str(seeds), "--seconds", str(seconds)
        )
    )


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
    """A notebook shows the last expression of a cell alone: all others need display()."""
    drawn = drawing(source.stem)
    lost = [
        f"{cell.name or 'a cell'}: {ast.unparse(one)[:60]}"
        for cell in trial.cells(source.with_suffix(".ipynb"))
        for one in figures_lost(cell.source, drawn)
    ]
    assert lost == []


def drawing(topic: str) -> set[str]:
    """Functions beside the exercises of a lesson that give a figure: `scenes.drawn`."""
    return {
        f"{path.stem}.{one.name}"
        for path in (ROOT / "batchlab" / "exercises" / topic).glob("*.py")
        for one in ast.parse(path.read_text("utf-8")).body
        if isinstance(one, ast.FunctionDef) and "return plots." in ast.unparse(one)
    }


def figures_lost(source: str, drawn: set[str]) -> list[ast.expr]:
    """Figures that are made as a statement which is not the last one of its cell."""
    body = ast.parse(source).body
    nodes = list(ast.walk(ast.Module(body, [])))
    functions = {one.name: one for one in nodes if isinstance(one, ast.FunctionDef)}

    def given(one: ast.expr | None) -> bool:
        if isinstance(one, ast.Lambda):
            return given(one.body)
        if isinstance(one, ast.Name) and one.id in functions:
            inside = ast.walk(functions[one.id])
            return any(given(part.value) for part in inside if isinstance(part, ast.Return))
        if not isinstance(one, ast.Call):
            return False
        name = ast.unparse(one.func)
        return given(one.args[0]) if name == "shown" else name.startswith("plots.") or name in drawn

    last = body[-1] if body else None
    made = [one.value for one in nodes if isinstance(one, ast.Expr) and one is not last]
    return [one for one in made if given(one)]


@pytest.mark.parametrize(
    "source",
    [
        "if here:\n    plots.bars({})\nplots.bars({})",
        "shown(lambda: scenes.drawn(1))\nshown(lambda: scenes.drawn(2))",
        "def f():\n    return plots.bars({})\nif here:\n    shown(f)",
    ],
)
def test_a_figure_that_is_not_shown_is_found(source):
    assert len(figures_lost(source, {"scenes.drawn"})) == 1
    assert (
        figures_lost("shown(lambda: display(scenes.drawn(1)))\nplots.bars({})", {"scenes.drawn"})
        == []
    )


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
    [  # two kernels a lesson, minutes in some: two lessons in CI, all of them in the deep suite
        pytest.param(
            s,
            id=s.parent.name,
            marks=pytest.mark.slow if s.parent.name in BY_NBGRADER else pytest.mark.deep,
        )
        for s in SOURCES
    ],
)
def test_plain_nbgrader_gives_ten_points_to_the_solution_and_none_to_the_blank(source, tmp_path):
    lesson = source.parent.name
    shutil.copytree(source.parent, tmp_path / "solutions" / lesson)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    assert points(tmp_path, lesson) == {"blank": 0.0, "filled": 10.0}

"""One source makes both notebooks, the same bytes every time; the matrix tells who was caught."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from batchlab.authoring import matrix, prose, sources
from batchlab.authoring.trial import Outcome
from tests.tiny_lesson import SOURCE, course, module, outcomes, points

STUDENT = "lessons/02_tiny/tiny.ipynb"
TEACHER = "solutions/02_tiny/tiny.ipynb"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = course(tmp_path_factory.mktemp("course"))
    said = module("sources", "--root", str(root))
    assert STUDENT in said and TEACHER in said
    return root


def code(path: Path) -> dict[str, str]:
    cells = json.loads(path.read_text())["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


@pytest.mark.slow
def test_the_second_build_writes_nothing(built):
    assert module("sources", "--root", str(built)) == ""


def test_the_student_gets_the_question_and_not_the_answer(built):
    student, teacher = code(built / STUDENT), code(built / TEACHER)
    assert list(student) == list(teacher), "ids follow from the source"
    assert student["slots"].endswith("raise NotImplementedError  # your turn")
    assert "max(lengths)" in teacher["slots"] and "max(lengths)" not in student["check-slots"]
    assert sorted(path.name for path in (built / "lessons").rglob("*") if path.is_file()) == [
        "one.svg",
        "tiny.ipynb",
    ]


def test_prose_and_quiz_arrive_in_words_of_a_notebook(built):
    cells = json.loads((built / STUDENT).read_text())["cells"]
    assert "[Krell et al. (2021)](https://arxiv.org/abs/2107.02027)" in "".join(cells[0]["source"])
    hidden = [cell["id"] for cell in cells if cell["metadata"].get("jupyter")]
    assert hidden == ["cell-03", "check-slots", "cell-09"], "quizzes and checks hold answers"
    for cell in cells:
        if cell["id"] in hidden:
            assert cell["metadata"]["jupyter"] == {"source_hidden": True}


@pytest.mark.slow
def test_check_mode_names_what_differs_and_writes_nothing(built, tmp_path):
    copy = shutil.copytree(built, tmp_path / "course")
    source = copy / "solutions/02_tiny/tiny.md"
    source.write_text(SOURCE.replace("Counting slots", "Counting cells"))
    before = (copy / STUDENT).read_bytes()
    said = module("sources", "--check", "--root", str(copy), ok=False)
    assert STUDENT in said and TEACHER in said
    assert (copy / STUDENT).read_bytes() == before


def test_a_build_never_overwrites_the_work_of_a_student(built, tmp_path, monkeypatch):
    wanted = {name: (built / name).read_bytes() for name in (STUDENT, TEACHER)}
    monkeypatch.setattr(sources, "generated", lambda root: wanted)
    assert sources.build(tmp_path) == [f"wrote: {STUDENT}", f"wrote: {TEACHER}"]
    mine = tmp_path / STUDENT
    work = mine.read_text().replace("raise NotImplementedError  # your turn", "return 10")
    ran = mine.read_text().replace('"execution_count": null', '"execution_count": 1')
    (mine.parent / "notes.txt").write_text("mine")
    for changed in (work, ran):
        mine.write_text(changed)
        (said,) = sources.build(tmp_path)
        assert said.startswith(f"kept: {STUDENT}") and mine.read_text() == changed
    assert sources.build(tmp_path, fresh=True) == [f"wrote: {STUDENT}"]
    assert mine.read_bytes() == wanted[STUDENT]
    assert sources.differences(tmp_path) == ["has no source: lessons/02_tiny/notes.txt"]


@pytest.mark.slow
def test_a_lesson_is_tried_blank(built, tmp_path):
    found = outcomes(built, "02_tiny", tmp_path / "report.json")
    of = {one["kind"]: one for one in found}
    assert of["blank"]["caught_by"] == "check-slots"
    assert of["torn"]["error"] == "NotImplementedError", "the cell that reveals uses the blank"


def test_the_matrix_shows_what_each_mistake_was_told():
    table = matrix.markdown(MATRIX)
    assert "| `slots` | tokens | `check-slots` | `` asked slots ``<br>`` got 8 `` |" in table
    assert "| `slots` | first | **nothing** | " in table
    assert matrix.faults(MATRIX) == ["slots: first: every check let it through"]


MATRIX = [
    Outcome(
        "wrong", "slots", "tokens", "got 8", "check-slots", "CheckFailed", "asked slots\ngot 8"
    ),
    Outcome("wrong", "slots", "first"),
]


@pytest.mark.slow
def test_a_book_gets_a_page_a_lesson_and_one_that_leads_there(built, tmp_path):
    module("matrix", "02_tiny", "--root", str(built), "--pages", str(tmp_path / "made"))
    table = (tmp_path / "made/02_tiny.md").read_text()
    assert table.startswith(
        "# Wrong answers of lesson 02 tiny\n\n[The lesson](../lessons/02_tiny.md)"
    )
    assert ":class: bl-stack\n\n| exercise |" in table
    leads = (tmp_path / "made/index.md").read_text()
    assert leads.endswith("| [02 tiny](matrix/02_tiny.md) | 0 | 0 | 0 |\n")
    assert matrix.index({"02_tiny": MATRIX}).endswith("| 1 | 2 | 1 |\n")


@pytest.mark.slow
def test_kept_outcomes_serve_again_until_anything_changes(tmp_path):
    whole = SOURCE.replace('"02-tiny", slots([5, 3]))', '"02-tiny", 10)')  # a blank tears no cell
    root, kept = course(tmp_path / "course", source=whole), tmp_path / "kept"
    module("sources", "--root", str(root))

    def found(*words):
        module("matrix", "02_tiny", "--root", str(root), "--json", str(tmp_path / "told"), *words)
        (results,) = json.loads((tmp_path / "told").read_text()).values()
        return "".join(matrix.faults([Outcome(**one) for one in results])), str(results)

    assert found("--keep", str(kept))[0] == ""
    (file,) = kept.iterdir()
    text = file.read_text()
    assert "still has its blank" in text
    file.write_text(text.replace("still has", "STILL has"))
    assert "STILL" in found("--reuse", str(kept))[1], "nothing changed: what was kept serves"
    file.write_text(text.replace("still has its blank", "STILL"))
    assert "STILL" not in found("--reuse", str(kept))[1], "what was kept has a fault: tried again"
    file.write_text(text.replace("still has", "STILL has"))
    student = root / STUDENT
    student.write_text(student.read_text() + "\n")
    assert "STILL" not in found("--reuse", str(kept))[1], "the lesson changed: tried again"


FAULTS = [
    ("points: 10", "points: 9", "the checks give 9 points"),
    ("grade_id: check-slots", "grade_id: judge", "named check-<answer>"),
    ("grade_id: check-slots", "grade_id: slots", "stands twice"),
    ('classroom.start("02_tiny")', 'classroom.start("03_tiny")', "exactly these lines"),
    (":tags: [setup]", ":tags: [first]", "has the tag `setup`"),
    ("    ### BEGIN SOLUTION\n", "", "### BEGIN SOLUTION"),
    ('check.passed("Right: the longest row sets the width.")', "slots([1])", "read as points"),
    ('check.passed("Right: the longest row sets the width.")', 'print("Right.")', "check.passed"),
    ("check.call(slots, [5, 3], asked", "slots([5, 3], asked", "called without check.call(slots"),
    (
        "check.call(slots, [5, 3], asked",
        "check.call(_own, [5, 3], asked",
        "stands in the lesson's probe",
    ),
    ("check.equal(", "row = 3\ncheck.equal(", "a check overwrites it: _row"),
    (":tags: [build, hide-input]", ":tags: [hide-input]", "one answer has the tag `build`"),
    ('mine.keep("02_tiny", slots)', 'mine.keep("03_tiny", slots)', 'calls mine.keep("02_tiny"'),
    (':tags: [quiz, hide-input]\n\nquiz.show([{"question": "3', ":tags: [keep]\n\n(3", "`keep`"),
    (":tags: [keep]", ":tags: [kept]", "one cell has the tag `keep`"),
    ("unit=", "unit=\n" * 12 + "unit=", "no plain Python"),
    ("predict.number(", "x = 1\n" * 12 + "predict.number(", "at most 12"),
    (
        "    return len(lengths)",
        "    len(lengths)\n" * 40 + "    return len(lengths)",
        "41 lines to write; at most 40",
    ),
    ("{cite:t}`krell2021packing`", "{cite:t}`nobody1999`", "no reference 'nobody1999'"),
    ("{cite:t}`krell2021packing`", "{abbr}`x`", "{abbr} is not known"),
]


@pytest.mark.parametrize(("old", "new", "said"), FAULTS, ids=[said for *_, said in FAULTS])
@pytest.mark.filterwarnings("default")
def test_a_broken_convention_is_named_before_anything_is_built(tmp_path, old, new, said):
    assert old in SOURCE
    root = course(tmp_path, source=SOURCE.replace(old, new, 1))
    source = root / "solutions/02_tiny/tiny.md"
    _, faults = sources.notebook(source, root / "book/references.bib")
    assert any(said in fault for fault in faults), faults


@pytest.mark.filterwarnings("default")
def test_the_tiny_lesson_has_no_fault(tmp_path):
    root = course(tmp_path)
    _, faults = sources.notebook(root / "solutions/02_tiny/tiny.md", root / "book/references.bib")
    assert faults == []


CONSTANT = [
    ("check.equal(check.call(slots, asked='x'), 10, asked='x')", True),
    ("_found = check.call(slots, asked='x')\ncheck.same(_found, [10], asked='x')", True),
    ("check.equal(check.call(slots, asked='x'), 10, asked='x', constant=True)", False),
    ("_found = check.call(slots, asked='x')\ncheck.equal(_found * 2, 20, asked='x')", False),
]


@pytest.mark.parametrize(("judged", "shown"), CONSTANT)
@pytest.mark.filterwarnings("default")
def test_the_refusal_of_an_answer_that_takes_nothing_must_not_show_it(tmp_path, judged, shown):
    check = SOURCE[SOURCE.index("check.equal(") : SOURCE.index("check.passed")]
    source = SOURCE.replace("def slots(lengths):", "def slots():").replace(check, f"{judged}\n")
    root = course(tmp_path, source=source)
    _, faults = sources.notebook(root / "solutions/02_tiny/tiny.md", root / "book/references.bib")
    assert any("slots is a bare constant" in fault for fault in faults) == shown, faults


NO_BUILD = SOURCE.replace("[build, hide-input]", "[hide-input]")


@pytest.mark.filterwarnings("default")
def test_an_answer_that_is_no_build_has_at_most_fifteen_lines(tmp_path):
    long = "    len(lengths)\n" * 15 + "    return len(lengths)"
    root = course(tmp_path, source=NO_BUILD.replace("    return len(lengths)", long))
    _, faults = sources.notebook(root / "solutions/02_tiny/tiny.md", root / "none.bib")
    assert any("16 lines to write; at most 15" in fault for fault in faults)


@pytest.mark.filterwarnings("default")
def test_the_lines_of_all_blanks_of_an_answer_are_counted_together(tmp_path):
    blank = "    ### BEGIN SOLUTION\n" + "    len(lengths)\n" * 8 + "    ### END SOLUTION\n"
    two = NO_BUILD.replace("    ### BEGIN SOLUTION\n", blank * 2 + "    ### BEGIN SOLUTION\n")
    root = course(tmp_path, source=two)
    _, faults = sources.notebook(root / "solutions/02_tiny/tiny.md", root / "none.bib")
    assert any("17 lines to write; at most 15" in fault for fault in faults), faults


@pytest.mark.slow
def test_what_learners_keep_is_no_part_of_the_course(built, tmp_path):
    copy = shutil.copytree(built, tmp_path / "course")
    for room in ("lessons", "solutions"):
        (copy / room / "mine").mkdir()
        (copy / room / "mine/02_tiny.py").write_text("slots = 1\n")
    assert module("sources", "--check", "--root", str(copy)) == ""


@pytest.fixture
def alone(tmp_path):
    """Run a first cell where no batchlab is installed; pip is a script that notes its words."""
    library = tmp_path / "clone/batchlab/classroom"
    library.mkdir(parents=True)
    (library.parent / "__init__.py").write_text("")
    (library / "__init__.py").write_text("start = print")
    folders = {name: tmp_path / name for name in ("clone/lessons/02_tiny", "bare", "k/working")}
    for folder in folders.values():
        folder.mkdir(parents=True)

    def run(where: str, repository: str = "", fails: bool = False):
        """No site-packages (-S): neither batchlab nor pip is there, but our own pip."""
        pip = f"import pathlib, sys; pathlib.Path({str(tmp_path / 'asked')!r}).write_text("
        pip += f"' '.join(sys.argv[1:])); sys.exit({int(fails)})"
        (tmp_path / "pip.py").write_text(pip)
        cell = sources.setup("02_tiny", repository=repository)
        assert len(cell.splitlines()) <= 12
        command = [sys.executable, "-S", "-c", cell]
        path = {"PYTHONPATH": str(tmp_path), "PATH": ""}
        done = subprocess.run(command, cwd=folders[where], capture_output=True, text=True, env=path)
        asked = (tmp_path / "asked").read_text() if (tmp_path / "asked").exists() else ""
        return done, asked

    return run, tmp_path


def test_the_first_cell_finds_a_clone_and_asks_pip_for_nothing(alone):
    run, _ = alone
    done, asked = run("clone/lessons/02_tiny", repository="https://example.org/b")
    assert (done.stdout, done.stderr, asked) == ("02_tiny\n", "", "")


@pytest.mark.parametrize(
    ("where", "wheel", "repository", "wanted"),
    [
        ("bare", "bare/batchlab-1-py3-none-any.whl", "", "bare/batchlab-1-py3-none-any.whl"),
        ("k/working", "k/input/mine/batchlab-1.whl", "", "k/input/mine/batchlab-1.whl"),
        ("bare", "bare/batchlab-1.whl", "https://example.org/b", "bare/batchlab-1.whl"),
        ("bare", "", "https://example.org/b", "git+https://example.org/b"),
    ],
)
def test_the_first_cell_installs_a_wheel_or_the_address_and_leaves_torch_alone(
    alone, where, wheel, repository, wanted
):
    run, folder = alone
    if wheel:
        (folder / wheel).parent.mkdir(parents=True, exist_ok=True)
        (folder / wheel).write_text("")
    _, asked = run(where, repository)
    assert asked.startswith("install -q --no-deps ") and asked.endswith(wanted)


def test_the_first_cell_says_what_to_do_and_stops_cleanly(alone):
    """Nothing found, and pip that fails: one line, no traceback, and no later cell runs."""
    run, _ = alone
    for repository in ("", "https://example.org/b"):
        done, asked = run("bare", repository, fails=True)
        assert done.returncode == 1 and done.stderr == f"{sources.ADVICE}\n" and not done.stdout
        assert bool(asked) == bool(repository)


def test_directives_become_plain_markdown():
    text = "(label)=\n# T\n\n:::{admonition} Mind\n:class: tip\nOne.\n\nTwo.\n:::\n"
    box = "> **Mind**\n>\n> One.\n>\n> Two.\n"
    assert prose.plain_markdown(text, {}) == (f'<a id="label"></a>\n\n# T\n\n{box}', [])
    fold = "```{admonition} Why?\n:class: dropdown\n\nSo.\n```"
    folded = "<details><summary>Why?</summary>\n\nSo.\n\n</details>"
    assert prose.plain_markdown(fold, {})[0] == folded
    figure = "```{figure} img/a.svg\n:alt: A drawing\nIts words.\n```"
    assert prose.plain_markdown(figure, {})[0] == "![A drawing](img/a.svg)\n\n*Its words.*"


@pytest.mark.slow
def test_plain_nbgrader_gives_the_same_bytes_and_the_right_points(built, tmp_path):
    root = shutil.copytree(built, tmp_path / "course")
    made = (root / STUDENT).read_bytes()
    assert points(root, "02_tiny") == {"blank": 0.0, "filled": 10.0}
    assert (root / STUDENT).read_bytes() == made


def test_a_name_that_is_no_persons_stays_whole_and_a_page_is_linked(tmp_path):
    bib = tmp_path / "references.bib"
    bib.write_text(
        "@misc{script, title={A}, author={{Open Workshop}}, howpublished={github.com/a/b, c.sh}}\n"
        "@article{one, title={B}, author={van Dam, Ann and Roe, Bo}, year={2020}, doi={10.1/x}}\n"
        "@misc{two, title={C}, author={Roe, Bo and {Open Lab}}, year={2021}, url={https://a.b}}\n"
    )
    assert prose.citations(bib) == {
        "script": ("Open Workshop", "undated", "https://github.com/a/b"),
        "one": ("van Dam and Roe", "2020", "https://doi.org/10.1/x"),
        "two": ("Roe and Open Lab", "2021", "https://a.b"),
    }

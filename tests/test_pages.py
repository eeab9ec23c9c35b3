"""The book is laid out from the sources: addresses that stay, and nothing for a lesson to add."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest
from docutils import nodes

from batchlab.authoring import catalogue, expand, pages, prose

ROOT = Path(__file__).parent.parent
NO_CLAIMS = "claims = []\n[articles]\n"


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    return pages.laid_out(ROOT, None, tmp_path_factory.mktemp("cache"))


@pytest.mark.slow
def test_every_lesson_has_its_address_its_card_and_its_place_in_the_contents(laid_out):
    contents = laid_out["_toc.yml"].decode()
    front = laid_out["index.md"].decode()
    for one in catalogue.lessons(ROOT):
        assert f"      - file: lessons/{one.folder}\n" in contents
        question = re.sub(r"\*(\w+)\*", r"<em>\1</em>", one.question)
        assert f'<li data-lesson="{one.folder}">' in front and question in front
        assert one.measured in front and one.built in front
        source = expand.read(ROOT / f"solutions/{one.folder}/{one.topic}.md")
        page = laid_out[f"lessons/{one.folder}.md"].decode()
        page = re.sub(r" fingerprint: \w{16},", "", page, count=1)
        assert page == source.replace(f"measured: {one.measured}\n", "")
    listed = {f"{name}.md" for name in re.findall(r"file: (\S+)", contents)} | {"index.md"}
    assert listed == {name for name in laid_out if name.endswith(".md")}, "no page is unlisted"


def test_a_new_lesson_needs_no_change_in_the_book(tmp_path):
    root = tmp_path / "clone"
    for folder in ("book", "batchlab"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("*.py"))
    (root / "book/claims.toml").write_text(NO_CLAIMS)
    home = root / "solutions/07_memory"
    (home / "img").mkdir(parents=True)
    (home / "img/a.svg").write_text("<svg/>")
    (home / "memory.md").write_text(
        "---\nmeasured: a peak\n---\n\n# 7. Memory: bytes\n\nWhere?\n\n![A drawing](img/a.svg)\n\n"
        "| formula card | |\n|---|---|\n| peak | $m$ |\n\nEnd.\n"
    )
    found = pages.laid_out(root, None, tmp_path)
    assert b"lessons/07_memory" in found["_toc.yml"] and b"The step" in found["_toc.yml"]
    assert b"](../img/07_memory/a.svg)" in found["lessons/07_memory.md"]
    assert found["img/07_memory/a.svg"] == b"<svg/>"
    sheet = found["formulas.md"].decode()
    assert "## [7. Memory](lessons/07_memory.md)" in sheet and "| peak | $m$ |" in sheet
    assert "End." not in sheet


def test_the_glossary_has_every_word_of_the_table_once():
    table = (ROOT / "book/words.md").read_text()
    found = pages.glossary(table)
    words = [
        word for line in re.findall(r"^\| ([^|]+?) \|", table, re.M) for word in line.split(", ")
    ]
    words = [word for word in words if word != "word" and set(word) != {"-"}]
    parts = [part.partition("```")[0] for part in found.split("```{glossary}\n")[1:]]
    terms = [
        line for part in parts for line in part.splitlines() if line and not line.startswith(" ")
    ]
    letters = re.findall(r"^## (.)$", found, re.M)
    assert letters == sorted(set(letters)) and len(letters) == len(parts) > 10
    assert sorted(terms) == sorted(words) and len(set(words)) == len(words) > 25
    assert "|---|" not in found and "Units stand in names" in found


def test_references_have_an_address_and_no_note_of_ours():
    text = pages.bibliography(ROOT / "book/references.bib")
    assert "$" not in text and "note=" not in text and "paywall" not in text
    cited = {
        key.strip()
        for source in [*ROOT.glob("solutions/*/*.md"), *ROOT.glob("book/*.md")]
        for keys in re.findall(r"\{cite(?::\w)?\}`([^`]+)`", source.read_text())
        for key in keys.split(",")
    }
    known = prose.citations(ROOT / "book/references.bib")
    library = "".join(path.read_text() for path in (ROOT / "batchlab").rglob("*.py"))
    named = {
        key
        for key, (who, year, _) in known.items()
        if f'"{key}"' in library or f"{who} ({year})" in library
    }
    assert cited and set(known) == cited | named, "each entry is used, each use has its entry"
    assert [key for key, (_, year, link) in known.items() if not link or not year] == []
    shortened = re.findall(r"author=\{([^{}]+) and others\}", text)
    assert shortened and all(names.count(" and ") > 1 for names in shortened), "else no et al."
    for entry in re.split(r"^@", text, flags=re.M)[1:]:
        assert re.search(r"\b(url|doi|eprint)=", entry), entry


def copied(folder: Path) -> Path:
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "book/claims.toml").write_text(NO_CLAIMS)
    (folder / "batchlab/web").mkdir(parents=True)
    (folder / "batchlab/units.py").write_text("x = 1\n")
    (folder / "batchlab/web/quiz.js").write_text("draw()\n")
    return folder


@pytest.mark.slow
def test_each_lesson_has_a_page_of_wrong_answers_at_an_address_that_stays(tmp_path):
    (tmp_path / "index.md").write_text("# All\n")
    (tmp_path / "02_padding.md").write_text("# Tried\n")
    found = pages.laid_out(ROOT, tmp_path, tmp_path)
    assert found["matrix.md"] == b"# All\n" and found["matrix/02_padding.md"] == b"# Tried\n"
    assert b"`make book` fills this page" in found["matrix/01_batch.md"], "not tried yet"
    contents = found["_toc.yml"].decode()
    for one in catalogue.lessons(ROOT):
        assert f"          - file: matrix/{one.folder}\n" in contents


@pytest.mark.slow
def test_outputs_serve_until_something_that_the_page_runs_changes(tmp_path):
    root = copied(tmp_path)
    (root / "batchlab/__init__.py").write_text("")
    (root / "batchlab/plan.py").write_text("from batchlab import units\n")
    (root / "batchlab/cli.py").write_text("")
    header = "---\nkernelspec: {name: python3, language: python}\n---\n"
    cell = "```{code-cell} ipython3\nfrom batchlab import plan\n```\n"
    (root / "book/doctor.md").write_text(header + cell)

    def kept_for():
        page = pages.laid_out(root, None, tmp_path)["doctor.md"].decode()
        return re.search(r"python3, fingerprint: (\w{16}), language", page)[1]

    before = kept_for()
    (root / "batchlab/cli.py").write_text("another = 1\n")
    assert kept_for() == before, "what no cell of the page runs"
    for name in ("units.py", "web/quiz.js"):
        (root / "batchlab" / name).write_text("another\n")
        after = kept_for()
        assert after != before
        before = after


@pytest.mark.slow
def test_laying_out_again_writes_nothing_and_forgets_what_is_gone(tmp_path):
    root = copied(tmp_path / "clone")
    folder = tmp_path / "_build/pages"
    asked = [str(folder), "--root", str(root)]
    pages.main(asked)
    config = (folder / "_config.yml").read_text()
    assert f"  cache: {tmp_path / '_build/executed'}\n" in config
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    (folder / "lessons").mkdir(exist_ok=True)
    (folder / "lessons/old.md").write_text("gone")
    pages.main(asked)
    now = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert now == times


@pytest.fixture(scope="module")
def folds():
    pytest.importorskip("sphinx")
    return extension("folds")


def extension(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"book/_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_answer_loses_its_marks_and_a_blank_its_answer(folds):
    code = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
    assert folds.without_markers(code) == "def f(x):\n    return x", "the last mark, too"
    blank = "def f(x):\n    raise NotImplementedError  # your turn"
    assert folds.without_answers(code) == blank
    assert folds.without_markers(
        "check()\n### BEGIN HIDDEN TESTS\nmore()\n### END HIDDEN TESTS\n"
    ) == ("check()\nmore()")
    two = code + "\n\n\n" + code.replace("f(x)", "g(x)")
    assert folds.without_answers(two) == f"{blank}\n\n\n{blank.replace('f(x)', 'g(x)')}"


def test_a_box_of_class_dropdown_folds_without_a_script(folds):
    page = nodes.section()
    box = nodes.admonition("", nodes.title(text="Why?"), nodes.paragraph(text="So."))
    box["classes"] = ["dropdown"]
    page += box
    folds._fold(box)
    opened, said, closed = page.children
    assert "<summary>" in opened.astext() and "Why?" in opened.astext() and not opened["classes"]
    assert said.astext() == "So." and closed.astext() == "</details>\n"


def test_imports_behind_the_setup_fold_with_it_and_code_does_not(folds):
    def cell(text, *tags):
        source = nodes.container("", nodes.literal_block(text, text))
        return nodes.container(
            "", source, nb_element="cell_code", cell_metadata={"tags": list(tags)}
        )

    page, setup = nodes.section(), cell("classroom.start()", "setup")
    page += [setup, cell("import numpy\ndata = [1]"), cell("print(1)\nimport os")]
    box = nodes.admonition("", nodes.title(text="What you will be able to do"))
    page += box
    folds._keep_house(setup, box)
    assert page.index(setup) == page.index(box) + 1, "a lesson begins with what it is about"
    assert len(page) == 3 and len(setup) == 2 and setup["hide_mode"] == "all"


def test_other_ways_come_from_the_exercises_of_the_lesson(folds):
    ways = folds._other_ways("lessons/02_padding")
    assert "with arrays" in ways["waste"]
    assert folds._other_ways("doctor") == {} == folds._other_ways("lessons/99_none")
    told = folds._told({"a loop": "x = 1", "long": "x = 1\n" * 30})
    assert told[0].astext() == "Other ways that pass every check: a loop; long."
    assert [node.astext() for node in told[1:]] == ["a loop", "x = 1"], "short ones in full"


def test_the_first_line_of_a_lesson_names_its_machine_and_versions(capsys):
    """The judge is the line that `classroom.start` prints today."""
    from batchlab import classroom

    opening = extension("executions").opening
    classroom.start("02_padding")
    machine, versions = opening(capsys.readouterr().out)
    assert machine and versions.startswith("Python 3.") and "batchlab " in versions
    assert opening("nothing of the kind") == ("", "")

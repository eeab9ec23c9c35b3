"""What a file runs is read from its imports; a fingerprint and a quick run follow from it."""

import subprocess
from pathlib import Path

import pytest

from batchlab.authoring import closure, quick

ROOT = Path(__file__).parent.parent

TREE = {
    "batchlab/__init__.py": "",
    "batchlab/units.py": "",
    "batchlab/plan/__init__.py": "from batchlab.plan._settings import read\n",
    "batchlab/plan/_settings.py": "def read():\n    from batchlab import units\n    return units\n",
    "batchlab/cli/__init__.py": "import importlib\ndef verb(name):\n"
    "    return importlib.import_module(f'batchlab.cli.{name}')\n",
    "batchlab/cli/pack.py": "",
    "batchlab/lone.py": '"""As batchlab.cli does; run batchlab.plan."""\n'
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from batchlab import units\n",
    "batchlab/shown.py": '"""A doctest.\n\n>>> from batchlab.plan import read\n"""\n',
    "batchlab/evidence/sweep.jsonl": "{}\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "",
    "tests/test_plan.py": "from batchlab.plan import read\n",
    "tests/test_units.py": "from batchlab import units\n",
    "tests/test_verb.py": "WORDS = ['-m', 'batchlab.cli']\n",
    "tests/test_lone.py": "from batchlab import lone\n",
    "tests/test_lessons.py": "SOURCES = 'solutions/*/*.md'\n",
    "solutions/02_padding/padding.md": "# 2\n\nfrom batchlab import cli\n\n"
    "```{code-cell} ipython3\nfrom batchlab import (\n    plan,\n)\n```\n",
    "bank.py": "WRONG = {'a': 'import math\\nfrom batchlab.plan import read\\n'}\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def reached(root, name):
    found = (path.relative_to(root) for path in closure.closure(root, [root / name]))
    return {path.as_posix() for path in found} - {name, "batchlab/__init__.py"}


PLAN = {"batchlab/plan/__init__.py", "batchlab/plan/_settings.py", "batchlab/units.py"}
TESTS = {"tests/__init__.py", "tests/conftest.py"}


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("batchlab/plan/__init__.py", PLAN - {"batchlab/plan/__init__.py"}),
        ("tests/test_plan.py", PLAN | TESTS),
        ("bank.py", PLAN),
        ("solutions/02_padding/padding.md", PLAN),
        ("batchlab/shown.py", PLAN),
        ("batchlab/cli/__init__.py", {"batchlab/cli/pack.py"}),
        ("tests/test_verb.py", {"batchlab/cli/__init__.py", "batchlab/cli/pack.py"} | TESTS),
        ("batchlab/lone.py", set()),
    ],
)
def test_a_file_runs_what_it_imports_at_any_depth_and_nothing_that_prose_names(root, name, runs):
    assert reached(root, name) == runs


def test_a_fingerprint_changes_with_what_is_run_and_with_nothing_else(root):
    def mark():
        return closure.fingerprint(root, [root / "batchlab/plan/__init__.py"], "seed")

    before = mark()
    assert closure.fingerprint(root, [root / "batchlab/plan/__init__.py"], "other") != before
    (root / "batchlab/cli/pack.py").write_text('"""A docstring."""\n')
    (root / "tests/test_plan.py").write_text("")
    assert mark() == before, "what no line of it runs"
    for name in ("batchlab/units.py", "batchlab/evidence/sweep.jsonl"):
        (root / name).write_text("another = 1\n")
        assert mark() != before, name
        before = mark()


def test_a_course_without_a_library_runs_the_one_that_is_installed(tmp_path):
    (tmp_path / "page.md").write_text("```{code-cell}\nfrom batchlab import units\n```\n")
    found = closure.closure(tmp_path, [tmp_path / "page.md"])
    assert ROOT / "batchlab/units.py" in found
    assert closure.fingerprint(tmp_path, [tmp_path / "page.md"])


@pytest.mark.slow
def test_every_file_of_the_library_is_run_by_a_test():
    """A file that no test reaches is found by no quick run; here the graph meets the real house."""
    found = closure.closure(ROOT, ROOT.glob("tests/**/test_*.py"))
    assert {path for path in (ROOT / "batchlab").rglob("*.py") if path not in found} == set()


@pytest.fixture
def branch(root):
    """A branch that left `main`, with nothing changed yet."""

    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", "-A")
    git("commit", "-m", "all")
    git("checkout", "-b", "mine")
    return root, git


def asked(root):
    found = quick.concerned(root, quick.changed(root))
    return [path.relative_to(root).as_posix() for path in found]


def test_a_test_that_imports_a_changed_module_indirectly_is_picked_after_the_direct_one(branch):
    root, git = branch
    assert asked(root) == []
    (root / "batchlab/units.py").write_text("x = 1\n")
    files = ["tests/test_units.py", "batchlab/shown.py", "tests/test_plan.py"]
    assert asked(root) == files
    git("commit", "-am", "committed on this branch")
    assert asked(root) == files


def test_a_new_file_and_a_page_concern_the_tests_that_run_or_name_them(branch):
    root, _ = branch
    (root / "tests/test_new.py").write_text("")
    (root / "solutions/02_padding/padding.md").write_text("# another\n")
    assert asked(root) == ["tests/test_new.py", "tests/test_lessons.py"]

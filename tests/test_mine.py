"""What a learner keeps runs by itself, and a later lesson runs on it or says why not."""

import linecache
import sys
import types

import pytest

from batchlab.classroom import mine

NOTEBOOK = '''
import math as m
from dataclasses import dataclass

import numpy as np
from batchlab import units
from batchlab.packing import pack

LIMIT, NAMES = 8, ["a", {"b": (1, None)}]
corpus = object()
rows = 3


def loud(function):
    return function


def longest(lengths):
    return int(np.max(lengths))


@loud
def slots(lengths, most=LIMIT, *, how=pack):
    """Slots of one rectangle."""
    corpus = longest(lengths)  # a local name, not the notebook's
    return m.floor(corpus) * len(lengths) if NAMES else most


@dataclass
class Report:
    slots: int = LIMIT


@dataclass
class Meter:
    total: int = 0

    @property
    def double(self):
        return Report(2 * self.total).slots


class Counting(Meter):
    def add(self, lengths):
        return type(self)(self.total + slots(lengths))


def blank(lengths):
    raise NotImplementedError  # your turn


def on_a_blank(lengths):
    return blank(lengths)


def on_data(lengths):
    return corpus


def again(n):
    return again(n - 1) if n else rows
'''


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Run the cell as IPython does, in a folder as `make lab` opens it."""
    for name in ("NBGRADER_EXECUTION", "BATCHLAB_GRADING"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "lessons/02_padding").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lessons/02_padding")
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    lines = NOTEBOOK.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<cell 7>", (len(NOTEBOOK), None, lines, "<cell 7>"))
    exec(compile(NOTEBOOK, "<cell 7>", "exec"), vars(main))
    return main


def test_a_kept_function_runs_by_itself_with_all_that_it_uses(notebook, tmp_path, capsys):
    mine.keep("02_padding", notebook.slots, notebook.Counting, notebook.again)
    assert capsys.readouterr().out == "Kept in mine/02_padding.py: slots, Counting, again.\n"
    path = tmp_path / "lessons/mine/02_padding.py"
    space: dict = {"__name__": "elsewhere"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert space["slots"]([5, 3]) == 10 and space["again"](2) == 3
    assert space["Counting"]().add([5, 3]).double == 20
    text = path.read_text()
    assert "import numpy as np\n" in text and "from batchlab.packing import pack\n" in text
    assert "corpus" not in space and text.count("def longest") == 1
    assert "units" not in text, "what is not used is not kept"


def test_what_cannot_be_kept_is_named_with_its_reason(notebook, tmp_path, capsys):
    mine.keep("02_padding", notebook.blank, notebook.on_a_blank, notebook.on_data, len)
    assert capsys.readouterr().out == (
        "Nothing kept. Left out: blank (still blank), on_a_blank (blank is still blank), "
        "on_data (it uses corpus, which is no function and no plain constant), "
        "len (its source is not known: run its cell again).\n"
    )
    assert not (tmp_path / "lessons/mine").exists()
    mine.keep("02_padding", notebook.blank, notebook.longest)
    said = "Kept in mine/02_padding.py: longest. Left out: blank (still blank).\n"
    assert capsys.readouterr().out == said


def test_a_function_is_kept_as_it_was_last_defined(notebook, tmp_path, monkeypatch):
    later = "def longest(lengths):\n    return 7\n"
    monkeypatch.setitem(linecache.cache, "<cell 9>", (1, None, later.splitlines(True), "<cell 9>"))
    exec(compile(later, "<cell 9>", "exec"), vars(notebook))
    mine.keep("02_padding", notebook.slots)
    assert "return 7" in (tmp_path / "lessons/mine/02_padding.py").read_text()


def test_a_later_lesson_takes_what_is_there_and_passes(notebook, tmp_path, monkeypatch, capsys):
    def library(lengths):
        return 0

    mine.keep("02_padding", notebook.slots)
    (tmp_path / "lessons/03_buckets").mkdir()
    monkeypatch.chdir(tmp_path / "lessons/03_buckets")
    capsys.readouterr()
    good = {"otherwise": library, "tries": lambda f: f([5, 3]) == 10}
    assert mine.take("02_padding", "slots", **good)([2, 2]) == 4
    assert mine.take("02_padding", "slots", otherwise=library)([2, 2]) == 4
    assert (
        mine.take("02_padding", "slots", otherwise=library, tries=lambda f: f([]) == 0) is library
    )
    assert mine.take("02_padding", "slots", otherwise=library, tries=lambda f: False) is library
    assert mine.take("02_padding", "pairs", **good) is library
    assert mine.take("01_batch", "steps", **good) is library
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["slots: yours, from mine/02_padding.py."] * 2
    assert said[2].startswith("slots: the library's (yours in mine/02_padding.py: ValueError: ")
    assert said[3].endswith("it fails the test of this lesson).")
    assert said[4].endswith("it is not in the file).")
    assert said[5] == "steps: the library's (nothing of lesson 01 is kept)."


@pytest.mark.parametrize("damage", ["", "def slots(:", "1 / 0", "exit()", "\0", "import nowhere"])
def test_a_damaged_file_is_no_reason_to_stop(notebook, tmp_path, capsys, damage):
    mine.keep("02_padding", notebook.slots)
    (tmp_path / "lessons/mine/02_padding.py").write_text(damage)
    assert mine.take("02_padding", "slots", otherwise=max) is max
    assert "slots: the library's" in capsys.readouterr().out


def test_under_grading_nothing_is_written_and_nothing_read(notebook, tmp_path, monkeypatch, capsys):
    mine.keep("02_padding", notebook.slots)
    monkeypatch.setenv("BATCHLAB_GRADING", "1")
    path = tmp_path / "lessons/mine/02_padding.py"
    before = path.read_text()
    mine.keep("02_padding", notebook.longest)
    assert path.read_text() == before
    assert mine.take("02_padding", "slots", otherwise=max) is max
    assert capsys.readouterr().out.endswith("slots: the library's (graded run).\n")


def test_a_notebook_in_no_lessons_folder_keeps_beside_itself(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # as on a hosted machine
    mine.keep("02_padding", notebook.longest)
    assert (tmp_path / "mine/02_padding.py").is_file()
    assert mine.take("02_padding", "longest", otherwise=None)([2]) == 2


def test_a_folder_that_cannot_be_written_costs_nothing(notebook, tmp_path, capsys):
    (tmp_path / "lessons/mine").write_text("a file")
    mine.keep("02_padding", notebook.longest)
    assert capsys.readouterr().out.startswith("Nothing kept: ")

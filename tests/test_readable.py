"""Every file of the library says what it is, and a function fits a screen."""

import ast
from pathlib import Path

import pytest

import batchlab

HOUSE = Path(batchlab.__file__).parent
LINES, SCREEN = 320, 60  # about 250 lines a file and 40 a function; a docstring does not count
MISTAKES = 620  # lines of an exercise, most of which is a table of what people get wrong


def faults(source: str, most: int = LINES) -> list[str]:
    tree = ast.parse(source)
    found = [] if ast.get_docstring(tree) else ["a file opens with its subject"]
    if (lines := len(source.splitlines())) > most:
        found.append(f"{lines} lines: split the subject")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = len((ast.get_docstring(node) or "").splitlines())
            if (length := (node.end_lineno or 0) - node.lineno + 1 - docstring) > SCREEN:
                found.append(f"{node.name}: {length} lines do not fit a screen")
    return found


def test_every_file_says_what_it_is_and_stays_readable():
    files = {path: faults(path.read_text("utf-8"), limit(path)) for path in HOUSE.rglob("*.py")}
    assert len(files) > 100 and {path: found for path, found in files.items() if found} == {}


def limit(path: Path) -> int:
    home = path.relative_to(HOUSE).parts
    return MISTAKES if home[0] == "exercises" and len(home) == 3 else LINES


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1", "a file opens"),
        ('"""A."""\n' + "x = 1\n" * LINES, "321 lines"),
        ('"""A."""\ndef f():\n' + "    x = 1\n" * SCREEN, "f: 61 lines"),
    ],
)
def test_a_file_that_is_not_readable_is_refused(source, said):
    assert faults(source)[0].startswith(said)

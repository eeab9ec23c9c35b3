"""The guide for instructors says what is so: every promise names a test, every example reads."""

import ast
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest

from batchlab import cli, exercises
from batchlab.grading import desk
from batchlab.grading._course import KNOWN
from batchlab.grading._verdict import VERDICTS
from tests import tiny_course as tiny

ROOT = Path(__file__).parents[1]
GUIDE = "".join(
    (ROOT / f"book/{name}.md").read_text(encoding="utf-8")
    for name in ("instructors", "instructors_reference", "instructors_promises")
)
PROMISES = re.findall(r"^\| .+ \| `(tests/\w+\.py)::(\w+)` \|$", GUIDE, re.MULTILINE)

SHELL = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)


def named_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name"), PROMISES)
def test_a_promise_has_the_test_that_the_guide_names(path, name):
    assert name.startswith("test_") and name in named_in(path)


def test_every_line_of_the_promise_is_read():
    section = GUIDE.split("## What is promised")[1].split("\n\n")[1]
    assert len(PROMISES) == section.count("\n|") - 1 > 15


def block(language, holds):
    (found,) = [one for one in re.findall(rf"```{language}\n(.*?)```", GUIDE, re.S) if holds in one]
    return "\n".join(line.removeprefix("   ") for line in found.splitlines())


def test_the_settings_of_the_guide_are_all_there_are_and_open(tmp_path):
    root = tiny.build(tmp_path / "course")
    text = block("toml", "seed_file").replace('"01_batch", ', "").replace("../seed", "seed")
    (root / "course.toml").write_text(text)
    course = desk.opened(root)
    assert [one.name for one in course.lessons] == ["02_padding", "03_buckets"]
    assert desk.seed(course) == tiny.SEED
    told = set(re.findall(r"^\| `\[?(\w+)", GUIDE.split("## Settings")[1].split("## ")[0], re.M))
    assert told == set(KNOWN)


def test_no_file_of_a_class_that_the_guide_names_gets_into_git():
    """An autograder holds the seed, the others names: none is committed by `git add .`."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    named = set(re.findall(r"[\w.-]+\.(?:csv|zip|db|toml)\b", "\n".join(SHELL))) | {"course.toml"}
    assert {"autograder.zip", "submissions.zip", "gradebook.csv"} <= named
    loose = {
        one for one in named if not any(fnmatch(one, rule.removeprefix("/")) for rule in ignored)
    }
    assert not loose


def test_every_command_of_the_guide_is_one():
    lines = [one.strip() for text in SHELL for one in text.splitlines()]
    commands = [shlex.split(one)[1:] for one in lines if one.startswith("batchlab ")]
    assert len(commands) > 8
    for words in commands:
        assert cli.parser().parse_args(words).verb


def test_the_points_by_hand_of_the_guide_read(tmp_path):
    root = tiny.build(tmp_path / "course")
    (root / "by_hand.csv").write_text(block("text", "lesson,student"))
    from batchlab.grading import _points

    found = _points.by_hand(desk.opened(root))
    assert found == {
        ("02_padding", "ada", "check-waste"): (
            1.0,
            "appeal of 3 May: the formula is right, our question was not",
        )
    }


def test_each_exercise_is_tried_with_at_least_five_wrong_answers():
    """T54; that each of them is refused is what the laws of the exercises say."""
    assert "at least five wrong answers" in GUIDE
    for topic in exercises.folders():
        for name in exercises.ordered(topic):
            assert len(exercises.found(name).mistakes) >= 5, name


def test_every_verdict_is_explained_in_the_guide():
    table = GUIDE.split("| verdict | meaning | points |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([A-Z]+)`", table)) == set(VERDICTS)

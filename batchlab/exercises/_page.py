"""What a page of the book tells of an answer: the text of its editor goes in, words come out.

    "check", "padding/waste", text  ->  {"state": "wrong", "text": four lines}

The page runs this in a worker of the browser, with NumPy and without PyTorch. An answer sees what
the cells above it give, as in the notebook: `np` and the names that its exercise lists.

Words
    state   "right", "wrong", "blank" (nothing written yet), "error" (it does not run), "ran"
"""

import ast
import contextlib
import importlib.util
import io
import linecache
import traceback
from typing import Any

import numpy as np

from batchlab.classroom import plain
from batchlab.classroom.behaviour import complaint, quietly
from batchlab.classroom.copies import copied
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._exercise import Exercise
from batchlab.exercises._find import found, judge

__all__ = ["answered"]

FILE = "<your answer>"
BLANK = "Nothing is written yet: put your code in place of the line with `raise`."
MOST_CASES, MOST_LETTERS = 3, 4000


def answered(what: str, name: str, text: str) -> dict[str, str]:
    """State and words of an answer: "check" judges it, "run" shows what it gives."""
    said = io.StringIO()
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    with contextlib.redirect_stdout(said), quietly():
        state = _state(what, found(name), name, text)
    told = said.getvalue().strip()
    return {"state": state, "text": told if len(told) < MOST_LETTERS else _cut(told)}


def _state(what: str, exercise: Exercise, name: str, text: str) -> str:
    """The state of an answer; what there is to say of it is printed."""
    try:
        if missing := _missing(text):
            print(f"{missing} is not in the page: write it without, or work in the notebook.")
            return "error"
        space = {"np": np, **exercise.above}
        exec(compile(text, FILE, "exec"), space)
        if exercise.name not in space:
            print(f"There is no {exercise.name} in this answer: keep its name.")
            return "error"
        if what == "check":
            judge(name, space[exercise.name])
            return "right"
        return "blank" if _is_blank(exercise, space[exercise.name]) else "ran"
    except CheckFailed as refused:
        if refused.kind == "blank":
            print(BLANK)
            return "blank"
        print(refused)
        return "wrong"
    except (Exception, SystemExit) as error:
        print(_trace(error))
        return "error"


def _is_blank(exercise: Exercise, answer: Any) -> bool:
    """Whether nothing was written yet; prints what the answer gives for the first shown cases."""
    for case in [] if exercise.tests else exercise.shown[:MOST_CASES]:
        arguments, options = copied(exercise.met(case))
        try:
            if exercise.scene is None:
                value = plain.shown(answer(*arguments, **options))
            else:
                value = plain.shown(exercise.scene(answer, *arguments, **options))
        except NotImplementedError:
            print(BLANK)
            return True
        except Exception as error:
            print(f"{exercise.words(case)}\n  raises {complaint(error)}")
        else:
            print(f"{exercise.words(case)}\n  gives {value}")
    if exercise.tests:
        print("It can be read. Check tries it on right and on wrong versions.")
    return False


def _missing(text: str) -> str:
    """The first library that the answer imports and that is not here; empty where all are."""
    for node in ast.walk(ast.parse(text, FILE)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for top in (one.partition(".")[0] for one in names):
            if top and importlib.util.find_spec(top) is None:
                return top
    return ""


def _trace(error: BaseException) -> str:
    """The error as Python shows it, with the lines of the answer alone."""
    whole = traceback.TracebackException.from_exception(error)
    own = [frame for frame in whole.stack if frame.filename == FILE]
    whole.stack = traceback.StackSummary.from_list(own)
    whole.__context__ = whole.__cause__ = None
    return "".join(whole.format()).strip()


def _cut(text: str) -> str:
    return f"{text[: MOST_LETTERS // 2]}\n…\n{text[-MOST_LETTERS // 2 :]}"

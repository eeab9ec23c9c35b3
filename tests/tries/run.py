"""Try answers of fresh students against the checks of a lesson, visible ones and hidden ones.

    python tests/tries/run.py 02_padding tests/tries/s3_02_padding.py

A file of answers holds WRONG and RIGHT: answer id -> why it is wrong (or in what style it is right)
-> the whole answer cell. They were written from the student copy, without sight of solution and
bank. What passes is printed in capitals: a check to mend. What is refused joins the bank.
"""

import os
import runpy
import sys
import tempfile
from pathlib import Path

from batchlab.authoring import trial

ROOT = Path(__file__).resolve().parents[2]


def outcomes(lesson: str, answers: Path) -> list[trial.Outcome]:
    """Every wrong answer as a hidden one, so that visible checks alone are tried as well."""
    names = runpy.run_path(os.fspath(answers))
    wrong = {
        answer: {thought: (code, "") for thought, code in some.items()}
        for answer, some in names.get("WRONG", {}).items()
    }
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        for kind in ("solutions", "lessons"):
            (course / kind).mkdir()
            (course / kind / lesson).symlink_to(ROOT / kind / lesson)
        bank = course / "tests/wrong_answers" / f"{lesson}.py"
        bank.parent.mkdir(parents=True)
        bank.write_text(f"HIDDEN = {wrong!r}\nRIGHT = {names.get('RIGHT', {})!r}\n")
        return trial.try_all(course, lesson)


def verdict(one: trial.Outcome, seen: dict[tuple[str, str], trial.Outcome]) -> str:
    """What became of one answer, in capitals where a check is to be mended."""
    stopped = bool(one.caught_by or one.crash)
    if one.kind == "right":
        return "REFUSED" if stopped else "accepted"
    before = seen.get((one.answer, one.thought))
    if stopped and before and not (before.caught_by or before.crash):
        return "REFUSED BY HIDDEN CHECKS ONLY"
    return "refused" if stopped else "ACCEPTED"


def main() -> None:
    lesson, answers = sys.argv[1], Path(sys.argv[2])
    found = outcomes(lesson, answers)
    seen = {(one.answer, one.thought): one for one in found if one.kind == "visible"}
    for one in found:
        if one.kind in ("hidden", "right"):
            kind = "wrong" if one.kind == "hidden" else "right"
            print(f"{verdict(one, seen)}: {kind} {one.answer}, {one.thought}")
            print("    " + (one.crash or one.message).replace("\n", "\n    "))


if __name__ == "__main__":
    main()

"""The matrix of a lesson: every mistake that its exercises know, and the check that caught it.

    what `trial` and the exercises' judges found  ->  a Markdown table, pages of the book, or JSON

Running the answers takes a while, so the tests keep what they found and the book shows it: outcomes
are taken from a folder only if nothing that they depend on has changed since.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from batchlab.authoring import closure, laws, trial
from batchlab.authoring.forks import LIMIT_SECONDS
from batchlab.authoring.trial import Outcome
from batchlab.classroom import check
from batchlab.exercises import folders, refusal

__all__ = ["faults", "found", "index", "main", "markdown", "page"]

INDEX = """# Wrong answers, and what caught them

Every check of the course is tried on answers that look right. Each must be refused, by a message
that names the thought behind it. These pages are made when the book is built.

| lesson | exercises | wrong answers | refused |
|---|---|---|---|
"""


def main(arguments: list[str] | None = None) -> int:
    """Print the matrix of one lesson, or of all; --json and --pages write it instead."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.matrix")
    parser.add_argument("lessons", nargs="*", help="such as 02_padding; none means all")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that holds solutions/")
    parser.add_argument("--json", type=Path, help="file to write the outcomes to")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="write pages of a book there")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the outcomes there")
    parser.add_argument("--reuse", type=Path, metavar="FOLDER", help="take what was kept there")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    names = options.lessons or sorted(p.parent.name for p in root.glob("solutions/*/*.ipynb"))
    told = {name: found(root, name, options.keep, options.reuse) for name in names}
    if options.json:
        text = {name: [asdict(one) for one in results] for name, results in told.items()}
        options.json.write_text(json.dumps(text), encoding="utf-8")
    elif options.pages:
        options.pages.mkdir(parents=True, exist_ok=True)
        made = {name: page(name, results) for name, results in told.items()}
        for name, content in (made | {"index": index(told)}).items():
            (options.pages / f"{name}.md").write_text(content, encoding="utf-8")
    else:
        print("\n\n".join(f"**{name}**\n\n{markdown(results)}" for name, results in told.items()))
    return 0


def index(outcomes: Mapping[str, list[Outcome]]) -> str:
    """The page that leads to the page of each lesson, with how many answers were tried there."""
    rows = []
    for name, results in outcomes.items():
        tried = [one for one in results if one.kind == "wrong"]
        refused = sum(bool(one.caught_by) for one in tried)
        exercises = len({one.answer for one in tried})
        link = f"[{name.replace('_', ' ')}](matrix/{name}.md)"
        rows.append(f"| {link} | {exercises} | {len(tried)} | {refused} |\n")
    return INDEX + "".join(rows)


def page(lesson: str, results: list[Outcome]) -> str:
    """The page of a lesson: its matrix as a table that stacks on a narrow screen."""
    title = f"# Wrong answers of lesson {lesson.replace('_', ' ')}"
    links = f"[The lesson](../lessons/{lesson}.md), [all lessons](../matrix.md)."
    return f"{title}\n\n{links}\n\n```{{table}}\n:class: bl-stack\n\n{markdown(results)}\n```\n"


def markdown(results: list[Outcome]) -> str:
    """The matrix of a lesson: exercise, wrong answer, the check that caught it, its message."""
    rows = [
        "| exercise | an answer that looks right | caught by | which said |",
        "|---|---|---|---|",
    ]
    for one in results:
        if one.kind == "wrong":
            where = f"`{one.caught_by}`" if one.caught_by else "**nothing**"
            said = "<br>".join(map(_code, one.message.splitlines()))
            rows.append(f"| `{one.answer}` | {_in_cell(one.thought)} | {where} | {said} |")
    return "\n".join(rows)


def _code(line: str) -> str:
    """A line of a message as code: no character of it is markup."""
    return f"`` {_in_cell(' '.join(line.split()))} ``"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def found(
    root: Path, lesson: str, keep: Path | None = None, reuse: Path | None = None
) -> list[Outcome]:
    """The outcomes of a lesson: from the folder `reuse` if nothing changed since, else tried now.

    Outcomes with a fault are tried again, whatever was kept.
    """
    name = f"{lesson}-{_fingerprint(root, lesson)}.json"
    if reuse and (reuse / name).exists():
        told = json.loads((reuse / name).read_text(encoding="utf-8"))
        kept = [Outcome(**one) for one in told]
        if not faults(kept):
            return kept
    results = trial.try_all(root, lesson)
    judged = partial(_judged, lesson.partition("_")[2])
    results += trial.in_a_copy(judged, LIMIT_SECONDS)  # threads of this process stop a later copy
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        for old in keep.glob(f"{lesson}-*.json"):
            old.unlink()
        (keep / name).write_text(json.dumps([asdict(one) for one in results]), encoding="utf-8")
    return results


def _judged(topic: str) -> list[dict[str, Any]]:
    """The outcomes of the mistakes and the styles of a lesson's exercises."""
    found = []
    for kind, name, thought, text, words in laws.answers(topic) if topic in folders() else ():
        said = refusal(f"{topic}/{name}", text, fresh=check.rng(f"check-{name}"))
        caught: dict[str, Any] = {"caught_by": f"check-{name}", "error": "CheckFailed"}
        one = Outcome(kind, name, thought, words, message=said, **(caught if said else {}))
        found.append(asdict(one))
    return found


def faults(results: list[Outcome]) -> list[str]:
    """One line for each outcome that is not as it must be.

    >>> faults([Outcome("wrong", "waste", "the mean of shares"), Outcome("right", "waste", "loop")])
    ['waste: the mean of shares: every check let it through']
    """
    said = []
    for one in results:
        why = _fault(one)
        if why:
            said.append(f"{one.answer}: {one.thought or one.kind}: {' '.join(why.split())}")
    return said


def _fault(one: Outcome) -> str:
    if one.kind == "wrong":
        if not one.caught_by:
            return "every check let it through"
        named = bool(one.words) and one.words.casefold() in one.message.casefold()
        plain = one.error == "CheckFailed" and named
        return "" if plain else f"the message does not say {one.words!r}: {one.message}"
    if one.kind == "blank":
        return "" if "blank" in one.message else f"a blank does not say so: {one.message}"
    wrote = one.stderr and "it writes to stderr, which nbgrader takes for an error"
    return (one.error and f"{one.error}: {one.message}") or wrote


def _fingerprint(root: Path, lesson: str) -> str:
    """Of all that outcomes depend on: the lesson and what it runs; the seed."""
    files = [
        *root.glob(f"solutions/{lesson}/*.ipynb"),
        *root.glob(f"lessons/{lesson}/*.ipynb"),
        Path(trial.__file__),
    ]
    return closure.fingerprint(root, files, os.environ.get("BATCHLAB_GRADING_SEED", ""))


if __name__ == "__main__":
    sys.exit(main())

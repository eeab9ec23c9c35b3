"""Write out the exercises of a source: a line names each, its file holds the rest.

    {exercise} waste   ->  the answer cell: signature, docstring, the reference between its marks
    {check} waste      ->  the check cell, one line; without this line it follows the answer

Both lines stand alone, with blank lines around them. The folder of the lesson, 02_padding, names
the folder of its exercises, `batchlab/exercises/padding`. Points are those of the exercise; the
one with the most points is the Build.
"""

import re
from pathlib import Path

from batchlab import exercises

__all__ = ["expanded", "read"]

LINE = re.compile(r"^\{(exercise|check)\} ([a-z][a-z0-9-]*)$", re.MULTILINE)
GRADING = "solution: {answer}, grade: {check}, {points}locked: {check}, task: false"


def read(source: Path) -> str:
    """The text of a source, its exercises written out; ValueError where a line names none."""
    return expanded(source.read_text(encoding="utf-8"), source.stem)


def expanded(text: str, topic: str) -> str:
    """The text with a cell in place of each line; one without such lines as it is."""
    placed = {name for kind, name in LINE.findall(text) if kind == "check"}
    named = [name for kind, name in LINE.findall(text) if kind == "exercise"]
    if not named:
        return text
    order = [one.partition("/")[2] for one in exercises.ordered(topic)]
    if [one for one in order if one in named] != named or set(order) - set(named):
        raise ValueError(f"{topic}: the page has {named}, ORDER of its exercises says {order}")

    def cell(line: re.Match[str]) -> str:
        kind, name = line.groups()
        if kind == "check":
            return _check(topic, name)
        answer = _answer(topic, name)
        return answer if name in placed else f"{answer}\n\n{_check(topic, name)}"

    return LINE.sub(cell, text)


def _answer(topic: str, name: str) -> str:
    exercise = exercises.found(f"{topic}/{name}")
    others = [exercises.found(one).points for one in exercises.ordered(topic)]
    tags = "hide-input, build" if exercise.points == max(others) else "hide-input"
    return _cell(
        tags, name, exercises.solution(exercise.text), answer="true", check="false", points=""
    )


def _check(topic: str, name: str) -> str:
    exercise = exercises.found(f"{topic}/{name}")
    line = f'check.judge("{topic}/{name}", {exercise.name})'
    points = f"points: {exercise.points}, "
    return _cell("hide-cell", f"check-{name}", line, answer="false", check="true", points=points)


def _cell(tags: str, name: str, code: str, **own: str) -> str:
    grading = f"schema_version: 3, grade_id: {name}, {GRADING.format(**own)}"
    head = f":tags: [{tags}]\n:nbgrader: {{{grading}}}"
    return f"```{{code-cell}} ipython3\n{head}\n\n{code}\n```"

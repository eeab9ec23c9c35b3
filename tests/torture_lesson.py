"""A lesson of five questions for the torture list: two points each, and notebooks to send."""

# ruff: noqa: E501  (code of students stands on one line)

import copy
import json
from pathlib import Path
from typing import Any

PUBLIC = {
    "setup": "from batchlab import classroom\nclassroom.start('90_torture')",
    "imports": "import numpy as np\nfrom batchlab.classroom import check",
    "data": "documents = np.array([5, 3, 8])\ndef helper(x):\n    return x + 0",
}
ANSWERS = {
    "total": ("def total(lengths):\n    return sum(lengths)"),
    "scaled": ("def scaled(values, factor):\n    return np.asarray(values) * factor"),
    "ordered": ("def ordered(items):\n    return sorted(items)"),
    "total-test": (
        "def total_test(total):\n    assert total([2, 3]) == 5\n    assert total([]) == 0"
    ),
    "parts": ("def parts(count, size):\n    return -(-count // size)"),
}
CHECKS = {
    "total": """hints = ["add them up", "sum() adds"]
asked = "total of [5, 3]"
check.equal(check.call(total, [5, 3], asked=asked, try_this=hints), 8, asked=asked,
            mistakes={2: "these are documents"})
### BEGIN HIDDEN TESTS
CANARY = "canary-total-7f3a"
for some in check.rng("check-total").integers(1, 99, (4, 3)).tolist():
    asked = f"total of {some}"
    check.equal(check.call(total, some, asked=asked), sum(some), asked=asked)
### END HIDDEN TESTS
check.passed("Right.")""",
    "scaled": """asked = "[1.0, 2.0] times 3"
check.array(check.call(scaled, np.array([1.0, 2.0]), 3, asked=asked), [3.0, 6.0], asked=asked)
### BEGIN HIDDEN TESTS
CANARY = "canary-scaled-91bc"
drawn = check.rng("check-scaled").normal(size=5)
check.array(check.call(scaled, drawn, 2.5, asked="fresh numbers times 2.5"), drawn * 2.5,
            asked="fresh numbers times 2.5")
### END HIDDEN TESTS
check.passed("Right.")""",
    "ordered": """given = [3, 1, 2]
check.same(check.call(ordered, given, asked="[3, 1, 2] in order"), [1, 2, 3], asked="[3, 1, 2] in order")
check.passed("Right.")""",
    "total-test": """check.finds_bugs(total_test, right=[sum, lambda some: sum(list(some))],
    wrong={"the first is lost": lambda some: sum(some[1:]), "always five": lambda some: 5},
    asked="your test of total")
check.passed("Right.")""",
    "parts": """got = [check.call(parts, n, 3, asked=f"parts of {n} by 3") for n in (3, 4)]
1.0 * (got[0] == 1) + 1.0 * (got[1] == 2)""",
}
BLANK = "### YOUR ANSWER\nraise NotImplementedError"


def stub(name: str) -> str:
    """What is released in place of an answer."""
    return ANSWERS[name].partition(":\n")[0] + ":\n    raise NotImplementedError"


def visible(source: str) -> str:
    """A check as the student sees it."""
    head, _, rest = source.partition("### BEGIN HIDDEN TESTS\n")
    return head + rest.partition("### END HIDDEN TESTS\n")[2] if rest else head


def cell(name: str, source: str, kind: str = "public", points: float = 2) -> dict[str, Any]:
    """A code cell as Jupyter writes it."""
    own = {} if kind == "public" else {"nbgrader": marks(name, kind, points)}
    return {"cell_type": "code", "id": name, "metadata": own, "source": source, "outputs": [],
            "execution_count": None}  # fmt: skip


def marks(name: str, kind: str, points: float = 2) -> dict[str, Any]:
    """What nbgrader writes into a cell."""
    found: dict[str, Any] = {"schema_version": 3, "grade_id": name, "task": False}
    if kind == "answer":
        return found | {"solution": True, "grade": False, "locked": False}
    return found | {"solution": False, "grade": True, "locked": True, "points": points}


def notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """A notebook of these cells."""
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def sent(answers: dict[str, str] | None = None) -> dict[str, Any]:
    """A submission: the released notebook with some answers filled in; all right ones if none."""
    given = ANSWERS if answers is None else answers
    cells = [cell(name, source) for name, source in PUBLIC.items()]
    for name in ANSWERS:
        cells.append(cell(name, given.get(name, stub(name)), "answer"))
        cells.append(cell(f"check-{name}", visible(CHECKS[name]), "check"))
    return notebook(cells)


def right_but(**changed: str) -> dict[str, Any]:
    """All right answers but these; `_` in a name stands for `-`."""
    return sent(ANSWERS | {name.replace("_", "-"): code for name, code in changed.items()})


def written(folder: Path) -> Path:
    """A course folder with this lesson; the path of the teacher's notebook."""
    teacher = copy.deepcopy(sent())
    for one in teacher["cells"]:
        if one["id"].startswith("check-"):
            one["source"] = CHECKS[one["id"].removeprefix("check-")]
    for kind, text in (("solutions", teacher), ("lessons", sent({}))):
        home = folder / kind / "90_torture"
        home.mkdir(parents=True)
        (home / "torture.ipynb").write_text(json.dumps(text))
    return folder / "solutions/90_torture/torture.ipynb"


def with_checks(folder: Path, **checks: str) -> Path:
    """The same course folder, some of whose checks are others."""
    teacher = written(folder)
    book = json.loads(teacher.read_text())
    for one in book["cells"]:
        name = one["id"].removeprefix("check-").replace("-", "_")
        if one["id"].startswith("check-") and name in checks:
            one["source"] = checks[name]
    teacher.write_text(json.dumps(book))
    return teacher

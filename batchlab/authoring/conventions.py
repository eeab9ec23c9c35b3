"""Name what breaks the conventions of a lesson's source, before anything is built.

    cells of a source  ->  one line for each fault; none for a good lesson

The conventions themselves stand in the guide of `batchlab.authoring.sources`.
"""

import ast
import re
from typing import Any

__all__ = ["CALL", "answer_of", "problems"]

CALL = 'from batchlab import classroom\nclassroom.start("{lesson}")'
CODE_LINES, ANSWER_LINES, BUILD_LINES, POINTS = 12, 15, 40, 10
BUILD_POINTS = 3


def problems(cells: list[Any], lesson: str) -> list[str]:
    """What breaks the conventions of a lesson, one line each; empty for a good one."""
    found: list[str] = []
    code = [(n, cell) for n, cell in enumerate(cells) if cell.cell_type == "code"]
    starts = [n for n, cell in code if "setup" in _tags(cell)]
    if not code or starts != [code[0][0]]:
        found.append("the first code cell, and no other, has the tag `setup`")
    elif code[0][1].source.strip() != CALL.format(lesson=lesson):
        found.append(f"the setup cell is exactly these lines:\n{CALL.format(lesson=lesson)}")
    for number, cell in code:
        grading = _grading(cell)
        where = grading.get("grade_id") or f"cell {number}"
        found += [f"{where}: {fault}" for fault in _cell_problems(cell, grading)]
    found += _grading_problems([_grading(cell) for cell in cells])
    return found + _piece_problems([cell for _, cell in code], lesson)


def _piece_problems(code: list[Any], lesson: str) -> list[str]:
    """What is wrong with the Build, the keep cell, and checks, which call and pass by name."""
    answers = [cell for cell in code if _grading(cell).get("solution")]
    names = {name: takes for cell in answers for name, takes in _defined(cell.source)}
    found = _build_problems(code, [_grading(cell)["grade_id"] for cell in answers])
    found += _keep_problems(code, lesson)
    for cell in code:
        if _grading(cell).get("grade") and not _grading(cell).get("solution"):
            where = _grading(cell)["grade_id"]
            found += [f"{where}: {fault}" for fault in _check_problems(cell, names)]
    return found


def _build_problems(code: list[Any], answers: list[str]) -> list[str]:
    builds = [_grading(cell).get("grade_id") for cell in code if "build" in _tags(cell)]
    if len(builds) != 1 or builds[0] not in answers:
        return ["one answer has the tag `build`: a piece of 15 to 40 lines"]
    checks = [_grading(cell) for cell in code if _grading(cell).get("grade")]
    points = sum(own["points"] for own in checks if answer_of(own["grade_id"], answers) in builds)
    short = f"the checks of the Build give {points} points; it has at least {BUILD_POINTS}"
    return [short] if points < BUILD_POINTS else []


def _keep_problems(code: list[Any], lesson: str) -> list[str]:
    kept = [number for number, cell in enumerate(code) if "keep" in _tags(cell)]
    first = kept[0] if len(kept) == 1 else None
    after = code if first is None else code[first + 1 :]
    if first is None or any(_grading(cell) or "quiz" not in _tags(cell) for cell in after):
        return ["one cell has the tag `keep`, and only quizzes come after it"]
    called = f'mine.keep("{lesson}", '
    return [] if called in code[first].source else [f"the keep cell calls {called}...)"]


def _tags(cell: Any) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def _grading(cell: Any) -> dict[str, Any]:
    own: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return own


def _defined(source: str) -> list[tuple[str, bool]]:
    """Functions and classes that a cell defines; whether each takes anything."""
    found = []
    for node in _parsed(source).body:
        if isinstance(node, ast.FunctionDef):
            found.append((node.name, bool(ast.unparse(node.args))))
        elif isinstance(node, ast.ClassDef):
            found.append((node.name, True))
    return found


def _check_problems(cell: Any, answers: dict[str, bool]) -> list[str]:
    """A check calls an answer through check.call, hides a constant, ends with check.passed."""
    body = _parsed(cell.source).body
    found = []
    if len(body) == 1 and ast.unparse(body[0]).startswith("check.judge("):
        return []
    if not body or not ast.unparse(body[-1]).startswith("check.passed("):
        found.append('the last line is check.passed("...")')
    calls = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Call)]
    called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    bare = sorted(called & answers.keys())
    found += [f"{name}(...) is called without check.call({name}, ...)" for name in bare]
    found += [
        f"{ast.unparse(call.args[0])} knows the learner's objects: it stands in the lesson's probe"
        for call in calls
        if ast.unparse(call.func) == "check.call" and ast.unparse(call.args[0]).startswith("_")
    ]
    found += [
        f"the name {name} may be a learner's own, and a check overwrites it: _{name}"
        for name in _bound(body)
        if not name.startswith("_")
    ]
    return found + _shown_constants(body, calls, answers)


def _bound(body: list[ast.stmt]) -> list[str]:
    """The names that a cell leaves behind; those of a function or a comprehension are its own.

    >>> _bound(ast.parse("for row in [n for n in rows]:\\n    def seen(x): y = x\\nimport os").body)
    ['os', 'row', 'seen']
    """
    own = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    found, todo = set(), list[ast.AST](body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, own):
            todo += ast.iter_child_nodes(node)
    return sorted(found)


def _shown_constants(body: list[Any], calls: list[ast.Call], answers: dict[str, bool]) -> list[str]:
    """An answer that takes nothing is a constant: no refusal may show the right one."""
    found = []
    for name in (name for name, takes in answers.items() if not takes):
        called = f"check.call({name}"
        texts = {called} | {
            ast.unparse(part.targets[0])
            for part in body
            if isinstance(part, ast.Assign) and ast.unparse(part.value).startswith(called)
        }
        for call in calls:
            if ast.unparse(call.func) not in {"check.equal", "check.same"} or not call.args:
                continue
            judged = ast.unparse(call.args[0]).partition(",")[0]
            if judged in texts and "constant" not in {word.arg for word in call.keywords}:
                found.append(f"{name} is a bare constant: {ast.unparse(call.func)}(constant=True)")
    return found


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:  # named by _cell_problems
        return ast.Module(body=[], type_ignores=[])


def _cell_problems(cell: Any, grading: dict[str, Any]) -> list[str]:
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        return [f"no plain Python: {error.msg}, line {error.lineno}"]
    found = []
    lines = cell.source.strip().splitlines()
    tags = _tags(cell)
    if grading.get("solution"):
        blanks = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL)
        if not blanks:
            found.append("an answer marks ### BEGIN SOLUTION and ### END SOLUTION")
        else:
            count = "".join(blanks).count("\n")  # a class may have one blank for each method
            most = BUILD_LINES if "build" in tags else ANSWER_LINES
            found += [f"{count} lines to write; at most {most}"] if count > most else []
    elif grading.get("grade"):
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not re.match(r"(check\.|print\()", ast.unparse(last)):
            found.append("the last line is a value, which nbgrader would read as points")
    elif "quiz" in tags:
        if "quiz.show(" not in cell.source:
            found.append("the tag `quiz` is for one call of quiz.show")
    elif len(lines) > CODE_LINES:
        found.append(f"{len(lines)} lines; a code cell has at most {CODE_LINES}")
    if not grading.get("grade") and "HIDDEN TESTS" in cell.source:
        found.append("hidden tests stand in check cells only")
    return found


def _grading_problems(entries: list[dict[str, Any]]) -> list[str]:
    found = []
    graded = [entry for entry in entries if entry.get("grade")]
    ids = [entry["grade_id"] for entry in entries if "grade_id" in entry]
    answers = [entry["grade_id"] for entry in entries if entry.get("solution")]
    found += [
        f"{name}: this id stands twice" for name in sorted({i for i in ids if ids.count(i) > 1})
    ]
    bad = [name for name in ids if not re.fullmatch(r"[a-z][a-z0-9-]{1,40}", name)]
    found += [f"{name}: ids are small words joined by -" for name in bad]
    for entry in graded:
        name = entry["grade_id"]
        if not entry.get("solution") and not answer_of(name, answers):
            found.append(f"{name}: a check is named check-<answer>, with an answer of {answers}")
    for name in answers:
        if not any(answer_of(entry["grade_id"], answers) == name for entry in graded):
            found.append(f"{name}: no check cell judges this answer")
    points = sum(entry.get("points", 0) for entry in graded)
    if points != POINTS:
        found.append(f"the checks give {points} points; a lesson has {POINTS}")
    return found


def answer_of(check_id: str, answers: list[str]) -> str:
    """The answer that a check judges: the longest one its id begins with behind `check-`.

    >>> answer_of("check-waste-2", ["waste", "was"]), answer_of("check-x", ["waste"])
    ('waste', '')
    """
    rest = check_id.removeprefix("check-")
    fits = [name for name in answers if rest == name or rest.startswith(f"{name}-")]
    return max(fits, key=len, default="") if check_id.startswith("check-") else ""

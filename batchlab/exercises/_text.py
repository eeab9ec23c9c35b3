"""The text of a version, and a version of a text.

a function or class  ->  its source under the exercise's name  ->  the same as an object
"""

import ast
import inspect
import re
import textwrap
from typing import Any

__all__ = ["built", "changed", "solution", "source_of"]

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def source_of(version: Any, name: str) -> str:
    """The text of a version under the exercise's name; a mistake's thought is left out."""
    whole = textwrap.dedent(inspect.getsource(version))
    (node,) = ast.parse(whole).body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef), f"{name}: no function and no class"
    lines = whole.splitlines(keepends=True)
    ours = re.compile(r"\w+\.(mistake|style)\b")
    own = [one.lineno for one in node.decorator_list if not ours.match(ast.unparse(one))]
    text = "".join(lines[min([node.lineno, *own]) - 1 :])
    if node.name == name:
        return text
    for word in ("def", "class"):
        text = text.replace(f"{word} {node.name}", f"{word} {name}", 1)
    first = node.body[0]
    if ast.get_docstring(node, clean=False) and len(node.body) > 1:
        said = "".join(lines[first.lineno - 1 : first.end_lineno])
        text = text.replace(said, "", 1)
    return text


def solution(text: str) -> str:
    """The answer cell of a reference: its body between marks, signature and docstring outside.

    >>> print(solution('def half(x):\\n    "Half of it."\\n    return x / 2\\n'))
    def half(x):
        "Half of it."
        ### BEGIN SOLUTION
        return x / 2
        ### END SOLUTION
    """
    lines = text.rstrip().splitlines()
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    blanks = [  # a method without a docstring is given
        one
        for one in node.body
        if isinstance(one, ast.FunctionDef) and ast.get_docstring(one) is not None
    ]
    for one in reversed(blanks if isinstance(node, ast.ClassDef) else [node]):
        assert isinstance(one, ast.FunctionDef)
        said = ast.get_docstring(one) is not None
        body = one.body[1:] if said else one.body
        indent = " " * body[0].col_offset
        lines.insert(body[-1].end_lineno or 0, indent + END)
        first = (one.body[0].end_lineno or 0) if said else one.body[0].lineno - 1
        lines.insert(first, indent + BEGIN)
    return "\n".join(lines)


def changed(text: str, changes: list[tuple[str, str]], where: str) -> str:
    """The text with each old part replaced; ValueError where one does not stand there once.

    >>> changed("a + b", [("+", "-")], "sum")
    'a - b'
    """
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{where}: {old!r} is found {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def built(text: str, name: str, names: dict[str, Any]) -> Any:
    """What a text defines under a name, among the names of its exercise's file."""
    space = dict(names)
    exec(compile(text, f"<{name}>", "exec"), space)
    return space[name]

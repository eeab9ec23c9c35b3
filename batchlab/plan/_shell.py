"""Shell scripts, read and not run: the words of all their commands, with their variables put in.

    text  ->  words

What a script computes from whole numbers is computed. What depends on a branch, on another program
or on the caller stays as it stands, with its dollar sign, so that nobody takes it for a number.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping

__all__ = ["split", "whole", "words_of"]

LONGEST_SCRIPT = 200_000
LARGEST = 10**18  # of a product; a count is far smaller
COMPUTED = "$[...]"  # stands for the output of another program
ASSIGNED = re.compile(
    r"""(?:^|(?<=\s))(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=(?:
        \((?P<array>(?:[^()]|\$\(\((?:[^()]|\([^()]*\))*\)\))*)\) |
        (?P<word>(?:"(?:[^"\\]|\\.)*" | '[^']*' | \$\(\((?:[^()]|\([^()]*\))*\)\) | [^\s;\#])*)
    )""",
    re.DOTALL | re.VERBOSE,
)
QUOTED = re.compile(
    r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL
)  # a value may have several parts
USED = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[@\]|\[\*\])?(?::?[-=]([^}$]*))?\})")
DEFAULT = re.compile(r"\$\{(\w+):?=([^}$]*)\}")
SUM = re.compile(r"\$\(\(([\w\s*/+%()-]{1,200})\)\)")
COMMENTS = re.compile(
    r"(?<!\\\n)^(?:[ \t]*#[^\n]*(?:\n|\Z))+", re.MULTILINE
)  # a \ ends none of them
OPENED = re.compile(r"^[ \t]*(if|case|fi|esac)\b", re.MULTILINE)
WRITTEN = re.compile(  # a file, or a program of another language, inside of the script
    r"^[^\n]*\b(?:python3?|cat|tee)\b[^\n]*<<-?[ ]*(['\"]?)(\w+)\1[^\n]*\n.*?^[ \t]*\2[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
BEFORE = re.compile(r"&&|\|\||[|&(){}]|\b(?:then|do|else)\b")  # a command begins behind them
ASSIGNS = {"", "export", "local", "declare", "readonly", "typeset", "env"}
OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda a, b: _towards_0(a, b), ast.Mod: lambda a, b: a - b * _towards_0(a, b),
}  # fmt: skip


def words_of(text: str) -> list[str]:
    """The words of all commands of a shell script, with its own variables put in."""
    if len(text) > LONGEST_SCRIPT:
        raise ValueError(f"a script of more than {LONGEST_SCRIPT:,} characters")
    text = _without_programs(text)
    values: dict[str, str] = {}
    words: list[str] = []
    at = branches = 0
    for assigned in ASSIGNED.finditer(text):
        begin = assigned.start()
        if begin < at or not _is_assignment(text[max(at, text.rfind("\n", 0, begin) + 1) : begin]):
            continue
        piece = text[at:begin]
        branches = _branches(piece, branches)
        _defaults(piece, values)
        words += split(_put_in(piece, values))
        _assign(assigned, values, inside=branches > 0)
        at = assigned.end()
    _defaults(text[at:], values)
    return _with_inner(words + split(_put_in(text[at:], values)))


def split(text: str) -> list[str]:
    """The words of a command line."""
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"not a command line ({error})") from None


def _without_programs(text: str) -> str:
    """One command a line; comments, inner programs and what other programs print are gone."""
    text = COMMENTS.sub("", text)
    text = WRITTEN.sub("", re.sub(r"\\\r?\n", " ", text))
    text = re.sub(r"(^|\s)#[^\n]*", r"\1", text)
    text = re.sub(r"`[^`]*`", COMPUTED, text)
    text = re.sub(r'"(\$\{\w+\[@\]\})"', r"\1", text)  # an array in quotes is several words
    kept, at = [], 0
    for opened in re.finditer(r"\$\((?!\()", text):
        if opened.start() >= at and (end := _closed(text, opened.end())):
            kept += [text[at : opened.start()], COMPUTED]
            at = end
    return "".join([*kept, text[at:]]).replace(";", "\n")


def _closed(text: str, at: int) -> int:
    """Behind the bracket that closes what was opened before `at`; 0 where none does."""
    depth = 1
    for found in re.finditer(r"[()]", text[at : at + 2_000]):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return at + found.end()
    return 0


def _is_assignment(head: str) -> bool:
    """Whether name=value stands where a command begins; behind one it is an argument."""
    words = BEFORE.split(head)[-1].split()
    return all(word in ASSIGNS or word.startswith("-") for word in words[:1]) and len(words) < 3


def _defaults(piece: str, values: dict[str, str]) -> None:
    """Note what a variable is where the caller gives it none: ${ROWS:=8}."""
    for found in DEFAULT.finditer(piece):
        values.setdefault(found[1], found[2])


def _branches(piece: str, depth: int) -> int:
    """How many branches are open behind a piece of the script."""
    for found in OPENED.finditer(piece):
        depth = depth + 1 if found[1] in ("if", "case") else max(depth - 1, 0)
    return depth


def _assign(assigned: re.Match[str], values: dict[str, str], *, inside: bool) -> None:
    """Note a value; two that differ by a branch leave the variable as it stands."""
    value = assigned["array"]
    if value is None:
        value = QUOTED.sub(lambda part: part[1] if part[2] is None else part[2], assigned["word"])
    value, name = _put_in(" ".join(value.split()), values), assigned["name"]
    before = values.get(name)
    if assigned["more"]:
        value = f"{before or ''} {value}"
        if len(value) > LONGEST_SCRIPT:
            raise ValueError(f"a variable of more than {LONGEST_SCRIPT:,} characters")
    elif inside and before not in (None, value):
        value = f"${{{name}}}"
    values[name] = value


def _put_in(piece: str, values: Mapping[str, str]) -> str:
    """A piece of a script with what is known of its variables; whole numbers are computed."""

    def value(match: re.Match[str]) -> str:
        return values.get(match[1] or match[2], match[0] if match[3] is None else match[3])

    def computed(match: re.Match[str]) -> str:
        try:
            return str(whole(ast.parse(match[1].strip(), mode="eval").body, values))
        except (ValueError, SyntaxError, ZeroDivisionError, RecursionError):
            return "".join(match[0].split())

    if sum(len(value(match)) for match in USED.finditer(piece)) > LONGEST_SCRIPT:
        raise ValueError(f"its variables make a script of more than {LONGEST_SCRIPT:,} characters")
    return SUM.sub(computed, USED.sub(value, piece))


def whole(node: ast.expr, values: Mapping[str, str]) -> int:
    """The value of a sum of whole numbers and of variables that hold them; ValueError of others."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = whole(node.left, values), whole(node.right, values)
        if max(abs(left), abs(right)) > LARGEST:
            raise ValueError("too large")
        return OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.Name) and re.fullmatch("[0-9]{1,18}", values.get(node.id, "")):
        return int(values[node.id])
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    raise ValueError("no whole number")


def _towards_0(total: int, part: int) -> int:
    """The quotient as a shell rounds it."""
    whole = abs(total) // abs(part)
    return whole if (total < 0) == (part < 0) else -whole


def _with_inner(words: list[str]) -> list[str]:
    """The words with those of a line that another shell runs: bash -c "..."."""
    made: list[str] = []
    for at, word in enumerate(words):
        inner = at > 1 and words[at - 1] in ("-c", "-lc") and words[at - 2] in ("bash", "sh")
        made += split(word) if inner else [word]
    return made

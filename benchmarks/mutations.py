"""Every small change of a file that its tests should notice.

    a file of the library  ->  mutants: the same file with one change each

A mutant is one change: a comparison, an arithmetic or boolean operator, a number by one, a truth
value, a condition turned round, `min` for `max`, or None returned. Messages, annotations,
decorators and the `strict` of a zip are left alone: the last guards what is true by construction.
"""

import ast
import contextlib
import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.USub: (ast.UAdd,),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
Changes = Callable[[ast.AST], Iterator[tuple[ast.AST, str, int | None, Any]]]


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path  # inside the repository
    line: int
    statement: range  # the lines of its statement; of one with a body, those above the body
    code: str  # that line, as it stands there
    before: str
    after: str
    number: int  # among all changes of the file

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to("batchlab").with_suffix("").parts)

    @property
    def door(self) -> str:
        return self.module.split(".")[0]

    @property
    def change(self) -> str:
        return f"{self.before} -> {self.after}"


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, Any]]:
    """(node, field, place in the field if it is a list, new value): every change that is tried."""
    for node in code_of(tree):
        match node:
            case ast.Compare(ops=ops):
                for place, op in enumerate(ops):
                    yield from ((node, "ops", place, new()) for new in SWAPS.get(type(op), ()))
            case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
                yield from ((node, "op", None, new()) for new in SWAPS.get(type(op), ()))
            case ast.UnaryOp(op=ast.USub()):
                yield node, "op", None, ast.UAdd()
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield node, "operand", None, ast.UnaryOp(ast.Not(), operand)
            case ast.Constant(value=bool() as value):
                yield node, "value", None, not value
            case ast.Constant(value=int() | float() as value):
                steps = (1, -1) if value + 1 != value else (value, -value / 2)  # of 1e300
                yield from ((node, "value", None, value + step) for step in steps)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                if not _turned_by_itself(test):
                    yield node, "test", None, ast.UnaryOp(ast.Not(), test)
            case ast.comprehension(ifs=ifs):
                yield from ((node, "ifs", i, ast.UnaryOp(ast.Not(), t)) for i, t in enumerate(ifs))
            case ast.Return(value=ast.Constant(None)):
                pass
            case ast.Return(value=ast.expr()):
                yield node, "value", None, ast.Constant(None)
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                yield node, "id", None, NAMES[name]
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
                yield node, "attr", None, NAMES[name]


def _turned_by_itself(test: ast.expr) -> bool:
    """Its own operator is already changed to the opposite."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[op]):
            return isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn | ast.Is | ast.IsNot)
    return False


def code_of(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, decorators, messages and what is for type checkers only."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            skipped |= {id(child) for child in ast.iter_child_nodes(node)}
            continue
        for field in ("annotation", "returns", "decorator_list"):
            found = getattr(node, field, None)
            skipped |= {id(n) for n in (found if isinstance(found, list) else [found])}
        if (
            isinstance(node, ast.JoinedStr | ast.Raise)
            or (isinstance(node, ast.keyword) and node.arg == "strict")
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            skipped |= {id(child) for child in ast.iter_child_nodes(node)}
            continue
        yield node


def mutants(path: Path, made_by: Changes = changes) -> list[Mutant]:
    """Every mutant of a file, in the order of its code."""
    text = (ROOT / path).read_text()
    tree, lines, spans = ast.parse(text), text.splitlines(), []
    for found in ast.walk(tree):
        if isinstance(found, ast.stmt):
            body = getattr(found, "body", None)
            end = body[0].lineno - 1 if body else found.end_lineno or found.lineno
            spans.append(range(found.lineno, max(end, found.lineno) + 1))
    made = []
    for number, (node, field, place, new) in enumerate(made_by(tree)):
        old = getattr(node, field)
        whole = place is not None and isinstance(old[place], ast.stmt)
        at = old[place] if whole else node
        before = _shown(at)
        with _changed(node, field, place, new):
            after = _shown(new if whole else node)
        line = min(one.lineno for one in ast.walk(at) if hasattr(one, "lineno"))
        statement = min((span for span in spans if line in span), key=len)
        if before != after:
            code = lines[line - 1].strip()
            made.append(Mutant(path, line, statement, code, before, after, number))
    return sorted(made, key=lambda one: (one.line, one.before, one.after))


def source_of(one: Mutant, made_by: Changes = changes) -> str:
    """The whole file with this one change."""
    tree = ast.parse((ROOT / one.path).read_text())
    with _changed(*next(itertools.islice(made_by(tree), one.number, None))):
        return ast.unparse(ast.fix_missing_locations(tree))


@contextlib.contextmanager
def _changed(node: ast.AST, field: str, place: int | None, new: Any) -> Iterator[None]:
    """The change is undone at the end."""
    old = getattr(node, field)
    changed = new
    if place is not None:
        changed = copy.copy(old)
        changed[place] = new
    setattr(node, field, changed)
    try:
        yield
    finally:
        setattr(node, field, old)


def _shown(node: ast.AST) -> str:
    """One line: of a statement with a body, its condition."""
    return " ".join(ast.unparse(getattr(node, "test", node)).split())

"""Slips of a hand that a test should notice: the second generator of mutants, beside `mutations`.

a file of the library  ->  mutants: the same file with one slip each

deleted    a call whose value nobody takes, a raise, a second assignment, a context of a with
inverted   a condition turned round as a whole, or one clause of it left out
dropped    a default: of a parameter, a keyword of a call, what `get`, `next` or `pop` fall to
exchanged  two arguments of a call that stand side by side, or the values of two keywords
boundary   < for <=, one more or less in a slice, a range, a comparison or a keyword's number
"""

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from mutations import code_of

__all__ = ["slips"]

Slip = tuple[ast.AST, str, int | None, Any]
BESIDE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
FALLS_TO = {"get": 1, "pop": 1, "next": 1, "getattr": 2, "setdefault": 1}  # place of the default
COMMUTE = ("max", "min", "maximum", "minimum")
BODIES = ("body", "orelse", "finalbody")


def slips(tree: ast.AST) -> Iterator[Slip]:
    """(node, field, place in the field if it is a list, new value): every slip that is tried."""
    for node in code_of(tree):
        yield from _deleted(node)
        yield from _inverted(node)
        yield from _dropped(node)
        yield from _exchanged(node)
        yield from _boundary(node)


def _deleted(node: ast.AST) -> Iterator[Slip]:
    bound: set[str] = set()
    if isinstance(node, ast.FunctionDef):
        bound = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
    for field in BODIES:
        body = getattr(node, field, None)
        if not isinstance(body, list):
            continue
        for place, one in enumerate(body):
            if _is_idle(one, bound):
                yield node, field, place, ast.Pass()
            if isinstance(one, ast.With):
                yield node, field, place, ast.If(ast.Constant(True), one.body, [])
            if isinstance(one, ast.Assign):
                bound |= {n.id for n in ast.walk(one) if isinstance(n, ast.Name)}


def _is_idle(one: ast.stmt, bound: set[str]) -> bool:
    """A statement without which the rest can still run."""
    match one:
        case ast.Expr(value=ast.Constant()):
            return False  # a docstring
        case ast.Expr() | ast.Raise() | ast.AugAssign() | ast.Delete() | ast.Continue():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in bound
    return False


def _inverted(node: ast.AST) -> Iterator[Slip]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield node, "test", None, _turned(test)
        case ast.comprehension(ifs=ifs):
            yield from ((node, "ifs", at, _turned(test)) for at, test in enumerate(ifs))
        case ast.BoolOp(values=values):
            for at in range(len(values)):
                yield node, "values", None, values[:at] + values[at + 1 :]


def _turned(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _dropped(node: ast.AST) -> Iterator[Slip]:
    match node:
        case ast.arguments(defaults=defaults, kw_defaults=named):
            if defaults:
                yield node, "defaults", None, defaults[1:]
            yield from ((node, "kw_defaults", at, None) for at, one in enumerate(named) if one)
        case ast.Call(func=func, args=args, keywords=keywords):
            for at, one in enumerate(keywords):
                if one.arg not in (None, "strict"):
                    yield node, "keywords", None, keywords[:at] + keywords[at + 1 :]
            name = _name_of(func)
            if name in FALLS_TO and len(args) == FALLS_TO[name] + 1:
                yield node, "args", None, args[:-1]


def _name_of(called: ast.expr) -> str:
    return str(getattr(called, "attr", getattr(called, "id", "")))


def _exchanged(node: ast.AST) -> Iterator[Slip]:
    if not isinstance(node, ast.Call):
        return
    args = [] if _name_of(node.func) in COMMUTE else node.args
    named = [one for one in node.keywords if one.arg not in (None, "strict")]
    for at in range(len(args) - 1):
        first, second = args[at], args[at + 1]
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            yield node, "args", None, [*args[:at], second, first, *args[at + 2 :]]
    for one, other in itertools.pairwise(named):
        if ast.dump(one.value) != ast.dump(other.value):
            swapped = {one.arg: other.value, other.arg: one.value}
            new = [ast.keyword(k.arg, swapped.get(k.arg, k.value)) for k in node.keywords]
            yield node, "keywords", None, new


def _boundary(node: ast.AST) -> Iterator[Slip]:
    match node:
        case ast.Compare(ops=ops, comparators=comparators):
            for at, op in enumerate(ops):
                if type(op) in BESIDE:
                    yield node, "ops", at, BESIDE[type(op)]()
            for at, one in enumerate(comparators):
                yield from ((node, "comparators", at, new) for new in _near(one))
        case ast.Slice():
            for field in ("lower", "upper"):
                bound = getattr(node, field)
                yield from ((node, field, None, new) for new in _near(bound, always=True))
        case ast.Call(func=ast.Name(id="range"), args=[_, *_]):
            at = min(len(node.args) - 1, 1)
            yield from ((node, "args", at, new) for new in _near(node.args[at], always=True))
        case ast.keyword(arg=str(), value=value):
            yield from ((node, "value", None, new) for new in _near(value))


def _near(one: ast.expr | None, *, always: bool = False) -> Iterator[ast.expr]:
    """One less and one more of a number, half and double; of what is computed if that is wanted."""
    match one:
        case ast.Constant(value=bool()) | None:
            return
        case ast.Constant(value=int() as value):
            yield from (ast.Constant(value + step) for step in (-1, 1))
        case ast.Constant(value=float() as value) if value:
            yield from (ast.Constant(value * factor) for factor in (0.5, 2))
        case _ if always:
            yield from (ast.BinOp(one, op, ast.Constant(1)) for op in (ast.Sub(), ast.Add()))

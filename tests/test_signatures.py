"""No argument is thrown away: what a signature asks for is read, and what was given is held.

Laws over every public function, method and class of the library, found by `__all__` of every door.
"""

import ast
import collections.abc
import contextlib
import dataclasses
import importlib
import inspect
import textwrap
import types
import typing
from pathlib import Path

import numpy as np
import pytest

from tests.house import library

HOUSE = library()
DOORS = [name for name in HOUSE.trees
         if name not in ("", "__main__") and "._" not in f".{name}"]  # fmt: skip
UNREAD = {  # a parameter that a contract asks for and this one does not need, and why
    ("unchanged", "from_batch"): "the rule that changes nothing",
    ("unchanged", "to_batch"): "the rule that changes nothing",
    ("Controller.at_once", "signals"): "nothing is urgent unless a subclass says so",
    ("Ramped.at_once", "signals"): "a ramp never waits",
    ("StepWorld.piece", "last"): "one process sends nothing after its last piece",
    ("Engine.__exit__", "kind"): "of every context",
    ("Engine.__exit__", "error"): "of every context",
    ("Engine.__exit__", "trace"): "of every context",
    ("Tracker.__exit__", "kind"): "of every context",
    ("Tracker.__exit__", "error"): "of every context",
    ("Tracker.__exit__", "trace"): "of every context",
}


def public():
    """Every function and class of the library that a door hands on, once."""
    found = {}
    for door in DOORS:
        if door.startswith("exercises."):  # written as learners write
            continue
        module = importlib.import_module(f"batchlab.{door}")
        for name in getattr(module, "__all__", ()):
            one = getattr(module, name)
            code = inspect.isclass(one) or inspect.isfunction(one)
            if code and one.__module__.startswith("batchlab"):
                found[f"{one.__module__}.{name}"] = one
    return list(found.values())


PUBLIC = public()
CLASSES = [one for one in PUBLIC if inspect.isclass(one)]


def said_only(function):
    """Whether there is no body: a docstring, three dots, or that a subclass must write it."""
    spoken = [node.value if isinstance(node, ast.Expr) else node for node in function.body]
    return all(isinstance(node, ast.Raise | ast.Constant) for node in spoken)


def unread(tree):
    """(function, parameter) of a function or class whose body never loads the parameter."""
    own = [tree] if isinstance(tree, ast.FunctionDef) else [
        node for node in tree.body if isinstance(node, ast.FunctionDef)
        and (node.name in ("__init__", "__exit__") or not node.name.startswith("_"))
    ]  # fmt: skip
    for function in own:
        where = function.name if function is tree else f"{tree.name}.{function.name}"
        loaded = {node.id for part in function.body for node in ast.walk(part)
                  if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}  # fmt: skip
        asked = function.args
        names = [*asked.posonlyargs, *asked.args, *asked.kwonlyargs, asked.vararg, asked.kwarg]
        for name in (one.arg for one in names if one):
            plain = not name.startswith("_") and name not in ("self", "cls")
            if plain and name not in loaded and not said_only(function):
                yield where, name


def parsed(one):
    return ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]


def test_every_parameter_of_every_public_function_is_read():
    trees = [parsed(one) for one in PUBLIC]
    trees = [tree for tree in trees if isinstance(tree, ast.FunctionDef | ast.ClassDef)]
    assert len(trees) > 400
    assert {one for tree in trees for one in unread(tree)} == UNREAD.keys()


def overwritten(kind):
    """Fields of a dataclass that `__post_init__` sets from something else than what was given."""
    given = {field.name for field in dataclasses.fields(kind) if field.init}
    for base in kind.__mro__:
        if "__post_init__" not in vars(base):
            continue
        tree = parsed(vars(base)["__post_init__"])
        for node in ast.walk(tree):
            name, value = assigned(node)
            if name in given and f"self.{name}" not in map(ast.unparse, ast.walk(value)):
                yield f"{kind.__name__}.{name}"


def assigned(node):
    """The attribute of self that a statement sets, and from what."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return node.targets[0].attr, node.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "object.__setattr__":
        name = node.args[1]
        return (name.value, node.args[2]) if isinstance(name, ast.Constant) else (None, node)
    return None, node


def test_no_dataclass_sets_a_field_from_something_else_than_what_was_given():
    kinds = [one for one in CLASSES if dataclasses.is_dataclass(one)]
    assert len(kinds) > 60
    assert [one for kind in kinds for one in overwritten(kind)] == []


# what a constructor was given is what it holds -------------------------------------------------


def samples(kind, deep=0):
    """Two values of an annotated type, or none where nobody could guess one."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    plain = {
        int: (3, 5), float: (0.5, 0.25), bool: (True, False), str: ("a", "b"),
        Path: (Path("a"), Path("b")), np.ndarray: (np.arange(1, 3), np.arange(2, 4)),
    }  # fmt: skip
    if kind in plain:
        return plain[kind]
    if origin in (typing.Union, types.UnionType):
        return next((found for one in inside if (found := samples(one, deep))), ())
    if origin is typing.Literal:
        return inside[:2]
    if origin in (tuple, list, collections.abc.Sequence):
        return tuple((one,) for one in samples(inside[0], deep))
    if origin in (dict, collections.abc.Mapping):
        keys, values = samples(inside[0], deep), samples(inside[1], deep)
        return tuple({one: value} for one, value in zip(keys, values, strict=False))
    if dataclasses.is_dataclass(kind) and deep < 3:
        with contextlib.suppress(Exception):
            return tuple(made(kind, deep + 1))[:2]
    return ()


def made(kind, deep=0):
    """Objects of a class: from the least, then with one argument changed; with what was given."""
    hints = typing.get_type_hints(kind.__init__)
    parameters = inspect.signature(kind).parameters.values()
    two = {one.name: samples(hints.get(one.name), deep) for one in parameters}
    least = {one.name: two[one.name][0] for one in parameters if one.default is one.empty}
    yield kind(**least)
    for one in parameters:
        for value in two[one.name] if deep == 0 else two[one.name][1:]:
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                built = kind(**{**least, one.name: value})
                if deep == 0:
                    built = (built, one.name, value)
                yield built


def lost(kind):
    """Arguments that an object does not hold under their name, of those that could be tried."""
    tried, missing = 0, []
    with contextlib.suppress(Exception):  # a class whose arguments nobody can guess
        for found in list(made(kind))[1:]:
            built, name, value = found
            if hasattr(built, name):
                tried += 1
                if not np.array_equal(getattr(built, name), value):
                    missing.append(f"{kind.__name__}({name}={value!r})")
    return tried, missing


def test_what_a_constructor_was_given_it_holds():
    found = [lost(kind) for kind in CLASSES]
    assert sum(tried for tried, _ in found) > 300
    assert [one for _, missing in found for one in missing] == []


# the mistakes ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Thrown:
    share: float = 1.0
    theta: float = 1.0

    def __post_init__(self) -> None:
        self.theta = float(self.theta)
        self.share = 1 / self.theta**2


def test_an_argument_that_is_thrown_away_is_seen():
    assert list(overwritten(Thrown)) == ["Thrown.share"]
    assert lost(Thrown)[1] == ["Thrown(share=0.5)", "Thrown(share=0.25)"]


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("def f(a, *, b=1): return a", [("f", "b")]),
        ("def f(a): a = 1", [("f", "a")]),
        ("class C:\n def __init__(self, a): ...\n def g(self, b): return 1", [("C.g", "b")]),
        ("def f(a, _b): return lambda: a", []),
    ],
)
def test_a_parameter_that_nobody_reads_is_seen(code, seen):
    assert list(unread(ast.parse(code).body[0])) == seen

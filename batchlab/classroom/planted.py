"""Judge a learner's test by right and wrong implementations of what it tests.

    a test, right versions, wrong versions  ->  nothing, or which one it judges wrongly

Every version meets the test in fresh state and in a shuffled order, so that only what the version
does can tell it from another.
"""

import random
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from batchlab.classroom import plain, term
from batchlab.classroom.afar import Gone, lives_afar
from batchlab.classroom.behaviour import call, complaint, quietly, refuse_blank
from batchlab.classroom.copies import copied
from batchlab.classroom.verdict import CheckFailed, Hints, refuse

__all__ = ["finds_bugs"]

Version = Callable[..., Any]
ASSERTS = "only an assert is a test: pytest does not look at what is returned"
COUNTS = "what counts is an assert that fails, another exception, or False returned: nothing else"
FALSE = "it returned False"
_rounds = 0


def finds_bugs(
    test: Callable[[Version], object],
    *,
    right: Iterable[Version],
    wrong: Mapping[str, Version],
    asked: str = "a test that finds the bugs",
    asserts: bool = False,
    try_this: Hints = "",
) -> None:
    """Refuse a learner's test that stops a right implementation, or lets a wrong one through.

    The test takes an implementation; it raises (`assert ...`) or returns False when it sees a bug.
    Nothing else that it returns counts: neither True nor a number. With `asserts` False counts
    for nothing either, as in pytest.
    """
    global _rounds
    _rounds += 1
    if not callable(test):
        call(test, asked=asked, try_this=try_this)
    versions = [("", number, one) for number, one in enumerate(right, 1)]
    versions += [(thought, 0, one) for thought, one in wrong.items()]
    random.Random(f"{term.seed()} {asked} {_rounds}").shuffle(versions)
    returned: list[object] = []
    found = {(name, number): _against(test, one, asked, returned) for name, number, one in versions}
    if asserts:
        found = {one: "" if said == FALSE else said for one, said in found.items()}
    for (name, number), against in sorted(found.items(), key=lambda one: one[0][1]):
        if not name and against:
            got = f"right implementation {number} was stopped: {against}"
            thought = (
                "the test asks for more than the task says, compares floats exactly, or a number "
                "in it is wrong"
            )
            refuse(asked, got, thought, try_this)
    through = [thought for thought in wrong if not found[thought, 0]]
    if through:
        caught = f"{len(wrong) - len(through)} of {len(wrong)} bugs found"
        likely = "no case of the test tells it from a right one"
        if len(through) == len(wrong):
            caught, likely = f"the test never failed: {caught}", ASSERTS if asserts else COUNTS
        if any(one is True for one in returned):
            caught += ", the test returned True"
        refuse(asked, f"{caught}; this one got through: {through[0]}", likely, try_this)


def _against(
    test: Callable[[Version], object], implementation: Version, asked: str, returned: list[object]
) -> str:
    """What the test has against the implementation, empty when it lets it pass.

    What the test returns is added to `returned`.
    """
    try:
        with quietly():
            verdict = fresh(test)(_nameless(implementation))
        returned.append(verdict)
    except (CheckFailed, Gone, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # pytest.raises and pytest.fail complain by one of their own
        refuse_blank(error, test, asked)
        return complaint(error)
    return FALSE if plain.is_false(verdict) else ""


def _nameless(implementation: Version) -> Version:
    """The same function under a name that tells nothing."""
    if lives_afar(implementation):
        return implementation
    return lambda *arguments, **options: implementation(*arguments, **options)


def fresh(test: Any) -> Any:
    """The same function in state of its own: copies of its defaults, attributes and globals.

    What the function and its helpers in the same notebook remember stays with this copy. Another
    kind of callable is handed back as it is.
    """
    if lives_afar(test):
        return test.fresh()
    if type(test) is not types.FunctionType:
        return test
    names = dict(test.__globals__)
    memo: dict[int, Any] = {}
    return _rebuilt(test, names, memo)


def _rebuilt(one: types.FunctionType, names: dict[str, Any], memo: dict[int, Any]) -> Any:
    if id(one) in memo:
        return memo[id(one)]
    cells = tuple(types.CellType(_data(cell, memo)) for cell in one.__closure__ or ())
    made = types.FunctionType(one.__code__, names, one.__name__, copied(one.__defaults__), cells)
    memo[id(one)] = made
    made.__kwdefaults__ = copied(one.__kwdefaults__)
    made.__dict__.update(copied(one.__dict__))
    for name in _mentioned(one.__code__) & one.__globals__.keys():
        there = one.__globals__[name]
        if type(there) is types.FunctionType:
            if there.__globals__ is one.__globals__:
                names[name] = _rebuilt(there, names, memo)
        elif not isinstance(there, types.ModuleType | type):
            names[name] = copied(there, memo)
    return made


def _data(cell: types.CellType, memo: dict[int, Any]) -> Any:
    try:
        return copied(cell.cell_contents, memo)
    except ValueError:  # an empty cell: the name is bound later
        return None


def _mentioned(code: types.CodeType) -> set[str]:
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*(_mentioned(one) for one in inner))

"""Judge what a function does: whether it answers, refuses, leaves its inputs alone, finds bugs.

    a learner's function, inputs  ->  nothing, or four short lines

`batchlab.classroom.check` offers these beside the checks of values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from batchlab.classroom import plain
from batchlab.classroom.verdict import refuse

__all__ = ["finds_bugs", "function", "raises", "unchanged"]


def function(answer: object, *arguments: object, asked: str, try_this: str = "") -> None:
    """Refuse an answer that cannot be called, or that returns nothing for `arguments`.

    >>> function(lambda batches: None, [[5, 3]], asked="waste of [5, 3]")
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   waste of [5, 3]
    got     nothing (None)
    likely  the function ends without `return`
    """
    if not callable(answer):
        thought = "the name was given a value: run the cell that defines the function again"
        refuse(asked, f"{plain.shown(answer)}; a function is needed", thought, try_this)
    try:
        result = answer(*arguments)
    except NotImplementedError:
        refuse(asked, "the cell above still has its blank", "", try_this or "write it and run it")
    except Exception as error:
        refuse(asked, f"{type(error).__name__}: {str(error)[:200]}", "", try_this)
    if result is None:
        refuse(asked, "nothing (None)", "the function ends without `return`", try_this)


def raises(
    answer: Callable[..., object],
    *arguments: object,
    asked: str,
    kind: type[Exception] = ValueError,
    contains: object = (),
    likely: str = "",
    try_this: str = "",
) -> None:
    """Refuse an answer that does not refuse `arguments`, or whose message lacks a value.

    `contains` is one value or several; digits are compared without thousands separators.
    """
    try:
        result = answer(*arguments)
    except Exception as error:
        kinds = {base.__name__ for base in type(error).__mro__}  # by name: it may come from afar
        if kind.__name__ not in kinds or isinstance(error, NotImplementedError):
            said = f"{type(error).__name__}: {str(error)[:120]}"
            refuse(asked, f"{said}; a {kind.__name__} is needed", likely, try_this)
        message = str(error).replace(",", "").replace("_", "")
        values = contains if isinstance(contains, tuple | list) else (contains,)
        for value in values:
            if str(value).replace(",", "").replace("_", "") not in message:
                got = f"the message {str(error)[:120]!r} without {value!r}"
                thought = "whoever reads the message must see the value"
                refuse(asked, got, likely or thought, try_this)
        return
    got = f"{plain.shown(result)}; a {kind.__name__} is needed"
    refuse(asked, got, likely or "refuse, never round", try_this)


@contextmanager
def unchanged(*inputs: object, asked: str, try_this: str = "work on a copy") -> Iterator[None]:
    """Refuse an answer that changes what it was given.

    >>> lengths = [5, 3]
    >>> with unchanged(lengths, asked="sort the lengths"):
    ...     ordered = sorted(lengths)
    """
    before = [plain.frozen(value) for value in inputs]
    yield
    for old, value in zip(before, inputs, strict=True):
        new = plain.frozen(value)
        if repr(old) != repr(new):  # repr: NaN equals itself here
            got = f"the input changed from {plain.shown(old)} to {plain.shown(new)}"
            refuse(asked, got, "a method such as .sort() or .pop() works in place", try_this)


def finds_bugs(
    test: Callable[[Callable[..., Any]], object],
    *,
    right: Iterable[Callable[..., Any]],
    wrong: Mapping[str, Callable[..., Any]],
    asked: str = "a test that finds the bugs",
    try_this: str = "",
) -> None:
    """Refuse a learner's test that stops a right implementation, or lets a wrong one through.

    The test takes an implementation; it raises (`assert ...`) or returns False when it sees a bug.
    """
    for number, implementation in enumerate(right, 1):
        if complaint := _complaint(test, implementation, asked):
            got = f"right implementation {number} was stopped: {complaint}"
            refuse(
                asked,
                got,
                "the test asks for more than the task says, or compares floats exactly",
                try_this,
            )
    through = [name for name, bug in wrong.items() if not _complaint(test, bug, asked)]
    if through:
        caught = f"{len(wrong) - len(through)} of {len(wrong)} bugs found"
        likely = "no case of the test tells it from a right one"
        refuse(asked, f"{caught}; this one got through: {through[0]}", likely, try_this)


def _complaint(
    test: Callable[[Callable[..., Any]], object], implementation: Callable[..., Any], asked: str
) -> str:
    """What the test has against the implementation; empty when it lets it pass."""
    try:
        verdict = test(implementation)
    except NotImplementedError:
        refuse(asked, "the cell above still has its blank", "", "write it and run it")
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # pytest.raises and pytest.fail complain by one of their own
        return f"{type(error).__name__}: {str(error)[:120]}" if str(error) else type(error).__name__
    return "it returned False" if str(verdict) == "False" else ""

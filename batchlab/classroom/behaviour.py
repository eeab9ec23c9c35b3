"""Judge what a function does: whether it answers, refuses, leaves its inputs alone.

    a learner's function, inputs  ->  what it returned, or four short lines

`batchlab.classroom.check` offers these beside the checks of values. The function gets copies, so
nothing of the lesson is ever spoilt.
"""

import contextlib
import io
import linecache
import re
import sys
import sysconfig
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import batchlab
from batchlab.classroom import again, plain
from batchlab.classroom.afar import Gone, story_of
from batchlab.classroom.copies import METHODS, Change, changed, copied, is_stream
from batchlab.classroom.showing import shown, worded
from batchlab.classroom.verdict import CheckFailed, Hints, refuse

__all__ = [
    "call",
    "complaint",
    "function",
    "innermost",
    "quietly",
    "raises",
    "refuse_blank",
    "unchanged",
]

LIBRARIES = tuple(
    {str(Path(batchlab.__file__).parent), "<frozen"}
    | {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def call(
    answer: Any,
    *arguments: Any,
    asked: str,
    none: bool = False,
    twice: bool = True,
    try_this: Hints = "",
    **options: Any,
) -> Any:
    """What `answer` returns for copies of `arguments` and `options`.

    Refused are: a thing that cannot be called, a blank, any exception, None (unless `none`), a
    change to an argument, and a function that remembers: a second call with the same data must give
    the same (`twice=False` spares what may differ), and later calls must leave this result alone.
    Drawing from a random generator that was handed over is no change, and
    a stream is handed over as a stream of copies. Warnings and stderr are kept from the grader,
    who gives no points beside them.

    >>> call(sorted, [5, 3], asked="lengths in order")
    [3, 5]
    >>> call(lambda rows: None, [5, 3], asked="waste of [5, 3]")
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   waste of [5, 3]
    got     nothing (None)
    likely  the function ends without `return`
    """
    result, error, change = _tried(answer, arguments, options, asked, try_this)
    if error is not None:
        why = plain.usual_reason(error)
        refuse(asked, complaint(error), why, try_this, kind="raised", error=error)
    if result is None and not none:
        if change is not None and change.thought in METHODS:
            thought = f"{change.thought}; such a method returns None"
            refuse(asked, f"nothing (None), and {change}", thought, try_this)
        refuse(asked, "nothing (None)", "the function ends without `return`", try_this)
    if change is not None:
        refuse(asked, str(change), change.thought, try_this or "work on a copy")
    if moved := again.handed_out_again(answer):
        got = f"the result of the call before changed at this call: {moved}"
        refuse(asked, got, again.HANDED_OUT, try_this)
    first = again.keep(answer, result)
    if twice and again.repeatable(answer, arguments, options):
        with contextlib.redirect_stdout(io.StringIO()):  # it has printed already
            second, error, _ = _tried(answer, arguments, options, asked, try_this)
        found = complaint(error) if error else changed(first, second, where="the result")
        if found is not None and (error or not again.alike(first, second)):
            refuse(
                asked, f"at a second call with the same input: {found}", again.REMEMBERS, try_this
            )
    return result


def function(answer: object, *arguments: object, asked: str, try_this: Hints = "") -> None:
    """The checks of `call`, where the result is not needed."""
    call(answer, *arguments, asked=asked, try_this=try_this)


def raises(
    answer: Callable[..., object],
    *arguments: object,
    asked: str,
    kind: type[Exception] = ValueError,
    contains: object = (),
    likely: str = "",
    try_this: Hints = "",
) -> None:
    """Refuse an answer that does not refuse `arguments`, or whose message lacks a value.

    `contains` is one value or several; digits are compared without thousands separators. A whole
    number must stand there as one: 8 is not found in 80.
    """
    result, error, change = _tried(answer, arguments, {}, asked, try_this)
    if change is not None:
        refuse(asked, str(change), change.thought, try_this or "work on a copy")
    if error is None:
        got = f"{shown(result)}; a {kind.__name__} is needed"
        refuse(asked, got, likely or "refuse, never round", try_this)
    kinds = {base.__name__ for base in type(error).__mro__}  # by name: it may come from afar
    if kind.__name__ not in kinds:
        refuse(asked, f"{complaint(error)}; a {kind.__name__} is needed", likely, try_this)
    message = _without_separators(worded(error))
    for value in contains if isinstance(contains, tuple | list) else (contains,):
        if not _stands_in(_without_separators(str(value)), message):
            got = f"the message {worded(error)[:120]!r} without {value!r}"
            thought = "whoever reads the message must see the value"
            refuse(asked, got, likely or thought, try_this)


@contextmanager
def unchanged(*inputs: object, asked: str, try_this: Hints = "work on a copy") -> Iterator[None]:
    """Refuse an answer that changes what it was given, where `call` cannot stand around it.

    >>> lengths = [5, 3]
    >>> with unchanged(lengths, asked="sort the lengths"):
    ...     ordered = sorted(lengths)
    """
    watched = [value for value in inputs if not is_stream(value)]  # a stream is there to be read
    before = copied(watched)
    yield
    for old, value in zip(before, watched, strict=True):
        if change := changed(old, value, where="the input"):
            refuse(asked, str(change), change.thought, try_this)


def refuse_blank(error: BaseException, answer: Any, asked: str, try_this: Hints = "") -> None:
    """Refuse if a stub was run: that of `answer`, or of an answer that it calls.

    PyTorch's own NotImplementedError has a message, a stub has none.
    """
    if not isinstance(error, NotImplementedError) or error.args:
        return
    where = "the cell above"
    name = innermost(error)
    if name.isidentifier() and name != getattr(answer, "__name__", name):
        where = name
    hint = try_this if isinstance(try_this, str) else ""  # a blank uses up no hint
    got = f"{where} still has its blank"
    refuse(asked, got, "", hint or "write it and run it", kind="blank")


@contextmanager
def quietly() -> Iterator[None]:
    """Keep a learner's warnings and stderr from a grader, who gives no points beside them."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(sys.stdout):
        warnings.simplefilter("ignore")
        yield


def complaint(error: BaseException) -> str:
    """Type and message of an exception, and the line of the learner's own code that raised it."""
    own, story = _own_frames(error), story_of(error)
    if story is not None and not own:
        return story.complaint
    message = "exit() ends the notebook" if type(error) is SystemExit else worded(error)[:160]
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    if not own:
        return said
    frame, number = own[-1]
    line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals)
    line = " ".join(line.split())
    return f"{said}, in line {number}: {line[:100]}" if line else f"{said}, in line {number}"


def innermost(error: BaseException) -> str:
    """Name of the innermost function of the notebook that the error went through; maybe empty."""
    own, story = _own_frames(error), story_of(error)
    if story is not None and not own:
        return story.innermost
    return own[-1][0].f_code.co_name if own else ""


def _own_frames(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """Where the error went through code of the notebook, outermost first, with line numbers."""
    return [
        (frame, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(LIBRARIES)
    ]


def _tried(
    answer: Any, arguments: tuple[Any, ...], options: dict[str, Any], asked: str, try_this: Hints
) -> tuple[Any, BaseException | None, Change | None]:
    """The result or the exception of a call with copies, and what became of the copies."""
    if not callable(answer):
        thought = "the name was given a value: run the cell that defines the function again"
        refuse(asked, f"{shown(answer)}; a function is needed", thought, try_this)
    result, error, change = None, None, None
    given = copied((arguments, options))
    try:
        with quietly():
            result = answer(*given[0], **given[1])
    except (CheckFailed, Gone, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as caught:
        refuse_blank(caught, answer, asked, try_this)
        error = caught
    for number, (old, new) in enumerate(zip(arguments, given[0], strict=True), 1):
        change = change or changed(old, new, drawing=False, where=_place(number, arguments))
    for name, old in options.items():
        change = change or changed(old, given[1].get(name), drawing=False, where=name)
    return result, error, change


def _place(number: int, arguments: tuple[Any, ...]) -> str:
    return f"argument {number}" if len(arguments) > 1 else "the input"


def _without_separators(text: str) -> str:
    return re.sub(r"(?<=\d)[,_\u202f\u00a0'](?=\d{3}(?!\d))", "", text)


def _stands_in(value: str, message: str) -> bool:
    """Whether the message holds the value; a whole number not as a part of another."""
    if value.isdigit():
        return re.search(rf"(?<![\d.]){value}(?:\.0)?(?![\d]|\.\d)", message) is not None
    return value in message

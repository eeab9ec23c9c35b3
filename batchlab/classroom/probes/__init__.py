"""Look at live objects beside the learner's function, and return plain data.

    a lesson's name  ->  its probe module, whose functions return numbers, lists, arrays

A check cell judges plain data only. Where an exercise needs a model, an optimizer or a counter
that is called back, a probe builds it next to the learner's function, runs the function, and
returns what was seen. The judgement stays in the cell. Right and wrong versions of the lesson's
functions stand in its probe too: a student's page holds no answer.

Words
    mistake   a wrong version of a function, under the thought that leads to it
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

__all__ = ["load", "mistakes_of", "shown"]


def load(lesson: str) -> ModuleType:
    """The probes of a lesson: load("05_accumulation") gives `probes.lesson_05`.

    >>> load("00_nothing")
    Traceback (most recent call last):
        ...
    ValueError: no probes for lesson '00_nothing': batchlab.classroom.probes.lesson_00 is missing
    """
    name = f"{__name__}.lesson_{lesson.partition('_')[0]}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    raise ValueError(f"no probes for lesson {lesson!r}: {name} is missing")


def shown(draw: Callable[[], Any]) -> Any:
    """What `draw` returns; one line instead while an exercise that it needs is blank.

    >>> def waste(batches):
    ...     raise NotImplementedError
    >>> shown(lambda: waste([[5, 3]]))
    Nothing to show yet: this cell waits for an exercise above.
    """
    try:
        return draw()
    except NotImplementedError:
        print("Nothing to show yet: this cell waits for an exercise above.")
    return None


def mistakes_of(wrong: Mapping[str, Callable[..., Any]], *case: Any) -> Iterator[tuple[Any, str]]:
    """What each wrong version gives for a case, with its thought; one that fails gives nothing.

    >>> list(mistakes_of({"the sum": sum, "the first": min}, [2, 1]))
    [(3, 'the sum'), (1, 'the first')]
    """
    for thought, version in wrong.items():
        try:
            yield version(*case), thought
        except (ArithmeticError, IndexError, ValueError):
            continue

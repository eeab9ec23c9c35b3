"""Look at live objects beside the learner's function, and return plain data.

    a lesson's name  ->  its probe module, whose functions return numbers, lists, arrays

A check cell judges plain data only. Where an exercise needs a model, an optimizer or a counter
that is called back, a probe builds it next to the learner's function, runs the function, and
returns what was seen. The judgement stays in the cell.
"""

import importlib
from types import ModuleType

__all__ = ["load"]


def load(lesson: str) -> ModuleType:
    """The probes of a lesson: load("05_accumulation") gives `probes.lesson_05`.

    >>> load("00_nothing")
    Traceback (most recent call last):
        ...
    ValueError: no probes for lesson '00_nothing': batchlab.classroom.probes.lesson_00 is missing
    """
    name = f"batchlab.classroom.probes.lesson_{lesson.partition('_')[0]}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    raise ValueError(f"no probes for lesson {lesson!r}: {name} is missing")

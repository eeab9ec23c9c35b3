"""Numbers at the door and on the page: what is a count, and how it is read.

    anything  ->  a whole or real number of Python, or one line that refuses it
    number    ->  text that a person reads, or neighbours that divide

GiB is 2**30 bytes, always. A share is a fraction between 0 and 1 and is shown as a percentage.
"""

import math
from numbers import Real
from operator import ge, gt, index, le, lt
from typing import SupportsIndex

__all__ = ["GIB", "KIB", "MIB", "MOST", "count", "duration", "neighbours", "rate", "real",
           "several", "share", "size", "whole"]  # fmt: skip

KIB, MIB, GIB = 2**10, 2**20, 2**30
MOST = 2**53  # up to here a float, JSON and NumPy's int64 hold every whole number


def whole(value: object, name: str, least: int = 1, most: int | None = MOST) -> int:
    """Return `value` as an int of Python, or raise ValueError if it is no whole number in range.

    Integers of NumPy and torch are taken; their fixed width ends here, so that what is computed
    afterwards cannot overflow. Refused are bool, float (4.0 too), text, and what lies outside
    `least` to `most` (None: no upper limit).

    >>> whole(2048, "row_length")
    2048
    >>> whole(4.0, "rows")
    Traceback (most recent call last):
        ...
    ValueError: rows must be a whole number of at least 1, got 4.0 (float)
    """
    number = value if type(value) is int else _index(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {_shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most:,}, got {_shown(value)}")
    return number


def real(
    value: object,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """Return `value` as a finite float, or raise ValueError if it is none or outside its limits.

    >>> real(1.5, "fill", above=0, most=1)
    Traceback (most recent call last):
        ...
    ValueError: fill must be above 0 and at most 1, got 1.5
    """
    limits = (("above", above, gt), ("at least", least, ge), ("below", below, lt),
              ("at most", most, le))  # fmt: skip
    asked = [(word, limit, holds) for word, limit, holds in limits if limit is not None]
    number = _float(value)
    if not math.isfinite(number) or not all(holds(number, limit) for _, limit, holds in asked):
        wanted = " and ".join(f"{word} {limit:g}" for word, limit, _ in asked)
        raise ValueError(f"{name} must be {wanted or 'a finite number'}, got {_shown(value)}")
    return number


def _index(value: object) -> int | None:
    """The integer that `value` is; None of what is none, truth values included."""
    if not isinstance(value, SupportsIndex) or isinstance(value, bool):
        return None
    if str(getattr(value, "dtype", "")).endswith("bool"):  # torch.tensor(True) has an index
        return None
    try:
        return index(value)
    except TypeError:  # an array of several, or of floats
        return None


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except (OverflowError, TypeError):  # 10**400; a span of time, which NumPy calls a number
        return math.nan


def _shown(value: object) -> str:
    """`value` in one short line, whatever it is, with its type where it is no plain number."""
    if isinstance(value, int) and abs(value) > 10**30:
        return f"an integer of {value.bit_length():,} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a huge integer inside a list, or a repr of the caller's that fails
        text = "a value without text"
    plain = type(value) is int or (type(value) is float and not value.is_integer())
    return text if plain else f"{text[:60]} ({type(value).__name__})"


def count(number: float) -> str:
    """Group the digits of a whole number.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(number):,}"


def several(number: int, thing: str) -> str:
    """Count things whose plural ends in s.

    >>> several(1, "document"), several(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def share(fraction: float) -> str:
    """Show a fraction as a percentage.

    >>> share(0.6494), share(0.0004)
    ('64.9 %', '0.0 %')
    """
    return f"{100 * fraction:z.1f} %"


def size(number_of_bytes: float) -> str:
    """Show bytes in the largest binary unit that leaves at least one.

    >>> size(512), size(3 * GIB // 2)
    ('512 B', '1.50 GiB')
    """
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if abs(number_of_bytes) >= unit:
            return f"{number_of_bytes / unit:,.2f} {name}"
    return f"{number_of_bytes:.0f} B"


def duration(seconds: float) -> str:
    """Show seconds with three digits and the prefix that suits them.

    >>> duration(0.0123), duration(0.9996), duration(90), duration(4.5e6)
    ('12.3 ms', '1.00 s', '1.50 min', '1,250 h')
    """
    seconds = float(f"{seconds:.3g}")  # first, so that 999.6 ms is 1.00 s
    if not seconds:
        return "0 s"
    steps = ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
    unit, name = next((step for step in steps if abs(seconds) >= step[0]), steps[-1])
    number = seconds / unit
    shown = count(number) if abs(number) >= 999.5 else f"{number:#.3g}".rstrip(".")
    return f"{shown} {name}"


def rate(per_second: float, of: str) -> str:
    """Show how many per second.

    >>> rate(12345.6, "tokens")
    '12,346 tokens/s'
    """
    shown = count(per_second) if abs(per_second) >= 100 else f"{per_second:.3g}"
    return f"{shown} {of}/s"


def neighbours(value: int, step: int) -> tuple[int, int]:
    """The multiples of `step` around `value`; equal if it is one.

    >>> neighbours(1_000_000, 65_536)
    (983040, 1048576)
    """
    value, step = whole(value, "value", least=0, most=None), whole(step, "step", most=None)
    below = value // step * step
    return below, below if below == value else below + step

"""Numbers with their units: bytes, shares, seconds, and the nearest multiples.

    number  ->  text that a person reads, or neighbours that divide

GiB is 2**30 bytes, always. A share is a fraction between 0 and 1 and is shown as a percentage.
"""

__all__ = ["GIB", "KIB", "MIB", "count", "duration", "neighbours", "rate", "share", "size"]

KIB, MIB, GIB = 2**10, 2**20, 2**30


def count(number: float) -> str:
    """Group the digits of a whole number.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(number):,}"


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
    if step < 1:
        raise ValueError(f"step must be at least 1, got {step}")
    below = value // step * step
    return below, below if below == value else below + step

"""What an interval allows to say, rightly and nearly: pieces of the wrong verdicts of lesson 14.

interval, margin  ->  one of VERDICTS
"""

from collections.abc import Callable

__all__ = ["VERDICTS", "but", "margin_kept", "verdict", "verdict_by_steps"]

VERDICTS = ("large worse", "large better", "no difference", "cannot tell")


def verdict(low: float, high: float, margin: float) -> str:
    """One of VERDICTS for the interval of a gap: large minus small."""
    if -margin <= low and high <= margin:
        return "no difference"
    return "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"


def verdict_by_steps(low: float, high: float, margin: float) -> str:
    """The same in another order of questions."""
    if max(abs(low), abs(high)) <= margin:
        return "no difference"
    if low <= 0 <= high:
        return "cannot tell"
    return "large worse" if high > 0 else "large better"


def but(
    judged: Callable[[float, float, float], str],
) -> Callable[[float, float, float], str]:
    """The right verdict, unless `judged` names another."""
    return lambda low, high, margin: judged(low, high, margin) or verdict(low, high, margin)


def margin_kept() -> Callable[[float, float, float], str]:
    """A version that judges every call by the margin of the first."""
    seen: list[float] = []

    def version(low: float, high: float, margin: float) -> str:
        seen.append(margin)
        return verdict(low, high, seen[0])

    return version

"""What an interval allows to say, rightly and nearly: pieces of the wrong verdicts of lesson 14.

interval, margin  ->  one of VERDICTS
"""

from collections.abc import Callable

__all__ = ["RARE", "VERDICTS", "but", "margin_kept", "verdict", "verdict_by_steps"]

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


# mistakes of which no planted experiment tells: the cases of the page do
RARE: dict[str, Callable[[float, float, float], str]] = {
    "what lies above 0 is called worse, even inside the margin": but(
        lambda low, high, margin: "large worse" if low > 0 else ""),
    "what lies below 0 is called better, even inside the margin": but(
        lambda low, high, margin: "large better" if high < 0 else ""),
    "too careful above 0: worse is said only if the whole interval lies beyond the margin": but(
        lambda low, high, margin: "cannot tell" if 0 < low <= margin < high else ""),
    "too careful below 0: better is said only if the whole interval lies beyond the margin":
        but(lambda low, high, margin: "cannot tell" if 0 < -high <= margin < -low else ""),
    "an interval that holds 0 is called worse if only its upper end is beyond the margin": but(
        lambda low, high, margin: "large worse" if -margin <= low <= 0 < margin < high else ""),
    "an interval that holds 0 is called better if only its lower end is beyond the margin": but(
        lambda low, high, margin: "large better" if low < -margin < 0 <= high <= margin
        else ""),
    "ends and margin are cut to whole numbers":
        lambda low, high, margin: verdict(int(low), int(high), int(margin)),
}  # fmt: skip

"""What comparing one piece with several found, in words.

what was counted and measured  ->  Comparison: exact, a known mistake by name, or neither
"""

from collections.abc import Sequence
from dataclasses import dataclass

from batchlab.loop._mistakes import KNOWN

__all__ = ["Comparison"]

OTHER_SCALE = 0.01  # rounding in bfloat16 moves it less


@dataclass(frozen=True)
class Comparison:
    """What one step does with the same documents in one piece and in several."""

    documents: tuple[int, ...]  # of each piece
    target_tokens: tuple[int, ...] | None  # of each piece; None where labels are no tokens
    difference: float  # norm of (split - whole) / norm of the whole, at the update
    length: float  # norm of the split / norm of the whole
    rounding: float  # what the pieces one by one, added up, differ from the whole by
    scale: float | None = None  # the whole / the mean over target tokens; None for another loss
    mistakes: tuple[str, ...] = ()  # keys of KNOWN
    counted: str | None = None  # what the loss is a mean of: target tokens, documents or nothing
    draws: float = 0.0  # difference of two runs of the whole with other random numbers
    named: bool = True  # the split is right or a known mistake

    @property
    def pieces(self) -> int:
        return len(self.documents)

    @property
    def comparable(self) -> bool:
        """False where random numbers (dropout) differ between any two runs."""
        return not self.draws

    @property
    def exact(self) -> bool:
        return self.comparable and self.named and not self.mistakes

    @property
    def verdict(self) -> str:
        """One line: exact to rounding, the known mistakes, or why nothing can be said."""
        if not self.comparable:
            return (
                f"not comparable: the step draws random numbers, and two runs of one piece differ "
                f"by {self.draws:.2g}; set dropout to 0 and compare again"
            )
        if self.exact:
            return f"exact to rounding: the gradient differs by {self.difference:.1e}"
        if self.mistakes:
            return " and ".join(self.mistakes)
        own = "" if self.counted else ": its loss is no mean over target tokens or documents"
        return f"not exact, and no known mistake{own}"

    def __str__(self) -> str:
        held = f"of {_listed(self.documents)} documents"
        if self.target_tokens:
            held += f" with {_listed(self.target_tokens)} target tokens"
        lines = [f"{sum(self.documents)} documents in one piece and in {self.pieces}: {held}"]
        if self.comparable and not self.exact:
            lines.append(
                f"the gradient differs by {self.difference:.2g} of its norm, "
                f"and is {self.length:.4g} times as long"
            )
        if self.scale and abs(self.scale - 1) > OTHER_SCALE:
            lines.append(f"in one piece it is {self.scale:.4g} times the mean over target tokens")
        says = [f"{name}: {KNOWN[name]}" for name in self.mistakes]
        return "\n".join([*lines, *(says or [self.verdict])])


def _listed(numbers: Sequence[int]) -> str:
    *first, last = [f"{number:,}" for number in numbers]
    return f"{', '.join(first)} and {last}"

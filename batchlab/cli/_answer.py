"""What every verb of the command line gives back.

parsed words  ->  run  ->  Answer(data, text, figure)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """What a verb found: for machines, for people, and as a figure that is drawn on demand."""

    data: dict[str, Any]
    text: str
    figure: Callable[[], Any] | None = None
    code: int = 0

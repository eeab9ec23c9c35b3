"""The verbs of the command line, one module each, and what they share.

parsed words  ->  run  ->  Answer(data, text, figure)
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "plot_option"]


@dataclass(frozen=True)
class Answer:
    """What a verb found: for machines, for people, and as a figure that is drawn on demand."""

    data: dict[str, Any]
    text: str
    figure: Callable[[], Any] | None = None
    code: int = 0


def plot_option(parser: argparse.ArgumentParser) -> None:
    """Offer `--plot FILE`; the verb's Answer must then hold a figure."""
    parser.add_argument("--plot", metavar="FILE", help="draw it: .png, .svg or .pdf")

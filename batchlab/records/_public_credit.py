"""What stands beside public rows wherever they are shown: the notice, and whose each row is.

notice, (label, address) of each row  ->  text, or HTML with the rows folded
"""

from dataclasses import dataclass
from html import escape

__all__ = ["Credit"]

BRIEF = (
    "Data: MLPerf® Training, Closed division. Samples, device-hours, fits and shares are derived "
    "by this course, unverified. Result not verified by MLCommons Association. Whose rows, and the "
    "whole notice"
)


@dataclass(frozen=True)
class Credit:
    """The notice, and submitter, system, version, division and devices of each row."""

    notice: str
    rows: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return "; ".join(label for label, _ in self.rows) + f".\n{self.notice}"

    @property
    def html(self) -> str:
        """The notice in short, with the whole of it and the rows in a fold."""
        listed = "".join(
            f'<li><a href="{escape(url)}">{escape(label)}</a></li>' for label, url in self.rows
        )
        return (
            f'<details class="bl-credit"><summary>{escape(BRIEF)}</summary>'
            f"<p>{escape(self.notice)}</p><ul>{listed}</ul></details>"
        )

"""What the lessons are, read from their sources: every list of lessons is made of this.

    solutions/NN_topic/topic.md  ->  Lesson: title, question, minutes, what is measured, ...

A new lesson appears in the README, on the first page of the book, in its contents and in `dist/`
without a change anywhere: its source says all of this already.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from batchlab.authoring import address

__all__ = ["PARTS", "Lesson", "card", "lessons", "table"]

PARTS = (("The rectangle", 4), ("The step", 11), ("Learning", 14), ("Scale", 18))  # last lesson
MARKS = ("<!-- lessons -->", "<!-- end of lessons -->")


@dataclass(frozen=True)
class Lesson:
    """One lesson as its source announces it."""

    folder: str
    topic: str
    title: str
    question: str
    minutes: str
    points: int
    measured: str
    built: str

    @property
    def number(self) -> int:
        return int(self.folder[:2])

    @property
    def notebook(self) -> str:
        """Path of the student's notebook, from the root."""
        return f"lessons/{self.folder}/{self.topic}.ipynb"

    @property
    def part(self) -> str:
        return next((name for name, last in PARTS if self.number <= last), PARTS[-1][0])


def lessons(root: Path) -> list[Lesson]:
    """Every lesson that has a source, in the order of the course."""
    return [_lesson(source) for source in sorted(root.glob("solutions/*/*.md"))]


def _lesson(source: Path) -> Lesson:
    text = source.read_text(encoding="utf-8")

    def found(pattern: str, default: str = "") -> str:
        match = re.search(pattern, text, re.MULTILINE)
        return " ".join(match[1].split()) if match else default

    return Lesson(
        folder=source.parent.name,
        topic=source.stem,
        title=found(r"^# \d+\. (.+)$", source.stem),
        question=found(r"^# .+\n+((?:[^\n|#(`]+\n)+)"),
        minutes=found(r"\*\*Takes\*\*\s+(\d+(?:\s+to\s+\d+)?)\s+minutes").replace(" to ", "–"),
        points=int(found(r"\*\*Gives\*\*\s+(\d+)", "10")),
        measured=found(r"^measured: (.+)$"),
        built=found(r"^## Build: (.+)$"),
    )


def table(known: list[Lesson], repository: str = "") -> str:
    """The lessons as a Markdown table, each with its notebook, and with Colab where it can fetch.

    A lesson without a `measured:` line in its header has an empty place there.
    """
    lines = ["| lesson | minutes | points | you measure | you build |", "|---|---|---|---|---|"]
    for one in known:
        named = f"[{one.number:02d} {one.topic}]({one.notebook}): {one.question}"
        if hosted := address.colab(repository, one.notebook):
            named += f" ([Colab]({hosted}))"
        lines.append(f"| {named} | {one.minutes} | {one.points} | {one.measured} | {one.built} |")
    return "\n".join(lines) + "\n"


def card(text: str, known: list[Lesson], repository: str = "") -> str:
    """A text whose list of lessons, between two marks, is that of today."""
    first, last = MARKS
    if first not in text or last not in text:
        return text
    before, rest = text.split(first, 1)
    return f"{before}{first}\n{table(known, repository)}{last}{rest.split(last, 1)[1]}"

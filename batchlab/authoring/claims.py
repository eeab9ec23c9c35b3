"""The page *Claims and verdicts*: what popular texts say, whether it holds, and where it is taught.

    book/claims.toml, lessons  ->  a Markdown page

Each claim names the lesson and the heading where it is shown. A place that does not exist, a
verdict that is not in the list, or an article without claims is refused: the page cannot drift.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from batchlab.authoring.catalogue import Lesson

__all__ = ["VERDICTS", "page"]

VERDICTS = {
    "right": "holds as it stands",
    "under conditions": "holds where the conditions do",
    "not general": "was seen, and cannot be promised",
    "imprecise": "a part of it is missing, and the part matters",
    "dated": "was right once",
    "contested": "good evidence stands on both sides",
    "unsupported": "no source, and no reason to expect it",
    "wrong": "does not hold",
}
HEADING = re.compile(r"^##+ (.+?)\s*$", re.MULTILINE)
FIELDS = {"from", "says", "verdict", "because", "taught"}
HEAD = """# Claims and verdicts

Most people learn about batch size from articles like these five. Every claim of theirs that can be
tested is here, in our words, with what became of it and the place in the course where you can see.
So are sayings that nobody in particular says, judged by real GPU runs.

| verdict | means |
|---|---|
"""


def page(text: str, lessons: Mapping[Lesson, str], others: Mapping[str, str] | None = None) -> str:
    """The page as Markdown; ValueError names a claim that is not in order.

    text     the table in TOML: `articles` by key, and a list of `claims`
    lessons  the source of each lesson
    others   other pages by name where claims are shown
    """
    table = tomllib.loads(text)
    articles, claims = table["articles"], table["claims"]
    pages = {f"{one.number:02d}": (f"lessons/{one.folder}", text) for one, text in lessons.items()}
    pages |= {name: (name, text) for name, text in (others or {}).items()}
    headings = {
        f"{name} {heading}": f"[{name.replace('_', ' ')}]({address}.md), *{heading}*"
        for name, (address, source) in pages.items()
        for heading in HEADING.findall(source)
    }
    for claim in claims:
        _refuse(claim, articles, headings)
    lines = [HEAD.rstrip(), *(f"| {name} | {meaning} |" for name, meaning in VERDICTS.items())]
    for key, name in articles.items():
        entries = [_entry(one, headings) for one in claims if one["from"] == key]
        if not entries:
            raise ValueError(f"article {key!r} has no claims")
        lines += ["", f"## {key.capitalize()}\n\nFrom {name}.", *entries]
    return "\n".join(lines) + "\n"


def _refuse(claim: Mapping[str, Any], articles: Iterable[str], headings: Iterable[str]) -> None:
    named = f"claim {claim.get('says', claim)!r}"
    if set(claim) != FIELDS:
        raise ValueError(f"{named} needs {sorted(FIELDS)}, has {sorted(claim)}")
    if claim["from"] not in articles:
        raise ValueError(f"{named}: no article {claim['from']!r}")
    if claim["verdict"] not in VERDICTS:
        raise ValueError(f"{named}: verdict {claim['verdict']!r} is none of {', '.join(VERDICTS)}")
    if not claim["because"] or not claim["taught"]:
        raise ValueError(f"{named}: a reason and a place in the course are missing")
    for place in claim["taught"]:
        if place not in headings:
            raise ValueError(f"{named}: no lesson has a heading {place!r}")


def _entry(claim: Mapping[str, Any], headings: Mapping[str, str]) -> str:
    """A claim as its own heading, then its verdict and reason, then where to see it."""
    seen = "; ".join(headings[place] for place in claim["taught"])
    said = claim["says"].removesuffix(".")
    verdict = claim["verdict"].capitalize()
    return f"\n### {said}\n\n**{verdict}.** {claim['because']} See {seen}."

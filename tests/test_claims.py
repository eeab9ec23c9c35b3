"""The page of claims: each with a verdict, a reason and a place in the course that exists."""

import tomllib
from pathlib import Path

import pytest

from batchlab.authoring import catalogue, claims

ROOT = Path(__file__).parent.parent
LESSON = catalogue.Lesson("02_padding", "padding", "", "", "", 10, "", "")
SOURCE = "# 2. Padding\n\n## Slots, and a ratio of sums\n\n```python\nx = 1\n```\n"
TABLE = """
[articles]
ours = "ours"

[[claims]]
from = "ours"
says = "Padding is free."
verdict = "wrong"
because = "It is computed."
taught = ["02 Slots, and a ratio of sums"]
"""


def test_a_claim_is_a_heading_with_its_verdict_and_leads_to_its_lesson():
    entry = "### Padding is free\n\n**Wrong.** It is computed. "
    entry += "See [02](lessons/02_padding.md), *Slots, and a ratio of sums*.\n"
    assert entry in claims.page(TABLE, {LESSON: SOURCE})


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Slots, and", "Slots and", "no lesson has a heading '02 Slots and a ratio"),
        ('["02 Slots, and a ratio of sums"]', "[]", "a place in the course"),
        ('"It is computed."', '""', "a reason"),
        ('"wrong"', '"false"', "verdict 'false' is none of right,"),
        ('from = "ours"', 'from = "theirs"', "no article 'theirs'"),
        ('because = "It is computed."', "", "needs"),
        ('ours = "ours"', 'ours = "ours"\nmute = "mute"', "article 'mute' has no claims"),
    ],
)
def test_a_claim_that_is_not_in_order_is_named(old, new, named):
    with pytest.raises(ValueError, match=named):
        claims.page(TABLE.replace(old, new), {LESSON: SOURCE})


def test_every_claim_of_the_five_articles_and_of_folklore_is_taught_somewhere():
    known = catalogue.lessons(ROOT)
    text = (ROOT / "book/claims.toml").read_text()
    sources = {one: (ROOT / f"solutions/{one.folder}/{one.topic}.md").read_text() for one in known}
    page = claims.page(text, sources, {"real_runs": (ROOT / "book/real_runs.md").read_text()})
    found = tomllib.loads(text)
    assert page.count("\n### ") == len(found["claims"]) >= 35 and len(found["articles"]) == 6
    assert {one["verdict"] for one in found["claims"]} <= set(claims.VERDICTS)

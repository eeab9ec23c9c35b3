"""A run in one line, as `Settings.named` writes it: are two of them the same, and if not, why?

two lines  ->  the words in which they differ

Where documents lie is no part of it: what they hold is compared, by their fingerprint. So it is
with a model on this disk, of which the line has the checksum.
"""

import re

__all__ = ["differing", "same"]

WORD = re.compile(r"(?:^|, )(\w+) (.*?)(?=, [a-z_]+ |$)", re.DOTALL)  # a name may hold commas
PROVEN = re.compile(r"(.*) \(([0-9a-f]{8})\)", re.DOTALL)


def same(held: str, run: str) -> bool:
    """Whether both lines name one run."""
    return not differing(held, run)


def differing(held: str, run: str) -> list[str]:
    """In which words two runs differ, in a few words each."""
    was, now = dict(WORD.findall(held)), dict(WORD.findall(run))
    told = (_told(name, was.get(name), now.get(name)) for name in {**was, **now})
    return [one for one in told if one]


def _told(name: str, was: str | None, now: str | None) -> str:
    if name == "documents" or was == now:
        return ""
    before, after = (PROVEN.fullmatch(one or "") for one in (was, now))
    if name == "model" and before and after:
        if before[2] == after[2]:
            return ""
        if before[1] == after[1]:
            return f"{name} {was} and not {now}: its files were changed"
    if name == "model" and before and before[1] == now:
        return f"{name} {was}, and no {now} lies on this disk now"
    was, now = (one if one not in (None, "None") else "the default" for one in (was, now))
    return f"{name} {was} and not {now}"

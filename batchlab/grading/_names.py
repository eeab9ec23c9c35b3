"""Names of strangers, made harmless: as a folder, in a spreadsheet, on a terminal.

    a student's id, whatever it holds  ->  a folder name, a cell, a printed word

Words
    id     what tells a student from all others: a folder's name, or the number that an LMS gives
    plain  an id that is its own folder name on every file system
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

__all__ = ["alike", "cell", "folder", "formula", "shown"]

PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
RESERVED = re.compile(r"con|prn|aux|nul|com\d|lpt\d")  # Windows opens a device under these
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a spreadsheet begins to compute
LONGEST = 300


def folder(student: str) -> str:
    """A folder name for an id: itself where it is plain, else its letters and a hash of all of it.

    Two ids never share one, also where the file system takes `Ada` for `ada`.

    >>> folder("ada"), folder("../Ada")
    ('ada', 'ada~4e4af216')
    """
    if PLAIN.fullmatch(student) and not RESERVED.fullmatch(student):
        return student
    ascii_only = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    letters = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")[:40] or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{letters}~{digest[:8]}"


def shown(text: str, most: int = 60) -> str:
    """A text on one line of a terminal: what could move the cursor is escaped, the end is cut.

    >>> print(shown("a\\nb\\x1b[2J"))
    a\\nb\\x1b[2J
    """
    kept = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
    kept = kept.encode("utf-8", "backslashreplace").decode()
    return kept if len(kept) <= most else kept[: most - 3] + "..."


def formula(text: str) -> bool:
    """Whether a spreadsheet would compute a cell that holds this text."""
    return text.lstrip(" ").startswith(FORMULA)


def cell(text: str) -> str:
    """A text for a cell of our own tables: what a spreadsheet would compute gets a quote in front.

    >>> cell("=1+1"), cell("Ada, Countess")
    ("'=1+1", 'Ada, Countess')
    """
    one_line = "".join(one if one.isprintable() else " " for one in text)
    kept = one_line.encode("utf-8", "replace").decode()[:LONGEST]
    return f"'{kept}" if formula(text) or formula(kept) else kept


def alike(students: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of ids that a person would read as the same: other case, or other Unicode form.

    >>> alike(["ada", "bob", "Ada"])
    [('Ada', 'ada')]
    """
    groups: dict[str, set[str]] = defaultdict(set)
    for one in students:
        groups[unicodedata.normalize("NFKC", one).casefold().strip()].add(one)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)

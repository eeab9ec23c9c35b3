"""The library in the book: a page for each door, from the docstrings that are installed.

    book/api.md, batchlab/  ->  api.md, whose doors lead to their pages, and api/packing.md, ...

A door's page describes all its public modules: `noise` and `noise.norms` stand together.
"""

import re
from pathlib import Path

__all__ = ["modules", "pages"]

ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
# told to instructors and authors, in words; a verb of the command line has its `--help`
UNTOLD = re.compile(r"(classroom|exercises|authoring|grading)\b|cli\.")
PAGE = "# {door}\n"
MODULE = "\n```{{eval-rst}}\n.. automodule:: batchlab.{module}\n{but}```\n"
TWICE = {"cluster.distributed": "RankError"}  # described where it stands first: in `cluster.ranks`


def modules(root: Path) -> dict[str, list[str]]:
    """The public modules that the book describes, by the door that they stand behind.

    >>> modules(Path())["noise"]
    ['noise', 'noise.norms']
    """
    found: dict[str, list[str]] = {}
    home = root / "batchlab"
    for path in sorted(home.rglob("*.py")):
        parts = path.relative_to(home).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and not re.search(r"(^|\.)_", name) and not UNTOLD.match(name):
            found.setdefault(name.partition(".")[0], []).append(name)
    return {door: sorted(names) for door, names in found.items()}


def pages(root: Path, text: str) -> dict[str, str]:
    """The pages by name: that of all doors, from its text in the book, and each door's."""
    known = modules(root)
    listed = ROW.sub(
        lambda row: f"| [`{row[1]}`](api/{row[1]}.md) |" if row[1] in known else row[0], text
    )
    made = {"api.md": listed}
    for door, names in known.items():
        parts = [MODULE.format(module=name, but=_but(TWICE.get(name))) for name in names]
        titled = [f"\n## {name}\n{part}" for name, part in zip(names[1:], parts[1:], strict=True)]
        made[f"api/{door}.md"] = "".join([PAGE.format(door=door), parts[0], *titled])
    return made


def _but(name: str | None) -> str:
    return f"   :exclude-members: {name}\n" if name else ""

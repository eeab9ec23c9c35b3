"""Docstrings of the library, as Sphinx reads them.

plain text, columns, `names`, examples  ->  reStructuredText without surprises

Docstrings here are written to be read in an editor: one backtick around a name, columns that are
aligned by hand, arrows set apart by indentation. Sphinx would bend the columns and take a star for
emphasis. Each paragraph is therefore one of three things: an example (left alone), aligned text
(kept as it stands) or prose.
"""

import re
from itertools import groupby

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

__all__ = ["as_restructured", "setup"]

ALIGNED = re.compile(r"^\s|\S {2,}\S")  # indented, or with columns
NAME = re.compile(r"`+([^`]+)`+")
MARKUP = re.compile(r"([\\*_|])")


def as_restructured(lines: list[str]) -> list[str]:
    """The same docstring in reStructuredText, paragraph by paragraph.

    >>> as_restructured(["Shapes of `x` (a * b).", "", "x   a number"])
    ['Shapes of ``x`` (a \\\\* b).', '', '::', '', '    x   a number', '']
    """
    found: list[str] = []
    for there, group in groupby(lines, key=lambda line: bool(line.strip())):
        if there:
            found += [*_paragraph(list(group)), ""]
    return found


def _paragraph(lines: list[str]) -> list[str]:
    if lines[0].lstrip().startswith(">>>"):
        return lines
    heading = len(lines) > 1 and not ALIGNED.search(lines[0]) and lines[1].startswith(" ")
    if heading:  # "Words", and a table below it
        return [_prose(lines[0]), "", *_paragraph(lines[1:])]
    if any(map(ALIGNED.search, lines)):
        return ["::", "", *(f"    {line}" for line in lines)]
    return [_prose(line) for line in lines]


def _prose(line: str) -> str:
    """Names as code, and nothing else as markup."""
    pieces, end = [], 0
    for name in NAME.finditer(line):
        glue = r"\ " if line[name.end() : name.end() + 1].isalnum() else ""
        pieces += [MARKUP.sub(r"\\\1", line[end : name.start()]), f"``{name[1]}``{glue}"]
        end = name.end()
    return "".join([*pieces, MARKUP.sub(r"\\\1", line[end:])])


def _rewrite(
    _app: Sphinx, _what: str, _name: str, _one: object, _options: object, lines: list[str]
) -> None:
    lines[:] = as_restructured(lines)


def _named(
    _app: Sphinx, _what: str, _name: str, _one: object, _options: object, signature: str, back: str
) -> tuple[str, str]:
    """NumPy's ArrayLike by its name: it is a union of eight types, which nobody wants to read."""
    whole = stringify_annotation(ArrayLike, "smart")
    return (signature or "").replace(whole, "ArrayLike"), back


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _rewrite)
    app.connect("autodoc-process-signature", _named)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

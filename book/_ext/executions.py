"""When and on what each page of the book ran, as a table.

    what myst-nb kept of each run, and the first line that a lesson prints  ->  lesson, day, ...

Words
    run   one execution of all cells of a page; an unchanged page keeps its run
"""

import re
from datetime import UTC, datetime

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

__all__ = ["Executions", "Table", "opening", "setup"]

HEADS = ("page", "day", "seconds", "machine", "versions")
SAID = re.compile(r"^Lesson \d\d \w+\. (Python [\d.]+) on (.+?); (.+?)\.$", re.MULTILINE)


class Table(nodes.General, nodes.Element):
    """The place of the table, until all pages are read."""


class Executions(SphinxDirective):
    """`{executions}` in a page."""

    def run(self) -> list[nodes.Node]:
        return [Table()]


def opening(text: str) -> tuple[str, str]:
    """Machine and versions, as the first cell of a lesson prints them; empty where none does.

    >>> opening("Lesson 02 padding. Python 3.11.7 on 2 CPU cores, no GPU; batchlab 1, numpy 2.")
    ('2 CPU cores, no GPU', 'Python 3.11.7, batchlab 1, numpy 2')
    """
    found = SAID.search(text)
    return (found[2], f"{found[1]}, {found[3]}") if found else ("", "")


class Rows(SphinxPostTransform):
    """Fill the place."""

    default_priority = 8  # before references are resolved

    def run(self, **_: object) -> None:
        for place in list(self.document.findall(Table)):
            place.replace_self(_table(self.app, self.env.docname))


def _table(app: Sphinx, here: str) -> nodes.table:
    env = app.env
    table = nodes.table(classes=["colwidths-auto"])
    group = nodes.tgroup("", *[nodes.colspec(colwidth=1) for _ in HEADS], cols=len(HEADS))
    head = nodes.row("", *[nodes.entry("", nodes.paragraph(text=name)) for name in HEADS])
    body = nodes.tbody()
    last = ("", "")
    for page, kept in sorted(NbMetadataCollector.get_doc_data(env).items(), key=_lessons_first):
        ran = kept.get("exec_data")
        if not ran:
            continue
        last = opening(env.get_doctree(page).astext()) if page.startswith("lessons/") else last
        day = datetime.fromtimestamp(ran["mtime"], UTC).date().isoformat()
        name = env.titles[page].astext()
        link = nodes.reference(
            "", name, internal=True, refuri=app.builder.get_relative_uri(here, page)
        )
        first = nodes.entry("", nodes.paragraph("", "", link))
        texts = [day, f"{ran['runtime']:.0f}", *last]
        rest = [nodes.entry("", nodes.paragraph(text=text)) for text in texts]
        body += nodes.row("", first, *rest)
    group += [nodes.thead("", head), body]
    table += group
    return table


def _lessons_first(kept: tuple[str, object]) -> tuple[bool, str]:
    return (not kept[0].startswith("lessons/"), kept[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door."""
    app.add_node(Table)
    app.add_directive("executions", Executions)
    app.add_post_transform(Rows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

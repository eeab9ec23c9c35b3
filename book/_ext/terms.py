"""Lead from the first use of a word in a lesson to its meaning.

    glossary of words.md  ->  one link a word and lesson

Headings, code, tables, quotations of the words themselves and links stay as they are.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

__all__ = ["FirstUses", "setup"]

LEFT_ALONE = (
    nodes.title, nodes.literal, nodes.literal_block, nodes.reference, nodes.table, nodes.math,
    nodes.math_block, nodes.raw, nodes.caption, nodes.citation_reference,
)  # fmt: skip


class FirstUses(SphinxPostTransform):
    """Runs when all pages are read: by then the glossary is known."""

    default_priority = 20

    def run(self, **_: object) -> None:
        page = self.env.docname
        if not page.startswith("lessons/"):
            return
        known = {
            name: place
            for (kind, name), place in self.env.domains["std"].objects.items()
            if kind == "term"
        }
        for text in list(self.document.findall(nodes.Text)):
            if known and not _inside(text, LEFT_ALONE) and _inside(text, (nodes.paragraph,)):
                _link(self.app, page, text, known)


def _inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def _link(app: Sphinx, page: str, text: nodes.Text, known: dict[str, tuple[str, str]]) -> None:
    """Replace each first use in this text, and take the word off the list."""
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    pieces: list[nodes.Node] = []
    rest = text.astext()
    while known and (found := re.search(rf"(?<![\w-])({words})(?![\w-])", rest)):
        target, label = known.pop(found[1])
        address = f"{app.builder.get_relative_uri(page, target)}#{label}"
        pieces += [
            nodes.Text(rest[: found.start()]),
            nodes.reference("", found[1], internal=True, refuri=address, classes=["bl-term"]),
        ]
        rest = rest[found.end() :]
        words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    if pieces:
        text.parent.replace(text, [*pieces, nodes.Text(rest)])


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door."""
    app.add_post_transform(FirstUses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

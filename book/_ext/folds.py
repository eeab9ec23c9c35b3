"""Exercises of a lesson as a reader meets them: the blank stands open, the answer folds.

    a notebook cell with an answer  ->  blank, then a fold: the answer, and other right ways
    an admonition of class dropdown ->  a fold that needs no script

Cells are known by the tags and metadata of their source. The sources of quizzes and explorers stay
out of the page. `BATCHLAB_ANSWERS=no make book` leaves the folds with answers out.
"""

import ast
import os
import re
from html import escape
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from batchlab import exercises
from batchlab.authoring import laws

__all__ = ["Folds", "setup", "without_answers", "without_markers"]

MARKERS = re.compile(r"^[ \t]*### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)(?:\n|\Z)", re.MULTILINE)
ANSWER = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?### END SOLUTION", re.MULTILINE | re.DOTALL)
STUB = r"\1raise NotImplementedError  # your turn"
LONGEST = 20  # lines of another way that a fold shows


def without_markers(code: str) -> str:
    """An answer or a check without the lines that only nbgrader reads.

    >>> without_markers("x = 1\\n### BEGIN SOLUTION\\ny = 2\\n### END SOLUTION")
    'x = 1\\ny = 2'
    """
    return MARKERS.sub("", code).rstrip("\n")


def without_answers(code: str) -> str:
    """The blank that a student gets."""
    return ANSWER.sub(STUB, code)


class Folds(SphinxPostTransform):
    """Runs before the cells are folded (priority 199)."""

    default_priority = 190

    def run(self, **_: object) -> None:
        answers = self.config.batchlab_answers != "no"
        ways = _other_ways(self.env.docname)
        boxes = [b for b in self.document.findall(nodes.admonition) if "dropdown" in b["classes"]]
        outcomes = [box for box in boxes if "you will be able to" in box.astext()]
        for cell in list(self.document.findall(nodes.container)):
            if "setup" in cell.get("cell_metadata", {}).get("tags", []):
                _keep_house(cell, next(iter(outcomes), None))
        for box in boxes:
            _fold(box)
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code":
                grading = cell["cell_metadata"].get("nbgrader", {})
                if grading.get("solution"):
                    _answer(cell, grading["grade_id"], ways, answers)
                elif grading.get("grade"):
                    _check(cell, grading["grade_id"].removeprefix("check-"))
                elif _is_scaffold(cell):
                    _drop_source(cell)


def _fold(box: nodes.admonition) -> None:
    title, *inside = box.children
    named = f'<span class="admonition-title">{escape(title.astext())}</span>'
    opened = f'<details class="admonition hide bl-fold">\n<summary>{named}</summary>\n'
    box["classes"] = []  # docutils would hand them on, and wrap what opens the fold
    box.replace_self(
        [
            nodes.raw("", opened, format="html"),
            *inside,
            nodes.raw("", "</details>\n", format="html"),
        ]
    )


def _answer(cell: nodes.container, name: str, ways: dict[str, dict[str, str]], shown: bool) -> None:
    (block,) = cell[0].findall(nodes.literal_block)
    code = block.astext()
    blank = nodes.container(classes=["cell", "bl-blank"], exercise=name)
    blank += _code(without_answers(code))
    cell.parent.insert(cell.parent.index(cell), blank)
    if not shown:
        cell.parent.remove(cell)
        return
    block.replace_self(_code(without_markers(code)))
    cell[0].extend(_told(ways.get(name, {})))
    cell["hide_mode"] = "input"
    cell["prompt_show"], cell["prompt_hide"] = f"Show an answer: {name}", f"Hide the answer: {name}"


def _check(cell: nodes.container, name: str) -> None:
    for block in list(cell[0].findall(nodes.literal_block)):
        block.replace_self(_code(without_markers(block.astext())))
    cell["prompt_show"], cell["prompt_hide"] = f"Show the check: {name}", f"Hide the check: {name}"


def _told(ways: dict[str, str]) -> list[nodes.Node]:
    """Other right answers by their names, and those that are short in full."""
    if not ways:
        return []
    names = "; ".join(ways)
    found: list[nodes.Node] = [nodes.paragraph(text=f"Other ways that pass every check: {names}.")]
    for name, code in ways.items():
        if len(code.strip().splitlines()) <= LONGEST:
            found += [nodes.paragraph("", "", nodes.strong(text=name)), _code(code.strip())]
    return found


def _code(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="ipython3")


def _is_scaffold(cell: nodes.container) -> bool:
    """Whether a reader sees what the cell makes, and its source would only be in the way."""
    if "quiz" in cell["cell_metadata"].get("tags", []):
        return True
    shown = "".join(raw.astext() for raw in cell.findall(nodes.raw))
    return 'data-kind="Explorer"' in shown or 'data-kind="Quiz"' in shown


def _keep_house(cell: nodes.container, outcomes: nodes.Node | None = None) -> None:
    """Imports, with what else their cell makes, and where the page ran: one fold."""
    while _begins_with_imports(after := cell.next_node(siblings=True, descend=False)):
        cell += list(after.children)
        after.parent.remove(after)
    cell["hide_mode"] = "all"
    cell["prompt_show"] = cell["prompt_hide"] = "Imports, and what this page ran on"
    if outcomes is not None:  # a lesson begins with what it is about
        cell.parent.remove(cell)
        outcomes.parent.insert(outcomes.parent.index(outcomes) + 1, cell)


def _begins_with_imports(node: nodes.Node | None) -> bool:
    if not isinstance(node, nodes.container) or node.get("nb_element") != "cell_code":
        return False
    code = "\n".join(one.astext() for one in node[0].findall(nodes.literal_block))
    try:
        return isinstance(next(iter(ast.parse(code).body), None), ast.Import | ast.ImportFrom)
    except SyntaxError:
        return False


def _drop_source(cell: nodes.container) -> None:
    cell.attributes.pop("hide_mode", None)
    if cell[0].get("nb_element") == "cell_code_source":
        cell.remove(cell[0])


def _other_ways(page: str) -> dict[str, dict[str, str]]:
    """Right ways of a lesson's exercises, by exercise and by what each of them is."""
    topic, found = Path(page).name.partition("_")[2], dict[str, dict[str, str]]()
    if page.startswith("lessons/") and topic in exercises.folders():
        for kind, name, way, code, _ in laws.answers(topic):
            found.setdefault(name, {}).update({way: code} if kind == "right" else {})
    return found


def _visit(translator, node: HideCodeCellNode) -> None:
    """A fold whose name is its text; the theme's says "Toggle hidden content" of each."""
    kinds = " ".join(node["classes"])
    show, hide = escape(node["prompt_show"]), escape(node["prompt_hide"])
    translator.body.append(
        f'<details class="admonition hide {kinds}">\n<summary>\n'
        f'<span class="collapsed admonition-title">{show}</span>\n'
        f'<span class="expanded admonition-title">{hide}</span>\n</summary>\n'
    )


def _depart(translator, _node: HideCodeCellNode) -> None:
    translator.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door. The values are part of the environment, so a change rebuilds every page."""
    app.add_config_value("batchlab_answers", os.environ.get("BATCHLAB_ANSWERS", "yes"), "env")
    app.add_config_value("batchlab_root", os.fspath(Path.cwd()), "env")
    app.add_post_transform(Folds)
    app.connect("builder-inited", _own_folds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _own_folds(app: Sphinx) -> None:
    app.add_node(HideCodeCellNode, override=True, html=(_visit, _depart))

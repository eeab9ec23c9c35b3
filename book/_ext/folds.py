"""Name the folds of a lesson in the book, and leave answers out where an instructor asks for it.

The pages also lose the scripts of thebe, which would ask another host for a kernel.

    BATCHLAB_ANSWERS=no make book   ->  the same pages, with blanks where the answers stood

Cells are known by the tags of their source: `hide-input` is an answer, `hide-cell` a check.
"""

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform

__all__ = ["Folds", "setup"]

MARKERS = re.compile(r"^[ \t]*### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)\n", re.MULTILINE)
ANSWER = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?### END SOLUTION", re.MULTILINE | re.DOTALL)
STUB = r"\1raise NotImplementedError  # your turn"


def without_markers(code: str, *, answers: bool) -> str:
    """The code of a cell as a reader should see it."""
    return MARKERS.sub("", code if answers else ANSWER.sub(STUB, code))


class Folds(SphinxPostTransform):
    """Runs before the cells are folded (priority 199)."""

    default_priority = 190

    def run(self, **_: object) -> None:
        answers = self.config.batchlab_answers != "no"
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") != "cell_code":
                continue
            grading = cell["cell_metadata"].get("nbgrader", {})
            if grading and "hide_mode" in cell:
                answer = "an answer" if answers else "the blank"
                what = answer if grading.get("solution") else "the check"
                cell["prompt_show"], cell["prompt_hide"] = f"Show {what}", f"Hide {what}"
            for block in list(cell.findall(nodes.literal_block)) if grading else []:
                text = without_markers(block.astext(), answers=answers)
                if text != block.astext():
                    block.replace_self(nodes.literal_block(text, text, **block.attributes))


def without_thebe(_app: Sphinx, _page: str, _template: str, context: dict, _tree: object) -> None:
    """Keep only scripts that never name another host."""
    context["script_files"] = [
        file
        for file in context.get("script_files", [])
        if "thebe" not in f"{file} {getattr(file, 'attributes', '')}".lower()
    ]


def without_sources(_app: Sphinx, config: Config) -> None:
    """Pages without answers come without the source files, which hold them."""
    if config.batchlab_answers == "no":
        config.html_copy_source = config.html_show_sourcelink = False
        config.html_theme_options = {**config.html_theme_options, "use_download_button": False}


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door. The value is part of the environment, so a change rebuilds every page."""
    matrix = Path(app.srcdir) / "book/matrix.md"
    if not matrix.exists():  # it is made, not kept: a bare `jupyter-book build` has none
        matrix.write_text("# Wrong answers, and what caught them\n\n`make book` fills this page.\n")
    app.add_config_value("batchlab_answers", os.environ.get("BATCHLAB_ANSWERS", "yes"), "env")
    app.add_post_transform(Folds)
    app.connect("config-inited", without_sources)
    app.connect("html-page-context", without_thebe, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

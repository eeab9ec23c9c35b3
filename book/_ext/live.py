"""Exercises that work in the page: a box around each blank, and the scripts that open it.

    a blank, its answer and its check  ->  a section with hints and points; the check goes
    what is drawn from the answer      ->  marked, so that it is covered until there is one

What an exercise needs decides: NumPy alone, and the page judges it; more, and the page says so and
offers the notebook. Without the files of `_build/live` pages stay as they are without this file.
"""

import os
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from batchlab import exercises
from batchlab.authoring.live import STAMP
from batchlab.authoring.needs import THREADS, needs

__all__ = ["Boxes", "setup"]

NAMES = {"torch": "PyTorch", THREADS: "several threads"}  # as people call them
CODE = re.compile(r"`([^`]+)`")


class Boxes(SphinxPostTransform):
    """Runs after `Folds`, which makes the blanks, and before cells are folded (priority 199)."""

    default_priority = 195

    def run(self, **_: object) -> None:
        folder = Path(self.env.docname).name
        number, _, topic = folder.partition("_")
        if not self.config.batchlab_live or topic not in exercises.folders():
            return
        needed = _needs(topic)
        opened = ""  # the exercise whose answer has come and whose check has not
        for cell in list(self.document.findall(nodes.container)):
            graded = cell.get("cell_metadata", {}).get("nbgrader", {})
            name = cell.get("exercise") or graded.get("grade_id", "").removeprefix("check-")
            here = name and not needed.get(f"{topic}/{name}", True)
            if cell.get("exercise"):
                parts = (
                    _box(number, topic, name, _kind(cell, name))
                    if here
                    else _elsewhere(name, needed[f"{topic}/{name}"], folder)
                )
                _enclose(cell, parts)
                opened = name if here else ""
            elif here and graded.get("grade"):
                cell.parent.remove(cell)
                opened = ""
            elif opened and cell.get("nb_element") == "cell_code" and not graded.get("solution"):
                cell["classes"].append(f"bl-from-{opened}")


_needs = cache(needs)


def _enclose(blank: nodes.container, parts: tuple[str, str]) -> None:
    """A section from the blank to its answer; hints stand between them."""
    around, at = blank.parent, blank.parent.index(blank)
    last = at + 1
    after = around[last] if last < len(around) else None
    code = isinstance(after, nodes.container) and after.get("cell_metadata", {})
    answer = bool(code and code.get("nbgrader", {}).get("solution"))
    around.insert(last + answer, _raw("</section>"))
    around.insert(last, _raw(parts[1]))
    around.insert(at, _raw(parts[0]))


def _kind(cell: nodes.container, name: str) -> str:
    """Build, exercise, or a bug to catch: by the heading above."""
    if name.endswith("-test"):
        return "catch the bug"
    above = cell.parent
    while above is not None and not isinstance(above, nodes.section):
        above = above.parent
    title = above[0].astext() if above else ""
    return "build" if title.startswith("Build") else "exercise"


def _box(number: str, topic: str, name: str, kind: str = "exercise") -> tuple[str, str]:
    one = exercises.found(f"{topic}/{name}")
    data = f'data-exercise="{topic}/{name}" data-key="{number}-exercise {name}"'
    opened = (
        f'<section class="bl-exercise" aria-label="Exercise {name}" {data} '
        f'data-points="{one.points}">\n{_face(name, one.points, kind)}'
    )
    hints = "".join(f"<li hidden>{_marked(hint)}</li>" for hint in one.hints)
    return opened, f'<ol class="bl-hints" hidden>{hints}</ol>'


def _elsewhere(name: str, asked: list[str], folder: str) -> tuple[str, str]:
    what = " and ".join(NAMES.get(one, one) for one in asked)
    opened = f'<section class="bl-exercise bl-elsewhere" aria-label="Exercise {name}">\n'
    said = f'needs {what}: <a href="{folder}.ipynb" download>open the notebook</a>'
    return f'{opened}<p class="bl-face"><b>{name}</b> <span>{said}</span></p>', ""


def _face(name: str, points: int, kind: str) -> str:
    many = "1 point" if points == 1 else f"{points} points"
    said = f'<span class="bl-kind">{kind}</span> <b>{name}</b>'
    return f'<p class="bl-face">{said} <span class="bl-badge">{many}</span></p>'


def _marked(text: str) -> str:
    return CODE.sub(r"<code>\1</code>", escape(text))


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def copy_files(app: Sphinx) -> None:
    """The scripts and Python into the book's static files, before pages ask for them."""
    place = Path(app.outdir) / "_static/live"
    source = Path(app.config.batchlab_live)
    stamp = place / STAMP
    if (
        app.config.batchlab_live
        and stamp.is_file()
        and stamp.read_text() == (source / STAMP).read_text()
    ):
        return
    shutil.rmtree(place, ignore_errors=True)
    if app.config.batchlab_live:
        shutil.copytree(source, place)


def scripts(app: Sphinx, _page: str, _template: str, context: dict, _tree: object) -> None:
    """Only a page with a box asks for the script; editor and Python come later."""
    body = context.get("body", "")
    if 'class="bl-exercise"' in body or ('class="bl-run"' in body and app.config.batchlab_live):
        app.add_js_file("live/live.js", loading_method="defer")
    if 'class="bl-exercise' in body or 'class="bl-run"' in body:
        app.add_css_file("live/live.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door. Whether the files are there is part of the environment."""
    folder = Path(os.environ.get("BATCHLAB_LIVE", "_build/live")).resolve()
    there = os.fspath(folder) if (folder / STAMP).is_file() else ""
    app.add_config_value("batchlab_live", there, "env")
    app.add_post_transform(Boxes)
    app.connect("builder-inited", copy_files)
    app.connect("html-page-context", scripts, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

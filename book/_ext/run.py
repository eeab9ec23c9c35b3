"""Calculators on one's own run: `{run}` lays out a form for a verb of the command line.

    ```{run} padding
    data rows=8 window
    ```

The value of a word that names a file is a record of ours, to try. Where a page asks one verb twice,
`:as: name` tells the forms apart.

Labels, defaults and choices are those of the verb's own help: one definition. The page runs the
verb itself, in the browser (`book/live/form.js`); where the book has no Python the form says so.
"""

import argparse
from html import escape
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx

import batchlab
from batchlab import cli

__all__ = ["Run", "form", "setup"]

OURS = Path(batchlab.__file__).parent / "evidence"
FILES = {  # words that name a file: how what is pasted is called, and what to paste
    "data": ("other=lengths.txt", "lengths of documents, one a line: 512"),
    "config": (
        "json=config.json shell=launch.sh other=config.yaml",
        "the config, or the line that starts your run: torchrun --nproc-per-node 8 train.py ...",
    ),
    "records": ("other=run.jsonl", "open run.jsonl, which monitor.watch wrote"),
}
MEANS = {
    "config": "what starts your run, or a config",
    "data": "lengths of documents",
    "price": "price of a device and hour, in any currency",
    "records": "records of a run; of several ranks, all their files",
}
WITHOUT = "This book was built without Python in the page: use the command line."


class Run(Directive):
    """The form of one verb, with the named words."""

    required_arguments = 1
    option_spec: ClassVar = {"as": directives.unchanged_required}
    has_content = True

    def run(self) -> list[nodes.Node]:
        there = self.state.document.settings.env.config.batchlab_live
        verb, words = self.arguments[0], " ".join(self.content).split()
        made = form(verb, words, bool(there), called=self.options.get("as", verb))
        return [nodes.raw("", made, format="html")]


def form(verb: str, words: list[str], live: bool, called: str = "") -> str:
    """HTML of a form; a word may bring a value of its own: `rows=8`."""
    called = called or verb
    (top,) = (
        one for one in cli.parser([verb])._actions if isinstance(one, argparse._SubParsersAction)
    )
    offered = {one.dest: one for one in top.choices[verb]._actions}
    fields = []
    for word in words:
        name, _, value = word.partition("=")
        fields.append(_field(called, offered[name.replace("-", "_")], value))
    title = f"batchlab {verb}" if called == verb else f"batchlab {verb}: {called}"
    button = '<button type="submit">Run</button>' if live else f"<p>{WITHOUT}</p>"
    return (
        f'<form class="bl-run" id="run-{called}" data-verb="{verb}" aria-label="{title}">\n'
        + "\n".join(fields)
        + f'\n<div class="bl-buttons">{button}</div>\n</form>'
    )


def _field(called: str, action: argparse.Action, value: str) -> str:
    name, word = action.dest, (action.option_strings or [""])[-1]
    means = MEANS.get(name) or (action.help or "").split(" (default:")[0]
    if action.choices:
        means = means.split(": ")[0]  # the choices stand in the field
    key = f"{called}-{name}"
    label = f'<label for="{key}">{escape(means)} <code>{word}</code></label>'
    common = f'id="{key}" name="{name}" data-word="{word}"'
    if name in FILES:
        names, hint = FILES[name]
        several = " multiple" if action.nargs == "*" else ""
        common += ' data-needed=""' if name == "records" else ""
        example = escape((OURS / f"{value}.jsonl").read_text(encoding="utf-8")) if value else ""
        ours = f'<button type="button" data-of="{name}" data-example="{example}">Take ours</button>'
        return (
            f'<div class="bl-file">{label}<textarea {common} data-file="{names}" rows="4" '
            f'spellcheck="false" placeholder="{escape(hint)}"></textarea>'
            f'<label class="bl-open">or open a file <input type="file" data-of="{name}"{several}>'
            f"</label>{ours if example else ''}</div>"
        )
    default = action.default
    given = " ".join(map(str, default)) if isinstance(default, list | tuple) else str(default or "")
    shown = escape(value or given)
    if action.choices:
        choices = [*([] if given else [""]), *map(str, action.choices)]
        options = "".join(
            f"<option{' selected' if one == (value or given) else ''}>{escape(one)}</option>"
            for one in choices
        )
        entry = f'<select {common} data-given="{escape(given)}">{options}</select>'
    else:
        entry = f'<input {common} data-given="{escape(given)}" value="{shown}" autocomplete="off">'
    return f"<div>{label}{entry}</div>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door."""
    app.add_directive("run", Run)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

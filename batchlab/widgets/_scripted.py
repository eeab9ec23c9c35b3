"""One script and its state in every dialect: a widget, HTML without a kernel, plain text.

    a script of batchlab/web, its state, a text  ->  what Jupyter or a book can show

In a notebook the script runs as an anywidget. In the built book, or where anywidget is missing, the
HTML carries script and state whole. Nothing is loaded from elsewhere. BATCHLAB_BOOK=1 asks for
the HTML alone.
"""

import hashlib
import html
import json
import os
from importlib import resources
from typing import Any

__all__ = ["Scripted"]

# What a widget's model is to its script, where no kernel runs: values, kept in the browser
MODEL = """\
const name = %s, kept = %s;
const other = (key) => {
  try { return JSON.parse(localStorage.getItem(`batchlab:${key}`)); } catch { return null; }
};
const stored = (name && other(name)) || {};
for (const key of kept) if (key in stored) given[key] = stored[key];
const model = {
  other, get: (key) => given[key], set: (key, value) => { given[key] = value; }, on() {}, off() {},
  save_changes() {
    const data = Object.fromEntries(kept.map((key) => [key, given[key]]));
    try { if (name) localStorage.setItem(`batchlab:${name}`, JSON.stringify(data)); } catch {}
    document.dispatchEvent(new CustomEvent("batchlab", { detail: name }));
  },
};
"""


class Scripted:
    """A thing that draws itself by `script`; its `repr` is what a screen without HTML shows."""

    script = ""  # file in batchlab/web
    kept: tuple[str, ...] = ()  # names of what a page keeps in the browser
    _widget: Any = None

    def traits(self) -> dict[str, Any]:
        """Names and values (lists, dictionaries, text) that the script reads."""
        raise NotImplementedError

    def kept_as(self) -> str:
        """The name under which a page keeps it; empty: nothing is kept."""
        return ""

    def _repr_html_(self) -> str:
        """A place, the script and its state in one piece; drawn once, wherever it stands."""
        data, name = _in_script(self.traits()), self.kept_as()
        kind = type(self).__name__
        place = "bl-" + hashlib.sha256(data.encode()).hexdigest()[:12]
        script = source(self.script).replace("export default { render };", "")
        return (
            f'<div data-batchlab="{place}" data-kind="{kind}" data-kept="{html.escape(name)}">'
            f"<pre>{html.escape(repr(self))}</pre></div>\n"
            f'<script type="module">\n{script.replace("export ", "")}\n'
            f"const given = {data};\n"
            f"{MODEL % (_in_script(name), _in_script(self.kept))}"
            f"const el = document.querySelector('[data-batchlab=\"{place}\"]:not([data-drawn])');\n"
            'if (el) { el.dataset.drawn = "yes"; render({ model, el }); }\n</script>'
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self._repr_html_()}
        widget = None if os.environ.get("BATCHLAB_BOOK") else self.widget()
        if widget is not None:
            made = widget._repr_mimebundle_()
            bundle |= (made[0] if isinstance(made, tuple) else made) | {"text/plain": repr(self)}
        return bundle

    def widget(self) -> Any:
        """The anywidget of this thing, made once; None where anywidget is not installed."""
        if self._widget is None:
            try:
                import anywidget
                import traitlets
            except ImportError:
                return None
            kinds: dict[type, Any] = {
                dict: traitlets.Dict,
                list: traitlets.List,
                str: traitlets.Unicode,
            }
            values = self.traits()
            traits = {name: kinds[type(value)]().tag(sync=True) for name, value in values.items()}
            name = f"{type(self).__name__}Widget"
            kind = type(name, (anywidget.AnyWidget,), {"_esm": source(self.script), **traits})
            self._widget = kind(**values)
        return self._widget


def _in_script(value: object) -> str:
    """A value as JavaScript reads it; no text in it can end the script."""
    return json.dumps(value).replace("<", "\\u003c")


def source(script: str) -> str:
    """The text of a script."""
    return (resources.files("batchlab") / "web" / script).read_text(encoding="utf-8")

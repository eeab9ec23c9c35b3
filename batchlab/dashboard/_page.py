"""The page, as one text that needs no other file.

Scene, name of the run  ->  HTML: the state stands in it, style and script too
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

__all__ = ["page"]

SCRIPTS = ("watch_chart.js", "watch.js")


def page(state: Mapping[str, Any]) -> str:
    """The page of a state; one that says when it was `copied` asks nobody for the next."""
    text = _web("watch.html").replace("/* css */", _web("watch.css"))
    text = text.replace("/* js */", "\n".join(map(_web, SCRIPTS)))
    return text.replace("/* state */", json.dumps(state, allow_nan=False).replace("<", "\\u003c"))


def _web(name: str) -> str:
    return (files("batchlab") / "web" / name).read_text(encoding="utf-8")

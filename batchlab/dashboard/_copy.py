"""A copy of the page: a file that anyone can open, or a box in a notebook.

record files  ->  View: HTML of this moment
"""

import html
from dataclasses import dataclass
from pathlib import Path

from batchlab import records
from batchlab.dashboard._follow import Follower
from batchlab.dashboard._page import page
from batchlab.dashboard._scene import Scene

__all__ = ["View", "show"]

TALL = 900  # pixels of a notebook


@dataclass(frozen=True)
class View:
    """A run as it is at this moment."""

    html: str
    name: str = "batchlab"  # of its frame

    def _repr_html_(self) -> str:
        """A box in a notebook: style and script of the page stay inside."""
        held = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{held}" name="{self.name}" title="batchlab watch" '
            f'sandbox="allow-scripts" style="width:100%;height:{TALL}px;border:0"></iframe>'
        )


def show(path: str | Path) -> View:
    """The page of a run's records, as of now; ValueError where no step is recorded."""
    scene = Scene()
    scene.follow(Follower(path))
    state = scene.as_data(settled=True)
    if not state["steps"]:
        raise ValueError(f"{path}: no step is recorded in it")
    return View(page({**state, "name": Path(path).name, "copied": records.now()}))

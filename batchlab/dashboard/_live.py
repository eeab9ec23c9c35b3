"""The page in a notebook, while a run is written.

record files that grow  ->  outputs of a cell: the page, and its newest state as a message to it

The kernel speaks and the browser asks nobody: no port, no other host, no widget to install. What a
reader chose on the page stays. A notebook that is saved holds the newest state: opened again, it
shows that. But Jupyter hands a reloaded page no news of outputs that were there before, and a new
kernel follows nothing: a page that has heard nothing for a while says so, and what to do.
"""

import contextlib
import html
import json
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from batchlab import records
from batchlab.dashboard._copy import View
from batchlab.dashboard._follow import Follower
from batchlab.dashboard._page import page
from batchlab.dashboard._scene import Scene

__all__ = ["Live", "follow"]

SECONDS = 3.0  # between two looks
TURN = 1.0  # of reading a long run, then of rest: the interpreter is a training's meanwhile
BEAT = 10.0  # seconds, after which a state is sent again: a page knows by it that it is heard
END = 3600.0  # seconds without a new line, after which a run is followed no more

_followed: dict[Path, "Live"] = {}


def follow(path: str | Path, *, seconds: float = SECONDS) -> "Live":
    """The page of a run in the notebook, which follows it from a thread; `stop()` ends that.

    The run may come later, end, and come back; after an hour without a new line it is followed no
    more. After a reload of the notebook, or in a new kernel, the page stands still and says so: run
    the cell again. Tried in JupyterLab 4.6 and Notebook 7.6; in VS Code and Colab nobody tried it:
    where no page appears, `batchlab watch` opens one. ValueError where there is no notebook.
    Example: `dashboard.follow("run.jsonl")`
    """
    from IPython import get_ipython

    if not hasattr(get_ipython(), "kernel"):
        raise ValueError(f"no notebook shows this page: `batchlab watch {path}` opens one")
    path = Path(path).absolute()
    if path in _followed:
        _followed[path].stop()  # the cell runs again
    _followed[path] = Live(path, seconds)
    return _followed[path]


class Live:
    """A run that is followed; its training never waits for it, and hears of no fault in it."""

    def __init__(self, path: Path, seconds: float) -> None:
        from IPython.display import HTML, display

        self._path, self._seconds = path, seconds
        self._html: Any = HTML
        self._name = f"batchlab-{uuid.uuid4().hex}"
        self._stopped = threading.Event()
        self._changed = self._sent = time.monotonic()
        self._begin()
        self._state = {"steps": 0, "broken": 0, "read": 1.0, "name": path.name}
        self._page: Any = display(self._view(), display_id=True)  # type: ignore[no-untyped-call]
        self._news: Any = display(HTML(""), display_id=True)  # type: ignore[no-untyped-call]
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"follows {path.name}")
        self._thread.start()

    def __repr__(self) -> str:
        return f"{self._path.name} is followed, until it rests for an hour or stop() is called"

    def stop(self) -> None:
        """Follow no more; the last page stays as a copy."""
        self._stopped.set()
        self._thread.join()

    def _begin(self) -> None:
        self._follower, self._scene = Follower(self._path), Scene()

    def _run(self) -> None:
        try:
            self._look()
            while not self._stopped.wait(self._pause()) and self._rested() < END:
                self._look()
            self._page.update(self._view(copied=records.now()))
            self._news.update(self._html(""))
        except Exception as error:
            said = html.escape(f"{self._path.name} is followed no more: {error!r}")
            with contextlib.suppress(Exception):
                self._news.update(self._html(f"<p>{said}</p>"))

    def _look(self) -> None:
        try:
            self._scene.follow(self._follower, TURN)
        except OSError:  # a file went away under its reader
            return self._begin()
        state = {**self._scene.as_data(), "name": self._path.name}
        if state != self._state:
            self._state, self._changed = state, time.monotonic()
        elif time.monotonic() - self._sent < BEAT:
            return None
        self._sent = time.monotonic()
        self._news.update(self._html(_message(self._name, {**state, "sent": time.time()})))
        return None

    def _pause(self) -> float:
        return self._seconds if self._scene.read == 1 else min(self._seconds, TURN)

    def _rested(self) -> float:
        return time.monotonic() - self._changed

    def _view(self, **more: str) -> View:
        return View(page({**self._state, "sent": time.time(), **more}), self._name)


def _message(name: str, state: dict[str, Any]) -> str:
    """A script that hands a state to the page of that name, now and whenever it is loaded."""
    held = json.dumps(state, allow_nan=False).replace("<", "\\u003c")
    return (
        f'<script>for (const one of document.getElementsByName("{name}")) '
        f'(one.onload = () => one.contentWindow?.postMessage({held}, "*"))();</script>'
    )

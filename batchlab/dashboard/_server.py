"""Serve the page of a run on this machine, as long as it runs.

/  ->  the page;  /state?have=N  ->  its next state, or nothing where N is the newest

Only this machine reaches the address, and only by a name of this machine: no page of another host
can ask through a browser.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from batchlab.dashboard._follow import Follower
from batchlab.dashboard._page import page
from batchlab.dashboard._scene import Scene

__all__ = ["server"]

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
SECONDS = 1.0  # of reading before the page shows what there is: a long run is drawn as it is read
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:"
)


class Live:
    """A run and its newest state; several browsers may ask at once."""

    def __init__(self, path: Path) -> None:
        self._path, self._follower, self._scene = path, Follower(path), Scene()
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {}
        self._version = 0

    def state(self) -> dict[str, Any]:
        """The state of now; it has a new `version` where something changed."""
        with self._lock:
            self._scene.follow(self._follower, SECONDS)
            found = {**self._scene.as_data(), "name": self._path.name}
            if found != self._state:
                self._state, self._version = found, self._version + 1
            return {**found, "version": self._version}


def server(path: str | Path, port: int) -> ThreadingHTTPServer:
    """A server of a run's page; the run need not have begun."""
    live = Live(Path(path))

    class Handler(BaseHTTPRequestHandler):
        """Answers two questions; says nothing."""

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if self.headers.get("Host", "").rpartition(":")[0] not in NAMES:
                self._say(403, "text/plain", "this page is for this machine")
            elif asked.path == "/":
                self._say(200, "text/html", page(live.state()))
            elif asked.path == "/state":
                state = live.state()
                if parse_qs(asked.query).get("have") == [str(state["version"])]:
                    self._say(204, "application/json", "")
                else:
                    self._say(200, "application/json", json.dumps(state, allow_nan=False))
            else:
                self._say(404, "text/plain", "there is / and /state")

        def _say(self, code: int, kind: str, text: str) -> None:
            held = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(held)))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(held)

        def log_message(self, *_: Any) -> None:
            pass

    return ThreadingHTTPServer((HERE, port), Handler)

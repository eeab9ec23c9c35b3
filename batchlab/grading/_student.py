"""The student's side: runs the cells of a submission and does what the checker asks.

    cells, calls  ->  plain data; what is printed is counted and thrown away

Nothing here decides anything: no check, no seed and no solution was ever in this process.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from batchlab.classroom.behaviour import quietly
from batchlab.grading import _driver, _errors, _far
from batchlab.grading._cells import defined, run
from batchlab.grading._wire import Channel, Peer

__all__ = ["serve"]

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class _Counting:
    """A stream that counts what is written and keeps nothing."""

    encoding, errors, closed = "utf-8", "strict", False

    def __init__(self) -> None:
        self.written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True


class _Notebook:
    """The names of a notebook, and the cells that were run with them."""

    def __init__(self, names: dict[str, Any], public: Mapping[str, Mapping[str, Any]]) -> None:
        self.names, self.public = names, public
        self.opened: set[str] = set()  # exercises that a cell loaded, however it named them
        self.loaded = _exercises()  # by the public cells, and by cells that were looked at
        self.out = _Counting()

    def cell(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Run one cell of the submission."""
        sys.stdout = sys.stderr = self.out
        began = time.process_time()
        before = _exercises()
        reply: dict[str, Any] = {}
        try:
            run(asked["name"], asked["source"], self.names)
        except BaseException as error:
            reply["error"] = _errors.told(error)
            defined(asked["name"], asked["source"], self.names, error)
        sys.stdout = sys.stderr = self.out
        self.opened |= set() if "check.judge(" in asked["source"] else _exercises() - before
        self.loaded = _exercises()
        return reply | {"seconds": time.process_time() - began, "printed": self.out.written}

    def called(self, call: Answer) -> Answer:
        """The same answer to a call, which remembers what an answer of the notebook loaded."""

        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            many, module = len(sys.modules), getattr(asked["of"], "__module__", None)
            reply = call(asked)
            if len(sys.modules) > many and not f"{module}".startswith("batchlab."):
                self.opened |= _exercises() - self.loaded
            return reply

        return answer

    def taken(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Give the names the values that a public cell gave them before the fork."""
        self.names.update(self.public.get(asked["name"], {}))
        return {}

    def named(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What some names mean here; absent ones are left out."""
        found = {name: self.names[name] for name in asked["names"] if name in self.names}
        return {"found": found, "printed": self.out.written, "opened": bool(self.opened)}


def _exercises() -> set[str]:
    """Those of the course's exercises that are loaded."""
    return {one for one in _driver.helpers() if hasattr(sys.modules.get(one), "exercise")}


def _settings() -> tuple[Any, bool]:
    """PyTorch's default type, None where it is not loaded, and whether it keeps gradients."""
    torch: Any = sys.modules.get("torch")
    return (torch.get_default_dtype(), torch.is_grad_enabled()) if torch else (None, True)


def _around(released: tuple[Any, bool]) -> _far.Around:
    """What every call for a check runs in: quiet, and with PyTorch set as the lesson has it."""

    @contextlib.contextmanager
    def around() -> Iterator[None]:
        own = _settings()
        with quietly():
            try:
                _set(released)
                yield
            finally:
                _set(own)

    return around


def _set(settings: tuple[Any, bool]) -> None:
    if torch := sys.modules.get("torch"):
        torch.set_default_dtype(settings[0] or torch.float32)
        torch.set_grad_enabled(settings[1])


def serve(channel: Channel, names: dict[str, Any], public: Mapping[str, Mapping[str, Any]]) -> None:
    """Answer the checker until it leaves."""
    sys.path.append(str(Path.cwd()))  # last: a file of the notebook hides no library
    notebook = _Notebook(names, public)
    offered, introduce = _far.answers(_around(_settings()), guarded=False)
    own = {
        "call": notebook.called(offered["call"]),
        "cell": notebook.cell,
        "taken": notebook.taken,
        "named": notebook.named,
    }
    peer = Peer(channel, offered | own, _far.stand_in, strict=False)
    introduce(peer)
    peer.serve()

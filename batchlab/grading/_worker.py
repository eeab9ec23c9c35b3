"""A process that holds the engine of one lesson and grades what it is sent.

    stdin: the lesson, then notebooks  ->  Engine  ->  stdout: the level, then grades

Messages are a line of JSON; of a notebook, the line tells how many raw bytes follow. The seed
comes by this pipe: it stands in no argument and in no environment. The worker ends with its pipe.
"""

import contextlib
import importlib
import json
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from batchlab.grading import _kernel
from batchlab.grading._revision import environment

__all__ = ["main"]


def main() -> int:
    """Serve until stdin ends; 0 then, 1 where the engine does not start (said in a message)."""
    asks, tells = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _end_with_the_parent()
    with Path(os.devnull).open("r+b") as nowhere:  # nothing that runs here may write to our pipes
        os.dup2(nowhere.fileno(), 0)
        os.dup2(2, 1)
    setting = json.loads(asks.readline())
    parent = setting.pop("parent")
    if os.getppid() != parent:
        return 1
    module, _, name = setting.pop("engine").partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
        setting["lesson"], setting["released"] = (
            Path(setting["lesson"]),
            Path(setting["released"]),
        )
        with make(**setting) as engine:
            _say(tells, level=engine.level, checks=engine.checks, environment=environment(),
                 lacking=_lacking(engine))  # fmt: skip
            while line := asks.readline():
                _say(tells, **_graded(engine, asks.read(json.loads(line)["bytes"])))
    except Exception as error:
        _say(tells, failed=" ".join(str(error).split()) or type(error).__name__)
        traceback.print_exc()
        return 1
    return 0


def _lacking(engine: Any) -> list[str]:
    """Why no better level stands, as the engine's probes found it."""
    found = []
    for level, came in getattr(engine, "refused", {}).items():
        if level != engine.level:
            why = [f"{name}: {how}" for name, how in came.items() if how != "refused"]
            found.append(f"{level}: {', '.join(why) or 'it could not be tried'}")
    return found


def _graded(engine: Any, notebook: bytes) -> dict[str, Any]:
    """The grades of a notebook; an error of the engine is ours, and told as such."""
    try:
        return {"questions": [asdict(one) for one in engine.grade(notebook)]}
    except Exception as error:
        traceback.print_exc()
        return {"infra": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def _say(tells: IO[bytes], **message: Any) -> None:
    tells.write(json.dumps(message, ensure_ascii=True).encode() + b"\n")
    tells.flush()


def _end_with_the_parent() -> None:
    """Ask Linux to end this process when its parent is killed; elsewhere the pipe's end does."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            _kernel.die_with_parent()


if __name__ == "__main__":
    sys.exit(main())

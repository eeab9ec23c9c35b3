"""Which exercises can run in a page of the book: those that need nothing but Python and NumPy.

    a lesson's exercises  ->  for each the other libraries, or threads, that its check asks for

Found by judging each reference where nothing else can be imported and no thread begins, as in a
browser: a file may name PyTorch inside a function, for a wrong version or a figure, and still judge
answers without it. What judges in several threads is told from the rest here, too: where none
begins, reference and answer fail alike, and every answer would pass.

    python -m batchlab.authoring.needs padding
"""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from batchlab import exercises
from batchlab.classroom import check
from batchlab.classroom.verdict import CheckFailed

__all__ = ["THREADS", "main", "needs"]

THREADS = "threads"
HERE = {*sys.stdlib_module_names, "batchlab", "numpy"}


def needs(topic: str) -> dict[str, list[str]]:
    """What each exercise of a lesson needs beyond NumPy, libraries or threads, in the page's order.

    >>> needs("effective")["effective/splits"]
    []
    """
    command = [sys.executable, "-m", "batchlab.authoring.needs", topic]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def main(words: Sequence[str]) -> int:
    """Print what the exercises of one lesson need, as JSON."""
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    threading.Thread.start = absent.start  # type: ignore[assignment, method-assign]
    found = {}
    for name in exercises.ordered(*words):
        absent.asked.clear()
        try:
            one = exercises.found(name)
            one.check(one.of(one.text), fresh=check.rng(name))
        except (ImportError, RuntimeError, CheckFailed):
            if not absent.asked:
                raise
        found[name] = sorted(absent.asked)
    print(json.dumps(found))
    return 0


class _Absent(MetaPathFinder):
    """Finds no other library and starts no thread, and notes what was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        top = name.partition(".")[0]
        if top not in HERE:
            self.asked.add(top)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def start(self) -> None:
        self.asked.add(THREADS)
        raise RuntimeError("can't start new thread")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A lesson's own cells, run once: what they gave each name, and when.

cells of the released notebook  ->  names, and by cell what was new
"""

import sys
from typing import Any

from batchlab.grading import _cells

__all__ = ["Public"]


class Public:
    """Names of a lesson after its public cells, and what each of them gave."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self.module = _cells.space()
        sys.modules["__main__"] = self.module
        self.names = self.module.__dict__
        self.gave: dict[str, dict[str, Any]] = {}  # by cell; for a check, since the check before
        self.errors: dict[str, str] = {}
        since: dict[str, Any] = {}
        for cell in cells:
            if cell["kind"] == "check":
                self.gave[cell["name"]], since = since, {}
                continue
            before = dict(self.names)
            try:
                _cells.run(cell["name"], cell["source"], self.names)
            except BaseException as error:
                self.errors[cell["name"]] = f"{type(error).__name__}: {error}"
            new = {k: v for k, v in self.names.items() if k not in before or before[k] is not v}
            if cell["kind"] == "public":
                self.gave[cell["name"]] = new
                since.update(new)

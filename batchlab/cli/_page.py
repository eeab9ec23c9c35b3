"""The command line in a page of the book: words and files go in, what it prints comes out.

    ["padding", "--rows", "8"], {name: text}  ->  {"state": "ran" or "error", "text": its lines}

The page runs this in a worker of the browser, on files that never leave it.
"""

import contextlib
import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from batchlab.cli._main import main

__all__ = ["told"]


def told(words: Sequence[str], files: Mapping[str, str]) -> dict[str, str]:
    """What the verb prints where only these files are; an error is its last line."""
    said, failed = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in files.items():
            Path(Path(name).name).write_text(text, encoding="utf-8")
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(failed):
                code = main(words)
        except SystemExit as ended:  # of the parser
            code = ended.code if isinstance(ended.code, int) else 1
    if code:
        lines = failed.getvalue().strip().splitlines() or [f"it ended with {code}"]
        return {"state": "error", "text": lines[-1]}
    return {"state": "ran", "text": said.getvalue().strip()}

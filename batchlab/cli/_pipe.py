"""Files that can be read once: `--data /dev/stdin` and `<( ... )`, kept for as long as we run.

a pipe  ->  a file of the same content, named by what it holds
"""

import argparse
import atexit
import shutil
import tempfile
from pathlib import Path

__all__ = ["spooled"]

WORDS = ("data", "trace")


def spooled(args: argparse.Namespace) -> None:
    """Put a file in place of every pipe; its suffix says whether lines are JSON."""
    for word in WORDS:
        given = getattr(args, word, None)
        if given is None or not (path := Path(given)).exists() or path.is_file() or path.is_dir():
            continue
        content = path.read_bytes()
        if not content.strip():
            raise ValueError(f"{path}: nothing came")
        home = tempfile.mkdtemp(prefix="batchlab-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        csv = word == "trace" and not content.lstrip().startswith(b"{")
        json = content.lstrip()[:1] in (b"{", b'"', b"[")
        file = Path(home, f"{path.name}{'.csv' if csv else '.jsonl' if json else '.txt'}")
        file.write_bytes(content)
        setattr(args, word, type(given)(file))

"""The first moments of a process of a run: it says that it is there, then loads what trains.

    started by torchrun as `python -m`  ->  a beating process in `_process.main`

Loading torch takes seconds, in which a process can be stopped or run out of memory; so the beat
begins before.
"""

import json
import os
import sys
from pathlib import Path

from batchlab.cluster._alive import beat

__all__ = ["main"]


def main(folder: Path) -> None:
    """Beat, and train what the launcher asked for in `folder`."""
    asked = json.loads((folder / "asked.json").read_text())
    beat(folder, int(os.environ["RANK"]), asked["launcher"])
    from batchlab.cluster import _process

    _process.main(folder, asked)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

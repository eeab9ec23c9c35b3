"""The first moments of a process of a run: it says that it is there, then loads what trains.

    started by torchrun as `python -m`  ->  a beating process in `_process.main`

Loading torch takes seconds, in which a process can be stopped or run out of memory; so the beat
begins before.
"""

import os
import sys
from pathlib import Path

from batchlab.cluster import _lock as lock
from batchlab.cluster._alive import asked, beat
from batchlab.cluster._heard import say

__all__ = ["main"]


def main(launch: str, folder: Path) -> None:
    """Beat, and train what was asked for in `folder`, unless that was another launch."""
    rank = int(os.environ["RANK"])
    try:
        lock.stay(folder)
        wanted = asked(folder)
        if wanted["launch"] != launch:
            return
        beat(folder, rank, wanted["launcher"], launch)
    except OSError as error:
        say(rank, f"raised {type(error).__name__}: {error}")
        raise
    from batchlab.cluster import _process

    _process.main(folder, wanted)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

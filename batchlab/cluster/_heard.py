"""What the processes of a run say of their failures, where no file can be written as well.

    a process's last words  ->  the pipe to its launcher  ->  log.txt, and why each one failed

A full disk is why a run ends, and it takes the files that would tell so. A pipe has no disk.
"""

import contextlib
import os
import re
import threading
from pathlib import Path
from typing import IO

__all__ = ["Heard", "say"]

SAID = re.compile(rb"^batchlab: process (\d+) (.*)$")
ENDED = re.compile(rb"failed \(exitcode: (-?\d+)\) local_rank: (\d+)")
PATIENCE = 5.0  # seconds for what is left in the pipe


def say(rank: int, what: str) -> None:
    """Tell whoever started the run how a process failed; one write, so that lines stay whole.

    It begins a line: a bar of progress may have left the one before without an end.
    """
    line = f"\nbatchlab: process {rank} {what.splitlines()[0][:2000]}\n"
    with contextlib.suppress(OSError):
        os.write(2, line.encode())


class Heard:
    """The output of a launch, copied to its log while it is read.

    said   how each process failed, as it or another one told, newest last
    ended  process and exit code of the first that ended by itself, as torchrun tells
    """

    def __init__(self, pipe: IO[bytes], log: Path) -> None:
        self.said: dict[str, str] = {}
        self.ended: tuple[str, str] | None = None
        self._thread = threading.Thread(target=self._read, args=(pipe, log), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until all is read; a process that holds the pipe and stands still is not waited for."""
        self._thread.join(PATIENCE)

    def _read(self, pipe: IO[bytes], log: Path) -> None:
        with pipe:
            for line in pipe:
                with contextlib.suppress(OSError), log.open("ab") as file:
                    file.write(line)
                if found := SAID.match(line):
                    self.said[found[1].decode()] = found[2].decode(errors="replace")
                if self.ended is None and (found := ENDED.search(line)):
                    self.ended = found[2].decode(), found[1].decode()

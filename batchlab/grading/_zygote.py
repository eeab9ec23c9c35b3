"""The process that is copied: a lesson's public cells have run in it, once.

    a lesson's cells  ->  their names  ->  a copy for each student, and the court
    the court, with a seed  ->  references' values  ->  a copy for each submission: its checker

The zygote has never loaded a hidden test, a solution, a roster or a seed; the court has, reads
nothing of a student, and no student's process is a copy of it. `python -m
batchlab.grading._zygote FD` serves the supervisor at the socket FD until that closes.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from typing import Any

from batchlab.grading import _checker, _jail, _kernel, _probe, _student
from batchlab.grading._public import Public
from batchlab.grading._wire import Channel

__all__ = ["main"]


def main() -> None:
    """Run the public cells, then fork whatever the supervisor asks for."""
    line = socket.socket(fileno=int(sys.argv[1]))
    _kernel.die_with_parent()
    supervisor = Channel(line.fileno(), line.fileno())
    asked, _ = supervisor.receive()
    public = Public(asked["cells"])
    if "torch" in sys.modules:  # asked before a sandbox hides what it is asked from
        sys.modules["torch"].backends.cpu.get_cpu_capability()
    supervisor.send({"ready": True, "errors": public.errors}, [])
    _forks(line, public)


def _forks(line: socket.socket, public: Public) -> None:
    """Fork what is asked for at the other end of a line; never returns."""
    supervisor = Channel(line.fileno(), line.fileno())
    signal.signal(signal.SIGCHLD, _reaped)
    gc.collect()
    gc.freeze()
    with contextlib.suppress(BaseException):
        while True:
            order, _ = supervisor.receive()
            if order["as"] == "dense":
                supervisor.send({"dense": _kernel.large_pages()}, [])
                continue
            _, given, _, _ = socket.recv_fds(line, 1, 2)
            child = os.fork()
            if child == 0:
                line.close()
                _become(order, given, public)
                os._exit(0)
            for one in given:
                os.close(one)
            supervisor.send({"pid": child}, [])
    os._exit(0)


def _reaped(signal_number: int, frame: object) -> None:
    """Wait for the copies that have ended: only then do their CPU seconds count as this one's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(order: dict[str, Any], given: list[int], public: Public) -> None:
    """What a fresh copy of this process does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if order["as"] == "court":
        _kernel.die_with_parent()
        line = socket.socket(fileno=given[0])
        os.close(given[1])
        _checker.foresee(Channel(line.fileno(), line.fileno()).receive()[0])
        _forks(line, public)
    if order["as"] == "checker":
        _kernel.die_with_parent()
        _jail.checking(_jail.Order(**order["order"]))
        _checker.serve(socket.socket(fileno=given[0]), public.names, public.gave)
        return
    channel = Channel(given[0], given[0])
    place = _jail.Order(**order["order"])

    def work() -> None:
        if order["as"] == "probe":
            channel.send(_probe.attempts(order["asked"]), [])
        else:
            _student.serve(channel, public.names, public.gave)

    _jail.locked_in(place, given[1], work)


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        print(json.dumps({"zygote": f"{type(error).__name__}: {error}"}), file=sys.stderr)
        raise

"""The same rank functions over real processes: gloo on CPUs, from a script or a notebook.

    a function of one rank, world size  ->  results, bytes, seconds of real processes
    a model of this process             ->  its world, for `loop.train_step`

What runs here ran in `cluster.ranks` first: there a mistake is named, here it costs a time-out.
The processes talk through a file, so no port is taken and none can be in use.

Words
    seconds   wall time of the function itself on each rank; starting a world takes seconds more
"""

import multiprocessing as mp
import os
import queue
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from batchlab.cluster._ring import Rank
from batchlab.cluster._simulated import RankError
from batchlab.cluster._source import SENT, Packed, pack
from batchlab.cluster._world import world
from batchlab.units import real, whole

__all__ = ["Process", "Processes", "RankError", "run", "world"]

# seconds that gloo waits longer: the process that started all says who is missing
GRACE = 30.0


@dataclass(frozen=True)
class Processes:
    """What a world of processes did; lists have one entry a rank."""

    results: list[Any]
    sent_bytes: list[int]
    seconds: list[float]

    @property
    def total_bytes(self) -> int:
        return sum(self.sent_bytes)


class Process(Rank):
    """One rank of a `torch.distributed` world: the default group must be there (gloo or any)."""

    def __init__(self) -> None:
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.sent_bytes = 0

    def exchange(self, to: int, data: np.ndarray, frm: int, into: np.ndarray) -> np.ndarray:
        work = [self._sending(to, data), self._receiving(frm, into)]
        for one in work:
            if one is not None:
                one.wait()
        return into

    def send(self, to: int, data: np.ndarray) -> None:
        if (work := self._sending(to, data)) is not None:
            work.wait()

    def receive(self, frm: int, into: np.ndarray) -> np.ndarray:
        if (work := self._receiving(frm, into)) is not None:
            work.wait()
        return into

    def compute(self, seconds: float) -> None:
        """Nothing: here computing takes the time that it takes."""

    def _enter(self, name: str, array: np.ndarray) -> None:
        """Nothing: torch's own checks (TORCH_DISTRIBUTED_DEBUG=DETAIL) see its own collectives."""

    def _sending(self, to: int, data: np.ndarray) -> Any:
        self.sent_bytes += data.nbytes
        return dist.isend(_bytes(np.ascontiguousarray(data)), to) if data.nbytes else None

    def _receiving(self, frm: int, into: np.ndarray) -> Any:
        return dist.irecv(_bytes(into), frm) if into.nbytes else None


def run(
    function: Callable[..., Any],
    world_size: int,
    *arguments: Any,
    timeout: float = 60.0,
) -> Processes:
    """Run `function(rank, *arguments)` in `world_size` processes of this machine.

    function   made with `def`, in a file or in a notebook's cell; its source is sent
    arguments  pickled for each rank, as are the results
    timeout    seconds until a world that waits for ever is ended; then `RankError` says which
               ranks had not returned

    An exception in a rank raises `RankError` here, with rank, line and message; the other ranks
    are ended. No process is left behind.
    """
    world_size, timeout = whole(world_size, "world_size"), real(timeout, "timeout", above=0)
    packed = pack(function)
    context = _context()
    with tempfile.TemporaryDirectory() as folder:
        answers: Any = context.Queue()
        members = [
            context.Process(  # type: ignore[attr-defined]
                target=_live,
                args=(rank, world_size, folder, timeout, packed, arguments, answers),
                daemon=True,
            )
            for rank in range(world_size)
        ]
        try:
            for member in members:
                member.start()
            found = _collected(answers, members, timeout)
        finally:
            for member in members:
                if member.pid is None:
                    continue  # it was never started: what went wrong before is the reason
                if member.is_alive():
                    member.kill()
                member.join()
    inorder = [found[rank] for rank in range(world_size)]
    return Processes(*(list(column) for column in zip(*inorder, strict=True)))


def _live(
    rank: int,
    world_size: int,
    folder: str,
    timeout: float,
    packed: Packed,
    arguments: tuple[Any, ...],
    answers: Any,
) -> None:
    """One process: joins the world, runs the function, says what came of it."""
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a laptop's name may not resolve
    torch.set_num_threads(1)
    try:
        store = dist.FileStore(f"{folder}/store", world_size)  # type: ignore[attr-defined]
        dist.init_process_group(
            "gloo",
            store=store,
            rank=rank,
            world_size=world_size,
            timeout=timedelta(seconds=timeout + GRACE),
        )
        one, start = Process(), time.perf_counter()
        result = packed.unpack()(one, *arguments)
        answers.put((rank, None, (result, one.sent_bytes, time.perf_counter() - start)))
        dist.barrier()  # nobody leaves while another still talks to it
        dist.destroy_process_group()
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if frame.filename == SENT]
        where = f" in line {ours[-1].lineno} of {ours[-1].name}" if ours else ""
        answers.put((rank, f"{type(error).__name__}{where}: {error}", None))


def _collected(answers: Any, members: list[Any], timeout: float) -> dict[int, Any]:
    """Every rank's answer, or the first failure that is not an echo of another rank's."""
    found: dict[int, Any] = {}
    end = time.monotonic() + timeout
    while len(found) < len(members):
        try:
            rank, problem, answer = answers.get(timeout=0.2)
        except queue.Empty:
            missing = [at for at in range(len(members)) if at not in found]
            dead = [at for at in missing if members[at].exitcode not in (None, 0)]
            if dead:
                code = members[dead[0]].exitcode
                raise RankError(f"rank {dead[0]} died (exit code {code})") from None
            if time.monotonic() > end:
                names = ", ".join(map(str, missing))
                raise RankError(
                    f"after {timeout:g} s these ranks have not returned: {names}; run the function "
                    "in cluster.ranks first: it names what they wait for"
                ) from None
            continue
        if problem:
            raise RankError(f"rank {rank} raised {problem}")
        found[rank] = answer
    return found


def _context() -> BaseContext:
    """Processes that start in a tenth of a second, where the system has such."""
    if "forkserver" in mp.get_all_start_methods():
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(["torch", "torch.distributed", __name__])
        return context
    return mp.get_context("spawn")


def _bytes(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.reshape(-1).view(np.uint8))

"""Processes that read, tokenize and pack ahead of whoever trains.

    lanes of a stream, a number of workers  ->  the same micro-batches, made elsewhere

A worker is a fresh Python that imports what reading needs, and not the script that trains. It
writes into a pipe and waits where that is full; when its reader is gone, it ends.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from batchlab.data._lane import Batch, Plan, Position
from batchlab.data._tokens import Encoder
from batchlab.data._turns import opened, turns

__all__ = ["Feeders", "serve"]

PROGRAM = "import sys; sys.path[:] = {path}; from batchlab.data import _feeder; _feeder.serve()"
Turn = tuple[int, Position, Batch | None]


class Feeders:
    """The turns of some lanes, from workers; `close` ends them."""

    def __init__(
        self,
        asked: Any,
        plan: Plan,
        encoder: Encoder,
        positions: Mapping[int, Position],
        workers: int,
        prefetch: int,
        fingerprint: str,
    ) -> None:
        mine = [dict(sorted(positions.items())[at::workers]) for at in range(workers)]
        self._left = dict(positions)
        told = (asked, plan, encoder.given, fingerprint)
        self._workers = [_Worker((*told, lanes), prefetch) for lanes in mine if lanes]
        self._of = {n: one for one, lanes in zip(self._workers, mine, strict=False) for n in lanes}
        self._endless = plan.endless

    def __iter__(self) -> Iterator[Turn]:
        while self._left:
            number = min(self._left, key=lambda n: (self._left[n].batches, n))
            turn = self._of[number].next()
            _, at, _ = turn
            if at.epoch > self._left[number].epoch and not self._endless:
                del self._left[number]
            else:
                self._left[number] = at
            yield turn

    def close(self) -> None:
        for one in self._workers:
            one.close()


class _Worker:
    """One process, and a thread that takes what it says."""

    def __init__(self, asked: Any, prefetch: int) -> None:
        command = [sys.executable, "-c", PROGRAM.format(path=sys.path)]
        self._running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._running.stdin is not None
        self._heard: queue.Queue[Any] = queue.Queue(prefetch)
        self._closed = False
        try:
            with self._running.stdin as pipe:
                pickle.dump(asked, pipe, protocol=5)
        except BrokenPipeError:
            pass  # what it died of is told when it is asked
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def next(self) -> Turn:
        """The next turn of this worker's lanes."""
        said = self._heard.get()
        if isinstance(said, BaseException):
            raise said
        turn: Turn = said
        return turn

    def close(self) -> None:
        self._closed = True
        self._running.kill()
        while self._thread.is_alive():  # it may wait for room
            try:
                self._heard.get_nowait()
            except queue.Empty:
                self._thread.join(0.01)
        assert self._running.stdout is not None
        self._running.stdout.close()
        self._running.wait()

    def _listen(self) -> None:
        assert self._running.stdout is not None
        while not self._closed:
            try:
                said = pickle.load(self._running.stdout)
            except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                code = self._running.wait()
                how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
                said = RuntimeError(f"a process that reads ahead {how}")
            self._heard.put(said)
            if isinstance(said, BaseException):
                return


def serve() -> None:
    """What a worker does: read what is asked, then say turn after turn."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a tokenizer prints does not belong into the pipe
    try:
        asked, plan, tokenizer, fingerprint, positions = pickle.load(sys.stdin.buffer)
        _say(pipe, _turns(asked, plan, Encoder(tokenizer), fingerprint, positions))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # nobody reads any more


def _turns(
    asked: Any, plan: Plan, encoder: Encoder, fingerprint: str, at: Mapping[int, Position]
) -> Iterator[Turn]:
    shards, kind = opened(asked, plan.lanes, encoder)
    if shards.fingerprint != fingerprint:
        raise ValueError(f"{shards.name}: its files were changed while they were opened")
    yield from turns(shards, kind, encoder, plan, at)


def _say(pipe: BinaryIO, turns: Iterator[Turn]) -> None:
    try:
        for number, at, batch in turns:
            if batch is not None:
                batch = replace(batch, documents=replace(batch.documents, tokenizer=None))
            pickle.dump((number, at, batch), pipe, protocol=5)
            pipe.flush()
    except ValueError as error:
        pickle.dump(ValueError(str(error)), pipe)
    except BrokenPipeError:
        raise
    except Exception as error:
        pickle.dump(RuntimeError(f"{type(error).__name__}: {error}"), pipe)
    pipe.flush()

"""A small real training run over processes: packed rows, exact steps, checkpoints, a loss curve.

    settings, a folder  ->  torchrun  ->  curve.jsonl, monitor.jsonl, checkpoints/, log.txt

The step is `loop.train_step`; the processes are torchrun's, with gloo on CPUs and NCCL on GPUs.
What a step sees depends on the seed and its number alone, so a run that was killed goes on as if
nothing had happened: bit for bit on as many processes, up to rounding on more or fewer. Only what
dropout draws, in a model that has any, is another draw on another number of processes.

What one process does stands in `_process`.

Words
    piece  a micro-batch; the pieces of a step are dealt to processes by what they cost
"""

import contextlib
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from batchlab.cluster import _alive as alive
from batchlab.cluster import _lock as lock
from batchlab.cluster import _own as own
from batchlab.cluster._curve import curve, legible, was_saved
from batchlab.cluster._heard import Heard
from batchlab.cluster._name import proven
from batchlab.cluster._own import NOTES, READ, others
from batchlab.cluster._pointer import latest
from batchlab.cluster._verify import is_done, verify
from batchlab.units import several

__all__ = ["FORMS", "PIECES", "Settings", "curve", "is_done", "is_large", "kept", "launch"]
__all__ += ["notes", "others", "read", "verify"]

FORMS = ("ddp", "fsdp", "plain")
PIECES = 8  # of a step
RESTARTS, TIMEOUT = 2, 120.0  # lives after a death; seconds until a silent process is given up
PATIENCE = 60.0  # seconds for torchrun to leave
LARGE_BYTES = 2**29  # of files: every process would hold about as much in tokens
MISTAKE = "raised ValueError"  # of whoever asked: another life would say the same
NO_ROOM = re.compile(
    r"No space left|quota exceeded|File too large|unexpected pos|Read-only file system", re.I
)
ECHO = re.compile(
    r"closed by peer|reset by peer|pair closure|DistBackendError|timed out", re.IGNORECASE
)
WORKER = "batchlab.cluster._member"
HOW = ("form", "compile")  # settings that change no weight but by rounding
LATER = ("stream", "field", "document", "too_long", "schedule", "tokens", "warmup_tokens", "lora")
# not in the name of older runs


@dataclass(frozen=True)
class Settings:
    """What makes two runs the same run; processes and steps may differ.

    rows      of a piece; a step has 8 pieces, whatever the processes
    length    slots of a row
    stream    read documents while they are trained, in blocks whose order is another one each
              epoch: they need not fit into memory. Else all are held
    field     of the text or the token ids, as of `data.load`; A,B joins two
    document, too_long
              what a document of a .txt file is, and what becomes of one that is longer than a row,
              as of `data.Stream`
    schedule  shape of the rate: constant, or linear or cosine to 0 at `tokens` target tokens
    warmup_tokens
              until the rate is whole; without, 10 steps
    lora      rank of adapters; else all weights are trained
    compile   the layers, by torch.compile
    """

    documents: str | None = None
    model: str | None = None
    rows: int = 2
    length: int = 256
    rate: float = 1e-3
    form: str = "ddp"
    seed: int = 0
    stream: bool = False
    field: str | None = None
    document: str | None = None
    too_long: str = "drop"
    schedule: str = "constant"
    tokens: int | None = None
    warmup_tokens: int | None = None
    lora: int | None = None
    compile: bool = False

    def read(self) -> dict[str, Any]:
        """How documents are read, as `data.load` and `data.Stream` take it."""
        return {"field": self.field and self.field.split(","), "document": self.document}

    def named(self) -> str:
        """The run in one line: what a checkpoint must belong to."""
        silent = [*HOW, *(one for one in LATER if getattr(self, one) == getattr(Settings, one))]
        given = asdict(self) | {"model": proven(self.model)}
        told = {name: value for name, value in given.items() if name not in silent}
        if self.stream:
            told["stream"] = "by blocks"  # runs of other batchlabs read in another order
        return ", ".join(f"{name} {value}" for name, value in told.items())


def launch(
    folder: Path,
    settings: Settings,
    *,
    steps: int,
    processes: int,
    restarts: int = RESTARTS,
    timeout: float = TIMEOUT,
    report_to: Sequence[str] = (),
    heard: Callable[[list[dict[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """Run until `steps` steps are done and return the curve; a folder with a run goes on with it.

    report_to  tools that get what is recorded, by the names of `monitor.watch(to=...)`
    heard      is called with the curve so far, about twice a second

    At the end the trained model lies in the folder `model`, as transformers and peft load it.

    A process that dies takes the others with it; all start again from the last checkpoint, up to
    `restarts` times. One that stands still is given up after `timeout` seconds, and ended. What is
    wrong with the documents, the model or the disk is tried once. RuntimeError says which process
    failed first, and how; ValueError, who else runs in this folder, or what in it is of no run.
    """
    if settings.form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {settings.form!r}")
    if processes > PIECES:
        raise ValueError(f"{processes} processes: a step has {PIECES} pieces, one each at least")
    if settings.stream and settings.documents is None:
        raise ValueError("a stream is of documents of one's own: the embedded ones fit into memory")
    own.require_own(folder, settings.documents)
    own.require_alone(folder / "model")
    folder.mkdir(parents=True, exist_ok=True)
    with lock.held(folder):
        own.require_writable(folder)
        run = settings.named()
        own.require_same(folder / "checkpoints", run)
        own.require_saved(folder)
        own.separate(folder)
        asked = {"settings": asdict(settings), "steps": steps, "timeout": timeout}
        asked |= {"report_to": list(report_to), "run": run}
        return _run(folder, asked, processes, restarts, heard)


def _run(
    folder: Path,
    asked: dict[str, Any],
    processes: int,
    restarts: int,
    heard: Callable[[list[dict[str, Any]]], None] | None,
) -> list[dict[str, Any]]:
    """Start torchrun and listen to it; the folder is ours."""
    launch = secrets.token_hex(4)
    rounded = _rounded(folder, asked)
    this = asked | {"launcher": os.getpid(), "launch": launch}
    alive.ask(folder, this)
    lock.alone(folder)
    log = folder / "log.txt"  # of all starts, each behind a line of its own
    with contextlib.suppress(OSError), log.open("a") as file:
        at = f"{time.strftime('%Y-%m-%d %H:%M:%S')}, launch {launch}"
        file.write(f"== {at}: processes {processes}, to step {asked['steps']:,}\n")
    of_before = ("alive_*", NOTES, READ)
    for old in [path for name in of_before for path in folder.glob(name)]:
        old.unlink()  # what is left of an earlier torchrun writes into its own log
    if rounded:
        (folder / NOTES).write_text(f"{rounded}\n")
    words = ["--standalone", f"--nproc-per-node={processes}", f"--max-restarts={restarts}"]
    command = [sys.executable, "-m", "torch.distributed.run", *words]
    # a new life must not meet the addresses of the dead: pytorch#135712
    around = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "OMP_NUM_THREADS": "1"} | os.environ
    running = subprocess.Popen(
        [*command, "-m", WORKER, launch, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=around,
        start_new_session=True,  # torchrun ends at SIGHUP under nohup as well: signals are ours
    )  # fmt: skip
    assert running.stdout is not None
    said = Heard(running.stdout, log)
    try:
        while running.poll() is None:
            time.sleep(0.5)
            if heard:
                heard(legible(folder))
            if any(_again_in_vain(what) for what in said.said.values()):
                break
        by_itself = running.returncode or 0  # else it is ended below
    finally:
        _ended(running, folder)
        said.wait()
    if not (folder / alive.ASKED).exists():
        new = " instead of the new one, which holds a log and records," if folder.exists() else ""
        raise RuntimeError(
            f"{folder} was moved or removed while it trained: with the folder back in its place"
            f"{new} the same command goes on behind its last checkpoint"
        )
    if (now := alive.asked(folder))["launch"] != launch:  # only where there are no locks
        raise RuntimeError(
            f"{folder} was taken over by another start (process {now['launcher']}), or is another "
            "folder now"
        )
    if running.returncode:
        raise RuntimeError(_reason(folder, said, by_itself))
    return curve(folder)


def _rounded(folder: Path, asked: dict[str, Any]) -> str:
    """What is computed in another way than before: the same steps, but for rounding."""
    at, other, now = kept(folder), [], asked["settings"]
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        was = alive.asked(folder)["settings"]
        other = [f"{one} {was[one]} before, {now[one]} now" for one in HOW if was[one] != now[one]]
    return f"{'; '.join(other)}: equal up to rounding from step {at:,} on" if at and other else ""


def _ended(running: subprocess.Popen[bytes], folder: Path) -> None:
    """An interrupted run leaves no process behind, and waits for none that stands still."""
    running.terminate()
    try:
        running.wait(PATIENCE)  # torchrun itself gives its processes half of it
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        alive.end(folder)


def is_large(documents: str | None) -> bool:
    """Whether a file or a folder of files is better streamed than held by every process.

    A hub name is not: `datasets` downloads it, and it is read from there.
    """
    path = Path(documents or "")
    files = path.iterdir() if documents and path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file()) > LARGE_BYTES


def kept(folder: Path) -> int:
    """Steps of the last checkpoint of a run; 0 without one."""
    last = latest(folder / "checkpoints")
    return last.steps if last else 0


def notes(folder: Path) -> list[str]:
    """What the last launch found damaged in the folder, and where it went on; a line each."""
    path = folder / NOTES
    return path.read_text().splitlines() if path.exists() else []


def read(folder: Path) -> str:
    """What the last launch read, in a line."""
    path = folder / READ
    return path.read_text() if path.exists() else ""


def _again_in_vain(what: str) -> bool:
    """Whether another life would end as this one did."""
    return what.startswith(MISTAKE) or NO_ROOM.search(what) is not None


def _signal(number: int) -> str:
    memory = " (9 is often the system, short of memory)" if number == 9 else ""
    return f"signal {number}{memory}"


def _reason(folder: Path, heard: Heard, torchrun: int = 0) -> str:
    """The first failure of a run whose lives are used up, in one line.

    torchrun  its exit code, where it ended by itself; a signal (< 0) left it no last word
    """
    said = dict(sorted(heard.said.items()))
    own = {rank: what for rank, what in said.items() if not ECHO.search(what)}
    rank, code = heard.ended or ("", "")
    if torchrun < 0:  # what was said before was survived
        first = f"torchrun was killed by {_signal(-torchrun)}"
    elif own:
        first = "; ".join(f"process {rank} {what}" for rank, what in own.items())
    elif code.startswith("-"):
        first = f"process {rank} was killed by {_signal(int(code[1:]))}"
    elif code and rank not in said:
        first = f"process {rank} ended with exit code {code} before it could join"
    else:
        first = "the processes could not be started, or wait for one another"
    done, at = legible(folder), kept(folder)
    last = done[-1]["step"] if done else at  # of a curve that is gone, what is kept
    steps = f"{several(last, 'step')} done" if last else "no step was done"
    told = f"{first}; {steps}; see {folder / 'log.txt'}"
    again = not any(what.startswith(MISTAKE) for what in own.values())
    if not again:
        return told
    if not at and was_saved(done):
        return f"{told}. Its checkpoints are gone: bring them back, or give another folder"
    return f"{told}. The same command {f'goes on from step {at:,}' if at else 'begins anew'}"

"""One process of a training run: which rows it takes, its steps, and what it writes.

    a folder, what was asked  ->  steps, curve.jsonl, monitor.jsonl, checkpoints

Started by `cluster.training` under torchrun, through `_member`. The first process writes; all of
them train, and each one records itself (monitor.rank0.jsonl, ...).
"""

import math
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from batchlab import batches, data, loop, monitor, packing
from batchlab.cluster import _alive as alive
from batchlab.cluster import _checkpoints as checkpoints
from batchlab.cluster._curve import Written, cut_back
from batchlab.cluster._heard import say
from batchlab.cluster._made import fingerprint, made, read, tokenizer_of, write_folder
from batchlab.cluster._own import READ, note, require_saved
from batchlab.cluster._pointer import Latest, seen
from batchlab.cluster._streamed import Streamed
from batchlab.cluster._world import world
from batchlab.cluster.training import ECHO, PIECES, Settings
from batchlab.rates import Curve

__all__ = ["dealt", "factor", "pieces"]

HELD_OUT = 0.05  # share of the rows that is never trained on
EVALUATED = 32  # of these rows, at most: all 92 of the embedded documents took 28 % of a run
CLIP, WARM_UP = 1.0, 10  # norm of a gradient; steps
SAVES = 10  # of a run
IN_VAIN = 10  # steps in a row that change no weight: the run ends


def pieces(rows: int, of_a_piece: int, seed: int, step: int) -> list[list[int]]:
    """Row numbers of each piece of a step, from 0: each epoch in an order of its own."""
    wanted = PIECES * of_a_piece
    if rows < wanted:
        raise ValueError(
            f"{rows:,} rows to train on, and a step takes {wanted:,} ({PIECES} pieces of "
            f"{of_a_piece}): more documents, shorter rows, or fewer rows a piece"
        )
    epoch, at = divmod(step, rows // wanted)
    order = np.random.default_rng([seed, epoch]).permutation(rows)[at * wanted :][:wanted]
    return [[int(one) for one in part] for part in np.split(order, PIECES)]


def dealt(costs: list[int], processes: int) -> list[list[int]]:
    """Pieces of each process: the most expensive first, each to whoever has least so far."""
    shares: list[list[int]] = [[] for _ in range(processes)]
    loads = [0] * processes
    for one in sorted(range(len(costs)), key=lambda at: (-costs[at], at)):
        least = min(range(processes), key=lambda r: (loads[r], len(shares[r]), r))
        shares[least].append(one)
        loads[least] += costs[one]
    return shares


class _Rows:
    """Packed rows of a corpus: those to train on, and those that are held out."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        tokenizer = tokenizer_of(settings)
        loaded = data.load(settings.documents, tokenizer=tokenizer, **settings.read())
        self.read = read(loaded, settings)
        self.corpus = loaded.fitted(settings.length, settings.too_long)
        self.fingerprint = fingerprint(self.corpus)
        packed = packing.pack(self.corpus.lengths, settings.length)
        rows = [[int(number) for number in row] for row in packed.rows]
        held_out = max(1, round(HELD_OUT * len(rows)))
        order = np.random.default_rng(settings.seed).permutation(len(rows))
        self.held_out = [rows[at] for at in order[:held_out]]
        self.rows = [rows[at] for at in order[held_out:]]

    def require(self, states: list[Any], checkpoint: Path) -> None:
        """Nothing: the fingerprint is that of all documents."""

    def keep(self, checkpoint: Path) -> None:
        """Nothing, for the same reason."""

    def begin(self, model: Any, states: list[Any], rank: int, ranks: int) -> None:
        """Nothing: a step's number says what it sees."""

    def states(self) -> list[Any]:
        return []

    def end(self) -> None:
        """Nothing: no process reads ahead."""

    def held(self, rows: list[list[int]]) -> Any:
        """Rows, held out or not, as a micro-batch."""
        return batches.packed(self.corpus, rows, self.settings.length)

    def of_step(self, step: int, rank: int, ranks: int) -> list[Any]:
        """The micro-batches of this process, of about the same cost as those of the others."""
        try:
            cut = pieces(len(self.rows), self.settings.rows, self.settings.seed, step)
        except ValueError as error:
            raise ValueError(f"{self.read}; {error}") from None
        lengths = self.corpus.lengths
        costs = [sum(int(lengths[d]) ** 2 for at in one for d in self.rows[at]) for one in cut]
        mine = dealt(costs, ranks)[rank]
        return [self.held([self.rows[at] for at in cut[one]]) for one in mine]


def main(folder: Path, asked: dict[str, Any]) -> None:
    """Join the world, train, and say what went wrong if something does."""
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    elif sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a laptop's name may not resolve
    within = timedelta(seconds=asked["timeout"])
    try:
        dist.init_process_group("nccl" if gpu else "gloo", timeout=within)
        device = "cuda" if gpu else "cpu"
        _train(folder, Settings(**asked["settings"]), asked, device)
        dist.barrier()
    except Exception as error:
        say(rank, f"raised {type(error).__name__}: {error}")
        if ECHO.search(str(error)):
            _name_the_silent(folder, rank, ranks, asked["timeout"] / 2)
        raise
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _train(folder: Path, settings: Settings, asked: dict[str, Any], device: str) -> None:
    rank, ranks, steps = dist.get_rank(), dist.get_world_size(), asked["steps"]
    curve = Curve(settings.tokens, settings.warmup_tokens or 0, settings.schedule)
    rows: _Rows | Streamed = Streamed(settings) if settings.stream else _Rows(settings)
    saved, run = folder / "checkpoints", asked["run"]
    model, optimizer = made(settings, rows.corpus, device)
    _require_model(settings, asked)  # after it was read: another life may find another one
    around = world(model)
    found, faults = checkpoints.resume(saved, model, optimizer, rows, run)
    begun, tokens, line = (found.steps, found.tokens, found.line) if found else (0, 0, {})
    rows.begin(getattr(model, "module", model), found.lanes if found else [], rank, ranks)
    written = None  # by the first process alone
    if rank == 0:
        require_saved(folder)  # they may have been moved away since the life before
        (folder / READ).write_text(rows.read)
        _note(folder, [*faults, cut_back(folder, found)], begun)
        written = Written(folder)
        _require_same(written, asked)
    kept, vain = evaluated(rows, rank, ranks), 0
    how = {"every": min(50, max(1, steps // 20)), "to": asked["report_to"]}
    with monitor.watch(model, optimizer, folder / "monitor.jsonl", **how) as watch:
        watch.goes_on(begun)
        for step in range(begun, steps):
            start = time.perf_counter()
            torch.manual_seed(hash((settings.seed, step, rank)))  # dropout of a run that goes on
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * factor(settings, curve, step, tokens)
            parts = rows.of_step(step, rank, ranks)
            took = loop.train_step(model, optimizer, parts, max_grad_norm=CLIP, world=around)
            watch.log(loss=took.loss, gradient_norm=took.grad_norm, clip=CLIP)
            tokens += took.target_tokens
            line = {"step": step + 1, "tokens": tokens, "loss": _finite(took.loss)}
            line |= {"grad_norm": _finite(took.grad_norm), "seconds": time.perf_counter() - start}
            line |= {"skipped": True} if took.skipped else {}
            due = (step + 1) % max(1, steps // SAVES) == 0 or step + 1 == steps
            if due:
                with watch.part("evaluation"):
                    held_out = loop.evaluate(model, kept, world=around)
                    line["held_out"] = _finite(held_out)
                    watch.log(held_out=held_out)
                with watch.part("saving"):
                    _save(saved, model, optimizer, rows, written, line, asked)
            elif written:
                written.append(line, to_disk=False)
            vain = vain + 1 if took.skipped else 0
            _require_progress(vain, step + 1)
    rows.end()
    if written:
        _require_same(written, asked)
    write_folder(folder, model, rows.corpus.tokenizer, line, run)


def evaluated(rows: Any, rank: int, ranks: int) -> list[Any]:
    """Held-out rows of this process, as micro-batches: equally many on each, for all must wait for
    all in each. Where rows are missing, one stands without labels.
    """
    kept = rows.held_out[:EVALUATED]
    share = -(-len(kept) // ranks)
    mine = [rows.held([one]) for one in kept[rank * share :][:share]]
    for _ in range(share - len(mine)):
        empty = rows.held(kept[:1])
        mine.append(empty | {"labels": torch.full_like(empty["labels"], loop.IGNORE)})
    return mine


def _save(
    saved: Path, model: Any, optimizer: torch.optim.Optimizer, rows: Any,
    written: Written | None, line: dict[str, Any], asked: dict[str, Any],
) -> None:  # fmt: skip
    """Write a checkpoint; then the first process writes its step's line, and what proves both."""
    if written:
        _require_same(written, asked)  # a folder that was moved is not made anew
    whole = saved / checkpoints.name(line["step"])
    checkpoints.write(saved, model, optimizer, line["step"])
    lanes = rows.states()
    if written:
        theirs = checkpoints.laid_in(whole)
        written.append(line, to_disk=True)
        of_curve = written.keep(whole)
        rows.keep(whole)
        files = {name: file for name, file in seen(whole).items() if name not in theirs}
        of_run = asked["run"], lanes, rows.fingerprint, line, of_curve, files
        checkpoints.rely(saved, Latest(whole.name, line["step"], *of_run, asked["launch"]))
    dist.barrier()


def _require_same(written: Written, asked: dict[str, Any]) -> None:
    """ValueError unless the curve is as it was left, and what lies under adapters as it was named.

    Frozen weights are mapped from their files: they change with them, while the run trains.
    """
    written.require_same()
    settings = Settings(**asked["settings"])
    if settings.lora:
        _require_model(settings, asked)


def _require_model(settings: Settings, asked: dict[str, Any]) -> None:
    """ValueError unless the files of the model are still those by which the run is named."""
    if settings.named() != asked["run"]:
        raise ValueError(
            f"{settings.model} was written to after the run began: bring it back, and the same "
            "command begins behind the last checkpoint"
        )


def _require_progress(vain: int, step: int) -> None:
    """ValueError after as many steps in a row that changed no weight."""
    if vain == IN_VAIN:
        raise ValueError(
            f"loss or gradient was not finite in {vain} steps up to step {step:,}, which left the "
            "weights as they were: a smaller --rate, or other documents"
        )


def _finite(number: float) -> float | None:
    """What JSON has a word for."""
    return number if math.isfinite(number) else None


def factor(settings: Settings, curve: Curve, step: int, tokens: int) -> float:
    """Of the rate, for a step behind so many target tokens; it warms up in tokens or in steps."""
    warm = 1.0 if settings.warmup_tokens is not None else min(1.0, (step + 1) / WARM_UP)
    return warm * curve.factor(tokens)


def _note(folder: Path, faults: list[str], steps: int) -> None:
    """Tell whoever started the run what was damaged, and where it went on."""
    for fault in filter(None, faults):
        note(folder, f"{fault}; the run went on from step {steps:,}")


def _name_the_silent(folder: Path, rank: int, ranks: int, patience: float) -> None:
    """Whom did this process wait for? Note it, and end what stands still."""
    for other, seconds in alive.silent(folder, rank, ranks, patience).items():
        said = "never came" if seconds is None else f"fell silent {seconds:.0f} s ago (stopped?)"
        say(other, said)
        alive.end(folder, other)

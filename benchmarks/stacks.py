"""What the doctor finds in the stacks that people train with: frameworks x planted causes.

    python -m benchmarks.stacks --quiet [--stacks NAME ...] [--causes NAME ...]
    python -m benchmarks.stacks --busy  [...]

A cause is planted into a small training of each stack, recorded as its user would, and diagnosed;
then it is taken out, and what that gained is measured. One line of records a cell, written when the
stack is through; cells that the file holds are not run again. `--quiet` begins only on a machine
that has nothing else to do; `--busy` takes it as it is, and with `--spin N` works beside.

A stack that is not installed is left out with a line that says so. The extra `dev` of this project
brings all but Lightning: `pip install -c constraints.txt lightning`.
"""

import argparse
import importlib.metadata
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from batchlab import records
from benchmarks.stacks_plants import WAYS

ROUNDS = 5  # turns of planted and cured runs
ENOUGH = 0.95  # of the time, that a process runs on a machine with nothing else to do
RANKS = ("DDP", "FSDP2")
NO_PROBE = ("torch.compile", *RANKS)
STACKS = {
    "plain loop": "torch", "torch.compile": "torch", "accelerate": "accelerate", "DDP": "torch",
    "FSDP2": "torch", "Lightning": "lightning", "Trainer": "accelerate",
    "encoder-decoder": "accelerate", "classifier": "accelerate", "PEFT": "peft",
    "TRL SFT, padded": "trl", "TRL SFT, padding-free": "trl", "TRL SFT, packed": "trl",
    "TRL DPO": "trl", "TRL GRPO": "trl",
}  # by the library that it needs  # fmt: skip
VERSIONS = ("torch", "transformers", "accelerate", "trl", "peft", "lightning")
ALONE = "one process: there is nobody to wait for"
FULL = "nothing is padded in this layout"
EMPTY = {
    **{("waiting", stack): ALONE for stack in STACKS if stack not in RANKS},
    ("padding", "TRL SFT, padding-free"): FULL,
    ("padding", "TRL SFT, packed"): FULL,
    ("generation", "classifier"): "it writes no text",
    ("generation", "FSDP2"): "its weights are whole inside training passes only",
}
SLEEPS = "others have the cores as well: a sleep is no part of its own"  # on a busy machine


def empty(cause: str, stack: str, machine: str) -> str:
    """Why this cell makes no sense; empty where it does."""
    return SLEEPS if (cause, machine) == ("away", "busy") else EMPTY.get((cause, stack), "")


def child(stack: str, causes: list[str], rounds: int, folder: Path) -> None:
    """Run one stack in this process, and write its cells into the folder."""
    import warnings

    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    from benchmarks.stacks_judge import cells

    if stack == "Lightning":
        from benchmarks.stacks_lightning import Lightning as made
    elif stack in ("plain loop", "torch.compile", "accelerate", *RANKS):
        from benchmarks.stacks_loops import LOOPS

        made = LOOPS[stack]
    else:
        from benchmarks.stacks_trainers import TRAINERS

        made = TRAINERS[stack]
    last = int(os.environ.get("RANK", "0")) == 0
    for line in cells(made(), causes, folder, rounds=rounds, probes=stack not in NO_PROBE):
        if last:
            records.append(folder / "cells.jsonl", line)


def ran(stack: str, causes: list[str], rounds: int, folder: Path) -> list[dict[str, Any]]:
    """The cells of one stack, in a process of its own; several under torchrun."""
    launch = [sys.executable]
    if stack in RANKS:
        launch += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    given = ["-m", "benchmarks.stacks", "--child", str(folder), "--stacks", stack]
    done = subprocess.run(
        [*launch, *given, "--busy", "--rounds", str(rounds), "--causes", *causes],
        capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if done.returncode:
        print(f"{stack}: failed\n{done.stderr[-3000:]}", file=sys.stderr)
        return []
    return [rounded(line) for line in records.read(folder / "cells.jsonl")]


def rounded(line: dict[str, Any]) -> dict[str, Any]:
    """The same to four digits after the point: the clocks know no more."""
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}


def environment() -> dict[str, Any]:
    there = [name for name in VERSIONS if importlib.util.find_spec(name)]
    known = records.environment()
    known["versions"] = {name: importlib.metadata.version(name) for name in there}
    return {
        name: known[name] for name in ("date", "python", "processor", "cores", "versions", "commit")
    }


def share_of_a_core(_: int = 0) -> float:
    """How much of half a second a process that never waits has run."""
    begin, busy = time.perf_counter(), time.process_time()
    while time.perf_counter() < begin + 0.5:
        pass
    return (time.process_time() - busy) / (time.perf_counter() - begin)


def spin() -> None:
    while True:
        pass


def measure(given: argparse.Namespace, machine: str) -> int:
    """Run what is missing; returns how many stacks failed."""
    there = list(records.read(given.output)) if given.output.exists() else []
    done = {(one["stack"], one["cause"]) for one in there if one.get("machine") == machine}
    failed = 0
    for stack in given.stacks:
        missing = [cause for cause in given.causes if (stack, cause) not in done]
        if not missing:
            continue
        if importlib.util.find_spec(STACKS[stack]) is None:
            print(f"{stack}: {STACKS[stack]} is not installed, left out", flush=True)
            continue
        reasons = {cause: empty(cause, stack, machine) for cause in missing}
        causes = [cause for cause in missing if not reasons[cause]]
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found = ran(stack, causes, given.rounds, Path(folder)) if causes else []
        if causes and not found:
            failed += 1
            continue
        found += [
            {"cause": c, "verdict": "empty", "because": why} for c, why in reasons.items() if why
        ]
        about = {"kind": "stack_cell", "stack": stack, "machine": machine}
        for line in found:
            records.append(given.output, about | line)
        seconds = time.perf_counter() - begin
        records.append(given.output, about | {
            "kind": "stack_run", "cause": "", "rounds": given.rounds, "seconds": seconds,
            "core": share_of_a_core(), "environment": environment(),
        })  # fmt: skip
        said = ", ".join(
            f"{one['cause']} {one['verdict']}" for one in found if one["verdict"] != "empty"
        )
        print(f"{stack} ({seconds:.0f} s): {said}", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    machine = parser.add_mutually_exclusive_group(required=True)
    machine.add_argument("--quiet", action="store_const", const="quiet", dest="machine")
    machine.add_argument("--busy", action="store_const", const="busy", dest="machine")
    parser.add_argument(
        "--spin", type=int, default=0, metavar="N", help="so many busy processes beside"
    )
    parser.add_argument("--output", type=Path, default=Path("batchlab/evidence/stacks.jsonl"))
    parser.add_argument("--stacks", nargs="+", choices=STACKS, default=list(STACKS), metavar="NAME")
    parser.add_argument("--causes", nargs="+", choices=WAYS, default=list(WAYS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each cell ({ROUNDS})")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.stacks[0], given.causes, given.rounds, given.child)
        return 0
    with multiprocessing.Pool() as pool:
        least = min(pool.map(share_of_a_core, range(os.cpu_count() or 1)))
    if given.machine == "quiet" and least < ENOUGH:
        print(f"this machine is not quiet: a process that never waits ran {least:.0%} of the time")
        return 2
    beside = [multiprocessing.Process(target=spin, daemon=True) for _ in range(given.spin)]
    for one in beside:
        one.start()
    try:
        return min(1, measure(given, given.machine))
    finally:
        for one in beside:
            one.terminate()


if __name__ == "__main__":
    raise SystemExit(main())

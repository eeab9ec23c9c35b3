"""Words that name what is not there, or that need each other, refused before any work.

parsed words  ->  check  ->  refused in one line, or let through
"""

import argparse
import os
from pathlib import Path

from batchlab import reading
from batchlab.cli.options import FIGURES, RUNS

__all__ = ["check"]


def check(args: argparse.Namespace) -> None:
    """Refuse files that are not there and places that cannot be written, before any work."""
    if hasattr(args, "shard"):
        _require_training(args)
    for word in ("data", "model", "tokenizer"):
        if name := getattr(args, word, None):
            _require_there(name, any_suffix=word == "data")
    if (path := getattr(args, "trace", None)) and not path.exists():
        raise ValueError(f"{path}: no such file")
    if path := getattr(args, "figure", None):
        _require_drawable(path, folder_too=args.verb == "report")
    if path := getattr(args, "output", None):
        _require_writable(path)


def _require_training(args: argparse.Namespace) -> None:
    """Words that need each other."""
    if args.quantised and not args.lora:
        raise ValueError("--quantised weights are not trained: give --lora RANK for what is")
    if args.shard and (args.devices or 1) < 2:
        raise ValueError("--shard needs the devices that share: --devices 2 or more")
    if args.devices and not args.shard:
        raise ValueError("--devices share nothing: say what with --shard")


def _require_there(name: str, *, any_suffix: bool) -> None:
    """A hub name is not looked up; what looks like a path must be one."""
    path = Path(name)
    if not name.isascii() and os.fsencode(name).decode(errors="ignore") != name:
        raise ValueError(f"{name!r}: the name is not UTF-8, so no record can hold it: rename it")
    reading.require_target(path)
    like_a_path = path.is_absolute() or name.startswith(".") or path.suffix == ".json"
    if (like_a_path or (any_suffix and path.suffix)) and not path.exists():
        raise ValueError(f"{name}: no such file or folder")


def _require_drawable(path: Path, *, folder_too: bool) -> None:
    if folder_too and (path.is_dir() or not path.suffix):
        _require_folder(path)
        return
    if path.suffix.lower() not in FIGURES:
        raise ValueError(f"{path}: figures are written as {', '.join(FIGURES)}")
    _require_folder(path)
    _try_to_write(path)


def _require_writable(path: Path) -> None:
    """The very file is opened, since only the system knows; nothing of the trial is left behind."""
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder; records go to a file")
    if path.exists():
        from batchlab import records

        records.begun(path)  # refuses what holds no records, and adds nothing to it
    made = path.parent == RUNS and not RUNS.exists()
    if made:
        RUNS.mkdir()
    else:
        _require_folder(path)
    try:
        _try_to_write(path)
    finally:
        if made:
            RUNS.rmdir()


def _require_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}: make it first")


def _try_to_write(path: Path) -> None:
    new = not path.exists()
    with path.open("ab"):
        pass
    if new:
        path.unlink()

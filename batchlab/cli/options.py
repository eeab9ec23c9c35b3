"""Every option of the command line, defined once: a word means the same in each verb.

    words of a verb  ->  offer  ->  a parser; parsed words  ->  check  ->  refused, or let through

A verb offers at most eight words, `--json` and `--help` aside; what is rarer is in the library.
Words are checked before anything heavy is loaded: numbers and choices by the parser (exit code 2),
files and folders by `check` (exit code 1, one line).
"""

import argparse
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from batchlab import packing, records, units

__all__ = ["LAYOUTS", "PRECISIONS", "WORDS", "Word", "check", "dtypes", "offer", "place"]

PRECISIONS = ("float32", "bfloat16", "autocast-bfloat16", "autocast-float16")
LAYOUTS = ("padded", "bucketed", "packed")
DEVICES = ("cpu", "cuda")
FIGURES = (".png", ".svg", ".pdf")
RUNS = Path("runs")  # the one folder that is made unasked: the sweep's records go there by default


def whole(text: str) -> int:
    """A count from a word."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is needed, got {text}") from None
    try:
        return units.whole(number, "it")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def gibibytes(text: str) -> int:
    """Bytes from a word that holds GiB."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        raise argparse.ArgumentTypeError(f"GiB of tensors, above 0, are needed, got {text}")
    return round(number * units.GIB)


@dataclass(frozen=True)
class Word:
    """One option: what it means wherever it is offered."""

    means: str
    shape: str = ""  # what stands behind it in the usage
    default: str = ""  # said where a verb gives no value of its own
    kind: Callable[[str], Any] = str
    choices: Collection[str] | None = None
    flag: bool = False


WORDS: Mapping[str, Word] = {
    "model": Word("folder, config.json or hub name; its tokenizer too", "NAME", "a small Llama"),
    "data": Word("documents: a file, a folder or a hub name", "DATA", "the embedded documents"),
    "field": Word("field of the text or the token ids; A,B joins two", "NAME", "by its name"),
    "split": Word("split of a data set that has several", "NAME", "train"),
    "tokenizer": Word("folder or hub name; it counts texts", "NAME", "the embedded one"),
    "length": Word("slots of a row", "N", kind=whole),
    "rows": Word("rows of a micro-batch", "N", kind=whole),
    "accumulation": Word("micro-batches of a step", "N", kind=whole),
    "data_parallel": Word("replicas that share a step", "N", kind=whole),
    "slots": Word("slots of a step, for accumulation", "N", "what the factors give", whole),
    "devices": Word("devices of the config", "N", "as the config says", whole),
    "tool": Word("whose config it is, where its keys do not tell", "NAME", "as its keys say"),
    "window": Word("batches that are sorted together", "N", kind=whole),
    "method": Word("how rows are filled", "M", choices=packing.METHODS),
    "too_long": Word("a document longer than a row", "HOW", choices=packing.TOO_LONG),
    "layout": Word("how documents become micro-batches", "L", choices=LAYOUTS),
    "precision": Word("what a step computes in", "P", choices=PRECISIONS),
    "checkpointing": Word("recompute activations in the backward pass", flag=True),
    "budget": Word("GiB of tensors", "GIB", "what is free on a GPU, 1 on a CPU", gibibytes),
    "device": Word("where a step runs", "D", "cuda where there is one", choices=DEVICES),
    "verify": Word("apply the change and measure it", flag=True),
    "output": Word("file of records; a run that was stopped goes on from it", "FILE",
                   "nothing is kept", Path),
    "figure": Word(f"draw it: {', '.join(FIGURES)}", "FILE", "nothing is drawn", Path),
    "json": Word("print JSON instead of tables", flag=True),
}  # fmt: skip


class Offers(Protocol):
    """A parser, or a group of its options that exclude each other."""

    def add_argument(self, *names: str, **how: Any) -> argparse.Action:
        """Add one option."""


def offer(
    parser: Offers,
    *words: str,
    several: Collection[str] = (),
    shown: Mapping[str, str] | None = None,
    **defaults: Any,
) -> None:
    """Add options to a parser, each as it is in every verb.

    several   words that take more than one value
    shown     defaults in words, where the verb works them out by itself
    defaults  values, shown as they are
    """
    for name in words:
        word, default = WORDS[name], defaults.get(name)
        option = f"--{name.replace('_', '-')}"
        if word.flag:
            parser.add_argument(option, action="store_true", help=word.means)
            continue
        means = ": ".join([word.means, *([", ".join(word.choices)] if word.choices else [])])
        given = word.default if default is None else str(default)
        if default is not None and name in several:
            given = " ".join(map(str, default))
        parser.add_argument(
            option,
            type=word.kind,
            choices=word.choices,
            metavar=word.shape,
            nargs="+" if name in several else None,
            default=default,
            help=f"{means} (default: {(shown or {}).get(name, given)})",
        )


def check(args: argparse.Namespace) -> None:
    """Refuse files that are not there and places that cannot be written, before any work."""
    for word in ("data", "model", "tokenizer"):
        if name := getattr(args, word, None):
            _require_there(name, any_suffix=word == "data")
    if path := getattr(args, "figure", None):
        _require_drawable(path, folder_too=args.verb == "report")
    if path := getattr(args, "output", None):
        _require_writable(path)


def place(device: str | None) -> str:
    """The device that was asked for, if it is here; without a word, cuda where there is one."""
    import torch

    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ValueError("--device cuda: torch finds no CUDA device here")
    return device or ("cuda" if there else "cpu")


def dtypes(precision: str) -> tuple[Any, Any]:
    """The dtype of the weights, and that of autocast or None."""
    import torch

    kind, _, name = precision.rpartition("-")
    if kind:
        return torch.float32, getattr(torch, name)
    return getattr(torch, name), None


def _require_there(name: str, *, any_suffix: bool) -> None:
    """A hub name is not looked up; what looks like a path must be one."""
    path = Path(name)
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
        records.read(path)  # refuses what holds no records, and adds nothing to it
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

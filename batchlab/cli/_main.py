"""The command line: `batchlab VERB`, a table for people or JSON for machines.

    words  ->  a verb in `batchlab/cli`  ->  table, JSON, figure

A verb is a module with a docstring (its help), `arguments(parser)` and `run(args) -> Answer`.
It exits 0; 2 after a usage error; 1 after bad input, with one clear line.
"""

import argparse
import contextlib
import csv
import errno
import importlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import batchlab
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.cli._checked import check
from batchlab.cli._pipe import spooled

__all__ = ["VERBS", "main", "parser"]

VERBS = {  # verb: its module in batchlab/cli
    "padding": "padding",
    "pack": "pack",
    "plan": "plan",
    "memory": "memory",
    "fit": "fit",
    "same-step": "same_step",
    "train": "train",
    "sweep": "sweep",
    "doctor": "doctor",
    "watch": "watch",
    "rates": "rates",
    "noise": "noise",
    "report": "report",
    "serve-sim": "serve_sim",
    "check": "check",
    "book": "book",
    "course grade": "course_grade",
    "course export": "course_export",
    "course doctor": "course_doctor",
    "course release": "course_release",
}
FAMILIES = {"course": "Release a course, grade a class, hand the grades on"}


TOO_MUCH: dict[type[Exception], str] = {  # what a reader may not have foreseen of a strange file
    RecursionError: "nested more deeply than Python follows",
    MemoryError: "more than the memory of this machine holds",
    OverflowError: "a number is too large to count with",
    csv.Error: "not CSV",
    ZeroDivisionError: "a size of 0, by which something is divided",
}
GONE = "the folder that you are in was removed: cd to another one"
FILES = ("file", "data", "config", "records", "model", "tokenizer", "trace")  # words that name one


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """All verbs with their options, or the one alone that these words begin with.

    It loads no heavy library, and of the verbs only those that it holds.
    """
    begun = [name for name in VERBS if list(words[: name.count(" ") + 1]) == name.split()]
    top = argparse.ArgumentParser(
        prog="batchlab",
        description="What one optimizer step sees, what it costs, and how to fill it.",
        epilog="Each verb runs on embedded documents; --data and --model use your own.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"batchlab {batchlab.__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    groups = {"": verbs}
    for name in begun or VERBS:
        verb = _verb(VERBS[name])
        family, _, own = name.rpartition(" ")
        first, _, rest = (verb.__doc__ or "").partition("\n")
        if family not in groups:
            said = FAMILIES[family]
            whole = verbs.add_parser(family, help=said, description=said, allow_abbrev=False)
            groups[family] = whole.add_subparsers(dest="verb", metavar="WHAT", required=True)
        added = groups[family].add_parser(
            own,
            help=first.rstrip("."),
            description=f"{first}\n{rest}".strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.arguments(added)
        options.offer(added, "json")
        added.set_defaults(verb=name)
    return top


def main(words: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code."""
    alone, words = words is None, sys.argv[1:] if words is None else words
    if not _is_somewhere():
        print(f"batchlab: {GONE}", file=sys.stderr)
        return 1
    args, code = parser(words).parse_args(words), 0
    try:
        spooled(args)
        check(args)
        answer: Answer = _verb(VERBS[args.verb]).run(args)
        code = answer.code
        _show(answer, args)
        return code
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code
    except KeyboardInterrupt as stop:
        if alone:  # what is left is to leave: once more Ctrl-C stops nothing
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        kept = getattr(args, "output", None)
        if said := str(stop) or (kept and f"stopped; the same command goes on from {kept}"):
            with contextlib.suppress(OSError):  # a terminal that is closed hears nothing
                print(f"batchlab: {said}", file=sys.stderr)
        return getattr(stop, "code", 130)
    except (ValueError, OSError, ImportError) as error:
        print(f"batchlab: {_one_line(error)}", file=sys.stderr)
        return 1
    except tuple(TOO_MUCH) as error:
        why = next(why for kind, why in TOO_MUCH.items() if isinstance(error, kind))
        print(
            f"batchlab: {_given(args)}{why} ({_one_line(error) or 'no details'})", file=sys.stderr
        )
        return 1


def _is_somewhere() -> bool:
    """Whether relative paths mean something, and PyTorch can load."""
    with contextlib.suppress(FileNotFoundError):
        return Path.cwd().is_absolute()
    return False


def _show(answer: Answer, args: argparse.Namespace) -> None:
    """Draw first: a figure that cannot be written leaves no half of an answer behind."""
    if answer.figure and args.figure:
        from batchlab import plots

        plots.save(answer.figure(), args.figure)
        print(f"drawn: {args.figure}", file=sys.stderr)
    text = json.dumps(answer.data, indent=2, allow_nan=False) if args.json else answer.text
    try:
        print(text)
        if sys.stdout is not None:  # closed from the beginning: `>&-`
            sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EIO:  # a terminal that was closed: nobody reads on
            raise BrokenPipeError from None
        raise OSError(error.errno, error.strerror, "standard output") from None


def _verb(module: str) -> ModuleType:
    return importlib.import_module(f"batchlab.cli.{module}")


def _given(args: argparse.Namespace) -> str:
    """The files that the words name, for an error that does not."""
    given = [getattr(args, name, None) for name in FILES]
    names = [
        str(name) for one in given if one for name in (one if isinstance(one, list) else [one])
    ]
    return f"{', '.join(names)}: " if names else ""


def _one_line(error: Exception) -> str:
    """The error in one line; a system error as file and reason."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}"
    if isinstance(error, ModuleNotFoundError):
        return f"this needs the package {error.name}: pip install {error.name}"
    return " ".join(str(error).split())

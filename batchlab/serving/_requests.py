"""Requests that arrive: when, with how long a prompt, for how many tokens of output.

    rate and lengths, or a file  ->  Trace, sorted by arrival

Words
    prompt  tokens that are there when the request arrives
    output  tokens that it wants; the first comes from the prompt's forward pass
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from batchlab import reading
from batchlab.lengths import checked
from batchlab.units import real, whole

__all__ = ["Trace", "at_once", "poisson", "read", "trace"]

FIELDS = ("arrival", "prompt", "output")


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in the order of their arrival: three arrays, one number a request.

    arrivals  seconds, from 0 on
    prompts   tokens, at least 1
    outputs   tokens, at least 1
    """

    arrivals: np.ndarray
    prompts: np.ndarray
    outputs: np.ndarray

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def rate(self) -> float:
        """Requests per second between the first and the last arrival; inf if all came at once."""
        span = float(self.arrivals[-1] - self.arrivals[0])
        return (len(self) - 1) / span if span else float("inf")


def trace(arrivals: ArrayLike, prompts: ArrayLike, outputs: ArrayLike) -> Trace:
    """A trace from three lists; sorted by arrival, ties in the order given.

    >>> trace([2.0, 0.5], [7, 3], [1, 4]).prompts
    array([3, 7])
    """
    try:
        times = np.asarray(arrivals, dtype=float)
    except (TypeError, ValueError, OverflowError):
        times = np.array([np.nan])
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or times.min() < 0:
        raise ValueError("arrivals must be a flat list of finite seconds, at least 0 each")
    asked, wanted = checked(prompts), checked(outputs)
    if not len(times) == len(asked) == len(wanted):
        raise ValueError(
            f"a request has one arrival, one prompt and one output, got {len(times)}, "
            f"{len(asked)} and {len(wanted)} of them"
        )
    order = np.argsort(times, kind="stable")
    return Trace(times[order], asked[order], wanted[order])


def at_once(prompts: ArrayLike, outputs: ArrayLike) -> Trace:
    """All requests at time 0: a benchmark of throughput, not of latency."""
    return trace(np.zeros(len(checked(prompts))), prompts, outputs)


def poisson(
    rate: float, prompts: ArrayLike, outputs: ArrayLike, *, requests: int, seed: int = 0
) -> Trace:
    """`requests` requests that arrive independently, `rate` per second on average.

    Prompt and output of a request are drawn together from the pairs given, with replacement.
    """
    rate, requests = real(rate, "rate", above=0), whole(requests, "requests")
    asked, wanted = checked(prompts), checked(outputs)
    if len(asked) != len(wanted):
        raise ValueError(f"{len(asked)} prompts and {len(wanted)} outputs are no pairs")
    random = np.random.default_rng(whole(seed, "seed", least=0))
    times = np.cumsum(random.exponential(1 / rate, requests))
    drawn = random.integers(len(asked), size=requests)
    return Trace(times, asked[drawn], wanted[drawn])


def read(path: str | Path) -> Trace:
    """A trace from a CSV or JSONL file with the fields arrival, prompt and output."""
    path = Path(path)
    if path.suffix == ".jsonl":
        rows = [(number, value) for number, _, value in reading.json_lines(path)]
    elif path.suffix == ".csv":
        rows = list(_table(path))
    else:
        raise ValueError(f"{path}: a trace is read from .csv or .jsonl")
    columns: list[list[float]] = [[], [], []]
    for number, row in rows:
        for column, name in zip(columns, FIELDS, strict=True):
            column.append(_number(row, name, f"{path}, line {number}"))
    if not rows:
        raise ValueError(f"{path}: no requests in it")
    return trace(*columns)


def _table(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV file with their lines; one with more fields than names is refused."""
    found = csv.DictReader(line for _, line in reading.lines_of(path))
    names = found.fieldnames or []
    if twice := [name for name in FIELDS if names.count(name) > 1]:
        raise ValueError(f"{path}, line 1: the field {twice[0]} stands there twice")
    for row in found:
        if None in row:  # a decimal comma would make an arrival into a prompt
            raise ValueError(
                f"{path}, line {found.line_num}: more fields than the {len(names)} of line 1"
            )
        yield found.line_num, row


def _number(row: object, name: str, where: str) -> float:
    if not isinstance(row, dict) or row.get(name) is None:
        raise ValueError(f"{where}: no field {name}; a request has {', '.join(FIELDS)}")
    value, times = row[name], name == "arrival"
    try:
        number = real(float(value) if isinstance(value, str) else value, name, least=0)
        return number if times else whole(int(number) if number.is_integer() else number, name)
    except (TypeError, ValueError):
        right = "a number of at least 0" if times else "a whole number of at least 1"
        raise ValueError(f"{where}: {name} must be {right}, got {reading.shown(value)}") from None

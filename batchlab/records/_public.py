"""Thousands of real GPU trainings of language models, from public result logs, with their sources.

    packed tables  ->  PublicRuns: runs, references, submissions, curves, benchmarks

`PublicRuns.notice` stands wherever one of these rows is shown: the licence and the owners of the
name ask for it. What is derived is unverified, and a run of your own is no rival of these.
"""

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, TypeVar

from batchlab.records._public_credit import Credit
from batchlab.records._public_rows import Benchmark, Curve, PublicRun, Reference, Submission

__all__ = ["PublicRuns", "public_runs"]

Shown: TypeAlias = PublicRun | Submission | Reference | Curve
Row = TypeVar("Row", PublicRun, Submission, Reference, Benchmark)
READ: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: text in ("1", "True"),
}
APART = "405B of v5.0 and of v5.1 do not share a convergence curve"


@dataclass(frozen=True)
class PublicRuns:
    """The public record, or a part of it, and the notice that is printed beside it."""

    runs: tuple[PublicRun, ...]
    references: tuple[Reference, ...]
    submissions: tuple[Submission, ...]
    curves: tuple[Curve, ...]
    benchmarks: dict[str, Benchmark]
    notice: str

    def only(
        self,
        *,
        benchmark: str | None = None,
        device: str | None = None,
        batch: int | None = None,
        round: str | None = None,
    ) -> "PublicRuns":
        """The rows of one benchmark, device, batch and round; None is any.

        References were made once, on a platform of their own: `device` leaves them alone. An
        unknown name is refused with those that there are.
        """
        _known("benchmark", benchmark, self.benchmarks)
        _known("device", device, {one.device for one in self.runs})
        _known("round", round, _rounds(self))

        def holds(one: PublicRun | Submission) -> bool:
            asked = (one.benchmark, benchmark), (one.device, device), (one.batch, batch)
            return all(w is None or w == is_ for is_, w in (*asked, (one.round, round)))

        return replace(
            self,
            runs=tuple(filter(holds, self.runs)),
            submissions=tuple(filter(holds, self.submissions)),
            curves=tuple(one for one in self.curves if holds(one.run)),
            references=tuple(
                one
                for one in self.references
                if benchmark in (None, one.benchmark)
                and batch in (None, one.batch)
                and (round is None or round in one.rounds.split())
            ),
            benchmarks={k: v for k, v in self.benchmarks.items() if benchmark in (None, k)},
        )

    def credit(self, rows: Iterable[Shown] | None = None) -> Credit:
        """Whose the rows are that are shown, each once, and the notice; None: all of them."""
        shown: list[Shown] = [*self.submissions, *self.references] if rows is None else [*rows]
        return Credit(self.notice, tuple({one.label: one.source.url for one in shown}.items()))

    def seeds(self, of: str = "references") -> dict[int, list[tuple[float, float]]]:
        """{batch: (least, most) samples to the target of each seed}, for `noise.fit_critical`.

        The target was crossed above `least` and by `most`; `least` is 0 where a run reached it at
        its first evaluation, which bounds it from above only. `of` is "references" or "runs".
        Refused are several benchmarks, and points that no round has together: 405B of v5.0 and
        v5.1 above all. Rows with an upstream typo are left out.

        >>> sorted(public_runs(benchmark="llama31_8b").seeds())
        [16, 32, 64, 96, 128]
        """
        if of not in ("references", "runs"):
            raise ValueError(f'seeds are of "references" or of "runs", got {of!r:.40}')
        rows: Sequence[PublicRun | Reference] = self.references if of == "references" else self.runs
        if not rows:
            raise ValueError(f"no {of} are left: ask for less at once")
        _one_curve(rows)
        found: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for one in rows:
            typo = isinstance(one, Reference) and one.note.startswith("typo")
            if (interval := one.interval) is not None and not typo:
                found[one.batch].append(interval)
        return dict(sorted(found.items()))


def public_runs(
    *,
    benchmark: str | None = None,
    device: str | None = None,
    batch: int | None = None,
    round: str | None = None,
    duplicates: bool = False,
) -> PublicRuns:
    """Return the public record of real GPU trainings, or the part that is asked for.

    benchmark   llama31_8b, llama31_405b, llama2_70b_lora, gpt3; references also of others
    device      H100, H200, B200, GB200 and others
    batch       sequences of a step
    round       4.0 to 5.1; the version of the benchmark
    duplicates  True keeps runs that were submitted twice, byte for byte

    Every row says submitter, system, benchmark with version, division, devices, repository, commit
    and path. Extracted from repositories under the Apache License 2.0 (its text stands beside the
    tables); `notice` belongs beside every number that is shown.

    >>> found = public_runs(benchmark="llama31_8b", device="B200")
    >>> len(found.runs), found.runs[0].label
    (190, 'Dell, 1xXE9680Lx8B200-SXM-180GB, llama31_8b v5.1 Closed, 8 B200')
    """
    found = _all()
    if not duplicates:
        found = replace(
            found,
            runs=tuple(one for one in found.runs if not one.duplicate_of),
            submissions=tuple(one for one in found.submissions if not one.duplicate),
        )
    return found.only(benchmark=benchmark, device=device, batch=batch, round=round)


@cache
def _all() -> PublicRuns:
    runs = tuple(_rows("runs", PublicRun))
    folder = files("batchlab") / "evidence/public_runs"
    return PublicRuns(
        runs,
        tuple(_rows("references", Reference)),
        tuple(_rows("submissions", Submission)),
        tuple(_curves(runs)),
        {one.name: one for one in _rows("benchmarks", Benchmark)},
        (folder / "NOTICE.txt").read_text(encoding="utf-8").strip(),
    )


def _curves(runs: Sequence[PublicRun]) -> Iterator[Curve]:
    known = {(one.submission, one.run): one for one in runs}
    found: dict[tuple[str, int], list[tuple[float, ...]]] = defaultdict(list)
    for line in _lines("curves"):
        at = tuple(float(line[name]) for name in ("samples", "loss", "seconds"))
        found[line["submission"], int(line["run"])].append(at)
    for key, points in found.items():
        samples, losses, seconds = zip(*points, strict=True)
        yield Curve(known[key], samples, losses, seconds)


def _rows(table: str, kind: type[Row]) -> Iterator[Row]:
    types = {one.name: one.type for one in fields(kind)}
    names = [(name, t.__name__ if isinstance(t, type) else str(t)) for name, t in types.items()]
    for line in _lines(table):
        yield kind(**{name: _value(line[name], said) for name, said in names})


def _value(text: str, said: str) -> Any:
    """A cell as the type that its field is declared with; an empty one is None where that is."""
    if not text and "None" in said:
        return None
    return READ[said.removesuffix(" | None")](text)


def _lines(table: str) -> Iterator[dict[str, str]]:
    packed = (files("batchlab") / f"evidence/public_runs/{table}.csv.gz").read_bytes()
    yield from csv.DictReader(gzip.decompress(packed).decode().splitlines())


def _one_curve(rows: Sequence[PublicRun | Reference]) -> None:
    """Refuse rows that do not lie on one curve of samples against batch."""
    benchmarks = sorted({one.benchmark for one in rows})
    if len(benchmarks) > 1:
        raise ValueError(
            f"{', '.join(benchmarks)} have targets of their own: ask for one `benchmark`"
        )
    points = {one.rounds if isinstance(one, Reference) else one.round for one in rows}
    shared = set.intersection(*(set(one.split()) for one in points))
    if "llama31_405b" in benchmarks and not shared:
        raise ValueError(f'{APART}: ask for round="5.0" or round="5.1"')
    if isinstance(rows[0], Reference) and not shared:
        raise ValueError(
            f"{benchmarks[0]}: no round has all these points "
            f"({'; '.join(sorted(points))}): ask for one `round`"
        )


def _rounds(record: PublicRuns) -> set[str]:
    listed = {each for one in record.references for each in one.rounds.split()}
    return listed | {one.round for one in record.runs}


def _known(what: str, asked: str | None, there: Any) -> None:
    if asked is not None and asked not in there:
        raise ValueError(f"no {what} {asked!r:.40} here; there are {', '.join(sorted(there))}")

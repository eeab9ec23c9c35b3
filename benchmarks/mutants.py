"""Would the tests notice? Change one operator, constant or condition at a time and run them.

    python benchmarks/mutants.py [ROOM or MODULE ...] [--total 300 | --sample 30] [--seed 0]
                                 [--by slips] [--verdicts FILE [--again]] [--also tests/test_new.py]

    rooms  ->  a sample of mutants, each judged by the tests that run its line  ->  killed, survived

Each mutant (`mutations`; with `--by slips` those of a second hand, `slips`) is written into a copy
of the library and judged (`judges`) in a fresh process, which is forked after the heavy libraries
are loaded. One that takes five times as long as its tests counts as killed. With `--verdicts`, each
verdict is one line of a file; the same command goes on where it was stopped. At first, a mutant
meets half a minute of the tests that run its line, and laws try few examples; with `--again`, those
that survived meet two minutes of them and whole laws. At the end, what killed a mutant runs without
any: a test that fails alone is named. Mutants that change nothing that a test could see stand in
`benchmarks/equivalent_mutants.txt` with the reason.

Words
    room      arithmetic, step, record, check or rest: what `ROOMS` says
    killed    a test failed, the module could not be imported, or the time ran out
    survived  all tests passed: a test is missing, or the mutant is equivalent
"""

import argparse
import collections
import json
import multiprocessing
import queue
import random
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from judges import BROKEN, OUT_OF_TIME, PASSED, PRELOADED, Lines, judged, lines_of, warmed
from mutations import ROOT, Changes, Mutant, changes, mutants, source_of
from slips import slips

LINES = ROOT / "_build" / "lines.json"
EQUIVALENT = ROOT / "benchmarks" / "equivalent_mutants.txt"
BECAUSE = "  because "
ROOMS = {
    "arithmetic": ("units", "lengths", "padding", "buckets", "packing", "plan", "memory._formula",
                   "roofline._formula"),
    "step": ("reading", "data", "model", "counts", "batches", "loader", "attention", "loop"),
    "record": ("records", "timing", "stopwatch", "sweep", "report"),
    "check": tuple(f"classroom.{name}" for name in (
        "behaviour", "check", "copies", "items", "plain", "predict", "quiz", "showing", "values",
        "verdict")),
    "rest": ("adapt", "attention", "cluster", "cli", "dashboard", "doctor", "memory", "monitor",
             "noise", "pictures", "plots", "proposal", "rates", "roofline", "serving", "widgets"),
}  # fmt: skip
MADE_BY = {"operators": changes, "slips": slips}
KINDS = ("killed", OUT_OF_TIME, "equivalent", PASSED)
SOME, ALL = 30.0, 120.0  # seconds of tests that judge a mutant, at first and again


def files_of(module: str) -> list[Path]:
    """The files of a module, or of all rooms behind a door that is a package."""
    place = ROOT / "batchlab" / Path(*module.split("."))
    found = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not found or not found[0].exists():
        raise SystemExit(f"there is no module {module} in batchlab")
    return [path.relative_to(ROOT) for path in found]


def copied(folder: Path) -> Path:
    """A copy of the library and its tests, as they are compiled; what else they read is linked."""
    skip = shutil.ignore_patterns(".hypothesis")
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name in ("batchlab", "tests"):
            shutil.copytree(path, folder / path.name, ignore=skip)
        elif not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    return folder


def equivalents() -> dict[tuple[str, str, str], str]:
    """(module, line of code, change) -> why no test can see it.

    A line "module: code" is followed by indented lines "change  because reason".
    """
    known, place = {}, ("", "")
    for line in EQUIVALENT.read_text().splitlines():
        if line.startswith(" "):
            change, reason = line.strip().split(BECAUSE)
            known[*place, change] = reason
        elif line and not line.startswith("#"):
            module, code = line.split(": ", 1)
            place = module, code
    return known


def sampled(chosen: argparse.Namespace) -> list[Mutant]:
    """So many of all together (`--total`), or of each door (`--sample`), drawn with the seed.

    They are shuffled: whatever has been judged so far is a sample as well.
    """
    rng, doors = random.Random(chosen.seed), collections.defaultdict(list)
    modules = [m for name in chosen.rooms for m in ROOMS.get(name, (name,))]
    for path in dict.fromkeys(path for module in modules for path in files_of(module)):
        for one in mutants(path, MADE_BY[chosen.by]):
            doors[one.door].append(one)
    most = chosen.sample or max(map(len, doors.values()))
    every = [one for found in doors.values() for one in rng.sample(found, min(most, len(found)))]
    return rng.sample(every, min(chosen.total or len(every), len(every)))


class Verdicts(dict[str, str]):
    """What became of each mutant; kept in a file, one line each, if there is a path."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self.path = path
        if path and path.exists():
            for line in path.read_text().splitlines():
                self.update([json.loads(line)])

    def keep(self, name: str, verdict: str) -> None:
        self[name] = verdict
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps([name, verdict]) + "\n")


def name_of(one: Mutant) -> str:
    return f"{one.path}:{one.line}: {one.number}: {one.change}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("rooms", nargs="*", default=list(ROOMS), metavar="ROOM or MODULE")
    options.add_argument("--total", type=int, default=0, help="mutants of all together (0: all)")
    options.add_argument("--sample", type=int, default=0, help="mutants of each door (0: all)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--by", choices=MADE_BY, default="operators", help="what makes mutants")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--verdicts", type=Path, metavar="FILE")
    options.add_argument("--again", action="store_true", help="judge anew what survived")
    options.add_argument("--lines", type=Path, default=LINES, help="which test runs which line")
    options.add_argument("--also", nargs="*", default=[], help="whole files of tests that judge")
    chosen = options.parse_args()
    work, verdicts = sampled(chosen), Verdicts(chosen.verdicts)
    left = [one for one in work if needs_judging(one, verdicts, chosen.again)]
    lines = lines_of(chosen.lines)
    warmed(lines)
    with tempfile.TemporaryDirectory() as place:
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
        folders: queue.Queue[Path] = queue.Queue()
        for job in range(chosen.jobs):
            folders.put(copied(Path(place) / str(job)))
        by = MADE_BY[chosen.by]
        judge(left, by, lines, verdicts, folders, thorough=chosen.again, also=chosen.also)
        killers = sorted({v for v in verdicts.values() if v not in (PASSED, OUT_OF_TIME, BROKEN)})
        failing = judged(folders.get(), killers, None) if killers else PASSED
    _report(work, [verdicts[name_of(one)] for one in work], equivalents())
    if failing != PASSED:
        raise SystemExit(f"{failing} fails without any mutant: what it killed is not judged")


def needs_judging(one: Mutant, verdicts: Verdicts, again: bool) -> bool:
    known = verdicts.get(name_of(one))
    return known is None or (again and known == PASSED)


def judge(
    work: list[Mutant],
    made_by: Changes,
    lines: Lines,
    verdicts: Verdicts,
    folders: "queue.Queue[Path]",
    *,
    thorough: bool,
    also: list[str],
) -> None:
    """Judge these mutants, one at a time in each copy of the library."""

    def try_one(one: Mutant) -> None:
        folder = folders.get()
        tests = also + lines.judges(one.path, one.statement, ALL if thorough else SOME)
        try:
            (folder / one.path).write_text(source_of(one, made_by))
            limit = 20 + 5 * lines.seconds_of(tests)
            verdicts.keep(name_of(one), judged(folder, tests, limit, thorough=thorough))
        finally:
            shutil.copy2(ROOT / one.path, folder / one.path)  # what was compiled of it still holds
            folders.put(folder)

    with ThreadPoolExecutor(folders.qsize()) as pool:
        for done, _ in enumerate(pool.map(try_one, work), 1):
            if done % 20 == 0:
                print(f"{done:,} of {len(work):,}", flush=True)


def _report(
    work: list[Mutant], verdicts: list[str], known: dict[tuple[str, str, str], str]
) -> None:
    counts: dict[str, dict[str, int]] = {}
    survivors = []
    for one, verdict in zip(work, verdicts, strict=True):
        kind = verdict if verdict in (PASSED, OUT_OF_TIME) else "killed"
        if kind == PASSED and (one.module, one.code, one.change) in known:
            kind = "equivalent"
        if kind == PASSED:
            survivors.append(one)
        counts.setdefault(one.door, dict.fromkeys(KINDS, 0))[kind] += 1
    counts["all"] = {kind: sum(found[kind] for found in counts.values()) for kind in KINDS}
    print(f"\n{'door':<22}{'mutants':>9}{'killed':>8}{'by time':>9}{'equivalent':>12}{'score':>9}")
    for door, found in counts.items():
        killed = found["killed"] + found[OUT_OF_TIME]
        print(
            f"{door:<22}{sum(found.values()):>9}{killed:>8}{found[OUT_OF_TIME]:>9}"
            f"{found['equivalent']:>12}{killed / max(killed + found[PASSED], 1):>9.1%}"
        )
    print("\nsurvived:" if survivors else "\nnone survived")
    for one in survivors:
        print(f"  {one.path}:{one.line}  {one.change}\n      {one.code}")


if __name__ == "__main__":
    main()

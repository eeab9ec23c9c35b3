"""Would the tests notice? Change one operator, constant or condition at a time and run them.

    python benchmarks/mutants.py [ROOM or MODULE ...] [--total 300 | --sample 30] [--seed 0]
                                 [--verdicts FILE [--again]]

    rooms  ->  a sample of mutants, each judged by the tests of its door  ->  killed, survived

Each mutant (`mutations`) is written into a copy of the library and judged in a fresh process, which
is forked after the heavy libraries are loaded. A mutant that takes five times as long as the tests
counts as killed. With `--verdicts`, each verdict is one line of a file; the same command goes on
where it was stopped. At first, tests that start other processes are left out and laws try few
examples; with `--again`, those that survived are judged anew by all of it. Mutants that change
nothing that a test could see stand in `benchmarks/equivalent_mutants.txt` with the reason.

Words
    room      arithmetic, step, record or check: what `ROOMS` says
    killed    a test failed, the module could not be imported, or the time ran out
    survived  all tests passed: a test is missing, or the mutant is equivalent
"""

import argparse
import ast
import json
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mutations import ROOT, Mutant, mutants, source_of

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
}  # fmt: skip
# Tests that judge a door beside those that are named after it; without either, all that import it.
TESTS: dict[str, tuple[str, ...]] = {
    "reading": ("test_lengths", "test_records", "test_data_files", "test_launch_text"),
    "stopwatch": ("test_counts", "test_sweep", "test_monitor"),
    "data": ("test_corpus", "test_lengths", "test_packing_shards"),
    "model": ("test_layouts", "test_data"),
    "batches": ("test_layouts",),
    "attention": ("test_layouts", "test_counts"),
    "loop": ("test_calling", "test_layouts", "test_compare_splits", "test_stacks"),
    "counts": ("test_cell", "test_compare_splits"),
    "report": ("test_golden", "test_plots"),
    "records": ("test_cell",),
    "plan": ("test_launch", "test_launch_text"),
    "units": ("test_strangers",),
    "lengths": ("test_strangers",),
    "classroom": ("test_check", "test_behaviour", "test_behaviour_torch", "test_predict",
                  "test_quiz", "test_mine"),
}  # fmt: skip


PRELOADED = ["numpy", "torch", "pytest", "hypothesis", "hypothesis.strategies", "tokenizers",
             "pyarrow.parquet", "yaml", "transformers.models.llama.modeling_llama"]  # fmt: skip
FEW = 20
IN_PROCESSES = "killed or writers_at_the_same or names_the_machine or gloo or numpy_alone"


def files_of(module: str) -> list[Path]:
    """The files of a module, or of all rooms behind a door that is a package."""
    place = ROOT / "batchlab" / Path(*module.split("."))
    found = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not found or not found[0].exists():
        raise SystemExit(f"there is no module {module} in batchlab")
    return [path.relative_to(ROOT) for path in found]


def tests_of(path: Path) -> list[str]:
    """What judges a file: its own examples, the tests of its door, or all that import the door."""
    door = path.relative_to("batchlab").with_suffix("").parts[0]
    found = sorted((ROOT / "tests").glob(f"test_{door}*.py"))
    found += [ROOT / "tests" / f"{name}.py" for name in TESTS.get(door, ())]
    if not found:
        found = [p for p in sorted((ROOT / "tests").glob("test_*.py")) if _imports(p, door)]
    if not found:
        raise SystemExit(f"no test imports {door}: name one in TESTS")
    return [str(path), *(str(one.relative_to(ROOT)) for one in found)]


def _imports(path: Path, door: str) -> bool:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names} if node.module == "batchlab" else set()
            if door in names or (node.module or "").startswith(f"batchlab.{door}"):
                return True
    return False


def run_tests(folder: str, tests: list[str], thorough: bool, verdicts: Any) -> None:
    """In a process of its own: put pytest's exit code into `verdicts`."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": folder}
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, 16 * 2**30))  # a loop that only appends
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("mutants", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow and not deep and not browser and not gpu",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]  # of what is loaded already
    if not thorough:
        options += ["-k", f"not ({IN_PROCESSES})"]
        _few_examples(hypothesis.settings)
    verdicts.put(int(pytest.main([*options, *tests])))


def _few_examples(settings: Any) -> None:
    """Laws that ask for hundreds of examples get FEW: most mutants fall at once."""
    made = settings.__init__

    def capped(self: Any, *rest: Any, **given: Any) -> None:
        if isinstance(given.get("max_examples"), int):
            given["max_examples"] = min(FEW, given["max_examples"])
        made(self, *rest, **given)

    settings.__init__ = capped


def judged(
    folder: Path, tests: list[str], limit: float | None = None, *, thorough: bool = False
) -> tuple[str, float]:
    """passed, failed or out of time; and the seconds that it took."""
    context = multiprocessing.get_context("forkserver")
    verdicts = context.SimpleQueue()
    process = context.Process(target=run_tests, args=(str(folder), tests, thorough, verdicts))
    began = time.perf_counter()
    process.start()
    process.join(limit)
    took = time.perf_counter() - began
    if process.is_alive():
        process.kill()
        process.join()
        return "out of time", took
    return ("failed" if verdicts.empty() or verdicts.get() else "passed"), took


def copied(folder: Path) -> Path:
    """A copy of the library and its tests; what else they read is linked."""
    skip = shutil.ignore_patterns("__pycache__", ".hypothesis")
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
    """So many of all together (`--total`), or of each file (`--sample`), drawn with the seed."""
    rng, every = random.Random(chosen.seed), []
    modules = [m for name in chosen.rooms for m in ROOMS.get(name, (name,))]
    for path in dict.fromkeys(path for module in modules for path in files_of(module)):
        found = mutants(path)
        every += rng.sample(found, min(chosen.sample, len(found))) if chosen.sample else found
    return rng.sample(every, min(chosen.total, len(every))) if chosen.total else every


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
    options.add_argument("--sample", type=int, default=0, help="mutants of each file (0: all)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--verdicts", type=Path, metavar="FILE")
    options.add_argument("--again", action="store_true", help="judge anew what survived")
    chosen = options.parse_args()
    work, verdicts = sampled(chosen), Verdicts(chosen.verdicts)
    left = [one for one in work if needs_judging(one, verdicts, chosen.again)]
    judge(left, verdicts, chosen.jobs, thorough=chosen.again)
    _report(work, [verdicts[name_of(one)] for one in work], equivalents())


def needs_judging(one: Mutant, verdicts: Verdicts, again: bool) -> bool:
    known = verdicts.get(name_of(one))
    return known is None or (again and known == "passed")


def judge(work: list[Mutant], verdicts: Verdicts, jobs: int, *, thorough: bool) -> None:
    """Judge these mutants, `jobs` at a time, each job in its own copy of the library."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    with tempfile.TemporaryDirectory() as place:
        folders: queue.Queue[Path] = queue.Queue()
        for job in range(jobs):
            folders.put(copied(Path(place) / str(job)))
        limits: dict[str, float] = {}

        def limit_of(tests: list[str], folder: Path) -> float:
            name = " ".join(tests)
            if name not in limits:
                verdict, took = judged(folder, tests, thorough=thorough)
                if verdict != "passed":
                    raise SystemExit(f"{name}: these tests fail without any mutant")
                limits[name] = 20 + 5 * took
                print(f"{took:6.1f} s  {name}", flush=True)
            return limits[name]

        def try_one(one: Mutant) -> None:
            folder = folders.get()
            try:
                own, *tests = tests_of(one.path)
                limit = limit_of(tests, folder)
                (folder / one.path).write_text(source_of(one))
                verdict, _ = judged(folder, [own, *tests], limit, thorough=thorough)
                verdicts.keep(name_of(one), verdict)
            finally:
                shutil.copy(ROOT / one.path, folder / one.path)
                folders.put(folder)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(try_one, work))


def _report(
    work: list[Mutant], verdicts: list[str], known: dict[tuple[str, str, str], str]
) -> None:
    kinds = ("failed", "out of time", "equivalent", "passed")
    counts: dict[str, dict[str, int]] = {}
    survivors = []
    for one, verdict in zip(work, verdicts, strict=True):
        if verdict == "passed":
            if (one.module, one.code, one.change) in known:
                verdict = "equivalent"
            else:
                survivors.append(one)
        counts.setdefault(one.module, dict.fromkeys(kinds, 0))[verdict] += 1
    counts["all"] = {kind: sum(found[kind] for found in counts.values()) for kind in kinds}
    print(
        f"\n{'module':<20}{'mutants':>9}{'killed':>8}{'by time':>9}{'equivalent':>12}{'score':>9}"
    )
    for module, found in counts.items():
        killed = found["failed"] + found["out of time"]
        score = killed / max(killed + found["passed"], 1)
        print(
            f"{module:<20}{sum(found.values()):>9}{killed:>8}{found['out of time']:>9}"
            f"{found['equivalent']:>12}{score:>9.1%}"
        )
    print("\nsurvived:" if survivors else "\nnone survived")
    for one in survivors:
        print(f"  {one.path}:{one.line}  {one.change}\n      {one.code}")


if __name__ == "__main__":
    main()

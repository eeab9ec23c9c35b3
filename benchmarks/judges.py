"""Which tests run a line of the library, and do they notice that it was changed?

    the everyday suite, once, under coverage  ->  line -> tests that run it, seconds of each test
    a mutant  ->  the test that failed, OUT_OF_TIME, or PASSED

A test is judged by no name: what runs the line may notice. Lines that run when a module is imported
belong to no test; every test that runs any line of the file may judge them.

Words
    near   the tests of the file's own door: they come first, and the fast ones before the slow
"""

import collections
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mutations import ROOT

PASSED, OUT_OF_TIME, BROKEN = "passed", "out of time", "cannot be imported"
PRELOADED = ["numpy", "torch", "pytest", "hypothesis", "hypothesis.strategies", "tokenizers",
             "pyarrow.parquet", "yaml", "transformers.models.llama.modeling_llama"]  # fmt: skip
EVERYDAY = "not slow and not deep and not browser and not gpu"
FEW = 20  # examples of a law, at first
SECONDS_OF_FILE = 60.0  # of a whole file of tests that is named
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-m", EVERYDAY]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded already


@dataclass(frozen=True)
class Lines:
    """What the everyday suite runs."""

    tests: list[str]
    seconds: list[float]
    of: dict[str, dict[int, list[int]]]  # file -> line -> numbers of tests

    @classmethod
    def read(cls, path: Path) -> "Lines":
        kept = json.loads(path.read_text())
        of = {
            name: {int(at): tests for at, tests in lines.items()}
            for name, lines in kept["of"].items()
        }
        return cls(kept["tests"], kept["seconds"], of)

    def judges(self, path: Path, lines: Iterable[int], most: float) -> list[str]:
        """The tests that run one of these lines, near and fast ones first, `most` seconds of them.

        Without any, those that run any line of the file.
        """
        of = self.of.get(str(path), {})
        found = {number for line in lines for number in of.get(line, ())}
        found = found or {number for tests in of.values() for number in tests}
        door = path.parts[1].removesuffix(".py")
        near = {n for n in found if f"/test_{door}" in self.tests[n] or str(path) in self.tests[n]}
        chosen, spent = [], 0.0
        for number in sorted(found, key=lambda n: (n not in near, self.seconds[n], n)):
            spent += self.seconds[number]
            if chosen and spent > most:
                break
            chosen.append(number)
        return [self.tests[number] for number in chosen]

    def seconds_of(self, tests: Sequence[str]) -> float:
        known = dict(zip(self.tests, self.seconds, strict=True))
        return sum(known.get(test, SECONDS_OF_FILE) for test in tests)


class Recorder:
    """A plugin of pytest: the lines of the library that each test runs, and its seconds."""

    def __init__(self) -> None:
        import coverage

        self.coverage = coverage.Coverage(
            data_file=None, source=[str(ROOT / "batchlab")], messages=False
        )
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        self.coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        done = yield
        self.seconds[item.nodeid] = time.perf_counter() - began
        return done

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def keep(self, path: Path) -> None:
        tests = [test for test in self.seconds if test not in self.failed]
        number = {test: n for n, test in enumerate(tests)}
        data, of = self.coverage.get_data(), {}
        for name in sorted(data.measured_files()):
            lines: dict[int, list[int]] = collections.defaultdict(list)
            for line, contexts in data.contexts_by_lineno(name).items():
                lines[line] = sorted(number[one] for one in contexts if one in number)
            of[str(Path(name).relative_to(ROOT))] = lines
        text = json.dumps({"tests": tests, "seconds": [self.seconds[t] for t in tests], "of": of})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def record(path: Path, files: Sequence[str] = ()) -> None:
    """In this process: the everyday suite, or these files of it, under coverage, into `path`."""
    recorder = Recorder()
    recorder.coverage.start()
    pytest.main([*OPTIONS[1:], *files], plugins=[recorder])
    recorder.coverage.stop()
    recorder.keep(path)
    if recorder.failed:
        print(f"{len(recorder.failed):,} tests fail and judge nothing")


def lines_of(path: Path) -> Lines:
    """What is kept in `path`; recorded first if there is nothing yet."""
    if not path.exists():
        print("the everyday suite under coverage: which test runs which line", flush=True)
        command = [sys.executable, __file__, str(path)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    recorded = path.stat().st_mtime
    for source in (*(ROOT / "batchlab").rglob("*.py"), *(ROOT / "tests").rglob("*.py")):
        if source.stat().st_mtime > recorded:
            print(f"{source.relative_to(ROOT)} is newer than {path}: remove that to record anew")
    return Lines.read(path)


class Chosen:
    """A plugin of pytest: these tests, or files of them, in this order; the first that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: number for number, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        order = self.order
        place = {
            item: order.get(item.nodeid, order.get(item.nodeid.split("::")[0])) for item in items
        }
        items[:] = sorted((item for item in items if place[item] is not None), key=place.get)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def run_tests(folder: str, tests: list[str], thorough: bool, verdicts: Any) -> None:
    """In a process of its own: put PASSED, BROKEN or the test that failed into `verdicts`."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": folder}
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, 16 * 2**30))  # a loop that only appends
    import hypothesis

    hypothesis.settings.register_profile("mutants", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutants")
    if not thorough:
        _few_examples(hypothesis.settings)
    chosen, files = Chosen(tests), dict.fromkeys(test.split("::")[0] for test in tests)
    code = int(pytest.main([*OPTIONS, *files], plugins=[chosen]))
    verdicts.put(PASSED if code == 0 else chosen.failed or BROKEN)


def _few_examples(settings: Any) -> None:
    """Laws that ask for hundreds of examples get FEW: most mutants fall at once."""
    made = settings.__init__

    def capped(self: Any, *rest: Any, **given: Any) -> None:
        if isinstance(given.get("max_examples"), int):
            given["max_examples"] = min(FEW, given["max_examples"])
        made(self, *rest, **given)

    settings.__init__ = capped


def judged(folder: Path, tests: list[str], limit: float | None, *, thorough: bool = False) -> str:
    """PASSED, BROKEN, OUT_OF_TIME, or the test that failed."""
    context = multiprocessing.get_context("forkserver")
    verdicts = context.SimpleQueue()
    process = context.Process(target=run_tests, args=(str(folder), tests, thorough, verdicts))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return OUT_OF_TIME
    return BROKEN if verdicts.empty() else str(verdicts.get())


def warmed(lines: Lines) -> None:
    """Compile the judges that are not, and what they import: each verdict would do it again."""

    def stale(test: Path) -> bool:
        made = test.parent.glob(f"__pycache__/{test.stem}.*-pytest-*.pyc")
        return not any(one.stat().st_mtime > test.stat().st_mtime for one in made)

    tests = [name for name in {test.split("::")[0] for test in lines.tests} if stale(ROOT / name)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "pytest", *OPTIONS, "--collect-only", *tests]
    if tests:
        subprocess.run(command, cwd=ROOT, env=environment, **quiet)


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2:])

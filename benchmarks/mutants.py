"""Would the tests notice? Change one operator, constant or condition at a time and run them.

    python benchmarks/mutants.py [buckets packing ...] [--sample 30] [--seed 0] [--jobs 2]

    module  ->  a sample of mutants, each judged by the module's own tests  ->  killed, survived

A mutant is one change: a comparison, an arithmetic or boolean operator, a number by one, a truth
value, a condition turned round, `min` for `max`, or None returned. Each is written into a copy of
the library and judged in a fresh process, forked after the heavy libraries are loaded. A mutant
that takes five times as long as the tests counts as killed. Messages, annotations and decorators
are left alone. Mutants that change nothing stand in `benchmarks/equivalent_mutants.txt`.

Words
    killed    a test failed, the module could not be imported, or the time ran out
    survived  all tests passed: a test is missing, or the mutant is equivalent
"""

import argparse
import ast
import copy
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = ROOT / "benchmarks" / "equivalent_mutants.txt"
ARITHMETIC = ("units", "lengths", "padding", "buckets", "packing", "plan._plan", "memory._formula",
              "roofline._formula")  # fmt: skip
# Tests that judge a door beside those that are named after it; without either, all that import it.
TESTS: dict[str, tuple[str, ...]] = {}
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.USub: (ast.UAdd,),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path  # inside the repository
    line: int
    before: str
    after: str
    source: str  # of the whole file, changed

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to("batchlab").with_suffix("").parts)

    @property
    def change(self) -> str:
        return f"{self.before} -> {self.after}"


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, Any]]:
    """(node, field, place in the field if it is a list, new value): every change that is tried."""
    for node in _code(tree):
        match node:
            case ast.Compare(ops=ops):
                for place, op in enumerate(ops):
                    yield from ((node, "ops", place, new()) for new in SWAPS.get(type(op), ()))
            case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
                yield from ((node, "op", None, new()) for new in SWAPS.get(type(op), ()))
            case ast.UnaryOp(op=ast.USub()):
                yield node, "op", None, ast.UAdd()
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield node, "operand", None, ast.UnaryOp(ast.Not(), operand)
            case ast.Constant(value=bool() as value):
                yield node, "value", None, not value
            case ast.Constant(value=int() | float() as value):
                yield from ((node, "value", None, value + step) for step in (1, -1))
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield node, "test", None, ast.UnaryOp(ast.Not(), test)
            case ast.comprehension(ifs=ifs):
                yield from ((node, "ifs", i, ast.UnaryOp(ast.Not(), t)) for i, t in enumerate(ifs))
            case ast.Return(value=ast.expr()):
                yield node, "value", None, ast.Constant(None)
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                yield node, "id", None, NAMES[name]
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
                yield node, "attr", None, NAMES[name]


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, decorators, messages and what is for type checkers only."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            skipped |= {id(child) for child in ast.iter_child_nodes(node)}
            continue
        for field in ("annotation", "returns", "decorator_list"):
            found = getattr(node, field, None)
            skipped |= {id(n) for n in (found if isinstance(found, list) else [found])}
        if isinstance(node, ast.JoinedStr | ast.Raise) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            skipped |= {id(child) for child in ast.iter_child_nodes(node)}
            continue
        yield node


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of its code."""
    tree = ast.parse((ROOT / path).read_text())
    made = []
    for node, field, place, new in changes(tree):
        old, before = getattr(node, field), _shown(node)
        changed = copy.copy(old)
        if place is None:
            changed = new
        else:
            changed[place] = new
        setattr(node, field, changed)
        line = getattr(node, "lineno", getattr(getattr(node, "target", None), "lineno", 0))
        made.append(Mutant(path, line, before, _shown(node), ast.unparse(tree)))
        setattr(node, field, old)
    return sorted(made, key=lambda one: (one.line, one.before, one.after))


def _shown(node: ast.AST) -> str:
    """One line: of a statement with a body, its condition."""
    return " ".join(ast.unparse(getattr(node, "test", node)).split())


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


def run_tests(folder: str, tests: list[str], verdicts: Any) -> None:
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
        "not slow and not browser and not gpu",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]  # of what is loaded already
    verdicts.put(int(pytest.main([*options, *tests])))


def judged(folder: Path, tests: list[str], limit: float | None) -> tuple[str, float]:
    """passed, failed or out of time; and the seconds that it took."""
    context = multiprocessing.get_context("forkserver")
    verdicts = context.SimpleQueue()
    process = context.Process(target=run_tests, args=(str(folder), tests, verdicts))
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


def equivalents() -> dict[tuple[str, str], str]:
    """(module, change) -> why no test can see it."""
    known = {}
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line and not line.startswith("#"):
                module, change, reason = line.split(" | ")
                known[module, change] = reason
    return known


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("modules", nargs="*", default=ARITHMETIC)
    options.add_argument("--sample", type=int, default=30, help="mutants a module (0: all)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    rng, known = random.Random(chosen.seed), equivalents()
    work: list[Mutant] = []
    for path in (path for module in chosen.modules for path in files_of(module)):
        every = mutants(path)
        work += rng.sample(every, min(chosen.sample, len(every))) if chosen.sample else every
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["numpy", "torch", "pytest", "hypothesis", "hypothesis.strategies"]
    )
    with tempfile.TemporaryDirectory() as place:
        folders: queue.Queue[Path] = queue.Queue()
        for job in range(chosen.jobs):
            folders.put(copied(Path(place) / str(job)))
        limits = {}
        for path in dict.fromkeys(one.path for one in work):
            verdict, took = judged(folders.queue[0], tests_of(path), None)
            if verdict != "passed":
                raise SystemExit(f"{path}: its tests fail without any mutant")
            limits[path] = 20 + 5 * took
            print(f"{took:6.1f} s  {' '.join(tests_of(path))}", flush=True)

        def try_one(one: Mutant) -> str:
            folder = folders.get()
            try:
                (folder / one.path).write_text(one.source)
                return judged(folder, tests_of(one.path), limits[one.path])[0]
            finally:
                shutil.copy(ROOT / one.path, folder / one.path)
                folders.put(folder)

        with ThreadPoolExecutor(chosen.jobs) as pool:
            verdicts = list(pool.map(try_one, work))
    _report(work, verdicts, known)


def _report(work: list[Mutant], verdicts: list[str], known: dict[tuple[str, str], str]) -> None:
    kinds = ("failed", "out of time", "equivalent", "passed")
    counts: dict[str, dict[str, int]] = {}
    survivors = []
    for one, verdict in zip(work, verdicts, strict=True):
        if verdict == "passed":
            if (one.module, one.change) in known:
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
        print(f"  {one.path}:{one.line}  {one.change}")


if __name__ == "__main__":
    main()

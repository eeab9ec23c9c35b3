"""Run the tests that a change concerns, nearest first, and no longer than a coffee is hot.

    the working tree against where its branch left main  ->  files of tests whose closure it meets

A test is concerned if it imports a changed file, however indirectly; the fewer imports lie between,
the sooner it runs. A file that is no Python concerns the tests that name it or its folder. What is
not reached within the seconds given is skipped, and counted: `make test` runs all.

    python -m batchlab.authoring.quick --within 30
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from batchlab.authoring import closure

__all__ = ["changed", "concerned", "main"]

EVERYDAY = "not slow and not deep and not browser and not gpu"
ELSEWHERE = {"browser", "gpu"}  # folders of tests/ that need another machine
TREE = 99  # imports away: a test that reads files of the tree, such as every *.py, runs last


def main(arguments: list[str] | None = None) -> int:
    """Run pytest on the files that are concerned; its exit code, 0 where nothing is."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.quick")
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--base", default="main", help="the branch that this one left")
    parser.add_argument("--within", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--list", action="store_true", help="print the files, run nothing")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    news = changed(root, options.base)
    files = [str(path.relative_to(root)) for path in concerned(root, news)]
    if options.list or not files:
        print("\n".join(files) if files else f"{len(news)} files changed; no test runs them")
        return 0
    print(f"{len(news)} files changed; {len(files)} files of tests run them", flush=True)
    words = ["-m", EVERYDAY, "-rs", "-n", "auto", "--maxprocesses", "4", "--dist", "load"]
    command = [sys.executable, "-m", "pytest", *words, "--within", str(options.within)]
    return subprocess.run([*command, *files], cwd=root).returncode


def changed(root: Path, base: str = "main") -> list[Path]:
    """Files that are not as they were where this branch left `base`: committed, staged, or new."""
    try:
        left = _git(root, "merge-base", "HEAD", base).strip()
    except subprocess.CalledProcessError:  # a clone of one branch
        left = "HEAD"
    names = [
        *_git(root, "diff", "--name-only", "-z", left).split("\0"),
        *_git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0"),
    ]
    return [root / name for name in dict.fromkeys(names) if name]


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def concerned(root: Path, news: Iterable[Path]) -> list[Path]:
    """Files of tests and of doctests that run a changed file or name it, nearest first."""
    root, touched = root.resolve(), {path.resolve() for path in news}
    found = {}
    for path in sorted([*root.glob("tests/**/test_*.py"), *root.glob("batchlab/**/*.py")]):
        if ELSEWHERE & set(path.relative_to(root).parts):
            continue
        text = path.read_text(encoding="utf-8")
        if path.name.startswith("test_") or ">>> " in text:
            met = [far for one, far in closure.distances(root, [path]).items() if one in touched]
            met += [TREE for one in touched if re.search(_mention(root, one), text)]
            if met and (path in touched or "tests" in path.parts or min(met) < TREE):
                found[path] = min(met)
    return sorted(found, key=lambda path: (found[path], path))


def _mention(root: Path, path: Path) -> str:
    """How a test names a file that it reads: its name, its folder, or the pattern of its kind."""
    inside = path.relative_to(root).parts
    folder = re.escape(inside[0])
    named = [rf"\*{re.escape(path.suffix)}\b"] if path.suffix == ".py" else [re.escape(path.name)]
    if len(inside) > 1 and path.suffix != ".py":
        named += [rf"\b{folder}/", rf"\"{folder}\""]
    return "|".join(named)


if __name__ == "__main__":
    sys.exit(main())

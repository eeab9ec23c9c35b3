"""What a file runs: its import closure, read from the text of files and never by importing them.

    files of the project  ->  all that they import, at any depth  ->  one fingerprint of it

What a page shows, what became of its checks, which tests a change concerns all follow from the same
graph. An import inside a function counts as one at the top, one for type checkers alone does not.
A module that is named in a text (`python -m batchlab.cli`, the code of an answer) counts as well:
too much is run again sometimes, too little never.

Words
    closure   the files themselves, and every file of the project that running them can read as code
    data      files of batchlab/ that are no Python: they belong to every closure with its code
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import batchlab

__all__ = ["closure", "distances", "fingerprint"]

LIBRARY = Path(batchlab.__file__).parents[1]  # of a course folder without a library of its own
PACKAGES = ("batchlab", "tests", "benchmarks")  # folders of the project that are imported from
PLACE = rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)*"
FROM = re.compile(rf"\bfrom\s+({PLACE})\s+import\s+(?:\(([^)]*)\)|([\w, ]+))")
DOTTED = re.compile(rf"{PLACE}\.?")
JUDGED = re.compile(r"\bcheck\.judge\(\"(\w+)/")  # a check cell runs the exercises of its lesson
LINE = re.compile(r"^\{exercise\} ", re.MULTILINE)  # and so does the line that stands for it
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.) (?P<code>.*)$", re.MULTILINE)


def closure(root: Path, files: Iterable[Path]) -> frozenset[Path]:
    """The files, and every file below `root` that they import at any depth.

    Python files, notebooks (.ipynb) and pages (.md) are read; other files import nothing.
    SyntaxError names a Python file that cannot be read.
    """
    return frozenset(distances(root, files))


def distances(root: Path, files: Iterable[Path]) -> dict[Path, int]:
    """Each file of the closure, with the number of imports that lead to it: 0 for the given ones.

    >>> here = Path(__file__).parents[2]
    >>> found = distances(here, [here / "batchlab/counts.py"])
    >>> {path.name: far for path, far in found.items()}
    {'counts.py': 0, '__init__.py': 1}
    """
    root = root.resolve()
    found = {path.resolve(): 0 for path in files}
    layer = list(found)
    while layer:
        following = [other for path in layer for other in _imports(root, path, _stamp(path))]
        far = found[layer[0]] + 1
        layer = [path for path in dict.fromkeys(following) if path not in found]
        found.update(dict.fromkeys(layer, far))
    return found


def fingerprint(root: Path, files: Iterable[Path], *more: str) -> str:
    """16 hexadecimal digits of all that running these files depends on.

    That is: their closure, the data of batchlab/, Python, what is installed, and the texts `more`,
    such as a seed. A change anywhere else leaves it as it is.
    """
    root = root.resolve()
    seen = hashlib.sha256()
    for path in sorted(closure(root, files) | _data(root)):
        if path.is_file():
            home = root if path.is_relative_to(root) else LIBRARY
            seen.update(f"{path.relative_to(home)}\0".encode() + path.read_bytes() + b"\0")
    for text in (sys.version, *_installed(), *more):
        seen.update(f"{text}\0".encode())
    return seen.hexdigest()[:16]


@cache
def _installed() -> list[str]:
    """Names and versions, read once: what is installed stays while a process lives."""
    told = (one.metadata for one in distributions())
    return sorted({f"{one['Name']}={one['Version']}" for one in told})


def _data(root: Path) -> set[Path]:
    """Records, scripts and texts that ship with the library; a test of `records` reads them."""
    home = root if (root / "batchlab").is_dir() else LIBRARY
    found = (path for path in (home / "batchlab").rglob("*") if path.is_file())
    return {path for path in found if path.suffix != ".py" and "__pycache__" not in path.parts}


def _stamp(path: Path) -> tuple[int, int]:
    """Of a file that changes while this process lives: what was read of it is then read again."""
    try:
        seen = path.stat()
    except OSError:
        return 0, 0
    return seen.st_mtime_ns, seen.st_size


@cache
def _imports(root: Path, path: Path, stamp: tuple[int, int]) -> tuple[Path, ...]:
    """The files of the project that one file names in an import, and those loaded with it."""
    if stamp == (0, 0) or path.suffix not in {".py", ".ipynb", ".md"}:
        return ()
    package = path.relative_to(root if path.is_relative_to(root) else LIBRARY).parts[:-1]
    names = {*_names(path, package)}
    if path.suffix == ".py":  # its packages come first, and pytest's conftest beside a test
        names |= {".".join([*package[:many], "conftest"]) for many in range(1, len(package) + 1)}
    found = {other for name in names for other in _files(root, name)}
    return tuple(sorted(found - {path}))


def _files(root: Path, name: str) -> Iterator[Path]:
    """The files that a dotted name runs; of an open one, such as "batchlab.cli.", all that fit."""
    parts = name.split(".")
    if parts[0] == "batchlab" and not (root / "batchlab").is_dir():
        root = LIBRARY
    for many in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:many])
        yield from (one for one in (place / "__init__.py", Path(f"{place}.py")) if one.is_file())
    if name.endswith((".", "_")):
        yield from root.joinpath(*parts[:-1]).glob(f"{parts[-1]}*.py")


def _names(path: Path, package: tuple[str, ...]) -> Iterator[str]:
    """Dotted names of all that a file imports: `from batchlab import units` has both."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from _told("\n".join(CELL.findall(text)))
        if LINE.search(text):
            yield f"batchlab.exercises.{path.stem}."
    elif path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        yield from _told("\n".join("".join(one["source"]) for one in cells))
    else:
        if "exercises.folders()" in text:  # it runs the exercises of every lesson
            homes = sorted(LIBRARY.glob("batchlab/exercises/*/__init__.py"))
            yield from (f"batchlab.exercises.{one.parent.name}." for one in homes)
        nodes = [*_running(ast.parse(text, str(path)))]
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            yield from _imported(node, package)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                shown = id(node) in prose
                yield from _told("\n".join(PROMPT.findall(node.value)) if shown else node.value)


def _imported(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        around = package[: len(package) - node.level + 1] if node.level else ()
        source = ".".join([*around, *filter(None, [node.module])])
        yield from (f"{source}.{one.name}" for one in node.names)


def _told(text: str) -> Iterator[str]:
    """Names in a text that may be run: an import, or a dotted name."""
    if not any(one in text for one in (*PACKAGES, "check.judge")):
        return
    for one in FROM.finditer(text):
        yield from (f"{one[1]}.{name}" for name in re.findall(r"\w+", one[2] or one[3]))
    yield from DOTTED.findall(text)
    yield from (f"batchlab.exercises.{topic}." for topic in JUDGED.findall(text))


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    left = [tree]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            yield node
            left.append(node)

"""What a grade follows from beside the submission: known without starting an engine.

    a lesson, this library  ->  a fingerprint; the versions of what it runs on

A class is graded again where its lesson changed, a file of this library that the lesson's cells or
its checks lead to, a version of Python or a package, or the engine's REVISION. Other changes of
this library leave every record as it is.
"""

import ast
import functools
import hashlib
import json
import platform
import re
from importlib import metadata
from pathlib import Path

import batchlab
from batchlab.grading._lesson import Lesson

__all__ = ["REVISION", "checks", "environment", "reached"]

REVISION = 9  # of the engine: one more where a verdict, points or a message may differ
PACKAGES = ("numpy", "torch", "transformers")
APART = ("grading", "plots", "widgets")  # the engine has its REVISION; a drawing is no value
HOME = Path(batchlab.__file__).parent
JUDGED = re.compile(r"check\.judge\(\"(\w+/[\w-]+)\"")
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)


def checks(lesson: Lesson) -> str:
    """The fingerprint of a lesson's cells, of the library behind them and of the engine."""
    sources = [one["source"] for one in lesson.cells] + [one.source for one in lesson.questions]
    marks = {name: _mark(HOME / name) for name in reached(sources)}
    text = json.dumps([lesson.released, marks, REVISION], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def environment() -> dict[str, str]:
    """What a grade may depend on beside the code: versions and the machine."""
    found = {"batchlab": batchlab.__version__, "python": platform.python_version()}
    found["machine"] = platform.machine()
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = ""
    return found


def reached(sources: list[str]) -> tuple[str, ...]:
    """Files of this library that some code leads to by its imports, but those APART.

    >>> reached(["from batchlab import units"])
    ('__init__.py', 'units.py')
    """
    found: set[str] = set()
    todo = {name for source in sources for name in _imports(source)}
    while todo:
        module = todo.pop()
        for file in _files(module) - found:
            found.add(file)
            todo |= _imports_of(HOME / file)
    return tuple(sorted(found))


def _files(module: str) -> set[str]:
    """The files that are read where a module of this library is imported; none for a name in it."""
    parts = module.split(".")[1:]
    if parts[:1] and parts[0] in APART:
        return set()
    found = {"__init__.py"}
    for size in range(1, len(parts) + 1):
        path = "/".join(parts[:size])
        found |= {one for one in (f"{path}.py", f"{path}/__init__.py") if (HOME / one).is_file()}
    return found


def _imports(source: str) -> set[str]:
    """Modules of this library that some code imports, with names that may be modules or not."""
    found: set[str] = set()
    for module, names, plain in IMPORT.findall(source):
        found |= {one.split()[0] for one in plain.split(",") if one.strip()}
        if module:
            parts = (one.split() for one in names.strip("()").split(","))
            found |= {module, *(f"{module}.{one[0]}" for one in parts if one)}
    judged = (f"batchlab.exercises.{one.replace('/', '.')}" for one in JUDGED.findall(source))
    found |= {one.replace("-", "_") for one in judged}
    return {one for one in found if one.split(".")[0] == "batchlab"}


@functools.cache
def _imports_of(path: Path) -> set[str]:
    """The same of a file of the library, whose docstrings show imports that it does not make."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    made = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
    here = ("batchlab", *path.relative_to(HOME).with_suffix("").parts)
    for node in made:
        if isinstance(node, ast.ImportFrom) and node.level:
            node.module = ".".join([*here[: len(here) - node.level], *filter(None, [node.module])])
            node.level = 0
    return _imports("\n".join(ast.unparse(node) for node in made))


@functools.cache
def _mark(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

"""The files of a source tree, and what each of them imports: at import and inside functions.

a folder of Python files  ->  their trees  ->  files and libraries that each one uses
"""

import ast
import functools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path


class House:
    """A tree of files, named like `packing._pack`, a face like `packing`.

    top, inside       files that each one imports at import, and in functions
    libraries, later  packages from outside, likewise
    """

    def __init__(self, path: Path) -> None:
        self.paths: dict[str, Path] = {}
        for file in sorted(path.rglob("*.py")):
            parts = file.relative_to(path).with_suffix("").parts
            self.paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
        self.trees = {n: ast.parse(file.read_text("utf-8")) for n, file in self.paths.items()}
        self.top: defaultdict[str, set[str]] = defaultdict(set)
        self.inside: defaultdict[str, set[str]] = defaultdict(set)
        self.libraries: defaultdict[str, set[str]] = defaultdict(set)
        self.later: defaultdict[str, set[str]] = defaultdict(set)
        for name, tree in self.trees.items():
            for used, deeper in imports(tree):
                package, _, rest = used.partition(".")
                if package == "batchlab":
                    one = rest if rest in self.trees else rest.rpartition(".")[0] or rest
                    (self.inside if deeper else self.top)[name].add(one)
                elif package not in sys.stdlib_module_names:
                    (self.later if deeper else self.libraries)[name].add(package)

    def arrives(self, name: str) -> set[str]:
        """Libraries that are loaded where a file is imported, with the faces on its way."""
        loaded = closure(name, lambda one: self.top[one] | {one.rpartition(".")[0]})
        return set().union(*(self.libraries[one] for one in {name} | loaded))


@functools.cache
def library() -> House:
    """The house of the library: read once, by all who ask."""
    return House(Path(__file__).parent.parent / "batchlab")


def imports(tree: ast.AST, *, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Every imported name with its module, and whether a function does it; no type-only ones."""
    typed = isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test)
    for node in tree.orelse if typed else ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # imports are statements
            continue
        deeper = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(node, ast.Import):
            yield from ((alias.name, deeper) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from ((f"{start}.{alias.name}", deeper) for alias in node.names)
        yield from imports(node, inside=deeper)


def closure(start: str, edges: Callable[[str], set[str]]) -> set[str]:
    """All that is reached from a name by one step or more."""
    found: set[str] = set()
    todo = [start]
    while todo:
        new = edges(todo.pop()) - found
        found |= new
        todo += new
    return found

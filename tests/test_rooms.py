"""Every file knows its room: what each one may import is written here.

Reading down, a file imports only from files above it. Torch is a corridor in the middle: what can
be decided by arithmetic is decided before it, and everything after it reads records. An import
inside a function counts like one at the top; one for type checkers only is free.

Words
    door     a name that others import: a file, or a package of the same name
    face     the `__init__` of a package: names handed on, no code of its own
    private  a file `_like_this` behind a door; nobody outside the door imports it
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import batchlab

HOUSE = Path(batchlab.__file__).parent

# file: "files that it uses, ~ inside functions | libraries at import | libraries inside functions"
ROOMS = {
    "": "||",
    "units": "||",
    "counts": "|| torch",  # what a micro-batch holds; a record of it needs no torch
    # paper: numpy at most
    "reading": "||",
    "lengths": "reading units | numpy |",
    "padding": "lengths units | numpy |",
    "buckets": "lengths padding units | numpy |",
    "packing._fit_rules": "| numpy |",
    "packing._pack": "lengths packing._fit_rules units | numpy |",
    "packing._stream": "lengths packing._pack units | numpy |",
    "packing": "packing._pack packing._stream ||",
    "plan._plan": "units ||",
    "plan._settings": "plan._plan reading units ||",
    "plan._formats": "plan._plan plan._settings ||",
    "plan._meshes": "plan._formats plan._plan plan._settings ||",
    "plan._rollouts": "plan._formats plan._meshes plan._plan plan._settings ||",
    "plan._text": "plan._settings reading || yaml",
    "plan._launch": "plan._formats plan._meshes plan._rollouts plan._settings plan._text ||",
    "plan": "plan._launch plan._plan ||",
    "memory._formula": "plan units ||",
    "memory": "memory._formula ||",
    "roofline._formula": "memory units ||",
    "roofline": "roofline._formula ||",
    "records._cell": "counts ||",
    "records._environment": "records._cell ||",
    "records._schema": "counts records._cell ||",
    "records._file": "reading records._cell records._schema ||",
    "records": "records._cell records._environment records._file records._schema ||",
    "data._corpus": "counts | numpy | datasets tokenizers",
    "data._columns": "data._corpus reading | numpy |",
    "data._tokens": "data._columns data._corpus | numpy | transformers",
    "data._files": "reading || pyarrow",
    "data._documents": "data._columns data._files data._tokens reading | numpy |",
    "data._load": "data._columns data._corpus data._documents data._files data._tokens || "
    "datasets tqdm",
    "data": "data._corpus data._load ||",
    # the corridor: torch
    "model": "|| torch transformers",
    "timing": "|| torch",
    "attention._backends": "| torch | flash_attn",
    "attention._varlen": "attention._backends counts model | torch | transformers",
    "attention": "attention._varlen ||",
    "batches": "counts lengths | numpy torch |",
    "loader": "batches counts lengths packing | torch |",
    "loop._forward": "counts model | torch |",
    "loop._gradients": "| torch |",
    "loop._step": "counts loop._forward loop._gradients | torch |",
    "loop": "loop._step ||",
    "roofline.device": "records roofline._formula timing units | torch |",
    "memory.limits": "| torch |",
    "memory._counter": "| torch |",
    "memory._storages": "| torch |",
    "memory._journal": "records ||",
    "memory._layers": "||",
    "memory.trace": "loop memory._counter memory._layers memory._storages ~model units | torch | "
    "transformers",
    "memory._forecast": "memory.trace ||",
    "memory._rehearsal": "loop memory._counter memory.limits memory.trace | torch |",
    "memory.fit": "batches lengths memory._counter memory._forecast memory._journal "
    "memory._rehearsal model plan units | torch |",
    "stopwatch": "counts loop model records timing | torch |",
    "sweep": "batches counts lengths memory.limits model records stopwatch | numpy | torch",
    "monitor._recorder": "counts model records timing | torch |",
    "monitor._watch": "monitor._recorder | torch | transformers",
    "monitor": "monitor._watch ||",
    # evidence: no torch once it is measured
    "doctor.prices": "records | numpy |",
    "doctor._diagnosis": "doctor.prices records ||",
    "doctor": "doctor._diagnosis ||",
    "doctor.throughput": "doctor._diagnosis doctor.prices records roofline ||",
    "plots._canvas": "units | matplotlib |",
    "plots._memory": "plots._canvas units | matplotlib numpy |",
    "plots._predicted": "plots._canvas | matplotlib numpy |",
    "plots._series": "plots._canvas units | matplotlib numpy |",
    "plots._slots": "packing padding plots._canvas units | matplotlib numpy |",
    "plots._speed": "plots._canvas units | matplotlib numpy |",
    "plots._waste": "padding plots._canvas units | matplotlib numpy |",
    "plots._dots": "plots._canvas | matplotlib |",
    "plots": "plots._canvas plots._dots plots._memory plots._predicted plots._series plots._slots "
    "plots._speed plots._waste ||",
    "report._tables": "padding units ||",
    "report": "report._tables ||",
    "report.figures": "data doctor doctor.throughput ~memory.trace ~model ~plots ||",
    "widgets._scripted": "|| anywidget traitlets",
    "widgets._sliders": "widgets._scripted ||",
    "widgets._explorers": "packing padding plan units widgets._sliders | numpy |",
    "widgets": "widgets._explorers widgets._scripted ||",
    # the command line
    "cli._answer": "||",
    "cli._progress": "|| tqdm",
    "cli.options": "packing records units || torch",
    "cli._source": "~data lengths ~model reading | numpy |",
    "cli._measuring": "~attention cli._progress cli._source cli.options ~data ~model records "
    "~sweep ||",
    "cli.doctor": "cli._answer cli._measuring cli.options doctor doctor.prices ~plots records "
    "report ~sweep ||",
    "cli.fit": "cli._answer cli._progress cli._source cli.options ~data ~memory.fit ~model report "
    "units ||",
    "cli.memory": "cli._answer cli.options ~memory.trace ~plots report units || transformers",
    "cli.pack": "cli._answer cli._source cli.options packing padding ~plots report units | numpy |",
    "cli.padding": "cli._answer cli._source cli.options lengths padding ~plots report units | "
    "numpy |",
    "cli.plan": "cli._answer cli._source cli.options packing padding plan report units | numpy |",
    "cli.report": "cli._answer cli._measuring cli.options data doctor.throughput records report "
    "report.figures ~sweep units ||",
    "cli.sweep": "cli._answer cli._measuring cli.options doctor.throughput records report ~sweep "
    "||",
    "cli._main": "cli._answer cli.options ~plots ||",  # a verb is imported when it is asked for
    "cli": "cli._main ||",
    "__main__": "cli ||",
    # the classroom: what runs in a learner's notebook
    "classroom.showing": "| numpy |",
    "classroom.plain": "classroom.showing | numpy |",
    "classroom.verdict": "classroom.plain ||",
    "classroom.copies": "classroom.showing | numpy |",
    "classroom.behaviour": "classroom.copies classroom.plain classroom.showing classroom.verdict "
    "||",
    "classroom.planted": "classroom.behaviour classroom.copies classroom.plain classroom.verdict "
    "||",
    "classroom.values": "classroom.plain classroom.showing classroom.verdict | numpy |",
    "classroom.items": "classroom.plain classroom.showing classroom.values classroom.verdict | "
    "numpy |",
    "classroom.check": "classroom.behaviour classroom.items classroom.planted classroom.values "
    "classroom.verdict | numpy |",
    "classroom.opening": "||",
    "classroom.predict": "classroom.opening classroom.plain classroom.showing ||",
    "classroom.quiz": "widgets ||",
    "classroom": "classroom.opening ||",
    "classroom.probes._load": "||",
    "classroom.probes": "classroom.probes._load ||",
    "classroom.probes.orders_03": "batches data loop model padding | numpy torch |",
    "classroom.probes.attempt": "||",
    "classroom.probes.lesson_03": "classroom.probes.attempt classroom.probes.orders_03 padding "
    "units widgets | numpy torch |",
    "classroom.probes.lesson_04_collator": "batches model packing | numpy torch |",
    "classroom.probes.lesson_04": "attention batches classroom.probes.attempt "
    "classroom.probes.lesson_04_collator loop model packing widgets | numpy torch |",
    "classroom.probes.bigram": "counts | torch |",
    "classroom.probes.collators": "counts | torch |",
    "classroom.probes.recipes": "classroom.probes.bigram loop | torch |",
    "classroom.probes.watch": "classroom.probes.bigram | torch |",
    "classroom.probes.ranks": "classroom.probes.bigram classroom.probes.watch loop | torch |",
    "classroom.probes.lesson_05": "classroom.probes.attempt classroom.probes.bigram "
    "classroom.probes.collators classroom.probes.ranks classroom.probes.recipes "
    "classroom.probes.watch data loop widgets | numpy |",
    "classroom.mine": "classroom.opening classroom.showing ||",
    "classroom.probes.lesson_06": "classroom.behaviour classroom.probes.attempt packing widgets ||",
    "classroom.probes.lesson_01": "classroom.probes.attempt units widgets | numpy torch |",
    "classroom.probes.lesson_02": "classroom.probes.attempt classroom.probes.collators lengths "
    "padding units widgets | numpy |",
    "authoring": "||",
    "authoring.conventions": "||",
    "authoring.forks": "||",
    "authoring.prose": "||",
    "authoring.sources": "authoring.conventions authoring.prose || jupytext nbformat nbgrader "
    "traitlets",
    "authoring.trial": "authoring.conventions authoring.forks ||",
    "authoring.matrix": "authoring.trial ||",
    "authoring.seeds": "authoring.forks authoring.trial ~classroom.check ||",
}
LIGHT_AT_IMPORT = {"torch", "transformers", "datasets", "matplotlib", "ipywidgets", "anywidget"}


def name_of(path: Path) -> str:
    """`packing._pack` for batchlab/packing/_pack.py, `packing` for its face."""
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(HOUSE.rglob("*.py"))}


def room_of(name: str) -> tuple[set[str], set[str], set[str]]:
    ours, libraries, inside = (set(part.split()) for part in ROOMS[name].split("|"))
    return ours, libraries, inside


def uses_of(name: str) -> set[str]:
    return {used.removeprefix("~") for used in room_of(name)[0]}


def imports(tree: ast.AST, *, in_function: bool = False) -> Iterator[tuple[str, bool]]:
    """Every imported name with its module, and whether a function does it; no type-only ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        deeper = in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        if isinstance(node, ast.Import):
            yield from ((alias.name, deeper) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they enter"
            yield from ((f"{node.module}.{alias.name}", deeper) for alias in node.names)
        yield from imports(node, in_function=deeper)


def found_in(tree: ast.AST) -> tuple[set[str], set[str], set[str]]:
    """Files of batchlab, libraries at import, libraries inside functions."""
    ours, later, at_import, inside = set(), set(), set(), set()
    for name, deeper in imports(tree):
        package, _, rest = name.partition(".")
        if package == "batchlab":
            file = rest if rest in FILES else rest.rpartition(".")[0]
            (later if deeper else ours).add(file)
        elif package not in sys.stdlib_module_names:
            (inside if deeper else at_import).add(package)
    uses = ours | {f"~{file}" for file in later - ours}
    return uses - {"", "~"}, at_import, inside - at_import


@pytest.mark.parametrize("name", FILES)
def test_a_file_imports_exactly_what_its_room_says(name):
    assert found_in(ast.parse(FILES[name].read_text(encoding="utf-8"))) == room_of(name)


def test_the_house_has_no_stairs_leading_up():
    above: set[str] = set()
    for name in ROOMS:
        up = uses_of(name) - above
        assert not up, f"{name} imports from below itself: {sorted(up)}"
        above.add(name)


def test_every_file_stands_in_the_table():
    assert set(ROOMS) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_nobody_opens_a_private_file_of_another_door_or_asks_its_own_face(name):
    own = name.split(".")[0]
    for used in uses_of(name):
        door, _, rest = used.partition(".")
        assert door == own or not rest.startswith("_"), f"{used} is private to {door}"
        assert used != own or "." not in name, f"{name} stands behind {own}: ask a sibling"


@pytest.mark.parametrize("name", [name for name, path in FILES.items() if path.stem == "__init__"])
def test_a_face_hands_on_names_and_has_no_code(name):
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    if name:
        kinds = ast.Expr | ast.ImportFrom | ast.Assign
        assert all(isinstance(node, kinds) for node in tree.body), "a face holds no code"


def test_the_library_never_imports_what_teaches():
    teaches = ("classroom", "authoring", "grading")
    for name in ROOMS:
        if not name.startswith(teaches):
            assert not any(used.startswith(teaches) for used in uses_of(name)), name


def test_the_judge_of_this_table_sees_an_import_inside_a_function_and_not_one_for_types():
    """The mistake beside the law: a hidden import is an import."""
    hidden = "def f():\n    import torch\n    from batchlab import loop"
    assert found_in(ast.parse(hidden)) == ({"~loop"}, set(), {"torch"})
    typed = "if TYPE_CHECKING:\n    import torch\nfrom batchlab.packing import pack, _pack"
    assert found_in(ast.parse(typed)) == ({"packing", "packing._pack"}, set(), set())


def loaded_with(name: str, seen: set[str]) -> set[str]:
    """Libraries that arrive when a file is imported, by the table."""
    if name in seen:
        return set()
    seen.add(name)
    ours, libraries, _ = room_of(name)
    at_import = [used for used in ours if not used.startswith("~")]
    return libraries.union(*(loaded_with(used, seen) for used in at_import))


ARITHMETIC = [
    name for name in ROOMS if name != "__main__" and loaded_with(name, set()) <= {"numpy"}
]


def test_the_arithmetic_rooms_never_load_torch():
    """Judged by Python itself, in a fresh process: neither torch nor a drawing library arrives."""
    assert {"packing", "plan", "memory", "doctor.throughput", "cli", "report"} <= set(ARITHMETIC)
    code = (
        f"import importlib, sys\n"
        f"for room in {ARITHMETIC!r}: importlib.import_module(('batchlab.' + room).rstrip('.'))\n"
        f"print(sorted({LIGHT_AT_IMPORT!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_batchlab_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import batchlab; "
    code += "print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['batchlab']"


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_it_is_and_stays_readable(name):
    source = FILES[name].read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "a file opens with its subject"
    assert len(source.splitlines()) <= 320, "about 250 lines a file: split the subject"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            docstring = len((ast.get_docstring(node) or "").splitlines())
            length = (node.end_lineno or 0) - node.lineno + 1 - docstring
            assert length <= 60, f"{node.name}: {length} lines of code; about 40 fit a screen"

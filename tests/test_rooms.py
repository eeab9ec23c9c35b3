"""Every module knows its room: what each one may import is written here.

Reading down, a module imports only from modules above it. Torch is a corridor in the middle:
what can be decided by arithmetic is decided before it, and everything after it reads records.
An import inside a function counts like one at the top; what must stay *inside* functions (heavy
libraries behind a door that usually does not need them) stands in LAZY.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import batchlab

ROOMS = {
    # module: (modules of batchlab, libraries)
    "units": (set(), set()),
    "reading": (set(), set()),
    "lengths": ({"reading"}, {"numpy"}),
    "padding": ({"lengths"}, {"numpy"}),
    "blocks": (set(), {"numpy"}),
    "buckets": ({"lengths", "padding"}, {"numpy"}),
    "packing": ({"blocks", "lengths"}, {"numpy"}),
    "streaming": ({"packing"}, {"numpy"}),
    "plan": ({"units", "launch", "launch_text"}, set()),
    "launch_settings": ({"plan", "reading", "units"}, set()),
    "launch_text": ({"launch_settings", "reading"}, {"yaml"}),
    "launch_formats": ({"launch_settings", "plan"}, set()),
    "launch_meshes": ({"launch_formats", "launch_settings", "plan"}, set()),
    "launch_rollouts": ({"launch_formats", "launch_meshes", "launch_settings", "plan"}, set()),
    "launch": (
        {"launch_formats", "launch_meshes", "launch_rollouts", "launch_settings", "launch_text"},
        set(),
    ),
    "memory": ({"plan", "units"}, set()),
    "roofline": ({"memory"}, set()),
    "records": ({"reading"}, set()),
    "stepcost": ({"records"}, {"numpy"}),
    "doctor": ({"records", "stepcost"}, set()),
    "throughput": ({"doctor", "records", "roofline", "stepcost"}, set()),
    "report": ({"padding", "units"}, set()),
    "corpus": (set(), {"numpy", "tokenizers", "datasets"}),
    "data_files": ({"reading"}, {"pyarrow"}),
    "data_columns": ({"corpus", "reading"}, {"numpy"}),
    "data_tokens": ({"corpus", "data_columns"}, {"numpy", "transformers"}),
    "data_documents": ({"data_columns", "data_files", "data_tokens", "reading"}, {"numpy"}),
    "data": (
        {"corpus", "data_columns", "data_documents", "data_files", "data_tokens"},
        {"datasets", "tqdm"},
    ),
    "families": (set(), set()),
    "model": ({"families"}, {"torch", "transformers"}),
    "backends": (set(), {"torch", "flash_attn"}),
    "attention": ({"backends", "families"}, {"torch", "transformers"}),
    "batches": (set(), {"numpy", "torch"}),
    "calling": ({"families"}, {"torch"}),
    "gradients": (set(), {"torch"}),
    "loop": ({"calling", "gradients"}, {"torch"}),
    "loader": ({"batches", "streaming"}, {"torch"}),
    "storages": (set(), {"torch"}),
    "counter": (set(), {"torch"}),
    "timing": (set(), set()),
    "device": ({"records", "roofline", "timing", "units"}, {"torch"}),
    "trace": ({"counter", "fit", "loop", "model", "storages", "units"}, {"torch", "transformers"}),
    "stopwatch": ({"loop"}, {"torch"}),
    "journal": ({"records"}, set()),
    "forecast": ({"trace"}, {"torch"}),
    "rehearsal": ({"counter", "loop", "stopwatch", "trace"}, {"torch"}),
    "fit": (
        {"batches", "counter", "forecast", "journal", "model", "plan", "rehearsal", "units"},
        {"torch"},
    ),
    "sweep": ({"batches", "model", "records", "stopwatch"}, {"numpy", "torch"}),
    "recorder": ({"model", "records", "stopwatch"}, {"torch"}),
    "monitor": ({"recorder"}, {"torch", "transformers"}),
    "canvas": (set(), {"matplotlib", "IPython"}),
    "pictures": ({"canvas", "packing", "padding", "units"}, {"matplotlib", "numpy"}),
    "charts": ({"canvas", "units"}, {"matplotlib", "numpy"}),
    "findings": ({"canvas", "charts", "units"}, {"matplotlib", "numpy"}),
    "plots": (
        {"canvas", "charts", "findings", "padding", "pictures", "units"},
        {"matplotlib", "numpy"},
    ),
    "dialects": (set(), {"anywidget", "traitlets"}),
    "sliders": ({"dialects"}, set()),
    "widgets": ({"lengths", "packing", "padding", "plan", "sliders", "units"}, {"numpy"}),
    "cli": ({"commands", "plots"}, set()),  # each verb imports what it calls, inside
}
# Heavy libraries behind a door that usually does not need them stay inside functions.
LAZY = {
    "launch_text": {"yaml"},
    "corpus": {"tokenizers", "datasets"},
    "data_files": {"pyarrow"},
    "data_tokens": {"transformers"},
    "data": {"datasets", "tqdm"},
    "model": {"torch", "transformers"},
    "attention": {"transformers"},
    "backends": {"flash_attn"},
    "monitor": {"transformers"},
    "trace": {"transformers"},
    "dialects": {"anywidget", "traitlets"},
}
# Doors that lead up, opened only when they are called: where people look for them.
UPWARD = {("plan", "launch"), ("plan", "launch_text"), ("trace", "fit")}

HOUSE = Path(batchlab.__file__).parent
MODULES = sorted(path for path in HOUSE.glob("*.py") if path.stem != "__init__")
CLASSROOM = sorted(HOUSE.glob("classroom/**/*.py"))
LIGHT_AT_IMPORT = {"torch", "transformers", "datasets", "matplotlib", "ipywidgets", "anywidget"}


def imported_names(tree: ast.AST) -> set[str]:
    """`batchlab.x` as "batchlab.x", any other import as its top-level package."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they enter"
            if node.module == "batchlab":
                names |= {f"batchlab.{alias.name}" for alias in node.names}
            else:
                names.add(node.module)
    return {".".join(n.split(".")[: 2 if n.startswith("batchlab.") else 1]) for n in names}


def foreign(names: set[str]) -> set[str]:
    return names - set(sys.stdlib_module_names) - {"__future__"}


def imported_at_the_top(tree: ast.Module) -> set[str]:
    """Imports that run when the module is imported: not in functions, not for type checkers."""
    top = [
        node
        for node in tree.body
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    return imported_names(ast.Module(body=top, type_ignores=[]))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_only_what_its_room_allows(path):
    ours, libraries = ROOMS[path.stem]
    names = foreign(imported_names(ast.parse(path.read_text())))
    assert names - {f"batchlab.{room}" for room in ours} - libraries - {"batchlab"} == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_lazy_libraries_wait_inside_functions(path):
    at_the_top = imported_at_the_top(ast.parse(path.read_text()))
    assert at_the_top & LAZY.get(path.stem, set()) == set()


def test_the_house_has_no_stairs_leading_up():
    above = {"commands"}  # the verbs, which belong to the command line
    for module, (ours, _) in ROOMS.items():
        up = {room for room in ours if (module, room) not in UPWARD} - above
        assert not up, f"{module} imports from below itself: {sorted(up)}"
        above.add(module)


def test_every_room_in_the_table_exists_and_the_library_never_imports_the_classroom():
    assert set(ROOMS) == {path.stem for path in MODULES}
    for path in MODULES:
        if path.stem not in {"cli"}:
            assert "batchlab.classroom" not in imported_names(ast.parse(path.read_text())), path


def test_the_judge_of_this_table_sees_an_import_inside_a_function():
    """The mistake beside the law: a hidden import is an import."""
    tree = ast.parse("def f():\n    import torch\n    from batchlab import loop")
    assert imported_names(tree) == {"torch", "batchlab.loop"}
    assert imported_at_the_top(tree) == set()


ARITHMETIC = [
    room
    for room, (_, libraries) in ROOMS.items()
    if libraries - LAZY.get(room, set()) <= {"numpy"} and room != "cli"
]


def test_the_arithmetic_rooms_never_load_torch():
    """Judged by Python itself, in a fresh process: neither torch nor a drawing library arrives."""
    code = (
        f"import importlib, sys\n"
        f"for room in {ARITHMETIC!r}: importlib.import_module('batchlab.' + room)\n"
        f"print(sorted({LIGHT_AT_IMPORT!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_batchlab_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import batchlab; "
    code += "print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['batchlab']"


@pytest.mark.parametrize("path", [*MODULES, *CLASSROOM], ids=lambda path: path.stem)
def test_a_module_says_what_it_is_and_stays_readable(path):
    source = path.read_text()
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "a module opens with its subject"
    assert len(source.splitlines()) <= 320, "about 250 lines a module: split the subject"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            docstring = len((ast.get_docstring(node) or "").splitlines())
            length = (node.end_lineno or 0) - node.lineno + 1 - docstring
            assert length <= 60, f"{node.name}: {length} lines of code; about 40 fit a screen"

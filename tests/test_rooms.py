"""Every door knows its room: what stands behind each one may import is written here, a line a door.

Reading down, a door uses only doors above it. Torch is a corridor in the middle: what can be
decided by arithmetic is decided before it, and everything after it reads records. What teaches
stands below the library. An import for type checkers only is free.

Words
    door     a name that others import: a file, or a package with all that stands behind it
    face     the `__init__` of a package: names handed on, no code of its own
    private  a file `_like_this` behind a door; nobody outside the door imports it
"""

import ast
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.house import House, closure, library

# A layer and what may arrive in it; then a line a door: the doors that it uses | libraries that
# arrive when it is imported | libraries in its functions. `packing` speaks for a package and every
# file in it; where `memory.*` follows, `memory` is the face and what it loads, `memory.*` the rest.
# `~door`: inside functions only. `library`: every door above `cli`.
TABLE = """
# ground
units
counts | | | numpy torch
reading | | | pyarrow
# paper | numpy
lengths | reading units | numpy | pyarrow
padding | lengths units | numpy
buckets | lengths padding units | numpy
packing | counts lengths units | numpy | pyarrow
plan | reading units | | yaml
memory | plan units
roofline | memory units
cluster | roofline memory units | numpy
cluster.ranks | cluster units | numpy
cluster.training | reading units | numpy
serving | lengths memory reading roofline units | numpy
rates | units
noise | units | numpy
adapt | noise plan rates units | numpy
records | counts reading
data | counts packing reading units | numpy | datasets pyarrow tokenizers tqdm transformers
# corridor | numpy torch transformers
model | reading | | torch transformers
timing | | | torch
attention | counts model | torch | flash_attn transformers
batches | buckets counts lengths packing units | numpy torch
loader | batches counts data lengths | numpy torch
loop | batches counts model | numpy torch
roofline.utilisation | records roofline units | numpy
roofline.* | records timing units | torch
serving.* | lengths model | numpy torch transformers
rates.* | units | torch
noise.* | counts units | numpy torch | transformers
memory.* | batches counts lengths loop model plan records units | numpy torch | peft transformers
stopwatch | counts loop model records timing | numpy torch
sweep | batches counts lengths memory.* model records stopwatch | numpy torch
monitor | counts memory.* model records timing | numpy torch | transformers
cluster.* | batches data loop ~memory.* model monitor packing rates units | numpy torch
# evidence | numpy matplotlib
proposal | cluster memory noise plan rates records roofline roofline.utilisation units | numpy
doctor | records roofline | numpy
plots | packing padding records roofline.utilisation units | matplotlib numpy
report | data doctor padding records units ~memory.* ~model ~plots | numpy
dashboard | doctor records units | numpy | IPython
widgets | packing padding plan units | numpy | anywidget traitlets
pictures | cluster packing padding serving units | numpy
cli | library | numpy | torch tqdm transformers
__main__ | cli | numpy
# what teaches | numpy torch transformers
classroom | widgets ~exercises | numpy | IPython
classroom.real_runs | classroom records report units | numpy
classroom.real_lessons | classroom noise records report units | numpy
classroom.script | counts data report units | numpy | datasets torch transformers
exercises | classroom | numpy
exercises.* | classroom classroom.script exercises library | numpy torch transformers | pytest torch
grading | classroom reading ~exercises | numpy | nbgrader sqlalchemy torch
authoring | classroom exercises | numpy | jupytext nbformat nbgrader traitlets
cli.check | cli grading | numpy
cli.course_* | authoring cli grading report | numpy
"""
HEAVY = {"torch", "transformers", "datasets", "matplotlib", "ipywidgets", "anywidget"}
ROWS: dict[str, list[set[str]]] = {"": [set()] * 4}  # of batchlab itself
for row in TABLE.strip().split("\n"):
    first, *parts = (part.strip() for part in f"{row} | | |".split("|"))
    if first.startswith("#"):
        layer = set(parts[0].split())
    else:
        ROWS[first] = [*(set(part.split()) for part in parts[:3]), layer]
ORDER = list(ROWS)
HANDS_ON = ast.Expr | ast.ImportFrom | ast.Assign  # what a face may hold


def fitting(name: str) -> str | None:
    """The line of the table that fits a name: of all that fit the one that says most."""
    fit = [d for d in ROWS if name == d or name.startswith(f"{d}.") or fnmatchcase(name, d)]
    return max(fit, key=len, default=None)


def lines(house: House) -> dict[str, str | None]:
    """The line that speaks for each file; of a package with two lines a door has what it loads."""
    line = {name: fitting(name) for name in house.trees}
    for door in ROWS:
        for used in closure(door, lambda one: house.top[one]):
            if "._" in used and line.get(used) == f"{door.partition('.')[0]}.*":
                line[used] = door
    return line


def may_use(door: str) -> tuple[set[str], set[str]]:
    """Doors that it may use at import, and anywhere."""
    library = set(ORDER[: ORDER.index("cli")])
    top = ROWS[door][0] | (library if "library" in ROWS[door][0] else set())
    anywhere = {one.removeprefix("~") for one in top}
    return top, anywhere | (library if "library" in anywhere else set())


def back(used: set[str]) -> set[str]:
    """What a function may not lead back from: all but the exercises."""
    return {one for one in used if not one.startswith("exercises")}


def faults(house: House) -> list[str]:
    """Where a tree breaks the table or a law, a line each; none for a good house."""
    found, line = [], lines(house)
    for name, tree in house.trees.items():
        if (door := line[name]) is None:
            found.append(f"{name}: no line of the table speaks for it")
            continue
        top, anywhere = may_use(door)
        for used in sorted(house.top[name] | house.inside[name]):
            theirs = line.get(used) or fitting(used)
            own = used.partition(".")[0] == name.partition(".")[0]
            above = theirs in ORDER and ORDER.index(theirs) < ORDER.index(door)
            allowed = theirs in (top if used in house.top[name] else anywhere)
            if theirs not in (door, "") and not allowed and not (own and above):
                found.append(f"{name} may not use {used}")
            if not own and "._" in f".{used}":
                found.append(f"{name}: {used} is private")
            if name.startswith(f"{used}.") and not door.startswith("exercises."):
                found.append(f"{name} stands behind {used}: ask a sibling")
        found += [f"{name}: {one} arrives" for one in house.arrives(name) - ROWS[door][1]]
        later = house.later[name] - ROWS[door][1] - ROWS[door][2]
        found += [f"{name} may not import {one}" for one in later]
        if "" in house.libraries[name] | house.later[name]:
            found.append(f"{name}: a relative import hides the room that it enters")
        face = name and house.paths[name].stem == "__init__" and door != "exercises.*"
        if face and not all(isinstance(node, HANDS_ON) for node in tree.body):
            found.append(f"{name}: a face holds no code")
        if name in closure(name, lambda one: house.top[one] | back(house.inside[one])):
            found.append(f"{name} stands in a circle")
    return found


HERE = library()


def test_every_door_keeps_the_laws():
    assert faults(HERE) == []


def test_the_table_names_what_is_there_and_reads_downwards():
    assert set(ROWS) <= set(lines(HERE).values())
    for door, (doors, libraries, _, layer) in ROWS.items():
        known = {*ORDER[: ORDER.index(door)], "library", "exercises"}
        assert {one.removeprefix("~") for one in doors} <= known, door
        assert libraries <= layer, door


MISTAKES = {  # what is said of a tree of some files, `file = text`
    "padding: torch arrives": "padding = import torch",
    "padding may not import torch": "padding = def f(): import torch",
    "memory: torch arrives": "memory = from batchlab.memory._a import b | memory._a = import torch",
    "report.a: torch arrives": "report = | report.a = from batchlab.memory import fit | memory = | "
    "memory.fit = import torch",
    "lengths may not use packing": "lengths = from batchlab import packing",
    "rates may not use plan": "rates = from batchlab.plan import a",
    "loop may not use classroom": "loop = def f(): from batchlab import classroom",
    "classroom.a may not use authoring": "classroom = | classroom.a = import batchlab.authoring.b",
    "widgets may not use grading": "widgets = from batchlab import grading",
    "classroom may not use exercises": "classroom = from batchlab import exercises",
    "exercises may not use loop": "exercises = from batchlab import loop",
    "padding: lengths._a is private": "padding = from batchlab.lengths._a import b",
    "plan._a stands behind plan": "plan = | plan._a = from batchlab.plan import b",
    "plan._a stands in a circle": "plan = | plan._a = from batchlab.plan import _b | "
    "plan._b = def f(): from batchlab.plan._a import c",
    "plan: a face holds no code": "plan = def f(): ... | plan._a = ",
    "plan: a relative import": "plan = from . import a",
    "novel: no line": "novel = import numpy",
}


def built(folder: Path, text: str) -> House:
    files = dict(re.split(r" = ?", one.strip() + " ", maxsplit=1) for one in text.split(" | "))
    for name, code in files.items():
        face = ["__init__"] * any(other.startswith(f"{name}.") for other in files)
        path = folder.joinpath(*name.split("."), *face).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return House(folder)


@pytest.mark.parametrize("said", MISTAKES)
def test_a_house_with_this_mistake_is_refused(said, tmp_path):
    assert any(fault.startswith(said) for fault in faults(built(tmp_path, MISTAKES[said])))


def test_what_the_laws_allow(tmp_path):
    """A type, a new file behind a door, a topic of exercises and who asks for it late."""
    files = """padding = if TYPE_CHECKING: import torch
        | packing = from batchlab.packing._new import a | packing._new = import numpy
        | exercises = | exercises.packing = | exercises.packing.rows = import numpy
from batchlab.classroom import plain
def f():
    import torch
    from batchlab.memory.fit import largest
        | classroom = | classroom.plain = def f(): from batchlab import exercises
        | authoring = from batchlab import exercises | memory = | memory.fit = import torch"""
    assert faults(built(tmp_path, files)) == []


def test_what_needs_no_torch_never_loads_it():
    """Judged by Python itself, in a fresh process: nothing heavy arrives with any such file."""
    light = [name for name in HERE.trees if not HERE.arrives(name) & HEAVY]
    light.remove("__main__")
    assert {"packing", "memory", "doctor.throughput", "cli", "report", "grading"} <= set(light)
    code = (
        "import sys; before = set(sys.modules)\n"
        "import batchlab; print(sorted(set(sys.modules) - before))\n"
        "import importlib\n"
        f"for one in {light!r}: importlib.import_module(('batchlab.' + one).rstrip('.'))\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['batchlab']", "[]"], "batchlab imports nothing else"

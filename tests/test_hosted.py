"""Where no clone is: the parcel of a lesson, on a runtime that holds what Colab holds.

A T4 adds two rules that a CPU keeps, too: no bfloat16 is asked for, and no kernel that needs one.
"""

import json
import os
import subprocess
import sysconfig
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from batchlab.authoring import catalogue, parcels

ROOT = Path(__file__).parent.parent
LINES = (ROOT / "tests/colab.txt").read_text().splitlines()
COLAB = dict(line.split("==") for line in LINES if "==" in line)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_colab_has_what_the_library_asks_for_in_a_version_that_it_admits():
    extras = PROJECT["optional-dependencies"]
    asked = [Requirement(one) for one in PROJECT["dependencies"] + extras["torch"] + extras["hf"]]
    asked = [one for one in asked if one.name != PROJECT["name"]]
    assert asked
    for one in asked:
        assert one.specifier.contains(COLAB[one.name]), f"{one}: Colab has {COLAB[one.name]}"


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    return folder, parcels.parcels(ROOT, folder, parcels.wheel(ROOT, folder))


@pytest.mark.slow
def test_the_wheel_holds_the_library_as_it_stands_and_leaves_nothing_behind(dist):
    _, (library, *_) = dist
    held = {name for name in zipfile.ZipFile(library).namelist() if name.startswith("batchlab/")}
    stands = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "batchlab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == stands and not (ROOT / "build").exists()


@pytest.mark.slow
def test_a_parcel_holds_the_notebook_of_a_student_and_the_wheel_and_no_answer(dist):
    folder, (library, *made) = dist
    assert [path.stem for path in made] == [one.folder for one in catalogue.lessons(ROOT)]
    for one in catalogue.lessons(ROOT):
        with zipfile.ZipFile(folder / f"{one.folder}.zip") as parcel:
            held = {name.split("/", 1)[1]: parcel.read(name) for name in parcel.namelist()}
        assert held[library.name] == library.read_bytes()
        assert held[f"{one.topic}.ipynb"] == (ROOT / one.notebook).read_bytes()
        assert library.name in held["README.txt"].decode()
        assert not [name for name in held if name.endswith((".md", ".py"))]


def with_requirements(names: set[str]) -> set[str]:
    """Installed distributions that these need, themselves included."""
    found: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop().lower().replace("_", "-")
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        if name not in found:
            found.add(name)
            needed = (Requirement(one) for one in wanted)
            ahead += [one.name for one in needed if one.marker is None or one.marker.evaluate()]
    return found


def hosted(folder: Path) -> tuple[Path, Path]:
    """A Python that has the packages of Colab, by links; and the folder of these links."""
    # dill, behind `dataset.map`, knows what is installed by this folder name
    here, links = Path(sysconfig.get_path("purelib")), folder / "site-packages"
    links.mkdir()
    for name in with_requirements(set(COLAB)):
        for top in {file.parts[0] for file in metadata.distribution(name).files or []}:
            if top not in {"..", "__pycache__"} and not (links / top).exists():
                (links / top).symlink_to(here / top)
    venv.create(folder / "runtime", with_pip=True, symlinks=True)
    (own,) = (folder / "runtime").glob("lib/python*/site-packages")
    (own / "runtime.pth").write_text(f"{links}\n")
    return folder / "runtime/bin/python", own


RUN = """
import json, nbformat, sys
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, timeout=1200, kernel_name="python3").execute()
nbformat.write(book, sys.argv[1])
"""


DEEP = [pytest.param(name, marks=pytest.mark.deep) for name in ("12_rates", "18_plan")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["02_padding", *DEEP])
def test_a_lesson_runs_from_its_first_cell_to_ten_points_on_what_colab_has(dist, tmp_path, name):
    folder, _ = dist
    python, own = hosted(tmp_path)
    with zipfile.ZipFile(folder / f"{name}.zip") as parcel:
        parcel.extractall(tmp_path)
    lesson = tmp_path / f"{name}/{name[3:]}.ipynb"
    answers = json.loads((ROOT / f"solutions/{name}/{name[3:]}.ipynb").read_text())["cells"]
    filled = {cell["id"]: cell["source"] for cell in answers}
    book = json.loads(lesson.read_text())
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = filled[cell["id"]]
    lesson.write_text(json.dumps(book))
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}  # nothing to fetch, either
    had = {path.name for path in own.iterdir()}
    look = [str(python), "-c", "import importlib.util as u; print(u.find_spec('batchlab'))"]
    env = kept | quiet
    assert subprocess.run(look, cwd=tmp_path, env=env, capture_output=True).stdout == b"None\n"
    command = [str(python), "-W", "ignore", "-c", RUN, lesson.name]
    done = subprocess.run(command, cwd=lesson.parent, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    new = {path.name for path in own.iterdir()} - had - {"__pycache__"}
    assert sorted(name.split("-")[0] for name in new) == ["batchlab", "batchlab"], "and no torch"
    ran = json.loads(lesson.read_text())["cells"]
    checks = [cell for cell in ran if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert all("Right" in json.dumps(cell["outputs"]) for cell in checks)
    assert sum(cell["metadata"]["nbgrader"]["points"] for cell in checks) == 10

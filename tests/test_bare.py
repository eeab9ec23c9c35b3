"""Where there is Python, torch and transformers and no more, as on a lent GPU machine: the library
is imported, the proofs for a GPU are collected, and the run that measures goes through."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import torch

from tests.house import library

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
THERE = ("torch", "transformers", "numpy", "pytest", "hypothesis")
ABSENT = ("datasets", "IPython", "jupytext", "nbformat", "nbgrader", "ipywidgets", "matplotlib",
          "peft", "trl", "accelerate")  # fmt: skip
HOUSE = library()
IMPORTED = [name for name in HOUSE.trees if name != "__main__" and HOUSE.arrives(name) <= {*THERE}]


def link(folder, names):
    """Link the packages of these names, and all that they need, into one folder."""
    from packaging.requirements import Requirement

    left, seen = list(names), set()
    while left:
        if (name := left.pop().lower()) in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # a library of CUDA, on a machine without one
            continue
        asked = (Requirement(text) for text in found.requires or ())
        left += [one.name for one in asked if not one.marker or one.marker.evaluate({"extra": ""})]
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (folder / top).exists():
                (folder / top).symlink_to(found.locate_file(top))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Run Python with nothing but these packages, the library and its tests; what it printed."""
    folder = tmp_path_factory.mktemp("bare")
    link(folder, THERE)

    def run(*words, timeout=300):
        done = subprocess.run(
            [sys.executable, "-S", *map(str, words)], cwd=ROOT, capture_output=True, text=True,
            timeout=timeout,
            env={"PYTHONPATH": f"{folder}:{ROOT}", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    return run


def test_what_is_absent_is_absent(bare):
    code = f"import importlib.util as i; print([n for n in {ABSENT!r} if i.find_spec(n)])"
    assert bare("-c", code).strip() == "[]"


def test_every_file_that_needs_no_more_is_imported_and_a_step_is_taken(bare):
    assert {"loop", "attention", "sweep", "data._load", "monitor._watch", "cli"} <= set(IMPORTED)
    code = (
        "import importlib\n"
        f"for room in {IMPORTED!r}: importlib.import_module(('batchlab.' + room).rstrip('.'))\n"
        "import torch\n"
        "from batchlab import batches, data, loop, model\n"
        "made, corpus = model.load(None), data.embedded()\n"
        "parts = [batches.padded(corpus, range(2))]\n"
        "print(loop.train_step(made, torch.optim.SGD(made.parameters(), lr=0.1), parts).loss)"
    )
    assert 5 < float(bare("-c", code).strip()) < 12


def test_the_proofs_for_a_gpu_are_collected(bare):
    """A file that could not be imported would end the one run on a lent machine."""
    words = ["-m", "pytest", "-m", "gpu", "tests/gpu", "-p", "no:cacheprovider", "-W", "default"]
    there = torch.cuda.is_available()
    listed = bare(*words, *(["--collect-only"] if there else ["-vv"]))
    files = {line.split("::")[0] for line in listed.splitlines() if "::" in line}
    assert files == {f"tests/gpu/{path.name}" for path in (ROOT / "tests/gpu").glob("test_*.py")}
    assert there or (" skipped" in listed and "error" not in listed)


def test_the_run_that_measures_goes_through(bare, tmp_path):
    bare("benchmarks/gpu_run.py", "--output", tmp_path, "--small", "--only", "device", "knee")
    text = (tmp_path / "run.jsonl").read_text()
    assert text.count('"stage": "done"') == 2 and '"failed"' not in text

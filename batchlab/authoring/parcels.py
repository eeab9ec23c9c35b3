"""Pack what a lesson needs where no clone is: a wheel of the library, and a zip for each lesson.

    lessons/NN_topic/, batchlab/  ->  dist/batchlab-*.whl, dist/NN_topic.zip

A zip holds the notebook of a student with its drawings, and the wheel. The first cell finds a wheel
that lies beside it, so a parcel works on Colab, on Kaggle and on a laptop without any address.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

from batchlab.authoring import catalogue

__all__ = ["main", "parcels", "wheel"]

UNWANTED = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
EPOCH = (2026, 1, 1, 0, 0, 0)  # the same bytes every time
SLIP = """{number}. {topic}

Open {topic}.ipynb where Jupyter runs, with the file {wheel} beside it, and run the first cell: it
installs the library and leaves the PyTorch of the runtime as it is.

Colab    upload both files (Files, at the left), then open the notebook.
Kaggle   File > Import Notebook, then Add Input > Upload the .whl as a dataset.
Laptop   unzip, then `jupyter lab`; numpy, torch, transformers and matplotlib must be there.
"""


def main(arguments: list[str] | None = None) -> int:
    """Write the wheel and all zips into a folder, and say so."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.parcels")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--root", type=Path, default=Path())
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in parcels(root, options.folder, wheel(root, options.folder)):
        print(f"wrote: {path}")
    return 0


def wheel(root: Path, folder: Path) -> Path:
    """The wheel of the library as it stands in `root`; those of other versions are removed.

    It is made of a copy: setuptools would leave a `build/` behind, and take from an old one.
    """
    for old in folder.glob("batchlab-*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps"]
    pip += ["-w", str(folder.resolve())]
    with tempfile.TemporaryDirectory() as home:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(root / name, home)
        shutil.copytree(root / "batchlab", Path(home) / "batchlab", ignore=UNWANTED)
        subprocess.run(
            [*pip, *(["--no-build-isolation"] if _can_build() else []), home], check=True
        )
    (made,) = folder.glob("batchlab-*.whl")
    return made


def _can_build() -> bool:
    """Whether setuptools is new enough here; else pip fetches one."""
    from importlib import metadata

    try:
        return int(metadata.version("setuptools").split(".")[0]) >= 77
    except metadata.PackageNotFoundError:
        return False


def parcels(
    root: Path, folder: Path, library: Path, only: Collection[str] | None = None
) -> list[Path]:
    """A zip for each lesson, or for some; the paths of the wheel and of all zips."""
    made = [library]
    for one in catalogue.lessons(root):
        if only is not None and one.folder not in only:
            continue
        path = folder / f"{one.folder}.zip"
        home = root / f"lessons/{one.folder}"
        belong = [file for file in sorted(home.rglob("*")) if file.is_file() and _belongs(file)]
        files = {file.relative_to(home).as_posix(): file.read_bytes() for file in belong}
        slip = SLIP.format(number=one.number, topic=one.topic, wheel=library.name)
        files |= {library.name: library.read_bytes(), "README.txt": slip.encode()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parcel:
            for name, content in files.items():
                parcel.writestr(zipfile.ZipInfo(f"{one.folder}/{name}", EPOCH), content,
                                zipfile.ZIP_DEFLATED)  # fmt: skip
        made.append(path)
    return made


def _belongs(path: Path) -> bool:
    """The notebook and its drawings, and nothing that a run left behind."""
    return ".ipynb_checkpoints" not in path.parts and path.suffix in {".ipynb", ".svg", ".png"}


if __name__ == "__main__":
    sys.exit(main())

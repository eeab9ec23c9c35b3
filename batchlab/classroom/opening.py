"""Open a lesson: say what it runs on, and what will be skipped here.

    "02_padding"  ->  two printed lines

Neither torch nor a device is touched: versions come from the packages' metadata, the GPU from
its driver's own tool. A grader forks before it may touch CUDA, and a reader waits for nothing.
"""

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata

__all__ = ["gpu", "grading", "start"]

PACKAGES = ("batchlab", "numpy", "torch", "transformers")


def start(lesson: str) -> None:
    """Print what this lesson runs on; the first cell of every lesson calls it.

    >>> start("02_padding")  # doctest: +ELLIPSIS
    Lesson 02 padding. ...
    """
    number, _, topic = lesson.partition("_")
    device = gpu() or f"{os.cpu_count()} CPU cores, no GPU"
    print(
        f"Lesson {number} {topic}. Python {platform.python_version()} on {device}; {_versions()}."
    )
    if grading():
        print("Graded run: GPU boxes and long cells step aside.")
        if _public_seed():
            print("The hidden checks use the public seed: set BATCHLAB_GRADING_SEED for a class.")
    sys.stdout.flush()


def gpu() -> str:
    """Name of the first GPU that torch could use here; empty without one, or under grading."""
    if grading() or "+cpu" in _version("torch") or os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return ""
    tool = shutil.which("nvidia-smi")
    if not tool or not _version("torch"):
        return ""
    ask = [tool, "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()


def grading() -> bool:
    """Whether a grader runs this notebook: heavy cells and GPU boxes then step aside."""
    return bool(os.environ.get("NBGRADER_EXECUTION") or os.environ.get("BATCHLAB_GRADING"))


def _public_seed() -> bool:
    """Whether a class would be graded with the seed that stands in the public code."""
    own = os.environ.get("NBGRADER_EXECUTION") == "validate"  # a student tries their own notebook
    return not own and not os.environ.get("BATCHLAB_GRADING_SEED")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _versions() -> str:
    found = ((package, _version(package)) for package in PACKAGES)
    return ", ".join(f"{package} {version}" for package, version in found if version)

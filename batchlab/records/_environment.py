"""What a measurement ran on: hardware, versions, commit and date.

    this machine  ->  a mapping that stands in every record

Nothing is loaded to find out: what belongs to torch is told where torch is loaded already. A value
that is not there is None.
"""

import datetime
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from batchlab.records._cell import Json, device_of

__all__ = ["environment", "machine", "now"]

ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")  # the second is the older name


def environment(*, attention: str | None = None) -> dict[str, Json]:
    """Hardware, versions, commit and date; `attention` is the backend of the model, if any."""
    names = ("torch", "transformers", "numpy")
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    return {
        "date": now(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() if cores is None else len(cores),
        "versions": {name: _version(name) for name in names},
        "commit": os.environ.get("BATCHLAB_COMMIT") or _commit(),
        "attention": attention,
        "allocator": next((os.environ[name] for name in ALLOCATOR if name in os.environ), None),
        **_accelerator(),
    }


def machine(environment: Mapping[str, Json]) -> str:
    """Whose machine it was, and the day: the GPU, else the processor.

    >>> machine({"device": "NVIDIA H100", "date": "2026-11-22T09:00:00+00:00"})
    'NVIDIA H100, 2026-11-22'
    """
    date = str(environment.get("date") or "")[:10]
    return (device_of(environment) or "unknown device") + f"{', ' * bool(date)}{date}"


def now() -> str:
    """The date of a measurement, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _version(name: str) -> str | None:
    import importlib.metadata

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _accelerator() -> dict[str, Json]:
    """The GPU, if torch is loaded already: a record never loads it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        none = ("device_bytes", "cuda", "cudnn", "capability", "driver")
        return {"device": "cpu", **dict.fromkeys(none)}
    at = torch.cuda.current_device()
    properties = torch.cuda.get_device_properties(at)
    return {
        "device": properties.name,
        "device_bytes": properties.total_memory,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "capability": "{}.{}".format(*torch.cuda.get_device_capability(at)),
        "driver": _said(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(ln.split(":", 1)[1].strip() for ln in lines if ln.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _commit() -> str | None:
    """The commit of the library, where it runs from a clone."""
    return _said(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"])


def _said(command: list[str]) -> str | None:
    """The first line that a command prints; None where there is no such command."""
    import subprocess

    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().partition("\n")[0] or None

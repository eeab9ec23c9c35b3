"""Python for a page of the book: the Pyodide runtime and NumPy's wheel for it, verified.

    a folder of archives  ->  the files of the runtime by name, or ValueError in one line

Archives are looked for in the folder first, where an author may put them, then fetched and kept
there: the runtime from npm; the wheel from Pyodide's own distribution or, where that host is out of
reach, out of a wheel on PyPI that carries it. Nothing counts but its sha256: that of the runtime
stands here, that of the wheel in the runtime's own list of packages.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["VERSION", "files", "home"]

VERSION = "314.0.4"  # of Pyodide: Python 3.14; its list of packages names the wheel
SHA256 = "85d930cbff5bcf8bf8f5fb62d5b73d9a1e73f706a8a64c3e527ec980f1d32bd4"
OFFICIAL = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"
CARRIER = "open-webui==0.12.4"  # 106 MB, with that wheel inside, byte for byte
PATIENCE = 20  # seconds for a host to begin an answer
PACKAGES = ("numpy",)


def home() -> Path:
    """Where archives are kept between builds: BATCHLAB_RUNTIME, or a folder of the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BATCHLAB_RUNTIME") or Path(cache) / "batchlab-runtime")


def files(folder: Path) -> dict[str, bytes]:
    """What a page loads, by name; ValueError says which archive could not be had."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = _had(folder / f"pyodide-{VERSION}.tgz", SHA256, [_from_npm])
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:

        def part(name: str) -> bytes:
            member = packed.extractfile(f"package/{name}")
            assert member is not None, name
            return member.read()

        lock = json.loads(part("pyodide-lock.json"))
        made = {name: part(name) for name in ("pyodide.mjs", "pyodide.asm.mjs")}
        made["python_stdlib.zip"] = part("python_stdlib.zip")
        # packed by us: a host that sends it as it is sends 3.5 MB and not 9.6
        made["pyodide.asm.wasmz"] = gzip.compress(part("pyodide.asm.wasm"), 9, mtime=0)
    lock["packages"] = {name: lock["packages"][name] for name in PACKAGES}
    for package in lock["packages"].values():
        name = package["file_name"]
        made[name] = _had(folder / name, package["sha256"], [_from_official, _from_carrier])
    made["lock.json"] = json.dumps(lock, indent=1).encode()
    return made


def _had(place: Path, digest: str, sources: Iterable[Callable[[str], bytes]]) -> bytes:
    """The bytes of this sha256, from the place or from the first source that gives them."""
    if place.is_file() and _digest(found := place.read_bytes()) == digest:
        return found
    for source in sources:
        try:
            found = source(place.name)
        except (OSError, subprocess.SubprocessError, ValueError, zipfile.BadZipFile):
            continue
        if _digest(found) == digest:
            place.write_bytes(found)
            return found
    raise ValueError(
        f"{place.name}, sha256 {digest[:12]}…, is not in {place.parent}; no host has it"
    )


def _digest(found: bytes) -> str:
    return hashlib.sha256(found).hexdigest()


def _from_npm(_name: str) -> bytes:
    return _only_file(["npm", "pack", "--silent", f"pyodide@{VERSION}"])


def _from_official(name: str) -> bytes:
    address = OFFICIAL.format(version=VERSION, name=name)
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        found: bytes = answer.read()
    return found


def _from_carrier(name: str) -> bytes:
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    parcel = _only_file([*pip, "--python-version", "3.12", CARRIER])
    with zipfile.ZipFile(io.BytesIO(parcel)) as packed:
        (place,) = (one for one in packed.namelist() if one.endswith(f"/{name}"))
        return packed.read(place)


def _only_file(command: list[str]) -> bytes:
    """The one file that a command leaves in its folder."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(command, cwd=place, check=True, capture_output=True, timeout=600)
        (made,) = Path(place).iterdir()
        return made.read_bytes()

"""What exercises need to run in the book's pages: editor, worker, Python, and this library.

    book/live/, batchlab/, archives  ->  one folder of files, and one line that says what it holds

The folder is a part of the book's static files and names no other host. Where npm or an archive
cannot be had, the folder stays empty: the book builds without editors, and the line says why.

    python -m batchlab.authoring.live _build/live
"""

import argparse
import hashlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from batchlab.authoring import runtime

__all__ = ["STAMP", "library", "made", "main"]

STAMP = "stamp.txt"  # the fingerprint of a whole folder; an empty one has none
LEFT_OUT = ("authoring", "grading")  # no page imports them
EPOCH = (2026, 1, 1, 0, 0, 0)  # the same bytes every time
SCRIPTS = {"live.js": "iife", "editor.js": "esm", "worker.js": "esm"}


def main(arguments: list[str] | None = None) -> int:
    """Make the folder and say so; 0 without it, too."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.live")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--root", type=Path, default=Path())
    options = parser.parse_args(arguments)
    try:
        size = made(options.root.resolve(), options.folder)
        print(f"exercises run in the page: {size / 1e6:.1f} MB of files for the first run")
    except ValueError as error:
        shutil.rmtree(options.folder, ignore_errors=True)
        print(f"exercises do not run in this book: {error}")
    return 0


def made(root: Path, folder: Path) -> int:
    """Make a folder hold today's files; bytes of what a first run fetches.

    ValueError says what is missing. A folder of the same inputs is left as it is.
    """
    sources = root / "book/live"
    packed = library(root / "batchlab")
    inputs = [path.read_bytes() for path in sorted(sources.glob("*.*"))]
    stamp = hashlib.sha256(b"\0".join([packed, runtime.VERSION.encode(), *inputs])).hexdigest()[:10]
    names = {
        "stamp": stamp,
        "library": f"batchlab-{stamp}.zip",
        "runtime": f"pyodide-{runtime.VERSION}/",
    }
    if not (folder / STAMP).is_file() or (folder / STAMP).read_text() != stamp:
        python = runtime.files(runtime.home())
        shutil.rmtree(folder, ignore_errors=True)
        (folder / names["runtime"]).mkdir(parents=True)
        for name, content in python.items():
            (folder / names["runtime"] / name).write_bytes(content)
        (folder / names["library"]).write_bytes(packed)
        shutil.copy(sources / "live.css", folder)
        _bundle(sources, folder, names)
        (folder / STAMP).write_text(stamp)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def library(home: Path) -> bytes:
    """The library with its records, and PyYAML's Python, as a zip; an exercise shows its file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(_yaml().glob("*.py")):  # what reads configs
            entry = zipfile.ZipInfo(f"yaml/{path.name}", EPOCH)
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
        for path in sorted(home.rglob("*")):
            inside = path.relative_to(home).as_posix()
            left = (
                inside.startswith(tuple(f"{one}/" for one in LEFT_OUT)) or "__pycache__" in inside
            )
            if path.is_file() and not left:
                entry = zipfile.ZipInfo(f"batchlab/{inside}", EPOCH)
                packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return content.getvalue()


def _yaml() -> Path:
    """Where PyYAML is installed; a folder of nothing where it is not."""
    found = importlib.util.find_spec("yaml")
    return Path(found.origin).parent if found and found.origin else Path("none")


def _bundle(sources: Path, folder: Path, names: dict[str, str]) -> None:
    """Pack the scripts; each with what it imports, as one file."""
    tool = sources / "node_modules/.bin/esbuild"
    try:
        if not tool.exists():
            command = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--fetch-retries=1"]
            subprocess.run(command, cwd=sources, check=True, capture_output=True, timeout=300)
        for name, form in SCRIPTS.items():
            command = [str(tool), name, "--bundle", "--minify", f"--format={form}"]
            command += [
                f"--define:LIVE={json.dumps(names)}",
                f"--outfile={(folder / name).resolve()}",
            ]
            command += ["--charset=utf8", "--log-level=warning", "--target=es2022"]
            subprocess.run(command, cwd=sources, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        last = said.decode(errors="replace").strip().splitlines()[-1:] or [str(error)]
        raise ValueError(f"npm could not make the editor ({last[0]})") from None


if __name__ == "__main__":
    sys.exit(main())

"""Make one lesson and say what is wrong with it: notebooks, checks, page.

    padding  ->  its notebooks, one line for each fault, and its page below _build/lesson/

Outcomes and executed cells are kept until something that the lesson runs has changed, and serve
`make book` as well. The page is built beside them, alone: what it says of other pages leads
nowhere there.

    python -m batchlab.authoring.lesson padding
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from batchlab.authoring import catalogue, matrix, pages, sources

__all__ = ["main", "named", "of_cells"]

TOC = """format: jb-book
root: lessons/{folder}
chapters:
  - file: words
  - file: bibliography
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the lesson; 1 where a check, an answer or the page is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.lesson")
    parser.add_argument("name", help="its topic or its folder: padding, 02_padding")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that holds solutions/")
    parser.add_argument("--no-page", action="store_true", help="notebooks and checks only")
    options = parser.parse_args(arguments)
    root, begun = options.root.resolve(), time.monotonic()
    try:
        folder = named(root, options.name)
        print("\n".join(sources.build(root)) or "notebooks: as their source gives", flush=True)
    except ValueError as error:
        print(error)
        return 1
    page = None if options.no_page else _page_begun(root, folder)
    kept = root / "_build/outcomes"
    outcomes = matrix.found(root, folder, keep=kept, reuse=kept)
    faults = matrix.faults(outcomes)
    said = f"checks: {len(outcomes)} outcomes, {len(faults)} faults"
    print("\n".join([*faults, said]), flush=True)
    wrong = bool(faults)
    if page is not None:
        text, _ = page.communicate()
        unsound = page.returncode != 0 or bool(of_cells(text))
        wrong |= unsound
        where = root / f"_build/lesson/_build/html/lessons/{folder}.html"
        print(text if unsound else f"page: {where}")
    print(f"{folder}: {time.monotonic() - begun:.0f} s")
    return int(wrong)


def of_cells(text: str) -> list[str]:
    """The lines in which a build says that a cell of the solution raised, or wrote to stderr.

    >>> of_cells("a.md: Executing notebook [mystnb]\\na.md: WARNING: ... failed [mystnb.exec]")
    ['a.md: WARNING: ... failed [mystnb.exec]']
    """
    return [line for line in text.splitlines() if "[mystnb." in line]


def named(root: Path, name: str) -> str:
    """The folder of a lesson by its topic, number or folder; ValueError names those that exist."""
    known = [one.folder for one in catalogue.lessons(root)]
    found = [one for one in known if name in {one, *one.split("_", 1)}]
    if len(found) != 1:
        raise ValueError(f"no lesson {name!r}; there are {', '.join(known)}")
    return found[0]


def _page_begun(root: Path, folder: str) -> "subprocess.Popen[str]":
    """Start building the page of one lesson, with the words and the references that it names."""
    place = root / "_build/lesson"
    files = pages.laid_out(root, None, root / "_build/executed")
    files["_toc.yml"] = TOC.format(folder=folder).encode()
    pages.written(place, files)
    build = [str(Path(sys.executable).with_name("jupyter-book")), "build", "-q", str(place)]
    return subprocess.Popen(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


if __name__ == "__main__":
    sys.exit(main())

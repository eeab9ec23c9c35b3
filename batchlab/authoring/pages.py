"""Lay out the book: sources and pages of today as one folder that Jupyter Book builds.

    solutions/*/*.md, book/  ->  _build/pages/: index.md, lessons/NN_topic.md, formulas.md, ...

Addresses are made here and stay: `lessons/02_padding.html` is a page whatever its source is called.
Contents, list of lessons, formula sheet and glossary are collected: a new lesson needs no change.
A file is only written where it changed. `python -m batchlab.authoring.pages FOLDER` does it all.

Words
    page    one Markdown file of the laid out folder, by its name there
    cached  outputs of executed pages; each serves until something that the page runs has changed
"""

import argparse
import re
import sys
from pathlib import Path

from batchlab.authoring import catalogue, claims, closure, expand, library, prose

__all__ = ["bibliography", "formulas", "glossary", "laid_out", "main", "written"]

# pages of book/ to read, then those to look up
FRONT = ("your_run", "doctor", "your_stack", "stacks", "proposal")
MEASURED = ("real_runs",)
REFERENCE = (
    "review",
    "claims",
    "words",
    "formulas",
    "api",
    "matrix",
    "execution",
    "instructors",
    "instructors_reference",
    "instructors_promises",
    "bibliography",
)
COPIED = ("img", "_ext", "_static")
KERNEL = "kernelspec: {name: python3,"
CARD = re.compile(r"^\| formula card \| \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^\| (?P<words>[^|]+?) \| (?P<meaning>.+?) \|$", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Lay out the pages of the book into a folder."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.pages")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--matrix", type=Path, help="folder of pages of wrong answers")
    parser.add_argument("--cache", type=Path, help="folder of executed pages")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    cache = (options.cache or options.folder.parent / "executed").resolve()
    written(options.folder, laid_out(root, options.matrix, cache))
    return 0


def written(folder: Path, wanted: dict[str, bytes]) -> None:
    """Make a folder hold these files: writes what changed, removes what is gone; not _build."""
    for name, content in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        inside = path.relative_to(folder)
        if inside.as_posix() not in wanted and not {"__pycache__", "_build"} & set(inside.parts):
            path.unlink()


def laid_out(root: Path, matrix: Path | None, cache: Path) -> dict[str, bytes]:
    """Every file of the folder by its name."""
    book, known = root / "book", catalogue.lessons(root)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in book.glob("*.md")}
    sources = {one: root / f"solutions/{one.folder}/{one.topic}.md" for one in known}
    lessons = {one: expand.read(path) for one, path in sources.items()}
    pages = {
        f"{name}.md": _executed(root, book / f"{name}.md", text)
        for name, text in texts.items()
        if name != "intro"
    }
    pages["index.md"] = _front(texts["intro"], known)
    pages["words.md"] = glossary(texts["words"])
    pages["formulas.md"] = formulas(lessons)
    pages["claims.md"] = claims.page(
        (book / "claims.toml").read_text(encoding="utf-8"),
        lessons,
        {name: texts[name] for name in MEASURED if name in texts},
    )
    pages |= library.pages(root, texts["api"]) if "api" in texts else {}
    pages |= _matrix(matrix, known)
    pages["references.bib"] = bibliography(book / "references.bib")
    doors = sorted(name[:-3] for name in pages if name.startswith("api/"))
    pages["_toc.yml"] = _contents(known, doors)
    config = (book / "_config.yml").read_text(encoding="utf-8")
    pages["_config.yml"] = config.replace("execute:\n", f"execute:\n  cache: {cache}\n")
    for one, text in lessons.items():
        text = _executed(root, sources[one], text)
        text = re.sub(r"^measured: .*\n", "", text, count=1, flags=re.MULTILINE)
        pages[f"lessons/{one.folder}.md"] = text.replace("](img/", f"](../img/{one.folder}/")
    found = {name: text.encode() for name, text in pages.items()}
    for folder in COPIED:
        for path in (path for path in (book / folder).rglob("*") if path.is_file()):
            if "__pycache__" not in path.parts:
                found[path.relative_to(book).as_posix()] = path.read_bytes()
    for one, source in sources.items():
        for path in source.parent.glob("img/*"):
            found[f"img/{one.folder}/{path.name}"] = path.read_bytes()
    return found


def _executed(root: Path, source: Path, text: str) -> str:
    """The text of a page, with the fingerprint of what it runs where jupyter-cache looks for it.

    Outputs are kept for cells and kernel; with this word in the kernel, they are those of a library
    that has not changed since.
    """
    if KERNEL not in text:
        return text
    depends = closure.fingerprint(root, [source])
    return text.replace(KERNEL, f"{KERNEL} fingerprint: {depends},", 1)


def _contents(known: list[catalogue.Lesson], doors: list[str]) -> str:
    parts: dict[str, list[str]] = {}
    for one in known:
        parts.setdefault(one.part, []).append(f"lessons/{one.folder}")
    parts |= {
        "The tool": list(FRONT),
        "Real GPUs": list(MEASURED),
        "For reference": list(REFERENCE),
    }
    below = {
        "matrix": {f"matrix/{one.folder}": f"{one.number:02d} {one.topic}" for one in known},
        "api": {name: name.partition("/")[2] for name in doors},
    }
    lines = ["format: jb-book", "root: index", "parts:"]
    for caption, files in parts.items():
        lines += [f"  - caption: {caption}", "    chapters:"]
        for name in files:
            lines.append(f"      - file: {name}")
            if below.get(name):
                lines.append("        sections:")
            for page, title in below.get(name, {}).items():
                lines += [f"          - file: {page}", f"            title: {title}"]
    return "\n".join(lines) + "\n"


def _front(text: str, known: list[catalogue.Lesson]) -> str:
    """The first page, with a card for each lesson where its two marks stand."""
    first, last = catalogue.MARKS
    if first not in text:
        return text
    cards = "".join(
        f'<li data-lesson="{one.folder}"><a href="lessons/{one.folder}.html">'
        f"<b>{one.number}. {one.topic.capitalize()}</b> "
        f"<span>{_emphasised(one.question)}</span></a>\n"
        f"<p><small>{one.minutes} minutes, {one.points} points. You measure {one.measured}. "
        f"You build: {one.built}.</small></p></li>\n"
        for one in known
    )
    before, rest = text.split(first, 1)
    return f'{before}<ol class="bl-lessons">\n{cards}</ol>\n{rest.split(last, 1)[1]}'


def _emphasised(text: str) -> str:
    """A line of Markdown inside HTML, where nobody reads its stars."""
    return re.sub(r"\*(\w+)\*", r"<em>\1</em>", text)


def glossary(text: str) -> str:
    """The table of words as glossaries by letter, so that other pages can lead to each word.

    >>> print(glossary("| word | meaning |\\n|---|---|\\n| spread, noise | a distance |\\n"))
    <BLANKLINE>
    ## N
    <BLANKLINE>
    ```{glossary}
    noise
    spread
      a distance
    ```
    <BLANKLINE>
    """
    head, letters = text, dict[str, list[str]]()
    for entry in ENTRY.finditer(text):
        if entry["words"] not in {"word", "---"}:
            names = sorted((name.strip() for name in entry["words"].split(",")), key=str.lower)
            letter = names[0][0].upper()
            letters.setdefault(letter, []).append("\n".join([*names, f"  {entry['meaning']}"]))
        head = head.replace(f"{entry[0]}\n", "")
    before, _, after = head.partition("|---|---|\n")
    listed = "\n".join(
        f"## {letter}\n\n```{{glossary}}\n"
        + "\n\n".join(sorted(letters[letter], key=str.lower))
        + "\n```\n"
        for letter in sorted(letters)
    )
    return f"{before}{after}\n{listed}"


def formulas(lessons: dict[catalogue.Lesson, str]) -> str:
    """The formula cards of all lessons on one sheet."""
    lines = ["# Formula sheet", "", "The cards at the end of the lessons, on one page.", ""]
    for one, text in lessons.items():
        if card := CARD.search(text):
            title = f"## [{one.number}. {one.topic.capitalize()}](lessons/{one.folder}.md)"
            lines += [title, "", "| what | formula |", "|---|---|", card[1]]
    return "\n".join(lines)


def _matrix(folder: Path | None, known: list[catalogue.Lesson]) -> dict[str, str]:
    """The pages of wrong answers: the one that leads to them, and one for each lesson.

    Their addresses stand before anything was tried: a page without outcomes says what fills it.
    """
    names = {"matrix": "index", **{f"matrix/{one.folder}": one.folder for one in known}}
    made = {}
    for page, name in names.items():
        path = folder / f"{name}.md" if folder else None
        empty = f"# Wrong answers: {name.replace('_', ' ')}\n\n`make book` fills this page.\n"
        made[f"{page}.md"] = path.read_text("utf-8") if path and path.is_file() else empty
    return made


def bibliography(references: Path) -> str:
    """The entries as the page shows them: each with its address, without notes to ourselves."""
    known = prose.citations(references)
    lines = []
    for line in references.read_text(encoding="utf-8").splitlines():
        if entry := re.match(r"@\w+\{([^,]+),", line):
            line = re.sub(r",\s*note=\{[^{}]*\}", "", line)
            address = known[entry[1]][2]
            if address and not re.search(r"\b(?:url|doi|eprint)=", line):
                line = f"{line.rstrip()[:-1]}, url={{{address}}}}}"
        if not line.startswith("%"):
            lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

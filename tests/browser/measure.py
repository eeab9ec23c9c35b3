"""What the pages of a built book weigh, how soon they show, and what the judge finds: a table.

    python -m tests.browser.measure --book before=FOLDER --book after=_build/html [PAGE ...]

First view, from file://, in Chromium at 1440 x 900: bytes of every file that the page asks for,
gzipped; seconds to the first paint with content, the median of five fresh contexts; places that
axe-core judges worse than minor, both themes together. Views of the books are taken in turn, so
that what else the machine does meets all alike. A line for each page and book is added to a record.
"""

import argparse
import json
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from shutil import which
from statistics import median

from playwright.sync_api import sync_playwright

from tests.browser.conftest import AXE, BROWSERS, FLAGS, ROOT
from tests.browser.test_book import THEMES, above_minor, opened, strangers, weight

PAGES = ("index", "lessons/02_padding", "matrix")
SCREEN = {"width": 1440, "height": 900}
VIEWS = 5
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def measured(browser, books: dict[str, Path], name: str, axe: str) -> dict[str, dict]:
    """The figures of one page, by book."""
    paints: dict[str, list[float]] = {book: [] for book in books}
    found: dict[str, dict] = {}
    for _ in range(VIEWS):
        for book, folder in books.items():
            page = opened(browser, folder, name, viewport=SCREEN)
            page.wait_for_timeout(300)
            paints[book].append(page.evaluate(PAINTED) / 1000)
            found[book] = {"gzipped_bytes": weight(page), "other_hosts": len(strangers(page))}
            page.context.close()
    for book, folder in books.items():
        judged = 0
        for theme in THEMES:
            page = opened(browser, folder, name, viewport=SCREEN, color_scheme=theme)
            judged += sum(map(len, above_minor(page, axe).values()))
            page.context.close()
        seconds = round(median(paints[book]), 3)
        found[book] |= {"first_paint_seconds": seconds, "axe_above_minor": judged}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.measure")
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--book", action="append", required=True, metavar="NAME=FOLDER")
    parser.add_argument("--record", type=Path, default=ROOT / "runs/pages.jsonl")
    options = parser.parse_args()
    path = next(filter(None, map(which, BROWSERS)), None)
    if path is None or not AXE.is_file():
        sys.exit("chromium and axe-core are needed: `make browser` fetches the latter")
    pairs = [one.partition("=") for one in options.book]
    books = {name: Path(folder).resolve() for name, _, folder in pairs}
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    options.record.parent.mkdir(parents=True, exist_ok=True)
    print("| book | page | first view, KiB gzipped | first paint, s | axe above minor |")
    print("|---|---|---|---|---|")
    with sync_playwright() as playwright, options.record.open("a", encoding="utf-8") as record:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        about = {"commit": commit, "date": date.today().isoformat(),
                 "machine": platform.platform(), "chromium": browser.version}  # fmt: skip
        for name in options.pages:
            holds = {book: at for book, at in books.items() if (at / f"{name}.html").is_file()}
            for book, one in measured(browser, holds, name, AXE.read_text("utf-8")).items():
                record.write(json.dumps({"book": book, "page": name} | one | about) + "\n")
                print(f"| {book} | {name} | {one['gzipped_bytes'] / 2**10:.0f} | "
                      f"{one['first_paint_seconds']:.2f} | {one['axe_above_minor']} |")  # fmt: skip
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

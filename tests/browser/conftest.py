"""One browser for the whole suite, the book that `make book` built, and the accessibility judge."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BOOK = ROOT / "_build/html"
AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("LOUDLY: chromium is not installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def book():
    assert (BOOK / "index.html").is_file(), "no book is built: `make book` first"
    return BOOK


@pytest.fixture(scope="session")
def axe():
    if not AXE.is_file():
        pytest.skip("LOUDLY: axe-core is missing, no page is judged: `npm ci` in tests/browser")
    return AXE.read_text(encoding="utf-8")

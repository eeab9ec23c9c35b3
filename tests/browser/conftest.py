"""One browser for the whole suite, the book that `make book` built, and the accessibility judge."""

import contextlib
import functools
import shutil
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from batchlab.cli.book import Pages

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
    sync_api.expect.set_options(timeout=60_000)  # beside a load of 17 a page took over 5 seconds
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@contextlib.contextmanager
def served(folder: Path):
    """The address of a folder, as a static host serves it.

    What a page keeps is asked only here: of a file that is loaded again, Chromium under load
    forgets what was kept in one load of twenty (9 of 118); of a served page in none of 190.
    """
    pages = functools.partial(Pages, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), pages) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


@pytest.fixture(scope="session")
def host(book):
    """The address of the book below a folder, which is not its host's root."""
    with served(book.parent) as address:
        yield f"{address}/{book.name}"


@pytest.fixture(scope="session")
def book():
    assert (BOOK / "index.html").is_file(), "no book is built: `make book` first"
    return BOOK


@pytest.fixture(scope="session")
def axe():
    if not AXE.is_file():
        pytest.skip("LOUDLY: axe-core is missing, no page is judged: `npm ci` in tests/browser")
    return AXE.read_text(encoding="utf-8")

"""Serve the built book on this machine, so that its exercises run in the page.

A page that is opened as a file may not start the worker that Python runs in. Only this machine can
reach the address, and nothing is asked of any other host. Ctrl+C ends it.
"""

import argparse
import contextlib
import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["Pages", "arguments", "run", "server"]

BUILT = Path("_build/html")
HERE = "127.0.0.1"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The words of this verb."""
    said = f"folder of a built book (default: {BUILT})"
    parser.add_argument("folder", nargs="?", type=Path, default=BUILT, metavar="DIR", help=said)
    options.offer(parser, "port", port=8000)


def run(args: argparse.Namespace) -> Answer:
    """Serve until Ctrl+C."""
    with server(args.folder, args.port) as serving:
        address = f"http://{HERE}:{serving.server_address[1]}/"
        print(f"The book is at {address} until Ctrl+C.", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            serving.serve_forever()
    return Answer({"address": address}, "The book is closed.")


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of a folder with a book, on this machine alone; ValueError where there is none."""
    if not (folder / "index.html").is_file():
        raise ValueError(f"{folder} holds no index.html: `make book` builds the book")
    return ThreadingHTTPServer((HERE, port), functools.partial(Pages, directory=str(folder)))


class Pages(SimpleHTTPRequestHandler):
    """Files with the types that a browser asks of modules and WebAssembly; says nothing."""

    # whatever the registry of the machine says: Windows is known to call scripts plain text
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
        ".css": "text/css",
        ".svg": "image/svg+xml",
    }

    def log_message(self, *_: Any) -> None:
        pass

"""Follow a run on a page of this machine: batch, loss, parts of a step, ranks, the doctor's word.

Give the file that `monitor` writes, before or while the run goes on, or after it: of several ranks
run.jsonl stands for run.rank*.jsonl. Nothing is asked of any other host. Ctrl+C ends the page, not
the run. `--export` writes a copy of the page instead, one file that anyone can open.
"""

import argparse
import contextlib
import sys
import webbrowser
from pathlib import Path

from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The words of this verb."""
    said = "file of records that `monitor` writes; it may come later"
    parser.add_argument("records", type=Path, metavar="RECORDS", help=said)
    options.offer(parser, "port", "export", "no_open", port=8008)


def run(args: argparse.Namespace) -> Answer:
    """Write a copy, or serve until Ctrl+C."""
    from batchlab import dashboard, records

    if args.export:
        args.export.write_text(dashboard.show(args.records).html, encoding="utf-8")
        return Answer({"written": str(args.export)}, f"written: {args.export}")
    if not args.records.absolute().parent.is_dir():
        raise ValueError(f"{args.records}: there is no folder {args.records.parent}")
    records.files_of(args.records)  # a folder would be waited for without end
    with dashboard.server(args.records, args.port) as serving:
        address = f"http://127.0.0.1:{serving.server_address[1]}/"
        print(f"{args.records} is shown at {address} until Ctrl+C.", file=sys.stderr, flush=True)
        if not args.no_open:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):
            serving.serve_forever()
    return Answer({"address": address}, "The page is closed; the run goes on.")

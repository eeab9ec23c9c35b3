"""Train a model over processes of this machine: exact steps, checkpoints, a curve, a record.

RUN is a folder: curve.jsonl, monitor.jsonl (for `batchlab doctor`), checkpoints, and log.txt
of all its starts. A run that was stopped goes on where its last whole checkpoint stands, on as many
processes as you say.
Files of more than 512 MiB are not held: they are read while they are trained, in their order.
At the end the model lies in RUN/model, as transformers and peft load it.
`--verify` trains nothing: it shows whether curve, checkpoints and records of the folder agree.
"""

import argparse
import importlib.util
import itertools
from pathlib import Path
from typing import Any

from batchlab import rates, report
from batchlab.cli import _progress as progress
from batchlab.cli import _stopped as stopped
from batchlab.cli import doctor, options
from batchlab.cli._answer import Answer
from batchlab.cli._proof import proof

__all__ = ["arguments", "run"]

SHOWN = 8  # lines of the curve


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the folder, model, documents and processes."""
    parser.add_argument("run", metavar="RUN", type=_folder, help="folder of the run")
    options.offer(
        parser, "model", "data", "rows", "length", "steps", "rate", "nproc", "form", "verify",
        rows=2, length=256, steps=60, rate=1e-3, nproc=1, form="ddp",
    )  # fmt: skip
    options.offer_run(parser)


def _folder(text: str) -> Path:
    """A folder; a variable that is not set would be the folder here, or behind a slash the root."""
    if not text.strip():
        raise argparse.ArgumentTypeError("RUN is empty: give a folder, or . for the one here")
    found = Path(text)
    if (whole := found.resolve()) == whole.parent:
        raise argparse.ArgumentTypeError(f"RUN is {whole}, all of this disk: give a folder in it")
    return found


def run(args: argparse.Namespace) -> Answer:
    """Start the processes, show how far they are, and read the curve."""
    if args.verify:
        return proof(args.run)
    from batchlab.cluster import training

    for tool in args.report_to or ():  # each process would find it missing, and train on without
        if importlib.util.find_spec(tool) is None:
            raise ModuleNotFoundError(f"--report-to {tool}", name=tool)
    tokens, warmup = (one and int(one) for one in (args.tokens, args.warmup_tokens))
    if args.schedule != "constant" and tokens is None:
        raise ValueError(f"--schedule {args.schedule} ends at 0: give --tokens, after how many")
    if args.schedule == "constant" and tokens is not None:
        raise ValueError("--tokens is where a --schedule ends, and the rate is constant: give one")
    if args.field and not args.data:
        raise ValueError("--field goes with your own documents: give --data")
    curve = rates.Curve(tokens, warmup or 0, args.schedule)  # refused before anything starts
    settings = training.Settings(
        args.data, args.model, rows=args.rows, length=args.length, rate=args.rate, form=args.form,
        stream=training.is_large(args.data), schedule=args.schedule, tokens=tokens,
        warmup_tokens=warmup, lora=args.lora, compile=args.compile, field=args.field,
        document=args.document, too_long=args.too_long,
    )  # fmt: skip
    with stopped.told(args.run, args.steps), progress.bar() as shown:

        def heard(lines: list[dict[str, Any]]) -> None:
            if lines:
                shown(lines[-1]["step"], args.steps, f"loss {_shown(lines[-1]['loss'])}")

        try:
            lines = training.launch(
                args.run, settings, steps=args.steps, processes=args.nproc,
                report_to=args.report_to or (), heard=heard,
            )  # fmt: skip
        except RuntimeError as error:
            raise ValueError(str(error)) from None
    notes = [*training.notes(args.run), *_in_vain(lines, curve)]
    if (done := lines[-1]["step"]) > args.steps:
        notes.append(
            f"{done:,} steps were done before, {args.steps:,} asked: the model is of {done:,}"
        )
    data: dict[str, Any] = {"run": str(args.run), "curve": lines, "notes": notes}
    said = [_told(args, settings, lines), *notes]
    if args.doctor:
        found = doctor.of_records([str(args.run / "monitor.jsonl")])
        data["doctor"] = found.data
        said.append(f"\n{found.text}")
    return Answer(data, "\n".join(said))


def _in_vain(lines: list[dict[str, Any]], curve: Any) -> list[str]:
    """Which steps changed nothing, and why."""
    of = f"of {len(lines):,} steps, the first of them step"
    said, steps = [], [one["step"] for one in lines if one.get("skipped")]
    if steps:
        said.append(
            f"loss or gradient was not finite in {len(steps):,} {of} {steps[0]:,}: they left the "
            "weights as they were"
        )
    ended = curve.total_tokens if curve.shape != "constant" else None
    late = [b["step"] for a, b in itertools.pairwise(lines) if ended and a["tokens"] >= ended]
    if late:
        said.append(
            f"the rate was 0 in {len(late):,} {of} {late[0]:,}: --tokens {ended:,} were trained "
            "before it"
        )
    return said


def _shown(number: float | None) -> str:
    return "not finite" if number is None else f"{number:.3f}"


def _told(args: argparse.Namespace, settings: Any, lines: list[dict[str, Any]]) -> str:
    """What was trained and how, some steps of the curve, and where to look further."""
    from batchlab.cluster import training

    last = lines[-1]
    picked = lines[:: max(1, len(lines) // SHOWN)]
    if picked[-1] != last:
        picked.append(last)
    rows = [
        [f"{one['step']:,}", f"{one['tokens']:,}", _shown(one["loss"]),
         _shown(one["held_out"]) if "held_out" in one else "", _shown(one["grad_norm"])]
        for one in picked
    ]  # fmt: skip
    heads = ["steps", "target tokens", "loss, nats", "held out", "gradient norm"]
    net = (args.model or "small Llama") + (f" with LoRA of rank {args.lora}" if args.lora else "")
    sequences = training.PIECES * args.rows
    text = [
        f"{net}, {args.form} over {args.nproc} "
        f"{'process' if args.nproc == 1 else 'processes'}: {last['step']:,} steps of "
        f"{sequences} packed rows of {args.length:,} slots"
        + (", from files that were read meanwhile" if settings.stream else ""),
        training.read(args.run),
        "",
        report.table(heads, rows, align="rrrrr"),
        "",
        f"The model: {args.run / 'model'}. Each process wrote down where its time went: batchlab "
        f"doctor {args.run / 'monitor.jsonl'}",
    ]
    return "\n".join(text)

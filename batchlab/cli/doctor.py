"""Say where the time of a larger micro-batch went, cause by cause, and what to change.

Without a file it measures the embedded default first (under two minutes on two cores). With a file
it reads the records of `batchlab sweep`, or those that `monitor` wrote during your own training.
`--verify` applies the change with the largest gain and prints predicted against achieved.
"""

import argparse
import dataclasses
import math
import tempfile
from operator import attrgetter
from pathlib import Path
from typing import Any

from batchlab import doctor, records, report
from batchlab.cli import _measuring as measuring
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.doctor import prices
from batchlab.records import Cell

__all__ = ["arguments", "of_records", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the records, the model and data to measure without them, and the proof."""
    parser.add_argument(
        "records",
        nargs="*",
        metavar="RECORDS",
        help="a .jsonl file of records; of several ranks one each (run.rank*.jsonl), or run.jsonl",
    )
    options.offer(
        parser,
        *measuring.WORDS,
        "precision",
        "device",
        "verify",
        "figure",
        several=["rows"],
        shown={
            "rows": " ".join(map(str, measuring.ROWS)),
            "precision": "that of records; measured, bfloat16 where the GPU has it, else float32",
        },
    )


def run(args: argparse.Namespace) -> Answer:
    """Diagnose, and verify if asked."""
    if args.records:
        _require_no_measuring(args)
        return of_records(args.records, args.precision)
    from batchlab import sweep

    rows, device = args.rows or measuring.ROWS, options.place(args.device)
    documents, prepared = measuring.documents_per_step(rows), measuring.prepare(args)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doctor.jsonl"
        points = sweep.grid(rows, precisions=[options.precision(args.precision, device)])
        visits = measuring.measure(prepared, points, path, documents, device=device)
    diagnosis = doctor.diagnose(visits)
    found = _answer(diagnosis)
    if not args.verify:
        return found
    proof = _verify(prepared, diagnosis, documents, device)
    found.data["verified"] = proof
    return dataclasses.replace(found, text=f"{found.text}\n\n{_proof_text(proof)}")


def of_records(names: list[str], precision: str | None = None) -> Answer:
    """The diagnosis of what files of records hold."""
    files = [records.read(one) for name in names for one in records.files_of(name)]
    for read in files:
        if not read:
            raise ValueError(f"{read.name}: no line of it is a whole record")
    cells = [cell for read in files for cell in read.cells()]
    visits = _at_precision(_of_last_world(cells), precision)
    found = _answer(doctor.diagnose(visits), names[0])
    torn = "\n".join(read.left_out() for read in files if read.torn)
    return dataclasses.replace(found, text=f"{found.text}\n\n{torn}") if torn else found


def _of_last_world(cells: list[Cell]) -> list[Cell]:
    """Without those of an earlier life on more or fewer processes, where cells are of several."""
    worlds = {cell.world_size for cell in cells if cell.world_size > 1}
    if len(worlds) < 2:
        return cells
    last = max((cell for cell in cells if cell.world_size > 1), key=attrgetter("date"))
    return [cell for cell in cells if cell.world_size in (1, last.world_size)]


def _answer(diagnosis: doctor.Diagnosis, name: str = "run.jsonl") -> Answer:
    def figure() -> Any:
        from batchlab import plots

        return plots.lost_time(diagnosis)

    return Answer(_as_data(diagnosis), report.diagnosis_text(diagnosis, records=name), figure)


def _require_no_measuring(args: argparse.Namespace) -> None:
    for word in (*measuring.WORDS, "device", "verify"):
        if getattr(args, word):
            raise ValueError(f"--{word} measures anew, and {args.records[0]} is measured: give one")


def _at_precision(visits: list[Cell], precision: str | None) -> list[Cell]:
    if precision is None:
        return visits
    there = sorted({visit.precision for visit in visits})
    if precision not in there:
        raise ValueError(f"no record at precision {precision!r}; there are {', '.join(there)}")
    return [visit for visit in visits if visit.precision == precision]


def _as_data(diagnosis: doctor.Diagnosis) -> dict[str, Any]:
    subject, of = diagnosis.subject, dataclasses.asdict
    return {
        "rows": subject.rows,
        "layout": subject.layout,
        "useful_tokens_per_second": doctor.useful_rate(subject),
        "slot_waste": subject.waste,
        "pair_waste": 1 - subject.real_pairs / subject.slot_pairs if subject.slot_pairs else 0.0,
        "speedup_over_fewest_rows": diagnosis.speedup,
        "step_seconds": diagnosis.step_seconds,
        "step_interval": diagnosis.step_interval and of(diagnosis.step_interval),
        "steps": diagnosis.steps and of(diagnosis.steps),
        "outside_seconds": subject.outside_seconds,
        "saving_seconds": subject.saving_seconds,
        "forward_seconds": subject.forward_seconds,
        "backward_seconds": subject.backward_seconds,
        "ranks": list(subject.ranks),
        "world_size": subject.world_size,
        "straggler": diagnosis.straggler and of(diagnosis.straggler),
        "coverage": diagnosis.coverage,
        "bars": diagnosis.bars,
        "sizes": diagnosis.sizes,
        "parts": [of(part) for part in diagnosis.parts],
        "bounds": [of(part) for part in diagnosis.bounds],
        "causes": [{**of(cause), "change": dict(cause.change)} for cause in diagnosis.causes],
        "possible": [of(part) for part in diagnosis.possible],
        "experiment": diagnosis.experiment and of(diagnosis.experiment),
        "larger_is_right": diagnosis.larger_is_right,
        "fit_relative_error": diagnosis.cost.relative_error,
    }


def _verify(
    prepared: measuring.Prepared, diagnosis: doctor.Diagnosis, documents: int, device: str
) -> dict[str, Any] | None:
    """Measure the subject and the changed cell in turns, in one run."""
    from batchlab import sweep

    cause = next((cause for cause in diagnosis.causes if cause.change), None)
    if cause is None:
        return None
    one = diagnosis.subject
    before = sweep.Point(one.rows, one.layout, one.checkpointing, one.precision)
    after = dataclasses.replace(before, **cause.change)  # type: ignore[arg-type]
    documents = math.lcm(documents, after.rows)  # both take the same steps
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verify.jsonl"
        visits = measuring.measure(prepared, [before, after], path, documents, device=device)
    rates = {
        (c.rows, c.layout, c.checkpointing): doctor.useful_rate(c) for c in prices.merge(visits)
    }
    achieved = (
        rates[after.rows, after.layout, after.checkpointing]
        / rates[before.rows, before.layout, before.checkpointing]
        - 1
    )
    return {
        "cause": cause.name,
        "change": dict(cause.change),
        "predicted_gain": None if cause.refused else cause.gain,
        "achieved_gain": achieved,
    }


def _proof_text(proof: dict[str, Any] | None) -> str:
    if proof is None:
        return "Verified: no cause here has a change that this command can apply by itself."
    change = ", ".join(f"{name} = {value}" for name, value in proof["change"].items())
    predicted = proof["predicted_gain"]
    said = (
        "no gain was predicted" if predicted is None else f"predicted gain {100 * predicted:.0f} %"
    )
    return f"Verified with {change}: {said}, achieved {100 * proof['achieved_gain']:.0f} %."

"""Pack the tables of public GPU runs that `records.public_runs` reads.

    python benchmarks/public_runs.py FOLDER

FOLDER holds the extracted tables (runs, rcp, submissions, curves and benchmarks as CSV). Columns
get the names of the fields of `records._public_rows`, and a column without a name here is left out:
it can be computed, or is not to be published. The gzip files are the same on every machine.
"""

import argparse
import csv
import gzip
from pathlib import Path

OUT = Path(__file__).parent.parent / "batchlab/evidence/public_runs"
LAYOUT = {"mbs": "micro_batch", "tp": "tensor_parallel", "pp": "pipeline_parallel",
          "cp": "context_parallel", "dp": "data_parallel", "precision": "precision",
          "precision_source": "precision_source"}  # fmt: skip
RUN = {"round": "round", "org": "submitter", "system": "system", "benchmark": "benchmark",
       "accelerator": "device", "devices": "devices", "batch": "batch",
       "accumulation": "accumulation", **LAYOUT, "lr": "rate"}  # fmt: skip
TABLES = {  # table: file, {column there: field here}
    "runs": ("runs", {**RUN, "run": "run", "seq": "length", "seed": "seed", "ok": "reached",
                      "eval_every": "eval_every", "first_eval": "first_eval",
                      "samples_to_target": "samples", "crossing_est": "crossing",
                      "final_loss": "final_loss", "minutes": "minutes",
                      "eval_minutes": "eval_minutes", "sps": "samples_per_second",
                      "duplicate_of": "duplicate_of", "path": "path"}),
    "references": ("rcp", {"rounds": "rounds", "benchmark": "benchmark", "point": "point",
                           "batch": "batch", "seq": "length", "lr": "rate", "precision":
                           "precision", "platform": "platform", "seed_index": "seed",
                           "samples_to_target": "samples", "eval_every": "eval_every",
                           "note": "note", "path": "path"}),
    "submissions": ("submissions", {**RUN, "status": "status", "accelerator_full": "device_name",
                                    "beta2": "beta2", "n": "runs", "fails": "fails",
                                    "eval_every": "eval_every", "olympic_min": "minutes",
                                    "sps": "samples_per_second", "framework": "framework",
                                    "dup": "duplicate", "config": "path"}),
    "curves": ("curves", {"sid": "submission", "run": "run", "samples": "samples", "loss": "loss",
                          "seconds": "seconds"}),
    "benchmarks": ("benchmarks", {"benchmark": "name", "model": "model", "start": "start",
                                  "seq_tokens": "length", "target": "target", "metric": "metric",
                                  "eval_every_sequences": "eval_every",
                                  "eval_first_allowed": "first_eval",
                                  "optimizer": "optimizer", "schedule": "schedule",
                                  "lr_rule": "rate_rule", "flop_per_sequence_TF": "teraflops",
                                  "flop_convention": "flops_convention", "source": "path"}),
}  # fmt: skip
UNKNOWN = {"varies": ""}  # the length of GRPO's samples


def packed(folder: Path, table: str) -> bytes:
    """One table as compressed CSV with the fields' names."""
    name, columns = TABLES[table]
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if table == "submissions":  # without a configuration that fits: the folder of the logs
        for row in rows:
            row["config"] = row["config"] or "{org}/results/{system}/{benchmark}".format(**row)
    lines = [
        list(columns.values()),
        *([UNKNOWN.get(row[one], row[one]) for one in columns] for row in rows),
    ]
    for line in lines[1:]:
        if any(c in cell for cell in line for c in ',"\n'):
            raise ValueError(f"{table}: a cell holds what separates cells: {line}")
    text = "".join(",".join(line) + "\n" for line in lines)
    return gzip.compress(text.encode(), 9, mtime=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    OUT.mkdir(exist_ok=True)
    for table in TABLES:
        (OUT / f"{table}.csv.gz").write_bytes(packed(folder, table))
    print(f"{sum(one.stat().st_size for one in OUT.iterdir()):,} bytes in {OUT}")


if __name__ == "__main__":
    main()

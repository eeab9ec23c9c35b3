"""The stages whose records lessons, `batchlab report` and the book replay.

    Bench  ->  peaks.jsonl, sweep_stdlib.jsonl, sweep_stdlib_long.jsonl

Every line names its hardware, versions, commit and date. A file becomes evidence of the library as
`gpu_peaks.jsonl` and so on: a name without its machine then means that one.
"""

import itertools
from typing import Any

import torch
from gpu_stages import Bench, made

from batchlab import records, sweep
from batchlab.memory import trace
from batchlab.memory.limits import collect_memory

ROWS, ROWS_SMALL = (1, 2, 4, 8, 16, 32), (1, 2, 4)


def fingerprint(bench: Bench) -> str:
    """Equal for models of equal shape and dtype."""
    with torch.device("meta"):
        parameters = sum(p.numel() for p in made(bench.shape, bench.dtype, "meta").parameters())
    return f"{bench.shape.model_type}-{parameters}-{_precision(bench)}"


def peaks(bench: Bench) -> None:
    """Predicted against measured peak, by rows, length and checkpointing."""
    lengths = (64, 128, 256) if bench.small else (512, 1024, 2048)
    for rows, length, again in itertools.product((1, 4), lengths, (False, True)):
        found = trace.compare(bench.shape, rows=rows, length=length, device=bench.place,
                              checkpointing=again, dtype=bench.dtype)  # fmt: skip
        record = {
            "kind": "peak", "model_fingerprint": fingerprint(bench), "rows": rows,
            "length": length, "checkpointing": again, "precision": _precision(bench),
            "predicted_bytes": found.predicted.total_bytes,
            "by_kind": found.predicted.by_kind, "phase": found.predicted.phase,
            "measured_bytes": found.measured_bytes, "workspace_bytes": found.workspace_bytes,
            "environment": records.environment(),
        }  # fmt: skip
        records.append(bench.folder / "peaks.jsonl", record)
        print(f"{rows} rows of {length}, checkpointing {again}: {found}", flush=True)
        collect_memory(bench.place)


def sweeps(bench: Bench) -> None:
    """Rows x layout x checkpointing on two distributions of lengths."""
    median = sorted(bench.corpus.lengths)[len(bench.corpus) // 2]
    longer = [i for i, n in enumerate(bench.corpus.lengths) if n > median or i % 4 == 0]
    rows, precision = ROWS_SMALL if bench.small else ROWS, _precision(bench)
    points = sweep.grid(rows, sweep.LAYOUTS, precisions=[precision])
    points += sweep.grid(rows[-2:], ["padded"], [True], [precision])
    for name, documents in (("stdlib", bench.corpus), ("stdlib_long", bench.corpus.select(longer))):
        sweep.run(
            documents,
            lambda *_: made(bench.shape, bench.dtype, bench.place),
            points,
            path=bench.folder / f"sweep_{name}.jsonl",
            identity=_identity(bench, name, documents),
            documents_per_step=rows[-1],
            steps=2 if bench.small else 4,
            rounds=2,
            progress=lambda done, of, text: print(f"{done}/{of}  {text}", flush=True),
        )


def _identity(bench: Bench, name: str, documents: Any) -> records.Identity:
    model = records.Model("small" if bench.small else "qwen2-0.5b-shape")
    return records.Identity(model, fingerprint(bench), name, documents.fingerprint)


def _precision(bench: Bench) -> str:
    return str(bench.dtype).removeprefix("torch.")

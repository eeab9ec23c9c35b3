"""Measure what the lessons and the README replay: a sweep and a table of memory on this device.

    python benchmarks/gpu_records.py --output FOLDER [--small]

On a GPU: a 0.5 B-parameter Qwen-shaped model with random weights, bf16, the embedded corpus and a
longer-tailed selection of it. On the CPU, or with --small, the same in a small form, in minutes.
Every line of the records names its hardware, versions, commit and date.
"""

import argparse
import itertools
from pathlib import Path

import torch

from batchlab import attention, data, records, sweep
from batchlab.memory import trace
from batchlab.model import small as small_model
from batchlab.roofline import device


def config(small: bool):
    from transformers import Qwen2Config

    if small:
        return small_model(layers=2).config
    return Qwen2Config(
        vocab_size=151_936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
        num_attention_heads=14, num_key_value_heads=2, tie_word_embeddings=True,
        max_position_embeddings=8192, use_sliding_window=False,
    )  # fmt: skip


def make(shape, precision: str, attention_name: str = attention.NAME):
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(shape, dtype=dtype)
    return attention.prepare(model) if attention_name == attention.NAME else model


def fingerprint(shape, dtype: torch.dtype) -> str:
    """Equal for models of equal shape and dtype."""
    with torch.device("meta"):
        parameters = sum(p.numel() for p in make(shape, "float32", "").parameters())
    return f"{shape.model_type}-{parameters}-{str(dtype).removeprefix('torch.')}"


def sweeps(shape, folder: Path, small: bool) -> None:
    """Rows x layout x checkpointing on two distributions of lengths."""
    precision = "float32" if small else "bfloat16"
    corpus = data.embedded().at_most(512 if small else 2048)
    median = sorted(corpus.lengths)[len(corpus) // 2]
    tail = corpus.select([i for i, n in enumerate(corpus.lengths) if n > median or i % 4 == 0])
    dtype = torch.float32 if small else torch.bfloat16
    rows = [1, 2, 4] if small else [1, 2, 4, 8, 16, 32]
    points = sweep.grid(rows, sweep.LAYOUTS, precisions=[precision])
    points += sweep.grid(rows[-2:], ["padded"], [True], [precision])
    for name, documents in (("stdlib", corpus), ("stdlib_long", tail)):
        sweep.run(
            documents,
            lambda precision, layout: make(shape, precision),
            points,
            path=folder / f"sweep_{name}.jsonl",
            identity=records.Identity(
                records.Model("small" if small else "qwen2-0.5b-shape"),
                fingerprint(shape, dtype),
                name,
                documents.fingerprint,
            ),
            documents_per_step=rows[-1],
            steps=2 if small else 4,
            rounds=2 if small else 3,
            progress=lambda done, of, text: print(f"{done}/{of}  {text}", flush=True),
        )


def memory(shape, folder: Path, small: bool) -> None:
    """Predicted against measured peak over rows, lengths and checkpointing."""
    place = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.float32 if small else torch.bfloat16
    lengths = (64, 128, 256) if small else (512, 1024, 2048)
    for rows, length, checkpointing in itertools.product((1, 4), lengths, (False, True)):
        how = {"checkpointing": checkpointing, "dtype": dtype}
        found = trace.compare(shape, rows=rows, length=length, device=place, **how)
        record = {
            "kind": "peak", "model_fingerprint": fingerprint(shape, dtype), "rows": rows,
            "length": length, "checkpointing": checkpointing,
            "precision": str(dtype).removeprefix("torch."),
            "predicted_bytes": found.predicted.total_bytes,
            "by_kind": found.predicted.by_kind, "phase": found.predicted.phase,
            "measured_bytes": found.measured_bytes, "environment": records.environment(),
        }  # fmt: skip
        records.append(folder / "peaks.jsonl", record)
        print(f"{rows} rows of {length}, checkpointing {checkpointing}: {found}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--output", type=Path, default=Path("runs"))
    options.add_argument("--small", action="store_true")
    chosen = options.parse_args()
    small = chosen.small or not torch.cuda.is_available()
    shape = config(small)
    records.append(chosen.output / "device.jsonl", device.measure().record())
    sweeps(shape, chosen.output, small)
    memory(shape, chosen.output, small)


if __name__ == "__main__":
    main()

"""What torch.compile does to the seconds of a micro-batch: the record `compile_knee`, on a CPU.

    python benchmarks/compile_knee.py --output FILE [--only short|long]

Forward and backward of a small Llama on equal rows, eager and compiled, on one thread. Seconds are
those of the process, so that a busy machine changes them little. Each shape is compiled before
anything counts, and what that takes is recorded. All settings take turns, in reverse order every
other round. About ten minutes: a shape compiles for half a minute and more.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from batchlab import loop, model, records

ROWS, ROUNDS = (1, 2, 4, 8, 16, 32), 12
MODELS = {  # what is small is bound by calls, what is wide by work
    "short": {"layers": 4, "hidden": 32, "heads": 2, "width": 8},
    "long": {"layers": 2, "hidden": 128, "heads": 4, "width": 128},
}


def micro_batch(rows: int, width: int) -> dict[str, torch.Tensor]:
    """Equal rows of random tokens, every one a target but the first."""
    tokens = torch.randint(0, 512, (rows, width), generator=torch.Generator().manual_seed(rows))
    return {"input_ids": tokens, "labels": tokens}


def passes(net: Any, batch: dict[str, torch.Tensor]) -> Callable[[], None]:
    """One forward and backward of a micro-batch."""

    def once() -> None:
        loss = loop.summed_loss(loop.logits_of(net, batch), batch["labels"])
        loss.backward()

    return once


def process_seconds(call: Callable[[], None]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=MODELS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in [options.only] if options.only else MODELS:
        for record in measured(name):
            records.append(options.output, {**record, "environment": records.environment()})


def measured(name: str) -> Iterator[dict[str, Any]]:
    """One record for each way and number of rows: seconds of every round, and of the first call."""
    shape = dict(MODELS[name])
    width = shape.pop("width")
    sizes: dict[str, Any] = shape
    eager = model.small(512, **sizes)
    torch._dynamo.config.recompile_limit = 2 * len(ROWS)
    nets = {"eager": eager, "compiled": torch.compile(eager, dynamic=False)}
    calls, first = {}, {}
    for mode, rows in itertools.product(nets, ROWS):
        calls[mode, rows] = passes(nets[mode], micro_batch(rows, width))
        began = time.perf_counter()
        calls[mode, rows]()
        first[mode, rows] = time.perf_counter() - began
        print(name, mode, rows, f"first call {first[mode, rows]:.1f} s", flush=True)
        calls[mode, rows]()
    seconds: dict[tuple[str, int], list[float]] = {key: [] for key in calls}
    for number in range(ROUNDS):
        for key in list(calls)[:: -1 if number % 2 else 1]:
            seconds[key].append(process_seconds(calls[key]))
    for mode, rows in calls:
        yield {"kind": "micro-batch", "model": name, **shape, "width": width, "mode": mode,
               "rows": rows, "process_seconds": seconds[mode, rows],
               "first_seconds": first[mode, rows]}  # fmt: skip


if __name__ == "__main__":
    main()

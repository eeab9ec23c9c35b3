"""The stages of a run on a GPU: each measures one thing and writes its lines.

    Bench (model shape, documents, file of records)  ->  lines of run.jsonl

`gpu_run` calls them in turn; those that lessons and the book replay stand in `gpu_records`.

Words
    bench   what every stage shares: the device, a 0.5 B-parameter shape, documents, the file
    part    one micro-batch
"""

import contextlib
import functools
import itertools
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from batchlab import attention, batches, data, loop, records, sweep
from batchlab.loader import Loader
from batchlab.memory.limits import collect_memory, out_of_memory
from batchlab.model import set_checkpointing
from batchlab.model import small as small_model
from batchlab.records import Cell
from batchlab.roofline import device
from batchlab.stopwatch import Stopwatch


def qwen_shape() -> Any:
    """The config of a model of the shape of Qwen2.5-0.5B."""
    from transformers import Qwen2Config

    return Qwen2Config(
        vocab_size=151_936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
        num_attention_heads=14, num_key_value_heads=2, tie_word_embeddings=True,
        max_position_embeddings=8192, use_sliding_window=False,
    )  # fmt: skip


def made(shape: Any, dtype: torch.dtype, place: str, *, varlen: bool = True) -> Any:
    """A model with random weights from seed 0, made on its device: on the CPU it takes 17 s."""
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng(), torch.device(place):
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(shape, dtype=dtype, attn_implementation="sdpa")
    model.train()
    return attention.prepare(model) if varlen else model


class Bench:
    """What the stages share."""

    def __init__(self, folder: Path, *, small: bool) -> None:
        self.folder, self.small = folder, small
        self.place = "cuda" if torch.cuda.is_available() else "cpu"
        self.shape = small_model(layers=2).config if small else qwen_shape()
        modern = self.place == "cuda" and torch.cuda.get_device_capability() >= (8, 0)
        self.dtype = torch.bfloat16 if modern and not small else torch.float32
        self.corpus = data.embedded().at_most(256 if small else 2048)
        self.longest = sorted(range(len(self.corpus)), key=lambda i: -self.corpus.lengths[i])

    def write(self, stage: str, **found: Any) -> None:
        """One line of run.jsonl, and the same on the screen."""
        line = {"kind": "gpu", "stage": stage, "small": self.small, **found}
        records.append(self.folder / "run.jsonl", line | {"environment": records.environment()})
        shown = {k: v for k, v in found.items() if not isinstance(v, list | tuple | dict)}
        print(stage, shown, flush=True)

    @functools.cached_property
    def model(self) -> Any:
        return made(self.shape, self.dtype, self.place)

    def flat(self, tokens: int) -> Any:
        """One flat row of documents drawn at random, of about so many tokens."""
        chosen: list[int] = []
        held = 0
        for number in np.random.default_rng(0).permutation(len(self.corpus)).tolist():
            length = int(self.corpus.lengths[number])
            if held + length <= tokens:
                chosen.append(number)
                held += length
            if held > 0.98 * tokens:
                break
        return batches.flattened(self.corpus, chosen)

    def steps(self, model: Any, parts: list[Any], *, warm: int = 2, times: int = 5,
              **options: Any) -> Cell:  # fmt: skip
        """A cell of `times` steps; the optimizer and its states are gone afterwards."""
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
        watch = Stopwatch(model, optimizer, self.place)
        try:
            for number in range(warm + times):
                if number == warm:
                    watch.start()
                watch.step(parts, **options)
            return watch.cell(rows=len(parts[0]["input_ids"]), layout="packed",
                              checkpointing=False, precision="float32")  # fmt: skip
        finally:
            watch.close()
            optimizer.zero_grad(set_to_none=True)
            del optimizer
            collect_memory(self.place)

    def wait(self) -> None:
        if self.place == "cuda":
            torch.cuda.synchronize()


def seconds_of(cell: Cell) -> float:
    """The median step."""
    return statistics.median(cell.step_seconds or ())


def rates(bench: Bench) -> None:
    """What the device can do: products, copies, launches."""
    records.append(bench.folder / "device.jsonl", device.measure().record())


def knee(bench: Bench) -> None:
    """Seconds of a flat micro-batch by its tokens: from launch-bound to compute-bound."""
    sizes = (64, 256, 512) if bench.small else [2**n for n in range(8, 16)]
    for tokens in sizes:
        cell = bench.steps(bench.model, [bench.flat(tokens)])
        optimizer = (cell.parts.optimizer_seconds or 0.0) / cell.steps
        bench.write("knee", tokens=(cell.counts.real_tokens or 0) // cell.steps,
                    seconds=seconds_of(cell), optimizer_seconds=optimizer,
                    peak_bytes=cell.peak_bytes, step_seconds=cell.step_seconds)  # fmt: skip


def same_step(bench: Bench) -> None:
    """The same 16 documents as 16 x 1, 4 x 4 and 1 x 16, padded and flat; and recomputed."""
    plain = [(rows, layout, False) for layout in ("padded", "packed") for rows in (16, 4, 1)]
    precision = str(bench.dtype).removeprefix("torch.")
    for rows, layout, again in [*plain, (16, "padded", True), (16, "packed", True)]:
        set_checkpointing(bench.model, again)
        point = sweep.Point(rows, layout, again, precision)
        parts = sweep.micro_batches_of(bench.corpus, bench.longest[200:216], point)
        cell = bench.steps(bench.model, parts)
        bench.write("same_step", rows=rows, layout=layout, checkpointing=again,
                    seconds=seconds_of(cell), peak_bytes=cell.peak_bytes,
                    waste=cell.counts.waste)  # fmt: skip
    set_checkpointing(bench.model, False)


def flops(bench: Bench) -> None:
    """FLOP/s of the same flat row, eager and compiled."""
    part = bench.flat(512 if bench.small else 16_384)
    per_token = 6 * sum(p.numel() for p in bench.model.parameters())
    for compiled in (False, True):
        begin = time.perf_counter()
        model = torch.compile(bench.model, dynamic=True) if compiled else bench.model
        loop.train_step(model, torch.optim.SGD(bench.model.parameters(), lr=0.0), [part])
        first = time.perf_counter() - begin
        cell = bench.steps(model, [part])
        tokens = (cell.counts.real_tokens or 0) / cell.steps
        bench.write("flops", compiled=compiled, first_step_seconds=first, tokens=tokens,
                    seconds=seconds_of(cell),
                    flops_per_second=per_token * tokens / seconds_of(cell))  # fmt: skip


def backends(bench: Bench) -> None:
    """One varlen call, forward and backward, by each backend that runs here."""
    at = tuple(bench.flat(512 if bench.small else 8192)["cu_seqlens"].tolist())
    half = torch.bfloat16 if bench.dtype == torch.bfloat16 else torch.float32
    how = {"device": bench.place, "dtype": half, "requires_grad": True}
    q, k, v = (torch.randn(at[-1], heads, 64, **how) for heads in (14, 2, 2))
    for name, reason in attention.backends(bench.place, half).items():
        if reason:
            bench.write("backend", backend=name, reason=reason)
            continue
        each = []
        for _ in range(8):
            begin = time.perf_counter()
            attention.varlen(q, k, v, at, backend=name).sum().backward()
            bench.wait()
            each.append(time.perf_counter() - begin)
        bench.write("backend", backend=name, documents=len(at) - 1, tokens=at[-1],
                    first_seconds=each[0], seconds=statistics.median(each[1:]))  # fmt: skip


def new_shapes(bench: Bench) -> None:
    """The first step of a width that was never seen, with and without the plans of cuDNN."""
    model = made(bench.shape, bench.dtype, bench.place, varlen=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    widths = (64, 72) if bench.small else (200, 264, 328, 392)
    for cudnn, width in itertools.product((True, False), widths):
        with _cudnn(bench, on=cudnn):
            parts, each = [batches.padded([[7] * width] * 4, range(4))], []
            for _ in range(3):
                bench.wait()
                begin = time.perf_counter()
                loop.train_step(model, optimizer, parts)
                bench.wait()
                each.append(time.perf_counter() - begin)
        bench.write("new_shape", cudnn=cudnn, width=width, first_seconds=each[0],
                    later_seconds=min(each[1:]))  # fmt: skip


@contextlib.contextmanager
def _cudnn(bench: Bench, *, on: bool) -> Iterator[None]:
    if bench.place == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(on)
    try:
        yield
    finally:
        if bench.place == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(True)


def launch_bound(bench: Bench) -> None:
    """A small model: rows cost nothing until the device is full."""
    model = attention.prepare(small_model(4096, layers=4, hidden=256, heads=4)).to(bench.place)
    for rows in (1, 4, 16) if bench.small else (1, 4, 16, 64, 256, 1024):
        cell = bench.steps(model, [batches.padded([[7] * 64] * rows, range(rows))], times=9)
        bench.write("launch_bound", rows=rows, seconds=seconds_of(cell))


def precisions(bench: Bench) -> None:
    """The same flat row in each precision; TF32 has a line of its own."""
    part = bench.flat(256 if bench.small else 4096)
    ways = [("float32", torch.float32, None), ("autocast-float16", torch.float32, torch.float16)]
    if bench.dtype == torch.bfloat16 or bench.small:
        ways += [("bfloat16", torch.bfloat16, None), ("tf32", torch.float32, None)]
        ways += [("autocast-bfloat16", torch.float32, torch.bfloat16)]
    for name, dtype, autocast in ways:
        torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
        model = made(bench.shape, dtype, bench.place)
        cell = bench.steps(model, [part], times=3, autocast=autocast)
        bench.write("precision", name=name, seconds=seconds_of(cell), peak_bytes=cell.peak_bytes)
        del model
        collect_memory(bench.place)
    torch.set_float32_matmul_precision("highest")


def starvation(bench: Bench) -> None:
    """A builder that needs 20 ms of Python a micro-batch, by the number of workers."""
    numbers = [list(range(8 * i, 8 * i + 8)) for i in range(8 if bench.small else 24)]
    for workers in (0, 1, 2, 4):
        optimizer = torch.optim.AdamW(bench.model.parameters(), lr=1e-6)
        watch = Stopwatch(bench.model, optimizer, bench.place)
        parts = iter(Loader(bench.corpus, numbers, build=slow, workers=workers))
        for at in range(len(numbers)):
            if at == 4:
                watch.start()
            with watch.input():
                part = next(parts)
            watch.step([part])
        cell = watch.cell(rows=8, layout="padded", checkpointing=False, precision="float32")
        watch.close()
        share = (cell.parts.input_seconds or 0.0) / cell.seconds
        bench.write("starvation", workers=workers, seconds=seconds_of(cell), input_share=share)
        optimizer.zero_grad(set_to_none=True)
        del optimizer
        collect_memory(bench.place)


def slow(documents: Any, numbers: Any) -> Any:
    """Padded rows, after 20 ms of work."""
    until = time.perf_counter() + 0.02
    while time.perf_counter() < until:
        pass
    return batches.padded(documents, numbers)


def limit(bench: Bench) -> None:
    """Seconds and allocator retries as the memory that is allowed nears the peak; CUDA only."""
    if bench.place != "cuda":
        bench.write("limit", reason="the CPU has no allocator that retries")
        return
    parts = [
        batches.padded(bench.corpus, bench.longest[400 + 8 * i : 408 + 8 * i]) for i in range(6)
    ]
    total = torch.cuda.get_device_properties(0).total_memory
    peak = bench.steps(bench.model, parts, times=2).peak_bytes or 0
    for share in (1.5, 1.15, 1.08, 1.04, 1.02):
        collect_memory(bench.place)
        torch.cuda.set_per_process_memory_fraction(min(1.0, share * peak / total))
        try:
            cell = bench.steps(bench.model, parts, warm=1, times=4)
            found = {"seconds": seconds_of(cell), "allocator_retries": cell.allocator_retries}
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            found = {"error": str(error).splitlines()[0]}
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        bench.write("limit", share=share, **found)

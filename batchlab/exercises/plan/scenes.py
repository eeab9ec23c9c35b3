"""What the page of lesson 18 shows: the sheet of a model, what fits, a plan beside what came."""

import html
from pathlib import Path

import numpy as np

from batchlab import memory, report, roofline, units
from batchlab.exercises.accumulation.take_step import take_step
from batchlab.exercises.effective.scenes import pack_rows, packs
from batchlab.exercises.memory.most_rows import most_rows
from batchlab.exercises.plan.foretold_test import foretold
from batchlab.exercises.plan.live import guards, steps_once, whole_run
from batchlab.plan import Plan

__all__ = [
    "LLAMA_8B",
    "calibration",
    "compared",
    "fastest",
    "foretold",
    "guards",
    "most_rows",
    "pack_rows",
    "packs",
    "page",
    "sheet_of",
    "small_model",
    "steps_once",
    "take_step",
    "whole_run",
    "write_page",
]

# Llama 3 8B: Grattafiori et al. 2024, Table 3
LLAMA_8B = memory.ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)


def sheet_of(shape, bytes_per_value=2):
    """The sizes of a model as the lesson writes them."""
    q, kv = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    products = [(shape.hidden, q), (shape.hidden, kv), (shape.hidden, kv), (q, shape.hidden)]
    products += [(shape.hidden, shape.intermediate)] * (3 if shape.gated else 2)
    linear = shape.layers * sum(a * b for a, b in products)
    one = memory.estimate(shape, Plan(1, 1, 1, 1), bytes_per_value=bytes_per_value)
    return {
        "linear": linear,
        "other": shape.parameters - linear,
        "adapter": shape.layers * sum(a + b for a, b in products),
        "layers": shape.layers,
        "kept": one.activations // shape.layers,
        "vocabulary": shape.vocabulary,
        "flops": roofline.flops_per_token(shape, 1, convention="parameters"),
    }


def small_model(vocabulary, place):
    """A model of one layer, and its sheet; in float32 each weight takes 16 bytes, too."""
    from batchlab import model

    network = model.small(vocabulary, layers=1).to(place)
    own = memory.ModelShape.from_config(network.config)
    return network, sheet_of(own, bytes_per_value=4)


def fastest(place):
    """FLOP/s of the fastest products here: on the CPU of one thread, times the threads.

    Another program takes a core away for a moment; some product in between had it for itself.
    """
    import torch

    from batchlab.roofline import device

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = [one for _ in range(3) for one in device.measure(place, seconds=0.3).products]
    finally:
        torch.set_num_threads(threads)
    return max(one.amount / min(one.seconds) for one in found) * (threads if place == "cpu" else 1)


def compared(promised, fits, peaks, log):
    """[(what, promised, came)] of a run; log holds (slots, seconds, loss) of each step."""
    half = len(log) // 2
    slots, seconds = (sum(part) for part in zip(*(one[:2] for one in log[half:]), strict=True))
    guess = foretold([one[:2] for one in log[:half]], slots)
    return [
        ("steps", promised["steps"], len(log)),
        ("slots", promised["slots"], sum(one[0] for one in log)),
        ("rows that fit", promised["rows"], fits),
        ("bytes at the peak", promised["bytes"], peaks.get(promised["rows"], peaks[fits])),
        ("time, by utilisation", promised["hours"], sum(one[1] for one in log) / 3600),
        ("seconds of the second half", guess, seconds),
    ]


def page(title, planned, checked):
    """One page of text: the plan, then (what, promised, measured) with what each is off by."""
    lines = [["time" if n == "hours" else n, _shown(n, value)] for n, value in planned.items()]
    compared = [
        [what, _shown(what, promised), _shown(what, got), _off(promised, got)]
        for what, promised, got in checked
    ]
    heads = ["", "promised", "measured", "measured / promised"]
    tables = [
        report.table(["the plan", ""], lines, align="lr"),
        report.table(heads, compared, align="lrrr"),
    ]
    return "\n".join([title, "=" * len(title), "", tables[0], "", tables[1]])


def write_page(path, text, *figures):
    """The page and its figures as one HTML file, for the printer of any browser."""
    drawn = "".join(f"<p>{figure._repr_html_()}</p>" for figure in figures)
    style = "<style>body{max-width:45em;margin:2em auto}img,svg{max-width:100%}</style>"
    body = f"<!doctype html><meta charset='utf-8'>{style}<pre>{html.escape(text)}</pre>{drawn}"
    Path(path).write_text(body, encoding="utf-8")
    print(f"Written: {path}")


def calibration(pairs):
    """How good guesses are: {"typical", "bias", "within_two"} of (guess, truth), or None.

    A pair where one is 0, or where the signs differ, cannot be compared.
    """
    logs = [np.log(guess / truth) for guess, truth in pairs if guess * truth > 0]
    if not logs:
        return None
    off = np.abs(logs)
    return {
        "typical": round(float(np.exp(np.median(off))), 3),
        "bias": round(float(np.exp(np.mean(logs))), 3),
        "within_two": round(float(np.mean(off < np.log(2))), 3),
    }


def _shown(name, value):
    if isinstance(value, tuple | list):
        return " to ".join(_shown(name, one) for one in value)
    if name.startswith("bytes"):
        return units.size(int(value))
    if name.startswith(("seconds", "hours", "time")):  # a time comes in hours
        return units.duration(float(value) * (1 if name.startswith("seconds") else 3600))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _off(promised, got):
    if isinstance(promised, tuple | list):
        return "inside" if promised[0] <= got <= promised[1] else "outside"
    return f"{got / promised:.3g}"

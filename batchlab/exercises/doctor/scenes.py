"""What the page of lesson 11 shows: a ward of slow runs, launches against padding, a live sweep.

run of the ward  ->  its table, and what a cure gains;  your doctor  ->  beside the library's
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from batchlab import data, doctor, padding
from batchlab.exercises.doctor.planted import panel, plain, ward
from batchlab.exercises.throughput.fit_step import fit_step

__all__ = [
    "CHANGES",
    "apply",
    "contest",
    "finder",
    "fit_step",
    "fits",
    "live_sweep",
    "panel",
    "plain",
    "table",
    "ward",
]

CHANGES = {
    "padding": "the same documents, packed",
    "recomputation": "checkpointing off, the same rows",
    "saturation": "twice the rows",
    "memory": "half the rows, twice the accumulation",
    "input": "loader workers that keep up",
    "host": "no stalls between the steps",
    "launch": "twice the rows",
}
LAUNCHES = {"eager": 0.020, "compiled": 0.007}  # planted seconds a micro-batch
SLOT = 20e-6  # planted seconds
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64)
LONGEST, ROUNDS, STEPS = 256, 3, 2  # of the live sweep


def fits(yours):
    """Whether a learner's fit of lesson 09 finds t0 = 0.5 and tau = 0.01 from exact times."""
    fixed, each = list(yours([10, 20, 40, 80], [0.6, 0.7, 0.9, 1.3]))[:2]
    return abs(float(fixed) - 0.5) < 1e-3 and abs(float(each) - 0.01) < 1e-4


@cache
def rate(rows, launch, layout):
    """Useful tokens per second, waste, and launches as a share of the time."""
    lengths = np.asarray(data.embedded().at_most(1024).lengths)
    width = float(padding.expected_longest(lengths, rows) if layout == "padded" else lengths.mean())
    seconds = LAUNCHES[launch] + SLOT * rows * width
    useful = rows * float(lengths.mean())
    return useful / seconds, 1 - useful / (rows * width), LAUNCHES[launch] / seconds


def best(launch, layout):
    """The rows with the most useful tokens per second."""
    return max(ROWS, key=lambda rows: rate(rows, launch, layout)[0])


def finder():
    """Rows, launch and layout against useful tokens per second; the goal is the best rows."""
    from batchlab import widgets

    def scene(rows, launch, layout):
        found, waste, launched = rate(rows, launch, layout)
        facts = {"useful tokens per second": f"{found:,.0f}", "waste": f"{max(waste, 0.0):.1%}"}
        return {"facts": {**facts, "launches, share of the time": f"{launched:.1%}"}}

    controls = {
        "rows": ("rows per micro-batch", list(ROWS)),
        "launch": ("model", list(LAUNCHES)),
        "layout": ("rows are", ["padded", "packed"]),
    }
    right = (best("eager", "padded"), "eager", "padded")
    return widgets.finder(
        "Launches against padding", controls, scene,
        goal="Eager and padded: the rows with the most useful tokens per second.",
        start={"rows": 16, "launch": "eager", "layout": "padded"},
        where=lambda rows, launch, layout: (rows, launch, layout) == right,
    )  # fmt: skip


def table(run):
    """The sweep of a run as a reader would print it, all rounds together."""
    said = [f"{'rows':>6} {'useful tokens/s':>16} {'waste':>7} {'busy':>6} {'retries':>8}"]
    visits = run.sweep()
    for rows in run.grid:
        mine = [one for one in visits if one["rows"] == rows]
        total = {key: sum(one[key] for one in mine) for key in ("real_tokens", "slots", "seconds")}
        useful = total["real_tokens"] / total["seconds"]
        waste = 1 - total["real_tokens"] / total["slots"]
        busy = sum(one["busy"] for one in mine) / len(mine)
        retries = sum(one["retries"] for one in mine)
        said.append(f"{rows:>6} {useful:>16,.0f} {waste:>7.1%} {busy:>6.0%} {retries:>8}")
    return "\n".join(said) + "\n" + "checkpointing is on" * run.checkpointing


def apply(name, cause):
    """Print what the cure of a cause gains in a run of the ward, measured."""
    gain = ward()[name].gain_of(cause)
    print(f"{name}: {CHANGES[cause]}: {gain:+.1%} useful tokens per second")


def contest(diagnose, seed):
    """Print what two doctors say of sweeps that neither has seen, and what the cure gained."""
    print(f"{'yours':<15} {'gain':>18}   {'the library':<15} {'gain':>18}   measured")
    runs, held = panel(1, seed), 0
    for run in runs:
        yours, library = diagnose(run.sweep()), doctor.diagnose(run.cells)
        first = library.causes[0] if library.causes else None
        between = first.interval if first else None
        theirs = f"{between.low:.0%} to {between.high:.0%}" if between else "no number"
        mine = f"{yours['low']:.0%} to {yours['high']:.0%}"
        named = first.name if first else "none"
        print(f"{yours['cause']:<15} {mine:>18}   {named:<15} {theirs:>18}   {run.gain:>8.1%}")
        held += yours["low"] <= run.gain <= yours["high"]
    print(f"Your intervals hold {held} of {len(runs)}.")


def live_sweep(device="cpu"):
    """Cells measured now on one thread: padded micro-batches of 2 to 16 rows, packed ones of 16."""
    import torch

    from batchlab import attention, model, sweep
    from batchlab.records import Identity, Model

    corpus = data.embedded().at_most(LONGEST)

    def make(precision, layout):
        return attention.prepare(model.small(corpus.vocabulary, layers=1, hidden=32, heads=2))

    points = [*sweep.grid((2, 4, 8, 16)), sweep.Point(16, "packed")]
    named = Identity(Model("small"), "lesson-11", corpus.name, corpus.fingerprint)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steadier on a busy machine, and what others take is then known
    try:
        with tempfile.TemporaryDirectory() as folder:
            return sweep.run(
                corpus, make, points, path=Path(folder) / "live.jsonl", identity=named,
                documents_per_step=16, steps=STEPS, rounds=ROUNDS, device=device,
            )  # fmt: skip
    finally:
        torch.set_num_threads(threads)

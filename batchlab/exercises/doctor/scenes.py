"""What the page of lesson 11 shows: a ward of slow runs, a trace, the script without padding.

run of the ward  ->  its table, and what a cure gains;  your doctor  ->  beside the library's
"""

from batchlab import doctor
from batchlab.exercises.doctor.planted import plain, ward

__all__ = [
    "CHANGES",
    "applied",
    "apply",
    "bars",
    "plain",
    "promised",
    "table",
    "trace",
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
PARTS = ("useful", "padding", "launch", "recomputation", "input", "host", "optimizer", "unexplained")  # fmt: skip


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


def applied(yours):
    """Print what the cures of your own diagnoses gain."""
    for name, cause in yours.items():
        apply(name, cause)


def promised(diagnose, cells):
    """Print what a doctor and the library say of the padded cells, and what packing gained."""
    padded = [cell for cell in cells if cell.layout == "padded"]
    yours, library = diagnose([plain(cell) for cell in padded]), doctor.diagnose(padded)
    print(f"you: {yours['cause']}, {yours['low']:.0%} to {yours['high']:.0%}")
    for cause in library.causes:
        ends = cause.interval and f"{cause.interval.low:.0%} to {cause.interval.high:.0%}"
        print(f"library: {cause.name}, {ends or cause.refused or 'no number'}")
    for number in sorted({cell.round for cell in cells}):
        here = [cell for cell in cells if (cell.rows, cell.round) == (16, number)]
        one = {cell.layout: plain(cell) for cell in here}
        rates = {name: visit["real_tokens"] / visit["seconds"] for name, visit in one.items()}
        print(f"round {number}: packed gains {rates['packed'] / rates['padded'] - 1:.0%}")


def bars(splits, scale=1.0):
    """Parts of steps as `plots.stacked` takes them: a cause has one colour wherever it is drawn."""
    merged = [{**one, "useful": one["useful"] + one["optimizer"]} for one in splits]
    return {
        name.replace("useful", "useful and optimizer"): [scale * max(one[name], 0) for one in merged]
        for name in PARTS if name != "optimizer"
    }  # fmt: skip


def trace(model, rows, width):
    """One forward and backward pass over `rows` x `width`: (start, end) seconds of its operators."""
    import os
    from unittest import mock

    import torch

    ids = torch.randint(4096, (rows, width), generator=torch.manual_seed(0))
    model(input_ids=ids, labels=ids).loss.backward()  # the first pass warms up
    quiet = mock.patch.dict(os.environ, KINETO_LOG_LEVEL="99")  # it writes to stderr
    with quiet, torch.profiler.profile() as seen:
        model(input_ids=ids, labels=ids).loss.backward()
    spans = [one.time_range for one in seen.events() if one.name.startswith("aten::")]
    return [(1e-6 * span.start, 1e-6 * span.end) for span in spans]

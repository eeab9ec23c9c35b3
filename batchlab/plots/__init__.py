"""Figures of padding, packing, time and memory: readable in grey, with text for who cannot see.

    results  ->  matplotlib Figure with `batchlab_alt`

Every figure takes what other rooms computed and draws it; nothing is computed here that `report`
could not print.
"""

from batchlab.plots._canvas import save, show
from batchlab.plots._dots import intervals, scatter
from batchlab.plots._learning import noise_along, rules, steps_and_examples
from batchlab.plots._memory import memory_stack, timeline
from batchlab.plots._predicted import predicted_measured
from batchlab.plots._public import (
    public_curves,
    public_ladder,
    public_samples,
    public_utilisation,
)
from batchlab.plots._scale import served, world
from batchlab.plots._series import bars, before_after, law, lines, loss_curves, stacked
from batchlab.plots._slots import overview, packed_rows, packing_rows, rectangle, step_strips
from batchlab.plots._speed import lost_time, throughput
from batchlab.plots._waste import lengths_histogram, waste_by_rows

__all__ = [
    "bars",
    "before_after",
    "intervals",
    "law",
    "lengths_histogram",
    "lines",
    "loss_curves",
    "lost_time",
    "memory_stack",
    "noise_along",
    "overview",
    "packed_rows",
    "packing_rows",
    "predicted_measured",
    "public_curves",
    "public_ladder",
    "public_samples",
    "public_utilisation",
    "rectangle",
    "rules",
    "save",
    "scatter",
    "served",
    "show",
    "stacked",
    "step_strips",
    "steps_and_examples",
    "throughput",
    "timeline",
    "waste_by_rows",
    "world",
]

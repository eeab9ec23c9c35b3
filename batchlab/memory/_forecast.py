"""Predict the peak for any number of rows from traces of two.

    model or config, setting  ->  bytes for rows and accumulation, without a trace of their own

Each phase of a step is affine in its rows, as it is in its layers; the peak is the largest phase.
Rows of unequal length need a mask, a second micro-batch finds gradients, and a loss in chunks has
no more logits than one, so each of these has a line of its own, traced when first asked for.
"""

import math
from typing import Any

from batchlab.memory import trace

__all__ = ["TRACED", "Forecast"]

TRACED = 2, 4  # rows


class Forecast:
    """Peaks of one model in one setting; the options are those of `trace.predict_peak`."""

    def __init__(self, source: Any, *, length: int, **options: Any) -> None:
        self.source = source
        self.options = {"length": length, **options}
        self._lines: dict[tuple[bool, bool, bool], list[trace.Peak]] = {}

    def total_bytes(self, rows: int, *, accumulation: int = 1, padded: bool = False) -> int:
        """The predicted peak."""
        chunk = self.options.get("loss_chunk")
        chunked = bool(chunk) and rows * self.options["length"] > chunk
        fewer, greater = self._traced(chunked)
        few, more = self._line(padded, accumulation > 1, chunked)
        totals = []
        for phase, kinds in few.by_phase.items():
            low, high = sum(kinds.values()), sum(more.by_phase[phase].values())
            totals.append(low + (high - low) * (rows - fewer) // (greater - fewer))
        return max(totals)

    @property
    def states_bytes(self) -> int:
        """Parameters, gradients and optimizer: what no number of rows changes."""
        after = self._line(False, False, False)[0].by_phase["optimizer"]
        return after["parameters"] + after["gradients"] + after["optimizer"]

    def _traced(self, chunked: bool) -> tuple[int, int]:
        """Two numbers of rows on the same side of the chunk: beyond it, logits no longer grow."""
        uncut = (self.options.get("loss_chunk") or math.inf) // self.options["length"]
        if not chunked:
            return TRACED if uncut >= TRACED[1] else (1, 2)  # if 2 are cut, only 1 is asked for
        first = int(uncut) + 1
        return first, 2 * first

    def _line(self, padded: bool, accumulates: bool, chunked: bool) -> list[trace.Peak]:
        key = padded, accumulates, chunked
        if key not in self._lines:
            how = {"padded": padded, "accumulation": 2 if accumulates else 1, **self.options}
            self._lines[key] = [
                trace.predict_peak(self.source, rows=rows, **how) for rows in self._traced(chunked)
            ]
        return self._lines[key]

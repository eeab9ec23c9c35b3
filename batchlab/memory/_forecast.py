"""Predict the peak for any number of rows from traces of two.

    model config, setting  ->  bytes for rows and accumulation, without a trace of their own

Each phase of a step is affine in its rows, as it is in its layers; the peak is the largest phase.
Rows of unequal length need a mask and a second micro-batch finds gradients, so each of these has
a line of its own, traced when it is first asked for.
"""

from typing import Any

from batchlab.memory import trace

__all__ = ["TRACED", "Forecast"]

TRACED = 2, 4  # rows


class Forecast:
    """Peaks of one model in one setting; the options are those of `trace.predict_peak`."""

    def __init__(self, config: Any, *, length: int, **options: Any) -> None:
        self.config = config
        self.options = {"length": length, **options}
        self._lines: dict[tuple[bool, bool], list[trace.Peak]] = {}

    def total_bytes(self, rows: int, *, accumulation: int = 1, padded: bool = False) -> int:
        """The predicted peak."""
        (fewer, greater), totals = TRACED, []
        few, more = self._line(padded, accumulation > 1)
        for phase, kinds in few.by_phase.items():
            low, high = sum(kinds.values()), sum(more.by_phase[phase].values())
            totals.append(low + (high - low) * (rows - fewer) // (greater - fewer))
        return max(totals)

    @property
    def states_bytes(self) -> int:
        """Parameters, gradients and optimizer: what no number of rows changes."""
        after = self._line(False, False)[0].by_phase["optimizer"]
        return after["parameters"] + after["gradients"] + after["optimizer"]

    def _line(self, padded: bool, accumulates: bool) -> list[trace.Peak]:
        key = padded, accumulates
        if key not in self._lines:
            how = {"padded": padded, "accumulation": 2 if accumulates else 1, **self.options}
            self._lines[key] = [
                trace.predict_peak(self.config, rows=rows, **how) for rows in TRACED
            ]
        return self._lines[key]

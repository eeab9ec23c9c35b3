"""The figures of a report: which of them the records allow, and where they are written.

Material  ->  throughput, memory, lost_time, predicted_steps, predicted_peaks
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchlab import data, doctor
from batchlab.doctor.throughput import Throughput

__all__ = ["NAMES", "Material", "draw", "make", "predicted_memory"]

NAMES = ("throughput", "memory", "lost_time", "predicted_steps", "predicted_peaks")
CURVE_POINTS = 41


@dataclass(frozen=True)
class Material:
    """What a report found: cells, records of peaks, and the memory predicted for the cells."""

    throughput: Throughput | None
    peaks: Sequence[Mapping[str, Any]]
    predicted: Mapping[int, Mapping[str, float]] | None = None

    @property
    def cells(self) -> Throughput:
        if self.throughput is None or not self.throughput.finished:
            raise ValueError("no cell finished")
        return self.throughput


def make(name: str, material: Material) -> Any:
    """One of the figures; a ValueError says what the records lack for it."""
    return MAKERS[name](material)


def draw(path: Path, material: Material) -> tuple[list[str], dict[str, str]]:
    """Write all figures into a folder, or the throughput into a file; say which are missing."""
    from batchlab import plots

    whole_folder = path.is_dir() or not path.suffix
    if whole_folder:
        path.mkdir(parents=True, exist_ok=True)
    drawn, missing = [], {}
    for name in NAMES if whole_folder else NAMES[:1]:
        target = path / f"{name}.png" if whole_folder else path
        try:
            figure = make(name, material)
        except ValueError as error:
            if not whole_folder:
                raise ValueError(f"{name} cannot be drawn: {error}") from None
            missing[name] = str(error)
            continue
        plots.save(figure, target)
        drawn.append(str(target))
    return drawn, missing


def _throughput(material: Material) -> Any:
    from batchlab import plots

    throughput = material.cells
    measured: dict[str, dict[int, tuple[float, float, float]]] = {}
    ended: dict[str, list[int]] = {}
    for line in throughput.lines:
        name, rows = throughput.name_of(line), line.cell.rows
        if line.finished:
            measured.setdefault(name, {})[rows] = line.rate, line.slowest, line.fastest
        elif line.out_of_memory:
            ended.setdefault(name, []).append(rows)
    try:
        knee, curve = throughput.knee_rows, _curve(throughput)
    except ValueError:  # too few sizes: the table says so
        knee, curve = None, None
    return plots.throughput(measured, knee_rows=knee, without_padding=curve, out_of_memory=ended)


def _curve(throughput: Throughput) -> dict[float, float]:
    rows = [line.cell.rows for line in throughput.lines]
    low, high = min(rows), max(rows)
    places = [low * (high / low) ** (n / (CURVE_POINTS - 1)) for n in range(CURVE_POINTS)]
    return {place: throughput.rate_without_padding(place) for place in places}


def _memory(material: Material) -> Any:
    """Of predicted peaks by kind, else of the prediction for the cells, else as measured."""
    from batchlab import plots

    alike = _alike(material.peaks)
    by_kind = {one["rows"]: one["by_kind"] for one in alike if one.get("by_kind")}
    if by_kind:
        measured = {one["rows"]: one["measured_bytes"] for one in alike if one.get("by_kind")}
        title = f"Memory of a step, rows of {alike[0]['length']:,} slots"
        return plots.memory_stack(by_kind, measured_bytes=measured, title=title)
    if material.predicted:
        title = f"Predicted memory of a step, rows of {data.DEFAULT_LONGEST} slots"
        return plots.memory_stack(material.predicted, title=title)
    throughput = material.cells
    lines = [line for line in throughput.finished if line.peak_bytes]
    if not lines:
        raise ValueError("no record holds a peak; `batchlab memory --figure` predicts it")
    name = throughput.name_of(lines[0])
    peak = {
        line.cell.rows: {"measured peak": float(line.peak_bytes or 0)}
        for line in lines
        if throughput.name_of(line) == name
    }
    return plots.memory_stack(peak, title=f"Peak memory of a step, {name}")


def predicted_memory(throughput: Throughput) -> dict[int, dict[str, int]] | None:
    """Bytes by kind for the embedded model and corpus, whose config is known; else None."""
    from batchlab import model
    from batchlab.memory import trace

    first = throughput.lines[0].cell
    names = first.identity.model.name, first.identity.data, first.precision
    if names != ("small", "stdlib", "float32"):
        return None
    config = model.load(None).config
    accumulation = {line.cell.rows: line.cell.accumulation or 1 for line in throughput.lines}
    return {
        rows: trace.predict_peak(
            config, rows=rows, length=data.DEFAULT_LONGEST, accumulation=min(2, accumulation[rows])
        ).by_kind
        for rows in sorted(accumulation)
    }


def _alike(peaks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The peaks of one length, by rows, with all activations kept: that of the most rows."""
    kept = [one for one in peaks if not one.get("checkpointing")] or list(peaks)
    lengths = [one["length"] for one in kept]
    most = max(lengths, key=lambda length: (lengths.count(length), length), default=0)
    return sorted((one for one in kept if one["length"] == most), key=lambda one: one["rows"])


def _lost_time(material: Material) -> Any:
    from batchlab import plots

    return plots.lost_time(doctor.diagnose(line.cell for line in material.cells.lines))


def _predicted_steps(material: Material) -> Any:
    from batchlab import plots

    throughput = material.cells
    pairs: dict[str, list[tuple[float, float]]] = {}
    for one in throughput.predictions:
        pair = one.predicted_seconds, one.measured_seconds
        pairs.setdefault(throughput.name_of(one.line), []).append(pair)
    if not pairs:
        raise ValueError("without any one of the cells, fewer than three sizes are left")
    return plots.predicted_measured(pairs, of="seconds", title="Steps, predicted by other cells")


def _predicted_peaks(material: Material) -> Any:
    from batchlab import plots

    if not material.peaks:
        raise ValueError("no records of predicted and measured peaks")
    pairs: dict[str, list[tuple[float, float]]] = {}
    for one in material.peaks:
        name = "checkpointing" if one.get("checkpointing") else "activations kept"
        pairs.setdefault(name, []).append((one["predicted_bytes"], one["measured_bytes"]))
    return plots.predicted_measured(pairs, title="Peaks, predicted without the device")


MAKERS: dict[str, Callable[[Material], Any]] = {
    "throughput": _throughput,
    "memory": _memory,
    "lost_time": _lost_time,
    "predicted_steps": _predicted_steps,
    "predicted_peaks": _predicted_peaks,
}

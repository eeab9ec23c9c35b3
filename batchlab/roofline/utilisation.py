"""The share of a device's peak that public runs reached, and what it leads to expect of another.

    public run  ->  its utilisation
    FLOPs of a device and step, layout, device  ->  Expected: least, middle, most

What decides is the work that a device has between two synchronisations. The logarithm of the
utilisation is fitted as a straight function of

    log2 of the work, and one over the work   a step costs something that no work shortens
    log2 of tensor and of context parallel    pieces of one layer are smaller, and travel
    Blackwell, H200, FP4                      devices and number types

Pipeline stages, replicas and the number of devices come in by the work alone: beside it they did
not lower the error. Each configuration counts once, however often it was submitted. With its
configuration left out of the fit, half of the 73 are missed by 6 % at most and nine in ten by 21 %;
with all runs of its model left out, nine in ten by 28 %, where one mean number for all misses by
48 %. A range is those 28 %: nine in ten configurations of a model that the fit has not seen.

All of them compute in FP8 or FP4 and publish their layout, tuned by their vendors: a first run of
your own is below. Shares are of the bf16 peak whatever the number type, and may pass 1. Derived,
verified by nobody; see `records.public_runs().notice`.

In bf16 products take twice the time of FP8 and the rest of a step as long: a share s of FP8 becomes
1 / (1 / 2 + 1 / s). That is a model, no fit, and it is where the range in bf16 ends: six published
runs in bf16 lie at 61 to 82 % of it (Llama 3 405B, Table 4; torchtitan's 8B of December 2024, the
least without compilation). The range begins at `UNTUNED` of it. In FP8 torchtitan reached 68 %
of the middle, below the range: expect the like of a tool that nobody tuned for you.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

import numpy as np

from batchlab import records
from batchlab.roofline._formula import DEVICES, Device
from batchlab.units import real, whole

__all__ = ["FASTER", "NAMES", "Expected", "expected", "foretold", "left_out", "like", "of"]

Key: TypeAlias = tuple[object, ...]
NAMES = {"H100": "H100 SXM", "H200": "H200 SXM", "B200": "B200", "GB200": "GB200"}  # with a source
FASTER = {"bf16": 1, "fp8": 2, "fp4": 4}  # peak over that of bf16; FP4 on Blackwell only
UNIT = 1e15  # FLOPs of a device and step
UNTUNED = 0.6  # of what tuned runs lead to expect: what a run in bf16 reached at least
TOLD = 0.9  # of the configurations of a model that was left out lie inside a range
WIDEST = 8  # tensor or context parallel


@dataclass(frozen=True)
class Expected:
    """Shares of the bf16 peak; in fp8, fp4 nine in ten of an unseen model lie inside."""

    least: float
    middle: float
    most: float
    configurations: int  # behind the fit
    device: Device  # with the peak of the number type that was asked for

    @property
    def shares(self) -> tuple[float, float]:
        """Least and most of the peak of `device`, as `cluster.bill` takes them."""
        bf16 = DEVICES[self.device.name.partition(" in ")[0]].flops_per_second
        factor = self.device.flops_per_second / bf16
        return self.least / factor, min(1.0, self.most / factor)


def of(run: records.PublicRun | records.Submission) -> float:
    """Return the share of the bf16 peak that a public run reached, evaluations left out.

    Refused are devices without a sourced peak, and runs whose log tells no throughput.

    >>> one = records.public_runs(benchmark="llama31_8b", device="H100").submissions[0]
    >>> one.system, round(of(one), 3)
    ('hpf_n16', 0.392)
    """
    if run.device not in NAMES:
        raise ValueError(
            f"{run.device}: its peak has no source here, so it has no utilisation; there are "
            f"{', '.join(NAMES)}"
        )
    peak = DEVICES[NAMES[run.device]].flops_per_second
    if run.samples_per_second is None:
        raise ValueError(f"{run.label}: its log tells no throughput")
    return run.samples_per_second * _flops(run.benchmark) / (run.devices * peak)


def expected(
    flops_of_a_step: float,
    devices: int,
    device: Device,
    *,
    precision: str = "fp8",
    tensor_parallel: int = 1,
    context_parallel: int = 1,
) -> Expected:
    """Return the utilisation that public runs lead to expect.

    flops_of_a_step  forward and backward of all devices: tokens x `flops_per_token`
    precision        of the matrix products: fp8, on Blackwell fp4; bf16 by the model above

    Refused is what no public run is like: another device or number type, and less or more work of
    a device and step than any of them had.

    >>> found = expected(32 * 421.6e12, 64, DEVICES["B200"], context_parallel=2)
    >>> [round(share, 2) for share in (found.least, found.middle, found.most)]
    [0.38, 0.48, 0.62]
    """
    known = [short for short, name in NAMES.items() if name == device.name]
    if not known:
        raise ValueError(f"no public run on {device.name} here; there are {', '.join(NAMES)}")
    if precision not in FASTER or (precision == "fp4" and not known[0].endswith("B200")):
        raise ValueError(
            f"no public run here computes in {precision} on {known[0]}; there are fp8, fp4 on B200 "
            "and GB200, and bf16 derived from fp8"
        )
    work = real(flops_of_a_step, "flops_of_a_step", above=0) / whole(devices, "devices")
    fit = _fit()
    if not fit.least_work <= work <= fit.most_work:
        raise ValueError(
            f"{work:.3g} FLOPs of a device and step: public runs have "
            f"{fit.least_work:.3g} to {fit.most_work:.3g}"
        )
    tensor, context = (
        whole(value, name, most=WIDEST)
        for value, name in (
            (tensor_parallel, "tensor_parallel"), (context_parallel, "context_parallel")
        )
    )  # fmt: skip
    line = _line(work, tensor, context, known[0], precision == "fp4")
    middle, factor = math.exp(line @ fit.slopes), math.exp(fit.miss)
    least, most = middle / factor, middle * factor
    if precision == "bf16":
        most = 1 / (1 - 1 / FASTER["fp8"] + 1 / middle)
        least, middle = UNTUNED * most, math.sqrt(UNTUNED) * most
    scaled = replace(
        device,
        name=device.name if precision == "bf16" else f"{device.name} in {precision}",
        flops_per_second=FASTER[precision] * device.flops_per_second,
    )
    return Expected(least, middle, most, fit.configurations, scaled)


def like(flops_per_token: float, devices: int, device: Device) -> records.Submission:
    """Return the public run that is most like yours: its layout is a guess for yours.

    Of the model nearest in FLOPs of a token, by ratio; on this device if any of it ran there; of
    those the one with the nearest number of devices.

    >>> one = like(51e9, 100, DEVICES["H100 SXM"])
    >>> one.benchmark, one.devices, one.tensor_parallel
    ('llama31_8b', 128, 2)
    """
    asked = math.log(real(flops_per_token, "flops_per_token", above=0))
    count = math.log(whole(devices, "devices"))
    benchmarks = records.public_runs().benchmarks

    def away(one: records.Submission) -> tuple[float, bool, float]:
        tokens = benchmarks[one.benchmark].length or 1
        size = abs(math.log(_flops(one.benchmark) / tokens) - asked)
        return size, NAMES[one.device] != device.name, abs(math.log(one.devices) - count)

    return min((each[0] for each in _configurations().values()), key=away)


def left_out(*, by: str = "configuration") -> dict[str, float]:
    """Return how far off the fit is where it has not been: {"half": ..., "nine in ten": ...}.

    Relative misses of all configurations, each predicted by a fit without it (`by`
    "configuration"), or without all runs of its "model" or "device". "one number" is the miss
    of nine in ten where the mean of the rest is told instead.
    """
    lines, logs, keys = _table()
    same = _groups(keys, by)
    misses, plain = _misses(lines, logs, same), _misses(lines[:, :1], logs, same)
    half, most = np.expm1(np.quantile(np.abs(misses), [0.5, TOLD]))
    one = np.expm1(np.quantile(np.abs(plain), TOLD))
    return {"half": float(half), "nine in ten": float(most), "one number": float(one)}


def foretold(*, by: str = "configuration") -> list[tuple[tuple[records.Submission, ...], float]]:
    """Return the submissions of each configuration, and its share told by a fit without it.

    `by` is that of `left_out`.
    """
    lines, logs, keys = _table()
    shares = np.exp(logs + _misses(lines, logs, _groups(keys, by)))
    return [
        (tuple(_configurations()[key]), float(at)) for key, at in zip(keys, shares, strict=True)
    ]


def _groups(keys: list[Key], by: str) -> Sequence[object]:
    """What of each configuration is left out together."""
    if by not in ("configuration", "model", "device"):
        raise ValueError(f'left out by "configuration", "model" or "device", got {by!r:.40}')
    return keys if by == "configuration" else [key[("model", "device").index(by)] for key in keys]


@dataclass(frozen=True)
class _Fit:
    slopes: np.ndarray
    miss: float  # of the logarithm, in nine of ten configurations whose model was left out
    configurations: int
    least_work: float
    most_work: float


@cache
def _fit() -> _Fit:
    lines, logs, keys = _table()
    misses = _misses(lines, logs, [key[0] for key in keys])
    works = [UNIT * 2 ** line[1] for line in lines]
    slopes = np.linalg.lstsq(lines, logs, rcond=None)[0]
    miss = float(np.quantile(np.abs(misses), TOLD))
    return _Fit(slopes, miss, len(logs), min(works), max(works))


def _misses(lines: np.ndarray, logs: np.ndarray, groups: Sequence[object]) -> np.ndarray:
    """Predicted less seen, of each line by a fit without its group."""
    found = np.zeros(len(logs))
    for group in set(groups):
        out = np.array([one == group for one in groups])
        slopes = np.linalg.lstsq(lines[~out], logs[~out], rcond=None)[0]
        found[out] = lines[out] @ slopes - logs[out]
    return found


@cache
def _configurations() -> dict[Key, list[records.Submission]]:
    """Submissions with a layout, a number type and a peak, by what they are."""
    found: dict[Key, list[records.Submission]] = {}
    for one in records.public_runs().submissions:
        tensor, context = one.tensor_parallel, one.context_parallel
        if one.device not in NAMES or not one.precision or tensor is None or context is None:
            continue
        layout = tensor, one.pipeline_parallel, context, one.micro_batch
        key = one.benchmark, one.device, one.devices, one.batch, *layout, one.precision
        found.setdefault(key, []).append(one)
    return found


@cache
def _table() -> tuple[np.ndarray, np.ndarray, list[Key]]:
    """What each configuration is, the logarithm of its utilisation, and its name."""
    lines, logs = [], []
    for each in _configurations().values():
        one = each[0]
        work = _flops(one.benchmark) * one.batch / one.devices
        parallel = one.tensor_parallel or 1, one.context_parallel or 1
        lines.append(_line(work, *parallel, one.device, one.precision == "FP4"))
        logs.append(np.log(np.median([of(run) for run in each])))
    return np.stack(lines), np.array(logs), list(_configurations())


def _line(work: float, tensor: int, context: int, device: str, fp4: bool) -> np.ndarray:
    """One line of the regression."""
    of_device = [device.endswith("B200"), device == "H200", fp4]
    work /= UNIT
    return np.array([1, math.log2(work), 1 / work, math.log2(tensor), math.log2(context),
                     *of_device], float)  # fmt: skip


@cache
def _flops(benchmark: str) -> float:
    """FLOPs of one sequence."""
    teraflops = records.public_runs().benchmarks[benchmark].teraflops
    if teraflops is None:
        raise ValueError(f"{benchmark}: nobody counted its FLOPs here")
    return 1e12 * teraflops

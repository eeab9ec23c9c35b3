"""What this machine can do: the rates that `roofline` asks for, measured instead of looked up.

    device, dtype  ->  FLOP/s of products, bytes/s of copies, seconds of a launch

Every time ends with a wait for the device (`timing`). Products hold random numbers, since zeros
need less power and would flatter; a copy counts what it reads and what it writes.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from batchlab import records, units
from batchlab.roofline._formula import Device
from batchlab.timing import LEAST_REPEATS, Timing, timed

__all__ = ["Figures", "measure", "product_flops"]

# Sides of the square products. The rate grows with the size until every core has enough to do.
SIDES = {"cpu": (256, 512, 1024, 2048), "cuda": (2048, 4096, 8192, 16384)}
# Of one buffer: far beyond the caches (50 MiB on an H100), so that memory itself is measured.
COPY_BYTES = {"cpu": 256 * units.MIB, "cuda": 1 * units.GIB}


@dataclass(frozen=True)
class Figures:
    """The measured rates of one device in one number type."""

    device_type: str
    dtype: str
    products: tuple[Timing, ...]  # one for each size tried
    copy: Timing  # bytes read and bytes written both count
    launch: Timing  # one tiny operation, waited for
    queued_launch: Timing | None  # one of many in a queue that never runs dry; CUDA only
    memory_bytes: int  # 0: the system does not say
    multiprocessors: int  # on the CPU: threads
    load: float | None  # processes that wanted a core, per core, when it began: near 0 is idle
    environment: Mapping[str, Any]

    @property
    def product(self) -> Timing:
        """The fastest size."""
        return max(self.products, key=lambda timing: timing.per_second)

    @property
    def name(self) -> str:
        shown = "device" if self.device_type == "cuda" else "processor"
        return str(self.environment[shown])

    @property
    def spread(self) -> float:
        """The largest of the spreads behind the three figures."""
        return max(one.spread for one in (self.product, self.copy, self.launch))

    def for_roofline(self) -> Device:
        """The device as `roofline` takes it, with the measurement as its source."""
        date, torch_version = self.environment["date"][:10], self.environment["versions"]["torch"]
        return Device(
            self.name,
            self.product.per_second,
            self.copy.per_second,
            self.memory_bytes,
            self.multiprocessors,
            f"measured {date}, torch {torch_version}, {self.dtype}, {self.product.what}; "
            f"{self.copy.what}",
        )

    def record(self) -> dict[str, Any]:
        """One line for a file of records."""
        queued = self.queued_launch
        return {
            "kind": "device",
            "device_type": self.device_type,
            "dtype": self.dtype,
            "flops_per_second": self.product.per_second,
            "flops_per_second_by_size": {one.what: one.per_second for one in self.products},
            "copied_bytes_per_second": self.copy.per_second,
            "launch_seconds": self.launch.median_seconds,
            "queued_launch_seconds": queued.median_seconds if queued else None,
            "spread": {"product": self.product.spread, "copy": self.copy.spread,
                       "launch": self.launch.spread},
            "load_per_core": self.load,
            "memory_bytes": self.memory_bytes,
            "multiprocessors": self.multiprocessors,
            "environment": dict(self.environment),
        }  # fmt: skip


def product_flops(rows: int, inner: int, columns: int) -> int:
    """FLOPs of a (rows, inner) x (inner, columns) product: a multiply and an add for each term.

    >>> product_flops(2, 3, 4)
    48
    """
    return 2 * rows * inner * columns


def measure(
    device: str | torch.device | None = None,
    *,
    dtype: torch.dtype | None = None,
    seconds: float = 2.0,
) -> Figures:
    """Measure products, copies and launches for about `seconds`, on an otherwise idle machine.

    Without a device the GPU, if torch sees one. Without a dtype: float32 on the CPU; bfloat16 on a
    GPU whose cores have it (capability 8.0 and newer), else float16.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be above 0, got {seconds}")
    place = _place(device)
    dtype = dtype or _usual_dtype(place)
    _require_products(place, dtype)
    wait, load = _wait_for(place), _load()
    current = torch.cuda.device(place) if place.type == "cuda" else contextlib.nullcontext()
    with torch.inference_mode(), current:
        products = _products(place, dtype, seconds / 2, wait)
        copy = _copy(place, seconds / 4, wait)
        launch, queued = _launches(place, dtype, seconds / 8, wait)
        environment = records.environment()
    name = str(dtype).removeprefix("torch.")
    limits = _memory_and_cores(place)
    return Figures(place.type, name, products, copy, launch, queued, *limits, load, environment)


def _products(
    place: torch.device, dtype: torch.dtype, seconds: float, wait: Callable[[], object]
) -> tuple[Timing, ...]:
    """Square products, each size larger than the last, as long as the time allows."""
    sides = SIDES[place.type]
    found: list[Timing] = []
    for side in sides:
        flops = product_flops(side, side, side)
        share = seconds / len(sides)
        # the warm-up and two trials cost as much as three repeats
        if found and (LEAST_REPEATS + 3) * flops / found[-1].per_second > 2 * share:
            break
        left, right = (_random((side, side), place, dtype) for _ in range(2))
        found.append(_timed_product(left, right, flops, share, wait))
    return tuple(found)


def _timed_product(
    left: torch.Tensor,
    right: torch.Tensor,
    flops: int,
    seconds: float,
    wait: Callable[[], object],
) -> Timing:
    out = left @ right  # written again and again: no allocation is timed
    what = f"product of {left.shape[0]:,} x {left.shape[1]:,} matrices"
    return timed(
        lambda: torch.mm(left, right, out=out), what=what, amount=flops, seconds=seconds, wait=wait
    )


def _copy(place: torch.device, seconds: float, wait: Callable[[], object]) -> Timing:
    size = COPY_BYTES[place.type]
    source = torch.ones(size, dtype=torch.uint8, device=place)  # written: fresh pages are shared
    target = torch.empty_like(source)
    return timed(
        lambda: target.copy_(source),
        what=f"copy of {units.size(size)}, read and write counted",
        amount=2 * size,
        seconds=seconds,
        wait=wait,
    )


def _launches(
    place: torch.device, dtype: torch.dtype, seconds: float, wait: Callable[[], object]
) -> tuple[Timing, Timing | None]:
    """A tiny operation that is waited for, and on a GPU the same in a queue that stays full."""
    one = torch.ones(1, dtype=dtype, device=place)

    def alone() -> None:
        one.mul_(1)
        wait()

    launch = timed(alone, what="one operation, waited for", amount=1, seconds=seconds, wait=wait)
    if place.type == "cpu":  # has no queue: an operation is done when it returns
        return launch, None
    return launch, timed(
        lambda: one.mul_(1), what="one operation of a full queue", amount=1, seconds=seconds,
        wait=wait,
    )  # fmt: skip


def _place(device: str | torch.device | None) -> torch.device:
    found = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if found.type not in SIDES:
        raise ValueError(f"device {found.type!r} cannot be measured; there are cpu and cuda")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device {str(found)!r}: torch {torch.__version__} sees no GPU here")
    return found


def _usual_dtype(place: torch.device) -> torch.dtype:
    if place.type == "cpu":
        return torch.float32
    native = torch.cuda.get_device_capability(place) >= (8, 0)
    return torch.bfloat16 if native else torch.float16


def _require_products(place: torch.device, dtype: torch.dtype) -> None:
    name = str(dtype).removeprefix("torch.")
    if not dtype.is_floating_point:
        raise ValueError(f"{name} is no floating-point dtype; there are float32, bfloat16, float16")
    try:
        one = _random((16, 16), place, dtype)
        torch.mm(one, one)
        one[0].mul_(1)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{name} products do not run on {place.type} here ({reason})") from None


def _random(shape: tuple[int, int], place: torch.device, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator(place).manual_seed(0)
    return torch.randn(shape, device=place, generator=generator).to(dtype)


def _wait_for(place: torch.device) -> Callable[[], object]:
    return (lambda: torch.cuda.synchronize(place)) if place.type == "cuda" else (lambda: None)


def _load() -> float | None:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows does not say
        return None


def _memory_and_cores(place: torch.device) -> tuple[int, int]:
    if place.type == "cuda":
        found = torch.cuda.get_device_properties(place)
        return found.total_memory, found.multi_processor_count
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows does not say
        memory = 0
    return memory, torch.get_num_threads()

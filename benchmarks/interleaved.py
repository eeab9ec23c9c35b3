"""CPU seconds of several calls, taken in turn: what else the machine does meets all alike."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping

LEAST_SECONDS = 0.02  # of one measurement: short calls are repeated inside it


def medians(calls: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Seconds of this process in one call of each, the median of `rounds` rounds."""
    loops = {}
    for name, call in calls.items():
        call()  # the first call also imports, fills caches and takes memory
        loops[name] = max(1, math.ceil(LEAST_SECONDS / max(_seconds(call, 1), 1e-9)))
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(_seconds(call, loops[name]) / loops[name])
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def _seconds(call: Callable[[], object], loops: int) -> float:
    gc.collect()
    start = time.process_time()
    for _ in range(loops):
        call()
    return time.process_time() - start

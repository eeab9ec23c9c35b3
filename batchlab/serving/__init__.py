"""Batching after training: requests that arrive, policies that fill the batch, a device's cost.

    trace, policy, cost  ->  latencies, throughput, passes, wasted row-steps

How far to trust it: on a small model on a CPU, seconds of requests that calibration never saw were
foretold within 5 % (median of five rounds; 11 % in the worst of thirty), for every policy at 4 and
8 rows (record `serving`, made by `benchmarks/serving.py`). By data sheet alone it is a bound.

A door inside
    serving.generate  the same policies run on a real model with a key-value cache
"""

from batchlab.serving._cost import (
    Affine,
    Cost,
    Pass,
    Roofline,
    calibrate,
    kv_bytes_per_token,
    roofline,
)
from batchlab.serving._policy import POLICIES, Chunk, Running, Scheduler, Step
from batchlab.serving._requests import Trace, at_once, poisson, read, trace
from batchlab.serving._simulate import Served, play, simulate

__all__ = [
    "POLICIES",
    "Affine",
    "Chunk",
    "Cost",
    "Pass",
    "Roofline",
    "Running",
    "Scheduler",
    "Served",
    "Step",
    "Trace",
    "at_once",
    "calibrate",
    "kv_bytes_per_token",
    "play",
    "poisson",
    "read",
    "roofline",
    "simulate",
    "trace",
]

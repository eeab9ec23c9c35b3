"""Where the time of a larger micro-batch went, cause by cause.

    cell records  ->  prices   ->  parts of the step  ->  causes and what to change

Doors inside
    doctor.prices      what a micro-batch, a slot and a pair cost in seconds
    doctor.throughput  useful tokens per second, the knee, cells predicted by other cells
"""

from batchlab.doctor._diagnosis import ADVICE, CAUSES, Cause, Diagnosis, Part, diagnose, useful_rate

__all__ = ["ADVICE", "CAUSES", "Cause", "Diagnosis", "Part", "diagnose", "useful_rate"]

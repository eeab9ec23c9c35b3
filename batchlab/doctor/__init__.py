"""Where the time of a larger micro-batch went, cause by cause.

    cell records  ->  prices   ->  parts of the step  ->  causes and what to change

Doors inside
    doctor.prices      what a micro-batch, a slot and a pair cost in seconds
    doctor.throughput  useful tokens per second, the knee, cells predicted by other cells
"""

from batchlab.doctor._causes import ADVICE, BARS, CAUSES, Cause
from batchlab.doctor._diagnosis import Diagnosis, Steps, diagnose, steps_of, useful_rate
from batchlab.doctor._experiment import Experiment
from batchlab.doctor._interval import COVERAGE, Interval
from batchlab.doctor._parts import Part
from batchlab.doctor._ranks import Straggler

__all__ = ["ADVICE", "BARS", "CAUSES", "COVERAGE", "Cause", "Diagnosis", "Experiment", "Interval",
           "Part", "Steps", "Straggler", "diagnose", "steps_of", "useful_rate"]  # fmt: skip

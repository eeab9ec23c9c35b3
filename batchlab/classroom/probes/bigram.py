"""The counting bigram model, which lesson 05 keeps: here only for the probes of lesson 13."""

# mypy: implicit-reexport

from batchlab.exercises.accumulation.bigram import *  # noqa: F403
from batchlab.exercises.accumulation.bigram import RATE, VOCABULARY  # noqa: F401

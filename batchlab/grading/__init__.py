"""Submissions become grades: judged outside the student's process, at a known isolation.

notebooks of strangers  ->  Engine  ->  one Judged a question
"""

from batchlab.grading._alone import Alone
from batchlab.grading._engine import Engine
from batchlab.grading._jail import LEVELS
from batchlab.grading._verdict import NOTES, VERDICTS, Judged, looked_at, total

__all__ = ["LEVELS", "NOTES", "VERDICTS", "Alone", "Engine", "Judged", "looked_at", "total"]

"""What teaches and grades. The library never imports it."""

from batchlab.classroom.opening import gpu, grading, start

__all__ = ["gpu", "grading", "start"]

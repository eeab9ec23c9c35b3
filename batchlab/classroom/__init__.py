"""What runs in a learner's notebook: checks, guesses, quizzes. The library never imports it."""

from batchlab.classroom.opening import gpu, grading, start

__all__ = ["gpu", "grading", "start"]

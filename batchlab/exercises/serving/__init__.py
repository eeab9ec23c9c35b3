"""Serving: the batch after training. The exercises in the order of the page."""

ORDER = ("row-steps", "rows-needed", "schedule")

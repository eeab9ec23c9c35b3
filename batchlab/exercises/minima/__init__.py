"""Minima: a verdict with an interval. The exercises in the order of the page."""

ORDER = ("tuned", "gap", "plan", "judge", "rescale")

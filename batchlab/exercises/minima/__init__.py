"""Minima: a verdict with an interval. The exercises in the order of the page."""

ORDER = ("tuned", "plan", "judge", "rescale")

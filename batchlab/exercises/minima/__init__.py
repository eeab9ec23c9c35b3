"""Minima: a verdict with an interval. The exercises in the order of the page."""

ORDER = ("tuned", "gap", "verdict-test", "plan", "judge", "rescale")

"""Adaptive: a batch that moves. The exercises in the order of the page."""

ORDER = ("back-off", "ramp-steps", "grown", "control")

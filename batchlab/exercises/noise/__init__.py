"""Noise: what a batch is worth. The exercises in the order of the page."""

ORDER = ("critical-batch", "thrifty", "two-norms", "noise-scale", "scale-test", "step-meter")

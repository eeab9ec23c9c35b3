"""Noise: what a batch is worth. The exercises in the order of the page."""

ORDER = ("thrifty", "two-norms", "noise-scale", "step-meter")

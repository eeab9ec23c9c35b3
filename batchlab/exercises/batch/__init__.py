"""Batch: steps, epochs, and a noisy gradient. The exercises in the order of the page."""

ORDER = ("steps", "batch-gradient", "noise", "rows-for", "noise-meter")

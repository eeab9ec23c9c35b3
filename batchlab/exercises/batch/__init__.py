"""Batch: steps, epochs, and a noisy gradient. The exercises in the order of the page."""

ORDER = ("steps", "rows-for", "noise-meter")

"""Batch: steps, epochs, and a noisy gradient. The exercises in the order of the page."""

ORDER = (
    "steps",
    "batch-gradient",
    "tokens-needed",
    "rows-found",
    "noise",
    "noise-test",
    "noise-meter",
)

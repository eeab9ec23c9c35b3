"""Serving: the batch after training. The exercises in the order of the page."""

ORDER = (
    "row-steps",
    "decode-step",
    "latency-report",
    "most-per-minute",
    "highest-rate",
    "admit-test",
    "schedule",
)

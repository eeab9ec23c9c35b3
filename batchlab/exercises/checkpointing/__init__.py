"""Checkpointing: memory for time. The exercises in the order of the page."""

ORDER = (
    "segment-bytes",
    "checkpoint-segments",
    "step-test",
    "plan-costs",
    "choose-segments",
    "gain",
    "break-even",
)

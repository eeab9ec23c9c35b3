"""Checkpointing: memory for time. The exercises in the order of the page."""

ORDER = ("plan-costs", "checkpoint-segments", "choose-segments")

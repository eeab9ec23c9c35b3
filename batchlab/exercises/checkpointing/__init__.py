"""Checkpointing: memory for time. The exercises in the order of the page."""

ORDER = ("checkpoint-segments", "plan-costs", "choose-segments")

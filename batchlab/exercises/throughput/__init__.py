"""Throughput: what a larger micro-batch saves. The exercises in the order of the page."""

ORDER = (
    "times-faster",
    "fit-step",
    "full-rows",
    "useful-rate",
    "mfu",
    "timer-test",
    "benchmark",
)

"""Throughput: what a larger micro-batch saves. The exercises in the order of the page."""

ORDER = ("enough-rows", "timer-test", "benchmark")

"""Throughput: what a larger micro-batch saves. The exercises in the order of the page."""

ORDER = ("fit-step", "enough-rows", "timer-test", "benchmark")

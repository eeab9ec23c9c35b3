"""Plan: your own run. The exercises in the order of the page."""

ORDER = ("whole-steps", "rows-that-fit", "plan-run", "foretold-test")

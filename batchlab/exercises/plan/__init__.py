"""Plan: your own run. The exercises in the order of the page."""

ORDER = (
    "step-counts",
    "rollout",
    "run-bytes",
    "plan-run",
    "foretold-test",
    "calibration",
)

"""Doctor: where the time went. The exercises in the order of the page."""

ORDER = (
    "speed-up",
    "step-parts",
    "cure-gain",
    "ward",
    "shares-test",
    "diagnose",
)

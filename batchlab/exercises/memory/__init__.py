"""Memory: the bill of a step. The exercises in the order of the page."""

ORDER = (
    "fitting-rows",
    "chunked-loss",
    "most-rows",
)

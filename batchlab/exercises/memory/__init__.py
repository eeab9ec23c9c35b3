"""Memory: the bill of a step. The exercises in the order of the page."""

ORDER = (
    "state-bytes",
    "slot-bytes",
    "chunked-loss",
    "rows-kept",
    "lora-bytes",
    "most-rows",
    "bill-test",
)

"""Doctor: where the time went. The exercises in the order of the page."""

ORDER = ("trace-gaps", "ward", "diagnose")

"""Doctor: where the time went. The exercises in the order of the page."""

ORDER = ("trace-gaps", "step-parts", "shares-test", "cure-gain", "ward", "diagnose")

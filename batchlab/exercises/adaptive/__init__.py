"""Adaptive: a batch that moves. The exercises in the order of the page."""

ORDER = ("back-off", "ramp-steps", "grown", "control")


def of(rows, accumulation, data_parallel=1, rate=1e-3, beta2=0.99, **more):
    """Settings as the exercises of this lesson have them."""
    return {
        "rows": rows, "accumulation": accumulation, "data_parallel": data_parallel,
        "rate": rate, "beta2": beta2, **more,
    }  # fmt: skip

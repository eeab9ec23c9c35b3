"""Adaptive: a batch that moves. The exercises in the order of the page."""

ORDER = ("back-off", "ramp-steps", "control")


def of(rows, accumulation, data_parallel=1, rate=1e-3, beta2=0.99, **more):
    """Settings as the exercises of this lesson have them."""
    return {
        "rows": rows, "accumulation": accumulation, "data_parallel": data_parallel,
        "rate": rate, "beta2": beta2, **more,
    }  # fmt: skip


def grown(settings, sequences):
    """The settings of a step of so many sequences, by accumulation, as on the page."""
    each = settings["rows"] * settings["data_parallel"]
    if sequences < each or sequences % each:
        raise ValueError(f"{sequences} sequences are no positive multiple of {each}")
    k = sequences / (each * settings["accumulation"])
    return settings | {
        "accumulation": sequences // each,
        "rate": settings["rate"] * k**0.5,
        "beta2": settings["beta2"] ** k,
    }

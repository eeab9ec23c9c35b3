"""Many: what a second GPU changes. The exercises in the order of the page."""

ORDER = ("rank-mean", "best-stage", "exact-step")


def explain(got, *_, **__):
    """The thought behind what a world said, where the ranks could not go on together."""
    from batchlab.exercises.many.worlds import likely_of

    return likely_of(got["the end of every rank"]) if isinstance(got, dict) else ""


def half_way(got, want):
    """Whether numbers are right to six digits, and not to nine: single precision somewhere."""
    import numpy as np

    off = float(np.abs(np.asarray(got, float) - want).max(initial=0.0))
    size = max(1.0, float(np.abs(want).max(initial=0.0)))
    narrow = (
        "six or seven right digits: single precision or rounding on the way, where float64 is asked"
    )
    return narrow if 1e-10 * size < off < 1e-5 * size else ""

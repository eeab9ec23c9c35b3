"""A visit: one setting, measured over some steps in one round of a sweep, as a plain dictionary.

visits  ->  useful tokens per second of all together;  what must agree before two are compared
"""

__all__ = ["KEYS", "differing", "rate", "visit"]

KEYS = ("model", "data", "device")


def visit(**totals):
    """A visit with some totals, and small ones of its own for the others."""
    base = {
        "model": "m", "data": "d", "device": "cpu", "round": 0, "rows": 4, "checkpointing": False,
        "steps": 2, "micro_batches": 4, "documents": 8, "real_tokens": 100, "slots": 200,
        "seconds": 1.0, "input_seconds": 0.0, "host_seconds": 0.0, "optimizer_seconds": 0.0,
        "retries": 0, "busy": 0.97,
    }  # fmt: skip
    return base | totals


def differing(visits):
    """Which of model, data and device are not the same in all visits."""
    return [key for key in KEYS if len({one[key] for one in visits}) > 1]


def rate(visits):
    """Useful tokens per second of visits together."""
    return sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)

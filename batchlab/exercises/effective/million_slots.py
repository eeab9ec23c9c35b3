"""A napkin formula: the slots of a published step, in millions."""

from batchlab.exercises import Exercise


def million_slots(devices, tensor, pipeline, sequences, length):
    """Million slots in one step, if each replica sees `sequences` sequences of `length` tokens."""
    return devices / (tensor * pipeline) * sequences * length / 1e6


def drawn(rng):
    for _ in range(12):
        t, p, n, some, length = (int(v) for v in rng.integers(1, 40, 5))
        yield t * p * n, t, p, some, length
        yield t * p * n, t, p, some, 2 * length
    yield 25 * 20 * 7001, 25, 20, 70_003, 30_007


exercise = Exercise(
    million_slots,
    hints=(
        "how many replicas are there, and how many slots does one of them see?",
        "replicas x sequences x length, divided by 10**6",
    ),
    asked=lambda devices, t, p, some, length: (
        f"million slots on {devices:,} GPUs, tensor {t}, pipeline {p}, {some} sequences of {length:,}"
        " for each replica"
    ),
    shown=[(48, 2, 3, 5, 1000)],
    drawn=drawn,
    passed="Right: by it the step of Llama 3 405B has 16.8 million slots; its table says 16M.",
)
for _thought, _value in {
    "every GPU counted as a replica: 6 of them share one": "devices * sequences * length / 1e6",
    "one replica only": "sequences * length / 1e6",
    "slots: here in millions": "devices / (tensor * pipeline) * sequences * length",
    "sequences, not slots: each has 1,000": "devices / (tensor * pipeline) * sequences / 1e6",
    "pipeline stages counted as replicas": "devices / tensor * sequences * length / 1e6",
    "tensor parallel GPUs counted as replicas": "devices / pipeline * sequences * length / 1e6",
    "added: the degrees multiply": "devices / (tensor + pipeline) * sequences * length / 1e6",
    "a million is 10**6, not 2**20": ("devices / (tensor * pipeline) * sequences * length / 2**20"),
    "devices / tensor * pipeline: put the product in brackets": (
        "devices / tensor * pipeline * sequences * length / 1e6"
    ),
    "rounded down: keep the fraction of a million": (
        "devices // (tensor * pipeline) * sequences * length // 10**6"
    ),
}.items():
    exercise.edit(_thought, [("devices / (tensor * pipeline) * sequences * length / 1e6", _value)])


@exercise.style
def other_order(devices, tensor, pipeline, sequences, length):
    """in another order"""
    return sequences * length / 1e6 * devices / pipeline / tensor


@exercise.style
def in_float32(devices, tensor, pipeline, sequences, length):
    """in float32"""
    import numpy as np

    return np.float32(devices // (tensor * pipeline)) * sequences * length / 1e6

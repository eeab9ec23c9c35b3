"""Lesson 06: settings to find, launch configs to read, wrong ways to fit a step, refusals read.

    offered values, a learner's refusal  ->  a finder, the numbers that the refusal offers

Words
    offer    a step size, or a number of devices, that a refusal names as one that would do
    launch   a config as a tool writes it, and the devices it runs on
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from batchlab import packing, widgets
from batchlab.classroom.probes.attempt import refusal, shown

__all__ = [
    "DEEPSEEK_SLOTS",
    "KEPT",
    "LAUNCHES",
    "NO_COUNTS",
    "OFFERED",
    "RIGHT",
    "WRITTEN",
    "WRONG",
    "in_every_tool",
    "left_out",
    "mixtures",
    "offers",
    "offers_none",
    "pack_rows",
    "packs",
    "refusal",
    "shown",
    "step_finder",
]

DEEPSEEK_SLOTS = 3072 * 4096  # DeepSeek-V3 began with 3,072 sequences of 4,096 (arXiv:2412.19437)
OFFERED = {
    "rows": (1, 2, 3, 4, 6, 8),
    "accumulation": (1, 4, 16, 64),
    "devices": (320, 512, 1024, 2048),
    "tensor": (2, 4, 8),
    "pipeline": (4, 16),
    "length": (2048, 4096),
}

NO_COUNTS: Sequence[tuple[object, str]] = (  # what a key of a launch config may not hold
    ("auto", "another tool fills it in later"),
    ("8", "a text is no int"),
    (8.0, "a float is no int"),
    ([4], "a list is no int"),
    (float("nan"), "a float is no int"),
    (2.5, "a micro-batch happens or does not"),
    (True, "a yes is no count"),
    (None, "written as null is not the same as not written"),
    (0, "0 is written, which is not the same as not written"),
    (-4, "a count is at least 1"),
)

KEPT = "an answer of an earlier call: keep nothing between calls"

Launch = tuple[dict[str, Any], int]  # a config, and the devices it runs on
WRITTEN: Mapping[str, tuple[dict[str, Any], int, tuple[int, int, int]]] = {
    "TrainingArguments": (
        {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8},
        64,
        (4, 8, 64),
    ),
    "DeepSpeed": (
        {
            "train_batch_size": 512,
            "train_micro_batch_size_per_gpu": 4,
            "gradient_accumulation_steps": 8,
        },
        16,
        (4, 8, 16),
    ),
    "Megatron": (
        {
            "micro_batch_size": 2,
            "global_batch_size": 512,
            "tensor_model_parallel_size": 2,
            "pipeline_model_parallel_size": 4,
            "context_parallel_size": 1,
        },
        64,
        (2, 32, 8),
    ),
    "axolotl": (
        {
            "base_model": "a",
            "micro_batch_size": 2,
            "gradient_accumulation_steps": 8,
            "tensor_parallel_size": 2,
            "context_parallel_size": 2,
            "sample_packing": False,
        },
        16,
        (2, 8, 4),
    ),
}

MICRO_BATCHES: Mapping[str, tuple[int, int, int]] = {  # slots, real tokens, targets
    "padding alone": (60, 0, 0),
    "prompts alone, and no padding": (80, 80, 0),
    "prompts and padding": (100, 70, 0),
    "no padding": (50, 50, 20),
    "targets alone": (40, 40, 40),
    "padding, prompts and targets": (300, 20, 18),
}

Fit = Callable[[int, int, int, int], int]

# What a reader meets: one example a tool. The words are those of the versions in the lesson.
LAUNCHES: Sequence[tuple[str, Mapping[str, Any], int]] = (
    (
        "TRL 1.16, packing",
        {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4, "packing": True},
        8,
    ),
    (
        "DeepSpeed 0.19.8",
        {"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4},
        16,
    ),
    (
        "DeepSpeed inside transformers",
        {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"},
        16,
    ),
    (
        "Megatron-LM",
        {
            "micro_batch_size": 2,
            "global_batch_size": 512,
            "tensor_model_parallel_size": 8,
            "pipeline_model_parallel_size": 4,
        },
        128,
    ),
    (
        "axolotl 0.19.0",
        {
            "base_model": "a/model",
            "micro_batch_size": 2,
            "gradient_accumulation_steps": 8,
            "tensor_parallel_size": 2,
        },
        8,
    ),
    (
        "axolotl 0.19.0, packing",
        {
            "base_model": "a/model",
            "micro_batch_size": 2,
            "gradient_accumulation_steps": 8,
            "sample_packing": True,
        },
        8,
    ),
    ("litgpt 0.5.13", {"global_batch_size": 64, "micro_batch_size": 4}, 3),
    ("torchtune 0.6.1", {"batch_size": 2, "gradient_accumulation_steps": 16}, 4),
)


def offers(message: str, part: int) -> list[int]:
    """The multiples of `part` that stand in a message, each once, in order.

    >>> offers("102 devices, 8 a replica: try 96 or np.int64(104)", 8)
    [8, 96, 104]
    """
    numbers = re.findall(r"\d{1,3}(?:[,_]\d{3})+|\d+", _bare(message))
    found = {int(re.sub(r"[,_]", "", number)) for number in numbers}
    return sorted(number for number in found if number % part == 0)


def offers_none(message: str, above: int) -> bool:
    """Whether a message offers 0 beside the number above; a 0 that counts something is no offer.

    >>> offers_none("5,000 slots: try 0 or 8,192", 8192), offers_none("[0 8]", 8)
    (True, True)
    >>> offers_none("5 devices are 0 replicas; rounded down, 0 devices: take 8", 8)
    False
    """
    text = re.sub(r"(?<=\d)[,_](?=\d{3})", "", _bare(message))
    unit = r"devices|sequences|slots|GPUs|below:?|above:?|or|and"
    return bool(re.search(rf"(?<![\d.])0(?![\d.])(?:[\s,/()\[\]]|{unit})*(?<!\d){above}\b", text))


def _bare(message: str) -> str:
    """The message with numbers of NumPy as bare ones."""
    return re.sub(r"\b(?:np\.)?u?int\d+\(", "(", message)


def in_every_tool(
    rows: int, accumulation: int, replicas: int, tensor: int, pipeline: int, context: int
) -> Iterator[Launch]:
    """The configs that say this, in the words of each tool; DeepSpeed may leave any one out."""
    deep = {
        "train_batch_size": rows * accumulation * replicas,
        "train_micro_batch_size_per_gpu": rows,
        "gradient_accumulation_steps": accumulation,
    }
    yield deep, replicas
    for left in deep:
        yield {key: value for key, value in deep.items() if key != left}, replicas
    args = {"per_device_train_batch_size": rows, "gradient_accumulation_steps": accumulation}
    yield {**args, "learning_rate": 0.01}, replicas
    megatron = {
        "micro_batch_size": rows,
        "global_batch_size": rows * accumulation * replicas,
        "tensor_model_parallel_size": tensor,
        "pipeline_model_parallel_size": pipeline,
        "context_parallel_size": context,
    }
    yield {**megatron, "lr": 0.01}, tensor * pipeline * context * replicas
    axolotl = {
        "base_model": "a",
        "micro_batch_size": rows,
        "gradient_accumulation_steps": accumulation,
        "tensor_parallel_size": tensor,
        "context_parallel_size": context,
    }
    yield axolotl, tensor * context * replicas


def mixtures() -> Iterator[list[tuple[int, int, int]]]:
    """Lists of one to three MICRO_BATCHES, then longer ones; each has a real token."""
    kinds = list(MICRO_BATCHES.values())
    for many in (1, 2, 3):
        for some in product(kinds, repeat=many):
            if any(real for _, real, _ in some):
                yield list(some)
    yield from (kinds, kinds[::-1], kinds * 2, kinds[:2] * 3 + kinds[2:])


def left_out(seen: Sequence[tuple[int, int, int]]) -> Iterator[tuple[tuple[float, float], str]]:
    """The shares without some of the micro-batches, with the thought that leaves them out.

    >>> [thought for _, thought in left_out([(60, 0, 0), (50, 50, 20)])][0]
    'padding alone: it counts all the same, at any place'
    """
    ways: list[tuple[Sequence[tuple[int, int, int]], str]] = [
        ([one for one in seen if one != kind], f"{name}: it counts all the same, at any place")
        for name, kind in MICRO_BATCHES.items()
    ]
    ways.append((list(dict.fromkeys(seen)), "two equal micro-batches are two: count each"))
    ways += [(seen[1:], "the first counts, too"), (seen[:-1], "the last counts, too")]
    for rest, thought in ways:
        slots, real, targets = (sum(one[place] for one in rest) for place in range(3))
        if len(rest) < len(seen) and real:
            yield (real / slots, targets / real), thought


def step_finder() -> widgets.Explorer:
    """Any setting of OFFERED whose step has DEEPSEEK_SLOTS slots."""
    return widgets.calculator(**OFFERED, slots=DEEPSEEK_SLOTS)


def pack_rows(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """Document numbers of each row, first fit decreasing: the library's way of lesson 04."""
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [[int(number) for number in row] for row in found.rows]


def packs(yours: Callable[..., Any]) -> bool:
    """Whether a learner's packing of lesson 04 holds every document once, in rows that fit."""
    lengths = [7, 1, 4, 5, 8, 2, 1]
    rows = [[int(number) for number in row] for row in yours(lengths, 10)]
    once = sorted(number for row in rows for number in row) == list(range(len(lengths)))
    return once and len(rows) == 3 and all(sum(lengths[n] for n in row) <= 10 for row in rows)


def _exactly(slots: int, part: int) -> int:
    if slots % part or not slots:
        raise ValueError(f"{slots} is no multiple of {part}, or 0")
    return slots // part


def _counted(slots: int, rows: int, length: int, replicas: int) -> int:
    times, seen = 0, 0
    while seen < slots:
        times, seen = times + 1, seen + rows * length * replicas
    return times if seen == slots and times else _exactly(1, 2)


def _habit(slots: int, rows: int, length: int, replicas: int) -> int:
    times = _exactly(slots, rows * length * replicas)
    return times if times & (times - 1) == 0 else _exactly(1, times)


def _halves(slots: int, part: int, *, up: bool) -> int:
    """Takes the multiple below if less than half a part is left over, or the one above if more."""
    times, left = divmod(slots, part)
    if up:
        return times + 1 if 2 * left >= part else _exactly(slots, part)
    return times if times and 2 * left < part else _exactly(slots, part)


RIGHT: dict[str, tuple[Fit, ...]] = {
    "fit": (lambda s, r, n, d: _exactly(s, r * n * d), _counted),
}
WRONG: dict[str, dict[str, Fit]] = {
    "fit": {
        "floors in silence": lambda s, r, n, d: s // (r * n * d),
        "floors, but refuses 0": lambda s, r, n, d: s // (r * n * d) or _exactly(1, 2),
        "rounds up": lambda s, r, n, d: -(-s // (r * n * d)),
        "rounds to the nearest": lambda s, r, n, d: round(s / (r * n * d)) or _exactly(1, 2),
        "forgets the replicas": lambda s, r, n, d: _exactly(s, r * n),
        "counts sequences, not slots": lambda s, r, n, d: _exactly(s, r * d),
        "takes powers of two only": _habit,
        "takes the length for the replicas": lambda s, r, n, d: _exactly(s, r * n * n),
        "takes the rows for the replicas": lambda s, r, n, d: _exactly(s, r * n * r),
        "floors where less than half is left": lambda s, r, n, d: _halves(s, r * n * d, up=False),
        "rounds up where half is there": lambda s, r, n, d: _halves(s, r * n * d, up=True),
        "takes at least one micro-batch": lambda s, r, n, d: _exactly(max(s, r * n * d), r * n * d),
    },
}

"""What the page of lesson 06 draws: launches that a reader meets, and a packing to go on with."""

from batchlab import packing

# One example a tool. The words are those of the versions in the lesson.
LAUNCHES = (
    (
        "TRL 1.16, packing",
        {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4, "packing": True},
        8,
    ),
    ("DeepSpeed 0.19.8", {"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4}, 16),
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


def pack_rows(lengths, row_length):
    """Document numbers of each row, first fit decreasing: the library's way of lesson 04."""
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [[int(number) for number in row] for row in found.rows]


def packs(yours):
    """Whether a learner's packing of lesson 04 holds every document once, in rows that fit."""
    lengths = [7, 1, 4, 5, 8, 2, 1]
    rows = [[int(number) for number in row] for row in yours(lengths, 10)]
    once = sorted(number for row in rows for number in row) == list(range(len(lengths)))
    return once and len(rows) == 3 and all(sum(lengths[n] for n in row) <= 10 for row in rows)

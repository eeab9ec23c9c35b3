"""Find the setting: any whose step has the slots of DeepSeek-V3's first steps."""

from batchlab.exercises import Exercise

SLOTS = 3072 * 4096  # DeepSeek-V3 began with 3,072 sequences of 4,096 (arXiv:2412.19437)
OFFERED = {
    "rows": (1, 2, 3, 4, 6, 8),
    "accumulation": (1, 4, 16, 64),
    "devices": (320, 512, 1024, 2048),
    "tensor": (2, 4, 8),
    "pipeline": (4, 16),
    "length": (2048, 4096),
}


def step_found():
    """One that you found: (rows, accumulation, devices, tensor, pipeline, length)."""
    return 6, 16, 1024, 8, 4, 4096


def finder():
    from batchlab import widgets

    return widgets.calculator(**OFFERED, slots=SLOTS)


def _setting(got):
    several = hasattr(got, "__len__") and not isinstance(got, str)
    return tuple(int(v) for v in got) if several else ()


def fault(got):
    setting = _setting(got)
    if len(setting) != 6:
        return f"{got!r}; six values are needed, one for each slider, in the order of the sliders"
    for value, (name, some) in zip(setting, OFFERED.items()):
        if value not in some:
            return f"{name} {value}, which its slider does not offer"
    rows, accumulation, devices, tensor, pipeline, length = setting
    if devices % (tensor * pipeline):
        return f"{devices} devices, {tensor} x {pipeline} GPUs in a replica: some are left"
    slots = rows * accumulation * devices // (tensor * pipeline) * length
    return "" if slots == SLOTS else f"{slots:,} slots per step; asked are {SLOTS:,}"


def explain(got):
    rows, accumulation, devices, tensor, pipeline, length = _setting(got)
    slots = rows * accumulation * devices // (tensor * pipeline) * length
    thoughts = {
        tensor * pipeline: "right only if every GPU were a replica",
        pipeline: "right only if every pipeline stage were a replica",
        tensor: "right only if every tensor parallel GPU were a replica",
    }
    if rows * accumulation * devices // (tensor * pipeline) == 3072:
        return f"3,072 sequences, but of {length:,} tokens each"
    return next((t for n, t in thoughts.items() if slots * n == SLOTS), "")


exercise = Exercise(
    step_found,
    hints=(
        "the replicas are devices / (tensor x pipeline)",
        "the widget counts slots per step for you",
        "factor the goal: which prime stands in it beside 2, and which slider has it?",
    ),
    asked=lambda: "the setting that you found",
    shown=[()],
    fault=fault,
    explain=explain,
    passed=f"Right: {SLOTS:,} slots, as in the first steps of DeepSeek-V3.",
)
for _thought, _says, _value in (
    ("right only if every GPU were a replica", "", "3, 1, 1024, 4, 4, 4096"),
    ("right only if every pipeline stage were a replica", "", "6, 4, 1024, 8, 4, 4096"),
    ("right only if every tensor parallel GPU were a replica", "", "3, 16, 1024, 4, 16, 4096"),
    ("the devices must divide into replicas", "some are left", "3, 64, 320, 8, 16, 4096"),
    ("one value for each slider, in their order", "six values", "6, 16, 1024, 8, 4"),
    ("a value off the sliders", "does not offer", "24, 1, 2048, 4, 4, 4096"),
    ("powers of two only: 3 divides the goal", "8,388,608 slots", "4, 16, 1024, 8, 4, 4096"),
    ("3,072 sequences, but of 2,048 tokens each", "", "6, 16, 1024, 8, 4, 2048"),
):
    exercise.edit(_thought, [("6, 16, 1024, 8, 4, 4096", _value)], says=_says)


@exercise.style
def another():
    """another one, as a list"""
    return [3, 64, 1024, 4, 16, 4096]


@exercise.style
def shorter_rows():
    """shorter rows, from NumPy"""
    import numpy as np

    return np.array([6, 64, 1024, 4, 16, 2048])

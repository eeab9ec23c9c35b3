"""Answers to 06_effective that look right and must be refused, and right ones written otherwise."""

SPLITS = """
def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        raise ValueError(f"{slots}: try {slots // part * part} or {slots // part * part + part}")
    share = slots // part
    return [(r, share // r) for r in range(1, most_rows + 1) if share % r == 0]
"""
READ = """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    if rows is None:
        accumulation = accumulation or 1
        rows = whole // (accumulation * replicas)
    elif accumulation is None:
        accumulation = whole // (rows * replicas) if whole else 1
    if whole is not None and rows * accumulation * replicas != whole:
        raise ValueError("does not divide")
    return rows, accumulation
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


WRONG = {
    "replicas": {
        "every GPU is a replica": (
            "def replicas(devices, tensor, pipeline, context):\n    return devices",
            "not a replica",
        ),
        "the degrees are added": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor + pipeline + context)
""",
            "added",
        ),
        "pipeline stages are replicas": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * context)
""",
            "pipeline taken for replicas",
        ),
        "context forgotten": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * pipeline)
""",
            "context forgotten",
        ),
        "a silent floor": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * pipeline * context)
""",
            "refuse what does not divide",
        ),
        "refuses, and does not say what would do": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices} devices do not divide by {one}")
    return devices // one
""",
            "both neighbours",
        ),
        "an assertion is no ValueError": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    assert devices % one == 0, f"{devices - devices % one} or {devices - devices % one + one}"
    return devices // one
""",
            "a ValueError is needed",
        ),
    },
    "read-launch": {
        "accumulation forgotten": (
            """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    return rows or whole // replicas, 1
""",
            "accumulation forgotten",
        ),
        "train_batch_size taken for the micro-batch": (
            """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    if "train_batch_size" in config:
        rows = config["train_batch_size"]
    return rows, accumulation or (whole // rows // replicas if whole else 1)
""",
            "not the micro-batch",
        ),
        "divided by accumulation, not by replicas": (
            changed(
                READ,
                ("whole // (accumulation * replicas)", "whole // accumulation"),
                ("rows * accumulation * replicas != whole", "False"),
            ),
            "16 replicas share the whole",
        ),
        "replicas forgotten in Megatron": (
            changed(
                READ,
                ("whole // (rows * replicas)", "whole // rows"),
                ("rows * accumulation * replicas != whole", "False"),
            ),
            "the replicas are forgotten",
        ),
        "accumulation is 1 where it is not written": (
            """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    accumulation = accumulation or 1
    return rows or whole // (accumulation * replicas), accumulation
""",
            "accumulation follows",
        ),
        "a silent floor": (
            changed(READ, ("rows * accumulation * replicas != whole", "False")),
            "a floor would train on 96",
        ),
    },
    "deepseek-step": {
        "right if every GPU were a replica": (
            "def deepseek_step():\n    return 3, 1, 1024, 4, 4, 4096",
            "every GPU were a replica",
        ),
        "right if stages were replicas": (
            "def deepseek_step():\n    return 3, 4, 1024, 4, 4, 4096",
            "every pipeline stage",
        ),
        "devices that do not divide": (
            "def deepseek_step():\n    return 3, 64, 320, 8, 16, 4096",
            "left over",
        ),
        "five numbers": (
            "def deepseek_step():\n    return 6, 16, 1024, 8, 4",
            "one value for each",
        ),
        "not on the sliders": (
            "def deepseek_step():\n    return 24, 1, 2048, 4, 4, 4096",
            "off the sliders",
        ),
    },
    "llama-slots": {
        "every GPU a replica": (
            "def llama_slots():\n    return 16384 * 16 * 8192 / 1e6",
            "128 of them share one",
        ),
        "one replica": ("def llama_slots():\n    return 16 * 8192 / 1e6", "one replica only"),
        "in slots": ("def llama_slots():\n    return 128 * 16 * 8192", "here in millions"),
        "sequences": ("def llama_slots():\n    return 128 * 16", "sequences, not slots"),
        "mebi for million": (
            "def llama_slots():\n    return 128 * 16 * 8192 / 2**20",
            "not 2**20",
        ),
        "pipeline stages as replicas": (
            "def llama_slots():\n    return 16384 / 8 * 16 * 8192 / 1e6",
            "pipeline stages",
        ),
    },
    "splits": {
        "floors every one": (
            changed(SPLITS, (" if share % r == 0", " if r in (1, 2, 3, 4)")),
            "silent floor",
        ),
        "powers of two only": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 and r & (r - 1) == 0")),
            "a habit",
        ),
        "most_rows ignored": (
            changed(SPLITS, ("range(1, most_rows + 1)", "range(1, share + 1)")),
            "most_rows is ignored",
        ),
        "the replicas forgotten": (
            changed(SPLITS, ("part = length * replicas", "part = length")),
            "the replicas are forgotten",
        ),
        "at most means below": (
            changed(SPLITS, ("range(1, most_rows + 1)", "range(1, most_rows)")),
            "4 counts",
        ),
        "accumulation before rows": (
            changed(SPLITS, ("(r, share // r)", "(share // r, r)")),
            "exchanged",
        ),
        "floors a wish that does not divide": (
            changed(SPLITS, ("if slots % part:", "if False:")),
            "on both sides",
        ),
        "an empty list instead of a refusal": (
            """
def splits(slots, length, replicas, most_rows):
    return [
        (r, slots // (r * length * replicas))
        for r in range(1, most_rows + 1)
        if slots % (r * length * replicas) == 0
    ]
""",
            "on both sides",
        ),
    },
    "shares": {
        "means of the shares": (
            """
def shares(seen):
    fills = [real / slots for slots, real, _ in seen]
    target = [targets / real for _, real, targets in seen]
    return sum(fills) / len(fills), sum(target) / len(target)
""",
            "means of the shares",
        ),
        "the target share still a mean": (
            """
def shares(seen):
    target = [targets / real for _, real, targets in seen]
    fill = sum(real for _, real, _ in seen) / sum(slots for slots, _, _ in seen)
    return fill, sum(target) / len(target)
""",
            "the target share is the mean",
        ),
        "targets per slot": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / slots
""",
            "of the real tokens",
        ),
        "the waste": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return 1 - real / slots, targets / real
""",
            "fill is what is real",
        ),
        "upside down": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return slots / real, real / targets
""",
            "upside down",
        ),
        "percent": (
            """
def shares(seen):
    slots, real, targets = np.sum(seen, axis=0)
    return 100 * real / slots, 100 * targets / real
""",
            "in per cent",
        ),
        "the product": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots * (targets / real)
""",
            "not their product",
        ),
        "padding counted as tokens": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return slots / slots, targets / slots
""",
            "slots are not tokens",
        ),
    },
    "fit-test": {
        "only what divides": (
            "def fit_test(fit):\n    assert fit(72, 2, 4, 3) == 3",
            "floors in silence",
        ),
        "only a wish below one micro-batch": (
            """
def fit_test(fit):
    assert fit(72, 2, 4, 3) == 3
    try:
        fit(12, 2, 4, 3)
    except ValueError:
        return
    raise AssertionError("not refused")
""",
            "refuses 0",
        ),
        "powers of two only": (
            """
def fit_test(fit):
    assert fit(96, 2, 4, 3) == 4
    for wish in (12, 80, 90):
        try:
            fit(wish, 2, 4, 3)
        except ValueError:
            continue
        raise AssertionError("not refused")
""",
            "takes powers of two only",
        ),
        "any error is a refusal": (
            """
def fit_test(fit):
    try:
        assert fit(72, 2, 4, 3) == 3
        fit(80, 2, 4, 3)
    except Exception:
        return
    assert False
""",
            "forgets the replicas",
        ),
        "expects a floor": (
            "def fit_test(fit):\n    assert fit(80, 2, 4, 3) == 3",
            "right implementation",
        ),
        "one replica only": (
            """
def fit_test(fit):
    assert fit(24, 2, 4, 1) == 3
    for wish in (4, 28, 30):
        try:
            fit(wish, 2, 4, 1)
        except ValueError:
            continue
        raise AssertionError("not refused")
""",
            "forgets the replicas",
        ),
    },
}

HIDDEN = {
    "replicas": {
        "only tensor is tested for a remainder": (
            """
def replicas(devices, tensor, pipeline, context):
    if devices % tensor:
        below = devices // tensor * tensor
        raise ValueError(f"try {below} or {below + tensor}")
    return devices // (tensor * pipeline * context)
""",
            "refuse",
        ),
        "too few devices are one replica": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices < one:
        return 1
    if devices % one:
        raise ValueError(f"{devices // one * one} or {devices // one * one + one}")
    return devices // one
""",
            "refuse",
        ),
    },
    "read-launch": {
        "a contradiction is not seen": (
            changed(
                READ,
                (
                    "if whole is not None and rows * accumulation * replicas != whole",
                    "if None in (said(config, 'accumulation'), said(config, 'rows'))"
                    " and whole and rows * accumulation * replicas != whole",
                ),
            ),
            "contradict",
        ),
        "at least one micro-batch": (
            changed(
                READ,
                ("whole // (rows * replicas) if", "max(1, whole // (rows * replicas)) if"),
                (
                    "rows * accumulation * replicas != whole",
                    "whole > rows * replicas and rows * accumulation * replicas != whole",
                ),
            ),
            "32 already",
        ),
    },
    "splits": {
        "more rows than the step has, with no accumulation": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 or r > share")),
            "not one micro-batch",
        ),
        "the micro-batch of powers of two and three": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 and 6**9 % r == 0")),
            "splits of",
        ),
    },
    "shares": {
        "micro-batches without targets are left out": (
            """
def shares(seen):
    seen = [one for one in seen if one[2]] or seen
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / real
""",
            "takes its slots all the same",
        ),
    },
}

RIGHT = {
    "replicas": {
        "by the library": """
def replicas(devices, tensor, pipeline, context):
    return plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline, context=context)
""",
        "counted, group by group": """
def replicas(devices, tensor, pipeline, context):
    group, found, left = tensor * pipeline * context, 0, devices
    while left >= group:
        left, found = left - group, found + 1
    if left:
        raise ValueError(f"{left} left: {devices - left} and {devices - left + group} divide")
    return found
""",
    },
    "read-launch": {
        "case by case": READ,
        "in floats": """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    if rows is None:
        rows = whole / ((accumulation or 1) * replicas)
    if accumulation is None:
        accumulation = whole / (rows * replicas) if whole else 1
    if rows % 1 or accumulation % 1 or whole not in (None, rows * accumulation * replicas):
        raise ValueError("no whole numbers fulfil it")
    return rows, accumulation
""",
        "searched": """
def read_launch(config, replicas):
    rows, accumulation, whole = (said(config, what) for what in NAMES)
    if whole is None:
        return [rows, accumulation or 1]
    for r in [rows] if rows else range(1, whole + 1):
        for a in [accumulation] if accumulation else [1] if not rows else range(1, whole + 1):
            if r * a * replicas == whole:
                return [r, a]
    raise ValueError("no whole numbers fulfil it")
""",
    },
    "deepseek-step": {
        "another one, as a list": "def deepseek_step():\n    return [3, 64, 1024, 4, 16, 4096]",
        "shorter rows": "def deepseek_step():\n    return 6, 64, 1024, 4, 16, 2048",
    },
    "llama-slots": {
        "from the paper's own replicas": "def llama_slots():\n    return 128 * 16 * 8.192e-3",
        "in words of the library": """
def llama_slots():
    copies = plan.data_parallel_degree(16_384, tensor=8, pipeline=16)
    return plan.Plan(1, 16, copies, 8192).slots_per_step / 1e6
""",
    },
    "splits": {
        "by the library": """
def splits(slots, length, replicas, most_rows):
    found = plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)
    return [(p.rows, p.accumulation) for p in found]
""",
        "two loops, as lists": """
def splits(slots, length, replicas, most_rows):
    share, left = divmod(slots, length * replicas)
    if left:
        step = length * replicas
        raise ValueError(f"{slots:,} is between {share * step:,} and {(share + 1) * step:,}")
    return [[r, a] for a in range(1, share + 1) for r in range(1, most_rows + 1) if r * a == share]
""",
        "in the other order": SPLITS.replace("range(1, most_rows + 1)", "range(most_rows, 0, -1)"),
    },
    "shares": {
        "numpy": """
def shares(seen):
    slots, real, targets = np.asarray(seen).sum(axis=0)
    return np.array([real / slots, targets / real])
""",
        "a loop": """
def shares(seen):
    slots = real = targets = 0
    for one in seen:
        slots, real, targets = slots + one[0], real + one[1], targets + one[2]
    return [real / slots, targets / real]
""",
    },
    "fit-test": {
        "with pytest": """
import pytest


def fit_test(fit):
    assert fit(72, 2, 4, 3) == 3
    for wish in (1, 23, 73, 95):
        with pytest.raises(ValueError):
            fit(wish, 2, 4, 3)
""",
        "against an own formula": """
def fit_test(fit):
    for slots in (6, 24, 30, 48, 60, 72, 100, 120):
        try:
            got = fit(slots, 2, 3, 4)
        except ValueError:
            got = None
        assert got == (slots // 24 if slots % 24 == 0 else None)
""",
    },
}

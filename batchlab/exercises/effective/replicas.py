"""How many replicas: a division that leaves no remainder."""

from batchlab.exercises import Exercise
from batchlab.exercises.effective import near, offers_none


def replicas(devices, tensor, pipeline, context):
    """Replicas on these devices, or a ValueError that names the nearest that divide."""
    one = tensor * pipeline * context
    if devices % one:
        below = devices // one * one
        raise ValueError(f"{devices} devices: try {below or ''} {below + one}")
    return devices // one


def drawn(rng):
    """Degrees of all kinds, remainders of each; calls that differ in one number; many devices."""
    for _ in range(20):
        t, p, c, n = (int(v) for v in rng.integers(1, 9, 4))
        yield t * p * c * n, t, p, c
        yield t * p * c * n * 2, t, p, c
        yield t * p * c * n * 2, 2 * t, p, c
        yield t * p * c * n * 2, t, 2 * p, c
        yield t * p * c * n * 2, t, p, 2 * c
        for many in (0, n):
            if t * p * c > 1:
                yield t * p * c * many + int(rng.integers(1, t * p * c)), t, p, c
                yield t * p * c * (many + 1) - 1, t, p, c
    one = 125 * 60 * 48
    yield 8 * int(rng.integers(10**5, 10**6)) + 1, 8, 1, 1
    yield from ((one * 70_001 + more, 125, 60, 48) for more in (-1, 0, 1))


def misnamed(said, devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    offered = near(devices, one)
    if offers_none(said, offered[-1]):
        return "0 devices run nothing: name only the number above"
    words = said.replace(",", "").replace("_", "").replace("[", " ").replace("]", " ").split()
    numbers = {int(word) for word in words if word.isdecimal()}
    more = numbers - {*offered, 0, one, devices, tensor, pipeline, context}
    far = sorted(number for number in more if number % one == 0 and one > 2)
    return f"{far[0]} divides, but it is not the nearest" if far else ""


exercise = Exercise(
    replicas,
    hints=(
        "how many GPUs work on the same rows?",
        "multiply the three degrees, and divide once; look at the remainder before you divide",
        "below = devices // one * one, above = below + one; 0 devices are no offer",
    ),
    asked=lambda devices, t, p, c: (
        f"replicas on {devices} devices, tensor {t}, pipeline {p}, context {c}"
    ),
    mentions=lambda devices, t, p, c: near(devices, t * p * c),
    misnamed=misnamed,
    shown=[
        (64, 8, 1, 1),
        (96, 4, 2, 3),
        (240, 2, 3, 4),
        (102, 8, 1, 1),
        (101, 2, 4, 1),
        (5, 4, 2, 1),
    ],
    drawn=drawn,
    passed="Right: 16,384 GPUs with tensor 8 and pipeline 16 are 128 replicas, not 16,384.",
)
ONE, END = "tensor * pipeline * context", "    return devices // one"
for _thought, _one in {
    "a GPU is not a replica: the GPUs of one share a copy of the model": "1",
    "pipeline stages are taken for replicas: they work on the same rows": "tensor * context",
    "context forgotten: those GPUs share one sequence": "tensor * pipeline",
    "only tensor divides here: pipeline and context share a replica, too": "tensor",
    "degrees that share a factor multiply like others: each counts whole": (
        "tensor * context // __import__('math').gcd(tensor, context) * pipeline"
    ),
}.items():
    exercise.edit(_thought, [(ONE, _one)])


@exercise.mistake
def added(devices, tensor, pipeline, context):
    """added: the degrees multiply"""
    return devices // (tensor + pipeline + context)


@exercise.mistake
def floored(devices, tensor, pipeline, context):
    """a silent floor: refuse what does not divide, and name the nearest"""
    return devices // (tensor * pipeline * context)


@exercise.mistake
def nearest(devices, tensor, pipeline, context):
    """rounded to the nearest: refuse what does not divide"""
    return round(devices / (tensor * pipeline * context))


@exercise.mistake
def no_brackets(devices, tensor, pipeline, context):
    """devices / tensor * pipeline * context: put the product in brackets"""
    return devices // tensor * pipeline * context


for _thought, _says, *_changes in [
    (
        "the remainder of tensor alone is looked at: pipeline and context count, too",
        "",
        ("devices % one", "devices % tensor"),
        ("// one * one", "// tensor * tensor"),
        ("below + one", "below + tensor"),
    ),
    (
        "too few devices are no replica: refuse, and name the number above",
        "",
        ("    if devices % one", "    if devices < one:\n        return 1\n    if devices % one"),
    ),
    ("0 devices run nothing: name only the number above", "0 devices", ("below or ''", "below")),
    (
        "the remainder is added: above is one more group, below + one",
        "",
        ("below + one", "devices + devices % one"),
    ),
    (
        "refuses, and does not say what would do",
        "",
        ("try {below or ''} {below + one}", "they do not divide"),
    ),
    (
        "every multiple is named: the two nearest are asked",
        "",
        ("{below or ''}", "{[*range(one, 999, one)]}"),
    ),
    (
        "an assertion is no ValueError",
        "a",
        (
            "raise ValueError(f\"{devices} devices: try {below or ''} {below + one}\")",
            'assert False, f"{below} {below + one}"',
        ),
    ),
    ("a float: a count is an int", "a count is an int", (END, "    return devices / one")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def counted(devices, tensor, pipeline, context):
    """counted, group by group"""
    group, found, left = tensor * pipeline * context, 0, devices
    while left >= group:
        left, found = left - group, found + 1
    if left:
        offered = [n for n in (devices - left, devices - left + group) if n]
        raise ValueError(f"{left} left: {' and '.join(map(str, offered))} would do")
    return found


@exercise.style
def library(devices, tensor, pipeline, context):
    """the library"""
    from batchlab import plan

    return plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline, context=context)


@exercise.style
def thousands(devices, tensor, pipeline, context):
    """in words of thousands"""
    one = tensor * pipeline * context
    found, left = divmod(devices, one)
    if left:
        near = [f"{n * one:,}" for n in (found, found + 1) if n]
        raise ValueError(f"{devices:,} devices leave {left:,} over; nearest: " + " or ".join(near))
    return found

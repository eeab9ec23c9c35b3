"""Settings of a step of another size: by accumulation, with the rate and beta2 moved."""

from batchlab.exercises import Exercise
from batchlab.exercises.adaptive import of


def grown(settings, sequences):
    """The settings of a step of so many sequences: by accumulation, rate and beta2 moved."""
    each = settings["rows"] * settings["data_parallel"]
    if sequences < each or sequences % each:
        raise ValueError(f"{sequences} sequences are no multiple of {each}")
    k = sequences / (each * settings["accumulation"])
    return settings | {
        "accumulation": sequences // each,
        "rate": settings["rate"] * k**0.5,
        "beta2": settings["beta2"] ** k,
    }


def asked(settings, sequences):
    return f"settings of {sequences} sequences per step, from {settings}"


def why(got, settings, sequences):
    """Which key moved that stays; empty where none did."""
    right = grown(settings, sequences)
    moved = [key for key in right if right[key] == settings[key] and got[key] != right[key]]
    return f"{moved[0]} stays as it is" if moved else ""


def drawn(rng):
    for _ in range(12):
        rows, before, replicas, after = (int(n) for n in rng.integers(1, 12, 4))
        rate, beta2 = float(rng.uniform(1e-4, 1e-2)), float(rng.uniform(0.9, 0.999))
        yield of(rows, before, replicas, rate, beta2), rows * replicas * after
    yield of(4, 2, 2, rate=0.02), 320
    yield of(2, 24, 1), 2
    yield of(2, 2**33, 3), 6 * 2**35
    yield of(2, 3, 2, betas=[0.9, 0.99], epsilon=1e-8, steps=9000, clip=1.0, beta1=0.9), 36
    for sequences, rows, replicas in ((8, 8, 2), (0, 8, 2), (-32, 8, 2), (14, 3, 5)):
        yield of(rows, 3, replicas), sequences


exercise = Exercise(
    grown,
    points=2,
    asked=asked,
    explain=why,
    mentions=lambda settings, sequences: (settings["rows"] * settings["data_parallel"],),
    drawn=drawn,
    abs=1e-12,
    hints=(
        "each = rows x data_parallel; the new accumulation is sequences // each",
        "k = sequences after / sequences before: the rate by its root, beta2 to the power k",
        "settings with 'accumulation', rate * k ** 0.5 and beta2 ** k in place of the old ones",
    ),
    shown=[
        (of(3, 4, 5, clip=1.0, warmup=2000), 180),
        (of(2, 3, 1), 8),
        (of(4, 8, 2), 16),
        (of(13, 3, 17), 400),
        (of(8, 3, 2), 8),
        (of(8, 3, 2), 0),
        (of(8, 3, 2), -32),
    ],
    passed="Right: the step moves by accumulation, and takes its rate and beta2 along.",
)
K, RATE, BETA, COUNT = (
    'sequences / (each * settings["accumulation"])',
    'settings["rate"] * k**0.5',
    'settings["beta2"] ** k',
    '"accumulation": sequences // each',
)
EACH, REFUSE, MESSAGE = (
    'settings["rows"] * settings["data_parallel"]',
    "sequences < each or sequences % each",
    "are no multiple of {each}",
)
for _thought, _old, _new in [
    ("the learning rate was not moved", RATE, 'settings["rate"]'),
    ("the learning rate by k: asked is the square root", RATE, 'settings["rate"] * k'),
    ("the learning rate the wrong way", RATE, 'settings["rate"] / k**0.5'),
    ("beta2 was not moved: its half-life in tokens grows with the step", BETA, 'settings["beta2"]'),
    (
        "1 - k (1 - beta2) is the tangent: asked is the power",
        BETA,
        '1 - k * (1 - settings["beta2"])',
    ),
    ("beta2 ** (1 / k): the wrong way", BETA, 'settings["beta2"] ** (1 / k)'),
    ("beta2 ** root of k: tokens count, so the power is k", BETA, 'settings["beta2"] ** k**0.5'),
    ("beta2 times k is no beta", BETA, 'settings["beta2"] * k'),
    ("beta2 was rounded: near 1 every digit counts", BETA, 'round(settings["beta2"] ** k, 4)'),
    ("k is a fraction: by `//` it lost its part behind the point", K, K.replace(" / ", " // ")),
    ("k upside down: sequences after over sequences before", K, f"1 / ({K})"),
    ("a step may shrink, too: then k is below 1", K, f"max(1, {K})"),
    (
        "k counts the accumulation before against sequences after",
        K,
        'sequences / settings["accumulation"]',
    ),
    (
        "the replicas were forgotten: sequences = rows x accumulation x data_parallel",
        COUNT,
        '"accumulation": sequences // settings["rows"]',
    ),
    (
        "the rows were forgotten: sequences = rows x accumulation x data_parallel",
        COUNT,
        '"accumulation": sequences // settings["data_parallel"]',
    ),
    (
        "the rows grew: memory grows with them",
        COUNT,
        '"rows": round(settings["rows"] * k)',
    ),
    (
        "the replicas grew: nobody bought devices",
        COUNT,
        '"data_parallel": round(settings["data_parallel"] * k)',
    ),
]:
    exercise.edit(_thought, [(_old, _new)])
FEW = "rounded, the tokens per step drift: refuse, and name rows x replicas"
for _thought, _says, *_change in [
    (FEW, "", REFUSE, "sequences < each"),
    (
        "fewer than one row on each replica: refuse",
        "is needed",
        REFUSE,
        "sequences % each and sequences > each",
    ),
    ("0 sequences are no step: refuse", "is needed", REFUSE, "sequences < 0 or sequences % each"),
    ("a step below 0: refuse", "is needed", REFUSE, "sequences == 0 or sequences % each"),
    ("no number in the message", "without", MESSAGE, "do not fit"),
    (
        "rows x accumulation in the message",
        "without",
        MESSAGE,
        "are no multiple of {settings['rows'] * settings['accumulation']}",
    ),
    (
        "accumulation is a count, so an int: `//` gives one",
        "",
        COUNT,
        '"accumulation": sequences / each',
    ),
    ("all else is dropped", "missing", "return settings | {", "return {"),
    ("clip stays as it is", "", COUNT, COUNT + ', "clip": 1.0 * k'),
]:
    exercise.edit(_thought, [tuple(_change)], says=_says)


exercise.edit(
    "in place",
    [("return settings | {", "settings |= {"), ("    }\n", "    }\n    return settings\n")],
    says="changed",
)


@exercise.style
def a_copy(settings, sequences):
    """a copy, key by key; the same settings where nothing moves"""
    new = dict(settings)
    each = settings["rows"] * settings["data_parallel"]
    if sequences < 1 or sequences % each:
        raise ValueError(f"no multiple of {each}")
    k = sequences / (each * settings["accumulation"])
    if k == 1:
        return settings
    new["accumulation"] = sequences // each
    new["rate"] = settings["rate"] * k**0.5
    new["beta2"] = settings["beta2"] ** k
    return new


@exercise.style
def logarithms(settings, sequences):
    """logarithms, numbers of NumPy"""
    import numpy as np

    each = settings["rows"] * settings["data_parallel"]
    steps, rest = divmod(sequences, each)
    if rest or steps <= 0:
        raise ValueError("rows x replicas is " + str(each))
    k = np.float64(steps) / settings["accumulation"]
    out = {key: value for key, value in settings.items()}
    beta2 = np.exp(k * np.log(settings["beta2"]))
    out.update(accumulation=np.int64(steps), rate=settings["rate"] * np.sqrt(k), beta2=beta2)
    return out

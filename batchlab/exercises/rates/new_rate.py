"""The new rate: linear for SGD up to the noise scale, the root for Adam."""

import numpy as np

from batchlab.exercises import Exercise


def new_rate(rate, before, after, optimizer, noise):
    """The rate after the batch changed from `before` to `after`, at a noise scale `noise`."""
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule was shown for {optimizer}")
    if optimizer == "sgd" and max(before, after) > noise:
        raise ValueError(f"a batch of {max(before, after)} is above the noise scale {noise}")
    k = after / before
    return rate * (k if optimizer == "sgd" else k**0.5)


def drawn(rng):
    names = ("sgd", "adam", "adamw")
    for n in range(12):
        before, after = (int(one) for one in rng.integers(1, 5000, 2))
        yield float(rng.uniform(1e-4, 1)), before, after, names[n % 3], 5000
        yield 2e-3, before, after, names[(n + 1) % 3], 5000 + after
    yield from [(0.05, 0.5, 2.25, "sgd", 3.5), (1.5e-9, 64, 256, "adam", 1000)]
    yield from [(0.02, 96, 96, "sgd", 96), (1e-3, 2**34, 2**37, "adamw", 2**40)]
    yield from [(0.1, 600, 600, name, 500) for name in (*names, "nadam", "ada", "AdamW")]
    yield 0.1, int(after), 6000 + int(after), "adamw", 5999
    yield 0.1, int(after), 6000 + int(after), "sgd", 5999
    yield from [(0.1, 2, 3.5, "sgd", 3.5), (0.1, 512, 1_234_567_891, "sgd", 1_234_567_890)]


exercise = Exercise(
    new_rate,
    drawn=drawn,
    abs=1e-13,
    mentions=lambda rate, before, after, optimizer, noise: (
        (max(before, after),) if optimizer == "sgd" else (optimizer,)
    ),
    hints=(
        "k = after / before, a fraction; first look at the optimizer and at the larger batch",
        "SGD: rate * k. Adam and AdamW: rate * k ** 0.5",
        "refuse if optimizer is none of the three, and for sgd if max(before, after) > noise",
    ),
    shown=[
        (3e-4, 256, 1024, "adam", 1024),
        (0.1, 640, 96, "sgd", 700),
        (2e-3, 640, 1024, "adamw", 5000),
        (0.1, 96, 256, "sgd", 256),
        (0.1, 256, 16_384, "sgd", 20_000),
        (1e-3, 256, 512, "lion", 5000),
        (1e-3, 256, 512, "adamax", 5000),
        (1e-3, 256, 512, "sgdw", 5000),
        (1e-3, 256, 512, "SGD", 5000),
        (1e-3, 3.125, 0.5, "sgd", 3.0625),
        (1e-3, 512, 2_097_153, "sgd", 2_000_000),
        (4e-4, 1024, 4096, "adam", 300),
        (4e-4, 4096, 1024, "adamw", 300),
    ],
    passed="Right: linear for SGD, and not above the noise scale; the root for Adam.",
)
RULE, KNOWN = '(k if optimizer == "sgd" else k**0.5)', 'optimizer not in ("sgd", "adam", "adamw")'
LARGER, K = '    if optimizer == "sgd" and max(before, after) > noise', "after / before\n"
SGD = '    if optimizer == "sgd" and'
OUT = "a batch above the noise scale is out of SGD's range, old or new: name the larger one"
NO_LIMIT = "under Adam the noise scale is no limit: refuse SGD alone above it"
for _thought, *_change in [
    ("linear for Adam: its rule is the square root", RULE, "k"),
    ("the square root for SGD: its rule is linear", RULE, "k**0.5"),
    (
        "AdamW is an Adam: its rule is the square root",
        'k if optimizer == "sgd"',
        'k if optimizer != "adam"',
    ),
    ("nothing moved: the rate grows with the batch", K, "1\n"),
    ("upside down: k is the new batch over the old", K, "before / after\n"),
    ("the trend of one 30 M model is not the rule asked for", "k**0.5", "k**0.158"),
    ("whole numbers by //: divide with /", K, "after // before\n"),
    ("a batch may fall, too: then the rate falls", K, "max(1, after / before)\n"),
    ("rounded: keep all digits", f"rate * {RULE}", f"round(rate * {RULE}, 4)"),
    ("at the noise scale the rule still holds: refuse only above it", "> noise", ">= noise"),
    ("a fall is in range: nothing else is refused", LARGER, f"{LARGER} or after < before"),
    ("AdamW has the rule of Adam: three names are known", '"adam", "adamw")', '"adam")'),
    (
        "8,192 is where the rule was shown: here the noise scale alone decides",
        LARGER,
        f'{LARGER} or optimizer == "sgd" and after > 8192',
    ),
    ("no rule of this page was shown for it: refuse, and name it", f"if {KNOWN}", "if False"),
    (
        "it begins with adam and is another optimizer: compare whole names",
        KNOWN,
        'optimizer != "sgd" and not optimizer.startswith("adam")',
    ),
    (
        "it begins with sgd and is another optimizer: compare whole names",
        KNOWN,
        '"sgd" not in optimizer and optimizer not in ("adam", "adamw")',
    ),
    (
        "capitals count: the three names are written in small letters",
        "optimizer not in",
        "optimizer.lower() not in",
    ),
    (OUT, LARGER, "    if False"),
    (OUT, LARGER, f"{SGD} after > noise"),
    (OUT, LARGER, f"{SGD} before > noise"),
    (OUT, LARGER, f"{SGD} min(before, after) > noise"),
    (NO_LIMIT, LARGER, "    if max(before, after) > noise"),
    (NO_LIMIT, LARGER, '    if optimizer != "adam" and max(before, after) > noise'),
]:
    exercise.edit(_thought, [tuple(_change)])
for _thought, *_change in [
    ("the optimizer is not named", "shown for {optimizer}", "shown for it"),
    ("the batch is not named", "a batch of {max(before, after)} is", "a batch is"),
    ("the new batch is named, whichever is larger", "a batch of {max(before, after)}", "{after}"),
    ("the batch in six digits", "{max(before, after)} is", "{max(before, after):g} is"),
]:
    exercise.edit(_thought, [tuple(_change)], says="without")


@exercise.style
def powers(rate, before, after, optimizer, noise):
    """a power by optimizer, floats of NumPy"""
    power = {"sgd": 1.0, "adam": 0.5, "adamw": 0.5}.get(optimizer)
    if power is None:
        raise ValueError(f"{optimizer} is not known here")
    for batch in sorted((before, after), reverse=True):
        if power == 1.0 and batch > noise:
            raise ValueError(f"batch {batch:,} lies above {noise:,}")
    return rate * np.exp(power * (np.log(np.float64(after)) - np.log(np.float64(before))))


@exercise.style
def from_the_library(rate, before, after, optimizer, noise):
    """rules of the library after own refusals; both batches are named"""
    from batchlab import rates

    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    if optimizer != "sgd":
        return rates.square_root(rate, before, after)
    if before > noise or after > noise:
        raise ValueError(f"{before} -> {after}: {max(before, after)} is above the noise scale")
    return rates.linear(rate, before, after)

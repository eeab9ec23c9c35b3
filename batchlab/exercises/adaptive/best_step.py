"""The step with the most goodput: tokens per second, weighed by their worth."""

from batchlab.exercises import Exercise

FIXED = {"one device": 0.021, "slow network": 0.31}  # planted seconds a step
SEQUENCE, LENGTH, BASE = 0.011, 1024, 8  # planted seconds a sequence; tokens; sequences
SIZES = [*range(8, 129, 8), *range(144, 257, 16), 320, 384, 512]
NOISE = (40, 260, 2000)  # sequences


def best_step(sizes, fixed, each, noise_scale):
    """The one of `sizes` with the most goodput."""

    def goodput(sequences):
        per_second = sequences / (fixed + each * sequences)
        return per_second / (noise_scale + sequences)

    return max(sizes, key=goodput)


def explorer():
    """Sequences, device and noise scale against tokens per second, efficiency and goodput."""
    from batchlab import adapt, widgets

    def scene(size, device, noise):
        speed = size * LENGTH / (FIXED[device] + SEQUENCE * size)
        good = adapt.goodput(speed, size, noise_scale=noise, base=BASE)
        facts = {"tokens per second": f"{speed:,.0f}", "efficiency": f"{good / speed:.1%}"}
        return {"facts": {**facts, "goodput, tokens per second": f"{good:,.0f}"}}

    controls = {
        "size": ("sequences per step", SIZES),
        "device": ("trained on", list(FIXED)),
        "noise": ("noise scale, sequences", list(NOISE)),
    }
    start = {"size": 512, "device": "one device", "noise": 40}
    return widgets.explorer("Goodput", controls, scene, start=start)


def asked(sizes, fixed, each, noise_scale):
    some = sizes if len(sizes) < 9 else f"{sizes[0]} to {sizes[-1]}"
    return f"the best of {some}, {fixed:g} s + {each:g} s a sequence, noise scale {noise_scale:g}"


def drawn(rng):
    for _ in range(12):
        sizes = sorted({int(n) for n in rng.integers(1, 2000, int(rng.integers(2, 40)))})
        fixed, each = float(rng.uniform(0.01, 9)), float(rng.uniform(0.001, 0.1))
        yield rng.permutation(sizes).tolist(), fixed, each, float(rng.uniform(1, 3000))
    yield SIZES, 0.31, 0.011, 260
    yield [48], 0.5, 0.25, 10
    yield [64, 8, 512], 0.31, 0.011, 0


exercise = Exercise(
    best_step,
    asked=asked,
    drawn=drawn,
    hints=(
        "goodput is tokens per second x efficiency; compare it for every size",
        "a step takes fixed + each x sequences seconds; (noise scale + base) is the same for all",
        "the size for which sequences / (fixed + each * sequences) / (noise_scale + sequences) is "
        "largest",
    ),
    shown=[
        (SIZES, 0.31, 0.011, 260),
        ([12, 3, 55, 160, 900], 0.5, 0.01, 200),
    ],
    passed="Right: it lies near the root of noise scale x fixed time / time of a sequence.",
)
SPEED, WORTH, BEST = (
    "sequences / (fixed + each * sequences)",
    "per_second / (noise_scale + sequences)",
    "max(sizes, key=goodput)",
)
LARGEST = (
    "the largest step always wins so: tokens per second without their worth, a sequence without "
    "seconds, or the worth of a whole step"
)
SMALLEST = (
    "the smallest step always wins so: the worth without seconds, or a fixed time that larger "
    "steps do not share"
)
GOOD = "compare their goodput"
for _thought, _old, _new in [
    (LARGEST, WORTH, "per_second"),
    (LARGEST, SPEED, "sequences / fixed"),
    (LARGEST, WORTH, "per_second * sequences / (noise_scale + sequences)"),
    (SMALLEST, WORTH, "1 / (noise_scale + sequences)"),
    (SMALLEST, SPEED, "sequences / (each * sequences)"),
    (SMALLEST, SPEED, "sequences / ((fixed + each) * sequences)"),
    (SMALLEST, SPEED, "1 / (fixed + each * sequences)"),
    ("the goodput itself: asked is the size", BEST, "max(goodput(one) for one in sizes)"),
    (
        "the place of the size in the list: asked is the size",
        BEST,
        "[*map(goodput, sizes)].index(max(map(goodput, sizes)))",
    ),
    (
        f"the first before a fall: the sizes are in no order, {GOOD}",
        BEST,
        "next((a for a, b in zip(sizes, sizes[1:]) if goodput(b) < goodput(a)), sizes[-1])",
    ),
    (
        f"the nearest to the root of noise scale x fixed / each: the nearest may have less, {GOOD}",
        BEST,
        "min(sizes, key=lambda one: abs(one - (noise_scale * fixed / each) ** 0.5))",
    ),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def by_worth(sizes, fixed, each, noise_scale):
    """seconds for what one base step is worth"""

    def seconds(sequences):
        return (fixed + each * sequences) * (noise_scale / sequences + 1) / (noise_scale / 8 + 1)

    return min(sizes, key=seconds)


@exercise.style
def arrays(sizes, fixed, each, noise_scale):
    """arrays of NumPy"""
    import numpy as np

    m = np.array(sizes)
    return m[np.argmax(m / (fixed + each * m) * (noise_scale + 8) / (noise_scale + m))]

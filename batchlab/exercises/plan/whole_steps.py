"""The nearest steps that split: over devices in whole rows, and into whole prompts."""

import math

from batchlab.exercises import Exercise


def whole_steps(slots, row, devices, generations):
    """[slots] if they split, else the nearest numbers below and above that do; never 0."""
    unit = row * math.lcm(devices, generations)
    below = slots // unit * unit
    return [n for n in sorted({below, -(-slots // unit) * unit}) if n]


def drawn(rng):
    for _ in range(20):
        row, devices, generations = (int(n) for n in rng.integers(1, (700, 17, 17)))
        yield int(rng.integers(1, 60_000)), row, devices, generations
        yield row * math.lcm(devices, generations) * int(rng.integers(1, 9)), row, devices, generations  # fmt: skip


exercise = Exercise(
    whole_steps,
    points=2,
    given=("math",),
    hints=(
        "sequences of a step: a multiple of the devices, and a multiple of the generations",
        "the least common multiple, math.lcm, times the slots of a row is the unit",
        "slots // unit * unit is below; 0 is no offer",
    ),
    asked="{} slots in rows of {}, {} devices, {} generations".format,
    shown=[(250, 10, 2, 3), (250, 10, 4, 6), (15, 10, 2, 1), (240, 10, 4, 6)],
    drawn=drawn,
    passed="Right: the least common multiple, and both neighbours.",
)  # fmt: skip
UNIT, BOTH = "math.lcm(devices, generations)", "[n for n in sorted({below, -(-slots // unit) * unit}) if n]"  # fmt: skip
for _thought, _old, _new in [
    ("the product of devices and generations: their least common multiple is enough", UNIT, "devices * generations"),
    ("whole prompts: the generations divide the rows of a step", UNIT, "devices"),
    ("whole rows on each device: the devices divide the rows of a step", UNIT, "generations"),
    ("whole rows: a row has `row` slots", "row * " + UNIT, UNIT),
    ("in rows: asked are slots", "below = slots // unit * unit", "below, slots = slots // unit, slots"),
    ("slots that split already: they alone", "sorted({below, -(-slots // unit) * unit})", "(below, below + unit)"),
    ("0 is no offer: only the number above", BOTH, BOTH.replace(" if n]", "]")),
    ("the greatest common divisor: a multiple of both is asked", UNIT, "math.gcd(devices, generations)"),
    ("0 is no offer: then the number above alone", BOTH, "[max(below, unit), max(below, unit) + unit] if slots % unit else [slots]"),
    ("whole steps: `//` drops what does not fill one", "below = slots // unit * unit", "below = slots / unit * unit"),
    ("the nearest above is missing", BOTH, "[below] if below else [unit]"),
    ("the nearest below is missing", BOTH, "[-(-slots // unit) * unit]"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def by_the_rest(slots, row, devices, generations):
    """by what is left, the multiple by hand"""
    unit = row * devices
    while unit // row % generations:
        unit += row * devices
    rest = slots % unit
    if not rest:
        return [slots]
    return [slots - rest + unit] if slots < unit else [slots - rest, slots - rest + unit]


@exercise.style
def numpy(slots, row, devices, generations):
    """NumPy"""
    import numpy as np

    unit = row * np.lcm(devices, generations)
    found = np.unique([slots // unit * unit, (slots + unit - 1) // unit * unit])
    return found[found > 0]

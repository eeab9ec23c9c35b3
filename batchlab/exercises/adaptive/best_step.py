"""The step with the most goodput: tokens per second, weighed by their worth."""

FIXED = {"one device": 0.021, "slow network": 0.31}  # planted seconds a step
SEQUENCE, LENGTH, BASE = 0.011, 1024, 8  # planted seconds a sequence; tokens; sequences
SIZES = [*range(8, 129, 8), *range(144, 257, 16), 320, 384, 512]
NOISE = (40, 260, 2000)  # sequences


def worth(sequences, base, noise_scale):
    """How many steps of `base` sequences one step of `sequences` is worth, by AdaScale's gain."""
    return (noise_scale / base + 1) / (noise_scale / sequences + 1)


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

"""Three conventions of model FLOPs utilisation."""

from batchlab.exercises import Exercise


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    """MFU by parameters, causal, and with all pairs; peak in FLOPs per second."""
    attention = layers * width * length
    flops = [6 * parameters + a * attention for a in (0, 6, 12)]
    return [tokens_per_second * one / peak for one in flops]


def drawn(rng):
    for _ in range(10):
        case = (
            float(rng.uniform(1, 100)),
            float(rng.uniform(1e8, 7e10)),
            int(rng.integers(2, 90)),
        )
        case += int(rng.integers(5, 90)) * 64, int(rng.integers(2, 99)) * 100
        yield from ((*case, 3e14), (*case, 4e14), (*case[:4], 131_071, 3e14))


exercise = Exercise(
    mfu,
    hints=(
        "FLOPs of a token first: 6 * parameters, plus attention",
        "attention: a * layers * width * length",
        "tokens_per_second * FLOPs of a token / peak, for a = 0, 6 and 12",
    ),
    asked="MFU of {:g} tokens/s, {:g} parameters, {} layers, width {}, length {}, peak {:g}".format,
    shown=[(0.5, 10_000, 2, 64, 3000, 1e9), (900, 1e9, 16, 2048, 4, 65e12)],
    drawn=drawn,
    passed="Right: one run, 34.1, 38.6 or 43.2 %. A figure without its convention says little.",
)
PAIRS, LAST = "layers * width * length", "tokens_per_second * one / peak"
for _thought, _old, _new in [
    (
        "2 N is the forward pass alone: the backward takes 4 N more",
        "6 * parameters",
        "2 * parameters",
    ),
    ("8 N counts a recomputed forward pass: that is HFU", "6 * parameters", "8 * parameters"),
    ("recomputation counted: that is HFU", LAST, f"4 / 3 * {LAST}"),
    ("the attention alone: 6 N is missing", "6 * parameters + ", ""),
    ("the layers are forgotten in the attention", PAIRS, "width * length"),
    ("the length is forgotten in the attention", PAIRS, "layers * width"),
    ("the width is forgotten in the attention", PAIRS, "layers * length"),
    ("the length is squared: this is per token, not per row", PAIRS, f"{PAIRS} * length"),
    ("the width is squared: that is in N already", PAIRS, f"{PAIRS} * width"),
    ("the width is squared, the length forgotten", PAIRS, "layers * width * width"),
    (
        "three times the attention: forward and backward are in a already",
        PAIRS,
        f"3 * {PAIRS}",
    ),
    ("12 and 6 are exchanged: causal counts half of the pairs", "(0, 6, 12)", "(0, 12, 6)"),
    (
        "all pairs first: the order of the table is parameters, causal, all pairs",
        "(0, 6, 12)",
        "(12, 6, 0)",
    ),
    ("causal attention counted in all three", "(0, 6, 12)", "(6, 6, 6)"),
    ("no attention in any", "(0, 6, 12)", "(0, 0, 0)"),
    ("peak taken as TFLOP/s: it is given in FLOPs per second", LAST, f"{LAST} / 1e12"),
    ("FLOPs per second: divide by the peak", LAST, "tokens_per_second * one"),
    ("in per cent: asked is a share", LAST, f"100 * {LAST}"),
    ("upside down: reached over peak", LAST, "peak / (tokens_per_second * one)"),
    ("FLOPs of one row: tokens per second are no rows", LAST, f"length * {LAST}"),
    ("samples as tokens: the rate is divided by the length", LAST, f"{LAST} / length"),
    ("rounded: give all digits", LAST, f"round({LAST}, 3)"),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.mistake(says="a list is needed")
def only_the_first(tokens_per_second, parameters, layers, width, length, peak):
    """three shares are asked: by parameters, causal, all pairs"""
    return tokens_per_second * 6 * parameters / peak


@exercise.mistake
def tiny_dropped(tokens_per_second, parameters, layers, width, length, peak):
    """no attention where it is little: it counts, however little it adds"""
    pairs = layers * width * length
    pairs *= 6 * pairs > 0.2 * parameters
    return [tokens_per_second * (6 * parameters + a * pairs) / peak for a in (0, 6, 12)]


@exercise.style
def numpy(tokens_per_second, parameters, layers, width, length, peak):
    """NumPy"""
    import numpy as np

    a = np.array([0, 6, 12])
    return tokens_per_second / peak * (6 * parameters + a * layers * width * length)


@exercise.style
def a_tuple(tokens_per_second, parameters, layers, width, length, peak):
    """a tuple"""
    base = 6 * parameters * tokens_per_second / peak
    extra = 6 * layers * width * length * tokens_per_second / peak
    return base, base + extra, base + 2 * extra

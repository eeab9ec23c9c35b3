"""A napkin formula: half the noise costs four times the target tokens."""

from batchlab.exercises import Exercise


def tokens_needed(tokens, noise_now, noise_wanted):
    """Target tokens of a step with `noise_wanted`, where `tokens` of them have `noise_now`."""
    return tokens * (noise_now / noise_wanted) ** 2


exercise = Exercise(
    tokens_needed,
    rel=1e-4,
    asked=lambda tokens, noise_now, noise_wanted: (
        f"target tokens for {noise_wanted:.3g} of noise, where {tokens:,} have {noise_now:.3g}"
    ),
    hints=(
        "what happens to the noise with four times the tokens? Do that twice",
        "solve noise_now x root(tokens) = noise_wanted x root(needed)",
    ),
    shown=[(262_144, 0.40, 0.10), (60_000, 1.2, 0.8), (90_000, 0.2, 0.3)],
    drawn=lambda rng: [
        (int(rng.integers(10**5, 10**7)), *rng.uniform(0.2, 2, 2).tolist()) for _ in range(8)
    ],
    passed="Right: a quarter of the noise is two halvings, each at four times the tokens.",
)


@exercise.mistake
def as_the_variance(tokens, noise_now, noise_wanted):
    """as if noise fell as 1/B: that is the variance"""
    return tokens * noise_now / noise_wanted


@exercise.mistake
def root_the_wrong_way(tokens, noise_now, noise_wanted):
    """the root the wrong way round: noise is 1 over the root of the tokens"""
    return tokens * (noise_now / noise_wanted) ** 0.5


@exercise.mistake
def upside_down(tokens, noise_now, noise_wanted):
    """upside down: fewer tokens are noisier"""
    return tokens * (noise_wanted / noise_now) ** 2


@exercise.mistake
def halvings_as_a_sum(tokens, noise_now, noise_wanted):
    """halvings of the noise multiply: each costs four times the tokens"""
    return 2 * tokens * noise_now / noise_wanted


@exercise.mistake
def the_factor(tokens, noise_now, noise_wanted):
    """the factor: how many target tokens is that?"""
    return (noise_now / noise_wanted) ** 2


@exercise.mistake
def added(tokens, noise_now, noise_wanted):
    """the tokens of the step are in it already"""
    return tokens * (noise_now / noise_wanted) ** 2 + tokens


@exercise.mistake
def upside_down_and_linear(tokens, noise_now, noise_wanted):
    """upside down, and as if noise fell as 1/B"""
    return tokens * noise_wanted / noise_now


@exercise.mistake
def on_top(tokens, noise_now, noise_wanted):
    """these come on top: the step has its own tokens as well"""
    return tokens * ((noise_now / noise_wanted) ** 2 - 1)


@exercise.mistake
def not_fewer(tokens, noise_now, noise_wanted):
    """more noise is allowed here: the step may be smaller"""
    return max(tokens, tokens * (noise_now / noise_wanted) ** 2)


@exercise.mistake
def whole_ratio(tokens, noise_now, noise_wanted):
    """the ratio was rounded down: `/`, not `//`"""
    return tokens * int(noise_now / noise_wanted + 1e-9) ** 2


@exercise.mistake
def numbers_of_the_text(tokens, noise_now, noise_wanted):
    """the numbers of the text, not those that are given"""
    return 262_144 * 4 * 4


@exercise.style
def as_a_law(tokens, noise_now, noise_wanted):
    """as a law"""
    return noise_now**2 * tokens / noise_wanted**2


@exercise.style
def rounded_up(tokens, noise_now, noise_wanted):
    """rounded up"""
    from math import ceil

    return ceil(tokens / (noise_wanted / noise_now) ** 2)

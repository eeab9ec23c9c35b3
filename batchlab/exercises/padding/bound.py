"""A napkin formula: how much faster a step can get at most."""

from batchlab.exercises import Exercise


def bound(real_tokens, slots, fixed):
    """Time of the padded step / time without padding, if a share `fixed` of it stays."""
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)


def drawn(rng):
    slots = [int(10 ** rng.uniform(2, 10)) for _ in range(20)]
    many = [
        (max(1, int(n * 10 ** rng.uniform(-5, 0))), n, float(10 ** rng.uniform(-6, 0)))
        for n in slots
    ]
    many += [(real, 2 * slots, float(rng.random())) for real, slots, _ in many]
    many += [
        (real, 3 * slots, fixed) for real, slots, fixed in many
    ]  # who remembers two of three is wrong
    return [*many, (40, 100, 0), (0, 100, 0.2), (70, 70, 1)]


exercise = Exercise(
    bound,
    hints=(
        "call the time of the padded step 1, and write down what is left of it",
        "`fixed` is left, and of the rest the share that is real",
        "1 / (fixed + (1 - fixed) * real_tokens / slots)",
    ),
    asked=lambda real, slots, fixed: (
        f"{real:,} real tokens in {slots:,} slots, a share {fixed} fixed: times as fast"
    ),
    shown=[(40, 100, 0.2), (0, 100, 0.25), (1234, 30_000, 0.001)],
    drawn=drawn,
    passed="Right. It is a napkin formula, no promise: attention shrinks faster than the slots.",
)


@exercise.mistake
def all_padding(real_tokens, slots, fixed):
    """all padding: the fixed share is left, so it is 1 / fixed"""
    return 1 / (fixed + (1 - fixed) * real_tokens / slots) if real_tokens else 1.0


@exercise.mistake
def forgotten(real_tokens, slots, fixed):
    """the fixed share is forgotten"""
    return slots / real_tokens


for _thought, _value in {
    "the mean of two speed-ups: add times, then divide": "fixed + (1 - fixed) * slots / real_tokens",
    "the shares are exchanged: `fixed` is the part that stays": "1 / ((1 - fixed) + fixed * real_tokens / slots)",
    "the time that is left: the speed-up is one over it": "fixed + (1 - fixed) * real_tokens / slots",
    "the waste in place of the real share": "1 / (fixed + (1 - fixed) * (slots - real_tokens) / slots)",
    "`fixed` is no part of the rest: only 1 - fixed shrinks": "1 / (fixed + real_tokens / slots)",
    "the fixed part is left out of the time that remains: it stays": "1 / ((1 - fixed) * real_tokens / slots) if fixed < 1 and real_tokens else 0.0",
    "times add, factors do not: write down the time that is left": "slots / real_tokens * (1 - fixed)",
    "the numbers of the first batch: take those that are handed over": "32000 / 8012",
    "real tokens and slots are exchanged": "1 / (fixed + (1 - fixed) * slots / real_tokens)",
    "in per cent: a factor is asked": "100 / (fixed + (1 - fixed) * real_tokens / slots)",
    "the time that is saved: the factor is asked": "1 - (fixed + (1 - fixed) * real_tokens / slots)",
    "by how much more: the whole factor is asked": "1 / (fixed + (1 - fixed) * real_tokens / slots) - 1",
    "rounded: give all digits": "round(1 / (fixed + (1 - fixed) * real_tokens / slots), 2)",
    "the share of real tokens was rounded: give all digits": "1 / (fixed + (1 - fixed) * round(real_tokens / slots, 2))",
}.items():
    exercise.edit(_thought, [("1 / (fixed + (1 - fixed) * real_tokens / slots)", _value)])


@exercise.style
def from_times(real_tokens, slots, fixed):
    """from times"""
    after = 1.0 * fixed + 1.0 * (1 - fixed) * real_tokens / slots
    return 1.0 / after


@exercise.style
def from_the_waste(real_tokens, slots, fixed):
    """from the waste"""
    waste = 1 - real_tokens / slots
    return 1 / (1 - (1 - fixed) * waste)

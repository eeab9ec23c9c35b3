"""The optimizer steps of a ramp: each step has the size of the stage in which it begins."""

import numpy as np

from batchlab.exercises import Exercise


def ramp_steps(stages, total_tokens):
    """Optimizer steps until `total_tokens` are seen."""
    seen = steps = 0
    while seen < total_tokens:
        seen += [size for start, size in stages if start <= seen][-1]
        steps += 1
    return steps


def drawn(rng):
    for _ in range(12):
        count = int(rng.integers(1, 6))
        starts = [0, *np.cumsum(rng.integers(1, 4000, count)).tolist()]
        sizes = rng.integers(20, 900, count + 1).tolist()
        yield list(zip(starts, sizes)), int(rng.integers(1, 20_000))
    yield [(0, 30)], 1000
    yield [(0, 40)], 1000  # another answer for the same tokens
    yield [(0, 30)], 0
    yield [(0, 30), (10**6, 60)], 90
    yield [(0, 2**31), (2**35 + 1, 2**33)], 2**40


exercise = Exercise(
    ramp_steps,
    points=3,
    asked=lambda stages, total: f"steps of the ramp {stages} until {total:,} tokens",
    drawn=drawn,
    hints=(
        "walk: tokens seen so far, and steps",
        "before each step look up the last stage that begins at or below the tokens seen",
        "while seen < total_tokens: add the size of [s for start, s in stages if start <= seen][-1], "
        "count a step",
    ),
    shown=[
        ([(0, 280), (560, 370), (610, 70), (720, 30)], 1655),
        ([(0, 500), (120, 50), (400, 7)], 521),
        ([(0, 60), (121, 20)], 200),
        ([(0, 30), (500, 60)], 0),
    ],
    passed="Right: a ramp is counted in tokens, and steps follow.",
)
SIZE = "[size for start, size in stages if start <= seen][-1]"
for _thought, _old, _new in [
    ("the first size all the way: the ramp is ignored", SIZE, "stages[0][1]"),
    ("the last size all the way", SIZE, "stages[-1][1]"),
    ("the largest size reached: a later stage may have a smaller one", SIZE, f"max({SIZE[:-4]})"),
    (
        "a stage begins once its tokens are reached, not one step later",
        SIZE,
        "([size for start, size in stages if start < seen] or [stages[0][1]])[-1]",
    ),
    (
        "a stage begins at its tokens, not one token before",
        SIZE,
        "[size for start, size in stages if start <= seen + 1][-1]",
    ),
    (
        "the size of the stage in which the step ends: that of its beginning counts",
        SIZE,
        f"[size for start, size in stages if start <= seen + {SIZE}][-1]",
    ),
    (
        "one stage early: the next size before its tokens are reached",
        SIZE,
        "stages[min(sum(start <= seen for start, _ in stages), len(stages) - 1)][1]",
    ),
    ("only the first three stages: there may be more", "in stages if", "in stages[:3] if"),
    ("one step too many: the tokens are seen by then", "seen < total", "seen <= total"),
    (
        "rounded down: the last step counts, too",
        "        steps += 1\n",
        "        steps += seen <= total_tokens\n",
    ),
    ("0 tokens are seen before any step: 0 steps", "return steps", "return max(1, steps)"),
    ("the tokens: asked are the steps", "return steps", "return seen"),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit("a count is an int: steps are counted by 1", [("return steps", "return steps / 1")])


@exercise.mistake
def one_at_a_time(stages, total_tokens):
    """one stage further at most: a step may run over two beginnings"""
    seen = steps = at = 0
    while seen < total_tokens:
        if at + 1 < len(stages) and stages[at + 1][0] <= seen:
            at += 1
        seen += stages[at][1]
        steps += 1
    return steps


@exercise.mistake
def late_and_one(stages, total_tokens):
    """the next stage after the step that ran beyond its start: at its start it has begun already"""
    seen = steps = at = 0
    while seen < total_tokens:
        seen += stages[at][1]
        steps += 1
        if at + 1 < len(stages) and stages[at + 1][0] < seen:
            at += 1
    return steps


@exercise.mistake(says="changed")
def used_up(stages, total_tokens):
    """the stages are used up"""
    seen = steps = 0
    while seen < total_tokens:
        while len(stages) > 1 and stages[1][0] <= seen:
            stages.pop(0)
        seen += stages[0][1]
        steps += 1
    return steps


@exercise.mistake
def by_stage(stages, total_tokens):
    """each stage by itself: a step that crosses a start has eaten of the next stage"""
    ends = [start for start, _ in stages[1:]] + [total_tokens]
    parts = [(min(end, total_tokens) - start, size) for (start, size), end in zip(stages, ends)]
    return sum(-(-tokens // size) for tokens, size in parts if tokens > 0)


@exercise.mistake
def to_its_end(stages, total_tokens):
    """each stage to its end: stop where the tokens are seen"""
    seen = steps = 0
    for end, size in zip([start for start, _ in stages[1:]] + [total_tokens], stages):
        while seen < end:
            seen, steps = seen + size[1], steps + 1
    return steps


@exercise.mistake
def floors(stages, total_tokens):
    """rounded down in every stage"""
    ends = [start for start, _ in stages[1:]] + [total_tokens]
    parts = [(min(end, total_tokens) - start, size) for (start, size), end in zip(stages, ends)]
    return sum(tokens // size for tokens, size in parts if tokens > 0)


@exercise.mistake
def fractions(stages, total_tokens):
    """parts of steps were added up and rounded once: a step that crosses a start has one size"""
    ends = [start for start, _ in stages[1:]] + [total_tokens]
    parts = [(min(end, total_tokens) - start, size) for (start, size), end in zip(stages, ends)]
    exact = sum(tokens / size for tokens, size in parts if tokens > 0)
    return -int(-exact // 1)


@exercise.mistake
def mean_size(stages, total_tokens):
    """the mean of the sizes: stages hold for different tokens"""
    return -(-total_tokens * len(stages) // sum(size for _, size in stages))


@exercise.style
def many_at_once(stages, total_tokens):
    """many steps at once, of NumPy"""
    import numpy as np

    seen = steps = 0
    for (start, size), (end, _) in zip(stages, [*stages[1:], (total_tokens, 0)]):
        end = min(end, total_tokens)
        if seen < end:
            more = -(-(end - seen) // size)
            seen, steps = seen + more * size, steps + more
    return np.int64(steps)


@exercise.style
def loop(stages, total_tokens):
    """a loop over the stages before each step"""
    seen, steps = 0, 0
    while seen < total_tokens:
        size = stages[0][1]
        for start, tokens in stages:
            if start <= seen:
                size = tokens
        seen += size
        steps += 1
    return steps

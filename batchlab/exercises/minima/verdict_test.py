"""Catch the bug: one test for eight wrong verdicts."""

from batchlab.exercises import Exercise


def verdict(low, high, margin):
    """One of four verdicts for the interval of a gap: large minus small."""
    if -margin <= low and high <= margin:
        return "no difference"
    if low > 0:
        return "large worse"
    if high < 0:
        return "large better"
    return "cannot tell"


of = Exercise(verdict)
INSIDE, ABOVE, BELOW = "-margin <= low and high <= margin", "low > 0", "high < 0"
TURNED = [("large worse", "large"), ("large better", "large worse"), ('large"', 'large better"')]
# wrong verdicts, in lines that the judge has, too
VERDICTS = {
    "a middle within the margin is called no difference, however wide": [
        (INSIDE, "abs(low + high) <= 2 * margin")
    ],
    "an interval that holds 0 is called no difference, however wide": [
        (INSIDE, f"low <= 0 <= high or {INSIDE}")
    ],
    "any interval that reaches above the margin is called worse": [(ABOVE, "high > margin")],
    "the sign is turned: a larger loss is called better": TURNED,
    "the large batch is never called better": [('"large better"', '"cannot tell"')],
    "only the upper end is held against the margin": [(INSIDE, "high <= margin")],
    "only the lower end is held against the margin": [(INSIDE, "-margin <= low")],
    "what is not 0 is called worse or better, even inside the margin": [
        (INSIDE, f"low <= 0 <= high and {INSIDE}")
    ],
    "too careful: worse is said only if the whole interval lies beyond the margin": [
        (ABOVE, "low > margin"),
        (BELOW, "high < -margin"),
    ],
    "a wide interval is always called cannot tell": [
        (ABOVE, "low > 0 and high - low <= 2 * margin"),
        (BELOW, "high < 0 and high - low <= 2 * margin"),
    ],
    "the margin is always 0.01": [(INSIDE, "-0.01 <= low and high <= 0.01")],
    "no difference is never said": [(INSIDE, "low == high == 0")],
    "the middle of the interval decides alone": [
        (INSIDE, "low == high == 0"),
        (ABOVE, "low + high > 0"),
        (BELOW, "low + high < 0"),
    ],
    "too careful above 0: worse is said only if the whole interval lies beyond the margin": [
        (ABOVE, "low > margin")
    ],
    "too careful below 0: better is said only if the whole interval lies beyond the margin": [
        (BELOW, "high < -margin")
    ],
    "an interval that holds 0 is called worse if only its upper end is beyond the margin": [
        (ABOVE, "low >= -margin")
    ],
    "an interval that holds 0 is called better if only its lower end is beyond the margin": [
        (BELOW, "high <= margin")
    ],
}
CAUGHT = (
    "a middle within the margin is called no difference, however wide",
    "an interval that holds 0 is called no difference, however wide",
    "the sign is turned: a larger loss is called better",
    "only the upper end is held against the margin",
    "what is not 0 is called worse or better, even inside the margin",
    "too careful: worse is said only if the whole interval lies beyond the margin",
    "the margin is always 0.01",
    "the middle of the interval decides alone",
)
for _thought in CAUGHT:
    of.edit(_thought, VERDICTS[_thought])


@of.style
def by_steps(low, high, margin):
    """the questions in another order"""
    if max(abs(low), abs(high)) <= margin:
        return "no difference"
    if low <= 0 <= high:
        return "cannot tell"
    return "large worse" if high > 0 else "large better"


def verdict_test(verdict):
    """Fail (assert) for every wrong verdict(low, high, margin)."""
    for low, high, margin, want in [
        (-0.01, 0.03, 0.05, "no difference"),
        (0.01, 0.03, 0.05, "no difference"),
        (-0.03, -0.01, 0.05, "no difference"),
        (0.01, 0.2, 0.05, "large worse"),
        (0.1, 0.2, 0.05, "large worse"),
        (-0.2, -0.01, 0.05, "large better"),
        (-0.2, -0.1, 0.05, "large better"),
        (-0.2, 0.21, 0.05, "cannot tell"),
        (-0.02, 0.2, 0.05, "cannot tell"),
        (-0.2, 0.02, 0.05, "cannot tell"),
    ]:
        assert verdict(low, high, margin) == want


exercise = Exercise(
    verdict_test,
    points=2,
    hints=(
        "take one narrow and one wide interval for each verdict, and turn each one round",
        "let an interval begin inside the margin and end beyond it, on either side of 0",
        "let an interval lie inside the margin: to the left of 0, and to the right",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: eight wrong versions found, both right ones passed.",
)
CASES = {
    "inside": '        (-0.01, 0.03, 0.05, "no difference"),\n',
    "inside, above 0": '        (0.01, 0.03, 0.05, "no difference"),\n',
    "inside, below 0": '        (-0.03, -0.01, 0.05, "no difference"),\n',
    "worse, from inside the margin": '        (0.01, 0.2, 0.05, "large worse"),\n',
    "worse, beyond the margin": '        (0.1, 0.2, 0.05, "large worse"),\n',
    "better, from inside the margin": '        (-0.2, -0.01, 0.05, "large better"),\n',
    "better, beyond the margin": '        (-0.2, -0.1, 0.05, "large better"),\n',
    "beyond it on both sides": '        (-0.2, 0.21, 0.05, "cannot tell"),\n',
    "beyond it above": '        (-0.02, 0.2, 0.05, "cannot tell"),\n',
    "beyond it below": '        (-0.2, 0.02, 0.05, "cannot tell"),\n',
}
for _names in [
    ("inside", "inside, above 0", "inside, below 0"),
    ("beyond it on both sides", "beyond it above", "beyond it below"),
]:
    exercise.edit(
        f"no case {' or '.join(_names)}", [(CASES[one], "") for one in _names], says="got through"
    )
ASSERT = "        assert verdict(low, high, margin) == want"
for _thought, _says, _change in [
    ("nothing is asserted", "never failed", (ASSERT, ASSERT.replace("assert ", ""))),
    (
        "any of the words",
        "got through",
        (ASSERT, "        assert 'e' in verdict(low, high, margin)"),
    ),
    (
        "one margin of 0.01",
        "got through",
        (ASSERT, "        assert verdict(low / 5, high / 5, 0.01) == want"),
    ),
    (
        "not significant is no difference",
        "was stopped",
        ('(-0.2, 0.21, 0.05, "cannot tell")', '(-0.2, 0.21, 0.05, "no difference")'),
    ),
    (
        "worse inside the margin",
        "was stopped",
        ('(0.01, 0.03, 0.05, "no difference")', '(0.01, 0.03, 0.05, "large worse")'),
    ),
    (
        "worse only from the margin on",
        "was stopped",
        ('(0.01, 0.2, 0.05, "large worse")', '(0.01, 0.2, 0.05, "cannot tell")'),
    ),
    (
        "the sign turned",
        "was stopped",
        ('(0.1, 0.2, 0.05, "large worse")', '(0.1, 0.2, 0.05, "large better")'),
    ),
    (
        "another word",
        "was stopped",
        ('(0.1, 0.2, 0.05, "large worse")', '(0.1, 0.2, 0.05, "worse")'),
    ),
]:
    exercise.edit(_thought, [_change], says=_says)


@exercise.style
def two_scales(verdict):
    """a truth value, two scales"""
    want = {
        (-0.1, 0.3): "no difference",
        (0.1, 0.3): "no difference",
        (-0.3, -0.1): "no difference",
        (0.1, 2): "large worse",
        (1, 2): "large worse",
        (-2, -0.1): "large better",
        (-2, -1): "large better",
        (-2, 2.1): "cannot tell",
        (-0.2, 2): "cannot tell",
        (-2, 0.2): "cannot tell",
    }
    return all(
        verdict(k * a, k * b, k * 0.5) == said for (a, b), said in want.items() for k in (1, 0.1)
    )


@exercise.style
def by_name(verdict):
    """arguments by name, whole nats"""
    for a, b, want in [
        (-1, 3, 2),
        (1, 3, 2),
        (-3, -1, 2),
        (1, 30, 0),
        (10, 30, 0),
        (-30, -1, 1),
        (-30, -10, 1),
        (-30, 31, 3),
        (-1, 30, 3),
        (-30, 1, 3),
    ]:
        words = ("large worse", "large better", "no difference", "cannot tell")
        assert verdict(low=a, high=b, margin=5) == words[want]

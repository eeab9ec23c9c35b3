"""Wrong verdicts of an interval: each is an edit of the lines in which the judge decides."""

INSIDE, ABOVE, BELOW = "-margin <= low and high <= margin", "low > 0", "high < 0"
TURNED = [("large worse", "large"), ("large better", "large worse"), ('large"', 'large better"')]
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

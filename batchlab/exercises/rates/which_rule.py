"""Which rule was shown for a case, or none?"""

from batchlab.exercises import Exercise, worded

CASES = {
    "A": "SGD on ImageNet, 256 -> 4,096 images, with warm-up; noise scale 40,000 images",
    "B": "the run of case C, grown already; now 1,024 -> 4,096 sequences",
    "C": "pre-training, AdamW (0.9, 0.95), 256 -> 1,024 sequences; noise scale 60,000 sequences",
    "D": "pre-training, AdamW (0.9, 0.95), 256 -> 4,096 sequences",
    "E": "SGD on ImageNet, 256 -> 4,096 images, with warm-up; noise scale 2,000 images",
    "F": "pre-training, AdamW (0.95, 0.99), 256 -> 4,096 sequences; noise scale 60,000 sequences",
}
WORDS = ("linear", "full rule", "tune")
WHY = {
    "A": "SGD, well below the noise scale, in the range of images where one rule was shown",
    "B": "the first growth has left beta1 at 0.6: now k = 4 and k (1 - 0.6) = 1.6",
    "C": "AdamW, k = 4 and k (1 - 0.9) = 0.4: within the limit of its rule",
    "D": "k = 16 and k (1 - 0.9) = 1.6: look at the limit of the rule",
    "E": "4,096 images are above this noise scale, where the rule of SGD has ended",
    "F": "beta1 is 0.95 here: k (1 - 0.95) = 0.8, within the limit of the rule",
}


def which_rule():
    """{case: "linear", "full rule" or "tune"} for the cases A to F."""
    return {
        "A": "linear",
        "B": "tune",
        "C": "full rule",
        "D": "tune",
        "E": "tune",
        "F": "full rule",
    }


exercise = Exercise(
    which_rule,
    points=3,
    hints=(
        "which optimizer, which unit, which k?",
        "is the larger batch well below the noise scale?",
        "k (1 - beta1) of 1 or more ends the full rule; which beta1 has the run by then?",
    ),
    asked=lambda: "the rules of the cases",
    shown=[()],
    passed="Right: a rule goes with an optimizer, a unit and a range; outside, tune.",
)
worded(
    exercise,
    WORDS,
    WHY,
    {
        "A": "tune",
        "B": "full rule",
        "C": "linear",
        "D": "full rule",
        "E": "linear",
        "F": "tune",
    },
)


@exercise.style
def in_capitals():
    """in capitals"""
    right = ("LINEAR", "Tune", " full rule", "tune", "TUNE", "Full rule")
    return dict(zip("ABCDEF", right))

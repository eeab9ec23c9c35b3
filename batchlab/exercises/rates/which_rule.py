"""Which rule was shown for a case, or none?"""

from batchlab.exercises import Exercise

CASES = {
    "A": "SGD on ImageNet, 256 -> 4,096 images, with warm-up; noise scale 40,000 images",
    "B": "SGD on ImageNet, 256 -> 65,536 images",
    "C": "pre-training, AdamW (0.9, 0.95), 256 -> 1,024 sequences; noise scale 6,000 sequences",
    "D": "pre-training, AdamW (0.9, 0.95), 256 -> 4,096 sequences",
    "E": "SGD on ImageNet, 256 -> 4,096 images, with warm-up; noise scale 2,000 images",
    "F": "LoRA, AdamW (0.9, 0.999), 16 -> 128 sequences",
}
WORDS = ("linear", "full rule", "tune")
WHY = {
    "A": "SGD, well below the noise scale, in the range of images where one rule was shown",
    "B": "65,536 images lie beyond the 8,192 up to which the rule was shown",
    "C": "AdamW, k = 4 and k (1 - 0.9) = 0.4: within the limit of its rule",
    "D": "k = 16 and k (1 - 0.9) = 1.6: look at the limit of the rule",
    "E": "4,096 images are above this noise scale, where the rule of SGD has ended",
    "F": "fine-tuning has no range of its own in the table",
}


def which_rule():
    """{case: "linear", "full rule" or "tune"} for the cases A to F."""
    return {
        "A": "linear",
        "B": "tune",
        "C": "full rule",
        "D": "tune",
        "E": "tune",
        "F": "tune",
    }


def why(got):
    """What speaks against the first wrong rule."""
    for case, right in which_rule().items():
        said = got[case]
        if not isinstance(said, str) or said.strip().casefold() not in WORDS:
            return f"one of these words is asked: {', '.join(WORDS)}"
        if said.strip().casefold() != right:
            return WHY[case]
    return ""


exercise = Exercise(
    which_rule,
    points=3,
    hints=(
        "which optimizer, which unit, which k?",
        "compare the larger batch with the range where the rule was shown; of SGD with the noise scale",
        "k (1 - beta1) of 1 or more ends the full rule",
    ),
    asked=lambda: "the rules of the cases",
    explain=why,
    shown=[()],
    passed="Right: a rule goes with an optimizer, a unit and a range; outside, tune.",
)
for _case, _right, _wrong in [
    ("A", "linear", "tune"),
    ("B", "tune", "linear"),
    ("C", "full rule", "linear"),
    ("D", "tune", "full rule"),
    ("E", "tune", "linear"),
    ("F", "tune", "full rule"),
]:
    exercise.edit(WHY[_case], [(f'"{_case}": "{_right}"', f'"{_case}": "{_wrong}"')])
exercise.edit(
    f"one of these words is asked: {', '.join(WORDS)}", [('"A": "linear"', '"A": "square root"')]
)
exercise.edit("a case is missing", [('        "E": "tune",\n', "")], says="E")


@exercise.style
def in_capitals():
    """in capitals"""
    right = ("LINEAR", "Tune", " full rule", "tune", "TUNE", "tune")
    return dict(zip("ABCDEF", right))

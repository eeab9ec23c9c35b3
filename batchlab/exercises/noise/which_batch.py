"""Five reports, four definitions of a critical batch, and the noise scale."""

from batchlab.exercises import Exercise

REPORTS = {
    "A": "Nine runs to a loss of 3.0, from 64 to 16,384 sequences. We take 747: from there on a "
    "run needs over a fifth more updates than those of 256 sequences, divided by the growth.",
    "B": "From one checkpoint we went on with 2, 4 and 8 times the sequences. Four times ended "
    "0.004 nats above the old run, eight times 0.03. So it is four times.",
    "C": "One model, 10 billion tokens each: 2.61 nats at the end with 128 sequences, 2.58 with "
    "256, 2.60 with 512. So it is 256.",
    "D": "Over 200 updates of four micro-batches, the mean trace is 2,300 times the mean squared "
    "gradient. So it is 2,300.",
    "E": "Updates to a loss of 3.0 follow 1,300 + 2,860,000 / sequences. At 2,200 both terms are "
    "equal. So it is 2,200.",
}
WORDS = ("twice_the_examples", "more_steps", "same_loss", "lowest_loss", "noise_scale")
CLUES = {
    "A": "a fifth more than perfect scaling from a reference batch",
    "B": "branches off one checkpoint, and a tolerance on their loss",
    "C": "the data are fixed, and the losses at the end are compared",
    "D": "nothing was trained to a target: these are norms of gradients",
    "E": "where both terms of a curve are equal, both are twice their least",
}


def which_batch():
    """{report: word} for the reports A to E."""
    return {
        "A": "more_steps",
        "B": "same_loss",
        "C": "lowest_loss",
        "D": "noise_scale",
        "E": "twice_the_examples",
    }


def why(got):
    """The clue of the first report that is wrong."""
    for name, right in which_batch().items():
        said = got[name].strip().casefold() if isinstance(got[name], str) else ""
        if said not in WORDS:
            return f"one of these words is asked: {', '.join(WORDS)}"
        if said != right:
            return f"look again: {CLUES[name]}"
    return ""


exercise = Exercise(
    which_batch,
    asked=lambda: "the reports",
    explain=why,
    hints=(
        "what was held fixed: the loss to reach, the data, or a checkpoint?",
        "compare with the table of four definitions",
        "in one of them nothing is trained to an end: it has norms only",
    ),
    shown=[()],
    passed="Right: five numbers, five meanings.",
)
for _name, _word in [
    ("A", "twice_the_examples"),
    ("A", "noise_scale"),
    ("B", "lowest_loss"),
    ("B", "more_steps"),
    ("C", "same_loss"),
    ("C", "twice_the_examples"),
    ("D", "twice_the_examples"),
    ("D", "same_loss"),
    ("E", "more_steps"),
    ("E", "noise_scale"),
]:
    _right = f'"{_name}": "{which_batch()[_name]}"'
    exercise.edit(f"look again: {CLUES[_name]}", [(_right, f'"{_name}": "{_word}"')])
exercise.edit(
    f"one of these words is asked: {', '.join(WORDS)}", [("twice_the_examples", "critical batch")]
)
exercise.edit("a report is missing", [('        "E": "twice_the_examples",\n', "")], says="missing")


@exercise.style
def other_letters():
    """other letters, blanks, another order"""
    words = dict(E="twice_the_examples", D=" noise_scale ", C="Lowest_Loss", B="same_loss")
    return words | {"A": "more_steps"}

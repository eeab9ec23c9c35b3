"""Both fit: two rectangles, two budgets."""

from batchlab.exercises import Exercise


def both_fit(text, image, text_slots, image_slots):
    """Whether a batch of examples, with these lengths, keeps both budgets: True or False."""
    rows = len(text)
    return rows * max(text) <= text_slots and rows * max(image) <= image_slots


def scene(answer, cases):
    """What it says of each batch."""
    return [answer(*case) for case in cases]


def drawn(rng):
    for most in (9, 300, 70_000, 2**31):
        cases = []
        for _ in range(10):
            rows = int(rng.integers(1, 40))
            text, image = rng.integers(1, most, (2, rows)).tolist()
            text[int(rng.integers(rows))] = image[int(rng.integers(rows))] = most
            for less in ((0, 0), (1, 0), (0, 1), (-most, 0)):
                cases.append((text, image, rows * most - less[0], rows * most - less[1]))
        yield (cases,)


exercise = Exercise(
    both_fit,
    hints=(
        "a rectangle takes rows x its longest; each has its own longest and its own budget",
        "rows x max(text) <= text_slots, and rows x max(image) <= image_slots",
    ),
    asked=lambda cases: (
        f"(text, image, text_slots, image_slots) {str(cases)[1:-1] if len(cases) < 9 else ' ...'}"
    ),
    scene=scene,
    explain=lambda got, cases: (
        "" if all(one in (True, False) for one in got) else "True or False is asked"
    ),
    shown=[
        (
            [
                ([5, 3], [4, 4], 10, 8),
                ([6, 1], [1, 1], 10, 99),
                ([2, 2], [9, 9], 100, 10),
                ([9, 1], [1, 9], 18, 17),
                ([6, 6], [5, 5], 10, 9),
                ([1, 2, 6], [1, 1, 1], 18, 5),
                ([5, 3], [1, 1], 11, 99),
                ([1, 9], [9, 1], 18, 17),
                ([7, 2], [1, 3], 15, 6),
                ([2, 1], [6, 1], 9, 7),
                ([90, 9], [1, 1], 10, 100),
            ],
        ),
    ],
    drawn=drawn,
    passed="Right: two rectangles, two budgets, and both must hold.",
)
TEXT, IMAGE = "rows * max(text) <= text_slots", "rows * max(image) <= image_slots"
for _thought, *_changes in [
    ("the image tokens are forgotten", (" and " + IMAGE, "")),
    ("one of the two is not enough: both must fit", (" and ", " or ")),
    (
        "the two budgets are swapped",
        (TEXT, TEXT.replace("text_", "image_")),
        (IMAGE, IMAGE.replace("image_", "text_")),
    ),
    (
        "a full rectangle fits: at most, not less than",
        (TEXT, TEXT.replace("<=", "<")),
        (IMAGE, IMAGE.replace("<=", "<")),
    ),
    ("the rows are forgotten: a rectangle is rows x its longest", ("rows = len(text)", "rows = 1")),
    ("one row too many: the example has joined already", ("len(text)", "len(text) + 1")),
    (
        "a budget on real tokens: each rectangle is rows x its longest",
        ("rows * max(text)", "sum(text)"),
        ("rows * max(image)", "sum(image)"),
    ),
    (
        "the two budgets are added up: each rectangle has its own",
        (f"{TEXT} and {IMAGE}", "rows * (max(text) + max(image)) <= text_slots + image_slots"),
    ),
    (
        "an example without an image takes a slot for its placeholder: each is a row",
        ("rows * max(image)", "sum(n > 1 for n in image) * max(image)"),
    ),
    (
        "one budget for both: each rectangle has its own",
        (
            f"{TEXT} and {IMAGE}",
            "rows * max(a + b for a, b in zip(text, image)) <= text_slots + image_slots",
        ),
    ),
    (
        "the image of the longest text is not always the longest image",
        ("max(image)", "image[text.index(max(text))]"),
    ),
    (
        "the first of each is not always the longest",
        ("max(text)", "text[0]"),
        ("max(image)", "image[0]"),
    ),
]:
    exercise.edit(_thought, _changes)


@exercise.style
def one_row_at_a_time(text, image, text_slots, image_slots):
    """one row at a time"""
    for lengths, slots in ((text, text_slots), (image, image_slots)):
        for tokens in lengths:
            if tokens > slots / len(lengths):
                return False
    return True


@exercise.style
def with_numpy(text, image, text_slots, image_slots):
    """with arrays"""
    import numpy as np

    widest = np.array([text, image]).max(axis=1) * len(text)
    return (widest <= [text_slots, image_slots]).all()

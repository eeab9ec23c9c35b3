"""Find the setting: the fewest rows with which a layer no longer waits for memory."""

import itertools

from batchlab import roofline, units
from batchlab.classroom import plain
from batchlab.exercises import Exercise

ROW_TOKENS = 20  # of a row: short rows, as of questions and answers
LAYERS = {
    "1,024 x 4,096": (1024, 4096),
    "2,048 x 8,192": (2048, 8192),
    "4,096 x 16,384": (4096, 16384),
}
ASKED = ("2,048 x 8,192", "H100 SXM")
ROWS = tuple(range(1, 49))


def full_rows():
    """The fewest rows on the slider with which the layer of the question reaches the ridge."""
    return 19


def fewest(layer, name):
    """The fewest rows whose tokens bring the layer to the ridge of the device."""
    tokens = roofline.tokens_to_saturate(roofline.DEVICES[name], *LAYERS[layer])
    return -(-tokens // ROW_TOKENS)


def why(got):
    """What is wrong with a number of rows."""
    try:
        rows = plain.number(got)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows of the micro-batch"
    if rows == fewest(*ASKED):
        return ""
    if rows not in ROWS:
        tokens = "those are tokens: asked are rows. " if rows > max(ROWS) else ""
        return f"{tokens}The slider does not offer it: asked is a place of the slider"
    for layer, name in itertools.product(LAYERS, roofline.DEVICES):
        if rows == fewest(layer, name):
            return f"that is the layer of {layer} on {name}: look at both other sliders"
    short = rows < fewest(*ASKED)
    return "with these rows the layer still waits for memory" if short else "fewer rows do, too"


def scene(rows, layer, device):
    """What the finder shows beside its sliders."""
    tokens, ridge = rows * ROW_TOKENS, roofline.DEVICES[device].ridge
    reached = roofline.intensity(tokens, *LAYERS[layer])
    facts = {
        "tokens": units.count(tokens),
        "FLOPs per byte": f"{reached:.1f}",
        "ridge of the device": f"{ridge:.1f}",
        "share of the peak": f"at most {units.share(min(1.0, reached / ridge))}",
        "it waits for": "memory" if reached < ridge else "nothing: it computes",
    }
    row = [[(0, ROW_TOKENS)] for _ in range(min(rows, 12))]
    return {"facts": facts, "rows": row, "alt": f"{rows} rows of {ROW_TOKENS} tokens."}


def finder():
    """Rows, layer and device against the ridge; the goal is the fewest rows that reach it."""
    from batchlab import widgets

    controls = {
        "rows": (f"rows of {ROW_TOKENS} tokens", list(ROWS)),
        "layer": ("linear layer, in x out", list(LAYERS)),
        "device": ("device", list(roofline.DEVICES)),
    }
    return widgets.finder(
        "Roofline: when does a layer stop waiting for memory?",
        controls,
        scene,
        goal=f"{ASKED[0]} on {ASKED[1]}: the fewest rows with which the layer computes all the time.",
        where=lambda rows, layer, device: (layer, device) == ASKED and rows == fewest(*ASKED),
    )


exercise = Exercise(
    full_rows,
    hints=("set layer and device as in the question, then lower the rows as long as it computes",),
    asked=lambda: "the fewest rows of 20 tokens at the ridge",
    shown=[()],
    fault=lambda got: plain.shown(got) if why(got) else "",
    explain=why,
    passed="Right: 361 tokens are needed, in whatever rows; 18 rows hold 360. More rows only take "
    "longer there.",
)
for _rows in (18, 361, 12, 9, 24, 17, 20, "19", 18.1):
    exercise.edit(why(_rows), [("19", repr(_rows))])


@exercise.style
def from_the_formula():
    """from the formula"""
    return -(-roofline.tokens_to_saturate(roofline.DEVICES["H100 SXM"], 2048, 8192) // 20)


@exercise.style
def as_a_float():
    """as a float"""
    return 19.0

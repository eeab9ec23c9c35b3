"""Find the setting: the fewest tokens among those that are nearly fastest."""

from batchlab.classroom import plain
from batchlab.exercises import Exercise

LEAST, CRITICAL = 2_310, 1_730  # planted: steps = LEAST x (1 + CRITICAL / batch)
FIXED = {"as it is": 0.40, "compiled": 0.11}  # planted seconds of a step
EACH, TOKENS = 0.9e-3, 512  # planted seconds of a sequence; its tokens
SLOWER = 1.1  # times the least time that is still good enough
BATCHES = (47, 66, 93, 131, 184, 219, 258, 291, 327, 368, 413, 463, 547, 651, 774, 921, 1302, 1841,
           2603, 3680)  # fmt: skip


def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    return 219


def steps(batch):
    return LEAST * (1 + CRITICAL / batch)


def seconds(batch, model="compiled"):
    return steps(batch) * (FIXED[model] + EACH * batch)


def fewest(model="compiled"):
    least = min(seconds(batch, model) for batch in BATCHES)
    return min(batch for batch in BATCHES if seconds(batch, model) <= SLOWER * least)


def fault(got):
    """What is wrong with a batch, without saying the right one; empty if right."""
    try:
        batch = plain.number(got)
    except plain.NotPlain:
        return f"{plain.shown(got)}; one number of sequences is needed"
    return "" if batch == fewest() else f"{batch:g}, which is not it"


def why(got):
    batch, best = plain.number(got), min(BATCHES, key=seconds)
    if batch not in BATCHES:
        return "the slider does not offer it: asked is a place of the slider"
    if batch == best:
        return "that is the fastest, compiled: 10 % more time is allowed, for fewer tokens"
    if seconds(batch) > SLOWER * seconds(best):
        return "this takes more than 10 % over the least time, compiled"
    return "within 10 %, but a place to the left is, too, with fewer tokens"


def finder():
    """Batch and model against hours and tokens to the target; the goal is the fewest tokens."""
    from batchlab import widgets

    def scene(batch, model):
        facts = {
            "hours to the target": f"{seconds(batch, model) / 3600:.3f}",
            "million tokens to the target": f"{steps(batch) * batch * TOKENS / 1e6:,.0f}",
            "steps to the target": f"{steps(batch):,.0f}",
            "sequences per second": f"{batch / (FIXED[model] + EACH * batch):,.0f}",
        }
        return {"facts": facts}

    return widgets.finder(
        "Hours against tokens",
        {"batch": ("sequences of a step", list(BATCHES)), "model": ("model", list(FIXED))},
        scene,
        goal="Compiled: the fewest tokens within 10 % of the least hours.",
        start={"batch": 1302, "model": "as it is"},
        where=lambda batch, model: (batch, model) == (fewest(), "compiled"),
    )


exercise = Exercise(
    fewest_tokens,
    asked=lambda: "the batch with the fewest tokens within 10 % of the least hours, compiled",
    hints=(
        "set 'compiled', and find the least hours first",
        "then go left while the hours are at most 1.1 times that",
    ),
    shown=[()],
    fault=fault,
    explain=why,
    passed="Right: a tenth more time, and a ninth fewer tokens than the fastest.",
)
for _said, _value, _says in [
    ("that is the fastest, compiled: 10 % more time is allowed, for fewer tokens", "463", ""),
    ("this takes more than 10 % over the least time, compiled", "184", ""),
    ("within 10 %, but a place to the left is, too, with fewer tokens", "258", ""),
    ("the slider does not offer it: asked is a place of the slider", "1730", ""),
    ("batch and model", "219, 'compiled'", "one number of sequences"),
    ("a text", "'219'", "one number of sequences"),
]:
    exercise.edit(_said, [("219", _value)], says=_says)


@exercise.style
def as_a_float():
    """as a float"""
    return 219.0


@exercise.style
def of_numpy():
    """NumPy's int"""
    import numpy as np

    return np.int64(219)

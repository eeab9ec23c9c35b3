"""Find the setting: the fewest rows with noise below a quarter of the gradient."""

from functools import cache

import numpy as np

from batchlab import units
from batchlab.classroom import plain
from batchlab.exercises import Exercise

OFFERED = sorted({round(1.07**power) for power in range(110)})  # rows; each about 7 % more
GOAL = 0.25  # share of noise that the slider is asked to get below


def rows_found():
    """The fewest rows on the slider with noise below 25 % of the gradient, untrained."""
    return 441


@cache
def untrained():
    """The spread of single rows over |G|, of the lesson's model at its start."""
    import torch

    from batchlab import batches, data, loop, model

    corpus = data.embedded()
    order = np.random.default_rng(1).permutation(np.flatnonzero(corpus.lengths >= 65))
    network = model.small(corpus.vocabulary, layers=1, hidden=32, heads=2)

    def gradient(at):
        micro = batches.padded([corpus[at]["input_ids"][:65]], [0])
        loss = loop.summed_loss(loop.logits_of(network, micro), micro["labels"]) / 64
        return torch.cat([p.flatten() for p in torch.autograd.grad(loss, network.parameters())])

    return spread_of(gradient(at).numpy() for at in order[128:384])


def spread_of(gradients):
    """Root mean square miss of one row over the length of G, one gradient in memory at a time."""
    total, squares = 0.0, []
    for one in gradients:
        total, squares = total + one.astype(float), [*squares, float(one @ one)]
    middle = total / len(squares)
    # the mean of |g - G|^2 is the mean of |g|^2, less |G|^2
    return float(np.sqrt(np.mean(squares) / (middle @ middle) - 1))


def fewest(spread):
    """The fewest rows of the slider with noise below GOAL."""
    return min(rows for rows in OFFERED if spread / rows**0.5 < GOAL)


def fault(got):
    """What is wrong with a number of rows, without saying the right one; empty if right."""
    try:
        rows = plain.number(got)
    except plain.NotPlain:
        return f"{plain.shown(got)}; one number of rows is needed"
    return "" if rows == fewest(untrained()) else f"{rows:g}, which is not it"


def why(got):
    spread, rows = untrained(), plain.number(got)
    if rows == round(spread / GOAL):
        return "that is the law 1/B: noise falls with the root of the rows"
    if rows not in OFFERED:
        return "the slider does not offer it: asked is a place of the slider"
    if rows < fewest(spread):
        return "the noise is not below 25 % there"
    return "quiet enough, but a place to the left is quiet enough, too: is it the untrained model?"


def finder(spreads, documents):
    """Rows a step against noise, for the model at several moments {name: spread over |G|}."""
    from batchlab import widgets

    first = next(iter(spreads))

    def scene(rows, moment):
        share = spreads[moment] / rows**0.5
        return {
            "facts": {
                "noise / gradient": f"{100 * share:.1f} %",
                "steps of an epoch": units.count(-(-documents // rows)),
                "target tokens a step": units.count(64 * rows),
            },
            "rows": [[(0, 100)], [(-1, round(100 * share))]],
            "note": "Upper bar: the gradient. Hatched: its noise, to scale.",
            "alt": f"The gradient is 100 long, its noise {100 * share:.0f}.",
        }

    return widgets.finder(
        "The noise of one gradient",
        {"rows": ("rows a step", OFFERED), "moment": ("the model", list(spreads))},
        scene,
        goal=f"{first.capitalize()}: the fewest rows with noise below {units.share(GOAL)}.",
        where=lambda rows, moment: (rows, moment) == (fewest(spreads[first]), first),
        down=lambda bars: f"{bars} lengths",
        across="{:,} % of the gradient".format,
    )


exercise = Exercise(
    rows_found,
    asked=lambda: "the fewest rows on the slider with noise below 25 %, before training",
    hints=(
        "set the second slider to `before training`, then move the first until it passes 25 %",
        "one place to the left it must still be above 25 %",
    ),
    shown=[()],
    fault=fault,
    explain=why,
    passed="Right: below 25 %. With a quarter of the rows it is twice that.",
)
for _said, _value, _says in [
    ("that is the law 1/B: noise falls with the root of the rows", "21", ""),
    ("the noise is not below 25 % there", "412", ""),
    (
        "quiet enough, but a place to the left is quiet enough, too: is it the untrained model?",
        "472",
        "",
    ),
    ("the slider does not offer it: asked is a place of the slider", "256", ""),
    ("rows and noise", "441, 0.245", "one number of rows"),
    ("a text", "'441'", "one number of rows"),
]:
    exercise.edit(_said, [("441", _value)], says=_says)


@exercise.style
def as_a_float():
    """as a float"""
    return 441.0

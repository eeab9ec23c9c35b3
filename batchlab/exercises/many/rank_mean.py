"""The loss of all ranks: sums and counts travel, and are divided once."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.many import explain


def rank_mean(rank, loss, tokens):
    """Loss per target token of all ranks, on every rank."""
    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if tokens == 0:
        raise ValueError("no rank has a target token")
    return float(loss / tokens)


def scene(answer, losses, tokens):
    """What every rank returns; where none has a token, whether it raises ValueError."""
    from batchlab.exercises.many.worlds import in_world

    seen = in_world(answer, list(zip(losses, tokens)), may_refuse=True)
    end, refused = {"the end of every rank": seen["fault"]}, seen["refused"]
    if sum(tokens):
        said = next((f"rank {at}: {one}" for at, one in enumerate(refused) if one), "")
        return {"no ValueError": said, **end, "the loss by rank": seen["results"]}
    first = next((at for at, one in enumerate(refused) if not one), None)
    said = "" if first is None else f"rank {first} returns {seen['results'][first]}"
    return {**end, "a ValueError on every rank": said}


EARLY = (
    "a rank raises, though others have tokens: only where the sum over all ranks is 0, all refuse"
)
GATHER = "all_gather joins pieces and adds nothing: use all_reduce, or give the size of all pieces joined"


def likely(got, losses, tokens):
    """The thought behind a refusal of one rank, or behind what the world said."""
    said = got.get("no ValueError", "") if isinstance(got, dict) else ""
    if "all_gather" in said:
        return GATHER
    empty = 0 in tokens and said.startswith(f"rank {tokens.index(0)}:")
    return EARLY if empty else explain(got)


def drawn(rng):
    for _ in range(8):
        size = int(rng.integers(2, 6))
        tokens = rng.integers(0, 900, size).tolist()
        tokens[0] += 1
        yield [round(float(rng.uniform(1, 9)), 3) * n for n in tokens], tokens
    yield [7.5], [3]
    yield [4.0, 4.0, 4.0, 4.0], [2, 2, 2, 2]
    yield [0.0, 0.0], [6, 1]
    yield [8e9, 9e9], [3_000_000_000, 4_000_000_000]
    yield [0.0], [0]


exercise = Exercise(
    rank_mean,
    points=2,
    hints=(
        "two sums travel: that of the losses and that of the tokens",
        "rank.all_reduce(np.array([loss, tokens], dtype=float)), on every rank, before any `if`",
        "then one division; it is refused where the sum of the tokens is 0",
    ),
    scene=scene,
    twice=False,
    explain=likely,
    asked=lambda losses, tokens: f"summed losses {losses} over {tokens} tokens, by rank",
    shown=[
        ([20.0, 100.0], [10, 100]),
        ([30.0, 0.0, 14.5], [8, 0, 5]),
        ([0.0, 0.0012, 0.0007], [4, 5, 3]),
        ([0.0, 0.0], [0, 0]),
    ],
    drawn=drawn,
    passed="Right: losses and tokens are summed over the ranks, and divided once.",
)
REDUCED = "    loss, tokens = rank.all_reduce(np.array([loss, tokens], dtype=float))\n"
REFUSE = '    if tokens == 0:\n        raise ValueError("no rank has a target token")\n'
END = "float(loss / tokens)"
OWN = "    own, own_tokens = loss, tokens\n"
MEANS = "the mean of the ranks' means: ten tokens count as much as a hundred; add both, divide once"
for _thought, *_changes in [
    (
        MEANS,
        (REDUCED, "    total = rank.all_reduce(np.array([loss / max(1, tokens)]))\n"),
        (REFUSE, ""),
        (END, "float(total[0] / rank.world_size)"),
    ),
    (
        MEANS,
        (REDUCED, "    total = rank.all_reduce(np.array([loss / tokens]))\n"),
        (REFUSE, ""),
        (END, "float(total[0] / rank.world_size)"),
    ),
    (
        MEANS,
        (
            "np.array([loss, tokens], dtype=float)",
            "np.array([loss / max(1, tokens), tokens > 0], dtype=float)",
        ),
    ),
    (
        "the sum of the ranks' means: add losses and tokens, divide once",
        (REDUCED, "    total = rank.all_reduce(np.array([loss / max(1, tokens)]))\n"),
        (REFUSE, ""),
        (END, "float(total[0])"),
    ),
    (
        GATHER,
        (
            "rank.all_reduce(np.array([loss, tokens], dtype=float))",
            "rank.all_gather(np.array([loss, tokens], dtype=float), 2)",
        ),
    ),
    ("divided by the number of ranks as well", (END, "float(loss / tokens / rank.world_size)")),
    (
        "loss times tokens: `loss` is a sum over the rank's tokens already",
        ("np.array([loss, tokens], dtype=float)", "np.array([loss * tokens, tokens], dtype=float)"),
    ),
    ("the tokens are not in it: divide by those of all ranks", (END, "float(loss)")),
    ("divided by the ranks: asked is the loss of a token", (END, "float(loss / rank.world_size)")),
    (
        "all losses over the tokens of one rank: add the tokens, too",
        (REDUCED, "    loss = rank.all_reduce(np.array([loss], dtype=float))[0]\n"),
        (REFUSE, ""),
        (END, "float(loss / max(1, tokens))"),
    ),
    (
        "this rank's own mean: all_reduce returns the sum",
        (REDUCED, OWN + REDUCED),
        (END, "own / own_tokens if own_tokens else 0.0"),
    ),
    (
        "a rank whose loss is 0 has tokens all the same: they count",
        (
            "np.array([loss, tokens], dtype=float)",
            "np.array([loss, tokens if loss else 0], dtype=float)",
        ),
    ),
    (
        "gathered, and only the pair of rank 0 was taken: add those of all ranks",
        (
            "rank.all_reduce(np.array([loss, tokens], dtype=float))",
            "rank.all_gather(np.array([loss, tokens], dtype=float))[:2]",
        ),
    ),
    (
        MEANS,
        (
            REDUCED,
            "    pairs = rank.all_gather(np.array([loss, tokens], dtype=float)).reshape(-1, 2)\n",
        ),
        (REFUSE, ""),
        (END, "float((pairs[:, 0] / pairs[:, 1]).mean())"),
    ),
    ("upside down: loss over tokens", (END, "float(tokens / loss)")),
    (
        "an array of whole numbers drops what stands behind the point",
        ("np.array([loss, tokens], dtype=float)", "np.array([loss, tokens]).astype(int)"),
    ),
    ("an array of one number: return the number itself", (END, "np.array([loss / tokens])")),
    ("rounded to 2 digits: keep them all", (END, "round(float(loss / tokens), 2)")),
    ("rounded to 5 digits: keep them all", (END, "round(float(loss / tokens), 5)")),
    ("rounded to 3 digits: keep them all", (END, "round(float(loss / tokens), 3)")),
    ("0 / 0 would go into every weight: refuse it", (REFUSE, "")),
    (
        "0 is returned where no rank has a token: refuse it",
        (REFUSE, "    if tokens == 0:\n        return 0.0\n"),
    ),
    (
        "only rank 0 refuses: every rank raises",
        ("if tokens == 0:", "if tokens == 0 and rank.rank == 0:"),
    ),
    (
        "only the first rank knows: all ranks get the sum",
        ("return " + END, "if rank.rank == 0:\n        return " + END),
    ),
    (
        "only the first rank knows: all ranks get the sum",
        (END, "float(loss / tokens) if rank.rank == 0 else 0.0"),
    ),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    (
        "left early",
        "a rank left early: every rank calls every collective, with zeros if need be",
        (REDUCED, "    if tokens == 0:\n        return 0.0\n" + REDUCED),
    ),
    (
        EARLY,
        EARLY,
        (REDUCED, "    if tokens == 0:\n        raise ValueError('no token here')\n" + REDUCED),
    ),
    (
        EARLY,
        f"after the collective {EARLY}",
        (REDUCED, OWN + REDUCED),
        ("if tokens == 0:", "if own_tokens == 0:"),
    ),
    (
        "right is",
        "another order on odd ranks",
        (
            REDUCED,
            "    if rank.rank % 2:\n"
            "        tokens = rank.all_reduce(np.array([tokens], float))[0]\n"
            "        loss = rank.all_reduce(np.array([loss], float))[0]\n"
            "    else:\n"
            "        loss = rank.all_reduce(np.array([loss], float))[0]\n"
            "        tokens = rank.all_reduce(np.array([tokens], float))[0]\n",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def two_collectives(rank, loss, tokens):
    """two collectives, an error without a message"""
    loss = rank.all_reduce(np.array(float(loss)))
    tokens = rank.all_reduce(np.array([tokens]))
    if not tokens[0]:
        raise ValueError
    return loss / tokens[0]


@exercise.style
def gathered(rank, loss, tokens):
    """gathered"""
    pairs = rank.all_gather(np.array([loss, tokens], dtype=np.float64)).reshape(-1, 2)
    losses, counts = pairs.sum(axis=0)
    if counts <= 0:
        raise ValueError(f"{counts} tokens")
    return float(losses) / float(counts)

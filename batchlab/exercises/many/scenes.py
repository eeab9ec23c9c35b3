"""What the page of lesson 15 shows beside its exercises: ranks on real documents, mixed-up calls."""

import numpy as np

from batchlab import data
from batchlab.cluster import Link, ranks
from batchlab.exercises.many.best_turn import finder
from batchlab.exercises.many.exact_step import flat
from batchlab.exercises.many.model import fresh_weights, micro_batch, of_documents, summed

__all__ = [
    "finder",
    "flat",
    "four_ranks",
    "fresh_weights",
    "micro_batch",
    "step_case",
    "summed",
    "swapped",
]

CABLE = Link("1 Gb/s", 125e6, "an office cable: 1e9 / 8")
TOKEN = 1e-4  # seconds of a token on one rank of the opening figure, planted


def documents(many, seed=0):
    """So many documents of the embedded corpus, drawn by a seed."""
    corpus = data.embedded()
    drawn = np.random.default_rng(seed).choice(len(corpus.lengths), many, replace=False)
    return [corpus[int(at)] for at in drawn]


def four_ranks(world_size, many=32, parameters=500_000):
    """A step on `many` documents, dealt out to the ranks: each computes, then all add gradients."""
    lengths = [len(one["input_ids"]) for one in documents(many)]

    def step(rank):
        own = lengths[rank.rank :: rank.world_size]
        rank.compute(TOKEN * sum(own))
        rank.all_reduce(np.zeros(parameters, np.float32))

    return ranks.run(step, world_size, profile=CABLE)


def swapped():
    """What a world says of collectives in another order: of other shapes, and of equal ones."""

    def other_shapes(rank):
        order = (3, 4) if rank.rank else (4, 3)
        for size in order:
            rank.all_reduce(np.ones(size))

    def equal_shapes(rank):
        order = ("bias", "scale") if rank.rank else ("scale", "bias")
        own = {"scale": np.array([10.0]), "bias": np.array([1.0])}
        total = {name: rank.all_reduce(own[name]) for name in order}
        return [float(total["scale"][0]), float(total["bias"][0])]

    said = []
    try:
        ranks.run(other_shapes, 2)
    except ranks.RankError as error:
        said.append(str(error))
    return [*said, f"scale and bias by rank: {ranks.run(equal_shapes, 2).results}"]


def step_case(world_size, many, rows):
    """Real documents dealt out to the ranks in turn, in micro-batches of `rows`."""
    dealt = documents(many, seed=3)
    weights = fresh_weights(data.embedded().vocabulary, 8)
    parts = []
    for at in range(world_size):
        own = dealt[at::world_size]
        micro = [of_documents(own[k : k + rows]) for k in range(0, len(own), rows)]
        parts.append((weights, micro, 2.0, 1.0))
    return parts

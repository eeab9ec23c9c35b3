"""What lesson 15 needs beside its page: worlds of ranks, cases, mistakes and their values.

    an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is

Words
    case     the arguments of every rank, and what each known mistake makes of them
    finder   rows of a micro-batch in a pipeline: the bubble against the fixed cost of a turn
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from batchlab import data, widgets
from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_15_model import fresh_weights, micro_batch, of_documents
from batchlab.classroom.probes.lesson_15_steps import (
    chain_step,
    in_one_piece,
    pieces_of,
    wrong_chains,
    wrong_losses,
    wrong_steps,
)
from batchlab.classroom.probes.lesson_15_versions import RIGHT, WRONG
from batchlab.classroom.probes.lesson_15_worlds import in_world
from batchlab.cluster import Link, ranks

__all__ = [
    "CABLE", "RIGHT", "ROWS", "WRONG", "chain", "chain_room", "chain_step", "documents",
    "fault_of_pair", "fault_of_pieces", "fault_of_rows", "finder", "flat", "four_ranks",
    "fresh_weights", "half_way", "in_one_piece", "in_world", "is_pair", "micro_batch",
    "mistakes", "nearest", "pieces_of", "refusal", "rounded", "shown", "step_case",
    "step_parts", "sure_parts", "swapped", "tensor_room", "versions", "wrong_chains",
    "wrong_losses", "wrong_steps",
]  # fmt: skip

CABLE = Link("1 Gb/s", 125e6, "an office cable: 1e9 / 8")
TOKEN = 1e-4  # seconds of a token on one rank of the opening figure, planted
STAGES, SEQUENCES = (4, 8, 16), 420
ROWS = tuple(n for n in range(1, SEQUENCES + 1) if SEQUENCES % n == 0)
FIXED, EACH = 0.018, 0.020  # planted seconds of a turn, and of a row in it, forward and backward


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for a case, by their thoughts."""
    known: dict[Any, str] = {}
    right = RIGHT[name][0](*case)
    for value, why in mistakes_of(WRONG[name], *case):  # of two that agree, the first is told
        if not any(math.isclose(value, one, rel_tol=1e-9) for one in (right, *known)):
            known[value] = why
    return rounded(right) | known


def documents(many: int, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """So many documents of the embedded corpus, drawn by a seed."""
    corpus = data.embedded()
    drawn = np.random.default_rng(seed).choice(len(corpus.lengths), many, replace=False)
    return [corpus[int(at)] for at in drawn]


def four_ranks(world_size: int, many: int = 32, parameters: int = 500_000) -> ranks.World:
    """A step on `many` documents, dealt out to the ranks: each computes, then all add gradients."""
    lengths = [len(one["input_ids"]) for one in documents(many)]

    def step(rank: ranks.Rank) -> None:
        own = lengths[rank.rank :: rank.world_size]
        rank.compute(TOKEN * sum(own))
        rank.all_reduce(np.zeros(parameters, np.float32))

    return ranks.run(step, world_size, profile=CABLE)


def swapped() -> list[str]:
    """What a world says of collectives in another order: of other shapes, and of equal ones."""

    def other_shapes(rank: ranks.Rank) -> None:
        order = (3, 4) if rank.rank else (4, 3)
        for size in order:
            rank.all_reduce(np.ones(size))

    def equal_shapes(rank: ranks.Rank) -> list[float]:
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


def step_parts(
    counts: Sequence[Sequence[int]],
    rate: float,
    max_norm: float,
    seed: int = 0,
    ignored: int = 2,
    arrays: str = "table head bias",
) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """What each rank is given, and the case of `in_one_piece`, for target tokens by micro-batch.

    Every rank has the same weights, those named in `arrays` ("table_shift" is one more); the order
    of their names is another on each.
    """
    some = {**fresh_weights(7, 3, seed), "table_shift": np.array([0.5, -0.25, 1.5])}
    names = arrays.split()
    weights = {name: some[name] for name in names}
    parts = [
        [micro_batch(n, 1000 * at + 10 * k + seed, ignored=ignored) for k, n in enumerate(own)]
        for at, own in enumerate(counts)
    ]
    many = len(names)
    orders = [names[at % many :] + names[: at % many] for at in range(len(counts))]
    given = [
        ({name: weights[name].copy() for name in order}, own, rate, max_norm)
        for order, own in zip(orders, parts, strict=True)
    ]
    return given, (parts, orders, weights, rate, max_norm)


def sure_parts(
    counts: Sequence[Sequence[int]], rate: float, max_norm: float
) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """As `step_parts`, where every target is certain: loss and gradient are exactly 0."""
    given, case = step_parts(counts, rate, max_norm)
    for weights in (case[2], *(one[0] for one in given)):
        weights["bias"][3] += 5000.0
    for own in case[0]:
        for micro in own:
            micro["targets"][micro["targets"] >= 0] = 3
    return given, case


def nearest(got: Any, case: tuple[Any, ...]) -> tuple[list[float], float]:
    """Weights and loss of the step in one piece, clipped in the way that `got` is nearer to."""
    parts, orders, weights, rate, norm = case
    ways = [in_one_piece(parts, orders, weights, rate, norm, extra=extra) for extra in (0.0, 1e-6)]
    return min(ways, key=lambda way: _apart(got, way[0]))


def half_way(got: Any, want: Any) -> bool:
    """Whether numbers are right to six digits, and not to nine: single precision somewhere."""
    off = _apart(got, want)
    size = max(1.0, float(np.abs(np.asarray(want, dtype=float)).max(initial=0.0)))
    return 1e-10 * size < off < 1e-5 * size


def _apart(got: Any, want: Any) -> float:
    try:
        one = np.ravel(data_of.array(got)).astype(float)
    except (data_of.NotPlain, TypeError, ValueError):
        return math.inf
    other = np.ravel(np.asarray(want, dtype=float))
    if one.shape != other.shape or not np.isfinite(one).all():
        return math.inf
    return float(np.abs(one - other).max(initial=0.0))


def step_case(world_size: int, many: int, rows: int) -> list[tuple[Any, ...]]:
    """Real documents dealt out to the ranks in turn, in micro-batches of `rows`."""
    dealt = documents(many, seed=3)
    weights = fresh_weights(data.embedded().vocabulary, 8)
    parts = []
    for at in range(world_size):
        own = dealt[at::world_size]
        micro = [of_documents(own[k : k + rows]) for k in range(0, len(own), rows)]
        parts.append((weights, micro, 2.0, 1.0))
    return parts


def flat(weights: Any) -> list[float]:
    """All numbers of a dictionary of arrays, in the order of sorted names."""
    return [float(x) for name in sorted(weights) for x in np.ravel(weights[name])]


def is_pair(value: object) -> bool:
    """Whether it is a pair of two things: a tuple, a list or an array."""
    return isinstance(value, tuple | list | np.ndarray) and len(value) == 2


def fault_of_pair(result: Any, weights: dict[str, np.ndarray]) -> str:
    """What is wrong with the form of (weights, loss); empty if nothing is."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "a pair is asked: return weights, loss"
    new, loss = result
    if not isinstance(new, dict):
        return "the first of the pair is a dictionary of arrays, as the one that came"
    if set(new) != set(weights):
        return f"the names are those of the weights: {', '.join(sorted(weights))}"
    for name, old in weights.items():
        try:
            shape = data_of.array(new[name]).shape
        except data_of.NotPlain as problem:
            return problem.thought or f"{name} is an array"
        if shape != old.shape:
            return f"{name} has shape {shape}; it came with {old.shape}"
    try:
        data_of.number(loss)
    except data_of.NotPlain as problem:
        return problem.thought or "the loss is one number: float(...)"
    return ""


def chain(depth: int, width: int, rows: Sequence[int], seed: int = 0) -> tuple[Any, Any]:
    """A chain of linear layers, and the inputs of each rank."""
    random = np.random.default_rng(seed)
    layers = [random.normal(0, 1 / width**0.5, (width, width)) for _ in range(depth)]
    return layers, [random.normal(0, 1, (n, width)) for n in rows]


def chain_room(depth: int, width: int, rows: Sequence[int], at: int) -> int:
    """Bytes that rank `at` may hold at its peak: its pieces twice, its rows, and six layers."""
    pieces = 2 * depth * (width * width // len(rows) + 1)
    inputs = (depth + 3) * rows[at] * width
    return 8 * (pieces + inputs + 6 * width * width) + 60_000


def tensor_room(depth: int, width: int, rows: Sequence[int]) -> int:
    """Bytes that a rank's torch tensors may hold: its pieces, its rows, and four layers."""
    pieces = depth * (width * width // len(rows) + 1)
    return 8 * (pieces + (depth + 3) * max(rows) * width + 4 * width * width) + 4_000


def fault_of_pieces(result: Any, pieces: Sequence[np.ndarray]) -> str:
    """What is wrong with the form of a rank's new pieces; empty if nothing is."""
    if not isinstance(result, list | tuple) or len(result) != len(pieces):
        return f"a list is asked, with one new piece for each of the {len(pieces)} layers"
    for number, (new, old) in enumerate(zip(result, pieces, strict=True)):
        try:
            size = data_of.array(new).size
        except data_of.NotPlain as problem:
            return problem.thought or "each piece is an array"
        if size != len(old):
            return f"piece {number} has {size} numbers: this rank keeps {len(old)} of that layer"
    return ""


def fault_of_rows(answer: object) -> str:
    """What is wrong with rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = data_of.number(answer)
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: rows per micro-batch"
    best = {stages: _best(stages) for stages in STAGES}
    if rows == best[8]:
        return ""
    if rows not in ROWS:
        return f"it does not divide {SEQUENCES} sequences: asked is a place of the slider"
    if rows == 1:
        return "the smallest bubble is not the shortest step: each turn has a fixed cost"
    if rows == ROWS[-1]:
        return "the fewest turns of all, and the stages work one after the other"
    if rows in best.values():
        (stages,) = (one for one, found in best.items() if found == rows)
        return f"that is the best with {stages} stages: asked is another number of stages"
    return f"{'more' if rows < best[8] else 'fewer'} rows make the step shorter here"


def finder() -> widgets.Explorer:
    """Rows and stages against the seconds of a step and the bubble; the goal: the shortest step."""

    def scene(stages: int, rows: int) -> dict[str, Any]:
        case = (stages, SEQUENCES, rows, FIXED, EACH)
        seconds, idle = RIGHT["seconds"][0](*case), RIGHT["idle"][0](*case)
        facts = {"micro-batches": f"{SEQUENCES // rows}", "idle": f"{idle:.1%}"}
        return {"facts": {**facts, "seconds of a step": f"{seconds:.2f}"}}

    controls = {"stages": ("stages", [*STAGES]), "rows": ("rows per micro-batch", [*ROWS])}
    return widgets.finder(
        "Bubble against fixed cost", controls, scene, start={"stages": 4, "rows": 60},
        goal="8 stages: the rows per micro-batch with the shortest step.",
        where=lambda stages, rows: (stages, rows) == (8, _best(8)),
    )  # fmt: skip


def _best(stages: int) -> int:
    return min(ROWS, key=lambda rows: _step(stages, rows))


def _step(stages: int, rows: int) -> float:
    return float(RIGHT["seconds"][0](stages, SEQUENCES, rows, FIXED, EACH))

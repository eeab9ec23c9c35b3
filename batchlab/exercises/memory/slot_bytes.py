"""A napkin formula: what one slot keeps in all layers, and what its logits take."""

from batchlab.exercises import Exercise


def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    """(bytes in all layers, bytes of the logits) for one slot in bf16."""
    query, keys = heads * head_size, key_heads * head_size
    values = 4 * hidden + 2 * query + 2 * keys + 4 * intermediate
    return layers * (2 * values + 4 * heads), 12 * vocabulary


def drawn(rng):
    for _ in range(15):
        case = [int(one) for one in rng.integers(1, 400, 7)]
        yield tuple(case)
        yield (*case[:3], case[3] + 1, *case[4:])
        yield (*case[:5], case[5] + 1, case[6] + 1)
    yield 300, 70_001, 300, 270, 511, 300_001, 5_000_001


exercise = Exercise(
    slot_bytes,
    points=2,
    parts=("layers", "logits"),
    hints=(
        "add up the four lines of the table, in values",
        "two bytes a value, 4 for each head; times the layers",
        "logits: 12 bytes a word, once",
    ),
    asked=(
        "one slot of a model: layers {}, hidden {}, heads {}, key heads {}, head size {}, "
        "intermediate {}, vocabulary {}"
    ).format,
    shown=[(3, 54, 5, 2, 17, 71, 901)],
    drawn=drawn,
    passed="Right: in a 0.5 B model the logits of a slot outweigh its 24 layers, 1.82 MB against "
    "1.21 MB.",
)
SUMS, LAYERS, LOGITS = "4 * heads)", "layers * (2 * values + 4 * heads)", "12 * vocabulary"
PAIR = f"{LAYERS}, {LOGITS}"
QUERY = "query, keys = heads * head_size, key_heads * head_size"
for _thought, _old, _new in [
    ("of one layer: all layers keep their own", "layers * (2", "(2"),
    (
        "each norm keeps its input and its output: four times hidden",
        "4 * hidden",
        "2 * hidden",
    ),
    ("the inputs and outputs of the norms are forgotten", "4 * hidden + ", ""),
    (
        "gate, up, silu and product: four times intermediate",
        "4 * intermediate",
        "3 * intermediate",
    ),
    ("gate, up, silu and product are four, not two", "4 * intermediate", "2 * intermediate"),
    ("the MLP keeps one value four times over", "4 * intermediate", "intermediate"),
    ("values counted, not bytes: each has two", "2 * values", "values"),
    ("values and sums counted, not their bytes", "(2 * values + 4 * heads)", "(values + heads)"),
    ("values are in 16 bit here: two bytes, not four", "2 * values", "4 * values"),
    ("the log-sum-exp is forgotten: 4 bytes for each head", " + 4 * heads)", ")"),
    ("the log-sum-exp has 4 bytes a head, not 4 values of 2", SUMS, "8 * heads)"),
    ("the log-sum-exp is float32: 4 bytes", SUMS, "2 * heads)"),
    (
        "every layer keeps its sums: 4 bytes a head and layer",
        LAYERS,
        "layers * 2 * values + 4 * heads",
    ),
    ("the sums belong to the heads of the queries", SUMS, "4 * key_heads)"),
    (
        "one tensor of their size: the log-softmax and two gradients live, 4 + 4 + 4",
        LOGITS,
        "4 * vocabulary",
    ),
    (
        "logits in bf16 alone: three float32 tensors of their size live, 4 + 4 + 4",
        LOGITS,
        "2 * vocabulary",
    ),
    ("10 are alive in the forward pass; at the fullest moment it is 12", LOGITS, "10 * vocabulary"),
    (
        "2 + 4 of the logits and their copy are freed by then: 4 + 4 + 4 are alive",
        LOGITS,
        "18 * vocabulary",
    ),
    ("the kernel keeps one sum for each head, not one for each value", SUMS, "4 * query)"),
    ("one of the two gradients is forgotten: 4 + 4 + 4", LOGITS, "8 * vocabulary"),
    ("logits are made once, behind the last layer", LOGITS, f"layers * {LOGITS}"),
    (
        "keys and values have key_heads heads, fewer than queries",
        QUERY,
        "query = keys = heads * head_size",
    ),
    (
        "queries are as wide as heads x head_size, which need not be hidden",
        QUERY,
        "query, keys = hidden, key_heads * head_size",
    ),
    (
        "head_size is handed over: it need not be hidden / heads",
        QUERY,
        f"head_size = hidden // heads\n    {QUERY}",
    ),
    ("queries and the output of attention are two", "2 * query", "query"),
    ("keys and values are two", "2 * keys", "keys"),
    ("keys and values are kept as well", " + 2 * keys", ""),
    ("the layers come first, the logits second", PAIR, f"{LOGITS}, {LAYERS}"),
    ("the logits are no part of the first number", PAIR, f"{LAYERS} + {LOGITS}, {LOGITS}"),
    (
        "megabytes: bytes are asked",
        PAIR,
        "layers * (2 * values + 4 * heads) / 1e6, 12 * vocabulary / 1e6",
    ),
    ("GB: bytes are asked", PAIR, "layers * (2 * values + 4 * heads) / 1e9, 12 * vocabulary / 1e9"),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit("the pair is asked, not its sum", [(", 12", " + 12")], says="2 things are needed")


@exercise.style
def line_by_line(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    """line by line, as a list"""
    layer = 2 * 4 * hidden
    layer += 2 * 2 * heads * head_size
    layer += 2 * 2 * key_heads * head_size
    layer += 2 * 4 * intermediate
    layer += 4 * heads
    return [layers * layer, (4 + 4 + 4) * vocabulary]


@exercise.style
def values_and_sums(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    """values and sums, NumPy"""
    import numpy as np

    each = np.array([4, 2 * head_size, 2 * head_size, 4, 2])
    kept = each @ np.array([hidden, heads, key_heads, intermediate, heads])
    return 2 * layers * kept, 12 * vocabulary

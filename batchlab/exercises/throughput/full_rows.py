"""The fewest rows with which a linear layer no longer waits for memory."""

from batchlab.exercises import Exercise


def full_rows(inputs, outputs, ridge, row_tokens):
    """The fewest rows of `row_tokens` tokens that bring the layer to the ridge; or ValueError."""
    import math

    weights, edges = inputs * outputs, inputs + outputs
    if weights <= ridge * edges:
        raise ValueError("however many rows: this layer never reaches the ridge")
    tokens = ridge * weights / (weights - ridge * edges)
    return math.ceil(tokens / row_tokens)


def drawn(rng):
    """Layers and devices of all sizes; some layers are too small."""
    for _ in range(40):
        inputs, outputs = (64 * int(n) for n in rng.integers(2, 200, 2))
        ridge, row_tokens = float(rng.uniform(5, 400)), int(rng.integers(1, 700))
        most = inputs * outputs / (inputs + outputs)
        if abs(ridge / most - 1) < 0.01:
            continue
        rows = ridge * most / (most - ridge) / row_tokens
        if rows < 0 or abs(rows - round(rows)) > 1e-3:
            yield inputs, outputs, ridge, row_tokens


exercise = Exercise(
    full_rows,
    hints=(
        "ask T K N / (T K + K N + T N) >= ridge, and bring T to one side",
        "T (K N - ridge (K + N)) >= ridge K N: where the bracket is not above 0, no T will do",
        "math.ceil(T / row_tokens)",
    ),
    asked="the fewest rows for a layer of {} x {}, ridge {}, with rows of {} tokens".format,
    shown=[
        (1024, 4096, 156.0, 5),
        (2048, 8192, 295.3, 20),
        (256, 4096, 295.3, 20),
        (512, 512, 295.3, 20),
        (1024, 1024, 512.0, 16),
        (1024, 128, 70.0, 64),
    ],
    drawn=drawn,
    passed="Right: tokens of the micro-batch count, in whatever rows; and a small layer never gets there.",
)
TOKENS, END = "ridge * weights / (weights - ridge * edges)", "math.ceil(tokens / row_tokens)"
REFUSED = "weights <= ridge * edges"
for _thought, *_changes in [
    ("as many tokens as the ridge: inputs and outputs move, too", (TOKENS, "ridge")),
    ("tokens: asked are rows", (END, "math.ceil(tokens)")),
    ("rounded down: with these rows it still waits", (END, "math.floor(tokens / row_tokens)")),
    ("rounded to the nearest: the ridge is to be reached", (END, "round(tokens / row_tokens)")),
    ("one row too many: ceil is the first that reaches it", (END, f"{END} + 1")),
    ("the outputs do not move: they are written once", (TOKENS, TOKENS.replace("edges", "inputs"))),
    ("the inputs do not move: they are read once", (TOKENS, TOKENS.replace("edges", "outputs"))),
    ("bytes a number twice: 2 FLOPs over 2 bytes cancel", (TOKENS, TOKENS.replace("ridge", "2 * ridge"))),
    ("a row a token: rows hold many", (END, "math.ceil(tokens * row_tokens)")),
    ("a small layer never reaches the ridge: refuse it", (REFUSED, "weights == ridge * edges")),
    ("only below: exactly at its limit a layer needs endless rows", (REFUSED, "weights < ridge * edges")),
    ("refused by the smaller side alone: the limit is K N / (K + N)", (REFUSED, "min(inputs, outputs) <= ridge")),
    ("refused too early: the limit is K N / (K + N), not half of the smaller side", (REFUSED, "min(inputs, outputs) / 2 <= ridge")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.style
def by_limit(inputs, outputs, ridge, row_tokens):
    """one over what is left to the limit"""
    limit = 1 / (1 / inputs + 1 / outputs)
    if limit <= ridge:
        raise ValueError(f"at most {limit:.0f} FLOPs per byte")
    return -int(-1 / (1 / ridge - 1 / limit) // row_tokens)


@exercise.style
def one_by_one(inputs, outputs, ridge, row_tokens):
    """one row more until it is enough"""
    if inputs * outputs / (inputs + outputs) <= ridge:
        raise ValueError("never")
    rows = 1
    while True:
        t = rows * row_tokens
        if t * inputs * outputs / (t * inputs + inputs * outputs + t * outputs) >= ridge:
            return rows
        rows += 1

"""The states of LoRA: frozen matrices, the frozen rest, and thin matrices that are trained."""

from batchlab.exercises import Exercise


def lora_bytes(matrices, rest, rank, matrix_bytes):
    """Bytes of states: frozen matrices, the frozen rest, adapters with gradient and Adam."""
    frozen = sum(inputs * outputs for inputs, outputs in matrices)
    adapters = sum(rank * (inputs + outputs) for inputs, outputs in matrices)
    return frozen * matrix_bytes + rest * 2 + adapters * 16


def drawn(rng):
    yield [], 10, 4, 2.0
    for many in [*rng.integers(1, 5, 12).tolist(), 2000]:
        shapes = [tuple(int(one) for one in rng.integers(1, 99, 2)) for _ in range(many)]
        rest, rank = int(rng.integers(0, 999)), int(rng.integers(1, 200))
        each = float(rng.choice([0.5625, 1, 2, 4]))
        yield from [(shapes, rest, rank, each), (shapes, rest + 3, rank + 1, each)]


exercise = Exercise(
    lora_bytes,
    rel=1e-6,
    hints=(
        "three sums: the frozen matrices, the rest, the adapters",
        "an adapter has rank x (inputs + outputs) weights",
        "matrix_bytes, 2 and 16 bytes a weight",
    ),
    asked=lambda matrices, rest, rank, matrix_bytes: (
        f"LoRA of rank {rank} on {matrices if len(matrices) < 6 else f'{len(matrices):,} matrices'}"
        f" of {matrix_bytes} bytes, rest {rest:,}"
    ),
    shown=[
        ([(30, 41), (30, 41), (22, 71)], 1001, 5, 0.5625),
        ([(9, 5), (3, 2), (40, 7)], 100, 12, 4.0),
    ],
    drawn=drawn,
    passed="Right: Llama 3 8B with LoRA: 16.7 GB in bf16, 6.7 GB over NF4, and not 8 x 0.5 = 4.",
)
THIN = "rank * (inputs + outputs)"
for _thought, _old, _new in [
    ("adapters take 16 bytes, not 4: weight, gradient and two averages", "* 16", "* 4"),
    ("adapters take 16 bytes, not 2: float32 weight, gradient, two averages", "* 16", "* 2"),
    ("adapters take 16 bytes, not 8: float32 weight, gradient, two averages", "* 16", "* 8"),
    (
        "adapters at 12 bytes: 4 + 4 + 8 are asked. No gradient, or weight and gradient in bf16?",
        "* 16",
        "* 12",
    ),
    ("adapters in float32 take 4 + 4 + 8 bytes, not 18", "* 16", "* 18"),
    (
        "the adapters are float32, whatever matrix_bytes says",
        "* 16",
        "* (matrix_bytes + 12)",
    ),
    (
        "frozen weights have neither gradient nor optimizer",
        "frozen * matrix_bytes",
        "frozen * (matrix_bytes + 14)",
    ),
    ("frozen matrices have no gradient", "frozen * matrix_bytes", "frozen * (matrix_bytes + 2)"),
    ("the matrices have matrix_bytes, not 2", "frozen * matrix_bytes", "frozen * 2"),
    (
        "whole bytes: 0.5625 is what 4 bits take",
        "frozen * matrix_bytes",
        "frozen * int(matrix_bytes)",
    ),
    (
        "0.5625 is that of NF4: take the matrix_bytes handed over",
        "frozen * matrix_bytes",
        "frozen * 0.5625",
    ),
    ("an adapter is two thin matrices: rank x (inputs + outputs)", THIN, "rank * inputs * outputs"),
    ("both adapters counted with the inputs", THIN, "rank * 2 * inputs"),
    ("both adapters counted with the outputs", THIN, "rank * 2 * outputs"),
    ("one of the two adapters, that of the inputs", THIN, "rank * inputs"),
    ("the rank counts once, not squared", THIN, f"rank * {THIN}"),
    ("nothing is trained between the two: no rank x rank", THIN, f"{THIN} + rank * rank"),
    ("rank 16 is that of the page: take the one handed over", THIN, "16 * (inputs + outputs)"),
    (
        "the rank is cut to the shorter side: it need not be smaller",
        THIN,
        "min(rank, inputs, outputs) * (inputs + outputs)",
    ),
    ("the rank counts in every matrix: rank x (inputs + outputs)", "adapters * 16", "rank * 16"),
    (
        "the rest is not in 4 bits: embedding, head and norms keep 2 bytes",
        "rest * 2",
        "rest * matrix_bytes",
    ),
    ("the rest is forgotten: embedding, head and norms", " + rest * 2", ""),
    ("the rest counted as bytes: it is weights of 2 bytes", "rest * 2", "rest"),
    ("the rest is frozen: 2 bytes, no gradient, no optimizer", "rest * 2", "rest * 16"),
    ("whole bytes: give all digits", "frozen * matrix_bytes", "int(frozen * matrix_bytes)"),
    (
        "equal matrices are several: a set counts them once",
        "    frozen",
        "    matrices = set(matrices)\n    frozen",
    ),
    ("the first matrix only", "    frozen", "    matrices = matrices[:1]\n    frozen"),
    (
        "every matrix has its own shape, not that of the first",
        "    frozen",
        "    matrices = matrices[:1] * len(matrices)\n    frozen",
    ),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "gigabytes: bytes are asked",
    [("return frozen", "return (frozen"), ("* 16", "* 16) / 1e9")],
)


@exercise.style
def a_loop(matrices, rest, rank, matrix_bytes):
    """a loop"""
    total = rest * 2
    for inputs, outputs in matrices:
        total += inputs * outputs * matrix_bytes
        total += rank * (inputs + outputs) * 16
    return total


@exercise.style
def numpy(matrices, rest, rank, matrix_bytes):
    """NumPy"""
    import numpy as np

    sides = np.array(matrices, dtype=float).reshape(-1, 2)
    return 2 * rest + matrix_bytes * sides.prod(1).sum() + 16 * rank * sides.sum()

"""Versions of the functions of lesson 07, right ones and wrong ones under their thoughts.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    part   (weights, trained, bytes a weight, bytes a gradient, bytes of optimizer a weight)
    bill   GB of one step on a toy device, whose prices stand at the top of the second half
"""

from collections.abc import Callable, Sequence

__all__ = ["RIGHT", "WRONG"]

Part = tuple[float, bool, float, float, float]
Matrices = Sequence[tuple[int, int]]
ADAPTER = 16  # float32 weight, gradient and Adam's two averages


def _states(
    parts: Sequence[Part], *, weight: float = 1, gradient: float = 1, optimizer: float = 1
) -> float:
    """Bytes of states; a mistake counts one of the three less often, or not at all."""
    return sum(
        count * (weight * w + (gradient * g + optimizer * o) * bool(trained))
        for count, trained, w, g, o in parts
    )


def _frozen_as_trained(parts: Sequence[Part]) -> float:
    return _states([(count, True, w, g, o) for count, _, w, g, o in parts])


def _frozen_forgotten(parts: Sequence[Part]) -> float:
    return _states([part for part in parts if part[1]])


def _slot(
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_size: int,
    intermediate: int,
    vocabulary: int,
    *,
    norms: int = 4,
    gated: int = 4,
    each: int = 2,
    sums: int = 4,
    of_logit: int = 10,
) -> tuple[float, float]:
    """Bytes that one slot keeps in all layers, and bytes of its logits."""
    query, keys = heads * head_size, kv_heads * head_size
    values = norms * hidden + 2 * query + 2 * keys + gated * intermediate
    return layers * (each * values + sums * heads), vocabulary * of_logit


def _lora(
    matrices: Matrices,
    rest: float,
    rank: int,
    matrix_bytes: float,
    *,
    rest_bytes: float = 2,
    adapter_bytes: float = ADAPTER,
    size: Callable[[int, int], float] = lambda i, o: i + o,
) -> float:
    """Bytes of frozen matrices, other frozen weights, and trained adapters."""
    frozen = sum(i * o for i, o in matrices) * matrix_bytes
    return frozen + rest * rest_bytes + rank * sum(size(i, o) for i, o in matrices) * adapter_bytes


# the toy device: bytes a weight, of its gradient and its optimizer, of a slot in layers and logits
WEIGHT, GRADIENT, OPTIMIZER, LAYERS, LOGITS = 2, 2, 12, 1_000_000, 1_500_000


def _bill(
    rows: float,
    length: float,
    accumulation: float,
    trained: float,
    frozen: float,
    *,
    of_trained: float = WEIGHT + GRADIENT + OPTIMIZER,
    of_frozen: float = WEIGHT,
    slot: float = LAYERS + LOGITS,
) -> float:
    """GB of a step; the accumulation counts in wrong versions only."""
    return (trained * of_trained + frozen * of_frozen + rows * length * slot) / 1e9


def _bill_by_parts(r: float, n: float, a: float, trained: float, frozen: float) -> float:
    states = (trained + frozen) * WEIGHT + trained * (GRADIENT + OPTIMIZER)
    return states / 1e9 + r * n * LOGITS / 1e9 + r * n * LAYERS / 1e9


def _bill_a_last_digit_off(r: float, n: float, a: float, trained: float, frozen: float) -> float:
    return _bill(r, n, a, trained, frozen) * (1 + 1e-12)


RIGHT: dict[str, tuple[Callable[..., object], ...]] = {
    "state-bytes": (_states,),
    "slot-bytes": (_slot,),
    "lora-bytes": (_lora,),
    "bill": (_bill, _bill_by_parts, _bill_a_last_digit_off),
}

WRONG: dict[str, dict[str, Callable[..., object]]] = {
    "state-bytes": {
        "the optimizer's states are forgotten": lambda p: _states(p, optimizer=0),
        "the gradients are forgotten": lambda p: _states(p, gradient=0),
        "the weights themselves are forgotten": lambda p: _states(p, weight=0),
        "the optimizer alone: weights and gradients are there, too": lambda p: _states(
            p, weight=0, gradient=0
        ),
        "the gradients alone": lambda p: _states(p, weight=0, optimizer=0),
        "the weights alone": lambda p: _states(p, gradient=0, optimizer=0),
        "frozen weights have no gradient and no optimizer states": _frozen_as_trained,
        "frozen weights are forgotten: they take memory, too": _frozen_forgotten,
        "frozen weights keep no optimizer states": lambda p: sum(
            n * (w + g * trained + o) for n, trained, w, g, o in p
        ),
        "frozen weights have no gradient": lambda p: sum(
            n * (w + g + o * trained) for n, trained, w, g, o in p
        ),
        "the optimizer counts two values: its bytes are given in all": lambda p: _states(
            p, optimizer=2
        ),
        "equal parts are two parts: a set, or a dict, counts them once": lambda p: _states(
            list(dict.fromkeys(p))
        ),
        "gigabytes: bytes are asked": lambda p: _states(p) / 1e9,
        "gibibytes: bytes are asked": lambda p: _states(p) / 2**30,
        "bits: bytes are asked": lambda p: 8 * _states(p),
        "bytes a weight are whole numbers no longer: 0.5625 is what 4 bits take": lambda p: sum(
            n * int(w + (g + o) * trained) for n, trained, w, g, o in p
        ),
        "whether it is trained belongs to each part: ask every one": lambda p: sum(
            n * (w + (g + o) * p[0][1]) for n, _, w, g, o in p
        ),
        "the first part only": lambda p: _states(p[:1]),
        "the last part only": lambda p: _states(p[-1:]),
        "the last part is missing": lambda p: _states(p[:-1]),
        "the first part is missing": lambda p: _states(p[1:]),
    },
    "slot-bytes": {
        "of one layer: all layers keep their own": lambda n, *s: _slot(1, *s),
        "each norm keeps its input and its output: four times hidden": lambda *s: _slot(
            *s, norms=2
        ),
        "the inputs and outputs of the norms are forgotten": lambda *s: _slot(*s, norms=0),
        "gate, up, silu and product: four times intermediate": lambda *s: _slot(*s, gated=3),
        "gate, up, silu and product are four, not two": lambda *s: _slot(*s, gated=2),
        "the MLP keeps one value four times over": lambda *s: _slot(*s, gated=1),
        "values counted, not bytes: each has two": lambda *s: _slot(*s, each=1),
        "values are in 16 bit here: two bytes, not four": lambda *s: _slot(*s, each=4),
        "the log-sum-exp is forgotten: 4 bytes for each head": lambda *s: _slot(*s, sums=0),
        "the log-sum-exp has 4 bytes a head, not 4 values of 2": lambda *s: _slot(*s, sums=8),
        "the log-sum-exp is float32: 4 bytes": lambda *s: _slot(*s, sums=2),
        "logits in float32 alone: their bf16 form and the gradient live, too": lambda *s: _slot(
            *s, of_logit=4
        ),
        "logits in bf16 alone: the float32 copy and its gradient live, too": lambda *s: _slot(
            *s, of_logit=2
        ),
        "the gradient of the logits is forgotten: 2 + 4 + 4": lambda *s: _slot(*s, of_logit=6),
        "the bf16 logits are forgotten: 2 + 4 + 4": lambda *s: _slot(*s, of_logit=8),
        "logits are made once, behind the last layer": lambda n, *s: (
            _slot(n, *s)[0],
            n * _slot(n, *s)[1],
        ),
        "keys and values have kv_heads heads, fewer than queries": lambda n, h, a, kv, *s: _slot(
            n, h, a, a, *s
        ),
        "queries are as wide as heads x head_size, which need not be hidden": (
            lambda n, h, a, kv, d, *s: _other_query(n, h, a, kv, d, *s)
        ),
        "queries and the output of attention are two": lambda n, h, a, kv, d, *s: (
            _slot(n, h, a, kv, d, *s)[0] - n * 2 * a * d,
            _slot(n, h, a, kv, d, *s)[1],
        ),
        "keys and values are two": lambda n, h, a, kv, d, *s: (
            _slot(n, h, a, kv, d, *s)[0] - n * 2 * kv * d,
            _slot(n, h, a, kv, d, *s)[1],
        ),
        "keys and values are kept as well": lambda n, h, a, kv, *s: _slot(n, h, a, 0, *s),
        "head_size is handed over: it need not be hidden / heads": lambda n, h, a, kv, d, *s: _slot(
            n, h, a, kv, h // a, *s
        ),
        "every layer keeps its sums: 4 bytes a head and layer": lambda n, h, a, *s: (
            _slot(n, h, a, *s)[0] - 4 * a * (n - 1),
            _slot(n, h, a, *s)[1],
        ),
        "the sums belong to the heads of the queries": lambda n, h, a, kv, *s: (
            _slot(n, h, a, kv, *s)[0] - 4 * n * (a - kv),
            _slot(n, h, a, kv, *s)[1],
        ),
        "values and sums counted, not their bytes": lambda n, h, a, *s: (
            _slot(n, h, a, *s, each=1, sums=1)[0],
            _slot(n, h, a, *s)[1],
        ),
        "the logits are no part of the first number": lambda *s: (sum(_slot(*s)), _slot(*s)[1]),
        "kilobytes: bytes are asked": lambda *s: (_slot(*s)[0] / 1e3, _slot(*s)[1] / 1e3),
        "the layers come first, the logits second": lambda *s: _slot(*s)[::-1],
        "megabytes: bytes are asked": lambda *s: (_slot(*s)[0] / 1e6, _slot(*s)[1] / 1e6),
        "the pair is asked, not its sum": lambda *s: sum(_slot(*s)),
    },
    "lora-bytes": {
        "adapters are trained: weight, gradient and two averages, 16 bytes": lambda *s: _lora(
            *s, adapter_bytes=4
        ),
        "adapters in bf16 without gradient and optimizer: 16 bytes each": lambda *s: _lora(
            *s, adapter_bytes=2
        ),
        "adapters take 16 bytes, not 8: float32 weight, gradient, two averages": lambda *s: _lora(
            *s, adapter_bytes=8
        ),
        "adapters in float32 take 4 + 4 + 8 bytes, not 18": lambda *s: _lora(*s, adapter_bytes=18),
        "the adapters are float32, whatever matrix_bytes says": lambda m, rest, r, b: _lora(
            m, rest, r, b, adapter_bytes=12 + b
        ),
        "nothing is trained between the two: no rank x rank": lambda m, rest, r, b: (
            _lora(m, rest, r, b) + ADAPTER * r * r * len(m)
        ),
        "the rank counts in every matrix: rank x (inputs + outputs)": lambda m, rest, r, b: (
            _lora(m, rest, 0, b) + ADAPTER * r
        ),
        "the rest is frozen: 2 bytes, no gradient, no optimizer": lambda *s: _lora(
            *s, rest_bytes=16
        ),
        "the frozen matrices are forgotten, or int() made them 0 bytes": lambda m, rest, r, b: (
            _lora(m, rest, r, int(b))
        ),
        "0.5625 is that of NF4: take the matrix_bytes handed over": lambda m, rest, r, b: _lora(
            m, rest, r, 0.5625
        ),
        "every matrix has its own shape, not that of the first": lambda m, *s: _lora(
            m[:1] * len(m), *s
        ),
        "the gradients of the adapters are forgotten": lambda *s: _lora(*s, adapter_bytes=12),
        "the adapters are forgotten": lambda *s: _lora(*s, adapter_bytes=0),
        "frozen weights have neither gradient nor optimizer": lambda m, rest, r, b: _lora(
            m, rest, r, b + 14
        ),
        "frozen matrices have no gradient": lambda m, rest, r, b: _lora(m, rest, r, b + 2),
        "all frozen weights counted as trained ones": lambda m, rest, r, b: _lora(
            m, rest, r, 16, rest_bytes=16
        ),
        "an adapter is two thin matrices: rank x (inputs + outputs)": lambda *s: _lora(
            *s, size=lambda i, o: i * o
        ),
        "both adapters counted with the inputs": lambda *s: _lora(*s, size=lambda i, o: 2 * i),
        "both adapters counted with the outputs": lambda *s: _lora(*s, size=lambda i, o: 2 * o),
        "one of the two adapters, that of the inputs": lambda *s: _lora(*s, size=lambda i, o: i),
        "one of the two adapters, that of the outputs": lambda *s: _lora(*s, size=lambda i, o: o),
        "the rest is not in 4 bits: embedding, head and norms keep 2 bytes": lambda m, rest, r, b: (
            _lora(m, rest, r, b, rest_bytes=b)
        ),
        "the rest is forgotten: embedding, head and norms": lambda *s: _lora(*s, rest_bytes=0),
        "the rest keeps 2 bytes a weight": lambda *s: _lora(*s, rest_bytes=4),
        "the rest counted as bytes: it is weights of 2 bytes": lambda *s: _lora(*s, rest_bytes=1),
        "the matrices have matrix_bytes, not 2": lambda m, rest, r, b: _lora(m, rest, r, 2),
        "the frozen matrices are forgotten": lambda m, rest, r, b: _lora(m, rest, r, 0),
        "the rank counts once, not squared": lambda m, rest, r, b: _lora(m, rest, r * r, b),
        "the rank is forgotten": lambda m, rest, r, b: _lora(m, rest, 1, b),
        "rank 16 is that of the page: take the one handed over": lambda m, rest, r, b: _lora(
            m, rest, 16, b
        ),
        "gigabytes: bytes are asked": lambda *s: _lora(*s) / 1e9,
        "the last matrix is missing": lambda m, *s: _lora(m[:-1], *s),
        "equal matrices are several: a set counts them once": lambda m, *s: _lora(
            list(dict.fromkeys(m)), *s
        ),
        "the first matrix only": lambda m, *s: _lora(m[:1], *s),
    },
    "bill": {
        "is a thousandth too high (a wide tolerance, or no abs())": lambda *s: _bill(*s) * 1.001,
        "is a thousandth too low (a wide tolerance, or no abs())": lambda *s: _bill(*s) * 0.999,
        "takes the accumulation for the rows": lambda r, n, a, *s: _bill(a, n, a, *s),
        "takes the accumulation for the length": lambda r, n, a, *s: _bill(r, a, a, *s),
        "swaps trained and frozen": lambda r, n, a, t, f: _bill(r, n, a, f, t),
        "forgets the optimizer": lambda *s: _bill(*s, of_trained=WEIGHT + GRADIENT),
        "forgets the gradients": lambda *s: _bill(*s, of_trained=WEIGHT + OPTIMIZER),
        "gives frozen weights states": lambda *s: _bill(*s, of_frozen=16),
        "forgets the frozen weights": lambda *s: _bill(*s, of_frozen=0),
        "ignores the logits": lambda *s: _bill(*s, slot=LAYERS),
        "ignores the layers": lambda *s: _bill(*s, slot=LOGITS),
        "takes one row, however many there are": lambda r, *s: _bill(1, *s),
        "counts rows, and not their slots": lambda r, n, *s: _bill(r, 1, *s),
        "keeps all micro-batches alive": lambda r, n, a, *s: _bill(r * a, n, a, *s),
        "shares the rows among the micro-batches": lambda r, n, a, *s: _bill(r / a, n, a, *s),
        "writes GiB for GB": lambda *s: _bill(*s) * 1e9 / 2**30,
        "rounds down to whole GB": lambda *s: float(int(_bill(*s))),
        "has the states once a row": lambda r, n, a, t, f: _bill(r, n, a, t * r, f * r),
        "has a gradient for each micro-batch": lambda r, n, a, t, f: _bill(
            r, n, a, t, f, of_trained=WEIGHT + GRADIENT * a + OPTIMIZER
        ),
    },
}


def _other_query(
    n: int, hidden: int, heads: int, kv: int, size: int, *s: int
) -> tuple[float, float]:
    """Queries and the output of attention as wide as hidden."""
    layers, logits = _slot(n, hidden, heads, kv, size, *s)
    return layers + n * 4 * (hidden - heads * size), logits

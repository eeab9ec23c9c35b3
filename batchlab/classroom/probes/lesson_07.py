"""What lesson 07 needs beside its page: mistakes and their values, a budget to fill, live steps.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    finder    rows, bytes a weight and slots of logits alive, against a device of 24 GiB
"""

from collections.abc import Callable, Sequence
from typing import Any

from batchlab import memory, units, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.chunks_07 import (
    chunk_losses,
    chunked,
    frozen_body,
    plain_loss,
    rows_alive,
    single_slots,
    targets_of,
    whole,
)
from batchlab.classroom.probes.guard_07 import (
    ENDS,
    KINDS,
    ended_by,
    guarded,
    known_rows,
    names,
    order_of,
    right_rows,
    tries_of,
)
from batchlab.classroom.probes.lesson_07_versions import RIGHT, WRONG
from batchlab.plan import Plan

__all__ = [
    "EARLIER",
    "ENDS",
    "KINDS",
    "LLAMA_8B",
    "QWEN_HALF_B",
    "RIGHT",
    "WRONG",
    "chunk_losses",
    "chunked",
    "ended_by",
    "fault_of_rows",
    "finder",
    "frozen_body",
    "guarded",
    "known_rows",
    "llama_matrices",
    "many_matrices",
    "many_parts",
    "mistakes",
    "names",
    "odd_steps",
    "one_by_one",
    "order_of",
    "other_losses",
    "pairs",
    "plain_loss",
    "refusal",
    "right_rows",
    "rounded",
    "rows_alive",
    "shown",
    "single_slots",
    "targets_of",
    "tries_of",
    "versions",
    "whole",
]

QWEN_HALF_B = memory.ModelShape(  # Qwen2.5-0.5B: its config.json on the hub
    hidden=896, layers=24, heads=14, kv_heads=2, head_size=64, intermediate=4864,
    vocabulary=151_936, tied=True, biases=18 * 64,
)  # fmt: skip
LLAMA_8B = memory.ModelShape(  # Llama 3 8B: Grattafiori et al. 2024, Table 3
    hidden=4096, layers=32, heads=32, kv_heads=8, head_size=128, intermediate=14_336,
    vocabulary=128_256,
)  # fmt: skip
BUDGET, LENGTH, SEQUENCES = 24 * 2**30, 2048, 40
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20)
STATES = {"8: all in bf16": "bf16", "16: mixed": "mixed", "18: mixed, fp32 gradients": (
    "mixed_fp32_gradients")}  # fmt: skip
ALIVE = {"all": None, "1,024 slots": 1024, "128 slots": 128}

EARLIER = "an answer of an earlier call: keep nothing between calls"
CASES: dict[str, tuple[Any, ...]] = {  # each argument of these is changed by itself
    "state-bytes": ([(31, True, 2, 4, 12), (50, True, 4, 3, 8), (23, False, 2, 4, 5)],),
    "slot-bytes": (3, 54, 5, 2, 17, 71, 901),
    "lora-bytes": ([(30, 41), (25, 50), (22, 70)], 1001, 5, 0.5),
}  # fmt: skip


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    right: Any = RIGHT[name][0](*case)
    known = [*mistakes_of(WRONG[name], *case), *rounded(right).items()]
    return {value: why for value, why in reversed(known) if value != right}  # the first one wins


def pairs(name: str, *case: Any) -> list[tuple[Any, str]]:
    """The same for a function that returns a pair."""
    right = RIGHT[name][0](*case)
    found = mistakes_of(WRONG[name], *case)
    return [(value, why) for value, why in found if value != right]


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def llama_matrices(shape: memory.ModelShape = LLAMA_8B) -> list[tuple[int, int]]:
    """(inputs, outputs) of every linear layer in the blocks of a Llama: 7 a block."""
    query, keys = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    wide = [(shape.hidden, query), *[(shape.hidden, keys)] * 2, (query, shape.hidden)]
    deep = [*[(shape.hidden, shape.intermediate)] * 2, (shape.intermediate, shape.hidden)]
    return [*wide, *deep] * shape.layers


def one_by_one(name: str) -> list[tuple[Any, Any, Any]]:
    """(case, right value, that of the first case): one number of a case is changed at a time.

    The first case stands first, with None. Of a list, numbers in its middle are changed.
    """
    first, *others = CASES[name]
    cases: list[tuple[Any, ...]] = [(first, *others)]
    if isinstance(first, list):
        for place, value in enumerate(first[1]):
            changed = not value if isinstance(value, bool) else value + 7
            middle = (*first[1][:place], changed, *first[1][place + 1 :])
            cases.append(([first[0], middle, *first[2:]], *others))
    else:
        cases.append((first + 1, *others))
    for place, value in enumerate(others):
        cases.append((first, *others[:place], value + 2, *others[place + 1 :]))
    right: Any = RIGHT[name][0]
    values = [right(*case) for case in cases]
    earlier = [None] + [values[0]] * (len(cases) - 1)
    if len(CASES[name]) == 1:
        return list(zip([case[0] for case in cases], values, earlier, strict=True))
    return list(zip(cases, values, earlier, strict=True))


def many_parts(count: int = 4000) -> tuple[list[Any], float]:
    """Parts from one weight to 10 ** 10, prices from 0.001 bytes to 21, and their bytes."""
    parts = [
        (7 * n**2 + 10 ** (n % 11), n % 3 > 0, 0.001 + n % 9, 0.5 * (n % 13), 1.5 * (n % 15))
        for n in range(count)
    ]
    return parts, RIGHT["state-bytes"][0](parts)  # type: ignore[return-value]


def many_matrices(count: int = 3000) -> tuple[tuple[Any, ...], float]:
    """A case of many matrices, some equal, large or thin, with a large rest, and its bytes."""
    some = [(1 + n * n % 70_001, 1 + 17 * n % 40_009) for n in range(count)]
    case = ([*some, *[(50, 90_000)] * 1000], 3 * 10**9 + 1, 7, 0.515625)
    return case, RIGHT["lora-bytes"][0](*case)  # type: ignore[return-value]


def other_losses(labels: list[int], earlier: list[int] | None) -> dict[float, str]:
    """The losses of the labels of a call before, and of slots of word 0 not counted."""
    found = {}
    if 0 in labels:
        unlike = whole([-100 if one == 0 else one for one in labels])["loss"]
        found[unlike] = "word 0 is a word as any other: loop.IGNORE alone is not counted"
    if earlier is not None:
        found[whole(earlier)["loss"]] = EARLIER
    return found


WORDS = ("cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "std::bad_alloc", "not enough memory: you tried")


def odd_steps(answer: Callable[..., Any]) -> list[tuple[str, str, str, str]]:
    """What a guard does with odd steps: (asked, what came, what is right, the likely mistake).

    The step may say in other words that memory ended, end in an exception that is no error, return
    a value, or have failed in an earlier call; and one document may stand in the data twice.
    """
    documents = [[1] * (3 + n % 5) for n in range(12)]
    found = []
    for words in WORDS:
        came = _search(answer, documents, _Step(RuntimeError(words), 6))
        likely = "the words of such errors are many: ask limits.out_of_memory"
        found.append((f"rows of a step that ends in {words!r}", came, "(6, 2)", likely))
    for thrown in (StopIteration(), KeyboardInterrupt()):
        name = type(thrown).__name__
        came = _search(answer, documents, _Step(thrown, 0))
        likely = "only an out of memory is a reason to try fewer rows: raise the rest as it is"
        found.append(
            (f"the caller sees the {name} of a step", came, f"the step's own {name}", likely)
        )
    came = _search(answer, documents, _Step(None, 0, value=False))
    likely = "what the step returns says nothing: memory ends by an error"
    found.append(("rows of a step that returns False", came, "(12, 1)", likely))
    came = _search(answer, [documents[0]] * 12, _Step(None, 0))
    likely = "equal documents count each, the same list as well"
    found.append(("rows of one list that stands in the data 12 times", came, "(12, 1)", likely))
    again = _Step(MemoryError(), 2)
    _search(answer, documents, again)
    again.over = 12
    came = _search(answer, [[1]] * 12, again)
    found.append(
        ("rows of a second call with a step that failed in the first", came, "(12, 1)", EARLIER)
    )
    return found


class _Step:
    """A step that raises with more than `over` rows, and returns a value with fewer."""

    def __init__(self, thrown: BaseException | None, over: int, value: object = None) -> None:
        self.thrown, self.over, self.value = thrown, over, value

    def __call__(self, micro_batches: Sequence[Any]) -> object:
        if self.thrown and len(micro_batches[0]) > self.over:
            raise self.thrown
        return self.value


def _search(answer: Callable[..., Any], documents: list[list[int]], step: _Step) -> str:
    """What a guard finds for a step of 12 sequences, or how it ends."""
    try:
        found = answer(step, documents, 12, 12)
        return f"({int(found[0])}, {int(found[1])})"
    except NotImplementedError:
        raise  # a blank
    except BaseException as error:
        if error is step.thrown:
            return f"the step's own {type(error).__name__}"
        if not isinstance(error, Exception):
            raise  # somebody stops this check
        return f"{type(error).__name__}: {error}"


def _peak(rows: int, states: str, alive: str) -> memory.Memory:
    """The bill of QWEN_HALF_B with rows of 2,048 slots."""
    bill = memory.estimate(QWEN_HALF_B, Plan(rows, 1, 1, LENGTH), states=STATES[states])
    if (slots := ALIVE[alive]) is None:
        return bill
    share = slots / (rows * LENGTH)
    return memory.Memory(
        bill.parameters, bill.gradients, bill.optimizer, bill.activations, int(bill.logits * share)
    )


def _fits(rows: int, states: str, alive: str) -> bool:
    return _peak(rows, states, alive).total_bytes <= BUDGET


def _found(states: str = "16: mixed", alive: str = "128 slots") -> int:
    """The most rows that fit and divide the step."""
    return max(rows for rows in ROWS if SEQUENCES % rows == 0 and _fits(rows, states, alive))


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    states, alive = "16: mixed", "128 slots"
    if not _fits(int(rows), states, alive):
        return "these rows need more than 24 GiB at 16 bytes a weight"
    if SEQUENCES % rows:
        return f"it fits, but {SEQUENCES} sequences are no whole number of such micro-batches"
    if rows == _found():
        return ""
    if rows == 1 << (_found().bit_length() - 1):
        return "it fits and divides, but more rows do, too: a power of two is a habit, not a rule"
    return "it fits and divides, but more rows do, too"


def finder() -> widgets.Explorer:
    """Rows, states and alive logits against 24 GiB; the goal keeps the step."""

    def scene(rows: int, states: str, alive: str) -> dict[str, Any]:
        bill = _peak(rows, states, alive)
        parts = {
            "states": bill.states_bytes, "activations": bill.activations, "logits": bill.logits,
        }  # fmt: skip
        total = bill.total_bytes
        left = BUDGET - total
        times = SEQUENCES / rows
        facts = {name: units.size(value) for name, value in parts.items()}
        facts["of 24 GiB"] = f"{units.size(abs(left))} {'left' if left >= 0 else 'too much'}"
        facts["accumulation"] = f"{times:.3g}" + ("" if times.is_integer() else ": does not divide")
        strips = [[(number, round(value / 2**20))] for number, value in enumerate(parts.values())]
        alt = "; ".join(f"{name} {units.size(value)}" for name, value in parts.items())
        return {"facts": facts, "rows": strips, "alt": f"Memory of a step: {alt}."}

    def found(rows: int, states: str, alive: str) -> bool:
        return (rows, states, alive) == (_found(), "16: mixed", "128 slots")

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows of 2,048 slots", list(ROWS)),
        "states": ("bytes a weight", list(STATES)),
        "alive": ("logits alive at once", list(ALIVE)),
    }
    goal = f"16 bytes a weight, 128 slots of logits: the most rows that fit and divide {SEQUENCES}."
    return widgets.finder(
        "Qwen2.5-0.5B on 24 GiB",
        controls,
        scene,
        goal=goal,
        where=found,
        down=lambda bars: f"{bars} parts",
        across=lambda mebibytes: units.size(mebibytes * 2**20),
    )

"""What lesson 08 needs beside its page: mistakes and their values, layers under watch, a widget.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    plan      segments, as (first, end), that are recomputed; all other layers keep what they need
    gain      rows per second of large recomputing micro-batches / that of small ones without
"""

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab import widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_08_live import (
    Decoder,
    in_order,
    kept_bytes,
    peak_of,
    stack,
    watched,
)
from batchlab.classroom.probes.lesson_08_plans import best_plan, plan_costs, plans
from batchlab.classroom.probes.lesson_08_versions import RIGHT, WRONG

__all__ = [
    "RIGHT",
    "WRONG",
    "Decoder",
    "best_plan",
    "even",
    "fault_of_plan",
    "fault_of_refusal",
    "fault_of_rows",
    "finder",
    "gpt3_pieces",
    "in_order",
    "interleaved",
    "kept_bytes",
    "mistakes",
    "peak_of",
    "plan_costs",
    "plans",
    "refusal",
    "shown",
    "stack",
    "versions",
    "watched",
    "wrong_costs",
    "wrong_gradients",
]

FIXED, PER_ROW = 47, 3  # ms of the finder: an example, no measurement
ROWS = tuple(range(1, 49))
TIMES = (2, 4, 8)
SHARES = {"attention scores only: 1 %": 0.01, "every layer: a third": 1 / 3}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    right = RIGHT[name][0](*case)
    found = rounded(right) | dict(mistakes_of(WRONG[name], *case))
    return {value: why for value, why in found.items() if value != right}


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def wrong_costs(layers: Sequence[Any], segments: Sequence[Any], part: int) -> dict[float, str]:
    """What each wrong version gives for the peak (part 0) or the FLOPs (part 1) of a plan."""
    right = plan_costs(layers, segments)[part]
    found = [
        (value[part], why) for value, why in mistakes_of(WRONG["plan-costs"], layers, segments)
    ]
    return {value: why for value, why in found if value != right}


def wrong_gradients(right: Sequence[float], case: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """What a gradient is after a usual slip, where the slip changes it."""
    before = case.get("before", 0.0)
    twice = "twice the gradient: return it, or add it to .grad, not both"
    if case.get("shared"):
        twice = "twice the gradient: each weight once, although two layers share it"
    known = [
        ([0.0] * len(right), "it is zero: the gradient that arrives was not passed on"),
        ([2 * value for value in right], twice),
    ]
    if before:
        count = 1024 * before  # the first value is the sum of them all
        alone = [right[0] - count, *(value - before for value in right[1:])]
        known.append((alone, "what stood in .grad is lost: gradients add"))
        known.append(
            ([count, *[before] * (len(right) - 1)], "no gradient arrived: .grad is as before")
        )
    return known


def even(layers: int, segments: int) -> list[tuple[int, int]]:
    """Segments as even as they can be; the last is one of the longest.

    >>> even(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = [layers * n // segments for n in range(segments + 1)]
    return list(itertools.pairwise(cuts))


def fault_of_plan(answer: Any, layers: Sequence[Any], budget: float) -> str:
    """What is wrong with a plan for these layers and this budget; empty if nothing is."""
    try:
        segments = [tuple(one) for one in plain.nested(answer)]
    except (plain.NotPlain, TypeError):
        return "asked is a list of pairs (first, end)"
    if any(len(one) != 2 or any(type(n) is not int for n in one) for one in segments):
        return "asked is a list of pairs (first, end) of whole numbers"
    borders = [n for one in segments for n in one]
    outside = any(not 0 <= n <= len(layers) for n in borders)
    if outside or any(first >= end for first, end in segments):
        return "a segment is a run (first, end) of layers that exist, with first < end"
    if borders != sorted(borders):
        return "segments stand in order, and share no layer"
    return _fault_of_costs(segments, layers, budget)


def _fault_of_costs(segments: list[Any], layers: Sequence[Any], budget: float) -> str:
    peak, flops = plan_costs(layers, segments)
    best, least = best_plan(layers, budget)
    if peak > budget:
        inside = {n for first, end in segments for n in range(first, end)}
        held = sum(layers[first][0] for first, _ in segments)
        held += sum(kept for n, (_, kept, _) in enumerate(layers) if n not in inside)
        if held <= budget:
            return f"it needs {peak:g} bytes: a segment comes back whole in its backward pass"
        return f"it needs {peak:g} bytes, the budget is {budget:g}"
    if best is None or flops <= best * (1 + 1e-9):
        return ""
    single = [plan for plan in plans(len(layers)) if all(b - a == 1 for a, b in plan)]
    costs = [plan_costs(layers, plan) for plan in single]
    alone = min((again for bytes_, again in costs if bytes_ <= budget), default=float("inf"))
    why = ""
    if len(layers) == sum(end - first for first, end in segments):
        why = "every layer is recomputed: keep what the budget has room for"
    elif alone > best and all(end - first == 1 for first, end in segments):
        why = "try segments of several pieces, too"
    elif peak == least:
        why = "this plan has the least memory, but the budget has room for less recomputing"
    told = f"it computes {flops:g} FLOPs again, and fewer would do"
    return f"{told}: {why}" if why else told


def fault_of_refusal(said: str, layers: Sequence[Any], budget: float) -> str:
    """What is wrong with the text of an error that names the fewest bytes; empty if nothing is."""
    _, least = best_plan(layers, budget)
    found = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?", said)]
    if any(math.isclose(value, least, rel_tol=1e-9) for value in found):
        return ""
    single, _ = plan_costs(layers, [(n, n + 1) for n in range(len(layers))])
    known = {
        single: "that is every piece a segment of its own: another plan needs less",
        least - budget: "that is what is missing",
        least / 1000: "in bytes",
        math.floor(least): "the bytes may be a fraction: do not round them",
        math.ceil(least): "the bytes may be a fraction: do not round them",
    }
    why = next((thought for value, thought in known.items() if value in found), "")
    asked = "no plan fits: ValueError, naming the fewest bytes that any plan needs"
    return f"{asked}; {why}" if why else asked


def gpt3_pieces(layers: int) -> list[tuple[float, float, float]]:
    """(edge, kept, flops) of layers of GPT-3, each in two pieces; per token and in units of h.

    The piece without the attention core, 28 h bytes, and the core, which keeps its inputs (query,
    key, value: 6 h) and 5 a s bytes of scores: Korthikanti et al. 2023, Eq. 1, with a = 96 heads,
    h = 12,288, s = 2,048. FLOPs: 24 h for the products with weights, 4 s for the scores.
    """
    h, heads, length = 12_288, 96, 2048
    rest = (2.0, 28.0, 24.0 * h)
    core = (6.0, 6.0 + 5 * heads * length / h, 4.0 * length)
    return [piece for _ in range(layers) for piece in (rest, core)]


def interleaved(
    runs: Mapping[Any, Callable[[], object]],
    rounds: int = 7,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Any, float]:
    """Shortest seconds of each run; the runs take turns, so that a busy machine hits all alike.

    `time.process_time` as the clock leaves out what other programs do on these cores.
    """
    taken: dict[Any, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            begin = clock()
            run()
            taken[name].append(clock() - begin)
    return {name: min(some[1:]) for name, some in taken.items()}  # the first one warms up


def _gain(rows: int, times: int, share: float) -> float:
    found: float = RIGHT["gain"][0](FIXED, PER_ROW, rows, rows * times, share)
    return found


def _most_rows(times: int = 4, share: float = 1 / 3) -> int:
    """The most rows of the slider from which `times` as many, recomputed, still are faster."""
    return max((rows for rows in ROWS if _gain(rows, times, share) > 1), default=0)


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows without recomputation"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    right = _most_rows()
    if rows == FIXED // PER_ROW:  # and the answer for twice the rows
        return "fixed and growing time are alike from here on: compare the two bars, at four times"
    if rows == _most_rows(8):
        return "that is the answer for 8 times the rows: asked are four times"
    if rows > right:
        return "from here four times the rows, recomputed, are slower"
    return "recomputing pays, but from more rows it still does" if rows < right else ""


def finder() -> widgets.Explorer:
    """Rows, how many times as many, and what is recomputed; the goal is the break-even."""

    def scene(rows: int, times: int, share: str) -> dict[str, Any]:
        large, again = rows * times, SHARES[share]
        small_ms = (FIXED + PER_ROW * rows) / rows
        plain_ms = (FIXED + PER_ROW * large) / large
        bars = [(FIXED / rows, PER_ROW, 0.0), (FIXED / large, PER_ROW, again * plain_ms)]
        facts = {
            f"{name}: ms a row": f"{ms:.2f}"
            for name, ms in (("without", small_ms), ("recomputed", (1 + again) * plain_ms))
        }
        drawn = [[(kind, round(100 * ms)) for kind, ms in enumerate(bar) if ms] for bar in bars]
        alt = f"{rows} rows take {facts['without: ms a row']} ms a row without recomputation, "
        alt += f"{large} rows {facts['recomputed: ms a row']} ms a row with it."
        return {"facts": facts, "rows": drawn, "alt": alt}

    def found(rows: int, times: int, share: str) -> bool:
        return (rows, times, share) == (_most_rows(), 4, "every layer: a third")

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows without recomputation", list(ROWS)),
        "times": ("times as many rows with it", list(TIMES)),
        "share": ("what is recomputed", list(SHARES)),
    }
    goal = "Every layer, four times the rows: the most rows from which recomputing still pays."
    title = f"A device that takes {FIXED} ms and {PER_ROW} ms a row"
    return widgets.finder(
        title,
        controls,
        scene,
        goal=goal,
        where=found,
        down=lambda bars: f"{bars} ways",
        across=lambda hundredths: f"{hundredths / 100:.2f} ms a row",
    )

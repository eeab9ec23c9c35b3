"""What the doctor found in stacks with a planted cause, as Markdown.

    lines of `benchmarks/stacks.py`  ->  a word for each stack and cause; all numbers of them

Words
    word    both, share, gain or neither: what lay within the doctor's intervals; else its verdict
    gain    measured; on a busy machine in seconds that the process ran, save of plants that wait
    within  the true share lies in the interval, or a hundredth of the time beside it; the interval
            of the gain meets the range that was measured in the turns
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["stack_details", "stack_matrix", "stack_reasons", "stack_summary"]

SLACK = 0.01
WAITS = ("input", "away", "saving", "waiting")  # plants that need no core
NOTHING = "–"
Line = Mapping[str, Any]


def stack_matrix(lines: Iterable[Line], kind: str) -> str:
    """One word for each stack and cause, on a machine of this kind: "quiet" or "busy"."""
    cells = _cells(lines, kind)
    causes = list(dict.fromkeys(cause for _, cause in cells))
    stacks = list(dict.fromkeys(stack for stack, _ in cells))
    rows = [[stack, *(_word(cells.get((stack, cause))) for cause in causes)] for stack in stacks]
    return _markdown(["stack", *causes], rows)


def stack_details(lines: Iterable[Line], kind: str, stack: str) -> str:
    """Share and gain of every cause in one stack: as planted and measured, and as said."""
    rows = [
        [
            cause, line["verdict"], _percent(line["share"]), _span(line, "said"),
            _span(line, _measured(line)), _span(line, "gain"), ", ".join(line["others"]) or NOTHING,
        ]
        for (of, cause), line in _cells(lines, kind).items()
        if of == stack and line["verdict"] != "empty"
    ]  # fmt: skip
    heads = ["planted", "verdict", "share", "said", "gain measured", "predicted", "named beside it"]
    return _markdown(heads, rows)


def stack_summary(lines: Iterable[Line], kind: str) -> str:
    """How many were found, and how often share and gain lay within; machine, versions, date."""
    from batchlab.records import machine

    lines = list(lines)
    found = [line for line in _cells(lines, kind).values() if line["verdict"] != "empty"]
    of = {word: sum(line["verdict"] == word for line in found) for word in
          ("named", "refused", "open", "overlooked")}  # fmt: skip
    shares = [_share_within(line) for line in found if "said_low" in line]
    gains = [line for line in found if "gain_low" in line]
    inside = sum(line["gain_low"] <= line[_measured(line)] <= line["gain_high"] for line in gains)
    runs = [one for one in lines if one["kind"] == "stack_run" and one["machine"] == kind]
    if not runs:
        return f"Not measured on a {kind} machine yet."
    about = runs[-1]["environment"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    core = [100 * one["core"] for one in runs]
    turns = " to ".join(map(str, sorted({one["rounds"] for one in runs})))
    return (
        f"{len(found)} planted causes, turns of each: {turns}; {of['named']} named, "
        f"{of['refused']} named without a gain, {of['open']} left to an experiment, "
        f"{of['overlooked']} overlooked. The share lies within in {sum(shares)} of {len(shares)}, "
        f"the gain in {sum(map(_gain_within, gains))} of {len(gains)}, the mean of the turns itself"
        f" in {inside}. {machine(about)}, {about['cores']} cores, of which a process that never "
        f"waits got {min(core):.0f} to {max(core):.0f} %; Python {about['python']}, {versions}."
    )


def stack_reasons(lines: Iterable[Line], kind: str) -> str:
    """Why cells are empty: each reason with where it holds."""
    found: dict[str, list[str]] = {}
    for (stack, cause), line in _cells(lines, kind).items():
        if line["verdict"] == "empty":
            found.setdefault(f"{cause}: {line['because']}", []).append(stack)
    return "\n".join(f"- {reason} ({', '.join(stacks)})" for reason, stacks in found.items())


def _cells(lines: Iterable[Line], kind: str) -> dict[tuple[str, str], Line]:
    return {
        (line["stack"], line["cause"]): line
        for line in lines
        if line["kind"] == "stack_cell" and line["machine"] == kind
    }


def _word(line: Line | None) -> str:
    if line is None or line["verdict"] == "empty":
        return NOTHING
    if line["verdict"] != "named":
        return str(line["verdict"])
    words = {(True, True): "**both**", (True, False): "share", (False, True): "gain"}
    return words.get((_share_within(line), _gain_within(line)), "neither")


def _share_within(line: Line) -> bool:
    if "said_low" not in line:
        return False
    return bool(line["said_low"] - SLACK <= line["share"] <= line["said_high"] + SLACK)


def _gain_within(line: Line) -> bool:
    if "gain_low" not in line:
        return False
    low, high = line["gain_low"], line["gain_high"]
    name = _measured(line)
    return bool(low <= line[f"{name}_high"] and line[f"{name}_low"] <= high)


def _measured(line: Line) -> str:
    """Where the measured gain stands: others' turns make wall seconds a matter of luck."""
    busy = line["machine"] == "busy" and line["cause"] not in WAITS
    return "worked" if busy else "achieved"


def _span(line: Line, name: str) -> str:
    """A number with its interval, in per cent."""
    if name not in line:
        return NOTHING
    if f"{name}_low" not in line:
        return _percent(line[name])
    low, high = 100 * line[f"{name}_low"], 100 * line[f"{name}_high"]
    return f"{_percent(line[name])} ({low:.0f} to {high:.0f})"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _markdown(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

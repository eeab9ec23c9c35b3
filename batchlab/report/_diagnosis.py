"""A diagnosis on one screen: what the step is made of, how sure that is, and what to do.

Diagnosis  ->  text
"""

from typing import TYPE_CHECKING

from batchlab import units
from batchlab.report._tables import table

if TYPE_CHECKING:
    from batchlab.doctor import Cause, Diagnosis, Experiment, Interval, Part

UNEXPLAINED = 0.2  # of the step; a larger rest makes a diagnosis doubtful
WORK = ("padding", "across", "recomputation", "launch")
BUSY = 0.05  # of the step: a smaller load is not worth a word
SHOWN = 0.0005  # of the step; a smaller part has no line

__all__ = ["diagnosis_text"]


def diagnosis_text(diagnosis: "Diagnosis", *, records: str = "run.jsonl") -> str:
    """A diagnosis as a table of parts, the causes in words, and the experiment that is missing.

    `records` is the file that the experiment is to write to.
    """
    subject, total = diagnosis.subject, diagnosis.step_seconds
    rows = [_row(part, total) for part in diagnosis.parts if abs(part.seconds) >= SHOWN * total]
    rows.append(["measured step", units.duration(total), _span(diagnosis.step_interval),
                 units.share(1.0), ""])  # fmt: skip
    head = f"rows {subject.rows}, {subject.layout}"
    if diagnosis.baseline.rows != subject.rows and diagnosis.speedup is not None:
        rows_before = diagnosis.baseline.rows
        head += f": {diagnosis.speedup:.2f} x the useful tokens/s of rows {rows_before}"
    interval = f"{100 * diagnosis.coverage:.0f} % interval"
    headers = ["part of one step", "seconds", interval, "share", "how known"]
    least, launches = (f"{100 * diagnosis.bars[name]:.0f} %" for name in ("padding", "launch"))
    why = f"Why (named if the low end of its interval is {least} of the step, launch {launches}):"
    blocks = [
        "\n".join([head, *_counted(diagnosis)]),
        table(headers, rows, align="lrrrl"),
        *_hidden(diagnosis),
        "\n".join([why, *_causes(diagnosis)]),
        *_caution(diagnosis.unexplained_seconds / total),
        *_experiment(diagnosis.experiment, records),
    ]
    return "\n\n".join(blocks)


def _row(part: "Part", total: float) -> list[str]:
    seconds, share = units.duration(part.seconds), units.share(part.share_of(total))
    return [part.name, seconds, _span(part.interval), share, part.source]


def _span(interval: "Interval | None") -> str:
    if interval is None:
        return ""
    low, high = units.duration(interval.low), units.duration(interval.high)
    if low.split()[-1] == high.split()[-1]:
        low = low.split()[0]
    return f"{low} to {high}"


def _counted(diagnosis: "Diagnosis") -> list[str]:
    """What needs no price: tokens, padding, the steps that stalled, time between steps."""
    cell, steps = diagnosis.subject, diagnosis.steps
    pairs = 1 - cell.real_pairs / cell.slot_pairs if cell.slot_pairs else 0.0
    rate = units.count(cell.real_tokens / cell.seconds * len(cell.ranks))
    wasted = "padding" if cell.layout != "packed" else "tails; across documents"
    lines = [
        f"{rate} useful tokens/s; {wasted}: {units.share(cell.waste)} of the slots, "
        f"{units.share(pairs)} of the attention pairs"
    ]
    if steps:
        least, most = units.duration(steps.shortest_seconds), units.duration(steps.longest_seconds)
        stalls = "none stalled"
        if steps.stalled:
            lost = units.duration(steps.stalled_seconds)
            stalls = f"{len(steps.stalled)} stalled (over twice as long as its size asks): {lost}"
        lines.append(f"{steps.number} steps, {least} to {most} each; {stalls}")
    if cell.more.get("documents_mixed"):
        lines.append(
            "the documents of a row see each other: give no attention mask, position_ids that "
            "restart, and use_cache=False"
        )
    if cell.outside_seconds:
        share = units.share(cell.outside_seconds / (cell.outside_seconds + cell.seconds))
        between = units.duration(cell.outside_seconds)
        lines.append(f"between the steps, evaluation and saving: {between}, {share} of the run")
    return [*lines, *_world(diagnosis)]


def _world(diagnosis: "Diagnosis") -> list[str]:
    """Whose steps these are among several ranks, and which one comes last."""
    ranks, size, last = diagnosis.subject.ranks, diagnosis.subject.world_size, diagnosis.straggler
    if size == 1:
        return []
    if len(ranks) < size:
        named = ", ".join(map(str, ranks))
        return [
            f"rank {named} of {size} only: give the files of all ranks to see who waits for whom"
        ]
    lines = [f"{size} ranks together: seconds of a mean rank, tokens/s of all"]
    if last:
        lines.append(
            f"rank {last.rank} comes last in {units.share(last.share)} of the steps: the others "
            f"wait {units.duration(last.seconds)} a step for it"
        )
    return lines


def _hidden(diagnosis: "Diagnosis") -> list[str]:
    """Bounds on what a line of several reasons hides."""
    if not diagnosis.bounds:
        return []
    total, cell = diagnosis.step_seconds, diagnosis.subject
    rows = [
        [part.name, units.duration(part.interval.low), units.duration(part.interval.high),
         f"{units.share(part.interval.low / total)} to {units.share(part.interval.high / total)}"]
        for part in diagnosis.bounds
        if part.interval
    ]  # fmt: skip
    sizes = f"{diagnosis.sizes} size{'s' * (diagnosis.sizes != 1)} of micro-batch"
    text = f"Measured with {sizes}, which cannot tell apart what is inside:\n\n"
    text += table(["inside it", "at least", "at most", "share of the step"], rows, align="lrrr")
    if any(part.cause == "padding" for part in diagnosis.bounds):
        pairs = units.share(1 - cell.real_pairs / max(cell.slot_pairs, 1))
        text += (
            f"\n\nOf what is not fixed cost, padding is {units.share(cell.waste)} (its share of "
            f"slots) to {pairs} (of pairs)."
        )
    return [text]


def _causes(diagnosis: "Diagnosis") -> list[str]:
    away = diagnosis.of_cause("away").seconds / diagnosis.step_seconds
    lines = [f"  {cause.name}: {cause.advice}{_gain(cause, away)}" for cause in diagnosis.causes]
    if diagnosis.possible:
        total = diagnosis.step_seconds
        open_ones = ", ".join(
            f"{part.cause} ({units.share(part.interval.low / total)} to "
            f"{units.share(part.interval.high / total)})"
            for part in diagnosis.possible
            if part.interval
        )
        lines.append(f"  not certain yet: {open_ones}")
    return lines or ["  no cause stands out: nothing that a change could remove is that large"]


def _gain(cause: "Cause", away: float) -> str:
    """The gain with its interval; of work, while others had the processor, in CPU time."""
    if cause.refused:
        return f"\n    no gain is told: {cause.refused}"
    if not cause.gain:
        return ""
    between = ""
    if cause.interval:
        between = f", {100 * cause.interval.low:.0f} to {100 * cause.interval.high:.0f} %"
    told = f"\n    predicted gain {100 * cause.gain:.0f} %{between}"
    if cause.name in WORK and away >= BUSY:
        told += f"; load goes with the work (the process did not run for {units.share(away)})"
    return told


def _caution(unexplained_share: float) -> list[str]:
    """A diagnosis that leaves much unexplained says so before anybody acts on it."""
    if abs(unexplained_share) < UNEXPLAINED:
        return []
    return [
        f"Be careful: {units.share(unexplained_share)} of this step is unexplained. Measure again "
        "on a quiet machine, with more steps, before you change anything."
    ]


def _experiment(one: "Experiment | None", records: str) -> list[str]:
    if one is None:
        return []
    text = f"To tell: {one.text}, into the same file: about {units.duration(one.seconds)}."
    if one.probe:
        call = one.probe.replace("RECORDS", f'"{records}"')
        seconds = units.duration(one.probe_seconds)
        text += f"\nOr let the loop do it by itself, about {seconds}: {call}"
    return [text]

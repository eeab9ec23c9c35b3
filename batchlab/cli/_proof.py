"""What `batchlab train --verify` shows: the folder of a run, read again.

folder  ->  a table of what was looked at; exit code 1 if anything is wrong
"""

import math
from pathlib import Path
from typing import Any

from batchlab import records, report
from batchlab.cli._answer import Answer

__all__ = ["fault_of_records", "proof"]


def proof(folder: Path) -> Answer:
    """Hold curve, checkpoints and monitor records against one another."""
    from batchlab.cluster import training

    looks = training.verify(folder)
    rows = [[one.what, one.fault or one.found] for one in looks]
    lines = training.curve(folder) if not looks[-1].fault else []
    faults = [one.fault for one in looks if one.fault]
    files = [path for path in records.files_of(folder / "monitor.jsonl") if path.exists()]
    absent = [one for one, there in (("model", (folder / "model").is_dir()), ("monitor", files))
              if not there]  # fmt: skip
    if lines:
        wrong = fault_of_records(lines, files, training.is_done(folder)) if files else None
        agrees = "the last life agrees with the curve" if wrong == "" else "no life to compare"
        rows.append([f"monitor, {len(files)} files", wrong or agrees])
        faults += [wrong] if wrong else []
    last = lines[-1] if lines else {"step": 0, "tokens": 0}
    text = report.table(["looked at", "found"], rows)
    said = (
        f"{last['step']:,} steps, {last['tokens']:,} target tokens"
        if lines
        else "its curve proves nothing"
    )
    some = "1 is" if len(faults) == 1 else f"{len(faults)} are"
    ends = f"of {len(rows)}, {some} wrong or cannot be read" if faults else "nothing is wrong"
    ends += f"; not here: {', '.join(absent)}" if absent else ""
    others = training.others(folder)
    ends += f"; not looked at, as no run wrote it: {', '.join(others)}" if others else ""
    data = {"run": str(folder), "last": last, "faults": faults, "not_looked_at": others}
    return Answer(data, f"{folder}: {said}; {ends}\n\n{text}", code=1 if faults else 0)


def fault_of_records(
    lines: list[dict[str, Any]], files: list[Path], done: bool = False
) -> str | None:
    """What is wrong with the records of the last life; "" if nothing is, None if nobody can tell.

    As many target tokens must stand in as many steps somewhere in the curve, and no step of the
    life may lie between two records. Of a life that was killed the ranks may have written unequally
    often: what all of them wrote is compared, up to the end of the curve, which hears of a step
    after them. The optimizer does not hear of a step that is skipped: its tokens stand with those
    of the next. Of a run that is done the records reach the last step, but for a last life of one
    step behind a checkpoint: nothing is recorded of fewer than two.
    """
    try:
        last = _last_life(files, len(lines))
    except ValueError as error:
        return str(error)
    world = next((cells[0].world_size for cells in last.values() if cells), None)
    if not all(last.values()) or len(last) != world:
        here = ", ".join(path.name for path in last)
        gone = all(last.values()) and done and world and len(last) < world
        return f"{here} of {world} processes: others are gone" if gone else None
    shared = list(zip(*last.values(), strict=False))
    begun = int(shared[0][0].more.get("step_before", 0))
    heard = begun + sum(1 for line in lines[begun:] if not line.get("skipped"))
    alone = any("held_out" in line for line in lines[-2:-1])  # a life may have been of one step
    for path, cells in last.items():
        if missing := _gap(cells):
            return f"{path}: {missing}"
        if fault := _of_others(lines, begun, cells):
            return f"{path} {fault}"
    if done and 0 < (end := _step(shared[-1][0])) < heard - alone:
        short = min(last, key=lambda path: len(last[path]))
        return f"{short} ends at step {end:,}, and the run at {len(lines):,}"
    steps = sum(cells[0].steps for cells in shared)
    counted = [cell.counts.target_tokens for cells in shared for cell in cells]
    if None in counted:  # fillers stood where the pieces did not go round
        return ""
    tokens = sum(one or 0 for one in counted)
    counts = [0, *(line["tokens"] for line in lines if not line.get("skipped"))]
    if any(late - early == tokens for early, late in zip(counts, counts[steps:], strict=False)):
        return ""
    return f"{tokens:,} target tokens in {steps:,} steps: no {steps:,} steps of the curve have them"


def _last_life(files: list[Path], steps: int) -> dict[Path, list[records.Cell]]:
    """What the processes of the last life wrote, up to a step; more processes may have been before.

    Their files come in the order of ranks, so that the first says how many there are.
    """
    found, world = {}, math.inf
    for path in files:
        cells = records.read(path).cells()
        life = [one for one in cells if one.run == cells[-1].run and _step(one) <= steps]
        world = min(world, life[0].world_size or math.inf) if life else world
        if not life or min(life[0].ranks) < world:
            found[path] = life
    return found


def _of_others(lines: list[dict[str, Any]], begun: int, cells: list[records.Cell]) -> str:
    """Where the losses of a life are not those of the curve; steps that are skipped count in one of
    both alone, so that nothing is said behind them. Records hold seven digits of a loss.
    """
    if any(line.get("skipped") for line in lines[begun:]):
        return ""
    for cell in cells:
        signals: Any = cell.more.get("signals") or {}
        for step, loss in signals.get("loss", ()):
            for line in lines[begun + step - 1 :][:1]:
                if not math.isclose(loss, told := line.get("loss") or 0.0, rel_tol=1e-5):
                    at = f"in step {line['step']:,}"
                    return f"is of another run: loss {loss:.7g} {at}, and {told:.7g} in the curve"
    return ""


def _gap(cells: list[records.Cell]) -> str:
    """Where the records of a life leave steps out; each says how many it holds, and its last."""
    at = 0
    for one in cells:
        until, holds = one.more.get("last_step"), one.steps + one.warmup_steps
        if isinstance(until, int) and until < at + holds:
            return f"its steps {until - holds + 1:,} to {until:,} stand twice"
        if isinstance(until, int) and until != at + holds:
            return f"no record of the life holds its steps {at + 1:,} to {until - holds:,}"
        at = until if isinstance(until, int) else at + holds
    return ""


def _step(cell: records.Cell) -> int:
    """The last step of the run that a record holds; 0 if it does not say."""
    told = (cell.more.get(name) for name in ("step_before", "last_step"))
    return sum(one for one in told if isinstance(one, int))

"""The numbers of a record under names that do not change, for the tools that draw them.

Cell  ->  {"batchlab/waste": 0.61, ...}
"""

from batchlab.records import Cell

__all__ = ["metrics"]


def metrics(cell: Cell) -> dict[str, float]:
    """The mean step of a cell; what it does not know has no name in it.

    batchlab/useful_tokens_per_second   real tokens, of all replicas
    batchlab/waste                      padding slots / slots
    batchlab/sequences_per_step         the effective batch, of all replicas;
    batchlab/slots_per_step             likewise
    batchlab/targets_per_step           likewise
    batchlab/step_seconds
    batchlab/loss                       mean of the steps whose loss was heard
    batchlab/gradient_norm              mean of the steps whose norm was taken
    batchlab/held_out                   loss of evaluations that the loop logs
    batchlab/seconds/input              seconds of a step in each of its parts: input, optimizer,
                                        host, communication, away, generation, scoring, waiting,
                                        forward, backward
    batchlab/peak_bytes                 of a GPU since the start; reserved_bytes, resident_bytes

    One rank speaks for all: its counts are taken times the replicas.
    """
    replicas, steps = cell.data_parallel or 1, cell.steps
    found = {
        "useful_tokens_per_second": cell.real_tokens / cell.seconds * replicas,
        "waste": cell.waste,
        "sequences_per_step": cell.rows * cell.micro_batches / steps * replicas,
        "slots_per_step": cell.slots / steps * replicas,
        "step_seconds": cell.mean_step_seconds,
    }
    if cell.counts.target_tokens is not None:
        found["targets_per_step"] = cell.counts.target_tokens / steps * replicas
    spent = {name: getattr(cell.parts, f"{name}_seconds") for name, _ in cell.parts.items()}
    spent |= {"forward": cell.forward_seconds, "backward": cell.backward_seconds}
    found |= {f"seconds/{name}": one / steps for name, one in spent.items() if one is not None}
    signals = cell.more.get("signals")
    for name, pairs in signals.items() if isinstance(signals, dict) else ():
        if pairs:
            found[name] = sum(value for _, value in pairs) / len(pairs)
    sizes = {name: cell.more.get(name) for name in ("reserved_bytes", "resident_bytes")}
    for name, size in ({"peak_bytes": cell.peak_bytes} | sizes).items():
        if isinstance(size, int):
            found[name] = size
    return {f"batchlab/{name}": float(value) for name, value in found.items()}

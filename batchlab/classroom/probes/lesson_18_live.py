"""The run that lesson 18 plans: the library's piece for each of the learner's, and one page of it.

    documents, plan  ->  a trainer's parts, what was counted, a page to print

Every piece has the signature that its own lesson asks for, and a test that a kept one must pass.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import counts, loop, model, plan, report, units
from batchlab.memory import fit

__all__ = [
    "counted",
    "groups",
    "guard",
    "guards",
    "lay_out",
    "lays_out",
    "of_rows",
    "page",
    "steps_once",
    "take_step",
    "windows",
    "write_page",
]

IGNORE = counts.IGNORE
NAMES = ("input_ids", "position_ids", "labels")
Row = Mapping[str, Any]


def lay_out(documents: Sequence[Sequence[int]], row_length: int) -> dict[str, list[int]]:
    """Lesson 04's row: documents one after the other, then the tail, each with its own positions.

    >>> lay_out([[5, 6], [7]], 4)["position_ids"]
    [0, 1, 0, 0]
    """
    row: dict[str, list[int]] = {name: [] for name in NAMES}
    for tokens in documents:
        row["input_ids"] += tokens
        row["position_ids"] += range(len(tokens))
        row["labels"] += [IGNORE, *tokens[1:]]
    left = row_length - len(row["input_ids"])
    row["input_ids"] += [0] * left
    row["position_ids"] += range(left)
    row["labels"] += [IGNORE] * left
    return row


def lays_out(yours: Callable[..., Row]) -> bool:
    """Whether a learner's row keeps tokens, positions and labels where the library has them."""
    given = [[5, 6, 7], [8, 9]]
    found, right = yours([list(one) for one in given], 7), lay_out(given, 7)
    return all(
        [int(n) for n in found[name]][:5] == right[name][:5] and len(found[name]) == 7
        for name in NAMES
    )


def of_rows(rows: Sequence[Row]) -> dict[str, Tensor]:
    """Rows that are laid out, as one micro-batch."""
    return {
        name: torch.stack([torch.as_tensor(row[name], dtype=torch.int64) for row in rows])
        for name in NAMES
    }


def windows(micro_batches: Sequence[Any], accumulation: int) -> list[list[Any]]:
    """Lesson 05's windows: groups of `accumulation`, the last maybe shorter."""
    every = list(micro_batches)
    return [every[at : at + accumulation] for at in range(0, len(every), accumulation)]


def groups(yours: Callable[..., Any]) -> bool:
    """Whether a learner's windows lose nothing."""
    return [list(one) for one in yours([1, 2, 3], 2)] == [[1, 2], [3]]


def take_step(
    network: nn.Module, optimizer: Any, schedule: Any, micro_batches: Any, max_norm: float
) -> float:
    """Lesson 05's step, by the library."""
    done = loop.train_step(network, optimizer, micro_batches, max_grad_norm=max_norm)
    schedule.step()
    return done.loss


def steps_once(yours: Callable[..., Any]) -> bool:
    """Whether a learner's step of two unequal micro-batches ends where the library's does."""
    rows = [of_rows([lay_out([[1, 2, 3, 4]], 6)]), of_rows([lay_out([[5, 6]], 6)])]
    ends = []
    for step in (yours, take_step):
        network = model.small(16, layers=1, hidden=16, heads=2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda number: 1.0)
        step(network, optimizer, schedule, rows, 1.0)
        ends.append(torch.cat([one.detach().flatten() for one in network.parameters()]))
    return bool(torch.allclose(ends[0], ends[1], rtol=1e-4, atol=1e-6))


def guard(
    step: Callable[[Any], Any], documents: Sequence[Any], sequences: int, most: int
) -> tuple[int, int]:
    """Lesson 07's guard, by the library, for documents of one length: rows and accumulation."""

    def of_lists(micro_batches: Sequence[Row]) -> None:
        step([[row.tolist() for row in one["input_ids"]] for one in micro_batches])

    longest = max(len(one) for one in documents)
    keep = plan.Plan(rows=sequences, accumulation=1, data_parallel=1, length=longest)
    found = fit.find_rows(of_lists, documents, keep=keep)
    return found.rows, found.accumulation


def guards(yours: Callable[..., Any]) -> bool:
    """Whether a learner's guard finds 3 rows on a device that holds 10 tokens."""

    def step(micro_batches: Any) -> None:
        if max(sum(map(len, micro)) for micro in micro_batches) > 10:
            raise torch.OutOfMemoryError("out of memory")

    return tuple(yours(step, [[1] * 3] * 6, 6, 6)) == (3, 2)


def counted(
    documents: Sequence[Sequence[int]], rows: Sequence[Sequence[int]], sequences: int
) -> list[tuple[int, int]]:
    """(real tokens, targets) of each step, counted in the tensors that the model would get."""
    longest = max(sum(len(documents[n]) for n in row) for row in rows)
    found = []
    for part in windows(rows, sequences):
        laid = of_rows([lay_out([list(documents[n]) for n in row], longest + 1) for row in part])
        real = sum(len(documents[n]) for row in part for n in row)
        found.append((real, int(counts.target_tokens(laid["labels"]))))
    return found


def page(title: str, planned: Mapping[str, Any], checked: Sequence[tuple[str, Any, Any]]) -> str:
    """One page of text: the plan, then (what, promised, measured) with what each is off by."""
    lines = [[name, _shown(name, value)] for name, value in planned.items()]
    compared = [
        [what, _shown(what, promised), _shown(what, got), _off(promised, got)]
        for what, promised, got in checked
    ]
    return "\n".join(
        [
            title,
            "=" * len(title),
            "",
            report.table(["the plan", ""], lines, align="lr"),
            "",
            report.table(
                ["", "promised", "measured", "measured / promised"], compared, align="lrrr"
            ),
        ]
    )


def write_page(path: str | Path, text: str, *figures: Any) -> None:
    """The page and its figures as one HTML file, for the printer of any browser."""
    drawn = "".join(f"<p>{figure._repr_html_()}</p>" for figure in figures)
    style = "<style>body{max-width:45em;margin:2em auto}img,svg{max-width:100%}</style>"
    body = f"<!doctype html><meta charset='utf-8'>{style}<pre>{html.escape(text)}</pre>{drawn}"
    Path(path).write_text(body, encoding="utf-8")
    print(f"Written: {path}")


def _shown(name: str, value: Any) -> str:
    if isinstance(value, tuple | list):
        return " to ".join(_shown(name, one) for one in value)
    if name.startswith("bytes"):
        return units.size(int(value))
    if name.startswith("seconds"):
        return units.duration(float(value))
    if name.startswith("hours"):
        return units.duration(3600 * float(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _off(promised: Any, got: Any) -> str:
    if isinstance(promised, tuple | list):
        return "inside" if promised[0] <= got <= promised[1] else "outside"
    return f"{got / promised:.3g}"

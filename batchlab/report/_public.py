"""Tables of public runs: a row says whose it is, and the notice belongs to the table.

rows and what is said of each  ->  text, or HTML
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from batchlab.report._tables import table

if TYPE_CHECKING:
    from batchlab.records import Credit, PublicRuns, Reference, Submission

__all__ = ["PublicTable", "public_table"]


@dataclass(frozen=True)
class PublicTable:
    """A table with its notice: printed as text, shown as HTML."""

    headers: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    credit: "Credit"

    def __str__(self) -> str:
        return f"{table(self.headers, self.lines)}\n\n{self.credit.notice}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(one)}</th>" for one in self.headers)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(one)}</td>" for one in line) + "</tr>"
            for line in self.lines
        )
        return (
            f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f"{self.credit.html}"
        )


def public_table(
    record: "PublicRuns",
    lines: "Iterable[tuple[Submission | Sequence[Reference], Sequence[Any]]]",
    headers: Sequence[str],
) -> PublicTable:
    """Return lines of public rows: whose each is, then what is said of it.

    A line is of one submission, or of the references of one fit; `headers` name what follows.

    >>> from batchlab.records import public_runs
    >>> found = public_runs(benchmark="llama31_8b", device="H100")
    >>> shown = public_table(found, [(found.submissions[1], ["45.4"])], ["minutes"])
    >>> print(str(shown).splitlines()[2])
    Cisco, hpf_n8, llama31_8b v5.1 Closed, 64 H100     45.4
    """
    made: list[tuple[str, ...]] = []
    from batchlab.records import Submission

    rows: list[Submission | Reference] = []
    for whose, said in lines:
        some = [whose] if isinstance(whose, Submission) else list(whose)
        rows += some
        one = some[0]
        name = (
            one.label
            if isinstance(one, Submission)
            else f"{one.benchmark} reference points, {len(some)} seeds"
        )
        made.append((name, *map(str, said)))
    return PublicTable(("public runs", *headers), tuple(made), record.credit(rows))

"""Figures of many devices and of serving: who waits for whom, and latency against rate.

timeline of a world, rows of a simulation  ->  Picture
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batchlab import units
from batchlab.plots._canvas import (
    COLOURS,
    FAINT,
    MARKERS,
    STYLES,
    Picture,
    blank,
    headline,
    second_unit,
    told,
)

if TYPE_CHECKING:
    from batchlab.cluster.ranks import World

__all__ = ["served", "world"]

LOOKS = {"compute": (COLOURS[0], ""), "send": (COLOURS[1], "///"), "receive": (COLOURS[4], "...")}


def world(ran: "World", *, title: str = "What each rank does, and waits for") -> Picture:
    """A bar for every stretch of every rank's clock; white is waiting.

    A rank that sends and receives at once shows both, one over the other.
    """
    factor, unit = second_unit(ran.makespan)
    ranks = len(ran.results)
    figure, axes = blank(7, 1.1 + 0.4 * ranks)
    for event in ran.timeline:
        colour, hatch = LOOKS[event.kind]
        low = {"compute": -0.36, "send": -0.36, "receive": 0.0}[event.kind]
        axes.broken_barh(
            [(event.start / factor, (event.end - event.start) / factor)],
            (event.rank + low, 0.72 if event.kind == "compute" else 0.36),
            facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0.4,
        )  # fmt: skip
    for kind in dict.fromkeys(event.kind for event in ran.timeline):
        colour, hatch = LOOKS[kind]
        axes.bar([0], [0], color=colour, hatch=hatch, edgecolor="white", label=kind)
    axes.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_xlim(0, ran.makespan / factor or 1)
    if ran.timeline:
        axes.legend(fontsize=9, frameon=False, labelcolor=FAINT, ncols=3, loc="lower right",
                    bbox_to_anchor=(1, 1))  # fmt: skip
    headline(axes, title)
    waits = [1 - _busy(ran, rank) / (ran.makespan or 1) for rank in range(ranks)]
    text = ", ".join(f"rank {rank} waits {units.share(w)}" for rank, w in enumerate(waits))
    return told(figure, f"{title}: {units.duration(ran.makespan)} in all; {text}.")


def served(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str = "Wait of 99 in 100 requests for their first token",
) -> Picture:
    """Wait for the first token against the rate of requests; hollow where the queue grows.

    rows  mappings with policy, rate, first_token_p99_seconds and overloaded
    """
    figure, axes = blank(7, 4.2)
    said = []
    for i, policy in enumerate(dict.fromkeys(one["policy"] for one in rows)):
        mine = sorted((one for one in rows if one["policy"] == policy), key=lambda one: one["rate"])
        rates = [one["rate"] for one in mine]
        late = [one["first_token_p99_seconds"] for one in mine]
        axes.plot(rates, late, STYLES[i], color=COLOURS[i], linewidth=1.8, label=policy)
        for one, rate, seconds in zip(mine, rates, late, strict=True):
            axes.plot(
                rate, seconds, MARKERS[i], color=COLOURS[i], markersize=7,
                markerfacecolor="white" if one["overloaded"] else COLOURS[i],
            )  # fmt: skip
        said.append(f"{policy} {', '.join(units.duration(seconds) for seconds in late)}")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda seconds, _: units.duration(seconds))
    axes.yaxis.set_minor_formatter("")
    axes.set_xlabel("requests per second")
    axes.set_ylabel("99th percentile")
    axes.legend(fontsize=9, frameon=False, labelcolor=FAINT, loc="center left")
    headline(axes, title)
    return told(figure, f"{title}: {'; '.join(said)}.")


def _busy(ran: "World", rank: int) -> float:
    """Seconds in which a rank computes or talks, each counted once."""
    spans = sorted((event.start, event.end) for event in ran.timeline if event.rank == rank)
    busy = reached = 0.0
    for start, end in spans:
        busy += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return busy

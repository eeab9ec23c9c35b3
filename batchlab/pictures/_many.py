"""Several devices, and several requests: what travels, who waits.

ranks, requests  ->  Steps
"""

from collections.abc import Callable, Sequence

from batchlab import cluster, serving
from batchlab.pictures._steps import WIDE, Drawing, Steps
from batchlab.serving import Scheduler, Step

__all__ = ["requests", "ring"]

HIGH, ROOM, MOMENTS = 22, 2**40, 8


def ring(ranks: int) -> Steps:
    """An all-reduce over a ring: pieces are summed once around, then handed around once more."""
    if not 2 <= ranks <= 8:
        raise ValueError(f"2 to 8 ranks can be drawn, got {ranks}")
    sums = [[1] * ranks for _ in range(ranks)]  # how many ranks' numbers are in a rank's piece
    frames = [(_pieces(sums, []), (
        f"Each of {ranks} ranks has its own gradient, cut into {ranks} pieces. "
        f"The number says of how many ranks a piece is the sum."
    ))]  # fmt: skip
    passes = ranks - 1
    for turn in range(2 * passes):
        adds = turn < passes
        moved = [(rank, (rank - turn + (0 if adds else passes + 1)) % ranks)
                 for rank in range(ranks)]  # fmt: skip
        before = [line.copy() for line in sums]
        for rank, piece in moved:
            to = (rank + 1) % ranks
            sums[to][piece] = before[to][piece] + before[rank][piece] if adds else ranks
        verb = "adds it to its own" if adds else "takes it over: it is a whole sum"
        arrived = [((rank + 1) % ranks, piece) for rank, piece in moved]
        said = f"Turn {turn + 1}: every rank sends one piece to its neighbour, which {verb}."
        frames.append((_pieces(sums, arrived), said))
    sent = cluster.all_reduce(ranks * 1000, ranks).rank_bytes / (ranks * 1000)
    end = (
        f" Each rank has sent {sent:.3g} times its gradient, however many ranks there are: under 2."
    )
    frames[-1] = frames[-1][0], frames[-1][1] + end
    return Steps("All-reduce over a ring", frames)


def _pieces(sums: Sequence[Sequence[int]], arrived: Sequence[tuple[int, int]]) -> Drawing:
    ranks = len(sums)
    drawing, wide = Drawing(ranks * (HIGH + 6) + 4), (WIDE - 60) / ranks
    for rank, line in enumerate(sums):
        y = rank * (HIGH + 6) + 2
        drawing.text(0, y + 15, f"rank {rank}")
        for piece, count in enumerate(line):
            kind = "optimizer" if count == ranks else "useful"
            kind = "sent" if (rank, piece) in arrived else kind
            drawing.box(60 + piece * wide, y, wide - 2, HIGH, kind, count)
    return drawing


def requests(outputs: Sequence[int], rows: int) -> Steps:
    """The same requests decoded in fixed groups, and again as rows become free: pass by pass."""
    played = {}
    for policy in ("static", "continuous"):
        taken: list[Step] = []
        trace = serving.at_once([1] * len(outputs), list(outputs))
        found = serving.play(trace, Scheduler(policy, rows, ROOM, 512), _noting(taken))
        played[policy] = [one for one in taken if one.rows], found
    longest = max(len(taken) for taken, _ in played.values())
    frames = []
    for end in sorted({-(-longest * part // MOMENTS) for part in range(1, MOMENTS + 1)}):
        drawing, told = Drawing(2 * (rows * HIGH + 26)), []
        for place, (policy, (taken, _)) in enumerate(played.items()):
            _passes(drawing, place * (rows * HIGH + 26), policy, taken[:end], rows, longest)
            idle = sum(len(one.idle) for one in taken[:end])
            told.append(f"{policy} has wasted {idle} of {sum(one.rows for one in taken[:end])}")
        frames.append((drawing, f"Pass {end}: of the rows computed, {', '.join(told)}."))
    ends = " and ".join(f"{len(taken)} ({policy})" for policy, (taken, _) in played.items())
    frames[-1] = frames[-1][0], f"{frames[-1][1]} Decoding passes in all: {ends}."
    return Steps(f"{len(outputs)} requests in {rows} rows", frames)


def _noting(taken: list[Step]) -> Callable[[Step], float]:
    def execute(step: Step) -> float:
        taken.append(step)
        return 1.0

    return execute


def _passes(
    drawing: Drawing, top: float, policy: str, taken: Sequence[Step], rows: int, longest: int
) -> None:
    drawing.text(0, top + 12, policy)
    wide = WIDE / longest
    for number, step in enumerate(taken):
        for kinds, ones in (("useful", step.decoding), ("waiting", step.idle)):
            for one in ones:
                kind = "other" if kinds == "useful" and one.request % 2 else kinds
                words = one.request + 1 if wide > 15 else ""
                drawing.box(number * wide, top + 18 + one.row * HIGH, wide - 1, HIGH - 2, kind,
                            words)  # fmt: skip

"""A profiler's trace: for how long nothing ran, though kernels overlap."""

from batchlab.exercises import Exercise


def trace_gaps(kernels):
    """Seconds between the first start and the last end in which no kernel ran."""
    kernels = sorted(kernels)
    waited, busy_until = 0.0, kernels[0][0]
    for start, end in kernels:
        waited += max(0, start - busy_until)
        busy_until = max(busy_until, end)
    return waited


def drawn(rng):
    for n in range(16):
        starts = rng.uniform(0, 20, int(rng.integers(1, 12))) + (n % 4) * 5
        lengths = rng.uniform(0.1, 4, len(starts))
        yield ([(float(a), float(a + b)) for a, b in zip(starts, lengths)],)
    yield ([(float(n), n + 0.5) for n in rng.permutation(3000).tolist()],)


exercise = Exercise(
    trace_gaps,
    points=2,
    hints=(
        "sort by start, and walk through the trace once",
        "remember until when something has been running: the latest end so far",
        "a gap is start - latest end so far, where that is above 0",
    ),
    asked=lambda kernels: (
        f"seconds without a kernel of {kernels if len(kernels) < 8 else f'{len(kernels)} kernels'}"
    ),
    shown=[
        ([(0, 9), (1, 8), (2, 7), (11, 12)],),
        ([(4, 5), (0, 1), (2, 3)],),
        ([(0, 1), (2, 9), (4, 5)],),
        ([(3, 4.5), (6, 9)],),
    ],
    drawn=drawn,
    passed="Right: overlapping kernels are counted once, and the gaps are what nobody used.",
)
GAP, SORT, LATEST = "max(0, start - busy_until)", "sorted(kernels)", "max(busy_until, end)"
RESULT, BEGIN = "    return waited", "kernels[0][0]"
for _thought, *_changes in [
    (
        "kernels overlap: their seconds together are more than the time in which one ran",
        (RESULT, "    return max(e for _, e in kernels) - kernels[0][0] - sum(e - s for s, e in kernels)"),
    ),
    (
        "cut at 0, but the overlap is still counted twice",
        (RESULT, "    return max(0, max(e for _, e in kernels) - kernels[0][0] - sum(e - s for s, e in kernels))"),
    ),
    ("from the kernel before only: a longer one, which began earlier, may still run", (LATEST, "end")),
    ("a kernel that begins while another runs is no gap: it takes nothing off", (GAP, "start - busy_until")),
    ("a gap has a length, whichever comes first: an overlap is none", (GAP, "abs(start - busy_until)")),
    ("the kernels come in any order: sort them by start", (SORT, "list(kernels)")),
    ("sorted by their ends: the starts decide", (SORT, "sorted(kernels, key=lambda one: one[1])")),
    ("before the first start there is no trace: the clock begins there", (BEGIN, "0")),
    ("the kernel that started last need not end last: the trace goes to the latest end", (RESULT, "    return waited + kernels[-1][1] - busy_until")),
    ("the longest gap: add all of them", ("waited += " + GAP, "waited = max(waited, start - busy_until)")),
    ("the time in which something ran: asked is the rest", (RESULT, "    return busy_until - kernels[0][0] - waited")),
    ("a share: asked are seconds", (RESULT, "    return waited / (busy_until - kernels[0][0])")),
    ("the number of gaps, not their seconds", ("waited += " + GAP, "waited += start > busy_until")),
    ("from start to start: a gap begins where the last kernel ends", (LATEST, "start")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.mistake
def whole_seconds(kernels):
    """times are no integers"""
    busy = {n for start, end in kernels for n in range(int(start), int(end))}
    return max(end for _, end in kernels) - min(kernels)[0] - len(busy)


@exercise.mistake(says="changed")
def in_place(kernels):
    """the list that was given is sorted in place"""
    kernels.sort()
    waited, busy_until = 0.0, kernels[0][0]
    for start, end in kernels:
        waited += max(0, start - busy_until)
        busy_until = max(busy_until, end)
    return waited


@exercise.style
def merged(kernels):
    """the union of the kernels, taken off"""
    spans = []
    for start, end in sorted(kernels):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return spans[-1][1] - spans[0][0] - sum(b - a for a, b in spans)


@exercise.style
def events(kernels):
    """how many run, event by event"""
    marks = sorted([(a, 1) for a, _ in kernels] + [(b, -1) for _, b in kernels])
    running, last, waited = 0, marks[0][0], 0.0
    for at, change in marks:
        if running == 0:
            waited += at - last
        running, last = running + change, at
    return waited


@exercise.style
def arrays(kernels):
    """arrays"""
    import numpy as np

    spans = np.array(sorted(kernels), dtype=float)
    latest = np.maximum.accumulate(spans[:, 1])
    return np.clip(spans[1:, 0] - latest[:-1], 0, None).sum()

"""Windows, and the forgotten tail."""

from batchlab.exercises import Exercise


def windows(micro_batches, accumulation):
    """Windows, in lists or tuples: `accumulation` micro-batches in order, the last maybe fewer."""
    found = []
    for number, micro in enumerate(micro_batches):
        if number % accumulation == 0:
            found.append([])
        found[-1].append(micro)
    return found


class NoLength:
    """A loader over a stream: asked for its length, it raises, as PyTorch's does."""

    def __init__(self, things):
        self.things = things

    def __iter__(self):
        return iter(self.things)

    def __len__(self):
        raise TypeError("this loader knows no length: loop over it")


KINDS = {
    "a list": list,
    "a stream": iter,
    "a dictionary with the keys": dict.fromkeys,
    "a loader whose len() raises, of": NoLength,
}


def scene(answer, things, size, kind="a list"):
    """The windows of what one can loop over."""
    given = KINDS[kind](things)
    found = answer(given, size)
    emptied = kind == "a list" and given != things
    return "the list that was handed over has changed: work on a copy" if emptied else found


def drawn(rng):
    for kind in (*KINDS, "a list", "a stream") * 3:
        many, size = int(rng.integers(1, 30)), int(rng.integers(1, 9))
        yield rng.permutation(many).tolist(), size, kind
    yield [4, 4, 0, 4, None], 2
    yield list(range(3000)), 1, "a stream"
    yield [], 3, "a stream"


def asked(things, size, kind="a list"):
    many = things if len(things) < 15 else f"{len(things):,} things"
    return f"windows of {size} from {kind + ' ' if kind != 'a list' else ''}{many}"


exercise = Exercise(
    windows,
    hints=(
        "begin a new list whenever the last one is full",
        "enumerate() the micro-batches; at number % accumulation == 0 a window begins",
        "found.append([]) where a window begins, then found[-1].append(micro)",
    ),
    scene=scene,
    asked=asked,
    shown=[
        ([0, 1, 2, 3], 2),
        (list(range(10)), 4),
        ([7, 2, 2, 5, 2], 2),
        ([], 4),
        ([[5, 6], [7], []], 2, "a stream"),
        ([9, 2, 5], 2, "a dictionary with the keys"),
        (list(range(3000)), 1),
    ],
    drawn=drawn,
    passed="Right: every micro-batch stands in one window, also those of the tail.",
)
LOOP = """\
    found, window = [], []
    for i, micro in enumerate(micro_batches):
        window.append(micro)
        if COND:
            found.append(window)
            window = []
    return END
"""
for _thought, _cond, _end in [
    ("the tail is lost: these micro-batches never count", "(i + 1) % accumulation == 0", "found"),
    (
        "an empty window: a step without micro-batches",
        "len(window) == accumulation",
        "found + [window]",
    ),
    (
        "the window closes one too early: number 0 is the first",
        "i % accumulation == 0",
        "found + [window] if window else found",
    ),
]:
    _body = LOOP.replace("COND", _cond).replace("END", _end)
    _old = exercise.text[exercise.text.index("    found = []") :]
    exercise.edit(_thought, [(_old, _body)])
exercise.edit(
    "clear() empties the window that was handed over: begin a new list",
    [
        (
            _old,
            LOOP.replace("COND", "len(window) == accumulation")
            .replace("window = []\n", "window.clear()\n")
            .replace("END", "found + [window] if window else found"),
        )
    ],
)


@exercise.mistake
def joined(micro_batches, accumulation):
    """the tail joins a full window: too large a step"""
    every = list(micro_batches)
    found = [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
    if len(found) > 1 and len(found[-1]) < accumulation:
        found[-2:] = [found[-2] + found[-1]]
    return found


@exercise.mistake
def so_many(micro_batches, accumulation):
    """so many windows, asked were windows of so many"""
    import numpy as np

    return [part.tolist() for part in np.array_split(list(micro_batches), accumulation)]


@exercise.mistake
def even(micro_batches, accumulation):
    """even shares: only the last window may be short"""
    import numpy as np

    every = list(micro_batches)
    count = -(-len(every) // accumulation)
    return [part.tolist() for part in np.array_split(every, count)] if every else []


@exercise.mistake
def by_value(micro_batches, accumulation):
    """looked up by its value: equal micro-batches are still two"""
    every, found = list(micro_batches), {}
    for micro in every:
        found.setdefault(every.index(micro) // accumulation, []).append(micro)
    return list(found.values())


@exercise.mistake
def in_order(micro_batches, accumulation):
    """sorted: keep the order in which they come"""
    every = sorted(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]


@exercise.mistake
def empty_epoch(micro_batches, accumulation):
    """an epoch without micro-batches has no window, not an empty one"""
    found = [[]]
    for micro in micro_batches:
        if len(found[-1]) == accumulation:
            found.append([])
        found[-1].append(micro)
    return found


@exercise.mistake
def counted_first(micro_batches, accumulation):
    """a stream can be read once: who counts it first has nothing left"""
    count = sum(1 for _ in micro_batches)
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, count, accumulation)]


@exercise.mistake(says="TypeError")
def sliced(micro_batches, accumulation):
    """slices, and asks for the length: a stream has neither"""
    count = len(micro_batches)
    return [micro_batches[i : i + accumulation] for i in range(0, count, accumulation)]


@exercise.mistake
def values(micro_batches, accumulation):
    """the values: who loops over a dictionary gets its keys"""
    every = list(getattr(micro_batches, "values", lambda: micro_batches)())
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]


@exercise.mistake(says="has changed")
def emptied(micro_batches, accumulation):
    """empties the list that it was given"""
    if not isinstance(micro_batches, list):
        micro_batches = list(micro_batches)
    found = []
    while micro_batches:
        found.append(micro_batches[:accumulation])
        del micro_batches[:accumulation]
    return found


@exercise.mistake(says="wrap it in list")
def generator(micro_batches, accumulation):
    """a generator runs only when asked"""
    window = []
    for micro in micro_batches:
        window.append(micro)
        if len(window) == accumulation:
            yield window
            window = []
    if window:
        yield window


@exercise.mistake(says="inhomogeneous")
def through_numpy(micro_batches, accumulation):
    """through an array: micro-batches differ in length"""
    import numpy as np

    e = np.array(list(micro_batches))
    return [e[i : i + accumulation].tolist() for i in range(0, len(e), accumulation)]


@exercise.mistake(says="calls itself")
def recursive(micro_batches, accumulation):
    """calls itself for each window: Python ends at about a thousand"""
    e = list(micro_batches)
    return [e[:accumulation], *windows(e[accumulation:], accumulation)] if e else []


@exercise.style
def islice(micro_batches, accumulation):
    """islice"""
    from itertools import islice

    stream = iter(micro_batches)
    return list(iter(lambda: list(islice(stream, accumulation)), []))


@exercise.style
def list_first(micro_batches, accumulation):
    """a list first"""
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]

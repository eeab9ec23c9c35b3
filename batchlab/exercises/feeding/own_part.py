"""One reader's part of a stream: every document has exactly one reader."""

import itertools

from batchlab.exercises import Exercise
from batchlab.exercises.feeding import stream_of


def own_part(stream, rank, ranks, worker, workers):
    """Yield the documents of one worker of one rank; a generator, or another iterator."""
    for number, document in enumerate(stream):
        if number % (ranks * workers) == rank * workers + worker:
            yield document


def scene(answer, documents, ranks, workers, most=10**6):
    """The part of each reader, each with a stream of its own, and how far it had read by then."""
    found = []
    for rank, worker in itertools.product(range(ranks), range(workers)):
        drawn = []
        own = answer(stream_of(documents, drawn), rank, ranks, worker, workers)
        found.append([(one, len(drawn)) for one in itertools.islice(own, most)])
    return {
        "parts": [[one for one, _ in part] for part in found],
        "when": [[when for _, when in part] for part in found],
    }


def wrong(got, documents, ranks, workers, most=10**6):
    """What is wrong with such parts, and why."""
    parts, when = got["parts"], got["when"]
    if documents is None:
        if any(len(part) != most for part in parts):
            return f"parts of {[len(part) for part in parts]} documents, asked were {most}", ""
        for part, read in zip(parts, when):
            if read != [number + 1 for number in part]:
                return f"documents {part[:5]} given out when {read[:5]} were read", LATE
        flat = [n for part in parts for n in part]
        return (
            (f"{parts}"[:80], "some documents have two readers")
            if len(set(flat)) < len(flat)
            else ("", "")
        )
    out = [repr(one) for part in parts for one in part]
    if sorted(out) != sorted(map(repr, documents)):
        return f"{str(parts)[:90]} of {len(documents)} documents", _lost(out, documents)
    sizes = [len(part) for part in parts]
    if max(sizes) - min(sizes) > 1:
        behind = [one for part in parts for one in part] == [*documents]
        cause = "the parts stand one behind the other: where does one end without an end?"
        round_ = "the documents go round among all readers, ranks * workers of them"
        return (
            f"parts of {sizes} documents: they differ by more than one",
            cause if behind else round_,
        )
    if documents == [*range(len(documents))] and any(part != sorted(part) for part in parts):
        return f"{parts}: a part keeps the order of the stream", ""
    return "", ""


LATE = "a document is given out late: yield it at once; nothing behind it is read first"


def _lost(out, documents):
    if len(out) > len(documents):
        return "some documents have two readers: they would be trained twice"
    if any(repr(one) not in out for one in documents if one in ([], None, 0, "")):
        return "an empty document, or None, is a document: skip by the number"
    return "some documents have no reader"


def drawn(rng):
    for _ in range(12):
        many, ranks, workers = (int(one) for one in rng.integers([0, 1, 1], [60, 6, 6]))
        yield [*range(many)], ranks, workers
    yield [*range(3000)], 5, 7
    yield [[], 0, None, "", [], (), 0], 2, 1
    yield None, 3, 2, 40


def asked(documents, ranks, workers, most=0):
    some = "a stream without end" if documents is None else f"{len(documents)} documents"
    if documents and documents != [*range(len(documents))]:
        some = f"the documents {documents}"
    return f"parts of {some}, {ranks} ranks of {workers} workers"


exercise = Exercise(
    own_part,
    points=1,
    hints=(
        "how many readers are there, and which number has this one among them?",
        "reader rank * workers + worker of ranks * workers: every so many documents one is its own",
        "enumerate(stream), and yield where number % (ranks * workers) is the reader's number",
    ),
    asked=asked,
    scene=scene,
    fault=lambda *given: wrong(*given)[0],
    explain=lambda *given: wrong(*given)[1],
    shown=[
        ([*range(13)], 2, 3),
        ([*range(9)], 2, 2),
        ([[], 0, None, "", [], 0, 0], 2, 1),
        (None, 2, 3, 4),
    ],
    drawn=drawn,
    passed="Right: every document has one reader, on every rank and in every worker.",
)
OWNS = "number % (ranks * workers) == rank * workers + worker"
for _thought, _own in {
    "every worker of a rank reads the whole part of the rank: divide by workers, too": (
        "number % ranks == rank"
    ),
    "every rank reads the same: divide by ranks, too": "number % workers == worker",
    "all get the whole stream: each document would be trained by everybody": "True",
    "rank + worker: two readers share a number, and some numbers have nobody": (
        "number % (ranks * workers) == rank + worker"
    ),
    "two remainders, n % ranks and n % workers: with 2 and 2 both are one number, and two readers get nothing": (
        "number % ranks == rank and number % workers == worker"
    ),
    "rank * ranks + worker: it is `workers` readers that a rank has": (
        "number % (ranks * workers) == rank * ranks + worker"
    ),
    "an empty document, or None, is a document: skip by the number": OWNS
    + " and document not in ([], None, '')",
}.items():
    exercise.edit(_thought, [(OWNS, _own)])


@exercise.mistake
def none_ends(stream, rank, ranks, worker, workers):
    """None ends the stream here: it is a document, too"""
    stream, number = iter(stream), 0
    while (document := next(stream, None)) is not None:
        if number % (ranks * workers) == rank * workers + worker:
            yield document
        number += 1


@exercise.mistake
def last_round_dropped(stream, rank, ranks, worker, workers):
    """the last documents are left out, where they are fewer than the readers"""
    held = []
    for document in stream:
        held.append(document)
        if len(held) == ranks * workers:
            yield held[rank * workers + worker]
            held = []


@exercise.mistake(says="without end")
def read_to_the_end(stream, rank, ranks, worker, workers):
    """read to the end first"""
    return list(stream)[rank * workers + worker :: ranks * workers]


@exercise.mistake
def contiguous(stream, rank, ranks, worker, workers):
    """the parts stand one behind the other: where does one end without an end?"""
    every, me = list(stream), rank * workers + worker
    per = -(-len(every) // (ranks * workers))
    yield from every[me * per : (me + 1) * per]


@exercise.mistake
def contiguous_rest_lost(stream, rank, ranks, worker, workers):
    """the parts stand one behind the other: where does one end without an end?"""
    every, me = list(stream), rank * workers + worker
    per = len(every) // (ranks * workers)
    yield from every[me * per : (me + 1) * per]


@exercise.mistake
def a_round_first(stream, rank, ranks, worker, workers):
    """a round is read first: yield a document before anything behind it is read"""
    from itertools import islice

    stream, me = iter(stream), rank * workers + worker
    while held := list(islice(stream, ranks * workers)):
        yield from held[me : me + 1]


@exercise.mistake
def one_late(stream, rank, ranks, worker, workers):
    """one document late: yield it at once"""
    from itertools import islice

    last = []
    for document in islice(stream, rank * workers + worker, None, ranks * workers):
        yield from last
        last = [document]
    yield from last


@exercise.mistake
def read_twice(stream, rank, ranks, worker, workers):
    """the stream is read once: after counting it nothing is left"""
    total = sum(1 for _ in stream)
    for number, document in enumerate(stream):
        if number % (ranks * workers) == rank * workers + worker < total:
            yield document


@exercise.style
def sliced(stream, rank, ranks, worker, workers):
    """islice"""
    from itertools import islice

    return islice(stream, rank * workers + worker, None, ranks * workers)


@exercise.style
def rank_then_worker(stream, rank, ranks, worker, workers):
    """the rank's part, then the worker's"""
    from itertools import islice

    return islice(islice(stream, rank, None, ranks), worker, None, workers)


@exercise.style
def a_counter(stream, rank, ranks, worker, workers):
    """a counter"""
    left = rank + ranks * worker
    for document in stream:
        if left == 0:
            yield document
            left = ranks * workers
        left -= 1

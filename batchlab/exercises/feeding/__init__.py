"""Feeding: the step that waits for its input. The exercises in the order of the page."""

import itertools

ORDER = ("waits", "shuffled", "packer")
MOST_DRAWN = 3000  # who wants more would read an endless stream for ever


def stream_of(documents, drawn, first=0, most=MOST_DRAWN):
    """The documents from number `first` on; None: 0, 1, 2, ... `drawn` notes what is read."""
    endless = documents is None
    for number in itertools.count(first) if endless else range(first, len(documents)):
        if endless and len(drawn) >= most:
            raise RuntimeError(f"over {most:,} documents read of a stream without end")
        drawn.append(number)
        yield number if endless else documents[number]

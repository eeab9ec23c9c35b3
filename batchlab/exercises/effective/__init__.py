"""Effective: what one step really sees. The exercises in the order of the page."""

import re

ORDER = ("splits", "accumulation-for", "even-steps")


def near(number, part):
    """The nearest multiples of `part` around a number that is none; 0 is no offer."""
    below = number // part * part
    return (below, below + part) if below else (part,)


def offers_none(message, above):
    """Whether a message offers 0 beside the number above; a 0 that counts something is no offer.

    >>> offers_none("5,000 slots: try 0 or 8,192", 8192), offers_none("[0 8]", 8)
    (True, True)
    >>> offers_none("5 devices are 0 replicas; rounded down, 0 devices: take 8", 8)
    False
    """
    bare = re.sub(r"\b(?:np\.)?u?int\d+\(", "(", message)
    text = re.sub(r"(?<=\d)[,_](?=\d{3})", "", bare)
    unit = r"devices|sequences|slots|GPUs|below:?|above:?|or|and"
    return bool(re.search(rf"(?<![\d.])0(?![\d.])(?:[\s,/()\[\]]|{unit})*(?<!\d){above}\b", text))

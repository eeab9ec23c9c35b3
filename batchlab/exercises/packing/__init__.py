"""Packing: rows without padding. The exercises in the order of the page."""

import re

from batchlab.classroom import plain

ORDER = ("first-fit", "isolation-test", "mend-collator")


def nested(value):
    """What an answer returned as plain lists and numbers; None where it is nothing of that kind."""
    try:
        return plain.nested(value)
    except plain.NotPlain:
        return None


def unnamed(text, lengths, row_length):
    """What is wrong with the text of a refusal; empty if it names a length above a row's.

    >>> unnamed("no room for 1,200 tokens", [3, 1200], 1000)
    ''
    """
    seen = {int(one) for one in re.findall(r"\d+", text.replace(",", ""))}
    if seen & {int(one) for one in lengths if one > row_length}:
        return ""
    return "the length of a document that is too long must stand in the text"

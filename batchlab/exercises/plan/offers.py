"""What a refusal of lesson 18 may offer: the nearest multiples, the wished kind of tuning.

text of a refusal, what is right  ->  what it must not say, or nothing
"""

import re

from batchlab.exercises.effective import near, offers_none

KINDS = ("full", "lora", "4-bit")


def misnamed_near(said, number, unit, known=()):
    """What is wrong with the nearest multiples of `unit`; `known` numbers may be named, too."""
    offered, named = near(number, unit), numbers(said)
    if {*offered} - named:
        many = "both nearest, below and above" if len(offered) > 1 else "the nearest above"
        return f"refuse, and name {many}"
    if len(offered) == 1 and offers_none(said, offered[0]):
        return "0 is no offer: name only the number above"
    beyond = {offered[0] - unit, offered[-1] + unit} - {0, *known}
    if beyond & named:
        return "farther ones are named, too: only the nearest below and above are asked"
    return ""


def misnamed_kind(said, wished):
    """What is wrong with a refusal of `wished`, one of `KINDS`."""
    words = re.findall(r"4-bit|\blora\b|\bfull\b", said.lower())
    return "" if wished in words else f"name the kind that was wished: {wished}"


def numbers(said):
    """The numbers of a text; 4-bit holds none.

    >>> sorted(numbers("4-bit: 1,024 slots, or rows of 8.0"))
    [8.0, 1024.0]
    """
    plain = re.sub(r"4-bit|(?<=\d)[,_](?=\d{3})", "", said.lower())
    return {float(one) for one in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", plain)}

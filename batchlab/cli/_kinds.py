"""What a word behind an option may be: a parser refuses another with the one line that is raised.

text  ->  a number, a device
"""

import argparse
import math
from typing import TYPE_CHECKING

from batchlab import units

if TYPE_CHECKING:
    from batchlab.roofline import Device

__all__ = ["above_zero", "card", "filled", "gibibytes", "port", "whole"]


def filled(text: str) -> str:
    """A word itself; an empty one is of a variable that is not set, and means no default."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty: leave the option out for its default")
    return text


def whole(text: str) -> int:
    """A count from a word."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is needed, got {text}") from None
    try:
        return units.whole(number, "it")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def above_zero(text: str, what: str = "a number above 0 is") -> float:
    """A finite number above 0 from a word."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        raise argparse.ArgumentTypeError(f"{what} needed, got {text}")
    return number


def gibibytes(text: str) -> int:
    """Bytes from a word that holds GiB."""
    return round(above_zero(text, "GiB of tensors, above 0, are") * units.GIB)


def port(text: str) -> int:
    """The number of a port from a word."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, got {text}")
    return int(text)


def card(text: str) -> "Device":
    """The device of a data sheet whose name begins like this; h100 is H100 SXM."""
    from batchlab import roofline

    found = [one for name, one in roofline.DEVICES.items()
             if name.lower().startswith(text.lower())]  # fmt: skip
    if len(found) != 1:
        there = ", ".join(roofline.DEVICES)
        raise argparse.ArgumentTypeError(f"one of {there} is needed, got {text}")
    return found[0]

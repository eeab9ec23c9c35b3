"""Explorers of padding, packing and the step: every number comes from the tested rooms.

lengths or offered values  ->  Explorer: sliders that work with a kernel and without
"""

from batchlab.widgets._explorers import (
    Explorer,
    calculator,
    explorer,
    finder,
    packing_explorer,
    padding_explorer,
)
from batchlab.widgets._scripted import Scripted

__all__ = [
    "Explorer",
    "Scripted",
    "calculator",
    "explorer",
    "finder",
    "packing_explorer",
    "padding_explorer",
]

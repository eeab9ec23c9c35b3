"""Pictures of mechanisms that a reader steps through: every number comes from the library.

    lengths, ranks, layers  ->  Steps: drawings with a sentence each, moved on by arrow keys

They need no kernel, no script and no other host: radio buttons and a style sheet.
"""

from batchlab.pictures._many import requests, ring
from batchlab.pictures._rows import mask, packing, rectangle, windows
from batchlab.pictures._step import memory, micro_batches, segments, timeline
from batchlab.pictures._steps import Drawing, Steps

__all__ = [
    "Drawing",
    "Steps",
    "mask",
    "memory",
    "micro_batches",
    "packing",
    "rectangle",
    "requests",
    "ring",
    "segments",
    "timeline",
    "windows",
]

"""Several devices by arithmetic: bytes that travel, bytes that stay, devices that wait, the bill.

    plan, model, links  ->  traffic, memory of shards, bubble, stragglers, hours and money

Doors inside
    cluster.ranks        the same collectives, run in one process over simulated links
    cluster.distributed  the same functions over real processes
"""

from batchlab.cluster._bill import UTILISATION, Bill, Span, bill, reached
from batchlab.cluster._collectives import (
    LINKS,
    Collective,
    Link,
    all_gather,
    all_reduce,
    reduce_scatter,
    tokens_to_hide,
)
from batchlab.cluster._pipeline import Bubble, Stragglers, bubble, stragglers
from batchlab.cluster._sharding import FORMS, StateBytes, Traffic, traffic, zero

__all__ = [
    "FORMS",
    "LINKS",
    "UTILISATION",
    "Bill",
    "Bubble",
    "Collective",
    "Link",
    "Span",
    "StateBytes",
    "Stragglers",
    "Traffic",
    "all_gather",
    "all_reduce",
    "bill",
    "bubble",
    "reached",
    "reduce_scatter",
    "stragglers",
    "tokens_to_hide",
    "traffic",
    "zero",
]

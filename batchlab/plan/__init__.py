"""What one optimizer step sees, and how a machine splits it.

    rows, accumulation, data-parallel degree, length  <->  sequences and slots per step
    launch config of a tool  ->  the same, and how the devices are split

A config names its tool by keys that only this tool has; what nobody can know of it is refused.
"""

from batchlab.plan._launch import TOOLS, Launch, Ramp, Rollout, from_config
from batchlab.plan._plan import Plan, data_parallel_degree, for_slots_per_step, splits

__all__ = [
    "TOOLS",
    "Launch",
    "Plan",
    "Ramp",
    "Rollout",
    "data_parallel_degree",
    "for_slots_per_step",
    "from_config",
    "splits",
]

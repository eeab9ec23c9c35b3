"""What one optimizer step sees, and how a machine splits it.

rows, accumulation, data-parallel degree, length  <->  sequences and slots per step
"""

from batchlab.plan._launch import Launch, from_config
from batchlab.plan._plan import Plan, data_parallel_degree, for_slots_per_step, splits

__all__ = ["Launch", "Plan", "data_parallel_degree", "for_slots_per_step", "from_config", "splits"]

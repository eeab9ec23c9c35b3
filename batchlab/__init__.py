"""Batch size in LLM training: the rectangle, the step, the cost.

Importing `batchlab` imports nothing else. Ask for the room you need:

    from batchlab import padding     # numpy only
    from batchlab import loop        # torch
"""

__version__ = "0.1.0"

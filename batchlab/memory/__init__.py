"""Where the bytes of training go: parameters, gradients, optimizer, activations, logits.

    model shape, plan, precision, checkpointing  ->  Memory, bytes by category

Doors inside
    memory.trace       what a step will need, from the real model on fake tensors
    memory.fit         the most rows that fit, confirmed by trying
    memory.adapters    LoRA and 4-bit weights, for a trace or a try
    memory.optimizers  AdamW to Muon by name, with the states that they keep
    memory.limits      whether an error says that memory ended
"""

from batchlab.memory._formula import STATES, Memory, ModelShape, States, estimate, rows_that_fit

__all__ = ["STATES", "Memory", "ModelShape", "States", "estimate", "rows_that_fit"]

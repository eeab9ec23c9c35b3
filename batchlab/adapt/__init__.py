"""Live signals to the next plan and rate, with the reason: nothing moves for one noisy reading.

Signals(tokens, loss, noise, memory, speed)  ->  Decision(plan, rate, reason)
"""

from batchlab.adapt._decide import Controller, Couple, Decision, Signals, in_turn, unchanged
from batchlab.adapt._grow import Goodput, NoiseGuided, NormTest, Ramped, goodput
from batchlab.adapt._keep import BackOff, Shares, shares

__all__ = [
    "BackOff",
    "Controller",
    "Couple",
    "Decision",
    "Goodput",
    "NoiseGuided",
    "NormTest",
    "Ramped",
    "Shares",
    "Signals",
    "goodput",
    "in_turn",
    "shares",
    "unchanged",
]

"""From the tokens of a run to its batch and its rate, each with reasons, ranges and refusals.

    tokens, model, devices, how it is trained  ->  Wish  ->  propose  ->  Proposal

Four kinds of source speak: laws of tokens within the range in which they were shown, public runs
of like size, a measured noise scale, and the devices. Each says from-to, why and how sure. Where
they disagree the proposal says so. Pre-training, LoRA and GRPO are covered; for full fine-tuning
sources contradict each other.
"""

from batchlab.proposal._laws import APART, LAWS, Law, compute_law, critical, decay, short, small
from batchlab.proposal._proposal import NoProposal, Proposal, propose
from batchlab.proposal._recipes import Recipe, like, recipes
from batchlab.proposal._target import Miss, time_to_target
from batchlab.proposal._wish import STAGES, Reason, Wish

__all__ = [
    "APART",
    "LAWS",
    "STAGES",
    "Law",
    "Miss",
    "NoProposal",
    "Proposal",
    "Reason",
    "Recipe",
    "Wish",
    "compute_law",
    "critical",
    "decay",
    "like",
    "propose",
    "recipes",
    "short",
    "small",
    "time_to_target",
]

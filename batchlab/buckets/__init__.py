"""Batches of similar length under a budget, in an order that every rank agrees on.

lengths, budget, seed, epoch  ->  batches of document numbers
"""

from batchlab.buckets._budget import COSTS, balance, by_token_budget, by_two_budgets
from batchlab.buckets._sampler import Sampler, sampler

__all__ = ["COSTS", "Sampler", "balance", "by_token_budget", "by_two_budgets", "sampler"]

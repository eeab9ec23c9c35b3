"""Attention over documents of different lengths, without padding between them.

q, k, v of all documents, where each begins  ->  output, through the best backend present
"""

from batchlab.attention._varlen import NAME, backends, borders, prepare, register, varlen

__all__ = ["NAME", "backends", "borders", "prepare", "register", "varlen"]

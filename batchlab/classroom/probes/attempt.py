"""Where `batchlab.classroom.attempt` stood; the probes that are left still look here."""

from batchlab.classroom.attempt import finite, mistakes_of, refusal, rounded, shown, working

__all__ = ["finite", "mistakes_of", "refusal", "rounded", "shown", "working"]

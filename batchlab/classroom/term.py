"""The seed of a term: what hidden inputs are drawn from.

    BATCHLAB_GRADING_SEED, or a grader's file  ->  the text that `check.rng` draws from

A grader that keeps the seed in a file hands it over with `use`, in the process of the checks alone:
an environment can be read by every process that is started in it.
"""

import os

__all__ = ["DEFAULT_SEED", "Withheld", "drawn", "give", "secret", "seed", "use", "withhold"]

DEFAULT_SEED = "the effective batch"  # public; a term's secret stands elsewhere
_used: list[str] = []
_drawn: list[bool] = []  # one for each time that hidden inputs were given out
_withheld: list[bool] = []


class Withheld(BaseException):
    """A check is about to give out hidden inputs where none may be seen."""


def seed() -> str:
    """The seed in force: what a grader gave, else the environment's, else the public one."""
    return _used[-1] if _used else os.environ.get("BATCHLAB_GRADING_SEED") or DEFAULT_SEED


def secret() -> bool:
    """Whether a grader or its environment named a seed."""
    return bool(_used or os.environ.get("BATCHLAB_GRADING_SEED"))


def use(text: str | None) -> None:
    """Draw from this text from now on, in this process; None: as before."""
    _used[:] = [] if text is None else [text]


def drawn() -> int:
    """How often hidden inputs were given out in this process."""
    return len(_drawn)


def give() -> None:
    """Say that hidden inputs are given out from here; Withheld where they may not be."""
    if _withheld:
        raise Withheld
    _drawn.append(True)


def withhold(yes: bool) -> None:
    """Let every check in this process end where its hidden inputs begin, or no longer."""
    _withheld[:] = [True] * yes

"""Right and wrong versions of `shares`, for a learner's test of it.

    seconds and parts of several steps  ->  the share of each part in all of them

Words
    rest  what no part explains: it may be below zero
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG"]


def _shares(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    whole = sum(seconds)
    names = dict.fromkeys(name for one in parts for name in one)
    found = {name: sum(one.get(name, 0) for one in parts) / whole for name in names}
    return found | {"unexplained": 1 - sum(found.values())}


def _shares_by_array(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    names = sorted({name for one in parts for name in one})
    table = np.array([[one.get(name, 0.0) for name in names] for one in parts]).sum(axis=0)
    shares = np.append(table, sum(seconds) - table.sum()) / sum(seconds)
    return dict(zip([*names, "unexplained"], shares.tolist(), strict=True))


def _shares_averaged(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    each = [_shares([a], [b]) for a, b in zip(seconds, parts, strict=True)]
    names = dict.fromkeys(name for one in each for name in one)
    return {name: sum(one.get(name, 0) for one in each) / len(each) for name in names}


def _shares_of_named(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    found = _shares(seconds, parts)
    named = 1 - found["unexplained"]
    return {name: share / named for name, share in found.items()} | {"unexplained": 0.0}


def _with_rest(change: Callable[[float], float]) -> Callable[..., Any]:
    def version(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
        found = _shares(seconds, parts)
        return found | {"unexplained": change(found["unexplained"])}

    return version


def _rest_split(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    """A rest below zero is taken off the largest part."""
    found = _shares(seconds, parts)
    if found["unexplained"] < 0:
        largest = max(found, key=lambda name: found[name])
        found[largest] += found["unexplained"]
        found["unexplained"] = 0.0
    return found


def _parts_alike(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    found = _shares(seconds, parts)
    names = [name for name in found if name != "unexplained"]
    each = (1 - found["unexplained"]) / len(names)
    return dict.fromkeys(names, each) | {"unexplained": found["unexplained"]}


def _of_rest(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    found = _shares(seconds, parts)
    return {name: share / (1 - share) for name, share in found.items()}


def _first_names(seconds: Sequence[float], parts: Sequence[Mapping[str, float]]) -> Any:
    found = _shares(seconds, [{k: v for k, v in one.items() if k in parts[0]} for one in parts])
    return found


RIGHT: tuple[Callable[..., Any], ...] = (_shares, _shares_by_array)
WRONG: dict[str, Callable[..., Any]] = {
    "the mean of each visit's shares": _shares_averaged,
    "shares of what has a name: the rest is hidden": _shares_of_named,
    "a rest below zero cut to 0: the shares sum to more than 100 %": _with_rest(
        lambda rest: max(rest, 0.0)
    ),
    "a rest below zero without its sign": _with_rest(abs),
    "all parts alike, only the rest is right": _parts_alike,
    "a rest below zero taken off the largest part": _rest_split,
    "parts over what they leave: 0.5 becomes 1": _of_rest,
    "the last visit only": lambda seconds, parts: _shares(seconds[-1:], parts[-1:]),
    "a part that the first visit lacks is left out": _first_names,
}

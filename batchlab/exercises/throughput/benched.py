"""What a benchmark says of a planted device, and what is wrong with it.

an answer, a device  ->  its result and what it called  ->  what came, and the cause
"""

import itertools
from statistics import median

from batchlab.exercises.throughput.scenes import Device

__all__ = ["judged", "scene"]


def scene(answer, seconds, rounds, least, faults):
    """What a benchmark says of a planted device, what it called, and when it read the clock."""
    own = {name: value for name, value in seconds.items() if not isinstance(value, str)}
    made = Device(own, **faults)
    calls = {name: made.setting(name) for name in own}
    settings = {name: calls.get(name) or calls[seconds[name]] for name in seconds}
    said = answer(settings, made.wait, made.clock, rounds, least)
    return {"answer": said, "log": made.log, "left": list(settings)}


def stretches(log):
    """(setting, calls, seconds) of the calls between two looks at the clock, in order."""
    found, named, begin = [], [], None
    for event in log:
        if isinstance(event, str):
            named.append(event)
            continue
        if begin is not None and named:
            for name, some in itertools.groupby(named):
                found.append((name, len(list(some)), event - begin))
        named, begin = [], event
    return found


def needed(seconds, least, launch):
    """The first power of two of calls that lasts `least` seconds, for each setting."""
    found = {}
    for name, own in seconds.items():
        found[name] = 1
        while launch + found[name] * own < least:
            found[name] *= 2
    return found


def judged(got, seconds, rounds, least, faults):
    """What came and the cause, the first that is wrong; two empty texts where all is right."""
    said, names = got["answer"], list(seconds)
    if not isinstance(said, tuple | list) or len(said) != 2:
        return f"a {type(said).__name__}; two dicts are needed: the seconds and the ratios", ""
    for what, one in zip(("seconds", "ratios"), said, strict=True):
        if not isinstance(one, dict) or list(one) != names:
            keys = list(one) if isinstance(one, dict) else f"a {type(one).__name__}"
            return f"{what} of {keys}, in the order of settings", "begin with a list for each name"
    found = {name: list(own) for name, own in said[0].items()}
    for name, own in found.items():
        if len(own) != rounds:
            why = "asked are the seconds of a call, round by round"
            return f"{name}: {len(own)} values in {rounds} rounds", why
    if got["left"] != names:
        return f"settings hold {got['left']} now", "work on a copy: list(settings)"
    return (
        _calls(got, seconds, rounds, least, faults)
        or _order(got, seconds, rounds)
        or _seconds(got, seconds, rounds, least, faults)
        or _ratios(said[1], found)
        or ("", "")
    )


def _calls(got, seconds, rounds, least, faults):
    own = {name: seconds.get(value, value) for name, value in seconds.items()}
    right = needed(own, least, faults.get("launch", 0.0))
    tail = stretches(got["log"])[-rounds * len(seconds) :]
    if len(tail) < rounds * len(seconds):
        why = "read it before and after each stretch: no other clock knows this device"
        return f"the clock was read around {len(tail)} stretches", why
    real = {name: value if isinstance(value, str) else name for name, value in seconds.items()}
    calls = {name: sorted({n for one, n, _ in tail if one == real[name]}) for name in seconds}
    if faults.get("heat") or all(calls[name] == [right[name]] for name in seconds):
        return None
    shown = ", ".join(f"{name} {' or '.join(map(str, n)) or 0}" for name, n in calls.items())
    wanted = ", ".join(f"{name} {n}" for name, n in right.items())
    why = "the first of 1, 2, 4 ... with which one trial alone lasts `least` or more"
    return f"calls in a stretch: {shown}; needed are {wanted}", why


def _order(got, seconds, rounds):
    tail = [name for name, _, _ in stretches(got["log"])][-rounds * len(seconds) :]
    names = [value if isinstance(value, str) else name for name, value in seconds.items()]
    taken = [tail[at : at + len(names)] for at in range(0, len(tail), len(names))]
    said = " ".join("".join(map(str, one)) for one in taken)
    if any(sorted(one) != sorted(names) for one in taken):
        return f"rounds: {said}", "each round runs every setting once"
    if taken[0] not in (names, names[::-1]):
        return f"rounds: {said}", "the first round has the order of settings, or its reverse"
    if any(a != b[::-1] for a, b in itertools.pairwise(taken)):
        return f"rounds: {said}", "every round is the reverse of the one before: drifts cancel"
    return None


def _seconds(got, seconds, rounds, least, faults):
    real = {name: value if isinstance(value, str) else name for name, value in seconds.items()}
    own = {name: seconds[real[name]] for name in seconds}
    right, launch = needed(own, least, faults.get("launch", 0.0)), faults.get("launch", 0.0)
    tail = stretches(got["log"])[-rounds * len(seconds) :]
    for name, values in got["answer"][0].items():
        planted = [(launch + right[name] * own[name]) / right[name]] * rounds
        if faults.get("heat") or faults.get("jitter"):
            planted = [took / n for one, n, took in tail if one == real[name]]
        for number, (value, want) in enumerate(zip(values, planted, strict=False), 1):
            if not abs(float(value) - want) <= 1e-5 * want:
                came = f"{float(value):.6g} seconds of {name} in round {number}"
                return f"{came}, right is {want:.6g}", ""
    return None


def _ratios(said, found):
    first = next(iter(found.values()))
    for name, own in found.items():
        each = [a / b for a, b in zip(own, first, strict=True)]
        want = min(each), median(each), max(each)
        came = list(said[name])
        if len(came) != 3 or any(abs(a - b) > 1e-5 * b for a, b in zip(came, want, strict=True)):
            shown = ", ".join(f"{float(one):.5g}" for one in came[:4])
            right = ", ".join(f"{one:.5g}" for one in want)
            return f"ratios of {name}: {shown}; by your seconds {right}", ""
    return None

"""What is wrong with a decision of a controller, in facts of its run.

a controller, a planted run  ->  its settings after each reading;  they  ->  the first that is wrong

Words
    row   readings one after the other that all ask for a larger step
"""

import copy
import json
import math

from batchlab.classroom import plain
from batchlab.exercises.adaptive import of
from batchlab.exercises.adaptive.planted import sequences

__all__ = ["driven", "first_wrong", "said", "why"]

COUNTS, MOVABLE = (
    ("rows", "accumulation", "data_parallel"),
    ("rows", "accumulation", "rate", "beta2"),
)
CALM = 0.5  # nats above the best loss


def driven(controller, steps, most, beside=False):
    """Settings after each reading, as plain data; a text in place of what has another form."""
    state, found = {}, []
    for settings, reading, *_ in steps:
        for name in ("web", "code", "web") if beside else ():
            other = {"out_of_memory": False, "loss": 0.1, "low": 900.0, "data": name}
            controller(of(4, 2), {}, other, 64)
        given = copy.deepcopy((settings, state, reading))
        got = controller(*given, most)
        if given != (settings, state, reading):
            return [*found, "what came in was changed; copy settings and state"]
        problem = _form(got, settings)
        if problem:
            return [*found, problem]
        new, state = got[0], json.loads(json.dumps(got[1]))
        found.append({key: plain.nested(value) for key, value in new.items()})
    return found


def _form(got, settings):
    if (
        not isinstance(got, tuple | list)
        or len(got) != 2
        or not all(isinstance(x, dict) for x in got)
    ):
        return "two dictionaries are needed: settings, state"
    if got[0].keys() != settings.keys():
        return f"the settings keep their keys: {', '.join(settings)}"
    try:
        json.dumps(got[1])
        plain.nested(got[0])
    except (TypeError, ValueError) as error:
        return f"json.dumps cannot write the state: {error}"
    except plain.NotPlain:
        return "a setting is no number"
    return ""


def said(settings, reading):
    """A step of a planted run in a few words."""
    size = "{rows} x {accumulation} x {data_parallel}".format(**settings)
    if reading["out_of_memory"]:
        return f"{size} ran out of memory"
    low = reading["low"]
    low = low if low is None else f"{low:g}"
    return f"{size}, low {low}, loss {reading['loss']:.4g}, data {reading['data']!r}"


def first_wrong(steps, got):
    """(place of the first wrong decision, how many are wrong); None where all are right."""
    wrong = [n for n, (new, (*_, after)) in enumerate(zip(got, steps)) if not _same(new, after)]
    return (wrong[0], len(wrong)) if wrong else None


def _same(new, after):
    return not isinstance(new, str) and all(
        _near(new[key], right) and (key not in COUNTS or type(new[key]) is int)
        for key, right in after.items()
    )


def _near(value, right):
    if isinstance(right, float) and isinstance(value, int | float):
        return math.isclose(value, right, rel_tol=1e-5)
    return value == right


def why(steps, place, new, most):
    """What is wrong with the settings after a reading, without guessing at its cause."""
    settings, reading, after = steps[place]
    floats = [key for key in COUNTS if type(new[key]) is not int]
    if floats:
        return f"{floats[0]} is a count, so an int: `//` gives one"
    if any(new[key] != settings[key] for key in settings if key not in MOVABLE):
        return "only rows, accumulation, rate and beta2 may move: the replicas and all else stay"
    was, asked, now = (sequences(one) for one in (settings, after, new))
    if reading["out_of_memory"]:
        return _back_off(settings, after, new, was, now)
    if now != asked:
        return _size(steps, place, most, was, asked, now)
    if new["rows"] != settings["rows"]:
        return "rows move only where memory runs out: a larger step takes more accumulation"
    if not _near(new["rate"], after["rate"]):
        moves = (
            "the rate stays with the step" if was == now else "twice the step: the rate x root of 2"
        )
        return moves
    return "beta2 stays with the step" if was == now else "twice the step: beta2 to the power 2"


def _back_off(settings, after, new, was, now):
    if now != was:
        return f"the tokens per step drift: {was} sequences before, {now} now"
    if new["rows"] >= settings["rows"]:
        return "out of memory, and the rows do not fall: they run out again"
    if new["rows"] != after["rows"]:
        return "fewer rows than needed: more of them divide the step, too"
    return "the step stays, so its rate and beta2 stay"


def _size(steps, place, most, was, asked, now):
    if now > was and 2 * was > most:
        return f"it grows, and twice the step, {2 * was}, exceeds the maximum, {most}"
    if now < was:
        return "the step shrinks, and no rule asks for that"
    if asked == was:
        return f"it grows too early: {_ended(steps, place)}"
    if now == was:
        best = _best(steps, place)
        return (
            f"it holds; the last three readings ask: lows of {2 * was} or more, losses of at most "
            f"{best + CALM:.5g}, {CALM} above the best on these data"
        )
    return f"one doubling at a time: {was} -> {asked} sequences"


def _best(steps, place):
    """The best finite loss on the data of a reading, up to it; None before the first."""
    data, best = steps[place][1]["data"], None
    for _, reading, _ in steps[place::-1]:
        if reading["data"] != data:
            break
        loss = reading["loss"]
        if loss is not None and math.isfinite(loss):
            best = loss if best is None else min(best, loss)
    return best


def _ended(steps, place):
    """What ended the row last, at a reading or just before it."""
    for n in range(place, -1, -1):
        settings, reading, _ = steps[n]
        low, loss, bound = reading["low"], reading["loss"], 2 * sequences(settings)
        if reading["out_of_memory"]:
            return f"reading {n + 1}, out of memory, ended the count"
        if low is None or not low >= bound:
            return f"the low of reading {n + 1}, {low}, is not at least {bound}"
        if not math.isfinite(loss):
            return f"the loss of reading {n + 1}, {loss}, is not calm"
        if loss > _best(steps, n) + CALM:
            return (
                f"the loss of reading {n + 1}, {loss:.5g}, is over {_best(steps, n):.5g} + {CALM}"
            )
        if n and steps[n - 1][1]["data"] != reading["data"]:
            return f"reading {n + 1} is the first of new data"
        if n and sequences(steps[n - 1][2]) != sequences(steps[n - 1][0]):
            return f"after reading {n} the step moved: the count began again"
    return f"three readings must ask, and these are {place + 1}"

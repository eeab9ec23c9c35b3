"""Build: a controller that grows the step for a reason, and shrinks rows at once."""

import math

from batchlab.exercises import Exercise
from batchlab.exercises.adaptive import grown, planted, reasons
from batchlab.exercises.adaptive.back_off import back_off


def control(settings, state, reading, most):
    """(settings of the next step, state), after one reading."""
    known = state if state.get("data") == reading["data"] else {}
    row, best = known.get("row", 0), known.get("best")
    now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]

    loss, low = reading["loss"], reading["low"]
    finite = loss is not None and math.isfinite(loss)
    if finite:
        best = loss if best is None else min(best, loss)
    calm = finite and loss <= best + 0.5
    asks = calm and low is not None and low >= 2 * now
    row = row + 1 if asks else 0

    if reading["out_of_memory"]:
        rows, accumulation = back_off(settings["rows"], settings["accumulation"])
        settings = settings | {"rows": rows, "accumulation": accumulation}
    elif row >= 3 and 2 * now <= most:
        settings, row = grown(settings, 2 * now), 0
    return settings, {"data": reading["data"], "row": row, "best": best}


right = control


def meets(name, start, most, lows, **run):
    """Settings and readings on the way of the reference, whatever an answer decides."""
    steps = planted.walked(right, start, most, lows, **run)
    return [step[:2] for step in steps], most, run.get("beside", False)


def scene(answer, steps, most, beside):
    """The settings after each reading; a text in place of what has another form."""
    found = reasons.driven(answer, steps, most)
    if beside and reasons.driven(answer, steps, most, beside=True) != found:
        return [
            "other settings once readings of another run lie between: only `state` may remember"
        ]
    return found


def fault(got, name, start, most, lows, **run):
    """The first wrong decision, and how many are wrong; empty if none is."""
    steps = planted.walked(right, start, most, lows, **run)
    wrong = reasons.first_wrong(steps, got)
    if wrong is None:
        return "" if len(got) == len(steps) else f"{len(got)} settings for {len(steps)} readings"
    place, count = wrong
    settings, reading, _ = steps[place]
    new, where = got[place], f"reading {place + 1} ({reasons.said(settings, reading)})"
    if isinstance(new, str):
        return new if len(got) == 1 and len(steps) > 1 else f"{where}: {new}"
    size = "{rows} x {accumulation} x {data_parallel}".format(**new)
    return f"{where}: {size}, rate {new['rate']:.4g}, beta2 {new['beta2']:.4g}; wrong: {count} of {len(steps)} decisions"


def explain(got, name, start, most, lows, **run):
    """The fact of the run that speaks against the first wrong decision."""
    steps = planted.walked(right, start, most, lows, **run)
    place, _ = reasons.first_wrong(steps, got)
    return "" if isinstance(got[place], str) else reasons.why(steps, place, got[place], most)


def asked(name, start, most, lows, **run):
    """A planted run in a few words."""
    return f"planted run '{name}', " + ("no maximum" if most == 2**40 else f"most {most}")


exercise = Exercise(
    control,
    points=5,
    given=("math", "back_off", "grown"),
    asked=asked,
    meets=meets,
    scene=scene,
    fault=fault,
    explain=explain,
    twice=False,
    drawn=planted.drawn,
    hints=(
        "state holds three things: the data, the best loss on them, and how many readings in a row "
        "ask for growth",
        "first forget count and best if the data are new; then take the loss into the best; then "
        "count those in a row; then move",
        "asks = calm and low is not None and low >= 2 * now; count = count + 1 if asks else 0; out of "
        "memory and a move set it to 0",
    ),
    shown=list(planted.RUNS.values()),
    passed="Right: it grows for a reason, shrinks rows at once, and keeps the step and its rate together.",
)
KNOWN, ROW_OF, BEST_OF = (
    'state if state.get("data") == reading["data"] else {}',
    'known.get("row", 0)',
    'known.get("best")',
)
MIN, FINITE = (
    "loss if best is None else min(best, loss)",
    "loss is not None and math.isfinite(loss)",
)
IF, CALM = "    if finite:\n", "finite and loss <= best + 0.5"
COUNT, GROW = "row + 1 if asks else 0", "grown(settings, 2 * now), 0\n"
NOW, LOW, ENOUGH = ' * settings["data_parallel"]', "low >= 2 * now", "row >= 3 and 2 * now <= most"
ROWS, ACCUMULATION = 'settings["rows"]', 'settings["accumulation"]'
OUT, MOVED = f"back_off({ROWS}, {ACCUMULATION})", '"accumulation": accumulation}\n'
STATE = '{"data": reading["data"], "row": row, "best": best}'
END = f"    return settings, {STATE}"
SOME = "calm = finite and best is not None and loss"
ANY_LOSS = "a reading that does not ask has a loss for the best, too"
NEVER_BEST = "nan or inf got into the best: a loss that is not finite is never the best"
STAYS = "the best loss stays after a move: only new data forget it"
for _thought, _old, _new in [
    ("one reading is enough for it: three in a row must ask", "row >= 3", "row >= 1"),
    ("two readings are enough for it: three in a row must ask", "row >= 3", "row >= 2"),
    ("four readings are needed for it: three in a row are enough", "row >= 3", "row >= 4"),
    (
        "it holds where three in a row ask: its count does not reach three",
        "row >= 3",
        "row >= 3 > 9",
    ),
    ("readings are counted, and need not be in a row", COUNT, "row + bool(asks)"),
    ("it grows past the maximum", ENOUGH, "row >= 3"),
    ("it stays below the maximum, which it may reach", "<= most", "< most"),
    ("the maximum holds for all replicas", "<= most", "<= most" + NOW),
    ("a low above the step of today is not enough: twice the step is asked", LOW, "low >= now"),
    ("a low of exactly twice the step asks, too", LOW, "low > 2 * now"),
    ("an infinite low asks, too", LOW, "2 * now <= low < math.inf"),
    (
        "None, nothing measured, does not ask",
        f"low is not None and {LOW}",
        f"(low is None or {LOW})",
    ),
    ("nan, nothing measured, does not ask: `not nan < x` is true", LOW, "not low < 2 * now"),
    ("a step without a reading ends the count, too", COUNT, COUNT + " if low is not None else row"),
    ("the replicas were forgotten: rows x accumulation x data_parallel", NOW, ""),
    ("the rows stay after out of memory: they run out again", OUT, f"{ROWS}, {ACCUMULATION}"),
    ("half the rows: `back_off` finds more", OUT, f"{ROWS} // 2, 2 * {ACCUMULATION}"),
    ("one row at once: `back_off` finds more", OUT, f"1, {ROWS} * {ACCUMULATION}"),
    (
        "nine tenths of the rows, the accumulation as it was: tokens per step drift",
        OUT,
        f"int(0.9 * {ROWS}), {ACCUMULATION}",
    ),
    (
        "the rate moved with the rows: the step stays, so its rate stays",
        MOVED,
        MOVED.replace("}", f', "rate": settings["rate"] * (rows / {ROWS}) ** 0.5}}'),
    ),
    (
        "beta2 moved with the rows: the step stays, so beta2 stays",
        MOVED,
        MOVED.replace("}", f', "beta2": settings["beta2"] ** (rows / {ROWS})}}'),
    ),
    ("out of memory ends the count", COUNT, 'row if reading["out_of_memory"] else ' + COUNT),
    (
        "out of memory forgets the best loss: only new data do that",
        MOVED,
        MOVED + "        return settings, {}\n",
    ),
    (
        "the learning rate was not moved with the step",
        GROW,
        GROW.replace(")", ") | {'rate': settings['rate']}"),
    ),
    (
        "the learning rate moved by 2: asked is its root",
        GROW,
        GROW.replace(")", ") | {'rate': 2 * settings['rate']}"),
    ),
    (
        "beta2 was not moved: its half-life in tokens doubled",
        GROW,
        GROW.replace(")", ") | {'beta2': settings['beta2']}"),
    ),
    (
        "the rows grew: memory grows with them",
        GROW,
        GROW.replace(")", f") | {{'rows': 2 * {ROWS}, 'accumulation': {ACCUMULATION}}}"),
    ),
    ("four times the step: one doubling at a time", GROW, GROW.replace("2", "4")),
    ("after a move the count begins again", GROW, GROW.replace("0", "row")),
    ("with new data the count begins again, and the best loss", KNOWN, "state"),
    ("with new data the best loss begins again", BEST_OF, 'state.get("best")'),
    ("with new data the count begins again", ROW_OF, 'state.get("row", 0)'),
    (
        "the first reading of new data may ask, too",
        COUNT,
        "row + 1 if asks and (known or not state) else 0",
    ),
    (
        "every loss passes for calm: compare it with the lowest so far, which `state` must hold",
        CALM,
        "not reading['out_of_memory']",
    ),
    ("0.5 nats above the best are calm, too", "best + 0.5", "best"),
    ("0.5 nats above the best are calm, not half as much again", "best + 0.5", "best * 1.5"),
    ("exactly 0.5 nats above the best are calm, too", "<= best + 0.5", "< best + 0.5"),
    (
        "a loss that falls is calm, however far",
        f"    calm = {CALM}",
        f'    old = known.get("best")\n    calm = {CALM} and (old is None or loss > old - 0.5)',
    ),
    ("the first loss of all: asked is the best so far", MIN, "loss if best is None else best"),
    (NEVER_BEST, IF, "    if loss is not None:\n"),
    (
        "a loss of nan is not calm: `not nan > x` is true",
        CALM,
        "loss is not None and (best is None or not loss > best + 0.5)",
    ),
    ("an infinite loss is not calm", FINITE, "loss is not None and not math.isnan(loss)"),
    (
        "a loss that is not finite ends the count",
        COUNT,
        COUNT + " if finite or loss is None else row",
    ),
    (STAYS, GROW, GROW + "        best = None\n"),
    (STAYS, GROW, GROW + "        return settings, {}\n"),
    ("a best of 0.0 is false: ask `is None`", MIN, "min(best or loss, loss)"),
    (
        "the best begins at 10: losses may be larger",
        MIN,
        "min(10.0 if best is None else best, loss)",
    ),
]:
    exercise.edit(_thought, [(_old, _new)])
for _thought, _says, *_changes in [
    (
        "the best of each data: data that come back are new, too",
        "",
        (BEST_OF, 'state.get("best", {}).get(reading["data"])'),
        ('"best": best}', '"best": {**state.get("best", {}), reading["data"]: best}}'),
    ),
    (
        "the first loss of new data may be their best",
        "",
        (IF, "    if finite and (known or not state):\n"),
        (CALM, "finite and (best is None or loss <= best + 0.5)"),
    ),
    (
        "the loss of the reading before: asked is the best so far",
        "",
        ("best = " + MIN, "best, before = loss, loss if best is None else best"),
        ("<= best + 0.5", "<= before + 0.5"),
    ),
    (
        ANY_LOSS,
        "",
        (IF, f"    if finite and low is not None and {LOW}:\n"),
        ("calm = finite and loss", SOME),
    ),
    (ANY_LOSS, "", (IF, "    if finite and low is not None:\n"), ("calm = finite and loss", SOME)),
    (NEVER_BEST, "", (IF, "    if loss is not None:\n"), ("min(best, loss)", "min(loss, best)")),
    (
        "1 row cannot shrink: let the ValueError of back_off through",
        "ValueError is needed",
        (
            "        rows, accumulation = ",
            f"        rows, accumulation = {ROWS} == 1 and (1, {ACCUMULATION}) or ",
        ),
    ),
    (
        "the settings that came were changed: make a copy",
        "was changed",
        ("settings = settings | {", "settings |= {"),
    ),
    (
        "the state that came was changed: make another",
        "was changed",
        (END, f"    state.update({STATE})\n    return settings, state"),
    ),
    (
        "it grows to the maximum: only to twice the step, or not at all",
        "no positive multiple",
        (ENOUGH, "row >= 3 and now < most"),
        (GROW, "grown(settings, min(2 * now, most)), 0\n"),
    ),
    ("low is None where nothing was measured", "'>='", (f"low is not None and {LOW}", LOW)),
    (
        "loss is None where memory ran out",
        "NoneType",
        (FINITE, "math.isfinite(loss)"),
    ),
    (
        "loss is None where memory ran out",
        "'<='",
        (FINITE, "loss <= math.inf and math.isfinite(loss)"),
    ),
    ("return both: settings, state", "two dictionaries", (END, "    return settings")),
    (
        "JSON has no sets: a list can hold the same",
        "not JSON serializable",
        (STATE, STATE[:-1] + ', "seen": {loss}}'),
    ),
    (
        "all other settings stay",
        "keep their keys",
        (
            GROW,
            GROW
            + "        settings = {key: one for key, one in settings.items() if key != 'model'}\n",
        ),
    ),
    (
        "count and best stand in a global: another run writes there, too",
        "only `state` may remember",
        ("def control(", "MEMORY = {}\n\n\ndef control("),
        (KNOWN, "MEMORY if MEMORY.get('data') == reading['data'] else {}"),
        (END, f"    MEMORY.update({STATE})\n    return settings, {{}}"),
    ),
    (
        "a global counts the readings: those of another run, too",
        "only `state` may remember",
        ("def control(", "ROW = []\n\n\ndef control("),
        (
            f"    row = {COUNT}\n",
            "    ROW.append(1) if asks else ROW.clear()\n    row = len(ROW)\n",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def keeps_the_readings(settings, state, reading, most):
    """keeps the readings"""
    now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
    if state.get("data") != reading["data"]:
        state = {"data": reading["data"], "lows": [], "losses": []}
    lows, losses = list(state["lows"]), list(state["losses"])
    new = {**settings}
    if reading["out_of_memory"]:
        new["rows"], new["accumulation"] = back_off(new["rows"], new["accumulation"])
        lows = []
    else:
        if math.isfinite(reading["loss"]):
            losses.append(reading["loss"])
        calm = math.isfinite(reading["loss"]) and reading["loss"] - min(losses) <= 0.5
        low = reading["low"]
        lows.append(low if calm and low is not None and low == low else 0)
        if len(lows) >= 3 and min(lows[-3:]) >= 2 * now and 2 * now <= most:
            new, lows = grown(settings, 2 * now), []
    return new, {"data": reading["data"], "lows": lows, "losses": losses}


@exercise.style
def without_helpers(settings, state, reading, most):
    """without its helpers, counts down, numbers of NumPy in a list, the start rate is kept"""
    import numpy as np

    if state.get("data") != reading["data"]:
        state = {**state, "data": reading["data"], "left": 3, "best": math.inf}
    rows, accumulation, replicas = (settings[k] for k in ("rows", "accumulation", "data_parallel"))
    now, left, best = rows * accumulation * replicas, state["left"], state["best"]
    first = state.get("first") or [settings["rate"], settings["beta2"], now]
    if reading["out_of_memory"]:
        whole, left = rows * accumulation, 3
        fewer = max((n for n in range(1, rows) if whole % n == 0), default=0)
        if not fewer:
            raise ValueError("1 row")
        rows, accumulation = fewer, whole // fewer
    else:
        loss, low = reading["loss"], reading["low"]
        if math.isfinite(loss):
            best = min(best, loss)
        asks = low is not None and low >= 2 * now and math.isfinite(loss) and loss <= best + 0.5
        left = max(0, left - 1) if asks else 3
        if left == 0 and 2 * now <= most:
            accumulation, left = 2 * accumulation, 3
    k = rows * accumulation * replicas / first[2]
    new = {**settings, "rows": rows, "accumulation": np.int64(accumulation)}
    new |= {"rate": first[0] * math.sqrt(k), "beta2": np.float64(first[1]) ** k}
    return [new, {**state, "left": left, "best": best, "first": first}]

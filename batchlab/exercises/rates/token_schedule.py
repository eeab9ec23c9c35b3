"""Build: a schedule in tokens that survives a change of the batch and a stop.

Words
    event   one line of a run: ["step", tokens], ["change", batch], ["refused", batch],
            ["told", 0]: ask what is told, ["stop", 0]: save as JSON, make anew, load,
            ["save", 0]: keep a state, ["spoil", 0]: change what told() gave,
            ["mine", 0]: the caller changes its own dictionary and its betas, ["other", 0]: a second schedule
"""

import copy
import json

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.rates import PARTS, adam_rule
from batchlab.exercises.rates import told as of


class TokenSchedule:
    """What AdamW is told at each step, by tokens; it survives a change of the batch and a stop."""

    def __init__(self, settings, batch, warmup, total, final=0.1):
        kept = {name: settings[name] for name in ("lr", "eps", "weight_decay")}
        self.base = kept | {"betas": tuple(settings["betas"])}
        self.batch, self.seen = batch, 0
        self.warmup, self.total, self.final = warmup, total, final

    def told(self):
        """{"lr", "betas", "eps", "weight_decay"} for the step that comes next."""
        import math

        if self.seen < self.warmup:
            factor = self.seen / self.warmup
        else:
            done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
            factor = self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2
        return self.base | {"lr": self.base["lr"] * factor, "betas": tuple(self.base["betas"])}

    def step(self, tokens):
        """Count the tokens of the step that was taken."""
        self.seen += tokens

    def change(self, batch):
        """From now on a step has `batch` tokens."""
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"base": dict(self.base), "batch": self.batch, "seen": self.seen}

    def load_state_dict(self, state):
        base = state["base"] | {"betas": tuple(state["base"]["betas"])}
        self.base, self.batch, self.seen = base, state["batch"], state["seen"]


SAID = {
    "told": "told() is asked",
    "refused": "change",
    "stop": "stop and load",
    "save": "a state is saved",
    "spoil": "the caller changes what told() gave",
    "mine": "the caller changes its own dictionary and betas",
    "other": "a second schedule steps",
}


def worded(verb, value):
    """An event in the words of a message."""
    said = SAID.get(verb, verb)
    return f"{said} {value}" if value or verb == "step" else said


# ---- the bench ------------------------------------------------------------------------------------


def scene(TokenSchedule, settings, batch, warmup, total, final, events):
    """What a schedule tells after each event, and what it leaves changed."""
    mine, came = copy.deepcopy(settings), copy.deepcopy(settings)
    rest = (batch, warmup, total) if final is None else (batch, warmup, total, final)
    one, found, kept = TokenSchedule(mine, *rest), {}, []
    for n, (verb, value) in enumerate(events, 1):
        where = f"after event {n}, {worded(verb, value)}"
        if verb == "step":
            one.step(value)
        elif verb == "change":
            one.change(value)
        elif verb == "refused":
            found[f"what comes {where}"] = refused(one, value)
            continue
        elif verb == "stop":
            kept.append(("the state that is loaded", state := through_json(one.state_dict())))
            one = TokenSchedule(copy.deepcopy(settings), *rest)
            one.state_dict()  # of the new one: what was saved is another's
            one.load_state_dict(state[0])
        elif verb == "save":
            state = one.state_dict()
            kept.append(("the state that was saved", (state, through_json(state)[1])))
        elif verb == "spoil":
            spoil(one.told())
        elif verb == "mine":
            if isinstance(mine["betas"], list):
                mine["betas"][0] = 0.5
            else:
                mine["betas"] = [0.5, 0.5]
            mine.update(lr=7.0, eps=7.0, weight_decay=7.0)
            came = copy.deepcopy(mine)
        elif verb == "other":
            second = TokenSchedule(copy.deepcopy(settings), *rest)
            second.step(batch)
            second.change(2 * batch)
        found |= {f"{name} {where}": value for name, value in row(one.told()).items()}
    for name, (state, before) in kept:
        found[f"what changed in {name}"] = differing(state, json.loads(before))
    found["what changed in the `settings` that came in"] = differing(mine, came)
    return found


def row(settings):
    """What is told, as numbers under flat names."""
    keys = {
        "missing keys": [one for one in PARTS if one not in settings],
        "keys too many": sorted(str(one) for one in settings if one not in PARTS),
    }
    beta1, beta2 = settings.get("betas", (0.0, 0.0))
    rest = {one: settings.get(one, 0.0) for one in ("eps", "weight_decay")}
    return {**keys, "lr": settings.get("lr", 0.0), "beta1": beta1, "beta2": beta2, **rest}


def refused(one, batch):
    try:
        one.change(batch)
    except ValueError:
        return ""
    return "a change without a ValueError; one is needed"


def through_json(state):
    """A state as JSON holds it, and its text."""
    if not isinstance(state, dict):
        raise TypeError(f"state_dict() returned {type(state).__name__}, a dictionary is needed")
    text = json.dumps(state)
    return json.loads(text), text


def differing(now, before):
    """The keys of a dictionary whose values are no longer what they were."""
    now, before = ({str(key): plainly(one[key]) for key in one} for one in (now, before))
    return sorted(key for key in now.keys() | before if now.get(key) != before.get(key))


def plainly(value):
    """A value as text; an array by its numbers, as JSON holds none."""
    return json.dumps(value, default=lambda one: one.tolist())


def spoil(out):
    """Change all that can be changed of what a schedule handed out."""
    if isinstance(out["betas"], list):
        out["betas"][0] = 0.96875
    out["lr"], out["eps"], out["weight_decay"] = 7.0, 7.0, 7.0


def asked(settings, batch, warmup, total, final, events):
    script = ", ".join(worded(*event) for event in events[:7])
    more = ", ..." if len(events) > 7 else ""
    end = "" if final is None else f", final {final:.3g}"
    lists = ", betas in a list" if isinstance(settings["betas"], list) else ""
    lists += ", other keys" if settings.keys() - {*PARTS} else ""
    return (
        f"a schedule of rate {settings['lr']:.3g}{lists}, batch {batch:,}, warm-up {warmup:,}, total {total:,}{end}: "
        f"{script}{more}"
    )


def why(got, *case):
    given_away = any(value == 7.0 for name, value in got.items() if SAID["spoil"] in name)
    return "what told() gave belongs to the caller: hand out a copy" * given_away


# ---- the cases ------------------------------------------------------------------------------------

USUAL = of(1e-3, 0.9, 0.99, 1e-8, 0.1)
ALL = ("told", "step", "stop", "step", "save", "spoil", "change", "other", "step", "refused")


def steps(*tokens):
    return [["step", one] for one in tokens]


def drawn(rng):
    for n in range(6):
        betas = [float(rng.uniform(0.9, 0.95)), float(rng.uniform(0.95, 0.999))]
        given = of(float(rng.uniform(1e-4, 1e-2)), *betas, 1e-8, 0.1) | {"betas": betas}
        batch, warmup = int(rng.integers(500, 3000)), int(rng.integers(0, 9000))
        total, size, events = warmup + int(rng.integers(9000, 60_000)), batch, []
        for verb in ALL * 2:
            size = int(batch * rng.uniform(0.3, 6)) if verb == "change" else size
            value = {"step": int(rng.integers(size // 2, 4 * size)), "change": size}
            events.append([verb, value.get(verb, 40 * batch if verb == "refused" else 0)])
        yield given, batch, warmup, total, float(rng.uniform(0, 0.5)), events
        yield given, batch, warmup, total, float(rng.uniform(0.5, 1)), events[n:]
    yield USUAL, 7, 1, 2, 0.0, steps(1, 1, 1)
    yield USUAL, 100, 400, 1600, None, steps(500, 0, 500, 700)
    yield USUAL, 2**32, 2**35, 2**38, 0.5, steps(*[2**34] * 20)
    yield USUAL, 100, 2**34, 2**34 + 1000, 0.1, steps(100, 2**34 - 100, *[100] * 9)
    yield USUAL, 100, 0, 2600, 0.1, [["step", 3000], ["change", 300], ["step", 300], ["stop", 0]]
    yield USUAL, 100, 0, 1000, 0.25, [["told", 0], ["mine", 0], *steps(300, 800)]
    yield USUAL, 100, 0, 2600, 0.1, [["change", 50], ["step", 80], ["stop", 0], ["step", 80]]


TWO = steps(100, 20)
GROUP = USUAL | {"betas": [0.9, 0.99], "params": [np.ones(2)]}
exercise = Exercise(
    TokenSchedule,
    points=4,
    scene=scene,
    given=("adam_rule",),
    asked=asked,
    explain=why,
    drawn=drawn,
    rel=3e-6,
    abs=1e-15,
    hints=(
        "keep what AdamW was told first, and the tokens seen; told() multiplies a copy of the rate",
        "factor: final + (1 - final) * (1 + cos(pi * done)) / 2, and done is at most 1",
        "change() moves the base by the rule, from the last batch, before anything else is set",
    ),
    shown=[
        (USUAL, 100, 0, 1000, 0.25, [["told", 0]]),
        (USUAL, 100, 400, 1600, 0.1, steps(1600)),
        (USUAL, 100, 400, 1600, 0.1, [["told", 0], *steps(60, 250, 35, 155, 600, 500, 700)]),
        (USUAL, 100, 400, 2600, 0.1, [*TWO, ["change", 200], ["change", 400], ["step", 900]]),
        (USUAL, 100, 400, 2600, 0.1, [*steps(100, 150), ["stop", 0], ["step", 100]]),
        (USUAL, 100, 0, 2600, 0.1, [["change", 200], ["stop", 0], ["change", 400]]),
        (USUAL, 100, 0, 2600, 0.1, [["step", 500], ["refused", 1600], ["change", 200]]),
        (USUAL | {"betas": [0.9, 0.99]}, 100, 0, 2600, 0.1, [["spoil", 0]]),
        (USUAL, 100, 0, 2600, 0.1, [["save", 0], ["change", 200], ["stop", 0]]),
        (USUAL, 100, 0, 1000, 0.1, [["mine", 0]]),
        (GROUP, 100, 0, 1000, 0.1, [["told", 0], ["mine", 0]]),
        (GROUP, 100, 0, 1000, 0.1, [["stop", 0]]),
    ],
    passed="Right: the same tokens give the same rate, through a new batch, a refusal, and a stop.",
)
WAVE, DONE = (
    "(1 + math.cos(math.pi * done)) / 2",
    "min(1, (self.seen - self.warmup) / (self.total - self.warmup))",
)
FACTOR, FULL = (
    "factor = self.final + (1 - self.final) * ",
    f"self.final + (1 - self.final) * {WAVE}",
)
MOVED, RULE = (
    "        self.base = adam_rule(self.base, self.batch, batch)\n",
    "adam_rule(self.base, self.batch, batch)",
)
CHANGE = MOVED + "        self.batch = batch\n"
LOAD = 'self.base, self.batch, self.seen = base, state["batch"], state["seen"]'
BASE = 'kept | {"betas": tuple(settings["betas"])}'
STATE = 'return {"base": dict(self.base), "batch": self.batch, "seen": self.seen}'
OUT = 'return self.base | {"lr": self.base["lr"] * factor, "betas": tuple(self.base["betas"])}'
for _thought, *_changes in [
    (
        "the planned batch was counted, not the tokens of the step",
        ("self.seen += tokens", "self.seen += self.batch"),
    ),
    (
        "steps were counted: step() counts the tokens that it is given",
        ("self.seen += tokens", "self.seen += 1"),
    ),
    (
        "told() counted: it only asks, and step() counts",
        ("        import math\n", "        import math\n\n        self.seen += self.batch\n"),
        ("self.seen += tokens", "pass"),
    ),
    (
        "the rule goes from the last batch to the new one: adam_rule(settings, last, new)",
        (RULE, "adam_rule(self.base, batch, self.batch)"),
    ),
    (
        "the step that comes next is counted before it was taken",
        ("if self.seen < self.warmup", "if self.seen + self.batch < self.warmup"),
        ("factor = self.seen / self.warmup", "factor = (self.seen + self.batch) / self.warmup"),
    ),
    ("a straight line: the fall is a cosine", (WAVE, "(1 - done)")),
    (
        "the cosine begins behind the warm-up: (seen - warmup) / (total - warmup)",
        (DONE, "min(1, self.seen / self.total)"),
    ),
    (
        "the wave ends at `total`, the warm-up included: it is total - warmup long",
        (DONE, "min(1, (self.seen - self.warmup) / self.total)"),
    ),
    ("after `total` the cosine rises again: stay at `final`", (DONE, DONE[7:-1])),
    ("the fall ends at `final` times the rate, not at 0", (FULL, WAVE)),
    (
        "the wave falls from 1 to `final`: it is not cut at `final`",
        (FULL, f"max(self.final, {WAVE})"),
    ),
    (
        "`final` is a factor of the rate, not a rate",
        (FACTOR, "end = self.final / self.base['lr']\n            factor = end + (1 - end) * "),
    ),
    ("the fall is half a cosine wave: (1 + cos(pi x)) / 2", (WAVE, "math.cos(math.pi * done / 2)")),
    (
        "the fall is half a wave, not a whole one: cos(pi x)",
        ("math.pi * done", "2 * math.pi * done"),
    ),
    ("half a wave is pi long: cos(pi x), where x goes from 0 to 1", ("math.pi * done", "done")),
    (
        "the factor is of the rate alone: eps and decay move with the batch only",
        (
            OUT,
            OUT.replace(
                "* factor, ", '* factor, "weight_decay": self.base["weight_decay"] * factor, '
            ),
        ),
    ),
    (
        "`warmup` may be 0: compare the tokens, then divide",
        ("if self.seen < self.warmup", "if self.seen / self.warmup < 1"),
    ),
    (
        "asking changed the base: told() multiplies a copy",
        (
            OUT,
            "out = self.base\n        out['lr'] *= factor\n        out['betas'] = tuple(out['betas'])\n        return out",
        ),
    ),
    (
        "the change moved nothing: k is the new batch over the last one",
        (CHANGE, "        self.batch = batch\n"),
    ),
    (
        "the rule has moved the rate already",
        (MOVED, MOVED + "        self.base['lr'] *= (batch / self.batch) ** 0.5\n"),
    ),
    (
        "the rate moved alone: betas, eps and decay move with it",
        (MOVED, "        self.base['lr'] *= (batch / self.batch) ** 0.5\n"),
    ),
    (
        "the betas follow 1 - k (1 - beta) here, not beta ** k",
        (
            MOVED,
            "        new = "
            + RULE
            + "\n        new['betas'] = tuple(b ** (batch / self.batch) for b in self.base['betas'])\n        self.base = new\n",
        ),
    ),
    (
        "the factor of the curve was multiplied in twice: the rule moves the base",
        (RULE, RULE.replace("self.base", "self.told()")),
    ),
    ("k is the new batch over the last one, not over the first", (CHANGE, MOVED)),
    (
        "the change moved nothing: k is the new batch over the last one",
        (CHANGE, "        self.batch = batch\n" + MOVED),
    ),
    (
        "the change began the curve anew: tokens seen stay",
        (CHANGE, CHANGE + "        self.seen = 0\n"),
    ),
    (
        "tokens seen are tokens: a change does not rescale them",
        (CHANGE, "        self.seen *= batch / self.batch\n" + CHANGE),
    ),
    (
        "the stop lost the tokens seen: the curve began anew",
        (LOAD, 'self.base, self.batch = base, state["batch"]'),
    ),
    (
        "the stop lost what the change had moved",
        (LOAD, 'self.batch, self.seen = state["batch"], state["seen"]'),
    ),
    (
        "the stop lost the batch: the next k is wrong",
        (LOAD, 'self.base, self.seen = base, state["seen"]'),
    ),
    (
        "a refused change left its batch behind: refuse first",
        (
            CHANGE,
            "        old, self.batch = self.batch, batch\n        self.base = adam_rule(self.base, old, batch)\n",
        ),
    ),
    (
        "a refused change left a rate behind: refuse first",
        (
            CHANGE,
            "        self.base['lr'] *= (batch / self.batch) ** 0.5\n        new = "
            + RULE
            + "\n        new['lr'] = self.base['lr']\n        self.base, self.batch = new, batch\n",
        ),
    ),
    (
        "the list of betas in the base was handed out: tuple(...) copies",
        (BASE, "dict(settings)"),
        (', "betas": tuple(self.base["betas"])}', "}"),
    ),
    ("the dictionary of the caller was kept: copy what you need of it", (BASE, "settings")),
    (
        "the caller's list of betas was kept: tuple(...) copies",
        (BASE, 'kept | {"betas": settings["betas"]}'),
    ),
    (
        "warm-up and total are tokens: a change of the batch does not move them",
        (
            CHANGE,
            "        k = batch / self.batch\n"
            + CHANGE
            + "        self.warmup *= k\n        self.total *= k\n",
        ),
    ),
    (
        "told() gives all four keys: betas, eps and decay move with the batch",
        (OUT, 'return {"lr": self.base["lr"] * factor}'),
    ),
    (
        "told() gives four keys alone: the other keys of the group were handed out",
        (BASE, BASE + "\n        self.group = dict(settings)"),
        (OUT, OUT.replace("self.base |", "self.group | self.base |")),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "past the limit of the rule a ValueError is needed: no beta cut off, no silence",
        "past the limit",
        (
            CHANGE,
            "        try:\n    "
            + MOVED
            + "            self.batch = batch\n        except ValueError:\n            pass\n",
        ),
    ),
    (
        "another error",
        "RuntimeError",
        (
            MOVED,
            "        try:\n    "
            + MOVED
            + "        except ValueError as e:\n            raise RuntimeError(e)\n",
        ),
    ),
    (
        "the saved state holds the base itself: dict(...) copies",
        "what changed in the state that was saved",
        ('"base": dict(self.base)', '"base": self.base'),
        (MOVED, "        self.base.update(" + RULE + ")\n"),
    ),
    (
        "a state is a new dictionary at each save",
        "what changed in the state that was saved",
        ("batch, 0\n", "batch, 0\n        self.state = {}\n"),
        (
            STATE,
            "self.state.update(base=dict(self.base), batch=self.batch, seen=self.seen)\n"
            "        return self.state",
        ),
    ),
    (
        "load_state_dict leaves the state that it is given as it is",
        "what changed in the state that is loaded",
        ('state["seen"]', 'state.pop("seen")'),
    ),
    (
        "the dictionary that the schedule was made of stays as it is: copy what you need of it",
        "what changed in the `settings` that came in",
        (BASE, "settings"),
        (MOVED, "        self.base.update(" + RULE + ")\n"),
    ),
    (
        "a dictionary is needed, not its text: the caller writes the JSON",
        "not its text",
        (STATE, "import json\n\n        " + STATE.replace("{", "json.dumps({").replace("}", "})")),
    ),
    (
        "other keys of the group are in the state: keep the four that AdamW is told",
        "other keys",
        (BASE, 'dict(settings) | {"betas": tuple(settings["betas"])}'),
        (
            OUT,
            OUT.replace(
                "self.base |", "{one: self.base[one] for one in ('eps', 'weight_decay')} |"
            ),
        ),
    ),
    ("no JSON", "JSON", ('"seen": self.seen}', '"seen": np.array(self.seen)}')),
    ("told() returns nothing", "NoneType", (OUT, OUT[7:])),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
class FromTheFirst:
    """from the first batch: the state is tokens and batch"""

    def __init__(self, settings, batch, warmup, total, final=0.1):
        self.first, self.begun = {**settings, "betas": [*settings["betas"]]}, batch
        self.batch, self.seen = batch, 0
        self.warmup, self.total, self.final = warmup, total, final

    def told(self):
        done = (self.seen - self.warmup) / (self.total - self.warmup)
        f = self.final + (1 - self.final) * np.cos(np.pi * min(1, max(0, done)) / 2) ** 2
        f = self.seen / self.warmup if self.seen < self.warmup else f
        base = adam_rule(self.first, self.begun, self.batch)
        return {**base, "lr": base["lr"] * f, "betas": list(base["betas"])}

    def step(self, tokens):
        self.seen = self.seen + tokens

    def change(self, batch):
        adam_rule(self.first, self.begun, batch)
        self.batch = batch

    def state_dict(self):
        return {"batch": self.batch, "seen": self.seen}

    def load_state_dict(self, state):
        self.batch, self.seen = state["batch"], state["seen"]


@exercise.style
class Replayed:
    """the history is replayed"""

    def __init__(self, settings, batch, warmup, total, final=0.1):
        own = {one: settings[one] for one in settings if one in PARTS} | {
            "betas": [*settings["betas"]]
        }
        self.first, self.log = (own, batch, warmup, total, final), []

    def now(self):
        base, batch, seen = self.first[0], self.first[1], 0
        for verb, n in self.log:
            if verb == "step":
                seen += n
            else:
                base, batch = adam_rule(base, batch, n), n
        return base, batch, seen

    def told(self):
        from batchlab import rates

        base, _, seen = self.now()
        _, _, warmup, total, final = self.first
        factor = rates.Curve(total, warmup, "cosine", final).factor(seen)
        return {**base, "lr": base["lr"] * factor, "betas": list(base["betas"])}

    def step(self, tokens):
        self.log.append(["step", tokens])

    def change(self, batch):
        base, old, _ = self.now()
        adam_rule(base, old, batch)
        self.log.append(["change", batch])

    def state_dict(self):
        return {"log": [list(one) for one in self.log]}

    def load_state_dict(self, state):
        self.log = [list(one) for one in state["log"]]

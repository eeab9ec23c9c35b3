"""Build: the judge of a plan, with two arms, tuned rates, intervals and verdicts."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.minima import planted
from batchlab.exercises.minima.tuned import runs_of, tuned
from batchlab.exercises.minima.verdicts import VERDICTS

# Student's t, 90 % of it inside, by the number of values
T90 = dict(zip(range(2, 13), (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.90, 1.86, 1.83, 1.81, 1.80)))
RATES = (0.1, 0.2, 0.4, 0.8, 1.6)
LUCK = (0.0, 0.2, 0.1)  # of three seeds, with either batch
WORDS = ("no difference", "large worse", "large better", "cannot tell")


def judge(results, margin):
    """{"examples": ..., "steps": ...}: verdict, gap, low, high and tuned rates of each arm."""
    tried, found = [run["rate"] for run in results], {}
    for arm, runs in arms(results).items():
        best = tuned(runs)
        small, large = sorted(best)
        losses = {
            b: {r["seed"]: r["test"] for r in runs if (r["batch"], r["rate"]) == (b, best[b])}
            for b in best
        }
        middle, low, high = gap(losses[small], losses[large])
        verdict = "cannot tell"
        if not {min(tried), max(tried)} & set(best.values()):
            if -margin <= low and high <= margin:
                verdict = "no difference"
            elif low > 0:
                verdict = "large worse"
            elif high < 0:
                verdict = "large better"
        found[arm] = {"rates": best, "gap": middle, "low": low, "high": high, "verdict": verdict}
    return found


def arms(results):
    """{"examples": runs, "steps": runs}; those of the small batch stand in both, as on the page."""
    small, large = (f(run["batch"] for run in results) for f in (min, max))
    own = next(run["steps"] for run in results if run["batch"] == small)
    shapes = {"examples": (large, own * small // large), "steps": (large, own)}
    return {
        arm: [run for run in results if (run["batch"], run["steps"]) in ((small, own), shape)]
        for arm, shape in shapes.items()
    }


def gap(small, large):
    """(gap, low, high): large minus small, paired by seed, with its 90 % interval, as on the page."""
    apart = np.array([large[seed] - small[seed] for seed in small])
    if not np.isfinite(apart).all():
        raise ValueError("a run diverged: it must not be averaged away")
    half = T90[len(apart)] * apart.std(ddof=1) / len(apart) ** 0.5
    return float(apart.mean()), float(apart.mean() - half), float(apart.mean() + half)


def side(best, middle=0.0, half=0.0, tempting=False, diverged=()):
    """{rate: losses of three seeds}; at the best rate, the gap to a side of 0 is middle ± half."""
    table, spread = {}, half / T90[3] * 3**0.5
    for place, rate in enumerate(RATES):
        worse = abs(place - best) / 2
        tests = [4 + luck + middle + spread * (n - 1) + worse for n, luck in enumerate(LUCK)]
        table[rate] = [
            (
                np.inf if place in diverged else test + middle / 5,
                test - 3 * (tempting and place == best + 1),
                test - 3 * (tempting and place == best - 1) + middle / 4,
            )
            for test in tests
        ]
    return table


def experiment(small, examples, steps, batches=(8, 32)):
    """The runs of two arms: the small batch, the large one with equal examples, and steps."""
    few, many = batches
    found = [run | {"steps": 40 * many} for run in runs_of({few: side(**small)})]
    for table, count in ((steps, 40 * many), (examples, 40 * few)):
        found += [run | {"steps": count} for run in runs_of({many: side(**table)})[::-1]]
    return found[1::2] + found[::2]


def verdicts(examples, steps, margin=0.1):
    """A case whose best rates are known; middle and half-width of the intervals decide."""
    arms = [{"best": 2, "middle": middle, "half": half} for middle, half in (examples, steps)]
    return experiment({"best": 1}, *arms, batches=(6, 24)), margin


def at(small, examples, steps, middles=(0.5, -0.5)):
    """A case whose best rates stand at these places."""
    arms = [{"best": n, "middle": m, "half": 0.02} for n, m in zip((examples, steps), middles)]
    return experiment({"best": small}, *arms), 0.1


def lost(results):
    """The same runs, but one at a tuned rate of the large batch has no test loss."""
    run = next(r for r in results if (r["steps"], r["rate"]) == (320, RATES[2]))
    return [one | {"test": np.inf} if one is run else one for one in results]


def asked(results, margin):
    batches, rates, seeds = (
        sorted({run[key] for run in results}) for key in ("batch", "rate", "seed")
    )
    said = f"batches {batches[0]} and {batches[-1]}, {len(rates)} rates, {len(seeds)} seeds"
    return f"judge of {len(results)} runs, {said}, margin {margin:.3g}"


def explain(got, results, margin):
    """What a wrong form lacks: an arm, or one of the four words."""
    if set(got) != {"examples", "steps"}:
        return "a dictionary for each arm is asked: {'examples': {...}, 'steps': {...}}"
    said = [str(one["verdict"]).casefold() for one in got.values()]
    return "" if {*said} <= {*WORDS} else f"one of these is asked: {', '.join(WORDS)}"


def drawn(rng):
    for scale in (1.0, 1.0, 1.0, 1.0, 1e-3, 1e4):
        floors = 1.0, *(1 + rng.choice([-0.1, -0.03, 0.0, 0.002, 0.03, 0.1], 2)).tolist()
        world = planted.drawn(
            rng,
            floors=tuple(scale * one for one in floors),
            best=tuple(rng.choice(6, 3, p=[0.05, 0.225, 0.225, 0.225, 0.225, 0.05]).tolist()),
            curve=0.3 * scale,
            luck=0.2 * scale,
            noise=scale * float(rng.choice([0.002, 0.02])),
        )
        yield world.tried(), scale * float(rng.choice([0.01, 0.05, 0.12]))
    yield planted.World(rates=(0.1, 0.2, 0.4), best=(1, 1, 1), seeds=(0, 9)).tried(), 0.02


exercise = Exercise(
    judge,
    points=4,
    asked=asked,
    explain=explain,
    given=("tuned", "gap", "arms", "T90"),
    hints=(
        "for arm, runs in arms(results).items(): tuned(runs) gives the rates of this arm",
        "test losses by seed of each batch at its tuned rate; then gap(...)",
        "first the edge: min and max of all rates in the results; then the table of verdicts",
    ),
    shown=[
        (
            experiment(
                {"best": 1, "tempting": True},
                {"best": 3, "middle": 0.5, "half": 0.2, "tempting": True},
                {"best": 2, "middle": -0.5, "half": 0.2, "tempting": True},
            ),
            0.1,
        ),
        verdicts((0.02, 0.05), (0.001, 0.005)),
        verdicts((0.05, 0.03), (0.2, 0.35)),
        verdicts((0.15, 0.1), (-0.15, 0.1)),
        verdicts((0.05, 0.1), (-0.05, 0.1)),
        at(0, 4, 0),
        at(1, 4, 0),
        at(0, 2, 3, middles=(0.02, 0.5)),
        (
            experiment(
                {"best": 1, "diverged": [4]},
                {"best": 3, "middle": 0.5, "half": 0.1, "diverged": [4]},
                {"best": 2, "middle": 0.5, "half": 0.1, "diverged": [4]},
            ),
            0.1,
        ),
        (lost(at(1, 2, 3)[0]), 0.1),
    ],
    drawn=drawn,
    passed="Right: all four verdicts, where each is due.",
)
TUNED, GAP, TEST = "tuned(runs)", "gap(losses[small], losses[large])", 'r["test"]'
VERDICT = '        verdict = "cannot tell"\n'
EDGE = "if not {min(tried), max(tried)} & set(best.values()):"
ARMS = "arms(results).items()"
for _thought, *_changes in [
    (
        "tuned on the test set: what judges later must not choose",
        (TUNED, 'tuned([{**r, "validation": r["test"]} for r in runs])'),
    ),
    ("the training loss chose", (TUNED, 'tuned([{**r, "validation": r["train"]} for r in runs])')),
    (
        "one rate for both: that of the small batch",
        (TUNED, "tuned(runs)\n        best = dict.fromkeys(best, best[min(best)])"),
    ),
    (
        "one rate for both: that of the large batch",
        (TUNED, "tuned(runs)\n        best = dict.fromkeys(best, best[max(best)])"),
    ),
    (
        "the rate of a batch was tuned for one arm, or over both together: tune each arm",
        (TUNED, "tuned(results)"),
    ),
    (
        "the rates of equal examples were used for equal steps: tune each arm",
        (TUNED, 'found["examples"]["rates"] if found else tuned(runs)'),
    ),
    (
        "the rate of a batch was tuned for one arm, or over both together: tune each arm",
        (TUNED, 'tuned(arms(results)["steps"])'),
    ),
    (
        "the runs of both arms together: those of the large batch have the steps of their arm",
        (ARMS, '(("examples", results), ("steps", results))'),
    ),
    ("turned round: large minus small", (GAP, "gap(losses[large], losses[small])")),
    (
        "by place in the dictionaries: look a loss up by its seed",
        (GAP, "gap(*(dict(enumerate(losses[b].values())) for b in (small, large)))"),
    ),
    (
        "sorted losses were paired: look a loss up by its seed",
        (GAP, "gap(*(dict(enumerate(sorted(losses[b].values()))) for b in (small, large)))"),
    ),
    (
        "the best of seeds against the best: take the mean of the differences",
        (
            VERDICT,
            "        middle = min(losses[large].values()) - min(losses[small].values())\n"
            + VERDICT,
        ),
    ),
    (
        "not paired: the spread of both sides, and not that of the differences",
        (
            VERDICT,
            "        n, sides = len(losses[small]), losses.values()\n"
            "        spread = sum(np.var([*one.values()], ddof=1) for one in sides) / n\n"
            "        low, high = (middle + k * T90[n] * spread**0.5 for k in (-1, 1))\n" + VERDICT,
        ),
    ),
    (
        "1.96 in place of T90[n]: few seeds need more",
        (
            VERDICT,
            "        half = (high - middle) * 1.96 / T90[len(losses[small])]\n"
            "        low, high = middle - half, middle + half\n" + VERDICT,
        ),
    ),
    ("the validation loss judges: it has chosen, take the test loss", (TEST, 'r["validation"]')),
    ("the training loss judges: take the test loss", (TEST, 'r["train"]')),
    (
        "the margin is in nats, as it is given: it is no part of the loss",
        (VERDICT, VERDICT + "        part = margin * np.mean([*losses[small].values()])\n"),
        ("-margin <= low and high <= margin", "-part <= low and high <= part"),
    ),
    ("an edge of the rates was taken for the best: say 'cannot tell' there", (EDGE, "if True:")),
    (
        "only the highest rate was taken for an edge: the lowest is one, too",
        (EDGE, EDGE.replace("min(tried), ", "")),
    ),
    (
        "only the lowest rate was taken for an edge: the highest is one, too",
        (EDGE, EDGE.replace(", max(tried)", "")),
    ),
    (
        "only the large batch was looked at for an edge",
        (EDGE, "if best[large] not in (min(tried), max(tried)):"),
    ),
    (
        "the large batch alone may be at an edge: one of both is enough",
        (EDGE, "if best[small] not in (min(tried), max(tried)):"),
    ),
    (
        "the large batch alone may be at an edge: one of both is enough",
        (EDGE, "if not {*best.values()} <= {min(tried), max(tried)}:"),
    ),
    (
        "inside the margin, but at an edge of the rates: ask for the edge first",
        (EDGE, "if -margin < low and high < margin or " + EDGE[3:]),
    ),
    (
        "a rate that diverged was tried, too: the one below it is no edge",
        (
            '[run["rate"] for run in results]',
            '[run["rate"] for run in results if np.isfinite(run["validation"])]',
        ),
    ),
]:
    exercise.edit(_thought, _changes)
FINITE = "a test loss that is not finite says that a run diverged: refuse, as `gap` does"
DROPPED = """        fine = [s for s in losses[small] if np.isfinite(losses[large][s] - losses[small][s])]
        losses = {b: {s: losses[b][s] for s in fine} for b in losses}
"""
OWN = """        apart = np.array([losses[large][s] - losses[small][s] for s in losses[small]])
        middle, half = apart.mean(), T90[len(apart)] * apart.std(ddof=1) / len(apart) ** 0.5
        low, high = middle - half, middle + half
"""
MEASURED = f"        middle, low, high = {GAP}\n"
CAUGHT = """        try:
            middle, low, high = gap(losses[small], losses[large])
        except ValueError:
            middle = low = high = np.nan
"""
for _change in (DROPPED + MEASURED, OWN, CAUGHT):
    exercise.edit(FINITE, [(MEASURED, _change)])
for _thought, _changes in VERDICTS.items():
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (f"one of these is asked: {', '.join(WORDS)}", "cannot tell", ('"large worse"', '"worse"')),
    ("no rates", "missing", ('{"rates": best, "gap"', '{"gap"')),
    (
        "a dictionary for each arm is asked",
        "for each arm",
        (ARMS, '(("steps", arms(results)["steps"]),)'),
    ),
    (
        "sorts in place",
        "changed",
        (VERDICT, '        results.sort(key=lambda run: run["seed"])\n' + VERDICT),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_shapes(results, margin):
    """by shapes, another order"""
    shapes = {}
    for r in results:
        shapes.setdefault((r["batch"], r["steps"]), []).append(r)
    s, l, k = sorted(shapes)
    rates = sorted({r["rate"] for r in results})

    def one(shape):
        runs = shapes[shape]
        best = tuned(runs)
        return best, {r["seed"]: r["test"] for r in runs if r["rate"] == best[shape[0]]}

    found = {}
    for name, shape in (("steps", k), ("examples", l)):
        (p, a), (q, b) = one(s), one(shape)
        m, low, high = map(float, gap(a, b))
        inside, chosen = max(abs(low), abs(high)) <= margin, {*p.values(), *q.values()}
        said = "no difference" if inside else "large worse" if m > 0 else "large better"
        if {rates[0], rates[-1]} & chosen or (low <= 0 <= high and not inside):
            said = "Cannot tell"
        found[name] = dict(rates=p | q, verdict=said, gap=m, high=high, low=low)
    return found


@exercise.style
def arrays(results, margin):
    """arrays, without its helpers, numbers of NumPy"""
    grid, seeds, batches = (
        np.unique([r[key] for r in results]) for key in ("rate", "seed", "batch")
    )
    table = {(r["batch"], r["steps"], r["rate"], r["seed"]): r for r in results}
    first = [r["steps"] for r in results if r["batch"] == batches[0]][0]
    out = {}
    for arm, steps in (("examples", int(first * batches[0] // batches[1])), ("steps", first)):
        place, tests = {}, []
        for batch, n in ((batches[0], first), (batches[1], steps)):
            v = np.array(
                [[table[batch, n, rate, seed]["validation"] for seed in seeds] for rate in grid]
            ).mean(axis=1)
            place[int(batch)] = at = int(np.where(np.isfinite(v), v, np.inf).argmin())
            tests.append(np.array([table[batch, n, grid[at], seed]["test"] for seed in seeds]))
        d = tests[1] - tests[0]
        if not np.isfinite(d).all():
            raise ValueError("a run diverged")
        half = T90[len(d)] * d.std(ddof=1) / np.sqrt(len(d))
        low, high = d.mean() - half, d.mean() + half
        said = "cannot tell"
        if not {0, len(grid) - 1} & set(place.values()):
            if -margin <= low and high <= margin:
                said = "no difference"
            elif low > 0:
                said = "large worse"
            elif high < 0:
                said = "large better"
        out[arm] = {
            "verdict": said,
            "gap": d.mean(),
            "low": low,
            "high": high,
            "rates": {b: grid[n] for b, n in place.items()},
        }
    return out

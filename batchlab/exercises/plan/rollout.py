"""A rollout of GRPO: completions, prompts, updates."""

from batchlab.exercises import Exercise
from batchlab.exercises.plan.offers import misnamed_near


def rollout(rows, accumulation, replicas, generations, steps):
    """{"completions", "prompts", "updates"}; `steps` micro-batches are generated at once."""
    made = rows * steps * replicas
    if made % generations:
        below = made // generations * generations
        offers = [n for n in (below, below + generations) if n]
        raise ValueError(f"{made} completions for groups of {generations}: nearest {offers}")
    return {
        "completions": rows * accumulation * replicas,
        "prompts": made // generations,
        "updates": steps / accumulation,
    }


def misnamed(said, rows, accumulation, replicas, generations, steps):
    known = (rows, accumulation, replicas, generations, steps, rows * replicas)
    known += (rows * replicas * accumulation,)
    return misnamed_near(said, rows * steps * replicas, generations, known)


def drawn(rng):
    for _ in range(20):
        yield tuple(int(n) for n in rng.integers((1, 1, 1, 2, 1), (9, 9, 9, 9, 17)))
    yield 2**20, 2, 2**14, 2**3, 6
    yield 10**6 + 1, 2, 1, 2, 1
    yield 1, 2, 1, int(rng.integers(10, 20)), int(rng.integers(1, 9))


exercise = Exercise(
    rollout,
    hints=(
        "rows are completions: how many does one micro-batch of all replicas have?",
        "a rollout: rows x steps x replicas completions, so many / generations prompts",
        "updates: each takes `accumulation` of the `steps` micro-batches",
    ),
    asked="rows {}, accumulation {}, replicas {}, generations {}, steps {}".format,
    misnamed=misnamed,
    shown=[
        (2, 8, 4, 4, 16),
        (3, 4, 2, 6, 5),
        (1, 3, 1, 2, 2),
        (3, 4, 2, 5, 4),
        (1, 2, 1, 8, 3),
    ],
    drawn=drawn,
    passed="Right: 128 completions are 32 prompts here, and one optimizer step sees half of them.",
)
COMPLETIONS, UPDATES = "rows * accumulation * replicas", "steps / accumulation"
PROMPTS, OFFERS = '"prompts": made // generations', "[n for n in (below, below + generations) if n]"
for _thought, *_changes in [
    (
        "`rows` counts completions already: the generations do not multiply it",
        (COMPLETIONS, COMPLETIONS + " * generations"),
    ),
    (
        "an optimizer step sees completions, not prompts",
        (COMPLETIONS, COMPLETIONS + " // generations"),
    ),
    (
        "the completions of a rollout: asked are those of one optimizer step",
        (COMPLETIONS, "made"),
    ),
    (
        "the replicas are forgotten: each has completions of its own",
        (COMPLETIONS, "rows * accumulation"),
        ("rows * steps * replicas", "rows * steps"),
    ),
    (
        "completions taken for prompts: divide by the generations",
        (PROMPTS, '"prompts": made'),
    ),
    (
        "prompts of an optimizer step: a rollout has `steps` micro-batches",
        (PROMPTS, f'"prompts": {COMPLETIONS} // generations'),
    ),
    (
        "prompts x generations are the completions: divide, do not multiply",
        (PROMPTS, '"prompts": made * generations'),
    ),
    (
        "upside down: a rollout of more micro-batches gives more updates",
        (UPDATES, "accumulation / steps"),
    ),
    (
        "micro-batches taken for updates: an update takes `accumulation` of them",
        (UPDATES, "steps"),
    ),
    ("one update is right only where all of the rollout is one step", (UPDATES, "1")),
    (
        "rounded: the updates are a fraction where the steps do not divide",
        (UPDATES, "steps // accumulation"),
    ),
    (
        "updates need not be whole: only the completions of a rollout must divide",
        ("    if made %", "    if steps % accumulation:\n        raise ValueError(f'{steps}')\n    if made %"),
    ),
    (
        "an optimizer step may hold half a group: only those of a whole rollout must divide",
        ("if made %", "if made % generations or rows * replicas * accumulation %"),
    ),
    (
        "completions that do not divide are refused, not rounded down",
        ("if made % generations:", "if False:"),
    ),
    (
        "refuse, and name both nearest, below and above",
        (OFFERS, "[below]"),
    ),
    ("0 is no offer: name only the number above", (OFFERS, "[below, below + generations]")),
    (
        "farther ones are named, too: only the nearest below and above are asked",
        (OFFERS, "[n for n in range(0, made + 9 * generations, generations) if n]"),
    ),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
exercise.edit(
    "an assert is no refusal: raise a ValueError", [("raise ValueError(f", "assert not (f")]
)
exercise.edit("prompts are a count: an int", [(PROMPTS, '"prompts": made / generations')])


@exercise.style
def by_the_rest(rows, accumulation, replicas, generations, steps):
    """by what is left, 0 is said to be none"""
    from fractions import Fraction

    made = rows * replicas * steps
    left = made % generations
    if left:
        offers = [n for n in (made - left, made - left + generations) if n]
        raise ValueError(f"{made} completions in groups of {generations}: {offers}; 0 is none")
    prompts, updates = made // generations, Fraction(steps, accumulation)
    return {
        "completions": rows * replicas * accumulation,
        "prompts": prompts,
        "updates": updates,
    }


@exercise.style
def by_the_library(rows, accumulation, replicas, generations, steps):
    """by the library, where it can be had"""
    from batchlab import plan

    if rows * steps * replicas % generations:
        few = rows * steps * replicas // generations
        near = [n * generations for n in (few, few + 1) if n]
        raise ValueError(f"{generations} do not divide {rows * steps * replicas}: {near}")
    config = {
        "per_device_train_batch_size": rows,
        "gradient_accumulation_steps": accumulation,
        "num_generations": generations,
        "steps_per_generation": steps,
    }
    read = plan.from_config(config, devices=replicas, length=1024)
    return {
        "completions": read.plan.sequences_per_step,
        "prompts": read.rollout.prompts,
        "updates": read.steps_per_rollout,
    }
